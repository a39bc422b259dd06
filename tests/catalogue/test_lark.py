"""Lark grammars of the catalogue: the verdicts of lark itself, with each parser that builds them.

What is compared: the texts of the catalogue, sentences drawn under masks, and near misses of both.
The Earley parser of lark takes quadratic time and more where a grammar is ambiguous: short texts.
"""

from __future__ import annotations

import random
from typing import Any

import lark
import pytest

from constrain import Grammar
from tests.catalogue.drawing import Walker, vocabulary_of
from tests.catalogue.entries import LARK_NAMES, Entry, entry
from tests.catalogue.test_walks import walks
from tests.frontends.lark.agreement import lark_accepts, near_misses

LONGEST = {"lalr": 3000, "earley": 120}
WALKS = 100
MISSES = {"lalr": 400, "earley": 120}


def options_of(found: Entry, parser: str) -> dict[str, Any]:
    """What the catalogue says, or the other parser with the lexer that it has by default."""
    options = found.lark_options()
    if options["parser"] != parser:
        options.pop("lexer", None)
    return {**options, "parser": parser}


@pytest.mark.parametrize("parser", ["lalr", "earley"])
@pytest.mark.parametrize("name", LARK_NAMES)
def test_verdicts_are_those_of_lark(name, parser):
    found = entry(name)
    options = options_of(found, parser)
    own = found.loaded.options.options.get("parser", "lalr") == parser
    if parser == "earley" and "postlex" in options:
        pytest.skip("an Indenter needs the parser lalr")
    try:
        theirs = lark.Lark(found.loaded.text, **options)
    except lark.exceptions.GrammarError as error:
        assert not own
        pytest.skip(f"lark does not build it with this parser: {str(error).splitlines()[0]}")
    ours = found.grammar if own else Grammar.from_lark(found.loaded.text, **options)
    texts = [text.data for text in found.accept]
    walker = Walker(found.grammar, vocabulary_of(texts), theirs=found.theirs, seed=2)
    drawn = [text.decode() for text in walks(walker, texts, int(WALKS * found.share))]
    known = [text.data.decode() for text in found.loaded.fixtures] + drawn
    short = [text for text in dict.fromkeys(known) if len(text) <= LONGEST[parser]]
    draw = random.Random(3)
    some = draw.sample(short, min(len(short), 60))
    misses = near_misses(some, 10)
    for text in [
        *short[:200],
        *draw.sample(misses, min(len(misses), int(MISSES[parser] * found.share))),
    ]:
        expected = lark_accepts(theirs, text)
        if expected is not None:
            assert ours.accepts(text.encode()) == expected, text
