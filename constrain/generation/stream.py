"""A generation as it happens: text in pieces, the result at the end."""

from __future__ import annotations

from collections.abc import Iterator

from constrain.generation.loop import Generation
from constrain.generation.result import GenerationResult

__all__ = ["BatchStream", "TextStream"]


class TextStream(Iterator[str]):
    """The text of one sequence, in pieces of whole characters; joined they are `result.text`.

    Nothing is done until a piece is asked for; a stream that is no longer wanted can just be
    dropped.
    """

    def __init__(self, generation: Generation) -> None:
        self._generation = generation
        self._pieces = generation.run()

    def __next__(self) -> str:
        """Run the model until there is new text, and return it."""
        return next(self._pieces)[1]

    @property
    def result(self) -> GenerationResult:
        """The whole result. What has not been generated yet is generated first."""
        for _ in self._pieces:
            pass
        return self._generation.results()[0]


class BatchStream(Iterator[tuple[int, str]]):
    """The texts of a batch, in pieces (row, text); the pieces of a row joined are its text."""

    def __init__(self, generation: Generation) -> None:
        self._generation = generation
        self._pieces = generation.run()

    def __next__(self) -> tuple[int, str]:
        """Run the model until some row has new text, and return it."""
        return next(self._pieces)

    @property
    def results(self) -> list[GenerationResult]:
        """The whole results, one per prompt. What has not been generated yet is generated first."""
        for _ in self._pieces:
            pass
        return self._generation.results()
