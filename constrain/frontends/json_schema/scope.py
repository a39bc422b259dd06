"""The dynamic scope: which schema resources evaluation came through, as far as that matters.

`$dynamicRef` and `$recursiveRef` lead to the outermost resource on the way that has the anchor they
name. So of a scope only that is kept: for each name the first resource entered that has it. There
are finitely many, and a schema without dynamic anchors only ever has the empty one.
"""

from __future__ import annotations

from typing import Final

from constrain.frontends.json_schema.resources import Resource

__all__ = ["NO_SCOPE", "Scope", "enter", "outermost"]

Scope = frozenset[tuple[str, Resource]]

NO_SCOPE: Final[Scope] = frozenset()


def enter(scope: Scope, resource: Resource) -> Scope:
    """The scope once evaluation has entered a resource."""
    if not resource.dynamic:
        return scope
    taken = {name for name, _ in scope}
    new = [(name, resource) for name in resource.dynamic if name not in taken]
    return scope.union(new) if new else scope


def outermost(scope: Scope, name: str) -> Resource | None:
    """The first resource entered that has a dynamic anchor of a name."""
    return next((resource for n, resource in scope if n == name), None)
