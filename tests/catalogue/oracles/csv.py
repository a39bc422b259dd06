"""CSV: the module `csv`, strict, and rows of one width."""

from __future__ import annotations

import csv
import io


def complaint(text: str) -> str | None:
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        return str(error)
    widths = {len(row) for row in rows}
    if len(widths) == 1 and 0 not in widths:
        return None
    return f"the rows have {sorted(widths)} cells"
