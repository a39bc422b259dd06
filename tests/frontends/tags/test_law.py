"""The law for random structural tags, over a vocabulary whose tokens straddle every mark.

Bit t of a mask is set if and only if the run so far and token t begin a sentence, and the end token
is allowed if and only if the run is one: as a slow reader (`reader`) sees it.
"""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import constrain
from constrain import Grammar, Vocabulary
from tests.frontends.tags.reader import Reader
from tests.matcher.vocabularies import allowed_ids

TOKENS = [
    *("<t>", "</t>", "<x>"),
    *(b"<", b"t>", b"<t", b"a", b"b", b">", b"t", b"/", b"x"),
    *(b"</t>b", b"<t>a", b"ab", b"aab<", b"b<t>a</t>", b"a<", b"<x"),
    "<end>",
]
END = len(TOKENS) - 1
SPECIAL = {t: i for i, t in enumerate(TOKENS) if isinstance(t, str)}
VOCAB = Vocabulary([None if isinstance(t, str) else t for t in TOKENS], [END], SPECIAL)

MARKS = ["<", "<t", "<t>", "<t>a", "</t>", "<x>", "a", "ab", "aab", "b<t>", "t>b", "<x><t>", "aa"]
marks = st.sampled_from(MARKS)
texts = st.sampled_from(["a", "b", "ab", "<t>", "<x>a", "</t>", "aa"])
names = st.sampled_from(["<t>", "</t>", "<x>", 6, "ab"])


def const(text):
    return {"type": "const_string", "value": text}


ANY = {"type": "any_text"}
any_text = st.one_of(
    st.just(ANY),
    st.lists(marks, min_size=1, max_size=2).map(lambda e: ANY | {"excludes": e}),
    st.fixed_dictionaries(
        {"type": st.just("any_text"), "max_tokens": st.integers(0, 3)},
        optional={"excludes": st.lists(marks, max_size=1)},
    ),
)
flags = {"at_least_one": st.booleans(), "stop_after_first": st.booleans()}


def tag(begin, content, end):
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def token(name):
    return {"type": "token", "token": name}


ends = st.one_of(marks, st.lists(st.one_of(marks, st.just("")), min_size=1, max_size=2))
token_contents = st.one_of(
    st.just(ANY),
    texts.map(const),
    st.fixed_dictionaries(
        {"type": st.just("any_tokens"), "exclude_tokens": st.lists(names, max_size=2)},
        optional={"max_tokens": st.integers(0, 3)},
    ),
    st.lists(names, max_size=2).map(lambda n: {"type": "exclude_token", "exclude_tokens": n}),
)
token_tags = st.builds(
    tag, names.map(token), token_contents, st.sampled_from(["<t>", "</t>", "<x>"]).map(token)
)


def tags_of(contents):
    return st.builds(tag, marks, contents, ends)


@st.composite
def triggered(draw, contents):
    some = draw(st.lists(tags_of(contents), min_size=1, max_size=3))
    triggers = []
    for one in some:
        triggers.append(one["begin"][: draw(st.integers(1, len(one["begin"])))])
    return {
        "type": "triggered_tags",
        "triggers": list(dict.fromkeys(triggers)),
        "tags": some,
        "excludes": draw(st.lists(marks, max_size=1)),
        **{key: draw(flag) for key, flag in flags.items()},
    }


@st.composite
def token_triggered(draw):
    some = draw(st.lists(token_tags, min_size=1, max_size=2))
    return {
        "type": "token_triggered_tags",
        "trigger_tokens": [one["begin"]["token"] for one in some],
        "tags": some,
        "exclude_tokens": draw(st.lists(names, max_size=1)),
        **{key: draw(flag) for key, flag in flags.items()},
    }


def larger(contents):
    lists = st.lists(contents, min_size=1, max_size=3)
    return st.one_of(
        lists.map(lambda e: {"type": "sequence", "elements": e}),
        lists.map(lambda e: {"type": "or", "elements": e}),
        contents.map(lambda c: {"type": "optional", "content": c}),
        contents.map(lambda c: {"type": "star", "content": c}),
        contents.map(lambda c: {"type": "plus", "content": c}),
        st.builds(
            lambda c, lo, more: {"type": "repeat", "min": lo, "max": lo + more, "content": c},
            *(contents, st.integers(0, 2), st.integers(0, 2)),
        ),
        tags_of(contents),
        token_tags,
        triggered(contents),
        token_triggered(),
        st.fixed_dictionaries(
            {
                "type": st.just("tags_with_separator"),
                "tags": st.lists(tags_of(contents), min_size=1, max_size=2),
                "separator": st.sampled_from(["", "a", "<x>"]),
                **flags,
            }
        ),
        st.fixed_dictionaries(
            {
                "type": st.just("dispatch"),
                "rules": st.lists(st.tuples(marks, contents).map(list), min_size=1, max_size=2),
                "loop": st.booleans(),
                "excludes": st.lists(marks, max_size=1),
            }
        ),
    )


formats = st.recursive(st.one_of(texts.map(const), any_text), larger, max_leaves=5)


def verdict(value, run):
    return Reader([TOKENS[i] for i in run], run).verdict(value)


@settings(max_examples=150)
@given(formats, st.randoms(use_true_random=False))
def test_masks_are_what_the_slow_reader_sees(value, random):
    try:
        grammar = Grammar.from_structural_tag(json.dumps(value))
    except constrain.UnsatisfiableError:
        return
    try:
        compiled = constrain.compile(grammar, VOCAB)
    except constrain.ConstrainError:
        assert not verdict(value, [])[1]
        return
    bitmask = constrain.allocate_token_bitmask(1, VOCAB.vocab_size)
    for _ in range(2):
        matcher, run = compiled.matcher(), []
        while len(run) < 6:
            matcher.fill_next_token_bitmask(bitmask)
            allowed = allowed_ids(bitmask, 0, VOCAB.vocab_size)
            expected = {i for i in range(END) if verdict(value, [*run, i])[1]}
            expected |= {END} if verdict(value, run)[0] else set()
            assert allowed == expected, (value, [TOKENS[i] for i in run])
            assert matcher.is_accepting == (END in expected)
            left = sorted(expected - {END})
            if not left:
                break
            chosen = random.choice(left)
            assert matcher.accept_token(chosen)
            run.append(chosen)


SMALL = [b"a", b"b", b"<", b"<t>", b"t>a", "<t>", "<x>", "<end>"]


@pytest.mark.parametrize(
    "value",
    [
        {
            "type": "triggered_tags",
            "triggers": ["<t", "b<"],
            "tags": [tag("<t>a", const("b"), ["a", "<x>"]), tag("b<t", ANY, "<t>")],
            "excludes": ["aa"],
            "at_least_one": False,
            "stop_after_first": False,
        },
        tag("", ANY, ["<t>", "t>a", "<x>"]),
        tag("<x>", {"type": "optional", "content": ANY}, "aab"),
        {"type": "dispatch", "rules": [["ab", const("a")], ["<t>", ANY]], "loop": False},
    ],
    ids=lambda value: value["type"],
)
def test_every_run_of_four_tokens(value):
    ids = {t: i for i, t in enumerate(SMALL) if isinstance(t, str)}
    vocab = Vocabulary([None if isinstance(t, str) else t for t in SMALL], [len(SMALL) - 1], ids)
    compiled = constrain.compile(Grammar.from_structural_tag(value), vocab)
    for run in itertools.product(range(len(SMALL) - 1), repeat=4):
        matcher = compiled.matcher()
        fits = matcher.validate_tokens(list(run))
        for n in range(1, 5):
            complete, begins = Reader([SMALL[i] for i in run[:n]], run[:n]).verdict(value)
            assert begins == (fits >= n), (run, n)
            if not begins:
                break
            assert matcher.accept_token(run[n - 1])
            assert matcher.is_accepting == complete, (run, n)
