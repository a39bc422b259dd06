"""Rules that count tokens, against a slow reading that knows where tokens end: the law, by force.

The slow reading follows several *worlds* at once. In a world lexemes are read together as in
`slow_reading`; where a token ends and a count is over, what follows the rule is a world of its own.
If several counts are over at once, what follows one competes with what follows another only where
the parser has not told them apart; the slow reading has no parser, and reads all together, or each
apart.
"""

from __future__ import annotations

import json
import random
import re
from collections import deque
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest

import constrain
from constrain import Grammar, GrammarSyntaxError, UnsatisfiableError, UnsupportedFeatureError

ALPHABET = "abc_"


class Count(NamedTuple):
    """The end of a rule that counts: how many tokens are left, and whether it has begun."""

    left: int
    begun: bool


class World(NamedTuple):
    """What is being read.

    Attributes:
        places: Between two lexemes, lists of what must still come.
        text: What was read of some lexemes; "" between two.
        read: The lexemes that are being read, each with the places before it.
    """

    places: frozenset
    text: str = ""
    read: frozenset = frozenset()


class Slow:
    """A grammar as in `slow_reading`; a rule that counts has one alternative, and a number."""

    def __init__(self, rules, lexemes, counts, *, lazy=(), ignored=None, apart=False):
        self.rules, self.lexemes, self.counts = rules, lexemes, counts
        self.lazy, self.ignored, self.apart = frozenset(lazy), ignored, apart
        self.step = cache(self.step)
        self.completes = cache(self.completes)

    def start(self):
        return frozenset([World(frozenset([("start",)]))])

    def goes_on(self, name, text):
        return goes_on(self.lexemes[name], text)

    def whole(self, world):
        return {n for n, _ in world.read if re.fullmatch(self.lexemes[n], world.text)}

    def closure(self, places):
        """All lists with a lexeme in front, or nothing at all; a count in front is over."""
        found, todo, seen = set(), list(places), set(places)
        while todo:
            place = todo.pop()
            made = []
            if not place:
                found.add(place)
            elif isinstance(place[0], Count):
                made.append(place[1:])
            elif place[0] in self.counts:
                count = Count(self.counts[place[0]], False)
                inside = [(*a, count) for a in self.rules[place[0]]] if count.left else [()]
                made += [(*a, *place[1:]) for a in inside]
            elif place[0] in self.rules:
                made += [(*a, *place[1:]) for a in self.rules[place[0]]]
            else:
                found.add(place)
            for new in made:
                if new not in seen and len(new) < 14:
                    seen.add(new)
                    todo.append(new)
        return found

    def begin(self, world, byte, first):
        places = self.closure(world.places)
        names = {p[0] for p in places if p}
        if self.ignored and not first and names:
            names.add(self.ignored)
        read = frozenset(
            (
                n,
                world.places
                if n == self.ignored
                else frozenset(p for p in places if p[:1] == (n,)),
            )
            for n in names
            if self.goes_on(n, byte)
        )
        return self.settled(World(frozenset(), byte, read)) if read else []

    def settled(self, world):
        """A world after a byte: between two lexemes if none can go on, or a lazy one matches."""
        winners = self.whole(world)
        if winners & self.lazy:
            return [self.past(world, winners & self.lazy)]
        if not any(self.goes_on(n, world.text + c) for n, _ in world.read for c in ALPHABET):
            return [self.past(world, winners)] if winners else []
        return [world]

    def past(self, world, winners):
        places = dict(world.read)
        if self.ignored in winners:
            return World(places[self.ignored])
        after = {
            tuple(Count(s.left, True) if isinstance(s, Count) else s for s in place[1:])
            for name in winners
            for place in places[name]
        }
        return World(frozenset(after))

    def byte(self, world, byte, first):
        if not world.text:
            return self.begin(world, byte, first)
        read = frozenset(r for r in world.read if self.goes_on(r[0], world.text + byte))
        if read:
            return self.settled(World(frozenset(), world.text + byte, read))
        winners = self.whole(world)
        return self.begin(self.past(world, winners), byte, False) if winners else []

    def tick(self, world):
        """The worlds when a token has ended."""
        if not world.text:
            kept, cut = self.ticked(world.places, all_begun=False)
            return self.after_cut(cut) + ([World(frozenset(kept))] if kept else [])
        worlds, read = [], set()
        for name, places in world.read:
            kept, cut = self.ticked(places, all_begun=name != self.ignored)
            worlds += self.after_cut(cut)
            if kept:
                read.add((name, frozenset(kept)))
        if read:
            worlds += self.settled(World(frozenset(), world.text, frozenset(read)))
        return worlds

    def after_cut(self, places):
        together = [[place] for place in places] if self.apart else [places] if places else []
        return [World(frozenset(some)) for some in together]

    def ticked(self, places, *, all_begun):
        kept, cut = set(), set()
        for place in places:
            while place and isinstance(place[0], Count):
                place = place[1:]  # it is over
            made = [
                Count(s.left - 1, True) if isinstance(s, Count) and (s.begun or all_begun) else s
                for s in place
            ]
            over = [n for n, s in enumerate(made) if isinstance(s, Count) and not s.left]
            (cut if over else kept).add(tuple(made[over[-1] + 1 :] if over else made))
        return kept, cut

    def step(self, worlds, token, first=False):
        for byte in token:
            worlds = frozenset(w for world in worlds for w in self.byte(world, byte, first))
            first = False
        return frozenset(w for world in worlds for w in self.tick(world))

    def ends(self, worlds):
        for world in worlds:
            winners = self.whole(world) if world.text else ()
            now = self.past(world, winners) if winners else world
            if (winners or not world.text) and () in self.closure(now.places):
                return True
        return False

    def completes(self, worlds, more=5):
        """Whether it is a sentence, or one follows by a few tokens of one byte."""
        if not worlds or more < 0:
            return False
        return self.ends(worlds) or any(
            self.completes(self.step(worlds, byte), more - 1) for byte in ALPHABET
        )


@cache
def goes_on(pattern, text):
    return any(
        re.fullmatch(pattern, text + "".join(more))
        for count in range(4)
        for more in product(ALPHABET, repeat=count)
    )


CASES = {
    "lexeme": (
        'start: x "c"\nx[max_tokens={n}]: /[ab]+/',
        Slow({"start": [("x", "c")], "x": [("X",)]}, {"c": "c", "X": "[ab]+"}, {"x": 0}),
    ),
    "nullable": (
        'start: "a" x "b"\nx[max_tokens={n}]: /[bc]*/',
        Slow(
            {"start": [("a", "x", "b")], "x": [("X",), ()]},
            {"a": "a", "b": "b", "X": "[bc]+"},
            {"x": 0},
        ),
    ),
    "cut-is-the-only-end": (
        'start: x "cab" y?\nx[max_tokens={n}]: /[abc]*/\ny: /[ab]+/',
        Slow(
            {"start": [("x", "cab"), ("x", "cab", "y")], "x": [("X",), ()]},
            {"cab": "cab", "X": "[abc]+", "y": "[ab]+"},
            {"x": 0},
        ),
    ),
    "cut-is-the-only-end-of-a-word": (
        'start: "c" x "c" | Y "_"\nx[max_tokens={n}]: "aba"\nY: /[abc]+/',
        Slow(
            {"start": [("c", "x", "c"), ("Y", "_")], "x": [("aba",)]},
            {"c": "c", "_": "_", "aba": "aba", "Y": "[abc]+"},
            {"x": 0},
        ),
    ),
    "cut-is-the-only-end-of-the-second-word": (
        'start: x "ca" | Y "_"\nx[max_tokens={n}]: %lark {{\n  start: "c" "ab"\n}}\nY: /c|[ab]+/',
        Slow(
            {"start": [("x", "ca"), ("Y", "_")], "x": [("c", "ab")]},
            {"c": "c", "_": "_", "ca": "ca", "ab": "ab", "Y": "c|[ab]+"},
            {"x": 0},
        ),
    ),
    "cut-is-the-only-end-of-one-of-two-calls": (
        # `sub` is read by both at once: what stands after `t` is in the way of what follows `s`.
        '{{"grammars": [{{"lark_grammar": "'
        'start: s \\"ba\\" \\"b\\" | t /[ab]+/ \\"a\\"\\n'
        's[max_tokens={n}]: @sub\\nt: @sub"}}, '
        '{{"name": "sub", "lark_grammar": "start: /_+/ \\"ab\\"?"}}]}}',
        Slow(
            {
                "start": [("s", "ba", "b"), ("t", "Z", "a")],
                "s": [("_", "ab"), ("_",)],
                "t": [("_", "ab"), ("_",)],
            },
            {"_": "_+", "ab": "ab", "ba": "ba", "a": "a", "b": "b", "Z": "[ab]+"},
            {"s": 0},
        ),
    ),
    "cut-in-cut-is-the-only-end": (
        'start: x "_"\nx[max_tokens=3]: %lark {{\n'
        '  start: y "ba" | /[ab]+/ "c" /[abc]+/\n  y[max_tokens={n}]: "ab"\n}}',
        Slow(
            {
                "start": [("x", "_")],
                "x": [("y", "ba"), ("AB", "c", "ABC")],
                "y": [("ab",)],
            },
            {"_": "_", "ab": "ab", "ba": "ba", "c": "c", "AB": "[ab]+", "ABC": "[abc]+"},
            {"x": 3, "y": 0},
        ),
    ),
    "rivals": (
        'start: x "c" | Y "c" "a"\nx[max_tokens={n}]: /[ab]+/\nY: /[ab_]+/',
        Slow(
            {"start": [("x", "c"), ("Y", "c", "a")], "x": [("X",)]},
            {"a": "a", "c": "c", "X": "[ab]+", "Y": "[ab_]+"},
            {"x": 0},
        ),
    ),
    "rivals-that-both-count": (
        'start: x "c" | y "a"\nx[max_tokens={n}]: /[ab]+/\ny[max_tokens=2]: /[ab_]+/',
        Slow(
            {"start": [("x", "c"), ("y", "a")], "x": [("X",)], "y": [("Y",)]},
            {"a": "a", "c": "c", "X": "[ab]+", "Y": "[ab_]+"},
            {"x": 0, "y": 2},
        ),
    ),
    "in-a-row": (
        'start: (x "c")+ y\nx[max_tokens={n}]: /[ab]+/\ny[max_tokens=1]: /[bc]+/',
        Slow(
            {
                "start": [("x", "c", "more")],
                "more": [("y",), ("start",)],
                "x": [("X",)],
                "y": [("Y",)],
            },
            {"c": "c", "X": "[ab]+", "Y": "[bc]+"},
            {"x": 0, "y": 1},
        ),
    ),
    "ignored": (
        'start: x x "c"\nx[max_tokens={n}]: /[ab]+/\n%ignore /_+|_a/',
        Slow(
            {"start": [("x", "x", "c")], "x": [("X",)]},
            {"c": "c", "X": "[ab]+", "_": "_+|_a"},
            {"x": 0},
            ignored="_",
        ),
    ),
    "ignored-in-the-same-contest": (
        'start: "c" x "c"\nx[max_tokens={n}]: /[ab_]+/\n%ignore /_c/',
        Slow(
            {"start": [("c", "x", "c")], "x": [("X",)]},
            {"c": "c", "X": "[ab_]+", "_": "_c"},
            {"x": 0},
            ignored="_",
        ),
    ),
    "lazy": (
        'start: x "c" | Y "_"\nx[lazy, max_tokens={n}]: /[ab]+b/\nY: /[a_]+/',
        Slow(
            {"start": [("x", "c"), ("Y", "_")], "x": [("X",)]},
            {"c": "c", "_": "_", "X": "[ab]+b", "Y": "[a_]+"},
            {"x": 0},
            lazy=["X"],
        ),
    ),
    "suffix": (
        'start: "c" x "b"\nx[suffix="c", max_tokens={n}]: /[ab]*/',
        Slow(
            {"start": [("c", "x", "b")], "x": [("X",)]},
            {"c": "c", "b": "b", "X": "[ab]*c"},
            {"x": 0},
            lazy=["X"],
        ),
    ),
    "grammar": (
        'start: "c"? x ("c" | "b_")\nx[max_tokens={n}]: %lark {{\n  start: ("a" /b+/)+\n}}',
        Slow(
            {
                "start": [("c", "x", "end"), ("x", "end")],
                "end": [("c",), ("b_",)],
                "x": [("i",)],
                "i": [("a", "B"), ("a", "B", "i")],
            },
            {"a": "a", "c": "c", "b_": "b_", "B": "b+"},
            {"x": 0},
        ),
    ),
    "grammar-that-may-be-empty": (
        'start: x /[ac]+/\nx[max_tokens={n}]: %lark {{\n  start: ("a" | "bc")*\n}}',
        Slow(
            {"start": [("x", "AC")], "x": [("i",)], "i": [(), ("a", "i"), ("bc", "i")]},
            {"a": "a", "bc": "bc", "AC": "[ac]+"},
            {"x": 0},
        ),
    ),
    "counts-in-counts": (
        'start: x "c"\nx[max_tokens=3]: '
        '%lark {{\n  start: y "_" y\n  y[max_tokens={n}]: /[ab]+/\n}}',
        Slow(
            {"start": [("x", "c")], "x": [("y", "_", "y")], "y": [("Y",)]},
            {"c": "c", "_": "_", "Y": "[ab]+"},
            {"x": 3, "y": 0},
        ),
    ),
}
TOKENS = ["a", "b", "c", "_", "ab", "bc", "ca", "aab", "b_", "_a", "cab"]
END = len(TOKENS)
VOCAB = constrain.Vocabulary([*[t.encode() for t in TOKENS], None], [END])


@pytest.mark.parametrize("most", range(4))
@pytest.mark.parametrize("name", CASES)
def test_the_law(name, most):
    text, slow = CASES[name]
    counts = {rule: most if not n else n for rule, n in slow.counts.items()}
    slow = Slow(slow.rules, slow.lexemes, counts, lazy=slow.lazy, ignored=slow.ignored)
    compiled = constrain.compile(
        Grammar.from_lark(text.format(n=most), dialect="llguidance"), VOCAB
    )
    todo = [((), slow.start())]
    while todo:
        run, worlds = todo.pop()
        after = {t: slow.step(worlds, token, not run) for t, token in enumerate(TOKENS)}
        expected = {t for t, later in after.items() if slow.completes(later)}
        expected |= {END} if slow.ends(worlds) else set()
        matcher = compiled.matcher()
        assert all(map(matcher.accept_token, run))
        shown = [TOKENS[t] for t in run]
        assert masked(matcher) == expected, (text, shown)
        if len(run) < 3:
            todo += [((*run, t), after[t]) for t in expected - {END}]


def masked(matcher):
    """The ids that a mask allows."""
    bitmask = constrain.allocate_token_bitmask(1, VOCAB.vocab_size)
    matcher.fill_next_token_bitmask(bitmask)
    bits = np.unpackbits(bitmask.view(np.uint8), bitorder="little")
    return set(np.flatnonzero(bits).tolist())


# Random grammars

POOL = {"a": "a", "b": "b", "c": "c", "ab": "ab", "ba": "ba", "A": "a+", "AB": "[ab]+"}
POOL |= {"BC": "[bc]+", "ABC": "(ab)+c?", "any": "[abc]*", "aq": "ab?", "_b": "_?b"}


def written(name):
    return f'"{name}"' if POOL[name] == name else f"/{POOL[name]}/"


class Random:
    """A random grammar, as its text and to be read slowly."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.rules, self.lexemes, self.counts, self.lazy = {}, {}, {}, set()
        lines = [self.counted(name) for name in "xyz"[: self.random.randint(1, 3)]]
        alternatives = []
        for _ in range(self.random.randint(1, 3)):
            parts = self.random.choices([*POOL, *self.counts, *self.counts], k=3)
            alternatives.append(parts[: self.random.randint(1, 3)])
        alternatives[0].insert(0, "x")
        self.rules["start"] = [p for one in alternatives for p in self.expanded(one, "")]
        shown = [" ".join(n if n in self.counts else written(n) for n in a) for a in alternatives]
        ignored = None
        if self.random.random() < 0.3 and not any("%lark" in line for line in lines):
            ignored, self.lexemes["_"] = "_", self.random.choice(["_", "_+", "_a?"])
            lines.append(f"%ignore /{self.lexemes['_']}/")
        self.text = "\n".join(["start: " + " | ".join(shown), *lines])
        self.slow, self.slow_apart = [
            Slow(
                self.rules,
                self.lexemes,
                self.counts,
                lazy=self.lazy,
                ignored=ignored,
                apart=apart,
            )
            for apart in (False, True)
        ]

    def expanded(self, parts, kind):
        """A sequence as sequences of lexemes that are not empty."""
        found = [()]
        for part in parts:
            if part not in POOL:
                found = [(*f, part) for f in found]
                continue
            name = kind + part
            self.lexemes[name] = POOL[part]
            found = [(*f, name) for f in found] + (found if re.fullmatch(POOL[part], "") else [])
        return found

    def counted(self, name):
        most = self.counts[name] = self.random.randint(1, 3)
        if self.random.random() < 0.6:
            pattern = POOL[self.random.choice(list(POOL))]
            lexeme, empty = name.upper(), re.fullmatch(pattern, "")
            self.lexemes[lexeme] = pattern
            lazy = self.random.random() < 0.2 and not empty
            if lazy:
                self.lazy.add(lexeme)
            self.rules[name] = [(lexeme,), ()] if empty else [(lexeme,)]
            return f"{name}[{'lazy, ' * lazy}max_tokens={most}]: /{pattern}/"
        alternatives = [
            self.random.choices(list(POOL), k=self.random.randint(1, 2)) for _ in range(2)
        ]
        inner, more = f"{name}.", self.random.random() < 0.5
        some = [p for one in alternatives for p in self.expanded(one, inner)]
        self.rules[name] = [(f"{name}.all",)]
        self.rules[f"{name}.all"] = some + ([(*p, f"{name}.all") for p in some] if more else [])
        shown = " | ".join(" ".join(map(written, one)) for one in alternatives)
        return f"{name}[max_tokens={most}]: %lark {{ start: ({shown}){'+' * more} }}"


def sentence_from(compiled, run):
    """A sentence that goes on from a run, as the masks have it; None if none was found."""
    todo, looked = deque([run]), 0
    while todo and looked < 150:
        now, looked = todo.popleft(), looked + 1
        matcher = compiled.matcher()
        assert matcher.validate_tokens(now) == len(now)
        assert all(map(matcher.accept_token, now))
        if matcher.is_accepting:
            return now
        todo += [[*now, t] for t in range(END) if matcher.fork().accept_token(t)]
    return None


@pytest.mark.parametrize("seed", [*range(100), 269, 739, 1656])
def test_random_grammars(seed):
    """What both readings say is so; where they differ, either may be."""
    made = Random(seed)
    draw = random.Random(seed)
    both = (made.slow, made.slow_apart)
    try:
        grammar = Grammar.from_lark(made.text, dialect="llguidance")
    except UnsatisfiableError:
        assert not all(slow.completes(slow.start(), 6) for slow in both), made.text
        return
    compiled = constrain.compile(grammar, VOCAB)
    todo = [([], [slow.start() for slow in both])]
    for _ in range(40):
        if not todo:
            break
        run, worlds = todo.pop(draw.randrange(len(todo)))
        shown = (made.text, [TOKENS[t] for t in run])
        matcher = compiled.matcher()
        assert all(map(matcher.accept_token, run))
        mask = masked(matcher)
        ends = [slow.ends(now) for slow, now in zip(both, worlds, strict=True)]
        assert matcher.is_accepting in ends, shown
        for t, token in enumerate(TOKENS):
            later = [slow.step(now, token, not run) for slow, now in zip(both, worlds, strict=True)]
            begins = [slow.completes(now, 4) for slow, now in zip(both, later, strict=True)]
            allowed = matcher.fork().accept_token(t)
            assert allowed == (t in mask), (shown, token)
            assert allowed or not all(begins), (shown, token)
            if allowed and not any(begins):  # a long one goes on from here, or none
                sentence = sentence_from(compiled, [*run, t])
                assert sentence is None or any(is_read(slow, sentence) for slow in both), (
                    shown,
                    token,
                )
            if allowed and len(run) < 4:
                todo.append(([*run, t], later))


def is_read(slow, run):
    """Whether the tokens of a run are a sentence."""
    worlds = slow.start()
    for n, t in enumerate(run):
        worlds = slow.step(worlds, TOKENS[t], n == 0)
    return slow.ends(worlds)


# What else there is


def taken(text, *run):
    """How many of some texts are taken in turn, each a token."""
    texts = list(dict.fromkeys([*map(bytes, zip(range(256), strict=True)), *run]))
    vocab = constrain.Vocabulary([*texts, None], [len(texts)])
    matcher = constrain.compile(Grammar.from_lark(text, dialect="llguidance"), vocab).matcher()
    return matcher.validate_tokens([texts.index(token) for token in run])


def listed(**more):
    return json.dumps({"grammars": [{"lark_grammar": 'start: /a+/ "b"?'}], **more})


def test_a_bound_on_the_whole():
    assert taken(listed(max_tokens=2), b"aa", b"aaa", b"a") == 2
    vocab = constrain.Vocabulary([b"a", b"b", None], [2])
    matcher = constrain.compile(Grammar.from_lark(listed(max_tokens=2)), vocab).matcher()
    assert matcher.validate_tokens([0, 0, 2]) == 3
    assert matcher.validate_tokens([0, 0, 1]) == 2
    for wrong in (-1, True, "3", 1.5):
        with pytest.raises(GrammarSyntaxError, match="a number of tokens"):
            Grammar.from_lark(listed(max_tokens=wrong))


@pytest.mark.parametrize(
    ("text", "vocabulary", "run", "fits"),
    [
        ('start: x "!"\nx[max_tokens=2]: %json {"type": "string"}', [b'"a', b"bc"], [0, 1, 2], 3),
        ('start: x "!"\nx[max_tokens=2]: %json {"type": "string"}', [b'"a', b"bc"], [0, 1, 1], 2),
        ('start: x "!"\nx[max_tokens=2]: %json {"type": "string"}', [b'"a"!', b"bc"], [0, 3], 2),
        ('start: x "!"\nx[max_tokens=2]: %lark { start: <[0]>+ }', [b"a"], [0, 0, 1], 3),
        ('start: x "!"\nx[max_tokens=2]: %lark { start: <[0]>+ }', [b"a"], [0, 0, 0], 2),
        ("start: x\nx[max_tokens=3]: /[ab]/ | /[ab]{4}/", [b"ab", b"a"], [0, 0, 3], 3),
    ],
)
def test_json_and_tokens(text, vocabulary, run, fits):
    vocab = constrain.Vocabulary([*vocabulary, b"!", None], [len(vocabulary) + 1])
    matcher = constrain.compile(Grammar.from_lark(text, dialect="llguidance"), vocab).matcher()
    assert matcher.validate_tokens(run) == fits


@pytest.mark.parametrize(
    ("most", "run"), [(1, [4, 3, 2, 3]), (2, [4, 2, 3, 2, 3]), (3, [4, 2, 3, 3, 2, 3]), (4, None)]
)
def test_json_whose_number_of_tokens_decides(most, run):
    """Only a cut ends `s`, in its JSON text or in `"ab"`, which has two tokens at most.

    So of 4 the JSON text must have some, and how many it has is not known when it begins.
    """
    text = 'start: s "ba" "b" | t /[ab]+/ "a"\n' + f"s[max_tokens={most}]: @sub\nt: @sub"
    sub = {"name": "sub", "lark_grammar": 'start: %json {"const": 12} "ab"?'}
    grammars = json.dumps({"grammars": [{"lark_grammar": text}, sub]})
    vocab = constrain.Vocabulary([b"1", b"2", b"a", b"b", b"12", None], [5])
    if run is None:
        with pytest.raises(UnsupportedFeatureError, match="number of tokens of that text"):
            constrain.compile(Grammar.from_lark(grammars), vocab)
        return
    matcher = constrain.compile(Grammar.from_lark(grammars), vocab).matcher()
    assert matcher.validate_tokens([*run, 5]) == len(run) + 1


def test_what_may_not_count():
    sub = {"name": "sub", "lark_grammar": 'start: s "b" | "a"\ns[max_tokens=2]: @sub'}
    with pytest.raises(UnsupportedFeatureError, match="may begin with itself"):
        Grammar.from_lark(json.dumps({"grammars": [{"lark_grammar": "start: @sub"}, sub]}))
    sub["lark_grammar"] = 'start: "b" s "b" | "a"\ns[max_tokens=2]: @sub'
    nested = json.dumps({"grammars": [{"lark_grammar": "start: @sub"}, sub]})
    assert taken(nested, b"b", b"b", b"b", b"a") == 3
    assert taken(nested, b"b", b"b", b"b", b"b", b"a") == 4
    assert taken(nested, b"b", b"b", b"a", b"b", b"a") == 4


def test_long_texts_and_large_counts():
    text = 'start: "Name: " name " Height: " height\n'
    text += "name[max_tokens=300]: /.*/\nheight[max_tokens=5]: /[0-9]+/"
    vocab = constrain.Vocabulary([b"Name: ", b"ab", b"1", b" Height: ", None], [4])
    compiled = constrain.compile(Grammar.from_lark(text, dialect="llguidance"), vocab)
    matcher = compiled.matcher()
    assert matcher.accept_token(0)
    assert all([matcher.accept_token(1) for _ in range(300)])
    twin = matcher.fork()
    assert not matcher.accept_token(1)
    assert matcher.validate_tokens([3, 2, 2, 2, 2, 2, 4]) == 7
    assert matcher.validate_tokens([3, 2, 2, 2, 2, 2, 2]) == 6
    twin.rollback(1)
    assert twin.accept_token(3)  # it may be part of a name, too
    assert not twin.accept_token(1)
    assert twin.accept_token(3)
