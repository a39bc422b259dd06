"""What llguidance, xgrammar and llama.cpp say of grammars in this dialect, as recorded.

Each verdict is the same here, or the grammar stands below with the reason why it is not.
"""

from __future__ import annotations

import gzip
import json

import pytest

import constrain
from constrain import Grammar, GrammarError, LimitExceededError
from tests.conftest import SHARED, requires_shared

pytestmark = requires_shared
CASES = SHARED / "data" / "grammars" / "cases"

_ESCAPES = "which escapes JSON strings may have is not a knob of JSON styles; refused by name"
_REGEX_ESCAPES = "escapes in strings with a pattern: all or those that JSON needs, not some"
_NAMED = "the grammar that it refers to was not recorded"
_TRAILING = "xgrammar ignores after the last lexeme, llguidance only before one that may come"
_FREE = "xgrammar lets free text end without its stop; llguidance does not"
_CASE = "xgrammar folds ASCII only; llguidance, as Rust's regex, all of Unicode"
_ASSERTIONS = "xgrammar drops lookarounds and anchors; llguidance does not"
_VOCABULARY = "special tokens are looked up when a vocabulary is known, not before"
_MORE = "xgrammar refuses it, and llguidance does not"

DEPARTURES = {
    "llguidance/lark/6d801c088df7": _ESCAPES,
    "llguidance/lark/e293578f2549": _ESCAPES,
    "llguidance/lark/7f1fb02d848b": _REGEX_ESCAPES,
    "llguidance/lark/c8fd49442a62": _REGEX_ESCAPES,
    "llguidance/lark/ea37cfadc685": "escapes in keys that no schema names: only those JSON needs",
    "llguidance/lark/b67bd48cc650": "'if' without 'then' asks for nothing; llguidance refuses it",
    "xgrammar/lark/0f8ef920788b": _TRAILING,
    "xgrammar/lark/127e08cfe1b2": _TRAILING,
    "xgrammar/lark/8037abcb7b2f": _TRAILING,
    "xgrammar/lark/93d9993043b7": _TRAILING,
    "xgrammar/lark/c023a315f51e": _TRAILING,
    "xgrammar/lark/1b54c85d7c8e": "where a lazy and another lexeme match, the lazy one wins",
    "xgrammar/lark/3bedfd588a31": _FREE,
    "xgrammar/lark/7afe6c4b876d": _FREE,
    "xgrammar/lark/e68ecc1751be": _FREE,
    "xgrammar/lark/e9556db9079b": _FREE,
    "xgrammar/lark/8df9b06d0572": _NAMED,
    "xgrammar/lark/c7067060e99c": _NAMED,
    "xgrammar/lark/234f572ed0f5": "a stop with more than 64 texts is refused by name",
    "xgrammar/lark/254a4f84c53e": _CASE,
    "xgrammar/lark/55766e9337f4": _CASE,
    "xgrammar/lark/f2ad04cc3fa3": _CASE,
    "xgrammar/lark/77cec238ee4a": _ASSERTIONS,
    "xgrammar/lark/ff49b02eb7f2": _ASSERTIONS,
    "xgrammar/lark/3135432f52f9": _VOCABULARY,
    "xgrammar/lark/628f3918082a": _VOCABULARY,
    "xgrammar/lark/6bb448ad505b": _VOCABULARY,
    "xgrammar/lark/355ea3334259": _MORE,
    "xgrammar/lark/f6172f26c946": "max_tokens=0 is no text at all, as in llguidance",
    "xgrammar/lark/3a93415e7360": _MORE,
    "xgrammar/lark/3d92bbfb44fc": _MORE,
    "xgrammar/lark/6d83477f7e7f": _MORE,
    "xgrammar/lark/8fb95e50b9f4": _MORE,
    "xgrammar/lark/9979835421a9": _MORE,
    "xgrammar/lark/d03398d00d5b": _MORE,
    "xgrammar/lark/d30e933f00e2": _MORE,
    "xgrammar/lark/d38be9b994f5": _MORE,
}


def read(name, kind):
    with gzip.open(CASES / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [case for case in map(json.loads, lines) if case["kind"] == kind]


def with_others(text, kind, named):
    """A grammar and those that it refers to, in JSON."""
    others = [{"name": name, kind: value} for name, value in named.items()]
    return json.dumps({"grammars": [{"lark_grammar": text}, *others]})


def verdict(grammar, text):
    if "max_tokens" in repr(grammar):
        return verdict_of_bytes(grammar, text.encode())
    where = grammar.first_rejection(text.encode())
    return "accept" if where is None else "prefix" if where.at_end else "reject"


def verdict_of_bytes(grammar, text):
    """Where each byte is a token: a text as such has none that could be counted."""
    vocab = constrain.Vocabulary([*[bytes([b]) for b in range(256)], None], [256])
    matcher = constrain.compile(grammar, vocab).matcher()
    if matcher.validate_tokens(text) < len(text):
        return "reject"
    assert all(map(matcher.accept_token, text))
    return "accept" if matcher.is_accepting else "prefix"


def disagreements(case):
    """What is not as recorded, in words."""
    text = case["grammar"]
    if "named_grammars" in case.get("options", {}):
        text = with_others(text, "lark_grammar", case["options"]["named_grammars"])
    try:
        grammar = Grammar.from_lark(text, dialect="llguidance")
    except (GrammarError, LimitExceededError) as error:
        return [] if "compile_error" in case else [f"refused: {error}"]
    if "compile_error" in case:
        return [f"compiled, but {case['compile_error']}"]
    found = []
    for expected in ("accept", "reject", "prefix"):
        for text in case.get(expected, ()):
            got = verdict(grammar, text)
            # Only llguidance tells a text that is refused from one that ends too early.
            early = expected == "reject" and case["source"] != "llguidance" and got == "prefix"
            if got != expected and not early:
                found.append(f"{text!r} is {got}, not {expected}")
    return found


@pytest.mark.parametrize("engine", ["llguidance", "xgrammar", "llama.cpp"])
def test_verdicts(engine):
    cases = read(engine, "lark")
    wrong = {case["id"]: found for case in cases if (found := disagreements(case))}
    unexplained = {name: found for name, found in wrong.items() if name not in DEPARTURES}
    assert not unexplained
    listed = {name for name in DEPARTURES if name.startswith(engine)}
    assert listed == set(wrong), "a departure that is none any more"


# Traces: forced text, generated tokens, forced text, ... `✖` before what must be masked out.

SKIPPED = {
    "↶": "tokens are taken back",
    "<[^": "all ids but some, of a vocabulary that was not recorded",
}

# Ids of the vocabulary that was recorded with, as the traces tell them.
KNOWN = {"foo": 5431, "long": 5426, "reh": 9000, "zott": 29730}
SPECIAL = {"<|assistant|>": 32001, "<|system|>": 32006, "<|user|>": 32010}
END = 35_000


def grammar_of(case):
    for kind in ("lark", "json_schema"):
        if f"sub_{kind}" in case:
            key = kind if kind == "json_schema" else "lark_grammar"
            return with_others(case["grammar"], key, {"sub": case[f"sub_{kind}"]})
    return case["grammar"]


def steps(trace):
    """(text, whether it is one token, whether it must be masked out) of a trace."""
    for n, part in enumerate(trace):
        if n % 2 == 0:
            for piece in part.split("‧"):
                yield piece, False, False
            continue
        for piece in part.split("‧"):
            text, *banned = piece.split("✖")
            if text:
                yield text, True, False
            for other in banned:
                yield other, True, True


def traces():
    for case in read("llguidance", "lark_trace") if CASES.is_dir() else []:
        text = json.dumps([case["grammar"], case["trace"]], ensure_ascii=False)
        if "prompt" not in case and not any(mark in text for mark in SKIPPED):
            yield pytest.param(case, id=case["id"].rpartition("/")[2])


# A token more than `max_tokens` says, where the rule begins right after text that was forced.
ONE_MORE = {"2595d407fa9b": " a", "2602d52ff077": "2", "688e70737836": "2"}


@pytest.mark.parametrize("case", list(traces()))
def test_traces(case):
    pieces = {p for p, one, _ in steps(case["trace"]) if one and "<[" not in p}
    pieces -= {"≺EOS≻", *SPECIAL, *KNOWN}
    texts = {n: f"⟦{n}⟧".encode() for n in range(END) if n not in SPECIAL.values()}
    texts.update({10_000 + b: bytes([b]) for b in range(256)})
    texts.update({id: text.encode() for text, id in KNOWN.items()})
    texts.update({11_000 + n: p.encode() for n, p in enumerate(sorted(pieces)) if len(p) > 1})
    vocab = constrain.Vocabulary(
        [*[texts.get(n) for n in range(END)], None], [END], special_tokens=SPECIAL
    )
    ids = {text.decode(errors="replace"): n for n, text in texts.items()} | SPECIAL
    ids["≺EOS≻"] = END
    grammar = Grammar.from_lark(grammar_of(case), dialect="llguidance")
    matcher = constrain.compile(grammar, vocab).matcher()
    seen = 0
    for piece, one, banned in steps(case["trace"]):
        named = piece in SPECIAL or piece.startswith("<[")
        if not one and not named and matcher.accept_bytes(piece.encode()):
            continue  # forced text
        token = int(piece[2:-2]) if piece.startswith("<[") else ids[piece]
        seen += 1
        taken = matcher.fork().accept_token(token)
        if not taken and ONE_MORE.get(case["id"].rpartition("/")[2]) == piece:
            return
        assert taken != banned, (piece, seen)
        if not banned:
            matcher.accept_token(token)
    assert seen or case["trace"][0]
    assert case["id"].rpartition("/")[2] not in ONE_MORE, "a departure that is none any more"
