"""Write `docs/json-schema.md`: prose from `docs/json-schema.md.in`, tables from the code.

    python -m docs.generate

In the template `{{name}}` stands for a table or a number, which a function below makes out of the
support table, the formats, the styles, the limits, examples that are run here, and the results of
`python -m benchmarks.conformance` and `python -m tests.frontends.json_schema.official_suite`.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from constrain import limits
from constrain.errors import UnsupportedFeatureError
from constrain.frontends.json_schema.compile import from_json_schema
from constrain.frontends.json_schema.exponents import SPAN
from constrain.frontends.json_schema.formats import FORMATS, SUBSETS
from constrain.frontends.json_schema.keywords import DIALECTS, Keyword
from constrain.frontends.json_schema.read import _MAX_DIGITS
from constrain.frontends.json_schema.style import PRESETS, JSONStyle

__all__ = ["PAGE", "REFUSED", "main", "render"]

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "json-schema.md"
TEMPLATE = DOCS / "json-schema.md.in"
RESULT = DOCS.parent / "benchmarks" / "results" / "conformance.json"
RATCHET = DOCS.parent / "tests" / "frontends" / "json_schema" / "official_suite.json"

_GROUPS = {
    "Any value": "type enum const nullable",
    "Numbers": "multipleOf minimum maximum exclusiveMinimum exclusiveMaximum",
    "Strings": "minLength maxLength pattern format",
    "Arrays": "prefixItems items additionalItems unevaluatedItems contains minContains maxContains "
    "minItems maxItems uniqueItems",
    "Objects": "properties patternProperties additionalProperties unevaluatedProperties "
    "propertyNames required minProperties maxProperties dependentRequired dependentSchemas "
    "dependencies",
    "Combinations": "allOf anyOf oneOf not if then else discriminator",
    "References and identifiers": "$ref $dynamicRef $recursiveRef $defs definitions $id id $anchor "
    "$dynamicAnchor $recursiveAnchor $schema $vocabulary",
    "Annotations": "title description default examples example deprecated readOnly writeOnly "
    "contentMediaType contentEncoding contentSchema $comment xml externalDocs",
}
"""The order of the support table on the page; every keyword is in one group."""

_DRAFTS = ("draft4", "draft6", "draft7", "draft2019-09", "draft2020-12")

_PAIRS = {
    "type": "array",
    "uniqueItems": True,
    "minItems": 5,
    "contains": {"required": ["a"]},
    "items": {
        "type": "object",
        "maxProperties": 1,
        "propertyNames": {"pattern": "^[ab]$"},
        "additionalProperties": {"type": "boolean"},
    },
}
_VOCABULARY = "https://example.com/units"
_METASCHEMA = {
    "$id": "https://example.com/meta",
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$vocabulary": {_VOCABULARY: True},
}
_UNNAMED = {"oneOf": [{"type": "object"}], "discriminator": {"propertyName": "kind"}}

REFUSED: tuple[tuple[str, dict[str, Any] | str, str], ...] = (
    # keyword, example, dialect or ""
    ("pattern", {"pattern": r"^(a+)\1$"}, ""),
    ("pattern", {"pattern": "(?=" * 17 + "a" + ")" * 17}, ""),
    ("format", {"not": {"type": "string", "format": "hostname"}}, ""),
    ("format", {"type": "string", "format": "hostname", "pattern": "^xn--"}, ""),
    ("uniqueItems", _PAIRS, ""),
    ("propertyNames", {"propertyNames": {"$ref": "#"}}, ""),
    ("minimum", '{"minimum": 1e1200}', ""),
    ("$schema", {"$schema": "http://json-schema.org/draft-03/schema#"}, ""),
    ("$vocabulary", {"$schema": _METASCHEMA["$id"]}, ""),
    ("discriminator", _UNNAMED, "openapi-3.0"),
)
"""An example for each thing that is refused."""


def main() -> int:
    """Write the page; the exit status is 0."""
    PAGE.write_text(render(), encoding="utf-8")
    sys.stdout.write(f"written to {PAGE}\n")
    return 0


def render() -> str:
    """The page.

    Raises:
        AssertionError: A keyword is in no group, or an example is not refused any more.
    """
    template = TEMPLATE.read_text(encoding="utf-8")
    result = json.loads(RESULT.read_text(encoding="utf-8"))
    parts: dict[str, Callable[[], str]] = {
        "keywords": _keywords,
        "span": lambda: str(SPAN),
        "digits_before": lambda: str(SPAN + 1),
        "digits_on_step": lambda: str(2 * SPAN + 1),
        "digits": lambda: f"{_MAX_DIGITS:,}",
        "formats": _formats,
        "styles": _styles,
        "refusals": _refusals,
        "ratchet": _ratchet,
        "limits": _limits,
        "conditions": lambda: _conditions(result),
        "suite": lambda: _suite(result),
        "drafts": lambda: _by_draft(result),
        "real": lambda: _real(result),
        "remote": lambda: str(sum(g["texts_of_remote_schemas"] for g in result["cases"].values())),
        "settings": lambda: _settings(result),
        **{
            name: (lambda name=name: f"{result['limits'][name]:g}")
            for name in ("compile_s", "play_s", "memory_gib")
        },
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]](), template)


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    cells = [[str(cell).replace("|", "&#124;") for cell in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


# The support table


def _keywords() -> str:
    rows: dict[tuple[str, str, str, str], list[str]] = {}
    for dialect, table in DIALECTS.items():
        for keyword in table.keywords.values():
            rows.setdefault(_row_key(keyword), []).append(dialect)
    names = [name for group in _GROUPS.values() for name in group.split()]
    assert sorted(names) == sorted({name for name, *_ in rows}), "every keyword is in one group"
    parts = []
    for title, group in _GROUPS.items():
        found = [
            (f"`{name}`", _shown_value(expects), use, _shown_drafts(dialects), note)
            for wanted in group.split()
            for (name, use, expects, note), dialects in rows.items()
            if name == wanted
        ]
        head = ("keyword", "its value", "use", "drafts", "to know")
        parts.append(f"### {title}\n\n{_table(head, found)}")
    return "\n\n".join(parts)


def _row_key(keyword: Keyword) -> tuple[str, str, str, str]:
    return keyword.name, keyword.use, keyword.expects, keyword.note


def _shown_value(expects: str) -> str:
    return (expects or "any").replace("'#'", '`"#"`')


def _shown_drafts(dialects: Sequence[str]) -> str:
    """`all`, `from 6`, `up to 7`, `4`, each perhaps with OpenAPI."""
    at = [_DRAFTS.index(d) for d in dialects if d in _DRAFTS]
    parts = []
    if at:
        assert at == list(range(at[0], at[-1] + 1))
        first, last = (_DRAFTS[i].removeprefix("draft") for i in (at[0], at[-1]))
        if len(at) == len(_DRAFTS):
            parts.append("all")
        elif first == last:
            parts.append(first)
        else:
            parts.append(f"up to {last}" if at[0] == 0 else f"{first} to {last}")
            if at[-1] == len(_DRAFTS) - 1:
                parts[-1] = f"from {first}"
    if len(parts) < len(dialects) and "openapi-3.0" in dialects:
        parts.append("OpenAPI")
    return ", ".join(parts)


def _formats() -> str:
    rows = [
        (f"`{name}`", f"in part: {SUBSETS[name]}" if name in SUBSETS else "exact")
        for name in FORMATS
    ]
    return _table(("format", "accepted"), rows)


def _styles() -> str:
    rows = []
    for field in fields(JSONStyle):
        values = [getattr(style, field.name) for style in PRESETS.values()]
        rows.append([f"`{field.name}`", *[f"`{value!r}`" for value in values]])
    return _table(["field", *[f"`{name}`" for name in PRESETS]], rows)


def _limits() -> str:
    """The fields of `Limits` with their docstrings, which only the source has."""
    rows = []
    body = ast.parse(inspect.getsource(limits.Limits)).body[0]
    assert isinstance(body, ast.ClassDef)
    for field, text in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
            assert isinstance(field.target, ast.Name)
            assert isinstance(text.value, ast.Constant)
            value = getattr(limits.DEFAULT_LIMITS, field.target.id)
            rows.append((f"`{field.target.id}`", f"{value:,}", " ".join(text.value.value.split())))
    return _table(("limit", "default", "of what, and why"), rows)


# What is refused


def _refusals() -> str:
    rows = []
    for keyword, schema, dialect in REFUSED:
        try:
            _compile(schema, dialect)
        except UnsupportedFeatureError as error:
            relaxed = "left out" if _can_relax(schema, dialect) else "refused all the same"
            shown = schema if isinstance(schema, str) else json.dumps(schema)
            assert "|" not in shown, "a bar would end the cell"
            rows.append((f"`{keyword}`", error.reason.splitlines()[0], f"`{shown}`", relaxed))
        else:
            raise AssertionError(f"not refused any more: {schema}")
    return _table(("at", "what it says", "example", "relaxed"), rows)


def _compile(schema: dict[str, Any] | str, dialect: str, on_unsupported: str = "refuse") -> None:
    from referencing import Registry

    registry: Any = Registry().with_contents([(_METASCHEMA["$id"], _METASCHEMA)])
    from_json_schema(
        schema, dialect=dialect or None, registry=registry, on_unsupported=on_unsupported
    )


def _can_relax(schema: dict[str, Any] | str, dialect: str) -> bool:
    try:
        _compile(schema, dialect, "relax")
    except UnsupportedFeatureError:
        return False
    return True


def _ratchet() -> str:
    rows = []
    for draft, kept in json.loads(RATCHET.read_text(encoding="utf-8")).items():
        right, refused = kept["counts"].get("correct", 0), kept["counts"].get("refused", 0)
        total = sum(kept["counts"].values())
        cases = ", ".join(kept["refused"]) or "none"
        rows.append((_plain(draft), total, right, _percent(right, total), refused, cases))
    head = ("draft", "required tests", "right", "share", "refused", "in these cases")
    return _table(head, rows)


# The comparison


def _conditions(result: dict[str, Any]) -> str:
    machine = result["machine"]
    dates = sorted(engine["date"][:10] for engine in result["engines"].values())
    when = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    return f"Run on {when}, {machine['cpu']}, {machine['system']}, Python {machine['python']}."


_OUTCOMES = {
    "right": "right",
    "respelt": "other spelling",
    "accepted": "accepted wrongly",
    "rejected": "rejected wrongly",
    "refused": "refused",
    "broke": "broke",
}


def _suite(result: dict[str, Any]) -> str:
    groups = [group for group in result["cases"] if group != "real"]
    head = ["engine", "texts", *_OUTCOMES.values()]
    rows = [
        [_engine(name, engine), *_outcomes(engine, groups)]
        for name, engine in result["engines"].items()
    ]
    return _table(head, rows)


def _real(result: dict[str, Any]) -> str:
    head = ["engine", "schemas", "compiled", "without a wrong verdict", "texts"]
    rows = []
    for name, engine in result["engines"].items():
        counts = engine["schemas"].get("real")
        if counts is None:
            continue
        compiled = counts.get("compiled", 0)
        total = compiled + counts.get("refused", 0) + counts.get("broke", 0)
        faultless = _percent(compiled - counts.get("wrong", 0), total)
        row = [_engine(name, engine), total, _percent(compiled, total), faultless]
        rows.append([*row, *_outcomes(engine, ["real"])])
    return _table([*head, *_OUTCOMES.values()], rows)


def _outcomes(engine: dict[str, Any], groups: Sequence[str]) -> list[object]:
    """How many texts, and what became of them."""
    counts = [engine["texts"].get(group, {}) for group in groups]
    sums = {name: sum(count.get(name, 0) for count in counts) for name in _OUTCOMES}
    total = sum(sums.values())
    right = f"{sums['right']:,} ({_percent(sums['right'], total)})"
    others = [f"{sums[name]:,}" for name in _OUTCOMES if name != "right"]
    return [f"{total:,}", right, *others]


def _by_draft(result: dict[str, Any]) -> str:
    drafts = [group for group in result["cases"] if group != "real"]
    rows = []
    for name, engine in result["engines"].items():
        row = [_engine(name, engine)]
        for draft in drafts:
            counts = engine["texts"].get(draft, {})
            total = sum(counts.values())
            wrong = counts.get("accepted", 0) + counts.get("rejected", 0)
            right = counts.get("right", 0) + counts.get("respelt", 0)
            row.append(f"{_percent(right, total)} / {_percent(wrong, total)}" if total else "")
        rows.append(row)
    return _table(["engine", *[f"{_plain(draft)}, right / wrong" for draft in drafts]], rows)


def _settings(result: dict[str, Any]) -> str:
    lines = []
    for name, engine in result["engines"].items():
        every = engine["every"]
        part = f"; one of {every} cases was played, as it is slow at many" if every > 1 else ""
        lines.append(f"  - {_engine(name, engine)}: {engine['settings']}{part}.")
    return "\n".join(lines)


def _engine(name: str, engine: dict[str, Any]) -> str:
    return f"{name} {engine['version']}"


def _plain(draft: str) -> str:
    return draft.removeprefix("draft")


def _percent(part: int, whole: int) -> str:
    """Rounded down to a tenth, so that only all is 100 %."""
    return f"{1000 * part // whole / 10:g} %" if whole else ""


if __name__ == "__main__":
    sys.exit(main())
