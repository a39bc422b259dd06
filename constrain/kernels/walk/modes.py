"""How a walk is to go, and what it returns."""

from __future__ import annotations

# Modes of a walk.
PLAIN = 0
"""Every child of a live node is looked at. The reference of the others."""
PART = 1
"""Past plain text; else like PLAIN."""
DRAFT = 2
"""Like PART, for a mask that is all zero, which is summed up if all tokens are told. May end early.
"""
BASED_DRAFT = 3
"""Like DRAFT, where `mask` is what a DRAFT has told of the state asked for, arena[BASE]."""
ROW = 4
"""Like DRAFT, for a state that captures nothing: tokens are listed, or else the row gets its end
tokens and is summed up."""
BASED_ROW = 5
"""Like ROW, where `mask` is the row of the state asked for."""
BOUNDED_ROW = 6
"""Like ROW, once that has returned BOUNDED and it was not the same, FAR and it has none, or CLOSED
and it is not."""
LOOK = 7
"""No walk: `state` is flagged COVERS if any plain text may follow."""
SUM = 8
"""No walk: `mask` is a row, and is summed up."""
LONG_ROW = 9
"""Like ROW, to the end."""
AFTER = 10
"""Like PART, below some nodes at each of which the walk comes to `state`."""

# What a walk returns when it is over, or is not to be.
DONE = 0
LONG = -1
"""It is worth not making again."""
CAPTURES = -2
"""It comes to a text that is captured."""
NEEDS_BASE = -3
"""The row of arena[BASE] makes this one cheap."""
SAME = -4
"""The row of arena[BASE] is this one."""
BOUNDED = -5
"""It is if no token that it allows is longer than arena[BOUND] bytes."""
FAR = -6
"""It may have bounds that are far off (`automaton/far_bounds.py`)."""
CLOSED = -7
"""It lets much through, but not all plain text: what it begins with may be known already
(`automaton/closed.py`)."""
