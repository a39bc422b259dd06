"""The one small language that every front-end speaks.

In: terms, made by front-ends with the constructors of `terms`. Out: states (interned terms), what
follows a byte, whether a text is complete, whether anything can match at all. Decided here: the
normal form, derivatives, emptiness. Not decided here: what a schema or regex means (`frontends`),
which tokens spell which bytes (`vocab`, `automaton`).

Read in this order: `terms` (constructors), `reference` (the algebra, slow and obvious), `program`
(terms as instructions), `store` (the same by kernels, in flat arrays), `arena` (these arrays),
`codepoints` and `utf8` (code points to bytes), `tries` (finite sets of strings), `regular` (what
`&` and `~` take), `structure` (what a state is made of), `printer` (bytes for messages), `notation`
(terms as a grammar that a person reads).
"""
