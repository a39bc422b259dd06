"""A generation as it happens: text in pieces, the result at the end."""

from __future__ import annotations

from collections.abc import Iterator

from constrain.errors import ModelError
from constrain.generation.loop import Generation
from constrain.generation.result import GenerationResult

__all__ = ["BatchStream", "TextStream"]


class _Pieces(Iterator[tuple[int, str]]):
    """The pieces of a generation; once one fails, none that follows looks like the end."""

    def __init__(self, generation: Generation) -> None:
        self._generation = generation
        self._pieces = generation.run()
        self._failure: BaseException | None = None

    def __next__(self) -> tuple[int, str]:
        if self._failure is not None:
            kind = type(self._failure).__name__
            raise ModelError(
                f"the generation failed at an earlier piece: {kind}: {self._failure}\n"
                "hint: what came before it is the beginning of a text; start again for a whole one"
            ) from self._failure
        try:
            return next(self._pieces)
        except StopIteration:
            raise
        except BaseException as error:  # an interruption ends the generation, too
            self._failure = error
            raise

    def results(self) -> list[GenerationResult]:
        for _ in self:
            pass
        return self._generation.results()


class TextStream(Iterator[str]):
    """The text of one sequence, in pieces of whole characters; joined they are `result.text`.

    Nothing is done until a piece is asked for; a stream that is no longer wanted can just be
    dropped.
    """

    def __init__(self, generation: Generation) -> None:
        self._pieces = _Pieces(generation)

    def __next__(self) -> str:
        """Run the model until there is new text, and return it.

        Raises:
            ModelError: An earlier piece failed; its error is the cause.
        """
        return next(self._pieces)[1]

    @property
    def result(self) -> GenerationResult:
        """The whole result. What has not been generated yet is generated first.

        Raises:
            ModelError: A piece failed; its error is the cause.
        """
        return self._pieces.results()[0]


class BatchStream(Iterator[tuple[int, str]]):
    """The texts of a batch, in pieces (row, text); the pieces of a row joined are its text."""

    def __init__(self, generation: Generation) -> None:
        self._pieces = _Pieces(generation)

    def __next__(self) -> tuple[int, str]:
        """Run the model until some row has new text, and return it.

        Raises:
            ModelError: An earlier piece failed; its error is the cause.
        """
        return next(self._pieces)

    @property
    def results(self) -> list[GenerationResult]:
        """The whole results, one per prompt. What has not been generated yet is generated first.

        Raises:
            ModelError: A piece failed; its error is the cause.
        """
        return self._pieces.results()
