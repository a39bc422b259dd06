"""Free text against its law, read aloud: the earliest end of a trigger decides."""

from __future__ import annotations

import itertools

import pytest

import constrain
from constrain import Grammar, Vocabulary
from constrain.algebra.store import TermStore
from constrain.algebra.terms import EMPTY, cat, literal
from constrain.frontends.tags import markers
from constrain.frontends.tags.free_text import free_text, text_that_does_not_begin
from constrain.frontends.tags.markers import marker, special_parts
from tests.matcher.vocabularies import allowed_ids

TEXTS = [bytes(w) for n in range(9) for w in itertools.product(b"ab<", repeat=n)]
AGAIN = None

CASES = {
    "one trigger": ({"ab": b"a"}, (), False),
    "a letter": ({"<": b""}, (), True),
    "one begins another": ({"a": b"b", "ab": b"<", "<": b""}, (), False),
    "one ends another": ({"b": b"b", "ab": b"a"}, (), False),
    "one is inside another": ({"ab": b"<", "<aba": b"a"}, (), False),
    "they overlap": ({"ab<": b"a", "b<a": b"b"}, (), True),
    "it overlaps itself": ({"aab": b"<", "aba": b"b"}, (), False),
    "it comes back": ({"ab": AGAIN, "<<": b"a"}, (), True),
    "it comes back and must end": ({"ab": AGAIN, "<<": b"a"}, (), False),
    "never": ({}, ("ab", "<<"), True),
    "not before the trigger": ({"b<": b"a"}, ("aa",), False),
    "what is excluded ends the trigger": ({"ab": b"<"}, ("ab", "b"), False),
    "what is excluded is in the trigger": ({"ab": b"<", "<": b""}, ("a",), True),
    "what is excluded begins the trigger": ({"<ab": b"a", "b": AGAIN}, ("<",), True),
    "what is excluded overlaps the trigger": ({"abb": b"a", "ba": b""}, ("aa", "<a"), True),
    "what is excluded ends two triggers begun": ({"ab<": b"", "bb": b"a"}, ("ab", "b"), True),
}


def grammar_of(triggers, excludes, may_end):
    def follow(rest):
        return (
            (lambda again: cat(literal(b"<"), again)) if rest is AGAIN else lambda _: literal(rest)
        )

    listed = [(text, follow(rest)) for text, rest in triggers.items()]
    return Grammar(free_text(listed, may_end=may_end, excludes=excludes), "free text")


def law(text, triggers, excludes, may_end):
    begun = len(text)  # a trigger begins before this place
    for end in range(1, len(text) + 1):
        ended = [
            rest
            for t, rest in triggers.items()
            if text[:end].endswith(t.encode()) and end - len(t) < begun
        ]
        if ended:
            after = text[end:]
            return any(
                after[:1] == b"<" and law(after[1:], triggers, excludes, may_end)
                if rest is AGAIN
                else after == rest
                for rest in ended
            )
        if begun == len(text) and any(text[:end].endswith(e.encode()) for e in excludes):
            begun, may_end = end, False
    return may_end


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_every_short_text(case):
    grammar = grammar_of(*case)
    wrong = [w for w in TEXTS if grammar.accepts(w) != law(w, *case)]
    assert wrong == []
    assert any(map(grammar.accepts, TEXTS))


def test_a_trigger_given_twice_goes_on_both_ways():
    follows = [("ab", lambda _: literal(b"a")), ("ab", lambda _: literal(b"b"))]
    grammar = Grammar(free_text(follows, may_end=False), "test")
    assert [grammar.accepts(w) for w in (b"aba", b"abb", b"ab<")] == [True, True, False]


@pytest.mark.parametrize("triggers", [[], ["<t>"]])
def test_free_text_that_can_never_end(triggers):
    listed = [(t, lambda again: again) for t in triggers]
    with pytest.raises(constrain.UnsatisfiableError, match="nothing that ends it can appear"):
        free_text([*listed, ("t", lambda _: EMPTY)], may_end=False, excludes=["a"])


def test_triggers_have_bounds():
    longest = "<" + "a" * 999
    grammar = Grammar(free_text([(longest, lambda _: literal(b"b"))], may_end=False), "test")
    assert grammar.accepts(b"<a" + longest.encode() + b"b")
    with pytest.raises(constrain.UnsupportedFeatureError, match="1,001 bytes"):
        free_text([(longest + "a", lambda again: again)], may_end=True)
    limits = constrain.Limits(max_source_nodes=1_000)
    with pytest.raises(constrain.LimitExceededError, match="max_source_nodes"):
        free_text([(longest, lambda again: again)], may_end=True, limits=limits)


def test_thousands_of_triggers():
    triggers = [(f"<{i}>", lambda _, i=i: literal(f"{i}".encode())) for i in range(3_000)]
    grammar = Grammar(free_text(triggers, may_end=False), "test")
    assert grammar.accepts(b"a<<2999>2999")
    assert not grammar.accepts(b"a<<2999>299")


def test_text_that_does_not_begin_so():
    grammar = Grammar(text_that_does_not_begin("ab<"), "test")
    assert [w for w in TEXTS if grammar.accepts(w) == w.startswith(b"ab<")] == []


# Tokens. Ids of TOKENS are their places in it; a str is a special token.

TOKENS = [b"a", b"<", b"t>", b"<t>1", b"1", b"\xe2", b"\x96\x81", "<t>", "<x>", "a▁", "<end>"]
END = 10
VOCAB = Vocabulary(
    [None if isinstance(t, str) else t for t in TOKENS],
    [END],
    {t: i for i, t in enumerate(TOKENS) if isinstance(t, str)},
)


def symbols(ids):
    """Bytes as ints, special tokens as str."""
    for i in ids:
        yield from [TOKENS[i]] if isinstance(TOKENS[i], str) else TOKENS[i]


def spells(run, text, at=0):
    """Whether symbols spell all of `text` from code point `at`, special tokens only in brackets."""
    run, rest = list(run), text[at:].encode()
    if not run or not rest:
        return not run and not rest
    if isinstance(run[0], str):
        return any(
            first == at and text[first:stop] == run[0] and spells(run[1:], text, stop)
            for first, stop in special_parts(text)
        )
    c = text[at].encode()
    return run[: len(c)] == list(c) and spells(run[len(c) :], text, at + 1)


def token_law(run, triggers, may_end):
    """Whether symbols are a sentence, and whether they begin one."""
    for end in range(1, len(run) + 1):
        ended = [
            follow
            for text, follow in triggers
            if any(spells(run[start:end], text) for start in range(end))
        ]
        if ended:
            rest = list(run[end:])
            return rest in ended, any(follow[: len(rest)] == rest for follow in ended)
    return may_end, True


@pytest.mark.parametrize("may_end", [False, True])
@pytest.mark.parametrize(
    "triggers",
    [
        ("<t>",),
        ("<t>a<x>",),
        ("<x><t>",),
        ("a▁",),
        ("t>", "<t>"),
        ("<t", "<x><x>"),
        ("a<t>", "<x>"),
    ],
    ids=" ".join,
)
def test_every_short_run_of_tokens(triggers, may_end):
    follows = {t: [b"1", b"a"][i] for i, t in enumerate(triggers)}
    listed = [(t, lambda _, rest=rest: literal(rest)) for t, rest in follows.items()]
    grammar = Grammar(free_text(listed, may_end=may_end), "test")
    compiled = constrain.compile(grammar, VOCAB)
    expected = [(t, list(rest)) for t, rest in follows.items()]
    bitmask = constrain.allocate_token_bitmask(1, VOCAB.vocab_size)
    todo = [((), compiled.matcher())]
    for run, matcher in todo:
        assert matcher.is_accepting == token_law(list(symbols(run)), expected, may_end)[0], run
        if len(run) == 3:
            continue
        matcher.fill_next_token_bitmask(bitmask)
        allowed = allowed_ids(bitmask, 0, VOCAB.vocab_size)
        assert (END in allowed) == matcher.is_accepting
        for i in range(END):
            child = matcher.fork()
            alive = token_law(list(symbols((*run, i))), expected, may_end)[1]
            assert child.accept_token(i) == (i in allowed) == alive, (run, i)
            if alive:
                todo.append(((*run, i), child))


def test_a_special_token_inside_of_a_mark():
    tokens = [
        b"<",
        b"invoke>",
        b"</",
        "｜DSML｜",
        "<｜DSML｜invoke>",
        "｜DSML".encode(),
        "｜".encode(),
    ]
    specials = {t: i for i, t in enumerate(tokens) if isinstance(t, str)}
    texts = [None if isinstance(t, str) else t for t in tokens]
    vocab = Vocabulary([*texts, b"text\n", None], [len(tokens) + 1], specials)
    for prefix in ("", "text\n"):
        compiled = constrain.compile(Grammar(marker(f"{prefix}<｜DSML｜invoke>"), "test"), vocab)
        for run in ([0, 3, 1], [4], [0, 5, 6, 1]):
            matcher = compiled.matcher()
            assert matcher.accept_bytes(prefix.encode())
            assert all(matcher.accept_token(i) for i in run)
            assert matcher.is_accepting
        matcher = compiled.matcher()
        assert matcher.accept_bytes(f"{prefix}<".encode())
        assert not matcher.accept_token(2)


def test_markers():
    assert special_parts("<|a|>b[C]") == [(0, 5), (6, 9), (0, 9)]
    assert special_parts("<a>") == [(0, 3)]
    assert special_parts("◁think▷") == [(0, 7)]
    assert special_parts("") == []
    grammar = Grammar(marker("<t>1"), "test")
    assert grammar.accepts(b"<t>1")
    matcher = constrain.compile(grammar, VOCAB).matcher()
    assert matcher.accept_token(TOKENS.index("<t>"))
    assert matcher.accept_token(TOKENS.index(b"1"))
    assert matcher.is_accepting
    assert constrain.compile(grammar, VOCAB).matcher().accept_token(TOKENS.index(b"<t>1"))
    assert Grammar(marker("<t>1", 2), "test").accepts(b">1")


@pytest.mark.parametrize("text", ["", "<t>", "<t>1", "<a>b[C]", "<a><t>", "<t>" * 33, "<t>" * 40])
def test_markers_made_once_are_those_made_each_time(text):
    store = TermStore(tokens=VOCAB)
    for start in range(len(text) + 1):
        assert store.intern(marker(text, start)) == store.intern(markers._marker(text, start))
        assert (marker(text, start) is marker(text, start)) == (
            len(text) <= 100 or start == len(text)
        )
