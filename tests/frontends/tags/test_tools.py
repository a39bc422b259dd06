"""Tools of real function-calling suites, written as each model family writes calls."""

from __future__ import annotations

import gzip
import json
import random
import re

import jsonschema
import pytest
import tokenizers
from jinja2.sandbox import ImmutableSandboxedEnvironment

import constrain
from constrain import Grammar, GrammarError, UnsupportedFeatureError, Vocabulary
from constrain.frontends.tags import TOOL_FORMATS, ToolFormat
from tests.conformance.test_walks import VOCAB, walk
from tests.conftest import SHARED, requires_shared
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
HARMONY = "<|channel|>commentary to=functions."

# One call of each tool, in two turns, and both in one turn (None where the family writes one call).
CALLS = {
    "hermes": (
        '<tool_call>\n{"name": "weather", "arguments": {"city": "x"}}\n</tool_call>',
        '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>',
        '<tool_call>\n{"name": "weather", "arguments": {"city": "x"}}\n</tool_call>\n'
        '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>',
    ),
    "llama3": (
        '{"name": "weather", "parameters": {"city": "x"}}',
        '{"name": "ping", "parameters": {}}',
        None,
    ),
    "mistral": (
        '[TOOL_CALLS]weather[ARGS]{"city": "x"}',
        "[TOOL_CALLS]ping[ARGS]{}",
        '[TOOL_CALLS]weather[ARGS]{"city": "x"}[TOOL_CALLS]ping[ARGS]{}',
    ),
    "mistral-v3": (
        '[TOOL_CALLS][{"name": "weather", "arguments": {"city": "x"}}]',
        '[TOOL_CALLS][{"name": "ping", "arguments": {}}]',
        '[TOOL_CALLS][{"name": "weather", "arguments": {"city": "x"}}, '
        '{"name": "ping", "arguments": {}}]',
    ),
    "deepseek": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n"
        '```json\n{"city": "x"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>ping\n"
        "```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n"
        '```json\n{"city": "x"}\n```<｜tool▁call▁end｜>\n'
        "<｜tool▁call▁begin｜>function<｜tool▁sep｜>ping\n"
        "```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    ),
    "deepseek-v3.1": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>"
        '{"city": "x"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>ping<｜tool▁sep｜>{}"
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>"
        '{"city": "x"}<｜tool▁call▁end｜>'
        "<｜tool▁call▁begin｜>ping<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    ),
    "harmony": (
        f'{HARMONY}weather <|constrain|>json<|message|>{{"city": "x"}}<|call|>',
        f"{HARMONY}ping <|constrain|>json<|message|>{{}}",
        None,
    ),
    "gemma": (
        '{"name": "weather", "parameters": {"city": "x"}}',
        '{"name": "ping", "parameters": {}}',
        None,
    ),
}
NAMED = {"type": "function", "function": {"name": "ping"}}


def accepts(grammar, texts):
    return [grammar.accepts(text.encode()) for text in texts]


def test_every_format_has_an_example_and_a_source():
    assert set(CALLS) == set(TOOL_FORMATS)
    assert all(how.source for how in TOOL_FORMATS.values())


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
    assert accepts(auto, ["", "Hello", "{", "<", "<tool", "[TOOL", "é"]) == [True] * 7
    assert auto.accepts(f"I ask. {ping}".encode())  # a call, or where turns are one thing, a text

    required = Grammar.from_tools(tools, "required", format=name)
    assert accepts(required, turns) == many
    assert accepts(required, ["", "Hello", *wrong]) == [False] * 5
    assert required.accepts(f"I ask. {ping}".encode()) == how.always_text

    none = Grammar.from_tools(tools, "none", format=name)
    assert accepts(none, turns + wrong) == [False] * (len(turns) + 3)
    assert accepts(none, ["", "Hello", "<tool", "{"]) == [True] * 4
    assert none.accepts(f"I ask. {ping}".encode()) == how.whole_message

    named = Grammar.from_tools(tools, NAMED, format=name)
    assert accepts(named, turns) == [False, True, *([False] if both else [])]

    if both:
        single = Grammar.from_tools(tools, format=name, parallel=False)
        assert accepts(single, turns) == [True, True, False]
    assert accepts(Grammar.from_tools([], format=name), ["", "Hello", ping]) == [True, True, False]


def with_specials(name):
    """Byte tokens, and the marks of a format as special tokens."""
    how = TOOL_FORMATS[name]
    texts = " ".join([how.opening, *how.call_parts, how.end, how.stop])
    marks = sorted(set(re.findall(r"<[^<>]+>|\[[A-Z_]+\]", texts)))
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


@pytest.mark.parametrize("name", [n for n in TOOL_FORMATS if n not in ("llama3", "gemma")])
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
        matcher = compiled.matcher()
        start = len(spell(text + TOOL_FORMATS[name].opening, ids))
        assert all(matcher.accept_token(token) for token in tokens[:start])
        assert not matcher.accept_token(ord("z"))


def test_harmony_addresses_functions_only_in_a_call():
    grammar = Grammar.from_tools([PING], format="harmony")
    before = "<|channel|>analysis<|message|>So.<|end|><|start|>assistant"
    assert grammar.accepts((before + CALLS["harmony"][1]).encode())
    assert grammar.accepts(f"{before}<|channel|>final<|message|>No.".encode())
    assert not grammar.accepts(f"{before} to=functions.ping<|channel|>commentary".encode())


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
        grammar = Grammar.from_tools(tools, "required", format="hermes", parallel=False)
        text = walk(constrain.compile(grammar, VOCAB), rng)
        if text is None:
            continue
        assert text.startswith(b"<tool_call>\n")
        assert text.endswith(b"\n</tool_call>")
        call = json.loads(text[12:-13])
        schema = some[call["name"]]["parameters"]
        jsonschema.Draft202012Validator(schema).validate(call["arguments"])
        assert isinstance(call["arguments"], dict)
        done += 1
    assert done >= 10


@requires_shared
def test_recorded_calls_of_real_tools_are_accepted():
    rows = [row for row in real_tools() if row.get("valid_calls")]
    rows = random.Random(3).sample(rows, 60)
    for row in rows:
        tools = [{"name": row["name"], "parameters": row["parameters"]}]
        grammar = Grammar.from_tools(tools, format="hermes", style="any")
        for arguments in row["valid_calls"]:
            call = json.dumps({"name": row["name"], "arguments": arguments})
            assert grammar.accepts(f"So: <tool_call>\n{call}\n</tool_call>".encode()), row["id"]


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
        ([], "required", GrammarError, "no tools"),
        ([PING], "any", GrammarError, "'auto', 'required', 'none'"),
        ([PING], {"type": "function", "name": "pong"}, GrammarError, "no tool 'pong'"),
        ([PING], {"type": "allowed_tools"}, UnsupportedFeatureError, "allowed_tools"),
        ([{"name": "a b"}], "auto", UnsupportedFeatureError, "writes it bare"),
    ],
)
def test_what_is_refused(tools, choice, kind, match):
    with pytest.raises(kind, match=match):
        Grammar.from_tools(tools, choice, format="mistral")


def test_formats_that_are_refused():
    with pytest.raises(UnsupportedFeatureError, match="gemma4"):
        Grammar.from_tools([PING], format="gemma4")
    with pytest.raises(GrammarError, match="'hermes'"):
        Grammar.from_tools([PING], format="hermess")
    with pytest.raises(GrammarError, match=r"\$NAME"):
        ToolFormat(call="$ARGS $NAME")
    with pytest.raises(GrammarError, match="before the name"):
        ToolFormat(call="$NAME($ARGS)")
    with pytest.raises(GrammarError, match="does not begin"):
        ToolFormat(call="call $NAME($ARGS)", trigger="tool")
    with pytest.raises(GrammarError, match="either calls or text"):
        ToolFormat(call="call $NAME($ARGS)", whole_message=True, always_text=True)


# Real vocabularies, which have some of the marks as special tokens and some as text.

REAL = [
    ("qwen3", "<|im_end|>", "hermes"),
    ("deepseek3", "<｜end▁of▁sentence｜>", "deepseek"),
    ("deepseek3", "<｜end▁of▁sentence｜>", "deepseek-v3.1"),
    ("gemma3", "<end_of_turn>", "gemma"),
]


@requires_shared
@pytest.mark.parametrize(("tokenizer", "end", "name"), REAL)
def test_calls_as_real_tokenizers_spell_them(tokenizer, end, name):
    read = tokenizers.Tokenizer.from_file(str(tokenizer_file(tokenizer)))
    vocab = Vocabulary.from_tokenizers(read, eos_token_ids=[read.token_to_id(end)])
    compiled = constrain.compile(Grammar.from_tools([WEATHER, PING], format=name), vocab)
    text = "" if TOOL_FORMATS[name].whole_message else "I look it up, <tool or not. "
    for call in filter(None, CALLS[name]):
        ids = read.encode(text + call, add_special_tokens=False).ids
        matcher = compiled.matcher()
        assert matcher.validate_tokens(ids) == len(ids)
        assert all(matcher.accept_token(i) for i in ids)
        assert matcher.is_accepting
        wrong = read.encode(text + call.replace("ping", "pong"), add_special_tokens=False).ids
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
