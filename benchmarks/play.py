"""One schema on one engine: the timed calls and the verdicts.

Every call is timed alone with `perf_counter_ns`, the garbage collector off. What is played:

1. *First mask*: schema text in, compiled, matcher made, bitmask filled.
2. *Cold*: each text once, back to back. The first of them goes on with the matcher of the first
   mask, so that mask is not counted again.
3. *Visited*: the same texts again, with new matchers of the same compiled grammar.

A text is accepted if every token was allowed by the mask before it and the text is complete after
the last one. It stops where a token is not allowed.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.engines import Compiled, Engine, Matcher
from benchmarks.plan import PlannedSchema, PlannedText

__all__ = ["PlayedText", "Record", "accepts", "play_schema", "timer_overhead_ns"]

_MESSAGE_LENGTH = 300


@dataclass(slots=True)
class PlayedText:
    """What one text gave.

    Attributes:
        index: Position among the schema's tests in the data.
        valid: Expected verdict.
        accepted: The engine's verdict.
        rejected_at: Token position at which it stopped; the number of tokens if only the end was
            refused; None if accepted.
        failure: What broke inside the engine, or None. Then `accepted` means nothing.
        style: A valid text was rejected, but the engine accepts the same value with its keys in
            declared order or in another of its styles.
        cold_ns, visited_ns: Mask times, in order of positions.
        accept_ns: Times of accepting the tokens in the cold pass.
        accept_visited_ns: The same in the second pass.
    """

    index: int
    valid: bool
    accepted: bool = False
    rejected_at: int | None = None
    failure: str | None = None
    style: bool = False
    cold_ns: list[int] = field(default_factory=list)
    visited_ns: list[int] = field(default_factory=list)
    accept_ns: list[int] = field(default_factory=list)
    accept_visited_ns: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Record:
    """What one schema gave on one engine.

    Attributes:
        schema: The schema's id.
        engine: The engine's name.
        refused: (type of the error, message) if it did not compile.
        broken: What ended it before it was played: `timeout (compile)`, `crash (play)`, or None.
        compile_ns: Schema text to compiled grammar.
        first_mask_ns: The same plus a matcher and the first mask.
        first_mask_cpu_ns: Processor time of all threads meanwhile.
        texts: In the order of the plan.
    """

    schema: str
    engine: str
    refused: tuple[str, str] | None = None
    broken: str | None = None
    compile_ns: int = 0
    first_mask_ns: int = 0
    first_mask_cpu_ns: int = 0
    texts: list[PlayedText] = field(default_factory=list)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Record:
        """Read what `dataclasses.asdict` gave."""
        texts = [PlayedText(**text) for text in data.pop("texts")]
        refused = data.pop("refused")
        return cls(**data, refused=None if refused is None else tuple(refused), texts=texts)


def play_schema(
    engine: Engine, planned: PlannedSchema, compiled_event: Callable[[], None] = lambda: None
) -> Record:
    """Compile a schema and play its texts twice.

    Args:
        engine: Prepared.
        planned: The schema and its texts.
        compiled_event: Called between the first mask and the texts.
    """
    record = Record(planned.id, engine.name)
    gc.collect()
    gc.disable()
    try:
        first = _first_mask(engine, planned, record)
        if first is not None:
            compiled_event()
            record.texts = _play_texts(first, planned.texts)
            _tell_style_from_fault(engine, first[0], planned, record)
    finally:
        gc.enable()
    return record


def timer_overhead_ns(repeats: int = 2000) -> float:
    """Median time of a timed call that does nothing: what every figure contains."""
    times: list[int] = []
    nothing = lambda: None  # noqa: E731  the adapters' `fill` is a lambda too
    for _ in range(repeats):
        start = time.perf_counter_ns()
        nothing()
        times.append(time.perf_counter_ns() - start)
    return float(sorted(times)[repeats // 2])


def _first_mask(
    engine: Engine, planned: PlannedSchema, record: Record
) -> tuple[Compiled, Matcher] | None:
    compile = engine.compile if planned.kind == "json_schema" else engine.compile_grammar
    clock = time.perf_counter_ns
    cpu_start = time.process_time_ns()
    start = clock()
    try:
        compiled = compile(planned.schema)
        compiled_at = clock()
        matcher = compiled.start()
        matcher.fill()
    except Exception as error:
        record.refused = (type(error).__name__, _first_line(error))
        return None
    record.first_mask_ns = clock() - start
    record.first_mask_cpu_ns = time.process_time_ns() - cpu_start
    record.compile_ns = compiled_at - start
    failure = matcher.error()
    if failure is not None:
        record.refused = ("RefusedError", failure[:_MESSAGE_LENGTH])
        return None
    return compiled, matcher


def _play_texts(first: tuple[Compiled, Matcher], texts: Sequence[PlannedText]) -> list[PlayedText]:
    compiled, matcher = first
    played = [PlayedText(text.index, text.valid) for text in texts]
    for number, (text, result) in enumerate(zip(texts, played, strict=True)):
        try:
            matcher = matcher if number == 0 else compiled.start()
            result.rejected_at = _play(
                matcher, text.ids, result.cold_ns, result.accept_ns, filled=number == 0
            )
            result.accepted = result.rejected_at is None
            result.failure = matcher.error()
        except Exception as error:
            result.failure = f"{type(error).__name__}: {_first_line(error)}"
    for text, result in zip(texts, played, strict=True):
        if result.failure is None:
            result.failure = _visit(compiled, text, result)
    return played


def _visit(compiled: Compiled, text: PlannedText, result: PlayedText) -> str | None:
    """Play a text again; what failed, or None."""
    try:
        again = _play(compiled.start(), text.ids, result.visited_ns, result.accept_visited_ns)
    except Exception as error:
        return f"{type(error).__name__}: {_first_line(error)}"
    if again != result.rejected_at:
        return f"stopped at {result.rejected_at} first and at {again} the second time"
    return None


def _play(
    matcher: Matcher,
    ids: Sequence[int],
    fill_ns: list[int],
    accept_ns: list[int],
    *,
    filled: bool = False,
) -> int | None:
    """Play one text; the position at which it was rejected, or None.

    Args:
        matcher: At the beginning of a text.
        ids: The text.
        fill_ns: Receives the time of each mask.
        accept_ns: Receives the time of each accepted token.
        filled: The mask of position 0 has been computed already.
    """
    clock = time.perf_counter_ns
    fill, accept, allows = matcher.fill, matcher.accept, matcher.allows
    for position, token_id in enumerate(ids):
        if not filled:
            start = clock()
            fill()
            fill_ns.append(clock() - start)
        filled = False
        if not allows(token_id):
            return position
        start = clock()
        moved = accept(token_id)
        accept_ns.append(clock() - start)
        if not moved:
            raise RuntimeError(
                f"token {token_id} at position {position} is in the mask but refused"
            )
    start = clock()
    fill()
    fill_ns.append(clock() - start)
    return None if matcher.is_accepting() else len(ids)


def _tell_style_from_fault(
    engine: Engine, compiled: Compiled, planned: PlannedSchema, record: Record
) -> None:
    for text, result in zip(planned.texts, record.texts, strict=True):
        if not text.valid or result.accepted or result.failure is not None:
            continue
        try:
            if text.declared_ids is not None:
                result.style = _play(compiled.start(), text.declared_ids, [], []) is None
            if not result.style and planned.kind == "json_schema":
                result.style = engine.accepts_in_another_style(planned.schema, text.text)
        except Exception as error:
            result.failure = f"{type(error).__name__}: {_first_line(error)} (asked about its style)"


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:_MESSAGE_LENGTH] if lines else ""


def accepts(matcher: Matcher, ids: Sequence[int]) -> bool:
    """Whether a matcher takes a text, token by token; nothing is timed."""
    for token_id in ids:
        matcher.fill()
        if not matcher.allows(token_id) or not matcher.accept(token_id):
            return False
    matcher.fill()
    return matcher.error() is None
