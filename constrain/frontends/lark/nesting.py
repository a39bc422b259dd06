"""Whether what a grammar opens it closes: blocks and parentheses, which an `Indenter` counts.

An `Indenter` keeps counts beside the parser's stack. If each rule has one balance, and no text
closes more than is open, the counts are what the stack says and never in its way.

    suite: _NEWLINE _INDENT stmt+ _DEDENT      balance 0, never below 0

Cost: O(rules * size of the grammar), in practice a few passes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from constrain.frontends.lark.automaton import ROOT, Production

__all__ = ["is_nested"]


def is_nested(
    productions: Sequence[Production],
    opens: Collection[str],
    closes: Collection[str],
    outside: Collection[str] = (),
) -> bool:
    """Whether every sentence closes all that it opens, and nothing else.

    Args:
        productions: Reduced.
        opens: Terminals that open something.
        closes: Terminals that close it.
        outside: Terminals that must stand where nothing is open.
    """
    balance = dict.fromkeys(opens, 1) | dict.fromkeys(closes, -1)
    origins = {p.origin for p in productions}
    known: dict[str, int] = {}
    changed = True
    while changed:
        changed = False
        for origin, expansion in productions:
            if origin not in known and all([s in known or s not in origins for s in expansion]):
                known[origin] = sum([known.get(s, balance.get(s, 0)) for s in expansion])
                changed = True
    if known[ROOT] or any(
        [sum([known.get(s, balance.get(s, 0)) for s in e]) != known[o] for o, e in productions]
    ):
        return False
    lowest = dict.fromkeys(origins, 0)
    highest: dict[str, int] = {}  # of what must stand outside
    for _ in range(len(origins) + 1):
        changed = False
        for origin, expansion in productions:
            height, low, high = 0, lowest[origin], highest.get(origin)
            for symbol in expansion:
                low = min(low, height + lowest.get(symbol, 0))
                inner = 0 if symbol in outside else highest.get(symbol)
                if inner is not None:
                    high = height + inner if high is None else max(high, height + inner)
                height += known.get(symbol, balance.get(symbol, 0))
                low = min(low, height)
            if (low, high) != (lowest[origin], highest.get(origin)):
                changed = True
                lowest[origin] = low
                if high is not None:
                    highest[origin] = high
        if not changed:
            return lowest[ROOT] >= 0 and highest.get(ROOT, 0) <= 0
    return False
