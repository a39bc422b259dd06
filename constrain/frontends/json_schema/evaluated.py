"""`unevaluatedProperties` and `unevaluatedItems`: what the other keywords of a schema look at.

A keyword that applies a subschema to the same value passes on what that evaluates, if the value is
in it. Where the branches that hold are always the same, or evaluate the same, this is one set, and
the keyword is a rule about what is outside.

Else it is a clause of what the branches say, see `branches`.

Whatever evaluates nothing beyond what is evaluated anyway makes no difference: a `required` in each
branch of an `anyOf`, a `oneOf` over branches with the same properties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final, Literal, NamedTuple

from constrain.frontends.json_schema.array import ArrayShape
from constrain.frontends.json_schema.array import tidy as tidy_array
from constrain.frontends.json_schema.expr import FALSE, TRUE, Expr, Exprs
from constrain.frontends.json_schema.object import ObjectShape
from constrain.frontends.json_schema.object import tidy as tidy_object
from constrain.frontends.json_schema.read import JSON
from constrain.frontends.json_schema.refs import Node, Source
from constrain.frontends.json_schema.shapes import EVERYTHING, ShapeSet
from constrain.frontends.json_schema.string import Language, StringSets, StringShape

__all__ = ["KINDS", "Applied", "Bounds", "Evaluated", "Evaluation", "Kind", "applied"]

Kind = Literal["objects", "arrays"]
KINDS: Final[dict[Kind, str]] = {
    "objects": "unevaluatedProperties",
    "arrays": "unevaluatedItems",
}


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Some members of an object, or some items of an array.

    Attributes:
        everything: All of them.
        names: Members with these keys.
        languages: Members whose key is in one of these.
        first: That many items from the start.
        values: Items in one of these.
    """

    everything: bool = False
    names: frozenset[str] = frozenset()
    languages: frozenset[Language] = frozenset()
    first: int = 0
    values: frozenset[Expr] = frozenset()

    def plus(self, other: Evaluated) -> Evaluated:
        """What is in this or the other."""
        if self.everything or other.everything:
            return _ALL
        return Evaluated(
            False,
            self.names | other.names,
            self.languages | other.languages,
            max(self.first, other.first),
            self.values | other.values,
        )

    def common(self, other: Evaluated) -> Evaluated:
        """What is plainly in both."""
        if self.everything or other.everything:
            return other if self.everything else self
        return Evaluated(
            False,
            self.names & other.names,
            self.languages & other.languages,
            min(self.first, other.first),
            self.values & other.values,
        )

    def covers(self, other: Evaluated) -> bool:
        """Whether the other is plainly in this."""
        return self.everything or self.plus(other) == self


_ALL: Final = Evaluated(everything=True)
_NONE: Final = Evaluated()


class Bounds(NamedTuple):
    """What a schema evaluates of every value in it, and what it may evaluate at most."""

    least: Evaluated
    most: Evaluated


class Applied(NamedTuple):
    """One keyword's subschemas that apply to the same value, as far as they evaluate anything.

    Attributes:
        how: "all", "anyOf", "oneOf", "if" (with `then` and `else` behind it) or "dependent".
        branches: The subschemas.
        key: Of "dependent": the key on which it depends.
    """

    how: Literal["all", "anyOf", "oneOf", "if", "dependent"]
    branches: tuple[Node | bool, ...]
    key: str = ""


def applied(node: Node, kind: Kind, source: Source) -> list[Applied]:
    """What a node applies to the same value. `not` evaluates nothing, so it is not there."""

    def below(schema: JSON) -> Node | bool:
        return source.node(schema, node) if isinstance(schema, dict) else bool(schema)

    found = [Applied("all", (target,)) for target in node.references()]
    found += [Applied("all", (below(s),)) for s in node.get("allOf") or ()]
    if (branches := node.get("anyOf")) is not None:
        found.append(Applied("anyOf", tuple(map(below, branches))))
    if (branches := node.get("oneOf")) is not None:
        found.append(Applied("oneOf", tuple(map(below, branches))))
    if "if" in node.names:
        then, otherwise = node.get("then"), node.get("else")
        found.append(
            Applied(
                "if",
                (
                    below(node.schema["if"]),
                    True if then is None else below(then),
                    True if otherwise is None else below(otherwise),
                ),
            )
        )
    if kind == "objects":
        for name in ("dependentSchemas", "dependencies"):
            for key, schema in (node.get(name) or {}).items():
                if not isinstance(schema, list):
                    found.append(Applied("dependent", (below(schema),), key))
    return found


class Evaluation:
    """What the nodes of one schema evaluate.

    Args:
        source: The nodes.
        table: The expressions.
        strings: The string sets.
        expr: The expression of a subschema of a node.
        key_patterns: The keys that each of a node's `patternProperties` speaks of.
    """

    def __init__(
        self,
        source: Source,
        table: Exprs,
        strings: StringSets,
        expr: Callable[[Node, JSON], Expr],
        key_patterns: Callable[[Node], Iterable[Language]],
    ) -> None:
        self._source = source
        self._table = table
        self._strings = strings
        self._expr = expr
        self._key_patterns = key_patterns
        self._bounds: dict[tuple[Node, Kind], Bounds] = {}

    def asks(self, node: Node, kind: Kind) -> Expr | None:
        """What the unevaluated members or items of a node must be in; None if in anything."""
        name = KINDS[kind]
        if name not in node.names:
            return None
        wanted = self._expr(node, node.schema[name])
        return None if wanted is TRUE or self._own(node, kind).everything else wanted

    def inside(self, node: Node, kind: Kind) -> Bounds:
        """What the other keywords of a node evaluate, `unevaluated...` left out."""
        own = self._own(node, kind)
        if own.everything:
            return Bounds(own, own)
        least = most = own
        for each in applied(node, kind, self._source):
            bounds = self.of_applied(each, kind)
            least, most = least.plus(bounds.least), most.plus(bounds.most)
        return Bounds(least, most)

    def of(self, schema: Node | bool, kind: Kind) -> Bounds:
        """What a schema evaluates, `unevaluated...` included, which does the whole rest."""
        if isinstance(schema, bool):
            return Bounds(_NONE, _NONE) if schema else Bounds(_ALL, _NONE)
        todo = [schema]
        while todo:
            node = todo[-1]
            if (node, kind) in self._bounds:
                todo.pop()
                continue
            if KINDS[kind] in node.names or self._own(node, kind).everything:
                self._bounds[node, kind] = Bounds(_ALL, _ALL)
                continue
            below = [b for each in applied(node, kind, self._source) for b in each.branches]
            missing = [b for b in below if isinstance(b, Node) and (b, kind) not in self._bounds]
            if missing:
                todo += missing
            else:
                self._bounds[node, kind] = self.inside(node, kind)
        return self._bounds[schema, kind]

    def of_applied(self, each: Applied, kind: Kind) -> Bounds:
        """What one keyword's subschemas evaluate."""
        bounds = [self.of(branch, kind) for branch in each.branches]
        most = reduce(Evaluated.plus, [b.most for b in bounds])
        if each.how == "dependent":
            return Bounds(_NONE, most)
        if each.how == "if":
            condition, then, otherwise = [b.least for b in bounds]
            return Bounds(condition.plus(then).common(otherwise), most)
        return Bounds(reduce(Evaluated.common, [b.least for b in bounds]), most)

    def rule(self, evaluated: Evaluated, wanted: Expr, kind: Kind) -> ShapeSet:
        """The values whose members or items that are not evaluated are all in `wanted`."""
        if evaluated.everything:
            return EVERYTHING
        if kind == "objects":
            outside = StringShape(no=evaluated.languages, out=evaluated.names)
            keys = self._strings.union([outside])
            members = tidy_object(ObjectShape(rules=((keys, wanted),)), self._table)
            return replace(EVERYTHING, objects=() if members is None else (members,))
        rest = self._table.any_of([wanted, *evaluated.values])
        items = tidy_array(ArrayShape((TRUE,) * evaluated.first, rest), self._table)
        return replace(EVERYTHING, arrays=() if items is None else (items,))

    def _own(self, node: Node, kind: Kind) -> Evaluated:
        """What the keywords of a node evaluate that apply to members or items."""
        if kind == "objects":
            if "additionalProperties" in node.names:
                return _ALL
            names = frozenset(node.get("properties") or ())
            return Evaluated(names=names, languages=frozenset(self._key_patterns(node)))
        items = node.get("items")
        if isinstance(items, list):  # before draft 2020-12
            return _ALL if "additionalItems" in node.names else Evaluated(first=len(items))
        if items is not None:
            return _ALL
        values = frozenset[Expr]()
        if "contains" in node.names and node.dialect.name != "draft2019-09":
            values = frozenset((self._expr(node, node.schema["contains"]),)) - {FALSE}
            if TRUE in values:
                return _ALL
        return Evaluated(first=len(node.get("prefixItems") or ()), values=values)
