"""`constrain model fetch`: bring the demo's model, so that nothing needs the network later."""

from __future__ import annotations

from typing import Annotated

import typer

from constrain.cli.console import output, progress_bars, say, write_json
from constrain.generation import MODEL_NAME, fetch_model

__all__ = ["fetch"]


def fetch(
    force: Annotated[bool, typer.Option(help="Fetch it again even if it is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False,
) -> None:
    """Download and convert the model of the demo (93 MB, once), and print its folder."""
    with progress_bars() as progress:
        folder = fetch_model(progress, force=force)
    if as_json:
        write_json({"name": MODEL_NAME, "folder": str(folder)})
    else:
        say(f"{MODEL_NAME} is in")
        output().print(str(folder), soft_wrap=True, markup=False)
