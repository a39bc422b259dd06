"""What a `Vocabulary` is given, checked.

Each mistake is a `VocabularyError` that says which argument, where in it, and the way out.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from constrain.errors import VocabularyError
from constrain.vocab.texts import Texts

__all__ = [
    "MAX_TOKEN_BYTES",
    "MAX_TOTAL_BYTES",
    "MAX_VOCAB_SIZE",
    "as_id",
    "check_sizes",
    "checked_ends",
    "checked_specials",
    "checked_texts",
    "checked_width",
    "shown",
]

MAX_VOCAB_SIZE = 1 << 24
"""Logit width. The widest known model has 2^18 + 64; past this it is a mistake or an attack."""
MAX_TOKEN_BYTES = 1 << 16
"""Bytes of one token. Real tokens have up to a few hundred (runs of spaces)."""
MAX_TOTAL_BYTES = 1 << 26
"""Bytes of all tokens together; a trie needs 25 bytes a node. Real vocabularies have 1 to 3 MiB."""


def checked_texts(token_bytes: Sequence[bytes | None]) -> list[bytes | None]:
    """The bytes of each id, in a list of their own."""
    if isinstance(token_bytes, (str, bytes, bytearray)) or not isinstance(token_bytes, Sequence):
        raise VocabularyError(
            f"token_bytes is {_kind(token_bytes)}, expected bytes or None for each id\n"
            "hint: a list whose index is the token id; for a tokenizer use "
            "Vocabulary.from_transformers, from_tiktoken or from_sentencepiece"
        )
    if len(token_bytes) > MAX_VOCAB_SIZE:
        raise VocabularyError(
            f"token_bytes has {len(token_bytes):,} entries, and at most {MAX_VOCAB_SIZE:,} "
            "are allowed"
        )
    texts = list(token_bytes)
    if set(map(type, texts)) <= {bytes, type(None)}:
        return texts
    i, wrong = next((i, t) for i, t in enumerate(texts) if type(t) not in (bytes, type(None)))
    hint = (
        "\nhint: bytes(...) makes them immutable" if isinstance(wrong, (bytes, bytearray)) else ""
    )
    if isinstance(wrong, str):
        hint = (
            "\nhint: text.encode() if these are plain texts; tokenizer files hold an encoded form "
            "instead (Ġ or ▁ for a space), which Vocabulary.from_transformers translates"
        )
    raise VocabularyError(f"token_bytes[{i}] is {_kind(wrong)}, expected bytes or None{hint}")


def checked_width(vocab_size: int) -> int:
    """The width of the logits."""
    width = as_id(vocab_size)
    if width is None:
        raise VocabularyError(f"vocab_size is {_kind(vocab_size)}, expected an integer or None")
    if not 1 <= width <= MAX_VOCAB_SIZE:
        raise VocabularyError(
            f"vocab_size is {width}, expected 1..{MAX_VOCAB_SIZE}\n"
            "hint: it is the width of the model's logits (model.config.vocab_size)"
        )
    return width


def checked_ends(eos_token_ids: Sequence[int], id_range: int) -> tuple[int, ...]:
    """The end tokens, each once, all below `id_range`."""
    if isinstance(eos_token_ids, (str, bytes)) or not isinstance(eos_token_ids, Iterable):
        raise VocabularyError(
            f"eos_token_ids is {_kind(eos_token_ids)}, expected a list of token ids\n"
            f"hint: eos_token_ids=[{eos_token_ids!r}]"
        )
    ends = tuple(dict.fromkeys(_checked_id(i, "eos_token_ids", id_range) for i in eos_token_ids))
    if not ends:
        raise VocabularyError(
            "eos_token_ids is empty: without an end token no generation can stop\n"
            "hint: give every id the decoding loop stops on, such as tokenizer.eos_token_id"
        )
    return ends


def checked_specials(special_tokens: Mapping[str, int], id_range: int) -> dict[str, int]:
    """The special tokens by name, each id with one name, all below `id_range`."""
    if not isinstance(special_tokens, Mapping):
        raise VocabularyError(
            f"special_tokens is {_kind(special_tokens)}, expected a mapping from name to token id"
        )
    specials: dict[str, int] = {}
    names: dict[int, str] = {}
    for name, given in special_tokens.items():
        if not isinstance(name, str) or not name or not _is_text(name):
            raise VocabularyError(
                f"special_tokens has the key {name!r}, expected the name of a token, such as "
                "'<|im_end|>'"
            )
        i = _checked_id(given, f"special_tokens[{name!r}]", id_range)
        if i in names:
            raise VocabularyError(
                f"special_tokens gives id {i} two names, {names[i]!r} and {name!r}\n"
                "hint: keep the one that the grammar uses"
            )
        names[i] = name
        specials[name] = i
    return specials


def _checked_id(given: object, where: str, id_range: int) -> int:
    i = as_id(given)
    if i is None:
        raise VocabularyError(f"{where} has {given!r}, {_kind(given)}; expected a token id")
    if not 0 <= i < id_range:
        raise VocabularyError(
            f"{where} has {i}, which is not an id of this vocabulary: ids are 0..{id_range - 1}\n"
            "hint: append None to token_bytes for a special id, or give vocab_size, the width of "
            "the logits"
        )
    return i


def check_sizes(texts: Texts) -> None:
    """Refuse a token that is too long, and tokens that are too long together."""
    longest = int(texts.lengths.argmax()) if len(texts.lengths) else 0
    if len(texts.lengths) and texts.lengths[longest] > MAX_TOKEN_BYTES:
        raise VocabularyError(
            f"token_bytes[{longest}] has {texts.lengths[longest]:,} bytes, and at most "
            f"{MAX_TOKEN_BYTES:,} are allowed"
        )
    total = texts.num_bytes
    if total > MAX_TOTAL_BYTES:
        raise VocabularyError(
            f"the tokens have {total:,} bytes in all, and at most {MAX_TOTAL_BYTES:,} are allowed"
        )


def as_id(given: object) -> int | None:
    """The integer behind `given` (Python, NumPy or a 0-d tensor), or None."""
    if isinstance(given, (bool, np.bool_)):
        return None
    try:
        return operator.index(given)  # type: ignore[arg-type]
    except TypeError:
        return None


def _is_text(name: str) -> bool:
    """Whether it can be written in UTF-8: no lone surrogates."""
    return not any("\ud800" <= c <= "\udfff" for c in name)


def _kind(value: object) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"


def shown(ids: tuple[int, ...]) -> str:
    """Ids for a message; of many, the first."""
    return str(ids) if len(ids) <= 8 else f"({', '.join(map(str, ids[:8]))}, ... {len(ids)} ids)"
