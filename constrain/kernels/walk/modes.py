"""How a walk is to go, and what it returns: the language between `automaton/masks.py` and `walk`.

A walk for a row looks at its state first. Where that shows a way that is cheaper than to go on, it
returns at once with a result below, having written nothing but what it asks for.
"""

from __future__ import annotations

# Modes of a walk.
PLAIN = 0
"""Every child of every live node is looked at. All other modes give the same tokens."""
PART = 1
"""Like PLAIN, but where the state lets all plain text through, its tokens are copied."""
DRAFT = 2
"""Like PART, into a mask that is all zero, which is summed up if all tokens were decided. May
return a result below instead."""
BASED_DRAFT = 3
"""Like DRAFT, where `mask` begins as the draft of arena[BASE], and only what differs is walked."""
ROW = 4
"""Like DRAFT, for a state that captures no text, to a finished row: few tokens are listed; else the
mask gets the end tokens and is summed up."""
BASED_ROW = 5
"""Like ROW, where `mask` begins as the row of arena[BASE], and only what differs is walked."""
BOUNDED_ROW = 6
"""Like ROW, but does not return BOUNDED, FAR or CLOSED: the caller has tried what they say."""
LOOK = 7
"""No walk: `state` is flagged COVERS if any plain text may follow."""
SUM = 8
"""No walk: `mask` is a row, and is summed up."""
LONG_ROW = 9
"""Like ROW, but taken to its end, however long it takes."""
AFTER = 10
"""Like PART, below some nodes of the trie at each of which the walk comes to `state`."""

# What a walk returns: that it is over, or how the row is better made.
DONE = 0
"""It went to its end."""
LONG = -1
"""It gave up, because it takes long: the row of a head may be at hand (`automaton/heads.py`)."""
CAPTURES = -2
"""It came to a captured text, so the row depends on that text: a draft is needed."""
NEEDS_BASE = -3
"""Where the row of arena[BASE] is there, little is left to walk, in mode BASED_ROW."""
SAME = -4
"""The row is that of arena[BASE]."""
BOUNDED = -5
"""The row is that of arena[BASE] if no token in that is longer than arena[BOUND] bytes."""
FAR = -6
"""The state may have bounds that are far off (`automaton/far_bounds.py`)."""
CLOSED = -7
"""The state lets much through, but not all plain text: the rest of its string, with the quote, may
be known already (`automaton/closed.py`)."""
