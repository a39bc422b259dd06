"""The names that options of `Grammar.from_...` may have, so that editors and type checkers know."""

from __future__ import annotations

from typing import Literal

__all__ = [
    "FormatUse",
    "LarkDialect",
    "LarkLexer",
    "LarkParser",
    "OnUnsupported",
    "PropertyOrder",
    "RegexDialect",
    "SchemaDialect",
    "StyleName",
]

StyleName = Literal["canonical", "compact", "pretty", "flexible", "any"]
SchemaDialect = Literal["draft4", "draft6", "draft7", "draft2019-09", "draft2020-12", "openapi-3.0"]
FormatUse = Literal["assert", "annotate"]
PropertyOrder = Literal["declared", "any"]
OnUnsupported = Literal["refuse", "relax"]
RegexDialect = Literal["python", "ecma", "rust"]
LarkDialect = Literal["auto", "lark", "llguidance"]
LarkParser = Literal["lalr", "earley"]
LarkLexer = Literal["auto", "contextual", "basic", "dynamic", "dynamic_complete"]
