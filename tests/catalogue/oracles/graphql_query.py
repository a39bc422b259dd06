"""GraphQL: graphql-core parses it, and every definition may be executed."""

from __future__ import annotations

from graphql import GraphQLSyntaxError, parse
from graphql.language import ExecutableDefinitionNode


def complaint(text: str) -> str | None:
    try:
        document = parse(text)
    except GraphQLSyntaxError as error:
        return error.message
    for definition in document.definitions:
        if not isinstance(definition, ExecutableDefinitionNode):
            return f"{definition.kind} is not executed"
    return None
