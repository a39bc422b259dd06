"""A grammar over a vocabulary: states and mask rows, made as they are visited.

In: a `Grammar` and a `Vocabulary`. Out: an `Automaton`, which says for a state which tokens may
follow and where each leads; every sequence under the grammar shares it. Decided here: which rows
are kept, when rules are made ahead of need, what one lock guards. Not decided here: what a state
means (`algebra`), where one sequence stands (`matcher`).

Read in this order: `automaton` (states), `steps` (what is known of them), `ticks` (states where a
token ends), `masks` (how a row is made: its docstring lists the ways), `rows` and `draft` (finished
and unfinished ones), `walker` and `scratch` (walks of the vocabulary), `slices` (plain text),
`far_bounds`, `inclusion` and `long_tokens` (bounds that matter for long tokens only), `closed`
(rests of strings and what follows them), `heads` and `headwalk` (the same where a count tells the
rest), `named` (tokens that are steps of their own), `settle` (tokens that a walk cannot decide),
`eager` (rows ahead of need).
"""

from constrain.automaton.automaton import Automaton
from constrain.automaton.masks import MaskRows
from constrain.automaton.rows import MaskRow

__all__ = ["Automaton", "MaskRow", "MaskRows"]
