"""Writes what other engines say of random patterns into `answers/`, for `test_answers`.

Rust's crate `regex` answers through the PyPI package `paula`, ECMA-262 is V8 of Node.js 24. Neither
is needed to run the tests. From the repository's root:

    python -m tests.frontends.regex.make_answers rust | ecma
"""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.frontends.regex.languages import texts
from tests.frontends.regex.random_patterns import random_byte_cases, random_cases

FOLDER = Path(__file__).with_name("answers")
NODE = """
const cases = JSON.parse(require("fs").readFileSync(0, "utf8"));
const answer = ([pattern, flags, texts]) => {
  try { new RegExp(pattern, flags); } catch { return null; }
  const whole = new RegExp(`(?<!(?s:.))(?:${pattern})(?!(?s:.))`, flags);
  return texts.map((text) => whole.test(text) ? 1 : 0);
};
console.log(JSON.stringify(cases.map(answer)));
"""


def packed(verdicts: list[bool] | list[int] | None) -> str | None:
    """The verdicts as a hexadecimal number, the first one in its highest bit."""
    if verdicts is None:
        return None
    return f"{int('0' + ''.join([str(int(v)) for v in verdicts]), 2):x}"


def write(name: str, rows: list[list[Any]]) -> None:
    """One case a line."""
    FOLDER.mkdir(exist_ok=True)
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    (FOLDER / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")


def rust() -> None:
    """[pattern, alphabet, longest, verdicts]; "bytes" if the pattern is for bytes only."""
    import paula

    def ask(engine: Any, pattern: str, tried: list[Any]) -> str | None:
        try:
            engine(pattern)
        except ValueError as error:
            if "invalid UTF-8" not in str(error):
                return None
            return ask(paula.BytesRegex, pattern, []) and "bytes"
        whole = engine(rf"\A(?:{pattern})\z")
        return packed([whole.is_match(text) for text in tried])

    rows: list[list[Any]] = []
    for pattern, alphabet, longest in random_cases("rust", 1, 500):
        answer = ask(paula.Regex, pattern, texts(alphabet, longest))
        rows.append([pattern, alphabet, longest, answer])
    write("rust", rows)
    rows = []
    for pattern, alphabet, longest in random_byte_cases(1, 200):
        sizes = range(longest + 1)
        tried = [bytes(t) for n in sizes for t in itertools.product(alphabet, repeat=n)]
        rows.append([pattern, list(alphabet), longest, ask(paula.BytesRegex, pattern, tried)])
    write("rust_bytes", rows)


def ecma() -> None:
    """[pattern, flags, alphabet, longest, verdicts]."""
    for dialect, flag in (("ecma", "u"), ("ecma-v", "v")):
        rng = random.Random(dialect)
        cases = random_cases(dialect, 1, 400)
        flags = [flag + rng.choice(["", "i", "i", "s", "m"]) for _ in cases]
        asked = [[p, f, texts(a, n)] for (p, a, n), f in zip(cases, flags, strict=True)]
        told = subprocess.run(
            ["node", "-e", NODE],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            check=True,
        )
        answers = json.loads(told.stdout)
        # What u rejects may be read all the same: Annex B, where it can mean one thing only.
        rows = [
            [pattern, f, alphabet, longest, packed(answer)]
            for (pattern, alphabet, longest), f, answer in zip(cases, flags, answers, strict=True)
            if answer is not None or flag == "v"
        ]
        write(dialect.replace("-", "_"), rows)


if __name__ == "__main__":
    {"rust": rust, "ecma": ecma}[sys.argv[1]]()
