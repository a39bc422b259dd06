"""Python: `compile`, but for what it says of names, which no grammar can know."""

from __future__ import annotations

import re
import warnings

NAMES = re.compile(
    "duplicate argument|keyword argument repeated|is parameter and (global|nonlocal)"
    "|no binding for nonlocal|nonlocal declaration not allowed at module level"
    "|is (assigned to|used) prior to (global|nonlocal) declaration|is nonlocal and global"
    "|annotated name .* can't be (global|nonlocal)|future feature .* is not defined|not a chance"
    "|from __future__ imports must occur at the beginning|cannot assign to __debug__"
    "|too many statically nested blocks"
)


def complaint(text: str) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # An Indenter does not see blanks before the first line: the grammar says so.
            compile(text.lstrip(" "), "<text>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return None if NAMES.search(str(error)) else f"{type(error).__name__}: {error}"
    return None
