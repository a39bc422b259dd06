"""What people write, to terms.

In: a regular expression, a JSON Schema, a grammar. Out: terms (`algebra`), and what a
front-end wants to report about its input. Decided here: what the input means. Not decided here:
which texts and tokens may come next (`algebra`, `automaton`).

One folder each, none of which imports another unless it contains that language: `regex` (patterns),
`json_schema` (whose `pattern` keyword is a regex), `pydantic` (whose types become JSON Schemas),
`cfg` (context-free grammars, which others are written in), `gbnf` (grammars of llama.cpp), `lark`
(grammars of the library lark), `llguidance` (that engine's dialect of them, with schemas inside),
`tags` (tool calls and other structure in free text, with schemas, patterns and grammars inside),
and `choices` (a list of texts).
`explanation` is what those that can say where a text stands have in common; `mistaken` is what is
said to whoever gave a file name, a grammar of another kind, or a name that nothing has;
`components` cuts a graph into its strongly connected components.
"""
