"""One sequence under a grammar, step by step.

In: a grammar and a vocabulary, then tokens or bytes. Out: bitmasks of what may come next, whether
the text may end. Decided here: what a step is, what each verb does before and after the end. Not
decided here: which states there are (`automaton`), which token is drawn (`sampling`).

Read in this order: `compile` (the way in), `cache` (for servers), `matcher` (one sequence), `past`
(its steps so far), `batch` (many), `bitmask` (packed masks and logits), `warmup`.
"""

from constrain.matcher.batch import fill_next_token_bitmasks
from constrain.matcher.bitmask import allocate_token_bitmask, apply_token_bitmask
from constrain.matcher.cache import GrammarCache
from constrain.matcher.compile import CompiledGrammar, compile
from constrain.matcher.matcher import Matcher
from constrain.matcher.warmup import warmup

__all__ = [
    "CompiledGrammar",
    "GrammarCache",
    "Matcher",
    "allocate_token_bitmask",
    "apply_token_bitmask",
    "compile",
    "fill_next_token_bitmasks",
    "warmup",
]
