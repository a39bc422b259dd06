r"""Free text: anything at all, until one of some triggers has appeared.

A trigger is found wherever it stands: spread over tokens, at the end of one token or inside it, or
as a special token (see `markers`). The earliest end of a trigger wins; where several end at once,
what follows may follow any of them. So from the start to the first end the text is free, and after
it, it is what follows that trigger.

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
from typing import Final

from constrain.algebra.terms import (
    ANY_BYTE,
    EMPTY,
    EPS,
    ByteClass,
    Rule,
    Term,
    alt,
    byte_class,
    cat,
    special_token,
    star,
)
from constrain.errors import UnsatisfiableError
from constrain.frontends.tags.markers import marker, special_parts

__all__ = ["ANY_TEXT", "Trigger", "free_text", "text_that_does_not_begin", "triggers_of"]

Trigger = tuple[str, Callable[[Term], Term]]
"""A text that is not empty, and what follows it; the function is given the free text itself."""

ANY_TEXT: Final = star(alt((ANY_BYTE, special_token(others=True))))
"""Any bytes and special tokens, end tokens left out."""

_ALL_BYTES: Final = (1 << 256) - 1
_State = frozenset[int]
_START: Final[_State] = frozenset()


def free_text(
    triggers: Iterable[Trigger],
    *,
    may_end: bool,
    excludes: Iterable[str] = (),
    stops: Iterable[str] = (),
    name: str = "free text",
) -> Term:
    """Any text until a trigger, then what follows that trigger.

    Args:
        triggers: What to wait for. The function may use its argument, the free text from its start,
            to come back to it.
        may_end: The text may also end before any trigger.
        excludes: Texts that may not appear before a trigger. Where one ends together with a
            trigger, the trigger wins.
        stops: Names of special tokens that are no part of free text.
        name: Of the rules.

    Raises:
        UnsatisfiableError: It may not end, and no trigger can ever appear: each holds another
            earlier, or what is excluded.

    Cost: O(total length of the triggers); a state then costs as much as bytes go on from there.
    """
    made = _FreeText(list(triggers), may_end, list(excludes), frozenset(stops), name)
    if not may_end and not made.can_trigger():
        raise UnsatisfiableError(
            f"{name} can never end: none of its triggers can appear",
            hint="a trigger that holds another trigger, or what is excluded, is never complete",
        )
    return made.rule(_START)


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
    """The tree of the triggers, and a rule for each state."""

    def __init__(
        self,
        triggers: list[Trigger],
        may_end: bool,
        excludes: list[str],
        stops: frozenset[str],
        name: str,
    ) -> None:
        self._triggers = triggers
        self._may_end = may_end
        self._name = name
        self._rules: dict[_State, Rule] = {}
        self._bytes: list[dict[int, int]] = [{}]
        self._specials: list[dict[str, int]] = [{}]
        self._ends: list[list[int]] = [[]]  # numbers of the triggers that are complete at a node
        self._excluded: list[bool] = [False]
        for i, (text, _) in enumerate(triggers):
            self._ends[self._insert(text)].append(i)
        for text in excludes:
            self._excluded[self._insert(text)] = True
        named = {s for edges in self._specials for s in edges}
        self._names = sorted(named - stops)
        self._no_others = sorted(named | stops)
        self._follows: dict[int, Term] = {}

    def _insert(self, text: str) -> int:
        if not text:
            raise ValueError("a trigger is not empty")
        data = text.encode()
        path = [0]
        for b in data:
            node = self._bytes[path[-1]].get(b)
            if node is None:
                node = len(self._bytes)
                self._bytes[path[-1]][b] = node
                self._bytes.append({})
                self._specials.append({})
                self._ends.append([])
                self._excluded.append(False)
            path.append(node)
        bounds = _byte_offsets(text)
        for first, stop in special_parts(text):
            self._specials[path[bounds[first]]][text[first:stop]] = path[bounds[stop]]
        return path[-1]

    def can_trigger(self) -> bool:
        """Whether some trigger, written as bytes, is the first to end."""
        for text, _ in self._triggers:
            state, data = _START, text.encode()
            for i, b in enumerate(data):
                state = self._step(state, b)
                if any([self._ends[node] for node in state]):
                    if i == len(data) - 1:
                        return True
                    break
                if any([self._excluded[node] for node in state]):
                    break
        return False

    def _step(self, state: _State, b: int) -> _State:
        return frozenset([n for m in (0, *state) if (n := self._bytes[m].get(b)) is not None])

    def _jump(self, state: _State, special: str) -> _State:
        edges = [self._specials[m].get(special) for m in (0, *state)]
        return frozenset([n for n in edges if n is not None])

    def rule(self, state: _State) -> Rule:
        """What may come in a state."""
        found = self._rules.get(state)
        if found is None:
            made = Rule(self._name, lambda: self._body(state), nullable=self._may_end)
            found = self._rules.setdefault(state, made)
        return found

    def _body(self, state: _State) -> Term:
        rest = _ALL_BYTES
        by_target: dict[_State, int] = {}
        for b in sorted({b for m in (0, *state) for b in self._bytes[m]}):
            target = self._step(state, b)
            by_target[target] = by_target.get(target, 0) | 1 << b
            rest &= ~(1 << b)
        by_target[_START] = by_target.get(_START, 0) | rest
        parts = [cat(ByteClass(m), self._reach(target)) for target, m in by_target.items()]
        by_name: dict[_State, list[str]] = {}
        for special in self._names:
            by_name.setdefault(self._jump(state, special), []).append(special)
        parts += [cat(special_token(*s), self._reach(target)) for target, s in by_name.items()]
        parts.append(cat(special_token(*self._no_others, others=True), self._reach(_START)))
        return alt([EPS, *parts] if self._may_end else parts)

    def _reach(self, state: _State) -> Term:
        """What may come when a step has led to a state."""
        ended = sorted({i for node in state for i in self._ends[node]})
        if ended:
            return alt([self._follow(i) for i in ended])
        if any([self._excluded[node] for node in state]):
            return EMPTY
        return self.rule(state)

    def _follow(self, i: int) -> Term:
        found = self._follows.get(i)
        if found is None:
            found = self._follows.setdefault(i, self._triggers[i][1](self.rule(_START)))
        return found


def _byte_offsets(text: str) -> Sequence[int]:
    """Where each code point starts in UTF-8, and where the last one ends."""
    offsets = [0]
    for c in text:
        offsets.append(offsets[-1] + len(c.encode()))
    return offsets
