"""Whatever the text is, `lint` returns findings, in time that grows with its length."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constrain.lint import CODES, KINDS, lint

N = 2_000
HOSTILE = {
    "gbnf": [
        "",
        "\0",
        "\ud800",
        "root ::= " + "(" * 60_000,
        "root ::= " + "(" * 1_900 + '"a"' + "*)" * 1_900,
        'root ::= "' + "a" * 200_000 + '"',
        "root ::= r0\n"
        + "".join([f'r{i} ::= r{i + 1} "a" | "b"\n' for i in range(N)])
        + 'r0 ::= ""',
        "root ::= r0\n" + "".join([f"r{i} ::= r{(i + 1) % N}\n" for i in range(N)]),
        'root ::= "x"\n' + "".join([f'r{i} ::= "a"\n' for i in range(N)]),
        "root ::= " + " ".join([f"r{i}" for i in range(N)]),
        "root ::= " + " | ".join(['"a"'] * N),
    ],
    "lark": [
        "",
        "\0",
        "\ud800",
        'start: "\ud800"',
        "start: " + "(" * 20_000,
        "\\" * 20_000,
        '"' * 20_000,
        "/a" * 20_000,
        "start: " + "a{" * 20_000,
        "%import",
        "%ignore",
        "%ignore | ~ .. -> { } [ ]",
        "R:[..",
        'R: "a"..',
        "start: ~3 ..4 -> * + ?",
        "start{a,b}: start{start{a,b},b}",
        "start: A\nA: A",
        "start: %json {\n",
        "start: <|a|> <[1,2]> & ~ {3}",
    ],
    "regex": [
        "",
        "\0",
        "\ud800",
        "(" * 60_000,
        "(" * 1_900 + "a" + "*)" * 1_900,
        "a*" * N,
        "a{1}{2}{,3}",
        "[[:alpha:]]",
        "[",
        "\\",
        "(?x) # a",
        "(?:(?i:a)(?#b)(?P<n>c)(?P=n))",
    ],
    "json": [
        "",
        "\0",
        '"\ud800"',
        "[" * 60_000,
        '{"items":' * 900 + "{}" + "}" * 900,
        '{"$defs": {"a": 1}}',
        "1",
        "true",
        '{"$defs": [], "type": ["string", 3]}',
        '{"$ref": "#/$defs/a~2%zz", "$defs": {"": {}}}',
    ],
}
CASES = [(kind, text) for kind, texts in HOSTILE.items() for text in texts]


def _check(kind: str, text: str) -> None:
    if kind == "lark":
        pytest.importorskip("lark")
    for finding in lint(text, kind=kind):
        assert finding.code in CODES
        assert len(finding.message) + len(finding.advice) + len(finding.excerpt) < 2_000
        if finding.span is not None:
            start, end = finding.span
            assert 0 <= start <= end <= len(text)
            assert text.count("\n", 0, start) == finding.line - 1
            assert start - (text.rfind("\n", 0, start) + 1) == finding.column - 1


@pytest.mark.parametrize(
    ("kind", "text"), CASES, ids=[f"{k}-{i}" for i, (k, _) in enumerate(CASES)]
)
def test_hostile_texts(kind, text):
    _check(kind, text)


PIECES = st.sampled_from(
    [
        *'ab:|()[]{}*+?~."/\\<>&!,-%#01 \n',
        *["root ::= ", "start: ", "A: ", '"a"', "->", "..", "/a+/", "%ignore "],
        *["%import common.WS\n", '{"type": "string"}', "::=", "(?i)", "[^a]", "{2,3}"],
    ]
)


@settings(max_examples=200)
@given(st.sampled_from(KINDS), st.lists(PIECES, max_size=25).map("".join))
def test_scrambled_texts(kind, text):
    _check(kind, text)
