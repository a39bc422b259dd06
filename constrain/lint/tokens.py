"""What a vocabulary lacks of a grammar: special tokens that it names, bytes that its texts need.

Cost: O(size of the grammar), and what `constrain.compile` costs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from constrain.algebra.terms import ByteClass, Literal, Token
from constrain.errors import VocabularyError
from constrain.frontends.cfg import Expression, Terminal
from constrain.grammar import Grammar
from constrain.lint.findings import Finding, Source
from constrain.lint.outline import Outline, Span, walk
from constrain.lint.shapes import parts_of_term
from constrain.matcher import compile
from constrain.vocab import Vocabulary

__all__ = ["check_compiled", "check_tokens"]

_MOST: Final = 20
"""Findings of one kind; more would say the same."""


def check_tokens(outline: Outline, vocabulary: Vocabulary) -> Iterator[Finding]:
    """Tokens that are named and absent, texts that are tokens, bytes that no token has."""
    spellable = _bytes_of(vocabulary)
    lacking = 0
    for name, body, fallback in _bodies(outline):
        for part in walk(body):
            if not isinstance(part, Terminal):
                continue
            place = outline.places.get(part, fallback)
            yield from _absent(outline.source, part, vocabulary, place)
            yield from _as_text(outline.source, part, vocabulary, place)
            missing = _missing(part, spellable)
            if missing and lacking < _MOST:
                lacking += 1
                yield outline.source.finding(
                    "unspellable",
                    f"no token has {_shown(missing)}, which {name!r} needs here",
                    "take it out, or use a tokenizer with tokens for single bytes",
                    place,
                )


def check_compiled(grammar: Grammar, vocabulary: Vocabulary, source: Source) -> Iterator[Finding]:
    """What `constrain.compile` says of the grammar with this vocabulary."""
    try:
        compile(grammar, vocabulary)
    except VocabularyError as error:
        reason, _, hint = str(error).partition("\nhint: ")
        absent = "has no token" in reason or "names token" in reason
        yield source.finding(
            "absent-token" if absent else "unspellable",
            reason,
            hint or "use another tokenizer, or change the grammar",
        )


def _bodies(outline: Outline) -> Iterator[tuple[str, Expression, Span]]:
    for definition in outline.definitions.values():
        yield definition.name, definition.body, definition.span
    for body, span in outline.ignored:
        yield "%ignore", body, span


def _absent(
    source: Source, part: Terminal, vocabulary: Vocabulary, place: Span
) -> Iterator[Finding]:
    for term in parts_of_term(part.term):
        if not isinstance(term, Token) or term.special:
            continue
        for token in sorted(term.names, key=str):
            try:
                vocabulary.id_of(token)
            except VocabularyError as error:
                reason, _, hint = str(error).partition("\nhint: ")
                yield source.finding(
                    "absent-token",
                    reason,
                    f"{hint}: name one of them, or write the text in quotes"
                    if hint
                    else "write the text in quotes, or use the tokenizer of the model it is for",
                    place,
                )


def _as_text(
    source: Source, part: Terminal, vocabulary: Vocabulary, place: Span
) -> Iterator[Finding]:
    if not isinstance(part.term, Literal):
        return
    text = part.term.text.decode("utf-8", "replace")
    if text in vocabulary.special_tokens:
        written = text if text.startswith("<") else f"<[{vocabulary.special_tokens[text]}]>"
        yield source.finding(
            "token-as-text",
            f"{text!r} in quotes is text, and the vocabulary has a special token of that name, "
            "which this does not allow",
            f"name the token without quotes: {written}",
            place,
        )


def _bytes_of(vocabulary: Vocabulary) -> frozenset[int]:
    """The bytes that stand in some token."""
    if vocabulary.spells_all_text:
        return frozenset(range(256))
    return frozenset(b"".join(text for text in vocabulary.token_bytes if text))


def _missing(part: Terminal, spellable: frozenset[int]) -> bytes:
    """Bytes that every text of a literal, or of a class as a whole, needs and no token has."""
    if len(spellable) == 256:
        return b""
    term = part.term
    if isinstance(term, Literal):
        return bytes(sorted(set(term.text) - spellable))
    if isinstance(term, ByteClass):
        members = {b for b in range(256) if term.mask >> b & 1}
        return bytes(sorted(members)) if not members & spellable else b""
    return b""


def _shown(missing: bytes) -> str:
    shown = [repr(chr(b)) if 0x20 <= b < 0x7F else f"byte 0x{b:02X}" for b in missing[:5]]
    return ", ".join(shown) + (" and others" if len(missing) > 5 else "")
