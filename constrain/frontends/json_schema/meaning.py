"""What a schema node means: its keywords as one set of values, kind by kind.

Every keyword speaks of one kind of value and lets the others pass; keywords side by side are an
"and". Keywords that apply subschemas to the same value (`$ref`, `allOf`, `anyOf`, `oneOf`, `not`,
`if`, `dependent...`) are the set operations of the same name. Subschemas of members and items stay
expressions. `unevaluated...` is a rule about what those leave, see `evaluated`.

Nothing here recurses: the sets of subschemas in place are made first, with a stack.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Final

from constrain.errors import GrammarError
from constrain.frontends.json_schema.assertions import Assertions, kinds
from constrain.frontends.json_schema.branches import Branches, one_shape
from constrain.frontends.json_schema.constants import (
    MOST_VALUES,
    few_values,
    finite_set,
    listed_values,
    only_values,
)
from constrain.frontends.json_schema.evaluated import KINDS, Evaluation, Kind
from constrain.frontends.json_schema.expr import FALSE, TRUE, Expr, Exprs, Finite
from constrain.frontends.json_schema.members import Members
from constrain.frontends.json_schema.object import ObjectShape
from constrain.frontends.json_schema.plain_sight import PlainSight
from constrain.frontends.json_schema.read import JSON, parse_json
from constrain.frontends.json_schema.refs import NEGATING, UNEVALUATED, Node, Source
from constrain.frontends.json_schema.same import canonical_nodes
from constrain.frontends.json_schema.shapes import EVERYTHING, NOTHING, Shapes, ShapeSet
from constrain.frontends.json_schema.string import StringSets
from constrain.frontends.json_schema.values import Frozen, Values
from constrain.limits import Limits

__all__ = ["Meaning"]


_APPLYING: Final = frozenset(
    (
        *("$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not"),
        *("if", "then", "else", "dependentSchemas", "dependencies", "propertyNames"),
    )
)
"""Keywords that apply subschemas to the same value, or to its keys."""


_UNEVALUATED: Final = frozenset(UNEVALUATED)

_OF_OBJECTS_ONLY: Final = frozenset(
    (
        *("type", "properties", "patternProperties", "additionalProperties", "required"),
        *("minProperties", "maxProperties"),
    )
)
"""Keywords of most objects: what they say of other values is that there are none."""


class Meaning:
    """The sets of values of one schema's nodes and expressions, made when asked for and remembered.

    Args:
        source: The nodes.
        limits: Budgets.
        asserts_formats: `format` is enforced.

    Attributes:
        table: The expressions.
        strings: The string sets.
        lock: Held while rules are made from this, whatever store needs them.
    """

    def __init__(self, source: Source, limits: Limits, *, asserts_formats: bool) -> None:
        self.lock = threading.RLock()
        self.table = Exprs()
        self._frozen = Values()
        self.strings = StringSets(limits)
        self._sets = Shapes(self.table, self.strings, limits)
        self._source = source
        self.limits = limits
        self._made: dict[Expr, ShapeSet] = {TRUE: EVERYTHING, FALSE: NOTHING}
        self._members: dict[ObjectShape, Members] = {}
        self._few_values: dict[Expr, Sequence[Frozen] | None] = {}
        self._node_exprs: dict[Node, Expr] = {}
        self._leaves: dict[Hashable, Node] = {}
        self._canonical = canonical_nodes(source, self._frozen) if source.combines else {}
        self._sight = PlainSight(self.shapes, self.table, self.strings)
        self._assertions = Assertions(
            self.table, self.strings, self._below, limits, asserts_formats=asserts_formats
        )
        self._evaluation = Evaluation(
            source, self.table, self.strings, self._below, self._assertions.key_patterns
        )
        self._branches = Branches(
            source,
            self._evaluation,
            self.table,
            self.strings,
            self._sets,
            lambda branch: self.shapes(self._branch(branch)),
            limits,
        )

    def expr(self, root: JSON) -> Expr:
        """The expression of the whole schema: an object or a boolean."""
        return self._branch(self._source.node(root) if isinstance(root, dict) else root)

    def _below(self, node: Node, schema: JSON) -> Expr:
        """The expression of a subschema of a node."""
        return self._branch(self._source.node(schema, node) if isinstance(schema, dict) else schema)

    def _branch(self, schema: Node | bool) -> Expr:
        if isinstance(schema, Node):
            return self._node_expr(schema)
        return TRUE if schema else FALSE

    def _node_expr(self, node: Node) -> Expr:
        found = self._node_exprs.get(node)
        if found is None:
            found = self._node_exprs[node] = self._new_node_expr(node)
        return found

    def _new_node_expr(self, node: Node) -> Expr:
        """The expression of a node, the same one for nodes that plainly mean the same."""
        while node.targets and len(node.names) == 1 and node.names[0] in node.targets:
            target = node.targets[node.names[0]]
            if isinstance(target, bool):
                return TRUE if target else FALSE
            node = target
        if not node.names:
            return TRUE
        if self._canonical:
            node = self._canonical.get(node, node)
        if node.names == ["not"] and isinstance(node.schema["not"], dict):
            inner = self._source.node(node.schema["not"], node)
            values = only_values(inner, self._frozen) if inner.leaf else None
            if values is not None:
                return self.table.finite(values).dual
        if not node.leaf:
            return self.table.literal(node)
        values = only_values(node, self._frozen)
        if values is not None:
            return self.table.finite(values)
        key: list[Hashable] = [node.dialect]
        for name in sorted(node.names):
            value = node.schema[name]
            told = value if isinstance(value, str) else self._frozen.freeze(value, node.at(name))
            key.append((name, told))
        return self.table.literal(self._leaves.setdefault(tuple(key), node))

    @property
    def num_sets(self) -> int:
        """How many sets were made: what the looks into the schema cost so far."""
        return len(self._made)

    def shapes(self, expr: Expr) -> ShapeSet:
        """The set of values of an expression."""
        todo = [expr]
        while todo:
            e = todo[-1]
            if e in self._made:
                todo.pop()
                continue
            missing = [d for d in self._parts(e) if d not in self._made]
            if missing:
                todo += missing
                continue
            todo.pop()
            try:
                self._made[e] = self._make(e)
            except GrammarError as error:
                error.pointer = error.pointer or self._place(e)
                raise
        return self._made[expr]

    def members(self, shape: ObjectShape) -> Members:
        """The keys of an object shape, cut into parts."""
        found = self._members.get(shape)
        if found is None:
            found = Members(shape, self.table, self.strings, self.limits)
            self._members[shape] = found
        return found

    def value(self, text: str) -> Frozen:
        """The value of a JSON text, frozen.

        Raises:
            LimitExceededError: It is nested deeper than the limits allow.
            UnsupportedFeatureError: A number in it has too many digits.
        """
        return self._frozen.freeze(parse_json(text, self.limits), "#")

    def values_of(self, expr: Expr) -> Sequence[Frozen] | None:
        """All values of an expression, if they are few; else None.

        At most 64, and scalars, unless they are listed one by one.
        """
        if expr not in self._few_values:
            listed = expr.node.values if isinstance(expr.node, Finite) else None
            if expr.op == "node" and listed is not None and len(listed) <= MOST_VALUES:
                self._few_values[expr] = sorted(listed, key=repr)
            else:
                self._few_values[expr] = few_values(self.shapes(expr))
        return self._few_values[expr]

    def _place(self, expr: Expr) -> str:
        """Where a complement came from, or a format that is known in part, for messages."""
        causes = (*NEGATING, "propertyNames")
        if isinstance(expr.node, Node):
            for name in (*causes, "format"):
                if name in expr.node.names:
                    return expr.node.at(name)
        place = self.first_use(*causes)
        return place if place != "#" else self.first_use("format")

    def first_use(self, *keywords: str) -> str:
        """The pointer of the first of some keywords, for messages; the root if there is none."""
        for node in self._source.nodes:
            for name in keywords:
                if name in node.names:
                    return node.at(name)
        return "#"

    def _parts(self, expr: Expr) -> Sequence[Expr]:
        """The expressions whose sets must be there before that of `expr` can be made."""
        if expr.op in ("and", "or"):
            return expr.parts
        if expr.op == "not":
            return (expr.dual,)
        node = expr.node
        return self._in_place(node) if isinstance(node, Node) else ()

    def _in_place(self, node: Node) -> list[Expr]:
        """The subschemas of a node that apply to the same value, or to its keys."""
        if _APPLYING.isdisjoint(node.names):
            return []
        found = [self._branch(target) for target in node.references()]
        for name in ("allOf", "anyOf", "oneOf"):
            found += [self._below(node, s) for s in node.get(name) or ()]
        for name in ("not", "if", "propertyNames"):
            if (schema := node.get(name)) is not None:
                found.append(self._below(node, schema))
        if node.get("if") is not None:
            for name in ("then", "else"):
                if (schema := node.get(name)) is not None:
                    found.append(self._below(node, schema))
        for name in ("dependentSchemas", "dependencies"):
            dependent = node.get(name) or {}
            found += [self._below(node, s) for s in dependent.values() if not isinstance(s, list)]
        return found

    def _make(self, expr: Expr) -> ShapeSet:
        """The set of an expression whose parts are made."""
        if expr.op == "and":
            return self._sets.all_of([self._made[p] for p in expr.parts])
        if expr.op == "or":
            return self._sets.any_of([self._made[p] for p in expr.parts])
        if expr.op == "not":
            return self._sets.complement(self._made[expr.dual])
        if isinstance(expr.node, Finite):
            return finite_set(expr.node.values, self.table)
        assert isinstance(expr.node, Node)
        return self._keywords(expr.node)

    # Keywords

    def _keywords(self, node: Node) -> ShapeSet:
        """The "and" of all keywords of a node."""
        if _OF_OBJECTS_ONLY.issuperset(node.names) and node.get("type") == "object":
            return ShapeSet(objects=self._assertions.objects(node))
        own = self._own(node)
        if _UNEVALUATED.isdisjoint(node.names):
            return self._apply(node, own)
        depends: list[tuple[Kind, Expr]] = []
        for kind in KINDS:
            wanted = self._evaluation.asks(node, kind)
            if wanted is None:
                continue
            least, most = self._evaluation.inside(node, kind)
            if least.covers(most):
                own.append(self._evaluation.rule(least, wanted, kind))
            else:
                depends.append((kind, wanted))
        whole = self._apply(node, own)
        for kind, wanted in depends:
            whole = self._branches.restrict(whole, node, wanted, kind)
        return whole

    def _own(self, node: Node) -> list[ShapeSet]:
        """What keywords say that apply no subschema to the same value."""
        other_keys = None
        if (names := node.get("propertyNames")) is not None:
            other_keys = self._sets.keys_outside(self._made[self._below(node, names)].strings)
        parts = [
            kinds(node),
            self._assertions.shapes(node, other_keys),
        ]
        if (values := listed_values(node, self._frozen)) is not None:
            parts.append(finite_set(values, self.table))
        return parts

    def _apply(self, node: Node, own: list[ShapeSet]) -> ShapeSet:
        """The "and" of some sets and all keywords that apply subschemas to the same value."""
        if _APPLYING.isdisjoint(node.names):
            return self._sets.all_of(own)
        parts = [*own, *[self._made[self._branch(target)] for target in node.references()]]
        parts += [self._made[self._below(node, s)] for s in node.get("allOf") or ()]
        if (branches := node.get("anyOf")) is not None:
            parts.append(self._sets.any_of([self._made[self._below(node, s)] for s in branches]))
        parts += self._dependencies(node)
        whole = self._sets.all_of(parts)
        # These multiply, so they are applied last, to what the other keywords leave.
        if (branches := node.get("oneOf")) is not None:
            whole = self._exactly_one(whole, [self._made[self._below(node, s)] for s in branches])
        if (schema := node.get("not")) is not None:
            whole = self._sets.without(whole, self._made[self._below(node, schema)])
        if (schema := node.get("if")) is not None:
            whole = self._conditional(node, whole, self._made[self._below(node, schema)])
        return whole

    def check(self) -> None:
        """Read every pattern, so that one that is wrong or refused is an error at once.

        Raises:
            RegexSyntaxError: One does not parse.
            UnsupportedFeatureError: One has what no regular language has.
        """
        if not self._source.keywords.isdisjoint(("pattern", "patternProperties")):
            for node in self._source.nodes:
                self._assertions.check(node)

    def _dependencies(self, node: Node) -> list[ShapeSet]:
        """Subschemas that apply to objects with a certain key."""
        parts = []
        for name in ("dependentSchemas", "dependencies"):
            for key, schema in (node.get(name) or {}).items():
                if isinstance(schema, list):
                    continue  # keys that need keys are a part of the shape
                absent = ObjectShape(named={key: FALSE})
                has_key = ShapeSet(objects=(ObjectShape(required=(key,)),))
                present = self._both(self._made[self._below(node, schema)], has_key).objects
                one = one_shape(absent, present[0], self.table) if len(present) == 1 else None
                either = (absent, *present) if one is None else (one,)
                parts.append(replace(EVERYTHING, objects=either))
        return parts

    def _conditional(self, node: Node, values: ShapeSet, condition: ShapeSet) -> ShapeSet:
        """Those of some values that fit `if` and `then`, or `else` but not `if`."""
        then, otherwise = node.get("then"), node.get("else")
        if then is None and otherwise is None:
            return values
        yes = [values, condition]
        if then is not None:
            yes.append(self._made[self._below(node, then)])
        no = values
        if otherwise is not None:
            no = self._both(values, self._made[self._below(node, otherwise)])
        return self._sets.any_of([self._sets.all_of(yes), self._sets.without(no, condition)])

    def _both(self, a: ShapeSet, b: ShapeSet) -> ShapeSet:
        return self._sets.all_of((a, b))

    def _exactly_one(self, values: ShapeSet, branches: list[ShapeSet]) -> ShapeSet:
        """Those of some values that are in exactly one branch."""
        sight = self._sight
        return self._sets.exactly_one(values, branches, sight.arrays_apart, sight.objects_apart)
