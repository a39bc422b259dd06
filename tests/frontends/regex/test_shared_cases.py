"""Real patterns, other engines' cases, and public bug reports."""

from __future__ import annotations

import gzip
import json
import random
import re
import warnings
from typing import Any

import pytest

from constrain.algebra.store import DEAD, TermStore
from constrain.errors import RegexSyntaxError
from constrain.frontends.regex import from_regex, lower, parse, search
from tests.conftest import SHARED, requires_shared
from tests.frontends.regex.languages import Language

pytestmark = requires_shared

PATTERNS = SHARED / "data" / "regex" / "json-schema-patterns.jsonl.gz"
CASES = SHARED / "data" / "grammars" / "cases" / "rust-regex.jsonl.gz"
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


def test_cases_of_the_rust_engine():
    compared = agreed = 0
    for case in lines(CASES):
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
        # Rust's [[:alnum:]] is a class of letters to `re`.
        if case["full_match"] is not None and not case.get("options") and "[[:" not in pattern:
            assert verdict == case["full_match"], case["id"]
            agreed += 1
    assert compared > 600
    assert agreed > 150


def reports() -> list[dict[str, Any]]:
    if not REPORTS.is_file():
        return []
    found = [json.loads(line) for line in REPORTS.read_text(encoding="utf-8").splitlines()]
    return [report for report in found if report["input"]["kind"] == "regex"]


@pytest.mark.parametrize("report", reports(), ids=lambda r: r["id"])
def test_public_reports(report):
    pattern = report["input"]["pattern"]
    language = Language(from_regex(pattern))
    for text in report["accept"]:
        assert matches(language, text), text
    for text in report["reject"]:
        assert not matches(language, text), text
