"""Left recursion solved by the left-corner transform, for cycles of many symbols.

X / Y is what may follow a Y that begins an X. With the base b_Y of each symbol Y of the cycle,

    X = b_Y (X / Y) for each Y           X / Y = k (X / Z) for each step Z -> Y k,  | EPS if X is Y

where steps with an empty k (Z -> Y) are followed at once, so that cyclic symbols end too. Each
X / Y is a rule, whose body is made when a text reaches it.

Cost: O(cycle) for an X that is reached, O(steps that begin with it) for each X / Y.

Source: Rosenkrantz and Lewis, "Deterministic left corner parsing" (1970).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from constrain.algebra.terms import EMPTY, EPS, Rule, Term, alt, cat, optional
from constrain.frontends.cfg.equations import Equations, Terms
from constrain.frontends.components import components

__all__ = ["LeftCorner"]


class LeftCorner:
    """The symbols of one cycle, solved as they are asked for.

    Args:
        terms: The terms of nodes.
        equations: Reads the equations; it keeps no symbol apart at an end.
        symbols: All symbols of the cycle.
    """

    def __init__(self, terms: Terms, equations: Equations, symbols: Iterable[int]) -> None:
        self._terms = terms
        self._bases: dict[int, Term] = {}
        self._steps: dict[int, list[tuple[int, Term]]] = {}  # by what they begin with
        self._unit_steps: dict[int, list[int]] = {}
        self._rules: dict[tuple[int, int], Rule] = {}
        symbols = list(symbols)
        for root in symbols:
            equation = equations.read(root)
            if equation.base.plain is not EMPTY:
                self._bases[root] = equation.base.plain
            for begun, rest in equation.steps.items():
                if rest.plain is not EMPTY:
                    self._steps.setdefault(begun, []).append((root, rest.plain))
                if rest.nullable:
                    self._unit_steps.setdefault(begun, []).append(root)
        # Symbols that are wholes of each other have the same after them: the first stands for all.
        number = {root: i for i, root in enumerate(symbols)}
        units = [[number[whole] for whole in self._unit_steps.get(root, ())] for root in symbols]
        self._first = {symbols[n]: symbols[c[0]] for c in components(units)[1] for n in c}

    def body(self, root: int) -> Term:
        """The strings of a symbol that are not empty."""
        return alt([cat(base, self._after(corner, root)) for corner, base in self._bases.items()])

    def _after(self, corner: int, root: int) -> Term:
        """What may follow a `corner` that is the beginning of a `root`."""
        if not self._steps:
            return EPS
        corner = self._first[corner]
        rule = self._rules.get((corner, root))
        if rule is None:
            name = f"{self._terms.name(root)} after {self._terms.name(corner)}"
            made = Rule(name, partial(self._after_body, corner, root))
            rule = self._rules.setdefault((corner, root), made)
        return optional(rule) if root in self._wholes(corner) else rule

    def _after_body(self, corner: int, root: int) -> Term:
        return alt(
            [
                cat(rest, self._after(whole, root))
                for begun in self._wholes(corner)
                for whole, rest in self._steps.get(begun, ())
            ]
        )

    def _wholes(self, corner: int) -> dict[int, None]:
        """The symbols that a `corner` may be the whole of, itself first."""
        found = {corner: None}
        todo = [corner]
        while todo:
            for whole in self._unit_steps.get(todo.pop(), ()):
                if whole not in found:
                    found[whole] = None
                    todo.append(whole)
        return found
