"""The mask again, slow and obvious: try every token from the state, byte by byte."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def allowed_tokens(
    state: int, token_bytes: Sequence[bytes | None], advance: Callable[[int, bytes], int]
) -> set[int]:
    """Ids of the tokens that may follow `state`; `advance` returns 0 for a dead state."""
    return {i for i, text in enumerate(token_bytes) if text and advance(state, text) != 0}
