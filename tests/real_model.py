"""The real model that tests use: fetched once into the user's cache, loaded once per process.

Fetching takes the lock that every process takes, so test workers do not fetch twice. Without a
network, and nothing fetched before, the tests that need it skip and say so; under CI they fail,
because there it must work.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

import pytest

from constrain.errors import ModelError
from constrain.generation import fetch_model, load_model

__all__ = ["model_folder", "real_model"]


@functools.cache
def _fetch() -> Path | ModelError:
    try:
        return fetch_model()
    except ModelError as error:
        return error


def model_folder() -> Path:
    """Return the model's folder, or skip the test that asks.

    From here on torch runs on one thread: several are slower where test workers fill the cores.
    """
    import torch

    torch.set_num_threads(1)
    found = _fetch()
    if isinstance(found, Path):
        return found
    if os.environ.get("CI"):
        raise found
    pytest.skip(
        f"needs SmolLM2-135M-Instruct, which could not be fetched: {str(found).splitlines()[0]}"
    )


@functools.cache
def _load() -> tuple[Any, Any]:
    return load_model(model_folder())


def real_model() -> tuple[Any, Any]:
    """Return (model, tokenizer), or skip the test that asks."""
    model_folder()
    return _load()
