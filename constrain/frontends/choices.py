"""A list of texts, one of which it is.

In: texts. Out: a term. Written as a tree, so that ten thousand choices cost one step for each
distinct first byte.
"""

from __future__ import annotations

from collections.abc import Iterable

from constrain.algebra.terms import EPS, Term
from constrain.algebra.tries import trie
from constrain.errors import GrammarError
from constrain.limits import DEFAULT_LIMITS, Limits

__all__ = ["from_choices"]


def from_choices(choices: Iterable[str], *, limits: Limits = DEFAULT_LIMITS) -> Term:
    """Exactly one of some texts.

    Args:
        choices: The texts, in any order; repeats do not matter, and one may begin another.
        limits: `max_input_bytes` bounds all of them together.

    Raises:
        GrammarError: There is none, or one is no text.
        LimitExceededError: They are larger than the limits allow.
    """
    if isinstance(choices, (str, bytes)):
        raise GrammarError(
            f"choices must be a list of texts, not one {type(choices).__name__}",
            hint=f"write [{choices!r}]",
        )
    encoded: dict[bytes, None] = {}
    total = 0
    for i, choice in enumerate(choices):
        if not isinstance(choice, str):
            raise GrammarError(f"choice {i} must be a str, not {type(choice).__name__}")
        try:
            text = choice.encode()
        except UnicodeEncodeError:
            raise GrammarError(f"choice {i} has a lone surrogate: {choice!r}") from None
        encoded[text] = None
        total += len(text) + 1
        limits.check("max_input_bytes", total, "a list of choices")
    if not encoded:
        raise GrammarError("there are no choices: give at least one text")
    return trie([(text, EPS) for text in encoded])
