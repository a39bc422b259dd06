"""The whole way from a type to a term, in one function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from constrain.algebra.terms import Term
from constrain.frontends.json_schema import JSONStyle, KeywordUse, SchemaGrammar, from_json_schema
from constrain.frontends.json_schema.style import resolve_style
from constrain.frontends.pydantic.adapter import adapter_of, config_of, name_of
from constrain.frontends.pydantic.numeric import MOST_DIGITS
from constrain.frontends.pydantic.reader import CoreReader
from constrain.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = ["PydanticGrammar", "from_pydantic"]


class PydanticGrammar:
    """What a type became.

    Attributes:
        term: The texts.
        prelude: Terms that it shares with other schemas in its style.
        schema: The JSON Schema in between, whose pointers the report and errors have.
        options: Keyword arguments of `from_json_schema` with which it was read.
        adapter: Reads a text back.
        name: The type, for messages.
    """

    def __init__(
        self,
        made: SchemaGrammar,
        schema: Any,  # noqa: ANN401 - JSON
        options: dict[str, Any],
        adapter: TypeAdapter[Any],
    ) -> None:
        self.term: Term = made.term
        self.prelude = made.prelude
        self.schema = schema
        self.options = options
        self.adapter = adapter
        self.name = name_of(adapter)
        self._made = made

    @property
    def report(self) -> Sequence[KeywordUse]:
        """What is done with each keyword of `schema`."""
        return self._made.report


def from_pydantic(
    model: Any,  # noqa: ANN401 - whatever pydantic can make a type of
    *,
    style: str | JSONStyle = "canonical",
    property_order: str = "declared",
    limits: Limits = DEFAULT_LIMITS,
) -> PydanticGrammar:
    """The JSON texts that validate as a type.

    Args:
        model: A `BaseModel` class, a dataclass, TypedDict, NamedTuple, enum, `Union`, `Annotated`
            or other type, or a `TypeAdapter`.
        style: "canonical", "any" or a `JSONStyle`. Numbers are always written plainly, with at
            most 300 digits before and after the point: `1.0` and `1e2` are no integers where
            pydantic is strict.
        property_order: As of `from_json_schema`.
        limits: Budgets.

    Raises:
        BackendUnavailableError: pydantic is not installed.
        GrammarError: `model` is no type that pydantic knows.
        UnsupportedFeatureError: Something of it cannot be honoured; the message names the field.
        UnsatisfiableError: No text validates.
        LimitExceededError: It is larger than the limits allow.
    """
    how = resolve_style(style)
    how = replace(
        how,
        numbers="plain",
        integer_digits=min(how.integer_digits, MOST_DIGITS),
        fraction_digits=min(how.fraction_digits, MOST_DIGITS),
    )
    adapter = adapter_of(model)
    core: Any = adapter.core_schema
    schema = CoreReader(core, config_of(adapter), name_of(adapter)).schema()
    options: dict[str, Any] = {"style": how, "property_order": property_order}
    made = from_json_schema(schema, **options, limits=limits)
    return PydanticGrammar(made, schema, options, adapter)
