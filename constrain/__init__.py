"""Exact, fast constrained decoding for language models.

    >>> import constrain
    >>> vocab = constrain.Vocabulary([b"1", b"12", b"a", None], eos_token_ids=[3])
    >>> compiled = constrain.compile(constrain.Grammar.from_regex("[0-9]{2}"), vocab)
    >>> matcher = compiled.matcher()
    >>> matcher.accept_token(2), matcher.accept_token(1), matcher.is_accepting
    (False, True, True)

What flows: text -> a `Grammar` -> (with a `Vocabulary`) a `CompiledGrammar` -> a `Matcher` for each
sequence -> a bitmask -> the `Sampler` -> a token. `generate` runs that loop for a transformers
model, `GrammarCache` keeps compiled grammars for a server.

Every name that most programs need is here, and loaded when it is first used, so that importing the
package is cheap. Beside these are `constrain.integrations.transformers` (a logits processor),
`constrain.generation` (`load_model`, the types of results), `constrain.fixtures` and
`constrain.lint` (to test grammars and find mistakes in them).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from constrain.errors import (
    BackendUnavailableError,
    CompileError,
    ConstrainError,
    DeadEndError,
    GrammarError,
    GrammarSyntaxError,
    LimitExceededError,
    MatchError,
    ModelError,
    RegexSyntaxError,
    RollbackError,
    SamplingError,
    SchemaError,
    TokenRejectedError,
    UnsatisfiableError,
    UnsupportedFeatureError,
    VocabularyError,
)
from constrain.limits import Limits

if TYPE_CHECKING:
    from constrain.frontends.json_schema import JSONStyle
    from constrain.frontends.tags import ToolFormat
    from constrain.generation import generate
    from constrain.grammar import Grammar, Rejection
    from constrain.matcher import (
        CompiledGrammar,
        GrammarCache,
        Matcher,
        allocate_token_bitmask,
        apply_token_bitmask,
        compile,
        fill_next_token_bitmasks,
        warmup,
    )
    from constrain.sampling import SampleOutput, Sampler, SamplingParams
    from constrain.vocab import Vocabulary

__version__ = "0.1.0"

__all__ = [
    "BackendUnavailableError",
    "CompileError",
    "CompiledGrammar",
    "ConstrainError",
    "DeadEndError",
    "Grammar",
    "GrammarCache",
    "GrammarError",
    "GrammarSyntaxError",
    "JSONStyle",
    "LimitExceededError",
    "Limits",
    "MatchError",
    "Matcher",
    "ModelError",
    "RegexSyntaxError",
    "Rejection",
    "RollbackError",
    "SampleOutput",
    "Sampler",
    "SamplingError",
    "SamplingParams",
    "SchemaError",
    "TokenRejectedError",
    "ToolFormat",
    "UnsatisfiableError",
    "UnsupportedFeatureError",
    "Vocabulary",
    "VocabularyError",
    "allocate_token_bitmask",
    "apply_token_bitmask",
    "compile",
    "fill_next_token_bitmasks",
    "generate",
    "warmup",
]

_ROOMS = {
    "CompiledGrammar": "matcher",
    "Grammar": "grammar",
    "GrammarCache": "matcher",
    "JSONStyle": "frontends.json_schema",
    "Matcher": "matcher",
    "Rejection": "grammar",
    "SampleOutput": "sampling",
    "Sampler": "sampling",
    "SamplingParams": "sampling",
    "ToolFormat": "frontends.tags",
    "Vocabulary": "vocab",
    "allocate_token_bitmask": "matcher",
    "apply_token_bitmask": "matcher",
    "compile": "matcher",
    "fill_next_token_bitmasks": "matcher",
    "generate": "generation",
    "warmup": "matcher",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    room = _ROOMS.get(name)
    if room is None:
        raise AttributeError(f"module 'constrain' has no attribute {name!r}")
    value = getattr(import_module(f"constrain.{room}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
