"""`generate`: what a caller gives, checked and made ready for the loop."""

from __future__ import annotations

import operator
import time
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, Final, Literal, TypeVar, get_origin, overload

from constrain.errors import ModelError, SamplingError
from constrain.generation.interfaces import Model, Tokenizer
from constrain.generation.loop import Generation, StartTimings
from constrain.generation.prompt import Prompt, is_batch, prompt_ids
from constrain.generation.result import GenerationResult
from constrain.generation.stream import BatchStream, TextStream
from constrain.generation.vocabularies import vocabulary_of
from constrain.grammar import Grammar
from constrain.limits import DEFAULT_LIMITS, Limits
from constrain.matcher import CompiledGrammar
from constrain.matcher import compile as compile_grammar
from constrain.sampling import SamplingParams
from constrain.vocab import Vocabulary, vocab_argument

__all__ = ["generate"]

AnyGrammar = Grammar | CompiledGrammar | type[Any] | None
"""A class stands for whatever `Grammar.from_pydantic` takes, such as `Cat | Dog`."""
_T = TypeVar("_T")
_MAKERS: Final[dict[type[Any], str]] = {
    dict: "for a JSON Schema constrain.Grammar.from_json_schema makes one",
    str: "constrain.Grammar.from_regex, from_gbnf, from_lark or from_json_schema makes one",
}
"""What makes a grammar of what is not one."""


@overload
def generate(
    model: Model,
    tokenizer: Tokenizer,
    prompt: Prompt,
    *,
    grammar: AnyGrammar = None,
    params: SamplingParams | None = None,
    max_new_tokens: int = 256,
    stop: str | Sequence[str] | None = None,
    stream: Literal[False] = False,
    vocab: Vocabulary | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> GenerationResult: ...
@overload
def generate(
    model: Model,
    tokenizer: Tokenizer,
    prompt: Prompt,
    *,
    grammar: AnyGrammar = None,
    params: SamplingParams | None = None,
    max_new_tokens: int = 256,
    stop: str | Sequence[str] | None = None,
    stream: Literal[True],
    vocab: Vocabulary | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> TextStream: ...
@overload
def generate(
    model: Model,
    tokenizer: Tokenizer,
    prompt: Sequence[Prompt],
    *,
    grammar: AnyGrammar | Sequence[AnyGrammar] = None,
    params: SamplingParams | Sequence[SamplingParams] | None = None,
    max_new_tokens: int = 256,
    stop: str | Sequence[str] | None = None,
    stream: Literal[False] = False,
    vocab: Vocabulary | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> list[GenerationResult]: ...
@overload
def generate(
    model: Model,
    tokenizer: Tokenizer,
    prompt: Sequence[Prompt],
    *,
    grammar: AnyGrammar | Sequence[AnyGrammar] = None,
    params: SamplingParams | Sequence[SamplingParams] | None = None,
    max_new_tokens: int = 256,
    stop: str | Sequence[str] | None = None,
    stream: Literal[True],
    vocab: Vocabulary | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> BatchStream: ...
def generate(
    model: Model,
    tokenizer: Tokenizer,
    prompt: Prompt | Sequence[Prompt],
    *,
    grammar: AnyGrammar | Sequence[AnyGrammar] = None,
    params: SamplingParams | Sequence[SamplingParams] | None = None,
    max_new_tokens: int = 256,
    stop: str | Sequence[str] | None = None,
    stream: bool = False,
    vocab: Vocabulary | None = None,
    limits: Limits = DEFAULT_LIMITS,
    vocabulary: Vocabulary | None = None,
) -> GenerationResult | list[GenerationResult] | TextStream | BatchStream:
    """Let a model write a text that fits a grammar.

    Args:
        model: A causal language model of transformers, or a callable with its interface
            (`Forward`).
        tokenizer: The model's; unused for a prompt of token ids with a given `vocab`.
        prompt: One prompt or a list of prompts. A prompt is raw text (encoded as it stands), a list
            of chat messages such as `[{"role": "user", "content": "..."}]` (put through the
            tokenizer's chat template), or token ids (a list, or a 1-D array or tensor).
        grammar: What the text must fit; a compiled one is used as it is, with its vocabulary,
            which must spell what the tokenizer spells. A pydantic model, or another type that
            `Grammar.from_pydantic` takes: its JSON, and `result.parsed` is an object of it. None:
            anything. For a list of prompts, one for all or a list.
        params: How tokens are drawn; None draws from the model's own distribution. For a list of
            prompts, one for all or a list.
        max_new_tokens: Bound on the tokens drawn per prompt, end tokens included, >= 0. The model's
            context bounds them, too.
        stop: A text or several, for all prompts. Where one of them comes, however it is spread over
            tokens, the text ends before it: `finish_reason` is "stop_string", and
            `result.stop_string` says which. The one that ends first counts, and the longest of
            those that end there. Masks take no notice of it, so with a grammar the text may be the
            beginning of a sentence and no more. Special tokens are no text: those that end a text
            are `eos_token_ids` of the vocabulary.
        stream: Return at once, and do the work as the pieces are asked for.
        vocab: The bytes of the tokens; None reads them from the tokenizer, once per tokenizer.
        limits: Budgets for compiling.
        vocabulary: The older name of `vocab`; deprecated.

    Returns:
        One prompt: a `GenerationResult`, or a `TextStream` of its text. A list of prompts: a list
        of results, or a `BatchStream` of (row, text).

    Raises:
        GrammarError: The grammar matches no text.
        CompileError: The vocabulary cannot spell the grammar, or a budget was reached.
        SamplingError: Parameters are out of range, or as many lists do not have one entry per
            prompt, or a stop text is empty.
        ModelError: The model or tokenizer does not fit: no chat template, too long a prompt, too
            few logits, messages that the template refuses, a grammar compiled for other tokens.
        BackendUnavailableError: torch is not installed.
        TypeError: An argument has another type.
    """
    vocab = vocab_argument("generate", vocab, vocabulary)
    if hasattr(prompt, "tolist"):  # token ids as an array or tensor
        prompt = prompt.tolist()
    batch = is_batch(prompt)
    if not batch and len(prompt) == 0 and not isinstance(prompt, str):
        raise ModelError(
            "prompt is an empty list: it has no tokens, and no prompts\n"
            "hint: give at least one token id, message or prompt"
        )
    prompts: Sequence[Any] = prompt if batch else [prompt]
    given = _one_each("grammar", grammar, len(prompts), batch)
    row_params = _one_each("params", params, len(prompts), batch)
    for one in given:
        if not (one is None or isinstance(one, (Grammar, CompiledGrammar)) or _is_type(one)):
            raise TypeError(
                f"grammar is a pydantic type or a constrain.Grammar, not {type(one).__name__}\n"
                f"hint: {_MAKERS.get(type(one), 'one of constrain.Grammar.from_... makes one')}"
            )
    for one in row_params:
        if not (one is None or isinstance(one, SamplingParams)):
            raise TypeError(f"params is a constrain.SamplingParams, not {type(one).__name__}")

    budget = _budget(max_new_tokens)
    stop_texts = _stop_texts(stop)
    began = time.perf_counter()
    vocab = _vocab(model, tokenizer, given, vocab)
    read = time.perf_counter()
    compiled = _compile_each(_grammars(given, limits), vocab, limits)
    made = time.perf_counter()
    matchers = [None if one is None else one.matcher() for one in compiled]
    generation = Generation(
        model,
        [prompt_ids(tokenizer, one) for one in prompts],
        matchers,
        [one or SamplingParams() for one in row_params],
        vocab,
        budget,
        StartTimings(
            vocabulary_s=read - began,
            compile_s=made - read,
            matcher_s=time.perf_counter() - made,
        ),
        [None if one is None else one.grammar.adapter for one in compiled],
        stop_texts,
    )
    if stream:
        return BatchStream(generation) if batch else TextStream(generation)
    for _ in generation.run():
        pass
    results = generation.results()
    return results if batch else results[0]


def _one_each(name: str, given: object, num_prompts: int, batch: bool) -> list[Any]:
    """Spread what was given once over the prompts; check the length of a list."""
    if not isinstance(given, (list, tuple)):
        return [given] * num_prompts
    if not batch:
        raise SamplingError(
            f"{name} is a list, and there is one prompt\nhint: pass a list of prompts"
        )
    if len(given) != num_prompts:
        raise SamplingError(f"{name} has {len(given)} entries for {num_prompts} prompts")
    return list(given)


def _grammars(given: list[Any], limits: Limits) -> list[Grammar | CompiledGrammar | None]:
    """A grammar for each row; those of types are made, once each."""
    made: dict[int, Grammar] = {}
    for one in given:
        if _is_type(one) and id(one) not in made:
            made[id(one)] = Grammar.from_pydantic(one, limits=limits)
    return [made.get(id(one), one) for one in given]


def _is_type(one: object) -> bool:
    """Whether it is a class, `X | Y`, `Annotated[...]` and the like, or a `TypeAdapter`."""
    return isinstance(one, type) or get_origin(one) is not None or hasattr(one, "core_schema")


def _vocab(
    model: Model, tokenizer: Tokenizer, grammars: list[Any], given: Vocabulary | None
) -> Vocabulary:
    """Choose the vocabulary: that of the compiled grammars, the one given, or the tokenizer's."""
    compiled = [one.vocab for one in grammars if isinstance(one, CompiledGrammar)]
    candidates = compiled if given is None else [given, *compiled]
    if not candidates:
        return vocabulary_of(tokenizer, model)
    first = candidates[0]
    if any(one is not first and one.fingerprint != first.fingerprint for one in candidates):
        raise ModelError(
            "the grammars of one batch were compiled for different vocabularies\n"
            "hint: compile all of them for the vocabulary of this tokenizer"
        )
    if given is None and hasattr(tokenizer, "eos_token_id"):
        _check_same_tokens(first, vocabulary_of(tokenizer, model))
    return first


def _check_same_tokens(compiled: Vocabulary, own: Vocabulary) -> None:
    """Refuse a grammar compiled for other tokens: the text would be spelled in the wrong ones.

    Width and end tokens may differ, because whoever made the vocabulary may have chosen them.
    """
    if compiled.fingerprint == own.fingerprint:
        return
    pairs = zip_longest(compiled.token_bytes, own.token_bytes)
    for token_id, (one, other) in enumerate(pairs):
        if one != other:
            raise ModelError(
                f"the grammar was compiled for the vocabulary {compiled.fingerprint[:12]}, and the "
                f"tokenizer has {own.fingerprint[:12]}: token {token_id} is {one!r} in the one and "
                f"{other!r} in the other\n"
                "hint: compile it for constrain.Vocabulary.from_transformers(tokenizer), or pass "
                "vocab=... if the tokenizer is the wrong one"
            )


def _compile_each(
    grammars: list[Any], vocab: Vocabulary, limits: Limits
) -> list[CompiledGrammar | None]:
    """Compile each grammar once, however many prompts share it."""
    known: dict[int, CompiledGrammar] = {}
    for one in grammars:
        if isinstance(one, Grammar) and id(one) not in known:
            known[id(one)] = compile_grammar(one, vocab, limits=limits)
    return [known[id(one)] if isinstance(one, Grammar) else one for one in grammars]


def _budget(max_new_tokens: int) -> int:
    try:
        budget = operator.index(max_new_tokens)
    except TypeError:
        budget = -1
    if budget < 0:
        raise SamplingError(f"max_new_tokens={max_new_tokens!r}: an integer >= 0 was expected")
    return budget


def _stop_texts(stop: object) -> tuple[str, ...]:
    if stop is None:
        return ()
    given = (stop,) if isinstance(stop, str) else stop
    if not isinstance(given, (list, tuple, set, frozenset)):
        raise TypeError(f"stop is a text or a list of texts, not {type(stop).__name__}")
    for text in given:
        if not isinstance(text, str):
            raise TypeError(
                f"stop is a text or a list of texts, not one with {type(text).__name__}"
            )
        if not text:
            raise SamplingError(
                "stop has an empty text, which stands everywhere\n"
                "hint: leave it out; stop=None ends at no text"
            )
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise SamplingError(
                f"stop has {text!r:.80}, which cannot be written in UTF-8, so no text has it"
            ) from error
    return tuple(given)
