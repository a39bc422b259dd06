"""Real patterns, other engines' cases, and public bug reports."""

from __future__ import annotations

import gzip
import json
import random
import re
import time
import warnings
from typing import Any

import pytest

from constrain import Grammar
from constrain.algebra.store import DEAD, TermStore
from constrain.errors import RegexSyntaxError
from constrain.frontends.regex import from_regex, lower, parse, search
from tests.conftest import SHARED, requires_shared
from tests.frontends.regex.languages import Language

pytestmark = requires_shared

PATTERNS = SHARED / "data" / "regex" / "json-schema-patterns.jsonl.gz"
CASES = SHARED / "data" / "grammars" / "cases"
REPORTS = SHARED / "cases" / "public-reports.jsonl"


def lines(path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def matches(language: Language, text: str) -> bool:
    state = language.store.advance(language.root, text.encode())
    return state != DEAD and language.store.nullable(state)


def test_every_real_pattern_is_read_and_lowered():
    patterns = [case["pattern"] for case in lines(PATTERNS)]
    assert len(patterns) > 2_000
    for pattern in patterns:
        node = parse(pattern, "ecma")
        lower(search(node))
        lower(node)


def walk(store: TermStore, state: int, rng: random.Random, longest: int) -> list[str]:
    """A random text of printable ASCII that stays in a language, and its last prefix in it."""
    text = b""
    complete = None
    for _ in range(longest):
        if state == DEAD:
            break
        if store.nullable(state):
            complete = text
        choices = [b for b in store.next_bytes(state) if 32 <= b < 127]
        if not choices:
            break
        text += bytes([rng.choice(choices)])
        state = store.advance(state, text[-1:])
    return [t.decode() for t in (text, complete) if t is not None]


def mutations(text: str, rng: random.Random) -> list[str]:
    at = rng.randrange(len(text)) if text else 0
    letter = rng.choice("aA0-_. /$~")
    return [text[:at] + text[at + 1 :], text[:at] + letter + text[at + 1 :], text + letter]


def test_real_patterns_find_what_re_finds():
    # With ASCII classes and printable ASCII texts `re` and ECMA-262 agree. Texts are short: some of
    # these patterns take `re` exponential time.
    rng = random.Random(5)
    verdicts = {True: 0, False: 0}
    for case in lines(PATTERNS):
        pattern = case["pattern"]
        if not case["python_re_compiles"] or rng.random() < 0.5:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # possible nested sets
            expected = re.compile(pattern, re.ASCII)
        anywhere = Language(lower(search(parse(pattern, "ecma"))))
        whole = Language(lower(parse(pattern, "ecma")))
        texts = {""}
        for language in (anywhere, anywhere, whole, whole):
            for text in walk(language.store, language.root, rng, 14):
                texts.update([text, *mutations(text, rng)])
        for text in sorted(texts, key=lambda t: (len(t), t))[:20]:
            found = expected.search(text) is not None
            assert matches(anywhere, text) == found, (pattern, text)
            verdicts[found] += 1
    assert min(verdicts.values()) > 5_000


def test_cases_of_the_rust_engine_in_the_dialect_of_python():
    compared = 0
    for case in lines(CASES / "rust-regex.jsonl.gz"):
        pattern, text = case["grammar"], case.get("haystack", "")
        if not isinstance(text, str):
            continue  # ill-formed text, for patterns over bytes
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # possible nested sets
                expected = re.compile(pattern)
        except (re.error, OverflowError):
            with pytest.raises(RegexSyntaxError):
                parse(pattern)
            continue
        verdict = matches(Language(from_regex(pattern)), text)
        assert verdict == (expected.fullmatch(text) is not None), case["id"]
        compared += 1
    assert compared > 600


DIALECTS = ("python", "ecma", "rust")
# What xgrammar refuses, and the dialects that have it.
NOT_REFUSED = {
    "a++": ("python", "rust"),  # possessive; a repeat of a repeat
    "a{,3}": ("python", "ecma"),  # a{0,3}; the text itself, as Annex B has it
    "(?=a)": ("python", "ecma"),
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_cases_of_outlines_and_xgrammar(dialect):
    cases = lines(CASES / "outlines-core.jsonl.gz")
    cases += [c for c in lines(CASES / "xgrammar.jsonl.gz") if c["kind"] == "regex"]
    verdicts = refused = 0
    for case in cases:
        pattern = case.get("outlines_regex", case["grammar"])
        if "compile_error" in case and dialect not in NOT_REFUSED.get(pattern, ()):
            with pytest.raises(RegexSyntaxError):
                parse(pattern, dialect)
            refused += 1
            continue
        language = Language(from_regex(pattern, dialect))
        for text in case.get("accept", []):
            assert matches(language, text), (case["id"], text)
        for text in case.get("reject", []):
            assert not matches(language, text), (case["id"], text)
        verdicts += len(case.get("accept", [])) + len(case.get("reject", []))
    assert verdicts > 250
    assert refused == 5 - sum([dialect in d for d in NOT_REFUSED.values()])


def all_reports() -> list[dict[str, Any]]:
    if not REPORTS.is_file():
        return []
    return [json.loads(line) for line in REPORTS.read_text(encoding="utf-8").splitlines()]


def reports() -> list[dict[str, Any]]:
    return [report for report in all_reports() if report["input"]["kind"] == "regex"]


# Constructs that a dialect refuses, as the report asks.
REFUSED_REPORTS = {("llama-cpp-25308", "ecma"), ("llama-cpp-25308", "rust")}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("report", reports(), ids=lambda r: r["id"])
def test_public_reports(report, dialect):
    pattern = report["input"]["pattern"]
    began = time.process_time()
    if (report["id"], dialect) in REFUSED_REPORTS:
        with pytest.raises(RegexSyntaxError, match=r"nothing to repeat|lookaround"):
            parse(pattern, dialect)
        return
    language = Language(from_regex(pattern, dialect))
    for text in report["accept"]:
        assert matches(language, text), text
    for text in report["reject"]:
        assert not matches(language, text), text
    assert time.process_time() - began < 5


def test_public_reports_of_patterns_in_schemas():
    areas = ("schema-pattern", "unicode")
    checked = 0
    for report in all_reports():
        if report["input"]["kind"] != "json_schema" or report["area"] not in areas:
            continue
        grammar = Grammar.from_json_schema(report["input"]["schema"], style="any")
        for text in report["accept"]:
            assert grammar.accepts(text.encode()), (report["id"], text)
        for text in report["reject"]:
            assert not grammar.accepts(text.encode()), (report["id"], text)
        checked += len(report["accept"]) + len(report["reject"])
    assert checked > 20
