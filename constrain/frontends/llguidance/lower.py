"""What was read to a term: productions reduced, a parser for them, the boundaries of both."""

from __future__ import annotations

from constrain.algebra.terms import Term
from constrain.errors import UnsatisfiableError
from constrain.frontends.lark.automaton import ROOT, Production, reduced
from constrain.frontends.lark.normal import without_empty_and_cycles
from constrain.frontends.llguidance.boundaries import Boundaries
from constrain.frontends.llguidance.calls import refuse_calls_first_in_themselves
from constrain.frontends.llguidance.follow import Follow
from constrain.frontends.llguidance.productions import Made
from constrain.frontends.llguidance.stacks import Parser, entry_of, name_of
from constrain.limits import Limits

__all__ = ["lower"]


def lower(made: Made, start: str, limits: Limits) -> Term:
    """The texts of a start symbol.

    Raises:
        UnsatisfiableError: There is none.
        LimitExceededError: It is larger than the limits allow.
    """
    able = {symbol for symbol, lexemes in made.lexemes.items() if lexemes} | made.others.keys()
    productions = [Production(ROOT, (start,)), *made.productions]
    refuse_calls_first_in_themselves(productions, made.calls)
    kept, productive = reduced(productions, able)
    if ROOT not in productive:
        raise UnsatisfiableError(
            _why_endless(productions, productive, able, start),
            hint="give it an alternative that ends",
        )
    normal, nullable = without_empty_and_cycles(kept, ROOT)
    useful, _ = reduced(normal, able)
    called = [
        Production(entry_of(p.origin) if p.origin in made.calls else p.origin, p.expansion)
        for p in useful
    ]
    calls = {p.origin: made.calls[p.origin].most for p in useful if p.origin in made.calls}
    parser = Parser(called, nullable, frozenset(able), calls, limits)
    follow = Follow(useful)
    rule = Boundaries(parser, follow, made, limits).start()
    if rule is None:
        raise UnsatisfiableError(
            f"no text is a {_shown(start)}: lexemes go on as long as they can, and none ever ends "
            "where the next must begin",
            hint="look for a lexeme that can read what has to follow it, or make it lazy",
        )
    return rule


def _shown(symbol: str) -> str:
    """The rule that a symbol was written in."""
    return repr(name_of(symbol))


def _why_endless(
    productions: list[Production], productive: set[str], able: set[str], start: str
) -> str:
    """Follow parts without a sentence from the start until one comes again."""
    by_origin: dict[str, Production] = {}
    for production in productions:
        by_origin.setdefault(production.origin, production)
    path = [start]
    while True:
        rule = by_origin.get(path[-1])
        if rule is None:
            return f"{_shown(path[-1])} can never finish: it matches no text"
        endless = [s for s in rule.expansion if s not in productive and s not in able]
        if endless[0] in path:
            ring = path[path.index(endless[0]) :]
            break
        path.append(endless[0])
    names = list(dict.fromkeys(map(_shown, ring)))
    if len(names) == 1:
        return f"rule {names[0]} can never finish: every way through it needs {names[0]} again"
    needs = " needs ".join([*names, names[0]])
    return f"the rules {', '.join(names)} can never finish: {needs} again"
