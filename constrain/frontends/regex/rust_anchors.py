r"""The assertions of Rust's crate `regex`: ^ and $ under its flags, and the kinds of \b."""

from __future__ import annotations

from typing import Final

from constrain.algebra.codepoints import CodepointSet
from constrain.frontends.regex.byte_nodes import utf8_node
from constrain.frontends.regex.nodes import (
    Anchor,
    AnchorKind,
    Look,
    RegexNode,
    alternation,
    chars,
    concat,
)

__all__ = ["BOUNDARIES", "boundary", "line_anchor"]

BOUNDARIES: Final = ("start", "end", "start-half", "end-half")
r"""What may stand in \b{...}."""

_NEWLINE: Final = CodepointSet.of("\n")


def line_anchor(this: str, *, multiline: bool, crlf: bool) -> RegexNode:
    """`^` or `$` under the flags m and R."""
    at_start = this == "^"
    if not multiline:
        return Anchor(AnchorKind.TEXT_START if at_start else AnchorKind.TEXT_END)
    if not crlf:
        return Anchor(AnchorKind.LINE_START if at_start else AnchorKind.LINE_END, _NEWLINE)
    # Not between \r and \n.
    cr, lf = chars(CodepointSet.of("\r")), chars(_NEWLINE)
    if at_start:
        alone = concat([_behind(cr), _ahead(lf, negative=True)])
        return alternation([Anchor(AnchorKind.TEXT_START), _behind(lf), alone])
    alone = concat([_behind(cr, negative=True), _ahead(lf)])
    return alternation([Anchor(AnchorKind.TEXT_END), _ahead(cr), alone])


def boundary(kind: str, word: CodepointSet, *, utf8: bool) -> RegexNode:
    r"""An assertion about words.

    Args:
        kind: "b", "B", or one of `BOUNDARIES`.
        word: What words are made of.
        utf8: The pattern is over bytes, and `word` is about the text that they are.
    """
    if utf8:
        return _boundary_among_bytes(kind, utf8_node(word))
    if kind in ("b", "B"):
        return Anchor(AnchorKind.BOUNDARY if kind == "b" else AnchorKind.NO_BOUNDARY, word)
    letter = chars(word)
    before = _behind(letter, negative=kind.startswith("start"))
    after = _ahead(letter, negative=kind.startswith("end"))
    return {"start-half": before, "end-half": after}.get(kind, concat([before, after]))


def _ahead(body: RegexNode, *, negative: bool = False) -> RegexNode:
    return Look(body, behind=False, negative=negative)


def _behind(body: RegexNode, *, negative: bool = False) -> RegexNode:
    return Look(body, behind=True, negative=negative)


def _boundary_among_bytes(kind: str, word: RegexNode) -> RegexNode:
    r"""A boundary of Unicode words among bytes.

    What is no text is no word; and where there is none before or after, \B and the halves fail.
    """
    anything = utf8_node(CodepointSet.ANY)
    after, no_after = _ahead(word), _ahead(word, negative=True)
    before, no_before = _behind(word), _behind(word, negative=True)
    text_before = alternation([Anchor(AnchorKind.TEXT_START), _behind(anything)])
    text_after = alternation([Anchor(AnchorKind.TEXT_END), _ahead(anything)])
    if kind == "B":
        neither = concat([no_before, text_before, no_after, text_after])
        return alternation([concat([before, after]), neither])
    if kind == "b":
        return alternation([concat([before, no_after]), concat([no_before, after])])
    return {
        "start": concat([no_before, after]),
        "end": concat([before, no_after]),
        "start-half": concat([no_before, text_before]),
        "end-half": concat([no_after, text_after]),
    }[kind]
