"""The whole way from a schema to a term, in one function."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any

from constrain.algebra.prelude import Prelude
from constrain.algebra.terms import Term
from constrain.errors import GrammarError, SchemaError, UnsupportedFeatureError
from constrain.frontends.json_schema.hints import wrapped_schema
from constrain.frontends.json_schema.keywords import DIALECTS
from constrain.frontends.json_schema.lower import Lowering
from constrain.frontends.json_schema.openapi import rewrite_openapi
from constrain.frontends.json_schema.read import JSON, read_schema
from constrain.frontends.json_schema.reading import READINGS, Reading, content_of
from constrain.frontends.json_schema.refs import Source
from constrain.frontends.json_schema.relax import Relaxation
from constrain.frontends.json_schema.report import KeywordUse, Report
from constrain.frontends.json_schema.staples import staples
from constrain.frontends.json_schema.style import JSONStyle, resolve_style
from constrain.limits import DEFAULT_LIMITS, Limits

__all__ = ["SchemaGrammar", "from_json_schema", "texts_of"]


class SchemaGrammar:
    """What a schema became.

    Attributes:
        term: The texts whose value satisfies it.
        prelude: Terms that it shares with other schemas in its style.
    """

    def __init__(self, term: Term, prelude: Prelude, report: Report) -> None:
        self.term = term
        self.prelude = prelude
        self._report = report

    @property
    def report(self) -> Sequence[KeywordUse]:
        """What is done with each keyword that can be reached, in the order read."""
        return self._report.uses()


def from_json_schema(
    schema: dict[str, Any] | bool | str,
    *,
    style: str | JSONStyle = "canonical",
    dialect: str | None = None,
    registry: Any = None,  # noqa: ANN401 - a referencing.Registry, imported only when used
    format: str = "assert",
    property_order: str = "declared",
    on_unsupported: str = "refuse",
    limits: Limits = DEFAULT_LIMITS,
) -> SchemaGrammar:
    """The JSON texts whose value satisfies a schema.

    Args:
        schema: A JSON Schema as Python data, or as JSON text (numbers are then kept exactly). It
            is copied.
        style: "canonical", "compact", "pretty", "flexible", "any" or a `JSONStyle`, see `style`.
        dialect: "draft4", "draft6", "draft7", "draft2019-09", "draft2020-12" or "openapi-3.0" (see
            `openapi`); None takes it from `$schema`, else draft 2020-12.
        registry: A `referencing.Registry` for references that leave the schema. Nothing is ever
            fetched.
        format: "assert": `format` is enforced where its name is known. "annotate": it says nothing.
        property_order: "any": properties may come in any order, whatever the style says.
            "declared": as the style has it, that is in the order of the schema, then the others,
            but free in style "any".
        on_unsupported: "refuse": what cannot be honoured exactly is an error. "relax": keywords
            that would be one are dropped, so that more is valid, never less, see `relax`; the
            report lists them. An unknown draft, for one, stays an error.
        limits: Budgets.

    Raises:
        GrammarError: An option has a value that it cannot have.
        SchemaError: It is not a valid schema.
        RegexSyntaxError: A pattern of it does not parse.
        UnsupportedFeatureError: Something cannot be honoured exactly; the error has its JSON
            pointer.
        UnsatisfiableError: No value satisfies it; the error names the keywords that collide.
        LimitExceededError: It, or what its keywords multiply to, is larger than the limits allow.

    Cost: one pass over what can be reached; then what the root needs. Subschemas are looked at when
    a text gets there, except below keywords that need complements (`not`, `oneOf`, `if`, ...).
    """
    how = resolve_style(style, property_order)
    _check_choice("format", format, ("assert", "annotate"))
    _check_choice("on_unsupported", on_unsupported, ("refuse", "relax"))
    _check_choice("dialect", dialect, (None, *DIALECTS))
    _check_registry(registry)
    root = read_schema(schema, limits)
    if (name := wrapped_schema(root)) is not None:
        raise SchemaError(
            f"this says nothing of values: it is no schema, but has one as {name!r}",
            pointer=f"#/{name}",
            hint=f"pass that alone: schema[{name!r}]",
        )
    return texts_of(
        root,
        how,
        dialect=dialect,
        registry=registry,
        asserts_formats=format == "assert",
        relaxes=on_unsupported == "relax",
        limits=limits,
    )


def texts_of(
    root: JSON,
    style: JSONStyle,
    *,
    dialect: str | None = None,
    registry: Any = None,  # noqa: ANN401 - as above
    asserts_formats: bool = True,
    relaxes: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> SchemaGrammar:
    """As `from_json_schema`, for a schema that `read_schema` returned, perhaps a part of it.

    Args:
        root: The schema; it is kept, and must not change.
        style: How to write.
        dialect: As there.
        registry: As there.
        asserts_formats: `format` is enforced.
        relaxes: What cannot be honoured exactly is dropped.
        limits: Budgets.

    Raises:
        As there.
    """
    content = None if relaxes or registry is not None else content_of(root)
    key = (content, dialect, asserts_formats, limits)
    if content is not None and (known := READINGS.get(key)) is not None:
        with suppress(UnsupportedFeatureError):  # in this style; it is said below
            return _written(known, style)
    source = Source(root, dialect, registry, limits)
    report = Report(source, asserts_formats=asserts_formats)
    relaxation = Relaxation(source, report)
    if relaxes:
        relaxation.drop_patterns(limits)
    while True:
        try:
            rewrite_openapi(source, report, asserts_formats=asserts_formats)
            reading = Reading(root, source, report, limits, asserts_formats=asserts_formats)
            made = _written(reading, style)
        except UnsupportedFeatureError as error:
            if not relaxes:
                if relaxation.can_drop(error):
                    ways = [error.hint] if error.hint else []
                    # Tools, tags and %json have schemas too, and no such option.
                    drop = "on_unsupported='relax' of Grammar.from_json_schema leaves it out"
                    error.hint = "; or ".join([*ways, drop])
                raise
            if not relaxation.drop(error):
                raise
        else:
            if content is not None:
                READINGS.put(key, reading, len(content))
            return made


def _written(reading: Reading, style: JSONStyle) -> SchemaGrammar:
    """The texts in a style."""
    with reading.meaning.lock:
        term = Lowering(reading.meaning, reading.emptiness, style).text(reading.expr)
    return SchemaGrammar(term, staples(style).prelude, reading.report)


def _check_choice(name: str, given: object, allowed: Collection[str | None]) -> None:
    if not (given is None or isinstance(given, str)) or given not in allowed:
        raise GrammarError(f"{name} must be {_either(allowed)}, not {given!r}")


def _either(allowed: Collection[str | None]) -> str:
    *others, last = [repr(value) for value in allowed]
    return f"{', '.join(others)} or {last}"


def _check_registry(registry: object) -> None:
    if registry is None:
        return
    from referencing import Registry

    if not isinstance(registry, Registry):
        raise GrammarError(
            f"registry must be a referencing.Registry, not a {type(registry).__name__}",
            hint="referencing.Registry().with_contents([(uri, schema), ...])",
        )
