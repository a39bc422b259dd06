"""What a chart knows, in the grammar's own names.

text {"a":     rules: value > object > member     could come: value's ways to begin, by name
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from constrain.algebra.store import DEAD, StateId, TermStore
from constrain.errors import LimitExceededError
from constrain.frontends.cfg.chart import Chart, Could, Input, Net, Piece, check_steps
from constrain.frontends.cfg.expressions import Terminal
from constrain.frontends.explanation import Derivation, Explanation, Part
from constrain.limits import DEFAULT_LIMITS, Limits

__all__ = ["ScannedText", "Scanner", "derive", "explain"]

_MOST_BYTES: Final = 4_000_000
"""Bytes that terminals are tried on, for one text."""

_MOST_PARTS: Final = 200


class Scanner:
    """Terminals, matched byte by byte: each end counts, not only the longest."""

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self._store = TermStore(limits)
        self._starts: dict[Terminal, StateId] = {}
        self._after: dict[StateId, dict[int, StateId]] = {}
        self._next: dict[StateId, frozenset[int]] = {}

    def start(self, terminal: Terminal) -> StateId:
        """The state before a terminal."""
        found = self._starts.get(terminal)
        if found is None:
            found = self._starts[terminal] = self._store.intern(terminal.term)
        return found

    def after(self, state: StateId, byte: int) -> StateId:
        """The state one byte later."""
        row = self._after.setdefault(state, {})
        found = row.get(byte)
        if found is None:
            found = row[byte] = self._store.advance(state, bytes((byte,)))
        return found

    def may_end(self, state: StateId) -> bool:
        """Whether a terminal may end in a state."""
        return self._store.nullable(state)

    def bytes_after(self, state: StateId) -> frozenset[int]:
        """The bytes that may come next."""
        found = self._next.get(state)
        if found is None:
            found = self._next[state] = frozenset(self._store.next_bytes(state))
        return found

    def can_go_on(self, state: StateId, expected: frozenset[int]) -> bool:
        """Whether one of some bytes may come next."""
        return not expected.isdisjoint(self.bytes_after(state))


class ScannedText:
    """Bytes as the input of a chart; a place is an offset.

    Args:
        scanner: Of the terminals.
        data: What comes before the place that is asked about.
        expected: The bytes that could come there.
    """

    def __init__(self, scanner: Scanner, data: bytes, expected: bytes) -> None:
        self._scanner = scanner
        self._data = data
        self._expected = frozenset(expected)
        self._num_bytes = 0
        self._matches: dict[tuple[Terminal, int], tuple[list[int], StateId]] = {}

    @property
    def end(self) -> int:
        """All bytes."""
        return len(self._data)

    def ends(self, terminal: Terminal, place: int) -> Iterable[int]:
        """See `Input.ends`."""
        return self._match(terminal, place)[0]

    def is_open(self, terminal: Terminal, place: int) -> bool:
        """See `Input.is_open`."""
        state = self._match(terminal, place)[1]
        return state != DEAD and self._scanner.can_go_on(state, self._expected)

    def symbol(self, place: int) -> str | None:
        """Nothing is known."""
        return None

    def _match(self, terminal: Terminal, place: int) -> tuple[list[int], StateId]:
        key = (terminal, place)
        found = self._matches.get(key)
        if found is None:
            found = self._matches[key] = self._run(self._scanner.start(terminal), place)
        return found

    def _run(self, state: StateId, place: int) -> tuple[list[int], StateId]:
        scanner, data = self._scanner, self._data
        ends = [place] if scanner.may_end(state) else []
        at = place
        while at < len(data):
            state = scanner.after(state, data[at])
            at += 1
            if state == DEAD:
                break
            if scanner.may_end(state):
                ends.append(at)
        self._num_bytes += at - place
        check_steps(self._num_bytes, _MOST_BYTES)
        return ends, state


def explain(
    net: Net,
    start: str,
    text: Input,
    offset: int,
    name: Callable[[Could], str | None],
    is_shown: Callable[[str], bool],
    *,
    blanks: str | None = None,
) -> Explanation:
    """Read the text before a place, and say what could come there.

    Args:
        net: The grammar.
        start: Its start symbol.
        text: Up to the place.
        offset: The place, in bytes.
        name: What is said of a terminal, if anything.
        is_shown: Whether a rule is one of the grammar's own.
        blanks: A rule that no other has begun with; what is in it counts where nothing else is.

    Raises:
        LimitExceededError: It takes too many steps.
    """
    chart = Chart(net, start, text)
    chart.read()
    could = chart.could()
    others = [c for c in could if net.rule_of[c.node] != blanks]
    named = [(c, called) for c in others or could if (called := name(c)) is not None]
    begun = dict.fromkeys(called for c, called in named if c.place < text.end)
    names = dict.fromkeys(called for _, called in named)
    before = None if blanks is None else chart.earliest(blanks)
    if blanks is not None and not others:
        before = min([c.place for c in could], default=text.end)
    path = [rule for rule in chart.path([c for c, _ in named], before) if is_shown(rule)]
    return Explanation(offset, tuple(names), tuple(begun), tuple(path))


def derive(
    net: Net,
    start: str,
    text: Input,
    name: Callable[[Terminal], str | None],
    is_shown: Callable[[str], bool],
    place_of: Callable[[Piece], tuple[int, int]] = lambda piece: (piece.start, piece.end),
) -> Derivation | None:
    """Read a whole text, and say how it is derived at the top; the start symbol, if that is long.

    Args:
        net: The grammar.
        start: Its start symbol.
        text: The text.
        name: What a terminal is called; None leaves it out.
        is_shown: Whether a rule is one of the grammar's own.
        place_of: Where a piece begins and ends, in bytes.
    """
    chart = Chart(net, start, text)
    try:
        chart.read()
    except LimitExceededError:
        return Derivation((start,))
    path = [start]
    at = Piece(start, 0, text.end)
    seen = {start}
    while True:
        assert isinstance(at.label, str)
        pieces = chart.derived(at.label, at.start, at.end)
        if pieces is None:
            return None
        shown = [
            piece
            for piece in pieces
            if piece.end > piece.start
            and (isinstance(piece.label, str) or name(piece.label) is not None)
        ]
        only = shown[0] if len(shown) == 1 else None
        if only is None or not isinstance(only.label, str) or only.label in seen:
            break
        seen.add(only.label)
        if is_shown(only.label):
            path.append(only.label)
        at = only
    parts = []
    for piece in _flat(chart, shown, is_shown):
        called = piece.label if isinstance(piece.label, str) else name(piece.label)
        if called is not None:
            parts.append(Part(called, *place_of(piece)))
    return Derivation(tuple(path), tuple(parts))


def _flat(
    chart: Chart, pieces: Sequence[Piece], is_shown: Callable[[str], bool]
) -> Iterable[Piece]:
    """The pieces, with those of rules that are not shown in their place; the first of many."""
    todo = list(reversed(pieces))
    num = 0
    while todo and num < _MOST_PARTS:
        piece = todo.pop()
        if isinstance(piece.label, Terminal) or is_shown(piece.label):
            num += 1
            yield piece
            continue
        inner = chart.derived(piece.label, piece.start, piece.end)
        todo += reversed(inner or [])
