"""Whether every sequence of lexemes that the parser takes is the lexemes of some text.

Then no place is a dead end, and none need be searched for a way out. All lexemes of the grammar
are put into one contest; in a smaller one fewer bytes are live, and who wins here wins there. It
holds if, wherever a lexeme has ended, each other can begin with a byte that is not live; or if
something ignored of one byte can always stand between them.

    %ignore /[ ]+/   NAME: /[a-z]+/  "("       a blank ends any of them, and a name is no blank

A "no" only means that it is unknown. Cost: O(states of the contest * edges).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from constrain.frontends.llguidance.contest import Contest, End, Lexeme, Rows, State

__all__ = ["is_spacious"]

_STATES: Final = 10_000


def is_spacious(
    rows: Rows,
    lexemes: Sequence[Lexeme],
    ignored: int | None,
    others: Sequence[int],
    *,
    once: bool,
) -> bool:
    """Whether no place is a dead end.

    Args:
        rows: The store of the grammar.
        lexemes: All of them.
        ignored: The number of the one that may stand between others, if there is one.
        others: First bytes of what takes part in no contest.
        once: What is ignored may not come twice in a row.
    """
    contest = Contest(rows, lexemes)
    if not contest.explore(_STATES):
        return False
    firsts = [first for n, first in enumerate(_winning(contest, ignored)) if n != ignored]
    greedy = contest
    if any(lexeme.lazy for lexeme in lexemes):  # the most that can be live
        greedy = Contest(rows, [replace(lexeme, lazy=False) for lexeme in lexemes])
        if not greedy.explore(_STATES):
            return False
    ends = greedy.ends()
    if not all(firsts) or not all(f & ~e.live for f in others for e in ends):
        return False
    all_firsts = [*firsts, *others]
    if all(_is_open(end, all_firsts) for end in ends):
        return True
    if ignored is None:
        return False
    between = [e for e in ends if ignored in e.winners]
    after = [e for e in ends if ignored not in e.winners]
    return any(
        all(not e.live & byte for e in after)
        and all(_is_open(e, all_firsts) or (not once and not e.live & byte) for e in between)
        for byte in _separators(contest, ignored, all_firsts)
    )


def _separators(contest: Contest, ignored: int, firsts: Sequence[int]) -> list[int]:
    """Bytes that are something ignored, after which each lexeme can begin."""
    found: list[int] = []
    for target, mask in contest.nodes[contest.root].edges.items():
        end = contest.nodes[target].end
        if end is not None and ignored in end.winners and _is_open(end, firsts):
            found += _bits(mask)
    return found


def _is_open(end: End, firsts: Sequence[int]) -> bool:
    return all(first & ~end.live for first in firsts)


def _bits(mask: int) -> Sequence[int]:
    return [1 << n for n in range(mask.bit_length()) if mask >> n & 1]


def _winning(contest: Contest, ignored: int | None) -> list[int]:
    """For each lexeme the first bytes of texts with which it wins."""
    reached = dict.fromkeys(contest.nodes, 0)
    users: dict[State, list[State]] = {}
    for state, node in contest.nodes.items():
        if node.end is not None and ignored not in node.end.winners:
            for n in node.end.winners:
                reached[state] |= 1 << n
        for target in node.edges:
            users.setdefault(target, []).append(state)
    todo = [state for state, won in reached.items() if won]
    while todo:
        state = todo.pop()
        for user in users.get(state, ()):
            more = reached[user] | reached[state]
            if more != reached[user]:
                reached[user] = more
                todo.append(user)
    found = [0] * len(contest.lexemes)
    for target, mask in contest.nodes[contest.root].edges.items():
        for n in range(len(found)):
            if reached[target] >> n & 1:
                found[n] |= mask
    return found
