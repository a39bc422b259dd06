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

A schema denotes a set of JSON values, and every keyword is an operation on sets; texts come last:

    {"allOf": [{"type": "string"}, {"minLength": 2}]}   nodes of the schema, with their keywords
    all_of(sets of both) = strings of length 2 or more  a `ShapeSet`: one union of shapes a type
    '"' character{2,} '"'                               a term: every spelling of these values

Within one type a set is a union of *shapes*, closed under and, or, not. Property values and items
are *expressions* over schema nodes, expanded when a text gets there; which of them have a value at
all is the least fixpoint over the shapes.

The files of each stage, in reading order; `compile` goes the whole way.

1. Read: `read` (text and Python data), `keywords` (the table of all keywords), `hints` (what was
   probably meant), `vocabularies`, `resources` (documents and URIs), `scope` (dynamic references),
   `circles`, `refs` (nodes and references), `same` and `uses` (nodes that mean the same, and where
   they are used), `openapi` (that dialect in terms of the others).
2. Sets: `values` (JSON values), `expr` (expressions), `number`, `string`, `array`, `object` (shapes
   of each type), `conjunction`, `shapes` (sets of all types, and their operations).
3. Keywords to sets: `assertions` (of one node), `patterns`, `formats`, `constants` (`enum` and
   `const`), `evaluated` (`unevaluated...`), `branches` (by cases), `meaning` (a node's set),
   `plain_sight` (sets that are seen to be disjoint).
4. Emptiness: `members` and `items` (objects and arrays step by step), `counts`, `emptiness`,
   `explain` (which keywords collide). `reading` has all so far, remembered for the next grammar.
5. Sets to terms: `style`, `text` (strings), `layout` (whitespace), `magnitudes`, `comparison`,
   `remainders`, `exponents`, `digits` (numbers), `staples` (terms that all schemas share), `lower`,
   `lower_array`, `joined_objects` (unions by the keys that must be there), `lower_object` with
   `taken` (keys that came before), `exclusion` (values that came before).
6. What is refused, dropped and reported: `refusals`, `late`, `audit`, `relax`, `report`.
7. Of a text: `position` (where it stands), `where` (in which schemas, and which keyword refuses).
"""

from __future__ import annotations

from constrain.frontends.json_schema.compile import SchemaGrammar, from_json_schema
from constrain.frontends.json_schema.report import KeywordUse
from constrain.frontends.json_schema.style import JSONStyle

__all__ = ["JSONStyle", "KeywordUse", "SchemaGrammar", "from_json_schema"]
