"""The character classes and the case folding of `re`, for the Unicode version it runs with.

`re` asks `str.isalnum`, `str.isdecimal` and `str.isspace`, so the sets come from running `re`
itself over all code points, once and on demand. Case: `re` compares lower-case forms, and treats as
one those lower-case letters that have the same upper-case form (such as ſ and s, or the three forms
of theta).

Two faults of `re` (seen up to Python 3.13) are not copied, both in classes of several members under
IGNORECASE: an upper-case letter above U+FFFF does not match itself there, and a range that ends
above U+FFFF takes ŉ (U+0149) too if it has the first letter of its upper-case form ʼN.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache, lru_cache

from constrain.algebra.codepoints import MAX_CODEPOINT, CodepointSet

__all__ = ["category", "ignore_case"]


@cache
def category(letter: str, *, ascii_only: bool) -> CodepointSet:
    """What the escapes of a class mean.

    Args:
        letter: One of d, s, w.
        ascii_only: The flag `re.ASCII` is on.

    Cost: about 50 ms the first time, one scan of all code points.
    """
    last = 0x7F if ascii_only else MAX_CODEPOINT
    everything = "".join([chr(p) for lo, hi in CodepointSet.ANY.ranges for p in range(lo, hi + 1)])
    shown = everything[: last + 1]
    runs = [m.span() for m in re.finditer(rf"\{letter}+", shown, re.ASCII if ascii_only else 0)]
    return CodepointSet.from_ranges(
        [(ord(shown[start]), ord(shown[end - 1])) for start, end in _split_at_gaps(shown, runs)]
    )


def _split_at_gaps(text: str, runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Runs of `text`, cut where its code points are not consecutive (at the surrogates)."""
    done = []
    for start, end in runs:
        if ord(text[end - 1]) - ord(text[start]) == end - 1 - start:
            done.append((start, end))
        else:
            cut = next(i for i in range(start, end) if ord(text[i]) > 0xDFFF)
            done += [(start, cut), (cut, end)]
    return done


@lru_cache(maxsize=1024)
def ignore_case(points: CodepointSet, *, ascii_only: bool) -> CodepointSet:
    """What matches a class of `points` under the flag `re.IGNORECASE`."""
    lower, siblings = _ascii_case() if ascii_only else _unicode_case()
    targets = points - CodepointSet.of(*lower)
    folded = {lower[p] for p in lower if p in points}
    folded.update([s for p in siblings if p in points or p in folded for s in siblings[p]])
    targets |= CodepointSet.of(*folded)
    upper = [p for p in lower if lower[p] in targets]
    return (targets - CodepointSet.of(*lower)) | CodepointSet.of(*upper)


_Case = tuple[dict[int, int], dict[int, tuple[int, ...]]]


@cache
def _ascii_case() -> _Case:
    return {p: p + 32 for p in range(ord("A"), ord("Z") + 1)}, {}


@cache
def _unicode_case() -> _Case:
    """Lower-case forms where they differ, and lower-case letters that share an upper-case form."""
    lower: dict[int, int] = {}
    same_upper: defaultdict[str, set[int]] = defaultdict(set)
    for start in range(0, MAX_CODEPOINT + 1, 128):
        block = "".join(map(chr, range(start, start + 128)))
        if block.lower() == block and block.upper() == block:
            continue
        for letter in block:
            low = letter.lower()[0]  # one code point for all but U+0130, where `re` takes the first
            if low != letter:
                lower[ord(letter)] = ord(low)
            if low != letter or letter.upper() != letter:
                same_upper[letter.upper()].add(ord(low))
    siblings: defaultdict[int, set[int]] = defaultdict(set)
    for group in same_upper.values():
        for point in group:
            siblings[point] |= group - {point}
    return lower, {p: tuple(sorted(s)) for p, s in siblings.items() if s}
