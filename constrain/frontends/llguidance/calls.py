"""Rules that count tokens: what they may not be.

A count begins with the first byte of a rule. A rule that may begin with itself would have to begin
to count once for each time that it does, and no text says how often that is.

    sub[max_tokens=3]: @list        list: sub "," item | item       refused
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from constrain.errors import UnsupportedFeatureError
from constrain.frontends.lark.automaton import Production, deriving
from constrain.frontends.llguidance.productions import Counted
from constrain.frontends.llguidance.stacks import name_of

__all__ = ["refuse_calls_first_in_themselves"]


def refuse_calls_first_in_themselves(
    productions: Sequence[Production], calls: Mapping[str, Counted]
) -> None:
    """Refuse a call that may be the first in itself, with nothing before it.

    Raises:
        UnsupportedFeatureError: There is one.
    """
    if not calls:
        return
    nullable = deriving(productions)
    first: dict[str, set[str]] = {}
    for origin, expansion in productions:
        for symbol in expansion:
            first.setdefault(origin, set()).add(symbol)
            if symbol not in nullable:
                break
    for call, counted in calls.items():
        reached: set[str] = set()
        todo = [call]
        while todo:
            new = first.get(todo.pop(), set()) - reached
            reached |= new
            todo += new
        if call in reached:
            raise UnsupportedFeatureError(
                f"rule {name_of(call)!r} has max_tokens, and may begin with itself: its tokens "
                "cannot be counted from its first byte, as that may be the first of several",
                source=counted.source,
                span=counted.span,
                hint="let something come first in it, or repeat it instead: (...)+",
            )
