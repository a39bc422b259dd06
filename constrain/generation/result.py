"""What generation hands back: the text, why it ended, and what each part of the work cost."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from constrain.sampling import RowReport

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = ["FinishReason", "GenerationResult", "GenerationTimings"]

FinishReason = Literal["stop", "length", "stop_string"]
"""`stop`: an end token, or a sentence that cannot grow. `length`: a budget of tokens ran out.
`stop_string`: one of the texts given as `stop` came; what was before it may be no whole sentence.
"""


@dataclass(frozen=True, slots=True)
class GenerationTimings:
    """Where the time went. In a batch the steps are those of the batch, shared by its rows."""

    vocabulary_s: float
    """Reading the token bytes out of the tokenizer; near 0 for a tokenizer seen before."""
    compile_s: float
    """Grammar and vocabulary -> compiled grammar; 0 without a grammar or for a compiled one."""
    first_mask_s: float
    """From the grammar to the first mask: compile_s, the matcher, and the first fill."""
    prefill_s: float
    """The forward pass over the prompt."""
    mask_us: tuple[float, ...]
    """One entry per step: writing the mask."""
    accept_us: tuple[float, ...]
    """One entry per step: telling the matcher what was drawn."""
    sampler_us: tuple[float, ...]
    """One entry per step: applying the mask, truncating and drawing."""
    forward_us: tuple[float, ...]
    """One entry per step after the first: the forward pass over one token."""
    num_prompt_tokens: int
    num_tokens: int
    """Tokens drawn in this sequence, an end token included."""
    decode_s: float
    """From the end of the prefill to the end of this sequence."""

    @property
    def tokens_per_second(self) -> float:
        """Tokens of this sequence per second of `decode_s`; 0 where none was drawn."""
        return self.num_tokens / self.decode_s if self.decode_s > 0 else 0.0

    def percentile(
        self, step: Literal["mask", "accept", "sampler", "forward"], percent: float
    ) -> float:
        """Return the smallest duration, in microseconds, that `percent` of the steps do not exceed.

        0 where there was no such step.
        """
        values = sorted(getattr(self, f"{step}_us"))
        rank = math.ceil(len(values) * percent / 100)
        return float(values[max(0, rank - 1)]) if values else 0.0


@dataclass(frozen=True, slots=True)
class GenerationResult:
    """One generated sequence."""

    text: str
    """What the tokens spell, up to a stop text. Special tokens spell nothing."""
    token_ids: tuple[int, ...]
    """The tokens drawn, without the end token; with those that spell a stop text."""
    text_bytes: bytes
    """`text` as bytes, and the start of a character where the budget cut one in two."""
    finish_reason: FinishReason
    timings: GenerationTimings
    reports: tuple[RowReport, ...] = field(default=(), repr=False)
    """One per token drawn, an end token included, if `SamplingParams.logprobs` asked; else none."""
    stop_string: str | None = None
    """Which of the texts given as `stop` ended it; None where none did."""
    adapter: TypeAdapter[Any] | None = field(default=None, repr=False, compare=False)
    """Of a grammar from pydantic, what reads its texts."""

    @property
    def parsed(self) -> Any:  # noqa: ANN401 - whatever the JSON says
        """What `text` spells: an object of the grammar's pydantic type, else a JSON value.

        Raises:
            json.JSONDecodeError: It spells none: another kind of grammar, or cut by the budget or a
                stop text.
            pydantic.ValidationError: The same for a grammar from pydantic, or a validator written
                by the user rejects it.
        """
        return json.loads(self.text) if self.adapter is None else self.parse(self.adapter)

    def parse(self, model: Any) -> Any:  # noqa: ANN401 - whatever pydantic can make a type of
        """The object of a pydantic type that `text` spells, whatever the grammar was.

        Args:
            model: As `Grammar.from_pydantic` takes it.

        Raises:
            pydantic.ValidationError: It spells none.
            BackendUnavailableError: pydantic is not installed.
            GrammarError: `model` is no type that pydantic knows.
        """
        from constrain.frontends.pydantic import adapter_of

        return adapter_of(model).validate_json(self.text)
