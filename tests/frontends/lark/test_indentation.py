"""Grammars in which indentation matters: lark's `Indenter`, and its grammar of Python."""

from __future__ import annotations

import bisect
import colorsys
import heapq
import keyword
import reprlib
import sched
import stat
import textwrap
from pathlib import Path

import lark
import pytest
from lark.indenter import Indenter, PythonIndenter

import constrain
from constrain import Grammar, UnsupportedFeatureError
from tests.frontends.lark.agreement import near_misses
from tests.vocab.test_real_tokenizers import real

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


def indented_wrong(text: str) -> list[str]:
    """A program in which some line begins one column too far to the right or to the left."""
    lines = text.splitlines(keepends=True)
    found = []
    for at in range(0, len(lines), 9):
        line = lines[at]
        for moved in (" " + line, line[1:] if line.startswith(" ") else "  " + line):
            found.append("".join([*lines[:at], moved, *lines[at + 1 :]]))
    return found


def test_python_with_wrong_indentation():
    theirs = lark.Lark(PYTHON, parser="lalr", start="file_input", postlex=PythonIndenter())
    ours = Grammar.from_lark(PYTHON, start="file_input", postlex=PythonIndenter())
    rejected = 0
    for text in indented_wrong(Path(bisect.__file__).read_text()):
        expected = lark_accepts(theirs, text)
        assert ours.accepts(text.encode()) == expected, text
        rejected += not expected
    assert rejected > 5


def test_a_block_that_must_begin_is_no_dead_end():
    """After the colon and the line, only a deeper line may come: not a comment or a blank line."""
    ours = Grammar.from_lark(PYTHON, start="file_input", postlex=PythonIndenter())
    where = ours.first_rejection(b"if x:\ny")
    assert where is not None
    assert where.offset == len(b"if x:\n")
    where = ours.first_rejection(b"x = #")
    assert where is not None
    assert where.offset == len(b"x = ")


OPEN = """
start: (NAME _NL | NAME _NL _INDENT)+
NAME: /a/
_NL: /(\\n[ ]*)+/
%declare _INDENT _DEDENT
%ignore " "
"""


def test_blocks_that_never_end_are_refused():
    with pytest.raises(UnsupportedFeatureError, match="not closed where they are opened"):
        Grammar.from_lark(OPEN, postlex=TreeIndenter())


def test_python_token_by_token():
    made = real("qwen3")
    vocab = made.vocab
    ours = Grammar.from_lark(PYTHON, start="file_input", postlex=PythonIndenter())
    matcher = constrain.compile(ours, vocab).matcher()
    text = Path(keyword.__file__).read_text()
    bitmask = constrain.allocate_token_bitmask(1, vocab.vocab_size)
    for token in [*made.encode(text), vocab.eos_token_ids[0]]:
        matcher.fill_next_token_bitmask(bitmask)
        word, bit = divmod(token, 32)
        assert (int(bitmask[0, word]) >> bit) & 1, vocab.token_bytes[token]
        assert matcher.accept_token(token)


@pytest.mark.parametrize("module", [bisect, colorsys, heapq, reprlib, sched, stat, textwrap])
def test_long_python_files_token_by_token(module):
    """However long: the matcher leaves an automaton that is full for a fresh one."""
    made = real("qwen3")
    vocab = made.vocab
    limits = constrain.Limits(max_terms=800_000)
    ours = Grammar.from_lark(PYTHON, start="file_input", postlex=PythonIndenter(), limits=limits)
    matcher = constrain.compile(ours, vocab, limits=limits).matcher()
    bitmask = constrain.allocate_token_bitmask(1, vocab.vocab_size)
    tokens = made.encode(Path(module.__file__).read_text())
    for at, token in enumerate(tokens):
        if at in (0, len(tokens) // 2, len(tokens) - 1):
            matcher.fill_next_token_bitmask(bitmask)
            assert int(bitmask[0, token >> 5]) >> (token & 31) & 1, (at, vocab.token_bytes[token])
        assert matcher.accept_token(token), (at, vocab.token_bytes[token])
    assert matcher.is_accepting
