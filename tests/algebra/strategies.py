"""Random small terms over a few bytes."""

from __future__ import annotations

from typing import ClassVar

from hypothesis import strategies as st

from constrain.algebra import terms as t

ALPHABET = b"ab\x80\xff"

leaves = st.one_of(
    st.just(t.EPS),
    st.just(t.EMPTY),
    st.just(t.ALL),
    st.just(t.ANY_BYTE),
    st.sets(st.sampled_from(list(ALPHABET)), min_size=1).map(t.byte_class),
    st.lists(st.sampled_from(list(ALPHABET)), min_size=1, max_size=4).map(
        lambda bs: t.literal(bytes(bs))
    ),
)
bounds = st.tuples(st.integers(0, 3), st.one_of(st.none(), st.integers(0, 4))).map(
    lambda lh: (lh[0], None if lh[1] is None else lh[0] + lh[1])
)


def _combine(inner):
    return st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda ts: t.cat(*ts)),
        st.lists(inner, min_size=1, max_size=4).map(t.alt),
        st.tuples(inner, bounds).map(lambda p: t.repeat(p[0], *p[1])),
        inner.map(t.optional),
    )


def _combine_boolean(inner):
    return st.one_of(
        _combine(inner),
        st.lists(inner, min_size=1, max_size=3).map(t.intersect),
        inner.map(t.complement),
    )


plain_terms = st.recursive(leaves, _combine, max_leaves=8)
boolean_terms = st.recursive(leaves, _combine_boolean, max_leaves=8)

# Terms that capture. Their bodies are finite, so that the reference decides emptiness.
_bits = st.lists(st.sampled_from(list(ALPHABET)), min_size=1, max_size=3).map(
    lambda bs: t.literal(bytes(bs))
)
_bodies = st.lists(_bits, min_size=1, max_size=4).map(t.alt)
_FOLLOWERS = (
    lambda w: t.literal(w + b"a"),
    lambda w: t.literal(bytes(reversed(w)) + b"b"),
    lambda w: t.intersect(
        (t.alt(map(t.literal, (b"ab", b"bb", b"a"))), t.complement(t.literal(w)))
    ),
    lambda w: t.capture(
        t.alt((t.literal(b"b"), t.literal(b"ab"))), lambda v: t.literal(v + w), before=t.literal(w)
    ),
)


def _capture(inner):
    return st.builds(
        lambda body, follow, before, instead: t.capture(
            body, follow, before=before, instead=instead
        ),
        st.one_of(_bodies, _bodies.map(t.optional), inner),
        st.sampled_from(_FOLLOWERS),
        st.one_of(st.just(t.EPS), _bodies, _bodies.map(t.optional)),
        st.one_of(st.just(t.EMPTY), _bodies),
    )


def _combine_finite(inner):
    return st.one_of(
        _capture(inner),
        st.lists(inner, min_size=1, max_size=3).map(lambda ts: t.cat(*ts)),
        st.lists(inner, min_size=1, max_size=3).map(t.alt),
        inner.map(t.optional),
        st.tuples(inner, st.integers(0, 2)).map(lambda p: t.repeat(p[0], p[1], p[1] + 1)),
        st.lists(inner, min_size=2, max_size=2).map(t.intersect),
        st.tuples(inner, _bodies).map(lambda p: t.intersect((p[0], t.complement(p[1])))),
    )


_capturing = st.recursive(_bodies, _combine_finite, max_leaves=6)
capturing_terms = st.one_of(
    _capturing,
    _capturing.map(t.complement),
    st.tuples(_capturing, _capturing).map(lambda p: t.intersect((p[0], t.complement(p[1])))),
)

# Terms that name tokens. A step is a byte, or 256 and an id; odd ids are special, 5 is not there.
TOKEN_IDS = (1, 2, 3, 4)
ALL_TOKEN_IDS = (*TOKEN_IDS, 6, 7)
"""With tokens that no term names: a store takes it that there are some, special ones too."""
_tokens = st.one_of(
    st.tuples(st.sets(st.sampled_from(TOKEN_IDS), min_size=1), st.booleans()).map(
        lambda p: t.token(*p[0], others=p[1])
    ),
    st.tuples(st.sets(st.sampled_from(["1", "3", "5"])), st.booleans()).map(
        lambda p: t.special_token(*p[0], others=p[1])
    ),
)


def _combine_tokens(inner):
    return st.one_of(
        _combine(inner),
        st.lists(inner, min_size=2, max_size=2).map(t.intersect),
        st.tuples(inner, _bodies).map(lambda p: t.intersect((p[0], t.complement(p[1])))),
        inner.map(
            lambda x: t.Rule("rule", lambda: x, nullable=x.nullable) if x is not t.EMPTY else x
        ),
        _bodies.flatmap(
            lambda body: inner.map(
                lambda x: t.cat(t.literal(b"a"), t.capture(body, t.literal, before=x))
            )
        ),
    )


class Tokens:
    """The vocabulary that these tokens are of."""

    special_tokens: ClassVar = {"1": 1, "3": 3, "7": 7}

    def id_of(self, name: int) -> int:
        return name


token_terms = st.recursive(st.one_of(_tokens, _bodies), _combine_tokens, max_leaves=6)
texts = st.lists(st.sampled_from(list(ALPHABET)), max_size=8).map(bytes)
