"""What people write, read: the term, and what a grammar keeps beside it.

One function for each `Grammar.from_...`, which says what the arguments mean. Front-ends are
imported when they are first needed, so that a program pays for those that it uses.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from constrain.algebra.prelude import Prelude
from constrain.algebra.terms import Term
from constrain.errors import GrammarError, GrammarSyntaxError
from constrain.frontends.explanation import Explainer
from constrain.frontends.mistaken import hint_on_text, hint_on_type
from constrain.limits import Limits, require_limits

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from constrain.frontends.json_schema import JSONStyle, KeywordUse
    from constrain.frontends.tags import ToolFormat

__all__ = [
    "Read",
    "choices",
    "gbnf",
    "json_schema",
    "lark",
    "pydantic",
    "regex",
    "shorten",
    "structural_tag",
    "tools",
]


@dataclass(frozen=True, slots=True)
class Read:
    """What was read.

    Attributes:
        term: The language.
        description: What it was made from, in one line.
        source: The grammar as it was written, if that is how to show it.
        report: Says what is done with each keyword of a JSON Schema.
        adapter: Of pydantic, for texts of the language.
        explainer: Makes what says where a text stands, in the words of the source.
        prelude: Terms that are in it, as in many grammars.
    """

    term: Term
    description: str
    source: str | None = None
    report: Callable[[], Sequence[KeywordUse]] | None = None
    adapter: TypeAdapter[Any] | None = None
    explainer: Callable[[], Explainer] | None = None
    prelude: Prelude | None = None


def json_schema(
    schema: dict[str, Any] | bool | str,
    *,
    limits: Limits,
    **options: Any,  # noqa: ANN401 - those of `Grammar.from_json_schema`
) -> Read:
    """A JSON Schema."""
    from constrain.frontends.json_schema import from_json_schema

    require_limits(limits)
    made = from_json_schema(schema, **options, limits=limits)
    shown = schema if isinstance(schema, str) else reprlib.repr(schema)

    def explainer() -> Explainer:
        from constrain.frontends.json_schema.where import SchemaExplainer

        return SchemaExplainer(schema, options, limits)

    return Read(
        made.term,
        f"Grammar.from_json_schema({shorten(shown)})",
        report=lambda: made.report,
        explainer=explainer,
        prelude=made.prelude,
    )


def pydantic(
    model: Any,  # noqa: ANN401 - whatever pydantic can make a type of
    style: str | JSONStyle,
    property_order: str,
    limits: Limits,
) -> Read:
    """A type of pydantic's."""
    from constrain.frontends.pydantic import from_pydantic

    require_limits(limits)
    made = from_pydantic(model, style=style, property_order=property_order, limits=limits)

    def explainer() -> Explainer:
        from constrain.frontends.json_schema.where import SchemaExplainer

        return SchemaExplainer(made.schema, made.options, limits)

    return Read(
        made.term,
        f"Grammar.from_pydantic({shorten(made.name)})",
        report=lambda: made.report,
        explainer=explainer,
        adapter=made.adapter,
        prelude=made.prelude,
    )


def lark(
    text: str,
    start: str | Sequence[str],
    dialect: str,
    parser: str,
    lexer: str,
    import_paths: Sequence[Any],
    postlex: Any,  # noqa: ANN401 - a lark Indenter, and lark is optional
    limits: Limits,
) -> Read:
    """A grammar in Lark's syntax, or in llguidance's dialect of it."""
    from constrain.frontends.lark import from_lark
    from constrain.frontends.llguidance import from_llguidance, is_dialect, prelude_of

    require_limits(limits)
    _check_lark_options(start, parser, lexer, import_paths)
    shown = f"Grammar.from_lark({shorten(repr(text))})"
    _check_text("a grammar", text)
    with _suspicion(text, "lark"):
        if is_dialect(text, dialect, parser, lexer, import_paths, postlex):
            term = from_llguidance(text, start=start, limits=limits)
            return Read(term, shown, prelude=prelude_of(text))
        term = from_lark(
            text,
            start=start,
            parser=parser,
            lexer=lexer,
            import_paths=import_paths,
            postlex=postlex,
            limits=limits,
        )

    def explainer() -> Explainer:
        from constrain.frontends.lark.explain import LarkExplainer

        starts = [start] if isinstance(start, str) else list(start)
        return LarkExplainer(text, starts, parser, lexer, import_paths, postlex, limits)

    return Read(term, shown, source=text, explainer=explainer)


def regex(pattern: str, dialect: str, flags: str, limits: Limits) -> Read:
    """A regular expression."""
    from constrain.frontends.regex import from_regex

    require_limits(limits)
    _check_text("a pattern", pattern)
    if not isinstance(flags, str):
        raise GrammarError(
            f"flags must be letters such as 'is', not {flags!r}",
            hint="write re.I as 'i', re.S as 's', re.M as 'm', re.X as 'x'",
        )
    term = from_regex(pattern, dialect, flags=flags, limits=limits)
    named = f", dialect={dialect!r}" if dialect != "python" else ""
    named += f", flags={flags!r}" if flags else ""

    def explainer() -> Explainer:
        from constrain.frontends.regex.explain import RegexExplainer

        return RegexExplainer(pattern, dialect, flags, limits)

    shown = f"Grammar.from_regex({shorten(repr(pattern))}{named})"
    return Read(term, shown, explainer=explainer)


def gbnf(text: str, root: str, limits: Limits) -> Read:
    """A grammar in GBNF."""
    from constrain.frontends.gbnf import from_gbnf

    require_limits(limits)
    _check_text("a grammar", text)
    with _suspicion(text, "gbnf"):
        term = from_gbnf(text, root=root, limits=limits)

    def explainer() -> Explainer:
        from constrain.frontends.gbnf.explain import GbnfExplainer

        return GbnfExplainer(text, root, limits)

    return Read(term, f"Grammar.from_gbnf({shorten(repr(text))})", explainer=explainer)


def choices(given: Iterable[str], limits: Limits) -> Read:
    """A list of texts."""
    from constrain.frontends.choices import from_choices

    require_limits(limits)
    if not isinstance(given, Iterable):
        raise GrammarError(f"choices must be a list of texts, not {type(given).__name__}")
    listed = given if isinstance(given, (str, bytes)) else list(given)
    term = from_choices(listed, limits=limits)
    return Read(term, f"Grammar.from_choices({shorten(repr(listed))})")


def structural_tag(tag: dict[str, Any] | str, style: str | JSONStyle, limits: Limits) -> Read:
    """A structural tag."""
    from constrain.frontends.tags import from_structural_tag

    require_limits(limits)
    term = from_structural_tag(tag, style=style, limits=limits)
    shown = tag if isinstance(tag, str) else reprlib.repr(tag)
    described = f"Grammar.from_structural_tag({shorten(shown)})"
    return Read(term, described, prelude=_prelude(style))


def tools(
    given: Sequence[dict[str, Any]],
    tool_choice: str | dict[str, Any] | None,
    format: str | ToolFormat,
    parallel_tool_calls: bool,
    style: str | JSONStyle,
    limits: Limits,
) -> Read:
    """Tools, and the choice among them."""
    from constrain.frontends.tags import from_tools

    require_limits(limits)
    term = from_tools(
        given,
        tool_choice,
        format=format,
        parallel_tool_calls=parallel_tool_calls,
        style=style,
        limits=limits,
    )
    names = [(tool.get("function") or tool)["name"] for tool in given]
    shown = f"{shorten(repr(names))}, {tool_choice!r}, format={format!r}"
    return Read(term, f"Grammar.from_tools({shown})", prelude=_prelude(style))


def shorten(text: str, width: int = 120) -> str:
    """A text of at most so many code points: its beginning and its end."""
    return text if len(text) <= width else f"{text[: width - 20]}...{text[-17:]}"


def _prelude(style: str | JSONStyle) -> Prelude:
    """What all grammars have in which JSON is written in a style."""
    from constrain.frontends.json_schema.staples import staples
    from constrain.frontends.json_schema.style import resolve_style

    return staples(resolve_style(style)).prelude


def _check_text(what: str, given: object) -> None:
    if not isinstance(given, str):
        raise GrammarError(
            f"{what} must be a str, not {type(given).__name__}", hint=hint_on_type(given)
        )


@contextmanager
def _suspicion(text: str, kind: Literal["lark", "gbnf"]) -> Iterator[None]:
    """Let the error of a text say what that looks like, if it is no grammar of this kind."""
    try:
        yield
    except GrammarSyntaxError as error:
        error.hint = hint_on_text(text, kind) or error.hint
        raise


def _check_lark_options(start: Any, parser: Any, lexer: Any, import_paths: Any) -> None:  # noqa: ANN401
    starts = [start] if isinstance(start, str) else start
    if not isinstance(starts, Sequence) or not all(isinstance(s, str) for s in starts):
        raise GrammarError(
            f"start must be the name of a rule, or a list of names, not {start!r}",
            hint="start='start'",
        )
    for name, value in (("parser", parser), ("lexer", lexer)):
        if not isinstance(value, str):
            raise GrammarError(f"{name} must be a str, not {type(value).__name__}")
    single = isinstance(import_paths, (str, bytes)) or not isinstance(import_paths, Iterable)
    if single or not all(isinstance(p, (str, PathLike)) or callable(p) for p in import_paths):
        raise GrammarError(f"import_paths must be a list of folders, not {import_paths!r}")
