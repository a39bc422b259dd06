"""Small cases from public bug reports: reasoning, triggers, tags, tools."""

from __future__ import annotations

import itertools

import pytest

import constrain
from constrain import Grammar, Vocabulary
from constrain.frontends.tags import ToolFormat, from_tools
from constrain.frontends.tags.free_text import free_text
from constrain.frontends.tags.markers import marker
from tests.matcher.test_public_reports import grammar_of, reports
from tests.matcher.vocabularies import allowed_ids


def vocabulary_with(texts, specials):
    """A vocabulary of these tokens, in this order, and an end token."""
    listed = list(dict.fromkeys(texts))
    kept = {t: i for i, t in enumerate(listed) if t in specials}
    return listed, Vocabulary(
        [*[None if t in kept else t.encode() for t in listed], None], [len(listed)], kept
    )


def masked(matcher, listed, vocab):
    bitmask = constrain.allocate_token_bitmask(1, vocab.vocab_size)
    matcher.fill_next_token_bitmask(bitmask)
    allowed = allowed_ids(bitmask, 0, vocab.vocab_size)
    return [t for i, t in enumerate(listed) if i not in allowed]


def specials_among(texts):
    """Every way to have some of the tokens in brackets as special tokens."""
    marked = sorted({t for t in texts if t.startswith("<") and t.endswith(">")})
    return itertools.chain(*[itertools.combinations(marked, n) for n in range(len(marked) + 1)])


@pytest.mark.parametrize("case", reports("reasoning"))
def test_reasoning(case):
    given = case["input"]
    end = given.get("end_marker_text") or "".join(given["end_marker"])
    answer = grammar_of(given["constraint"])
    grammar = answer.with_reasoning(end)
    texts = given.get("draft") or given["stream"]
    for specials in specials_among(texts):
        listed, vocab = vocabulary_with([*texts, *given.get("end_marker", ())], specials)
        compiled = constrain.compile(grammar, vocab)
        ids = [listed.index(t) for t in texts]
        expected = case.get("expect_data", {})
        if "accepted" in expected:
            assert compiled.matcher().validate_tokens(ids) == expected["accepted"]
        matcher = compiled.matcher()
        first = expected.get("first_constrained_index", expected.get("accepted", 2))
        for i in ids[:first]:
            assert masked(matcher, listed, vocab) == []
            assert not matcher.is_accepting
            assert matcher.accept_token(i)
        after = constrain.compile(answer, vocab).matcher()
        assert masked(matcher, listed, vocab) == masked(after, listed, vocab)
        for text in expected.get("masked", ()):
            assert text in masked(matcher, listed, vocab)
        rest = [t for t in texts[first:] if t not in masked(matcher, listed, vocab)]
        assert rest
        assert matcher.accept_token(listed.index(rest[0]))


@pytest.mark.parametrize("case", reports("reasoning"))
def test_a_part_of_the_marker_does_not_end_the_reasoning(case):
    marks = case["input"].get("end_marker") or [case["input"]["end_marker_text"]]
    if len(marks) == 1:
        marks = [marks[0][:3], marks[0][3:]]
    grammar = grammar_of(case["input"]["constraint"]).with_reasoning("".join(marks))
    for specials in specials_among(marks):
        listed, vocab = vocabulary_with([*marks, "x", "{", "}", "o"], specials)
        matcher = constrain.compile(grammar, vocab).matcher()
        for text in (*marks[:-1], "x", *marks[1:]):
            assert matcher.accept_token(listed.index(text))
            assert masked(matcher, listed, vocab) == []


@pytest.mark.parametrize("case", reports("trigger"))
def test_triggers(case):
    given = case["input"]
    if "tag_begin" in given:
        tag = {"begin": given["tag_begin"], "content": {"type": "any_text"}, "end": "</tool>"}
        grammar = Grammar.from_structural_tag(
            {"type": "triggered_tags", "triggers": [given["trigger"]], "tags": [tag]}
        )
        listed, vocab = vocabulary_with([*given["stream"], "=", "x"], ())
        matcher = constrain.compile(grammar, vocab).matcher()
        for text in given["stream"][:-1]:
            assert masked(matcher, listed, vocab) == []
            assert matcher.accept_token(listed.index(text))
        assert given["stream"][-1] in masked(matcher, listed, vocab)
        assert "=" not in masked(matcher, listed, vocab)
        return
    inside = grammar_of(given["constraint"])
    triggers = [(given["trigger"], lambda _: inside.term)]
    grammar = Grammar(free_text(triggers, may_end=True), "test")
    listed, vocab = vocabulary_with([*given["commit"], "}", "x"], ())
    compiled = constrain.compile(grammar, vocab)
    ids = [listed.index(text) for text in given["commit"]]
    one_by_one, at_once = compiled.matcher(), compiled.matcher()
    assert all(one_by_one.accept_token(i) for i in ids)
    assert at_once.validate_tokens(ids) == len(ids)
    assert at_once.accept_bytes("".join(given["commit"]).encode())
    assert masked(one_by_one, listed, vocab) == masked(at_once, listed, vocab)
    assert "x" in masked(one_by_one, listed, vocab)
    assert "}" not in masked(one_by_one, listed, vocab)


@pytest.mark.parametrize("case", reports("tags"))
def test_tags(case):
    given = case["input"]
    structures = [
        {"begin": tag["begin"], "schema": tag["content"], "end": tag["end"]}
        for tag in given["tags"]
    ]
    grammar = Grammar.from_structural_tag({"structures": structures, "triggers": given["triggers"]})
    byte_tokens = Vocabulary([*[bytes([b]) for b in range(256)], None], [256])
    compiled = constrain.compile(grammar, byte_tokens)
    for text, good in [*[(t, True) for t in case["accept"]], *[(t, False) for t in case["reject"]]]:
        assert grammar.accepts(text.encode()) == good
        matcher = compiled.matcher()  # each byte a token: characters are split everywhere
        assert all(matcher.accept_token(b) for b in [*text.encode(), 256]) == good
    halves = Vocabulary([b"<\xef\xbd", b"\x9ctool", b"12<", b"1", None], [4])
    matcher = constrain.compile(grammar, halves).matcher()
    assert matcher.accept_token(0)
    assert matcher.accept_token(1)


@pytest.mark.parametrize("case", reports("tools"))
def test_tools(case):
    given = case["input"]
    call = given["format"].replace("NAME", "$NAME").replace("ARGS", "$ARGS")
    for tools in (given["tools"], [{"name": "ping"}, given["tools"][0]]):
        term = from_tools(tools, "required", format=ToolFormat(call=call))
        grammar = Grammar(term, "test")
        assert [grammar.accepts(t.encode()) for t in case["accept"]] == [True] * len(case["accept"])
        assert not any(grammar.accepts(t.encode()) for t in case["reject"])


def test_a_marker_split_inside_a_character():
    grammar = Grammar(marker("<｜tool▁begin｜>"), "test")
    data = "<｜tool▁begin｜>".encode()
    for cut in range(1, len(data)):
        vocab = Vocabulary([data[:cut], data[cut:], None], [2])
        matcher = constrain.compile(grammar, vocab).matcher()
        assert matcher.accept_token(0)
        assert matcher.accept_token(1)
        assert matcher.is_accepting
