r"""Where a text stands in a pattern: what could come, as it is written, with its place there.

A pattern is read once more by the reader of its dialect, which tells each part that it adds; here
the parts become the productions of a chart. A named group is a rule, so a path says in which groups
a text stands. What is asserted about a place (`^`, `\b`, lookaround) is left out: the engine knows
it.

    (?P<year>\d{4})-\d\d     text 20     inside: year     could come: more of /\d{4}/
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from constrain.algebra.terms import Term
from constrain.errors import UnsupportedFeatureError
from constrain.frontends.cfg import Choice, Expression, Repetition, Sequence, Symbol, Terminal
from constrain.frontends.cfg.chart import Chart, Net
from constrain.frontends.cfg.explain import ScannedText, Scanner, derive
from constrain.frontends.explanation import Derivation, Explanation
from constrain.frontends.regex import lower
from constrain.frontends.regex.ecma_syntax import EcmaReader
from constrain.frontends.regex.nodes import RegexNode, repetition
from constrain.frontends.regex.python_syntax import PythonReader
from constrain.frontends.regex.reader import Group, GroupKind, PatternReader, Quantifier
from constrain.frontends.regex.rust_syntax import NotText, RustReader
from constrain.limits import Limits

__all__ = ["RegexExplainer"]

_WHOLE: Final = "(whole)"  # no name of a group
_NOTHING: Final = Sequence(())
_NAMED: Final = re.compile(r"\(\?P?<([^>=!]+)>")


@dataclass(slots=True)
class _Frame:
    """A group that is open, as `reader.Group`.

    Attributes:
        members: Alternatives that are complete.
        parts: The alternative being read: each part, its node if it is a single one, its start.
    """

    members: list[Expression] = field(default_factory=list)
    parts: list[tuple[Expression, RegexNode | None, int]] = field(default_factory=list)


class _Recorder(PatternReader):
    """A reader that keeps how each part is written; mixed into the reader of a dialect."""

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - the dialect's
        super().__init__(*arguments, **options)
        self.spans: dict[Terminal, tuple[int, int]] = {}
        self.rules: dict[str, Expression] = {}
        self._frames = [_Frame()]
        self._composing = False
        self._terms: dict[RegexNode, Term] = {}

    def add(self, node: RegexNode, start: int, *, repeatable: bool = True) -> None:
        super().add(node, start, repeatable=repeatable)
        if not self._composing:
            self._frames[-1].parts.append((self._leaf(node, start), node, start))

    def _leaf(self, node: RegexNode, start: int) -> Expression:
        if not node.plain:
            return _NOTHING
        term = self._terms.get(node)
        if term is None:
            term = self._terms[node] = lower(node, limits=self.limits)
        terminal = Terminal(term)
        self.spans[terminal] = (start, self.at)
        return terminal

    def bar(self) -> None:
        super().bar()
        frame = self._frames[-1]
        frame.members.append(Sequence(tuple([part for part, _, _ in frame.parts])))
        frame.parts = []

    def open(self, kind: GroupKind, start: int) -> None:
        super().open(kind, start)
        self._frames.append(_Frame())

    def close(self) -> Group:
        self._composing = True
        group = super().close()
        self._composing = False
        body: Expression = Choice(tuple(self._frames.pop().members))
        if group.kind not in (GroupKind.PLAIN, GroupKind.ATOMIC):
            body = _NOTHING
        named = _NAMED.match(self.source, group.start)
        if named is not None and named[1] not in self.rules:
            self.rules[named[1]] = body
            body = Symbol(named[1])
        self._frames[-1].parts.append((body, None, group.start))
        return group

    def quantify(self, lo: int, hi: int | None, how: Quantifier, start: int) -> None:
        self._composing = True
        super().quantify(lo, hi, how, start)
        self._composing = False
        frame = self._frames[-1]
        body, node, first = frame.parts.pop()
        if node is not None and node.plain:
            node = repetition(node, lo, hi)
            frame.parts.append((self._leaf(node, first), node, first))
        else:
            frame.parts.append((Repetition(body, lo, hi), None, first))

    def whole(self) -> Expression:
        """The pattern, once it is read."""
        return Choice(tuple(self._frames[0].members))


class _Python(_Recorder, PythonReader):
    """Of the dialect "python"."""


class _Ecma(_Recorder, EcmaReader):
    """Of the dialect "ecma"."""


class _Rust(_Recorder, RustReader):
    """Of the dialect "rust"."""


class RegexExplainer:
    """Explains texts of one pattern, which is known to be right.

    Args:
        pattern: The pattern.
        dialect: As of `Grammar.from_regex`.
        flags: As of `Grammar.from_regex`.
        limits: Budgets.

    Raises:
        UnsupportedFeatureError: It is a pattern over bytes, not over text.
    """

    def __init__(self, pattern: str, dialect: str, flags: str, limits: Limits) -> None:
        reader: _Python | _Ecma | _Rust
        if dialect == "python":
            reader = _Python(pattern, limits, flags)
        elif dialect == "ecma":
            reader = _Ecma(pattern, limits, flags)
        else:
            reader = _Rust(pattern, limits, flags, of_bytes=False)
        try:
            reader.read()
        except NotText:
            raise UnsupportedFeatureError("the pattern is over bytes") from None
        self._pattern = pattern
        self._spans: Mapping[Terminal, tuple[int, int]] = reader.spans
        self._net = Net({**reader.rules, _WHOLE: reader.whole()})
        self._scanner = Scanner(limits)

    def _name(self, terminal: Terminal) -> str:
        start, end = self._spans[terminal]
        written = self._pattern[start:end]
        return f'"{written}"' if len(written) == 1 and written != "." else f"/{written}/"

    def explain(self, text: bytes, offset: int, expected: bytes) -> Explanation:
        """See `Explainer.explain`."""
        chart = Chart(self._net, _WHOLE, ScannedText(self._scanner, text[:offset], expected))
        chart.read()
        could = chart.could()
        return Explanation(
            offset,
            tuple(dict.fromkeys([self._name(c.terminal) for c in could])),
            tuple(dict.fromkeys([self._name(c.terminal) for c in could if c.place < offset])),
            tuple([rule for rule in chart.path(could) if rule != _WHOLE]),
            self._pattern,
            tuple(sorted({self._spans[c.terminal] for c in could})),
        )

    def derivation(self, text: bytes) -> Derivation | None:
        """See `Explainer.derivation`."""
        scanned = ScannedText(self._scanner, text, b"")
        made = derive(self._net, _WHOLE, scanned, self._name, lambda rule: rule != _WHOLE)
        return made and Derivation(made.rule_path[1:], made.parts)
