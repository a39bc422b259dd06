"""Compiled grammars that a server keeps: which are kept, for how long, and who compiles."""

import copy
import enum
import gc
import pickle
import threading
import weakref
from collections import OrderedDict

import pytest

import constrain
from constrain import (
    Grammar,
    GrammarCache,
    GrammarError,
    JSONStyle,
    LimitExceededError,
    SchemaError,
    Vocabulary,
)

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}
PLENTY = 1 << 30
BYTES = Vocabulary([*(bytes([b]) for b in range(256)), None], [256])


def a_cache(max_bytes=PLENTY) -> GrammarCache:
    return GrammarCache(BYTES, max_bytes=max_bytes)


def schema_with(number):
    return {"type": "object", "properties": {f"p{number}": {"type": "integer"}}}


def play(compiled, text=b'{"a": 12}'):
    matcher = compiled.matcher()
    bitmask = constrain.allocate_token_bitmask(1, compiled.vocab.vocab_size)
    for byte in text:
        matcher.fill_next_token_bitmask(bitmask)
        assert matcher.accept_bytes(bytes([byte]))


def test_a_grammar_that_is_made_already_has_a_way_in():
    grammar = Grammar.from_regex("a")
    with pytest.raises(TypeError, match=r"not a Grammar\nhint: .*get\(key, lambda: grammar\)"):
        a_cache().compile(grammar)
    with pytest.raises(TypeError, match=r"not a dict\nhint: .*Grammar\.from_json_schema, schema"):
        a_cache().compile(SCHEMA)
    with pytest.raises(TypeError, match=r"limits must be a constrain\.Limits"):
        GrammarCache(BYTES, max_bytes=PLENTY, limits=5)


def test_the_same_source_with_the_same_options_is_compiled_once():
    cache = a_cache()
    first = cache.compile(Grammar.from_json_schema, SCHEMA, style="any")
    again = cache.compile(Grammar.from_json_schema, {**SCHEMA}, style="any")
    assert first is again
    assert (cache.info.hits, cache.info.misses, len(cache)) == (1, 1, 1)
    assert first.vocab is BYTES
    play(first)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a|b", {}), ("a|c", {})),
        (("a|b", {"flags": "i"}), ("a|b", {})),
        (("a", {"dialect": "python"}), ("a", {"dialect": "rust"})),
    ],
)
def test_another_text_or_option_is_another_grammar(one, other):
    cache = a_cache()
    compiled = [
        cache.compile(Grammar.from_regex, text, **options) for text, options in (one, other)
    ]
    assert compiled[0] is not compiled[1]
    assert len(cache) == 2


def test_what_a_source_is_read_as_belongs_to_its_key():
    cache = a_cache()
    text = '"a"'
    assert cache.compile(Grammar.from_regex, text) is not cache.compile(
        Grammar.from_json_schema, '{"const": "a"}'
    )
    assert cache.compile(Grammar.from_regex, text) is cache.compile(Grammar.from_regex, text)


def test_keys_are_not_equal_by_accident():
    cache = a_cache()

    def make(value: object) -> Grammar:
        return Grammar.from_choices([repr(value)])

    values = [1, True, "1", b"1", 1.0, ["1"], None, "null", "None", {"a": 1, "b": 2}]
    compiled = {id(cache.compile(make, value)) for value in values}
    assert len(compiled) == len(values)
    # The order of properties is that of texts.
    assert cache.compile(make, {"b": 2, "a": 1}) is not cache.compile(make, {"a": 1, "b": 2})
    assert cache.compile(make, "1") is not cache.compile(Grammar.from_regex, "1")


def of_repr(value: object) -> Grammar:
    return Grammar.from_choices([repr(value)])


class Name(enum.StrEnum):
    A = "a"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({1: "a"}, {"1": "a"}),
        ({None: "a"}, {"null": "a"}),
        ({"a": {1: 2}}, {"a": {True: 2}}),
        (["a", "b"], ("a", "b")),
        ({"a": [1]}, {"a": (1,)}),
        ([1], [True]),
        ([1], [1.0]),
        ([0.0], [-0.0]),
        (0.0, -0.0),
        ([1, [2]], [[1], 2]),
        ([[], [1]], [[1], []]),
        ({"a": 1}, ["a", 1]),
        (["a"], [b"a"]),
        (["\ud83d\ude00"], ["\U0001f600"]),
        ([Name.A], ["a"]),
        ({"a": 1}, OrderedDict(a=1)),
        (['["a"]'], '["a"]'),
    ],
)
def test_what_differs_in_any_part_or_type_has_another_key(one, other):
    cache = a_cache()
    compiled = cache.compile(of_repr, one), cache.compile(of_repr, other)
    assert compiled[0] is not compiled[1]
    assert cache.compile(of_repr, copy.deepcopy(one)) is compiled[0]
    assert cache.compile(of_repr, copy.deepcopy(other)) is compiled[1]


def test_an_argument_and_an_option_are_not_one():
    cache = a_cache()

    def make(source: object = None, *, json: object = None) -> Grammar:
        return Grammar.from_choices([repr((source, json))])

    assert cache.compile(make, ["a"]) is not cache.compile(make, json='["a"]')
    assert cache.compile(make, ["a"]) is not cache.compile(make, json=["a"])


def test_what_is_refused_is_refused_beside_what_looks_like_it():
    cache = a_cache()
    cache.compile(Grammar.from_json_schema, {"const": {"1": [2]}})
    for schema in ({"const": {1: [2]}}, {"const": {"1": (2,)}}):
        with pytest.raises(SchemaError):
            cache.compile(Grammar.from_json_schema, schema)


def test_an_argument_that_holds_itself_is_refused():
    circle: list[object] = ["a"]
    circle.append(circle)
    cache = GrammarCache(BYTES, max_bytes=PLENTY, limits=constrain.Limits(max_source_nodes=9_999))
    with pytest.raises(LimitExceededError, match="max_source_nodes"):
        cache.compile(Grammar.from_choices, circle)
    assert len(cache) == 0


def test_options_are_equal_in_any_order_and_by_value():
    cache = a_cache()
    one = cache.compile(Grammar.from_json_schema, SCHEMA, style=JSONStyle(), format="annotate")
    other = cache.compile(Grammar.from_json_schema, SCHEMA, format="annotate", style=JSONStyle())
    assert one is other


def test_an_argument_without_a_key_is_refused_with_a_way_out():
    cache = a_cache()
    with pytest.raises(TypeError, match=r"no key .* set[\s\S]*cache.get"):
        cache.compile(Grammar.from_choices, {"a", "b"})
    with pytest.raises(TypeError, match=r"no key .* list: it is no JSON"):
        cache.compile(Grammar.from_choices, [object()])
    assert len(cache) == 0


def test_a_key_of_ones_own():
    cache = a_cache()
    made = []

    def make() -> Grammar:
        made.append(1)
        return Grammar.from_regex("a")

    assert cache.get("mine", make) is cache.get("mine", make)
    assert made == [1]


def test_the_least_recently_used_go_first():
    size = 2 * a_cache().compile(Grammar.from_json_schema, schema_with(0)).nbytes
    cache = a_cache(3 * size)
    for number in range(20):
        cache.compile(Grammar.from_json_schema, schema_with(number))
        cache.compile(Grammar.from_json_schema, schema_with(0))
    assert cache.info.evictions == 20 - len(cache) > 0
    assert cache.nbytes <= cache.max_bytes
    misses = cache.info.misses
    cache.compile(Grammar.from_json_schema, schema_with(0))
    cache.compile(Grammar.from_json_schema, schema_with(19))
    assert cache.info.misses == misses
    cache.compile(Grammar.from_json_schema, schema_with(1))
    assert cache.info.misses == misses + 1


def test_a_grammar_that_grows_makes_others_go():
    cache = a_cache()
    grown = cache.compile(Grammar.from_regex, "x{1,100000}y")
    for number in range(3):
        cache.compile(Grammar.from_json_schema, schema_with(number))
    cache.max_bytes = cache.nbytes + 10_000
    before = grown.nbytes
    matcher = grown.matcher()
    while grown.nbytes < before + 100_000:
        assert matcher.accept_bytes(b"xx")
    cache.compile(Grammar.from_regex, "x{1,100000}y")
    assert len(cache) < 4
    assert cache.nbytes <= cache.max_bytes
    assert cache.compile(Grammar.from_regex, "x{1,100000}y") is grown


def test_one_that_grows_without_being_asked_for_is_seen_in_turn():
    cache = a_cache()
    grown = cache.compile(Grammar.from_regex, "x{1,100000}y")
    others = [cache.compile(Grammar.from_json_schema, schema_with(n)) for n in range(3)]
    cache.max_bytes = cache.nbytes + 10_000
    matcher = grown.matcher()
    before = grown.nbytes
    while grown.nbytes < before + 100_000:
        assert matcher.accept_bytes(b"xx")
    for _ in range(3):
        cache.compile(Grammar.from_json_schema, schema_with(0))
    assert cache.info.evictions == 1
    misses = cache.info.misses
    assert [cache.compile(Grammar.from_json_schema, schema_with(n)) for n in range(3)] == others
    assert cache.info.misses == misses


def test_what_is_larger_than_the_bound_is_compiled_but_not_kept():
    cache = a_cache(max_bytes=10)
    compiled = cache.compile(Grammar.from_json_schema, SCHEMA)
    play(compiled)
    assert (len(cache), cache.nbytes, cache.info.evictions) == (0, 0, 1)
    assert cache.compile(Grammar.from_json_schema, SCHEMA) is not compiled


def test_matchers_in_use_keep_theirs():
    cache = a_cache()
    matcher = cache.compile(Grammar.from_json_schema, SCHEMA).matcher()
    cache.clear()
    assert (len(cache), cache.nbytes) == (0, 0)
    gc.collect()
    assert matcher.accept_bytes(b'{"a": 1')


def test_what_is_forgotten_and_not_in_use_is_gone():
    cache = a_cache()
    gone = weakref.ref(cache.compile(Grammar.from_json_schema, SCHEMA))
    gc.collect()
    assert gone() is not None
    cache.clear()
    gc.collect()
    assert gone() is None


def test_a_grammar_that_is_refused_is_asked_for_again():
    cache = a_cache()
    for _ in range(2):
        with pytest.raises(GrammarError):
            cache.compile(Grammar.from_regex, "(")
    assert (cache.info.misses, len(cache), cache.nbytes) == (2, 0, 0)


def in_threads(count, work):
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads)


class Slow:
    """A source that is compiled only once all have asked for it."""

    def __init__(self, num_others, cache):
        self.made = 0
        self._num_others, self._cache = num_others, cache

    def wait(self):
        self.made += 1
        while self._cache.info.hits < self._num_others:
            pass


def test_a_maker_may_ask_for_other_grammars_and_not_for_its_own():
    cache = a_cache()

    def outer() -> Grammar:
        return cache.get("inner", lambda: Grammar.text("b")).grammar + "c"

    assert cache.get("outer", outer).grammar.accepts(b"bc")

    def own() -> Grammar:
        return cache.get("own", own).grammar

    for _ in range(2):
        with pytest.raises(GrammarError, match="asks the cache for that very grammar"):
            cache.get("own", own)
    assert cache.get("own", lambda: Grammar.text("d")).grammar.accepts(b"d")


def test_requests_at_once_compile_once():
    cache = a_cache()
    slow = Slow(3, cache)
    found = []

    def make():
        slow.wait()
        return Grammar.from_json_schema(SCHEMA)

    in_threads(4, lambda number: found.append(cache.get("k", make)))
    assert slow.made == 1
    assert len(found) == 4
    assert len(set(map(id, found))) == 1


def test_requests_at_once_are_refused_together():
    cache = a_cache()
    slow = Slow(3, cache)
    errors = []

    def make():
        slow.wait()
        return Grammar.from_regex("(")

    def work(number):
        with pytest.raises(GrammarError) as caught:
            cache.get("k", make)
        errors.append(caught.value)

    in_threads(4, work)
    assert slow.made == 1
    assert len(errors) == 4
    assert len(cache) == 0


def test_an_interruption_is_not_the_grammars():
    cache = a_cache()
    slow = Slow(1, cache)
    found = []

    def make():
        if slow.made == 0:
            slow.wait()
            raise MemoryError
        return Grammar.from_regex("a")

    def work(number):
        try:
            found.append(cache.get("k", make))
        except MemoryError:
            found.append(None)

    in_threads(2, work)
    assert sorted(one is None for one in found) == [False, True]
    assert len(cache) == 1


def test_many_threads_many_grammars_and_little_room():
    size = a_cache().compile(Grammar.from_json_schema, schema_with(0)).nbytes
    cache = a_cache(4 * size)
    failed = []

    def work(number):
        for turn in range(30):
            of = (number * 7 + turn * 5) % 10
            compiled = cache.compile(Grammar.from_json_schema, schema_with(of))
            matcher = compiled.matcher()
            if not matcher.accept_bytes(f'{{"p{of}": 1'.encode()):
                failed.append(of)

    in_threads(6, work)
    assert not failed
    assert cache.nbytes <= cache.max_bytes
    assert cache.info.num_grammars == len(cache) > 0
    cache.clear()
    assert cache.nbytes == 0


def test_arguments_are_checked():
    with pytest.raises(TypeError, match="Vocabulary"):
        GrammarCache("qwen", max_bytes=1)
    with pytest.raises(GrammarError, match="max_bytes=-1"):
        GrammarCache(BYTES, max_bytes=-1)


def test_a_cache_says_what_it_is():
    cache = a_cache(12_345)
    assert "0 grammars, 0 of 12,345 bytes" in repr(cache)


def test_equal_arguments_are_one_whether_their_parts_are_one_object_or_several():
    word = "".join(["tag", "s"])
    twin = "".join(["tag", "s"])
    assert word is not twin
    cache = a_cache()
    first = cache.compile(Grammar.from_json_schema, {"enum": [word, [word]]})
    assert cache.compile(Grammar.from_json_schema, {"enum": [word, [twin]]}) is first


def test_what_just_fits_is_kept():
    cache = a_cache()
    cache.compile(Grammar.from_json_schema, SCHEMA)
    enough = cache.nbytes
    for max_bytes, num_kept in ((enough, 1), (enough - 1, 0)):
        small = a_cache(max_bytes)
        small.compile(Grammar.from_json_schema, SCHEMA)
        assert small.nbytes == (enough if num_kept else 0)
        assert len(small) == num_kept


def test_a_cache_of_no_bytes_keeps_nothing():
    cache = a_cache(0)
    play(cache.compile(Grammar.from_json_schema, SCHEMA))
    assert (len(cache), cache.info.evictions) == (0, 1)


@pytest.mark.parametrize("eager", [False, True])
def test_masks_are_made_ahead_where_that_is_asked_for(eager):
    options = {"eager": True} if eager else {}
    cache = GrammarCache(BYTES, max_bytes=PLENTY, **options)
    automaton = cache.compile(Grammar.from_json_schema, SCHEMA).automaton
    assert (automaton.known_row(automaton.start) is not None) == eager


@pytest.mark.parametrize("another", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_cache_stays_in_its_process(another):
    with pytest.raises(TypeError, match=r"cannot be pickled.*\nhint: make one in each"):
        another(a_cache())
