"""The table of what differs, in docs/how-to/regex.md: each row is run in all dialects."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from constrain import Grammar
from constrain.errors import RegexSyntaxError, UnsupportedFeatureError

PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "regex.md"
DIALECTS = ("python", "ecma", "rust")
ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|x([0-9a-f]{2})|([nr]))")
# \B in the empty text, by the version of Python.
PYTHON_NOW = {(r"\B", ""): "yes" if re.fullmatch(r"\B", "") else "no"}


def code(cell: str) -> str:
    return cell.strip().strip("`").replace(r"\|", "|")


def text(cell: str) -> str:
    def point(match: re.Match[str]) -> str:
        number = match[1] or match[2]
        return chr(int(number, 16)) if number else {"n": "\n", "r": "\r"}[match[3]]

    return ESCAPE.sub(point, code(cell))


def rows() -> list[tuple[str, str, tuple[str, ...]]]:
    table = PAGE.read_text(encoding="utf-8").split("| because |\n", 1)[1].split("\n\n", 1)[0]
    found = []
    for line in table.splitlines()[1:]:
        cells = re.split(r"(?<!\\)\|", line)[1:-1]
        assert len(cells) == 6, line
        said = tuple([cell.strip() for cell in cells[2:5]])
        assert set(said) <= {"yes", "no", "error", "refused"}, line
        found.append((code(cells[0]), text(cells[1]), said))
    return found


def verdict(pattern: str, dialect: str, data: str) -> str:
    try:
        grammar = Grammar.from_regex(pattern, dialect=dialect)
    except RegexSyntaxError:
        return "error"
    except UnsupportedFeatureError:
        return "refused"
    return "yes" if grammar.accepts(data.encode()) else "no"


@pytest.mark.parametrize(("pattern", "data", "said"), rows())
def test_a_row(pattern, data, said):
    expected = dict(zip(DIALECTS, said, strict=True))
    expected["python"] = PYTHON_NOW.get((pattern, data), expected["python"])
    assert {d: verdict(pattern, d, data) for d in DIALECTS} == expected


def test_the_table_is_long():
    assert len(rows()) > 50
