"""What the readers of all dialects share: the pattern, the open groups, and the errors.

A reader walks the pattern once, from left to right, and keeps open groups on a list: nothing
recurses, so a pattern may nest as deep as `Limits.max_nesting` says.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field

from constrain.errors import RegexSyntaxError, UnsupportedFeatureError
from constrain.frontends.regex.atomic import atomic
from constrain.frontends.regex.nodes import (
    Look,
    Place,
    RegexNode,
    Repeat,
    alternation,
    concat,
    repetition,
)
from constrain.limits import Limits

__all__ = ["Group", "GroupKind", "PatternReader", "Quantifier"]


class GroupKind(enum.Enum):
    """What a parenthesis opens; the value is how it is written."""

    PLAIN = "group"
    AHEAD = "lookahead (?=...)"
    NOT_AHEAD = "negative lookahead (?!...)"
    BEHIND = "lookbehind (?<=...)"
    NOT_BEHIND = "negative lookbehind (?<!...)"
    ATOMIC = "atomic group (?>...)"

    @property
    def behind(self) -> bool:
        """It looks to the left."""
        return self in (GroupKind.BEHIND, GroupKind.NOT_BEHIND)

    @property
    def negative(self) -> bool:
        """It holds where its body does not match."""
        return self in (GroupKind.NOT_AHEAD, GroupKind.NOT_BEHIND)


class Quantifier(enum.Enum):
    """How a quantifier chooses, which matters in atomic groups only."""

    GREEDY = ""
    LAZY = "?"
    POSSESSIVE = "+"


@dataclass(slots=True)
class Group:
    """A group that is still open.

    Attributes:
        start: Offset of its parenthesis.
        flags: The flags in force around it, to go back to; what they are is the dialect's business.
        members: Alternatives that are complete.
        parts: The alternative being read.
        last_start: Offset of the last part, to which a quantifier would apply.
        last_is_repeat: The last part is a quantified one.
        last_repeatable: The dialect allows a quantifier after the last part.
    """

    kind: GroupKind
    start: int
    flags: int
    members: list[RegexNode] = field(default_factory=list)
    parts: list[RegexNode] = field(default_factory=list)
    last_start: int = 0
    last_is_repeat: bool = False
    last_repeatable: bool = False


class PatternReader:
    """A pattern, a position in it, and the groups that are open there.

    A dialect subclasses it and calls `open`, `close`, `add`, `quantify` and `bar` as it reads.
    """

    def __init__(self, source: str, limits: Limits) -> None:
        limits.check(
            "max_input_bytes", len(source.encode("utf-8", "surrogatepass")), "reading a pattern"
        )
        self.source = source
        self.limits = limits
        self.at = 0
        self.flags = 0
        self.groups = [Group(GroupKind.PLAIN, 0, 0)]
        self.num_nodes = 0
        self._kept: dict[tuple[str, int], RegexNode] = {}

    # Text.

    def peek(self, width: int = 1) -> str:
        """The next code points; fewer, or none, near the end."""
        return self.source[self.at : self.at + width]

    def match(self, text: str) -> bool:
        """Step over `text` if it comes next."""
        if self.source.startswith(text, self.at):
            self.at += len(text)
            return True
        return False

    def take_while(self, allowed: str, most: int) -> str:
        """Step over code points out of `allowed`, `most` at most."""
        start = self.at
        stop = min(len(self.source), start + most)
        while self.at < stop and self.source[self.at] in allowed:
            self.at += 1
        return self.source[start : self.at]

    # Errors.

    def error(
        self, reason: str, start: int, end: int | None = None, hint: str | None = None
    ) -> RegexSyntaxError:
        """An error about source[start:end]; without `end`, one code point."""
        span = (start, start + 1 if end is None else max(end, start + 1))
        return RegexSyntaxError(reason, source=self.source, span=span, hint=hint)

    def unsupported(
        self, reason: str, start: int, end: int, hint: str | None = None
    ) -> UnsupportedFeatureError:
        """A refusal of source[start:end]."""
        return UnsupportedFeatureError(reason, source=self.source, span=(start, end), hint=hint)

    # Structure.

    def keep(self, key: str, make: Callable[[str], RegexNode]) -> RegexNode:
        """`make(key)`, once for each key and flags: an anchor twice in a row is one node."""
        node = self._kept.get((key, self.flags))
        if node is None:
            node = self._kept[key, self.flags] = make(key)
        return node

    def spend(self, nodes: int) -> None:
        """Count nodes, or work that is worth as much."""
        self.num_nodes += nodes
        self.limits.check("max_source_nodes", self.num_nodes, "reading a pattern")

    def add(self, node: RegexNode, start: int, *, repeatable: bool = True) -> None:
        """Append a part that was read from `start` on."""
        self.spend(1)
        group = self.groups[-1]
        group.parts.append(node)
        group.last_start = start
        group.last_is_repeat = False
        group.last_repeatable = repeatable

    def bar(self) -> None:
        """An alternative ends here, the next begins."""
        group = self.groups[-1]
        group.members.append(concat(group.parts))
        group.parts = []

    def open(self, kind: GroupKind, start: int) -> None:
        """A group begins; the flags of now are restored where it ends."""
        self.groups.append(Group(kind, start, self.flags))
        self.limits.check("max_nesting", len(self.groups) - 1, "reading a pattern")

    def close(self) -> Group:
        """The innermost group ends just before `at`; it becomes a part, and is returned.

        Raises:
            RegexSyntaxError: No group is open.
            UnsupportedFeatureError: An atomic group that cannot be rewritten.
        """
        if len(self.groups) == 1:
            raise self.error(
                "unbalanced parenthesis: no group is open here",
                self.at - 1,
                hint="write \\) for the character",
            )
        self.bar()
        group = self.groups.pop()
        self.flags = group.flags
        body = alternation(group.members)
        self.add(self._of_group(group, body), group.start)
        return group

    def _of_group(self, group: Group, body: RegexNode) -> RegexNode:
        kind = group.kind
        if kind is GroupKind.PLAIN:
            return body
        place = Place(self.source, (group.start, self.at), kind.value)
        if kind is GroupKind.ATOMIC:
            return atomic(body, place)
        return Look(body, kind.behind, kind.negative, place)

    def finish(self) -> RegexNode:
        """The node of the whole pattern.

        Raises:
            RegexSyntaxError: A group is still open.
        """
        group = self.groups[-1]
        if len(self.groups) > 1:
            raise self.error(
                "missing ), the group that begins here is not closed",
                group.start,
                hint="write \\( for the character",
            )
        self.bar()
        return alternation(group.members)

    def quantify(self, lo: int, hi: int | None, how: Quantifier, start: int) -> None:
        """Apply a quantifier that stands at `start` and ends at `at` to the last part.

        Raises:
            RegexSyntaxError: There is nothing to repeat, or it is a repeat already.
            UnsupportedFeatureError: A possessive quantifier that cannot be rewritten.
        """
        group = self.groups[-1]
        if not group.parts or not group.last_repeatable:
            raise self.error(
                f"nothing to repeat before {self.source[start : self.at]!r}",
                start,
                self.at,
                hint="put something to repeat before it, or a backslash to mean the character",
            )
        if group.last_is_repeat:
            raise self.error(
                f"multiple repeat: {self.source[start : self.at]!r} follows another quantifier",
                start,
                self.at,
                hint="put the repeated part into a group (?:...)",
            )
        if hi is not None and hi < lo:
            raise self.error(
                f"the bounds of {self.source[start : self.at]!r} are out of order",
                start,
                self.at,
                hint="the smaller count comes first: {2,5}",
            )
        body = group.parts.pop()
        node = repetition(body, lo, hi, lazy=how is Quantifier.LAZY)
        if how is Quantifier.POSSESSIVE and isinstance(node, Repeat):
            span = (group.last_start, self.at)
            node = atomic(node, Place(self.source, span, "possessive quantifier"))
        self.add(node, group.last_start)
        group.last_is_repeat = True
