"""Structural tags: each type of format, both generations, and where free text ends."""

from __future__ import annotations

import itertools
import json
import re

import pytest

import constrain
from constrain import Grammar, GrammarError, UnsupportedFeatureError, Vocabulary
from tests.matcher.vocabularies import allowed_ids

TEXTS = ["".join(w) for n in range(9) for w in itertools.product("ab<", repeat=n)]
SHORT = [t for t in TEXTS if len(t) < 8]


def const(text):
    return {"type": "const_string", "value": text}


def regex(pattern):
    return {"type": "regex", "pattern": pattern}


def tag(begin, content, end):
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def sequence(*elements):
    return {"type": "sequence", "elements": list(elements)}


ANY = {"type": "any_text"}
CALL = tag("<a", regex("b*"), "a")
TRIGGERED = {"type": "triggered_tags", "triggers": ["<"], "tags": [CALL]}
SEPARATED = {"type": "tags_with_separator", "tags": [CALL], "separator": "<"}
ONE = {"at_least_one": True}
FIRST = {"stop_after_first": True}

# Formats, and Python regular expressions for the same texts over the letters a, b and <.
FORMATS = {
    "const_string": (const("ab"), "ab"),
    "regex": (regex("a(b|<)*"), "a[b<]*"),
    "grammar": ({"type": "grammar", "grammar": 'root ::= "a" root | "b"'}, "a*b"),
    "grammar of llguidance": (
        {"type": "grammar", "grammar": 'start: "a" start | "b"', "syntax": "lark"},
        "a*b",
    ),
    "json_schema": (
        sequence(const("a"), {"type": "json_schema", "json_schema": {"const": 1}}, const("b")),
        "a1b",
    ),
    "any_text": (ANY, "(?s:.*)"),
    "any_text excludes": (ANY | {"excludes": ["ab", "<<"]}, "(?!.*ab)(?!.*<<).*"),
    "any_text of few": (ANY | {"max_chars": 2}, "(?s:.{0,2})"),
    "any_text of few without": (ANY | {"max_chars": 3, "excludes": ["ab"]}, "(?!.*ab).{0,3}"),
    "any_text of few in a tag": (tag("<", ANY | {"max_chars": 2}, "ab"), "<((?!ab).){0,2}ab"),
    "any_text of few with two ends": (
        tag("<", ANY | {"max_chars": 2}, ["ab", "b<"]),
        "<((?!ab|b<).){0,2}(ab|b<)",
    ),
    "any_text of few that may end early": (
        tag("<", ANY | {"max_chars": 2}, ["", "ab"]),
        "<(((?!ab).){0,2}|((?!ab).){0,2}ab)",
    ),
    "any_text of few, without, in a tag": (
        tag("<", ANY | {"max_chars": 3, "excludes": ["aa"]}, "ab"),
        "<(?!.*aa.*ab$)((?!ab).){0,3}ab",
    ),
    "sequence": (sequence(const("a"), regex("b*"), const("<")), "ab*<"),
    "sequence of free text": (sequence(ANY, const("ab"), ANY), ".*ab.*"),
    "or": (
        {"type": "or", "elements": [const("a"), const("bb"), ANY | {"excludes": ["a", "b"]}]},
        "a|bb|<*",
    ),
    "optional": ({"type": "optional", "content": const("ab")}, "(ab)?"),
    "star": ({"type": "star", "content": const("ab")}, "(ab)*"),
    "star of what may be empty": ({"type": "star", "content": regex("a?b?")}, "[ab]*"),
    "plus": ({"type": "plus", "content": const("ab")}, "(ab)+"),
    "repeat": ({"type": "repeat", "min": 1, "max": 2, "content": const("ab")}, "(ab){1,2}"),
    "repeat without bound": ({"type": "repeat", "min": 2, "max": -1, "content": const("a")}, "aa+"),
    "tag": (CALL, "<ab*a"),
    "tag of free text": (tag("<", ANY, "ab"), "<((?!ab).)*ab"),
    "tag of free text without what its end begins with": (
        tag("<", ANY | {"excludes": ["a"]}, "ab"),
        "<[b<]*ab",
    ),
    "tag of free text without what reaches into its end": (
        tag("<", ANY | {"excludes": ["ba"]}, "ab"),
        "<(?!.*ba.*ab$)((?!ab).)*ab",
    ),
    "tag with two ends": (tag("<", ANY, ["ab", "b<"]), "<((?!ab|b<).)*(ab|b<)"),
    "tag with one end in another": (tag("<", ANY, ["ab", "b"]), "<[^b]*b"),
    "tag with no end": (tag("<", ANY, ""), "<.*"),
    "tag that may end early": (tag("<", ANY, ["", "ab"]), "<(((?!ab).)*|((?!ab).)*ab)"),
    "tag with no begin": (tag("", ANY, "ab"), "((?!ab).)*ab"),
    "tag of a sequence": (tag("<", sequence(const("b"), ANY), "a"), "<b[^a]*a"),
    "tag of alternatives": (
        tag("<", {"type": "or", "elements": [const("aa"), ANY]}, "a"),
        "<(aaa|[^a]*a)",
    ),
    "tag of what is optional": (
        tag("<", {"type": "optional", "content": sequence(const("b"), ANY)}, "a"),
        "<(b[^a]*)?a",
    ),
    "tag in a tag": (tag("<", tag("<", ANY, "a"), "b"), "<<[^a]*ab"),
    "triggered": (TRIGGERED, "[^<]*(<ab*a[^<]*)*"),
    "triggered at least once": (TRIGGERED | ONE, "<ab*a([^<]|<ab*a)*"),
    "triggered at most once": (TRIGGERED | FIRST, "[^<]*(<ab*a)?"),
    "triggered once": (TRIGGERED | ONE | FIRST, "<ab*a"),
    "triggered excludes": (TRIGGERED | {"excludes": ["bb"]}, "((?!bb)[^<])*(<ab*a((?!bb)[^<])*)*"),
    "triggered in a tag": (tag("b", TRIGGERED, "b"), "b(a|<ab*a)*b"),
    "triggered in a tag, once": (tag("b", TRIGGERED | ONE, "b"), "b<ab*a(a|<ab*a)*b"),
    "triggered in a tag, first": (tag("b", TRIGGERED | FIRST, "b"), "ba*(<ab*a)?b"),
    "triggered in a tag, once and first": (tag("b", TRIGGERED | ONE | FIRST, "b"), "b<ab*ab"),
    "triggers of several tags": (
        {
            "type": "triggered_tags",
            "triggers": ["<a", "<b"],
            "tags": [tag("<ab", const("b"), ""), tag("<aa", const("<"), ""), tag("<b", ANY, "<")],
        },
        "((?!<a|<b).)*((<abb|<aa<|<b[^<]*<)((?!<a|<b).)*)*",
    ),
    "separated": (SEPARATED, "(<ab*a(<<ab*a)*)?"),
    "separated at least once": (SEPARATED | ONE, "<ab*a(<<ab*a)*"),
    "separated at most once": (SEPARATED | FIRST, "(<ab*a)?"),
    "separated by nothing": (SEPARATED | {"separator": ""}, "(<ab*a)*"),
    "separated in a tag": (tag("b", SEPARATED, "b"), "b(<ab*a(<<ab*a)*)?b"),
    "dispatch": ({"type": "dispatch", "rules": [["<", regex("ab*a")]]}, "[^<]*(<ab*a[^<]*)*"),
    "dispatch without loop": (
        {"type": "dispatch", "rules": [["<", regex("ab*a")]], "loop": False},
        "[^<]*(<ab*a)?",
    ),
    "dispatch in a tag": (
        tag("b", {"type": "dispatch", "rules": [["<", const("a")]], "excludes": ["b"]}, "b"),
        "b(a|<a)*b",
    ),
    "dispatch without loop in a tag": (
        tag("b", {"type": "dispatch", "rules": [["<", ANY]], "loop": False}, "b"),
        "ba*(<[a<]*)?b",
    ),
}


@pytest.mark.parametrize("given", FORMATS.values(), ids=FORMATS.keys())
def test_every_short_text(given):
    value, pattern = given
    grammar = Grammar.from_structural_tag({"type": "structural_tag", "format": value})
    expected = re.compile(pattern)
    texts = [*SHORT, "a1b", "a2b"]
    wrong = [t for t in texts if grammar.accepts(t.encode()) != bool(expected.fullmatch(t))]
    assert wrong == []
    assert any(expected.fullmatch(t) for t in texts)
    bare = Grammar.from_structural_tag(json.dumps(value))
    assert all(grammar.accepts(t.encode()) == bare.accepts(t.encode()) for t in texts[:400])


def test_the_older_generation_says_the_same():
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    older = {
        "type": "structural_tag",
        "structures": [
            {"begin": "<f=one>", "schema": schema, "end": "</f>"},
            {"begin": "<f=two>", "schema": json.dumps(schema), "end": "</f>"},
        ],
        "triggers": ["<f="],
    }
    content = {"type": "json_schema", "json_schema": schema}
    newer = {
        "type": "structural_tag",
        "format": {
            "type": "triggered_tags",
            "triggers": ["<f="],
            "tags": [tag("<f=one>", content, "</f>"), tag("<f=two>", content, "</f>")],
        },
    }
    call = '<f=one>{"a": 1}</f>'
    texts = ["", "a", call, f"x{call}y{call.replace('one', 'two')}<f", "<f=one>{}</f>", "<f=six>"]
    for given in (older, newer, json.dumps(older), json.dumps(newer)):
        grammar = Grammar.from_structural_tag(given)
        assert [grammar.accepts(t.encode()) for t in texts] == [True] * 4 + [False] * 2
    assert "Grammar.from_structural_tag(" in repr(grammar)


def test_schemas_take_the_style_and_their_own_options():
    schema = {"properties": {"a": {"const": 1}, "b": {"const": 2}}, "additionalProperties": False}
    given = {"type": "json_schema", "json_schema": {"type": "object", **schema}}
    spaced, turned, dense = b'{"a":1,   "b": 2}', b'{"b": 2,"a": 1}', b'{"a":1,"b":2}'

    def verdicts(value, **options):
        grammar = Grammar.from_structural_tag(value, **options)
        return [grammar.accepts(text) for text in (dense, spaced, turned)]

    assert verdicts(given) == [True, False, False]
    assert verdicts(given, style="any") == [True, True, True]
    assert verdicts(given | {"any_order": True}) == [True, False, True]
    assert verdicts(given | {"max_whitespace_cnt": 3}) == [True, True, False]
    assert verdicts(given | {"max_whitespace_cnt": 0}) == [True, False, False]
    assert verdicts(given | {"style": "json", "any_order": None}) == [True, False, False]


# Tokens. Ids of TOKENS are their places in it; a str is a special token.

TOKENS = ["<t>", "</t>", "<x>", b"<", b"t>", b"<t", b"a", b"b", b"</t>b", "<end>"]
END = len(TOKENS) - 1
SPECIAL = {t: i for i, t in enumerate(TOKENS) if isinstance(t, str)}
VOCAB = Vocabulary([None if isinstance(t, str) else t for t in TOKENS], [END], SPECIAL)


def after(value, *tokens):
    """What may come after some tokens."""
    matcher = constrain.compile(Grammar.from_structural_tag(value), VOCAB).matcher()
    for token in tokens:
        assert matcher.accept_token(TOKENS.index(token)), token
    bitmask = constrain.allocate_token_bitmask(1, VOCAB.vocab_size)
    matcher.fill_next_token_bitmask(bitmask)
    return [TOKENS[i] for i in sorted(allowed_ids(bitmask, 0, VOCAB.vocab_size))]


EVERY = TOKENS[:END]


def test_markers_are_text_or_special_tokens():
    value = tag("<t>", const("a"), "</t>")
    assert after(value) == ["<t>", b"<", b"<t"]
    assert after(value, "<t>") == after(value, b"<", b"t>") == [b"a"]
    assert after(value, "<t>", b"a") == ["</t>", b"<"]
    assert after(value, "<t>", b"a", "</t>") == ["<end>"]


def test_free_text_in_a_tag_ends_at_text_or_special_token():
    value = sequence(tag("<t>", ANY, "</t>"), const("b"))
    assert after(value, "<t>") == EVERY
    assert after(value, "<t>", "<x>", b"a", b"<") == EVERY
    assert after(value, "<t>", "</t>") == [b"b"]
    assert after(value, "<t>", b"a", b"</t>b") == ["<end>"]


def test_a_special_token_may_reach_past_the_trigger():
    value = {"type": "triggered_tags", "triggers": ["<"], "tags": [tag("<t>a", const("b"), "")]}
    assert after(value) == [*EVERY[:-1], "<end>"]  # `</t>b` begins no tag
    assert after(value, "<t>") == [b"a"]
    assert after(value, b"<", b"t>") == [b"a"]
    assert after(value, "<t>", b"a", b"b") == [*EVERY[:-1], "<end>"]
    assert after(value, "<x>") == [*EVERY[:-1], "<end>"]


def test_free_text_of_few_characters_ends_at_text_or_special_token():
    value = sequence(tag("<t>", ANY | {"max_chars": 2}, "</t>"), const("b"))
    free = [t for t in EVERY if not isinstance(t, str)]
    assert after(value, "<t>") == ["</t>", *free]
    assert after(value, "<t>", b"a") == ["</t>", b"<", b"a", b"b", b"</t>b"]
    assert after(value, "<t>", b"a", b"b") == ["</t>", b"<", b"</t>b"]
    assert after(value, "<t>", b"<t") == ["</t>", b"<", b"</t>b"]
    assert after(value, "<t>", b"a", "</t>") == [b"b"]
    assert after(value, "<t>", b"a", b"</t>b") == ["<end>"]


def test_free_text_of_few_tokens():
    value = sequence(ANY | {"max_tokens": 2}, const("b"))
    assert after(value) == EVERY
    assert after(value, b"</t>b", "<x>") == [b"b"]
    inside = tag("<t>", ANY | {"max_tokens": 1}, {"type": "token", "token": "</t>"})
    assert after(inside, "<t>") == EVERY
    assert after(inside, "<t>", b"</t>b") == ["</t>"]
    assert after(inside, "<t>", "</t>") == ["<end>"]


def test_free_text_of_few_tokens_until_a_text():
    value = tag("<t>", ANY | {"max_tokens": 2}, "</t>")
    assert after(value, "<t>", b"a", b"a") == ["</t>", b"<"]
    assert after(value, "<t>", b"a", b"<") == ["</t>", b"<"]  # begun there, or cut there
    assert after(value, "<t>", b"a", "</t>") == ["<end>"]
    none = tag("<t>", ANY | {"max_tokens": 0}, "</t>")
    assert after(none, "<t>") == ["</t>", b"<"]
    excludes = tag("<t>", ANY | {"max_tokens": 2, "excludes": ["b"]}, ["<x>", "b"])
    assert after(excludes, "<t>", b"a", b"a") == ["<x>", b"<", b"b"]
    assert after(excludes, "<t>", b"a", b"b") == ["<end>"]


@pytest.mark.parametrize("ends", [["ab"], ["aa", "ba"], ["b", ""], ["aba"], ["b", "abc"]], ids=str)
@pytest.mark.parametrize("more", [{}, {"excludes": ["c"]}, {"excludes": ["ca"]}], ids=str)
def test_few_characters_and_few_tokens(ends, more):
    """Against all ways to divide a run: characters and tokens before an end are bounded."""
    tokens = [b"a", b"b", b"c", b"ab", b"ba", b"cab"]
    vocab = Vocabulary([*tokens, None], [len(tokens)])
    content = ANY | {"max_tokens": 2, "max_chars": 3} | more
    compiled = constrain.compile(Grammar.from_structural_tag(tag("c", content, ends)), vocab)
    words = ["".join(w) for n in range(4) for w in itertools.product("abc", repeat=n)]

    def stands(body, end):
        """Whether a text may stand before an end, which then is the first."""
        whole = body + end
        begun = [whole[:k] for k in range(len(whole) + (not end))]
        return not any([e in body for e in more.get("excludes", ())]) and not any(
            [text.endswith(e) for text in begun for e in ends if e]
        )

    bodies = [w for w in words if any(stands(w, end) for end in ends)]

    def is_sentence(run):
        text = b"".join(tokens[t] for t in run).decode()
        places = set(itertools.accumulate(len(tokens[t]) for t in run))
        for end in ends:
            at = len(text) - len(end)
            body = text[1:at]
            if at < 1 or text[at:] != end:
                continue
            inside = len([p for p in places if 1 < p < at])
            if inside < 2 and body in bodies and stands(body, end):
                return True
            if inside == 1 and at in places and body and any(w.startswith(body) for w in bodies):
                return True
        return False

    def begins(run, most=5):
        return is_sentence(run) or (most > 0 and any(begins([*run, t], most - 1) for t in range(3)))

    for n in range(3):
        for rest in itertools.product(range(len(tokens)), repeat=n):
            run = [2, *rest]
            fits = compiled.matcher().validate_tokens([*run, len(tokens)])
            assert (fits >= len(run)) == begins(run), [tokens[t] for t in run]
            assert (fits > len(run)) == is_sentence(run), [tokens[t] for t in run]


def test_tokens_as_a_whole():
    begin, end = {"type": "token", "token": "<t>"}, {"type": "token", "token": "</t>"}
    assert after(begin) == ["<t>"]
    assert after({"type": "token", "token": 6}) == [b"a"]
    assert after({"type": "exclude_token", "exclude_tokens": ["<t>", 6]}) == [
        t for t in EVERY if t not in ("<t>", b"a")
    ]
    inside = tag(begin, {"type": "any_tokens", "exclude_tokens": [6]}, end)
    assert after(inside) == ["<t>"]
    assert after(inside, "<t>", b"</t>b") == [t for t in EVERY if t != b"a"]
    assert after(inside, "<t>", "</t>") == ["<end>"]
    bounded = tag(begin, {"type": "any_tokens", "max_tokens": 1}, end)
    assert after(bounded, "<t>", b"a") == ["</t>"]
    text = tag(begin, ANY, end)
    assert after(text, "<t>") == EVERY
    assert after(text, "<t>", b"<", b"</t>b") == EVERY
    assert after(text, "<t>", "</t>") == ["<end>"]
    triggered = tag(begin, TRIGGERED | ONE, end)
    assert after(triggered, "<t>") == [b"<"]


def test_tags_that_tokens_trigger():
    inner = tag({"type": "token", "token": "<t>"}, const("a"), {"type": "token", "token": "</t>"})
    value = {"type": "token_triggered_tags", "trigger_tokens": ["<t>"], "tags": [inner]}
    value["exclude_tokens"] = ["<x>"]
    free = [t for t in TOKENS if t != "<x>"]
    assert after(value) == free
    assert after(value, b"<", b"t>") == free  # text is no token `<t>`
    assert after(value, b"a", "<t>") == [b"a"]
    assert after(value, "<t>", b"a", "</t>") == free
    assert after(value | ONE) == ["<t>"]
    assert after(value | ONE, "<t>", b"a", "</t>") == free
    assert after(value | FIRST, b"a", "<t>", b"a", "</t>") == ["<end>"]
    assert after(value | ONE | FIRST, "<t>", b"a", "</t>") == ["<end>"]
    rules = {"type": "token_dispatch", "rules": [["<t>", const("a")], [2, const("b")]]}
    assert after(rules, b"a", "<t>") == [b"a"]
    assert after(rules, "<x>") == [b"b"]
    assert after(rules, "<x>", b"b") == TOKENS
    assert after(rules | {"loop": False}, "<x>", b"b") == ["<end>"]


def test_formats_nest_as_deep_as_the_limit():
    for depth, fits in ((990, True), (1_200, False)):
        value = const("a")
        for _ in range(depth):
            value = sequence(value)
        inner = json.dumps(const("a"))
        text = '{"type": "sequence", "elements": [' * depth + inner + "]}" * depth
        for given in (value, text):
            if fits:
                assert Grammar.from_structural_tag(given).accepts(b"a")
            else:
                with pytest.raises(constrain.LimitExceededError, match="max_nesting"):
                    Grammar.from_structural_tag(given)


def test_reasoning_by_itself():
    answer = Grammar.from_choices(["a", "bb"])
    reasoned = answer.with_reasoning("b<", begin="<")
    pattern = re.compile("<((?!b<).)*b<(a|bb)")
    assert [t for t in SHORT if reasoned.accepts(t.encode()) != bool(pattern.fullmatch(t))] == []
    assert ".with_reasoning('b<', begin='<')" in repr(reasoned)
    assert answer.with_reasoning().accepts(b"hm</think>a")
    assert not answer.with_reasoning().accepts(b"hm</think> a")
    for wrong in ("", None, 1, "\ud800"):
        with pytest.raises(GrammarError, match="end "):
            answer.with_reasoning(wrong)
    with pytest.raises(GrammarError, match="begin "):
        answer.with_reasoning(begin="")


T = "triggered_tags"
NEVER_ENDS = TRIGGERED | {"tags": [tag("<", const("b"), "")]}
UNSATISFIABLE = constrain.UnsatisfiableError


@pytest.mark.parametrize(
    ("value", "kind", "match"),
    [
        (3, GrammarError, "a dict or a JSON text, not int"),
        ("{", GrammarError, "structural tag text is not JSON"),
        ({}, GrammarError, "needs a field 'type'"),
        ({"type": "structural_tag"}, GrammarError, "needs a field 'format'"),
        ({"type": "structural_tag", "format": ANY, "x": 1}, UnsupportedFeatureError, "field 'x'"),
        (
            {"type": "structural_tag", "format": {"type": "tga"}},
            UnsupportedFeatureError,
            r"type 'tga'.*#/format/type\)",
        ),
        ({"type": "json_schem"}, UnsupportedFeatureError, "did you mean 'json_schema'"),
        (
            {"type": "qwen_xml_parameter", "json_schema": {}, "style": "json"},
            UnsupportedFeatureError,
            "#/style",
        ),
        (ANY | {"exclude": ["a"]}, UnsupportedFeatureError, "'exclude'.*did you mean 'excludes'"),
        (ANY | {"excludes": [""]}, GrammarError, "#/excludes/0"),
        (ANY | {"excludes": "a"}, GrammarError, "an array, not 'a'"),
        (ANY | {"max_chars": -1}, GrammarError, "#/max_chars"),
        (ANY | {"max_chars": 2**31}, GrammarError, "0 to 2,147,483,647"),
        (ANY | {"max_tokens": True}, GrammarError, "an integer, not True"),
        ({"type": "any_tokens", "max_tokens": -1}, GrammarError, "#/max_tokens"),
        (ANY | {"stop": 4}, UnsupportedFeatureError, "'stop'"),
        (const(None), GrammarError, "needs a field 'value', a string"),
        (const(1), GrammarError, "'value' of a 'const_string' format is a string, not 1"),
        (sequence(), GrammarError, "at least one element"),
        (sequence(ANY, "a"), GrammarError, r"a format is an object, not 'a' \(at #/elements/1\)"),
        (regex("(a"), constrain.RegexSyntaxError, "#/pattern"),
        ({"type": "grammar", "grammar": "root ::= x"}, constrain.GrammarSyntaxError, "#/grammar"),
        (
            sequence({"type": "json_schema", "json_schema": {"properties": {"a": {"type": "x"}}}}),
            constrain.SchemaError,
            "#/elements/0/json_schema/properties/a/type",
        ),
        (
            {"type": "json_schema", "json_schema": {"enum": []}},
            constrain.ConstrainError,
            "#/json_schema",
        ),
        (
            {"type": "json_schema", "json_schema": {}, "style": "glm_xmll"},
            UnsupportedFeatureError,
            "did you mean 'glm_xml'",
        ),
        (
            {"type": "json_schema", "json_schema": {}, "excludes": [""]},
            GrammarError,
            "#/excludes/0",
        ),
        (
            {"type": "json_schema", "json_schema": {"enum": ["ab"]}, "excludes": ["b"]},
            UnsupportedFeatureError,
            "'ab' has 'b' in it.*#/json_schema",
        ),
        (
            {"type": "json_schema", "json_schema": {"type": "string"}, "style": "glm_xml"},
            UNSATISFIABLE,
            "#/json_schema",
        ),
        (
            {"type": "grammar", "grammar": 'start: "a"', "syntax": "larkk"},
            UnsupportedFeatureError,
            "#/syntax",
        ),
        (
            {"type": "json_schema", "json_schema": {}, "max_whitespace_cnt": -1},
            GrammarError,
            "0 to 2,147,483,647",
        ),
        ({"type": "repeat", "min": 2, "max": 1, "content": ANY}, GrammarError, "min <= max"),
        ({"type": "repeat", "min": True, "max": 1, "content": ANY}, GrammarError, "an integer"),
        (tag("a", ANY, []), GrammarError, "at least one end"),
        (tag("a", ANY, [1]), GrammarError, "#/end/0"),
        (tag("a", ANY, {"type": "token", "token": 4}), UnsupportedFeatureError, "token 4"),
        (tag({"type": "tokn"}, const("a"), "b"), GrammarError, "#/begin/type"),
        ({"type": T, "triggers": ["<"], "tags": []}, GrammarError, "at least one tag"),
        ({"type": T, "triggers": [""], "tags": [CALL]}, GrammarError, "#/triggers/0"),
        ({"type": T, "triggers": ["<", "a"], "tags": [CALL]}, GrammarError, "#/triggers/1"),
        ({"type": T, "triggers": ["b"], "tags": [CALL]}, GrammarError, "#/tags/0/begin"),
        ({"type": T, "triggers": ["b"], "tags": [ANY]}, GrammarError, "#/tags/0/type"),
        (
            {"type": T, "triggers": ["<"], "tags": [tag({"token": "<"}, ANY, "")]},
            GrammarError,
            "token_triggered_tags",
        ),
        (
            {"type": "token_triggered_tags", "trigger_tokens": ["<"], "tags": [CALL]},
            GrammarError,
            "'token': '<a'",
        ),
        (
            {
                "type": "token_triggered_tags",
                "trigger_tokens": ["<"],
                "tags": [tag({"token": "a"}, ANY, "")],
            },
            GrammarError,
            "'a' is no trigger",
        ),
        (sequence(tag("", NEVER_ENDS, "<a")), UNSATISFIABLE, "#/elements/0/content"),
        ({"type": "dispatch", "rules": []}, GrammarError, "at least one rule"),
        ({"type": "dispatch", "rules": [["a"]]}, GrammarError, "#/rules/0"),
        ({"type": "dispatch", "rules": [["", ANY]]}, GrammarError, "#/rules/0/0"),
        (
            {"type": "dispatch", "rules": [["a", {"type": "x"}]]},
            UnsupportedFeatureError,
            "#/rules/0/1/type",
        ),
        ({"structures": [], "triggers": []}, GrammarError, "no structures"),
        (
            {"structures": [{"begin": "a", "end": ""}], "triggers": ["a"]},
            GrammarError,
            "needs a field 'schema'.*#/structures/0",
        ),
        (
            {"structures": [{"begin": "a", "schema": 1, "end": ""}], "triggers": ["a"]},
            GrammarError,
            "#/structures/0/schema",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_place(value, kind, match):
    with pytest.raises(kind, match=re.compile(match, re.DOTALL)):
        Grammar.from_structural_tag(value)
