"""ISO 8601: `datetime` for dates and times, pydantic for durations.

What `datetime` does not read is turned into what it does: a year and a month get a first day, a day
of a year is counted. pydantic takes the parts of a duration in any order; their order
is checked here. Only intervals are taken apart.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta

from pydantic import TypeAdapter, ValidationError

DURATION = TypeAdapter(timedelta)
ORDER = re.compile(r"P([^A-Z]*Y)?([^A-Z]*M)?([^A-Z]*[WD])?(T([^A-Z]*H)?([^A-Z]*M)?([^A-Z]*S)?)?")


def complaint(text: str) -> str | None:
    if "/" in text:
        return _interval(text.split("/"))
    if text.startswith("P"):
        return _duration(text)
    reasons = [_date(text), _date(f"{text}-01"), _date(f"{text}-01-01"), _datetime(text)]
    return None if None in [*reasons, _time(text)] else reasons[0]


def _interval(parts: list[str]) -> str | None:
    if re.fullmatch("R[0-9]*", parts[0]):
        del parts[0]
    durations = [part.startswith("P") for part in parts]
    if len(parts) != 2 or all(durations):
        return "an interval has two parts, one of them a date"
    reasons = [_duration(part) if part.startswith("P") else _instant(part) for part in parts]
    return reasons[0] or reasons[1]


def _instant(text: str) -> str | None:
    reason = _date(text)
    return _datetime(text) if reason and "T" in text else reason


def _datetime(text: str) -> str | None:
    day, _, clock = text.partition("T")
    if _date(day) is None:
        return _time(clock)
    try:
        datetime.fromisoformat(text)
    except ValueError as error:
        return str(error)
    return None


def _date(text: str) -> str | None:
    try:
        if re.fullmatch("[0-9]{4}-[0-9]{3}", text):
            first, days = date(int(text[:4]), 1, 1), int(text[5:]) - 1
            last = date(first.year, 12, 31)
            return None if 0 <= days <= (last - first).days else "the year has no such day"
        # Weeks are the same every 400 years, and the last ends after the last day of `datetime`.
        date.fromisoformat(text.replace("9999-W", "9599-W"))
    except ValueError as error:
        return str(error)
    return None


def _time(text: str) -> str | None:
    try:
        time.fromisoformat(text)
    except ValueError as error:
        return str(error)
    return None


def _duration(text: str) -> str | None:
    if not ORDER.fullmatch(text) or text.endswith("T"):
        return "the parts of a duration are out of order"
    try:
        DURATION.validate_python(text)
    except ValidationError as error:
        return str(error)
    return None
