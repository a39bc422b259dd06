"""Tags: structure inside free text, such as tool calls and reasoning.

In: texts to wait for, and what follows each. Out: a term. Decided here: where free text ends, and
which texts may also be special tokens. Not decided here: which special tokens a vocabulary has
(`automaton`).

Read in this order: `markers` (texts that may be special tokens), `free_text` (until a trigger).
"""
