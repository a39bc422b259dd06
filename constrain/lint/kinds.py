"""`lint`: what is checked of each kind of grammar, and errors of the front-ends as findings."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final, Literal

from constrain.errors import (
    BackendUnavailableError,
    ConstrainError,
    GrammarError,
    GrammarSyntaxError,
    LimitExceededError,
    RegexSyntaxError,
    SchemaError,
    UnsatisfiableError,
    UnsupportedFeatureError,
)
from constrain.frontends.cfg import Symbol
from constrain.frontends.cfg import Terminal as Leaf
from constrain.frontends.llguidance import is_dialect
from constrain.frontends.mistaken import nearest
from constrain.grammar import Grammar
from constrain.limits import DEFAULT_LIMITS, Limits
from constrain.lint.findings import CODES, Finding, Source
from constrain.lint.gbnf_outline import outline_gbnf
from constrain.lint.lark_outline import outline_lark
from constrain.lint.outline import Definition, Outline, walk
from constrain.lint.patterns import outline_pattern
from constrain.lint.repetition import check_repetition
from constrain.lint.rules import check_rules, make_graph
from constrain.lint.schema import check_schema, place_of_pointer, read_places
from constrain.lint.tokens import check_compiled, check_tokens
from constrain.vocab import Vocabulary, vocab_argument

__all__ = ["KINDS", "Kind", "lint"]

Kind = Literal["lark", "gbnf", "regex", "json"]
KINDS: Final[tuple[Kind, ...]] = ("lark", "gbnf", "regex", "json")


def lint(
    text: str,
    *,
    kind: Kind,
    start: str | Sequence[str] | None = None,
    parser: str = "lalr",
    lexer: str = "auto",
    import_paths: Sequence[Any] = (),
    postlex: Any = None,  # noqa: ANN401 - a lark Indenter, lark being optional
    dialect: str | None = None,
    flags: str = "",
    format: str = "assert",
    on_unsupported: str = "refuse",
    vocab: Vocabulary | None = None,
    ignore: Collection[str] = (),
    limits: Limits = DEFAULT_LIMITS,
    vocabulary: Vocabulary | None = None,
) -> list[Finding]:
    """Look for what is wrong with a grammar, and for what its author may not have meant.

    A grammar that the front-end refuses is a finding too, so nothing is raised about `text`.

    Args:
        text: The grammar.
        kind: "lark", "gbnf", "regex" or "json" (a JSON Schema).
        start: The rule that a text is: by default "start" for Lark, "root" for GBNF.
        parser: Of Lark, as of `Grammar.from_lark`.
        lexer: Of Lark.
        import_paths: Of Lark.
        postlex: Of Lark.
        dialect: Of a Lark grammar, a pattern or a JSON Schema, as of the method that reads it.
        flags: Of a pattern, as of `Grammar.from_regex`.
        format: Of a JSON Schema, as of `Grammar.from_json_schema`.
        on_unsupported: Of a JSON Schema.
        vocab: What the grammar is for: then what it lacks is found too.
        ignore: Codes that are not looked for.
        limits: Budgets.
        vocabulary: The older name of `vocab`; deprecated.

    Returns:
        The findings in the order of their places, those without a place first.

    Raises:
        GrammarError: An option has a value that it cannot have.
        BackendUnavailableError: lark is not installed, and the grammar is in its syntax.

    Cost: what reading the grammar costs, and for Lark a search for each two patterns that may
    stand at one place.
    """
    vocab = vocab_argument("lint", vocab, vocabulary)
    if not isinstance(text, str):
        raise GrammarError(f"a grammar must be a str, not {type(text).__name__}")
    if kind not in KINDS:
        raise GrammarError(f"kind must be one of {', '.join(map(repr, KINDS))}, not {kind!r}")
    unknown = [code for code in ignore if code not in CODES]
    if unknown:
        near = nearest(unknown[0], CODES)
        raise GrammarError(
            f"there is no code {unknown[0]!r}",
            hint=f"did you mean {near!r}?" if near else f"codes are {', '.join(CODES)}",
        )
    run = _Run(Source(text), vocab, limits)
    if kind == "lark":
        options = {"parser": parser, "lexer": lexer, "postlex": postlex}
        found = run.lark(start or "start", dialect or "auto", import_paths, options)
    elif kind == "gbnf":
        found = run.gbnf(_only(start) or "root")
    elif kind == "regex":
        found = run.regex(dialect or "python", flags)
    else:
        found = run.json({"dialect": dialect, "format": format, "on_unsupported": on_unsupported})
    kept = list(dict.fromkeys(f for f in found if f.code not in ignore))
    if any(f.code == "unsatisfiable" for f in kept):
        kept = [f for f in kept if f.code != "never-finishes"]  # the same, said twice
    return sorted(kept, key=lambda f: (f.span or (-1, -1), list(CODES).index(f.code)))


def _only(start: str | Sequence[str] | None) -> str | None:
    if start is None or isinstance(start, str):
        return start
    if len(start) != 1:
        raise GrammarError("GBNF has one start rule")
    return start[0]


class _Run:
    """One grammar."""

    def __init__(self, source: Source, vocabulary: Vocabulary | None, limits: Limits) -> None:
        self._source = source
        self._vocabulary = vocabulary
        self._limits = limits

    def gbnf(self, root: str) -> Iterator[Finding]:
        text, limits = self._source.text, self._limits
        try:
            outline = outline_gbnf(text, root, limits)
        except ConstrainError as error:
            yield self._of_error(error)
            return
        undefined = list(self._undefined(outline))
        yield from undefined
        yield from self._shape(outline, lark=False)
        if undefined:
            return
        try:
            grammar = Grammar.from_gbnf(text, root=root, limits=limits)
        except ConstrainError as error:
            yield self._of_error(error)
            return
        yield from self._fit(outline, grammar)

    def lark(
        self,
        start: str | Sequence[str],
        dialect: str,
        import_paths: Sequence[Any],
        options: dict[str, Any],
    ) -> Iterator[Finding]:
        text, limits = self._source.text, self._limits
        starts = (start,) if isinstance(start, str) else tuple(start)
        outline = outline_lark(text, starts)
        grammar = None
        is_other = is_dialect(text, dialect, "lalr", "auto", (), None)
        if is_other:
            import_paths = ()  # that dialect imports from no file
        try:
            grammar = Grammar.from_lark(
                text,
                start=start,
                dialect=dialect,  # type: ignore[arg-type]  # checked there
                import_paths=import_paths,
                limits=limits,
                **options,
            )
        except BackendUnavailableError:
            raise
        except ConstrainError as error:
            if type(error) is GrammarError and error.source is None:
                raise  # about the options
            finding = self._of_error(error)
            undefined = []
            if finding.code == "undefined-name":
                undefined = list(self._undefined(outline))
            yield from undefined or [finding]
        made = None if is_other else self._read_lark(starts, import_paths, options)
        if made is not None:
            # Here, so that a grammar in another syntax needs no lark.
            from constrain.lint.terminals import check_terminals, terms_of_terminals

            for name, term in terms_of_terminals(made, limits).items():
                outline.known[name] = Leaf(term)
            yield from check_terminals(made, outline, limits)
        yield from self._shape(outline, lark=True)
        if grammar is not None:
            yield from self._fit(outline, grammar)

    def _read_lark(
        self, starts: Sequence[str], import_paths: Sequence[Any], options: dict[str, Any]
    ) -> Any:  # noqa: ANN401 - a Lark, or None
        """What lark itself makes of the grammar; None if it refuses it."""
        import lark

        from constrain.frontends.lark.lexers import plugins

        try:
            return lark.Lark(
                self._source.text,
                start=list(starts),
                import_paths=list(import_paths),
                _plugins=plugins(self._limits),
                **{k: v for k, v in options.items() if v is not None},
            )
        except Exception:  # lark raises whatever happens inside; the front-end has told it
            return None

    def regex(self, dialect: str, flags: str) -> Iterator[Finding]:
        # Editors end a file with a line feed that nobody means as part of the pattern.
        pattern = self._source.text.removesuffix("\n").removesuffix("\r")
        try:
            grammar = Grammar.from_regex(
                pattern,
                dialect=dialect,  # type: ignore[arg-type]  # checked there
                flags=flags,
                limits=self._limits,
            )
        except ConstrainError as error:
            if type(error) is GrammarError and error.source is None:
                raise
            yield self._of_error(error)
            if not isinstance(error, UnsatisfiableError):
                return
            grammar = None
        outline = Outline(self._source, starts=("pattern",))
        body = outline_pattern(pattern, outline.places, dialect=dialect, flags=flags)
        outline.definitions["pattern"] = Definition("pattern", (0, len(pattern)), body)
        yield from self._shape(outline, lark=False)
        if grammar is None:
            return
        if grammar.is_empty():
            yield self._source.finding(
                "unsatisfiable",
                "no text matches this pattern",
                "look for assertions that contradict what stands beside them",
                (0, len(pattern)),
            )
        else:
            yield from self._fit(outline, grammar)

    def json(self, options: dict[str, Any]) -> Iterator[Finding]:
        text = self._source.text
        try:
            grammar = Grammar.from_json_schema(text, limits=self._limits, **options)
        except ConstrainError as error:
            if type(error) is GrammarError and error.pointer is None and error.source is None:
                raise
            pointer = getattr(error, "pointer", None)
            place = place_of_pointer(read_places(text), pointer) if pointer else None
            yield self._of_error(error, place)
            if isinstance(error, (SchemaError, LimitExceededError)):
                return
            grammar = None
        yield from check_schema(text, json.loads(text))
        if grammar is not None and self._vocabulary is not None:
            yield from check_compiled(grammar, self._vocabulary, self._source)

    # Parts that several kinds share

    def _shape(self, outline: Outline, *, lark: bool) -> Iterator[Finding]:
        try:
            graph = make_graph(outline, self._limits)
        except LimitExceededError as error:
            yield self._of_error(error)
            return
        yield from check_rules(outline, graph)
        yield from check_repetition(outline, graph, self._limits, lark=lark)

    def _fit(self, outline: Outline, grammar: Grammar) -> Iterator[Finding]:
        """How the grammar fits the vocabulary."""
        if self._vocabulary is None:
            return
        found = list(check_tokens(outline, self._vocabulary))
        yield from found
        if not any(f.severity == "error" for f in found):
            yield from check_compiled(grammar, self._vocabulary, self._source)

    def _undefined(self, outline: Outline) -> Iterator[Finding]:
        definitions = outline.definitions
        known = {**definitions, **outline.opaque}
        for name in outline.starts:
            if name not in known:
                near = nearest(name, known)
                yield outline.source.finding(
                    "undefined-name",
                    f"the grammar has no rule {name!r}, which is to stand for the whole",
                    f"did you mean {near!r}?" if near else "name another with --start",
                )
        for definition in definitions.values():
            for part in walk(definition.body):
                if isinstance(part, Symbol) and part.name not in known:
                    near = nearest(part.name, known)
                    yield outline.source.finding(
                        "undefined-name",
                        f"there is no rule or terminal {part.name!r}",
                        f"did you mean {near!r}?" if near else "define it, or quote it as a text",
                        outline.place(part, definition.name),
                    )

    def _of_error(self, error: ConstrainError, place: tuple[int, int] | None = None) -> Finding:
        hint = getattr(error, "hint", None)
        reason = getattr(error, "reason", None) or str(error).partition("\nhint:")[0]
        span = getattr(error, "span", None)
        if span is not None and getattr(error, "source", None) == self._source.text:
            place = span
        elif span is not None and error.source in self._source.text:  # type: ignore[attr-defined]
            inner = self._source.text.index(error.source)  # type: ignore[attr-defined]
            place = (inner + span[0], inner + span[1])
        if isinstance(error, LimitExceededError):
            hint = str(error).partition("hint: ")[2]
        return self._source.finding(
            _code_of(error, reason), reason, hint or _ADVICE[_code_of(error, reason)], place
        )


_ADVICE: Final = {
    "syntax": "write it as the syntax has it",
    "undefined-name": "define it",
    "unsupported": "say it another way",
    "unsatisfiable": "give it an alternative that ends",
    "limit": "simplify it, or raise the limit",
    "invalid": "change it",
}


def _code_of(error: ConstrainError, reason: str) -> str:
    if isinstance(error, LimitExceededError):
        return "limit"
    if isinstance(error, UnsupportedFeatureError):
        return "unsupported"
    if isinstance(error, UnsatisfiableError):
        return "unsatisfiable"
    if isinstance(error, GrammarSyntaxError) and re.search(
        r"(?i)\bno rule\b|not defined|undefined|nonexist", reason
    ):
        return "undefined-name"
    syntax = (GrammarSyntaxError, RegexSyntaxError, SchemaError)
    return "syntax" if isinstance(error, syntax) else "invalid"
