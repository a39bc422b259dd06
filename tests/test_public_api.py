"""What the package offers, and what importing it costs."""

from __future__ import annotations

import copy
import importlib.metadata
import inspect
import pickle
import subprocess
import sys

import pytest

import constrain
from constrain import errors


def in_new_process(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("name", constrain.__all__)
def test_every_public_name_is_there_and_documented(name):
    value = getattr(constrain, name)
    assert inspect.getdoc(value)
    assert name in dir(constrain)


def test_every_error_is_public():
    assert set(errors.__all__) <= set(constrain.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = constrain.nothing


def test_the_version_is_that_of_the_distribution():
    assert constrain.__version__ == importlib.metadata.version("constrain-decoding")


HEAVY = ("numba", "torch", "triton", "transformers", "tokenizers", "rich", "typer", "referencing")


def test_importing_loads_nothing_heavy():
    code = f"import sys, constrain; print([m for m in {HEAVY} if m in sys.modules])"
    assert in_new_process(code) == "[]"


def test_compiling_and_masking_need_no_torch():
    code = """
import sys
sys.modules["torch"] = None  # importing it fails
import constrain
vocab = constrain.Vocabulary([b"1", b"a", None], [2])
matcher = constrain.compile(constrain.Grammar.from_regex("[0-9]+"), vocab).matcher()
bitmask = constrain.allocate_token_bitmask(1, 3)
matcher.fill_next_token_bitmask(bitmask)
import numpy as np
logits = np.zeros((1, 3), np.float32)
constrain.apply_token_bitmask(logits, bitmask)
print(np.isfinite(logits).tolist())
"""
    assert in_new_process(code) == "[[True, False, False]]"


@pytest.mark.parametrize("name", errors.__all__)
def test_errors_can_be_pickled_and_copied(name):
    kind = getattr(errors, name)
    if kind is errors.LimitExceededError:
        error = kind("max_terms", given=2, allowed=1, where="here")
    elif kind is errors.BackendUnavailableError:
        error = kind("torch", extra="torch", needed_for="this")
    elif issubclass(kind, errors.GrammarError):
        error = kind("reason", source="abc", span=(1, 2), pointer="#/a", hint="hint")
    else:
        error = kind("message")
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is kind
        assert str(twin) == str(error)
