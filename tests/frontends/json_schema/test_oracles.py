"""Style "any" against `jsonschema` and `jsonschema_rs`: every pair of keywords, near-miss texts.

Where the two differ, `oracles` says who is right and why. Refusals by name are counted, and their
share is bounded.

`python -m tests.frontends.json_schema.test_oracles 7 10` tries every pair on every shape with seed
7 for ten minutes at most, and prints each fault with the smallest schema that still shows it.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from constrain import Grammar
from constrain.algebra.store import DEAD
from constrain.errors import (
    LimitExceededError,
    UnsatisfiableError,
    UnsupportedFeatureError,
)
from tests.frontends.json_schema.generators import DRAFTS, SHAPES, Maker, pairs
from tests.frontends.json_schema.near_miss import near_miss, texts_of
from tests.frontends.json_schema.oracles import (
    EXAMPLES,
    NotJSON,
    Oracles,
    Undecided,
    UndocumentedError,
    parse,
)
from tests.frontends.json_schema.reduce import reduced
from tests.frontends.json_schema.texts import FAVOURITES, Texts

SLOW = settings(
    derandomize=True,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.large_base_example,
    ],
)
NEAR_MISSES = 4
_EXPONENT = re.compile(rb"[0-9][eE]")


class Fault(NamedTuple):
    """What is wrong, and the text that shows it (none if the schema does not compile)."""

    kind: str
    text: bytes


class Judge:
    """One schema, its grammars in both styles, and both oracles."""

    def __init__(self, schema: Any, draft: str, counts: Counter[str]) -> None:
        self.schema, self.draft, self.counts = schema, draft, counts
        self.oracles = Oracles(schema, draft)
        self.anything: Grammar | None = None
        self.canonical: Grammar | None = None
        self.is_empty = self.is_refused = False

    def compile(self) -> Iterator[Fault]:
        """Make both grammars."""
        try:
            self.anything = self._grammar("any")
            self.canonical = self._grammar("canonical")
        except UnsatisfiableError:
            self.is_empty = True
            if self.anything is not None:
                yield Fault("canonical is unsatisfiable, any is not", b"")
        except (UnsupportedFeatureError, LimitExceededError) as error:
            self.is_refused = True
            self.counts[type(error).__name__] += 1
            if self.anything is not None:
                yield Fault(f"canonical is refused, any is not: {error}", b"")
        except Exception as error:
            self.is_refused = True
            yield Fault(f"{type(error).__name__}: {error}", b"")
        else:
            self.counts["compiled"] += 1

    def _grammar(self, style: str) -> Grammar:
        return Grammar.from_json_schema(
            self.schema, style=style, dialect=self.draft, format="annotate"
        )

    def judge(self, text: bytes) -> Iterator[Fault]:
        """Compare the verdicts on one text."""
        try:
            got = self.anything is not None and self.anything.accepts(text)
            if self.canonical is not None and self.canonical.accepts(text) and not got:
                yield Fault("canonical accepts what any does not", text)
        except (UnsupportedFeatureError, LimitExceededError) as error:
            self.counts[f"late {type(error).__name__}"] += 1
            return
        except Exception as error:
            yield Fault(f"{type(error).__name__}: {error}", text)
            return
        try:
            value = parse(text, self.draft)
            want = self.oracles.is_valid(value)
        except NotJSON as error:
            if got:
                yield Fault(f"not JSON: {error}", text)
            return
        except Undecided:
            self.counts["undecided"] += 1
            return
        except UndocumentedError as error:
            yield Fault(f"{error}, we say {got}", text)
            return
        self.counts["valid" if want else "invalid"] += 1
        if got == want:
            return
        if not got and may_leave_out(self.schema, text):
            self.counts["exponents"] += 1
            assert self.anything is not None
            if self.anything.accepts(plain_text(value).encode()):
                return
        yield Fault("wrong accept" if got else "wrong reject", text)

    def faults(self, rng: random.Random, *, draws: bool) -> Iterator[Fault]:
        """Everything that is wrong with the verdicts on some texts."""
        yield from self.compile()
        if self.is_refused:
            return
        for value in near_miss(rng, self.schema, NEAR_MISSES):
            for text in texts_of(rng, value):
                yield from self.judge(text)
        if not draws or self.is_empty:
            return
        for style, steps in (("any", 0), ("any", 6), ("any", 25), ("canonical", 12)):
            texts = Texts(self.schema, style=style, dialect=self.draft, format="annotate")
            try:
                drawn = draw(texts, rng, steps)
            except (UnsupportedFeatureError, LimitExceededError) as error:
                self.counts[f"late {type(error).__name__}"] += 1
                return
            except AssertionError as error:
                yield Fault(f"drawing: {error}", b"")
                return
            if drawn is not None:
                self.counts["drawn"] += 1
                yield from self.judge(drawn)


def draw(texts: Texts, rng: random.Random, steps: int) -> bytes | None:
    """A text of the language: random bytes for some steps, then bytes that close things."""
    out, state = b"", texts.start
    for step in range(steps + 80):
        if step >= steps and texts.store.nullable(state):
            return out
        tries = rng.sample(_LIKED, len(_LIKED))
        if step >= steps:
            tries = [*_CLOSERS, *tries]
        for b in tries:
            after = texts.store.advance(state, bytes((b,)))
            if after != DEAD:
                break
        else:
            allowed = texts.store.next_bytes(state)
            if not allowed:
                assert texts.store.nullable(state), f"dead end after {out!r}"
                return out
            b = rng.choice(allowed)
            after = texts.store.advance(state, bytes((b,)))
        out, state = out + bytes((b,)), after
    return None


_CLOSERS = b'"}]'
_LIKED = sorted(FAVOURITES)


def may_leave_out(schema: Any, text: bytes) -> bool:
    """Style "any" leaves out some exponents where multiples are constrained, see `exponents`."""
    constrained = "'multipleOf'" in repr(schema) or "'integer'" in repr(schema)
    return constrained and _EXPONENT.search(text) is not None


def plain_text(value: Any) -> str:
    """A text without exponents."""
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, list):
        return "[" + ",".join(map(plain_text, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{plain_text(k)}:{plain_text(v)}" for k, v in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


def case(seed: str, draft: str, pair: tuple[str, str], shape: str) -> tuple[Any, random.Random]:
    """A schema with two keywords on a node that says `shape` about its type."""
    rng = random.Random(f"{seed} {draft} {pair} {shape}")
    return Maker(rng, draft).root(pair, shape, depth=rng.choice([1, 1, 2, 2, 3])), rng


@pytest.mark.parametrize("draft", DRAFTS)
def test_every_pair_of_keywords(draft: str) -> None:
    counts: Counter[str] = Counter()
    found = []
    for index, pair in enumerate(pairs(draft)):
        schema, rng = case("pairs", draft, pair, SHAPES[index % len(SHAPES)])
        judge = Judge(schema, draft, counts)
        found += [(schema, fault) for fault in judge.faults(rng, draws=index % 10 == 0)]
    assert found == []
    refused = counts["UnsupportedFeatureError"] + counts["LimitExceededError"]
    assert refused <= 0.015 * counts["compiled"], counts
    assert counts["valid"] > 0.2 * counts["invalid"], counts


@pytest.mark.parametrize("draft", DRAFTS)
def test_schemas_and_near_misses(draft: str) -> None:
    counts: Counter[str] = Counter()

    @given(st.randoms(use_true_random=False), st.integers(1, 3))
    @settings(SLOW, max_examples=25)
    def examples(rng: random.Random, depth: int) -> None:
        schema = Maker(rng, draft).root(depth=depth)
        assert list(Judge(schema, draft, counts).faults(rng, draws=True)) == [], (draft, schema)

    examples()
    refused = counts["UnsupportedFeatureError"] + counts["LimitExceededError"]
    assert refused <= 0.2 * counts["compiled"], counts  # few examples, and hypothesis repeats them


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_oracles_differ_where_we_say(example: Any) -> None:
    value = parse(example.text, example.draft)
    schema, draft, formats = example.schema, example.draft, example.formats
    assert Oracles.as_they_are(schema, draft, formats=formats).both(value) == example.says
    assert Oracles(schema, draft, formats=formats).is_valid(value) == example.right
    if not formats:
        judge = Judge(schema, draft, Counter())
        assert [*judge.compile(), *judge.judge(example.text)] == []


def report(draft: str, schema: Any, fault: Fault) -> str:
    """A fault with the smallest schema that still shows it."""

    def fails(candidate: Any) -> bool:
        try:
            judge = Judge(candidate, draft, Counter())
            judge.oracles.check()
            found = [*judge.compile(), *([] if judge.is_refused else judge.judge(fault.text))]
        except Exception:  # whatever happens, it is another fault
            return False
        return any(f.kind == fault.kind for f in found)

    small = reduced(schema, fails) if fault.text else schema
    return f"{fault.kind} | {draft} | {small!r} | {fault.text[:300]!r}"


def main(seed: int, minutes: float) -> None:
    """Try every pair on every shape, in random order, and print what is wrong."""
    end = time.monotonic() + 60 * minutes
    plan = [(draft, pair, shape) for draft in DRAFTS for pair in pairs(draft) for shape in SHAPES]
    random.Random(seed).shuffle(plan)
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for draft, pair, shape in plan:
        if time.monotonic() > end:
            break
        schema, rng = case(str(seed), draft, pair, shape)
        for fault in Judge(schema, draft, counts).faults(rng, draws=rng.random() < 0.3):
            kinds[fault.kind[:40]] += 1
            if kinds[fault.kind[:40]] <= 10:
                print(report(draft, schema, fault), flush=True)  # noqa: T201
    print(dict(counts), dict(kinds))  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
