"""Spelled code points, prefix trees and sets of strings."""

from __future__ import annotations

import ipaddress
import itertools
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrain.algebra.codepoints import CodepointSet
from constrain.algebra.store import DEAD, StateId, TermStore
from constrain.algebra.terms import (
    EPS,
    Rule,
    Term,
    alt,
    byte_class,
    cat,
    complement,
    intersect,
    literal,
)
from constrain.algebra.tries import trie
from constrain.algebra.utf8 import UTF8
from constrain.frontends.json_schema import string
from constrain.frontends.json_schema.formats import FORMATS, format_language
from constrain.frontends.json_schema.patterns import pattern_language
from constrain.frontends.json_schema.string import StringSets, StringShape, shape_term
from constrain.frontends.json_schema.text import alphabet
from constrain.limits import DEFAULT_LIMITS
from tests.algebra.strategies import boolean_terms


def accepts(term: Term, *texts: bytes) -> list[bool]:
    store = TermStore()
    start = store.intern(term)
    states = [store.advance(start, text) for text in texts]
    return [state != DEAD and store.nullable(state) for state in states]


@pytest.mark.parametrize("escapes", ["minimal", "any"])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_spellings_of_code_points(escapes: str, ascii_only: bool) -> None:
    rng = random.Random(f"{escapes}{ascii_only}")
    letters = alphabet(escapes, ascii_only)
    for _ in range(12):
        starts = [rng.choice([rng.randrange(0x110000), rng.randrange(300)]) for _ in range(4)]
        ranges = [(a, min(0x10FFFF, a + rng.choice([0, 1, 30, 5000]))) for a in starts]
        points = CodepointSet.from_ranges(ranges)
        near = [p + d for lo, hi in points.ranges for p in (lo, hi) for d in (-1, 0, 1)]
        near += [*range(0x80), *[rng.randrange(0x110000) for _ in range(30)]]
        store = TermStore()
        start = store.intern(letters.spell(points))
        for p in near:
            if not 0 <= p <= 0x10FFFF or 0xD800 <= p <= 0xDFFF:
                continue
            raw, short = chr(p).encode(), json.dumps(chr(p))[1:-1].encode()
            long = b"\\u%04x" % p if p <= 0xFFFF else short
            candidates = {raw, short, long, long.upper().replace(b"\\U", b"\\u")}
            candidates |= {b"\\/"} if p == 0x2F else set()
            must_escape = p < 0x20 or p in (0x22, 0x5C) or (ascii_only and p > 0x7F)
            expected = set() if must_escape else {raw}
            if escapes == "any":
                expected |= candidates - {raw}
            elif must_escape:
                expected = {short}
            states = {text: store.advance(start, text) for text in candidates}
            got = {text for text, s in states.items() if s != DEAD and store.nullable(s)}
            assert got == (expected if points.contains(p) else set()), (hex(p), got)


def test_tries() -> None:
    words = ["", "a", "ab", "abc", "b", "bcd", "café", "cafés"]
    term = trie([(w.encode(), EPS) for w in words])
    letters = ["".join(w) for n in range(4) for w in itertools.product("abcd", repeat=n)]
    assert accepts(term, *[w.encode() for w in letters]) == [w in words for w in letters]
    assert accepts(term, "café".encode(), b"caf") == [True, False]


def test_all_but_some_strings() -> None:
    out = ["", "a", "abc", "b/", "日本"]
    for letters in (alphabet("minimal", False), alphabet("any", False)):
        term = shape_term(StringShape(out=frozenset(out)), letters)
        tried = ["".join(w) for n in range(4) for w in itertools.product("abc/日本", repeat=n)]
        assert accepts(term, *[t.encode() for t in tried]) == [t not in out for t in tried]
    term = shape_term(StringShape(out=frozenset(out)), alphabet("any", False))
    assert accepts(term, rb"\u0061", rb"\u0061\u0061", rb"b\/") == [False, True, False]


def test_listed_strings_are_the_prefix_tree_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(6)
    alphabets = [UTF8, *[alphabet(e, a) for e in ("minimal", "any") for a in (False, True)]]
    for _ in range(60):
        length = rng.randint(0, 6)
        words = [rng.choices('ab"\\\n/é😀', k=rng.randint(0, length)) for _ in range(5)]
        listed = StringShape(only=frozenset(map("".join, words)))
        letters = rng.choice(alphabets)
        short = shape_term(listed, letters)
        with monkeypatch.context() as patch:
            patch.setattr(string, "_MANY", 0)
            tree = shape_term(listed, letters)
        store = TermStore()
        for a, b in ((short, tree), (tree, short)):
            assert store.is_empty(store.intern(intersect((a, complement(b))))), listed


def test_algebra_by_enumeration() -> None:
    rng = random.Random(4)
    sets = StringSets(DEFAULT_LIMITS)
    languages = [
        pattern_language(p, DEFAULT_LIMITS) for p in ("^a", "b$", "^(ab)*$", "a.b", "^[^a]*$")
    ]
    tried = ["".join(w) for n in range(5) for w in itertools.product("abé", repeat=n)]

    def shape() -> StringShape:
        if rng.random() < 0.3:
            return StringShape(only=frozenset(rng.sample(tried[:20], 3)))
        return StringShape(
            None,
            rng.randint(0, 2),
            rng.choice([None, 2, 3]),
            frozenset(rng.sample(languages, rng.randint(0, 2))),
            frozenset(rng.sample(languages, rng.randint(0, 1))),
            frozenset(rng.sample(tried[:20], rng.randint(0, 2))),
        )

    for _ in range(60):
        a, b = shape(), shape()
        both, outside, either = sets.intersect(a, b), sets.complement(a), sets.union([a, b])
        joined = sets.collapse((a, b))
        for text in tried:
            in_a, in_b = sets.contains(a, text), sets.contains(b, text)
            assert sets.contains(both, text) == (in_a and in_b)
            assert any(sets.contains(s, text) for s in outside) != in_a
            assert any(sets.contains(s, text) for s in either) == (in_a or in_b)
            assert any(sets.contains(s, text) for s in joined) == (in_a or in_b)
        spelled = accepts(shape_term(both, alphabet("any", False)), *[t.encode() for t in tried])
        assert spelled == [sets.contains(both, text) for text in tried]
        if sets.is_empty(both):
            assert not any(spelled)
        count = sets.count(both, 5)
        assert (count == 0) == sets.is_empty(both)
        assert count >= min(5, sum(spelled))


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_no_format_is_empty_and_all_spell_alike(name: str) -> None:
    language = format_language(name)
    assert language is not None
    store = TermStore()
    for letters in (alphabet("minimal", False), alphabet("any", False)):
        assert not store.is_empty(store.intern(language.term(letters)))


FORMAT_CASES = {
    "date": (
        ["2024-02-29", "2000-02-29", "1999-12-31"],
        ["2023-02-29", "1900-02-29", "2022-13-01", "1-1-1"],
    ),
    "time": (
        ["23:59:60Z", "15:59:60-08:00", "01:29:60+01:30", "08:30:06.28z", "00:00:00+23:59"],
        ["23:58:60Z", "23:59:60+01:00", "24:00:00Z", "12:00:00", "08:30:06+24:00"],
    ),
    "date-time": (
        ["1998-12-31T23:59:60Z", "2020-02-29t00:00:00.1+05:30"],
        [
            "1998-12-31T23:58:60Z",
            "1998-12-31 23:59:00Z",
            "2021-02-29T00:00:00Z",
            "2020-01-01T00:00:00",
        ],
    ),
    "duration": (["P1Y2M3DT4H5M6S", "P2W", "PT0S"], ["P", "PT", "P1Y2W", "P2S", "P1Y2D"]),
    "uuid": (["2EB8AA08-aa98-11ea-b4aa-73b441d16380"], ["2eb8aa08aa9811eab4aa73b441d16380"]),
    "ipv4": (["0.0.0.0", "255.1.20.255"], ["256.1.1.1", "01.1.1.1", "1.1.1"]),
    "ipv6": (
        ["::", "::1", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "1::8"],
        ["1::2::3", ":::", "12345::", "1:2"],
    ),
    "email": (["a.b@example.com", '"a b"@x', "a@[127.0.0.1]"], ["a@", "@b", ".a@b.c", "a b@c.d"]),
    "hostname": (
        ["example.com", "a--b.c", "1host"],
        ["-a", "a-", "a_b", "a." * 130, "ab--cd", "a" * 64],
    ),
    "uri": (
        ["http://a.b/?c#d", "urn:x:y", "mailto:a@b"],
        ["//a.b", "abc", "http://a b", "http://[::1"],
    ),
    "uri-reference": (["//a", "", "a/b?c", "#f"], ["a b", "1:b", "/%zz", "\\a"]),
    "json-pointer": (["", "/a/~0~1", "/"], ["a", "/~", "/~2"]),
    "relative-json-pointer": (["0#", "1/a", "12"], ["/a", "01", "-1", "0##"]),
    "uri-template": (["a/{b,c*}{?d:3}", ""], ["{", "{}", "a}b", "{a:0}"]),
    "regex": ([r"^[a-z]+\d{2,4}(?:x|y)*$", ""], ["(", "[z-a]", "a**", "\\"]),
    "iri": (["http://é.ß/ü"], ["/é", "http://a b"]),
    "idn-hostname": (["실례.테스트", "a.b"], ["〮실례", "a..b", "-a"]),
    "idn-email": (["δοκιμή@example.com"], ["2962", "é@"]),
}


@given(boolean_terms, st.integers(1, 40))
def test_a_count_at_sight_is_no_more_than_there_are(term: Term, most: int) -> None:
    store = TermStore()
    level, found = {store.intern(term): 1}, 0
    while level and found < most:
        found += sum([n for state, n in level.items() if store.nullable(state)])
        after: dict[StateId, int] = {}
        for state, n in level.items():
            for target, num_bytes in store.successors(state).items():
                after[target] = min(after.get(target, 0) + n * num_bytes, most)
        level = after
    assert string.least_count(term, most) <= min(found, most)


@pytest.mark.parametrize(
    ("pattern", "at_sight"),
    [("^a$", 1), ("^[a-c]$", 3), ("^(a|b|ab)$", 1), ("^x[0-9]{1,4}$", 10), ("x", 99)],
)
def test_a_count_at_sight(pattern: str, at_sight: int) -> None:
    language = pattern_language(pattern, DEFAULT_LIMITS)
    assert string.least_count(language.term(UTF8), 99) == at_sight


def test_a_count_at_sight_of_what_leads_back_to_itself() -> None:
    """`r = [ab] r | c`, as patterns with lookaround may become."""
    rule = Rule("r", lambda: alt((cat(byte_class(b"ab"), rule), literal(b"c"))), regular=True)
    assert string.least_count(cat(rule, byte_class(b"xyz")), 99) == 3
    assert string.least_count(rule, 99) == 1


def test_what_a_count_at_sight_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same answers, whether it is there or states are counted."""
    texts = ["", "a", "b", "aa", "ab", "abc", "x1"]
    shapes = [
        StringShape(yes=frozenset((pattern_language(p, DEFAULT_LIMITS),)), out=frozenset(out))
        for p in ("^a$", "^[ab]$", "^a|b$", "^[a-c]{0,2}$", "x", "^$", "^(a|b|ab)$")
        for n in range(4)
        for out in itertools.combinations(texts, n)
    ]

    def answers() -> list[object]:
        sets = StringSets(DEFAULT_LIMITS)
        return [(sets.is_empty(s), [sets.count(s, n) for n in (1, 2, 5)]) for s in shapes]

    found = answers()
    monkeypatch.setattr(string.Language, "plainly_has", lambda self, wanted: False)
    assert answers() == found


@pytest.mark.parametrize("name", sorted(FORMAT_CASES))
def test_formats(name: str) -> None:
    language = format_language(name)
    assert language is not None
    sets = StringSets(DEFAULT_LIMITS)
    good, bad = FORMAT_CASES[name]
    assert [t for t in good if not sets.matches(language, t)] == []
    assert [t for t in bad if sets.matches(language, t)] == []


def test_every_number_of_groups_of_an_ipv6_address() -> None:
    """As `ipaddress` says: a double colon stands for one group of zeros or more, never for none."""
    language = format_language("ipv6")
    assert language is not None
    sets = StringSets(DEFAULT_LIMITS)
    for before, after, ipv4 in itertools.product(range(10), range(-1, 10), (False, True)):
        head = ":".join("1" * before)
        tail = [*("2" * max(after, 0)), *(["1.2.3.4"] if ipv4 else [])]
        text = ":".join([*"1" * before, *tail]) if after < 0 else f"{head}::{':'.join(tail)}"
        try:
            ipaddress.IPv6Address(text)
            valid = True
        except ValueError:
            valid = False
        assert sets.matches(language, text) == valid, text
