"""The rules of a store by number: a kernel knows a rule by its number, and asks for its body."""

from __future__ import annotations

from constrain.algebra.terms import Branches, Rule, Timed

__all__ = ["RuleNumbers"]


class RuleNumbers:
    """Numbers of rules, from 0 on.

    Attributes:
        count_tokens: Some rule is another term once a token has ended (`Timed`).
    """

    def __init__(self) -> None:
        self.count_tokens = False
        self._rules: list[Rule | Branches] = []
        """By number. Rules of `Branches` are found there until they are needed."""
        self._ids: dict[Rule, int] = {}
        self._branch_ids: dict[Branches, int] = {}

    def __len__(self) -> int:
        return len(self._rules)

    @property
    def num_made(self) -> int:
        """How many there are as rules, those of `Branches` that nothing needed left out."""
        return len(self._ids)

    def id_of(self, rule: Rule) -> int:
        """The number of a rule, the same each time."""
        found = self._ids.get(rule)
        if found is None:
            found = self._ids[rule] = len(self._rules)
            self._rules.append(rule)
            self.count_tokens |= isinstance(rule, Timed)
        return found

    def first_of(self, branches: Branches) -> int:
        """The number of the first of some rules; the others follow it."""
        first = self._branch_ids.get(branches)
        if first is None:
            first = self._branch_ids[branches] = len(self._rules)
            self._rules += [branches] * len(branches.heads.parts)
        return first

    def rule(self, number: int) -> Rule:
        """The rule of a number."""
        found = self._rules[number]
        if isinstance(found, Branches):
            found = found.rule(number - self._branch_ids[found])
            self._rules[number] = found
            self._ids[found] = number
        return found
