"""Tools and the choice among them, as in a request to OpenAI's chat API, to a term.

A turn is text, then calls, or one of them alone: `tool_choice` says which.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from constrain.algebra.terms import EPS, Term, alt, cat, literal, optional, star
from constrain.algebra.tries import trie
from constrain.errors import GrammarError, SchemaError, UnsupportedFeatureError
from constrain.frontends.json_schema import JSONStyle
from constrain.frontends.json_schema.compile import texts_of
from constrain.frontends.json_schema.hints import is_bare_properties
from constrain.frontends.json_schema.read import JSON, read_schema
from constrain.frontends.json_schema.style import resolve_style
from constrain.frontends.mistaken import hint_on_name
from constrain.frontends.regex import from_regex
from constrain.frontends.tags.arguments import arguments, json_object, json_without
from constrain.frontends.tags.fields import Fields, placed
from constrain.frontends.tags.free_text import free_text, text_that_does_not_begin, triggers_of
from constrain.frontends.tags.markers import marker
from constrain.frontends.tags.tool_formats import ToolFormat, resolve_tool_format
from constrain.limits import DEFAULT_LIMITS, Limits

__all__ = ["from_tools"]

_NO_PARAMETERS: Final = {"type": "object", "properties": {}, "additionalProperties": False}
_ANY_PARAMETERS: Final = {"type": "object"}


class _Tool(NamedTuple):
    name: str
    parameters: JSON
    pointer: str
    """Of `parameters`, or of the tool if it has none."""


def from_tools(
    tools: Sequence[dict[str, Any]],
    tool_choice: str | dict[str, Any] | None = "auto",
    *,
    format: str | ToolFormat,
    parallel_tool_calls: bool = True,
    style: str | JSONStyle = "canonical",
    limits: Limits = DEFAULT_LIMITS,
) -> Term:
    """What a model may write when it has some tools.

    Args:
        tools: Each `{"type": "function", "function": {"name", "parameters", "strict"}}`, or the
            inner object alone. Without `parameters` a tool takes none: its arguments are `{}`. With
            `strict` false its arguments are any object; else they satisfy the schema.
        tool_choice: "auto" or None: text, calls, or text and then calls. "required": calls.
            "none": text without calls. `{"type": "function", "function": {"name": ...}}`: calls of
            this tool. `{"type": "allowed_tools", "allowed_tools": {"mode", "tools"}}`: "auto" or
            "required" with some of the tools.
        format: How calls are written, see `tool_formats`.
        parallel_tool_calls: More than one call, where the format has a way to write them.
        style: How arguments are written, see `json_schema.style`.
        limits: Budgets.

    Raises:
        GrammarError: Something is not of this form; the error has a JSON pointer into
            `{"tools": ..., "tool_choice": ...}`.
        UnsupportedFeatureError: A tool or a format is of a kind that is not honoured, or a schema
            has something that is not.
        UnsatisfiableError: No arguments satisfy the schema of a tool.
        LimitExceededError: They are larger than the limits allow.
    """
    how = resolve_tool_format(format)
    written = resolve_style(style)
    request = _read(tools, tool_choice, limits)
    known = _tools(request["tools"])
    mode, offered = _choose(request["tool_choice"], known)
    if not offered:
        return _text_alone(how, limits)
    after_name = _after_name(how, limits)
    marks = how.marks
    names = trie(
        [
            (_spell(tool, how), after_name(_arguments(tool, how, marks, written, limits)))
            for tool in offered
        ]
    )
    calls = _after_opening(cat(_before_name(how, limits), names), how, parallel=parallel_tool_calls)
    if mode == "required" and not how.always_text:
        leads = [literal(how.lead[:n].encode()) for n in range(len(how.lead) + 1)]
        return cat(alt(leads), alt([marker(opening) for opening in how.openings]), calls)
    if how.whole_message:
        return alt((cat(marker(how.opening), calls), _text_alone(how, limits)))
    triggers = [
        trigger
        for opening in how.openings
        for trigger in triggers_of(opening, [how.first_trigger], calls, again=False)
    ]
    may_end = mode == "auto"
    return free_text(triggers, may_end=may_end, excludes=how.never, name="text", limits=limits)


def _text_alone(how: ToolFormat, limits: Limits) -> Term:
    if how.whole_message:
        return text_that_does_not_begin(how.opening)
    excludes = (how.first_trigger, *how.never)
    return free_text((), may_end=True, excludes=excludes, name="text", limits=limits)


def _after_opening(one: Term, how: ToolFormat, *, parallel: bool) -> Term:
    """The rest of the calls once the opening of the first one is there; `one` is that of one."""
    more: Term = EPS
    if parallel and how.between is not None:
        more = star(cat(marker(how.between), marker(how.opening[len(how.begin) :]), one))
    stop = optional(marker(how.stop)) if how.stop else EPS
    return cat(one, more, marker(how.end), stop)


def _before_name(how: ToolFormat, limits: Limits) -> Term:
    """What stands between the opening of a call and the name of the tool."""
    pieces = how.pieces[: how.pieces.index("$NAME")]
    rest = pieces if pieces and pieces[0].startswith("$") else pieces[1:]
    return cat(*[_piece(piece, how, limits) for piece in rest])


def _after_name(how: ToolFormat, limits: Limits) -> Callable[[Term], Term]:
    """What stands after the name of a tool, given its arguments; all tools share the rest."""
    pieces = how.pieces[how.pieces.index("$NAME") + 1 :]
    at = pieces.index("$ARGS")
    before, after = [
        cat(*[_piece(p, how, limits) for p in some]) for some in (pieces[:at], pieces[at + 1 :])
    ]
    return lambda given: cat(before, given, after)


def _piece(piece: str, how: ToolFormat, limits: Limits) -> Term:
    return from_regex(how.id, "ecma", limits=limits) if piece == "$ID" else marker(piece)


def _spell(tool: _Tool, how: ToolFormat) -> bytes:
    if how.json_name:
        return json.dumps(tool.name, ensure_ascii=False).encode()
    if not re.fullmatch(how.names, tool.name):
        raise UnsupportedFeatureError(
            f"the tool name {tool.name!r} in a format that writes it bare",
            pointer=tool.pointer,
            hint="letters, digits and '_' are always fine",
        )
    return tool.name.encode()


def _arguments(
    tool: _Tool, how: ToolFormat, marks: Sequence[str], style: JSONStyle, limits: Limits
) -> Term:
    schema = tool.parameters
    with placed(tool.pointer):
        if how.arguments is not None:
            return arguments(schema, how.arguments, style=style, kept_out=marks, limits=limits)
        objects = schema.get("type") != "object"  # an object, said or not
        if marks:
            return json_without(schema, marks, style=style, objects=objects, limits=limits)
        if objects:
            return json_object(schema, style=style, limits=limits)
        return texts_of(schema, style, limits=limits).term


# Reading


def _read(tools: object, tool_choice: object, limits: Limits) -> JSON:
    if isinstance(tools, (str, bytes)) or not isinstance(tools, Sequence):
        hint = "write [tool] for one" if isinstance(tools, dict) else None
        raise GrammarError(f"tools is a list of dicts, not {type(tools).__name__}", hint=hint)
    try:
        return read_schema({"tools": list(tools), "tool_choice": tool_choice}, limits)
    except SchemaError as error:
        raise GrammarError(error.reason, pointer=error.pointer, hint=error.hint) from None


def _tools(values: list[JSON]) -> dict[str, _Tool]:
    known: dict[str, _Tool] = {}
    for i, value in enumerate(values):
        fields = Fields(value, f"#/tools/{i}", "a tool")
        fields = _function(fields, fields.get("type", str, "function"))
        name = fields.get("name", str)
        if not name or name in known:
            reason = "has no name" if not name else f"has the name of another, {name!r}"
            raise GrammarError(f"{fields.what} {reason}", pointer=fields.at("name"))
        if not fields.get("strict", bool, True):
            known[name] = _Tool(name, _ANY_PARAMETERS, fields.pointer)
        elif "parameters" in fields:
            known[name] = _Tool(name, _parameters(fields), fields.at("parameters"))
        else:
            _refuse_other_names(fields)
            known[name] = _Tool(name, _NO_PARAMETERS, fields.pointer)
    return known


def _parameters(fields: Fields) -> JSON:
    schema = fields.get("parameters", dict)
    if is_bare_properties(schema):
        raise GrammarError(
            f"'parameters' of {fields.what} is no schema: it says nothing of the arguments",
            pointer=fields.at("parameters"),
            hint='write {"type": "object", "properties": {...}} around it',
        )
    return schema


def _refuse_other_names(fields: Fields) -> None:
    """A schema under the name of another API would be passed over, and the call have no arguments.

    Raises:
        GrammarError: There is one.
    """
    for name, value in fields.value.items():
        if name in ("input_schema", "inputSchema") or _is_of_arguments(name, value):
            raise GrammarError(
                f"{fields.what} has its schema as {name!r}, and no 'parameters'",
                pointer=fields.at(name),
                hint="name it 'parameters', as OpenAI's API does",
            )


def _is_of_arguments(name: str, value: JSON) -> bool:
    """Whether a field looks like a schema of objects, and not like one of what is returned."""
    if not isinstance(value, dict) or re.search("(?i)out|return|response|result", name):
        return False
    return value.get("type") == "object" or isinstance(value.get("properties"), dict)


def _function(fields: Fields, kind: str) -> Fields:
    """The fields that name a function: those of the object inside, or these where it is alone."""
    if kind != "function":
        raise UnsupportedFeatureError(
            f"{fields.what} of type {kind!r}",
            pointer=fields.at("type"),
            hint="only functions have a schema that says what a call looks like",
        )
    if "function" not in fields:
        return fields
    return Fields(fields.get("function", dict), fields.at("function"), "a function")


def _choose(choice: JSON, known: dict[str, _Tool]) -> tuple[str, list[_Tool]]:
    """The mode, "auto", "required" or "none", and the tools that may be called."""
    at = "#/tool_choice"
    if choice is None:
        choice = "auto"
    if isinstance(choice, str):
        mode = _mode(choice, ("auto", "required", "none"), "tool_choice", at)
        if choice == "required" and not known:
            raise GrammarError("a call is required, and there are no tools", pointer=at)
        return mode, [] if mode == "none" else list(known.values())
    fields = Fields(choice, at, "tool_choice")
    kind = fields.get("type", str)
    if kind == "allowed_tools":
        return _allowed(fields, known)
    return "required", [_named(fields, known)]


def _allowed(fields: Fields, known: dict[str, _Tool]) -> tuple[str, list[_Tool]]:
    if "allowed_tools" in fields:  # the Responses API has the fields at the top
        fields = Fields(fields.get("allowed_tools", dict), fields.at("allowed_tools"), "the tools")
    at = fields.at("mode")
    mode = _mode(fields.get("mode", str, "auto"), ("auto", "required"), "a mode", at)
    listed = fields.get("tools", list)
    names = dict.fromkeys(
        [
            _named(Fields(v, fields.at("tools", i), "a tool"), known).name
            for i, v in enumerate(listed)
        ]
    )
    if mode == "required" and not names:
        raise GrammarError("a call is required, and no tool is allowed", pointer=fields.at("tools"))
    return mode, [known[name] for name in names]


def _mode(given: str, modes: tuple[str, ...], what: str, pointer: str) -> str:
    if given not in modes:
        listed = ", ".join(map(repr, modes))
        raise GrammarError(
            f"{what} is {listed}, or names tools, not {given!r}",
            pointer=pointer,
            hint='{"type": "function", "function": {"name": ...}} names one',
        )
    return given


def _named(fields: Fields, known: dict[str, _Tool]) -> _Tool:
    """The tool that an object names."""
    fields = _function(fields, fields.get("type", str))
    name = fields.get("name", str)
    if name not in known:
        others = f"the tools are {', '.join(map(repr, list(known)[:8])) or 'none'}"
        raise GrammarError(
            f"there is no tool {name!r}",
            pointer=fields.at("name"),
            hint=hint_on_name(name, known, others),
        )
    return known[name]
