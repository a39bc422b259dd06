"""What a schema means: all that is worked out before a text is written in some style.

A server meets the same schemas again and again, such as tools that come in other company with each
request. So what plain schemas mean is remembered by content for the next grammar that has one
(`Readings`). A grammar's own terms and rules are not: rules hold what texts had in them.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Final

from constrain.frontends.json_schema.audit import audit, needs_audit, places
from constrain.frontends.json_schema.emptiness import Emptiness
from constrain.frontends.json_schema.explain import unsatisfiable
from constrain.frontends.json_schema.meaning import Meaning
from constrain.frontends.json_schema.read import JSON
from constrain.frontends.json_schema.refs import Source
from constrain.frontends.json_schema.report import Report
from constrain.limits import Limits

__all__ = ["READINGS", "Reading", "Readings", "content_of"]

MAX_READINGS_BYTES: Final = 32 << 20
"""Meanings of schemas that a process remembers: some 2,000 tools of the function-calling suites."""
_READING_BYTES: Final = 8_000
_NODE_BYTES: Final = 1_500
"""What a reading and each of its nodes hold once all rules were made from it: of 500 tools 17 kB
each, with 4 nodes (tracemalloc, 2026-11-30)."""
_MOST_NODES: Final = 250
"""Of a schema that is kept; a tool has less than 50. What is worked out of one may grow with the
square, where each schema of an `anyOf` is joined with what stands beside it."""
_GROWING: Final = (
    *("pattern", "patternProperties", "propertyNames"),
    *("allOf", "dependentSchemas", "dependencies", "$dynamicRef", "$recursiveRef", "contains"),
)
"""Keywords that ask languages, or of which sets multiply, perhaps when a text gets there."""


class Reading:
    """What a schema means.

    Args:
        root: The schema.
        source: Its nodes.
        report: What is done with its keywords.
        limits: Budgets.
        asserts_formats: `format` is enforced.
        objects: Only objects count as values.

    Attributes:
        expr: The whole schema.
        meaning: The sets of its expressions. Whoever asks it or `emptiness` holds its lock.
        emptiness: Which of them have values.
        report: As given.
        is_plain: What is remembered here depends on the schema alone, not on any text, and stays
            small: no values are compared, nothing is multiplied out or searched, and there are few
            nodes.

    Raises:
        RegexSyntaxError: A pattern of it does not parse.
        UnsupportedFeatureError: Something cannot be honoured exactly.
        UnsatisfiableError: It has no value.
        LimitExceededError: What its keywords multiply to is larger than the limits allow.
    """

    def __init__(
        self,
        root: JSON,
        source: Source,
        report: Report,
        limits: Limits,
        *,
        asserts_formats: bool,
        objects: bool = False,
    ) -> None:
        self.report = report
        self.meaning = Meaning(source, limits, asserts_formats=asserts_formats)
        self.meaning.check()
        self.emptiness = Emptiness(self.meaning)
        self.expr = self.meaning.expr(root)
        if not _has_value(root, self.meaning, self.emptiness, objects=objects):

            def look() -> tuple[bool, int]:
                other = Meaning(source, limits, asserts_formats=asserts_formats)
                found = _has_value(root, other, Emptiness(other), objects=objects)
                return not found, other.num_sets

            raise unsatisfiable(source, look)
        asking = places(source)
        if asking is not None:
            audit(self.expr, self.meaning, self.emptiness, asking)
        self._num_nodes = len(source.nodes)
        self.is_plain = (
            self._num_nodes <= _MOST_NODES
            and source.keywords.isdisjoint(_GROWING)
            and not needs_audit(source)
            and not any(node.targets and len(node.names) > 1 for node in source.nodes)
        )

    @property
    def nbytes(self) -> int:
        """About how many bytes it holds, or will."""
        return _READING_BYTES + _NODE_BYTES * self._num_nodes + self.meaning.strings.nbytes


def _has_value(root: JSON, meaning: Meaning, emptiness: Emptiness, *, objects: bool) -> bool:
    expr = meaning.expr(root)
    if not objects:
        return emptiness.has_value(expr)
    return any(map(emptiness.object_has_value, meaning.shapes(expr).objects))


class Readings:
    """Plain readings by the content of their schema, those used last. Thread-safe.

    Args:
        max_bytes: Bound on what they hold; 0 keeps none.
    """

    def __init__(self, max_bytes: int = MAX_READINGS_BYTES) -> None:
        self.max_bytes = max_bytes
        self.num_bytes = 0
        self._kept: OrderedDict[Hashable, tuple[Reading, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Reading | None:
        """The reading of a schema, if it is kept."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def put(self, key: Hashable, reading: Reading, key_bytes: int) -> None:
        """Keep a reading that is plain, and so many of those used before as there is room for."""
        num_bytes = reading.nbytes + 2 * key_bytes
        if not reading.is_plain or num_bytes > self.max_bytes:
            return
        with self._lock:
            if key in self._kept:
                return
            self._kept[key] = reading, num_bytes
            self.num_bytes += num_bytes
            while self.num_bytes > self.max_bytes:
                self.num_bytes -= self._kept.popitem(last=False)[1][1]

    def __len__(self) -> int:
        return len(self._kept)


READINGS: Final = Readings()
"""Those of this process."""


def content_of(root: JSON) -> str | None:
    """A text that tells apart all schemas that `read_schema` returns; None for some large ones."""
    try:
        return repr(root)  # of exact types, so 1, 1.0, True and "1" differ, and orders do
    except (RecursionError, ValueError):  # nested deep, or with a number of thousands of digits
        return None
