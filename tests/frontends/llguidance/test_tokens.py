"""Special tokens, ids and ranges, over a vocabulary."""

from __future__ import annotations

import pytest

import constrain
from constrain import Grammar, VocabularyError

TOKENS = [*[bytes([b]) for b in range(256)], b"ab", b"b<", b"<|tool|>"]
SPECIAL = {"<|tool|>": 259, "<|other|>": 260, "<think>": 261}
END = 262


def vocabulary():
    return constrain.Vocabulary([*TOKENS, None, None, None, None], [END], special_tokens=SPECIAL)


def allowed(text, before):
    """Ids that may come after some ids, bytes as such."""
    matcher = constrain.compile(
        Grammar.from_lark(text, dialect="llguidance"), vocabulary()
    ).matcher()
    for token in before:
        assert matcher.accept_token(token)
    return {i for i in range(END + 1) if matcher.fork().accept_token(i)}


A, B, AB, TOOL, OTHER, THINK = 97, 98, 256, 259, 260, 261


@pytest.mark.parametrize(
    ("text", "before", "expected"),
    [
        ('start: <|tool|> "a"', [], {TOOL}),
        ('start: <|tool|> "a"', [TOOL], {A}),
        ('start: "ab" <|tool|>', [A], {B}),
        ('start: "ab" <|tool|>', [AB], {TOOL}),
        ("start: /[ab]+/ <|tool|>", [A], {A, B, AB, TOOL}),
        ("start: /[ab]+/ <|tool|>", [A, TOOL], {END}),
        ('start: <[97-98,260]> "a"', [], {A, B, OTHER}),
        ('start: <[256]> "a"', [], {AB}),
        ('start: <[97]> | "ab"', [], {A, AB}),
        ("start: <[^0-258]>", [], {TOOL, OTHER, THINK}),
        ("start: <think> x </x>\nx: /a/\n".replace("</x>", "<|other|>"), [THINK, A], {OTHER}),
        ('start: x <|tool|>\nx[suffix="b"]: /a*/', [AB], {TOOL}),
        ('start: "a" <|tool|>?\n%ignore "b"', [A], {TOOL, B, END}),
        ('start: %lark { start: <|tool|> "a" } "b"', [TOOL], {A, AB}),
        ('start: <|tool|>{2} "a"', [TOOL], {TOOL}),
        ('start: <|tool|> %json {"const": 7}', [TOOL], {55}),
    ],
)
def test_what_may_come(text, before, expected):
    assert allowed(text, before) == expected


def test_any_token():
    assert allowed("start: <[*]>", []) == set(range(END)) - {END}
    assert allowed("start: <[^97]>", []) == set(range(END)) - {A}


def test_the_text_of_a_special_token_is_not_the_token():
    assert not Grammar.from_lark("start: <|tool|>").accepts(b"<|tool|>")


def test_a_token_that_the_vocabulary_lacks():
    with pytest.raises(VocabularyError, match="missing"):
        constrain.compile(Grammar.from_lark("start: <|missing|>"), vocabulary())
    with pytest.raises(VocabularyError):
        constrain.compile(Grammar.from_lark("start: <[5000]>"), vocabulary())
