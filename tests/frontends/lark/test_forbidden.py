"""What is pending and what stands for it forbid the same texts."""

from __future__ import annotations

import random
from collections import Counter
from importlib import import_module
from pathlib import Path

import lark
import pytest

from constrain.errors import ConstrainError
from constrain.fixtures import load_grammar
from constrain.frontends.lark.forbidden import Forbidden
from constrain.frontends.lark.lower import lower
from constrain.frontends.lark.read import read
from constrain.frontends.lark.threads import NO_DEMANDS
from tests.frontends.lark.test_sharing import LIMITS

lowering = import_module("constrain.frontends.lark.lower")  # the package has a function of its name
GRAMMARS = Path(__file__).parents[3] / "grammars"


class Asked(Forbidden):
    """Remembers all that it was asked about."""

    def __init__(self, machine):
        super().__init__(machine)
        self.machine = machine
        self.pairs = {}

    def representative(self, pending, first=None):
        found = super().representative(pending, first)
        if pending != found:
            self.pairs[pending, found, first] = None
        return found


@pytest.fixture
def asked(monkeypatch):
    made = []
    monkeypatch.setattr(
        lowering, "Forbidden", lambda machine: made.append(Asked(machine)) or made[-1]
    )
    return made


def assert_forbid_the_same(found: Asked, draw: random.Random, texts: int, most: int) -> Counter:
    machine = found.machine
    atoms = machine.atoms.each(machine.atoms.everything)
    seen: Counter = Counter()
    for pending, other, first in draw.sample(list(found.pairs), min(most, len(found.pairs))):
        assert machine.holds_at_end(pending) == machine.holds_at_end(other)
        here = {(pending, other)}
        begun = [atom for atom in atoms if first is None or atom & first]
        for length in range(texts):
            after = set()
            for one, two in here:
                for atom in atoms if length else begun:
                    steps = machine.step_pending(one, atom, ()), machine.step_pending(two, atom, ())
                    assert (steps[0] is None) == (steps[1] is None)
                    if steps[0] is None:
                        seen["forbidden"] += 1
                    elif steps != (NO_DEMANDS, NO_DEMANDS):
                        assert machine.holds_at_end(steps[0]) == machine.holds_at_end(steps[1])
                        after.add(steps)
                        seen["pending"] += 1
                    else:
                        seen["free"] += 1
            here = set(draw.sample(sorted(after, key=str), min(8, len(after))))
    return seen


@pytest.mark.parametrize("name", ["sql_select", "python", "c"])
def test_real_grammars(name, asked):
    load_grammar(GRAMMARS / f"{name}.lark")
    (found,) = asked
    assert len({other for _, other, _ in found.pairs}) < len(found.pairs) / 2
    seen = assert_forbid_the_same(found, random.Random(name), 6, 200)
    assert min(seen["forbidden"], seen["free"]) > 20


def random_terminals(draw: random.Random) -> str:
    def words(most: int) -> str:
        count = draw.randint(1, most)
        return "|".join(["".join(draw.choices("abc", k=draw.randint(1, 4))) for _ in range(count)])

    return rf"""
    start: (NAME | CALL | NUMBER | LESS | TEXT | WORD)+
    NAME: /(?!(?:{words(5)})(?![a-c]))[a-c]+/
    CALL.{draw.randint(0, 2)}: /(?:{words(3)})(?={draw.choice([r"[(]", "[ab(]", "a(?!b)"])})/
    NUMBER: /[0-9]+(?:[.][0-9]+)?(?![a-c.])/
    LESS: /<{draw.choice(["", "(?!a)", "(?!<|ab)"])}/ | "<<" | "<<a"
    TEXT: /"(?:{words(2)})*"(?!"|{words(2)})/
    WORD.{draw.randint(0, 2)}: /{words(3)}/
    """


def test_random_terminals(asked):
    draw = random.Random(3)
    total: Counter = Counter()
    for _ in range(60):
        options = (["start"], "lalr", draw.choice(["contextual", "basic"]), (), None, LIMITS)
        text = random_terminals(draw)
        try:
            lower(read(text, *options), "start", LIMITS)
        except (lark.exceptions.LarkError, ConstrainError):
            continue
        total += assert_forbid_the_same(asked[-1], draw, 6, 30)
    assert min(total["forbidden"], total["pending"], total["free"]) > 150
