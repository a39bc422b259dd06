"""Hypothesis strategies of patterns in the syntax of `re`, over a few letters."""

from __future__ import annotations

from hypothesis import strategies as st

LETTERS = "abAé\n"

one_code_point = st.sampled_from(
    [
        "a",
        "b",
        "A",
        "é",
        "\n",
        ".",
        "[ab]",
        "[^a]",
        r"\w",
        r"\W",
        r"\s",
        r"[^\W\d]",
        "[a-é]",
        r"\x61",
    ]
)
anchors = st.sampled_from(["^", "$", r"\b", r"\B", r"\A", r"\Z"])
quantifiers = st.sampled_from(
    ["*", "+", "?", "{2}", "{1,2}", "{0,3}", "{,2}", "{2,}", "*?", "+?", "??", "{1,2}?"]
)
possessive = st.sampled_from(["*+", "++", "?+", "{1,2}+"])
scopes = st.sampled_from(["(?:", "(", "(?i:", "(?s:", "(?m:", "(?-i:", "(?a:", "(?>"])
flags = st.sampled_from(["", "", "(?i)", "(?s)", "(?m)", "(?ims)", "(?a)"])


def _same_width(pattern: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Bodies that `re` takes in a lookbehind."""
    two = st.tuples(one_code_point, one_code_point).map("".join)
    return st.one_of(
        one_code_point,
        two,
        st.tuples(anchors, one_code_point).map("".join),
        st.tuples(one_code_point, anchors).map("".join),
        st.tuples(two, two).map("|".join),
        st.tuples(one_code_point, st.just("(?="), pattern, st.just(")")).map("".join),
        anchors,
    )


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    group = st.tuples(scopes, inner, st.just(")")).map("".join)
    look = st.tuples(st.sampled_from(["(?=", "(?!"]), inner, st.just(")"))
    behind = st.tuples(st.sampled_from(["(?<=", "(?<!"]), _same_width(inner), st.just(")"))
    return st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda ab: f"(?:{ab[0]}|{ab[1]})"),
        st.tuples(st.just("(?:"), inner, st.just(")"), quantifiers).map("".join),
        st.tuples(one_code_point, st.one_of(quantifiers, possessive)).map("".join),
        group,
        look.map("".join),
        behind.map("".join),
    )


_any = st.recursive(st.one_of(one_code_point, anchors), _larger, max_leaves=8)
patterns = st.tuples(flags, _any).map("".join)
