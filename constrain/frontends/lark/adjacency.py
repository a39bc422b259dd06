r"""Which lexemes can come after which, whatever the parser lets compete.

In most grammars of languages blanks may stand between any two lexemes, and each terminal has a text
that, before a blank, is scanned as that terminal whatever else competes:

    %ignore " "   NAME: /[a-z]+/   IF: "if"        "a " is a NAME, "if " an IF

Then a lexer never keeps a parser from what it waits for, but where something of the lexeme before
is still pending that a blank does not settle: after `/\n[ ]*/` no blank may come. So for each
terminal it is asked what may be pending after it, which two terminals at a time tell, and what a
blank, or the text itself, makes of that.

One short text for each terminal is tried, so what is *blocked* here may be possible after all.

Cost: O(terminals^2) steps of small automata, most of which end at the first code point.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from constrain.frontends.lark.scanner import START, Place, Scanner, Spot
from constrain.frontends.lark.table import END
from constrain.frontends.lark.threads import Demand, Left, Machine, Thread

__all__ = ["Adjacency", "adjacency"]

_BLANKS: Final = (" ", "\n", "\t")
_SAMPLES: Final = 3


@dataclass(frozen=True, slots=True)
class Adjacency:
    """What may be impossible, for each terminal.

    Attributes:
        blocked: Terminals that perhaps cannot be scanned after a lexeme; `$END` where a text may
            not end after it.
        unknown: Terminals that perhaps cannot be scanned at all: blocked everywhere.
    """

    blocked: Mapping[str, frozenset[str]]
    unknown: frozenset[str]


def adjacency(
    machine: Machine,
    terminals: Iterable[Any],
    addresses: Mapping[str, int],
    alone: Mapping[str, Scanner],
    ignored: Sequence[str],
    newline: str | None,
    together: Mapping[str, frozenset[str]],
) -> Adjacency | None:
    """What may follow what, or None if no blank may stand between lexemes.

    Args:
        machine: Of the grammar, none of whose terminals asks about the text before its beginning.
        terminals: lark's definitions of all of them.
        addresses: Where their programs begin.
        alone: A scanner for each.
        ignored: Those that may stand anywhere.
        newline: The terminal of an `Indenter`: it competes everywhere, and must be able to end with
            any number of blanks.
        together: For each, those that compete with it somewhere; the first in lark's order wins.
            Empty if each is tried alone.
    """
    return _Search(machine, terminals, addresses, alone, ignored, newline, together).result()


@dataclass(frozen=True, slots=True)
class _Run:
    """What became of one terminal's program on a text.

    Attributes:
        matched: The length of its match, 0 if there is none.
        sure: Whether that is so whatever comes.
    """

    matched: int
    sure: bool


class _Progress(NamedTuple):
    """Where one terminal's program is in a text.

    Attributes:
        threads: Those that go on, each with the length of its match, 0 if it has none yet.
        left: The memory of the machine.
        matched: The length of the match that is certain, 0 if there is none.
    """

    threads: tuple[tuple[Thread, int], ...]
    left: Left
    matched: int


class _Words:
    """Terminals that are one ASCII text and no more: grammars list them by the hundred.

    Most of them differ from another text before either ends, and need not be looked at beside it.
    Cases are not told apart.

    Attributes:
        text_of: The text of each.
    """

    def __init__(self, terminals: Iterable[Any]) -> None:
        self.text_of = {
            t.name: t.pattern.value.lower()
            for t in terminals
            if t.pattern.type == "str" and t.pattern.value.isascii() and t.pattern.flags <= {"i"}
        }
        self._in_order = sorted([(text, name) for name, text in self.text_of.items()])
        self._with_text: dict[str, list[str]] = {}
        for text, name in self._in_order:
            self._with_text.setdefault(text, []).append(name)
        self._lengths = sorted({len(text) for text in self._with_text})
        self._all_others: dict[frozenset[str], frozenset[str]] = {}

    def near(self, text: str, names: frozenset[str]) -> frozenset[str]:
        """Terminals out of `names` without those whose text differs from another before its end."""
        if not text.isascii():  # it may have another script's letter that is the same
            return names
        others = self._all_others.get(names)
        if others is None:
            others = self._all_others[names] = names.difference(self.text_of)
        text = text.lower()
        found: list[str] = []
        for length in self._lengths:
            if length > len(text):
                break
            found += self._with_text.get(text[:length], ())
        at = bisect_left(self._in_order, (text, ""))
        while at < len(self._in_order) and self._in_order[at][0].startswith(text):
            found.append(self._in_order[at][1])
            at += 1
        return others.union(names.intersection(found))


class _Bare(NamedTuple):
    """A terminal after which no blank may stand.

    Attributes:
        texts: Some texts of it, each with one that may follow it.
        blocked: Terminals that perhaps cannot follow one of the texts.
    """

    texts: list[tuple[str, str]]
    blocked: frozenset[str]


class _Search:
    def __init__(
        self,
        machine: Machine,
        terminals: Iterable[Any],
        addresses: Mapping[str, int],
        alone: Mapping[str, Scanner],
        ignored: Sequence[str],
        newline: str | None,
        together: Mapping[str, frozenset[str]],
    ) -> None:
        self._machine = machine
        order = sorted(
            terminals,
            key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name),
        )
        self._terminals = {t.name: t for t in order}
        self._rank = {t.name: n for n, t in enumerate(order)}
        self._alone = alone
        self._ignored = list(dict.fromkeys(ignored))
        self._newline = newline
        self._present = {*self._ignored, *([] if newline is None else [newline])}
        self._compete = bool(together)
        self._together = together
        self._begins = {name: machine.begin(at, ()) for name, at in addresses.items()}
        self._words = _Words(order)
        self._first = {name: _union(machine.masks(t)) for name, t in self._begins.items()}
        self._progress: dict[tuple[str, str], _Progress] = {}
        self._stepped: dict[tuple[Thread, int, Left], Sequence[Thread]] = {}
        self._stepped_pending: dict[
            tuple[frozenset[Demand], int, Left], frozenset[Demand] | None
        ] = {}
        self._known: dict[str, dict[str, set[Spot]]] = {}
        self._settled: dict[str, set[Spot]] = {}
        self._not_settled: dict[str, set[Spot]] = {}
        """By text, the spots that were asked for."""
        self._samples = {name: self._examples(name) for name in self._terminals}
        self._fillers = {name: self._blanks(name) or self._samples[name][:1] for name in ignored}

    def result(self) -> Adjacency | None:
        cores = [
            core
            for name in self._ignored
            for blank in _BLANKS
            if (core := self._core(name, blank)) is not None
        ]
        if not cores:
            return None
        blank, texts = max(cores, key=lambda core: len(core[1]))
        blanks = [b for b, others in cores if others.keys() >= texts.keys()]
        bare: dict[str, _Bare] = {}
        for name in self._terminals:
            if name not in texts and not (self._compete and name in self._ignored):
                alone = self._without_blank(name, blank, texts)
                if alone is not None:
                    bare[name] = alone
        newline = self._newline
        if newline is not None and not self._has_all_widths(newline, blank, texts):
            texts.pop(newline, None)
            bare.pop(newline, None)
        unknown = frozenset([n for n in self._terminals if n not in texts and n not in bare])
        ways = {
            name: self._ways(name, [(text, blank) for text in each]) for name, each in texts.items()
        } | {name: self._ways(name, each.texts) for name, each in bare.items()}
        blocked = {}
        for name in self._terminals:
            pending = self._pending(name)
            every = set().union(*pending.values())
            free = any([self._settles_all(every, b) for b in blanks])
            here = set(unknown)
            for other, each in ways.items():
                if free and other in texts:
                    continue
                spots = every
                if self._compete and name in self._ignored:  # the contest is one that has both
                    spots = set().union(
                        *[p for n, p in pending.items() if n in (name, *self._together[other])]
                    )
                if not any(self._settles_all(spots, way) for way in each):
                    here.add(other)
            if not free and not all([self._machine.holds_at_end(s.pending) for s in every]):
                here.add(END)
            if name in bare:
                here |= bare[name].blocked
            blocked[name] = frozenset(here)
        return Adjacency(blocked, unknown)

    def _examples(self, name: str) -> list[str]:
        """A few texts of a terminal; with blanks before them too, where those are part of it."""
        found = dict.fromkeys(self._alone[name].samples(_SAMPLES))
        for text in list(found):
            for blank in _BLANKS:
                if self._first[name] & self._machine.atoms.of(ord(blank)):
                    longer = blank + text
                    if self._run(name, longer).matched == len(longer):
                        found[longer] = None
        return list(found)

    def _blanks(self, name: str) -> list[str]:
        return [b for b in _BLANKS if self._run(name, b).matched == 1][:2]

    def _ways(self, name: str, texts: Iterable[tuple[str, str]]) -> list[str]:
        """Texts, each with what follows it, and the same behind something that is ignored."""
        found: list[str] = []
        for text, follow in texts:
            whole = text + follow
            near = [whole, *self._filled(name, [whole])]
            found += dict.fromkeys([*near, *self._filled(name, near)])
        return found

    def _filled(self, name: str, texts: Iterable[str]) -> list[str]:
        """Texts behind something ignored, where that is scanned so."""
        return [
            sample + text
            for text in texts
            for other in self._ignored
            for sample in self._fillers[other]
            if self._is_scanned(other, sample, text, name)
        ]

    def _without_blank(
        self, name: str, blank: str, texts: Mapping[str, Sequence[str]]
    ) -> _Bare | None:
        """Texts of a terminal after which no blank stands."""
        found: dict[frozenset[str], list[tuple[str, str]]] = {}
        for text in self._samples[name]:
            follow = {
                other: t + blank
                for other, each in texts.items()
                for t in each
                if self._is_scanned(name, text, t + blank)
            }
            if follow:
                blocked = frozenset([n for n in self._terminals if n not in follow])
                found.setdefault(blocked, []).append((text, next(iter(follow.values()))))
        if not found:
            return None
        best = min(found, key=len)
        return _Bare(found[best], best)

    # Texts that are scanned as a terminal, between blanks

    def _core(self, name: str, blank: str) -> tuple[str, dict[str, list[str]]] | None:
        """A blank that may stand anywhere, and for each terminal texts that may stand around it."""
        if self._run(name, blank).matched != 1:
            return None
        found: dict[str, list[str]] = {}
        for terminal, samples in self._samples.items():
            if self._compete and terminal in self._ignored:
                continue
            texts = [
                text
                for text in samples
                if self._is_scanned(terminal, text, blank)
                and self._is_scanned(name, blank, text + blank, terminal)
            ]
            if texts:
                found[terminal] = texts
        return blank, found

    def _has_all_widths(self, newline: str, blank: str, texts: Mapping[str, Sequence[str]]) -> bool:
        """Whether a newline may end with any number of spaces."""
        scanner = self._alone[newline]
        line_break, space = map(self._machine.atoms.of, b"\n ")
        follow = next(iter([t[0] for name, t in texts.items() if name != newline]), "") + blank
        place = self._step(scanner, scanner.root(START), line_break)
        seen: set[Place] = set()
        while place is not None and place not in seen:
            text = "\n" + " " * len(seen)
            if not self._is_scanned(newline, text, follow):
                return False
            seen.add(place)
            place = self._step(scanner, place, space)
        return place is not None

    def _step(self, scanner: Scanner, place: Place, atom: int) -> Place | None:
        targets = [t for t, mask in scanner.at(place)[1].items() if mask & atom]
        return targets[0] if targets else None

    def _run(self, name: str, text: str) -> _Run:
        """Texts begin alike, so what became of each beginning is remembered."""
        here = _Progress(tuple([(t, 0) for t in self._begins[name]]), (), 0)
        for at in range(1, len(text) + 1):
            key = (name, text[:at])
            after = self._progress.get(key)
            if after is None:
                after = self._progress[key] = self._advance(here, text[at - 1], at)
            here = after
            if not here.threads:
                return _Run(here.matched, True)
        return _Run(here.matched, False)

    def _advance(self, here: _Progress, codepoint: str, at: int) -> _Progress:
        machine = self._machine
        atom = machine.atoms.of(ord(codepoint))
        left = machine.remember(here.left, atom)
        going: dict[Thread, int] = {}
        for before, completed in here.threads:
            place = completed or at
            for thread in self._step_thread(before, atom, left):
                if not machine.completed(thread):
                    going.setdefault(thread, 0)
                elif thread.demands:
                    going.setdefault(thread, place)
                else:  # those of less weight are over
                    return _Progress(tuple(going.items()), left, place)
        return _Progress(tuple(going.items()), left, here.matched)

    def _is_scanned(self, name: str, text: str, follow: str, beside: str | None = None) -> bool:
        """Whether a text is scanned as a terminal, whatever competes, if that follows.

        Args:
            name: The terminal.
            text: The text.
            follow: What follows.
            beside: Another terminal that competes too.
        """
        whole = text + follow
        if self._run(name, whole) != _Run(len(text), True):
            return False
        if not self._compete:
            return True
        first = self._machine.atoms.of(ord(text[0]))
        rivals = {
            other: self._run(other, whole)
            for other in self._words.near(whole, self._together[name])
            if self._first[other] & first
            and other != name
            and (beside is None or other in self._together[beside])
        }
        exact = _Run(len(text), True)
        stand_ins = [o for o, run in rivals.items() if run == exact and self._takes_over(name, o)]
        latest = max([self._rank[o] for o in (name, *stand_ins)])
        for other, run in rivals.items():
            if run == _Run(0, True) or other in stand_ins:
                continue
            if run.matched == len(text) and self._takes_over(other, name):
                return False
            if self._rank[other] < latest:
                return False
        return True

    def _takes_over(self, literal: str, pattern: str) -> bool:
        """Whether a string stands for its text where a pattern has matched that."""
        a, b = self._terminals[literal], self._terminals[pattern]
        return (
            a.pattern.type == "str"
            and b.pattern.type == "re"
            and a.priority == b.priority
            and pattern not in self._ignored
        )

    # What may be pending after a terminal

    def _pending(self, name: str) -> dict[str, set[Spot]]:
        """Spots after it, by the terminal that is pending there."""
        scanners = [name]
        if self._compete:
            scanners += [
                other
                for other in self._together[name]
                if self._takes_over(name, other)
                and any([self._run(other, t).matched == len(t) for t in self._samples[name]])
            ]
        found: dict[str, set[Spot]] = {}
        for scanned in scanners:
            for other, spots in self._pending_after(scanned).items():
                found.setdefault(other, set()).update(spots)
        return found

    def _pending_after(self, name: str) -> dict[str, set[Spot]]:
        known = self._known.get(name)
        if known is None:
            machine = self._machine
            own = {end.spot for end in self._alone[name].ends(START) if end.spot.pending}
            known = {name: {s for s in own if not machine.forbids_all(s.pending, s.left)}}
            for other in self._rivals(name) if self._compete else ():
                beside = self._beside(name, other)
                if beside is None and other in self._present:
                    known = {}  # it never wins
                    break
                if beside:
                    known[other] = beside
            self._known[name] = known
        return known

    def _rivals(self, name: str) -> list[str]:
        """Preferred terminals that begin like one, and may leave something pending after it."""
        rank, first, text = self._rank[name], self._first[name], self._words.text_of.get(name)
        others = self._together[name]
        if text is not None:
            others = self._words.near(text, others)
        return [o for o in others if self._rank[o] < rank and self._first[o] & first]

    def _beside(self, name: str, other: str) -> set[Spot] | None:
        """What a preferred terminal leaves pending where another ends; None if that never wins."""
        machine = self._machine
        mine, theirs = self._alone[name], self._alone[other]
        found: set[Spot] = set()
        wins = False
        first = (mine.root(START), theirs.root(START))
        seen: set[tuple[Place, Place | None]] = {first}
        todo: list[tuple[Place, Place | None]] = [first]
        while todo:
            here, there = todo.pop()
            ends, edges = mine.at(here)
            if there is None:
                wins = True
                continue
            threads, left, _ = there.state
            if any([machine.completed(t) and not t.demands for t in threads]):
                continue  # the other one has matched
            if ends and threads:
                wins = True
                pending = machine.merge((Demand(True, frozenset(threads)),))
                if not machine.forbids_all(pending, left):
                    found.add(Spot(left, pending))
            others = theirs.at(there)[1]
            for target, mask in edges.items():
                rest = mask
                steps: list[tuple[Place, Place | None]] = []
                for beside, shared in others.items():
                    if mask & shared:
                        rest &= ~shared
                        steps.append((target, beside))
                if rest:
                    steps.append((target, None))
                for step in steps:
                    if step not in seen:
                        seen.add(step)
                        todo.append(step)
        machine.spend(len(seen))
        return found if wins else None

    def _settles_all(self, spots: set[Spot], text: str) -> bool:
        """Whether a text settles each of some spots, most of which come after many terminals."""
        settled = self._settled.setdefault(text, set())
        not_settled = self._not_settled.setdefault(text, set())
        if not spots.isdisjoint(not_settled):
            return False
        for spot in spots - settled:
            if not self._settles(spot, text):
                not_settled.add(spot)
                return False
            settled.add(spot)
        return True

    def _settles(self, spot: Spot, text: str) -> bool:
        """Whether nothing that is pending forbids a text, or goes on after it."""
        machine = self._machine
        left, pending = spot
        for codepoint in text:
            atom = machine.atoms.of(ord(codepoint))
            left = machine.remember(left, atom)
            after = self._step_pending(pending, atom, left)
            if after is None:
                return False
            if not after:
                return True
            pending = after
        return False

    # Steps, most of which come again with other texts

    def _step_thread(self, thread: Thread, atom: int, left: Left) -> Sequence[Thread]:
        key = (thread, atom, left)
        known = self._stepped.get(key)
        if known is None:
            known = self._stepped[key] = self._machine.step((thread,), atom, left)
        return known

    def _step_pending(
        self, pending: frozenset[Demand], atom: int, left: Left
    ) -> frozenset[Demand] | None:
        key = (pending, atom, left)
        if key not in self._stepped_pending:
            self._stepped_pending[key] = self._machine.step_pending(pending, atom, left)
        return self._stepped_pending[key]


def _union(masks: Iterable[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found
