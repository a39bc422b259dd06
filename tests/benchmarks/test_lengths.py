"""Texts that grow are played to their end, each with its schema."""

from __future__ import annotations

import json

import constrain
from benchmarks.lengths import cases, quarters

BYTES = constrain.Vocabulary([*(bytes([b]) for b in range(256)), None], [256])


class _Stepping:
    """A matcher as the benchmark calls it, byte by byte."""

    def __init__(self, schema):
        self._matcher = constrain.compile(
            constrain.Grammar.from_json_schema(schema), BYTES
        ).matcher()
        self._bitmask = constrain.allocate_token_bitmask(1, BYTES.vocab_size)

    def start(self):
        return self

    def fill(self):
        self._matcher.fill_next_token_bitmask(self._bitmask)

    def accept(self, byte):
        return self._matcher.accept_bytes(bytes([byte]))


class _Engine:
    def compile(self, schema):
        return _Stepping(json.loads(schema))


def test_each_quarter_of_each_text_has_a_time():
    played = cases(40)
    assert len({case.id for case in played}) == len(played) == 8
    for case in played:
        masks, steps = quarters(_Engine(), case, case.text.encode())
        assert len(masks) == len(steps) == 4
        assert min(masks + steps) > 0
