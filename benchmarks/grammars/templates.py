"""Lark's templates written out as plain rules, for engines that have none.

`pair{x}: x "," x` used as `pair{NAME}` becomes a rule `pair__name: NAME "," NAME`. Every instance
is named after its arguments and written once. The language is the same, the number of rules not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["expand_templates"]

_PIECE = re.compile(
    r"""(?P<literal>"(?:\\.|[^"\\])*"i?|/(?!/)(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\n\[])+/[a-z]*)
    |(?P<comment>//[^\n]*)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_HEAD = re.compile(r"^([?!]*)([a-z_][a-z0-9_]*)\{([^}]*)\}:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Template:
    prefix: str
    parameters: tuple[str, ...]
    body: str


def expand_templates(text: str) -> str:
    """A Lark grammar without templates and comments, of the same language.

    Raises:
        ValueError: A template gets another number of arguments than it has parameters.
    """
    plain, templates = _take_templates(_without_comments(text))
    waiting: dict[str, tuple[str, tuple[str, ...]]] = {}
    lines = [_instantiate(statement, {}, templates, waiting) for statement in plain]
    done: set[str] = set()
    while len(done) < len(waiting):
        name = next(name for name in waiting if name not in done)
        done.add(name)
        used, arguments = waiting[name]
        template = templates[used]
        if len(arguments) != len(template.parameters):
            raise ValueError(f"{used} takes {len(template.parameters)}, not {len(arguments)}")
        values = dict(zip(template.parameters, arguments, strict=True))
        body = _instantiate(template.body, values, templates, waiting)
        lines.append(f"{template.prefix}{name}:{body}")
    return "\n".join(lines) + "\n"


def _without_comments(text: str) -> str:
    return "".join(m[0] for m in _PIECE.finditer(text) if m.lastgroup != "comment")


def _take_templates(text: str) -> tuple[list[str], dict[str, _Template]]:
    """Statements that are no templates, and the templates by name."""
    plain: list[str] = []
    templates: dict[str, _Template] = {}
    for statement in re.split(r"\n(?=[^\s|])", text):
        head = _HEAD.match(statement)
        if head is None:
            plain += [statement.rstrip()] if statement.strip() else []
        else:
            parameters = tuple(name.strip() for name in head[3].split(","))
            body = statement[head.end() :].rstrip()
            templates[head[2]] = _Template(head[1], parameters, body)
    return plain, templates


def _instantiate(
    text: str,
    values: dict[str, str],
    templates: dict[str, _Template],
    waiting: dict[str, tuple[str, tuple[str, ...]]],
) -> str:
    """A body with values for parameters and names of instances for uses of templates.

    A grammar's uses of templates nest as deep as its author writes them, so recursion will do.
    """
    pieces = [(m.lastgroup, m[0]) for m in _PIECE.finditer(text)]
    at = 0

    def use() -> str:
        nonlocal at
        _, name = pieces[at]
        at += 1
        if name not in templates or at >= len(pieces) or pieces[at][1] != "{":
            return values.get(name, name)
        at += 1
        arguments = []
        while True:
            while pieces[at][1].isspace():
                at += 1
            arguments.append(use())
            separator = pieces[at][1]
            at += 1
            if separator == "}":
                break
        instance = "__".join([name, *(argument.strip("_").lower() for argument in arguments)])
        waiting.setdefault(instance, (name, tuple(arguments)))
        return instance

    written = []
    while at < len(pieces):
        kind, piece = pieces[at]
        if kind == "name":
            written.append(use())
        else:
            written.append(piece)
            at += 1
    return "".join(written)
