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
from collections.abc import Callable, Mapping
from typing import Any

from constrain.errors import VocabularyError

__all__ = ["byte_level_bytes", "piece_reader"]

_Step = Callable[[str], str]
_Last = Callable[[str], bytes]


def piece_reader(decoder: Mapping[str, Any] | None, *, source: str = "the tokenizer") -> _Last:
    """Compile a decoder, in the form of a tokenizer.json, for one token at a time.

    Args:
        decoder: The value under `decoder`; None is no decoder.
        source: What is being read, for messages.

    Returns:
        A function from the spelling of a token to its bytes when it continues a text.

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
            steps.append(_replace(part["pattern"]["String"], part["content"]))
        elif kind == "Metaspace":
            steps.append(_replace(part["replacement"], " "))
        elif kind == "WordPiece":
            steps.append(_word_piece(part["prefix"], cleanup=part["cleanup"]))
        else:
            raise _refusal(part, source, "in this place")
    return _chain(steps, last or str.encode)


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


def _chain(steps: list[_Step], last: _Last) -> _Last:
    def read(piece: str) -> bytes:
        for step in steps:
            piece = step(piece)
        return last(piece)

    return read if steps else last


def _replace(old: str, new: str) -> _Step:
    def replace(piece: str) -> str:
        return piece.replace(old, new)

    return replace


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
