r"""GBNF to terms: llama.cpp's grammars, and what xgrammar's EBNF adds.

In: a grammar as text, and the name of its root. Out: a term. Decided here: the syntax, that a class
or `.` is one code point, and what is refused; all splits are tried, there is no lexer. Not decided
here: how recursion becomes rules (`cfg`), how code points are spelled (`algebra`), whether a
vocabulary has the tokens that are named (`automaton`).

    >>> term = from_gbnf('root ::= root "," item | item\nitem ::= [a-z]{2,}')
    >>> term.nullable
    False

What differs from llama.cpp: left recursion works; counts are exact, however large; a rule that is
defined twice, a class without members and a range out of order are errors. What differs from
xgrammar: `.` is any code point, so no part of a name; `\x` has two digits; a quantifier may follow
another. Lookahead as xgrammar prints it, `(=...)`, is read and says nothing, as there.

Read in this order: `reader` (characters, names), `options` (in brackets after a name), `macros`
(`Regex(...)` and others), `syntax` (rules to expressions), `compile` (names resolved, terms),
`explain` (where a text stands).
"""

from __future__ import annotations

from constrain.frontends.gbnf.compile import from_gbnf

__all__ = ["from_gbnf"]
