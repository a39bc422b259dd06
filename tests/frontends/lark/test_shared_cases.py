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
from tests.frontends.lark.agreement import MODES, assert_agrees, near_misses

pytestmark = requires_shared
CASES = SHARED / "data" / "grammars" / "cases"
SYNCODE = SHARED / "data/grammars/files/syncode/syncode/parsers/grammars"


def read(name):
    path = CASES / f"{name}.jsonl.gz"
    return [json.loads(line) for line in gzip.open(path)] if path.exists() else []


NOT_OURS = {
    "regex": "the module `regex` in the place of `re`",
    "priority": "lark's option priority='invert'",
    "g_regex_flags": "flags for all terminals",
}
"""Options of lark that `from_lark` does not have."""
SLOW_IN_LARK = ("~8191", '!a.1: "A" |')
"""Parts of grammars for which lark takes seconds to read, or forever to parse."""
LARKS_OWN = SHARED / "data/grammars/files/lark/tests"


@pytest.mark.parametrize("mode", MODES, ids="/".join)
def test_what_the_tests_of_lark_parse(mode):
    parser, lexer = mode
    judged = accepted = refused = 0
    for case in read("lark"):
        options = case.get("options", {})
        grammar = case["grammar"]
        if case["kind"] != "lark_std" or set(NOT_OURS) & set(options):
            continue
        if any(part in grammar for part in SLOW_IN_LARK):
            continue
        start = options.get("start", "start")
        start = options.get("parse_start", start[0]) if isinstance(start, list) else start
        texts = [t for t in (*case.get("accept", []), *case.get("reject", [])) if len(t) < 200]
        given = {"parser": parser, "lexer": lexer, "start": start, "import_paths": [LARKS_OWN]}
        try:
            lark.Lark(grammar, **given)
        except Exception:
            with pytest.raises(GrammarError):
                Grammar.from_lark(grammar, **given)
            continue
        try:
            Grammar.from_lark(grammar, **given)
        except UnsatisfiableError:
            if "%declare" in grammar:
                continue  # without a postlex: lark fails with a KeyError
        except UnsupportedFeatureError as e:
            assert "dynamic_complete" in e.reason  # noqa: PT017 - lookaround
            refused += 1
            continue
        texts += near_misses(texts, 2)
        del given["parser"], given["lexer"]
        accepted += assert_agrees(grammar, parser, lexer, texts, **given)
        judged += len(texts)
    assert judged > 200
    assert accepted > 100
    assert refused <= 3


@pytest.mark.parametrize("language", ["go", "java"])
def test_programs(language):
    grammar = Grammar.from_lark((SYNCODE / f"{language}_grammar.lark").read_text())
    for case in read(f"programs-{language}")[::15]:
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
