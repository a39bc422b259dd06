"""Objects whose members must meet several obligations at once: an answer without counting all keys
again.
"""

from __future__ import annotations

from constrain import Grammar


def test_one_member_meets_three_obligations():
    # Counting the keys of a region once for each way to meet the obligations took minutes.
    grammar = Grammar.from_json_schema(
        {
            "type": "object",
            "allOf": [
                {"patternProperties": {"^.{1,3}$": False}, "additionalProperties": True},
                {"patternProperties": {"a": True}, "additionalProperties": False},
                {"patternProperties": {"b": True}, "additionalProperties": False},
                {"not": {"patternProperties": {"c": False}}},
                {"not": {"patternProperties": {"d": False}}},
                {"not": {"patternProperties": {"f": False}}},
            ],
            "maxProperties": 1,
        },
        style="any",
    )
    assert grammar.accepts(b'{"abcdf": 1}')
    assert grammar.accepts(b'{"fdcba": null}')
    assert not grammar.accepts(b'{"abcd": 1}')
    assert not grammar.accepts(b'{"abcdf": 1, "fabcd": 2}')
    assert not grammar.accepts(b"{}")
