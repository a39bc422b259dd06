"""`Matcher`: where one sequence stands, step by step.

A matcher is a list of states, one for each step: to roll back is to pop, to fork is to share the
list (`past`). All that is costly is in the automaton, which matchers of one grammar share. The
automaton only grows; when it is full, a matcher replays its steps in a fresh one and continues
there.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

from constrain.algebra.printer import describe_bytes
from constrain.algebra.store import DEAD, StateId
from constrain.automaton import Automaton, MaskRow
from constrain.errors import (
    DeadEndError,
    MatchError,
    RollbackError,
    SamplingError,
    TokenRejectedError,
)
from constrain.matcher.bitmask import as_numpy_bitmask
from constrain.matcher.past import Past, Step

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import torch

__all__ = ["Matcher", "RowMaker", "remembered_rows", "row_makers"]

MAX_JUMP_BYTES = 1 << 16
"""Longest forced text that one call returns; call again for more."""
MAX_JUMP_STATES = 16
"""States that forced text may lead to by different tokens, where a grammar counts them."""
ENDED: Final = StateId(-1)
"""The state after an end token. No automaton has it, so it has no row either."""

RowMaker = tuple[int, Callable[[], MaskRow]]
"""A row of a batch, and what makes its mask, or raises as `Matcher.allowed_token_ids`."""


class Matcher:
    """One sequence under a grammar. Made by `CompiledGrammar.matcher`.

    Each step of a decoding loop is `fill_next_token_bitmask`, then the draw, then `accept_token`.

    A token is allowed if and only if the text so far, followed by its bytes, is the beginning of
    some sentence of the grammar; an end token, if and only if the text so far is a sentence.

    One thread at a time may use a matcher; matchers of one compiled grammar may run in as many
    threads as you like.
    """

    __slots__ = (
        "_automaton",
        "_eos",
        "_fresh",
        "_known_row",
        "_known_steps",
        "_past",
        "_states",
        "_steps",
        "_width",
    )

    def __init__(self, automaton: Automaton, fresh: Callable[[], Automaton] | None = None) -> None:
        if not isinstance(automaton, Automaton):
            raise TypeError(
                f"a Matcher is made by compiled.matcher(), not of a value of type "
                f"{type(automaton).__name__}\n"
                "hint: compiled = constrain.compile(grammar, vocab)"
            )
        self._enter(automaton)
        self._fresh = fresh
        self._eos = frozenset(automaton.vocab.eos_token_ids)
        self._width = automaton.vocab.vocab_size
        self._past: Past | None = None  # steps shared with forks; the lists are what came since
        self._states: list[StateId] = [automaton.start]
        self._steps: list[Step] = []

    def _enter(self, automaton: Automaton) -> None:
        """Go on in an automaton; what it remembers is at hand, as nearly every call asks for it."""
        self._automaton = automaton
        self._known_row = automaton.known_row
        self._known_steps = automaton.known_steps

    # What may come

    def fill_next_token_bitmask(
        self, bitmask: npt.NDArray[np.int32] | torch.Tensor, row: int = 0
    ) -> bool:
        """Write which tokens may come next into one row of `bitmask`.

        Args:
            bitmask: int32 [batch, >= ceil(vocab_size / 32)] or one row of it, NumPy or torch CPU.
                Mutated; bits past vocab_size are 0. `constrain.allocate_token_bitmask` makes one.
            row: The row to write; other rows are left alone.

        Returns:
            False if every token is allowed, so that the caller may skip this row.

        Raises:
            MatchError: The sequence has ended.
            DeadEndError: No token of the vocabulary may come next, not even an end token.
            SamplingError: The bitmask has the wrong type, dtype or shape.
            IndexError: There is no such row.

        Cost: a copy of one row in a state that was visited before, else one walk of the vocabulary.
        """
        words = as_numpy_bitmask(bitmask)
        rows = len(words) if words.ndim == 2 else 1
        if not 0 <= row < rows:
            raise IndexError(f"the bitmask has no row {row}: it has {rows}, counted from 0")
        found = self._known_row(self._states[-1])
        if found is None or found.empty:
            found = self._mask_row()
        target = words[row] if words.ndim == 2 else words
        size = found.words.size
        if target.size == size:
            target[:] = found.words
        elif target.size > size:
            target[:size] = found.words
            target[size:] = 0
        else:
            raise SamplingError(
                f"the bitmask has {target.size} words a row, and {self._width} tokens need {size}\n"
                "hint: make it with constrain.allocate_token_bitmask(batch, vocab.vocab_size)"
            )
        return found.restricts

    def allowed_token_ids(self) -> list[int]:
        """The ids of the tokens that may come next, ascending: the mask as a list, to look at.

        For tests, debugging and interfaces that want a list; a loop fills a bitmask instead.

        Raises:
            MatchError: The sequence has ended.
            DeadEndError: No token of the vocabulary may come next, not even an end token.

        Cost: as of `fill_next_token_bitmask`, and the list: for a vocabulary of 150,000 ids 0.3 ms
            where few are allowed, 6 ms where nearly all are.
        """
        return self._mask_row().token_ids()

    def _mask_row(self) -> MaskRow:
        state = self._states[-1]
        if state == ENDED:
            raise MatchError(
                "the sequence has ended: an end token was accepted, and nothing may follow\n"
                "hint: stop at is_terminated, or call rollback(1) or reset()"
            )
        if self._automaton.is_full:
            self._move()
            state = self._states[-1]
        found = self._automaton.mask_row(state)
        if found.empty:
            raise DeadEndError(
                f"no token of the vocabulary may come next after {self.num_steps} steps: the text "
                f"must go on with "
                f"{describe_bytes(self._automaton.next_bytes(state))}\n"
                "hint: the vocabulary lacks tokens for these bytes; check how it was read"
            )
        return found

    def find_jump_forward_bytes(self) -> bytes:
        """The bytes that must come next whatever the model says; `b""` if there is a choice.

        The matcher stays where it is: pass the bytes to `accept_bytes`, or accept tokens that spell
        them, whichever these are, as masks never force a tokenisation. The bytes may end inside a
        character. In a grammar that counts tokens they are those that are forced wherever tokens
        end. At most 65,536 bytes are returned; once they are accepted, the next call has the rest.

        Cost: one step of the automaton for each byte.
        """
        state = self._states[-1]
        if state == ENDED:
            return b""
        out = bytearray()
        states = {state}
        automaton = self._automaton
        while len(out) < MAX_JUMP_BYTES and len(states) <= MAX_JUMP_STATES:
            if any(automaton.is_accepting(s) or automaton.takes_tokens(s) for s in states):
                break
            choices = {automaton.next_bytes(state) for state in states}
            if len(choices) > 1 or len(forced := choices.pop()) != 1:
                break
            out += forced
            states = {automaton.after_bytes(state, forced) for state in states}
            states |= {automaton.at_token_end(state) for state in states}
        return bytes(out)

    @property
    def is_accepting(self) -> bool:
        """Whether the text so far is a sentence, so that an end token is allowed."""
        state = self._states[-1]
        return state == ENDED or self._automaton.is_accepting(state)

    @property
    def must_end(self) -> bool:
        """Whether nothing but an end token may come next, so that the model need not be asked.

        Raises:
            LimitExceededError: The grammar grew past its limits.

        Cost: as of `fill_next_token_bitmask`, without the copy, where the text may end.
        """
        state = self._states[-1]
        if state == ENDED:
            return False
        return self.is_accepting and self._mask_row().num_allowed == len(self._eos)

    @property
    def is_terminated(self) -> bool:
        """Whether an end token was accepted."""
        return self._states[-1] == ENDED

    @property
    def num_steps(self) -> int:
        """How many steps may be rolled back: tokens and calls of `accept_bytes`."""
        return len(self._steps) + (0 if self._past is None else self._past.total)

    # Moving

    def accept_token(self, token_id: int) -> bool:
        """Advance by one token, if it is allowed.

        Args:
            token_id: The token that was sampled; an end token ends the sequence.

        Returns:
            False if it is not allowed here, or the sequence has ended; then nothing has changed.

        Raises:
            TokenRejectedError: The id is outside 0..vocab_size - 1.
            TypeError: It is not an integer.

        Cost: a look-up if some sequence took the step before, else a derivative for each byte.
        """
        if type(token_id) is not int or not 0 <= token_id < self._width:
            token_id = self._checked(token_id)
        state = self._states[-1]
        if token_id in self._eos:
            return self._accept_end(token_id)
        known = self._known_steps.get(state)
        after = None if known is None else known.get(token_id)
        if after is None:
            return self._make_step(token_id)
        if after == DEAD:
            return False
        self._states.append(after)
        self._steps.append(token_id)
        return True

    def _accept_end(self, token_id: int) -> bool:
        """Go on by an end token, which a grammar may name as any other."""
        state = self._states[-1]
        if state == ENDED:
            return False
        if not self._automaton.is_accepting(state):
            return self._make_step(token_id)
        self._states.append(ENDED)
        self._steps.append(token_id)
        return True

    def _make_step(self, token_id: int) -> bool:
        """Go on by a token of which it is not known where it leads, and which is no end here."""
        state = self._states[-1]
        if state == ENDED:
            return False
        return self._go_to(self._automaton.make_step(state, token_id), token_id)

    def _go_to(self, state: StateId, step: Step) -> bool:
        """Take a step to a state that was made just now; False if it is dead."""
        if state == DEAD:
            return False
        self._states.append(state)
        self._steps.append(step)
        if self._automaton.is_full:
            self._move()
        return True

    def accept_bytes(self, data: bytes) -> bool:
        """Advance by some bytes, if some sentence continues with them; one step for `rollback`.

        For text that comes without tokens, such as forced bytes. A grammar that counts tokens
        counts none for it.

        Args:
            data: Bytes, bytearray or memoryview; they may end inside a character.

        Returns:
            False if no sentence continues so; then nothing has changed.

        Raises:
            TypeError: They are no bytes.

        Cost: one step of the automaton for each byte.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            hint = "\nhint: data.encode()" if isinstance(data, str) else ""
            raise TypeError(f"accept_bytes wants bytes, not {type(data).__name__}{hint}")
        state = self._states[-1]
        if state == ENDED:
            return not data
        text = bytes(data)
        return self._go_to(self._automaton.after_bytes(state, text), text)

    def _move(self) -> None:
        """Go on in a fresh automaton, if there is one.

        Cost: every step once more, but no masks; the automaton grew by as much as these took.
        """
        fresh = self._automaton if self._fresh is None else self._fresh()
        if fresh is self._automaton:
            return
        steps = self._steps if self._past is None else [*self._past.since_start(), *self._steps]
        states = [fresh.start]
        for step in steps:
            after = fresh.after_bytes if isinstance(step, bytes) else fresh.after_token
            states.append(after(states[-1], step))  # type: ignore[arg-type]  # by its type
        fresh.make_room()
        self._enter(fresh)
        self._past, self._states, self._steps = None, states, steps

    def validate_tokens(self, token_ids: Iterable[int]) -> int:
        """How many of these tokens `accept_token` would accept in turn. The matcher stays.

        Args:
            token_ids: Such as the draft of a smaller model.

        Returns:
            The length of the longest prefix of `token_ids` that would be accepted.

        Raises:
            TokenRejectedError: An id is outside 0..vocab_size - 1.
            TypeError: An id is not an integer.

        Cost: as of `accept_token` for each.
        """
        if not isinstance(token_ids, Iterable):
            raise TypeError(f"token_ids is a list of token ids, not {type(token_ids).__name__}")
        ids = [self._checked(i) for i in token_ids]
        state = self._states[-1]
        if state == ENDED:
            return 0
        for count, token_id in enumerate(ids):
            if token_id in self._eos and self._automaton.is_accepting(state):
                return count + 1
            state = self._automaton.after_token(state, token_id)
            if state == DEAD:
                return count
        return len(ids)

    def rollback(self, num_steps: int) -> None:
        """Undo the last steps.

        Args:
            num_steps: >= 0. A step is a token, end tokens included, or a call of `accept_bytes`.

        Raises:
            RollbackError: Fewer steps were taken (`num_steps`); then nothing has changed.
            TypeError: It is not an integer.

        Cost: of the steps undone, however long the sequence is.
        """
        if type(num_steps) is not int:
            num_steps = _integer("num_steps", num_steps)
        own = len(self._steps)
        if 0 < num_steps <= own:
            del self._states[-num_steps:]
            del self._steps[-num_steps:]
        elif num_steps == 0:
            return
        elif self._past is not None and 0 < num_steps - own <= self._past.total:
            self._past, state = self._past.without(num_steps - own)
            self._states, self._steps = [state], []
        else:
            raise RollbackError(
                f"cannot roll back {num_steps} steps: {self.num_steps} were taken since the start\n"
                "hint: a token is one step, and so is a call of accept_bytes; reset() undoes all"
            )

    def reset(self) -> None:
        """Go back to the start of the sequence, to use the matcher for another one."""
        self._past = None
        self._states = [self._automaton.start]
        self._steps = []

    def fork(self) -> Matcher:
        """An independent matcher at the same place, which can be rolled back as far.

        `copy.copy` and `copy.deepcopy` do the same.

        Cost: the same however long the sequence is: the steps so far are shared.
        """
        steps = self._steps
        if steps:
            states, past, count = self._states, self._past, len(steps)
            total = count if past is None else count + past.total
            self._past = Past(past, states, steps, count, total)
            self._states, self._steps = [states[-1]], []
        twin = Matcher.__new__(Matcher)
        twin._automaton = self._automaton
        twin._known_row = self._known_row
        twin._known_steps = self._known_steps
        twin._eos = self._eos
        twin._width = self._width
        twin._fresh = self._fresh
        twin._past = self._past
        twin._states = self._states.copy()
        twin._steps = []
        return twin

    def __copy__(self) -> Matcher:
        return self.fork()

    def __deepcopy__(self, memo: dict[int, Any]) -> Matcher:
        return self.fork()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a matcher cannot be pickled: it shares what its grammar has made with others\n"
            "hint: pickle the compiled grammar and the tokens that were accepted, and accept them "
            "in a new matcher there"
        )

    def _checked(self, token_id: int) -> int:
        index = _integer("a token id", token_id)
        if not 0 <= index < self._width:
            raise TokenRejectedError(
                f"token id {index} is outside 0..{self._width - 1}, the range of this vocabulary\n"
                "hint: if the model's logits are wider, pass their width, Vocabulary(vocab_size=)"
            )
        return index

    def __repr__(self) -> str:
        if self.is_terminated:
            place = "terminated"
        else:
            place = "accepting" if self.is_accepting else "incomplete"
        return f"Matcher({self._automaton.grammar.description}, steps={self.num_steps}, {place})"


# For batches. A call for each row would cost as much as what it has to do.


def remembered_rows(
    matchers: Sequence[Matcher | None], words: npt.NDArray[np.int32]
) -> tuple[list[npt.NDArray[np.int32]], list[tuple[int, Matcher]]]:
    """The masks of a batch, as far as they are remembered.

    Args:
        matchers: One a row, or None for a row that stays as it is.
        words: int32 [>= len(matchers), words]. Not written to.

    Returns:
        The mask of each row, and the matchers whose mask must be made; the row of `words` itself
        stands in for that, and for what stays.

    Raises:
        TypeError: One is no matcher.
    """
    found = []
    missing = []
    for row, matcher in enumerate(matchers):
        if type(matcher) is not Matcher:
            if matcher is None:
                found.append(words[row])
                continue
            raise TypeError(
                f"row {row} is no constrain.Matcher or None: {type(matcher).__name__}\n"
                "hint: compiled.matcher() makes one for a sequence"
            )
        known = matcher._known_row(matcher._states[-1])
        if known is None or known.empty:
            missing.append((row, matcher))
            found.append(words[row])
        else:
            found.append(known.words)
    return found, missing


def row_makers(missing: Iterable[tuple[int, Matcher]]) -> list[list[RowMaker]]:
    """What makes the masks of some matchers, those of one automaton together: it has one lock."""
    by_automaton: dict[Automaton, list[RowMaker]] = {}
    for row, matcher in missing:
        by_automaton.setdefault(matcher._automaton, []).append((row, matcher._mask_row))
    return list(by_automaton.values())


def _integer(what: str, given: object) -> int:
    try:
        return operator.index(given)  # type: ignore[arg-type]  # what has no __index__ raises
    except TypeError:
        raise TypeError(f"{what} is an integer, not {type(given).__name__}") from None
