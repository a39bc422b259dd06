"""JSON Schema to terms, exactly."""

from __future__ import annotations

from constrain.frontends.json_schema.compile import SchemaGrammar, from_json_schema
from constrain.frontends.json_schema.refs import KeywordUse
from constrain.frontends.json_schema.style import JSONStyle

__all__ = ["JSONStyle", "KeywordUse", "SchemaGrammar", "from_json_schema"]
