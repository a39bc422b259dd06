import pytest

from benchmarks.isolated import Job, run_jobs, take_turns

MODULE = "tests.benchmarks.isolated_measure"


def _job(how, timeout_s=30.0, **more):
    return Job(MODULE, {"how": how, **more}, timeout_s)


def test_every_name_comes_once_a_run_and_another_one_first():
    assert take_turns(["a", "b", "c"], 4) == [
        (0, "a"), (0, "b"), (0, "c"),
        (1, "b"), (1, "c"), (1, "a"),
        (2, "c"), (2, "a"), (2, "b"),
        (3, "a"), (3, "b"), (3, "c"),
    ]  # fmt: skip
    assert take_turns([], 2) == []


def test_results_come_in_order_and_prints_are_none_of_them():
    (outcome,) = run_jobs([_job("well")])
    assert outcome.results == [{"number": 0}, {"number": 1}]
    assert outcome.broken is None
    assert outcome.arguments == {"how": "well"}


@pytest.mark.parametrize(
    ("how", "broken"),
    [
        ("raises", "exit status 1: ValueError: no more"),
        ("crashes", "exit status -11"),
        ("hangs", "timeout after 2 s"),
    ],
)
def test_a_job_that_breaks_keeps_what_it_told_and_the_next_one_runs(how, broken):
    bad, good = run_jobs([_job(how, timeout_s=2.0 if how == "hangs" else 30.0), _job("well")])
    assert bad.results == [{"number": 0}]
    assert bad.broken.startswith(broken)
    assert good.broken is None


def test_a_journal_spares_what_was_done_but_not_what_broke(tmp_path):
    journal, ran = tmp_path / "deep" / "journal.jsonl", tmp_path / "ran"
    jobs = [_job("well", note=str(ran)), _job("raises", note=str(ran))]
    first = run_jobs(jobs, journal)
    with journal.open("a") as lines:
        lines.write('\n{"key": "half a li')
    second = run_jobs([*jobs, _job("well", more=1)], journal)
    assert second[:2] == first
    assert ran.read_text().split() == ["well", "raises", "raises"]
    assert run_jobs([_job("well", more=1)], journal) == second[2:]
