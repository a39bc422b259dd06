"""The pytest plugin: `pytest --constrain grammars/` runs fixtures, one test for each text.

Here are the options only, so that a run of pytest that has no fixtures loads nothing more. What
they do is in `constrain.fixtures.collection`.
"""

from __future__ import annotations

import pytest

__all__ = ["pytest_addoption", "pytest_configure"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--constrain` and the setting `constrain_paths`."""
    parser.getgroup("constrain", "grammars with texts to accept and reject").addoption(
        "--constrain",
        nargs="+",
        action="extend",
        default=[],
        metavar="PATH",
        help="Run the fixtures of grammars: files, or folders of them. No other tests are run, "
        "unless they are named before.",
    )
    parser.addini(
        "constrain_paths",
        type="paths",
        default=[],
        help="Grammars with fixtures, or folders of them, that are run with all tests.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Collect fixtures, if any are named."""
    if config.getoption("constrain") or config.getini("constrain_paths"):
        from constrain.fixtures.collection import register

        register(config)
