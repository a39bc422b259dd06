"""constrain itself, through its public interface only.

`constrain` generates in the canonical style, so that style is what is measured: declared property
order and minimal escapes. `constrain-any` measures the language in which every spelling of every
valid value is allowed; `constrain-eager` makes masks before they are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import constrain
from benchmarks.grammars.spellings import CATALOGUE, GRAMMARS
from benchmarks.vocabularies import TokenizerFiles

__all__ = ["create"]


class _Matcher:
    def __init__(self, inner: constrain.Matcher, bitmask: np.ndarray, eos: tuple[int, ...]) -> None:
        fill = inner.fill_next_token_bitmask
        self._inner = inner
        self._words = bitmask[0]
        self._eos_token_ids = eos
        self.fill = lambda: fill(bitmask)
        self.accept = inner.accept_token
        self.rollback, self.fork = inner.rollback, inner.fork

    def allows(self, token_id: int) -> bool:
        return bool(int(self._words[token_id >> 5]) >> (token_id & 31) & 1)

    def is_accepting(self) -> bool:
        return all(self.allows(token_id) for token_id in self._eos_token_ids)

    def error(self) -> str | None:
        return None


class _Compiled:
    def __init__(
        self, grammar: constrain.CompiledGrammar, bitmask: np.ndarray, eos: tuple[int, ...]
    ) -> None:
        self.grammar = grammar
        self._bitmask = bitmask
        self._eos_token_ids = eos

    def held_bytes(self) -> int:
        return self.grammar.nbytes

    def start(self) -> _Matcher:
        return _Matcher(self.grammar.matcher(), self._bitmask, self._eos_token_ids)


class _Batch:
    def __init__(
        self, grammars: Sequence[constrain.CompiledGrammar], vocab_size: int, threads: int
    ) -> None:
        matchers = [grammar.matcher() for grammar in grammars]
        bitmask = constrain.allocate_token_bitmask(len(matchers), vocab_size)

        fill = constrain.fill_next_token_bitmasks
        self.fill = lambda: fill(matchers, bitmask, workers=threads)
        self.words = bitmask
        self.accept = lambda row, token_id: matchers[row].accept_token(token_id)


class _Engine:
    def __init__(self, name: str) -> None:
        self.name = name
        self._style = "any" if name == "constrain-any" else "canonical"
        self._eager = name == "constrain-eager"
        self.settings = f"style={self._style!r}, eager={self._eager}, default limits"

    def prepare(self, files: TokenizerFiles, tokenizer: object) -> None:
        self._vocab = constrain.Vocabulary.from_transformers(
            tokenizer, vocab_size=files.vocab_size, eos_token_ids=[files.eos_token_id]
        )
        _ = self._vocab.trie  # made on first use, and part of preparing a vocabulary
        self._bitmask = constrain.allocate_token_bitmask(1, files.vocab_size)

    def compile(self, schema: str) -> _Compiled:
        grammar = constrain.Grammar.from_json_schema(schema, style=self._style)
        compiled = constrain.compile(grammar, self._vocab, eager=self._eager)
        return _Compiled(compiled, self._bitmask, self._vocab.eos_token_ids)

    def compile_tools(self, tools: Sequence[dict[str, Any]]) -> _Compiled:
        grammar = constrain.Grammar.from_tools(tools, "auto", format="hermes", style=self._style)
        compiled = constrain.compile(grammar, self._vocab, eager=self._eager)
        return _Compiled(compiled, self._bitmask, self._vocab.eos_token_ids)

    def call_of_tool(self, call: str) -> str:
        return f"<tool_call>\n{call}\n</tool_call>"

    def compile_grammar(self, name: str) -> _Compiled:
        from constrain.fixtures import load_grammar

        grammar = load_grammar(CATALOGUE / GRAMMARS[name])
        return _Compiled(
            constrain.compile(grammar, self._vocab), self._bitmask, self._vocab.eos_token_ids
        )

    def batch(self, grammars: Sequence[_Compiled], threads: int) -> _Batch:
        return _Batch([g.grammar for g in grammars], self._vocab.vocab_size, threads)

    def accepts_in_another_style(self, schema: str, text: str) -> bool:
        if self._style == "any":
            return False
        grammar = constrain.Grammar.from_json_schema(schema, style="any")
        return grammar.accepts(text.encode())

    def settle(self) -> None:
        pass


def create(name: str) -> _Engine:
    """The adapter of `constrain`, `constrain-any` or `constrain-eager`."""
    return _Engine(name)
