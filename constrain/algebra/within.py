"""Texts of a term up to a number of tokens: what is left is counted where tokens end."""

from __future__ import annotations

from constrain.algebra.terms import EMPTY, EPS, Rule, Term, Timed, cat

__all__ = ["within_tokens"]


def within_tokens(body: Term, most: int) -> Term:
    """A text of `body`, or its beginning where it has come to so many tokens.

    Tokens are counted that end inside the text, after its first byte. Where the last of them ends,
    what there is of the text is all of it, and what follows it comes next: so what follows is never
    out of reach, and the tokens that are allowed at a place are those without a bound. A token that
    ends where the text does not begin yet is not counted.

    A text as such, without tokens, is not bounded. Not for terms under `And` or `Not`.

    Args:
        body: It may not begin with a capture.
        most: How many tokens, >= 0. With 0 there is only the empty text.
    """
    if most == 0 or body is EMPTY or body is EPS:
        return EMPTY if body is EMPTY else EPS
    counts: dict[int, Timed] = {}
    # A rule, since tokens are counted once its body is there.
    return Rule(
        f"within {most} tokens",
        lambda: cat(body, _countdown(most, counts)),
        nullable=body.nullable,
    )


def _countdown(left: int, counts: dict[int, Timed]) -> Timed:
    """The end of a text in which so many tokens may still end; one for each number."""
    found = counts.get(left)
    if found is None:

        def at_token_end(inside: bool) -> tuple[Term, Term]:
            if not inside:
                return EPS, EMPTY
            return (EMPTY, EPS) if left == 1 else (_countdown(left - 1, counts), EMPTY)

        name = f"{left} tokens left"
        made = Timed(name, lambda: EPS, at_token_end, lambda: EPS, nullable=True)
        found = counts.setdefault(left, made)
    return found
