"""Writes `constrain/frontends/regex/unicode_tables.py` from the PyPI package `regex`.

Run it from the repository's root with that package installed, when Unicode has a new version:

    python tests/frontends/regex/make_unicode_tables.py
"""

from __future__ import annotations

import base64
import sys
import zlib
from pathlib import Path

import regex

from constrain.frontends.regex.unicode_names import BINARY, CATEGORIES, SCRIPTS

# The categories that are no union of others; surrogates are in no text.
PARTS = [name for name in CATEGORIES if len(name) == 2 and name not in ("LC", "Cs")]
TARGET = Path("constrain/frontends/regex/unicode_tables.py")
EVERYTHING = [p for p in range(sys.maxunicode + 1) if not 0xD800 <= p <= 0xDFFF]
TEXT = "".join(map(chr, EVERYTHING))
HEAD = '''"""Unicode properties as data. Not for editing: `make_unicode_tables.py` writes it.

`TABLES` is text, compressed by zlib and written in base 85. A line is a property and its ranges:
`name gap length gap length ...` in base 16, where a gap counts from the end of the last range.
"""

from __future__ import annotations

from typing import Final

__all__ = ["TABLES"]

TABLES: Final = (
'''


def line(name: str, query: str) -> str:
    """One line of the table."""
    numbers = []
    end = 0
    for match in regex.finditer(rf"\p{{{query}}}+", TEXT):
        start, last = EVERYTHING[match.start()], EVERYTHING[match.end() - 1]
        numbers += [start - end, last + 1 - start]
        end = last + 1
    assert numbers, name
    return " ".join([name, *[f"{n:x}" for n in numbers]])


def lines() -> list[str]:
    """The whole table. Unions of categories are left out."""
    made = [line(f"gc={name}", f"gc={name}") for name in PARTS]
    made += [line(name, name) for name in BINARY]
    for name in SCRIPTS:
        made.append(line(f"sc={name}", f"sc={name}"))
        extended = line(f"scx={name}", f"scx={name}")
        if extended[4:] != made[-1][3:]:
            made.append(extended)
    return made


def main() -> None:
    """Write the module."""
    packed = base64.b85encode(zlib.compress("\n".join(lines()).encode("ascii"), 9)).decode("ascii")
    rows = [packed[i : i + 92] for i in range(0, len(packed), 92)]
    body = "".join([f'    b"{row}"\n' for row in rows])
    TARGET.write_text(f"{HEAD}{body})\n", encoding="ascii")


if __name__ == "__main__":
    main()
