"""TOML: the module `tomllib`; that a key is given twice is no matter of a grammar.

Where `tomllib` says no more than that, each key before an equals sign gets a part of its own, and
the statements, which may still name a table twice, are read one by one.
"""

from __future__ import annotations

import itertools
import re
import tomllib

TWICE = (
    "Cannot overwrite a value",
    "Cannot declare",
    "Cannot mutate immutable namespace",
    "Cannot redefine namespace",
    "Duplicate inline table key",
)


def complaint(text: str) -> str | None:
    reason = _reason(text)
    if reason is None or not reason.startswith(TWICE):
        return reason
    number = itertools.count()
    text = re.sub(r"""(?<=[\w"'-])(?= ?=)""", lambda _: f".k{next(number)}", text)
    statement = ""
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        statement += line
        if _reason(statement) is None:
            statement = ""
    return _reason(statement)


def _reason(text: str) -> str | None:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return str(error)
    return None
