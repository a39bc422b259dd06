"""What is wrong with a grammar is said with its place, and the way out."""

from __future__ import annotations

import json

import pytest

from constrain import (
    Grammar,
    GrammarError,
    GrammarSyntaxError,
    LimitExceededError,
    Limits,
    SchemaError,
    UnsatisfiableError,
    UnsupportedFeatureError,
)
from constrain.frontends.llguidance.stacks import Parser

WRONG = [
    # grammar, what the message says, the text under the caret, the hint
    ('start: item\nitme: "a"', "there is no rule 'item'", "item", "did you mean 'itme'?"),
    ("start: NUMBR\nNUMBER: /1/", "there is no terminal 'NUMBR'", "NUMBR", "mean 'NUMBER'?"),
    ('strat: "a"', "the grammar has no rule 'start'", "s", "did you mean 'strat'?"),
    ('start: "a', "the string is not closed", '"', 'close it with "'),
    ("start: /a", "the regular expression is not closed", "/", "close it with /"),
    ("start: <a b>", "the special token is not closed", "<", "without blanks"),
    ("start: 'a'", "strings are in double quotes", "'", 'write "..."'),
    (r'start: "\q"', "the string is not one of JSON", r'"\q"', "escapes are"),
    ("start: /[a/", "invalid regular expression", "[", None),
    ('start: "a"\nstart: "b"', "rule 'start' is defined twice", "start", "use one with |"),
    ("start: A\nA: /a/\nA: /b/", "terminal 'A' is defined twice", "A", "use one with |"),
    ("start: A\nA: B\nB: A", "terminal 'A' refers to itself: A -> B -> A", "A", "lower case"),
    ('start: "a" & "b"', "'&' may stand in terminals only", '"a" & "b"', "upper case"),
    ("start: A\nA: <|x|>", "special tokens may not stand in terminals", "<|x|>", None),
    ("start: A\nA: %json {}", "%json may not stand in terminals", "%json {}", None),
    ("start: A\nA: x\nx: /a/", "'x' is a rule, and only terminals may stand here", "x", None),
    ('start: ("a" | "b"', "expected ')', not the end of the line", "\n", "a group ends"),
    ('start "a"', "expected ':' after the name of rule 'start'", '"a"', None),
    ('start: "a" "b"] "c"', "expected the end of the line, not ']'", "]", None),
    ('start: "a"{3,2}', "a repeat of 3 to 2 has no count", "{3,2}", None),
    ('start: "a"{-1,}', "how often is an integer >= 0", "-1", None),
    ('start: "b".."a"', "the range from 'b' to 'a' is empty", '"b".."a"', "swap them"),
    ('start: "ab".."c"', "a range is from one character to one", '"ab".."c"', None),
    ("start: /a/l", "regular expressions have no flag 'l'", "l", "there are i, m, s, x and u"),
    ("start: <[5-3]>", "the range '5-3' is empty", "<[5-3]>", "swap its ends"),
    ("start: <[,]>", "there is no id", "<[,]>", "as in <[12,100-200]>"),
    ("start: <[*,3]>", "'*' is no id or range of ids", "<[*,3]>", None),
    ("start: <[^*]>", "no token is left of <[^*]>", "<[^*]>", None),
    ("start: %json {", "no JSON after %json", "\n", "a JSON Schema"),
    ('start: %regex {"a": 1}', "%regex has no field 'a'", '%regex {"a": 1}', "it has substring"),
    (
        'start: %regex {"substring_chars": "a\\ud800"}',
        "substring_chars has half a surrogate pair in it",
        '%regex {"substring_chars": "a\\ud800"}',
        None,
    ),
    ("start: %regex {}", "%regex has exactly one field", "%regex {}", "one of substring"),
    ("%foo\nstart: /a/", "there is no directive '%foo'", "%foo", "there are %llguidance"),
    ("%import common.FOO\nstart: FOO", "'common' has no 'FOO'", "FOO", "it has DIGIT"),
    ("start: @other", "refers to another one, @other, and none", "@other", "in its place"),
    ('start: x\nx[foo=1]: "a"', "there is no attribute 'foo'", "foo", "there are lazy"),
    ('start: x\nx[lazy, lazy]: "a"', "attribute 'lazy' is given twice", "lazy", None),
    ('start: x\nx[lazy, stop="b"]: "a"', "lazy and stop may not stand together", "stop", None),
    ('start: x\nx[stop_capture="b"]: "a"', "stop_capture needs stop or suffix", "stop_", None),
    ('start: x\nx[suffix=""]: "a"', "the suffix is empty", "suffix", "leave it out"),
    ('start: x\nx[temperature=-1]: "a"', "a temperature is finite and >= 0", "-1", None),
    ('start: x\nx[temperature=0x1]: "a"', "a temperature is finite and >= 0", "0x1", None),
    ('start: A\nA[lazy]: "a"', "terminal 'A' has attributes", "[", "lower case"),
    ("start: x\nx[lazy]: y\ny: /a/", "'y' is a rule, and only terminals may stand", "y", "upper"),
    ('start: n\nn::_: "a" %if bit_set(0)', "rule 'n' needs a parameter", "n", "as in n::0"),
    ('start: n::0\nn: "a"', "rule 'n' has no parameter", "n", "define n::_"),
    ('start: n::_\nn::_: /a/ %if bit_set(0)', "'start' has no parameter to hand on", "n", None),
    ('start: n::0\nn::_: "a"', "rule 'n' has a parameter that nothing in it", "n", "write it n"),
    ('start: n::0\nn::_: "a" %if bit_set(64)', "expected an integer from 0 to 63", "64", None),
    ('start: n::0\nn::_: "a" %if odd(0)', "expected a condition, not 'odd'", "odd", "bit_clear"),
    ('start: n::0\nn::_: n::add(1)', "expected a parameter, not 'add'", "add", "set_bit"),
    ('%llguidance {"no_forcing": 3}\nstart: "a"', "no_forcing is true or false", "%llg", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "reason", "marked", "hint"), WRONG, ids=[w[0] for w in WRONG])
def test_a_wrong_grammar(text, reason, marked, hint):
    with pytest.raises(GrammarSyntaxError) as caught:
        Grammar.from_lark(text, dialect="llguidance")
    error = caught.value
    assert reason in error.reason
    assert error.source == text
    assert (text + "\n")[slice(*error.span)].startswith(marked)
    assert hint is None or hint in error.hint
    assert "line " in str(error)
    assert "^" in str(error)


LEFT = 'start: /a?/ x "," | "a"\nx[max_tokens=2]: @y'
REFUSED = [
    (
        json.dumps(
            {"grammars": [{"lark_grammar": "start: @y"}, {"name": "y", "lark_grammar": LEFT}]}
        ),
        "rule 'x' has max_tokens, and may begin with itself",
        "let something come first",
    ),
    ('start: x "c"\nx[stop=/../]: /a/', "the stop of rule 'x': it has more than 64", "use suffix"),
    (r"start: /a\b/", "a lexeme does not look at what stands around it", "word boundaries"),
    ('start.2: "a"', "priorities are no part of this dialect", "dialect='lark'"),
    ("start: s{A}\ns{x}: x\nA: /a/", "templates are no part of this dialect", "dialect='lark'"),
    ("%declare A\nstart: A", "are no part of this dialect", "dialect='lark'"),
    ("%import python.NAME\nstart: NAME", "only 'common' can be imported", "dialect='lark'"),
    ('%llguidance {"allow_invalid_utf8": true}\nstart: "a"', "texts are UTF-8 here", None),
    ('%llguidance {"other": 1}\nstart: "a"', "the option 'other' is not known", "known: no_fo"),
    ('start: %json {"x-guidance": {"item_separator": ";"}}', "item_separator ';'", None),
    ('start: %json {"x-guidance": {"json_allowed_escapes": "n"}}', "json_allowed_escapes", None),
]


@pytest.mark.parametrize(("text", "reason", "hint"), REFUSED, ids=[r[0] for r in REFUSED])
def test_what_cannot_be_honoured_is_refused_by_name(text, reason, hint):
    with pytest.raises(UnsupportedFeatureError, match="line ") as caught:
        Grammar.from_lark(text, dialect="llguidance")
    assert reason in caught.value.reason
    assert hint is None or hint in caught.value.hint


def test_a_wrong_schema_has_both_places():
    with pytest.raises(SchemaError, match=r"(?s)at #/type.*line 2, column 4") as caught:
        Grammar.from_lark('start: x\nx: %json {"type": "strin"}')
    assert caught.value.span is not None


ENDLESS = [
    ('start: "a" start', "rule 'start' can never finish: every way through it needs 'start'"),
    ("start: a\na: b\nb: a", "the rules 'a', 'b' can never finish"),
    ("start: A\nA: /a/ & /b/", "'A' can never finish: it matches no text"),
    ('start: /a+/ "a"', "no text is a 'start': lexemes go on as long as they can"),
    ('start: n::0\nn::_: "a" %if bit_set(0)', "'n' can never finish"),
]


@pytest.mark.parametrize(("text", "reason"), ENDLESS)
def test_a_grammar_without_any_text(text, reason):
    with pytest.raises(UnsatisfiableError) as caught:
        Grammar.from_lark(text, dialect="llguidance")
    assert reason in caught.value.reason


def test_arguments_of_larks_own_are_refused():
    with pytest.raises(GrammarError, match="has a parser and a lexer of its own"):
        Grammar.from_lark("start: <|x|>", parser="earley")
    with pytest.raises(GrammarError, match="dialect must be 'auto', 'lark' or 'llguidance'"):
        Grammar.from_lark('start: "a"', dialect="other")


LISTS = [
    ('{"grammars": []}', 'a grammar in JSON has a list of "grammars"'),
    ('{"grammars": [{}]}', "grammar 0 has not exactly one of 'lark_grammar' and 'json_schema'"),
    ('{"grammars": [{"lark_grammar": 3}]}', "grammar 0: lark_grammar is a text"),
    ('{"grammars": [{"json_schema": true, "name": 3}]}', "grammar 0: the name 3 is no text"),
    ('{"grammars"', "is JSON, and this is not"),
    ('{"grammars": [{"lark_grammar": "start: @a"}, {"name": "ab", "json_schema": {}}]}', "@a"),
    ('{"grammars": [{"lark_grammar": "start: x"}]}', "there is no rule 'x'"),
]


@pytest.mark.parametrize(("text", "reason"), LISTS)
def test_a_wrong_list_of_grammars(text, reason):
    with pytest.raises(GrammarSyntaxError) as caught:
        Grammar.from_lark(text)
    assert reason in caught.value.reason


@pytest.mark.parametrize(
    "text",
    [
        "start: " + "(" * 60_000 + '"a"' + ")" * 60_000,
        "start: " + "%lark { start: " * 3_000 + '"a"' + " }" * 3_000,
        "start: " + "%json " + "[" * 60_000,
        'start: x{1000000000}\nx: "a"',
        'start: n::0\nn::_: "a" n::incr(_) %if lt(_, 100000000) | ""',
        "start: n::0\nn::_: /a/ %if " + "not(" * 5_000 + "true" + ")" * 5_000,
        "start: <[0-4000000000]>",
        "start: /a{0,100000}b{0,100000}/ /[ab]/",
    ],
    ids=["groups", "nested", "json", "repeat", "parameters", "conditions", "ids", "counters"],
)
def test_past_a_budget(text):
    with pytest.raises((GrammarError, LimitExceededError)):
        Grammar.from_lark(text, dialect="llguidance", limits=Limits(max_source_nodes=200_000))


@pytest.mark.parametrize(
    "text",
    [
        "start: <[N]>",
        "start: <[1-N]>",
        'start: "a"{N}',
        'start: "a"{1,N}',
        'start: "a"~1..N',
        'start: a\na[max_tokens=N]: "a"',
    ],
)
def test_numbers_of_thousands_of_digits(text):
    with pytest.raises(GrammarSyntaxError):
        Grammar.from_lark(text.replace("N", "9" * 5_000), dialect="llguidance")


@pytest.mark.parametrize("text", ["", "\n\n", "\0", "start: \0", 'start: "\0"', ":", "[", "%", "~"])
def test_what_is_no_grammar(text):
    with pytest.raises(GrammarError):
        Grammar.from_lark(text, dialect="llguidance")


def test_deep_groups_within_the_budget():
    depth = 900
    grammar = Grammar.from_lark(
        "start: " + "(" * depth + '"a"' + ")?" * depth, dialect="llguidance"
    )
    assert grammar.accepts(b"a")
    assert grammar.accepts(b"")


def test_large_counters_cost_nothing_where_they_end_clearly():
    grammar = Grammar.from_lark('start: /(ab){2,50000}c/ "!"', dialect="llguidance")
    assert grammar.accepts(b"ab" * 50_000 + b"c!")
    assert not grammar.accepts(b"ab" * 50_001 + b"c!")


@pytest.mark.parametrize("nest", ['"(" e ")" | "n"', 'e e | "n"'])
def test_a_search_that_finds_no_way_on_is_an_error(nest):
    text = f'start: e /a+/ "a"\ne: {nest}'
    with pytest.raises(LimitExceededError, match="from the start needs max_emptiness_states"):
        Grammar.from_lark(text, dialect="llguidance", limits=Limits(max_emptiness_states=1_000))
    inside = 'start: "b" | "[" s "]"\ns: s2 /a+/ "a" | "y"\ns2: "(" s2 ")" | "n"'
    grammar = Grammar.from_lark(
        inside, dialect="llguidance", limits=Limits(max_emptiness_states=99)
    )
    with pytest.raises(LimitExceededError, match="a text that goes on after"):
        grammar.accepts(b"[(n)aa]")


def test_a_search_through_deep_stacks_is_charged_for_what_it_reduces(monkeypatch):
    reduced = []
    reduce = Parser._reduce
    monkeypatch.setattr(Parser, "_reduce", lambda *of: (reduced.append(1), reduce(*of))[1])
    text = 'start: e /a+/ "a" | "y"\ne: "(" e | "n"'  # each "n" may end every "(" before it
    limits = Limits(max_emptiness_states=10_000)
    with pytest.raises(LimitExceededError, match="max_emptiness_states"):
        Grammar.from_lark(text, dialect="llguidance", limits=limits).accepts(b"(n")
    assert 1_000 < len(reduced) < 50_000
