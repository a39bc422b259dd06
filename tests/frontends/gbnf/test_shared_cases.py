"""Recorded verdicts of llama.cpp and xgrammar, public bug reports, and real grammar files."""

from __future__ import annotations

import gzip
import json
import random

import pytest

from constrain import (
    ConstrainError,
    Grammar,
    GrammarSyntaxError,
    LimitExceededError,
    UnsatisfiableError,
    UnsupportedFeatureError,
)
from constrain.algebra.store import TermStore
from constrain.frontends.gbnf import from_gbnf
from tests.conftest import SHARED, requires_shared

CASES = SHARED / "data" / "grammars" / "cases"
FILES = SHARED / "data" / "grammars" / "files"
REPORTS = SHARED / "cases" / "public-reports.jsonl"

# Where the recorded verdict is another than ours, with what we do instead and why.
STACKED = (None, "llama.cpp allows one quantifier after another, and its syntax is read whole")
CAPTURES = (UnsupportedFeatureError, "a matcher keeps no captures, so asking for one is refused")
DEPARTURES = {
    "xgrammar/xgr_ebnf/152f959fc95f": STACKED,
    "xgrammar/xgr_ebnf/3f8c886f51c7": STACKED,
    "xgrammar/xgr_ebnf/446cf91aa8bd": STACKED,
    "xgrammar/xgr_ebnf/067cf878f036": CAPTURES,
    "xgrammar/xgr_ebnf/5771eeb875b2": CAPTURES,
    "xgrammar/xgr_ebnf/6b944b884380": CAPTURES,
    "xgrammar/xgr_ebnf/7c2bde691a73": CAPTURES,
    "xgrammar/xgr_ebnf/8098c791c2dd": CAPTURES,
    "xgrammar/xgr_ebnf/d30814e736ff": CAPTURES,
    "xgrammar/xgr_ebnf/d725b8d36685": CAPTURES,
    "xgrammar/xgr_ebnf/152522c0dcf6": (
        UnsupportedFeatureError,
        "max_chars is best effort there: past it a rule goes on until it can end",
    ),
    "xgrammar/xgr_ebnf/fa01371f9b9c": (
        UnsatisfiableError,
        "a(?=b)c matches nothing; xgrammar leaves lookahead out",
    ),
}


def recorded(name, kind):
    path = CASES / f"{name}.jsonl.gz"
    if not path.is_file():
        return [pytest.param(None, marks=requires_shared)]
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    found = [case for case in cases if case["kind"] == kind]
    assert found, kind
    return [pytest.param(case, id=case["id"]) for case in found]


@pytest.mark.parametrize("case", recorded("llama.cpp", "gbnf") + recorded("xgrammar", "xgr_ebnf"))
def test_recorded_verdicts(case):
    assert not case.get("options")
    error, _ = DEPARTURES.get(case["id"], (None, None))
    if case["id"] not in DEPARTURES and case.get("compile_error"):
        error = ConstrainError
    if error is not None:
        with pytest.raises(error):
            Grammar.from_gbnf(case["grammar"])
        return
    grammar = Grammar.from_gbnf(case["grammar"])
    for text in case.get("accept", ()):
        assert grammar.accepts(text.encode()), text
    for text in case.get("reject", ()):
        assert not grammar.accepts(text.encode()), text


@requires_shared
def test_every_departure_is_one_of_the_cases():
    known = {p.values[0]["id"] for p in recorded("xgrammar", "xgr_ebnf")}
    assert DEPARTURES.keys() <= known


@pytest.mark.parametrize("case", recorded("llama.cpp", "schema_to_gbnf_pair"))
def test_grammars_that_llama_cpp_makes_of_schemas_are_read(case):
    if case.get("expected_status") == "SUCCESS" and case["expected_gbnf"].strip():
        assert not Grammar.from_gbnf(case["expected_gbnf"]).is_empty()


GENERATED = {
    "llama-cpp-26600": ("root ::= " + "(" * 60_000 + '"a"' + ")" * 60_000, LimitExceededError),
    "llama-cpp-19086": ("root ::= " + '("a" ' * 5_000 + ")?" * 5_000, LimitExceededError),
}
REFUSED = {"llama-cpp-4492": GrammarSyntaxError, "llama-cpp-3081": GrammarSyntaxError}


def reports():
    if not REPORTS.is_file():
        return [pytest.param(None, marks=requires_shared)]
    cases = [json.loads(line) for line in REPORTS.read_text(encoding="utf-8").splitlines()]
    return [pytest.param(c, id=c["id"]) for c in cases if c["input"]["kind"] == "gbnf"]


@pytest.mark.parametrize("case", reports())
def test_public_reports(case):
    text, error = GENERATED.get(case["id"], (case["input"].get("grammar"), None))
    error = error or REFUSED.get(case["id"])
    if error is not None:
        with pytest.raises(error):
            Grammar.from_gbnf(text)
        return
    assert case["accept"]
    grammar = Grammar.from_gbnf(text)
    for accepted in case["accept"]:
        assert grammar.accepts(accepted.encode()), accepted
    for rejected in case["reject"]:
        assert not grammar.accepts(rejected.encode()), rejected


def grammar_files():
    if not FILES.is_dir():
        return [pytest.param(None, marks=requires_shared)]
    found = sorted([*FILES.rglob("*.gbnf"), *FILES.rglob("*.ebnf")])
    assert found
    return [pytest.param(path, id=str(path.relative_to(FILES))) for path in found]


def drawn(store, start, rng, num_bytes):
    """A text: so many bytes at random, then the shortest way to an end; None if that is far."""
    state, text = start, bytearray()
    for _ in range(num_bytes):
        following = store.next_bytes(state)
        if not following:
            break
        text.append(rng.choice(following))
        state = store.advance(state, text[-1:])
    seen, level = {state}, [(state, b"")]
    while len(seen) < 3000:
        for state, more in level:
            if store.nullable(state):
                return bytes(text) + more
        longer = []
        for state, more in level:
            for byte in store.next_bytes(state):
                after = store.advance(state, bytes((byte,)))
                if after not in seen:
                    seen.add(after)
                    longer.append((after, more + bytes((byte,))))
        level = longer
    return None


@pytest.mark.parametrize("path", grammar_files())
def test_real_files_are_read_and_what_is_drawn_from_them_is_text(path):
    term = from_gbnf(path.read_text(encoding="utf-8"))
    store = TermStore()
    start = store.intern(term)
    rng = random.Random(path.name)
    texts = [drawn(store, start, rng, rng.randrange(0, 60)) for _ in range(12)]
    found = [data for data in texts if data is not None]
    assert len(found) >= 6
    for data in found:
        text = data.decode()
        assert Grammar(term, path.name).accepts(data)
        if path.name.startswith("json"):
            json.loads(text, strict=False)
