"""The LALR table beside lark's own, for the grammars of the catalogue and for random rules."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from lark.exceptions import GrammarError
from lark.grammar import NonTerminal, Rule, RuleOptions, Terminal
from lark.parsers.lalr_analysis import LALR_Analyzer, Shift

from constrain import Grammar, LimitExceededError, Limits
from constrain.frontends.lark.read import read
from constrain.frontends.lark.table import Table, make_table
from constrain.limits import DEFAULT_LIMITS

GRAMMARS = Path(__file__).parents[3] / "grammars"


def rules_of(name: str) -> list[Rule]:
    text = (GRAMMARS / f"{name}.lark").read_text(encoding="utf-8")
    return read(text, ["start"], "lalr", "auto", (), None, DEFAULT_LIMITS).rules


def table_of_lark(analysis: LALR_Analyzer) -> Table:
    """lark's table with plain names."""
    found = analysis.parse_table
    states = {
        state: {
            symbol: target if kind is Shift else (target.origin.name, len(target.expansion))
            for symbol, (kind, target) in actions.items()
        }
        for state, actions in found.states.items()
    }
    return Table(states, {}, found.start_states, found.end_states)


def refusal(make: Callable[[], object]) -> GrammarError | None:
    """What `make` raises, if it does."""
    try:
        make()
    except GrammarError as error:
        return error
    return None


def collisions(error: GrammarError) -> Counter[tuple[str, ...]]:
    """For each collision the terminal and the rules, in an order of their own."""
    return Counter([tuple(sorted(one.split("\n\t- "))) for one in str(error).split("\n\n")])


def assert_refused_alike(ours: GrammarError | None, theirs: GrammarError) -> None:
    """The first collisions are some of lark's, and how many more there are is told."""
    assert ours is not None
    head, _, more = str(ours).partition("\n\nand ")
    shown, every = collisions(GrammarError(head)), collisions(theirs)
    assert shown <= every
    assert more == (f"{every.total() - 3} more" if every.total() > 3 else "")
    assert shown.total() == min(3, every.total())


def assert_same(one: Table, other: Table) -> None:
    """The tables differ in nothing but the numbers of states."""
    assert one.start_states.keys() == other.start_states.keys()
    number = {state: other.start_states[start] for start, state in one.start_states.items()}
    todo = list(number)
    for state in todo:
        mine, theirs = one.states[state], other.states[number[state]]
        assert mine.keys() == theirs.keys()
        for symbol, action in mine.items():
            if isinstance(action, int) and action not in number:
                number[action] = theirs[symbol]
                todo.append(action)
        named = {s: number[a] if isinstance(a, int) else a for s, a in mine.items()}
        assert named == theirs
    assert len(number) == len(one.states) == len(other.states)
    assert {s: number[state] for s, state in one.end_states.items()} == other.end_states


def goes_round(analysis: LALR_Analyzer) -> bool:
    """Whether transitions on rules that may be empty follow each other in a circle.

    What lark finds then depends on the order of its sets, so on the seed of Python's hashes.
    """
    after = {a: {b for b in each if b != a} for a, each in analysis.reads.items()}
    while ends := [a for a, each in after.items() if not each]:
        for end in ends:
            del after[end]
        after = {a: each.difference(ends) for a, each in after.items()}
    return bool(after)


def random_rules(draw: random.Random) -> list[Rule]:
    origins = [NonTerminal(name) for name in "abcde"[: draw.randint(1, 5)]]
    terminals = [Terminal(name) for name in "WXYZ"[: draw.randint(1, 4)]]
    share, longest, empty = (
        draw.choice(each) for each in ([0.3, 0.5, 0.8], [2, 3, 4], [0, 0.1, 0.3])
    )
    found: dict[Rule, None] = {}
    for origin in origins:
        for order in range(draw.randint(1, 4)):
            length = 0 if draw.random() < empty else draw.randint(1, longest)
            parts = [
                draw.choice(terminals if draw.random() < share else origins) for _ in range(length)
            ]
            options = RuleOptions(priority=draw.choice([None, None, 1, 2]))
            found.setdefault(Rule(origin, parts, order, options=options))
    return list(found)


@pytest.mark.parametrize(
    "name", ["c", "go", "graphql_query", "json_lines", "lark", "python", "sql_select", "yaml"]
)
def test_grammars_of_the_catalogue(name):
    rules = rules_of(name)
    analysis = LALR_Analyzer(SimpleNamespace(rules=rules, start=["start"]))
    analysis.compute_lalr()
    assert_same(make_table(rules, ["start"]), table_of_lark(analysis))


@pytest.mark.parametrize("seed", range(20))
def test_random_rules(seed):
    draw = random.Random(seed)
    tables = errors = 0
    for _ in range(50):
        rules = random_rules(draw)
        starts = ["a"] if draw.random() < 0.8 else list({"a": 0, rules[-1].origin.name: 0})
        analysis = LALR_Analyzer(SimpleNamespace(rules=rules, start=starts))
        theirs = refusal(analysis.compute_lalr)
        if goes_round(analysis):
            continue
        if theirs is None:
            tables += 1
            assert_same(make_table(rules, starts), table_of_lark(analysis))
        else:
            errors += 1
            ours = refusal(lambda rules=rules, starts=starts: make_table(rules, starts))
            assert_refused_alike(ours, theirs)
    assert tables > 10
    assert errors > 2


def test_states_know_where_they_stand():
    a, start = NonTerminal("a"), NonTerminal("start")
    x, y = Terminal("X"), Terminal("Y")
    table = make_table([Rule(start, [a, y]), Rule(a, [x, a]), Rule(a, [x])], ["start"])
    after_x = table.states[table.start_states["start"]]["X"]
    assert isinstance(after_x, int)
    assert set(table.items[after_x]) == {(("a", ("X", "a")), 1), (("a", ("X",)), 1)}
    assert table.items[table.start_states["start"]] == ()


def test_long_chains_do_not_recurse():
    chain = "".join(f"r{n}: r{n + 1}\n" for n in range(1500))
    assert Grammar.from_lark(f'start: r0\n{chain}r1500: "x"\n').accepts(b"x")


def test_the_table_has_a_limit():
    with pytest.raises(LimitExceededError, match="the LALR table of a grammar needs"):
        make_table(rules_of("json_lines"), ["start"], Limits(max_source_nodes=100))
