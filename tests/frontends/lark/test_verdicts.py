"""Verdicts equal lark's: grammars people write, and the places where lexers surprise."""

from __future__ import annotations

import itertools

import lark
import pytest

from constrain import Grammar, UnsupportedFeatureError
from tests.frontends.lark.agreement import MODES, assert_agrees, near_misses

JSON = r"""
?start: object | array | string | SIGNED_NUMBER | "true" | "false" | "null"
array: "[" [start ("," start)*] "]"
object: "{" [pair ("," pair)*] "}"
pair: string ":" start
string: ESCAPED_STRING
%import common.ESCAPED_STRING
%import common.SIGNED_NUMBER
%import common.WS
%ignore WS
"""
CALCULATOR = """
?start: sum | NAME "=" sum
?sum: product | sum "+" product -> add | sum "-" product -> sub
?product: atom | product "*" atom | product "/" atom
?atom: NUMBER | "-" atom | NAME | "(" sum ")"
%import common.CNAME -> NAME
%import common.NUMBER
%import common.WS_INLINE
%ignore WS_INLINE
"""
CSV = r"""
start: row (NEWLINE row)*
row: [field] ("," [field])*
field: QUOTED | PLAIN
QUOTED: /"([^"]|"")*"/
PLAIN: /[^,"\r\n]+/
NEWLINE: /\r?\n/
"""
INI = r"""
start: section+
section: "[" NAME "]" NL item*
item: NAME "=" VALUE? NL
NAME: /\w+/
VALUE: /[^\n]+/
%import common.NEWLINE -> NL
%import common.WS_INLINE
%ignore WS_INLINE
"""
KEYWORDS = """
start: stmt+
stmt: "if" NAME "then" stmt | "let"i NAME "=" NAME ";" | NAME ";"
NAME: /[a-z]+/
%ignore " "
"""
COMMENTS = """
start: (WORD | "/" | "*")*
WORD: /[a-z]+/
%import common (WS, C_COMMENT, CPP_COMMENT)
%ignore WS
%ignore C_COMMENT
%ignore CPP_COMMENT
"""
TEMPLATES = """
start: list{NUMBER} ";" list{pair{WORD, NUMBER}}
list{x}: "[" _separated{x, ","} "]"
_separated{x, sep}: x (sep x)*
pair{a, b}: a ":" b
WORD: ("a".."z")+
NUMBER: /[0-9]/ ~ 1..3
"""
CASES = {
    "json": (JSON, ['{"a": [1, -2.5e3, "x\\"y\\\\"], "b": null}', "[]", " true ", '"a\\"', "1 2"]),
    "calculator": (CALCULATOR, ["a = 1+2*-(3.5/b)", "1-1", "1.5.2", "a=", "- - 1", "1 2"]),
    "csv": (CSV, ['a,b\n"c""d,\n",\n', "", ",", 'a"b', "a\r\nb"]),
    "ini": (INI, ["[a]\nb = c d \n[x]\n", "[a]\nb=\n", "b=1\n"]),
    "keywords": (KEYWORDS, ["if a then b;", "ifa;", "let x = y;", "LET x=y;", "if then then b;"]),
    "comments": (COMMENTS, ["a /* b * / c */ d", "a / b // c\n d", "/**/", "/* a", "a/b", "/*/"]),
    "templates": (TEMPLATES, ["[1,23];[a:1,bc:456]", "[1];[a:1]", "[1];[a:1234]", "[];[a:1]"]),
}


@pytest.mark.parametrize("mode", MODES, ids="/".join)
@pytest.mark.parametrize("name", CASES)
def test_grammars_that_people_write(name, mode):
    grammar, texts = CASES[name]
    texts = [*texts, *near_misses(texts, 12)]
    # Where terminals overlap, a basic lexer splits no text as the parser needs it.
    assert assert_agrees(grammar, *mode, texts) or (name in ("csv", "ini") and mode[1] == "basic")


# Which match a lexer takes: every text up to a length over a few letters.
LEXERS = {
    "alternatives are tried in order": "start: A B\nA: /a|ab/\nB: /b?c/",
    "a longer match does not come back": "start: A B\nA: /a+/\nB: /ab/",
    "backing up to the last match": 'start: (A|B|C)*\nA: "ab"\nB: /a[^x]*c/\nC: /[abc]/',
    "lazy": "start: A B*\nA: /a.*?b/\nB: /b/",
    "lazy up to the end": "start: A+\nA: /a+?b??/",
    "a priority beats length": 'start: (A|B)+\nA.2: "a"\nB: "ab" | "c"',
    "a negative priority loses": "start: (A|B)+\nA.-1: /[a-c]+/\nB: /a/",
    "a pattern before a shorter one": "start: (A|B)+\nA: /ab?/\nB: /abc/",
    "lookahead decides": "start: (A|B|C)+\nA: /a(?=b)/\nB: /a(?!b)/\nC: /[bc]/",
    "lookahead past the next lexeme": "start: (A|B)+\nA: /a(?=b*c)/\nB: /[abc]/",
    "lookahead to the end": "start: (A|B)+\nA: /[ab](?=c*$)/\nB: /c|a/",
    "lookbehind sees the lexeme before": "start: (A|B)+\nA: /(?<=a)b|c/\nB: /a|b(?<!ab)/",
    "word boundaries": "start: (A|B|C)+\nA: /\\ba\\b/\nB: /[abc]/\nC: / /",
    "start of a text": "start: (A|B)+\nA: /^a/\nB: /[abc]/",
    "strings in place of a pattern": 'start: ("a" | "ab" | N)+\nN: /[abc]+/\n%ignore " "',
    "a string with a flag": 'start: ("ab"i | N)+\nN: /[abA]+/\n%ignore " "',
    "ignored, and part of a rule": 'start: "a" W? "b"\nW: " "\n%ignore W',
    "ignored at both ends": 'start: "a"?\n%ignore /[ b]+/',
    "an ignored lexeme that backs up": 'start: "a"+\n%ignore /b(aac)?/',
    "a string that is never closed": "start: (S|Q|A)*\nS: /b[^b]*b/\nQ: /b/\nA: /[ac]/",
    "counted": "start: A+ B?\nA: /a{2,3}/\nB: /(?:a|bc){1,2}?/",
    "empty rounds": "start: A+\nA: /(?:|a|b)*c/",
}


@pytest.mark.parametrize("mode", MODES, ids="/".join)
@pytest.mark.parametrize("name", LEXERS)
def test_which_match_a_lexer_takes(name, mode):
    if mode[1] == "dynamic_complete" and name.startswith(("look", "word", "start")):
        with pytest.raises(UnsupportedFeatureError, match="looks around"):
            Grammar.from_lark(LEXERS[name], parser=mode[0], lexer=mode[1])
        return
    alphabet = "abc " if " " in LEXERS[name].replace(": ", "").split("%ignore")[-1] else "abc"
    texts = ["".join(t) for n in range(6) for t in itertools.product(alphabet, repeat=n)]
    texts = [*texts[:: max(1, len(texts) // 250)], "AB", "aB", "Ab a"]
    assert_agrees(LEXERS[name], *mode, texts)


PARSERS = {
    "left": 'start: start "a" | "b"',
    "right": 'start: "a" start | "b"',
    "hidden left": 'start: x start "a" | "b"\nx: | "c"',
    "mutual": 'start: x "a" | "b"\nx: start "c" | start',
    "middle": 'start: "a" start "b" | "c"',
    "ambiguous": 'start: start start | "a" | "b"',
    "cyclic": 'start: x | "a"\nx: start | "b" x "c"',
    "nullable": 'start: x y x\nx: "a"*\ny: ["b"] ["c"]',
    "palindromes": 'start: "a" start "a" | "b" start "b" | "c"?',
    "many empty parts": 'start: x x x x x x "a"\nx: "b"?',
    "dangling": 'start: "a" start | "a" start "b" start | "c"',
    "signs": 'start: x "b"\nx: "a" x | "c" x "b" | "b"',
    "signs of two kinds": 'start: x\nx: s x | "c"\ns: "a" | "b"',
    "signs that are not alike": 'start: x\nx: "a" x "b" | "a" x "c" | "b"',
    "signs with an end": 'start: x\nx: "a" x | y\ny: "a" y "b" | "c"',
}


@pytest.mark.parametrize("mode", [MODES[0], MODES[2], MODES[4]], ids="/".join)
@pytest.mark.parametrize("name", PARSERS)
def test_every_shape_of_recursion(name, mode):
    texts = ["".join(t) for n in range(6) for t in itertools.product("abc", repeat=n)]
    if mode[0] == "lalr":
        try:
            lark.Lark(PARSERS[name], parser="lalr")
        except lark.exceptions.GrammarError:
            return
    assert assert_agrees(PARSERS[name], *mode, texts)


def test_several_starts():
    text = 'a: "x" "a"?\nb: "x" "b"?'
    assert Grammar.from_lark(text, start="b").accepts(b"xb")
    assert not Grammar.from_lark(text, start="b").accepts(b"xa")
    assert Grammar.from_lark(text, start=["a", "b"]).accepts(b"xa")


def test_imports_overrides_and_extensions(tmp_path):
    (tmp_path / "words.lark").write_text('word: LETTER+\nLETTER: "a".."c"\nother: "z"\n')
    text = """
    start: word ("," word)* other
    %import words (word, LETTER, other)
    %override other: "!"
    %extend LETTER: "d"
    """
    grammar = Grammar.from_lark(text, import_paths=[tmp_path])
    assert grammar.accepts(b"ab,d!")
    assert not grammar.accepts(b"abz")


def test_other_scripts():
    grammar = Grammar.from_lark('start: WORD ("·" WORD)*\nWORD: /\\w+/i')
    assert grammar.accepts("größe·Ωμ·日本".encode())
    assert not grammar.accepts("größe··".encode())


def test_depth_costs_no_recursion():
    grammar = Grammar.from_lark('start: "(" start ")" |')
    assert grammar.accepts(b"(" * 5_000 + b")" * 5_000)
    assert not grammar.accepts(b"(" * 2_000 + b")" * 1_999)
