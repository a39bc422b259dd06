"""Bytes as a person reads them, for messages."""

from __future__ import annotations

__all__ = ["byte_ranges", "describe_bytes"]


def byte_ranges(members: bytes) -> list[str]:
    """Ascending bytes as a list of short descriptions: `'"'`, `'0' to '9'`, `byte 0xE2`."""
    parts = []
    i = 0
    while i < len(members):
        j = i
        while j + 1 < len(members) and members[j + 1] == members[j] + 1:
            j += 1
        if j - i < 2:
            parts += [_describe_byte(b) for b in members[i : j + 1]]
        else:
            parts.append(f"{_describe_byte(members[i])} to {_describe_byte(members[j])}")
        i = j + 1
    return parts


def describe_bytes(members: bytes) -> str:
    """Ascending bytes in one line; "nothing" if there is none."""
    return ", ".join(byte_ranges(members)) or "nothing"


def _describe_byte(b: int) -> str:
    return repr(chr(b)) if 0x20 <= b < 0x7F or b in b"\t\n\r" else f"byte 0x{b:02X}"
