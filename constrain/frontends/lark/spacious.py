r"""Whether a lexer can always produce the lexeme that a parser waits for.

It can if blanks may stand between any two lexemes, and each terminal has a text that, between
blanks, is scanned as that terminal whatever else competes. Then every sequence of lexemes that the
parser takes is a text, and no boundary is a dead end. Most grammars of languages are like that.

    %ignore " "   NAME: /[a-z]+/   IF: "if"        " a " is a NAME, " if " an IF
    A: "a"   B: "a"                                no text is a B: not spacious

The check tries one short text for each terminal with `re`, so a "no" only means that it is unknown.
Cost: O(terminals^2) matches of short texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

__all__ = ["is_spacious"]

_BLANKS: Final = (" ", "\n", "\t")


def is_spacious(
    terminals: Iterable[Any],
    ignored: Iterable[str],
    samples: Mapping[str, Sequence[str]],
    *,
    compete: bool,
) -> bool:
    """Whether every sequence of terminals is the lexemes of some text.

    Args:
        terminals: lark's definitions of all of them.
        ignored: Those that may stand anywhere.
        samples: Texts of each terminal to try.
        compete: The first terminal in lark's order wins; else each is tried alone.
    """
    order = sorted(
        terminals,
        key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name),
    )
    patterns = {t.name: re.compile(t.pattern.to_regexp()) for t in order}
    for name in dict.fromkeys(ignored):
        for blank in _BLANKS:
            if patterns[name].fullmatch(blank) and all(
                any(
                    _is_scanned(order, patterns, (name, blank, t, text), compete=compete)
                    for text in samples[t.name]
                )
                for t in order
                if t.name != name
            ):
                return True
    return False


def _is_scanned(
    order: Sequence[Any],
    patterns: Mapping[str, re.Pattern[str]],
    sample: tuple[str, str, Any, str],
    *,
    compete: bool,
) -> bool:
    """Whether blank, text, blank is scanned as that, at the start of a text and after another."""
    name, blank, terminal, text = sample
    whole = blank + text + blank
    end = len(blank) + len(text)
    for before in ("", "x", "0"):
        start = len(before)
        placed = before + whole
        first = patterns[name].match(placed, start)
        if first is None or first.end() != start + len(blank):
            return False
        matched = patterns[terminal.name].match(placed, start + len(blank))
        if matched is None or matched.end() != start + end:
            return False
        if compete and not (
            _wins(order, patterns, name, placed, start)
            and _wins(order, patterns, terminal.name, placed, start + len(blank))
        ):
            return False
    return True


def _wins(
    order: Sequence[Any],
    patterns: Mapping[str, re.Pattern[str]],
    name: str,
    text: str,
    at: int,
) -> bool:
    """Whether no terminal that is tried before matches; a pattern whose text it takes may."""
    mine = patterns[name].match(text, at)
    assert mine is not None
    (winner,) = [t for t in order if t.name == name]
    for terminal in order:
        if terminal is winner:
            continue
        other = patterns[terminal.name].match(text, at)
        if other is None:
            continue
        before = order.index(terminal) < order.index(winner)
        takes_over = (
            winner.pattern.type == "str"
            and terminal.pattern.type == "re"
            and terminal.priority == winner.priority
            and other.end() == mine.end()
        )
        taken_over = (
            winner.pattern.type == "re"
            and terminal.pattern.type == "str"
            and other.end() == mine.end()
        )
        if taken_over or (before and not takes_over):
            return False
    return True
