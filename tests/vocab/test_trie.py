"""The trie against a brute-force reading of its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from constrain.vocab import Trie, build_trie

NASTY = {
    "nothing": [],
    "only None": [None, None],
    "only empty": [b"", b""],
    "one byte": [b"a"],
    "prefixes of one another": [b"abc", b"a", b"ab", b"", None, b"abcd", b"b"],
    "duplicates": [b"ab", b"ab", b"a", b"ab", None, b"a"],
    "NUL bytes": [b"\0", b"\0\0", b"a\0", b"\0a", b"a", b"a\0\0"],
    "ends of the byte range": [b"\xff", b"\x00", b"\xff\xff", b"\x7f", b"\x80"],
    "split UTF-8": [b"\xf0\x9f", b"\x8d", b"\xf0\x9f\x8d\x8e", b"\xf0", "é".encode(), b"\xc3"],
    "long runs": [b" " * n for n in range(130)],
    "all bytes": [bytes([b]) for b in range(256)],
}

token_lists = st.lists(
    st.one_of(st.none(), st.binary(max_size=4), st.text("ab", max_size=6).map(str.encode)),
    max_size=40,
)


def paths(trie: Trie) -> list[bytes]:
    """The byte string of each node, by walking the arrays as a kernel would."""
    texts: list[bytes] = []
    path = b""
    for byte, depth in zip(trie.byte, trie.depth, strict=True):
        path = path[:depth] + bytes([byte])
        texts.append(path)
    return texts


def check(token_bytes: list[bytes | None]) -> None:
    trie = build_trie(token_bytes)
    texts = [t for t in token_bytes if t]
    nodes = sorted({t[:n] for t in texts for n in range(1, len(t) + 1)})
    # Sorted byte strings are the preorder with children in increasing byte order.
    assert paths(trie) == nodes
    assert trie.depth.tolist() == [len(node) - 1 for node in nodes]
    below = [[j for j, other in enumerate(nodes) if other.startswith(node)] for node in nodes]
    assert trie.end.tolist() == [js[-1] + 1 for js in below]
    for i, node in enumerate(nodes):
        assert below[i] == list(range(i, trie.end[i]))
        own = trie.tokens[trie.token_start[i] : trie.token_start[i + 1]].tolist()
        assert own == [t for t, text in enumerate(token_bytes) if text == node]
        subtree = trie.tokens[trie.token_start[i] : trie.token_start[trie.end[i]]].tolist()
        expected = [(x, t) for t, x in enumerate(token_bytes) if x and x.startswith(node)]
        assert subtree == [t for _, t in sorted(expected)]
    assert trie.token_start[0] == 0
    assert trie.token_start[-1] == len(trie.tokens) == len(texts)
    assert trie.max_depth == max(map(len, texts), default=0)
    for i, node in enumerate([b"", *nodes]):
        first, last = trie.starts[2 * i], trie.starts[2 * i + 2]
        spelled = [(nodes[c >> 8], c & 255) for c in trie.children[first:last].tolist()]
        assert spelled == [(n, n[-1]) for n in nodes if n[:-1] == node]
        own = trie.tokens[trie.starts[2 * i + 1] : trie.starts[2 * i + 3]].tolist()
        assert own == [t for t, text in enumerate(token_bytes) if text and text == node]
    assert len(trie.starts) == 2 * (len(nodes) + 2)
    assert trie.parents.tolist() == [nodes.index(n[:-1]) if n[:-1] else -1 for n in nodes]


@pytest.mark.parametrize("token_bytes", NASTY.values(), ids=NASTY.keys())
def test_is_its_definition(token_bytes: list[bytes | None]) -> None:
    check(token_bytes)


@given(token_lists)
@example([b"b", b"a", b"ab", b"b"])
def test_is_its_definition_for_any_tokens(token_bytes: list[bytes | None]) -> None:
    check(token_bytes)


def test_the_example_in_the_docstring() -> None:
    trie = build_trie([b"a", b"ab", b"b", None, b"ab"])
    assert bytes(trie.byte) == b"abb"
    assert trie.depth.tolist() == [0, 1, 0]
    assert trie.end.tolist() == [2, 2, 3]
    assert trie.token_start.tolist() == [0, 1, 3, 4]
    assert trie.tokens.tolist() == [0, 1, 4, 2]
    assert [(c >> 8, chr(c & 255)) for c in trie.children] == [(0, "a"), (2, "b"), (1, "b")]


def test_arrays_have_the_promised_form() -> None:
    trie = build_trie([b"ab", b"b"])
    for name, dtype, length in (
        ("byte", np.uint8, 3),
        ("depth", np.int32, 3),
        ("end", np.int32, 3),
        ("token_start", np.int32, 4),
        ("tokens", np.int32, 2),
        ("children", np.int32, 3),
        ("starts", np.int32, 10),
    ):
        array = getattr(trie, name)
        assert array.dtype == dtype
        assert array.shape == (length,)
        assert array.flags.c_contiguous
        assert not array.flags.writeable
    assert trie.num_nodes == 3
    assert trie.nbytes == 3 * (1 + 4 + 4 + 4) + 4 * 4 + 2 * 4 + 10 * 4
    assert repr(trie) == "Trie(num_nodes=3, num_tokens=2, max_depth=2)"


def test_a_token_of_the_greatest_length_is_cheap() -> None:
    longest = b"ab" * (1 << 15)
    trie = build_trie([longest, longest[:-1], longest + b"x"])
    assert trie.num_nodes == trie.max_depth == len(longest) + 1
    assert trie.end.tolist() == [trie.num_nodes] * trie.num_nodes
    assert trie.tokens.tolist() == [1, 0, 2]
