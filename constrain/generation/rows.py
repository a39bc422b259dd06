"""One sequence of a batch: what it has said, and whether it has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from constrain.generation.result import FinishReason
from constrain.generation.text import Utf8Text

if TYPE_CHECKING:
    from constrain.matcher import Matcher
    from constrain.sampling import RowReport
    from constrain.vocab import Vocabulary

__all__ = ["Row"]


class Row:
    """One sequence.

    Attributes:
        matcher: Follows the sequence; None where no grammar constrains it.
        token_ids: What was drawn, without an end token.
        reports: Of each token drawn, where they were asked for.
        num_drawn: How many tokens were drawn, an end token included.
        finish_reason: None while the sequence goes on.
    """

    def __init__(
        self, vocabulary: Vocabulary, matcher: Matcher | None, max_new_tokens: int
    ) -> None:
        self._vocabulary = vocabulary
        self._max_new_tokens = max_new_tokens
        self._decoder = Utf8Text()
        self._pieces: list[bytes] = []
        self._texts: list[str] = []
        self.matcher = matcher
        self.token_ids: list[int] = []
        self.reports: list[RowReport] = []
        self.num_drawn = 0
        self.finish_reason: FinishReason | None = None

    @property
    def text(self) -> str:
        """Everything said so far that is whole characters."""
        return "".join(self._texts)

    @property
    def text_bytes(self) -> bytes:
        """Everything said so far, as bytes."""
        return b"".join(self._pieces)

    def add(self, token_id: int) -> str:
        """Note a token that was drawn and accepted, and return the text that it completed."""
        self.num_drawn += 1
        if token_id in self._vocabulary.eos_token_ids:
            self.end("stop")
            return ""
        self.token_ids.append(token_id)
        piece = self._vocabulary.decode([token_id])
        self._pieces.append(piece)
        text = self._decoder.add(piece)
        self._texts.append(text)
        return text

    def end(self, reason: FinishReason) -> None:
        """End the sequence, unless it has ended."""
        if self.finish_reason is None:
            self.finish_reason = reason

    def end_if_full(self) -> None:
        """End the sequence if its budget of tokens is used up."""
        if self.num_drawn >= self._max_new_tokens:
            self.end("length")
