"""Left recursion solved by elimination: one equation after another, for cycles of few symbols.

With steps to X itself and to symbols that come later, X = b | X k | Y l is

    X = (b | Y l) M         M = EPS | k M

which takes the place of X wherever an equation after it begins with X. What is left begins with
later symbols only, so it is guarded. The symbols used most come last.

An `X` at the *end* of a base or step needs no M behind it, since X M = X, and without it recursion
at an end stays there. Ambiguous grammars, E -> E "+" E | "-" E | n, have as few states as those
that are not:

    E = n M | "-" E         M = EPS | "+" E

Cost: O(n^3) terms for n symbols.

Source: Arden's rule (1961), as in Gaussian elimination.
"""

from __future__ import annotations

from collections.abc import Sequence as Parts

from constrain.algebra.terms import EMPTY, Rule, Term, alt, cat, optional, plus
from constrain.frontends.cfg.equations import EMPTY_FORM, Equation, Equations, Form, Terms, union

__all__ = ["Elimination"]


class Elimination:
    """The symbols of one cycle, solved.

    Args:
        terms: The terms of nodes.
        equations: Reads the equations; it keeps all symbols apart at an end.
        order: The symbols, each before those that its solution may begin with.
    """

    def __init__(self, terms: Terms, equations: Equations, order: Parts[int]) -> None:
        self._terms = terms
        self._equations = equations
        self._solved: dict[int, Equation] = {}
        for root in order:
            self._solved[root] = self._eliminated(root, equations.read(root))

    def body(self, root: int) -> Term:
        """The strings of a symbol that are not empty."""
        solved = self._solved[root]
        members = [self._equations.proper_of(solved.base)]
        for begun, step in solved.steps.items():
            rest = self._equations.proper_of(step)
            members.append(cat(self._terms.rule(begun), optional(rest) if step.nullable else rest))
        return alt(members)

    def _eliminated(self, root: int, equation: Equation) -> Equation:
        """The equation of a symbol in terms of those that come after it."""
        base, steps = equation.base, dict(equation.steps)
        for earlier, solved in self._solved.items():
            rest = steps.pop(earlier, None)
            if rest is None:
                continue
            base = union((base, self._equations.then(solved.base, rest)))
            for later, step in solved.steps.items():
                steps[later] = union(
                    (steps.get(later, EMPTY_FORM), self._equations.then(step, rest))
                )
        own = steps.pop(root, EMPTY_FORM)
        more = self._more(root, own)
        return Equation(
            self._followed(root, base, more),
            {
                later: self._followed(root, step, more)
                for later, step in steps.items()
                if not step.is_empty
            },
        )

    def _followed(self, root: int, form: Form, more: Form) -> Form:
        """A form with `more` behind it, but where it ends with `root` and so has it already."""
        return union((self._equations.then(form.without_tail(root), more), form.only_tail(root)))

    def _more(self, root: int, own: Form) -> Form:
        """What may follow a symbol that is the beginning of itself."""
        others = self._equations.proper_of(own.without_tail(root))
        if root not in own.tails:
            return Form(plus(others) if others is not EMPTY else EMPTY, nullable=True)

        def body() -> Term:
            at_end = cat(own.tails[root], self._terms.rule(root))
            return alt((cat(others, optional(rule)), at_end))

        name = self._terms.name(root)
        rule = Rule(f"{name} after {name}", body)
        return Form(rule, nullable=True)
