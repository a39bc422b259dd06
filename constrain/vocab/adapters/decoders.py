r"""The decoder of a `tokenizers` pipeline, as a function from a token's spelling to its bytes.

A decoder is a tree of parts that rewrite a list of token strings. It says what a token means; the
model, the normalizer and the pre-tokenizer only say how text becomes tokens. Here the parts are run
on one token, and refused unless doing so one by one and concatenating is what the decoder does:

- per token, string to string: `Replace` of a fixed string, `Metaspace`, `WordPiece`;
- per token, string to bytes: `ByteLevel`, `ByteFallback`; nothing may look at the text after them;
- `Fuse` joins the tokens; after it only a `Strip` of the start of the whole text is allowed, which
  a token that continues a text never meets.

    >>> read = piece_reader({"type": "Sequence", "decoders": [
    ...     {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
    ...     {"type": "ByteFallback"}, {"type": "Fuse"}]})
    >>> read("▁the"), read("<0xE2>")
    (b' the', b'\xe2')

Source: the decoders of huggingface/tokenizers 0.23, observed; `tests/vocab` compares every token of
real tokenizers with the original.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from constrain.errors import VocabularyError
from constrain.vocab.texts import NEVER_TEXT, Texts

__all__ = ["PieceReader", "byte_level_bytes", "piece_reader"]

_Step = Callable[[str], str]
_Last = Callable[[str], bytes]


@dataclass(frozen=True, slots=True)
class _Replacement:
    """Every occurrence of a fixed string becomes another."""

    old: str
    new: str

    def __call__(self, piece: str) -> str:
        return piece.replace(self.old, self.new)


@dataclass(frozen=True, slots=True)
class PieceReader:
    """What a decoder makes of a token that continues a text.

    Attributes:
        steps: From string to string, in order.
        last: From string to bytes.
    """

    steps: tuple[_Step, ...]
    last: _Last

    def __call__(self, piece: str) -> bytes:
        """The bytes of one token."""
        for step in self.steps:
            piece = step(piece)
        return self.last(piece)

    def read_all(self, pieces: Sequence[str | None]) -> Texts:
        """The bytes of every token; None is never text.

        Cost: for the decoders of nearly all tokenizers a few operations on all tokens at once; else
        one call for each token.
        """
        if self.last is byte_level_bytes and not self.steps:
            return _all_byte_level(pieces)
        found = self._all_replaced(pieces)
        if found is None:
            found = [None if piece is None else self(piece) for piece in pieces]
        return Texts.of(found)

    def _all_replaced(self, pieces: Sequence[str | None]) -> list[bytes | None] | None:
        """The same where each step replaces a fixed string; None where not."""
        if self.last not in (str.encode, _byte_fallback_bytes):
            return None
        joined = _BETWEEN.join([piece or "" for piece in pieces])
        if joined.count(_BETWEEN) != max(len(pieces) - 1, 0):
            return None  # a token has the very character
        for step in self.steps:
            if not isinstance(step, _Replacement) or _BETWEEN in step.old or step.old == "":
                return None
            if _BETWEEN in step.new:
                return None
            joined = step(joined)
        found: list[bytes | None] = list(joined.encode().split(_BETWEEN.encode())) if pieces else []
        if self.last is _byte_fallback_bytes:
            for i, text in enumerate(found):
                if text is not None and len(text) == 6 and text.startswith(b"<0x"):
                    found[i] = _byte_fallback_bytes(text.decode())
        for i, piece in enumerate(pieces):
            if piece is None:
                found[i] = None
        return found


_BETWEEN = "\U0010ffff"
"""Stands between tokens while all are read at once: no character, so hardly any token has it."""


def piece_reader(
    decoder: Mapping[str, Any] | None, *, source: str = "the tokenizer"
) -> PieceReader:
    """Compile a decoder, in the form of a tokenizer.json, for one token at a time.

    Args:
        decoder: The value under `decoder`; None is no decoder.
        source: What is being read, for messages.

    Returns:
        What gives for the spelling of a token its bytes when it continues a text.

    Raises:
        VocabularyError: There is no decoder, or a part of it is not concatenation; the part is
            named.
    """
    if decoder is None:
        raise VocabularyError(
            f"{source} has no decoder, so it doesn't say what text its tokens are\n"
            "hint: set tokenizer.decoder (ByteLevel() for a byte-level vocabulary), or give the "
            "bytes yourself: constrain.Vocabulary(token_bytes, eos_token_ids)"
        )
    steps: list[_Step] = []
    last: _Last | None = None
    fused = False
    for part in _parts(decoder):
        kind = part.get("type")
        if kind == "Fuse":
            fused = True
        elif kind == "Strip" and (fused or last is byte_level_bytes) and not part.get("stop"):
            pass
        elif fused or last is not None:
            raise _refusal(part, source, "after the tokens were joined or turned into bytes")
        elif kind == "ByteLevel":
            last = byte_level_bytes
        elif kind == "ByteFallback":
            last = _byte_fallback_bytes
        elif kind == "Replace" and "String" in part.get("pattern", {}):
            steps.append(_Replacement(part["pattern"]["String"], part["content"]))
        elif kind == "Metaspace":
            steps.append(_Replacement(part["replacement"], " "))
        elif kind == "WordPiece":
            steps.append(_word_piece(part["prefix"], cleanup=part["cleanup"]))
        else:
            raise _refusal(part, source, "in this place")
    return PieceReader(tuple(steps), last or str.encode)


def byte_level_bytes(piece: str) -> bytes:
    """Bytes of a GPT-2 spelling; UTF-8 if it has a character that spells no byte."""
    try:
        return piece.translate(_BYTE_OF_CHARACTER).encode("latin-1")
    except UnicodeEncodeError:
        return piece.encode()


def _parts(decoder: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The leaves of nested sequences, in order; a stack, for the nesting is the user's."""
    leaves: list[Mapping[str, Any]] = []
    stack = [decoder]
    while stack:
        part = stack.pop()
        if part.get("type") == "Sequence":
            stack.extend(reversed(part["decoders"]))
        else:
            leaves.append(part)
    return leaves


def _refusal(part: Mapping[str, Any], source: str, place: str) -> VocabularyError:
    return VocabularyError(
        f"{source} has a decoder with {part.get('type')} {place}: the text is then not the "
        f"concatenation of its tokens, so no mask can be exact ({dict(part)})\n"
        "hint: give the bytes of each token yourself: "
        "constrain.Vocabulary(token_bytes, eos_token_ids)"
    )


_BYTE_PIECE = re.compile(r"<0x[0-9A-Fa-f]{2}>")


def _byte_fallback_bytes(piece: str) -> bytes:
    if _BYTE_PIECE.fullmatch(piece):
        return bytes((int(piece[3:5], 16),))
    return piece.encode()


# In the decoder's order: each is applied to the result of the one before.
_CONTRACTIONS = (
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
)


def _word_piece(prefix: str, *, cleanup: bool) -> _Step:
    def join(piece: str) -> str:
        text = piece[len(prefix) :] if piece.startswith(prefix) else " " + piece
        if cleanup:
            for old, new in _CONTRACTIONS:
                text = text.replace(old, new)
        return text

    return join


def _byte_of_character() -> dict[int, int]:
    """GPT-2's spelling of bytes, inverted, for `str.translate`.

    The printable bytes of Latin-1 spell themselves; the other 68 are U+0100 onwards, in increasing
    order. A character below U+0100 that spells no byte is sent beyond Latin-1, so that encoding it
    fails.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in printable]
    table = dict.fromkeys(others, 0xFFFF)
    table.update({0x100 + n: byte for n, byte in enumerate(others)})
    return table


_BYTE_OF_CHARACTER = _byte_of_character()

_SPELLS_NO_BYTE = 0x100
_BYTE_OF_CODEPOINT = np.full(max(_BYTE_OF_CHARACTER) + 2, _SPELLS_NO_BYTE, np.int16)
_BYTE_OF_CODEPOINT[:0x100] = range(0x100)
for _codepoint, _byte in _BYTE_OF_CHARACTER.items():
    _BYTE_OF_CODEPOINT[_codepoint] = min(_byte, _SPELLS_NO_BYTE)


def _all_byte_level(pieces: Sequence[str | None]) -> Texts:
    """`byte_level_bytes` of every piece at once."""
    never_text = [i for i, piece in enumerate(pieces) if piece is None]
    known: list[Any] = list(pieces)
    for i in never_text:
        known[i] = ""
    codepoints = np.frombuffer("".join(known).encode("utf-32-le"), "<u4")
    last = len(_BYTE_OF_CODEPOINT) - 1
    spelled = _BYTE_OF_CODEPOINT[np.minimum(codepoints, last)]
    lengths = np.fromiter(map(len, known), np.int32, len(known))
    flat = spelled.astype(np.uint8).tobytes()
    odd = np.flatnonzero(spelled == _SPELLS_NO_BYTE)
    if len(odd):
        stops = np.cumsum(lengths)
        parts, at = [], 0
        for i in np.unique(np.searchsorted(stops, odd, side="right")).tolist():
            text = byte_level_bytes(known[i])
            parts += [flat[at : stops[i] - lengths[i]], text]
            at = int(stops[i])
            lengths[i] = len(text)
        flat = b"".join([*parts, flat[at:]])
    lengths[never_text] = NEVER_TEXT
    return Texts.over(flat, lengths)
