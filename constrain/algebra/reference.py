"""The algebra again, slow and obvious: what the kernels in `kernels/derive` are compared with.

Never used in production. Nodes are nested tuples, so structural equality is `==`; unordered members
are frozensets, so the normal form needs no sorting. Recursive, for small terms only.

    >>> from constrain.algebra.terms import byte_range, repeat
    >>> r = Reference()
    >>> r.accepts(r.intern(repeat(byte_range(97, 99), 2, 4)), b"abc")
    True

Source: Brzozowski, "Derivatives of regular expressions" (1964); Owens, Reppy, Turon,
"Regular-expression derivatives re-examined" (2009) for the similarity rules. Counters are derived
as they stand, not unrolled.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from constrain.algebra import terms as t

Node = tuple[Any, ...]

EMPTY: Node = ("empty",)
EPS: Node = ("eps",)
ALL: Node = ("not", EMPTY)
TOKEN = 256
"""Added to the id of a token that is a step of its own."""


def is_special(token_id: int) -> bool:
    """Whether a token is special: here the odd ones are."""
    return token_id % 2 == 1


def cat(h: Node, k: Node) -> Node:
    """`h` then `k`; right-nested, so the first part is the head; equal repeats become one."""
    if EMPTY in (h, k):
        return EMPTY
    if h == EPS or k == EPS:
        return k if h == EPS else h
    if h[0] == "cat":
        return cat(h[1], cat(h[2], k))
    first, rest = (k[1], k[2]) if k[0] == "cat" else (k, EPS)
    if h[0] == first[0] == "repeat" and h[1] == first[1]:
        return cat(repeat(h[1], h[2] + first[2], h[3] + first[3]), rest)
    return ("cat", h, k)


def alt(members: frozenset[Node]) -> Node:
    """Union: flat, factored by head, classes and touching counters merged."""
    flat: set[Node] = set()
    for m in members:
        flat |= m[1] if m[0] == "alt" else {m}
    flat.discard(EMPTY)
    if ALL in flat:
        return ALL
    if len(flat) <= 1:
        return flat.pop() if flat else EMPTY
    by_head: dict[Node, set[Node]] = {}
    for m in flat:
        h, k = (m[1], m[2]) if m[0] == "cat" else (m, EPS)
        by_head.setdefault(h, set()).add(k)
    pairs = {(h, alt(frozenset(ks))) for h, ks in by_head.items()}
    pairs = _merge_classes(pairs)
    pairs = _merge_counters(pairs)
    done = {cat(h, k) for h, k in pairs}
    if len(done) <= 1:
        return done.pop() if done else EMPTY
    return ("alt", frozenset(done))


def _merge_classes(pairs: set[tuple[Node, Node]]) -> set[tuple[Node, Node]]:
    masks: dict[Node, int] = {}
    for h, k in pairs:
        if h[0] == "class":
            masks[k] = masks.get(k, 0) | h[1]
    rest = {(h, k) for h, k in pairs if h[0] != "class"}
    return rest | {(("class", m), k) for k, m in masks.items()}


def _merge_counters(pairs: set[tuple[Node, Node]]) -> set[tuple[Node, Node]]:
    groups: dict[tuple[Node, Node], list[tuple[int, float]]] = {}
    for h, k in pairs:
        if h[0] == "repeat":
            groups.setdefault((h[1], k), []).append((h[2], h[3]))
    done = {(h, k) for h, k in pairs if h[0] != "repeat"}
    for (x, k), spans in groups.items():
        spans.sort()
        lo, hi = spans[0]
        for lo2, hi2 in spans[1:]:
            if lo2 <= hi + 1:
                hi = max(hi, hi2)
            else:
                done.add((repeat(x, lo, hi), k))
                lo, hi = lo2, hi2
        done.add((repeat(x, lo, hi), k))
    return done


def repeat(x: Node, lo: int, hi: float) -> Node:
    """`x` lo..hi times; `x` is not nullable."""
    if hi == 0 or x == EPS:
        return EPS
    if x == EMPTY:
        return EPS if lo == 0 else EMPTY
    return x if lo == hi == 1 else ("repeat", x, lo, hi)


def conj(members: frozenset[Node]) -> Node:
    """Intersection: flat, `ALL` dropped, classes intersected, complements joined into one."""
    flat: set[Node] = set()
    for m in members:
        flat |= m[1] if m[0] == "and" else {m}
    flat.discard(ALL)
    if EMPTY in flat:
        return EMPTY
    if EPS in flat:
        return EPS if all(nullable(m) for m in flat) else EMPTY
    classes = [m for m in flat if m[0] == "class"]
    if classes:
        mask = classes[0][1]
        for m in classes[1:]:
            mask &= m[1]
        flat.difference_update(classes)
        if mask == 0:
            return EMPTY
        flat.add(("class", mask))
    negated = [m[1] for m in flat if m[0] == "not"]
    if negated:
        joined = complement(alt(frozenset(negated)))
        flat = {m for m in flat if m[0] != "not"}
        if joined == EMPTY or (joined[0] == "not" and joined[1] in flat):
            return EMPTY
        if joined[0] == "not":
            flat |= {joined} - {ALL}
        else:
            return conj(frozenset(flat | {joined}))
    if len(flat) <= 1:
        return flat.pop() if flat else ALL
    return ("and", frozenset(flat))


def complement(x: Node) -> Node:
    """Every byte string outside `x`."""
    return x[1] if x[0] == "not" else ("not", x)


def nullable(n: Node) -> bool:
    """Whether the empty string is in `n`."""
    match n:
        case ("empty",) | ("class", _) | ("token", *_):
            return False
        case ("eps",):
            return True
        case ("cat", h, k):
            return nullable(h) and nullable(k)
        case ("alt", ms):
            return any(nullable(m) for m in ms)
        case ("and", ms):
            return all(nullable(m) for m in ms)
        case ("repeat", _, lo, _):
            return bool(lo == 0)
        case ("not", x):
            return not nullable(x)
        case ("rule", rule):
            return bool(rule.nullable)
        case ("capture", _, _, _) | ("follow", _, _):
            return False
    raise AssertionError(n)


def capture(text: bytes, x: Node, term: t.Capture) -> Node:
    """The rest `x` of a text that began with `text`, then what follows the whole of it."""
    return EMPTY if x == EMPTY else ("capture", text, x, term)


class Reference:
    """Interns terms as nodes, derives them, and decides emptiness by search."""

    def __init__(self) -> None:
        self.derive = cache(self._derive)
        self._bodies: dict[t.Rule, Node] = {}

    def intern(self, term: t.Term) -> Node:
        """The node of a term."""
        match term:
            case t.Empty():
                return EMPTY
            case t.Epsilon():
                return EPS
            case t.ByteClass():
                return ("class", term.mask)
            case t.Literal():
                node = EPS
                for b in reversed(term.text):
                    node = cat(("class", 1 << b), node)
                return node
            case t.Cat():
                return cat(self.intern(term.head), self.intern(term.tail))
            case t.Alt():
                return alt(frozenset(map(self.intern, term.members)))
            case t.Repeat():
                hi = float("inf") if term.hi is None else term.hi
                return repeat(self.intern(term.body), term.lo, hi)
            case t.And():
                return conj(frozenset(map(self.intern, term.members)))
            case t.Not():
                return complement(self.intern(term.body))
            case t.Rule():
                return ("rule", term)
            case t.Capture():
                return capture(b"", self.intern(term.body), term)
            case t.Token():
                return ("token", frozenset(map(int, term.names)), term.others, term.special)
        raise AssertionError(term)

    def _end(self, term: t.Capture, text: bytes) -> Node:
        """What follows a captured text."""
        follow = cat(self.intern(term.before), ("follow", term, text))
        return alt(frozenset({self.intern(term.instead), follow}))

    def _derive(self, n: Node, b: int) -> Node:
        """What may come after byte `b` (Brzozowski); after token `b - TOKEN` if `b` is no byte."""
        match n:
            case ("empty",) | ("eps",):
                return EMPTY
            case ("token", names, others, special):
                listed = b >= TOKEN and (b - TOKEN in names) != others
                return EPS if listed and (not special or is_special(b - TOKEN)) else EMPTY
            case ("class", mask):
                return EPS if b < TOKEN and mask >> b & 1 else EMPTY
            case ("cat", h, k):
                after = cat(self.derive(h, b), k)
                return alt(frozenset({after, self.derive(k, b)})) if nullable(h) else after
            case ("alt", ms):
                return alt(frozenset(self.derive(m, b) for m in ms))
            case ("repeat", x, lo, hi):
                return cat(self.derive(x, b), repeat(x, max(lo - 1, 0), hi - 1))
            case ("and", ms):
                return conj(frozenset(self.derive(m, b) for m in ms))
            case ("not", x):
                return complement(self.derive(x, b))
            case ("rule", rule):
                if rule not in self._bodies:
                    self._bodies[rule] = self.intern(rule.body)
                return self.derive(self._bodies[rule], b)
            case ("capture", text, x, term):
                longer = text + bytes([b] if b < TOKEN else [])
                inside = capture(longer, self.derive(x, b), term)
                if not nullable(x):
                    return inside
                return alt(frozenset({inside, self.derive(self._end(term, text), b)}))
            case ("follow", term, text):
                return self.derive(self.intern(term.follow(text)), b)
        raise AssertionError(n)

    def empty(self, n: Node, token_ids: tuple[int, ...] = ()) -> bool:
        """Whether no string at all is in `n`. Only for terms with finitely many derivatives."""
        steps = [*range(256), *[TOKEN + i for i in token_ids]]
        seen, todo = {n}, [n]
        while todo:
            m = todo.pop()
            if nullable(m):
                return False
            new = {self.derive(m, b) for b in steps} - seen
            seen |= new
            todo += new
        return True

    def after(self, n: Node, text: bytes) -> Node:
        """The node after `text`."""
        for b in text:
            n = self.derive(n, b)
        return n

    def accepts(self, n: Node, text: bytes) -> bool:
        """Whether `text` is in `n`."""
        return nullable(self.after(n, text))
