"""pydantic's types to terms: texts that `model_validate_json` accepts.

In: a model, dataclass, TypedDict, NamedTuple, enum, union, any other type that pydantic can
validate, or a `TypeAdapter`; and a style. Out: a term and a report, as of `json_schema`, and the
adapter that reads the texts back. Decided here: what a core schema of pydantic's accepts, in the
words of JSON Schema. Not decided here: what these words mean (`json_schema`).

    >>> from_pydantic(dict[str, int]).schema
    {'type': 'object', 'additionalProperties': {'type': 'integer'}}

The JSON Schema that pydantic publishes is wider than what it validates: it leaves out bounds of
dates, digits of decimals, host names of URLs, tags that have a default, aliases but one. So the
core schema is read instead, the one that validates. Every text of the result validates, but for
what validators written by the user reject, and for arrays and objects nested deeper than the 200
levels that pydantic parses. Not every text that validates is in the result: a type has many
spellings, and one or two of them are enough for a model to write. `read_...` functions say which.

Read in this order:
what comes in: `adapter`, `core` (parts of a core schema); `reader` (the table, names, questions);
single values: `numeric`, `strings`, `patterns`, `temporal`, `network`, `ranges`; `unions`; made of
others: `containers`, `objects`, `json_text`; code: `functions`, `results`, `hooks`. `compile` is
the whole way.
"""

from __future__ import annotations

from constrain.frontends.pydantic.adapter import adapter_of
from constrain.frontends.pydantic.compile import PydanticGrammar, from_pydantic

__all__ = ["PydanticGrammar", "adapter_of", "from_pydantic"]
