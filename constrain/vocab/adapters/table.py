"""`TokenTable`: what every adapter returns, and the one way to fill it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from constrain.errors import VocabularyError
from constrain.vocab.adapters.end_tokens import Declared, resolve_end_tokens
from constrain.vocab.texts import Texts
from constrain.vocab.vocabulary import MAX_VOCAB_SIZE, EndTokens

__all__ = ["TokenTable", "check_id", "make_table"]


@dataclass(frozen=True, slots=True)
class TokenTable:
    """The arguments of a `Vocabulary`, as a tokenizer has them.

    Attributes:
        texts: Bytes of each id; special and unused ids are never text.
        special_tokens: Ids by name; no id has two names.
        eos_token_ids: At least one.
    """

    texts: Texts
    special_tokens: dict[str, int]
    eos_token_ids: list[int]


def make_table(
    text: Texts | Mapping[int, bytes],
    specials: Iterable[tuple[str, int]],
    *,
    requested: EndTokens | None,
    declared: Declared,
    find: Callable[[str], int | None],
    name_of: Callable[[int], str | None],
    source: str,
) -> TokenTable:
    """Lay text and special ids out by id, and find the end tokens.

    Args:
        text: Bytes by id, ids being those of the tokenizer.
        specials: (name, id) of each special token; they win over `text`. Where two have one name,
            or one has two, the first counts.
        requested: End tokens as the caller gave them, or None.
        declared: End tokens as the tokenizer declares them, tried in order if none were requested.
        find: Id of a token by its name, or None.
        name_of: Name of a token by its id, or None.
        source: What is being read, for messages.

    Raises:
        VocabularyError: No end token, or an id that no model can have.
    """
    names: dict[int, str] = {}
    for name, i in specials:
        names.setdefault(i, name)
    if isinstance(text, Mapping):
        text = _by_id(text, source)
    highest = max([len(text.lengths) - 1, *names])
    check_id(highest, source)
    ends = resolve_end_tokens(requested, declared, find, source=source)
    for i in ends:
        if 0 <= i <= highest and (spelling := name_of(i)):
            names.setdefault(i, spelling)
    ids: dict[str, int] = {}
    for i, name in names.items():
        ids.setdefault(name, i)
    if highest >= len(text.lengths):
        text = text.resized(highest + 1)
    return TokenTable(text.without(names), ids, ends)


def _by_id(text: Mapping[int, bytes], source: str) -> Texts:
    highest = max(text, default=-1)
    check_id(highest, source)
    return Texts.of([text.get(i) for i in range(highest + 1)])


def check_id(i: int, source: str) -> None:
    """Refuse an id that no model can have.

    Raises:
        VocabularyError: It is one.
    """
    if i >= MAX_VOCAB_SIZE:
        raise VocabularyError(
            f"{source} has a token with id {i:,}, and the highest allowed is {MAX_VOCAB_SIZE - 1:,}"
        )
