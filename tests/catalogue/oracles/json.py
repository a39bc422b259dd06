"""JSON: the module `json`, without the constants that it takes beyond the standard."""

from __future__ import annotations

import json

EXACT = False


def complaint(text: str) -> str | None:
    try:
        json.loads(text, parse_constant=_refuse)
    except ValueError as error:
        return str(error)
    return None


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
