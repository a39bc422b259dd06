"""Matching without regard to case, in each dialect's way.

- `re` compares lower-case forms, and treats as one those lower-case letters that have the same
  upper-case form (such as ſ and s, or the three forms of theta).
- ECMA-262 with the flag u or v, and Rust, compare simple case foldings.

Either way letters fall into classes, and a set of code points is closed under them.

Two faults of `re` (seen up to Python 3.13) are not copied, both in classes of several members under
IGNORECASE: an upper-case letter above U+FFFF does not match itself there, and a range that ends
above U+FFFF takes ŉ (U+0149) too if it has the first letter of its upper-case form ʼN.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

import numpy as np

from constrain.algebra.codepoints import MAX_CODEPOINT, CodepointSet
from constrain.frontends.regex.unicode_properties import simple_folding

__all__ = ["all_code_points", "ignore_case_ascii", "ignore_case_python", "ignore_case_simple"]


def all_code_points() -> str:
    """The text in which the index is the code point, surrogates too. Not kept: it is 4 MB."""
    return np.arange(MAX_CODEPOINT + 1, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")


@lru_cache(maxsize=1024)
def ignore_case_python(points: CodepointSet, *, ascii_only: bool) -> CodepointSet:
    """What matches a class of `points` under the flag `re.IGNORECASE`.

    Cost: about 40 ms the first time, one scan of all code points; then by the letters in `points`.
    """
    return (_ascii_case() if ascii_only else _python_case()).close(points)


@lru_cache(maxsize=1024)
def ignore_case_simple(points: CodepointSet) -> CodepointSet:
    """What matches a class of `points` under the flags i and u of ECMA-262, or under i in Rust."""
    return _simple_case().close(points)


@lru_cache(maxsize=1024)
def ignore_case_ascii(points: CodepointSet) -> CodepointSet:
    """What matches a class of `points` where only ASCII letters have cases."""
    return _ascii_case().close(points)


class _Case:
    """Which letters are the same."""

    def __init__(self, folded: dict[int, int], same: Iterable[set[int]] = ()) -> None:
        """Take the folded forms that are not the letter itself, and sets of forms that are one."""
        self._folded = folded
        self._same: defaultdict[int, set[int]] = defaultdict(set)
        for group in same:
            for point in group if len(group) > 1 else ():
                self._same[point] |= group - {point}
        self._unfolded: defaultdict[int, list[int]] = defaultdict(list)
        for point, form in folded.items():
            self._unfolded[form].append(point)
        self._changing = CodepointSet.of(*self._folded)
        self._fixed = ~self._changing
        self._shared = CodepointSet.of(*self._same)
        self._targets = CodepointSet.of(*self._unfolded)

    def close(self, points: CodepointSet) -> CodepointSet:
        """The set with all letters that are the same as one of its members."""
        forms = [self._folded[p] for p in points & self._changing]
        folded = (points & self._fixed) | CodepointSet.of(*forms)
        folded |= CodepointSet.of(*[s for p in folded & self._shared for s in self._same[p]])
        letters = [u for p in folded & self._targets for u in self._unfolded[p]]
        return folded | CodepointSet.of(*letters)


def _cased_letters() -> Iterator[str]:
    """Code points that have another case, and some that have not."""
    text = all_code_points()
    for start in range(0, len(text), 256):
        block = text[start : start + 256]
        if block.lower() != block or block.upper() != block:
            yield from block


@cache
def _ascii_case() -> _Case:
    return _Case({p: p + 32 for p in range(ord("A"), ord("Z") + 1)})


@cache
def _python_case() -> _Case:
    lower: dict[int, int] = {}
    same_upper: defaultdict[str, set[int]] = defaultdict(set)
    for letter in _cased_letters():
        low = letter.lower()[0]  # one code point for all but U+0130, where `re` takes the first
        if low != letter:
            lower[ord(letter)] = ord(low)
        if low != letter or letter.upper() != letter:
            same_upper[letter.upper()].add(ord(low))
    return _Case(lower, same_upper.values())


@cache
def _simple_case() -> _Case:
    return _Case(simple_folding())
