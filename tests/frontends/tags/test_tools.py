"""Tools of real function-calling suites, written as each model family writes calls."""

from __future__ import annotations

import functools
import gzip
import json
import random
import re
import time
import tracemalloc
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
import tokenizers
from jinja2.sandbox import ImmutableSandboxedEnvironment
from mistral_common.protocol.instruct.messages import AssistantMessage, ToolMessage, UserMessage
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.tool_calls import FunctionCall, ToolCall
from mistral_common.tokens.tokenizers.mistral import MistralTokenizer
from mistral_common.tokens.tokenizers.tekken import Tekkenizer

import constrain
from constrain import Grammar, GrammarError, UnsupportedFeatureError, Vocabulary
from constrain.frontends.tags import TOOL_FORMATS, ToolFormat
from constrain.frontends.tags.markers import bracketed
from tests.conformance.test_walks import VOCAB, walk
from tests.conftest import SHARED, requires_shared
from tests.frontends.tags.families import MANY, READ, WRITE
from tests.matcher.vocabularies import allowed_ids
from tests.vocab.real_tokenizers import tokenizer_file

WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}
PING = {"type": "function", "function": {"name": "ping"}}
WEATHER_CALL, PING_CALL = ("weather", {"city": "x"}), ("ping", {})

# One call of each tool, in two turns, and both in one turn (None where the family writes one call).
CALLS = {
    name: (
        write([WEATHER_CALL]),
        write([PING_CALL]),
        write([WEATHER_CALL, PING_CALL]) if name in MANY else None,
    )
    for name, write in WRITE.items()
}
WHOLE = [name for name, how in TOOL_FORMATS.items() if how.whole_message]
NAMED = {"type": "function", "function": {"name": "ping"}}


def accepts(grammar, texts):
    return [grammar.accepts(text.encode()) for text in texts]


def test_every_format_has_an_example_and_a_source():
    assert set(WRITE) == set(READ) == set(TOOL_FORMATS)
    assert MANY == sorted(n for n, how in TOOL_FORMATS.items() if how.between is not None)
    assert all(how.source for how in TOOL_FORMATS.values())


PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "tool-calls.md"


def test_the_page_shows_a_call_in_every_format():
    rows = re.findall(r"^\| `([^`]+)` \| [^|]+ \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.M)
    rows = [(name, cell) for name, cell in rows if name in TOOL_FORMATS]
    assert [name for name, _ in rows] == list(TOOL_FORMATS)
    shown = 0
    for name, cell in rows:
        if re.fullmatch("(`[^`]*`|↵)+", cell):
            text = re.sub("`([^`]*)`", r"\1", cell).replace("↵", "\n").replace("\\|", "|")
            grammar = Grammar.from_tools([WEATHER], "required", format=name)
            assert grammar.accepts(text.encode()), text
            shown += 1
    assert shown == len(TOOL_FORMATS) - 3


@pytest.mark.parametrize("name", TOOL_FORMATS)
def test_tool_choice(name):
    how = TOOL_FORMATS[name]
    weather, ping, both = CALLS[name]
    turns = [weather, ping, *([both] if both else [])]
    many = [True] * len(turns)
    wrong = [weather.replace("city", "town"), weather.replace("weather", "whether"), weather + "x"]
    tools = [WEATHER, PING]

    auto = Grammar.from_tools(tools, format=name)
    assert accepts(auto, turns) == many
    assert accepts(auto, wrong) == [False] * 3
    texts = [t for t in ("", "Hello", " {", "<", "<tool", "[TOOL", "é") if how.opening not in t]
    assert accepts(auto, texts) == [True] * len(texts)
    assert auto.accepts(f"I ask. {ping}".encode())  # a call, or where turns are one thing, a text

    required = Grammar.from_tools(tools, "required", format=name)
    assert accepts(required, turns) == many
    for n in range(len(how.lead) + 1):
        assert accepts(required, [how.lead[:n] + turn for turn in turns]) == many
    assert accepts(required, ["", "Hello", *wrong]) == [False] * 5
    assert required.accepts(f"I ask. {ping}".encode()) == how.always_text

    none = Grammar.from_tools(tools, "none", format=name)
    assert accepts(none, turns + wrong) == [False] * (len(turns) + 3)
    assert accepts(none, ["", "Hello", "<tool", " {"]) == [True] * 4
    assert none.accepts(f"I ask. {ping}".encode()) == how.whole_message

    named = Grammar.from_tools(tools, NAMED, format=name)
    assert accepts(named, turns) == [False, True, *([False] if both else [])]

    if both:
        single = Grammar.from_tools(tools, format=name, parallel_tool_calls=False)
        assert accepts(single, turns) == [True, True, False]
    assert accepts(Grammar.from_tools([], format=name), ["", "Hello", ping]) == [True, True, False]


def with_specials(name):
    """Byte tokens, and the marks of a format as special tokens."""
    how = TOOL_FORMATS[name]
    style = how.arguments
    inside = (style.member, style.string) if style else ()
    texts = " ".join([how.begin, *how.pieces, *inside, how.end, how.stop])
    marks = sorted({m for m in bracketed(texts) if "$" not in m}, key=len, reverse=True)
    ids = {mark: 257 + i for i, mark in enumerate(marks)}
    vocab = Vocabulary(
        [*[bytes([b]) for b in range(256)], *[None] * (1 + len(marks))],
        [ids.get(how.stop, 256), 256],
        ids,
    )
    return vocab, ids


def spell(text, ids):
    """Tokens of a text, its marks as special tokens."""
    out, at = [], 0
    while at < len(text):
        mark = next((m for m in ids if text.startswith(m, at)), None)
        out += [ids[mark]] if mark else list(text[at].encode())
        at += len(mark) if mark else 1
    return out


@pytest.mark.parametrize("name", [n for n in TOOL_FORMATS if n not in WHOLE])
@pytest.mark.parametrize("choice", ["auto", "required"])
def test_calls_in_special_tokens(name, choice):
    vocab, ids = with_specials(name)
    compiled = constrain.compile(Grammar.from_tools([WEATHER, PING], choice, format=name), vocab)
    text = {"auto": "Hm <tool ", "required": ""}[choice]
    for call in filter(None, CALLS[name]):
        tokens = spell(text + call, ids)
        assert set(tokens) & set(ids.values())
        if tokens[-1] in vocab.eos_token_ids:
            tokens.pop()
        matcher = compiled.matcher()
        for at, token in enumerate(tokens):
            assert matcher.accept_token(token), (call, at)
        assert matcher.is_accepting
        assert matcher.accept_token(vocab.eos_token_ids[0])
        assert matcher.is_terminated
        # wrong from the name on
        start = len(spell((text + call).partition("ping" if "ping" in call else "weather")[0], ids))
        matcher = compiled.matcher()
        assert all(matcher.accept_token(token) for token in tokens[:start])
        assert not matcher.accept_token(ord("z"))


@pytest.mark.parametrize(
    ("family", "mark"),
    [
        ("kimi-k2", "<|tool_call_begin|>"),
        ("deepseek", "<｜tool▁call▁begin｜>"),
        ("deepseek-v3.1", "<｜tool▁call▁begin｜>"),
    ],
)
def test_a_call_begins_only_in_the_section_of_calls(family, mark):
    """Parsers pass over a call outside of it, or take what was not constrained for a call."""
    vocab = Vocabulary([b"a", b"<", None, None], eos_token_ids=[3], special_tokens={mark: 2})
    for choice in ("auto", "none"):
        grammar = Grammar.from_tools([PING], choice, format=family)
        assert grammar.accepts(b"It is a <")
        assert not grammar.accepts(f"It is a {mark}".encode())
        matcher = constrain.compile(grammar, vocab).matcher()
        assert not matcher.accept_token(2)
    assert Grammar.from_tools([PING], format=family).accepts(CALLS[family][1].encode())


def test_harmony_addresses_functions_only_in_a_call():
    grammar = Grammar.from_tools([PING], format="harmony")
    before = "<|channel|>analysis<|message|>So.<|end|><|start|>assistant"
    assert grammar.accepts((before + CALLS["harmony"][1]).encode())
    assert grammar.accepts(f"{before}<|channel|>final<|message|>No.".encode())
    assert not grammar.accepts(f"{before} to=functions.ping<|channel|>commentary".encode())


SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "on": {"type": "boolean"},
        "nothing": {"type": "null"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "unit": {"enum": ["C", "F"]},
        "deep": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "list": {"type": "array"}},
            "additionalProperties": {"type": "string"},
        },
    },
    "required": ["text"],
    "additionalProperties": False,
}
FULL = {
    "text": "\n São <b> & \"q\" 'a' \\ ok? ]} \n",
    "count": -12,
    "ratio": 0.5,
    "on": True,
    "nothing": None,
    "tags": ["", "a,b", "'", '"'],
    "unit": "F",
    "deep": {"a": 0, "list": [[], {}, True, None, "x"], "more": "y"},
}


@pytest.mark.parametrize("name", TOOL_FORMATS)
def test_what_a_family_writes_is_accepted_and_read_back(name):
    tools = [{"name": "full", "parameters": SCHEMA}, PING]
    grammar = Grammar.from_tools(tools, "required", format=name)
    if name == "minimax-m3":  # it does not tell an empty list from an empty object
        full = FULL | {"deep": {"a": 0, "list": [True, None], "more": "y"}, "tags": ["a"]}
    else:
        full = FULL
    turns = [[("full", full)], [("ping", {})], [("full", {"text": ""})]]
    if name in MANY:
        turns.append([("full", full), ("ping", {}), ("full", {"text": "1"})])
    for calls in turns:
        text = WRITE[name](calls)
        assert READ[name](text, {"full": SCHEMA, "ping": {"type": "object"}}) == calls
        assert grammar.accepts(text.encode()), grammar.first_rejection(text.encode())
    for wrong in (
        {},
        {"text": 1},
        {"text": "a", "count": 1.5},
        {"text": "a", "tags": [1]},
        {"text": "a", "unit": "K"},
        {"text": "a", "deep": {"more": 1}},
        {"text": "a", "other": 1},
    ):
        if wrong == {"text": 1} and name not in JSON_ARGUMENTS:
            continue  # as text it is "1"
        if name == "minimax-m3" and wrong != {"text": "a", "other": 1} and len(wrong) > 1:
            wrong = {k: v for k, v in wrong.items() if k not in ("tags", "deep")} | {"on": 3}
        assert not grammar.accepts(WRITE[name]([("full", wrong)]).encode()), wrong


JSON_ARGUMENTS = [n for n, how in TOOL_FORMATS.items() if how.arguments is None]


@pytest.mark.parametrize("name", TOOL_FORMATS)
def test_arguments_come_once_and_none_is_missing(name):
    two = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
    grammars = [
        Grammar.from_tools([{"name": "f", "parameters": two | more}], "required", format=name)
        for more in ({"required": ["a"]}, {"additionalProperties": False})
    ]
    one = WRITE[name]([("f", {"a": 1})])
    both, turned = (WRITE[name]([("f", v)]) for v in ({"a": 1, "b": 2}, {"b": 2, "a": 1}))
    twice = both.replace("b", "a") if name not in ("kimi-k3",) else both.replace('"b"', '"a"')
    other = both.replace('"b"', '"c"') if '"b"' in both else both.replace("b=", "c=")
    free = TOOL_FORMATS[name].arguments is not None and TOOL_FORMATS[name].arguments.any_order
    texts = [one, both, turned, WRITE[name]([("f", {"b": 1})]), WRITE[name]([("f", {})])]
    assert accepts(grammars[0], texts) == [True, True, free or turned == both, False, False]
    assert accepts(grammars[1], texts) == [True, True, free or turned == both, True, True]
    if twice.count("a") == one.count("a") + both.count("b"):
        assert accepts(grammars[0], [twice]) == [False]
    if other != both:
        assert [g.accepts(other.encode()) for g in grammars] == [True, False]


def test_allowed_tools():
    third = {"name": "third"}
    tools = [WEATHER, PING, third]
    for wrap in (
        lambda mode, names: {"allowed_tools": {"mode": mode, "tools": names}},
        lambda mode, names: {"mode": mode, "tools": names},
    ):
        for mode in ("auto", "required"):
            names = [
                {"type": "function", "function": {"name": "ping"}},
                {**FUNCTION, "name": "third"},
            ]
            choice = {"type": "allowed_tools", **wrap(mode, names)}
            grammar = Grammar.from_tools(tools, choice, format="hermes")
            calls = [WRITE["hermes"]([(n, {})]) for n in ("ping", "third")]
            assert accepts(grammar, calls) == [True, True]
            assert accepts(grammar, [CALLS["hermes"][0], "Hi"]) == [False, mode == "auto"]
    nobody = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}
    grammar = Grammar.from_tools(tools, nobody, format="hermes")
    assert accepts(grammar, ["Hi", CALLS["hermes"][1]]) == [True, False]


FUNCTION = {"type": "function"}


@pytest.mark.parametrize("name", TOOL_FORMATS)
def test_strict(name):
    made = {
        strict: Grammar.from_tools(
            [{"name": "f", "strict": strict, "parameters": SCHEMA}], "required", format=name
        )
        for strict in (True, False, None)
    }
    fits, not_so = [WRITE[name]([("f", v)]) for v in ({"text": "a"}, {"a": 1, "b": "x"})]
    assert {strict: accepts(g, [fits, not_so]) for strict, g in made.items()} == {
        True: [True, False],
        False: [True, True],
        None: [True, False],
    }


def a_thousand_tools():
    return [{"name": f"tool_{i}", "parameters": SCHEMA} for i in range(1_000)]


@pytest.mark.parametrize("name", ["hermes", "qwen3-coder", "deepseek-v3.2", "gemma4", "pythonic"])
def test_a_thousand_tools(name):
    tools = a_thousand_tools()
    start = time.process_time()
    grammar = Grammar.from_tools(tools, format=name)
    text = WRITE[name]([("tool_777", {"text": "a", "on": True})])
    assert grammar.accepts(text.encode())
    assert time.process_time() - start < 30  # 0.6 to 1.9 s each on a slow core
    assert not grammar.accepts(text.replace("tool_777", "tool_x").encode())


def test_the_memory_of_many_tools():
    tools = a_thousand_tools()[:200]
    tracemalloc.start()
    grammar = Grammar.from_tools(tools, format="qwen3-coder")
    assert grammar.accepts(WRITE["qwen3-coder"]([("tool_1", {"text": "a"})]).encode())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200 * 200_000  # 45 KB for each tool of 8 parameters


def real_tools():
    rows = []
    for name in ("bfcl", "github-mcp"):
        with gzip.open(SHARED / "data" / "tools" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as f:
            rows += [json.loads(line) for line in f]
    return rows


@requires_shared
def test_generated_calls_of_real_tools_are_valid():
    rng = random.Random(5)
    rows = rng.sample(real_tools(), 48)
    done = 0
    for i in range(0, len(rows), 4):
        some = {row["name"]: row for row in rows[i : i + 4]}
        tools = [{"name": n, "parameters": row["parameters"]} for n, row in some.items()]
        grammar = Grammar.from_tools(tools, "required", format="hermes", parallel_tool_calls=False)
        text = walk(constrain.compile(grammar, VOCAB), rng)
        if text is None:
            continue
        text = text.lstrip(b"\n")
        assert text.startswith(b"<tool_call>\n")
        assert text.endswith(b"\n</tool_call>")
        call = json.loads(text[12:-13])
        schema = some[call["name"]]["parameters"]
        jsonschema.Draft202012Validator(schema).validate(call["arguments"])
        assert isinstance(call["arguments"], dict)
        done += 1
    assert done >= 10


@requires_shared
@pytest.mark.parametrize("name", [n for n in TOOL_FORMATS if n != "hermes"])
def test_generated_calls_are_read_back_and_valid(name):
    rng = random.Random(name)
    how = replace(TOOL_FORMATS[name], always_text=False)
    done = 0
    for row in rng.sample([row for row in real_tools() if plain(row["parameters"])], 8):
        schema = row["parameters"] | {"additionalProperties": False}
        tools = [{"name": "f", "parameters": schema}]
        try:
            grammar = Grammar.from_tools(tools, "required", format=how, parallel_tool_calls=False)
        except UnsupportedFeatureError:
            continue
        text = walk_to_the_marks(grammar, how, rng)
        assert text is not None
        text = text[text.index(TOOL_FORMATS[name].first_trigger.encode()) :].decode()
        ((called, arguments),) = READ[name](text, {"f": schema})
        assert called == "f"
        jsonschema.Draft202012Validator(schema).validate(arguments)
        done += 1
    assert done >= 4


def walk_to_the_marks(grammar, how, rng):
    """A random text, in which what ends strings and calls is likely; None if it has no end."""
    marks = {how.end, how.call.partition("$ARGS")[2], '"', "'", "}", "]"}
    if how.arguments:
        style = how.arguments
        marks |= {style.mark, style.end, *re.split(r"\$KEY|\$VALUE|\$TYPE", style.member)[1:]}
    ends = sorted([mark.encode() for mark in marks if mark])
    vocab = Vocabulary([*[bytes([b]) for b in range(256)], *ends, None], [256 + len(ends)])
    matcher = constrain.compile(grammar, vocab).matcher()
    bitmask = constrain.allocate_token_bitmask(1, vocab.vocab_size)
    text = b""
    for step in range(2_000):
        matcher.fill_next_token_bitmask(bitmask)
        ids = sorted(allowed_ids(bitmask, 0, vocab.vocab_size))
        if vocab.eos_token_ids[0] in ids:
            return text
        likely = [i for i in ids if i >= 256] or [i for i in ids if chr(i) in "</]"]
        chosen = rng.choice(likely if likely and rng.random() < 0.3 + step / 400 else ids)
        assert matcher.accept_token(chosen)
        text += bytes([chosen]) if chosen < 256 else ends[chosen - 256]
    return None


def plain(schema):
    """Whether each parameter has a type of its own, so that a reader knows what a text is."""
    properties = schema.get("properties", {}).values()
    kinds = ("string", "integer", "number", "boolean")
    return bool(properties) and all(p.get("type") in kinds or "enum" in p for p in properties)


@requires_shared
@pytest.mark.parametrize("name", TOOL_FORMATS)
def test_recorded_calls_of_real_tools_are_accepted(name):
    rows = [row for row in real_tools() if row.get("valid_calls")]
    rows = random.Random(name).sample(rows, 12)
    text = "" if TOOL_FORMATS[name].whole_message else "So: "
    for row in rows:
        tools = [{"name": "f", "parameters": row["parameters"]}]
        grammar = Grammar.from_tools(tools, format=name, style="any")
        for arguments in row["valid_calls"]:
            call = text + WRITE[name]([("f", arguments)])
            assert grammar.accepts(call.encode()), row["id"]


def test_any_json_object_is_the_least_that_arguments_are():
    grammar = Grammar.from_tools([{"name": "f", "parameters": {}}], "required", format="llama3")
    assert grammar.accepts(b'{"name": "f", "parameters": {"a": [1]}}')
    assert not grammar.accepts(b'{"name": "f", "parameters": [1]}')


def test_names_as_json_need_escapes():
    grammar = Grammar.from_tools([{"name": 'a"b'}], "required", format="llama3")
    assert grammar.accepts(rb'{"name": "a\"b", "parameters": {}}')


def test_parallel_calls_in_free_text_mask_nothing_before_the_trigger():
    compiled = constrain.compile(Grammar.from_tools([PING], format="hermes"), VOCAB)
    bitmask = constrain.allocate_token_bitmask(1, VOCAB.vocab_size)
    matcher = compiled.matcher()
    for byte in b"Some text <tool_call":
        matcher.fill_next_token_bitmask(bitmask)
        assert len(allowed_ids(bitmask, 0, VOCAB.vocab_size)) == VOCAB.num_tokens
        assert matcher.accept_token(byte)
    assert matcher.accept_token(ord(">"))
    assert matcher.find_jump_forward_bytes().startswith(b'\n{"name": "ping", "arguments": {')


ALLOWED = {"type": "allowed_tools", "tools": [FUNCTION | {"name": "ping"}]}


def test_other_fields_of_a_tool_are_passed_over():
    tool = {
        "name": "ping",
        "annotations": {"title": "Ping", "readOnlyHint": True},
        "outputSchema": {"type": "object", "properties": {"ok": {"type": "boolean"}}},
    }
    call = b'{"name": "ping", "parameters": {}}'
    assert Grammar.from_tools([tool], "required", format="llama3").accepts(call)


@pytest.mark.parametrize(
    ("tools", "choice", "kind", "match"),
    [
        ("ping", "auto", GrammarError, "list of dicts"),
        ([1], "auto", GrammarError, "#/tools/0"),
        ([{"type": "web_search"}], "auto", UnsupportedFeatureError, "'web_search'.*#/tools/0/type"),
        ([{"type": "function"}], "auto", GrammarError, "needs a field 'name'"),
        ([PING, PING], "auto", GrammarError, "#/tools/1/function/name"),
        ([{"name": ""}], "auto", GrammarError, "has no name"),
        ([{"name": "f", "parameters": []}], "auto", GrammarError, "#/tools/0/parameters"),
        (
            [{"name": "f", "parameters": {"type": "objet"}}],
            "auto",
            constrain.SchemaError,
            "#/tools/0/parameters/type",
        ),
        (
            [{"name": "f", "input_schema": {}}],
            "auto",
            GrammarError,
            "'input_schema'.*#/tools/0/input_schema.*name it 'parameters'",
        ),
        (
            [FUNCTION | {"function": {"name": "f", "arguments": {"type": "object"}}}],
            "auto",
            GrammarError,
            "'arguments'.*#/tools/0/function/arguments.*name it 'parameters'",
        ),
        (
            [{"name": "f", "parameters": {"city": {"type": "string"}}}],
            "auto",
            GrammarError,
            'no schema.*#/tools/0/parameters.*"properties"',
        ),
        (
            [{"name": "f", "parameters": {"city": "string"}}],
            "auto",
            GrammarError,
            "no schema.*#/tools/0/parameters",
        ),
        ({"name": "f"}, "auto", GrammarError, r"write \[tool\]"),
        ([], "required", GrammarError, "no tools"),
        ([PING], "any", GrammarError, "'auto', 'required', 'none'"),
        ([PING], {"type": "function", "name": "pong"}, GrammarError, "did you mean 'ping'"),
        ([PING], {"type": "function", "name": "zzz"}, GrammarError, "no tool 'zzz'.*the tools are"),
        ([PING], {"type": "web_search"}, UnsupportedFeatureError, "#/tool_choice/type"),
        ([PING], {"type": "allowed_tools"}, GrammarError, "'tools'.*#/tool_choice"),
        ([PING], ALLOWED | {"mode": "none"}, GrammarError, "#/tool_choice/mode"),
        ([PING], ALLOWED | {"mode": "required", "tools": []}, GrammarError, "#/tool_choice/tools"),
        ([PING], ALLOWED | {"tools": [{"name": "f"}]}, GrammarError, "#/tool_choice/tools/0"),
        (
            [PING],
            ALLOWED | {"tools": [FUNCTION | {"name": "pong"}]},
            GrammarError,
            "#/tool_choice/tools/0/name",
        ),
        ([{"name": "a b"}], "auto", UnsupportedFeatureError, "writes it bare"),
        ([{"name": "f", "strict": "no"}], "auto", GrammarError, "#/tools/0/strict"),
    ],
)
def test_what_is_refused(tools, choice, kind, match):
    with pytest.raises(kind, match=re.compile(match, re.DOTALL)):
        Grammar.from_tools(tools, choice, format="mistral")


@pytest.mark.parametrize(
    ("name", "tool", "match"),
    [
        ("pythonic", {"name": "a-b"}, "'a-b' in a format that writes it bare"),
        ("pythonic", {"name": "a.class"}, "writes it bare"),
        ("glm-4.5", {"name": "a\nb"}, "writes it bare"),
        ("pythonic", {"name": "f", "parameters": {"properties": {"from": {}}}}, "named 'from'"),
        ("gemma4", {"name": "f", "parameters": {"properties": {"a:b": {}}}}, "named 'a:b'"),
        ("qwen3-coder", {"name": "f", "parameters": {"properties": {"a>": {}}}}, "named 'a>'"),
        (
            "qwen3-coder",
            {"name": "f", "parameters": {"properties": {"a": {"const": "x</function>"}}}},
            "'x</function>' has .* in it",
        ),
        (
            "gemma4",
            {
                "name": "f",
                "parameters": {"properties": {"a": {"uniqueItems": True, "minItems": 2}}},
            },
            "uniqueItems",
        ),
    ],
)
def test_what_a_format_has_no_way_to_write(name, tool, match):
    with pytest.raises(UnsupportedFeatureError, match=match) as caught:
        Grammar.from_tools([tool], format=name)
    assert caught.value.pointer.startswith("#/tools/0")


READERS_CUT_AT = {
    "hermes": ["<tool_call>", "</tool_call>"],
    "mistral": ["[TOOL_CALLS]", "[ARGS]"],
    "mistral-v11": ["[TOOL_CALLS]", "[CALL_ID]", "[ARGS]"],
    "mistral-v3": ["[TOOL_CALLS]"],
    "lfm2": ["<|tool_call_start|>", "<|tool_call_end|>"],
    "deepseek": ["<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>", "<｜tool▁call▁begin｜>"],
    "deepseek-v3.1": ["<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>", "<｜tool▁sep｜>"],
    "harmony": ["<|channel|>", "<|message|>", "<|call|>"],
    "kimi-k2": ["<|tool_call_begin|>", "<|tool_call_end|>", "<|tool_calls_section_end|>"],
    "phi4-mini": ["<|tool_call|>", "<|/tool_call|>"],
    "granite": ["<|tool_call|>"],
    "nemotron": ["<TOOLCALL>", "</TOOLCALL>"],
    "command-r7b": ["<|START_ACTION|>", "<|END_ACTION|>"],
    "exaone4": ["<tool_call>", "</tool_call>"],
}


def test_every_format_whose_strings_have_quotes_has_marks_that_readers_cut_at():
    quoted = {
        name
        for name, how in TOOL_FORMATS.items()
        if how.marks and (how.arguments is None or how.arguments.nested == "python")
    }
    assert quoted == set(READERS_CUT_AT)


@pytest.mark.parametrize("name", READERS_CUT_AT)
def test_no_argument_holds_a_mark_at_which_readers_cut_a_call(name):
    """They look for it before they read the string that it stands in."""
    parameters = {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "list": {"type": "array", "items": {"type": "string"}},
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
            "pick": {"enum": [*READERS_CUT_AT[name], "a"]},
        },
    }
    for schema in (parameters, {k: v for k, v in parameters.items() if k != "type"}):
        tool = {"name": "f", "parameters": schema}
        for choice in ("auto", "required"):
            grammar = Grammar.from_tools([tool], choice, format=name)
            for mark in READERS_CUT_AT[name]:
                for text, fits in (
                    (f"a{mark}b", False),
                    (mark, False),
                    (mark[:-1], True),
                    (mark[1:], True),
                    (mark[:-1] + mark[1:], True),
                    (f"{mark[:-1]}\u00e9{mark[-1]}", True),
                ):
                    calls = [{"text": text}, {"list": ["a", text]}, {"map": {"a": text}}]
                    calls += [{"map": {text: "a"}}] + [{"pick": text}] * (not fits)
                    for arguments in calls:
                        call = WRITE[name]([("f", arguments)])
                        assert grammar.accepts(call.encode()) == fits, call
            assert grammar.accepts(WRITE[name]([("f", {"pick": "a"})]).encode())


def test_a_mark_may_be_written_with_escapes_where_the_style_has_them():
    tool = {"name": "f", "parameters": {"properties": {"a": {"const": "</tool_call>"}}}}
    with pytest.raises(UnsupportedFeatureError, match=r"(?s)'</tool_call>' has .*escapes=\"any\""):
        Grammar.from_tools([tool], format="hermes")
    style = constrain.JSONStyle(escapes="any")
    grammar = Grammar.from_tools([tool], "required", format="hermes", style=style)
    call = WRITE["hermes"]([("f", {"a": "</tool_call>"})])
    assert not grammar.accepts(call.encode())
    assert grammar.accepts(call.replace('"</tool', r'"\u003c/tool').encode())
    assert grammar.accepts(call.replace('"</tool', r'"<\/tool').encode())


def test_marks_are_those_between_what_differs():
    mine = ToolFormat(begin="[", call="$NAME$ARGS", between=",", end="]", json_name=False)
    assert mine.marks == ()
    assert ToolFormat(call="<c>$NAME$ARGS</c>", json_name=False).marks == ("<c>", "</c>")
    assert TOOL_FORMATS["deepseek-v3.1"].marks[-1] == "<｜tool▁calls▁end｜>"


def test_arguments_are_an_object():
    for name in ("hermes", "qwen3-coder"):
        with pytest.raises(constrain.UnsatisfiableError, match="#/tools/0/parameters"):
            Grammar.from_tools(
                [
                    {
                        "name": "f",
                        "parameters": {"$ref": "#/$defs/a", "$defs": {"a": {"type": "null"}}},
                    }
                ],
                format=name,
            )


def test_formats_that_are_refused():
    with pytest.raises(GrammarError, match="did you mean 'gemma4'"):
        Grammar.from_tools([PING], format="gemma_4")
    with pytest.raises(GrammarError, match=r"'hermes' is that of Qwen 2\.5 and Qwen 3"):
        Grammar.from_tools([PING], format="Qwen3")
    with pytest.raises(GrammarError, match="'harmony' is that of GPT-OSS"):
        Grammar.from_tools([PING], format="gpt-oss")
    with pytest.raises(GrammarError, match="'hermes'"):
        Grammar.from_tools([PING], format="hermess")
    with pytest.raises(GrammarError, match=r"\$NAME"):
        ToolFormat(call="$ARGS $NAME")
    with pytest.raises(GrammarError, match="before the name"):
        ToolFormat(call="$NAME($ARGS)")
    with pytest.raises(GrammarError, match="does not begin"):
        ToolFormat(call="call $NAME($ARGS)", trigger="tool")
    with pytest.raises(GrammarError, match=r"\$ID"):
        ToolFormat(call="call $NAME $ID $ARGS")
    with pytest.raises(GrammarError, match="either calls or text"):
        ToolFormat(call="call $NAME($ARGS)", whole_message=True, always_text=True)


# Real vocabularies, which have some of the marks as special tokens, some as text in one token, and
# some as text in several.

ENDS = {
    "qwen3": "<|im_end|>",
    "deepseek3": "<｜end▁of▁sentence｜>",
    "gemma3": "<end_of_turn>",
    "tekken": "</s>",
}
REAL = [
    *[("qwen3", name) for name in TOOL_FORMATS],
    *[("deepseek3", name) for name in ("deepseek", "deepseek-v3.1", "deepseek-v3.2")],
    *[("gemma3", name) for name in ("gemma", "gemma4", "functiongemma")],
    *[("tekken", name) for name in ("mistral", "mistral-v11", "mistral-v3")],
]


@functools.cache
def real(tokenizer):
    """A vocabulary, and what encodes text without special tokens."""
    if tokenizer == "tekken":
        tekken = Tekkenizer.from_file(tokenizer_file("tekken"))
        return Vocabulary.from_mistral_common(tekken), lambda t: tekken.encode(
            t, bos=False, eos=False
        )
    read = tokenizers.Tokenizer.from_file(str(tokenizer_file(tokenizer)))
    vocab = Vocabulary.from_tokenizers(read, eos_token_ids=[read.token_to_id(ENDS[tokenizer])])
    return vocab, lambda text: read.encode(text, add_special_tokens=False).ids


def encode(tokenizer, text):
    """Tokens of a text, its marks as special tokens where there are such."""
    vocab, plain_encode = real(tokenizer)
    marks = [m for m in vocab.special_tokens if m in text]
    if not marks:
        return plain_encode(text)
    ids = []
    for piece in re.split(f"({'|'.join(map(re.escape, marks))})", text):
        ids += [vocab.special_tokens[piece]] if piece in marks else plain_encode(piece)
    return ids


@requires_shared
@pytest.mark.parametrize(("tokenizer", "name"), REAL)
def test_calls_as_real_tokenizers_spell_them(tokenizer, name):
    vocab, _ = real(tokenizer)
    tools = [WEATHER, PING, {"name": "full", "parameters": SCHEMA}]
    compiled = constrain.compile(Grammar.from_tools(tools, format=name), vocab)
    text = "" if TOOL_FORMATS[name].whole_message else "I look it up, <tool or not. "
    rich = FULL | {"deep": {"a": 1}, "tags": ["a"]}
    for call in filter(None, (*CALLS[name], WRITE[name]([("full", rich)]))):
        ids = encode(tokenizer, text + call)
        if len(ids) > 1 and ids[-1] in vocab.eos_token_ids:
            ids.pop()
        matcher = compiled.matcher()
        assert matcher.validate_tokens(ids) == len(ids)
        assert all(matcher.accept_token(i) for i in ids)
        assert matcher.is_accepting
        wrong = encode(tokenizer, text + call.replace("ping", "pong"))
        good = compiled.matcher().validate_tokens(wrong)
        assert good == len(wrong) if "ping" not in call else good < len(wrong)


@requires_shared
def test_a_chat_template_writes_calls_that_are_accepted():
    config = tokenizer_file("qwen3").parent / "tokenizer_config.json"
    if not config.is_file():
        pytest.skip(f"the tokenizer comes without its chat template, {config.name}")
    template = json.loads(config.read_text(encoding="utf-8"))["chat_template"]
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    question = {"role": "user", "content": "How warm is it?"}
    arguments = {"city": 'São Paulo, "SP"'}
    calls = [
        {"type": "function", "function": {"name": "weather", "arguments": arguments}},
        {"type": "function", "function": {"name": "ping", "arguments": {}}},
    ]
    answer = {"role": "assistant", "content": "I look.", "tool_calls": calls}
    before = {"messages": [question], "add_generation_prompt": True}
    prompt, whole = [
        environment.from_string(template).render(tools=[WEATHER, PING], **more)
        for more in (before, {"messages": [question, answer]})
    ]
    assert whole.startswith(prompt)
    turn = whole[len(prompt) :].removesuffix("<|im_end|>\n")
    assert "São Paulo" in turn
    grammar = Grammar.from_tools([WEATHER, PING], format="hermes")
    assert grammar.with_reasoning("</think>\n\n", begin="<think>").accepts(turn.encode())


def mistral_turn(tokenizer, called):
    """The ids of a turn with some calls, as mistral-common writes it, and their vocabulary."""
    calls = [
        ToolCall(id=f"a1B2c3D4{i}", function=FunctionCall(name=name, arguments=json.dumps(given)))
        for i, (name, given) in enumerate(called)
    ]
    answers = [ToolMessage(content="1", tool_call_id=call.id, name="f") for call in calls]
    asked = [UserMessage(content="How warm?"), AssistantMessage(tool_calls=calls), *answers]
    ids = tokenizer.encode_chat_completion(ChatCompletionRequest(messages=asked)).tokens
    inner = tokenizer.instruct_tokenizer.tokenizer
    start = ids.index(inner.get_special_token("[TOOL_CALLS]"))
    end = ids.index(inner.eos_id, start)
    return ids[start : end + 1], Vocabulary.from_mistral_common(tokenizer)


@pytest.mark.parametrize("choice", ["auto", "required"])
@pytest.mark.parametrize(
    "make",
    [
        MistralTokenizer.v2,
        MistralTokenizer.v3,
        functools.partial(MistralTokenizer.v3, is_tekken=True),
        MistralTokenizer.v7,
    ],
    ids=["v2", "v3", "v3-tekken", "v7"],
)
def test_what_mistral_common_writes_is_accepted(make, choice):
    """SentencePiece writes a blank behind the mark, and tokenizers from v3 on give calls an id."""
    tokenizer = make()
    called = [WEATHER_CALL, PING_CALL][: 1 if make == MistralTokenizer.v2 else 2]
    ids, vocab = mistral_turn(tokenizer, called)
    tools = [WEATHER, PING]
    matcher = constrain.compile(Grammar.from_tools(tools, choice, format="mistral-v3"), vocab)
    assert matcher.matcher().validate_tokens(ids) == len(ids)
    single = Grammar.from_tools(
        tools, choice, format="mistral-v3", parallel_tool_calls=False
    ).accepts
    written = '[TOOL_CALLS] [{"name": "ping", "arguments": {}, "id": "a1B2c3D4e"}]'
    assert single(written.encode())
    for wrong in ("  [{", "\n[{", " {"):
        assert not single(written.replace(" [{", wrong).encode())
    assert not single(written.replace("a1B2c3D4e", "a1B2").encode())


def test_what_may_stand_behind_a_trigger():
    mine = ToolFormat(begin="<c>[", call="$NAME$ARGS", json_name=False, trigger="<c>", gap="\n")
    for choice in ("auto", "required"):
        accepts_it = Grammar.from_tools([PING], choice, format=mine).accepts
        assert [accepts_it(text) for text in (b"<c>[ping{}", b"<c>\n[ping{}")] == [True, True]
        assert not accepts_it(b"<c>\n\n[ping{}")
    with pytest.raises(GrammarError, match="gap"):
        ToolFormat(call="<c>$NAME$ARGS", json_name=False, gap=" ", whole_message=True)


@pytest.mark.parametrize("name", ["glm-4.5", "glm-4.7", "kimi-k3", "minimax-m3", "gemma4"])
def test_keys_of_the_models_own_between_special_tokens(name):
    vocab, ids = with_specials(name)
    open_tool = {"name": "f", "parameters": {"additionalProperties": {"type": "integer"}}}
    compiled = constrain.compile(Grammar.from_tools([open_tool], format=name), vocab)
    text = WRITE[name]([("f", {"ab": 1, "é": 2})])
    for tokens in (spell(text, ids), list(text.encode())):
        matcher = compiled.matcher()
        assert all(matcher.accept_token(token) for token in tokens)
        assert matcher.is_accepting
    twice = WRITE[name]([("f", {"ab": 1, "aa": 2})]).replace("aa", "ab")
    tokens = spell(twice, ids)
    assert compiled.matcher().validate_tokens(tokens) < len(tokens)
    begun = spell(text.partition("é")[0], ids) + list("é".encode())
    matcher = compiled.matcher()
    assert all(matcher.accept_token(token) for token in begun)
    rolled = matcher.fork()
    rest = spell(text.partition("é")[2], ids)
    assert all(rolled.accept_token(token) for token in rest)
    rolled.rollback(len(rest))
    assert all(rolled.accept_token(token) for token in rest)


def test_whitespace_of_json_in_arguments_is_that_of_the_style():
    schema = {"properties": {"a": {"type": "array", "items": {"type": "array"}}}}
    value = {"a": [[1], []]}
    for style, text in (
        ("pretty", "[\n  [\n    1\n  ],\n  []\n]"),
        ("compact", "[[1],[]]"),
        ("canonical", "[[1], []]"),
    ):
        grammar = Grammar.from_tools(
            [{"name": "f", "parameters": schema}], "required", format="glm-4.7", style=style
        )
        call = WRITE["glm-4.7"]([("f", value)]).replace("[[1], []]", text)
        assert grammar.accepts(call.encode())
        assert not grammar.accepts(call.replace(text, text + " ").encode())


@pytest.mark.parametrize("name", TOOL_FORMATS)
def test_a_grammar_of_calls_is_printed(name):
    assert "from_tools" in repr(Grammar.from_tools([WEATHER, PING], format=name))
