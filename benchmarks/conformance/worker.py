"""A process that plays the cases on one engine.

    python -m benchmarks.conformance.worker CASES ENGINE [--done N]

It writes a line of JSON for each event: `ready`, then for each case `start`, `compiled` and
`verdicts`. A verdict is:

- "right";
- "respelt": a valid text was rejected, but the same value is accepted in another of the spellings
  of `cases.Test`;
- "accepted" or "rejected": wrongly so;
- "broke": an error while the text was read.

An engine that refuses a schema answers `refused`, with the message.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import resource
import sys
from pathlib import Path
from typing import TextIO

from benchmarks.conformance.cases import Case, Test
from benchmarks.conformance.engines import Accepts, Engine, UnsatisfiableError, create

__all__ = ["main"]

MEMORY = 8 << 30
"""Bytes of address space; a process that wants more has crashed."""


def main(argv: list[str] | None = None) -> int:
    """Play the cases from the N-th on."""
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", type=Path)
    parser.add_argument("engine")
    parser.add_argument("--done", type=int, default=0)
    arguments = parser.parse_args(argv)
    events = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what engines print goes to standard error
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    # Written by the process that started this one.
    cases: list[Case] = pickle.loads(arguments.cases.read_bytes())
    engine, engine_version = create(arguments.engine)
    _warm_up(engine)
    _tell(events, event="ready", version=engine_version, settings=engine.settings)
    for number, case in enumerate(cases):
        if number < arguments.done:
            continue
        _tell(events, event="start", case=number)
        try:
            accepts = engine.compile(case)
        except UnsatisfiableError:
            accepts = _nothing
        except BaseException as error:  # a panic of an engine in Rust is no Exception
            if isinstance(error, KeyboardInterrupt):
                raise
            _tell(events, event="verdicts", refused=f"{type(error).__name__}: {error}"[:300])
            continue
        _tell(events, event="compiled")
        _tell(events, event="verdicts", verdicts=[_verdict(accepts, test) for test in case.tests])
    _tell(events, event="end")
    return 0


def _warm_up(engine: Engine) -> None:
    """Load, or compile, what an engine loads on first use."""
    text = '{"a": 1}'
    test = Test("warm-up", text, True, ())
    schema = '{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}'
    if not engine.compile(Case("real", "warm-up", schema, True, False, (test,)))(text):
        raise RuntimeError("the engine rejects the warm-up")


def _verdict(accepts: Accepts, test: Test) -> str:
    try:
        accepted = accepts(test.text)
        if accepted == test.valid:
            return "right"
        if accepted:
            return "accepted"
        return "respelt" if any(map(accepts, test.respelt)) else "rejected"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return "broke"


def _nothing(text: str) -> bool:
    return False


def _tell(events: TextIO, **event: object) -> None:
    events.write(json.dumps(event) + "\n")
    events.flush()


if __name__ == "__main__":
    sys.exit(main())
