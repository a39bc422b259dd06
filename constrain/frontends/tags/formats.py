"""The formats that a structural tag is made of, each to a term.

Free text that stands last in the content of a tag ends at the first end of that tag. Elsewhere free
text has no end of its own: all ways of splitting the text are tried. So a format is lowered
together with the end that follows it, if one does.

Formats nest as deep as a user likes: each function here yields the formats inside its own, and is
sent their terms.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from constrain.algebra.terms import EPS, Term, alt, cat, optional, repeat, star, token
from constrain.algebra.within import within_tokens
from constrain.errors import GrammarError, UnsupportedFeatureError
from constrain.frontends.gbnf import from_gbnf
from constrain.frontends.json_schema import JSONStyle, from_json_schema
from constrain.frontends.json_schema.read import JSON
from constrain.frontends.mistaken import hint_on_name
from constrain.frontends.regex import from_regex
from constrain.frontends.tags.argument_styles import PARAMETERS
from constrain.frontends.tags.arguments import arguments, json_without
from constrain.frontends.tags.bounded_text import bounded_text
from constrain.frontends.tags.fields import Fields, check, placed
from constrain.frontends.tags.free_text import Trigger, free_text, triggers_of
from constrain.frontends.tags.markers import marker
from constrain.limits import Limits

__all__ = ["Options", "Tag", "lower_format", "lower_schema", "lower_tag_list"]

Token = str | int
_MOST: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Options:
    """What a caller decides for all schemas, and the budgets."""

    style: JSONStyle
    limits: Limits


class End(NamedTuple):
    """What ends a tag: one of some texts, or one token. `term` is any of them."""

    term: Term
    texts: tuple[str, ...] = ()
    token: Token | None = None


class Part(NamedTuple):
    """A format to be lowered, where it is, and what follows it."""

    value: JSON
    pointer: str
    end: End | None = None


class Tag(NamedTuple):
    """What a tag begins with, a text or else a token; the rest of it, its end included."""

    text: str | None
    token: Token | None
    rest: Term
    pointer: str

    @property
    def term(self) -> Term:
        """The whole tag."""
        if self.text is not None:
            return cat(marker(self.text), self.rest)
        assert self.token is not None
        return cat(token(self.token), self.rest)


Lowering = Generator[Part, Term, Term]


def lower_format(value: JSON, pointer: str, options: Options) -> Term:
    """The texts of a format.

    Raises:
        GrammarError: It is no such format.
        UnsupportedFeatureError: It is of a type, or has a field, that cannot be honoured exactly.
    """
    stack = [_lower(Part(value, pointer), options)]
    made: Term | None = None
    while stack:
        try:
            part = stack[-1].send(made)  # type: ignore[arg-type] # None starts a generator
        except StopIteration as stop:
            stack.pop()
            made = stop.value
        else:
            stack.append(_lower(part, options))
            made = None
    assert made is not None
    return made


def _lower(part: Part, options: Options) -> Lowering:
    fields = Fields(part.value, part.pointer, "a format")
    name = fields.get("type", str)
    known = _TYPES.get(name)
    if known is None:
        raise UnsupportedFeatureError(
            f"a format of type {name!r}, which is not known here",
            pointer=fields.at("type"),
            hint=_HINTS.get(name)
            or hint_on_name(name, _TYPES, f"the types are {', '.join(map(repr, _TYPES))}"),
        )
    lower, names = known
    fields.what = f"a {name!r} format"
    fields.only(["type", *names])
    return (yield from lower(fields, part.end, options))


def _before(term: Term, end: End | None) -> Term:
    return term if end is None else cat(term, end.term)


# Without free text


def _const_string(fields: Fields, end: End | None, options: Options) -> Lowering:
    yield from ()
    return _before(marker(fields.get("value", str)), end)


def _json_schema(fields: Fields, end: End | None, options: Options) -> Lowering:
    yield from ()
    spelling = fields.get("style", str, "json")
    if spelling != "json" and spelling not in PARAMETERS:
        names = ["json", *PARAMETERS]
        raise UnsupportedFeatureError(
            f"a JSON Schema for texts in the style {spelling!r}, which is not known here",
            pointer=fields.at("style"),
            hint=hint_on_name(spelling, names, f"the styles are {', '.join(map(repr, names))}"),
        )
    excludes = _excludes(fields)
    style = options.style
    most = _count(fields, "max_whitespace_cnt")
    if most is not None:
        style = replace(style, whitespace="flexible", max_whitespace=most)
    order = "any" if fields.get("any_order", bool, False) else "declared"
    how = replace(options, style=style)
    if spelling == "json" and not excludes:
        return _before(lower_schema(fields, "json_schema", how, property_order=order), end)
    schema = fields.get("json_schema", (str, dict, bool))
    with placed(fields.at("json_schema")):
        if spelling == "json":
            term = json_without(
                schema, excludes, style=style, property_order=order, limits=options.limits
            )
        else:
            term = arguments(
                schema,
                PARAMETERS[spelling],
                style=style,
                property_order=order,
                kept_out=excludes,
                loose=True,
                limits=options.limits,
            )
    return _before(term, end)


def _qwen_xml_parameter(fields: Fields, end: End | None, options: Options) -> Lowering:
    yield from ()
    schema = fields.get("json_schema", (str, dict, bool))
    with placed(fields.at("json_schema")):
        term = arguments(
            schema, PARAMETERS["qwen_xml"], style=options.style, loose=True, limits=options.limits
        )
    return _before(term, end)


def lower_schema(
    fields: Fields, key: str, options: Options, *, property_order: str = "declared"
) -> Term:
    """The JSON texts of the schema in a field, which may be a JSON text."""
    schema = fields.get(key, (str, dict, bool))
    with placed(fields.at(key)):
        return from_json_schema(
            schema, style=options.style, property_order=property_order, limits=options.limits
        ).term


def _regex(fields: Fields, end: End | None, options: Options) -> Lowering:
    yield from ()
    pattern = fields.get("pattern", str)
    with placed(fields.at("pattern")):
        return _before(from_regex(pattern, "ecma", limits=options.limits), end)


def _grammar(fields: Fields, end: End | None, options: Options) -> Lowering:
    yield from ()
    text, syntax = fields.get("grammar", str), fields.get("syntax", str, "ebnf")
    if syntax not in ("ebnf", "lark"):
        raise UnsupportedFeatureError(
            f"a grammar in the syntax {syntax!r}",
            pointer=fields.at("syntax"),
            hint="the syntaxes are 'ebnf' and 'lark'",
        )
    with placed(fields.at("grammar")):
        if syntax == "lark":
            from constrain.frontends.llguidance import from_llguidance  # lark is an extra

            return _before(from_llguidance(text, limits=options.limits), end)
        return _before(from_gbnf(text, limits=options.limits), end)


# Formats made of formats


def _sequence(fields: Fields, end: End | None, options: Options) -> Lowering:
    elements = _elements(fields)
    parts: list[Term] = []
    for i, element in enumerate(elements):
        last = i == len(elements) - 1
        parts.append((yield Part(element, fields.at("elements", i), end if last else None)))
    return cat(*parts)


def _or(fields: Fields, end: End | None, options: Options) -> Lowering:
    parts: list[Term] = []
    for i, element in enumerate(_elements(fields)):
        parts.append((yield Part(element, fields.at("elements", i), end)))
    return alt(parts)


def _elements(fields: Fields) -> list[JSON]:
    elements: list[JSON] = fields.get("elements", list)
    if not elements:
        raise GrammarError(f"{fields.what} has at least one element", pointer=fields.at("elements"))
    return elements


def _optional(fields: Fields, end: End | None, options: Options) -> Lowering:
    content = yield Part(fields.get("content", dict), fields.at("content"), end)
    return optional(content) if end is None else alt((content, end.term))


def _repeated(fields: Fields, end: End | None, lo: int, hi: int | None) -> Lowering:
    content = yield Part(fields.get("content", dict), fields.at("content"))
    return _before(repeat(content, lo, hi), end)


def _star(fields: Fields, end: End | None, options: Options) -> Lowering:
    return (yield from _repeated(fields, end, 0, None))


def _plus(fields: Fields, end: End | None, options: Options) -> Lowering:
    return (yield from _repeated(fields, end, 1, None))


def _repeat(fields: Fields, end: End | None, options: Options) -> Lowering:
    lo, hi = fields.get("min", int), fields.get("max", int)
    if not 0 <= lo <= _MOST or (hi != -1 and not lo <= hi <= _MOST):
        raise GrammarError(
            f"'min' and 'max' are counts up to {_MOST:,}, min <= max, or max is -1, "
            f"not {lo} and {hi}",
            pointer=fields.pointer,
        )
    return (yield from _repeated(fields, end, lo, None if hi == -1 else hi))


# Tags


def _tag(fields: Fields, end: End | None, options: Options) -> Lowering:
    return _before((yield from _tag_parts(fields)).term, end)


def _tag_parts(fields: Fields) -> Generator[Part, Term, Tag]:
    begin = fields.get("begin", (str, dict))
    ends = fields.get("end", (str, list, dict))
    if isinstance(ends, dict):
        named = _token_of(ends, fields.at("end"))
        end = End(token(named), token=named)
    else:
        texts = fields.strings("end") if isinstance(ends, list) else [ends]
        if not texts:
            raise GrammarError(f"{fields.what} has at least one end", pointer=fields.at("end"))
        end = End(alt([marker(text) for text in texts]), tuple(texts))
    rest = yield Part(fields.get("content", dict), fields.at("content"), end)
    if isinstance(begin, str):
        return Tag(begin, None, rest, fields.pointer)
    return Tag(None, _token_of(begin, fields.at("begin")), rest, fields.pointer)


def _tags(fields: Fields) -> Generator[Part, Term, list[Tag]]:
    tags: list[JSON] = fields.get("tags", list)
    if not tags:
        raise GrammarError(f"{fields.what} has at least one tag", pointer=fields.at("tags"))
    made = []
    for i, value in enumerate(tags):
        tag = Fields(value, fields.at("tags", i), "a 'tag' format")
        if tag.get("type", str, "tag") != "tag":
            raise GrammarError("only formats of type 'tag' stand here", pointer=tag.at("type"))
        tag.only(["type", *_TYPES["tag"][1]])
        made.append((yield from _tag_parts(tag)))
    return made


def _tags_with_separator(fields: Fields, end: End | None, options: Options) -> Lowering:
    separator = marker(fields.get("separator", str))
    one = alt([tag.term for tag in (yield from _tags(fields))])
    several = one
    if not fields.get("stop_after_first", bool, False):
        several = cat(one, star(cat(separator, one)))
    if not fields.get("at_least_one", bool, False):
        several = optional(several)
    return _before(several, end)


# Free text


def _any_text(fields: Fields, end: End | None, options: Options) -> Lowering:
    yield from ()
    most_tokens, most_chars = _count(fields, "max_tokens"), _count(fields, "max_chars")
    if most_chars is None:
        numbered = end is not None and isinstance(end.token, int)
        if numbered and most_tokens is not None and "excludes" not in fields:
            # By its number it may be a token that is text: so it is told apart by whole tokens.
            return _before(repeat(_other_tokens(fields, end), 0, most_tokens), end)
        return _until([], fields, end, options.limits, most_tokens)
    ends = None if end is None or end.token is not None else end.texts
    text = bounded_text(most_chars, ends, _excludes(fields), most_tokens)
    return text if ends is not None else _before(text, end)


def _count(fields: Fields, key: str) -> int | None:
    if key not in fields:
        return None
    most: int = fields.get(key, int)
    if not 0 <= most <= _MOST:
        raise GrammarError(f"{key!r} is 0 to {_MOST:,}, not {most}", pointer=fields.at(key))
    return most


def _excludes(fields: Fields) -> list[str]:
    excludes = fields.strings("excludes")
    for i, text in enumerate(excludes):
        if not text:
            raise GrammarError(
                "no text is free of the empty text", pointer=fields.at("excludes", i)
            )
    return excludes


def _until(
    triggers: list[Trigger],
    fields: Fields,
    end: End | None,
    limits: Limits,
    most_tokens: int | None = None,
) -> Term:
    """Free text until a trigger, or until the end and with it.

    If its tokens are counted there are no triggers.
    """
    excludes = _excludes(fields)
    if most_tokens == 0:
        return EPS if end is None else end.term
    if end is None or end.token is not None:
        stops = []
        if end is not None:
            if not isinstance(end.token, str):
                raise UnsupportedFeatureError(
                    f"free text that ends at the token {end.token}",
                    pointer=fields.pointer,
                    hint="give the name of the token; or 'any_tokens' ends at any token",
                )
            stops.append(end.token)
        with placed(fields.pointer):
            free = free_text(triggers, may_end=True, excludes=excludes, stops=stops, limits=limits)
        return _before(free if most_tokens is None else within_tokens(free, most_tokens), end)
    ends = [(text, lambda _: EPS) for text in end.texts if text]
    with placed(fields.pointer):
        return free_text(
            [*triggers, *ends],
            may_end="" in end.texts,
            excludes=excludes,
            most_tokens=most_tokens,
            otherwise=end.term,
            limits=limits,
        )


def _triggered_tags(fields: Fields, end: End | None, options: Options) -> Lowering:
    tags = yield from _tags(fields)
    return lower_tag_list(fields, tags, end, options.limits)


def lower_tag_list(fields: Fields, tags: list[Tag], end: End | None, limits: Limits) -> Term:
    """Free text with tags in it, each after the trigger that it begins with.

    Args:
        fields: Has `triggers`, and perhaps `at_least_one`, `stop_after_first` and `excludes`.
        tags: All of them.
        end: What follows the whole.
        limits: Budgets.
    """
    triggers = fields.strings("triggers", required=True)
    for i, trigger in enumerate(triggers):
        if not trigger:
            raise GrammarError("a trigger is not empty", pointer=fields.at("triggers", i))
    listed = set(triggers)
    lengths = sorted({len(trigger) for trigger in triggers})
    stop = fields.get("stop_after_first", bool, False)
    after: list[Trigger] = []
    used: set[str] = set()
    whole: list[Term] = []
    # Free text that ends at a text takes that end in; a token stands after all of it.
    last = end.term if stop and end is not None and end.token is None else EPS
    for tag in tags:
        if tag.text is None:
            raise GrammarError(
                "a tag that a text triggers begins with a text",
                pointer=f"{tag.pointer}/begin",
                hint="'token_triggered_tags' are triggered by tokens",
            )
        found = [tag.text[:n] for n in lengths if tag.text[:n] in listed]
        if not found:
            raise GrammarError(
                f"no trigger begins {tag.text!r}, so the tag could never start",
                pointer=f"{tag.pointer}/begin",
                hint=f"the triggers are {', '.join(map(repr, triggers[:8]))}",
            )
        used.update(found)
        whole.append(cat(tag.term, last))
        after += triggers_of(tag.text, found, cat(tag.rest, last), again=not stop)
    for i, trigger in enumerate(triggers):
        if trigger not in used:
            raise GrammarError(
                f"no tag begins with the trigger {trigger!r}", pointer=fields.at("triggers", i)
            )
    if not fields.get("at_least_one", bool, False):
        return _until(after, fields, end, limits)
    if not stop:
        return cat(alt(whole), _until(after, fields, end, limits))
    return cat(alt(whole), EPS if end is None or end.token is None else end.term)


def _dispatch(fields: Fields, end: End | None, options: Options) -> Lowering:
    loop = fields.get("loop", bool, True)
    last = None if loop or (end is not None and end.token is not None) else end
    triggers: list[Trigger] = []
    for i, rule in enumerate(_rules(fields)):
        check(rule[0], str, "the pattern of a rule", fields.at("rules", i, 0))
        if not rule[0]:
            raise GrammarError("a pattern is not empty", pointer=fields.at("rules", i, 0))
        content = yield Part(rule[1], fields.at("rules", i, 1), last)
        triggers.append((rule[0], _then(content, again=loop)))
    return _until(triggers, fields, end, options.limits)


def _then(content: Term, *, again: bool) -> Callable[[Term], Term]:
    return (lambda text: cat(content, text)) if again else (lambda text: content)


def _rules(fields: Fields) -> list[list[JSON]]:
    rules: list[JSON] = fields.get("rules", list)
    for i, rule in enumerate(rules):
        if not isinstance(rule, list) or len(rule) != 2:
            raise GrammarError(
                "a rule is an array of what to wait for and a format", pointer=fields.at("rules", i)
            )
    if not rules:
        raise GrammarError(f"{fields.what} has at least one rule", pointer=fields.at("rules"))
    return rules


# Tokens as a whole


def _token_of(value: JSON, pointer: str) -> Token:
    fields = Fields(value, pointer, "a token")
    if fields.get("type", str, "token") != "token":
        raise GrammarError("only a text or a token stands here", pointer=fields.at("type"))
    fields.only(["type", "token"])
    named: Token = fields.get("token", (str, int))
    return named


def _token(fields: Fields, end: End | None, options: Options) -> Lowering:
    yield from ()
    return _before(token(fields.get("token", (str, int))), end)


def _other_tokens(fields: Fields, end: End | None, *more: Token) -> Term:
    """Any token but those that the format excludes, some more, and the end of the tag."""
    named = [*fields.strings("exclude_tokens", kind=(str, int)), *more]
    if end is not None and end.token is not None:
        named.append(end.token)
    return token(*named, others=True)


def _exclude_token(fields: Fields, end: End | None, options: Options) -> Lowering:
    yield from ()
    return _before(_other_tokens(fields, end), end)


def _any_tokens(fields: Fields, end: End | None, options: Options) -> Lowering:
    yield from ()
    return _before(repeat(_other_tokens(fields, end), 0, _count(fields, "max_tokens")), end)


def _token_triggered_tags(fields: Fields, end: End | None, options: Options) -> Lowering:
    triggers = fields.strings("trigger_tokens", required=True, kind=(str, int))
    listed = set(triggers)
    calls: list[Term] = []
    for tag in (yield from _tags(fields)):
        if tag.token is None:
            raise GrammarError(
                "a tag that a token triggers begins with a token",
                pointer=f"{tag.pointer}/begin",
                hint=f"write {{'type': 'token', 'token': {tag.text!r}}}",
            )
        if tag.token not in listed:
            raise GrammarError(f"{tag.token!r} is no trigger", pointer=f"{tag.pointer}/begin")
        calls.append(tag.term)
    free, call = _other_tokens(fields, end, *triggers), alt(calls)
    stop = fields.get("stop_after_first", bool, False)
    rest = EPS if stop else star(alt((free, call)))
    if fields.get("at_least_one", bool, False):
        return _before(cat(call, rest), end)
    return _before(cat(star(free), optional(call)) if stop else rest, end)


def _token_dispatch(fields: Fields, end: End | None, options: Options) -> Lowering:
    rules = _rules(fields)
    for i, rule in enumerate(rules):
        check(rule[0], (str, int), "the token of a rule", fields.at("rules", i, 0))
    calls: list[Term] = []
    for i, rule in enumerate(rules):
        content = yield Part(rule[1], fields.at("rules", i, 1))
        calls.append(cat(token(rule[0]), content))
    free, call = _other_tokens(fields, end, *[rule[0] for rule in rules]), alt(calls)
    if fields.get("loop", bool, True):
        return _before(star(alt((free, call))), end)
    return _before(cat(star(free), optional(call)), end)


_Lower = Callable[[Fields, End | None, Options], Lowering]
_TYPES: Final[dict[str, tuple[_Lower, tuple[str, ...]]]] = {
    "const_string": (_const_string, ("value",)),
    "json_schema": (
        _json_schema,
        ("json_schema", "style", "any_order", "max_whitespace_cnt", "excludes"),
    ),
    "qwen_xml_parameter": (_qwen_xml_parameter, ("json_schema",)),
    "regex": (_regex, ("pattern",)),
    "grammar": (_grammar, ("grammar", "syntax")),
    "any_text": (_any_text, ("excludes", "max_tokens", "max_chars")),
    "sequence": (_sequence, ("elements",)),
    "or": (_or, ("elements",)),
    "optional": (_optional, ("content",)),
    "star": (_star, ("content",)),
    "plus": (_plus, ("content",)),
    "repeat": (_repeat, ("min", "max", "content")),
    "tag": (_tag, ("begin", "content", "end")),
    "triggered_tags": (
        _triggered_tags,
        ("triggers", "tags", "at_least_one", "stop_after_first", "excludes"),
    ),
    "tags_with_separator": (
        _tags_with_separator,
        ("tags", "separator", "at_least_one", "stop_after_first"),
    ),
    "dispatch": (_dispatch, ("rules", "loop", "excludes")),
    "token": (_token, ("token",)),
    "exclude_token": (_exclude_token, ("exclude_tokens",)),
    "any_tokens": (_any_tokens, ("exclude_tokens", "max_tokens")),
    "token_triggered_tags": (
        _token_triggered_tags,
        ("trigger_tokens", "tags", "exclude_tokens", "at_least_one", "stop_after_first"),
    ),
    "token_dispatch": (_token_dispatch, ("rules", "loop", "exclude_tokens")),
}
_HINTS: Final = {
    "structural_tag": "a structural tag stands at the top only; inside it are formats",
}
