"""The recorded answers of Rust's own test suite: `matches` are spans that a search finds.

A span says more than whether the whole text matches. Where a search found [s, e), the pattern
matches there, between the text before and the text after. Where it went on, no match began.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from typing import Any

import pytest

from constrain.algebra.codepoints import CodepointSet
from constrain.errors import LimitExceededError, RegexSyntaxError
from constrain.frontends.regex import lower
from constrain.frontends.regex.byte_nodes import BYTES, OfBytes
from constrain.frontends.regex.nodes import RegexNode, chars, concat, repetition
from constrain.frontends.regex.rust_syntax import read_rust
from constrain.limits import DEFAULT_LIMITS
from tests.conftest import SHARED, requires_shared
from tests.frontends.regex.languages import Language

pytestmark = requires_shared

PATH = SHARED / "data" / "grammars" / "cases" / "rust-regex.jsonl.gz"

# Unicode's \b in a loop over bytes: half a code point before, half a code point after, times the
# ways in which each may go on. Rust has a lazy automaton there; here it is a typed refusal.
OVER_BUDGET = {"rust-regex/regression.toml/i429-12", "rust-regex/regression.toml/i429-2"}

LEFT_OUT = {
    "line-terminator": "an option by which a line ends in another byte than \\n; no flag says so",
    "regex-lite.toml": "about another crate, where classes and case are ASCII",
}


@dataclass(frozen=True)
class Case:
    """One recorded answer."""

    id: str
    pattern: str
    haystack: bytes
    flags: str
    of_bytes: bool
    bounds: tuple[int, int]
    anchored: bool
    leftmost: bool
    matches: list[tuple[int, int]] | None
    full_match: bool | str | None


def read(line: dict[str, Any]) -> Case:
    options = line.get("options", {})
    haystack = line.get("haystack", "")
    data = bytes.fromhex(haystack["bytes_hex"]) if isinstance(haystack, dict) else haystack.encode()
    bounds = options.get("bounds", [0, len(data)])
    if isinstance(bounds, dict):
        bounds = [bounds["start"], bounds["end"]]
    flags = ("i" if options.get("case-insensitive") else "") + (
        "" if options.get("unicode", True) else "-u"
    )
    kinds = (options.get("match-kind", "leftmost-first"), options.get("search-kind", "leftmost"))
    # A span, or the spans of the groups, of which the first is the whole.
    spans = line.get("matches", [])
    matches = [tuple(m if isinstance(m[0], int) else m[0]) for m in spans]
    return Case(
        id=line["id"],
        pattern=line["grammar"],
        haystack=data,
        flags=flags,
        of_bytes=isinstance(haystack, dict) or not options.get("utf8", True),
        bounds=(bounds[0], bounds[1]),
        anchored=options.get("anchored", False),
        leftmost=kinds == ("leftmost-first", "leftmost"),
        matches=None if line["full_match"] == "compile_error" else matches,
        full_match=line["full_match"],
    )


def cases() -> list[Case]:
    if not PATH.is_file():
        return []
    with gzip.open(PATH, "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return [
        read(line)
        for line in lines
        if not LEFT_OUT.keys() & {*line.get("options", {}), line["file"].split("/")[-1]}
    ]


class Searched:
    """A pattern in a haystack."""

    def __init__(self, case: Case) -> None:
        node = read_rust(case.pattern, DEFAULT_LIMITS, case.flags, of_bytes=case.of_bytes)
        self.of_bytes = isinstance(node, OfBytes)
        self.node = node.body if isinstance(node, OfBytes) else node
        self.case = case

    def _fixed(self, data: bytes) -> RegexNode:
        text = data if self.of_bytes else data.decode()
        return concat([chars(CodepointSet.of(c)) for c in text])

    def _accepts(self, node: RegexNode) -> bool:
        language = Language(lower(OfBytes(node) if self.of_bytes else node))
        state = language.after(self.case.haystack)
        return state != 0 and language.store.nullable(state)

    def matches(self, start: int, end: int) -> bool:
        """Whether the pattern matches [start, end), with what stands around it."""
        before, after = self.case.haystack[:start], self.case.haystack[end:]
        return self._accepts(concat([self._fixed(before), self.node, self._fixed(after)]))

    def begins_at(self, start: int) -> bool:
        """Whether a match begins there, and ends within the bounds."""
        haystack, (_, stop) = self.case.haystack, self.case.bounds
        if stop == len(haystack):
            anything = repetition(chars(BYTES if self.of_bytes else CodepointSet.ANY), 0, None)
            return self._accepts(concat([self._fixed(haystack[:start]), self.node, anything]))
        ends = [end for end in range(start, stop + 1) if self.is_place(end)]
        return any(self.matches(start, end) for end in ends)

    def is_place(self, at: int) -> bool:
        """Whether a match may begin or end there: in a text, not within a code point."""
        data = self.case.haystack
        return self.of_bytes or at == len(data) or data[at] & 0xC0 != 0x80


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_the_answers_of_rust(case):
    if case.full_match == "compile_error":
        with pytest.raises(RegexSyntaxError):
            read_rust(case.pattern, DEFAULT_LIMITS, case.flags)
        return
    searched = Searched(case)
    if case.id in OVER_BUDGET:
        with pytest.raises(LimitExceededError, match="max_source_nodes"):
            searched.matches(0, len(case.haystack))
        return
    if case.full_match is not None:
        assert searched.matches(0, len(case.haystack)) == case.full_match
    for start, end in case.matches:
        assert searched.matches(start, end)
    if not case.leftmost:
        return
    # No match begins before the first, nor between two. At the very end of one, a longer match may
    # begin that is not preferred to the empty one, which a search leaves out there. The records do
    # not say where a search stopped, so nothing is known behind the last.
    at, stop = case.bounds
    for start, end in case.matches or [(stop + 1, stop + 1)]:
        for place in range(at, min(start, at + 1 if case.anchored else stop + 1)):
            if searched.is_place(place):
                assert not searched.begins_at(place), place
        at = end + 1
        if case.anchored:
            break
