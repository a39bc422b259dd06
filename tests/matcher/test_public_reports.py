"""Small cases from public bug reports: regexes, masks, drafts."""

from __future__ import annotations

import json

import pytest

import constrain
from constrain import Grammar, JSONStyle, Vocabulary
from tests.conftest import SHARED, requires_shared
from tests.matcher.vocabularies import allowed_ids

REPORTS = SHARED / "cases" / "public-reports.jsonl"


def reports(*kinds):
    if not REPORTS.is_file():
        return [pytest.param(None, marks=requires_shared)]
    cases = [json.loads(line) for line in REPORTS.read_text(encoding="utf-8").splitlines()]
    found = [case for case in cases if case["input"]["kind"] in kinds]
    assert found, kinds
    return [pytest.param(case, id=case["id"]) for case in found]


def grammar_of(constraint):
    """The grammar of a case."""
    options = dict(constraint.get("options", {}))
    if constraint["kind"] == "regex":
        return Grammar.from_regex(constraint["pattern"])
    if constraint["kind"] == "gbnf":
        return Grammar.from_gbnf(constraint["grammar"])
    assert constraint["kind"] == "json_schema"
    style = "any"
    if options.pop("whitespace", None) == "none":
        style = JSONStyle(whitespace="compact", escapes="any")
    assert not options
    return Grammar.from_json_schema(constraint["schema"], style=style)


def vocabulary_of(entries, eos_ids):
    texts, specials = [], {}
    for i, entry in enumerate(entries):
        if "special" in entry:
            specials[entry["special"]] = i
            texts.append(None)
        else:
            texts.append(bytes.fromhex(entry["hex"]) if "hex" in entry else entry["t"].encode())
    return Vocabulary(texts, eos_ids, specials)


@pytest.mark.parametrize("case", reports("regex"))
def test_regexes(case):
    pattern = case["input"]["pattern"]
    try:
        grammar = Grammar.from_regex(pattern)
    except (constrain.UnsupportedFeatureError, constrain.LimitExceededError):
        assert not case["accept"], "a pattern with known verdicts was refused"
        return
    for text in case["accept"]:
        assert grammar.accepts(text.encode()), text
    for text in case["reject"]:
        assert not grammar.accepts(text.encode()), text


@pytest.mark.parametrize("case", reports("mask"))
def test_masks(case):
    grammar = grammar_of(case["input"]["constraint"])
    vocab = vocabulary_of(case["input"]["vocab"], case["input"]["eos_ids"])
    if "expect_data" not in case:  # the vocabulary cannot spell the constraint
        with pytest.raises(constrain.VocabularyError, match="' '"):
            constrain.compile(grammar, vocab)
        return
    compiled = constrain.CompiledGrammar(grammar, vocab, constrain.Limits())
    bitmask = constrain.allocate_token_bitmask(1, vocab.vocab_size)
    for step in case["expect_data"]["steps"]:
        matcher = compiled.matcher()
        assert all(matcher.accept_token(i) for i in step["prefix_ids"]), step
        matcher.fill_next_token_bitmask(bitmask)
        assert allowed_ids(bitmask, 0, vocab.vocab_size) == set(step["allowed_ids"]), step


@pytest.mark.parametrize("case", reports("matcher-ops"))
def test_drafts_are_validated_without_moving(case):
    texts = case["input"]["vocab"]
    vocab = Vocabulary([*map(str.encode, texts), None], [len(texts)])
    matcher = constrain.compile(grammar_of(case["input"]["constraint"]), vocab).matcher()
    consume, draft = case["input"]["ops"]
    assert matcher.accept_token(texts.index(consume.split()[1]))
    ids = [texts.index(t) for t in draft.split("[")[1].rstrip("]").split(",")]
    accepted = matcher.validate_tokens(ids)
    assert accepted == case["expect_data"]["accepted"]
    for i in ids[:accepted]:
        assert matcher.accept_token(i)
    bitmask = constrain.allocate_token_bitmask(1, vocab.vocab_size)
    matcher.fill_next_token_bitmask(bitmask)
    allowed = [texts[i] for i in allowed_ids(bitmask, 0, vocab.vocab_size)]
    assert allowed == case["expect_data"]["mask"]


@pytest.mark.parametrize("case", reports("draft-tree"))
def test_each_node_of_a_draft_tree_is_judged_from_its_parent(case):
    texts = case["input"]["vocab"]
    vocab = Vocabulary([*map(str.encode, texts), None], [len(texts)])
    root = constrain.compile(grammar_of(case["input"]["constraint"]), vocab).matcher()
    nodes, valid = [], []
    for text, parent in case["input"]["tree"]:
        matcher = (root if parent < 0 else nodes[parent]).fork()
        valid.append(matcher.accept_token(texts.index(text)))
        nodes.append(matcher)
    assert valid == case["expect_data"]["valid"]
    assert root.num_steps == 0


@pytest.mark.parametrize("case", reports("compile-pair"))
def test_schemas_that_differ_in_order_only_keep_their_order(case):
    a = Grammar.from_json_schema(case["input"]["a"])
    b = Grammar.from_json_schema(case["input"]["b"])
    assert a.accepts(b'{"x": 1, "y": 2}')
    assert not a.accepts(b'{"y": 2, "x": 1}')
    assert b.accepts(b'{"y": 2, "x": 1}')
