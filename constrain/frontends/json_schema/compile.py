"""The whole way from a schema to a term, in one function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from constrain.algebra.terms import Term
from constrain.frontends.json_schema.audit import audit, needs_audit
from constrain.frontends.json_schema.emptiness import Emptiness
from constrain.frontends.json_schema.explain import unsatisfiable
from constrain.frontends.json_schema.formats import FORMATS
from constrain.frontends.json_schema.lower import Lowering
from constrain.frontends.json_schema.meaning import Meaning
from constrain.frontends.json_schema.read import read_schema
from constrain.frontends.json_schema.refs import KeywordUse, Source
from constrain.frontends.json_schema.style import JSONStyle, resolve_style
from constrain.limits import DEFAULT_LIMITS, Limits

__all__ = ["SchemaGrammar", "from_json_schema"]


class SchemaGrammar:
    """What a schema became.

    Attributes:
        term: The texts whose value satisfies it.
    """

    def __init__(self, term: Term, source: Source, *, asserts_formats: bool) -> None:
        self.term = term
        self._source = source
        self._asserts_formats = asserts_formats

    @property
    def report(self) -> Sequence[KeywordUse]:
        """What is done with each keyword that can be reached, in the order read."""
        return tuple(self._source.uses(FORMATS if self._asserts_formats else ()))


def from_json_schema(
    schema: dict[str, Any] | bool | str,
    *,
    style: str | JSONStyle = "canonical",
    dialect: str | None = None,
    registry: Any = None,  # noqa: ANN401 - a referencing.Registry, imported only when used
    format: str = "assert",
    limits: Limits = DEFAULT_LIMITS,
) -> SchemaGrammar:
    """The JSON texts whose value satisfies a schema.

    Args:
        schema: A JSON Schema as Python data, or as JSON text (numbers are then kept exactly). It
            is copied.
        style: "canonical", "any" or a `JSONStyle`.
        dialect: "draft4", "draft6", "draft7", "draft2019-09" or "draft2020-12"; None takes it from
            `$schema`, else the last.
        registry: A `referencing.Registry` for references that leave the schema. Nothing is ever
            fetched.
        format: "assert": `format` is enforced where its name is known. "annotate": it says nothing.
        limits: Budgets.

    Raises:
        SchemaError: It is not a valid schema.
        RegexSyntaxError: A pattern of it does not parse.
        UnsupportedFeatureError: Something cannot be honoured exactly; the error has its JSON
            pointer.
        UnsatisfiableError: No value satisfies it; the error names the keywords that collide.
        LimitExceededError: It, or what its keywords multiply to, is larger than the limits allow.

    Cost: one pass over what can be reached; then what the root needs. Subschemas are looked at
        when a
    text gets there, except below keywords that need complements (`not`, `oneOf`, `if`, ...).
    """
    how = resolve_style(style)
    if format not in ("assert", "annotate"):
        raise ValueError(f"format must be 'assert' or 'annotate', not {format!r}")
    root = read_schema(schema, limits)
    source = Source(root, dialect, registry, limits)
    asserts = format == "assert"
    meaning = Meaning(source, limits, asserts_formats=asserts)
    meaning.check()
    emptiness = Emptiness(meaning)
    expr = meaning.expr(root)
    if not emptiness.has_value(expr):

        def is_empty() -> bool:
            other = Meaning(source, limits, asserts_formats=asserts)
            return not Emptiness(other).has_value(other.expr(root))

        raise unsatisfiable(source.nodes, is_empty)
    if needs_audit(source):
        audit(expr, meaning, emptiness)
    return SchemaGrammar(
        Lowering(meaning, emptiness, how).text(expr), source, asserts_formats=asserts
    )
