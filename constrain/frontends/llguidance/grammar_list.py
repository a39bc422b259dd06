"""Several grammars in one text, the JSON that llguidance takes: the first is the whole.

    {"grammars": [{"lark_grammar": "start: @item+"}, {"name": "item", "json_schema": {...}}]}

A grammar refers to another one as `@name`.
"""

from __future__ import annotations

import json
from typing import Any

from constrain.errors import GrammarSyntaxError
from constrain.frontends.llguidance.reader import read_grammar
from constrain.frontends.llguidance.syntax import (
    Attributes,
    GrammarText,
    RuleDefinition,
    Schema,
)
from constrain.limits import Limits

__all__ = ["read_grammars"]

_KINDS = ("lark_grammar", "json_schema")


def read_grammars(
    text: str, limits: Limits
) -> tuple[GrammarText, dict[str, GrammarText], int | None]:
    """The grammar that is the whole, those with a name, and how many tokens a text may have.

    Args:
        text: A grammar, or JSON with a list of them.
        limits: Budgets.

    Raises:
        GrammarSyntaxError: It is neither.
        UnsupportedFeatureError: It has a part that cannot be honoured.
        LimitExceededError: It is too long or nests too deep.
    """
    if not text.lstrip().startswith("{"):
        return read_grammar(text, limits), {}, None
    limits.check("max_input_bytes", len(text.encode(errors="replace")), "a list of grammars")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as e:
        at = getattr(e, "pos", 0)
        raise GrammarSyntaxError(
            f"a grammar that begins with '{{' is JSON, and this is not: {e}",
            source=text,
            span=(at, at + 1),
        ) from e
    listed = value.get("grammars")
    if not isinstance(listed, list) or not listed:
        raise GrammarSyntaxError(
            'a grammar in JSON has a list of "grammars"',
            source=text,
            span=(0, 1),
            hint='{"grammars": [{"lark_grammar": "start: ..."}]}',
        )
    most = value.get("max_tokens")
    if most is not None and (not isinstance(most, int) or isinstance(most, bool) or most < 0):
        raise GrammarSyntaxError(
            f"max_tokens is a number of tokens, not {most!r}",
            hint='{"grammars": [...], "max_tokens": 99}',
        )
    read: list[GrammarText] = []
    named: dict[str, GrammarText] = {}
    for number, item in enumerate(listed):
        read.append(_read(item, number, limits))
        name = item.get("name")
        if name is None:
            continue
        if not isinstance(name, str) or name in named:
            raise GrammarSyntaxError(f"grammar {number}: the name {name!r} is no text, or is taken")
        named[name] = read[-1]
    return read[0], named, most


def _read(item: Any, number: int, limits: Limits) -> GrammarText:  # noqa: ANN401 - JSON
    given = [kind for kind in _KINDS if isinstance(item, dict) and item.get(kind) is not None]
    if len(given) != 1:
        raise GrammarSyntaxError(
            f"grammar {number} has not exactly one of {' and '.join(map(repr, _KINDS))}"
        )
    if given[0] == "lark_grammar":
        if not isinstance(item["lark_grammar"], str):
            raise GrammarSyntaxError(f"grammar {number}: lark_grammar is a text")
        return read_grammar(item["lark_grammar"], limits)
    text = json.dumps(item["json_schema"])
    span = (0, len(text))
    body = Schema(text, item["json_schema"], span)
    rule = RuleDefinition("start", Attributes(), False, body, span)
    return GrammarText(text, rules={"start": rule})
