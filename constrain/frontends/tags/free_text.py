r"""Free text: anything at all, until one of some triggers has appeared.

A trigger is found wherever it stands: spread over tokens, at the end of one token or inside it, or
as a special token (see `markers`). The earliest end of a trigger wins; where several end at once,
what follows may follow any of them. So from the start to the first end the text is free, and after
it, it is what follows that trigger.

A text that is excluded is no part of the free text. It may only begin before a trigger and end in
it: once it is there, the trigger that was begun has to be completed.

The tokens of the free text before a trigger begins may be counted: with the last of them it is
over, and what was begun of a trigger is still completed, or what ends the text comes anew.

How: the triggers are one tree of bytes, where a special token is an edge that skips over its own
name. A state is the set of the nodes that the last bytes have reached; there is a rule for each,
made when a text gets there. Without special tokens that is the automaton of Aho and Corasick.

    >>> from constrain.algebra.store import TermStore
    >>> from constrain.algebra.terms import literal
    >>> store = TermStore()
    >>> start = store.intern(free_text([("<t>", lambda again: literal(b"1"))], may_end=False))
    >>> [store.nullable(store.advance(start, w)) for w in (b"a<<t>1", b"a<t>2", b"a")]
    [True, False, False]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from constrain.algebra.terms import (
    ANY_BYTE,
    EMPTY,
    EPS,
    ByteClass,
    Rule,
    Term,
    Timed,
    alt,
    byte_class,
    cat,
    special_token,
    star,
)
from constrain.errors import UnsatisfiableError, UnsupportedFeatureError
from constrain.frontends.tags.markers import marker, special_parts
from constrain.limits import DEFAULT_LIMITS, Limits

__all__ = ["ANY_TEXT", "Trigger", "free_text", "text_that_does_not_begin", "triggers_of"]

Trigger = tuple[str, Callable[[Term], Term]]
"""A text that is not empty, and what follows it; the function is given the free text itself."""

ANY_TEXT: Final = star(alt((ANY_BYTE, special_token(others=True))))
"""Any bytes and special tokens, end tokens left out."""

_LONGEST: Final = 1_000
_ALL_BYTES: Final = (1 << 256) - 1


class _State(NamedTuple):
    """Where free text is.

    Attributes:
        nodes: Those that the last bytes have reached.
        free: A trigger may still begin.
        left: How many tokens may still end before that is over; None if they are not counted.
    """

    nodes: frozenset[int]
    free: bool = True
    left: int | None = None


_START: Final = _State(frozenset())


def free_text(
    triggers: Iterable[Trigger],
    *,
    may_end: bool,
    excludes: Iterable[str] = (),
    stops: Iterable[str] = (),
    most_tokens: int | None = None,
    otherwise: Term = EMPTY,
    name: str = "free text",
    limits: Limits = DEFAULT_LIMITS,
) -> Term:
    """Any text until a trigger, then what follows that trigger.

    Args:
        triggers: What to wait for. The function may use its argument, the free text from its start,
            to come back to it.
        may_end: The text may also end before any trigger.
        excludes: Texts that may not appear before a trigger begins.
        stops: Names of special tokens that are no part of free text.
        most_tokens: How many tokens it may come to, > 0, before a trigger begins.
        otherwise: What comes when it has come to these; not empty.
        name: Of the rules.
        limits: `max_source_nodes` bounds the tree.

    Raises:
        UnsupportedFeatureError: A trigger is longer than 1,000 bytes.
        LimitExceededError: The tree is larger than the limits allow.
        UnsatisfiableError: It may not end, and no trigger after which it may can ever appear: each
            holds another one that ends earlier.

    Cost: O(total length of the triggers); a state then costs as much as bytes go on from there.
    """
    made = _FreeText(list(triggers), may_end, frozenset(stops), name)
    for i, (text, _) in enumerate(made.triggers):
        made.add(text, i, limits)
    for text in excludes:
        made.add(text, None, limits)
    if not may_end and not made.can_trigger():
        raise UnsatisfiableError(
            f"{name} can never end: nothing that ends it can appear",
            hint="a text that holds a trigger or another end of it is never complete",
        )
    if most_tokens is None:
        return made.rule(_START)
    return made.counted(most_tokens, otherwise)


def triggers_of(begin: str, triggers: Iterable[str], rest: Term, *, again: bool) -> list[Trigger]:
    """Where free text turns into what begins with `begin`, a text that some triggers begin.

    That is at a trigger, or at a special token in `begin` that goes past the end of one.

    Args:
        begin: The text.
        triggers: Beginnings of it.
        rest: What follows it.
        again: After the rest the text is free again.
    """

    def follow(at: int) -> Callable[[Term], Term]:
        tail = cat(marker(begin, at), rest)
        return (lambda text: cat(tail, text)) if again else (lambda text: tail)

    lengths = {len(trigger) for trigger in triggers}
    past = {
        stop
        for first, stop in special_parts(begin)
        if any([first < length < stop for length in lengths])
    }
    return [(begin[:at], follow(at)) for at in sorted(lengths | past)]


def text_that_does_not_begin(opening: str) -> Term:
    """Any text but those that begin with `opening`, written as bytes or special tokens.

    Raises:
        ValueError: `opening` is empty.
    """
    if not opening:
        raise ValueError("every text begins with the empty text")
    data = opening.encode()
    bounds = _byte_offsets(opening)
    skips: dict[int, list[tuple[str, int]]] = {}
    for first, stop in special_parts(opening):
        skips.setdefault(bounds[first], []).append((opening[first:stop], bounds[stop]))
    after: list[Term] = [EMPTY] * (len(data) + 1)
    for at in range(len(data) - 1, -1, -1):
        names = [special for special, _ in skips.get(at, ())]
        after[at] = alt(
            [
                EPS,
                cat(byte_class([data[at]]), after[at + 1]),
                *[cat(special_token(s), after[stop]) for s, stop in skips.get(at, ())],
                cat(ByteClass(_ALL_BYTES & ~(1 << data[at])), ANY_TEXT),
                cat(special_token(*names, others=True), ANY_TEXT),
            ]
        )
    return after[0]


class _FreeText:
    """The tree of the triggers, and a rule for each state. Complete once all texts are added."""

    def __init__(
        self, triggers: list[Trigger], may_end: bool, stops: frozenset[str], name: str
    ) -> None:
        self.triggers = triggers
        self._may_end = may_end
        self._stops = stops
        self._name = name
        self._rules: dict[_State, Rule] = {}
        self._bytes: list[dict[int, int]] = [{}]
        self._specials: dict[int, dict[str, int]] = {}
        self._ends: dict[int, list[int]] = {}  # numbers of the triggers complete at a node
        self._excluded: set[int] = set()
        self._on_triggers: set[int] = set()
        self._follows: dict[int, Term] = {}
        self._otherwise: Term = EMPTY

    def add(self, text: str, number: int | None, limits: Limits) -> None:
        """Take in the text of a trigger, or of what is excluded."""
        data = text.encode()
        if not data:
            raise ValueError("a trigger is not empty")
        if len(data) > _LONGEST:  # a state may hold a node for each byte
            raise UnsupportedFeatureError(
                f"a text of {len(data):,} bytes to wait for in {self._name}",
                hint=f"up to {_LONGEST:,} are honoured",
            )
        path = [0]
        for b in data:
            node = self._bytes[path[-1]].get(b)
            if node is None:
                node = self._bytes[path[-1]][b] = len(self._bytes)
                self._bytes.append({})
            path.append(node)
        limits.check("max_source_nodes", len(self._bytes), "the triggers of free text")
        if number is None:
            self._excluded.add(path[-1])
        else:
            self._ends.setdefault(path[-1], []).append(number)
            self._on_triggers.update(path)
        bounds = _byte_offsets(text)
        for first, stop in special_parts(text):
            special = text[first:stop]
            self._specials.setdefault(path[bounds[first]], {})[special] = path[bounds[stop]]

    def can_trigger(self) -> bool:
        """Whether some trigger, written as bytes, is the first to end and leads to an end."""
        for text, follow in self.triggers:
            if follow(EMPTY) is EMPTY:  # only free text follows again, if anything
                continue
            state, data = _START, text.encode()
            for i, b in enumerate(data):
                state = self._step(state, b)
                if not state.nodes.isdisjoint(self._ends):
                    if i == len(data) - 1:
                        return True
                    break
        return False

    def _from(self, state: _State) -> Iterable[int]:
        """The nodes that a step may be taken from."""
        return (0, *state.nodes) if state.free else state.nodes

    def _step(self, state: _State, b: int) -> _State:
        edges = [self._bytes[m].get(b) for m in self._from(state)]
        return self._arrived(state, [n for n in edges if n is not None])

    def _jump(self, state: _State, special: str) -> _State:
        edges = [self._specials.get(m, {}).get(special) for m in self._from(state)]
        return self._arrived(state, [n for n in edges if n is not None])

    def _arrived(self, state: _State, nodes: list[int]) -> _State:
        """The state after a step to some nodes."""
        if state.free and self._excluded.isdisjoint(nodes):
            return state._replace(nodes=frozenset(nodes))
        return self._closing(nodes)

    def _closing(self, nodes: Iterable[int]) -> _State:
        """The state in which the triggers that have begun are to be completed."""
        return _State(frozenset(self._on_triggers.intersection(nodes)), free=False)

    def rule(self, state: _State) -> Rule:
        """What may come in a state."""
        found = self._rules.get(state)
        if found is None:
            may_end = self._may_end and state.free
            made = Rule(self._name, lambda: self._body(state), nullable=may_end)
            if state.left is not None:
                made = Timed(
                    self._name,
                    lambda: self._body(state),
                    lambda inside: self._at_token_end(state),
                    lambda: self.rule(state._replace(left=None)),
                    nullable=may_end,
                )
            found = self._rules.setdefault(state, made)
        return found

    def counted(self, most_tokens: int, otherwise: Term) -> Rule:
        """What may come before any text, whose tokens are counted from its first byte on."""
        self._otherwise = otherwise
        start = _START._replace(left=most_tokens)
        return Rule(self._name, lambda: self._body(start), nullable=self._may_end)

    def _at_token_end(self, state: _State) -> tuple[Term, Term]:
        """What comes in place of a state, and what comes when the text is cut short."""
        assert state.left is not None
        if state.left > 1:
            return self.rule(state._replace(left=state.left - 1)), EMPTY
        closing = self._closing(state.nodes)
        return self.rule(closing) if closing.nodes else EMPTY, self._otherwise

    def _body(self, state: _State) -> Term:
        rest = _ALL_BYTES
        by_target: dict[_State, int] = {}
        for b in sorted({b for m in self._from(state) for b in self._bytes[m]}):
            target = self._step(state, b)
            by_target[target] = by_target.get(target, 0) | 1 << b
            rest &= ~(1 << b)
        elsewhere = state._replace(nodes=_START.nodes)
        if state.free:
            by_target[elsewhere] = by_target.get(elsewhere, 0) | rest
        parts = [cat(ByteClass(m), self._reach(target)) for target, m in by_target.items()]
        by_name: dict[_State, list[str]] = {}
        for special in sorted({s for m in self._from(state) for s in self._specials.get(m, ())}):
            if special not in self._stops:
                by_name.setdefault(self._jump(state, special), []).append(special)
        parts += [cat(special_token(*s), self._reach(target)) for target, s in by_name.items()]
        if state.free:
            named = self._stops.union(*by_name.values())
            other = special_token(*sorted(named), others=True)
            parts.append(cat(other, self._reach(elsewhere)))
        return alt([EPS, *parts] if self._may_end and state.free else parts)

    def _reach(self, state: _State) -> Term:
        """What may come when a step has led to a state."""
        ended = sorted({i for node in state.nodes for i in self._ends.get(node, ())})
        if ended:
            return alt([self._follow(i) for i in ended])
        return self.rule(state) if state.free or state.nodes else EMPTY

    def _follow(self, i: int) -> Term:
        found = self._follows.get(i)
        if found is None:
            found = self._follows.setdefault(i, self.triggers[i][1](self.rule(_START)))
        return found


def _byte_offsets(text: str) -> Sequence[int]:
    """Where each code point starts in UTF-8, and where the last one ends."""
    offsets = [0]
    for c in text:
        offsets.append(offsets[-1] + len(c.encode()))
    return offsets
