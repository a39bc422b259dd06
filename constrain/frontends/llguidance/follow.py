"""What may come after a terminal somewhere in a grammar, and what may come last in a text.

Facts about the grammar as a whole: more than may come at one place, and known without a look at it.

    s: "(" s ")" | "x"        after "x": ")"        last: "x", ")"

Cost: O(size of the grammar), a few times. Source: the sets FIRST and FOLLOW of Aho and Ullman.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from constrain.frontends.lark.automaton import ROOT, Production

__all__ = ["Follow"]


class Follow:
    """Of productions none of which is empty.

    Attributes:
        last: The terminals that a text may end with.
    """

    def __init__(self, productions: Sequence[Production]) -> None:
        origins = {p.origin for p in productions}
        begins = _closed([(p.origin, p.expansion[0]) for p in productions], origins)
        # What follows a symbol begins with what stands after it, or follows what it ends.
        ends = [(p.expansion[-1], p.origin) for p in productions]
        ended = _closed([(origin, last) for last, origin in ends], origins)
        self.last = ended.get(ROOT, set())
        direct: dict[str, set[str]] = {}
        for production in productions:
            for symbol, after in zip(production.expansion, production.expansion[1:], strict=False):
                found = begins[after] if after in origins else {after}
                direct.setdefault(symbol, set()).update(found)
        self._after: dict[str, set[str]] = {}
        for symbol, found in direct.items():
            for terminal in ended[symbol] if symbol in origins else {symbol}:
                self._after.setdefault(terminal, set()).update(found)

    def after(self, terminal: str) -> Iterable[str]:
        """The terminals that may come after one."""
        return self._after.get(terminal, ())


def _closed(pairs: Sequence[tuple[str, str]], origins: set[str]) -> dict[str, set[str]]:
    """For each origin the terminals that pairs lead to, over any number of origins."""
    found: dict[str, set[str]] = {origin: set() for origin in origins}
    users: dict[str, list[str]] = {}
    todo = []
    for origin, symbol in pairs:
        if symbol in origins:
            users.setdefault(symbol, []).append(origin)
        else:
            found[origin].add(symbol)
            todo.append(origin)
    while todo:
        symbol = todo.pop()
        for user in users.get(symbol, ()):
            if not found[symbol] <= found[user]:
                found[user] |= found[symbol]
                todo.append(user)
    return found
