"""The command line: `constrain demo | generate | check | lint | explain | warmup | model | bench`.

In: arguments, files, standard input. Out: standard output (data), standard error (progress,
remarks, errors), an exit code.
Decided here: words, layout, exit codes. Not decided here: anything else; each command calls the
public API.

Exit codes: 0 it is so; 1 it is not (a text was rejected, generation was cut); 2 the question was
wrong (usage, a bad schema, a missing model); 70 a bug of constrain; 130 interrupted.

Read in this order: `app` (the commands, one line each), `console` (how they speak), `sources` (a
grammar from the arguments), `loading` (a model), then one file per command; `fixtures` is the part
of `check` that runs fixtures, `report` what it says of a schema.
"""

from __future__ import annotations

import io
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line and exit: the entry point of `constrain` and `python -m constrain`."""
    # Here, so that `import constrain.cli` stays light for those who only look.
    from constrain.cli.app import run

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Texts are UTF-8 whatever the locale; a file name that is no text shows as escapes.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.exit(run(sys.argv[1:]))
