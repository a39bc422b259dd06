"""Arithmetic: an expression of Python, of numbers, names, calls and operators only."""

from __future__ import annotations

import ast

SAMPLES = ("1 + 2*(3 - 4)**2 / -x", "sqrt(pi*2), 5e3 % 7", "max(1,2.5,-e) // 1.0e-5")
NODES = (
    *(ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Call, ast.BinOp, ast.UnaryOp),
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.UAdd, ast.USub),
)
CONSTANTS = {"pi", "e", "tau"}
MOST = 99
ARGUMENTS = {
    **dict.fromkeys("sqrt exp log log2 log10 sin cos tan asin acos atan".split(), (1, 1)),
    **dict.fromkeys(("floor", "ceil", "abs"), (1, 1)),
    **dict.fromkeys(("atan2", "hypot", "fmod"), (2, 2)),
    **dict.fromkeys(("min", "max"), (2, MOST)),
    "round": (1, 2),
}


def complaint(text: str) -> str | None:
    if text != text.strip():
        return "blanks around it"
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError) as error:
        return str(error)
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if not isinstance(node, NODES):
            return f"{type(node).__name__} is no arithmetic"
        if isinstance(node, ast.Constant) and type(node.value) not in (int, float):
            return f"{node.value!r} is no number"
        if isinstance(node, ast.Name) and id(node) not in called and node.id not in CONSTANTS:
            return f"{node.id} is no constant"
        if isinstance(node, ast.Call):
            least, most = ARGUMENTS.get(getattr(node.func, "id", ""), (1, 0))
            if node.keywords or not least <= len(node.args) <= most:
                return f"no function, or not its arguments: {ast.unparse(node)}"
    return None
