"""What a caller may ask of the sampler, checked when it is asked."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real

import numpy as np

from constrain.errors import SamplingError

__all__ = ["SamplingParams"]

_LEAST_TEMPERATURE = float(np.finfo(np.float32).tiny)
_LEAST_POSITIVE = math.ulp(0.0)
_MOST_TEMPERATURE = float(np.finfo(np.float32).max)


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingParams:
    """How one row is sampled. The defaults draw from the model's own distribution.

    Attributes:
        temperature: Logits are divided by it. 0 is greedy: the largest logit, the lowest id among
            ties, whatever the other fields say. (So is anything below 1.2e-38, float32's smallest
            normal number.)
        top_p: Keep the most probable ids until their mass reaches this share. 1 keeps all, however
            sums round; 0 keeps one. Ties go to the lower id.
        top_k: Keep exactly this many of the most probable ids, ties to the lower id. 0 keeps all.
        min_p: Keep the ids at least this probable relative to the most probable one. 0 keeps all.
        seed: 0 to 2^64 - 1. The same seed, sequence and position give the same random number. None
            draws from entropy that the `Sampler` collected when it was made.
        repetition_penalty: > 0. An id that stands in the prompt or in the output so far, however
            often, has its logit divided by this if positive and multiplied by it otherwise.
            1 is off.
        frequency_penalty: Taken off the logit once for each time the id stands in the output.
        presence_penalty: Taken off the logit once if the id stands in the output.
        logit_bias: Added to the logit of these ids, after the penalties. -inf bans an id; a finite
            bias never brings a banned id back.
        logprobs: None, or how many of the most probable alternatives to report: see
            `constrain.sampling.RowReport`. `sample` gives one in `reports`, and `generate` one for
            each token in `result.reports`.

    Raises:
        SamplingError: A field has the wrong type or lies out of range; the message says which.
    """

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    seed: int | None = None
    repetition_penalty: float = 1.0
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    logit_bias: Mapping[int, float] | None = field(default=None, hash=False)
    logprobs: int | None = None

    def __post_init__(self) -> None:
        self._set_number("temperature", 0, math.inf, "a finite number >= 0")
        self._set_number("top_p", 0, 1, "a number from 0 to 1")
        self._set_number("min_p", 0, 1, "a number from 0 to 1")
        self._set_number("repetition_penalty", _LEAST_POSITIVE, math.inf, "a finite number > 0")
        for name in ("frequency_penalty", "presence_penalty"):
            self._set_number(name, -math.inf, math.inf, "a finite number")
        self._set_integer("top_k", math.inf, "an integer >= 0 (0 keeps all ids)")
        if self.seed is not None:
            self._set_integer("seed", 2**64 - 1, "None, or an integer from 0 to 2^64 - 1")
        if self.logprobs is not None:
            self._set_integer("logprobs", math.inf, "None, or an integer >= 0")
        if self.logit_bias is not None:
            object.__setattr__(self, "logit_bias", _checked_bias(self.logit_bias))

    @property
    def is_greedy(self) -> bool:
        """Whether the temperature is 0 as far as float32 can tell."""
        return self.temperature < _LEAST_TEMPERATURE

    @property
    def divisor(self) -> np.float32:
        """The temperature of a row that is not greedy, as float32; finite and > 0."""
        return np.float32(min(self.temperature, _MOST_TEMPERATURE))

    @property
    def truncates(self) -> bool:
        """Whether top-k, top-p or min-p may cut something off."""
        return self.top_k > 0 or self.top_p < 1 or self.min_p > 0

    @property
    def edits(self) -> bool:
        """Whether a penalty or a bias may change a logit."""
        return (
            self.repetition_penalty != 1
            or self.frequency_penalty != 0
            or self.presence_penalty != 0
            or bool(self.logit_bias)
        )

    def _set_number(self, name: str, least: float, most: float, wanted: str) -> None:
        given = getattr(self, name)
        value = _as_number(given)
        if value is None or not math.isfinite(value) or not least <= value <= most:
            raise _refusal(name, given, wanted)
        object.__setattr__(self, name, value)

    def _set_integer(self, name: str, most: float, wanted: str) -> None:
        given = getattr(self, name)
        value = _as_integer(given)
        if value is None or not 0 <= value <= most:
            raise _refusal(name, given, wanted)
        object.__setattr__(self, name, value)


def _checked_bias(bias: object) -> dict[int, float]:
    if not isinstance(bias, Mapping):
        raise _refusal("logit_bias", bias, "None, or a mapping from token ids to numbers")
    checked = {}
    for key, given in bias.items():
        token = _as_integer(key)
        if token is None or token < 0:
            hint = "\nhint: JSON has keys of text: {int(key): bias for ...}"
            raise SamplingError(
                f"logit_bias has the key {key!r}: a token id >= 0 was expected"
                f"{hint if isinstance(key, str) else ''}"
            )
        value = _as_number(given)
        if value is None or math.isnan(value) or value == math.inf:
            raise _refusal(f"logit_bias[{token}]", given, "a finite number, or -inf to ban the id")
        checked[token] = value
    return checked


def _as_number(value: object) -> float | None:
    """Read a real number, or None: True is no number, and neither is what float cannot hold."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _as_integer(value: object) -> int | None:
    if isinstance(value, (bool, np.bool_)):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]  # what has no __index__ raises
    except TypeError:
        return None


def _refusal(name: str, value: object, wanted: str) -> SamplingError:
    return SamplingError(f"{name}={value!r:.80}: {wanted} was expected")
