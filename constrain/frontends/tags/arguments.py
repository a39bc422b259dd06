r"""The arguments of a call in a style that is not JSON, from the JSON Schema that they satisfy.

What a schema means is left to `json_schema`; here its objects are only written otherwise. Text in a
string is written as it is, so a string that has in it what ends one cannot be written: it is left
out, and where that would leave nothing, the schema is refused.

    >>> from constrain.algebra.store import TermStore
    >>> from constrain.frontends.tags.argument_styles import PARAMETERS
    >>> schema = {"properties": {"a": {"type": "string"}}, "additionalProperties": False}
    >>> term = arguments(schema, PARAMETERS["qwen_xml"])
    >>> store = TermStore()
    >>> start = store.intern(term)
    >>> [store.nullable(store.advance(start, w)) for w in (b"", b"<parameter=a>1<2</parameter>")]
    [True, True]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from constrain.algebra.terms import (
    Term,
    alt,
    cat,
)
from constrain.frontends.json_schema.lower import Lowering

# The states between two members are the same however members are spelled; only the spelling of this
# class is replaced here.
from constrain.frontends.json_schema.lower_object import object_term
from constrain.frontends.json_schema.read import JSON, read_schema
from constrain.frontends.json_schema.reading import READINGS, Reading, content_of
from constrain.frontends.json_schema.refs import Source
from constrain.frontends.json_schema.report import Report
from constrain.frontends.json_schema.style import JSONStyle, resolve_style
from constrain.frontends.tags.argument_members import Arguments
from constrain.frontends.tags.argument_styles import ArgumentStyle
from constrain.frontends.tags.argument_values import Values
from constrain.frontends.tags.unwritable import look
from constrain.limits import DEFAULT_LIMITS, Limits

__all__ = ["arguments", "json_object", "json_without"]


def arguments(
    schema: JSON,
    how: ArgumentStyle,
    *,
    style: str | JSONStyle = "canonical",
    property_order: str = "declared",
    kept_out: Iterable[str] = (),
    loose: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> Term:
    """The arguments that satisfy a schema; only objects do.

    Args:
        schema: A JSON Schema.
        how: How they are written.
        style: How JSON in them is written, and in which order arguments come.
        property_order: "any" frees the order.
        kept_out: Texts that no key or string has in it, as written.
        loose: Whitespace may stand around arguments and their values, as the style of JSON has it:
            none in "compact", any run in "any", else up to `max_whitespace` bytes. Around a string
            it is one line end at most.
        limits: Budgets.

    Raises:
        SchemaError: It is not a valid schema.
        UnsupportedFeatureError: Something cannot be honoured exactly: of the schema, or a key or
            string that this style cannot write.
        UnsatisfiableError: No object satisfies it.
        LimitExceededError: It is larger than the limits allow.
    """
    written = resolve_style(style, "any" if how.any_order else property_order)
    reading = _understand(schema, limits, objects=True)
    meaning, emptiness = reading.meaning, reading.emptiness
    with meaning.lock:
        shapes = [s for s in meaning.shapes(reading.expr).objects if emptiness.object_has_value(s)]
        writer = Values(meaning, emptiness, written, how, (how.mark, *kept_out), loose=loose)
        look(writer, shapes)
        return alt([Arguments(shape, writer).whole() for shape in shapes])


def json_without(
    schema: JSON,
    kept_out: Sequence[str],
    *,
    style: str | JSONStyle = "canonical",
    property_order: str = "declared",
    objects: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> Term:
    """The JSON texts of a schema of which no key and no string has certain texts in it, as written.

    Args:
        schema: A JSON Schema.
        kept_out: The texts.
        style: How the JSON is written.
        property_order: "any" frees the order.
        objects: Only objects count, as in `json_object`.
        limits: Budgets.

    Raises:
        As `arguments`.
    """
    written = resolve_style(style, property_order)
    reading = _understand(schema, limits, objects=objects)
    meaning, emptiness = reading.meaning, reading.emptiness
    with meaning.lock:
        writer = Values(meaning, emptiness, written, _JSON, kept_out, loose=False)
        look(writer, [], reading.expr)
        if not objects:
            return writer.text(reading.expr)
        shapes = [s for s in meaning.shapes(reading.expr).objects if emptiness.object_has_value(s)]
        around = writer.layout.around
        return cat(around, alt([object_term(shape, writer) for shape in shapes]), around)


_JSON: Final = ArgumentStyle('"$KEY":$VALUE', begin="{", between=",", end="}", string='"$VALUE"')
"""Of what is no argument of a call; only the form of nested values is used."""


def json_object(
    schema: JSON, *, style: str | JSONStyle = "canonical", limits: Limits = DEFAULT_LIMITS
) -> Term:
    """The JSON texts of the objects that satisfy a schema, whatever else does.

    Raises:
        As `arguments`.
    """
    reading = _understand(schema, limits, objects=True)
    meaning, emptiness = reading.meaning, reading.emptiness
    with meaning.lock:
        lowering = Lowering(meaning, emptiness, resolve_style(style))
        shapes = [s for s in meaning.shapes(reading.expr).objects if emptiness.object_has_value(s)]
        around = lowering.layout.around
        return cat(around, alt([object_term(shape, lowering) for shape in shapes]), around)


def _understand(schema: JSON, limits: Limits, *, objects: bool) -> Reading:
    """What a schema means, and that there is some value; some object, if only those count."""
    root = read_schema(schema, limits)
    content = content_of(root)
    key = ("objects" if objects else "arguments", content, limits)
    reading = None if content is None else READINGS.get(key)
    if reading is None:
        source = Source(root, None, None, limits)
        report = Report(source, asserts_formats=True)
        reading = Reading(root, source, report, limits, asserts_formats=True, objects=objects)
        if content is not None:
            READINGS.put(key, reading, len(content))
    return reading
