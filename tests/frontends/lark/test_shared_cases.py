"""What lark's own tests parse, and programs in Go and Java: the same verdicts."""

from __future__ import annotations

import gzip
import json

import lark
import pytest

from constrain import (
    Grammar,
    GrammarError,
    GrammarSyntaxError,
    UnsatisfiableError,
    UnsupportedFeatureError,
)
from tests.conftest import SHARED, requires_shared
from tests.frontends.lark.agreement import assert_agrees, near_misses

pytestmark = requires_shared
CASES = SHARED / "data" / "grammars" / "cases"
SYNCODE = SHARED / "data/grammars/files/syncode/syncode/parsers/grammars"


def read(name):
    path = CASES / f"{name}.jsonl.gz"
    return [json.loads(line) for line in gzip.open(path)] if path.exists() else []


@pytest.mark.parametrize("mode", [("lalr", "contextual"), ("earley", "dynamic")], ids="/".join)
def test_what_the_tests_of_lark_parse(mode):
    parser, lexer = mode
    judged = accepted = 0
    for case in read("lark"):
        options = case.get("options", {})
        if case["kind"] != "lark_std" or {"needs_import_paths", "regex"} & set(options):
            continue
        if len(case["grammar"]) > 1500 or "~8191" in case["grammar"]:
            continue  # lark takes seconds for these
        if "%declare" in case["grammar"]:
            continue  # without a postlex: lark fails with a KeyError
        start = options.get("start", "start")
        start = options.get("parse_start", start[0]) if isinstance(start, list) else start
        texts = [t for t in (*case.get("accept", []), *case.get("reject", [])) if len(t) < 200]
        try:
            lark.Lark(case["grammar"], parser=parser, lexer=lexer, start=start)
        except Exception:
            with pytest.raises(GrammarError):
                Grammar.from_lark(case["grammar"], parser=parser, lexer=lexer, start=start)
            continue
        try:
            Grammar.from_lark(case["grammar"], parser=parser, lexer=lexer, start=start)
        except UnsupportedFeatureError as e:
            assert "reduces forever" in e.reason  # noqa: PT017 - and so does lark
            continue
        except UnsatisfiableError:
            pass  # judged below
        texts += near_misses(texts, 2)
        accepted += assert_agrees(case["grammar"], parser, lexer, texts, start=start)
        judged += len(texts)
    assert judged > 200
    assert accepted > 100


@pytest.mark.parametrize("language", ["go", "java"])
def test_programs(language):
    grammar = Grammar.from_lark((SYNCODE / f"{language}_grammar.lark").read_text())
    for case in read(f"programs-{language}")[:25]:
        assert grammar.accepts(case["text"].encode()) == case["accept"], case["id"]


def test_public_reports():
    path = SHARED / "cases" / "public-reports.jsonl"
    judged = 0
    for line in path.read_text().splitlines():
        case = json.loads(line)
        if case["input"].get("kind") != "lark":
            continue
        text = case["input"].get("grammar")
        if not case.get("accept"):
            with pytest.raises(GrammarSyntaxError):
                Grammar.from_lark(text)
            continue
        grammar = Grammar.from_lark(text, parser="earley", lexer="dynamic_complete")
        for sentence in case.get("accept") or ():
            assert grammar.accepts(sentence.encode()), (case["id"], sentence)
        for sentence in case.get("reject") or ():
            assert not grammar.accepts(sentence.encode()), (case["id"], sentence)
        judged += 1
    assert judged
