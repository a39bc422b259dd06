"""What the commands that run a model share: which one, on how many threads, and the wait for it."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Annotated

import typer

from constrain.cli.console import progress_bars
from constrain.generation import kernels_are_kept, load_model, warmup_kernels
from constrain.generation.interfaces import Model, Tokenizer
from constrain.generation.packages import require
from constrain.generation.prompt import Prompt

__all__ = ["LoadedModel", "ModelOption", "ThreadsOption", "chat_or_text", "compile_kernels", "load"]

ModelOption = Annotated[
    str | None, typer.Option(metavar="PATH", help="A model folder; the fetched model if absent.")
]
ThreadsOption = Annotated[
    int | None, typer.Option(min=1, help="Threads of the model; half of the CPUs if absent.")
]


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model that is ready to run."""

    model: Model
    tokenizer: Tokenizer
    kernels_s: float
    """How long the kernels took to load or compile."""


def compile_kernels() -> float:
    """Compile the kernels with progress on standard error, where none are kept on disk.

    A grammar needs kernels, so this comes before one is read. Nothing is drawn and nothing is
    loaded where they are kept.

    Returns:
        How long it took, in seconds.
    """
    started = time.perf_counter()
    if not kernels_are_kept():
        with progress_bars() as progress:
            warmup_kernels(progress)
    return time.perf_counter() - started


def load(path: str | None, threads: int | None) -> LoadedModel:
    """Load a model and the kernels, with progress on standard error.

    Raises:
        ModelError: See `load_model`.
        BackendUnavailableError: See `load_model`.
    """
    with progress_bars() as progress:
        model, tokenizer = load_model(path, progress)
        # The threads of one operation wait for each other, so a core that is busy with something
        # else holds up all: on two busy cores a token took 280 ms on two threads, 60 ms on one.
        require("torch", "running a model").set_num_threads(threads or max(1, _num_cpus() // 2))
        started = time.perf_counter()
        warmup_kernels(progress)
    return LoadedModel(model, tokenizer, time.perf_counter() - started)


def chat_or_text(tokenizer: Tokenizer, text: str) -> Prompt:
    """Return `text` as a user's message if the tokenizer has a chat template, else as it stands."""
    has_template = bool(getattr(tokenizer, "chat_template", None))
    return [{"role": "user", "content": text}] if has_template else text


def _num_cpus() -> int:
    """Count the CPUs that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
