"""The loop: mask, forward, draw, accept, until every sequence has ended.

    masks -> rows whose text cannot grow end -> forward pass -> draw -> accept -> masks ...

A row ends with "stop" when an end token is drawn, or when its text is a sentence and only an end
token could follow: then the model is not asked, for there is nothing to choose. It ends with
"length" when its budget of tokens, or the model's context, is used up, and with "stop_string" when
its text has a stop text in it. Rows that have ended leave the batch.

The masks come before the forward pass, so a grammar that cannot be had is known before any of the
model's work is done. What a row says does not depend on the other rows, given equal logits: each
has its own matcher, and a draw is a function of the row's seed, sequence and position (`sampling`).
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from constrain.errors import MatchError, ModelError
from constrain.generation.facts import context_length, input_width, logit_width
from constrain.generation.forward import Forward
from constrain.generation.interfaces import Model, Tensor
from constrain.generation.result import GenerationResult, GenerationTimings
from constrain.generation.rows import Row
from constrain.matcher import allocate_token_bitmask, fill_next_token_bitmasks
from constrain.sampling import Sampler, SamplingParams

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from pydantic import TypeAdapter

    from constrain.matcher import Matcher
    from constrain.vocab import Vocabulary

__all__ = ["Generation", "StartTimings"]


@dataclass(frozen=True, slots=True)
class StartTimings:
    """What was done before the loop began, in seconds."""

    vocabulary_s: float
    compile_s: float
    matcher_s: float


class _Clock:
    """Durations of each kind of step, in microseconds, in order."""

    def __init__(self) -> None:
        self.durations: defaultdict[str, list[float]] = defaultdict(list)
        self._decoding_since = 0.0
        self._paused_s = 0.0

    @contextmanager
    def measure(self, kind: str) -> Iterator[None]:
        started = time.perf_counter_ns()
        yield
        self.durations[kind].append((time.perf_counter_ns() - started) / 1e3)

    def start_decoding(self) -> None:
        self._decoding_since = time.perf_counter()

    def decoding_s(self) -> float:
        """Seconds since `start_decoding`, without pauses; 0 before it."""
        if not self._decoding_since:
            return 0.0
        return time.perf_counter() - self._decoding_since - self._paused_s

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Leave out what the consumer of a stream does between two steps."""
        started = time.perf_counter()
        yield
        self._paused_s += time.perf_counter() - started


class Generation:
    """A batch on its way from prompts to results.

    Args:
        model: As `Forward` takes it.
        prompts: Token ids of each row, none empty.
        matchers: One per row; None where no grammar constrains it.
        params: One per row.
        vocabulary: What the ids spell.
        max_new_tokens: Bound on the tokens drawn per row, end tokens included.
        started: What came before.
        adapters: One per row, what reads its text back; None where its grammar has none.
        stop: Texts that end a row, none empty.

    Raises:
        ModelError: A prompt is longer than the model's context, or the model lacks a token of a
            prompt or of the vocabulary.
    """

    def __init__(
        self,
        model: Model,
        prompts: Sequence[list[int]],
        matchers: Sequence[Matcher | None],
        params: Sequence[SamplingParams],
        vocabulary: Vocabulary,
        max_new_tokens: int,
        started: StartTimings,
        adapters: Sequence[TypeAdapter[Any] | None],
        stop: Sequence[str] = (),
    ) -> None:
        context = context_length(model)
        budgets = [
            _budget(row, len(prompt), max_new_tokens, context) for row, prompt in enumerate(prompts)
        ]
        _check_width(logit_width(model), vocabulary)
        _check_ids(prompts, input_width(model))
        self._model = model
        self._prompts = list(prompts)
        self._params = list(params)
        self._vocabulary = vocabulary
        self._started = started
        self._adapters = list(adapters)
        self._clock = _Clock()
        self._sampler = Sampler()
        self._decode_s: dict[int, float] = {}  # of the rows that have ended
        self.rows = [
            Row(vocabulary, matcher, budget, stop)
            for matcher, budget in zip(matchers, budgets, strict=True)
        ]

    def run(self) -> Iterator[tuple[int, str]]:
        """Do the work, and yield (row, text) whenever a row has new whole characters."""
        bitmask = allocate_token_bitmask(len(self.rows), self._vocabulary.vocab_size)
        forward: Forward | None = None
        live = list(range(len(self.rows)))  # the rows of the forward pass, in its order
        drawn: list[int] = []  # what each of them drew last
        while True:
            self._write_masks(live, bitmask)
            yield from self._new_texts(live)  # of rows that ended just now
            going = [row for row in live if self.rows[row].finish_reason is None]
            self._decode_s |= dict.fromkeys(set(live) - set(going), self._clock.decoding_s())
            if not going:
                return
            if forward is None:
                forward = Forward(
                    self._model,
                    [self._prompts[row] for row in going],
                    pad_token_id=self._vocabulary.eos_token_ids[0],
                )
                with self._clock.measure("prefill"):
                    logits = forward.prefill()
                _check_width(logits.shape[-1], self._vocabulary)
                self._clock.start_decoding()
            else:
                keep = [place for place, row in enumerate(live) if row in going]
                with self._clock.measure("forward"):
                    logits = forward.step([drawn[place] for place in keep], keep)
            live = going
            with self._clock.measure("sampler"):
                drawn = self._draw(logits, live, bitmask)
            with self._clock.measure("accept"):
                for row, token_id in zip(live, drawn, strict=True):
                    self._accept(row, token_id)
            yield from self._new_texts(live)

    def results(self) -> list[GenerationResult]:
        """Return what came of each row, once `run` is through."""
        return [self._result(row) for row in range(len(self.rows))]

    def _new_texts(self, live: list[int]) -> Iterator[tuple[int, str]]:
        for row in live:
            if text := self.rows[row].take_text():
                with self._clock.pause():
                    yield row, text

    def _write_masks(self, live: list[int], bitmask: npt.NDArray[np.int32]) -> None:
        """Say what may come next in each live row, and end rows with nothing left to draw."""
        open_rows = [
            row if i in live and row.finish_reason is None else None
            for i, row in enumerate(self.rows)
        ]
        matchers = [row.matcher if row is not None else None for row in open_rows]
        if any(matcher is not None for matcher in matchers):
            with self._clock.measure("mask"):
                fill_next_token_bitmasks(matchers, bitmask)
        for row in open_rows:
            if row is None:
                continue
            if row.matcher is not None and row.matcher.must_end:
                row.end("stop")
            row.end_if_full()

    def _draw(self, logits: Tensor, live: list[int], bitmask: npt.NDArray[np.int32]) -> list[int]:
        """Draw one token for each live row; row i of the logits belongs to `live[i]`."""
        rows = [self.rows[i] for i in live]
        params = [self._params[i] for i in live]
        masked = any(row.matcher is not None for row in rows)
        edited = any(
            one.edits for one in params
        )  # only then does the sampler look at what was said
        output = self._sampler.sample(
            logits,
            params,
            bitmask=(bitmask if len(live) == len(bitmask) else bitmask[live]) if masked else None,
            positions=[row.num_drawn for row in rows],
            histories=[row.token_ids for row in rows] if edited else None,
            prompts=[self._prompts[i] for i in live] if edited else None,
        )
        for one, report in zip(rows, output.reports, strict=True):
            if report is not None:
                one.reports.append(report)
        return [int(token_id) for token_id in output.token_ids]

    def _accept(self, row: int, token_id: int) -> None:
        """Move one row on by a token."""
        matcher = self.rows[row].matcher
        if matcher is not None:
            if not matcher.accept_token(token_id):
                raise MatchError(
                    f"token {token_id} was drawn for row {row}, and its grammar does not allow it\n"
                    "hint: this is a bug of constrain; please report the grammar and the seed"
                )
        self.rows[row].add(token_id)

    def _result(self, index: int) -> GenerationResult:
        row = self.rows[index]
        assert row.finish_reason is not None, "results are there when the run is through"
        started, clock = self._started, self._clock
        masks = clock.durations["mask"]
        first_mask_s = masks[0] / 1e6 if masks else 0.0
        timings = GenerationTimings(
            vocabulary_s=started.vocabulary_s,
            compile_s=started.compile_s,
            first_mask_s=started.compile_s + started.matcher_s + first_mask_s if masks else 0.0,
            prefill_s=sum(clock.durations["prefill"]) / 1e6,
            mask_us=tuple(masks[1:]),
            accept_us=tuple(clock.durations["accept"]),
            sampler_us=tuple(clock.durations["sampler"]),
            forward_us=tuple(clock.durations["forward"]),
            num_prompt_tokens=len(self._prompts[index]),
            num_tokens=row.num_drawn,
            decode_s=self._decode_s[index],
        )
        return GenerationResult(
            text=row.text,
            token_ids=tuple(row.token_ids),
            text_bytes=row.text_bytes,
            finish_reason=row.finish_reason,
            timings=timings,
            reports=tuple(row.reports),
            stop_string=row.stop_string,
            adapter=self._adapters[index],
        )


def _budget(row: int, num_prompt_tokens: int, max_new_tokens: int, context: int | None) -> int:
    """Return how many tokens a row may draw; the last one is not run, so it needs no place."""
    if context is None:
        return max_new_tokens
    if num_prompt_tokens > context:
        raise ModelError(
            f"the prompt of row {row} has {num_prompt_tokens:,} tokens, and the model holds "
            f"{context:,}\nhint: shorten the prompt"
        )
    return min(max_new_tokens, context - num_prompt_tokens + 1)


def _check_width(width: int | None, vocabulary: Vocabulary) -> None:
    """Refuse a vocabulary that has ids the model lacks: a mask could allow nothing but them."""
    if width is not None and width < vocabulary.vocab_size:
        raise ModelError(
            f"the model gives {width:,} logits, and the vocabulary is "
            f"{vocabulary.vocab_size:,} wide\n"
            "hint: take the tokenizer that was saved with the model; or give the width to the "
            f"vocabulary: vocab_size={width}"
        )


def _check_ids(prompts: Sequence[list[int]], width: int | None) -> None:
    """Refuse ids that have no embedding; torch would say only that an index is out of range."""
    for row, prompt in enumerate(prompts):
        low, high = min(prompt), max(prompt)
        if low < 0 or (width is not None and high >= width):
            ids = "ids >= 0" if width is None else f"ids 0 to {width - 1:,}"
            raise ModelError(
                f"the prompt of row {row} has token {low if low < 0 else high}, and the model has "
                f"{ids}\nhint: take the tokenizer that was saved with the model"
            )
