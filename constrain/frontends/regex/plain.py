"""Nodes without assertions to terms: part by part, since nothing looks at what stands around it.

Alternatives with a common beginning are first put into a prefix tree, so ten thousand words are a
tree and not one union of ten thousand: `ab|ac|b` is `a[bc]|b`.

Cost: O(size of the tree); repeats become counters and cost nothing. Nothing here recurses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from constrain.algebra.codepoints import CodepointSet
from constrain.algebra.terms import (
    EPS,
    ByteClass,
    Literal,
    Term,
    alt,
    cat,
    complement,
    intersect,
    literal,
    repeat,
)
from constrain.algebra.utf8 import Alphabet
from constrain.frontends.regex.nodes import (
    EMPTY_TEXT,
    Alternation,
    Chars,
    Concat,
    Ended,
    Look,
    RegexNode,
    Repeat,
    alternation,
    chars,
    children,
    concat,
    postorder,
    rebuilt,
)

__all__ = ["factor", "join", "lower_plain"]


def lower_plain(node: RegexNode, alphabet: Alphabet, made: dict[RegexNode, Term]) -> Term:
    """The term of a node without assertions.

    Args:
        node: Must be `plain`.
        alphabet: How code points are spelled.
        made: Terms of nodes met before, over the same alphabet. Extended.
    """
    todo = [node]
    while todo:
        this = todo[-1]
        if this in made:
            todo.pop()
            continue
        missing = [c for c in children(this) if c not in made]
        if missing:
            todo.extend(missing)
            continue
        todo.pop()
        made[this] = _term(this, alphabet, made)
    return made[node]


def _term(node: RegexNode, alphabet: Alphabet, made: dict[RegexNode, Term]) -> Term:
    if isinstance(node, Chars):
        return alphabet.spell(node.points)
    if isinstance(node, Concat):
        return join([made[p] for p in node.parts])
    if isinstance(node, Alternation):
        return alt([made[m] for m in node.members])
    if isinstance(node, Repeat):
        return repeat(made[node.body], node.lo, node.hi)
    if isinstance(node, Ended):
        ends = [(cat(alphabet.text, made[end]), negative) for end, negative in node.ends]
        return intersect([made[node.body], *[complement(e) if n else e for e, n in ends]])
    assert node is EMPTY_TEXT, node
    return EPS


def join(parts: Iterable[Term]) -> Term:
    """The parts one after another; neighbours that are fixed texts become one literal."""
    done: list[Term] = []
    fixed: list[bytes] = []
    for part in (*parts, None):
        text = None if part is None else _fixed_text(part)
        if text is not None:
            fixed.append(text)
            continue
        if fixed:
            done.append(literal(b"".join(fixed)))
            fixed = []
        if part is not None:
            done.append(part)
    return cat(*done)


def _fixed_text(term: Term) -> bytes | None:
    """The only string of a term, where that is plain to see."""
    if isinstance(term, Literal):
        return term.text
    if isinstance(term, ByteClass) and term.mask & (term.mask - 1) == 0:
        return bytes([term.mask.bit_length() - 1])
    return None


def factor(node: RegexNode) -> RegexNode:
    """The same language, with the alternatives of each alternation in a prefix tree."""
    made: dict[RegexNode, RegexNode] = {}
    for this in postorder(node):
        made[this] = _rebuild(this, made)
    return made[node]


def _rebuild(node: RegexNode, made: dict[RegexNode, RegexNode]) -> RegexNode:
    if isinstance(node, Alternation):
        return _prefix_tree([made[m] for m in node.members])
    if isinstance(node, Look) and made[node.body] is not node.body:
        return Look(made[node.body], node.behind, node.negative, node.place)
    return rebuilt(node, made)


class _Branch:
    """A node of the prefix tree: what may follow, by its first code point, and what else."""

    __slots__ = ("edges", "ends", "rest")

    def __init__(self) -> None:
        self.edges: dict[CodepointSet, _Branch] = {}
        self.ends = False
        self.rest: list[RegexNode] = []


def _prefix_tree(members: Sequence[RegexNode]) -> RegexNode:
    root = _Branch()
    for member in members:
        parts = member.parts if isinstance(member, Concat) else (member,)
        branch = root
        for at, part in enumerate(parts):
            if not isinstance(part, Chars):
                branch.rest.append(concat(parts[at:]))
                break
            branch = branch.edges.setdefault(part.points, _Branch())
        else:
            if not branch.ends:
                branch.ends = True
                branch.rest.append(EMPTY_TEXT)
    return _of_branch(root)


def _of_branch(root: _Branch) -> RegexNode:
    """The node of a prefix tree, leaves first."""
    order = [root]
    for branch in order:
        order.extend(branch.edges.values())
    made: dict[_Branch, RegexNode] = {}
    tails: dict[_Branch, list[RegexNode]] = {}  # unary chains, kept flat and reversed
    for branch in reversed(order):
        last = CodepointSet.NONE
        longer: list[RegexNode] = []
        for points, child in branch.edges.items():
            if child in tails:
                if len(branch.edges) == 1 and not branch.rest:
                    tails[branch] = tails.pop(child)
                    tails[branch].append(chars(points))
                    continue
                longer.append(concat([chars(points), *reversed(tails.pop(child))]))
            elif made[child] is EMPTY_TEXT:
                last |= points
            elif len(branch.edges) == 1 and not branch.rest:
                tails[branch] = [made[child], chars(points)]
            else:
                longer.append(concat([chars(points), made[child]]))
        if branch in tails:
            continue
        alternatives = ([chars(last)] if last else []) + longer + branch.rest
        made[branch] = alternation(alternatives) if alternatives else chars(CodepointSet.NONE)
    return concat(list(reversed(tails[root]))) if root in tails else made[root]
