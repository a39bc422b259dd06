"""`GrammarLogitsProcessor`: a grammar inside `model.generate` of transformers.

    processor = GrammarLogitsProcessor(compiled)
    model.generate(**inputs, logits_processor=[processor])

transformers calls a logits processor before each draw, with all token ids so far and the logits,
and tells it nothing else: beam search reorders and copies the rows of a batch between two calls,
assisted generation goes back by several tokens. So a matcher belongs to the tokens generated, not
to a row. Those of the last call are kept, and a row continues the one whose tokens are its own but
for the last; where there is none, its tokens are accepted from the start.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from constrain.errors import ModelError, SamplingError
from constrain.matcher import (
    CompiledGrammar,
    Matcher,
    allocate_token_bitmask,
    apply_token_bitmask,
    fill_next_token_bitmasks,
)

if TYPE_CHECKING:
    import torch

__all__ = ["GrammarLogitsProcessor"]

_Generated = tuple[int, tuple[int, ...]]
"""The index of a prompt, and the tokens generated after it."""


class GrammarLogitsProcessor:
    """Masks the logits of each sequence by its grammar. Make one for each call of `generate`.

    Greedy search, sampling, beam search, assisted generation and `num_return_sequences` work as
    without it. Beam search may keep more beams than the grammar has ways to go on; such beams have
    a score of -inf, and only end tokens are left to them.

    Args:
        grammars: One compiled grammar for all prompts, or a list with one for each prompt; None
            leaves the sequences of a prompt alone. The end tokens of the vocabulary must be those
            that `generate` stops on: `Vocabulary.from_transformers(tokenizer,
            model.config.vocab_size, eos_token_ids=model.generation_config.eos_token_id)`.

    Raises:
        TypeError: Something else is given.
    """

    def __init__(self, grammars: CompiledGrammar | Sequence[CompiledGrammar | None]) -> None:
        is_list = isinstance(grammars, (list, tuple))
        listed: list[CompiledGrammar | None] = list(grammars) if is_list else [grammars]  # type: ignore[arg-type, list-item]
        for one in listed:
            if one is not None and not isinstance(one, CompiledGrammar):
                raise TypeError(
                    "GrammarLogitsProcessor wants a constrain.CompiledGrammar, not "
                    f"{type(one).__name__}\nhint: constrain.compile(grammar, vocab) makes one"
                )
        self._grammars = listed
        self._is_list = is_list
        self._vocab_size = max(
            (one.vocab.vocab_size for one in listed if one is not None), default=1
        )
        self._prompts: torch.Tensor | None = None
        self._matchers: dict[_Generated, Matcher | None] = {}
        self._bitmask: npt.NDArray[np.int32] | None = None

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """The logits, with -inf for every token that a grammar forbids.

        Args:
            input_ids: int64 [B, T], the prompts and what was generated after them.
            scores: [B, V], logits or log-probabilities on any device. Not changed.

        Raises:
            ModelError: The prompts are not those of the first call, or there are fewer logits than
                the vocabulary has ids.
            SamplingError: The rows are no multiple of the grammars.
            DeadEndError: No token of the vocabulary may come next.

        Cost: of each row a copy of the logits, a fork, and `Matcher.accept_token`; the ids travel
            to the CPU.
        """
        generated = self._generated(input_ids)
        self._check_width(scores.shape[-1])
        known, self._matchers = self._matchers, {}
        scores = scores.clone()
        open_rows: list[int] = []
        matchers: list[Matcher] = []
        for row, key in enumerate(generated):
            compiled = self._grammars[key[0]]
            if compiled is None:
                continue
            if key not in self._matchers:
                self._matchers[key] = _follow(compiled, key, known)
            matcher = self._matchers[key]
            if matcher is None or matcher.is_terminated:
                ends = list(compiled.vocab.eos_token_ids)
                kept = scores[row, ends]
                scores[row] = -math.inf
                scores[row, ends] = kept
            else:
                open_rows.append(row)
                matchers.append(matcher)
        if open_rows:
            if self._bitmask is None or len(self._bitmask) < len(open_rows):
                self._bitmask = allocate_token_bitmask(len(open_rows), self._vocab_size)
            bitmask = self._bitmask[: len(open_rows)]
            fill_next_token_bitmasks(matchers, bitmask)
            apply_token_bitmask(scores, bitmask, rows=open_rows)
        return scores

    def _generated(self, input_ids: torch.Tensor) -> list[_Generated]:
        """Of each row its prompt, and what was generated after it."""
        num_rows = len(input_ids)
        if self._prompts is None:
            if self._is_list and (not self._grammars or num_rows % len(self._grammars)):
                raise SamplingError(
                    f"{len(self._grammars)} grammars for {num_rows} sequences\n"
                    "hint: give one grammar for all, or a list with one for each prompt"
                )
            self._prompts = input_ids.clone()
        width = self._prompts.shape[1]
        if not self._prompts.equal(input_ids[:, :width]):
            raise ModelError(
                "the prompts are not those that this logits processor has seen before\n"
                "hint: make a GrammarLogitsProcessor for each call of generate"
            )
        each = num_rows // len(self._grammars)  # sequences of one prompt stand together
        tokens = input_ids[:, width:].tolist()
        return [(row // each if self._is_list else 0, tuple(ids)) for row, ids in enumerate(tokens)]

    def _check_width(self, width: int) -> None:
        if width < self._vocab_size:
            raise ModelError(
                f"the model gives {width:,} logits, and the vocabulary is {self._vocab_size:,} "
                f"wide\nhint: give the width to the vocabulary: vocab_size={width}"
            )


def _follow(
    compiled: CompiledGrammar, key: _Generated, known: dict[_Generated, Matcher | None]
) -> Matcher | None:
    """The matcher after the tokens generated; None if no sentence begins so.

    After an end token nothing is accepted any more: transformers fills up with padding.
    """
    if key in known:
        return known[key]
    prompt, tokens = key
    before = prompt, tokens[:-1]
    if tokens and before in known:
        parent = known[before]
        matcher, tokens = (None if parent is None else parent.fork()), tokens[-1:]
    else:
        matcher = compiled.matcher()
    for token in tokens:
        if matcher is None or matcher.is_terminated:
            break
        if token >= compiled.vocab.vocab_size or not matcher.accept_token(token):
            matcher = None
    return matcher
