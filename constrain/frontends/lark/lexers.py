"""lark's lexers, without its search for terminals that overlap.

Where the package interegular is installed, lark compares all terminals of each lexer with each
other and warns of those that overlap: minutes for a large grammar, and nothing that a mask needs
(`constrain lint` tells such pairs). Here each terminal is checked once, as lark checks it, and none
are compared.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from lark.lexer import BasicLexer, ContextualLexer

__all__ = ["PLUGINS"]


class _ComparedEnough:
    """Stands for a comparison of which lark has shown all that it shows."""

    def count_marked_pairs(self) -> float:
        return float("inf")


class _Basic(BasicLexer):
    def __init__(self, conf: Any, comparator: Any = None) -> None:  # noqa: ANN401 - lark's own
        super().__init__(conf, _ComparedEnough())


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


PLUGINS = {"BasicLexer": _Basic, "ContextualLexer": _Contextual}
"""For the option `_plugins` of `lark.Lark`."""
