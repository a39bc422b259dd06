"""Grammars in which indentation matters: lark's `Indenter`, and its grammar of Python."""

from __future__ import annotations

import bisect
import colorsys
import keyword
from pathlib import Path

import lark
import pytest
from lark.indenter import Indenter, PythonIndenter

from constrain import Grammar
from tests.frontends.lark.agreement import near_misses

TREES = r"""
start: _NL* tree+
tree: NAME _NL [_INDENT tree+ _DEDENT] | LPAR NAME* RPAR _NL
LPAR: "("
RPAR: ")"
_NL: /(\r?\n[\t ]*)+/
%import common.CNAME -> NAME
%import common.WS_INLINE
%declare _INDENT _DEDENT
%ignore WS_INLINE
"""


class TreeIndenter(Indenter):
    NL_type = "_NL"
    OPEN_PAREN_types = ("LPAR",)
    CLOSE_PAREN_types = ("RPAR",)
    INDENT_type = "_INDENT"
    DEDENT_type = "_DEDENT"
    tab_len = 8


TEXTS = [
    "a\n",
    "a\n  b\n  c\n",
    "a\n  b\n c\n",
    "a\n\tb\n        c\n",
    "a\n b\n  c\n d\n",
    "a\n b\n  c\n   d\n   e\nf\n",
    "a\n (x\n y)\n z\n",
    "\n\na\n",
    " \na\n",
    "a\n b\n  c\n\n \n b\n",
    "a\n b\nc\n",
    "a\n b",
    "(\n\n  a b)\n",
]


def lark_accepts(parser, text):
    try:
        parser.parse(text)
    except (lark.exceptions.LarkError, AssertionError, IndexError):
        return False
    return True


@pytest.mark.parametrize("lexer", ["contextual", "basic"])
def test_verdicts_of_indented_texts(lexer):
    theirs = lark.Lark(TREES, parser="lalr", lexer=lexer, postlex=TreeIndenter())
    ours = Grammar.from_lark(TREES, lexer=lexer, postlex=TreeIndenter())
    accepted = 0
    for text in [*TEXTS, *near_misses(TEXTS, 20)]:
        expected = lark_accepts(theirs, text)
        assert ours.accepts(text.encode()) == expected, text
        accepted += expected
        where = ours.first_rejection(text.encode())
        assert where is None or where.complete or where.expected, ("a dead end", text)
    assert accepted > 30


PYTHON = (Path(lark.__file__).parent / "grammars" / "python.lark").read_text()
WRONG = [
    "if a:\nb\n",
    "if a:\n  b\n c\n",
    "def f(:\n  pass\n",
    "x = [1,\n 2\n",
]


def test_python_as_lark_reads_it():
    theirs = lark.Lark(PYTHON, parser="lalr", start="file_input", postlex=PythonIndenter())
    ours = Grammar.from_lark(PYTHON, start="file_input", postlex=PythonIndenter())
    for module in (keyword, colorsys, bisect):
        text = Path(module.__file__).read_text()
        assert lark_accepts(theirs, text)
        assert ours.accepts(text.encode()), module
    for text in WRONG:
        assert not lark_accepts(theirs, text)
        assert not ours.accepts(text.encode()), text
