"""xgrammar: `GrammarCompiler` and `GrammarMatcher`.

`strict_mode=True`, its default, forbids properties and items that a schema does not mention, which
JSON Schema allows. So `xgrammar` runs with `strict_mode=False`, as MaskBench's "compliant" setting
does; `xgrammar-strict` is there to see the default.
"""

from __future__ import annotations

from collections.abc import Sequence

import xgrammar
from numpy import ndarray
from torch import Tensor

from benchmarks.engines.protocol import RefusedError
from benchmarks.grammars.spellings import spelling
from benchmarks.vocabularies import TokenizerFiles

__all__ = ["create"]


class _Matcher:
    def __init__(
        self, compiled: xgrammar.CompiledGrammar, bitmask: Tensor, words: ndarray, eos: int
    ) -> None:
        inner = xgrammar.GrammarMatcher(compiled)
        fill = inner.fill_next_token_bitmask
        self._words = words
        self._eos_token_id = eos
        self.fill = lambda: fill(bitmask)
        self.accept = inner.accept_token
        self.rollback, self.fork = inner.rollback, inner.fork

    def allows(self, token_id: int) -> bool:
        return bool(int(self._words[token_id >> 5]) >> (token_id & 31) & 1)

    def is_accepting(self) -> bool:
        return self.allows(self._eos_token_id)

    def error(self) -> str | None:
        return None


class _Compiled:
    def __init__(
        self, grammar: xgrammar.CompiledGrammar, bitmask: Tensor, words: ndarray, eos: int
    ) -> None:
        self.grammar = grammar
        self._parts = (grammar, bitmask, words, eos)

    def start(self) -> _Matcher:
        return _Matcher(*self._parts)


class _Batch:
    def __init__(
        self, grammars: list[xgrammar.CompiledGrammar], vocab_size: int, threads: int
    ) -> None:
        matchers = [xgrammar.GrammarMatcher(grammar) for grammar in grammars]
        bitmask = xgrammar.allocate_token_bitmask(len(matchers), vocab_size)
        fill = xgrammar.BatchGrammarMatcher(max_threads=threads).batch_fill_next_token_bitmask
        self.fill = lambda: fill(matchers, bitmask)
        self.words = bitmask.numpy()
        self.accept = lambda row, token_id: matchers[row].accept_token(token_id)


class _Engine:
    def __init__(self, name: str) -> None:
        self.name = name
        self._strict = name == "xgrammar-strict"
        self.settings = (
            f"any_whitespace=True, strict_mode={self._strict}, properties in declared order, "
            "default threads and caches of GrammarCompiler"
        )

    def prepare(self, files: TokenizerFiles, tokenizer: object) -> None:
        info = xgrammar.TokenizerInfo.from_huggingface(
            tokenizer, vocab_size=files.vocab_size, stop_token_ids=[files.eos_token_id]
        )
        self._vocab_size = files.vocab_size
        self._compiler = xgrammar.GrammarCompiler(info)
        self._bitmask = xgrammar.allocate_token_bitmask(1, files.vocab_size)
        self._words = self._bitmask[0].numpy()
        self._eos_token_id = files.eos_token_id

    def compile(self, schema: str) -> _Compiled:
        grammar = self._compiler.compile_json_schema(schema, strict_mode=self._strict)
        return self._compiled(grammar)

    def compile_grammar(self, name: str) -> _Compiled:
        text = spelling(name, "ebnf")
        if text is not None:
            return self._compiled(self._compiler.compile_grammar(text))
        text = spelling(name, "lark")
        if text is None:
            raise RefusedError(f"no spelling of {name}")
        return self._compiled(self._compiler.compile_lark(text))

    def _compiled(self, grammar: xgrammar.CompiledGrammar) -> _Compiled:
        return _Compiled(grammar, self._bitmask, self._words, self._eos_token_id)

    def batch(self, grammars: Sequence[_Compiled], threads: int) -> _Batch:
        return _Batch([grammar.grammar for grammar in grammars], self._vocab_size, threads)

    def accepts_in_another_style(self, schema: str, text: str) -> bool:
        return False

    def settle(self) -> None:
        pass


def create(name: str) -> _Engine:
    """The adapter of `xgrammar` or `xgrammar-strict`."""
    return _Engine(name)
