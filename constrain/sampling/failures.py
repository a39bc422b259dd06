"""Errors of single rows of a batch, which do not cost the other rows their tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from constrain.errors import DeadEndError, SamplingError

if TYPE_CHECKING:
    from constrain.sampling.sampler import SampleOutput

__all__ = ["EmptyRowError", "InvalidRowError"]


class EmptyRowError(DeadEndError):
    """Rows have no id left to draw: the mask, the bans and the logits of -inf exclude all of them.

    Attributes:
        rows: Their indices, increasing.
        output: The result for the whole batch, in which these rows have the token id -1; or None.
    """

    def __init__(
        self, reason: str, *, rows: tuple[int, ...] = (), output: SampleOutput | None = None
    ) -> None:
        self.rows = rows
        self.output = output
        super().__init__(reason)


class InvalidRowError(SamplingError):
    """Rows have logits that mean nothing (NaN).

    Attributes:
        rows: Their indices, increasing.
        output: The result for the whole batch, in which these rows have the token id -1; or None.
    """

    def __init__(
        self, reason: str, *, rows: tuple[int, ...] = (), output: SampleOutput | None = None
    ) -> None:
        self.rows = rows
        self.output = output
        super().__init__(reason)
