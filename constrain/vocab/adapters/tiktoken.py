"""A `tiktoken.Encoding`: it holds bytes already."""

from __future__ import annotations

from typing import Any

from constrain.errors import VocabularyError
from constrain.vocab.adapters.table import TokenTable, make_table
from constrain.vocab.vocabulary import MAX_VOCAB_SIZE, EndTokens

__all__ = ["is_tiktoken", "read_tiktoken", "tiktoken_pieces"]


def is_tiktoken(value: object) -> bool:
    """Whether it answers as an encoding does."""
    return hasattr(value, "decode_single_token_bytes") and hasattr(value, "special_tokens_set")


def read_tiktoken(
    encoding: Any,  # noqa: ANN401 - tiktoken.Encoding
    eos_token_ids: EndTokens | None,
) -> TokenTable:
    """Read every id below `n_vocab`; ids that no token has are never text.

    Raises:
        VocabularyError: Not an encoding, or no end token.
    """
    if not is_tiktoken(encoding):
        raise VocabularyError(
            f"expected a tiktoken.Encoding, got a value of type {type(encoding).__name__}\n"
            "hint: tiktoken.get_encoding(name) makes one"
        )
    text, names = tiktoken_pieces(encoding)

    def find(name: str) -> int | None:
        try:
            found: int = encoding.encode_single_token(name)
        except KeyError:
            return None
        return found

    return make_table(
        text,
        [(name, i) for i, name in names.items()],
        requested=eos_token_ids,
        declared=[("the special token", "<|endoftext|>")],
        find=find,
        name_of=names.get,
        source=f"the encoding {encoding.name!r}",
    )


def tiktoken_pieces(encoding: Any) -> tuple[dict[int, bytes], dict[int, str]]:  # noqa: ANN401
    """Bytes of the text ids, and names of the special ids.

    Raises:
        VocabularyError: `n_vocab` is absurd.
    """
    size = encoding.n_vocab
    if size > MAX_VOCAB_SIZE:
        raise VocabularyError(
            f"the encoding has n_vocab {size:,}, and at most {MAX_VOCAB_SIZE:,} is allowed"
        )
    names: dict[int, str] = {}
    for name in sorted(encoding.special_tokens_set):
        names.setdefault(encoding.encode_single_token(name), name)
    text = {i: t for i in range(size) if i not in names and (t := _bytes(encoding, i)) is not None}
    return text, names


def _bytes(encoding: Any, i: int) -> bytes | None:  # noqa: ANN401 - tiktoken.Encoding
    try:
        text: bytes = encoding.decode_single_token_bytes(i)
    except KeyError:  # a hole
        return None
    return text
