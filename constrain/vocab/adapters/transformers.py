"""A tokenizer of `transformers`: what it is made of, and what it declares."""

from __future__ import annotations

from typing import Any

from constrain.errors import VocabularyError
from constrain.vocab.adapters.end_tokens import Declared
from constrain.vocab.adapters.mistral_common import mistral_common_part, read_mistral_common
from constrain.vocab.adapters.sentencepiece import refuse_denormalizer, sentencepiece_bytes
from constrain.vocab.adapters.table import TokenTable, make_table
from constrain.vocab.adapters.tiktoken import is_tiktoken, tiktoken_pieces
from constrain.vocab.adapters.tokenizers import read_tokenizers
from constrain.vocab.vocabulary import EndTokens

__all__ = ["read_transformers"]


def read_transformers(
    tokenizer: Any,  # noqa: ANN401 - any tokenizer class of transformers
    eos_token_ids: EndTokens | None,
) -> TokenTable:
    """Read whatever backs the tokenizer.

    A model of `tokenizers` is read through its decoder. A slow tokenizer over a SentencePiece model
    gives each id the bytes that SentencePiece gives its piece, whatever the class does when it
    decodes (transformers 5 strips, and writes byte pieces as `<0x0A>`).

    Raises:
        VocabularyError: Nothing readable backs it, no end token, or bytes that cannot be told
            exactly.
    """
    source = f"the tokenizer ({type(tokenizer).__name__})"
    if (backend := _backend(tokenizer)) is not None:
        return read_tokenizers(
            backend,
            eos_token_ids,
            declared=_declared_ends(tokenizer),
            reserved_ids=_special_ids(tokenizer),
            source=source,
        )
    if mistral_common_part(tokenizer) is not None:
        return read_mistral_common(tokenizer, eos_token_ids)
    processor = getattr(tokenizer, "sp_model", None)
    if hasattr(processor, "id_to_piece"):
        return _read_slow_sentencepiece(tokenizer, processor, eos_token_ids, source)
    for name in ("tokenizer", "model", "encoder"):  # Qwen 1 and ChatGLM 4, Kimi, others
        if is_tiktoken(encoding := getattr(tokenizer, name, None)):
            return _slow_table(tokenizer, *tiktoken_pieces(encoding), eos_token_ids, source)
    raise VocabularyError(
        f"{source} holds neither a tokenizers backend, a SentencePiece model (sp_model) nor a "
        "tiktoken encoding, so the bytes of its tokens are not known\n"
        "hint: AutoTokenizer.from_pretrained(..., use_fast=True); processor.tokenizer for a "
        "multimodal processor; or give the bytes of each token yourself: "
        "constrain.Vocabulary(token_bytes, eos_token_ids)"
    )


def _backend(tokenizer: Any) -> Any | None:  # noqa: ANN401
    """The `tokenizers.Tokenizer` of a fast tokenizer."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    return backend if hasattr(backend, "get_added_tokens_decoder") else None


def _declared_ends(tokenizer: Any) -> Declared:  # noqa: ANN401
    """Where a tokenizer may say what ends a text.

    The name comes first: for a name that isn't a token `eos_token_id` may be the unknown id.
    """
    named = getattr(tokenizer, "special_tokens_map", None) or {}
    initial = getattr(tokenizer, "init_kwargs", None) or {}
    name = named.get("eos_token")
    declared = [
        ("special_tokens_map['eos_token']", name),
        ("init_kwargs['eos_token']", initial.get("eos_token")),
        ("eos_token", getattr(tokenizer, "eos_token", None)),
    ]
    if all(value is None for _, value in declared):
        declared.append(("eos_token_id", getattr(tokenizer, "eos_token_id", None)))
    return declared


def _special_ids(tokenizer: Any) -> list[int]:  # noqa: ANN401
    return [i for i in getattr(tokenizer, "all_special_ids", ()) or () if isinstance(i, int)]


def _read_slow_sentencepiece(
    tokenizer: Any,  # noqa: ANN401
    processor: Any,  # noqa: ANN401
    eos_token_ids: EndTokens | None,
    source: str,
) -> TokenTable:
    """Ids may be shifted against the model's (XLM-R, mBART), so they are matched by piece."""
    refuse_denormalizer(processor)
    text: dict[int, bytes] = {}
    names: dict[int, str] = {}
    added = getattr(tokenizer, "added_tokens_decoder", None) or {}
    for i in range(len(tokenizer)):
        if i in added:
            continue
        try:
            piece = tokenizer.convert_ids_to_tokens(i)
        except IndexError:  # a hole between the pieces and the added tokens
            continue
        inner = processor.piece_to_id(piece)
        if processor.id_to_piece(inner) != piece:
            raise VocabularyError(
                f"{source} has the token {piece!r} (id {i}), which is neither an added token nor a "
                "piece of its SentencePiece model, so its bytes are not known"
            )
        known = sentencepiece_bytes(processor, inner)
        if known is not None:
            text[i] = known
        elif not processor.is_unused(inner):
            names[i] = piece
    return _slow_table(tokenizer, text, names, eos_token_ids, source)


def _slow_table(
    tokenizer: Any,  # noqa: ANN401
    text: dict[int, bytes],
    names: dict[int, str],
    eos_token_ids: EndTokens | None,
    source: str,
) -> TokenTable:
    """Lay the added tokens of a slow tokenizer over its model's; their text is their content."""
    added = getattr(tokenizer, "added_tokens_decoder", None) or {}
    text = text | {i: token.content.encode() for i, token in added.items()}
    spelling = {i: token.content for i, token in added.items()}
    special = [i for i, token in added.items() if token.special]
    special += _special_ids(tokenizer)
    for i, name in names.items():
        spelling.setdefault(i, name)
        special.append(i)
    ids: dict[str, int] = {}
    for i, name in spelling.items():
        ids.setdefault(name, i)
    return make_table(
        text,
        [(spelling.get(i) or tokenizer.convert_ids_to_tokens(i), i) for i in special],
        requested=eos_token_ids,
        declared=_declared_ends(tokenizer),
        find=ids.get,
        name_of=spelling.get,
        source=source,
    )
