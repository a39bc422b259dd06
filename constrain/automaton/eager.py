"""Rows made before any sequence asks for them: `compile(eager=True)`.

The states are visited breadth first, byte by byte, from the start: all that tokens lead to, bytes
lead to as well, and tokens that the grammar names. Their rows are made, and with them what rows
share (bodies of rules, heads of strings, steps of the automaton), so that states not visited are
cheaper too if their parts were.

    {"name": "J   every state on the way here, and what else could stand there

What cannot be made ahead: states that depend on a text of which there is no end, such as the keys
an object has had so far, or the depth of nesting. Of those that differ only in the text being
captured one stands for all. And where such a text has ended, what follows it comes after everything
that no such text is needed for: all that a schema declares, before the second key it does not.

Alternatives considered: by tokens (100,000 ways on from a string, most to the same state); by depth
(one string, to its last character, before the next property).
"""

from __future__ import annotations

import heapq

from constrain.algebra.store import StateId, TermStore
from constrain.automaton.masks import MaskRows
from constrain.errors import LimitExceededError

__all__ = ["explore"]


def explore(
    store: TermStore, rows: MaskRows, start: StateId, *, num_states: int, max_terms: int
) -> bool:
    """Make the rows of states that can be reached from one.

    What a state costs, its row or a step from it, that goes past the limits is left to whoever
    visits it.

    Args:
        store: The terms of a grammar. Its lock is held for one state at a time.
        rows: Of the same grammar.
        start: A live state.
        num_states: How many states to visit at most.
        max_terms: Terms in the store at which to stop.

    Returns:
        Whether these are all states there are: each mask from now on is a copy, as long as its row
        is remembered. Never where a text is captured, or tokens are named or counted.

    Cost: 20-40 us a state (151,936 ids), a vocabulary's first strings some milliseconds each.
    """
    # By how many captured texts have ended on the way, then in the order found.
    todo = [(0, 0, start)]
    seen = {start}
    whole = True
    while todo:
        if num_states <= 0 or store.num_terms > max_terms:
            return False
        num_states -= 1
        num_ended, _, state = heapq.heappop(todo)
        with store.lock:
            try:
                rows.make(state)
            except LimitExceededError:
                whole = False
            try:
                captures = store.is_bytewise(state)
                whole &= not (captures or store.names_tokens or store.counts_tokens)
                found = store.states_after_one_byte(state)
                found += [store.after_token(state, code) for code in store.tokens_named]
                for after in filter(None, found):
                    blurred = store.blur(after)
                    if blurred not in seen:
                        seen.add(blurred)
                        ended = captures and not store.is_bytewise(after)
                        heapq.heappush(todo, (num_ended + ended, len(seen), after))
            except LimitExceededError:
                whole = False
    return whole
