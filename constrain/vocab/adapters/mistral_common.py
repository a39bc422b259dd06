"""The tokenizers of mistral-common: Tekken (bytes by id) or a SentencePiece model."""

from __future__ import annotations

from typing import Any

from constrain.errors import VocabularyError
from constrain.vocab.adapters.sentencepiece import read_sentencepiece
from constrain.vocab.adapters.table import TokenTable, make_table
from constrain.vocab.vocabulary import EndTokens

__all__ = ["mistral_common_part", "read_mistral_common"]


def mistral_common_part(tokenizer: object) -> Any | None:  # noqa: ANN401
    """The Tekken or SentencePiece tokenizer inside a wrapper of mistral-common or transformers."""
    for _ in range(3):  # MistralCommonBackend.tokenizer.instruct_tokenizer.tokenizer
        if hasattr(tokenizer, "n_words") and hasattr(tokenizer, "is_special"):
            return tokenizer
        inner = getattr(tokenizer, "instruct_tokenizer", None)
        tokenizer = getattr(tokenizer, "tokenizer", None) if inner is None else inner
    return tokenizer if hasattr(tokenizer, "n_words") and hasattr(tokenizer, "is_special") else None


def read_mistral_common(
    tokenizer: Any,  # noqa: ANN401 - a class of mistral_common or a wrapper of one
    eos_token_ids: EndTokens | None,
) -> TokenTable:
    """Read every id.

    Raises:
        VocabularyError: Neither a Tekken nor a SentencePiece tokenizer, or no end token.
    """
    part = mistral_common_part(tokenizer)
    if part is not None and hasattr(part, "id_to_byte_piece"):
        return _read_tekken(part, eos_token_ids)
    processor = getattr(part, "_model", None)  # no public name
    if hasattr(processor, "id_to_piece"):
        return read_sentencepiece(processor, eos_token_ids)
    raise VocabularyError(
        "expected a tokenizer of mistral-common (Tekken or SentencePiece), got a value of type "
        f"{type(tokenizer).__name__}\n"
        "hint: MistralTokenizer.from_file(path) makes one"
    )


def _read_tekken(tekken: Any, eos_token_ids: EndTokens | None) -> TokenTable:  # noqa: ANN401
    special = [i for i in range(tekken.n_words) if tekken.is_special(i)]
    names = {i: tekken.id_to_piece(i) for i in special}
    ids = {name: i for i, name in names.items()}
    return make_table(
        {i: tekken.id_to_byte_piece(i) for i in range(tekken.n_words) if i not in names},
        ids.items(),
        requested=eos_token_ids,
        declared=[("tokenizer.eos_id", tekken.eos_id)],
        find=ids.get,
        name_of=names.get,
        source="the Tekken tokenizer",
    )
