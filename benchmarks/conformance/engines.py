"""Each engine behind two calls: compile a schema, and tell whether it accepts a text.

The settings are those under which an engine comes nearest to JSON Schema: whitespace as free as it
goes, properties that a schema does not mention allowed, nothing unknown ignored where the engine
can be told so. Only `constrain` takes the documents that a schema refers to.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any, Protocol

from benchmarks.conformance.cases import DRAFTS, Case, remote_documents

__all__ = ["ENGINES", "Accepts", "Engine", "UnsatisfiableError", "create", "is_installed"]

Accepts = Callable[[str], bool]
"""Whether a text is accepted, as a whole."""

END = 256
"""The id of the end token, after those of the 256 bytes."""

_BYTES = [bytes((b,)) for b in range(256)]


class UnsatisfiableError(Exception):
    """The engine says that nothing satisfies the schema, which is a verdict on every text."""


class Engine(Protocol):
    """An engine with its settings.

    Attributes:
        distribution: As on the package index.
        settings: How it is set up, in one sentence.
    """

    distribution: str
    settings: str

    def compile(self, case: Case) -> Accepts:
        """Compile a schema.

        Raises:
            UnsatisfiableError: The engine says that nothing satisfies it.
            Exception: It refuses the schema.
        """
        ...


class _Constrain:
    distribution = "constrain-decoding"

    def __init__(self, style: str) -> None:
        import constrain

        self._constrain = constrain
        self._style = style
        self._vocab = constrain.Vocabulary([*_BYTES, None], eos_token_ids=[END])
        self.settings = (
            f"`style={style!r}`; on the suite `format='annotate'` and the documents in `registry`"
        )

    def compile(self, case: Case) -> Accepts:
        try:
            grammar = self._constrain.Grammar.from_json_schema(
                case.schema,
                style=self._style,
                registry=_registry(case.group) if case.group != "real" else None,
                format="assert" if case.formats else "annotate",
            )
        except self._constrain.UnsatisfiableError as error:
            raise UnsatisfiableError from error
        compiled = self._constrain.compile(grammar, self._vocab)

        def accepts(text: str) -> bool:
            matcher = compiled.matcher()
            return all(map(matcher.accept_token, text.encode())) and matcher.is_accepting

        return accepts


@cache
def _registry(draft: str) -> Any:  # noqa: ANN401 - a referencing.Registry
    import referencing
    import referencing.jsonschema
    from jsonschema_specifications import REGISTRY

    specification = referencing.jsonschema.specification_with(DRAFTS[draft])
    return REGISTRY.with_resources(
        (
            address,
            referencing.Resource.from_contents(
                json.loads(path.read_text(encoding="utf-8")), default_specification=specification
            ),
        )
        for address, path in remote_documents()
    )


class _LLGuidance:
    distribution = "llguidance"
    settings = "default options: `whitespace_flexible` on, `lenient` off"

    def __init__(self) -> None:
        import llguidance

        class Tokenizer:
            eos_token_id = END
            bos_token_id = None
            unk_token_id = None
            tokens = (*_BYTES, b"\xff<end>")
            special_token_ids = (END,)

            def __call__(self, text: str | bytes) -> list[int]:
                return list(text.encode() if isinstance(text, str) else text)

        self._llguidance = llguidance
        self._tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Tokenizer()))

    def compile(self, case: Case) -> Accepts:
        matcher_class = self._llguidance.LLMatcher
        grammar = matcher_class.grammar_from_json_schema(case.schema)
        first = matcher_class(self._tokenizer, grammar, log_level=0)
        if first.is_error():
            message = first.get_error()
            if "nsatisfiable" in message:
                raise UnsatisfiableError
            raise ValueError(message)

        def accepts(text: str) -> bool:
            matcher = first.deep_copy()
            data = list(text.encode())
            taken = matcher.try_consume_tokens(data)
            if matcher.is_error():
                raise RuntimeError(matcher.get_error())
            return taken == len(data) and matcher.is_accepting()

        return accepts


class _XGrammar:
    distribution = "xgrammar"
    settings = "`any_whitespace=True`, `strict_mode=False`, properties in declared order"

    def __init__(self) -> None:
        import xgrammar

        info = xgrammar.TokenizerInfo([*_BYTES, b"</s>"], stop_token_ids=[END])
        self._compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        self._matcher = xgrammar.GrammarMatcher

    def compile(self, case: Case) -> Accepts:
        try:
            compiled = self._compiler.compile_json_schema(
                case.schema, any_whitespace=True, strict_mode=False
            )
        except RuntimeError as error:
            if "cannot accept any value" in str(error) and not any(t.valid for t in case.tests):
                raise UnsatisfiableError from error  # said of a subschema too, where it refuses
            raise

        def accepts(text: str) -> bool:
            matcher = self._matcher(compiled)
            return all(map(matcher.accept_token, text.encode())) and matcher.accept_token(END)

        return accepts


class _GLRMask:
    distribution = "glrmask"
    settings = "`MaskStrategy.TOKEN_TRIE`; it has no options for JSON Schema"

    def __init__(self) -> None:
        import glrmask

        self._glrmask = glrmask
        self._vocab = glrmask.Vocab.from_id_to_bytes(dict(enumerate(_BYTES)))

    def compile(self, case: Case) -> Accepts:
        grammar = self._glrmask.Grammar.from_json_schema(case.schema)
        strategy = self._glrmask.MaskStrategy.TOKEN_TRIE
        constraint = grammar.compile(self._vocab, mask_strategy=strategy)

        def accepts(text: str) -> bool:
            state = constraint.start()
            return all(map(state.commit_token, text.encode())) and state.is_accepting()

        return accepts


class _Outlines:
    distribution = "outlines-core"
    settings = "`build_regex_from_schema` with `whitespace_pattern=r'[ \\t\\n\\r]*'`"

    def __init__(self) -> None:
        import outlines_core

        self._core = outlines_core
        self._vocab = outlines_core.Vocabulary(END, {b: [i] for i, b in enumerate(_BYTES)})

    def compile(self, case: Case) -> Accepts:
        pattern = self._core.json_schema.build_regex_from_schema(case.schema, r"[ \t\n\r]*")
        index = self._core.Index(pattern, self._vocab)

        def accepts(text: str) -> bool:
            guide = self._core.Guide(index)
            return bool(guide.accepts_tokens(list(text.encode()))) and self._ends(guide, text)

        return accepts

    def _ends(self, guide: Any, text: str) -> bool:  # noqa: ANN401 - the engine has no types
        for byte in text.encode():
            guide.advance(byte, return_tokens=False)
        return bool(guide.is_finished())


class _LMFormatEnforcer:
    distribution = "lm-format-enforcer"
    settings = (
        "`JsonSchemaParser`, any order of properties, arrays of any length, an alphabet that has "
        "every character of the text; a character, not a byte, at a time"
    )

    def __init__(self) -> None:
        import lmformatenforcer
        from lmformatenforcer.characterlevelparser import CharacterLevelParserConfig

        self._parser = lmformatenforcer.JsonSchemaParser
        self._config = CharacterLevelParserConfig

    def compile(self, case: Case) -> Accepts:
        schema = json.loads(case.schema)
        letters = {c for test in case.tests for t in (test.text, *test.respelt) for c in t}
        alphabet = "".join(dict.fromkeys(self._config().alphabet + "".join(sorted(letters))))
        config = self._config(alphabet=alphabet, max_json_array_length=100_000)
        first = self._parser(schema, config)
        first.get_allowed_characters()  # much is read only when asked for

        def accepts(text: str) -> bool:
            parser = first
            for character in text:
                if character not in parser.get_allowed_characters():
                    return False
                parser = parser.add_character(character)
            return bool(parser.can_end())

        return accepts


@dataclass(frozen=True, slots=True)
class _Entry:
    module: str
    make: Callable[[], Engine]


ENGINES: dict[str, _Entry] = {
    "constrain": _Entry("constrain", lambda: _Constrain("any")),
    "constrain-canonical": _Entry("constrain", lambda: _Constrain("canonical")),
    "llguidance": _Entry("llguidance", _LLGuidance),
    "xgrammar": _Entry("xgrammar", _XGrammar),
    "glrmask": _Entry("glrmask", _GLRMask),
    "outlines-core": _Entry("outlines_core", _Outlines),
    "lm-format-enforcer": _Entry("lmformatenforcer", _LMFormatEnforcer),
}
"""Every engine by its name on the command line."""


def is_installed(name: str) -> bool:
    """Whether an engine can be played here."""
    return importlib.util.find_spec(ENGINES[name].module) is not None


def create(name: str) -> tuple[Engine, str]:
    """An engine, and the version of its distribution.

    Raises:
        ImportError: It is not installed.
    """
    engine = ENGINES[name].make()
    return engine, version(engine.distribution)
