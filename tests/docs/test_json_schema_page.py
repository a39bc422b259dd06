"""`docs/json-schema.md` is what its generator writes, and says something of everything."""

from __future__ import annotations

import re

from constrain.frontends.json_schema.formats import FORMATS
from constrain.frontends.json_schema.keywords import DIALECTS
from docs.generate import PAGE, render


def test_the_page_is_what_the_generator_writes() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run python -m docs.generate"


def test_every_keyword_and_format_has_a_row() -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE))
    keywords = {name for dialect in DIALECTS.values() for name in dialect.keywords}
    assert keywords | set(FORMATS) <= rows
