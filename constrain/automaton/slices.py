"""Plain text: the tokens that may stand in any run of it, and tries of all the others.

Inside a string nearly every token is allowed, and all for one reason: it has no quote, backslash or
control character. `kernels/walk/cover.py` sees whether a state lets all such text through; then a
row of bits is copied, and only the other tokens are walked. Where plain text also leads back to the
state, as it does in a string without bounds, a token is allowed if what is left of it after its
plain beginning is: `word",` and `",` go together, and the trie of these *rests* has a few hundred
nodes.

The same once more where a string begins, below the nodes of the vocabulary's trie that end with a
quote: `"word` may follow wherever `"` may and the state after it lets plain text through.

All the tries lie in one array, the vocabulary's first, so that a walk goes from one to another by
the number of a node.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from constrain.algebra.codepoints import CodepointSet
from constrain.algebra.terms import Term, star
from constrain.algebra.utf8 import UTF8
from constrain.kernels.walk import layout as lay
from constrain.vocab import Trie, Vocabulary, build_trie, per_vocabulary
from constrain.vocab.disk_cache import Arrays

__all__ = ["PLAIN_TEXT", "Forest", "forest_of"]

Int32Array = npt.NDArray[np.int32]

PLAIN_TEXT: Term = star(
    UTF8.spell(
        CodepointSet.ANY
        - CodepointSet.from_ranges([(0, 0x1F), (0x22, 0x22), (0x5C, 0x5C), (0x2028, 0x2029)])
    )
)
"""Text that stands for itself in a JSON string, and lies within one line: the dot of a pattern lets
it through.
"""

MIN_BELOW = 32
"""Nodes below a quote that make tries of their own worth while; fewer are walked as they are."""

_NOT_PLAIN = bytes(range(0x20)) + b'"\\'
_has_line_end = re.compile(rb"\xe2\x80[\xa8\xa9]").search
_first_not_plain = re.compile(rb'[\x00-\x1f"\\]|\xe2\x80[\xa8\xa9]').search
_QUOTE = ord('"')


@dataclass(frozen=True, slots=True)
class Forest:
    """The trie of a vocabulary, and after it those made for plain text.

    Nodes are numbered as in `Trie`, those of the other tries after the vocabulary's; a trie within
    is the nodes below some node.

    Attributes:
        children: [N], int32: see `Trie`.
        starts: [2 * (N + 2)], int32: see `Trie`.
        tokens: int32: see `Trie`; past them lists of tokens that `plain` names.
        end: [N], int32: see `Trie`.
        plain: int32: where what is, see `kernels/walk/layout.py`.
        preorder: [3 * M], int32: of each node of the vocabulary's trie its end << 8 | its byte;
            then which groups of bytes are in it and below it (`lay.GROUPS`); then how many levels
            of nodes these are.
        max_depth: Of all tries.
    """

    children: Int32Array
    starts: Int32Array
    tokens: Int32Array
    end: Int32Array
    plain: Int32Array
    preorder: Int32Array
    max_depth: int

    @property
    def words(self) -> Int32Array:
        """int32 [ceil(V/32)]: the tokens that begin a plain text."""
        return self.plain[self.plain[lay.WORDS_AT] :]

    def tokens_below(self, entries: Iterable[int]) -> Int32Array:
        """The tokens that a walk left untold: see `Trie.tokens_below`."""
        found = []
        for entry in entries:
            node = entry if entry >= 0 else ~entry
            first = self._first_token(node if entry >= 0 else node + 1)
            found.append(self.tokens[first : self._first_token(int(self.end[node]))])
        return np.concatenate(found) if found else np.zeros(0, np.int32)

    def _first_token(self, node: int) -> int:
        return int(self.starts[2 * node + 3])


@per_vocabulary
def forest_of(vocab: Vocabulary) -> Forest:
    """The forest of a vocabulary, made once and gone with it; kept on disk for the next process.

    Cost: the first time, 50 ms for 150,000 tokens, 5 ms where it is on disk.
    """
    found = vocab.derive(
        "forest",
        make=lambda: _arrays_of(_make(vocab)),
        read=lambda arrays: _forest_of(arrays, vocab),
        sources=(__file__, lay.__file__),
    )
    vocab.trie.lie_in(found.children, found.starts, found.tokens, found.end)
    return found


_FIELDS = ("children", "starts", "tokens", "end", "plain", "preorder")


def _arrays_of(forest: Forest) -> Arrays:
    return {field: getattr(forest, field) for field in _FIELDS}


def _forest_of(arrays: Arrays, vocab: Vocabulary) -> Forest | None:
    """The forest that has these arrays; None if a walk over them would not stay inside them."""
    trie = vocab.trie
    if set(arrays) != set(_FIELDS) or any(a.dtype != np.int32 for a in arrays.values()):
        return None
    forest = Forest(**arrays, max_depth=trie.max_depth + 2)  # type: ignore[arg-type]
    return forest if _is_sound(forest, trie) and _is_sound_table(forest, vocab) else None


def _is_sound(forest: Forest, trie: Trie) -> bool:
    """Whether the vocabulary's trie comes first, and no walk leaves the arrays or comes back."""
    nodes = len(forest.end)
    if nodes <= trie.num_nodes or len(forest.starts) != 2 * (nodes + 2):
        return False
    for field in ("children", "starts", "tokens", "end"):
        known: Int32Array = getattr(trie, field)
        if not np.array_equal(getattr(forest, field)[: len(known)], known):
            return False
    order = forest.preorder
    if len(order) != 3 * trie.num_nodes or (order[: trie.num_nodes] != _order(trie)).any():
        return False
    child_start, token_start = forest.starts.reshape(-1, 2).T
    below = forest.children >> 8
    return bool(
        (np.diff(child_start) >= 0).all()
        and child_start[-1] == len(forest.children)
        and (np.diff(token_start) >= 0).all()
        and token_start[-1] <= len(forest.tokens)
        and (below < nodes).all()
        and (below > np.repeat(np.arange(-1, nodes), np.diff(child_start))).all()
        and np.isin(forest.tokens, trie.tokens).all()
        and (forest.end > np.arange(nodes)).all()
        and (forest.end <= nodes).all()
    )


def _is_sound_table(forest: Forest, vocab: Vocabulary) -> bool:
    """Whether `plain` names what there is."""
    nodes, plain, ends = len(forest.end), forest.plain, vocab.eos_token_ids
    jumps_at = lay.PLAIN_HEAD + len(ends)
    if len(plain) < jumps_at or plain[lay.NUM_JUMPS] < 0:
        return False
    words_at = jumps_at + lay.JUMP * int(plain[lay.NUM_JUMPS])
    if len(plain) != words_at + (vocab.vocab_size + 31) // 32:
        return False
    jumps = plain[jumps_at:words_at].reshape(-1, lay.JUMP)
    tries = [*plain[[lay.OTHERS, lay.RESTS]], *jumps[:, lay.JUMP_OTHERS], *jumps[:, lay.JUMP_RESTS]]
    lists = jumps[:, [lay.JUMP_FIRST, lay.JUMP_LAST]]
    return (
        plain[lay.NUM_ENDS] == len(ends)
        and tuple(plain[lay.PLAIN_HEAD : jumps_at].tolist()) == ends
        and (plain[lay.JUMPS_AT], plain[lay.WORDS_AT]) == (jumps_at, words_at)
        and plain[lay.LONGEST] == forest.max_depth - 2
        and all(k == lay.NO_TRIE or vocab.trie.num_nodes < k < nodes for k in tries)
        and all(0 <= k < vocab.trie.num_nodes for k in jumps[:, lay.JUMP_NODE])
        and all(0 <= first <= last <= len(forest.tokens) for first, last in lists.tolist())
    )


class _Texts:
    """Texts with their tokens, each in one of several tries that are built as one.

    A trie is what lies below two bytes that no other trie begins with.
    """

    def __init__(self) -> None:
        self.texts: list[bytes | None] = []
        self.ids: list[int] = []
        self._num_tries = 0

    def new_trie(self, texts: Iterable[tuple[bytes, int]]) -> int:
        """Begin a trie of some texts and the token of each; returns its number."""
        begin = self._num_tries.to_bytes(2, "big")
        for text, token in texts:
            self.texts.append(begin + text)
            self.ids.append(token)
        self._num_tries += 1
        return self._num_tries - 1

    def build(self) -> tuple[Trie, dict[int, int]]:
        """The tries as one, and the node above each of them that has a text."""
        trie = build_trie(self.texts).retargeted(self.ids)
        above = np.flatnonzero(trie.depth == 1)
        numbers = sorted({int.from_bytes(text[:2], "big") for text in self.texts if text})
        return trie, dict(zip(numbers, above.tolist(), strict=True))


def _make(vocab: Vocabulary) -> Forest:
    trie = vocab.trie
    is_plain = _begins_plain_text(vocab)
    texts, lists, num_listed = _Texts(), [trie.tokens], len(trie.tokens)
    not_plain = trie.tokens[~is_plain[trie.tokens]]
    others = [(vocab.token_bytes[i] or b"", i) for i in not_plain.tolist()]
    tries = [texts.new_trie(others), texts.new_trie(_rests(others))]
    jumps: list[list[int]] = []
    for node in _openings(trie):
        depth = int(trie.depth[node]) + 1
        below = trie.tokens[trie.token_start[node + 1] : trie.token_start[trie.end[node]]].tolist()
        listed, left = [], []
        for token in below:
            rest = (vocab.token_bytes[token] or b"")[depth:]
            if _is_plain(rest):
                listed.append(token)
            else:
                left.append((rest, token))
        numbers = (texts.new_trie(left), texts.new_trie(_rests(left)))
        jumps.append([node, num_listed, num_listed + len(listed), *numbers])
        lists.append(np.array(listed, np.int32))
        num_listed += len(listed)

    annex, above = texts.build()
    first = trie.num_nodes + 1  # its root takes a number too
    num_tokens = len(trie.tokens)
    lists.insert(1, annex.tokens)
    for jump in jumps:
        jump[1:3] = [at + len(annex.tokens) for at in jump[1:3]]
        jump[3:] = [first + above[k] if k in above else lay.NO_TRIE for k in jump[3:]]
    roots = [first + above[k] if k in above else lay.NO_TRIE for k in tries]
    words = np.zeros((vocab.vocab_size + 31) // 32, np.uint32)
    ids = np.flatnonzero(is_plain)
    np.bitwise_or.at(words, ids >> 5, np.uint32(1) << (ids & 31).astype(np.uint32))
    end = np.concatenate((trie.end, [first + annex.num_nodes], first + annex.end)).astype(np.int32)
    return Forest(
        children=_joined(trie.children, annex.children + (first << 8)),
        starts=_joined(
            trie.starts[: 2 * first],
            np.add(annex.starts.reshape(-1, 2), (len(trie.children), num_tokens)).ravel(),
        ),
        tokens=_joined(*lists),
        end=_joined(end),
        plain=_table(vocab, roots, jumps, words.view(np.int32)),
        preorder=_preorder(trie),
        max_depth=trie.max_depth + 2,
    )


def _table(
    vocab: Vocabulary,
    roots: list[int],
    jumps: list[list[int]],
    words: Int32Array,
) -> Int32Array:
    head = np.zeros(lay.PLAIN_HEAD, np.int32)
    others, rests = roots
    head[lay.OTHERS] = others
    head[lay.RESTS] = rests
    head[lay.NUM_ENDS] = len(vocab.eos_token_ids)
    head[lay.JUMPS_AT] = lay.PLAIN_HEAD + len(vocab.eos_token_ids)
    head[lay.NUM_JUMPS] = len(jumps)
    head[lay.LONGEST] = vocab.trie.max_depth
    head[lay.WORDS_AT] = head[lay.JUMPS_AT] + lay.JUMP * len(jumps)
    flat = [at for jump in jumps for at in jump]
    return _joined(head, np.array(vocab.eos_token_ids, np.int32), np.array(flat, np.int32), words)


def _preorder(trie: Trie) -> Int32Array:
    return _joined(_order(trie), *_groups_and_levels(trie))


def _order(trie: Trie) -> Int32Array:
    return trie.end << 8 | trie.byte


def _groups_and_levels(trie: Trie) -> tuple[Int32Array, Int32Array]:
    """[M]: the groups of bytes in each node and below it, a bit each; and how many levels."""
    parents, order = trie.parents, np.argsort(trie.depth, kind="stable")
    levels = np.split(order, np.cumsum(np.bincount(trie.depth))[:-1])
    state = np.zeros(trie.num_nodes + 1, np.int8)  # the last one is that of the root
    group = lay.GROUPS[trie.byte]
    goes_on = trie.byte & 0xC0 == 0x80
    for level in levels:
        state[level] = _UTF8_STEPS[state[parents[level]], trie.byte[level]]
        inner = level[goes_on[level]]
        group[inner] = group[parents[inner]]
    group[state[:-1] == _BROKEN] = lay.MALFORMED
    found = np.append(np.int32(1) << group.astype(np.int32), np.int32(0))
    deepest = np.append(trie.depth, np.int32(0))
    for level in reversed(levels):
        np.bitwise_or.at(found, parents[level], found[level])
        np.maximum.at(deepest, parents[level], deepest[level])
    return found[:-1], deepest[:-1] - trie.depth + np.int32(1)


def _utf8_steps() -> npt.NDArray[np.int8]:
    """[9, 256]: what comes after each byte of well-formed UTF-8; the last state is `_BROKEN`."""
    one, two, three, after_e0, after_ed, after_f0, after_f4 = range(1, 8)
    steps = np.full((_BROKEN + 1, 256), _BROKEN, np.int8)
    steps[0, :0x80] = 0
    for state, first, last, then in (
        *((0, 0xC2, 0xDF, one), (0, 0xE1, 0xEF, two), (0, 0xE0, 0xE0, after_e0)),
        *((0, 0xED, 0xED, after_ed), (0, 0xF1, 0xF3, three), (0, 0xF0, 0xF0, after_f0)),
        *((0, 0xF4, 0xF4, after_f4), (one, 0x80, 0xBF, 0), (two, 0x80, 0xBF, one)),
        *((three, 0x80, 0xBF, two), (after_e0, 0xA0, 0xBF, one), (after_ed, 0x80, 0x9F, one)),
        *((after_f0, 0x90, 0xBF, two), (after_f4, 0x80, 0x8F, two)),
    ):
        steps[state, first : last + 1] = then
    return steps


_BROKEN = 8
_UTF8_STEPS = _utf8_steps()


def _joined(*arrays: Int32Array) -> Int32Array:
    found: Int32Array = np.concatenate(arrays).astype(np.int32, copy=False)
    # Read-only like the arrays of any trie: to numba it is another type if it is not.
    found.setflags(write=False)
    return found


def _begins_plain_text(vocab: Vocabulary) -> npt.NDArray[np.bool_]:
    """[vocab_size]: the tokens with bytes that begin a text of `PLAIN_TEXT`."""
    found = np.zeros(vocab.vocab_size, np.bool_)
    for i, text in enumerate(vocab.token_bytes):
        if text and _is_plain(text):
            found[i] = True
    return found


def _is_plain(text: bytes) -> bool:
    if len(text.translate(None, _NOT_PLAIN)) != len(text):
        return False
    if text.isascii():
        return True
    if _has_line_end(text):
        return False
    try:
        text.decode()
    except UnicodeDecodeError as error:
        # A token may end inside a code point, but not begin there.
        return error.end == len(text) and error.reason == "unexpected end of data"
    return True


def _rests(texts: Iterable[tuple[bytes, int]]) -> Iterator[tuple[bytes, int]]:
    """What is left of each text, none of them plain, after the whole characters of plain text."""
    for text, token in texts:
        found = _first_not_plain(text)
        at = found.start() if found else len(text)
        if not text[:at].isascii():
            try:
                text[:at].decode()
            except UnicodeDecodeError as error:
                at = error.start
        yield text[at:], token


def _openings(trie: Trie) -> list[int]:
    """The nodes with a quote below which much lies."""
    sizes = trie.end - np.arange(trie.num_nodes)
    found: list[int] = np.flatnonzero((trie.byte == _QUOTE) & (sizes > MIN_BELOW)).tolist()
    return found
