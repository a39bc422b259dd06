r"""`Grammar`: a language, from whatever a person wrote, before any vocabulary is known.

>>> g = Grammar.from_regex(r"[a-z]+\d{2,4}")
>>> g.accepts(b"ab123"), g.accepts(b"ab1")
(True, False)
>>> (g | Grammar.from_regex("x")).accepts(b"x")
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from constrain.algebra.notation import MAX_CHARS, grammar_text
from constrain.algebra.prelude import Prelude
from constrain.algebra.regular import find_recursion
from constrain.algebra.terms import (
    EMPTY,
    EPS,
    Term,
    Timed,
    alt,
    cat,
    complement,
    intersect,
    literal,
    optional,
    repeat,
    token,
)
from constrain.algebra.within import within_tokens
from constrain.errors import GrammarError, UnsatisfiableError, UnsupportedFeatureError
from constrain.frontends.explanation import Derivation, Explainer, OnDemand
from constrain.grammar import sources
from constrain.grammar.recipe import Made, Steps, follow, remembered, steps_to
from constrain.grammar.recogniser import Recogniser, as_bytes, has_no_tokens
from constrain.grammar.rejection import Rejection
from constrain.grammar.sources import Read, shorten
from constrain.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from constrain.frontends.json_schema import JSONStyle, KeywordUse
    from constrain.frontends.tags import ToolFormat
    from constrain.grammar.options import (
        FormatUse,
        LarkDialect,
        LarkLexer,
        LarkParser,
        OnUnsupported,
        PropertyOrder,
        RegexDialect,
        SchemaDialect,
        StyleName,
    )

__all__ = ["Grammar"]


class Grammar(Made):
    """A set of byte strings. Made by the `from_...` methods; immutable.

    `g1 | g2` is either, `g1 + g2` one after the other (a str stands for that text), `g1 & g2` both
    at once, and `~g` every UTF-8 text outside g. The last two need grammars that do not recurse:
    JSON of any depth has no exact intersection with a second one here, and is refused.
    `g.optional()` and `g.repeat(lo, hi, separator=",")` say how often, `g.within_tokens(n)` how
    long. A pickle of a grammar holds what it was made from, and is read by making it again.

    Attributes:
        term: The language as a term of `constrain.algebra`.
        description: What it was made from, in one line; `repr` has the grammar itself.
        prelude: Terms that are in it, as in many grammars: a store starts with them.
        adapter: Of a grammar from pydantic, what reads its texts back:
            `grammar.adapter.validate_json(text)`. Else None.
    """

    def __init__(
        self,
        term: Term,
        description: str,
        *,
        source: str | None = None,
        report: Callable[[], Sequence[KeywordUse]] | None = None,
        adapter: TypeAdapter[Any] | None = None,
        explainer: Callable[[], Explainer] | None = None,
        prelude: Prelude | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self.term = term
        self.prelude = prelude
        self._source = source
        self._explainer = None if explainer is None else OnDemand(explainer)
        self.adapter = adapter
        self._report = report
        self.description = shorten(description, 400)
        self._limits = limits
        self._recogniser = Recogniser(term, prelude, limits)

    # Sources

    @classmethod
    @remembered
    def from_json_schema(
        cls,
        schema: dict[str, Any] | bool | str,
        *,
        style: StyleName | JSONStyle = "canonical",
        dialect: SchemaDialect | None = None,
        registry: Any = None,  # noqa: ANN401 - a referencing.Registry, imported only when used
        format: FormatUse = "assert",
        property_order: PropertyOrder = "declared",
        on_unsupported: OnUnsupported = "refuse",
        limits: Limits = DEFAULT_LIMITS,
    ) -> Grammar:
        """The JSON texts whose value satisfies a schema.

        Args:
            schema: A JSON Schema as Python data, or as JSON text (numbers are then kept exactly).
            style: "canonical": what a model should write (declared property order, bounded
                whitespace, minimal escapes, plain numbers); "compact", "pretty", "flexible": the
                same with other whitespace; "any": every JSON text whose value satisfies the schema;
                or a `JSONStyle`.
            dialect: None (from `$schema`, else draft 2020-12), "draft4", "draft6", "draft7",
                "draft2019-09", "draft2020-12" or "openapi-3.0".
            registry: A `referencing.Registry` for references that leave the schema. Nothing is ever
                fetched.
            format: "assert": `format` is enforced where its name is known. "annotate": it says
                nothing about which values are valid.
            property_order: "declared": the style decides, which is the order of the schema in all
                but style "any". "any": free in every style.
            on_unsupported: "refuse": what cannot be honoured exactly is an error. "relax": the
                keywords that would be one are dropped, so that more is valid, never less; `report`
                lists them.
            limits: Budgets.

        Raises:
            GrammarError: An option has a value that it cannot have.
            SchemaError: It is not a valid schema.
            UnsupportedFeatureError: A keyword cannot be honoured exactly; the message has its JSON
                pointer.
            UnsatisfiableError: No value satisfies it.
            LimitExceededError: It is larger than the limits allow.
        """
        read = sources.json_schema(
            schema,
            style=style,
            dialect=dialect,
            registry=registry,
            format=format,
            property_order=property_order,
            on_unsupported=on_unsupported,
            limits=limits,
        )
        return _of(cls, read, limits)

    @classmethod
    @remembered
    def from_pydantic(
        cls,
        model: Any,  # noqa: ANN401 - whatever pydantic can make a type of
        *,
        style: StyleName | JSONStyle = "canonical",
        property_order: PropertyOrder = "declared",
        limits: Limits = DEFAULT_LIMITS,
    ) -> Grammar:
        """The JSON texts that pydantic validates as a type.

        Every text validates (`Model.model_validate_json`), but for what validators written by the
        user reject and what nests deeper than the 200 levels that pydantic parses. Not every text
        that validates is here: dates and times are in the forms of ISO 8601, numbers are plain,
        keys that pydantic would ignore are left out, a field has one of its aliases. What cannot
        be said of a text, such as whether a file exists, is refused by name.

        Args:
            model: A `BaseModel` class, dataclass, TypedDict, NamedTuple, enum, `Literal`, `Union`,
                `Annotated` or other type that pydantic knows, or a `TypeAdapter`.
            style: As of `from_json_schema`; numbers are plain in every style.
            property_order: As of `from_json_schema`.
            limits: Budgets.

        Raises:
            BackendUnavailableError: pydantic is not installed.
            GrammarError: `model` is no type that pydantic knows, or an option has a value that it
                cannot have.
            UnsupportedFeatureError: Something of it cannot be honoured; the message names the
                field.
            UnsatisfiableError: No text validates.
            LimitExceededError: It is larger than the limits allow.
        """
        return _of(cls, sources.pydantic(model, style, property_order, limits), limits)

    @classmethod
    @remembered
    def from_lark(
        cls,
        text: str,
        *,
        start: str | Sequence[str] = "start",
        dialect: LarkDialect = "auto",
        parser: LarkParser = "lalr",
        lexer: LarkLexer = "auto",
        import_paths: Sequence[Any] = (),
        postlex: Any = None,  # noqa: ANN401 - a lark Indenter, and lark is optional
        limits: Limits = DEFAULT_LIMITS,
    ) -> Grammar:
        """The texts that `lark.Lark(text, parser=parser, lexer=lexer).parse` accepts.

        lark reads the grammar, so all of its syntax is there: templates, `%import`, `%ignore`,
        `%override`, `%extend`, priorities, flags. Terminals match as in the module `re`: the match
        that it finds first, not every text that the pattern has.

        Args:
            text: The grammar.
            start: The rule that a text is, or several: a text is any of them.
            dialect: "lark", or "llguidance" for that engine's: `%json {...}`, special tokens such
                as `<|tool|>`, `lazy`, `suffix`, `&` and `~`, lexemes that are always as long as
                they can be; lark is then not needed, and the arguments below are not for it.
                "auto": the second where the text has something that only it has.
            parser: "lalr" or "earley", with the verdicts that each has in lark.
            lexer: "auto", or "contextual" or "basic" for "lalr", "dynamic", "dynamic_complete" or
                "basic" for "earley".
            import_paths: Folders in which `%import` looks for grammars.
            postlex: A `lark.indenter.Indenter` for grammars in which indentation matters, such as
                lark's own `PythonIndenter()` for its grammar of Python; only for "lalr".
            limits: Budgets.

        Raises:
            BackendUnavailableError: lark is not installed.
            GrammarSyntaxError: lark refuses the grammar; the message has a caret under the place,
                where lark tells it.
            UnsupportedFeatureError: A terminal cannot be honoured exactly, such as one with a
                back-reference.
            UnsatisfiableError: A rule that the start needs can never finish.
            LimitExceededError: It is larger than the limits allow.
        """
        read = sources.lark(text, start, dialect, parser, lexer, import_paths, postlex, limits)
        return _of(cls, read, limits)

    @classmethod
    @remembered
    def from_regex(
        cls,
        pattern: str,
        *,
        dialect: RegexDialect = "python",
        flags: str = "",
        limits: Limits = DEFAULT_LIMITS,
    ) -> Grammar:
        r"""The texts that a regular expression matches from first to last character.

        Args:
            pattern: The expression, e.g. `[a-z]+\d{2,4}`.
            dialect: "python" (the syntax and meaning of `re`), "ecma" (ECMA-262 with Unicode) or
                "rust" (the crate `regex`). `docs/how-to/regex.md` has what differs.
            flags: Letters for the whole pattern, such as "i": out of "ismxau", "imsuv" or "imsUuRx"
                by dialect.
            limits: Budgets.

        Raises:
            RegexSyntaxError: It does not parse; the message has a caret under the place.
            UnsupportedFeatureError: Back-references and whatever else is no regular language.
            LimitExceededError: It is larger than the limits allow.
        """
        return _of(cls, sources.regex(pattern, dialect, flags, limits), limits)

    @classmethod
    @remembered
    def from_gbnf(
        cls, text: str, *, root: str = "root", limits: Limits = DEFAULT_LIMITS
    ) -> Grammar:
        r"""The texts of a grammar in llama.cpp's GBNF, with what xgrammar's EBNF adds.

        Every context-free grammar works, left recursion included. A class or `.` is one code
        point; `<name>` and `<[id]>` are tokens, and no text matches them.

        Args:
            text: The grammar, e.g. `root ::= "yes" | "no"`.
            root: The rule that stands for the whole.
            limits: Budgets.

        Raises:
            GrammarSyntaxError: It does not parse, or names a rule that does not exist.
            UnsupportedFeatureError: Something in it cannot be honoured exactly.
            UnsatisfiableError: No text matches: the rule can never finish.
            LimitExceededError: It is larger than the limits allow.
        """
        return _of(cls, sources.gbnf(text, root, limits), limits)

    @classmethod
    @remembered
    def from_choices(cls, choices: Iterable[str], *, limits: Limits = DEFAULT_LIMITS) -> Grammar:
        """Exactly one of some texts.

        Raises:
            GrammarError: There is none, or one is no text.
            LimitExceededError: They are larger than the limits allow.
        """
        return _of(cls, sources.choices(choices, limits), limits)

    @classmethod
    @remembered
    def from_structural_tag(
        cls,
        tag: dict[str, Any] | str,
        *,
        style: StyleName | JSONStyle = "canonical",
        limits: Limits = DEFAULT_LIMITS,
    ) -> Grammar:
        """The texts of a structural tag, the JSON that xgrammar reads and vLLM passes on.

        Free text inside a tag ends at the first end of that tag; free text with triggers turns into
        a tag at the first trigger, wherever it stands in the tokens. Markers such as `<tool_call>`
        are matched as text and as the special tokens of their names.

        Args:
            tag: As Python data or JSON text: `{"type": "structural_tag", "format": {...}}`, the
                older `{"structures": [...], "triggers": [...]}`, or one format by itself.
            style: How the JSON of schemas inside is written, as of `from_json_schema`.
            limits: Budgets.

        Raises:
            GrammarError: It is no structural tag; the message has a JSON pointer.
            UnsupportedFeatureError: A type or field is not known, or cannot be honoured exactly.
            UnsatisfiableError: No text fits.
            LimitExceededError: It is larger than the limits allow.
        """
        return _of(cls, sources.structural_tag(tag, style, limits), limits)

    @classmethod
    @remembered
    def from_tools(
        cls,
        tools: Sequence[dict[str, Any]],
        tool_choice: str | dict[str, Any] | None = "auto",
        *,
        format: str | ToolFormat,
        parallel_tool_calls: bool = True,
        style: StyleName | JSONStyle = "canonical",
        limits: Limits = DEFAULT_LIMITS,
    ) -> Grammar:
        """What a model may write that may call tools: text, calls, or text and then calls.

        Args:
            tools: As in a request to OpenAI's chat API, each `{"type": "function", "function":
                {"name", "parameters", "strict"}}`, or the inner object alone. One without
                `parameters` is called with `{}`; the arguments of one with `strict` false are any
                object, else they satisfy the schema.
            tool_choice: "auto" or None: text, calls, or both. "required": calls. "none": text in
                which no call begins. `{"type": "function", "function": {"name": ...}}`: calls of
                this one. `{"type": "allowed_tools", "allowed_tools": {"mode", "tools"}}`: "auto" or
                "required" with some of the tools.
            format: How the model's family writes calls: a name of
                `constrain.frontends.tags.TOOL_FORMATS`, such as "hermes" (Qwen too), "llama3",
                "mistral", "deepseek-v3.2", "harmony" (GPT-OSS), "qwen3-coder", "glm-4.5", "gemma4",
                or a `constrain.ToolFormat`.
            parallel_tool_calls: More than one call. Some families cannot write two in a turn.
            style: How the arguments are written, as of `from_json_schema`.
            limits: Budgets.

        Raises:
            GrammarError: Something is not of this form; the message has a JSON pointer.
            UnsupportedFeatureError: A tool, format or schema cannot be honoured exactly.
            UnsatisfiableError: No arguments satisfy the schema of a tool.
            LimitExceededError: They are larger than the limits allow.
        """
        read = sources.tools(tools, tool_choice, format, parallel_tool_calls, style, limits)
        return _of(cls, read, limits)

    @classmethod
    @remembered
    def text(cls, text: str | bytes) -> Grammar:
        """Exactly this text.

        Raises:
            GrammarError: It is neither a str that UTF-8 can write nor bytes.
        """
        if not isinstance(text, (str, bytes, bytearray, memoryview)):
            raise GrammarError(f"a text must be a str or bytes, not {type(text).__name__}")
        try:
            data = text.encode() if isinstance(text, str) else bytes(text)
        except UnicodeEncodeError:
            raise GrammarError(f"a text with a lone surrogate: {shorten(repr(text))}") from None
        return cls(literal(data), f"Grammar.text({shorten(repr(text))})")

    @classmethod
    @remembered
    def any_text(cls) -> Grammar:
        """Every UTF-8 text, the empty one too."""
        from constrain.algebra.utf8 import UTF8

        return cls(UTF8.text, "Grammar.any_text()")

    @classmethod
    @remembered
    def token(cls, *names: str | int, others: bool = False) -> Grammar:
        """One token of the vocabulary as a whole, such as a special token.

        Args:
            names: Which, by name (`"<|im_end|>"`; else the token that has this text) or by id.
            others: Any token but these, end tokens left out.

        Raises:
            GrammarError: A name is neither a str nor an int, or there is none.
            VocabularyError: Later, from `compile`: the vocabulary has no such token.
        """
        if not names or not all(isinstance(n, (str, int)) and n is not True for n in names):
            raise GrammarError(f"a token is named by a str or an id, not {names!r}")
        shown = ", ".join([*map(repr, names), *(["others=True"] if others else [])])
        return cls(token(*names, others=others), f"Grammar.token({shown})")

    @property
    def report(self) -> tuple[KeywordUse, ...]:
        """What is done with each keyword that can be reached of a JSON Schema, else empty.

        Each has the JSON pointer of its schema, its name, `use` ("enforced", "annotation" or
        "relaxed") and a `reason` where it is not enforced and that is not plain. A grammar from
        pydantic reports on the schema that its type became.

        Cost: one pass over the schema.
        """
        return () if self._report is None else tuple(self._report())

    def __reduce__(self) -> tuple[Any, ...]:
        return _made_again, (type(self), steps_to(self))

    def __copy__(self) -> Grammar:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Grammar:
        return self

    # Combinations

    @remembered
    def __or__(self, other: Grammar | str) -> Grammar:
        """The texts of either."""
        if isinstance(other, str):
            other = Grammar.text(other)
        if not isinstance(other, Grammar):
            return NotImplemented
        return Grammar(
            alt((self.term, other.term)),
            f"({self.description} | {other.description})",
            prelude=self.prelude or other.prelude,
            limits=self._limits,
        )

    def __ror__(self, other: str) -> Grammar:
        """The same, where a str comes first."""
        return Grammar.text(other) | self if isinstance(other, str) else NotImplemented

    @remembered
    def __add__(self, other: Grammar | str) -> Grammar:
        """A text of this and, right behind it, one of the other; all ways of splitting count."""
        if isinstance(other, str):
            other = Grammar.text(other)
        if not isinstance(other, Grammar):
            return NotImplemented
        return Grammar(
            cat(self.term, other.term),
            f"({self.description} + {other.description})",
            prelude=self.prelude or other.prelude,
            limits=self._limits,
        )

    def __radd__(self, other: str) -> Grammar:
        """The same, where a str comes first."""
        return Grammar.text(other) + self if isinstance(other, str) else NotImplemented

    @remembered
    def __and__(self, other: Grammar) -> Grammar:
        """The texts that are in both.

        Raises:
            UnsatisfiableError: There is none.
            UnsupportedFeatureError: One of them recurses, or counts tokens.
            LimitExceededError: Whether there is one takes more states than the limits allow.
        """
        if not isinstance(other, Grammar):
            return NotImplemented
        both = f"({self.description} & {other.description})"
        for side in (self, other):
            side._require_regular("&")
        made = Grammar(intersect((self.term, other.term)), both, limits=self._limits)
        if made.is_empty() and has_no_tokens(made.term, made._limits):
            raise UnsatisfiableError(f"no text is in both: {both}")
        return made

    @remembered
    def __invert__(self) -> Grammar:
        """Every UTF-8 text that is not in this.

        Raises:
            UnsatisfiableError: There is none.
            UnsupportedFeatureError: This recurses, or counts tokens.
            LimitExceededError: Whether there is one takes more states than the limits allow.
        """
        from constrain.algebra.utf8 import UTF8

        self._require_regular("~")
        outside = intersect((UTF8.text, complement(self.term)))
        made = Grammar(outside, f"~{self.description}", limits=self._limits)
        if made.is_empty():
            raise UnsatisfiableError(
                f"every UTF-8 text is in {self.description}, so nothing is outside it"
            )
        return made

    @remembered
    def optional(self) -> Grammar:
        """This or nothing."""
        return _around(self, optional(self.term), f"{self.description}.optional()")

    @remembered
    def repeat(
        self, lo: int = 0, hi: int | None = None, *, separator: Grammar | str | None = None
    ) -> Grammar:
        """This `lo` to `hi` times, without bound if hi is None.

        Args:
            lo: Least number of times, >= 0.
            hi: Greatest number, >= lo, or None.
            separator: What stands between two of them.

        Raises:
            GrammarError: The bounds are no such numbers.

        Cost: the same for any bounds: a repeat is a counter.
        """
        for bound in (lo, 0 if hi is None else hi):
            if not isinstance(bound, int) or isinstance(bound, bool):
                raise GrammarError(f"repeat counts with ints, not {type(bound).__name__}")
        if not (separator is None or isinstance(separator, (str, Grammar))):
            raise GrammarError(
                f"a separator must be a Grammar or a str, not {type(separator).__name__}"
            )
        if lo < 0 or (hi is not None and hi < lo):
            raise GrammarError(f"repeat needs 0 <= lo <= hi, not lo={lo}, hi={hi}")
        between = Grammar.text(separator) if isinstance(separator, str) else separator
        bounds = f"{lo}" if hi is None else f"{lo}, {hi}"
        if between is None:
            times = f"{self.description}.repeat({bounds})"
            return _around(self, repeat(self.term, lo, hi), times)
        most = None if hi is None else max(hi - 1, 0)
        more = repeat(cat(between.term, self.term), max(lo - 1, 0), most)
        some = EPS if hi == 0 else cat(self.term, more)
        shown = separator if isinstance(separator, str) else between.description
        times = f"{self.description}.repeat({bounds}, separator={shown!r})"
        return _around(self, some if lo else optional(some), times)

    @remembered
    def within_tokens(self, most: int) -> Grammar:
        """This, or its beginning where it has come to `most` tokens.

        Tokens are counted that end inside it, from its first byte on. With the last of them it is
        cut, even in the middle of a word, and what follows it comes next. `first.within_tokens(9) +
        then` therefore never leaves `then` out of reach.

        `accepts` and `first_rejection` judge texts without tokens, which are not bounded. Under `&`
        and `~` it is refused.

        Args:
            most: How many, >= 0; with 0 there is nothing.

        Raises:
            GrammarError: That is no such number.
        """
        if not isinstance(most, int) or isinstance(most, bool) or most < 0:
            raise GrammarError(f"within_tokens wants a number of tokens >= 0, not {most!r}")
        # What has no text has no beginning either, and a counted term is taken to have one.
        nothing = most > 0 and self.is_empty() and has_no_tokens(self.term, self._limits)
        bounded = EMPTY if nothing else within_tokens(self.term, most)
        return _around(self, bounded, f"{self.description}.within_tokens({most})")

    @remembered
    def with_reasoning(
        self, end: str = "</think>", *, begin: str | None = None, optional: bool = False
    ) -> Grammar:
        """Free text until a marker, then this.

        Args:
            end: The reasoning goes on to its first occurrence, as text, as a special token, or
                spelled by several tokens. What follows it is this, at once.
            begin: What the reasoning begins with, such as "<think>"; None if the prompt ends with
                it. Reasoning is free text, so None also fits a model that writes it itself.
            optional: This may also come at once, without reasoning.

        Raises:
            GrammarError: A marker is no text, or empty.
        """
        from constrain.frontends.tags import with_reasoning

        term = with_reasoning(
            self.term, end=end, begin=begin, optional=optional, limits=self._limits
        )
        shown = repr(end) if begin is None else f"{end!r}, begin={begin!r}"
        shown += ", optional=True" if optional else ""
        return _around(self, term, f"{self.description}.with_reasoning({shown})")

    def _require_regular(self, operator: str) -> None:
        rule = find_recursion(self.term, self._limits)
        if isinstance(rule, Timed):
            raise UnsupportedFeatureError(
                f"{operator} is about texts, and {self.description} counts tokens",
                hint="bound the number of tokens of the result: (g1 & g2).within_tokens(n)",
            )
        if rule is not None:
            raise UnsupportedFeatureError(
                f"{operator} needs grammars that do not recurse, and rule {rule.name!r} of "
                f"{self.description} does",
                hint="say the condition inside the schema or grammar instead",
            )

    # Texts

    def accepts(self, text: bytes) -> bool:
        """Whether the whole of `text` is in the language. Needs no vocabulary.

        Args:
            text: The bytes; encode a str with UTF-8 first.

        Raises:
            TypeError: It is no bytes.
            LimitExceededError: The text reaches more states than the limits allow.

        Cost: a look-up a byte where a text came by before, else a derivative. One thread at a time.
        """
        return self._recogniser.accepts(as_bytes(text))

    def first_rejection(self, text: bytes) -> Rejection | None:
        """Where `text` leaves the language, or None if it is in it.

        Args:
            text: The bytes; encode a str with UTF-8 first.

        Raises:
            TypeError: It is no bytes.
            LimitExceededError: The text reaches more states than the limits allow.

        Cost: as of `accepts`. What could have come is found out when it is asked for.
        """
        return self._recogniser.first_rejection(as_bytes(text), self._explainer)

    def derivation(self, text: bytes) -> Derivation | None:
        """How a text of the language is derived, at the top; None where that is not known.

        It is not for a text outside the language, nor where `Rejection.explanation` is empty.

        Cost: as of `Rejection.explanation`.
        """
        if self._explainer is None or not self.accepts(text):
            return None
        return self._explainer.derivation(as_bytes(text))

    def is_empty(self) -> bool:
        """Whether no text at all is in the language.

        Raises:
            LimitExceededError: To know it takes more states than the limits allow.
        """
        return self._recogniser.is_empty()

    def __repr__(self) -> str:
        """The grammar as one reads it, below a comment that says what it was made from.

        The notation is GBNF, with `&`, `~` and what else GBNF has no word for; long ones are cut
        short. A grammar in lark's syntax is shown as it was written.
        """
        made_from = f"# {self.description}"
        if self._source is None:
            return f"{made_from}\n{grammar_text(self.term)}"
        written = self._source.strip("\n")
        more = "\n..." if len(written) > MAX_CHARS else ""
        return f"{made_from}\n{written[:MAX_CHARS]}{more}"


def _of(cls: type[Grammar], read: Read, limits: Limits) -> Grammar:
    """A grammar of what was read."""
    return cls(
        read.term,
        read.description,
        source=read.source,
        report=read.report,
        adapter=read.adapter,
        explainer=read.explainer,
        prelude=read.prelude,
        limits=limits,
    )


def _around(inner: Grammar, term: Term, description: str) -> Grammar:
    """A grammar of a term that has another grammar in it."""
    return Grammar(term, description, prelude=inner.prelude, limits=inner._limits)


def _made_again(cls: type[Grammar], steps: Steps) -> Grammar:
    """A grammar out of a pickle."""
    made: Grammar = follow(cls, steps)
    return made
