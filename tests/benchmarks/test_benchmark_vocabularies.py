import json

import pytest

from benchmarks import vocabularies
from benchmarks.registry import DataMissingError
from benchmarks.vocabularies import TokenizerFiles, encode, locate

TEXTS = ['{"a": "b"}', "", '{"name": "José 🚀 e\u0301"}', "[1, 2.5e-7, null]"]


def test_token_bytes_are_read_from_the_file(tiny_tokenizer):
    table = tiny_tokenizer.token_bytes
    assert len(table) == 288
    assert sorted(table[:256]) == [bytes([byte]) for byte in range(256)]
    assert table[256:260] == (b'":', b'{"', b'"}', b' "')
    assert table[260:] == (None,) * 28
    assert tiny_tokenizer.eos_token_id == 260


@pytest.mark.parametrize("text", TEXTS)
def test_ids_spell_the_text(tiny_tokenizer, text):
    (ids,) = encode([text], tiny_tokenizer)
    assert b"".join(tiny_tokenizer.token_bytes[i] for i in ids) == text.encode()


def _sentencepiece_like(folder, *, normalizer):
    """A BPE with byte fallback that writes a space before the first word."""
    pieces = ["<unk>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", "{", "}", "▁{"]
    description = {
        "version": "1.0",
        "added_tokens": [
            {"id": i, "content": pieces[i], "special": True, "normalized": False, "lstrip": False,
             "rstrip": False, "single_word": False}
            for i in (0, 1)
        ],
        "normalizer": normalizer,
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": {"type": "ByteFallback"},
        "model": {
            "type": "BPE", "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True,
            "vocab": {piece: i for i, piece in enumerate(pieces)}, "merges": ["▁ {"],
        },
    }  # fmt: skip
    (folder / "tokenizer.json").write_text(json.dumps(description))
    (folder / "tokenizer_config.json").write_text('{"eos_token": {"content": "</s>"}}')
    return TokenizerFiles("spm", folder, len(pieces))


def test_the_space_before_the_first_word_is_cut_off(tmp_path):
    prepend = {"type": "Prepend", "prepend": "▁"}
    replace = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    files = _sentencepiece_like(
        tmp_path, normalizer={"type": "Sequence", "normalizers": [prepend, replace]}
    )
    assert files.eos_token_id == 1
    (ids,) = encode(["{ {}"], files)
    assert [files.token_bytes[i] for i in ids] == [b"{", b" {", b"}"]


def test_a_text_that_normalisation_would_change_is_spelled_by_longest_match(tmp_path):
    files = _sentencepiece_like(tmp_path, normalizer={"type": "Lowercase"})
    (ids,) = encode(["{A}"], files)
    assert [files.token_bytes[i] for i in ids] == [b"{", b"A", b"}"]


def test_an_unknown_vocabulary_is_named():
    with pytest.raises(DataMissingError, match="'klingon'; there are qwen3"):
        locate("klingon")


def test_a_vocabulary_that_cannot_be_fetched_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("CONSTRAIN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(vocabularies, "_FETCHER", tmp_path / "absent.py")
    with pytest.raises(DataMissingError, match=r"absent\.py.*is absent"):
        locate("qwen3")


def test_a_cached_vocabulary_needs_no_fetcher(monkeypatch, tmp_path):
    monkeypatch.setenv("CONSTRAIN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(vocabularies, "_FETCHER", tmp_path / "absent.py")
    folder = tmp_path / "tokenizers" / "gptoss-1"
    folder.mkdir(parents=True)
    (folder / "tokenizer.json").write_text("{}")
    files = locate("o200k")
    assert (files.name, files.folder, files.vocab_size) == ("gptoss", folder, 201_088)


def test_a_vocabulary_is_not_what_was_made_of_it(monkeypatch, tmp_path):
    monkeypatch.setenv("CONSTRAIN_CACHE_DIR", str(tmp_path))
    for folder in ("qwen3-3.7.2", "qwen3-resized-1-65536"):
        path = tmp_path / "tokenizers" / folder / "tokenizer.json"
        path.parent.mkdir(parents=True)
        path.write_text("{}")
    assert locate("qwen3").folder.name == "qwen3-3.7.2"
