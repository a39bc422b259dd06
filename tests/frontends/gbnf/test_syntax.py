"""What each construct means, by texts inside and outside."""

from __future__ import annotations

import pytest

from constrain import Grammar

CASES = [
    # literals and escapes
    (r'root ::= "one\ntwo" "\t"? "\x41" "\u00e9"', ["one\ntwo\tAé", "one\ntwoAé"], ["one\\n"]),
    (r'root ::= "\U0001F600"', ["😀"], ["U0001F600"]),
    (r'root ::= "\r\\\"\[\]\-"', ['\r\\"[]-'], ['\\r']),
    (r'root ::= "\x414"', ["A4"], ["Д"]),
    (r'root ::= ""', [""], ["a", '"']),
    ('root ::= "a\nb"', ["a\nb"], ["a", "ab"]),
    (r'root ::= "\0\a\b\e\f\v\'\?\/"', ["\0\a\b\x1b\f\v'?/"], ["0"]),
    ('root ::= "日本" "語"', ["日本語"], ["日本"]),
    (r'root ::= "a" "\x00"', ["a\0"], ["a"]),
    # classes: one code point
    ("root ::= [abc]", ["a", "c"], ["", "d", "ab"]),
    ("root ::= [a-cx-z]", ["b", "y"], ["d", "-"]),
    ("root ::= [a-]", ["a", "-"], ["b"]),
    ("root ::= [-a]", ["a", "-"], ["b"]),
    ("root ::= [+--]", ["+", ",", "-"], [".", "*"]),
    (r"root ::= [\]\[\-\\]", ["]", "[", "-", "\\"], ["a"]),
    ('root ::= ["]', ['"'], ["a"]),
    (r'root ::= [^"\\\x7F\x00-\x1F]', ["a", "é", "😀"], ['"', "\\", "\n", "ab", "\x7f", ""]),
    (r"root ::= [^\n]", ["a", "\r", "\u2028"], ["\n"]),
    ("root ::= [^]", ["a", "\n", "\U0010ffff"], ["", "ab"]),
    ("root ::= [а-яё]+ | [一-龥]{2} | [é]", ["привет", "ёж", "道部", "é"], ["hi", "道", "è"]),
    (r"root ::= [\u4e00-\u9fff]", ["中"], ["a", "中中"]),
    ("root ::= [🍾-🎂]+", ["🍾🎀🎂"], ["🍽", "🎃"]),
    ("root ::= .", ["a", "é", "😀", "\n", "\0"], ["", "ab"]),
    ('root ::= ... "abc" ...', ["abcabcabc", "🔵🟠✅abc❌🟠🔵"], ["aaabcccc", "🔵🟠abc❌🟠🔵"]),
    # sequences, alternatives, groups
    ('root ::= "a" | "b" "c" |', ["a", "bc", ""], ["b", "abc"]),
    ('root ::= | "a"', ["a", ""], ["b"]),
    ("root ::=", [""], ["a"]),
    ("root ::= ()", [""], ["a"]),
    ('root ::= ("a" | "b") ("c" | ())', ["a", "bc"], ["c", ""]),
    ('root ::= "a"("b")"c"', ["abc"], ["ac"]),
    # repeats
    ('root ::= "ab"*', ["", "ab", "abab"], ["a", "abb"]),
    ('root ::= "ab"+', ["ab", "abab"], [""]),
    ('root ::= "a"? "b"', ["b", "ab"], ["aab"]),
    ('root ::= "a"{3}', ["aaa"], ["aa", "aaaa"]),
    ('root ::= "a"{2,}', ["aa", "aaaa"], ["a"]),
    ('root ::= "a"{1,3}', ["a", "aaa"], ["", "aaaa"]),
    ('root ::= "a"{ 1 , 3 }', ["a", "aaa"], ["", "aaaa"]),
    ('root ::= "a"{0}', [""], ["a"]),
    ('root ::= ("a" | "b"){2} "c"*', ["ab", "bacc"], ["a", "abb"]),
    ('root ::= "a"+?', ["", "a", "aa"], ["b"]),
    ("root ::= [0-9]{3000}", ["7" * 3000], ["7" * 2999, "7" * 3001]),
    # lines and comments
    ('# first\nroot ::= "a" # "b"\n# last', ["a"], ["ab"]),
    ('root ::=\n  "a"', ["a"], [""]),
    ('root ::= "a" |\n  # or\n  "b"', ["a", "b"], ["ab"]),
    ('root ::= (\n  "a"\n\n  "b" # and\n)', ["ab"], ["a"]),
    ('root ::= "a"\n  | "b"', ["a", "b"], ["ab"]),
    ('root ::= "a"\n  "b"\nx ::= "c"', ["ab"], ["a", "abc"]),
    ('root ::= x\r\nx ::= "a"\r\n', ["a"], ["\r\n"]),
    ('root ::= x\rx ::= "a"', ["a"], [""]),
    ('\n\n  root ::= x\n  x ::= "a"\n\n', ["a"], [""]),
    ('root\t::= "a"#c', ["a"], ["a#c"]),
    # names
    ('root ::= a-b UPPER_case 1st\na-b ::= "a"\nUPPER_case ::= "u"\n1st ::= "1"', ["au1"], ["a"]),
    ('root ::= "a" rooted\nrooted ::= "b"', ["ab"], ["a"]),
    ('root ::= a.b\na ::= "a"\nb ::= "b"', ["axb", "a b"], ["ab"]),
    ('root ::= Regex("x")\nRegex ::= "r"', None, None),
    # recursion
    ('root ::= root "a" | "b"', ["b", "baa"], ["", "a", "ab"]),
    ('root ::= ws* root ws* "a" | "b"\nws ::= " "?', ["b", " b a", "baa"], ["a", "ba "]),
    ('root ::= a\na ::= b "x" | "1"\nb ::= a "y" | "2"', ["1", "2x", "1yx", "2xyx"], ["1y", "x"]),
    ('root ::= root | "a"', ["a"], ["", "aa"]),
    ('root ::= root root | "a" | ""', ["", "a", "aaaa"], ["b"]),
    ('root ::= "{" root "}" | ""', ["", "{{}}"], ["{", "{}}"]),
    ('root ::= gap "DOC" gap\ngap ::= (pad | eol)*\npad ::= [ \\t]*\neol ::= "\\r"? "\\n"',
     ["DOC", "  DOC \n ", "\nDOC\r\n"], ["DO", "DOC\r", "\rDOC"]),
    # xgrammar's macros and options
    (r'root ::= "x" Regex("\\d+\\.\\d+") "y"', ["x1.5y"], ["x1y", "x.5y"]),
    ('root ::= Regex("a.b")', ["a\nb"], ["ab"]),
    ('root ::= Regex("a.b", flags="u")', ["axb"], ["a\nb"]),
    ('root ::= Regex("a.b", flags="i")', ["AxB"], ["a\nb"]),
    ('root ::= Regex("a.[^k]", flags="is")', ["A\nb"], ["A\nk", "A\nK"]),
    ('root ::= Regex("(?i)σ")', ["σ"], ["Σ"]),
    ('root ::= Regex(".+", json_string=true)', ["é"], ['"', "\\", "\n", ""]),
    ('root ::= Substring("abc", "de", "fg")', ["", "abc", "abcde", "defg"], ["ab", "abcfg"]),
    ('root ::= TagDispatch(("<t>", body), loop_after_dispatch=true)\nbody ::= [0-9] "</t>"',
     ["", "free <t", "<t>1</t>", "a<t>1</t>b<<t>2</t>"], ["<t>", "a<t>b", "<t>1</t><t>"]),
    ('root ::= TagDispatch(("ab", r), ("xab", s), excludes=("no",), loop_after_dispatch=false)\n'
     'r ::= "1"\ns ::= "2"',
     ["ab1", "xab2", "yab1", "x", "n"], ["xab1", "ab1x", "no", "noab1", "ab"]),
    ('root ::= TagDispatch(("aab", r))\nr ::= "1"', ["aaab1", "aa"], ["aaab", "aaba"]),
    ('root ::= "<" name ">" [a-z]+\nname[lazy] ::= [a-z]+', ["<a>b"], ["<ab>b"]),
    ('root ::= r "z"\nr[lazy] ::= s\ns ::= "a" s | "b" s | "c"', ["abcz"], ["cacz", "abz"]),
    ('root ::= a "x"\na ::= "b" (=("y"))', ["bx"], ["by"]),
    ('root ::= "a"{2, -1}', ["aa", "aaa"], ["a"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "inside", "outside"), CASES, ids=range(len(CASES)))
def test_each_construct(text, inside, outside):
    grammar = Grammar.from_gbnf(text)
    if inside is None:  # a rule named like a macro is a rule: "r", then the group ("x")
        inside, outside = ["rx"], ["x"]
    for accepted in inside:
        assert grammar.accepts(accepted.encode()), accepted
    for rejected in outside:
        assert not grammar.accepts(rejected.encode()), rejected


def test_what_is_no_utf8_matches_no_class():
    grammar = Grammar.from_gbnf("root ::= . | [^a]")
    for data in (b"\xff", b"\xc3", b"\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80"):
        assert not grammar.accepts(data)


def test_the_root_may_have_another_name():
    text = 'a ::= b b\nb ::= "x" | a'
    assert Grammar.from_gbnf(text, root="b").accepts(b"x")
    assert not Grammar.from_gbnf(text, root="a").accepts(b"x")


def test_it_combines_with_other_grammars():
    words = Grammar.from_gbnf('root ::= [a-z] root | ""')
    assert (words & ~Grammar.from_regex("no")).accepts(b"nod")
    assert not (words & ~Grammar.from_regex("no")).accepts(b"no")
    assert (words + Grammar.from_regex("[0-9]")).accepts(b"a1")
    assert words.description.startswith("Grammar.from_gbnf(")


def test_tokens_are_no_text():
    for item in ("<think>", "<[7]>", "!<think>", "!<[7]>", "Token(7, 8)", "ExcludeToken(7)"):
        grammar = Grammar.from_gbnf(f'root ::= {item} "a" | "b"')
        assert grammar.accepts(b"b")
        assert not grammar.accepts(b"<think>a")
        assert not grammar.accepts(b"a")
