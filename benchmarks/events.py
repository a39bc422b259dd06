"""What a worker says: a JSON object a line, read while it works."""

from __future__ import annotations

import json
import queue
from typing import IO, Any

__all__ = ["read_events"]


def read_events(stream: IO[str], events: queue.Queue[dict[str, Any] | None]) -> None:
    """Put each object of a worker's output into a queue, and None when there are no more."""
    try:
        for line in stream:
            events.put(json.loads(line))
    except ValueError:
        pass  # the pipe was closed, or the worker was killed in the middle of a line
    events.put(None)
