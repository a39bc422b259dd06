"""The dialect "ecma": what each construct means, and what is refused."""

from __future__ import annotations

import json
import unicodedata

import pytest

from constrain.algebra.codepoints import CodepointSet
from constrain.errors import RegexSyntaxError, UnsupportedFeatureError
from constrain.frontends.regex import from_regex, lower, parse, search
from constrain.frontends.regex.nodes import Chars
from constrain.frontends.regex.unicode_names import BINARY, CATEGORIES, SCRIPTS
from constrain.frontends.regex.unicode_properties import property_set, simple_folding
from tests.conftest import SHARED, requires_shared
from tests.frontends.regex.languages import Language

SUITE = SHARED / "data" / "json-schema-test-suite" / "tests"


def points_of(pattern: str) -> CodepointSet:
    node = parse(pattern, "ecma")
    assert isinstance(node, Chars)
    return node.points


# Pattern, texts it matches as a whole, texts it does not.
MATCHES = [
    (r"\d+", ["0", "42"], ["", "٣", "a"]),
    (r"\w", ["a", "Z", "_", "0"], ["é", "ſ", "-"]),
    (r"\W", ["é", " ", "\U0001f600"], ["a", "_"]),
    (r"\s", [*" \t\n\v\f\r\xa0\u1680\u2000\u200a\u2028\u2029"], ["\x85", "\x1c"]),
    (r"\s", [*"\u202f\u205f\u3000\ufeff"], ["\u200b", "\u180e"]),
    (r"\S", ["\x85", "a"], ["\ufeff"]),
    (r".", ["a", "\x85", "\U0001f600"], ["\n", "\r", "\u2028", "\u2029", ""]),
    (r"[^]", ["\n", "a", "\U0001f600"], ["", "ab"]),
    (r"a[]|b", ["b"], ["a", "ab"]),
    (r"a$", ["a"], ["a\n"]),
    (r"^a|^b$|a^b", ["a", "b"], ["ab", "\nb"]),
    (r"\bfoo\b.*", ["foo", "foo bar", "fooé"], ["foobar", "foo_"]),
    (r"\B", [""], ["a"]),
    (r"\cJ\cj\ca", ["\n\n\x01"], ["cJcja"]),
    (r"\0", ["\0"], ["0"]),
    (r"\x41\u0042\u{43}\u{1F600}", ["ABC\U0001f600"], []),
    (r"\uD83D\uDE00", ["\U0001f600"], []),
    (r"[\uD83D\uDE00-\uD83D\uDE02]", ["\U0001f601"], ["\U0001f603"]),
    (r"[^\uD800-\uDFFF]", ["a", "\U0001f600"], []),
    (r"[\b]", ["\b"], ["b"]),
    (r"\t\n\v\f\r", ["\t\n\v\f\r"], []),
    (r"\/\.\*\+\?\(\)\[\]\{\}\|\^\$\\", ["/.*+?()[]{}|^$\\"], []),
    # Only in Annex B, and harmless.
    (r"\-\_\@\#\ \:\"\'\<", ["-_@# :\"'<"], []),
    (r"a]b}c{d{,2}", ["a]b}c{d{,2}"], []),
    (r"x{1|{a}", ["x{1", "{a}"], ["x"]),
    (r"[\w-.]+", ["a-.", "."], ["/"]),
    (r"[\d-x]", ["-", "x", "1"], ["w"]),
    (r"[a-]|[-b]", ["-", "a", "b"], ["c"]),
    (r"(?=a)*b|(?!a){2}c", ["b", "c"], ["a"]),
    (r"\07", ["\x07"], []),
    # Quantifiers.
    (r"a{2}b{1,}c{0,1}", ["aab", "aabbc"], ["ab", "aabcc"]),
    (r"a+?b*?c??", ["a", "aabbc"], ["b"]),
    # Groups.
    (r"(?<first>a)(?:b)(c)(?<$x_1>d)", ["abcd"], ["abc"]),
    (r"(?=.*b)a.*", ["ab", "a\u0020b"], ["a"]),
    (r"a(?!b).*", ["a", "ac"], ["ab"]),
    (r".*(?<=a*b)c", ["bc", "aabc"], ["ac"]),
    (r".*(?<!^a|bb)c", ["c", "abc", "xac"], ["ac", "bbc"]),
    (r"(?:(?<=^|,)[a-z]+,?)*", ["", "ab", "ab,c", "a,b,c"], [",a", "a,,b"]),
    (r"^(?!.*--)[a-z](?:-?[a-z])*$", ["a", "a-b", "abc-d"], ["a--b", "-a", "a-"]),
    (r"[a-z\d](?:[a-z\d]|-(?=[a-z\d])){0,38}", ["a", "a-b", "a" * 39], ["a-", "a--b", "a" * 40]),
    (r"(?<x>a)|(?<x>b)|(?:(?<y>c)|(?<y>d))(?<x>e)", ["a", "b", "ce"], ["c"]),
    (r"(?i:straße\w)[a-z]", ["STRASSEA".replace("SS", "ẞ") + "a", "ſtraßeKa"], ["straßeaA"]),
    (r"(?i:[k-l]\u03c3)", ["\u212a\u03c2", "K\u03a3", "l\u03c3"], ["m\u03c3"]),
    (r"(?i:\W|[^k])x|(?i:\b)ſ|\b\u212a", ["-x", "mx", "ſ"], ["\u212ax", "kx", "\u212a"]),
    (r"(?s:.)(?m:a$\n^b)(?i:c(?-i:d))", ["\na\nbCd"], ["\na\nbCD", "xa\nbcd\n"]),
    (r"(?m:^a$)[^]*", ["a", "a\u2028b"], ["ab", "\ra"]),
    # Properties.
    (r"\p{Lu}\p{Letter}+", ["Éa", "ΩΩ"], ["aa"]),
    (r"\p{L}\P{L}", ["é1"], ["éé"]),
    (r"[\p{Nd}\P{ASCII}]", ["5", "é", "٣"], ["a"]),
    (r"[^\p{Script=Greek}]", ["a"], ["α"]),
    (r"\p{sc=Grek}", ["α"], ["a", "\u0342"]),
    (r"\p{scx=Grek}", ["α", "\u0342"], ["a"]),
    (r"\p{Script_Extensions=Devanagari}", ["\u0964", "\u0905"], ["a"]),
    (r"\p{gc=Zs}|\p{General_Category=Decimal_Number}", [" ", "7"], ["a"]),
    (r"\p{Emoji_Presentation}", ["\U0001f600"], ["a", "1"]),
    (r"\p{Alphabetic}\p{White_Space}\p{ID_Start}", ["a b"], ["1 b"]),
    (r"\p{Any}\p{ASCII}\p{Assigned}", ["\nab"], ["aéa"]),
    (r"\p{Cs}|a", ["a"], []),
    (r"\p{Cn}", ["\U0010ffff", "\u0378"], ["a"]),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "accepted", "rejected"), MATCHES)
def test_meaning(pattern, accepted, rejected):
    language = Language(from_regex(pattern, "ecma"))
    assert [t for t in accepted if t not in language] == []
    assert [t for t in rejected if t in language] == []


def test_search_finds_a_match_anywhere():
    language = Language(lower(search(parse("^a|b$|c", "ecma"))))
    for text in ["a", "ax\n", "xb", "\nb", "c", "xcx"]:
        assert text in language
    for text in ["", "xa", "b\n", "\na"]:
        assert text not in language


INVALID = [
    (r"a**", (2, 3)),
    (r"a{1,2}{3}", (6, 9)),
    (r"*a", (0, 1)),
    (r"{1}", (0, 3)),
    (r"(?<=a)*", (6, 7)),
    (r"^*", (1, 2)),
    (r"\b+", (2, 3)),
    (r"a{2,1}", (1, 6)),
    (r"a++", (2, 3)),
    (r"(a", (0, 1)),
    (r"a)b", (1, 2)),
    (r"[a", (0, 1)),
    (r"[b-a]", (1, 4)),
    (r"\A", (0, 2)),
    (r"^\S(|(.|\n)*\S)\Z", (15, 17)),
    (r"\a", (0, 2)),
    (r"\h", (0, 2)),
    (r"[\q]", (1, 3)),
    ("a\\", (1, 2)),
    (r"\x1", (0, 3)),
    (r"\u12", (0, 4)),
    (r"\u{110000}", (0, 10)),
    (r"\u{}", (0, 3)),
    (r"\c1", (0, 2)),
    (r"\8", (0, 2)),
    (r"\1(?:a)", (0, 2)),
    (r"\k", (0, 2)),
    (r"\p", (0, 2)),
    (r"\pL", (0, 2)),
    (r"\p{Foo}", (0, 7)),
    (r"\p{lu}", (0, 6)),
    (r"\p{Script=Foo}", (0, 14)),
    (r"\p{Lu=Lu}", (0, 9)),
    (r"(?i)a", (0, 3)),
    (r"(?P<n>a)", (0, 3)),
    (r"(?>a)", (0, 3)),
    (r"(?#c)", (0, 3)),
    (r"(?<1>a)", (0, 3)),
    (r"(?<n>a)(?<n>b)", (7, 12)),
    (r"(?<n>a|(?<n>b))", (7, 12)),
    (r"((?<n>a)|b)(?<n>c)", (11, 16)),
    (r"(?ii:a)", (0, 5)),
    (r"(?i-i:a)", (0, 6)),
    (r"(?-:a)", (0, 4)),
    (r"(?x:a)", (0, 3)),
    (r"a{1234567890123456789}", (1, 22)),
]


@pytest.mark.parametrize(("pattern", "span"), INVALID)
def test_what_is_invalid_is_shown_with_a_caret(pattern, span):
    with pytest.raises(RegexSyntaxError) as caught:
        parse(pattern, "ecma")
    assert caught.value.span == span
    shown = str(caught.value).split("\n")
    assert "^" * (min(span[1], len(pattern)) - span[0]) in shown[3]


@pytest.mark.parametrize(
    ("pattern", "span"),
    [
        (r"(a)\1", (3, 5)),
        (r"\1(a)", (0, 2)),
        (r"(?<n>a)\k<n>", (7, 12)),
    ],
)
def test_what_is_valid_and_not_regular_is_refused_by_name(pattern, span):
    with pytest.raises(UnsupportedFeatureError) as caught:
        parse(pattern, "ecma")
    assert caught.value.span == span


def test_categories_are_those_of_unicodedata_where_both_know_the_code_point():
    moved = 0
    names = [c for c in CATEGORIES if len(c) == 2 and c not in ("LC", "Cn", "Cs")]
    tables = {name: property_set(name, None) for name in names}
    for point in CodepointSet.ANY:
        name = unicodedata.category(chr(point))
        if name != "Cn":
            moved += not tables[name].contains(point)
    assert moved <= 10  # a younger Unicode version moves a handful of code points


def test_unions_of_categories():
    parts = [points_of(rf"\p{{{c}}}") for c in ("Lu", "Ll", "Lt", "Lm", "Lo")]
    union = CodepointSet.NONE
    for part in parts:
        assert union.isdisjoint(part)
        union |= part
    assert points_of(r"\p{L}") == union == points_of(r"\p{gc=Letter}")
    assert points_of(r"\p{LC}") == parts[0] | parts[1] | parts[2]


def test_every_name_has_its_table_and_both_spellings():
    for long, short in BINARY.items():
        assert property_set(long, None), long
        assert property_set(short, None) == property_set(long, None)
    every_script = CodepointSet.NONE
    for long, short in SCRIPTS.items():
        points = property_set("Script", long)
        assert points, long
        assert property_set("sc", short) == points
        assert property_set("scx", short)
        assert every_script.isdisjoint(points)
        every_script |= points
    assert property_set("sc", "Qaac") == property_set("sc", "Coptic")
    assert ~every_script == property_set("Unassigned", None) | property_set("Co", None)


def _suite_cases():
    for path in sorted(SUITE.glob("*/optional/ecmascript-regex.json")):
        for group in json.loads(path.read_text(encoding="utf-8")):
            schema = group["schema"]
            if not isinstance(schema, dict):
                continue
            if "pattern" in schema:
                yield from ((schema["pattern"], t["data"], t["valid"]) for t in group["tests"])
            for pattern in schema.get("patternProperties", {}):
                for test in group["tests"]:
                    yield from ((pattern, key, test["valid"]) for key in test["data"])


@requires_shared
def test_the_official_suites_ecmascript_cases():
    checked = 0
    for pattern, text, valid in _suite_cases():
        assert (text in Language(lower(search(parse(pattern, "ecma"))))) == valid, (pattern, text)
        checked += 1
    assert checked > 100


@requires_shared
def test_the_official_suites_format_cases():
    checked = 0
    for path in sorted(SUITE.glob("*/optional/format/ecmascript-regex.json")):
        for group in json.loads(path.read_text(encoding="utf-8")):
            for test in group["tests"]:
                if not isinstance(test["data"], str):
                    continue
                checked += 1
                try:
                    parse(test["data"], "ecma")
                    valid = True
                except UnsupportedFeatureError:
                    valid = True
                except RegexSyntaxError:
                    valid = False
                assert valid == test["valid"], test["data"]
    assert checked >= 4


# Case folding.


def test_simple_case_folding_is_that_of_casefold_where_python_knows_the_letters():
    classes = simple_folding()
    differing = []
    for point in CodepointSet.ANY:
        letter = chr(point)
        folded = letter.casefold()
        if unicodedata.category(letter) == "Cn" or len(folded) > 1:
            continue  # younger than this Python, or a full folding
        same = classes.get(point, point) == classes.get(ord(folded), ord(folded))
        if not same:
            differing.append(letter)
    assert differing == []
    assert len(classes) > 1_400


@pytest.mark.parametrize("flags", ["i", "vi"])
def test_letters_without_regard_to_case(flags):
    def folded(letter: str) -> set[int]:
        node = parse(letter, "ecma", flags=flags)
        assert isinstance(node, Chars)
        return set(node.points)

    for letters in ("kK\u212a", "sSſ", "ßẞ", "µμΜ", "θΘϑϴ", "ῼῳ", "ﬅﬆ", "ꮿᏯ", "\u0390\u1fd3"):
        for letter in letters:
            assert folded(letter) == set(map(ord, letters)), letters
    for letter in "iı":  # no dotless letter folds to one with a dot
        assert folded(letter) == set(map(ord, {"i": "iI", "ı": "ı"}[letter]))


# Classes of the flag v.

V_MATCHES = [
    (r"[\p{L}--[a-z]]", ["A", "é"], ["a", "1"]),
    (r"[\w&&\p{Lu}]", ["A"], ["a", "É"]),
    (r"[[a-z]--[aeiou]--[x-z]]", ["b"], ["a", "y"]),
    (r"[^\d]", ["a", "\n"], ["1", ""]),
    (r"[\q{abc|d|}x]", ["abc", "d", "", "x"], ["a", "ab"]),
    (r"[\q{abc|d}--\q{abc}]", ["d"], ["abc"]),
    (r"[\q{ab|c}&&[\q{ab}c-z]]", ["ab", "c"], ["d"]),
    (r"[\q{ab|b}--\q{b}]{2}", ["abab"], ["b"]),
    (r"[a\-\&\!\]\[\(\/]", ["-", "&", "!", "]", "[", "(", "/"], ["\\"]),
    (r"[[[a]b]c]", ["a", "b", "c"], ["["]),
    (r"[]|[^]x", ["ax", "\nx"], ["", "a"]),
    (r"[\b]", ["\b"], ["b"]),
    (r"[a-c&]", ["&", "b"], ["-"]),
]


@pytest.mark.parametrize(("pattern", "accepted", "rejected"), V_MATCHES)
def test_classes_of_sets(pattern, accepted, rejected):
    language = Language(from_regex(pattern, "ecma", flags="v"))
    assert [t for t in accepted if t not in language] == []
    assert [t for t in rejected if t in language] == []


def test_a_complement_without_regard_to_case_differs_between_u_and_v():
    # With u the complement is taken first and then closed; with v the other way round.
    assert "A" in Language(from_regex(r"\P{Lu}", "ecma", flags="ui"))
    assert "A" not in Language(from_regex(r"\P{Lu}", "ecma", flags="vi"))
