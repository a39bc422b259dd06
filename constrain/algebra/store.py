"""The term store: the terms of one grammar, interned, with derivatives made as they are needed.

A `TermStore` owns the arena that the kernels of `kernels/derive` work on. It translates terms to
programs for them, makes rule bodies when a kernel asks for one, and gives room when one runs out of
it. States are ids of terms: int32, stable, `DEAD` is 0.

    >>> from constrain.algebra.terms import literal, star
    >>> store = TermStore()
    >>> s = store.intern(star(literal(b"ab")))
    >>> store.nullable(s), store.advance(s, b"aba") != DEAD, store.advance(s, b"aa") == DEAD
    (True, True, True)

Not thread-safe: whoever shares a store holds its `lock` around every call.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NewType, Protocol

import numpy as np
import numpy.typing as npt

from constrain.algebra import terms as t
from constrain.algebra.arena import (
    COUNTS,
    FIRST_CAPACITY,
    SMALL,
    TABLES,
    Int32Array,
    empty_arena,
    grown_arena,
    held_bytes,
)
from constrain.algebra.program import write_program
from constrain.algebra.rules import RuleNumbers
from constrain.errors import LimitExceededError, UnsupportedFeatureError
from constrain.kernels.derive import advance, build
from constrain.kernels.derive import cpu as ops
from constrain.kernels.derive import layout as lay
from constrain.limits import DEFAULT_LIMITS, Limits

__all__ = ["DEAD", "OTHER_SPECIAL", "OTHER_TOKEN", "Start", "StateId", "TermStore", "TokenNames"]

StateId = NewType("StateId", int)
"""An interned term: all that may still come."""

DEAD: Final = StateId(0)

OTHER_TOKEN: Final = lay.OTHER_TOKEN
OTHER_SPECIAL: Final = lay.OTHER_SPECIAL
_OTHERS: Final = [OTHER_TOKEN, OTHER_SPECIAL]

PATIENCE: Final = 8
"""How often a term is stepped through by one byte before the derivatives by all bytes are made,
which cost about as much as so many steps. 0 makes them at once."""

_TERM_BYTES: Final = 100
"""A term in Python with its entry here: estimated, as is a rule, from 100 schemas of MaskBench."""
_RULE_BYTES: Final = 2_000
"""A rule with its body and what a front-end knows of it."""
_COMES_AGAIN: Final = (t.Rule, t.Branch, t.Branches)

_NEEDS: Final = {
    lay.NEED_NODES: "nodes",
    lay.NEED_POOL: "pool",
    lay.NEED_CLASSES: "classes",
    lay.NEED_PARTITIONS: "partitions",
    lay.NEED_TARGETS: "targets",
    lay.NEED_WORK: "work",
    lay.NEED_FRAMES: "frames",
}


class TokenNames(Protocol):
    """What a store asks of a vocabulary."""

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """Ids of special tokens by name."""
        ...

    def id_of(self, name: str | int) -> int:
        """The id of the token of a name.

        Raises:
            VocabularyError: There is none.
        """
        ...


@dataclass(frozen=True, slots=True)
class Start:
    """What a store begins with.

    Attributes:
        capacity: Of the arena.
        operands: `~state` of each term.
        arena: As of a store.
    """

    capacity: dict[str, int]
    operands: dict[t.Term, int]
    arena: Int32Array


class TermStore:
    """Interned terms and their derivatives.

    Args:
        limits: `max_terms` and `max_emptiness_states` bound what may be made.
        tokens: Of the vocabulary that texts are made of. By default a text is only bytes.
        start: What it begins with, its own to change. By default nothing but a few constants.

    Attributes:
        lock: Held by whoever calls, when the store is shared.
        arena: The flat array of `kernels/derive/layout.py`. Replaced by a larger one when it grows.
        room: How many terms it has room for.
        names_tokens: Some term made so far names a token.
    """

    def __init__(
        self,
        limits: Limits = DEFAULT_LIMITS,
        tokens: TokenNames | None = None,
        start: Start | None = None,
    ) -> None:
        self.lock = threading.RLock()
        self._limits = limits
        self._rules = RuleNumbers()
        self.names_tokens = False
        self._counts_matter = False
        self._captures: list[t.Capture] = []
        self._tokens = tokens
        self._special = frozenset(tokens.special_tokens.values() if tokens else ())
        self._token_sets: dict[tuple[frozenset[str | int], bool, bool], int] = {}
        if start is None:
            start = Start(dict(FIRST_CAPACITY), {}, empty_arena(FIRST_CAPACITY))
            build(start.arena, np.zeros(0, np.int32), np.zeros(0, np.int32))
        self._capacity, self._operands, self.arena = start.capacity, start.operands, start.arena
        self.room = self._capacity["nodes"]
        self.arena[lay.PATIENCE] = PATIENCE
        self.arena[lay.EMPTINESS_LIMIT] = min(limits.max_emptiness_states, 2**31 - 2)

    # Terms

    def intern(self, term: t.Term, *, keep: bool = True) -> StateId:
        """The state that a term is. Two terms that normalise alike have one state.

        Cost: one pass over the parts of the term that are not behind a rule.

        Args:
            term: The term.
            keep: Remember all of its parts, which may come again. Else only rules, branches and
                what has no rule in it: where rules are made without end, other parts of their
                bodies come once.

        Raises:
            LimitExceededError: It is larger than the limits allow.
        """
        operand = self._operands.get(term)
        if operand is None:
            program, terms = write_program(term, self._operands, self)
            self._limits.check("max_program_bytes", 4 * len(program), "a batch of terms")
            operands: list[int] = (~self._build_all(program, len(terms))).tolist()
            operand = operands[-1]
            pairs: Iterable[tuple[t.Term, int]] = zip(terms, operands, strict=True)
            if not keep:
                pairs = [p for p in pairs if p[0].regular or type(p[0]) in _COMES_AGAIN]
            self._operands.update(pairs)
        return StateId(~operand)

    # What a program names by numbers (`program.Numbers`)

    def rule_id(self, rule: t.Rule) -> int:
        """The number of a rule, the same each time."""
        return self._rules.id_of(rule)

    def branch_id(self, branches: t.Branches) -> int:
        """The number of the first of some rules; the others follow it."""
        return self._rules.first_of(branches)

    def capture_id(self, capture: t.Capture) -> int:
        """A number for a capture."""
        found = len(self._captures)
        if found >= self._capacity["captures"]:
            self._grow("captures", found + 1)
        self._captures.append(capture)
        return found

    def check_count(self, count: int) -> None:
        """Raise if a repeat asks for more than the limits allow.

        Raises:
            LimitExceededError: It does.
        """
        self._limits.check("max_repeat", count, "a repeat")

    def token_set(self, term: t.Token) -> int | None:
        """The number of a set of tokens; None if no token is in it."""
        if not (term.others or any(self._codes(name, term) for name in term.names)):
            return None
        key = (term.names, term.others, term.special)
        found = self._token_sets.get(key)
        if found is None:
            codes = sorted({code for name in term.names for code in self._codes(name, term)})
            listed = len(codes)
            # What stands for all others is in the list of all codes, not in the set.
            if term.others:
                codes += [lay.OTHER_SPECIAL] if term.special else _OTHERS
            found, at = len(self._token_sets), int(self.arena[lay.NUM_TOKEN_IDS])
            for what, needed in (("token_sets", found + 1), ("token_ids", at + len(codes))):
                if needed > self._capacity[what]:
                    self._grow(what, needed)
            self._section(lay.TOKEN_IDS)[at : at + len(codes)] = codes
            kind = lay.LISTED
            if term.others:
                kind = lay.OTHER_SPECIALS if term.special else lay.ALL_OTHERS
            self._section(lay.TOKEN_SETS)[3 * found : 3 * found + 3] = (at, listed, kind)
            self.arena[lay.NUM_TOKEN_IDS] = at + len(codes)
            self._token_sets[key] = found
            self.names_tokens = True
        return found

    def _codes(self, name: str | int, term: t.Token) -> list[int]:
        """The code of a name in a term; none if there need not be such a token."""
        if self._tokens is None:
            return []
        if not term.special:
            return [self.token_code(self._tokens.id_of(name))]
        found = self._tokens.special_tokens.get(str(name))
        return [] if found is None else [self.token_code(found)]

    def token_code(self, token_id: int) -> int:
        """A token as a step of its own: its id, told apart if it is special."""
        return token_id + lay.SPECIAL if token_id in self._special else token_id

    def concatenate(self, parts: Sequence[StateId]) -> StateId:
        """The state of some states' languages one after another; `parts` is not empty."""
        return self._build([ops.OP_CAT, len(parts), *[~part for part in parts]])

    def repeat(self, body: StateId, lo: int, hi: int) -> StateId:
        """The state of lo..hi times a state's language, which must not be nullable."""
        return self._build([ops.OP_REPEAT, ~body, lo, hi])

    def _build(self, instruction: list[int]) -> StateId:
        """What one instruction makes."""
        return StateId(int(self._build_all(instruction, 1)[0]))

    def _build_all(self, instructions: Iterable[int], count: int) -> Int32Array:
        """What each of `count` instructions makes."""
        program = np.frombuffer(array("i", instructions), np.int32)
        results = np.zeros(count, np.int32)
        build(self.arena, program, results)
        while self.serve():
            build(self.arena, program, results)
        return results

    def build_rules(self, budget: int, max_terms: int) -> int:
        """Make bodies of rules that nothing has needed yet, oldest first; returns how many.

        Args:
            budget: How many at most.
            max_terms: Terms in the store at which to stop: bodies may be large.
        """
        made = number = 0
        while number < len(self._rules) and made < budget and self.num_terms <= max_terms:
            rule = self._rules.rule(number)
            number += 1
            node = self.intern(rule)
            if not self.arena[self.arena[lay.BODY] + node]:
                self._make_body(node)
                made += 1
        return made

    def blur(self, state: StateId) -> StateId:
        """What a state is where the texts that it captures are not known; itself if there are none.

        The rows of both are the same.
        """
        if not self.is_bytewise(state):
            return state
        return self._build([ops.OP_BLUR, state])

    def is_bytewise(self, state: StateId) -> bool:
        """Whether a state captures a text: its row then tells only what `walk` says it tells."""
        return bool(self._flags(state) & lay.BYTEWISE)

    def is_blurred(self, state: StateId) -> bool:
        """Whether what follows a text that is not known stands somewhere in a state."""
        return bool(self._flags(state) & lay.BLURRED)

    # States

    def nullable(self, state: StateId) -> bool:
        """Whether the text so far is a sentence."""
        return bool(self._flags(state) & lay.NULLABLE)

    def advance(self, state: StateId, data: bytes) -> StateId:
        """The state after `data`, or DEAD if no sentence begins so.

        Raises:
            LimitExceededError: The grammar grew past its limits.
        """
        return self.after(state, np.frombuffer(data, np.uint8), 0, len(data))

    def advance_until_dead(self, state: StateId, data: bytes) -> tuple[StateId, int]:
        """The state after `data`, and how many bytes were read, the fatal one included."""
        return self.advance_in(state, np.frombuffer(data, np.uint8), 0, len(data))

    def advance_in(
        self, state: StateId, data: npt.NDArray[np.uint8], start: int, stop: int
    ) -> tuple[StateId, int]:
        """Like `advance_until_dead` for data[start:stop]; the count is an index into data."""
        now = int(state)

        def step() -> None:
            nonlocal now, start
            now = advance(self.arena, now, data, start, stop)
            now = now if now >= 0 else ~now
            start = int(self.arena[lay.REACHED])

        self._run(step)
        return StateId(now), start

    def after(self, state: StateId, data: npt.NDArray[np.uint8], start: int, stop: int) -> StateId:
        """The state after data[start:stop], or DEAD. Half the time of `advance_in`."""
        found: StateId = advance(self.arena, state, data, start, stop)
        if found >= 0:
            return found
        self.arena[lay.STATUS] = lay.OK  # what was missing is missed again
        return self.advance_in(state, data, start, stop)[0]

    @property
    def counts_tokens(self) -> bool:
        """Some term made so far is another one once a token has ended (`Timed`)."""
        return self._rules.count_tokens

    @property
    def counts_matter(self) -> bool:
        """Whether masks depend on what is left of a count, as far as bodies were made."""
        return self._counts_matter

    def rule_of(self, state: StateId) -> t.Rule | None:
        """The rule that a state is; None if it is none."""
        kind, number, heads = self.arena[lay.NODE * state + lay.KIND :][:3].tolist()
        return self._rules.rule(number) if kind == lay.RULE and not heads else None

    def make_first(self, state: StateId) -> None:
        """Make rules, and what follows captured texts, as far as they come first in a state.

        A step by a byte does that, too. Only then are all tokens known that may be a step.
        """
        self.advance(state, b"")
        if self.is_bytewise(state):
            self.after_token(state, OTHER_TOKEN)

    @property
    def tokens_named(self) -> frozenset[int]:
        """The codes of the tokens that terms made so far name, as steps of their own.

        `OTHER_TOKEN` and `OTHER_SPECIAL` are among them where a term names all tokens but some.
        """
        count = int(self.arena[lay.NUM_TOKEN_IDS])
        return frozenset(self._section(lay.TOKEN_IDS)[:count].tolist())

    def after_token(self, state: StateId, code: int) -> StateId:
        """The state after a token as a whole, or DEAD if no term here names it.

        Args:
            state: A state.
            code: The token's, one of `tokens_named`.

        Raises:
            LimitExceededError: The grammar grew past its limits.
        """
        return self._build([ops.OP_STEP, state, code])

    def union(self, *states: StateId) -> StateId:
        """The state of what may follow any of some states."""
        alive = [state for state in dict.fromkeys(states) if state != DEAD]
        if len(alive) < 2:
            return alive[0] if alive else DEAD
        return self._build([ops.OP_ALT, len(alive), *[~state for state in alive]])

    def intersection(self, *states: StateId) -> StateId:
        """The state of what may follow each of some states."""
        return self._build([ops.OP_AND, len(states), *[~state for state in states]])

    def is_empty(self, state: StateId) -> bool:
        """Whether no string at all is in the state's language. Exact; `And`/`Not` are searched.

        Raises:
            LimitExceededError: The search passed `max_emptiness_states`.
        """
        return self.advance(state, b"") == DEAD

    def is_part(self, state: StateId, of: StateId, *, max_states: int) -> bool | None:
        """Whether all texts of a state are texts of another; None if a search takes too long.

        Args:
            state: A state without captures and tokens that are named.
            of: Another one.
            max_states: How many states to search.
        """
        usual = int(self.arena[lay.EMPTINESS_LIMIT])
        self.arena[lay.EMPTINESS_LIMIT] = min(usual, max_states)
        try:
            outside = self._build([ops.OP_NOT, ~of])
            return self.is_empty(self.intersection(state, outside))
        except LimitExceededError:
            return None
        finally:
            self.arena[lay.EMPTINESS_LIMIT] = usual

    def next_bytes(self, state: StateId) -> bytes:
        """Which bytes may come next, ascending; none from a dead state."""
        if self.is_empty(state):
            return b""
        blurred = self.blur(state)
        if self._flags(blurred) & (lay.OPEN | lay.UNSURE):
            classes, targets = np.arange(256), np.full(256, -1, np.int32)
        else:
            classes, targets = self._row(blurred)
        undecided = [t < 0 or bool(self._flags(t) & lay.UNSURE) for t in targets.tolist()]
        alive = targets != DEAD
        if not any(undecided):
            return np.flatnonzero(alive[classes]).astype(np.uint8).tobytes()
        return bytes(
            [
                byte
                for byte, c in enumerate(classes.tolist())
                if (self.advance(state, bytes((byte,))) != DEAD if undecided[c] else alive[c])
            ]
        )

    def successors(self, state: StateId) -> dict[StateId, int]:
        """The live states one byte after a state, each with the number of bytes that lead there.

        Only for states that capture nothing: elsewhere every byte leads to a state of its own.
        """
        assert not self.is_bytewise(state), "a state that captures has no classes of bytes"
        if self.is_empty(state):
            return {}
        classes, targets = self._row(state)
        after, num_bytes = np.unique(targets[classes], return_counts=True)
        found = dict(zip(map(StateId, after.tolist()), num_bytes.tolist(), strict=True))
        found.pop(DEAD, None)
        return found

    def states_after_one_byte(self, state: StateId) -> list[StateId]:
        """The live states one byte after a live state.

        Where a text is captured each byte leads to a state of its own: then only the first byte of
        each class that is told apart otherwise is followed.
        """
        blurred = self.blur(state)
        if self._flags(blurred) & (lay.OPEN | lay.UNSURE):
            samples = list(range(256))  # the row does not tell
        else:
            classes, targets = self._row(blurred)
            if blurred == state:
                return [StateId(s) for s in targets.tolist() if s != DEAD]
            firsts = np.unique(classes, return_index=True)[1]
            samples = firsts[targets != DEAD].tolist()
        after = dict.fromkeys(self.advance(state, bytes((byte,))) for byte in samples)
        return [s for s in after if s != DEAD]

    def _flags(self, state: int) -> int:
        return self.arena.item(lay.NODE * state + lay.FLAGS)

    def _row(self, state: StateId) -> tuple[Int32Array, Int32Array]:
        """The class of each byte, and the state after each class; made now if it is not there."""
        self.advance(state, b"")
        at = lay.NODE * state
        partition = int(self.arena[at + lay.ROW_PARTITION])
        offset = int(self.arena[at + lay.ROW_OFFSET])
        packed = self._section(lay.PARTITIONS)[lay.PARTITION_WORDS * partition :]
        classes = packed[: lay.PARTITION_WORDS].astype("<i4").view(np.uint8).astype(np.int32)
        size = int(self._section(lay.PARTITION_SIZE)[partition])
        return classes, self._section(lay.TARGETS)[offset : offset + size]

    @property
    def num_terms(self) -> int:
        """How many terms there are, states and their parts."""
        return int(self.arena[lay.NUM_NODES])

    @property
    def nbytes(self) -> int:
        """Memory in bytes: of the arena, and about that of the terms and bodies made in Python."""
        in_python = _TERM_BYTES * len(self._operands) + _RULE_BYTES * self._rules.num_made
        return held_bytes(self.arena) + in_python

    def contents(self) -> Start:
        """What another store may begin with a copy of."""
        return Start(self._capacity, self._operands, self.arena)

    # What kernels ask for

    def _run(self, step: Callable[[], None]) -> None:
        """Call `step`, which calls one kernel, until it asks for nothing more."""
        step()
        while self.serve():
            step()

    def serve(self) -> bool:
        """Do what the last kernel asks for; whether it asked, so that it is to be called again.

        Raises:
            LimitExceededError: It asked for more than the limits allow.
        """
        status = self.arena.item(lay.STATUS)
        if status == lay.OK:
            return False
        arg = self.arena.item(lay.STATUS_ARG)
        self.arena[lay.STATUS] = lay.OK
        if status == lay.NEED_BODY:
            self._make_body(arg)
        elif status == lay.LEFT_RECURSION:
            raise UnsupportedFeatureError(
                "a rule reaches itself before any byte is consumed (left recursion)"
            )
        elif status == lay.TOO_MANY_STATES:
            allowed = self._limits.max_emptiness_states
            raise LimitExceededError(
                "max_emptiness_states",
                given=allowed + 1,
                allowed=allowed,
                where="deciding whether an intersection or complement matches anything",
            )
        else:
            self._grow(_NEEDS[status], arg)
        return True

    def _make_body(self, node: int) -> None:
        """Make the body of a RULE, or what follows a captured text."""
        at = lay.NODE * node + lay.KIND
        kind, a, b = self.arena[at : at + 3].tolist()
        keep = True
        if kind == lay.RULE and b:
            self.arena[self.arena[lay.BODY] + node] = self._spelled_out(b, a) + 1
            return
        if kind == lay.RULE:
            rule = self._rules.rule(a)
            term, keep = rule.body, rule.keep
            self._counts_matter |= isinstance(rule, t.Timed) and rule.counts_matter
        else:
            term = self._captures[a].follow(self._text(b))
            if term.nullable or term is t.EMPTY:
                raise AssertionError("what follows a capture is neither empty nor nullable")
        body = self.intern(term, keep=keep)
        if kind == lay.RULE and self.is_bytewise(body):
            raise AssertionError(f"rule {self._rules.rule(a).name!r} begins with a capture")
        self.arena[self.arena[lay.BODY] + node] = body + 1

    def _spelled_out(self, heads: int, first: int) -> StateId:
        """What is left of heads, with the rules `first`, ... behind them one by one."""
        made: dict[int, StateId] = {}
        todo = [heads]
        while todo:
            node = todo[-1]
            kind, a, b = self.arena[lay.NODE * node + lay.KIND :][:3].tolist()
            parts = [b] if kind == lay.CAT else []
            if kind == lay.ALT:
                parts = self._section(lay.POOL)[a : a + b].tolist()
            missing = [part for part in parts if part not in made]
            if missing:
                todo += missing
                continue
            todo.pop()
            if kind == lay.LABEL:
                made[node] = self._build([ops.OP_RULE, first + a, b])
            elif kind == lay.CAT:
                made[node] = self.concatenate((StateId(a), made[b]))
            else:
                made[node] = self.union(*[made[part] for part in parts])
        return made[heads]

    def _text(self, node: int) -> bytes:
        """The bytes of a TEXT."""
        parts: list[bytes] = []
        while node != lay.EPS_ID:
            at = lay.NODE * node + lay.ARG_A
            node, packed, size = self.arena[at : at + 3].tolist()
            parts.append(packed.to_bytes(lay.TEXT_BYTES, "little")[:size])
        return b"".join(reversed(parts))

    # Room

    def _section(self, section: int) -> Int32Array:
        return self.arena[self.arena[section] : self.arena[section + 1]]

    def make_room(self) -> None:
        """Have room for about as many terms again: else one of the next waits for a larger arena.

        Cost: that of an arena's growth, some milliseconds for 10,000 terms, or nothing.
        """
        for what, slot in COUNTS:
            count = int(self.arena[slot])
            if 2 * count > self._capacity[what]:
                self._grow(what, count)  # the others too, where they are half full

    def _grow(self, what: str, needed: int) -> None:
        """Make room for at least `needed` of something; ids and offsets within sections stay.

        The new arena takes the old one's place when it is whole: others read it without the lock,
        and an exception on the way (a signal, no memory) leaves the old one.
        """
        if what == "nodes":
            self._limits.check("max_terms", needed, "a grammar")
        # It is a large part of the work on a small grammar: few large steps at first. Captures are
        # few in most grammars, but in some each member or item that comes is one; they are small.
        factor = 8 if what == "captures" else 4 if self.arena.nbytes < SMALL else 2
        capacity = {**self._capacity, what: self._capacity[what] * factor}
        while capacity[what] < needed:
            capacity[what] *= 2
        for other, slot in COUNTS:  # it costs as much to make room for one as for all
            if 2 * int(self.arena[slot]) > capacity[other]:
                capacity[other] *= 2
        if 2 * len(self._captures) > capacity["captures"]:
            capacity["captures"] *= 2
        # What takes little room has enough of it: to wait for it costs as much as for the rest.
        capacity["pool"] = max(capacity["pool"], capacity["nodes"])
        as_before = all(capacity[what] == self._capacity[what] for what in TABLES.values())
        large = grown_arena(self.arena, capacity, tables=as_before)
        if not as_before:
            build(large, np.array([ops.OP_REHASH], np.int32), np.zeros(1, np.int32))
        self._capacity, self.arena = capacity, large
        self.room = capacity["nodes"]
