"""lark's lexers, without its search for terminals that overlap.

Where the package interegular is installed, lark compares all terminals of each lexer with each
other and warns of those that overlap: minutes for a large grammar, and nothing that a mask needs
(`constrain lint` tells such pairs). Here each terminal is checked once, as lark checks it, and none
are compared.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import partial
from typing import Any

from lark.exceptions import LexError
from lark.lexer import BasicLexer, ContextualLexer, Scanner

from constrain.errors import GrammarSyntaxError
from constrain.frontends.lark.table import TableOnly
from constrain.limits import Limits

__all__ = ["plugins"]


class _ComparedEnough:
    """Stands for a comparison of which lark has shown all that it shows."""

    def count_marked_pairs(self) -> float:
        return float("inf")


class _Basic(BasicLexer):
    def __init__(self, conf: Any, comparator: Any = None) -> None:  # noqa: ANN401 - lark's own
        super().__init__(conf, _ComparedEnough())
        for terminal in self.terminals:
            pattern = terminal.pattern.to_regexp()
            if "(?" in pattern and not _stands_in_a_group(terminal.name, pattern):
                raise LexError(f"Cannot compile token {terminal.name}: {pattern!r}")

    def _build_scanner(self) -> Scanner:
        try:
            return super()._build_scanner()
        except re.error as error:
            raise self._cannot_stand_together(error) from error

    def _cannot_stand_together(self, error: re.error) -> GrammarSyntaxError:
        group = re.search(r"'(\w+)'", error.msg)
        names = [
            t.name
            for t in self.terminals
            if group is not None and f"(?P<{group[1]}>" in t.pattern.to_regexp()
        ]
        return GrammarSyntaxError(
            f"lark makes one pattern of terminals that compete, and those of "
            f"{' and '.join(names or ['this grammar'])} do not compile together: {error.msg}",
            hint="a group needs no name: (?:...)",
        )


def _stands_in_a_group(name: str, pattern: str) -> bool:
    """Whether a pattern compiles where lark puts it, among those of other terminals."""
    try:
        re.compile(f"(?P<{name}>{pattern})")
    except re.error:
        return False
    return True


class _Contextual(ContextualLexer):
    BasicLexer = _Basic

    def __init__(
        self,
        conf: Any,  # noqa: ANN401 - lark.lexer.LexerConf
        states: dict[int, Collection[str]],
        always_accept: Collection[str] = (),
    ) -> None:
        _Basic(conf)  # raises if a terminal is no pattern, or matches nothing
        conf.skip_validation = True
        super().__init__(conf, states, always_accept=always_accept)


def plugins(limits: Limits) -> dict[str, Any]:
    """What stands for lark's own: for the option `_plugins` of `lark.Lark`."""
    return {
        "BasicLexer": _Basic,
        "ContextualLexer": _Contextual,
        "LALR_Parser": partial(TableOnly, limits),
    }
