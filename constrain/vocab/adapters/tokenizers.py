"""A `tokenizers.Tokenizer`, that is a tokenizer.json: any model, read through its decoder."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from constrain.errors import VocabularyError
from constrain.vocab.adapters.decoders import piece_reader
from constrain.vocab.adapters.end_tokens import Declared
from constrain.vocab.adapters.table import TokenTable, check_id, make_table
from constrain.vocab.vocabulary import EndTokens

__all__ = ["read_tokenizers"]


def read_tokenizers(
    tokenizer: Any,  # noqa: ANN401 - tokenizers.Tokenizer
    eos_token_ids: EndTokens | None,
    *,
    declared: Declared = (),
    reserved_ids: Iterable[int] = (),
    source: str = "the tokenizer",
) -> TokenTable:
    """Read every id of the model and every added token.

    Args:
        tokenizer: A `tokenizers.Tokenizer`.
        eos_token_ids: End tokens as the caller gave them, or None.
        declared: End tokens as the one that wraps this tokenizer declares them.
        reserved_ids: Ids used as padding, separator or the like; never text if they are added
            tokens.
        source: What is being read, for messages.

    Raises:
        VocabularyError: The bytes of a token cannot be told exactly, or there is no end token.
    """
    if not hasattr(tokenizer, "get_added_tokens_decoder") or not hasattr(tokenizer, "model"):
        raise VocabularyError(
            f"expected a tokenizers.Tokenizer, got a value of type {type(tokenizer).__name__}\n"
            "hint: tokenizers.Tokenizer.from_file(path) makes one; from_transformers takes the "
            "tokenizers of transformers"
        )
    read = piece_reader(_state(tokenizer.decoder, "decoder", source), source=source)
    _check_pipeline(tokenizer, source)
    spelling = _spellings(tokenizer, source)
    added = tokenizer.get_added_tokens_decoder()
    highest = max(added, default=-1)
    check_id(highest, source)
    spelling += [None] * (highest + 1 - len(spelling))
    names = spelling.copy()
    for i, token in added.items():
        # A normalizer may have changed what stands for it in a text, and the decoder writes that.
        spelling[i] = tokenizer.id_to_token(i)
        names[i] = token.content

    unknown = _unknown_id(tokenizer)
    never_text = {i for i, token in added.items() if token.special}
    never_text.update(i for i in reserved_ids if i in added)
    if unknown is not None:
        never_text.add(unknown)
    specials = [(name, i) for i in sorted(never_text) if (name := _at(names, i))]
    for i in never_text:
        if i < len(spelling):
            spelling[i] = None
    return make_table(
        read.read_all(spelling),
        specials,
        requested=eos_token_ids,
        declared=declared,
        find=tokenizer.token_to_id,
        name_of=lambda i: _at(names, i),
        source=source,
    )


def _at(names: list[str | None], i: int) -> str | None:
    return names[i] if i < len(names) else None


def _spellings(
    tokenizer: Any,  # noqa: ANN401 - tokenizers.Tokenizer
    source: str,
) -> list[str | None]:
    """The model's own spelling of every id; None where an id is left out.

    Ids are asked for one by one: a dictionary by string takes longer, and loses some (Unigram
    models may hold one piece twice). As long as no id is left out there are as many as the model
    has; else the dictionary tells the highest.
    """
    spelling_of = tokenizer.model.id_to_token
    spelling = list(map(spelling_of, range(tokenizer.get_vocab_size(with_added_tokens=False))))
    if None in spelling:
        highest = max(tokenizer.get_vocab(with_added_tokens=False).values(), default=-1)
        check_id(highest, source)
        spelling += map(spelling_of, range(len(spelling), highest + 1))
    return spelling


def _unknown_id(tokenizer: Any) -> int | None:  # noqa: ANN401 - tokenizers.Tokenizer
    """The id that stands for what the model cannot spell."""
    if _kind(tokenizer.model) == "Unigram":
        state = _state(tokenizer.model, "model", "the tokenizer")
        unknown: int | None = state["unk_id"] if state else None
        return unknown
    token = getattr(tokenizer.model, "unk_token", None)
    return None if not token else tokenizer.model.token_to_id(token)


def _check_pipeline(tokenizer: Any, source: str) -> None:  # noqa: ANN401 - tokenizers.Tokenizer
    """Refuse a model whose spelling the decoder leaves in the text: they don't belong together."""
    model = tokenizer.model
    decoder = _types(_state(tokenizer.decoder, "decoder", source))
    encoders = _types(_state(tokenizer.pre_tokenizer, "pre_tokenizer", source))
    encoders |= _types(_state(tokenizer.normalizer, "normalizer", source))
    if "ByteLevel" in encoders and "ByteLevel" not in decoder:
        _refuse("a ByteLevel pre-tokenizer but no ByteLevel decoder", source)
    if getattr(model, "byte_fallback", False) and "ByteFallback" not in decoder:
        _refuse("a model with byte_fallback but no ByteFallback decoder", source)
    if getattr(model, "end_of_word_suffix", None):
        _refuse(f"a model with end_of_word_suffix {model.end_of_word_suffix!r}", source)
    if getattr(model, "continuing_subword_prefix", None) and "WordPiece" not in decoder:
        _refuse("a model with continuing_subword_prefix but no WordPiece decoder", source)


def _refuse(what: str, source: str) -> None:
    raise VocabularyError(
        f"{source} has {what}: the text is then not the concatenation of its tokens\n"
        "hint: set the matching tokenizer.decoder, or give the bytes of each token yourself: "
        "constrain.Vocabulary(token_bytes, eos_token_ids)"
    )


def _state(part: Any, name: str, source: str) -> dict[str, Any] | None:  # noqa: ANN401
    """A part of the pipeline in the form it has in a tokenizer.json; None if there is none."""
    if part is None:
        return None
    try:
        # What pickle calls; Tokenizer.to_str() has the same text among megabytes of merges.
        state: dict[str, Any] = json.loads(part.__getstate__())
    except Exception as error:  # tokenizers raises bare Exception for a part written in Python
        if name != "decoder":
            return None  # it decides how text is split, never what a token means
        raise VocabularyError(
            f"{source} has a {name} written in Python ({error}), which cannot be read\n"
            "hint: give the bytes of each token yourself: "
            "constrain.Vocabulary(token_bytes, eos_token_ids)"
        ) from error
    return state


def _types(part: dict[str, Any] | None) -> set[str]:
    """Names of all components under `part`."""
    found: set[str] = set()
    stack: list[Any] = [part]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            if isinstance(item.get("type"), str):
                found.add(item["type"])
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
    return found


def _kind(part: Any) -> str:  # noqa: ANN401 - a class of tokenizers
    return type(part).__name__
