"""Each part of the syntax, and what it means."""

from __future__ import annotations

import json

import pytest

from constrain import Grammar

CASES = [
    # grammar, accepted, rejected
    ('start: "a" | "b" -> name', ["a", "b"], ["", "ab"]),
    ('start: "a"\n\n  // comment\n  | "b" # comment', ["a", "b"], [""]),
    ("start: | x\n?x: /a/\n", ["", "a"], ["aa"]),
    ('start: x-y _z T-U\nx-y: "a"\n_z: "b"\nT-U: "c"', ["abc"], ["ab"]),
    ('start: ["a"] "b"? ("c" "d")*', ["", "ab", "cdcd"], ["c", "ba"]),
    ('start: "a"{2} "b"{1,} "c"{,2} "d"{1,2}', ["aabd", "aabbccdd"], ["abd", "aad", "aabcccd"]),
    ('start: "a"~2 "b"~1..2', ["aab", "aabb"], ["aa", "ab"]),
    ('start: "a"{0} "b"', ["b"], ["ab"]),
    ('start: x{40,60}\nx: "a" | "b"', ["ab" * 20, "a" * 60], ["a" * 39, "a" * 61]),
    ('start: "a".."c"+', ["abc"], ["d", ""]),
    ('start: "é"i "\\u0041\\x42\\n"', ["ÉAB\n", "éAB\n"], ["éab\n"]),
    (r'start: "\\x41"', [r"\x41"], ["A"]),
    ('start: /a.b/s /x y/x /É/i', ["a\nbxyé"], ["a\nbx yé"]),
    (r"start: /a\/b/ /\d+/ /\p{Lu}/", ["a/b१A"], ["a/bxA"]),
    ("start: /^a|b$/", ["a", "b"], ["ab"]),
    ("start: /a*?b??/", ["", "aab"], ["bb"]),
    ("start: T\nT: /[a-z]+/ & ~/.*ab.*/ & /.{2,}/", ["ba", "acb"], ["ab", "xabx", "a"]),
    ('start: T\nT: "a" "b" & "b" | "c"', ["c"], ["ab", "b"]),
    ('start: T\nT: ~(/a/ | /b/)+ & /[ab]*/', ["ab", "aaa", ""], ["a", "b"]),
    ('start: "x" ~"y"', ["x", "xz", "xyy"], ["xy"]),
    ("%import common.INT\n%import common (WS, CNAME)\nstart: INT WS CNAME", ["1 a"], ["1a"]),
    ("%import common.ESCAPED_STRING -> S\nstart: S", ['"a\\"b"', '""'], ['"', '"a"b"']),
    ("%import common.C_COMMENT\nstart: C_COMMENT", ["/* a **/", "/**/"], ["/*/", "/* */ */"]),
    ('start: "a" x\nx: %lark {\n  start: y+\n  y: "b" | z\n  z: "c"\n}', ["abcb"], ["a", "b"]),
    ('start: %lark { start: "a" } %lark { start: "b" }', ["ab"], ["a", "ba"]),
    ("start: %json true /x/", ["{}x", "[1 , 2]x"], [" {}x", "{} x"]),
    ('start: %regex {"substring_words": "a bc, d"}', ["", "a bc", ", d", "bc"], ["c", "a  bc"]),
    ('start: %regex {"substring_chars": "abab"}', ["", "ba", "abab"], ["aa", "ababa"]),
    ('start: %regex {"substring_chunks": ["ab", "c", "ab"]} "!"', ["cab!", "!"], ["b!", "abab!"]),
    ('start[capture]: x\nx[capture="n", temperature=0.5]: "a" "b"', ["ab"], ["a"]),
    ('start: x "c"\nx[lazy]: /[ab]*b/', ["abc", "bc"], ["abbc", "ac"]),
    ('start: x "c"\nx[lazy]: /[ab]*/', ["c"], ["ac"]),
    ('start: x "c"\nx[suffix=/b+/, stop_capture="s"]: /[ab]*/', ["abc"], ["abbc"]),
    ('start: x "c"\nx[stop=STOP]: /[ab]*/\nSTOP: "b"', ["abc"], ["ac"]),
    ('start: x "C"\nx[stop=""]: /[a-z]*/', ["abC", "C"], ["ab"]),
    ('start: x\nx[max_tokens=3]: /[0-9]{1,3}/', ["1", "123"], ["1234"]),
    ('start: "a" "b" "c"?\n%ignore " "\n%ignore /_+/', ["ab", "a _b", "ab "], [" ab", "abc "]),
    ('%llguidance {"allow_initial_skip": true}\nstart: "a" "b"\n%ignore " "', ["  a b"], ["a b "]),
    ('%llguidance {"ignore_once": true}\nstart: "a" "b"\n%ignore " "', ["a b", "ab"], ["a  b"]),
    ('%llguidance {}\n%llguidance {"skip_repetition": "once"}\nstart: "a" "b"\n%ignore /_{1,2}/',
     ["a__b"], ["a___b"]),
    ('start: "<" x ">"\nx: %lark { start: "a" "b"\n %ignore "_" }\n%ignore " "',
     ["<a_b >"], ["< ab>", "<a b>", "<ab_>"]),
    ('start: "a" start | start "b" | "c"', ["c", "acb", "aacbb"], ["ab", ""]),
    ("start: x | y\nx: y\ny: x | /a/", ["a"], ["", "aa"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "accepted", "rejected"), CASES, ids=[c[0] for c in CASES])
def test_what_it_means(text, accepted, rejected):
    grammar = Grammar.from_lark(text, dialect="llguidance")
    assert [t for t in accepted if not grammar.accepts(t.encode())] == []
    assert [t for t in rejected if grammar.accepts(t.encode())] == []


LISTS = [
    ([{"lark_grammar": 'start: "a" @b | "c"'}, {"name": "b", "lark_grammar": 'start: "x"+'}],
     ["axx", "c"], ["a", "x"]),
    ([{"lark_grammar": "start: @b @b"}, {"name": "b", "json_schema": {"const": "x"}}],
     ['"x""x"'], ['"x"']),
    ([{"json_schema": {"type": "integer"}}], ["12"], ["a"]),
    ([{"lark_grammar": "start: @b"}, {"name": "b", "lark_grammar": 'start: "(" @b ")" | "x"'}],
     ["x", "((x))"], ["(x"]),
]  # fmt: skip


@pytest.mark.parametrize(("grammars", "accepted", "rejected"), LISTS)
def test_several_grammars(grammars, accepted, rejected):
    grammar = Grammar.from_lark(json.dumps({"grammars": grammars}))
    assert [t for t in accepted if not grammar.accepts(t.encode())] == []
    assert [t for t in rejected if grammar.accepts(t.encode())] == []


PERMUTATION = """
start  : perm::0x0
perm::_: "."                   %if is_ones([0:3])
       | "a" perm::set_bit(0)  %if bit_clear(0)
       | "b" perm::set_bit(1)  %if bit_clear(1)
       | "c" perm::set_bit(2)  %if bit_clear(2)
"""
PARAMETERS = [
    (PERMUTATION, ["abc.", "cab."], ["aab.", "ab.", "."]),
    (
        'start: n::0\nn::_: "a" n::incr([1:3]) %if lt([1:3], 3) | "" %if ge([1:3], 2)',
        ["aa", "aaa"],
        ["", "a", "aaaa"],
    ),
    (
        'start: n::0xF\nn::_: "a" n::clear_bit(0) %if bit_set(0) | "b" n::bit_and(2) '
        '%if and(ne(_, 2), not(bit_set(0))) | "c" %if eq([0:4], 2)',
        ["abc"],
        ["ac", "bc", "ab"],
    ),
    (
        'start: n::3\nn::_: "a" n::decr([0:2]) %if or(gt([0:2], 2), le([0:2], 1)) '
        '| "b" n::bit_or(8) %if is_zeros([3:4]) | "" %if bit_count_eq(_, 2)',
        ["", "ab", "ba"],
        ["a", "bb", "b"],
    ),
    ('start: n::1 x::2\nn::_: "a" %if true | x::_\nx::_: "b" %if eq(_, 2)', ["ab"], ["bb", "a"]),
]


@pytest.mark.parametrize(("text", "accepted", "rejected"), PARAMETERS)
def test_parameters(text, accepted, rejected):
    grammar = Grammar.from_lark(text)
    assert [t for t in accepted if not grammar.accepts(t.encode())] == []
    assert [t for t in rejected if grammar.accepts(t.encode())] == []


DETECTED = [
    'start: %json {"type": "string"}',
    "start: <|tool|> /x/",
    "start: <[12]>",
    "start: A\nA: /x/ & /y/",
    "start: A\nA: ~/x/",
    'start: "a"{2,3}',
    "start: /a/{2}",
    "start: x\nx[lazy]: /a/",
    '%llguidance {}\nstart: "a"',
    "start: @other",
]
LARKS_OWN = [
    'start: "a"~2..3 | /<b> & c{2}/ | "%json" // <c> &',
    "start: sep{A, B}\nsep{x, y}: x y\nA: /a/\nB: /b/",
    '?start: ["a"] -> x\n!y: "b"~ 2',
]


@pytest.mark.parametrize("text", DETECTED)
def test_dialects_are_told_apart(text):
    from constrain.frontends.llguidance import is_dialect

    assert is_dialect(text, "auto", "lalr", "auto", (), None)
    assert not is_dialect(text, "lark", "lalr", "auto", (), None)


@pytest.mark.parametrize("text", LARKS_OWN)
def test_larks_own_grammars_stay_larks(text):
    from constrain.frontends.llguidance import is_dialect

    assert not is_dialect(text, "auto", "lalr", "auto", (), None)


REPORTED = [  # of engines with this dialect
    (
        "start: (text | tag)+\ntext: TEXT\nTEXT: /[^<]*[^<]/\n"
        'tag: "<t>" BODY "</t>"\nBODY: /[^<]+/\n',
        ["hello", "<t>a</t>", "x<t>a</t>y"],
        ["<t>a", "<t></t>", "<"],
    ),
    (
        'start: "[" (start ("," start)*)? "]"\n',
        ["[]", "[[],[]]", "[" * 80 + "]" * 80],
        ["[", "[,]", "[]]"],
    ),
]


@pytest.mark.parametrize(("text", "accepted", "rejected"), REPORTED)
def test_reported(text, accepted, rejected):
    grammar = Grammar.from_lark(text, dialect="llguidance")
    assert [t for t in accepted if not grammar.accepts(t.encode())] == []
    assert [t for t in rejected if grammar.accepts(t.encode())] == []
