"""Random walks under masks: whatever they end in, the real parser takes."""

from __future__ import annotations

import random
from math import exp, log

import pytest

from tests.catalogue.drawing import Walker, vocabulary_of
from tests.catalogue.entries import NAMES, entry
from tests.catalogue.test_tokenizers import real
from tests.frontends.lark.agreement import near_misses

WALKS = 300
REAL_WALKS = 40


def walks(walker: Walker, texts: list[bytes], count: int, longest: float = 90) -> list[bytes]:
    """Sentences, half of them going on from the beginning of a known one.

    Up to `longest` steps are random; a few are more likely than many.
    """
    draw = random.Random(1)
    found = []
    for i in range(count):
        begin = b""
        if i % 2:
            text = draw.choice(texts)
            begin = text[: draw.randrange(len(text) + 1)][:2000]
        found.append(walker.walk(int(exp(draw.uniform(0, log(longest)))), begin))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_what_masks_lead_to(name):
    found = entry(name)
    texts = [text.data for text in found.accept]
    walker = Walker(found.grammar, vocabulary_of(texts), theirs=found.theirs)
    drawn = walks(walker, texts, int(WALKS * found.share))
    for text in drawn:
        assert found.grammar.accepts(text), text
        assert found.oracle.complaint(text.decode()) is None, text
    assert len(set(drawn)) > len(drawn) / 4, "the walks are much the same"
    if getattr(found.oracle, "EXACT", False):
        known = [text.decode() for text in [*texts, *drawn[::10]] if len(text) < 2000]
        for miss in near_misses([*known, *getattr(found.oracle, "SAMPLES", ())], 8):
            accepted = found.grammar.accepts(miss.encode())
            assert accepted == (found.oracle.complaint(miss) is None), miss


@pytest.mark.parametrize("name", NAMES)
def test_what_masks_of_a_real_vocabulary_lead_to(name):
    found = entry(name)
    texts = [text.data for text in found.accept]
    walker = Walker(found.grammar, real("qwen3").vocab, theirs=found.theirs)
    for text in walks(walker, texts, int(REAL_WALKS * found.share), 90 if found.share == 1 else 9):
        assert found.grammar.accepts(text), text
        assert found.oracle.complaint(text.decode()) is None, text
