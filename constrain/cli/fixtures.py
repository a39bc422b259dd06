"""`constrain check` for fixtures: failures as they come, then a line for each grammar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from constrain.cli.console import output, show_error, write_json
from constrain.cli.loading import compile_kernels
from constrain.errors import GrammarError
from constrain.fixtures import FixtureResult, SetResult, describe, find_grammars, run

__all__ = ["check_fixtures"]

_HEAD = ("grammar", "accepted", "rejected", "compiled in", "judged in", "")


def check_fixtures(paths: Sequence[str], only: Sequence[str], *, as_json: bool) -> int:
    """Run fixtures and show what became of them.

    Args:
        paths: Grammars, and folders of them.
        only: Texts whose ids contain one of these, in any case; all, if there is none.
        as_json: One JSON object instead of text.

    Returns:
        The exit code: 0 all verdicts are right, 1 one is not, 2 there are no verdicts of a grammar
        or text.

    Raises:
        typer.BadParameter: No text has such an id.
        GrammarError: A path is no grammar and no folder of grammars.
    """
    grammars = find_grammars(paths)
    wanted = [text.casefold() for text in only]

    def keep(name: str) -> bool:
        return not wanted or any(text in name.casefold() for text in wanted)

    compile_kernels()
    console = output()
    results = []
    for result in run(grammars, keep=keep):
        results.append(result)
        if not as_json:
            _show_failures(console, result)
    if not results:
        raise typer.BadParameter(f"no text has {' or '.join(map(repr, only))} in its name")
    if as_json:
        write_json({"grammars": [_as_json(result) for result in results]})
    else:
        _show_table(console, results)
    if any(r.error is not None or any(f.error for f in r.results) for r in results):
        return 2
    return 0 if all(result.passed for result in results) else 1


def _show_failures(console: Console, result: SetResult) -> None:
    if result.error is not None:
        show_error(result.error)
        return
    assert result.grammar is not None
    for failure in result.failures:
        first, *rest = describe(failure, result.grammar)
        text = Text(f"{result.path.stem}/{failure.fixture.name}: ")
        text.append(first, "bold red")
        for line in rest:
            is_caret = line.strip() == "^"
            text.append("\n").append(line, "bold red" if is_caret else "")
        console.print(text, soft_wrap=True)


def _show_table(console: Console, results: Sequence[SetResult]) -> None:
    rows = [_HEAD, *map(_row, results)]
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for row, result in zip(rows, [None, *results], strict=True):
        cells = [cell + " " * (w - cell_len(cell)) for cell, w in zip(row, widths, strict=True)]
        style = "bold" if result is None else "" if result.passed else "bold red"
        console.print(Text("  ".join(cells).rstrip(), style), soft_wrap=True)
    texts = sum([len(result.results) for result in results])
    failures = sum([len(result.failures) for result in results])
    wrong = sum([result.error is not None for result in results])
    parts = [f"{_count(len(results), 'grammar')}, {_count(texts, 'text')}"]
    parts += [f"{_count(failures, 'failure')}"] if failures else []
    parts += [f"{_count(wrong, 'grammar')} without verdicts"] if wrong else []
    good = not failures and not wrong
    parts += ["all as they must be"] if good else []
    console.print(Text(": ".join([parts[0], ", ".join(parts[1:])])), soft_wrap=True)


def _count(number: int, name: str) -> str:
    return f"{number:,} {name}{'' if number == 1 else 's'}"


def _row(result: SetResult) -> tuple[str, ...]:
    if result.error is not None:
        return (str(result.path), "", "", "", "", type(result.error).__name__)
    passed = Counter(r.fixture.verdict for r in result.results if r.passed)
    given = Counter(r.fixture.verdict for r in result.results)
    failures = len(result.failures)
    return (
        str(result.path),
        f"{passed['accept']}/{given['accept']}",
        f"{passed['reject']}/{given['reject']}",
        f"{result.compile_s * 1e3:,.0f} ms",
        f"{result.judge_s * 1e3:,.0f} ms",
        _count(failures, "failure") if failures else "",
    )


def _as_json(result: SetResult) -> dict[str, Any]:
    found: dict[str, Any] = {"grammar": str(result.path), "passed": result.passed, "error": None}
    if result.error is not None:
        error = result.error
        found["error"] = {"kind": error.slug, "message": str(error)}
        found["error"]["in"] = ", ".join(getattr(error, "__notes__", ())) or None
        if isinstance(error, GrammarError):
            found["error"] |= {"pointer": error.pointer, "hint": error.hint}
    found["compile_s"], found["judge_s"] = result.compile_s, result.judge_s
    found["texts"] = [_text_as_json(result, one) for one in result.results]
    return found


def _text_as_json(result: SetResult, one: FixtureResult) -> dict[str, Any]:
    accepted = None if one.error is not None else one.rejection is None
    found: dict[str, Any] = {
        "name": one.fixture.name,
        "must_be": f"{one.fixture.verdict}ed",
        "accepted": accepted,
        "passed": one.passed,
    }
    if one.error is not None:
        found["error"] = one.error
    elif not one.passed:
        assert result.grammar is not None
        found["message"] = "\n".join(describe(one, result.grammar))
        if one.rejection is not None:
            found |= {
                "offset": one.rejection.offset,
                "ended_early": one.rejection.at_end,
                "could_end": one.rejection.complete,
                "expected": list(one.rejection.expected),
                "expected_names": list(one.rejection.expected_names),
                "rule_path": list(one.rejection.rule_path),
            }
    return found
