"""Percentiles, medians over runs and ratios of paired samples.

Percentiles are nearest-rank: the smallest sample that at least that share of the samples does not
exceed. So every figure is a time that was measured, also at p99.9 of a small sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

__all__ = ["STATISTICS", "Spread", "percentile", "spread", "spread_figures", "summarise"]


def percentile(sorted_samples: Sequence[float] | np.ndarray, share: float) -> float:
    """Nearest-rank percentile.

    Args:
        sorted_samples: Ascending, not empty.
        share: 0 < share <= 1.
    """
    # 1e-9: 0.07 * 100 is 7.000000000000001 in floats, and the rank is 7.
    rank = math.ceil(share * len(sorted_samples) - 1e-9)
    return float(sorted_samples[max(rank, 1) - 1])


STATISTICS: dict[str, Callable[[np.ndarray], float]] = {
    # each takes ascending samples
    "mean": lambda samples: float(samples.mean()),
    "p50": lambda samples: percentile(samples, 0.5),
    "p99": lambda samples: percentile(samples, 0.99),
    "p99.9": lambda samples: percentile(samples, 0.999),
    "max": lambda samples: float(samples[-1]),
}


def summarise(samples: Sequence[float]) -> dict[str, float]:
    """Every statistic of some samples, and how many there are; only `n` where there are none."""
    if not len(samples):
        return {"n": 0}
    ascending = np.sort(np.asarray(samples, dtype=np.float64))
    return {"n": len(ascending)} | {name: of(ascending) for name, of in STATISTICS.items()}


@dataclass(frozen=True, slots=True)
class Spread:
    """One figure over several runs."""

    median: float
    low: float
    high: float


def spread(values: Sequence[float]) -> Spread:
    """Median, lowest and highest of one figure over the runs.

    Raises:
        ValueError: There are no values.
    """
    if not values:
        raise ValueError("a spread needs at least one run")
    return Spread(float(np.median(values)), min(values), max(values))


def spread_figures(values: Sequence[float]) -> dict[str, float]:
    """The same, as documents have it."""
    return asdict(spread(values))
