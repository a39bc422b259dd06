"""One sequence of a batch: what it has said, and whether it has ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from constrain.generation.result import FinishReason
from constrain.generation.stop import StopSearch
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
        self,
        vocabulary: Vocabulary,
        matcher: Matcher | None,
        max_new_tokens: int,
        stop: Sequence[str] = (),
    ) -> None:
        self._vocabulary = vocabulary
        self._max_new_tokens = max_new_tokens
        self._stop = StopSearch(stop)
        self._decoder = Utf8Text()
        self._pieces: list[bytes] = []
        self._texts: list[str] = []
        self._num_taken = 0  # of them, by `take_text`
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

    @property
    def stop_string(self) -> str | None:
        """The stop text that cut the text, if one did."""
        return self._stop.found

    def add(self, token_id: int) -> None:
        """Note a token that was drawn and accepted."""
        self.num_drawn += 1
        if token_id in self._vocabulary.eos_token_ids:
            self.end("stop")
            return
        self.token_ids.append(token_id)
        self._say(self._stop.add(self._vocabulary.decode([token_id])))
        if self._stop.found is not None:
            self.end("stop_string")

    def take_text(self) -> str:
        """Return the text that was completed since the last call."""
        text = "".join(self._texts[self._num_taken :])
        self._num_taken = len(self._texts)
        return text

    def end(self, reason: FinishReason) -> None:
        """End the sequence, unless it has ended, and say what might have begun a stop text."""
        if self.finish_reason is None:
            self.finish_reason = reason
            self._say(self._stop.held_back)

    def end_if_full(self) -> None:
        """End the sequence if its budget of tokens is used up."""
        if self.num_drawn >= self._max_new_tokens:
            self.end("length")

    def _say(self, data: bytes) -> None:
        self._pieces.append(data)
        self._texts.append(self._decoder.add(data))
