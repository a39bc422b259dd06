import pytest

from benchmarks.statistics import Spread, percentile, spread, summarise


@pytest.mark.parametrize(
    ("samples", "share", "expected"),
    [
        ([5.0], 0.5, 5.0),
        ([1, 2, 3, 4], 0.5, 2),
        ([1, 2, 3, 4], 0.51, 3),
        (range(1, 101), 0.99, 99),
        (range(1, 101), 0.07, 7),
        (range(1, 1001), 0.999, 999),
        (range(1, 101), 0.999, 100),
        ([1, 2], 1.0, 2),
        ([1, 2], 1e-9, 1),
    ],
)
def test_a_percentile_is_the_sample_at_its_rank(samples, share, expected):
    assert percentile(list(samples), share) == expected


def test_a_summary_does_not_ask_for_order():
    assert summarise([3, 1, 2, 10]) == {
        "n": 4,
        "mean": 4.0,
        "p50": 2.0,
        "p99": 10.0,
        "p99.9": 10.0,
        "max": 10.0,
    }


def test_nothing_has_no_summary():
    assert summarise([]) == {"n": 0}


def test_a_spread_is_over_runs():
    assert spread([3.0, 1.0, 2.0]) == Spread(2.0, 1.0, 3.0)
    with pytest.raises(ValueError, match="at least one run"):
        spread([])
