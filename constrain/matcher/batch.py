"""Masks for a whole batch in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from constrain.errors import MatchError, SamplingError
from constrain.matcher.bitmask import as_numpy_bitmask
from constrain.matcher.matcher import Matcher

__all__ = ["fill_next_token_bitmasks"]


def fill_next_token_bitmasks(
    matchers: Sequence[Matcher | None],
    bitmask: Any,  # noqa: ANN401 - NumPy or torch
) -> None:
    """Write which tokens may come next for each row of a batch.

    Args:
        matchers: One a row. None leaves its row as it is: an unconstrained request, whose row
            `allocate_token_bitmask` has set to all ones.
        bitmask: int32 [>= len(matchers), words], NumPy or torch CPU. Mutated.

    Raises:
        MatchError: A sequence has ended or met a dead end; the message names its row. Rows after it
            are not written.
        SamplingError: The bitmask has the wrong type, dtype or shape.

    Cost: as `Matcher.fill_next_token_bitmask` a row; walks release the GIL.
    """
    words = as_numpy_bitmask(bitmask)
    if words.ndim != 2 or words.shape[0] < len(matchers):
        raise SamplingError(
            f"the bitmask has shape {tuple(words.shape)}, and {len(matchers)} matchers need as "
            "many rows\n"
            "hint: make it with constrain.allocate_token_bitmask(len(matchers), vocab_size)"
        )
    for row, matcher in enumerate(matchers):
        if matcher is None:
            continue
        if not isinstance(matcher, Matcher):
            raise TypeError(f"row {row} is no constrain.Matcher or None: {type(matcher).__name__}")
        try:
            matcher.fill_next_token_bitmask(words, row)
        except MatchError as error:
            raise type(error)(f"row {row}: {error}") from error
