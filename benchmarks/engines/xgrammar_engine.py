"""xgrammar: `GrammarCompiler` and `GrammarMatcher`.

`strict_mode=True`, its default, forbids properties and items that a schema does not mention, which
JSON Schema allows. So `xgrammar` runs with `strict_mode=False`, as MaskBench's "compliant" setting
does; `xgrammar-strict` is there to see the default.
"""

from __future__ import annotations

import xgrammar
from numpy import ndarray
from torch import Tensor

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
        self._parts = (grammar, bitmask, words, eos)

    def start(self) -> _Matcher:
        return _Matcher(*self._parts)


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
        self._compiler = xgrammar.GrammarCompiler(info)
        self._bitmask = xgrammar.allocate_token_bitmask(1, files.vocab_size)
        self._words = self._bitmask[0].numpy()
        self._eos_token_id = files.eos_token_id

    def compile(self, schema: str) -> _Compiled:
        grammar = self._compiler.compile_json_schema(schema, strict_mode=self._strict)
        return _Compiled(grammar, self._bitmask, self._words, self._eos_token_id)

    def accepts_in_another_style(self, schema: str, text: str) -> bool:
        return False

    def settle(self) -> None:
        pass


def create(name: str) -> _Engine:
    """The adapter of `xgrammar` or `xgrammar-strict`."""
    return _Engine(name)
