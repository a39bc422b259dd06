"""Writes `constrain/frontends/regex/unicode_tables.py` from the PyPI package `regex` and Node.js.

Run it from the repository's root with both of one Unicode version, when there is a new one. Node
says what `regex` has no words for: which letters fold to one, and Changes_When_NFKC_Casefolded.

    python tests/frontends/regex/make_unicode_tables.py
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import zlib
from pathlib import Path

import regex

from constrain.frontends.regex.unicode_names import (
    BINARY,
    BREAKS,
    CATEGORIES,
    MORE_BINARY,
    SCRIPTS,
)

# The categories that are no union of others; surrogates are in no text.
PARTS = [name for name in CATEGORIES if len(name) == 2 and name not in ("LC", "Cs")]
NFKC = "Changes_When_NFKC_Casefolded"
TARGET = Path("constrain/frontends/regex/unicode_tables.py")
EVERYTHING = [p for p in range(sys.maxunicode + 1) if not 0xD800 <= p <= 0xDFFF]
TEXT = "".join(map(chr, EVERYTHING))
HEAD = '''"""Unicode properties as data. Not for editing: `make_unicode_tables.py` writes it.

`TABLES` is text, compressed by zlib and written in base 85. A line is a property and its ranges:
`name gap length gap length ...` in base 16, where a gap counts from the end of the last range. The
line `fold` has pairs of a gap and a step down: a letter after the last one, and how far below it
the first letter of its class under simple case folding is.
"""

from __future__ import annotations

from typing import Final

__all__ = ["TABLES"]

TABLES: Final = (
'''
NODE = """
let unassigned = 0;
const named = /\\p{Changes_When_NFKC_Casefolded}/u, nfkc = [], groups = new Map();
const point = (letter) => letter.codePointAt(0);
for (let at = 0; at <= 0x10ffff; at++) {
  if (at >= 0xd800 && at <= 0xdfff) continue;
  const letter = String.fromCodePoint(at);
  if (named.test(letter)) nfkc.push(at);
  if (/\\p{Cn}/u.test(letter)) unassigned++;
  const form = letter.toLowerCase().toUpperCase().toLowerCase();
  if (form === letter && letter.toUpperCase() === letter) continue;
  if (!groups.has(form)) groups.set(form, []);
  groups.get(form).push(letter);
}
const classes = [];
for (const letters of groups.values()) {
  while (letters.length > 0) {
    const same = new RegExp(`^\\\\u{${point(letters[0]).toString(16)}}$`, "iu");
    const found = letters.filter((letter) => same.test(letter));
    if (found.length > 1) classes.push(found.map(point));
    for (const letter of found) letters.splice(letters.indexOf(letter), 1);
  }
}
console.log(JSON.stringify({unassigned, nfkc, classes}));
"""


def line(name: str, query: str) -> str:
    """One line of the table, of what matches `\\p{query}`."""
    found = regex.finditer(rf"\p{{{query}}}+", TEXT)
    return packed_line(name, [(EVERYTHING[m.start()], EVERYTHING[m.end() - 1]) for m in found])


def packed_line(name: str, ranges: list[tuple[int, int]]) -> str:
    """One line of the table."""
    numbers = []
    end = 0
    for start, last in ranges:
        numbers += [start - end, last + 1 - start]
        end = last + 1
    assert numbers, name
    return " ".join([name, *[f"{n:x}" for n in numbers]])


def fold_line(classes: list[list[int]]) -> str:
    """The line of case folding."""
    steps = sorted([(p, p - min(c)) for c in classes for p in c if p != min(c)])
    numbers = []
    end = 0
    for point, step in steps:
        numbers += [point - end, step]
        end = point
    return " ".join(["fold", *[f"{n:x}" for n in numbers]])


def lines() -> list[str]:
    """The whole table. Unions of categories are left out."""
    made = [line(f"gc={name}", f"gc={name}") for name in PARTS]
    made += [line(name, name) for name in (*BINARY, *MORE_BINARY) if name != NFKC]
    told = json.loads(subprocess.check_output(["node", "-e", NODE]))
    unassigned = len(regex.findall(r"\p{Cn}", TEXT))
    assert unassigned == told["unassigned"], "regex and Node.js know different versions of Unicode"
    made += [packed_line(NFKC, [(p, p) for p in told["nfkc"]]), fold_line(told["classes"])]
    for kind, values in BREAKS.items():
        made += [line(f"{kind}={value}", f"{kind}={value}") for value in values if value != "Other"]
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
