"""Numbers that read the same backwards."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator as Iter


def palindromes(numbers: Iterable[int], *, base: int = 10, **options: bool) -> Iter[int]:
    # Digits, least first.
    for n in numbers:
        digits = []
        rest = n
        while rest > 0:
            rest, digit = divmod(rest, base)
            digits.append(digit)
            if len(digits) > 1_000:
                break
        else:
            if digits == digits[::-1] and not options.get("strict", False):
                yield n  # it is one


first = lambda items, default=None: next(iter(items), default)
found = list(palindromes(range(100, 200)))
print(f"{found[0]!r:>8} of {found.__len__():,d} {{}}", f'{names["x y"].title()}', sep="\t", end="\n\n")
