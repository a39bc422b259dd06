"""Dialects that a metaschema of the caller makes: a draft with some of its vocabularies.

A metaschema lists vocabularies under `$vocabulary` (since draft 2019-09). Keywords of a vocabulary
that is not listed say nothing then: they are annotations, as unknown keywords are.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Final

from constrain.errors import UnsupportedFeatureError
from constrain.frontends.json_schema.keywords import Dialect
from constrain.frontends.json_schema.read import JSON

__all__ = ["narrowed"]

_APPLICATOR: Final = (
    "prefixItems items additionalItems contains additionalProperties properties patternProperties "
    "dependentSchemas dependencies propertyNames if then else allOf anyOf oneOf not"
)
_UNEVALUATED: Final = "unevaluatedItems unevaluatedProperties"
_VALIDATION: Final = (
    "type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength "
    "minLength pattern maxItems minItems uniqueItems maxContains minContains maxProperties "
    "minProperties required dependentRequired"
)
_ANNOTATIONS: Final = {"core": "", "meta-data": "", "content": ""}
_VOCABULARIES: Final[dict[str, dict[str, str]]] = {
    "draft2019-09": {
        "https://json-schema.org/draft/2019-09/vocab/" + name: keywords
        for name, keywords in {
            **_ANNOTATIONS,
            "applicator": f"{_APPLICATOR} {_UNEVALUATED}",
            "validation": _VALIDATION,
            "format": "format",
        }.items()
    },
    "draft2020-12": {
        "https://json-schema.org/draft/2020-12/vocab/" + name: keywords
        for name, keywords in {
            **_ANNOTATIONS,
            "applicator": _APPLICATOR,
            "unevaluated": _UNEVALUATED,
            "validation": _VALIDATION,
            "format-annotation": "format",
            "format-assertion": "format",
        }.items()
    },
}
"""For each draft that has vocabularies: the keywords of each, beyond those of the core, which
cannot be left out, and annotations, which make no difference."""


def narrowed(base: Dialect, metaschema: dict[str, JSON], uri: str) -> Dialect:
    """The dialect of schemas that name a metaschema of some draft as theirs.

    Args:
        base: The draft.
        metaschema: The metaschema.
        uri: Its name.

    Raises:
        UnsupportedFeatureError: It requires a vocabulary that is not known.
    """
    listed, known = metaschema.get("$vocabulary"), _VOCABULARIES.get(base.name)
    if known is None or not isinstance(listed, dict):
        return base
    kept: set[str] = set()
    asserts_formats = False
    for name, required in listed.items():
        if name in known:
            kept.update(known[name].split())
            # Draft 2019-09 asserts formats if its vocabulary is required, 2020-12 has one that
            # always does.
            asserts_formats = (
                asserts_formats
                or name.endswith("/format-assertion")
                or (name.endswith("/format") and required is True)
            )
        elif required:
            raise UnsupportedFeatureError(
                f"the metaschema {uri!r} requires the vocabulary {name!r}, which is not known",
                pointer="#/$schema",
                hint="mark it as optional (false) in the metaschema if it only annotates",
            )
    optional = {word for keywords in known.values() for word in keywords.split()}
    table = {k: v for k, v in base.keywords.items() if k in kept or k not in optional}
    return replace(base, uri=uri, keywords=MappingProxyType(table), asserts_formats=asserts_formats)
