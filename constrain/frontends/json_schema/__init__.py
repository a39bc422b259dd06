"""JSON Schema to terms, exactly.

In: a schema (Python data, or JSON text) of draft 4 to 2020-12 or OpenAPI 3.0, and a style. Out: a
term, the JSON texts whose value satisfies the schema, and a report of what was done with each
keyword. Decided here: what every keyword means, which schemas have a value at all, how values are
written. What cannot be honoured exactly raises `UnsupportedFeatureError` with a JSON pointer, or is
dropped and reported, if that is asked for. Not decided here: what a pattern matches
(`frontends.regex`), which tokens spell which bytes (`vocab`, `automaton`).

    >>> grammar = from_json_schema({"type": "array", "items": {"minimum": 3}, "maxItems": 2})
    >>> grammar.report[0]
    KeywordUse(pointer='#', keyword='type', use='enforced', reason='')

A schema is a set of JSON values, and every keyword is a set operation; texts come last. Within one
kind of value a set is a union of shapes, closed under and, or, not. Property values and items are
expressions over schema nodes, expanded when asked for; which of them have a value is the least
fixpoint over the shapes.

Read in this order:
what comes in: `read` (text and Python data), `keywords` (the support table), `hints`,
`vocabularies`, `resources` (documents), `scope`, `refs` (nodes and references), `same`, `uses`;
what becomes of it: `report`, `openapi` (a dialect in terms of the others), `relax` (what may be
dropped); sets: `values`, `expr`, `number`, `string`, `array`, `object`,
`conjunction`, `shapes`;
what keywords mean: `assertions`, `patterns`, `formats`, `constants`, `evaluated`, `branches`,
`meaning`, `plain_sight`;
what there is: `members` and `items` (step by step), `counts`, `emptiness`, `explain` (why nothing);
texts: `style`, `text`, `layout`, `magnitudes`, `comparison`, `remainders`, `exponents`, `digits`,
`staples` (what all schemas share), `lower`, `lower_array`, `lower_object` with `taken` (keys that
came), `exclusion`; and what they cannot say: `refusals`, `late`, `audit`. `reading` is all before
texts, remembered for the next grammar, and `compile` the whole way. `position` and `where` say
where a text stands, and which keyword refuses it.
"""

from __future__ import annotations

from constrain.frontends.json_schema.compile import SchemaGrammar, from_json_schema
from constrain.frontends.json_schema.report import KeywordUse
from constrain.frontends.json_schema.style import JSONStyle

__all__ = ["JSONStyle", "KeywordUse", "SchemaGrammar", "from_json_schema"]
