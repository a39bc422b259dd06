"""Which terms may stand under `&` and `~`: those with finitely many derivatives.

A term without rules is a regular expression. So is one whose rules do not recurse: put the bodies
in place of the names. Rules declared regular (`Rule(regular=True)`: right-linear families) are too.
A rule that reaches itself otherwise may be context-free, where the emptiness of an intersection is
undecidable. One that counts tokens (`Timed`) is no set of byte strings to be had in common.
"""

from __future__ import annotations

from constrain.algebra.terms import Rule, Term, Timed
from constrain.limits import Limits

__all__ = ["find_recursion"]


def find_recursion(root: Term, limits: Limits) -> Rule | None:
    """A rule reachable from `root` that reaches itself and is not declared regular, or None.

    One that counts tokens is found too.

    Makes the bodies of all rules it meets.

    Raises:
        LimitExceededError: There are more of them than `max_source_nodes`.
    """
    done: set[Rule] = set()
    for rule in _rules_in(root):
        found = _search(rule, done, limits)
        if found is not None:
            return found
    return None


def _search(start: Rule, done: set[Rule], limits: Limits) -> Rule | None:
    """Depth-first search over rules; a rule met again while it is open recurses."""
    opened: set[Rule] = set()
    todo = [(start, False)]
    while todo:
        rule, closing = todo.pop()
        if closing:
            opened.discard(rule)
            done.add(rule)
        elif rule in opened or isinstance(rule, Timed):
            return rule
        elif rule not in done:
            limits.check("max_source_nodes", len(done) + len(opened), "a grammar under & or ~")
            opened.add(rule)
            todo.append((rule, True))
            todo += [(r, False) for r in _rules_in(rule.body)]
    return None


def _rules_in(root: Term) -> list[Rule]:
    """The rules named in a term that are not declared regular."""
    found: list[Rule] = []
    seen: set[Term] = set()
    todo = [root]
    while todo:
        term = todo.pop()
        if term in seen or term.regular:
            continue
        seen.add(term)
        if isinstance(term, Rule):
            found.append(term)
        todo += term.parts
    return found
