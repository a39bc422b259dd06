"""Places that share what they have in common allow what each would on its own.

The slow way makes every place from lark's own stack and spot, and shares nothing.
"""

from __future__ import annotations

import random

import lark
import numpy as np
import pytest

import constrain
from constrain import Grammar, GrammarError
from constrain.algebra.store import DEAD, StateId, TermStore
from constrain.algebra.terms import Term
from constrain.frontends.lark.lower import lower
from constrain.frontends.lark.read import read
from constrain.limits import DEFAULT_LIMITS, Limits
from tests.catalogue.drawing import vocabulary_of
from tests.catalogue.entries import entry
from tests.frontends.lark.test_indentation import TREES, TreeIndenter

LIMITS = Limits(max_source_nodes=2_000_000)


def both(text, *, start="start", parser="lalr", lexer="auto", postlex=None) -> tuple[Term, Term]:
    """A grammar with all that is shared, and without."""
    options = ([start], parser, lexer, (), postlex, LIMITS)
    shared = lower(read(text, *options), start, LIMITS)
    return shared, lower(read(text, *options), start, LIMITS, share=False)


def assert_same(text: str, terms: tuple[Term, Term], alphabet: bytes, most: int) -> int:
    """Walk both side by side; returns how many pairs of states were looked at."""
    one, other = TermStore(DEFAULT_LIMITS), TermStore(DEFAULT_LIMITS)
    first = (one.intern(terms[0]), other.intern(terms[1]))
    seen: dict[tuple[StateId, StateId], bytes] = {first: b""}
    for a, b in _growing(seen):
        before = seen[a, b]
        assert one.nullable(a) == other.nullable(b), (before, text)
        allowed = one.next_bytes(a)
        assert allowed == other.next_bytes(b), (before, text)
        for byte in allowed:
            pair = (one.advance(a, bytes((byte,))), other.advance(b, bytes((byte,))))
            if byte in alphabet and len(seen) < most and pair not in seen:
                assert DEAD not in pair
                seen[pair] = before + bytes((byte,))
    return len(seen)


def _growing(items):
    at = 0
    while at < len(items):
        keys = list(items)[at:]
        yield from keys
        at += len(keys)


TERMINALS = ['"-"', '"+"', '"--"', '"("', '")"', '"="', '"=="', '"if"', "NAME", "NUMBER"]
TAIL = """
NAME: /(?!(?:or|for)(?![a-z]))[a-z]+/
NUMBER: /[0-9]+(\\.[0-9]+)?/
%ignore " "
%ignore /#[^\\n]*\\n/
"""
ALPHABET = b"-+()=if o1.# \n"


def random_grammar(draw: random.Random) -> str:
    """Rules that end with rules, which stacks grow by."""
    rules = ["start", "a", "b", "c"][: draw.randint(2, 4)]

    def alternative() -> str:
        kind = draw.random()
        if kind < 0.35:
            return f"{draw.choice(TERMINALS)} {draw.choice(rules)}"
        if kind < 0.45:
            return draw.choice(rules)
        if kind < 0.6:
            return f"{draw.choice(rules)} {draw.choice(TERMINALS)} {draw.choice(rules)}"
        if kind < 0.7:
            return f'"(" {draw.choice(rules)} ")" {draw.choice(["", draw.choice(rules)])}'
        parts = draw.choices([*TERMINALS, *rules], k=draw.randint(1, 3))
        return " ".join(draw.choice(parts) + draw.choice(["", "", "", "?", "*"]) for _ in parts)

    lines = [
        f"{rule}: {' | '.join([*[alternative() for _ in range(draw.randint(1, 4))], last])}"
        for rule, last in zip(rules, draw.choices(TERMINALS, k=len(rules)), strict=True)
    ]
    return "\n".join(lines) + TAIL


@pytest.mark.parametrize("lexer", ["contextual", "basic"])
def test_random_grammars(lexer):
    draw = random.Random(lexer)
    compared = looked_at = 0
    while compared < 40:
        text = random_grammar(draw)
        try:
            lark.Lark(text, parser="lalr", lexer=lexer)
            terms = both(text, lexer=lexer)
        except (lark.exceptions.LarkError, GrammarError):
            continue
        looked_at += assert_same(text, terms, ALPHABET, 120)
        compared += 1
    assert looked_at > 2000


EXPRESSIONS = r"""
start: (expression ";")+
expression: conditional | lvalue "=" expression | lvalue "+=" expression
conditional: binary ["?" expression ":" conditional]
binary: unary (OPERATOR unary | "*" unary | "-" unary)*
unary: lvalue | "-" unary | "!" unary | "&" lvalue | "++" lvalue | "(" unary ")" | NUMBER
lvalue: NAME | "*" unary | lvalue "[" expression "]"
OPERATOR: "+" | "<" | "<=" | "<<" | "=="
NAME: /(?!(?:auto|goto)(?![a-z]))[a-z]+/
NUMBER: /[0-9]+(?:e[-+]?[0-9]+)?(?![\w.])/
%ignore " "
%ignore /\/\*(?:[^*]|\*+[^*\/])*\*+\//
"""
AMBIGUOUS = r"""
start: e
e: "-" e | "+" e | e "-" e | e "+" e | "(" e ")" | "if" e "else" e
    | NAME | NAME "(" [e ("," e)*] ")"
NAME: /[a-z]+/
%ignore " "
"""
ENDS_APART = """
start: "if" a | a a | ")"
a: "if" a | "+"
%ignore " "
"""
"""After `if +` an `a` is whole, and so may be the text, which after `+` alone it is not."""
HAND_WRITTEN = {
    "ends-apart": (ENDS_APART, {}, b"if+) "),
    "expressions": (EXPRESSIONS, {}, b"*-!=+a[];(<e1 /t"),
    "expressions-basic": (EXPRESSIONS, {"lexer": "basic"}, b"*-!=+a[];(<e1 /t"),
    "ambiguous": (AMBIGUOUS, {}, b"-+(),a if els"),
    "trees": (TREES, {"postlex": TreeIndenter()}, b"a()\n \t"),
}


@pytest.mark.parametrize("name", HAND_WRITTEN)
def test_grammars_with_much_to_share(name):
    text, options, alphabet = HAND_WRITTEN[name]
    assert assert_same(text, both(text, **options), alphabet, 1500) >= 100


@pytest.mark.parametrize(
    ("text", "signs"), [(EXPRESSIONS, b"-"), (EXPRESSIONS, b"-!"), (AMBIGUOUS, b"- +")]
)
def test_signs_in_a_row_need_no_stack(text, signs):
    store = TermStore(DEFAULT_LIMITS)
    first = store.advance(
        store.intern(Grammar.from_lark(text).term), b"a=" if b"!" in signs else b""
    )
    states = {store.advance(first, (signs + b" ") * n) for n in range(2, 40)}
    assert len(states) == 1


@pytest.mark.parametrize("name", ["c", "go", "python", "sql_select", "graphql_query"])
def test_masks_of_the_catalogue(name):
    found = entry(name)
    options = found.lark_options()
    terms = both(
        found.loaded.text,
        start=options.get("start", "start"),
        parser=options.get("parser", "lalr"),
        lexer=options.get("lexer", "auto"),
        postlex=options.get("postlex"),
    )
    texts = [text.data for text in found.accept]
    vocab = vocabulary_of(texts, seed=4)
    automata = [constrain.compile(Grammar(term, name), vocab).automaton for term in terms]
    states = [automaton.start for automaton in automata]
    for byte in max(texts, key=len)[:100]:
        one, other = [
            automaton.walk_mask(state) for automaton, state in zip(automata, states, strict=True)
        ]
        assert np.array_equal(one, other), (name, byte)
        states = [
            automaton.after_token(state, byte)
            for automaton, state in zip(automata, states, strict=True)
        ]
