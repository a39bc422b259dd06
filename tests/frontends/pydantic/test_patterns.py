"""Patterns: on ASCII what pydantic matches, beyond it never more."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from constrain.errors import UnsatisfiableError, UnsupportedFeatureError
from constrain.frontends.pydantic.patterns import to_ecma
from tests.frontends.pydantic.cases import PATTERNS, PYTHON_PATTERNS, text
from tests.frontends.pydantic.drawing import TypeTexts

ALL = PATTERNS | PYTHON_PATTERNS
ASCII = st.text(st.sampled_from("abcdfkosxyABKX019 _-.@/[]$^*{}\n\t"), max_size=9)
ANYTHING = st.text(
    st.sampled_from("ab1 ٣éÉſK\u0130\u00a0\u0085\u2028\u200d\ufeff\x1c\U0001f600\u0378\n")
    | st.characters(exclude_categories=["Cs"]),
    max_size=4,
)
KEPT: dict[str, TypeTexts] = {}


def texts_of(name: str) -> TypeTexts:
    if name not in KEPT:
        KEPT[name] = TypeTexts(ALL[name], style="any")
    return KEPT[name]


@pytest.mark.parametrize("name", list(ALL))
@given(value=ASCII)
def test_is_exact_on_ascii(name: str, value: str) -> None:
    texts = texts_of(name)
    quoted = json.dumps(value)
    assert texts.accepts(quoted) == texts.validates(quoted)


@pytest.mark.parametrize("name", list(ALL))
@given(value=ANYTHING)
def test_never_matches_more(name: str, value: str) -> None:
    texts = texts_of(name)
    quoted = json.dumps(value)
    assert texts.validates(quoted) or not texts.accepts(quoted)


# Patterns made of parts

PARTS = st.sampled_from(
    [
        "a",
        "b",
        "B",
        ".",
        r"\d",
        r"\D",
        r"\w",
        r"\W",
        r"\s",
        r"\S",
        r"\b",
        "^",
        "$",
        "[ab]",
        "[^a]",
        r"[\w-]",
        r"[^\s\d]",
        r"[\S]",
        "(?i:a)",
        "(?i:[a-b])",
        "(?s:.)",
        "(?m:^)",
        "(?m:$)",
        r"\n",
        "k",
    ]
)


def _joined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.tuples(inner, inner).map("(?:{0[0]}|{0[1]})".format),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{2,}"])).map(
            "(?:{0[0]}){0[1]}".format
        ),
    )


@given(
    pattern=st.recursive(PARTS, _joined, max_leaves=5),
    values=st.lists(st.text(st.sampled_from("abBk1 \néſK٣"), max_size=4), min_size=1, max_size=8),
)
def test_made_patterns_never_match_more(pattern: str, values: list[str]) -> None:
    try:
        texts = TypeTexts(text(pattern), style="any")
    except UnsatisfiableError:
        return  # such as `a^`
    for value in values:
        quoted = json.dumps(value)
        accepted = texts.accepts(quoted)
        assert texts.validates(quoted) or not accepted, value
        if value.isascii():
            assert texts.validates(quoted) == accepted, value


@pytest.mark.parametrize(
    ("pattern", "ecma"),
    [
        (r"^\d+$", "^[0-9]+$"),
        (r"\Aa\z", "^a$"),
        ("(?i)ab", "[aA][bB]"),
        ("(?x) a b # c", "ab"),
        ("(?P<n>a)", "(?:a)"),
        ("[[:digit:]_]", "[\\u{5f}0-9]"),
        (r"a/b", r"a\/b"),
        (r"\-", "-"),
        (r"[\s\S]*?", "[^]*"),
    ],
)
def test_is_written_anew(pattern: str, ecma: str) -> None:
    assert to_ecma(pattern, "rust-regex", place="M.f") == ecma


@pytest.mark.parametrize(
    ("pattern", "engine"),
    [
        (r"(?P=n)", "python-re"),
        (r"(a)\1", "python-re"),
        (r"(?>a)", "python-re"),
        (r"a++", "python-re"),
        (r"(?!\d)a", "python-re"),
        (r"\p{L}", "python-re"),
        ("[a", "rust-regex"),
        ("(a", "rust-regex"),
        ("a)", "rust-regex"),
        ("a{", "rust-regex"),
        (r"\q", "rust-regex"),
        (r"(?R)$", "rust-regex"),
        (r"(?-u:\w)", "rust-regex"),
        (r"\b{start}", "rust-regex"),
        (r"\P{L}", "rust-regex"),
    ],
)
def test_refuses_what_it_cannot_keep(pattern: str, engine: str) -> None:
    with pytest.raises(UnsupportedFeatureError, match=r"at M\.f"):
        to_ecma(pattern, engine, place="M.f")


def test_what_rust_refuses_never_comes() -> None:
    made: Any = text("(?=a)")
    with pytest.raises(Exception, match="look-around"):
        TypeAdapter(made)
