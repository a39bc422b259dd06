"""The benchmark: `constrain` beside its peers, on the same schemas, texts, vocabulary and machine.

What comes in: a sample of real JSON Schemas with valid and invalid instances, a real tokenizer, and
whichever engines are installed. What goes out: a table on the terminal and a JSON file with the
machine, the versions and every figure of the table.

What is decided here: which schemas and texts are played, how a call is timed, what counts as a
wrong verdict. What is not: targets (none are checked here) and anything about model quality.

In reading order:

- `registry.py`: the workloads: a seeded, stratified sample of schemas with their texts.
- `declared_order.py`: an instance with its keys in the order in which its schema declares them.
- `vocabularies.py`: real tokenizers out of packages, their bytes, and texts as token ids.
- `plan.py`: what a process is asked to measure, as a file.
- `engines/`: one adapter per engine behind one small protocol.
- `play.py`: one schema on one engine: the timed calls and the verdicts.
- `memory.py`: resident memory of this process.
- `worker.py`: a process that plays a plan and reports each step.
- `events.py`: a worker as a process, and what it says.
- `watch.py`: starts workers, ends those that hang or crash, and goes on after them.
- `isolated.py`: the same for measurements that are no plans.
- `journal.py`, `progress.py`: what is measured is noted and shown, so that it can go on.
- `statistics.py`: percentiles, medians over runs, ratios of paired samples.
- `summary.py`: records of all runs in, the JSON document out.
- `report.py`: that document as tables.
- `options.py`, `run.py`: the command line of the main comparison.

Further commands (`COMMANDS`), each by itself, in jobs of `isolated.py` or plans of `plan.py`; most
are a study of `study.py`:

- `growth/`: pictures of costs against sizes; `resized.py`: one vocabulary in all sizes.
- `grammars/`: grammars of the catalogue, and how peers spell them.
- `tools.py`: tool schemas with calls, which these play: `batches.py` (many rows in one call),
  `steps.py` (accept, rollback, fork), `sharing.py` (what one schema leaves for the next).
- `held.py`: what compiled grammars hold in memory.
- `apply.py`: bitmasks laid over logits.
- `lengths.py`: masks and steps along long texts, `constrain` alone.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

__all__ = ["COMMANDS", "main"]

COMMANDS: dict[str, tuple[str, str]] = {
    "growth": ("benchmarks.growth.run", "plots of costs against sizes"),
    "grammars": ("benchmarks.grammars.run", "JSON, SQL and Python of the catalogue"),
    "batches": ("benchmarks.batches", "masks of a batch, threads, distinct grammars"),
    "steps": ("benchmarks.steps", "accept, rollback, fork"),
    "apply": ("benchmarks.apply", "bitmasks laid over logits on the CPU"),
    "lengths": ("benchmarks.lengths", "masks and steps along long texts"),
    "held": ("benchmarks.held", "memory of compiled grammars, and its bounds"),
    "sharing": ("benchmarks.sharing", "500 tool schemas, and a second process"),
}
"""Module with a function `main(argv)`, and what it measures, by the first argument."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark as a command would.

    Args:
        argv: Arguments without the program's name; None reads `sys.argv`.

    Returns:
        The exit status: 0, or 2 where data, a tokenizer or every engine is missing.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    module = "benchmarks.run"
    if arguments and arguments[0] in COMMANDS:
        module = COMMANDS[arguments.pop(0)][0]
    status: int = importlib.import_module(module).main(arguments)
    return status
