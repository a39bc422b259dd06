"""Go: tree-sitter's grammar of Go finds no error."""

from __future__ import annotations

import tree_sitter_go
from tree_sitter import Language, Parser

PARSER = Parser(Language(tree_sitter_go.language()))


OUTSIDE = {
    *("comment", "import_declaration", "const_declaration", "var_declaration"),
    *("type_declaration", "function_declaration", "method_declaration"),
}


def complaint(text: str) -> str | None:
    # The compiler puts a ";" at the end of the file, where tree-sitter wants a line break.
    root = PARSER.parse(f"{text}\n".encode()).root_node
    kinds = [node.type for node in root.named_children if node.type != "comment"]
    if not kinds or kinds[0] != "package_clause":
        return "no package"
    if not OUTSIDE.issuperset(kinds[1:]):
        return f"outside of functions: {set(kinds[1:]) - OUTSIDE}"
    if not root.has_error:
        return None
    todo = [root]
    while todo:
        node = todo.pop()
        if node.is_error or node.is_missing:
            return f"error at {node.start_point.row + 1}:{node.start_point.column + 1}"
        todo += reversed(node.children)
    return "an error"
