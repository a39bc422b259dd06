"""A tokenizer of another size spells the same texts."""

import json

import pytest

from benchmarks.registry import DataMissingError
from benchmarks.resized import resized_description
from benchmarks.vocabularies import TokenizerFiles, encode

TEXT = '{"": "":"}'


@pytest.fixture
def resized(tiny_tokenizer, tmp_path):
    tokenizers = pytest.importorskip("tokenizers")

    def make(size, pieces=()):
        description = tiny_tokenizer.description()
        vocab = description["model"]["vocab"]
        for left, right in pieces:
            vocab[left + right] = len(vocab)
            description["model"]["merges"].append([left, right])
        made = resized_description(description, size)
        (tmp_path / "tokenizer.json").write_text(json.dumps(made))
        (tmp_path / "tokenizer_config.json").write_text('{"eos_token": "<end>"}')
        assert (
            tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json")).get_vocab_size()
            == size
        )
        return TokenizerFiles("resized", tmp_path, size)

    return make


@pytest.mark.parametrize("size", [257, 258, 260, 261])
def test_a_cut_tokenizer_keeps_bytes_first_merges_and_its_end(resized, tiny_tokenizer, size):
    files = resized(size)
    assert files.eos_token_id == size - 1
    assert files.token_bytes[:-1] == tiny_tokenizer.token_bytes[: size - 1]
    ids = encode([TEXT], files)[0]
    assert b"".join(files.token_bytes[i] for i in ids) == TEXT.encode()
    assert len(ids) >= len(encode([TEXT], tiny_tokenizer)[0])


def test_a_grown_tokenizer_has_new_words_and_is_the_same_each_time(resized):
    words = [("a", "b"), ("c", "d"), ("x", "y"), ("e", "f"), ("g", "h")]
    files = resized(261 + len(words) + 5, words)
    token_bytes = files.token_bytes
    assert len(set(token_bytes[:-1])) == len(token_bytes) - 1
    assert resized(261 + len(words) + 5, words).token_bytes == token_bytes
    assert all(len(word) == 4 and word.isalpha() for word in token_bytes[-6:-1])


def test_sizes_that_cannot_be_are_refused(tiny_tokenizer):
    with pytest.raises(DataMissingError, match="too few for 256 bytes"):
        resized_description(tiny_tokenizer.description(), 200)
    with pytest.raises(DataMissingError, match="too few pieces"):
        resized_description(tiny_tokenizer.description(), 5_000)
    other = tiny_tokenizer.description()
    other["model"]["type"] = "Unigram"
    with pytest.raises(DataMissingError, match="byte-level BPE"):
        resized_description(other, 260)
