"""How long work tells whoever waits: one callable, so that no room below the CLI draws anything."""

from __future__ import annotations

from typing import Literal, Protocol

__all__ = ["Progress", "Stage", "silent"]

Stage = Literal["wait", "download", "verify", "import", "convert", "load", "kernels", "compile"]
"""What is being done.

"wait" is for another process that fetches; "import" is torch and transformers; "kernels" loads
kernels that are kept on disk, "compile" makes them.
"""


class Progress(Protocol):
    """Told now and then how far one stage has come; it must be cheap and must not raise."""

    def __call__(self, stage: Stage, done: int, total: int | None) -> None:
        """Note that `done` of `total` units are through.

        Args:
            stage: A stage begins with its first call and has ended when `done` equals `total`.
            done: Bytes for "download" and "verify", tensors for "convert", 0 or 1 for "load"
                and "import", kernels for "kernels" and "compile", seconds for "wait".
            total: None while it is not known.
        """


def silent(stage: Stage, done: int, total: int | None) -> None:
    """Ignore progress."""
