"""The one small language that every front-end speaks.

In: terms, made by front-ends with the constructors of `terms`. Out: states (interned terms), what
follows a byte, whether a text is complete, whether anything can match at all. Decided here: the
normal form, derivatives, emptiness. Not decided here: what a schema or regex means (`frontends`),
which tokens spell which bytes (`vocab`, `automaton`).

Read in this order: `terms` (constructors), `reference` (the algebra, slow and obvious), `program`
(terms as instructions), `store` (the same by kernels, in flat arrays), `arena` (these arrays),
`rules` (rules by number), `prelude` (what many stores start with), `structure` (what a state is
made of); `within` (texts up to a number of tokens), `codepoints` and `utf8` (code points to bytes),
`tries` (finite sets of strings), `regular` (what `&` and `~` take), `printer` (bytes for messages),
`notation` (terms as a grammar that a person reads).
"""
