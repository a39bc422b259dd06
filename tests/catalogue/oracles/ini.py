"""INI files: the module `configparser`; that a name comes twice is no matter of a grammar."""

from __future__ import annotations

import configparser


def complaint(text: str) -> str | None:
    reader = configparser.ConfigParser(strict=False)
    try:
        reader.read_string(text)
        if not reader.sections() and not reader.defaults():
            return "there is no section"
        for name in reader.sections():
            reader.items(name)
    except configparser.Error as error:
        return str(error)
    return None
