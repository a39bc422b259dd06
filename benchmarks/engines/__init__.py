"""Adapters: every engine behind the same few calls, each set up as its own documentation says.

What comes in: a tokenizer on disk, JSON Schemas as text, token ids. What goes out: compiled
grammars, masks in the engine's own bitmask, whether a token was accepted.

What is decided here: which of an engine's options are used (`settings` says which, and why the
texts are comparable). What is not: what is timed and what counts as wrong.

An adapter adds as little as Python allows to the calls that are timed: `fill` and `accept` are
attributes, bound once for each matcher.

- `protocol.py`: `Engine`, `Compiled`, `Matcher`, `Batch`, `RefusedError`.
- `parts.py`: a batch split among threads, for engines without a call for that.
- `constrain_engine.py`, `llguidance_engine.py`, `xgrammar_engine.py`, `glrmask_engine.py`.
"""

from __future__ import annotations

import importlib
import importlib.util
from importlib.metadata import version

from benchmarks.engines.protocol import Batch, Compiled, Engine, Matcher, RefusedError

__all__ = [
    "DEFAULT_ENGINES",
    "ENGINES",
    "Batch",
    "Compiled",
    "Engine",
    "Matcher",
    "RefusedError",
    "absence",
    "create",
    "installed_version",
]

ENGINES: dict[str, tuple[str, str, str]] = {
    # name: (module of the adapter, distribution, module that must be importable)
    "constrain": ("constrain_engine", "constrain-decoding", "constrain"),
    "constrain-any": ("constrain_engine", "constrain-decoding", "constrain"),
    "constrain-eager": ("constrain_engine", "constrain-decoding", "constrain"),
    "llguidance": ("llguidance_engine", "llguidance", "llguidance"),
    "xgrammar": ("xgrammar_engine", "xgrammar", "xgrammar"),
    "xgrammar-strict": ("xgrammar_engine", "xgrammar", "xgrammar"),
    "glrmask": ("glrmask_engine", "glrmask", "glrmask"),
    "glrmask-lazy": ("glrmask_engine", "glrmask", "glrmask"),
}
DEFAULT_ENGINES = ("constrain", "llguidance", "xgrammar", "glrmask", "glrmask-lazy")


def absence(name: str) -> str | None:
    """Why an engine cannot be measured here, or None if it can."""
    _, distribution, module = ENGINES[name]
    if importlib.util.find_spec(module) is None:
        return f"{distribution} is not installed (pip install -e '.[bench]')"
    return None


def installed_version(name: str) -> str:
    """Version of the engine's distribution."""
    return version(ENGINES[name][1])


def create(name: str) -> Engine:
    """The adapter of an installed engine; this imports the engine.

    Raises:
        ImportError: It is not installed.
    """
    module = importlib.import_module(f"benchmarks.engines.{ENGINES[name][0]}")
    engine: Engine = module.create(name)
    return engine
