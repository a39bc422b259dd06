"""glrmask: a `Constraint` for each schema, with precomputed masks or with a walk of the vocabulary.

It has no end token of its own; an end token is a token set after the grammar, which is what its
documentation shows. Its vocabulary comes from token bytes, special tokens left out.
"""

from __future__ import annotations

from collections.abc import Sequence

import glrmask
import numpy as np

from benchmarks.engines.parts import in_threads
from benchmarks.engines.protocol import RefusedError
from benchmarks.grammars.spellings import spelling
from benchmarks.vocabularies import TokenizerFiles

__all__ = ["create"]


class _Matcher:
    def __init__(self, constraint: glrmask.Constraint, words: np.ndarray, eos: int) -> None:
        inner = constraint.start()
        fill = inner.fill_mask
        self._words = words
        self._eos_token_id = eos
        self.fill = lambda: fill(words)
        self.accept = inner.commit_token
        self.fork = inner.copy if hasattr(inner, "copy") else inner.__copy__

    def allows(self, token_id: int) -> bool:
        return bool(int(self._words[token_id >> 5]) >> (token_id & 31) & 1)

    def is_accepting(self) -> bool:
        return self.allows(self._eos_token_id)

    def error(self) -> str | None:
        return None


class _Compiled:
    def __init__(self, constraint: glrmask.Constraint, words: np.ndarray, eos: int) -> None:
        self.constraint = constraint
        self._parts = (constraint, words, eos)

    def start(self) -> _Matcher:
        return _Matcher(*self._parts)


class _Batch:
    def __init__(self, constraints: list[glrmask.Constraint], num_words: int, threads: int) -> None:
        matchers = [constraint.start() for constraint in constraints]
        bitmask = np.zeros((len(matchers), num_words), dtype=np.int32)
        rows = [(matcher.fill_mask, bitmask[row]) for row, matcher in enumerate(matchers)]

        def fill_part(first: int, last: int) -> None:
            for fill, words in rows[first:last]:
                fill(words)

        self.fill = in_threads(fill_part, len(rows), threads)
        self.words = bitmask
        self.accept = lambda row, token_id: matchers[row].commit_token(token_id)


class _Engine:
    def __init__(self, name: str) -> None:
        self.name = name
        lazy = name == "glrmask-lazy"
        strategies = glrmask.MaskStrategy
        self._strategy = strategies.TOKEN_TRIE if lazy else strategies.AUTO
        self.settings = (
            f"MaskStrategy.{'TOKEN_TRIE' if lazy else 'AUTO'}, the end token as a token set after "
            "the schema, default threads"
        )

    def prepare(self, files: TokenizerFiles, tokenizer: object) -> None:
        spelled = {i: data for i, data in enumerate(files.token_bytes) if data is not None}
        self._vocab = glrmask.Vocab.from_id_to_bytes(spelled)
        self._end = glrmask.TokenSet([files.eos_token_id])
        self._words = np.zeros((files.vocab_size + 31) // 32, dtype=np.int32)
        self._eos_token_id = files.eos_token_id

    def compile(self, schema: str) -> _Compiled:
        return self._compile(glrmask.Grammar.from_json_schema(schema))

    def compile_grammar(self, name: str) -> _Compiled:
        text = spelling(name, "lark")
        if text is None:
            raise RefusedError(f"no spelling of {name}")
        return self._compile(glrmask.Grammar.from_lark(text))

    def _compile(self, grammar: glrmask.Grammar) -> _Compiled:
        ended = glrmask.Grammar.from_expr(glrmask.Expr.sequence(grammar, self._end))
        constraint = ended.compile(self._vocab, mask_strategy=self._strategy)
        return _Compiled(constraint, self._words, self._eos_token_id)

    def batch(self, grammars: Sequence[_Compiled], threads: int) -> _Batch:
        return _Batch([grammar.constraint for grammar in grammars], len(self._words), threads)

    def accepts_in_another_style(self, schema: str, text: str) -> bool:
        return False

    def settle(self) -> None:
        pass


def create(name: str) -> _Engine:
    """The adapter of `glrmask` or `glrmask-lazy`."""
    return _Engine(name)
