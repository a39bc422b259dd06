"""The character classes of `re`, for the Unicode version that Python runs with.

`re` asks `str.isalnum`, `str.isdecimal` and `str.isspace`, so the sets come from running `re`
itself over all code points, once and on demand.
"""

from __future__ import annotations

import re
from functools import cache

from constrain.algebra.codepoints import CodepointSet
from constrain.frontends.regex.case_folding import all_code_points

__all__ = ["category"]


@cache
def category(letter: str, *, ascii_only: bool) -> CodepointSet:
    """What the escapes of a class mean.

    Args:
        letter: One of d, s, w.
        ascii_only: The flag `re.ASCII` is on.

    Cost: about 20 ms the first time, one scan of all code points.
    """
    text = all_code_points()[: 0x80 if ascii_only else None]
    runs = re.finditer(rf"\{letter}+", text, re.ASCII if ascii_only else 0)
    return CodepointSet.from_ranges([(run.start(), run.end() - 1) for run in runs])
