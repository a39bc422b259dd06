"""How model families write and read calls, said a second time: from their templates, by hand.

`WRITE[name](calls)` is a turn with calls, each a name and a dict; `READ[name](text, schemas)` reads
one back. Nothing here knows of `constrain`.
"""

from __future__ import annotations

import ast
import json
import re

__all__ = ["MANY", "READ", "WRITE"]

N = "]<]minimax[>["
GEMMA_QUOTE = '<|"|>'
CHANNEL = "<|channel|>commentary to=functions."


def dumps(value):
    return json.dumps(value, ensure_ascii=False)


def raw(value):
    """A string as it is, and any other value as JSON."""
    return value if isinstance(value, str) else dumps(value)


def kind(value):
    names = {str: "string", bool: "boolean", int: "number", float: "number", list: "array"}
    return names.get(type(value), "null" if value is None else "object")


def each(call, between="", begin="", end=""):
    return lambda calls: begin + between.join([call(n, a) for n, a in calls]) + end


def members(member):
    return lambda arguments: "".join([member(k, v) for k, v in arguments.items()])


def gemma(value, mark):
    if isinstance(value, str):
        return mark + value + mark
    if isinstance(value, dict):
        return "{" + ",".join([f"{k}:{gemma(v, mark)}" for k, v in sorted(value.items())]) + "}"
    if isinstance(value, list):
        return "[" + ",".join([gemma(v, mark) for v in value]) + "]"
    return dumps(value)


def minimax_m3(value):
    if isinstance(value, dict):
        return "".join([f"{N}<{k}>{minimax_m3(v)}{N}</{k}>" for k, v in value.items()])
    if isinstance(value, list):
        return "".join([f"{N}<item>{minimax_m3(v)}{N}</item>" for v in value])
    return raw(value)


def python(name, arguments):
    def spell(value):
        if isinstance(value, str):
            return dumps(value)
        if isinstance(value, dict):
            return "{" + ", ".join([f"{dumps(k)}: {spell(v)}" for k, v in value.items()]) + "}"
        if isinstance(value, list):
            return "[" + ", ".join([spell(v) for v in value]) + "]"
        return repr(value)

    return f"{name}({', '.join([f'{k}={spell(v)}' for k, v in arguments.items()])})"


def named(key, ending=""):
    def call(name, arguments):
        return f'{{"name": {dumps(name)}, "{key}": {dumps(arguments)}}}{ending}'

    return call


def wrapped(before, call, after):
    return lambda name, arguments: before + call(name, arguments) + after


QWEN = members(lambda k, v: f"<parameter={k}>\n{raw(v)}\n</parameter>\n")
GLM = members(lambda k, v: f"<arg_key>{k}</arg_key>\n<arg_value>{raw(v)}</arg_value>\n")
GLM_DENSE = members(lambda k, v: f"<arg_key>{k}</arg_key><arg_value>{raw(v)}</arg_value>")
MINIMAX = members(lambda k, v: f'<parameter name="{k}">{raw(v)}</parameter>\n')


def deepseek_v32(name, arguments):
    inside = "\n".join(
        [
            f'<｜DSML｜parameter name="{k}" string="{str(isinstance(v, str)).lower()}">{raw(v)}'
            "</｜DSML｜parameter>"
            for k, v in arguments.items()
        ]
    )
    return f'\n<｜DSML｜invoke name="{name}">\n{inside}\n</｜DSML｜invoke>'


def kimi_k3(calls):
    out = "<|open|>tools<|sep|>"
    for i, (name, arguments) in enumerate(calls):
        out += f'<|open|>call tool="{name}" index="{i + 1}"<|sep|>'
        for k, v in arguments.items():
            out += f'<|open|>argument key="{k}" type="{kind(v)}"<|sep|>{raw(v)}'
            out += "<|close|>argument<|sep|>"
        out += "<|close|>call<|sep|>"
    return f"{out}<|close|>tools<|sep|>"


def kimi_k2(calls):
    begin, middle, end = "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"
    parts = [f"{begin}functions.{n}:{i}{middle}{dumps(a)}{end}" for i, (n, a) in enumerate(calls)]
    return f"<|tool_calls_section_begin|>{''.join(parts)}<|tool_calls_section_end|>"


def command_r7b(calls):
    parts = [
        f'    {{"tool_call_id": "{i}", "tool_name": {dumps(n)}, "parameters": {dumps(a)}}}'
        for i, (n, a) in enumerate(calls)
    ]
    return "<|START_ACTION|>[\n" + ",\n".join(parts) + "\n]<|END_ACTION|>"


CALLS_MARK = "<｜tool▁calls▁begin｜>"
CALL_MARK, SEP = "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>"
CALL_END, CALLS_END = "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>"
HERMES = wrapped("<tool_call>\n", named("arguments"), "\n</tool_call>")
LIST = {"between": ", ", "end": "]"}

WRITE = {
    "hermes": each(HERMES, "\n"),
    "qwen3-coder": each(
        lambda n, a: f"<tool_call>\n<function={n}>\n{QWEN(a)}</function>\n</tool_call>", "\n"
    ),
    "llama3": each(named("parameters")),
    "pythonic": each(python, begin="[", **LIST),
    "lfm2": each(python, ", ", "<|tool_call_start|>[", "]<|tool_call_end|>"),
    "mistral": each(lambda n, a: f"[TOOL_CALLS]{n}[ARGS]{dumps(a)}"),
    "mistral-v11": each(lambda n, a: f"[TOOL_CALLS]{n}[CALL_ID]a1B2c3D4e[ARGS]{dumps(a)}"),
    "mistral-v3": each(named("arguments"), begin="[TOOL_CALLS][", **LIST),
    "deepseek": each(
        lambda n, a: f"{CALL_MARK}function{SEP}{n}\n```json\n{dumps(a)}\n```{CALL_END}",
        "\n",
        CALLS_MARK,
        CALLS_END,
    ),
    "deepseek-v3.1": each(
        lambda n, a: f"{CALL_MARK}{n}{SEP}{dumps(a)}{CALL_END}", "", CALLS_MARK, CALLS_END
    ),
    "deepseek-v3.2": each(
        deepseek_v32, "", "<｜DSML｜function_calls>", "\n</｜DSML｜function_calls>"
    ),
    "harmony": each(lambda n, a: f"{CHANNEL}{n} <|constrain|>json<|message|>{dumps(a)}"),
    "gemma": each(named("parameters")),
    "gemma4": each(lambda n, a: f"<|tool_call>call:{n}{gemma(a, GEMMA_QUOTE)}<tool_call|>"),
    "functiongemma": each(
        lambda n, a: f"<start_function_call>call:{n}{gemma(a, '<escape>')}<end_function_call>"
    ),
    "glm-4.5": each(lambda n, a: f"<tool_call>{n}\n{GLM(a)}</tool_call>", "\n"),
    "glm-4.7": each(lambda n, a: f"<tool_call>{n}{GLM_DENSE(a)}</tool_call>"),
    "minimax-m2": each(
        lambda n, a: f'<invoke name="{n}">\n{MINIMAX(a)}</invoke>\n',
        "",
        "<minimax:tool_call>\n",
        "</minimax:tool_call>",
    ),
    "minimax-m3": each(
        lambda n, a: f'{N}<invoke name="{n}">{minimax_m3(a)}{N}</invoke>\n',
        "",
        f"{N}<tool_call>\n",
        f"{N}</tool_call>",
    ),
    "kimi-k2": kimi_k2,
    "kimi-k3": kimi_k3,
    "phi4-mini": each(wrapped("<|tool_call|>", named("arguments"), "<|/tool_call|>")),
    "granite": each(named("arguments"), begin="<|tool_call|>[", **LIST),
    "nemotron": each(named("arguments"), ", ", "<TOOLCALL>[", "]</TOOLCALL>"),
    "command-r7b": command_r7b,
    "exaone4": each(wrapped("<tool_call>", named("arguments"), "</tool_call>"), "\n"),
}
MANY = sorted(set(WRITE) - {"llama3", "gemma", "harmony"})
"""Families that write several calls in a turn."""


# Reading. A call starts where `head` matches, with the name as its group; what follows is told
# apart by the family.


def by_schema(text, schema):
    """What a text stands for that does not say whether it is a string."""
    if schema.get("type") == "string" or all(map(is_text, schema.get("enum", [None]))):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def is_text(value):
    return isinstance(value, str)


def read_json(head, tail):
    def read(text, schemas):
        found, at = [], 0
        while match := re.compile(head).search(text, at):
            value, at = json.JSONDecoder().raw_decode(text, match.end())
            assert re.compile(tail).match(text, at), text[at:]
            found.append((match[1], value))
        return found

    return read


def read_objects(begin, end, key, name="name"):
    def read(text, schemas):
        assert text.startswith(begin)
        assert text.endswith(end)
        listed = json.loads(f"[{text[len(begin) : len(text) - len(end)]}]")
        return [(call[name], call[key]) for call in listed]

    return read


def read_members(head, end, member):
    """Calls with members that have groups for the key and the value, and perhaps the type."""

    def read(text, schemas):
        found = []
        for match in re.finditer(head, text):
            inside = text[match.end() : text.index(end, match.end())]
            assert re.fullmatch(f"({member})*\\s*", inside, re.DOTALL), inside
            arguments = {}
            for groups in re.findall(member, inside, re.DOTALL):
                if len(groups) == 3:
                    key, type_, value = groups
                    value = value if type_ in ("true", "string") else json.loads(value)
                else:
                    key, value = groups
                    schema = schemas[match[1]].get("properties", {}).get(key, {})
                    value = by_schema(value, schema)
                assert key not in arguments
                arguments[key] = value
            found.append((match[1], arguments))
        return found

    return read


def read_gemma(head, mark):
    def value(text, at):
        if text.startswith(mark, at):
            stop = text.index(mark, at + len(mark))
            return text[at + len(mark) : stop], stop + len(mark)
        if text[at] in "{[":
            closing = "}" if text[at] == "{" else "]"
            made, space = ({} if closing == "}" else []), re.compile(r"\s*")
            at = space.match(text, at + 1).end()
            while text[at] != closing:
                if made:
                    assert text[at] == ","
                    at = space.match(text, at + 1).end()
                if closing == "}":
                    colon = text.index(":", at)
                    key = text[at:colon]
                    assert key not in made
                    made[key], at = value(text, space.match(text, colon + 1).end())
                else:
                    item, at = value(text, at)
                    made.append(item)
                at = space.match(text, at).end()
            return made, at + 1
        return json.JSONDecoder().raw_decode(text, at)

    def read(text, schemas):
        return [(m[1], value(text, m.end())[0]) for m in re.finditer(head, text)]

    return read


def read_minimax_m3(text, schemas):
    def value(text, schema):
        if schema.get("type") == "string":
            return text
        parts = []
        while match := re.match(rf"\s*{re.escape(N)}<([^/>]+)>", text):
            depth, at = 1, match.end()
            while depth:
                tag = re.compile(re.escape(N) + "<(/?)").search(text, at)
                depth, at = depth + (-1 if tag[1] else 1), tag.end()
            stop = tag.start()
            assert text[at:].startswith(f"{match[1]}>")
            parts.append((match[1], text[match.end() : stop]))
            text = text[at + len(match[1]) + 1 :]
        if schema.get("type") == "array":
            return [value(inner, schema.get("items", {})) for _, inner in parts]
        if parts or schema.get("type") == "object":
            properties = schema.get("properties", {})
            return {key: value(inner, properties.get(key, {})) for key, inner in parts}
        return by_schema(text, schema)

    found = []
    head = re.escape(N) + '<invoke name="([^"]+)">'
    for match in re.finditer(head, text):
        inside = text[match.end() : text.index(f"{N}</invoke>", match.end())]
        found.append((match[1], value(inside, {"type": "object", **schemas[match[1]]})))
    return found


def read_python(begin, end):
    def read(text, schemas):
        assert text.startswith(begin)
        assert text.endswith(end)
        tree = ast.parse(text[len(begin) : len(text) - len(end)], mode="eval").body
        return [
            (ast.unparse(call.func), {k.arg: ast.literal_eval(k.value) for k in call.keywords})
            for call in tree.elts
        ]

    return read


def read_each(head, tail, key):
    def read(text, schemas):
        found = []
        for match in re.finditer(head, text):
            call, at = json.JSONDecoder().raw_decode(text, match.end())
            assert text.startswith(tail, at)
            found.append((call["name"], call[key]))
        return found

    return read


READ = {
    "hermes": read_each("<tool_call>\n", "\n</tool_call>", "arguments"),
    "qwen3-coder": read_members(
        "<function=(.*?)>\n", "</function>", "<parameter=(.*?)>\n(.*?)\n</parameter>\n"
    ),
    "llama3": read_objects("", "", "parameters"),
    "pythonic": read_python("", ""),
    "lfm2": read_python("<|tool_call_start|>", "<|tool_call_end|>"),
    "mistral": read_json(r"\[TOOL_CALLS\](.*?)\[ARGS\]", ""),
    "mistral-v11": read_json(r"\[TOOL_CALLS\](.*?)\[CALL_ID\][a-zA-Z0-9]{9}\[ARGS\]", ""),
    "mistral-v3": lambda text, schemas: read_objects("[", "]", "arguments")(
        text.removeprefix("[TOOL_CALLS]").removeprefix(" "), schemas
    ),
    "deepseek": read_json(f"{CALL_MARK}function{SEP}(.*?)\n```json\n", f"\n```{CALL_END}"),
    "deepseek-v3.1": read_json(f"{CALL_MARK}(.*?){SEP}", CALL_END),
    "deepseek-v3.2": read_members(
        '<｜DSML｜invoke name="(.*?)">\n',
        "\n</｜DSML｜invoke>",
        '<｜DSML｜parameter name="(.*?)" string="(true|false)">(.*?)</｜DSML｜parameter>\n?',
    ),
    "harmony": read_json(
        re.escape(CHANNEL) + r"(.*?) <\|constrain\|>json<\|message\|>", r"(<\|call\|>)?$"
    ),
    "gemma": read_objects("", "", "parameters"),
    "gemma4": read_gemma(r"<\|tool_call>call:([^{]*)", GEMMA_QUOTE),
    "functiongemma": read_gemma("<start_function_call>call:([^{]*)", "<escape>"),
    "glm-4.5": read_members(
        "<tool_call>(.*?)\n",
        "</tool_call>",
        "<arg_key>(.*?)</arg_key>\n<arg_value>(.*?)</arg_value>\n",
    ),
    "glm-4.7": read_members(
        "<tool_call>([^<]*)",
        "</tool_call>",
        "<arg_key>(.*?)</arg_key><arg_value>(.*?)</arg_value>",
    ),
    "minimax-m2": read_members(
        '<invoke name="(.*?)">\n', "</invoke>", '<parameter name="(.*?)">(.*?)</parameter>\n'
    ),
    "minimax-m3": read_minimax_m3,
    "kimi-k2": read_json(
        r"<\|tool_call_begin\|>functions\.(.*?):\d+<\|tool_call_argument_begin\|>",
        r"<\|tool_call_end\|>",
    ),
    "kimi-k3": read_members(
        r'<\|open\|>call tool="(.*?)" index="\d+"<\|sep\|>',
        "<|close|>call<|sep|>",
        r'<\|open\|>argument key="(.*?)" type="(.*?)"<\|sep\|>(.*?)<\|close\|>argument<\|sep\|>',
    ),
    "phi4-mini": read_each(r"<\|tool_call\|>", "<|/tool_call|>", "arguments"),
    "granite": read_objects("<|tool_call|>[", "]", "arguments"),
    "nemotron": read_objects("<TOOLCALL>[", "]</TOOLCALL>", "arguments"),
    "command-r7b": read_objects(
        "<|START_ACTION|>[", "]<|END_ACTION|>", "parameters", name="tool_name"
    ),
    "exaone4": read_each("<tool_call>", "</tool_call>", "arguments"),
}
