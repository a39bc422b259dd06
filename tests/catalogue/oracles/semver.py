"""Semantic versions: the package `semver`."""

from __future__ import annotations

from semver import Version


def complaint(text: str) -> str | None:
    try:
        Version.parse(text)
    except ValueError as error:
        return str(error)
    return None
