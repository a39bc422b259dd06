"""Files of environment variables: the package `python-dotenv`."""

from __future__ import annotations

import io

from dotenv.parser import parse_stream


def complaint(text: str) -> str | None:
    lines = list(parse_stream(io.StringIO(text)))
    wrong = [line.original for line in lines if line.error]
    if wrong:
        return f"line {wrong[0].line}: {wrong[0].string!r}"
    return None if lines else "there is no line"
