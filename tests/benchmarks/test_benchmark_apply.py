from __future__ import annotations

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from benchmarks import apply  # noqa: E402 - it imports torch
from constrain.kernels.apply_bitmask import reference  # noqa: E402


@pytest.mark.parametrize("kind", apply.MASKS)
@pytest.mark.parametrize("vocab_size", [50, 64, 4000])
def test_masks_are_of_their_kind(kind, vocab_size):
    bitmask = apply.make_bitmask(kind, 4, vocab_size)
    assert bitmask.dtype == torch.int32
    assert list(bitmask.shape) == [4, -(-vocab_size // 32)]
    bits = reference.allowed(bitmask.numpy(), 32 * bitmask.shape[1])
    assert bits[:, :vocab_size].any(axis=1).all()
    assert not bits[:, vocab_size:].any()
    shares = bits[:, :vocab_size].mean(axis=1)
    if kind == "all":
        assert shares.min() == 1
    if kind == "string":
        assert shares.min() > 0.8
    if vocab_size == 4000 and kind == "structure":
        assert shares.max() <= 41 / 4000
    if vocab_size == 4000 and kind == "mixed":
        assert (np.diff(shares > 0.5)).all()


def stand_in(monkeypatch, mask):
    monkeypatch.setitem(apply._LOADERS, "xgrammar", lambda: mask)
    monkeypatch.setattr(apply, "_version", lambda name: "0")
    arguments = ["--engines", "constrain,xgrammar", "--batch", "2", "--vocab-size", "70"]
    return [*arguments, "--runs", "3"]


def test_figures_of_both_engines_are_written(monkeypatch, tmp_path, capsys):
    def by_reference(logits, bitmask):
        allowed = reference.allowed(bitmask.numpy(), logits.shape[1])
        logits[torch.from_numpy(~allowed)] = float("-inf")

    path = tmp_path / "figures.json"
    arguments = [*stand_in(monkeypatch, by_reference), "--json", str(path)]
    assert apply.main(arguments) == 0
    figures = json.loads(path.read_text())["figures"]
    assert len(figures) == 2 * len(apply.MASKS)
    assert all(len(f["us"][name]) == 3 for f in figures for name in ("constrain", "xgrammar"))
    assert "float32 structure" in capsys.readouterr().out


def test_an_engine_that_leaves_other_logits_is_named(monkeypatch, capsys):
    assert apply.main(stand_in(monkeypatch, lambda logits, bitmask: None)) == 1
    assert "xgrammar leaves other logits (float32, structure)" in capsys.readouterr().out


def test_one_engine_alone_is_nothing_to_compare(capsys):
    assert apply.main(["--engines", "constrain"]) == 2
    assert "nothing to compare" in capsys.readouterr().out


def test_an_unknown_mask_is_refused(capsys):
    with pytest.raises(SystemExit):
        apply.main(["--masks", "checkered"])
    assert "'checkered' is none of structure, string" in capsys.readouterr().err
