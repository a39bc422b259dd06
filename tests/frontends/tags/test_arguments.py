"""Arguments in styles that are not JSON: which texts, beside what the schema says of the values."""

from __future__ import annotations

import itertools
import json

import jsonschema
import pytest

import constrain
from constrain import Grammar, GrammarError, UnsupportedFeatureError
from constrain.frontends.tags.argument_styles import PARAMETERS, PYTHON, ArgumentStyle
from constrain.frontends.tags.arguments import arguments, json_object
from tests.frontends.tags.families import N, gemma, minimax_m3, python, raw


def member(template, types=None):
    def write(values):
        out = ""
        for key, value in values.items():
            kind = (types or {}).get(kind_of(value), "")
            text = raw(value)
            out += template.replace("KEY", key).replace("TYPE", kind).replace("VALUE", text)
        return out

    return write


def kind_of(value):
    if isinstance(value, bool):
        return "boolean"
    return {str: "string", int: "number", float: "number", list: "array", dict: "object"}.get(
        type(value), "null"
    )


def cohere(values):
    def one(value):
        types = {"string": "raw", "array": "list", "object": "dict"}
        if isinstance(value, dict):
            inside = "".join([entry(v, f' name="{k}"') for k, v in value.items()])
        elif isinstance(value, list):
            inside = "".join([entry(v, "") for v in value])
        else:
            inside = raw(value)
        return types.get(kind_of(value), "json"), inside

    def entry(value, name):
        kind, inside = one(value)
        return f'<cofl:value{name} type="{kind}">{inside}</cofl:value>'

    return "".join([entry(v, f' name="{k}"') for k, v in values.items()])


TRUTH = dict.fromkeys(["number", "boolean", "null", "array", "object"], "false") | {
    "string": "true"
}
SAME = {k: k for k in TRUTH}
WRITE = {
    "qwen_xml": member("<parameter=KEY>VALUE</parameter>"),
    "minimax_xml": member('<parameter name="KEY">VALUE</parameter>'),
    "deepseek_xml": member(
        '<｜DSML｜parameter name="KEY" string="TYPE">VALUE</｜DSML｜parameter>', TRUTH
    ),
    "deepseek_v4_1_xml": member(
        '<｜DSML｜ parameter name="KEY" string="TYPE">VALUE</｜DSML｜ parameter>', TRUTH
    ),
    "glm_xml": member("<arg_key>KEY</arg_key><arg_value>VALUE</arg_value>"),
    "kimi_k3_xml": member(
        '<|open|>argument key="KEY" type="TYPE"<|sep|>VALUE<|close|>argument<|sep|>', SAME
    ),
    "cohere_xml": cohere,
    "minimax_m3_xml": minimax_m3,
    "gemma": lambda values: gemma(values, '<|"|>'),
    "python": lambda values: python("", values),
}
STYLES = {**PARAMETERS, "python": PYTHON}


def test_every_style_has_a_writer():
    assert set(WRITE) == set(STYLES)


SCHEMAS = [
    {"properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}}},
    {"properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False},
    {"properties": {"a": {"enum": ["x", 1, None]}, "b": {"const": True}}, "required": ["b"]},
    {"additionalProperties": {"type": ["integer", "null"]}, "maxProperties": 1},
    {"patternProperties": {"^a": {"type": "array", "items": {"type": "boolean"}, "minItems": 1}}},
    {"required": ["a"], "properties": {"a": {"type": "object", "required": ["x"]}}},
    {"minProperties": 2, "dependentRequired": {"b": ["a"]}},
    {"anyOf": [{"required": ["a"]}, {"properties": {"b": {"type": "null"}}, "required": ["b"]}]},
    {"not": {"required": ["a"]}, "propertyNames": {"maxLength": 1}},
    {"properties": {"a": {"$ref": "#"}, "b": {"type": "integer"}}, "additionalProperties": False},
    {"properties": {"a": {"type": "array", "prefixItems": [{"const": 1}], "items": False}}},
]
VALUES = [1, True, None, [True], [1], {"x": 1}, {"a": {"b": 1}}, 2.5]
OBJECTS = [{}, *[{k: v} for k in ("a", "b", "ab") for v in VALUES]]
OBJECTS += [{"a": v, "b": w} for v, w in itertools.product(VALUES, VALUES)]


@pytest.mark.parametrize("name", STYLES)
@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_what_is_valid_is_accepted_and_nothing_else(name, schema):
    schema = {"type": "object", **schema}
    valid = jsonschema.Draft202012Validator(schema).is_valid
    grammar = Grammar(arguments(schema, STYLES[name], property_order="any"), "test")
    wrong = [v for v in OBJECTS if grammar.accepts(WRITE[name](v).encode()) != valid(v)]
    if name == "minimax_m3_xml":  # with any type, what is written for `true` may be a string
        wrong = [v for v in wrong if not grammar.accepts(WRITE[name](v).encode())]
    texts_too = name in ("qwen_xml", "minimax_xml", "glm_xml")
    if texts_too:  # so here, where a value may be a string
        wrong = [v for v in wrong if not accepted_as_text(v, valid)]
    assert wrong == []


def accepted_as_text(value, valid):
    """Whether it is valid with some of its values as strings."""
    keys = list(value)
    return any(
        valid({k: raw(v) if k in some else v for k, v in value.items()})
        for n in range(len(keys) + 1)
        for some in itertools.combinations(keys, n)
    )


@pytest.mark.parametrize("name", STYLES)
def test_strings_are_written_as_they_are(name):
    schema = {"properties": {"a": {"type": "string", "maxLength": 9}}, "required": ["a"]}
    grammar = Grammar(arguments(schema | {"additionalProperties": False}, STYLES[name]), "test")
    for text in ("", "é", "<\"&'>", "\n a\n", "1", "null", "]<]", "</", "\\n"):
        assert grammar.accepts(WRITE[name]({"a": text}).encode()), text
    assert not grammar.accepts(WRITE[name]({"a": "0123456789"}).encode())
    assert not grammar.accepts(WRITE[name]({}).encode())
    assert not grammar.accepts(WRITE[name]({"a": "x", "b": "y"}).encode())
    if name != "python":
        inside = WRITE[name]({"a": "MARK"}).replace("MARK", f"x{STYLES[name].mark}")
        assert not grammar.accepts(inside.encode())


@pytest.mark.parametrize("name", [n for n in STYLES if STYLES[n].nested == "json"])
def test_no_json_inside_holds_what_ends_a_value(name):
    mark = STYLES[name].mark
    unique = {"properties": {"a": {"type": "array", "uniqueItems": True}}, "required": ["a"]}
    for style in ("any", "canonical"):
        grammar = Grammar(arguments(unique, STYLES[name], style=style), "test")
        text = WRITE[name]({"a": ["x", "MARK"]})
        assert grammar.accepts(text.encode())
        assert not grammar.accepts(text.replace("MARK", mark).encode())
    schema = {"properties": {"a": {"type": ["array", "object"]}}, "required": ["a"]}
    grammar = Grammar(arguments(schema, STYLES[name]), "test")
    for value in (["MARK"], {"k": "MARK"}, {"MARK": 1}, [[{"a": "xMARK"}]]):
        text = WRITE[name]({"a": value})
        assert grammar.accepts(text.replace("MARK", "<").encode())
        assert not grammar.accepts(text.replace("MARK", mark).encode())


def test_whitespace_around_arguments():
    schema = {"properties": {"a": {"type": "integer"}, "b": {"enum": ["x"]}}, "required": ["a"]}
    dense = "<parameter=a>1</parameter><parameter=b>x</parameter>"
    airy = "\n<parameter=a>\n 1\n</parameter>\n\t<parameter=b>\nx\n</parameter>\n"
    wide = dense.replace("><", f">{' ' * 25}<")
    spaced = dense.replace("x", " x")

    def verdicts(**options):
        tag = {"type": "json_schema", "json_schema": schema, "style": "qwen_xml"}
        grammar = Grammar.from_structural_tag(tag | options.pop("fields", {}), **options)
        return [grammar.accepts(text.encode()) for text in (dense, airy, wide, spaced)]

    assert verdicts() == [True, True, False, False]
    assert verdicts(style="compact") == [True, False, False, False]
    assert verdicts(style="any") == [True, True, True, False]
    assert verdicts(fields={"max_whitespace_cnt": 25}) == [True, True, True, False]
    assert verdicts(fields={"max_whitespace_cnt": 0}) == [True, False, False, False]


def test_the_older_name_of_a_style():
    schema = {"properties": {"a": {"type": "integer"}}, "required": ["a"]}
    grammar = Grammar.from_structural_tag({"type": "qwen_xml_parameter", "json_schema": schema})
    assert grammar.accepts(b"<parameter=a>1</parameter>")
    assert not grammar.accepts(b"<parameter=a>x</parameter>")


def test_texts_kept_out_of_json():
    schema = {
        "properties": {"a": {"enum": ["x", "yz"]}},
        "additionalProperties": {"type": "string"},
    }
    tag = {"type": "json_schema", "json_schema": schema, "excludes": ["z", "<"]}
    grammar = Grammar.from_structural_tag(tag)
    texts = ['{"a": "x"}', '{"a": "yz"}', '{"b": "<"}', '{"b": "q"}', '{"z": "q"}', "{}"]
    assert [grammar.accepts(t.encode()) for t in texts] == [True, False, False, True, False, True]


def test_recursion_closes():
    schema = {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"$ref": "#/$defs/node"}},
                "additionalProperties": False,
            }
        },
    }
    for name in ("cohere_xml", "minimax_m3_xml", "gemma", "python", "qwen_xml"):
        grammar = Grammar(arguments(schema, STYLES[name]), "test")
        value = {"a": "x"}
        for _ in range(40):
            value = {"a": "y", "b": value}
        assert grammar.accepts(WRITE[name](value).encode())


def test_items_of_a_style_that_writes_each_by_itself():
    counted = {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3}
    prefixed = {"type": "array", "prefixItems": [{"const": 1}, False], "items": {"const": 2}}
    pairs = {"type": "array", "prefixItems": [{"const": 1}], "items": {"const": 2}, "minItems": 2}
    for name in ("cohere_xml", "minimax_m3_xml"):
        for inner in (counted, prefixed, pairs):
            schema = {"properties": {"a": inner}, "required": ["a"]}
            grammar = Grammar(arguments(schema, STYLES[name]), "test")
            valid = jsonschema.Draft202012Validator(schema).is_valid
            for n in range(5):
                for items in itertools.product((1, 2), repeat=n):
                    value = {"a": list(items)}
                    assert grammar.accepts(WRITE[name](value).encode()) == valid(value), value
    assert WRITE["minimax_m3_xml"]({"a": [1]}) == f"{N}<a>{N}<item>1{N}</item>{N}</a>"


def test_objects_only():
    grammar = Grammar(json_object({"type": ["object", "null"], "maxProperties": 0}), "test")
    assert [grammar.accepts(t) for t in (b"{}", b"null", b'{"a": 1}')] == [True, False, False]


NO_WAY = UnsupportedFeatureError


def test_keys_that_cannot_be_written_are_left_out():
    schema = {"patternProperties": {"^[<a]$": {"const": 1}}, "additionalProperties": False}
    grammar = Grammar(arguments(schema, PARAMETERS["qwen_xml"]), "test")
    texts = ["", "<parameter=a>1</parameter>", "<parameter=<>1</parameter>"]
    assert [grammar.accepts(t.encode()) for t in texts] == [True, True, False]


@pytest.mark.parametrize(
    ("schema", "kind", "match"),
    [
        ({"type": "string"}, constrain.UnsatisfiableError, r"`type` \(string\) at #"),
        ({"type": "objet"}, constrain.SchemaError, "#/type"),
        ({"required": ["a"], "properties": {"a": False}}, constrain.UnsatisfiableError, "required"),
        ({"properties": {"a\n": {}}}, UnsupportedFeatureError, r"'a\\n'"),
        ({"properties": {"a": {"const": "</parameter>"}}}, UnsupportedFeatureError, "no escapes"),
        (
            {"properties": {"a": {"pattern": "^</parameter>$", "type": "string"}}},
            UnsupportedFeatureError,
            "every text",
        ),
        ({"patternProperties": {"^<$": {}}, "additionalProperties": False}, NO_WAY, "no way to"),
        (
            {
                "patternProperties": {"^[<a]$": {}},
                "additionalProperties": False,
                "minProperties": 2,
            },
            NO_WAY,
            "no way to write",
        ),
        (
            {"properties": {"a": {"uniqueItems": True, "items": {"enum": ["a", "</parameter>"]}}}},
            NO_WAY,
            "'</parameter>' has",
        ),
        (
            {"properties": {"a": {"properties": {"</parameter>": {"const": 1}}}}},
            UnsupportedFeatureError,
            "property named",
        ),
    ],
)
def test_what_is_refused(schema, kind, match):
    with pytest.raises(kind, match=match):
        arguments(schema, PARAMETERS["qwen_xml"])


def test_items_that_cannot_be_compared_are_refused():
    unique = {"properties": {"a": {"type": "array", "uniqueItems": True}}}
    some = {"properties": {"a": {"type": "array", "contains": {"const": 1}}}}
    for name in ("gemma", "python", "cohere_xml"):
        with pytest.raises(UnsupportedFeatureError, match="uniqueItems"):
            arguments(unique, STYLES[name])
    with pytest.raises(UnsupportedFeatureError, match="contains"):
        arguments(some, STYLES["cohere_xml"])
    grammar = Grammar(arguments(unique, STYLES["glm_xml"]), "test")
    texts = [f"<arg_key>a</arg_key><arg_value>{v}</arg_value>" for v in ("[1, 2]", "[1, 1]")]
    assert [grammar.accepts(t.encode()) for t in texts] == [True, False]


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({"member": "$VALUE=$KEY;"}, r"\$KEY, perhaps \$TYPE"),
        ({"member": "$KEY=$VALUE;"}, "before each key"),
        ({"member": "<$KEY>$VALUE"}, "must end a string"),
        ({"member": "<$KEY>$VALUE<<"}, "two places"),
        ({"member": "<$KEY>$VALUE<", "types": {}}, "each of string"),
        ({"member": "<$KEY>$VALUE<", "string": "x"}, "a string has"),
        ({"member": "<$KEY>$VALUE<", "item": "x"}, "an item has"),
        ({"member": "<$KEY>$VALUE<", "nested": "xml"}, "'same'"),
    ],
)
def test_styles_that_do_not_fit_together(fields, match):
    with pytest.raises(GrammarError, match=match):
        ArgumentStyle(**fields)
