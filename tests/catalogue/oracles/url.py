"""URLs: the parser of the URL Standard (in pydantic) and `urllib` see the same parts.

The standard repairs what browsers are given: a URL that it changes is wrong.
"""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from pydantic_core import Url


def complaint(text: str) -> str | None:
    try:
        read = Url(text)
        parts = urlsplit(text)
        for part in (parts.path, parts.query, parts.fragment):
            unquote(part, errors="strict")
        default = read.port if parts.port is None else parts.port
    except ValueError as error:
        return str(error)
    pairs = {
        "path": (parts.path or "/", read.path),
        "query": (parts.query.replace("'", "%27"), read.query or ""),
        "fragment": (parts.fragment, read.fragment or ""),
        "port": (default, read.port),
    }
    if not (read.host or "").startswith("["):  # of IPv6 addresses there are many spellings
        pairs["host"] = (parts.hostname, read.host)
    changed = [f"{name}: {a!r} is {b!r}" for name, (a, b) in pairs.items() if a != b]
    return "; ".join(changed) or None
