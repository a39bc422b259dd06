"""Points in, PNG out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.growth.curves import Curves
from benchmarks.registry import DataMissingError

__all__ = ["Panel", "check_matplotlib", "plot"]

_COLOURS = {
    "constrain": "#d62728",
    "constrain-any": "#ff9896",
    "constrain-eager": "#ff7f0e",
    "llguidance": "#1f77b4",
    "xgrammar": "#2ca02c",
    "xgrammar-strict": "#98df8a",
    "glrmask": "#9467bd",
    "glrmask-lazy": "#c5b0d5",
}


@dataclass(frozen=True, slots=True)
class Panel:
    """One diagram of a picture.

    Attributes:
        title: What is shown.
        x_label: With its unit.
        y_label: With its unit.
        curves: Points by engine, drawn as lines with the range over the runs.
        marks: Further points by engine, drawn as open circles without a line.
        log_x: Scale of x; that of y is always logarithmic.
    """

    title: str
    x_label: str
    y_label: str
    curves: Curves
    marks: Curves | None = None
    log_x: bool = True


def check_matplotlib() -> None:
    """Say what is missing before anything is measured.

    Raises:
        DataMissingError: matplotlib is not installed.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise DataMissingError(
            "plots need matplotlib, which is not installed (pip install -e '.[bench]'); "
            "--no-plots writes the points alone"
        ) from None


def plot(path: Path, heading: str, panels: Sequence[Panel]) -> None:
    """Draw a picture of one or more diagrams side by side.

    Args:
        path: Where the PNG goes.
        heading: Machine, date and versions, above the diagrams.
        panels: At least one.
    """
    import matplotlib

    matplotlib.use("agg")  # no screen is needed
    from matplotlib import pyplot

    columns = min(len(panels), 3)
    rows = -(-len(panels) // columns)
    figure, grid = pyplot.subplots(
        rows, columns, figsize=(5.2 * columns, 4.2 * rows), squeeze=False, layout="constrained"
    )
    for axes, panel in zip(grid.flat, panels, strict=False):
        for engine, points in panel.curves.items():
            if not points:
                continue
            xs = [point.x for point in points]
            colour = _COLOURS.get(engine)
            medians = [point.median for point in points]
            axes.plot(xs, medians, marker=".", color=colour, label=engine, linewidth=1.2)
            axes.fill_between(
                xs,
                [point.low for point in points],
                [point.high for point in points],
                color=colour,
                alpha=0.15,
            )
        for engine, points in (panel.marks or {}).items():
            axes.plot(
                [point.x for point in points],
                [point.median for point in points],
                linestyle="none",
                marker="o",
                markerfacecolor="none",
                color=_COLOURS.get(engine),
            )
        if panel.log_x:
            axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
        axes.grid(visible=True, which="both", alpha=0.2)
        axes.legend(fontsize="small")
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    figure.suptitle(heading, fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
