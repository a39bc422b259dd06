"""Every Lark grammar among the shared files: compiled, and with lark's verdicts.

Texts are walks through our own states, which lark must accept, texts one edit away from them, and
what lark's own rules derive.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import lark
import pytest

from constrain import Grammar, GrammarError, UnsatisfiableError
from constrain.algebra.store import DEAD, TermStore
from tests.conftest import SHARED, requires_shared
from tests.frontends.lark.agreement import lark_accepts, near_misses

pytestmark = requires_shared
FILES = SHARED / "data" / "grammars" / "files"
NAMES = sorted(str(path.relative_to(FILES)) for path in FILES.rglob("*.lark"))
SYNCODE = "syncode/syncode/parsers/grammars/"

REFUSED = {
    # name, parser: a part of the reason
    ("llguidance/sample_parser/data/rfc.lark", "lalr"): "Empty terminals are not allowed",
    ("llguidance/sample_parser/data/rfc.lark", "earley"): "Empty terminals are not allowed",
}


def read(name: str) -> tuple[str, dict[str, object]]:
    """The text of a grammar and its options: a start for those that have none."""
    path = FILES / name
    text = path.read_text()
    options: dict[str, object] = {"import_paths": [path.parent, path.parent / "grammars"]}
    rules = re.findall(r"(?m)^[?!]*(_*[a-z]\w*)(?:\.\d+)?\s*:", text)
    if "start" not in rules and rules and "{" not in text:
        options["start"] = "file_input" if "file_input" in rules else rules[0]
    elif "start" not in rules:
        terminals = re.findall(r"(?m)^([A-Z]\w*)(?:\.\d+)?\s*:", text)
        text += "\nstart: " + (" | ".join(terminals) or '"x"') + "\n"
    return text, options


def walks(grammar: Grammar, count: int, seed: int) -> list[str]:
    """Sentences found by going on at random, and then shortly to the end."""
    store = TermStore()
    first = store.intern(grammar.term)
    draw = random.Random(seed)
    found = []
    likely = b" ()abcx01\"'=:;,.{}\n"
    for _ in range(count):
        state, text = first, b""
        for _ in range(40):
            if store.nullable(state) and draw.random() < 0.15:
                break
            bytes_here = [draw.choice(likely) for _ in range(6)]
            bytes_here += draw.sample(range(32, 127), 95)
            for byte in bytes_here:
                after = store.advance(state, bytes([byte]))
                if after != DEAD:
                    state, text = after, text + bytes([byte])
                    break
            else:
                break
        if store.nullable(state):
            found.append(text.decode(errors="replace"))
    return found


def derivations(parser: lark.Lark, start: str, count: int, seed: int) -> list[str]:
    """Texts that lark's rules derive, with one blank or nothing between their terminals."""
    rules: dict[str, list[list[object]]] = {}
    for rule in parser.rules:
        rules.setdefault(rule.origin.name, []).append(list(rule.expansion))
    samples = {t.name: terminal_texts(t) for t in parser.terminals}
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        blank = draw.choice(["", " "])
        parts: list[str] = []
        todo: list[tuple[str, int]] = [(start, 0)]
        while todo and len(parts) < 60:
            name, depth = todo.pop()
            if name in rules:
                options = sorted(rules[name], key=len)
                chosen = options[0] if depth > 12 else draw.choice(options)
                todo += [(symbol.name, depth + 1) for symbol in reversed(chosen)]
            elif samples.get(name):
                parts.append(draw.choice(samples[name]))
        if not todo:
            found.append(blank.join(parts))
    return found


def terminal_texts(terminal: lark.lexer.TerminalDef) -> list[str]:
    if terminal.pattern.type == "str":
        return [terminal.pattern.value]
    tries = [
        "a",
        "x1",
        "1",
        "1.5",
        '"a"',
        "'a'",
        " ",
        "\n",
        ";",
        "0x1",
        "A",
        "ab",
        "a_b",
        "if",
        "//",
    ]
    matches = re.compile(terminal.pattern.to_regexp()).fullmatch
    return [text for text in tries if matches(text)]


@pytest.mark.parametrize("parser", ["lalr", "earley"])
@pytest.mark.parametrize("name", NAMES)
def test_files(name, parser):
    text, options = read(name)
    if (name, parser) in REFUSED:
        with pytest.raises(GrammarError, match=re.escape(REFUSED[name, parser])):
            Grammar.from_lark(text, parser=parser, **options)
        return
    try:
        theirs = lark.Lark(text, parser=parser, **options)
    except lark.exceptions.GrammarError:
        assert parser == "lalr"
        with pytest.raises(GrammarError, match="collision"):
            Grammar.from_lark(text, parser=parser, **options)
        return
    start = str(options.get("start", "start"))
    texts = derivations(theirs, start, 12, 1)
    try:
        ours = Grammar.from_lark(text, parser=parser, **options)
    except UnsatisfiableError:
        assert not any(lark_accepts(theirs, t) for t in [*texts, *near_misses(texts, 1)])
        return
    sentences = walks(ours, 4, 2)
    for sentence in sentences:
        assert lark_accepts(theirs, sentence) in (True, None), sentence
    texts += sentences
    few = texts if len(theirs.rules) < 200 else texts[:12]
    for each in [*few, *near_misses(few, 2)]:
        expected = lark_accepts(theirs, each)
        if expected is not None:
            assert ours.accepts(each.encode()) == expected, each


def test_the_files_are_there():
    assert len(NAMES) >= 35
    assert {Path(name).name for name in NAMES} >= {"python.lark", "go_grammar.lark"}
