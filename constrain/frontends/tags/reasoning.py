"""Reasoning first: free text until a marker, then what a grammar allows."""

from __future__ import annotations

from constrain.algebra.terms import EPS, Term, alt, cat
from constrain.errors import GrammarError
from constrain.frontends.tags.free_text import free_text
from constrain.frontends.tags.markers import marker
from constrain.limits import DEFAULT_LIMITS, Limits

__all__ = ["with_reasoning"]


def with_reasoning(
    answer: Term,
    *,
    end: str,
    begin: str | None = None,
    optional: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> Term:
    """A text that reasons before it answers.

    Args:
        answer: What follows `end` at once.
        end: The reasoning goes on to its first occurrence, as text or as special tokens.
        begin: What the reasoning begins with; None if the prompt ends with it, or may.
        optional: The answer may also come at once, without reasoning.
        limits: Budgets.

    Raises:
        GrammarError: A marker is no text, or empty.
        UnsupportedFeatureError: `end` is longer than 1,000 bytes.
    """
    for name, text in (("end", end), ("begin", begin)):
        if name == "begin" and text is None:
            continue
        if not isinstance(text, str) or not text:
            raise GrammarError(f"{name} must be a text that is not empty, not {text!r}")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise GrammarError(f"{name} has half a surrogate pair: {text!r}") from None
    reasoning = free_text([(end, lambda _: answer)], may_end=False, name="reasoning", limits=limits)
    first = cat(EPS if begin is None else marker(begin), reasoning)
    return alt((answer, first)) if optional else first
