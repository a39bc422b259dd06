"""HTTP dates: `datetime.strptime` reads it and writes it again, but for the day of the week."""

from __future__ import annotations

from datetime import datetime

FORM = "%a, %d %b %Y %H:%M:%S GMT"


def complaint(text: str) -> str | None:
    try:
        read = datetime.strptime(text, FORM)
    except ValueError as error:
        return str(error)
    written = read.strftime(FORM)
    return None if written[3:] == text[3:] else f"it should be {written}"
