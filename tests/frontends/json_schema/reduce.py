"""A smaller schema that fails in the same way, for reports of long runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["reduced"]


def reduced(schema: Any, fails: Callable[[Any], bool], budget: int = 400) -> Any:
    """Drop and simplify parts of a schema as long as it still fails. `budget`: schemas tried."""
    tries = 0
    smaller = True
    while smaller:
        smaller = False
        for candidate in _smaller(schema):
            tries += 1
            if tries > budget:
                return schema
            if fails(candidate):
                schema, smaller = candidate, True
                break
    return schema


def _smaller(schema: Any) -> Iterator[Any]:
    """Without one member or item; with a subschema `true`; the same within each part."""
    if isinstance(schema, dict):
        for name in schema:
            yield {k: v for k, v in schema.items() if k != name}
        for name, value in schema.items():
            for part in [True] if isinstance(value, dict) and value else []:
                yield {**schema, name: part}
            for part in _smaller(value):
                yield {**schema, name: part}
    elif isinstance(schema, list):
        for i, value in enumerate(schema):
            yield schema[:i] + schema[i + 1 :]
            for part in _smaller(value):
                yield [*schema[:i], part, *schema[i + 1 :]]
