"""Ranges of numbers and of sortable texts as regular expressions.

`digits_between(7, 120)` is `[7-9]|[1-9][0-9]|...` in as few alternatives as digits change; the two
`at_least` and `at_most` compare texts of one form, such as `2024-02-29`, character by character.
"""

from __future__ import annotations

__all__ = ["at_least", "at_most", "digits_between", "integer_between"]


def digits_between(low: int, high: int) -> str:
    """The numerals from `low` to `high`, 0 <= low <= high, without leading zeros."""
    parts: list[str] = []
    for length in range(len(str(low)), len(str(high)) + 1):
        at = max(low, 10 ** (length - 1) if length > 1 else 0)
        end = min(high, 10**length - 1)
        while at <= end:
            part, at = _block(at, end, length)
            parts.append(part)
    return f"(?:{'|'.join(parts)})"


def _block(at: int, end: int, length: int) -> tuple[str, int]:
    """The largest block of numerals that starts at `at`, and what comes after it."""
    free = 0
    while free + 1 < length and at % 10 ** (free + 1) == 0 and at + 10 ** (free + 1) - 1 <= end:
        free += 1
    step = 10**free
    first = at // step % 10
    last = first
    while last < 9 and at + (last - first + 2) * step - 1 <= end:
        last += 1
    before = str(at // (10 * step)) if free + 1 < length else ""
    digit = str(first) if first == last else f"[{first}-{last}]"
    rest = f"[0-9]{{{free}}}" if free else ""
    return f"{before}{digit}{rest}", at + (last - first + 1) * step


def integer_between(low: int | None, high: int | None, most_digits: int = 18) -> str:
    """The numerals from `low` to `high`, both included, with a minus sign where there is one.

    Args:
        low: None for none below -10**most_digits.
        high: None for none above 10**most_digits.
        most_digits: Digits where a bound is missing; a bound that is given is kept.

    Raises:
        ValueError: There is none.
    """
    limit = 10**most_digits - 1
    low = min(-limit, high or 0) if low is None else low
    high = max(limit, low) if high is None else high
    if low > high:
        raise ValueError(f"no integer is from {low} to {high}")
    parts = []
    if high >= 0:
        parts.append(digits_between(max(low, 0), high))
    if low < 0:
        parts.append(f"-{digits_between(max(1, -high), -low)}")
    return f"(?:{'|'.join(parts)})"


def at_least(text: str) -> str:
    """Prefixes of texts that sort at or after `text`, if they have its form."""
    return _compare(text, 1)


def at_most(text: str) -> str:
    """Prefixes of texts that sort at or before `text`, if they have its form."""
    return _compare(text, -1)


def _compare(text: str, way: int) -> str:
    parts = [text]
    for index, character in enumerate(text):
        if character.isdigit():
            better = [d for d in range(10) if (d - int(character)) * way > 0]
            if better:
                parts.append(f"{text[:index]}[{better[0]}-{better[-1]}]")
    return f"(?:{'|'.join(parts)})"
