"""Which ids end a text: what the caller asked for, or what the tokenizer declares.

A declaration comes in many forms: an id, a list of ids, a name, an `AddedToken` with the name in
`content`, or a dictionary with a key `content` out of a tokenizer_config.json. All are read;
nothing is guessed from names that merely look like an end token.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from constrain.errors import VocabularyError
from constrain.vocab.vocabulary import EndTokens

__all__ = ["Declared", "resolve_end_tokens"]

Declared: TypeAlias = Sequence[tuple[str, object]]
"""(place, value) of each declaration, the most telling first; messages show the place."""


def resolve_end_tokens(
    requested: EndTokens | None,
    declared: Declared,
    find: Callable[[str], int | None],
    *,
    source: str,
) -> list[int]:
    """Return the end ids, each once.

    Args:
        requested: In place of every declaration, if it is not None. Ids are passed on as they are
            (the vocabulary checks their range); a name must be a token.
        declared: Tried in order; the first that names a token counts.
        find: Id of a token by its name, or None.
        source: What is being read, for messages.

    Raises:
        VocabularyError: A requested name is not a token, or nothing is declared that is one; the
            message lists what was tried.
    """
    if requested is not None:
        return _requested(requested, find, source)
    for _, value in declared:
        ids = _ids_of(value, find)
        if ids:
            return ids
    tried = ", ".join(f"{place} ({value!r})" for place, value in declared) or "nothing declares one"
    raise VocabularyError(
        f"{source} has no end token; tried: {tried}\n"
        "hint: pass eos_token_ids=[...], every id or token name the model ends a text with"
    )


def _requested(requested: EndTokens, find: Callable[[str], int | None], source: str) -> list[int]:
    if isinstance(requested, str) or not isinstance(requested, Iterable):
        requested = [requested]
    ids: list[int] = []
    for token in requested:
        i = find(token) if isinstance(token, str) else _index(token)
        if i is None and not isinstance(token, str):
            raise VocabularyError(
                f"eos_token_ids has {token!r}, expected token ids or names of tokens"
            )
        if i is None:
            raise VocabularyError(
                f"eos_token_ids names {token!r}, which is not a token of {source}\n"
                "hint: give its exact spelling, or its id"
            )
        ids.append(i)
    return ids


def _ids_of(value: object, find: Callable[[str], int | None]) -> list[int]:
    """Ids of one declaration; empty if it names no token."""
    if isinstance(value, Mapping):
        value = value.get("content")
    value = getattr(value, "content", value)  # AddedToken
    if isinstance(value, str):
        i = find(value)
        return [] if i is None else [i]
    if isinstance(value, (list, tuple)):
        return list(dict.fromkeys(i for item in value for i in _single_id(item)))
    return _single_id(value)


def _single_id(value: object) -> list[int]:
    i = _index(value)
    return [] if i is None or i < 0 else [i]  # SentencePiece says -1 for none


def _index(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None
