"""Regular expressions: `re.compile`, of which a warning is a complaint too."""

from __future__ import annotations

import re
import warnings


def complaint(text: str) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            re.compile(text)
    except (re.error, Warning) as error:
        return str(error)
    return None
