"""A worker and what it says: a process that writes a JSON object a line, read while it works."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from benchmarks.registry import ROOT

__all__ = ["Worker"]


class Worker:
    """A process whose output is events. At the end of a `with` block it is over, or is ended.

    Args:
        command: How to start it, in the root of the checkout.
        environment: Variables set for it on top of this process's.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> None:
        self._complaints = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        self._process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
            encoding="utf-8",
            cwd=ROOT,
            env=os.environ | dict(environment or {}),
        )
        self._events: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end_within(0)
        self._reader.join(timeout=5)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._complaints.close()

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def next_event(self, timeout_s: float) -> dict[str, Any] | None:
        """What it says next; None if it says nothing more.

        Raises:
            TimeoutError: It was silent for so long.
        """
        try:
            return self._events.get(timeout=timeout_s)
        except queue.Empty:
            raise TimeoutError from None

    def status(self) -> int:
        """Its exit status, when it is over."""
        return self._process.wait()

    def complaints(self) -> str:
        """What it wrote to its standard error, when it is over."""
        self._complaints.seek(0)
        return self._complaints.read()

    def end_within(self, seconds: float) -> None:
        """Wait for its end so long, then end it."""
        try:
            self._process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            for line in self._process.stdout:
                self._events.put(json.loads(line))
        except ValueError:
            pass  # the pipe was closed, or the worker was killed in the middle of a line
        self._events.put(None)
