"""Where a text stands in a grammar in GBNF: rules by name, literals and classes as written."""

from __future__ import annotations

import re

from constrain.frontends.cfg import Expression, Terminal
from constrain.frontends.cfg.chart import Could, Net
from constrain.frontends.cfg.explain import ScannedText, Scanner, derive, explain
from constrain.frontends.explanation import Derivation, Explanation
from constrain.frontends.gbnf.macros import MACROS
from constrain.frontends.gbnf.reader import Reader
from constrain.frontends.gbnf.syntax import RuleReader
from constrain.limits import Limits

__all__ = ["GbnfExplainer"]


class _NamingReader(RuleReader):
    """Reads a rule, and keeps how each of its terminals is written."""

    def __init__(
        self, reader: Reader, macros: frozenset[str], written: dict[Expression, str]
    ) -> None:
        super().__init__(reader, macros)
        self._written = written

    def _element(self, start: int, next_: str) -> Expression:
        made = super()._element(start, next_)
        self._written[made] = self.reader.source[start : self.reader.at]
        return made


class GbnfExplainer:
    """Explains texts of one grammar, which is known to be right.

    Args:
        text: The grammar.
        root: The rule that stands for the whole.
        limits: Budgets.
    """

    def __init__(self, text: str, root: str, limits: Limits) -> None:
        reader = Reader(text, limits)
        own = re.findall(r"(?m)^[ \t]*(\w+)[ \t]*::=", text)
        macros = MACROS - set(own)
        written: dict[Expression, str] = {}
        productions: dict[str, Expression] = {}
        reader.skip(lines=True)
        while not reader.at_end:
            rule = _NamingReader(reader, macros, written).read()
            productions[rule.name] = rule.body
        self._root = root
        self._written = written
        self._net = Net(productions)
        self._scanner = Scanner(limits)

    def explain(self, text: bytes, offset: int, expected: bytes) -> Explanation:
        """See `Explainer.explain`."""
        read = ScannedText(self._scanner, text[:offset], expected)
        return explain(self._net, self._root, read, offset, self._name, _always)

    def derivation(self, text: bytes) -> Derivation | None:
        """See `Explainer.derivation`."""
        read = ScannedText(self._scanner, text, b"")
        return derive(self._net, self._root, read, self._terminal_name, _always)

    def _terminal_name(self, terminal: Terminal) -> str:
        return self._written.get(terminal, "a text")

    def _name(self, could: Could) -> str:
        """A literal as it is written; a class by its rule, if the rule begins with it here."""
        written = self._terminal_name(could.terminal)
        rule = self._net.rule_of[could.node]
        begins = self._net.start_of[rule] == could.node and could.origin == could.place
        return rule if begins and rule != self._root and not written.startswith('"') else written


def _always(rule: str) -> bool:
    return True
