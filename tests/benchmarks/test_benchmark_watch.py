"""Workers that hang or crash, played by a script that does nothing else."""

import sys
import textwrap

import pytest

from benchmarks import watch as watching
from benchmarks.plan import Plan, PlannedSchema, PlannedText
from benchmarks.registry import ROOT
from benchmarks.watch import Deadlines, WorkerError, is_finished, watch

STUB = """
import json, sys, time
from benchmarks.plan import Plan
from pathlib import Path

def tell(**event):
    print(json.dumps(event), flush=True)

plan = Plan.read(Path(sys.argv[1]))
done = int(sys.argv[sys.argv.index("--done") + 1])
if "unprepared" in plan.engines:
    print("no such vocabulary", file=sys.stderr)
    raise SystemExit(3)
tell(event="ready", engines={}, done=done)
for number, (index, engine) in enumerate(plan.steps()):
    if number < done:
        continue
    schema = plan.schemas[index].id
    tell(event="start", step=number)
    if schema == "hangs in compile" and engine == "b":
        time.sleep(60)
    tell(event="compiled")
    if schema == "hangs in play" and engine == "b":
        time.sleep(60)
    if schema == "crashes" and engine == "b":
        print("{broken line", flush=True)
        raise SystemExit(9)
    record = dict(schema=schema, engine=engine, refused=None, broken=None, compile_ns=1,
                  first_mask_ns=2, first_mask_cpu_ns=2, texts=[])
    tell(event="record", record=record)
tell(event="end", peak_mib=1.0, resident_mib=1.0)
"""


@pytest.fixture
def stub(tmp_path, monkeypatch):
    path = tmp_path / "stub.py"
    path.write_text(textwrap.dedent(STUB))
    monkeypatch.setattr(watching, "COMMAND", [sys.executable, str(path)])
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def _plan(*schemas, engines=("a", "b"), limits=None):
    text = PlannedText(0, "[]", True, (1, 2), None)
    planned = tuple(PlannedSchema(name, "c", "{}", (text,)) for name in schemas)
    return Plan("tiny", "nowhere", 32, engines, limits or {}, 0, planned)


def test_engines_take_turns_and_limits_hold():
    plan = _plan("x", "y", "z", engines=("a", "b", "c"), limits={"b": 2})
    assert plan.steps() == [
        (0, "a"), (0, "b"), (0, "c"),
        (1, "b"), (1, "c"), (1, "a"),
        (2, "c"), (2, "a"),
    ]  # fmt: skip


def test_a_plan_survives_its_file(tmp_path):
    plan = _plan("x", "y", limits={"a": 1})
    plan.write(tmp_path / "plan.json")
    assert Plan.read(tmp_path / "plan.json") == plan


@pytest.mark.usefixtures("stub")
def test_a_quiet_run_has_one_record_for_each_step():
    said = []
    run = watch(_plan("x", "y"), Deadlines(), lambda done, what: said.append((done, what)))
    assert [(r.schema, r.engine) for r in run.records] == [
        ("x", "a"), ("x", "b"), ("y", "b"), ("y", "a"),
    ]  # fmt: skip
    assert run.restarts == 0
    assert run.end == {"event": "end", "peak_mib": 1.0, "resident_mib": 1.0}
    assert said[-1] == (3, "a: y")


@pytest.mark.usefixtures("stub")
def test_a_step_that_hangs_or_crashes_is_recorded_and_the_rest_is_played():
    plan = _plan("x", "hangs in compile", "hangs in play", "crashes", "y")
    run = watch(plan, Deadlines(compile_s=0.5, play_s=0.5))
    assert [(r.schema, r.engine) for r in run.records] == [
        (plan.schemas[index].id, engine) for index, engine in plan.steps()
    ]
    assert {r.schema: r.broken for r in run.records if r.broken} == {
        "hangs in compile": "timeout (compile)",
        "hangs in play": "timeout (play)",
        "crashes": "crash (play, exit status 9)",
    }
    assert run.restarts == 3
    assert run.ready["done"] == 0  # preparation is what the first worker measured


@pytest.mark.usefixtures("stub")
def test_a_step_that_breaks_last_ends_the_run():
    run = watch(_plan("crashes", engines=("b",)), Deadlines())
    assert [r.broken for r in run.records] == ["crash (play, exit status 9)"]
    assert run.restarts == 1


@pytest.mark.usefixtures("stub")
def test_a_worker_that_never_gets_ready_is_an_error_with_what_it_printed():
    with pytest.raises(WorkerError, match="exit status 3\nno such vocabulary"):
        watch(_plan("x", engines=("unprepared",)), Deadlines())


@pytest.mark.usefixtures("stub")
def test_a_run_goes_on_after_what_its_journal_holds(tmp_path):
    journal = tmp_path / "deep" / "journal.jsonl"
    plan = _plan("x", "crashes", "z")
    whole = watch(plan, Deadlines(), journal=journal)
    assert whole.restarts == 1
    lines = journal.read_text().splitlines()
    assert is_finished(journal)
    journal.write_text("\n".join(lines[:5])[:-10])  # ended while it wrote a line
    assert not is_finished(journal)
    resumed = watch(plan, Deadlines(), journal=journal)
    assert resumed.records == whole.records
    assert resumed.ready == whole.ready
    again = watch(plan, Deadlines(), journal=journal)
    assert (again.records, again.ready, again.end) == (whole.records, whole.ready, whole.end)
