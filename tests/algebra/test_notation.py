"""What is printed can be read: by a person, and, where it is GBNF, again by the program."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from constrain import Grammar
from constrain.algebra import terms as t
from constrain.algebra.codepoints import CodepointSet
from constrain.algebra.notation import grammar_text, term_text
from constrain.algebra.utf8 import UTF8
from constrain.errors import UnsatisfiableError

POINTS = 'ab"é-日]^\n😀'
TEXTS = ["".join(w) for n in range(4) for w in itertools.product(POINTS, repeat=n)]


def spelled(points: str, outside: bool) -> t.Term:
    some = CodepointSet.of(points)
    return UTF8.spell(~some if outside else some)


leaves = st.one_of(
    st.just(t.EPS),
    st.text(alphabet=POINTS, min_size=1, max_size=3).map(lambda s: t.literal(s.encode())),
    st.builds(spelled, st.text(alphabet=POINTS, min_size=1, max_size=5), st.booleans()),
)


def combined(inner):
    bounds = st.tuples(st.integers(0, 2), st.one_of(st.none(), st.integers(0, 2)))
    return st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: t.cat(*parts)),
        st.lists(inner, min_size=2, max_size=3).map(t.alt),
        st.lists(inner, min_size=1, max_size=1).map(lambda p: t.cat(p[0], p[0], t.optional(p[0]))),
        st.builds(
            lambda body, b: t.repeat(body, b[0], None if b[1] is None else b[0] + b[1]),
            inner,
            bounds,
        ),
        inner.map(t.optional),
        inner.map(lambda body: t.Rule("a rule", lambda: body, nullable=body.nullable)),
    )


@settings(max_examples=150, deadline=None)
@given(term=st.recursive(leaves, combined, max_leaves=8))
def test_what_is_printed_is_read_again(term: t.Term) -> None:
    text = grammar_text(term)
    assume("&" not in text)  # a repeat of a rule that may be empty is one of its other texts
    again = Grammar.from_gbnf(text, root=text.split(" ", 1)[0])
    grammar = Grammar(term, "drawn")
    for word in TEXTS:
        assert again.accepts(word.encode()) == grammar.accepts(word.encode()), (word, text)


@pytest.mark.parametrize(
    ("grammar", "text"),
    [
        (Grammar.text('say "hi"\n'), r'root ::= "say \"hi\"\n"'),
        (Grammar.text(b"\xff"), "root ::= byte[FF]"),
        (Grammar.text(""), 'root ::= ""'),
        (Grammar.any_text(), "root ::= .*"),
        (Grammar.from_regex(r'"[^"\\]*"'), r'root ::= "\"" [^"\\]* "\""'),
        (Grammar.from_regex("[α-ωé日]?x{2,4}"), 'root ::= [éα-ω日]? "x"{2,4}'),
        (Grammar.from_regex("(ab|cd)+e?") + Grammar.text("f"), 'root ::= ("ab" | "cd")+ "e"? "f"'),
        (Grammar.from_choices(["yes", "no"]).optional(), 'root ::= ("no" | "yes")?'),
        (~Grammar.from_regex("a+b"), 'root ::= .* & ~("a"+ "b")'),
        (
            Grammar.text("x").repeat(1, 3, separator=", "),
            'root ::= "x" (", x"){0,2}',
        ),
        (
            Grammar.token("<think>", 3) + Grammar.token("a", others=True),
            "root ::= (<[3]> | <think>) !<a>",
        ),
        (
            Grammar.from_gbnf('root ::= num ("+" root)?\nnum ::= [0-9]+ | "(" root ")"'),
            'root ::= num ("+" root)?\nnum ::= [0-9]+ | "(" root ")"',
        ),
        (
            Grammar.from_gbnf('root ::= root "+" root | "n"'),
            'root ::= "n" root-after-root | "n"\nroot-after-root ::= "+" root',
        ),
    ],
    ids=lambda value: None if isinstance(value, str) else value.description[:40],
)
def test_examples(grammar: Grammar, text: str) -> None:
    comment, _, printed = repr(grammar).partition("\n")
    assert comment == f"# {grammar.description}"
    assert printed == text


def test_a_json_schema_prints_its_members() -> None:
    schema = {
        "type": "object",
        "properties": {"on": {"type": "boolean"}},
        "required": ["on"],
        "additionalProperties": False,
    }
    printed = repr(Grammar.from_json_schema(schema))
    assert r'"\"on\":"' in printed
    assert '"true" | "false"' in printed or '"false" | "true"' in printed


def test_what_follows_a_captured_text_is_left_open() -> None:
    schema = {"type": "array", "items": {"type": "boolean"}, "uniqueItems": True}
    assert "capture(" in repr(Grammar.from_json_schema({**schema, "items": {"type": "string"}}))


def test_lark_is_shown_as_written() -> None:
    written = 'start: "a" NAME\nNAME: /[a-z]+/'
    assert repr(Grammar.from_lark(written)).partition("\n")[2] == written


def test_a_large_part_that_comes_twice_has_a_name() -> None:
    part = Grammar.from_regex("(ab|cd|[0-9]{3}(e|f{2,3}))")
    assert repr(part + Grammar.text("-") + part).partition("\n")[2].splitlines() == [
        'root ::= part-1 "-" part-1',
        'part-1 ::= "ab" | "cd" | [0-9]{3} ("e" | "f"{2,3})',
    ]


def test_long_grammars_are_cut() -> None:
    words = Grammar.from_choices([f"word {i}" for i in range(20_000)])
    assert repr(words).endswith(" ...")
    assert len(repr(words)) < 5_000
    rules = Grammar.from_gbnf(
        "\n".join([f'r{i} ::= "a" r{i + 1} "b"' for i in range(5_000)] + ['r5000 ::= "c"']),
        root="r0",
    )
    assert repr(rules).endswith(" ...")
    many = Grammar.from_choices(["a"])
    for i in range(300):
        many = many | Grammar(t.Rule(f"rule {i}", lambda: t.literal(b"x" * 40)), "one")
    assert repr(many).splitlines()[-1].startswith("# ... and ")
    for text in ("a" * 1_000_000, "é" * 100_000, "🙂" * 50_000):
        shown = grammar_text(t.cat(t.literal(text.encode()), t.byte_range(65, 66)))
        assert shown.startswith(f'root ::= "{text[:1_000]}')
        assert shown.endswith('" ...')
        assert len(shown) < 15_000


def test_deep_grammars_print() -> None:
    term = t.literal(b"xy")
    for _ in range(60_000):
        term = t.alt((t.cat(t.literal(b"a"), term), t.literal(b"b")))
    assert grammar_text(term).startswith('root ::= "a" ("a" (')


def test_a_body_that_cannot_be_made_says_why() -> None:
    def body() -> t.Term:
        raise UnsatisfiableError("nothing is both\nlong and short")

    rule = t.Rule("late", body)
    assert grammar_text(t.cat(t.literal(b"a"), rule)) == (
        'root ::= "a" late\nlate ::= ...  # nothing is both long and short'
    )


TERMS_IN_A_LINE = [
    (t.EMPTY, "<Empty []>"),
    (t.EPS, '<Epsilon "">'),
    (t.cat(t.literal(b"a["), t.star(t.byte_range(48, 57))), '<Cat "a[" [0-9]*>'),
    (t.alt((t.literal(b"yes"), t.literal(b"no"))), '<Alt "yes" | "no">'),
]


@pytest.mark.parametrize(("term", "shown"), TERMS_IN_A_LINE, ids=[s for _, s in TERMS_IN_A_LINE])
def test_a_term_shows_itself(term: t.Term, shown: str) -> None:
    assert repr(term) == shown


def test_a_term_shows_rules_by_their_names_and_makes_none() -> None:
    rule = t.Rule("the rest", lambda: pytest.fail("made"))
    assert repr(rule) == "<Rule the-rest>"
    assert repr(t.cat(t.literal(b"ab"), rule)) == '<Cat "ab" the-rest>'
    assert repr(t.alt((rule, t.literal(b"ab")))) == '<Alt the-rest | "ab">'


def test_large_and_deep_terms_show_their_beginning() -> None:
    deep: t.Term = t.literal(b"ab")
    for _ in range(50_000):
        deep = t.cat(t.literal(b"ab"), t.repeat(t.cat(t.literal(b"cd"), t.optional(deep)), 2, 5))
    assert len(term_text(deep, max_chars=50)) < 100
    assert repr(deep).endswith(" ...>")
    assert len(repr(t.literal(b"a" * 10_000))) < 2_000
