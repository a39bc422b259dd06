"""Where a text leaves a language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from constrain.frontends.explanation import Explanation

__all__ = ["Rejection"]


@dataclass(frozen=True, slots=True)
class Rejection:
    """Where a text leaves a language.

    Attributes:
        offset: How many bytes from the start begin some sentence; the byte at this offset, if there
            is one, does not go on.
        expected: What could have come at `offset`, in ranges of bytes; empty if the text should
            have ended.
        complete: The bytes before `offset` are a sentence, so the text could have ended there.
        at_end: The whole text begins a sentence, and it ends too early.
    """

    offset: int
    expected: tuple[str, ...]
    complete: bool
    at_end: bool
    _look: Callable[[], Explanation] | None = field(default=None, repr=False, compare=False)

    @property
    def explanation(self) -> Explanation:
        """The place in the grammar's own words; empty where they are not known.

        Known for grammars in Lark's syntax, GBNF, JSON Schemas, types of pydantic (in pointers of
        the schema that these become) and regular expressions, not for what was put together from
        several.

        Cost: the text is read once more, in a simple and slow way, the first time that this is
        asked; within a budget, past which the answer is empty.
        """
        return Explanation(self.offset) if self._look is None else self._look()

    @property
    def expected_names(self) -> tuple[str, ...]:
        """What could have come, as `Explanation.expected_names`. Cost: as of `explanation`."""
        return self.explanation.expected_names

    @property
    def rule_path(self) -> tuple[str, ...]:
        """The rules that the text is inside of, the outermost first. Cost: as of `explanation`."""
        return self.explanation.rule_path

    def __reduce__(self) -> tuple[Any, ...]:
        known = partial(Explanation, self.offset)
        if self._look is not None:
            known = partial(_same, self._look())
        fields = (self.offset, self.expected, self.complete, self.at_end, known)
        return type(self), fields


def _same(explanation: Explanation) -> Explanation:
    return explanation
