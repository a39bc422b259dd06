"""SELECT: SQLite prepares it.

Tables that a text names are made on the way, each with every word of the text as a column, so that
SQLite goes on to look at more than the first name. What depends on names then, which no grammar can
know, is no complaint.
"""

from __future__ import annotations

import re
import sqlite3

NAMES = re.compile(
    "no such (table|column|function|index)|ambiguous column name|cannot join using column"
    "|circular reference|duplicate WITH table name|ON clause references tables to its right"
    "|misuse of aliased|ORDER BY term does not match any column in the result set"
    "|aggregate functions are not allowed in the GROUP BY clause|no such table column"
    "|too many columns"
)
# The grammar says that these are letters for it; SQLite only knows those of ASCII.
LETTERS = {0x130: "I", 0x131: "i", 0x17F: "s", 0x212A: "K"}
MISSING = re.compile(r"no such table: (.*)", re.DOTALL)


def complaint(text: str) -> str | None:
    text = text.translate(LETTERS)
    if not re.match(r"\s*(select|with)\b", text, re.IGNORECASE):
        return "no SELECT"
    words = {word.lower() for word in re.findall(r"[A-Za-z_]\w*", text)}
    columns = ", ".join(f'"{word}"' for word in sorted(words)[:500])
    with sqlite3.connect(":memory:") as connection:
        for _ in range(50):
            try:
                connection.execute(f"EXPLAIN {text}")
            except sqlite3.ProgrammingError as error:
                return None if "binding" in str(error) else str(error)
            except sqlite3.Error as error:
                missing = MISSING.fullmatch(str(error))
                if missing is None or not _make(connection, missing[1], columns):
                    return None if NAMES.search(str(error)) else str(error)
            else:
                return None
    return None


def _make(connection: sqlite3.Connection, table: str, columns: str) -> bool:
    quoted = table.replace('"', '""')
    try:
        connection.execute(f'CREATE TABLE "{quoted}" ({columns})')
    except sqlite3.Error:
        return False
    return True
