"""What the harness asks of an engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from benchmarks.vocabularies import TokenizerFiles

__all__ = ["Batch", "Compiled", "Engine", "Matcher", "RefusedError"]


class RefusedError(Exception):
    """An engine would not compile a schema, and said so without raising an exception of its own."""


class Matcher(Protocol):
    """One sequence.

    Attributes:
        fill: Compute the mask of the current position into the engine's own bitmask. Timed.
        accept: Advance by an allowed token; False if the engine refuses it after all. Timed.

    An engine that has them has two more attributes: `rollback(num_tokens)` goes back, and `fork()`
    gives a sequence of its own at the same position.
    """

    fill: Callable[[], object]
    accept: Callable[[int], bool]

    def allows(self, token_id: int) -> bool:
        """Whether the mask that was filled last allows a token."""
        ...

    def is_accepting(self) -> bool:
        """Whether the text so far is complete; asked after `fill`."""
        ...

    def error(self) -> str | None:
        """What broke inside the engine, where it reports that without raising."""
        ...


class Compiled(Protocol):
    """A schema ready for any number of sequences."""

    def start(self) -> Matcher:
        """A matcher at the beginning of a text."""
        ...


class Batch(Protocol):
    """Several sequences whose masks are computed by one call.

    Attributes:
        fill: Compute the mask of each sequence's position into its row. Timed.
        words: int32 [rows, ceil(vocab_size / 32)]: the masks of the last call.
        accept: Advance a row by a token; False if that is not allowed.
    """

    fill: Callable[[], object]
    words: npt.NDArray[np.int32]
    accept: Callable[[int, int], bool]


class Engine(Protocol):
    """An engine with its settings.

    Attributes:
        name: As on the command line.
        settings: How it is set up, in one sentence for the report.

    An engine that makes one grammar of the tools of a request has two more methods:
    `compile_tools(tools)`, each with a name and parameters, and `call_of_tool(call)`, the text of a
    call written as JSON.
    """

    name: str
    settings: str

    def prepare(self, files: TokenizerFiles, tokenizer: object) -> None:
        """Build whatever the engine needs of a vocabulary, once. Timed apart.

        Args:
            files: Token bytes, width of the logits, end token.
            tokenizer: The same tokenizer, loaded by transformers.
        """
        ...

    def compile(self, schema: str) -> Compiled:
        """Compile a JSON Schema.

        Raises:
            Exception: The engine refuses the schema; the type's name is reported.
        """
        ...

    def compile_grammar(self, name: str) -> Compiled:
        """Compile a grammar of the catalogue, in this engine's spelling.

        Args:
            name: Of `benchmarks.grammars.spellings.GRAMMARS`.

        Raises:
            Exception: The engine cannot; the type's name is reported.
        """
        ...

    def batch(self, grammars: Sequence[Any], threads: int) -> Batch:
        """New sequences, one for each compiled grammar; a grammar may come more than once.

        Args:
            grammars: What `compile` of this engine gave.
            threads: How many may compute masks at the same time.
        """
        ...

    def accepts_in_another_style(self, schema: str, text: str) -> bool:
        """Whether a rejected text is in the schema's language, in a spelling this style omits.

        Engines without styles answer False.
        """
        ...

    def settle(self) -> None:
        """Wait until nothing runs in the background: the next engine needs the machine. Untimed."""
        ...
