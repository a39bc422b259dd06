"""C: pycparser, after comments and includes are taken out and the names of standard types are in.

pycparser reads syntax only, so two things more are asked here: where `break` and `continue` stand,
and that no variable is void.
"""

from __future__ import annotations

import re

from pycparser import c_ast
from pycparser.c_parser import CParser

TYPES = (
    *("size_t", "ptrdiff_t", "uintptr_t", "bool", "FILE", "time_t"),
    *(f"{sign}int{width}_t" for sign in ("", "u") for width in (8, 16, 32, 64)),
)
PRELUDE = " ".join(f"typedef int {name};" for name in TYPES)
STRING_OR_COMMENT = re.compile(
    r"""("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|//[^\n]*|/\*.*?\*/""", re.DOTALL
)
INCLUDE = re.compile(r"#include (?:<[^>\n]*>|\"[^\"\n]*\")\n")


def complaint(text: str) -> str | None:
    bare = STRING_OR_COMMENT.sub(lambda found: found[1] or " ", text)
    while (found := INCLUDE.match(bare.lstrip())) is not None:
        bare = bare.lstrip()[found.end() :]
    if not bare.strip():
        return "nothing is declared"
    try:
        tree = CParser().parse(f"{PRELUDE}\n{bare}")
    except Exception as error:  # pycparser has several, AssertionError among them
        return f"{type(error).__name__}: {error}"
    return _misplaced(tree)


def _misplaced(tree: c_ast.Node) -> str | None:
    todo: list[tuple[c_ast.Node, bool, bool]] = [(tree, False, False)]
    while todo:
        node, loop, switch = todo.pop()
        if isinstance(node, c_ast.Break) and not (loop or switch):
            return "break outside of a loop"
        if isinstance(node, c_ast.Continue) and not loop:
            return "continue outside of a loop"
        if isinstance(node, (c_ast.Case, c_ast.Default)) and not switch:
            return "case outside of a switch"
        if isinstance(node, c_ast.Decl) and _is_void(node.type):
            return "a void variable"
        if isinstance(node, c_ast.Assignment) and not isinstance(
            node.lvalue, (c_ast.ID, c_ast.ArrayRef, c_ast.StructRef, c_ast.UnaryOp)
        ):
            return "no lvalue"
        if isinstance(node, (c_ast.For, c_ast.While, c_ast.DoWhile)):
            loop = True
        if isinstance(node, c_ast.Switch):
            switch = True
        todo += [(child, loop, switch) for _, child in node.children()]
    return None


def _is_void(node: c_ast.Node) -> bool:
    return (
        isinstance(node, c_ast.TypeDecl)
        and isinstance(node.type, c_ast.IdentifierType)
        and node.type.names == ["void"]
    )
