"""Dates, times and durations in the forms of ISO 8601 and RFC 3339 that pydantic reads.

Narrower than pydantic on purpose: no numbers of seconds since 1970, a capital or small `T` between
date and time, seconds written out, at most six digits of a second. A datetime has an offset, as the
format `date-time` that pydantic publishes demands, unless it must be naive. Never there, because
pydantic refuses them: the year 0000, the second 60, an offset of 24 hours.

Bounds compare texts: a datetime with bounds is written in UTC, so that texts sort as instants do.
"""

from __future__ import annotations

import datetime
from typing import Any, Final

from constrain.frontends.pydantic.core import JSON, Core, Never, Place, refuse
from constrain.frontends.pydantic.ranges import at_least, at_most, integer_between

__all__ = ["read_date", "read_datetime", "read_time", "read_timedelta"]

_YEAR: Final = "(?:[0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"
_LEAP_YEAR: Final = (
    "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
)
_DATE: Final = (
    f"(?:{_YEAR}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
    f"|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)|{_LEAP_YEAR}-02-29)"
)
_CLOCK: Final = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
_FRACTION: Final = r"(?:\.[0-9]{1,6})?"
_OFFSET: Final = "(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_SECOND: Final = datetime.timedelta(seconds=1)
_DAY: Final = datetime.timedelta(days=1)
_MOST_SECONDS: Final = 4_294_967_295
"""pydantic reads a number of a duration into 32 bits."""


def _strings(*patterns: str) -> JSON:
    if len(patterns) == 1:
        return {"type": "string", "pattern": f"^{patterns[0]}$"}
    whole, *others = patterns
    return {
        "type": "string",
        "allOf": [{"pattern": f"^{whole}$"}] + [{"pattern": p} for p in others],
    }


def _bounds(core: Core) -> dict[str, Any]:
    return {name: core[name] for name in ("ge", "gt", "le", "lt") if core.get(name) is not None}


def read_date(core: Core, place: Place) -> JSON:
    """A date. `PastDate` and `FutureDate` are judged by the day on which the grammar is made."""
    patterns = []
    bounds = _bounds(core)
    today = datetime.date.today()
    if core.get("now_op") == "past":
        bounds = {**bounds, "le": min(bounds.get("le", today), today - _DAY)}
    elif core.get("now_op") == "future":
        soon = today + 2 * _DAY
        bounds = {**bounds, "ge": max(bounds.get("ge", soon), soon)}
    for name, bound in bounds.items():
        try:
            if name in ("ge", "gt"):
                patterns.append(f"^{at_least(_iso(bound if name == 'ge' else bound + _DAY))}")
            else:
                patterns.append(f"^{at_most(_iso(bound if name == 'le' else bound - _DAY))}")
        except OverflowError:
            raise Never from None
    return _strings(_DATE, *patterns)


def _iso(date: datetime.date) -> str:
    return f"{date.year:04d}-{date.month:02d}-{date.day:02d}"


def read_datetime(core: Core, place: Place) -> JSON:
    """A datetime."""
    zone = core.get("tz_constraint")
    if zone not in (None, "aware", "naive"):
        raise refuse(f"a time zone of {zone} seconds", place)
    bounds = _bounds(core)
    aware = {bound.tzinfo is not None for bound in bounds.values()}
    now_op = core.get("now_op")
    if len(aware) == 2 or (now_op and aware == {False}):
        raise refuse("bounds with and without a time zone", place)
    if (zone == "aware" and aware == {False}) or (zone == "naive" and (aware == {True} or now_op)):
        raise refuse("bounds of another kind than `tz_constraint` asks for", place)
    naive = zone == "naive" or aware == {False}
    if not bounds and not now_op:
        return _strings(f"{_DATE}[Tt]{_CLOCK}{_FRACTION}{'' if naive else _OFFSET}")
    patterns = []
    for name, bound in bounds.items():
        try:
            moment = bound if naive else bound.astimezone(datetime.UTC)
        except OverflowError:  # before the first or after the last moment that UTC can write
            if (bound.year == datetime.MAXYEAR) == (name in ("ge", "gt")):
                raise Never from None
            continue
        patterns.append(_compared(name, moment, lambda m: f"{_iso(m)}T{m:%H:%M:%S}", _SECOND))
    today = datetime.datetime.now(datetime.UTC).date()
    if now_op == "past":
        patterns.append(f"^{at_most(_iso(today - _DAY))}")
    elif now_op == "future":
        patterns.append(f"^{at_least(_iso(today + 2 * _DAY))}")
    return _strings(f"{_DATE}T{_CLOCK}{_FRACTION}{'' if naive else 'Z'}", *patterns)


def _compared(name: str, bound: Any, spell: Any, second: Any) -> str:  # noqa: ANN401 - a datetime or a time
    """A pattern for texts on the right side of a bound; exact to the second."""
    whole = bound.replace(microsecond=0)
    try:
        if name == "ge" and whole == bound:
            return f"^{at_least(spell(whole))}"
        if name in ("ge", "gt"):
            return f"^{at_least(spell(whole + second))}"
        if name == "le":
            # The second itself without a fraction, or one before it.
            return f"^(?:{spell(whole)}Z?$|{at_most(spell(whole - second))})"
        return f"^{at_most(spell(whole - second))}"
    except OverflowError:
        if name == "le":
            return f"^{spell(whole)}Z?$"
        raise Never from None


def read_time(core: Core, place: Place) -> JSON:
    """A time of day, with an offset or without; with bounds, as these are."""
    zone = core.get("tz_constraint")
    if zone not in (None, "aware", "naive"):
        raise refuse(f"a time zone of {zone} seconds", place)
    bounds = _bounds(core)
    if not bounds:
        offset = {None: f"{_OFFSET}?", "aware": _OFFSET, "naive": ""}[zone]
        return _strings(f"{_CLOCK}{_FRACTION}{offset}")
    if zone == "aware" or any(bound.tzinfo is not None for bound in bounds.values()):
        raise refuse("bounds of a time with a time zone", place)
    day = datetime.datetime(2000, 1, 1)
    patterns = []
    for name, bound in bounds.items():
        moment = datetime.datetime.combine(day, bound)

        def spell(m: datetime.datetime) -> str:
            if m.date() != day.date():
                raise OverflowError
            return f"{m:%H:%M:%S}"

        patterns.append(_compared(name, moment, spell, _SECOND))
    return _strings(f"{_CLOCK}{_FRACTION}", *patterns)


def read_timedelta(core: Core, place: Place) -> JSON:
    """A duration; with bounds, a number of seconds or of days."""
    if core.get("multiple_of") is not None:
        raise refuse("a timedelta with `multiple_of`", place)
    bounds = _bounds(core)
    if not bounds:
        return _strings(_duration())
    lows = [_seconds(v, up=True, strict=n == "gt") for n, v in bounds.items() if n in ("ge", "gt")]
    highs = [
        _seconds(v, up=False, strict=n == "lt") for n, v in bounds.items() if n in ("le", "lt")
    ]
    low, high = max(lows) if lows else None, min(highs) if highs else None
    for unit, letter in ((1, "T{}S"), (86_400, "{}D")):
        least = None if low is None else -(-low // unit)
        most = None if high is None else high // unit
        limit = _MOST_SECONDS if unit == 1 else 999_999_998
        if (least is not None and least > limit) or (most is not None and most < -limit):
            continue
        least = (
            max(-limit, least) if least is not None else min(-limit if (most or 0) < 0 else 0, 0)
        )
        most = limit if most is None else min(limit, most)
        if least > most:
            continue
        numbers = integer_between(least, most)
        body = letter.format("N")
        positive = f"P{body.replace('N', numbers)}"
        if least >= 0:
            return _strings(positive)
        negative = f"-P{body.replace('N', integer_between(max(1, -most), -least))}"
        if most < 0:
            return _strings(negative)
        return _strings(f"(?:P{body.replace('N', integer_between(0, most))}|{negative})")
    raise refuse("bounds with no whole number of seconds or days between them", place)


def _seconds(value: datetime.timedelta, *, up: bool, strict: bool) -> int:
    whole, rest = divmod(value, _SECOND)
    if up:
        return whole + (1 if rest or strict else 0)
    return whole - (1 if strict and not rest else 0)


def _duration() -> str:
    """The forms of ISO 8601, in numbers whose sum stays below a timedelta's 999,999,999 days."""
    n = "[0-9]{1,6}"
    time = f"T(?:{n}H(?:{n}M)?(?:{n}{_FRACTION}S)?|{n}M(?:{n}{_FRACTION}S)?|{n}{_FRACTION}S)"
    date = f"(?:{n}Y(?:{n}M)?(?:{n}D)?|{n}M(?:{n}D)?|{n}D)"
    return f"P(?:{date}(?:{time})?|{time}|{n}W)"
