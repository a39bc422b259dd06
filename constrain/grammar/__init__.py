"""A language, from whatever a person wrote, before any vocabulary is known.

In: a schema, a pattern, a grammar, tools, or grammars that are put together. Out: a `Grammar`: its
term, verdicts about whole texts, and where a text leaves it. Decided here: what is said to users,
what a grammar remembers of how it was made. Not decided here: what a text means (`frontends`),
which tokens may come (`automaton`).

Read in this order: `grammar` (all that one does with a grammar), `sources` (what people write, and
how it is read), `options` (the names that options may have), `recogniser` (which texts are in a
language) and `rejection` (where one leaves it), `recipe` (a grammar in another process).
"""

from __future__ import annotations

from constrain.frontends.explanation import Derivation, Explanation
from constrain.grammar.grammar import Grammar
from constrain.grammar.rejection import Rejection

__all__ = ["Derivation", "Explanation", "Grammar", "Rejection"]
