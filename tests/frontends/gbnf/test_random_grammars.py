"""Random grammars, written down as GBNF and read again, against the recogniser that knows sets."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings

from constrain import Grammar
from tests.frontends.cfg.grammars import grammars
from tests.reference.cfg_recogniser import Sentences


def written(e):
    match e:
        case ("text", text):
            return f'"{text.decode()}"'
        case ("set", members):
            return f"[{members.decode()}]"
        case ("symbol", name):
            return name
        case ("sequence", *parts):
            return f"( {' '.join(map(written, parts))} )"
        case ("choice", *members):
            return f"( {' | '.join(map(written, members))} )"
        case ("repeat", body, lo, hi):
            return f"( {written(body)} ){{{lo},{'' if hi is None else hi}}}"
    raise AssertionError(e)


def has_empty_choice(e):
    return e == ("choice",) or any(has_empty_choice(part) for part in e if isinstance(part, tuple))


@settings(max_examples=100)
@given(grammars(("s", "t")))
def test_what_is_written_is_what_is_read(productions):
    told = Sentences(productions, 4)
    if not told.productive["s"] or any(map(has_empty_choice, productions.values())):
        return
    text = "\n".join(f"{name} ::= {written(e)}" for name, e in productions.items())
    grammar = Grammar.from_gbnf(text, root="s")
    for length in range(5):
        for data in map(bytes, product(b"ab", repeat=length)):
            assert grammar.accepts(data) == (data in told.texts["s"]), (text, data)
