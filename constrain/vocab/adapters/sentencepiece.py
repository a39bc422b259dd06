"""A `sentencepiece.SentencePieceProcessor`, that is a tokenizer.model: Unigram or BPE."""

from __future__ import annotations

from typing import Any

from constrain.errors import VocabularyError
from constrain.vocab.adapters.table import TokenTable, make_table
from constrain.vocab.vocabulary import EndTokens

__all__ = ["read_sentencepiece", "refuse_denormalizer", "sentencepiece_bytes"]

_SPACE = "▁"  # U+2581


def read_sentencepiece(
    processor: Any,  # noqa: ANN401 - sentencepiece.SentencePieceProcessor
    eos_token_ids: EndTokens | None,
) -> TokenTable:
    """Read every piece by its type.

    Normal and user-defined pieces are their text with U+2581 as a space, byte pieces one byte.
    Control, unknown and unused pieces are never text.

    Raises:
        VocabularyError: No model, no end token, or a denormalizer.
    """
    source = "the SentencePiece model"
    if not hasattr(processor, "id_to_piece") or not hasattr(processor, "is_control"):
        raise VocabularyError(
            "expected a sentencepiece.SentencePieceProcessor, got a value of type "
            f"{type(processor).__name__}\n"
            "hint: SentencePieceProcessor(model_file=path) makes one"
        )
    size = processor.get_piece_size()
    if size == 0:
        raise VocabularyError(
            "the SentencePieceProcessor has no model loaded\n"
            "hint: SentencePieceProcessor(model_file=...)"
        )
    refuse_denormalizer(processor)
    text = {
        i: piece for i in range(size) if (piece := sentencepiece_bytes(processor, i)) is not None
    }
    specials = [i for i in range(size) if processor.is_control(i) or processor.is_unknown(i)]

    def find(name: str) -> int | None:
        i: int = processor.piece_to_id(name)  # the unknown id if there is no such piece
        return i if processor.id_to_piece(i) == name else None

    return make_table(
        text,
        [(processor.id_to_piece(i), i) for i in specials],
        requested=eos_token_ids,
        declared=[("processor.eos_id()", processor.eos_id())],
        find=find,
        name_of=processor.id_to_piece,
        source=source,
    )


def sentencepiece_bytes(processor: Any, i: int) -> bytes | None:  # noqa: ANN401
    """Bytes of piece `i`; None if it is never text."""
    if processor.is_control(i) or processor.is_unknown(i) or processor.is_unused(i):
        return None
    piece: str = processor.id_to_piece(i)
    if processor.is_byte(i):
        return bytes((int(piece[3:5], 16),))  # <0xNN>
    return piece.replace(_SPACE, " ").encode()


def refuse_denormalizer(processor: Any) -> None:  # noqa: ANN401
    """Refuse a model that rewrites decoded text: the text is not the concatenation of its tokens.

    Raises:
        VocabularyError: It has some.
    """
    if _has_denormalizer(processor.serialized_model_proto()):
        raise VocabularyError(
            "the SentencePiece model has a denormalizer: it rewrites text after decoding, so the "
            "text is not the concatenation of its tokens, and no mask can be exact"
        )


def _has_denormalizer(model: bytes) -> bool:
    """Whether a serialised model has such rules.

    They are `ModelProto.denormalizer_spec.precompiled_charsmap`, fields 5 and 2 of
    sentencepiece_model.proto. Walking the top level costs 0.1 s for 256,000 pieces and spares a
    dependency on protobuf.
    """
    return any(
        inner == 2 and rules
        for field, spec in _fields(model)
        if field == 5
        for inner, rules in _fields(spec)
    )


def _fields(message: bytes) -> list[tuple[int, bytes]]:
    """(number, value) of each length-delimited field of a protobuf message, no others."""
    found: list[tuple[int, bytes]] = []
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        wire_type = key & 7
        if wire_type == 0:
            _, at = _varint(message, at)
        elif wire_type in (1, 5):
            at += 8 if wire_type == 1 else 4
        elif wire_type == 2:
            length, at = _varint(message, at)
            found.append((key >> 3, message[at : at + length]))
            at += length
        else:
            raise VocabularyError(
                f"the SentencePiece model is damaged: wire type {wire_type} at byte {at}"
            )
    return found


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
