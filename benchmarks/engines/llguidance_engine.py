"""llguidance: `LLMatcher` over a schema, the mask written through a pointer.

A second matcher of one grammar is a deep copy of the first, as in MaskBench's own adapter; `reset`
measured the same. The mask is computed with `unsafe_compute_mask_ptr`, which the documented
`fill_next_token_bitmask` wraps: that spares the wrapper's checks, about a microsecond a call. The
default slices measured a little better than `json_slices()`.
"""

from __future__ import annotations

from collections.abc import Sequence

import llguidance
import llguidance.hf
import llguidance.numpy
import numpy as np

from benchmarks.engines.protocol import RefusedError
from benchmarks.grammars.spellings import spelling
from benchmarks.vocabularies import TokenizerFiles

__all__ = ["create"]


class _Matcher:
    def __init__(self, inner: llguidance.LLMatcher, words: np.ndarray) -> None:
        compute, pointer, num_bytes = inner.unsafe_compute_mask_ptr, words.ctypes.data, words.nbytes
        self._inner = inner
        self._words = words
        self.fill = lambda: compute(pointer, num_bytes)
        self.accept = inner.consume_token
        self.rollback, self.fork = inner.rollback, inner.deep_copy

    def allows(self, token_id: int) -> bool:
        return bool(int(self._words[token_id >> 5]) >> (token_id & 31) & 1)

    def is_accepting(self) -> bool:
        return self._inner.is_accepting()

    def error(self) -> str | None:
        return self._inner.get_error() if self._inner.is_error() else None


class _Compiled:
    def __init__(self, first: llguidance.LLMatcher, words: np.ndarray) -> None:
        self.first = first
        self._words = words

    def start(self) -> _Matcher:
        return _Matcher(self.first.deep_copy(), self._words)


class _Batch:
    def __init__(self, matchers: list[llguidance.LLMatcher], vocab_size: int, threads: int) -> None:
        bitmask = llguidance.numpy.allocate_token_bitmask(len(matchers), vocab_size)
        executor = llguidance.LLExecutor(num_threads=threads)
        rows = [(matcher, row) for row, matcher in enumerate(matchers)]
        compute = llguidance.numpy.fill_next_token_bitmask_par
        self.fill = lambda: compute(executor, rows, bitmask)
        self.words = bitmask
        self.accept = lambda row, token_id: matchers[row].consume_token(token_id)


class _Engine:
    settings = (
        "default options: flexible whitespace, properties in declared order, default slices; "
        "a new sequence is a deep copy of the compiled matcher"
    )

    def __init__(self, name: str) -> None:
        self.name = name

    def prepare(self, files: TokenizerFiles, tokenizer: object) -> None:
        self._tokenizer = llguidance.hf.from_tokenizer(
            tokenizer, n_vocab=files.vocab_size, eos_token=files.eos_token_id
        )
        self._vocab_size = files.vocab_size
        self._words = llguidance.numpy.allocate_token_bitmask(1, files.vocab_size)[0]

    def compile(self, schema: str) -> _Compiled:
        return self._compile(llguidance.LLMatcher.grammar_from_json_schema(schema))

    def compile_grammar(self, name: str) -> _Compiled:
        text = spelling(name, "lark with complements")
        if text is None:
            raise RefusedError(f"no spelling of {name}")
        return self._compile(llguidance.LLMatcher.grammar_from_lark(text))

    def _compile(self, grammar: str) -> _Compiled:
        matcher = llguidance.LLMatcher(self._tokenizer, grammar, log_level=0)
        if matcher.is_error():
            raise RefusedError(matcher.get_error())
        return _Compiled(matcher, self._words)

    def batch(self, grammars: Sequence[_Compiled], threads: int) -> _Batch:
        matchers = [grammar.first.deep_copy() for grammar in grammars]
        return _Batch(matchers, self._vocab_size, threads)

    def accepts_in_another_style(self, schema: str, text: str) -> bool:
        return False

    def settle(self) -> None:
        pass


def create(name: str) -> _Engine:
    """The adapter."""
    return _Engine(name)
