"""Finite sets of strings as prefix trees.

Written as an alternative of whole strings, an `enum` of ten thousand names would cost ten thousand
derivatives for its first byte; as a tree it costs one for each distinct first byte.

    >>> from constrain.algebra.reference import Reference
    >>> r = Reference()
    >>> t = r.intern(trie([(b"car", EPS), (b"cat", EPS), (b"c", EPS)]))
    >>> [r.accepts(t, w) for w in (b"car", b"cat", b"c", b"ca")]
    [True, True, True, False]

Cost: O(n log n) comparisons for n strings, then O(total length). Nothing recurses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from constrain.algebra.terms import EPS, Term, alt, cat, literal

__all__ = ["trie"]


def trie(
    entries: Iterable[tuple[Sequence[int], Term]],
    spell: Callable[[Sequence[int]], Term] | None = None,
) -> Term:
    """Any of the strings, each followed by its own term.

    Args:
        entries: (symbols, what follows). Bytes, or code points with `spell`.
        spell: The term of a run of symbols; by default the symbols are bytes and stand for
            themselves.
    """
    spell_run = spell or _spell_bytes
    items = sorted([(tuple(symbols), i, follow) for i, (symbols, follow) in enumerate(entries)])
    if not items:
        return alt(())
    keys = [key for key, _, _ in items]
    # Groups of items with a common beginning; a group's children come after it in the list.
    groups: list[tuple[int, int, int]] = [(0, len(items), 0)]  # first, stop, symbols before it
    children: list[list[int]] = []
    stems: list[tuple[int, int]] = []  # from, to: the symbols that all strings of the group share
    ends: list[list[Term]] = []
    for first, stop, depth in groups:
        common = _common_prefix(keys[first], keys[stop - 1], depth)
        stems.append((depth, common))
        at = first
        ended = []
        while at < stop and len(keys[at]) == common:
            ended.append(items[at][2])
            at += 1
        ends.append(ended)
        made = []
        while at < stop:
            symbol = keys[at][common]
            start = at
            while at < stop and keys[at][common] == symbol:
                at += 1
            made.append(len(groups))
            groups.append((start, at, common))
        children.append(made)
    terms: list[Term] = [EPS] * len(groups)
    for g in range(len(groups) - 1, -1, -1):
        stem = keys[groups[g][0]][stems[g][0] : stems[g][1]]
        rest = alt([*ends[g], *[terms[c] for c in children[g]]])
        terms[g] = cat(spell_run(stem), rest) if stem else rest
    return terms[0]


def _spell_bytes(run: Sequence[int]) -> Term:
    return literal(bytes(run))


def _common_prefix(a: Sequence[int], b: Sequence[int], start: int) -> int:
    n = min(len(a), len(b))
    while start < n and a[start] == b[start]:
        start += 1
    return start
