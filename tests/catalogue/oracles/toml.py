"""TOML: the module `tomllib`; that a key is given twice is no matter of a grammar.

Where `tomllib` says no more than that, the statements are read one by one.
"""

from __future__ import annotations

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
    statement = ""
    for line in text.splitlines(keepends=True):
        statement += line
        reason = _reason(statement)
        if reason is None or reason.startswith(TWICE):
            statement = ""
    return _reason(statement)


def _reason(text: str) -> str | None:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return str(error)
    return None
