"""What a schema node means: its keywords as one set of values, kind by kind.

Every keyword speaks of one kind of value and lets the others pass; keywords side by side are an
"and". Keywords that apply subschemas to the same value (`$ref`, `allOf`, `anyOf`, `oneOf`, `not`,
`if`, `dependent...`) are the set operations of the same name. Subschemas of members and items stay
expressions.

Nothing here recurses: the sets of subschemas in place are made first, with a stack.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Final

from constrain.errors import GrammarError
from constrain.frontends.json_schema import number
from constrain.frontends.json_schema.array import ArrayCounter, ArrayShape, fixed
from constrain.frontends.json_schema.array import tidy as tidy_array
from constrain.frontends.json_schema.expr import FALSE, TRUE, Expr, Exprs, Finite
from constrain.frontends.json_schema.formats import format_language
from constrain.frontends.json_schema.items import Items
from constrain.frontends.json_schema.members import Members
from constrain.frontends.json_schema.number import ANY_NUMBER, INTEGER, INTEGER_FORM
from constrain.frontends.json_schema.object import KeySet, ObjectShape
from constrain.frontends.json_schema.object import tidy as tidy_object
from constrain.frontends.json_schema.patterns import pattern_language
from constrain.frontends.json_schema.read import JSON, exact
from constrain.frontends.json_schema.refs import NEGATING, Node, Source
from constrain.frontends.json_schema.same import canonical_nodes
from constrain.frontends.json_schema.shapes import EVERYTHING, NOTHING, Shapes, ShapeSet
from constrain.frontends.json_schema.string import ANY_STRING, Language, StringSets, StringShape
from constrain.frontends.json_schema.values import ArrayValue, Frozen, ObjectValue, Values, Word
from constrain.limits import Limits

__all__ = ["Meaning"]


_KIND_OF_TYPE: Final = {
    "null": ShapeSet(null=True),
    "boolean": ShapeSet(booleans=frozenset((False, True))),
    "integer": ShapeSet(numbers=(INTEGER,)),
    "number": ShapeSet(numbers=(ANY_NUMBER,)),
    "string": ShapeSet(strings=(ANY_STRING,)),
    "array": ShapeSet(arrays=EVERYTHING.arrays),
    "object": ShapeSet(objects=EVERYTHING.objects),
}

_BOOLEANS: Final = ((False, Word.FALSE), (True, Word.TRUE))

_BEYOND_VALUES: Final = frozenset(
    (
        "multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern "
        "format maxItems minItems uniqueItems maxProperties minProperties required minContains "
        "maxContains dependentRequired"
    ).split()
)
"""Keywords without subschemas, but `type`, that a list of values does not make needless."""

_MOST_VALUES: Final = 64
"""Values that an item may have where `uniqueItems` keeps a set of those used."""

_PROBE_DEPTH: Final = 2
"""Levels of members that are looked at to see that two branches of a `oneOf` are disjoint."""


class Meaning:
    """The sets of values of one schema's nodes and expressions, made when asked for and remembered.

    Args:
        source: The nodes.
        limits: Budgets.
        asserts_formats: `format` is enforced.

    Attributes:
        table: The expressions.
        strings: The string sets.
    """

    def __init__(self, source: Source, limits: Limits, *, asserts_formats: bool) -> None:
        self.table = Exprs()
        self._frozen = Values()
        self.strings = StringSets(limits)
        self._sets = Shapes(self.table, self.strings, limits)
        self._source = source
        self._asserts_formats = asserts_formats
        self.limits = limits
        self._made: dict[Expr, ShapeSet] = {TRUE: EVERYTHING, FALSE: NOTHING}
        self._members: dict[ObjectShape, Members] = {}
        self._few_values: dict[Expr, Sequence[Frozen] | None] = {}
        self._node_exprs: dict[Node, Expr] = {}
        self._leaves: dict[Hashable, Node] = {}
        self._canonical = canonical_nodes(source, self._frozen) if source.combines else {}
        self._probing = 0

    def expr(self, schema: JSON) -> Expr:
        """The expression of a subschema: an object or a boolean."""
        if isinstance(schema, dict):
            return self._node_expr(self._source.node(schema))
        return TRUE if schema else FALSE

    def _node_expr(self, node: Node) -> Expr:
        found = self._node_exprs.get(node)
        if found is None:
            found = self._node_exprs[node] = self._new_node_expr(node)
        return found

    def _new_node_expr(self, node: Node) -> Expr:
        """The expression of a node, the same one for nodes that plainly mean the same."""
        while node.names == ["$ref"]:
            assert node.target is not None
            if isinstance(node.target, bool):
                return TRUE if node.target else FALSE
            node = node.target
        if not node.names:
            return TRUE
        node = self._canonical.get(node, node)
        if not node.leaf:
            return self.table.literal(node)
        if not _BEYOND_VALUES.intersection(node.names) and self._listed(node) is not None:
            values = self._listed(node) or []
            types = _type_names(node)
            if types is None:
                return self.table.finite(values)
            if "integer" not in types or node.dialect.name != "draft4":
                return self.table.finite([v for v in values if not types.isdisjoint(_types_of(v))])
        names = sorted(node.names)
        key = (
            node.dialect.name,
            *[(n, self._frozen.freeze(node.schema[n], node.at(n))) for n in names],
        )
        return self.table.literal(self._leaves.setdefault(key, node))

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

    def items(self, shape: ArrayShape) -> Items:
        """The items of an array shape with counters, or with distinct items."""
        return Items(shape, self.table, self.values_of, self.limits)

    def values_of(self, expr: Expr) -> Sequence[Frozen] | None:
        """All values of an expression, if they are scalars and at most 64; else None."""
        if expr not in self._few_values:
            self._few_values[expr] = _few_values(self.shapes(expr))
        return self._few_values[expr]

    def _place(self, expr: Expr) -> str:
        """Where a complement came from, for messages."""
        if isinstance(expr.node, Node):
            for name in expr.node.names:
                if name in NEGATING:
                    return expr.node.at(name)
        return self.first_use(*NEGATING)

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
        found = []
        if "$ref" in node.names and node.target is not None:
            found.append(self._target(node.target))
        for name in ("allOf", "anyOf", "oneOf"):
            found += [self.expr(s) for s in node.get(name) or ()]
        for name in ("not", "if", "propertyNames"):
            if (schema := node.get(name)) is not None:
                found.append(self.expr(schema))
        if node.get("if") is not None:
            found += [self.expr(s) for n in ("then", "else") if (s := node.get(n)) is not None]
        for name in ("dependentSchemas", "dependencies"):
            dependent = node.get(name) or {}
            found += [self.expr(s) for s in dependent.values() if not isinstance(s, list)]
        return found

    def _target(self, target: Node | bool) -> Expr:
        return self._node_expr(target) if isinstance(target, Node) else self.expr(target)

    def _make(self, expr: Expr) -> ShapeSet:
        """The set of an expression whose parts are made."""
        if expr.op == "and":
            return self._sets.all_of([self._made[p] for p in expr.parts])
        if expr.op == "or":
            return self._sets.any_of([self._made[p] for p in expr.parts])
        if expr.op == "not":
            return self._sets.complement(self._made[expr.dual])
        if isinstance(expr.node, Finite):
            return self._values(expr.node.values)
        assert isinstance(expr.node, Node)
        return self._keywords(expr.node)

    # Keywords

    def _listed(self, node: Node) -> list[Frozen] | None:
        """The values that `enum` and `const` leave, or None if there is neither."""
        values: list[Frozen] | None = None
        if (listed := node.get("enum")) is not None:
            pointer = node.at("enum")
            values = list(dict.fromkeys([self._frozen.freeze(value, pointer) for value in listed]))
        if "const" in node.names:
            only = self._frozen.freeze(node.schema["const"], node.at("const"))
            values = [only] if values is None or only in values else []
        return values

    def _keywords(self, node: Node) -> ShapeSet:
        """The "and" of all keywords of a node."""
        own = ShapeSet(
            True,
            EVERYTHING.booleans,
            self._numbers(node),
            self._strings(node),
            self._arrays(node),
            self._objects(node),
        )
        parts = [own]
        if (types := _type_names(node)) is not None:
            kinds = [_KIND_OF_TYPE[name] for name in sorted(types)]
            if node.dialect.name == "draft4" and "integer" in types:
                kinds[sorted(types).index("integer")] = ShapeSet(numbers=(INTEGER_FORM,))
            parts.insert(0, self._sets.any_of(kinds))
        if (values := self._listed(node)) is not None:
            parts.append(self._values(values))
        if "$ref" in node.names and node.target is not None:
            parts.append(self._made[self._target(node.target)])
        parts += [self._made[self.expr(s)] for s in node.get("allOf") or ()]
        if (branches := node.get("anyOf")) is not None:
            parts.append(self._sets.any_of([self._made[self.expr(s)] for s in branches]))
        parts += self._dependencies(node)
        whole = self._sets.all_of(parts)
        # These multiply, so they are applied last, to what the other keywords leave.
        if (branches := node.get("oneOf")) is not None:
            whole = self._exactly_one(whole, [self._made[self.expr(s)] for s in branches])
        if (schema := node.get("not")) is not None:
            whole = self._sets.without(whole, self._made[self.expr(schema)])
        if (schema := node.get("if")) is not None:
            whole = self._conditional(node, whole, self._made[self.expr(schema)])
        return whole

    def _numbers(self, node: Node) -> tuple[number.NumberShape, ...]:
        lo, lo_open = self._bound(node, "minimum", "exclusiveMinimum", max)
        hi, hi_open = self._bound(node, "maximum", "exclusiveMaximum", min)
        step = node.get("multipleOf")
        if lo is None and hi is None and step is None:
            return EVERYTHING.numbers
        multiple = None if step is None else exact(step, node.at("multipleOf"))
        return number.union(
            [number.make(lo=lo, hi=hi, lo_open=lo_open, hi_open=hi_open, step=multiple)]
        )

    def _bound(
        self, node: Node, name: str, exclusive_name: str, stricter: Callable[..., Fraction]
    ) -> tuple[Fraction | None, bool]:
        """A bound, and whether it is open. In draft 4 the exclusive keyword is a flag."""
        bound, exclusive = node.get(name), node.get(exclusive_name)
        inclusive = None if bound is None else exact(bound, node.at(name))
        if isinstance(exclusive, bool):
            return inclusive, exclusive
        if exclusive is None:
            return inclusive, False
        strict = exact(exclusive, node.at(exclusive_name))
        if inclusive is None or stricter(strict, inclusive) == strict:
            return strict, True
        return inclusive, False

    def _strings(self, node: Node) -> tuple[StringShape, ...]:
        lo, hi = int(node.get("minLength") or 0), _count(node.get("maxLength"))
        languages = []
        if (pattern := node.get("pattern")) is not None:
            languages.append(self._pattern(pattern, node.at("pattern")))
        if (name := node.get("format")) is not None and self._asserts_formats:
            language = format_language(name)
            languages += [] if language is None else [language]
        if lo == 0 and hi is None and not languages:
            return EVERYTHING.strings
        shape = StringShape(lo=lo, hi=hi, yes=frozenset(languages))
        return self.strings.union([shape])

    def _arrays(self, node: Node) -> tuple[ArrayShape, ...]:
        prefix, rest = node.get("prefixItems") or [], node.get("items")
        if isinstance(rest, list):  # before draft 2020-12
            prefix, rest = rest, node.get("additionalItems")
        counters = set()
        contains = node.get("contains")
        if contains is not None:
            least = node.get("minContains")
            counters.add(
                ArrayCounter(
                    self.expr(contains),
                    0,
                    1 if least is None else int(least),
                    _count(node.get("maxContains")),
                )
            )
        shape = ArrayShape(
            tuple([self.expr(s) for s in prefix]),
            TRUE if rest is None else self.expr(rest),
            int(node.get("minItems") or 0),
            _count(node.get("maxItems")),
            frozenset(counters),
            True if node.get("uniqueItems") else None,
        )
        tidied = (
            EVERYTHING.arrays[0] if shape == EVERYTHING.arrays[0] else tidy_array(shape, self.table)
        )
        return () if tidied is None else (tidied,)

    def _objects(self, node: Node) -> tuple[ObjectShape, ...]:
        properties = node.get("properties") or {}
        patterns = node.get("patternProperties") or {}
        named = {key: self.expr(s) for key, s in properties.items()}
        rules: list[tuple[KeySet, Expr]] = []
        languages = []
        for source, schema in patterns.items():
            language = self._pattern(source, node.at("patternProperties"))
            languages.append(language)
            rules.append(((StringShape(yes=frozenset((language,))),), self.expr(schema)))
        others = node.get("additionalProperties")
        if others is not None:
            keys = StringShape(no=frozenset(languages), out=frozenset(properties))
            rules.append((self.strings.union([keys]), self.expr(others)))
        if (names := node.get("propertyNames")) is not None:
            outside = self._sets.complement(self._made[self.expr(names)]).strings
            rules.append((outside, FALSE))
        required = tuple(dict.fromkeys(node.get("required") or ()))
        lo, hi = int(node.get("minProperties") or 0), _count(node.get("maxProperties"))
        needs = frozenset(
            [
                (key, frozenset(others))
                for name in ("dependentRequired", "dependencies")
                for key, others in (node.get(name) or {}).items()
                if isinstance(others, list) and others
            ]
        )
        if not (named or rules or required or needs or lo or hi is not None):
            return EVERYTHING.objects
        shape = tidy_object(
            ObjectShape(named, tuple(rules), required, needs=needs, lo=lo, hi=hi), self.table
        )
        return () if shape is None else (shape,)

    def _pattern(self, source: str, pointer: str) -> Language:
        try:
            return pattern_language(source, self.limits)
        except GrammarError as e:
            e.pointer = pointer
            raise

    def check(self) -> None:
        """Read every pattern, so that one that is wrong or refused is an error at once.

        Raises:
            RegexSyntaxError: One does not parse.
            UnsupportedFeatureError: One has what no regular language has.
        """
        for node in self._source.nodes:
            if (source := node.get("pattern")) is not None:
                self._pattern(source, node.at("pattern"))
            for source in node.get("patternProperties") or ():
                self._pattern(source, node.at("patternProperties"))

    def _dependencies(self, node: Node) -> list[ShapeSet]:
        """Subschemas that apply to objects with a certain key."""
        parts = []
        for name in ("dependentSchemas", "dependencies"):
            for key, schema in (node.get(name) or {}).items():
                if isinstance(schema, list):
                    continue  # keys that need keys are a part of the shape
                absent = replace(EVERYTHING, objects=(ObjectShape(named={key: FALSE}),))
                has_key = ShapeSet(objects=(ObjectShape(required=(key,)),))
                present = self._both(self._made[self.expr(schema)], has_key)
                parts.append(self._sets.any_of([absent, present]))
        return parts

    def _conditional(self, node: Node, values: ShapeSet, condition: ShapeSet) -> ShapeSet:
        """Those of some values that fit `if` and `then`, or `else` but not `if`."""
        then, otherwise = node.get("then"), node.get("else")
        if then is None and otherwise is None:
            return values
        yes = [values, condition]
        if then is not None:
            yes.append(self._made[self.expr(then)])
        no = values if otherwise is None else self._both(values, self._made[self.expr(otherwise)])
        return self._sets.any_of([self._sets.all_of(yes), self._sets.without(no, condition)])

    def _both(self, a: ShapeSet, b: ShapeSet) -> ShapeSet:
        return self._sets.all_of((a, b))

    # Values

    def _values(self, frozen: Iterable[Frozen]) -> ShapeSet:
        """Exactly these values."""
        words: set[Word] = set()
        numbers: list[Fraction] = []
        strings: list[str] = []
        arrays: list[ArrayShape] = []
        objects: list[ObjectShape] = []
        for value in frozen:
            if isinstance(value, str):
                strings.append(value)
            elif isinstance(value, Fraction):
                numbers.append(value)
            elif isinstance(value, ArrayValue):
                arrays.append(fixed([self.table.finite((item,)) for item in value.items]))
            elif isinstance(value, ObjectValue):
                named = {key: self.table.finite((v,)) for key, v in value.members}
                others = StringShape(out=frozenset(named))
                objects.append(ObjectShape(named, (((others,), FALSE),), tuple(named)))
            else:
                words.add(value)
        return ShapeSet(
            Word.NULL in words,
            frozenset([b for b, word in _BOOLEANS if word in words]),
            (number.finite(numbers),) if numbers else (),
            (StringShape(only=frozenset(strings)),) if strings else (),
            tuple(arrays),
            tuple(objects),
        )

    # oneOf

    def _exactly_one(self, values: ShapeSet, branches: list[ShapeSet]) -> ShapeSet:
        """Those of some values that are in exactly one branch."""
        within = [self._both(values, branch) for branch in branches]
        overlapping: dict[int, list[int]] = {i: [] for i in range(len(within))}
        for i, j in combinations(range(len(within)), 2):
            if not self._disjoint(within[i], within[j]):
                overlapping[i].append(j)
                overlapping[j].append(i)
        alone = []
        for i, branch in enumerate(within):
            for j in overlapping[i]:
                branch = self._sets.without(branch, branches[j])
            alone.append(branch)
        return self._sets.any_of(alone)

    def _disjoint(self, a: ShapeSet, b: ShapeSet) -> bool:
        """Whether it is plain that no value is in both. May miss it."""
        both = self._sets.all_of((a, b))
        return self._plainly_empty(both)

    def _plainly_empty(self, values: ShapeSet) -> bool:
        if values.null or values.booleans or values.numbers or values.strings:
            return False
        return all(self._array_plainly_empty(s) for s in values.arrays) and all(
            self._object_plainly_empty(s) for s in values.objects
        )

    def _array_plainly_empty(self, shape: ArrayShape) -> bool:
        return any(self._expr_plainly_empty(shape.item(i)) for i in range(min(shape.lo, 8)))

    def _object_plainly_empty(self, shape: ObjectShape) -> bool:
        return any(self._expr_plainly_empty(shape.named.get(k, TRUE)) for k in shape.required)

    def _expr_plainly_empty(self, expr: Expr) -> bool:
        if expr is FALSE or expr.op != "and":
            return expr is FALSE
        if self._probing >= _PROBE_DEPTH:
            return False
        self._probing += 1
        try:
            return self._plainly_empty(self.shapes(expr))
        finally:
            self._probing -= 1


def _type_names(node: Node) -> frozenset[str] | None:
    """What `type` allows, or None if it is not there."""
    types = node.get("type")
    if types is None:
        return None
    return frozenset(types if isinstance(types, list) else (types,))


def _types_of(value: Frozen) -> tuple[str, ...]:
    """The names by which `type` lets a frozen value through."""
    if isinstance(value, Fraction):
        return ("number", "integer") if value.denominator == 1 else ("number",)
    if isinstance(value, Word):
        return ("null",) if value is Word.NULL else ("boolean",)
    kinds = {str: "string", ArrayValue: "array", ObjectValue: "object"}
    return (kinds[type(value)],)


def _few_values(values: ShapeSet) -> Sequence[Frozen] | None:
    if values.arrays or values.objects:
        return None
    found: list[Frozen] = [Word.NULL] if values.null else []
    found += [word for b, word in _BOOLEANS if b in values.booleans]
    for strings in values.strings:
        if strings.only is None:
            return None
        found += sorted(strings.only)
    for numbers in values.numbers:
        listed = number.list_values(numbers, _MOST_VALUES)
        if listed is None:
            return None
        found += listed
    return list(dict.fromkeys(found)) if len(found) <= _MOST_VALUES else None


def _count(value: JSON) -> int | None:
    return None if value is None else int(value)
