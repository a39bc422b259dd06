"""A tiny tokenizer that every engine can load."""

from __future__ import annotations

import json

import pytest


@pytest.fixture(scope="session")
def tiny_tokenizer(tmp_path_factory):
    """Files of a byte-level BPE tokenizer: 256 bytes, four merges and an end token.

    Its logits are wider than its vocabulary.
    """
    tokenizers = pytest.importorskip("tokenizers")
    from benchmarks.vocabularies import _GPT2_BYTES, TokenizerFiles

    merges = [('"', ":"), ("{", '"'), ('"', "}"), ("Ġ", '"')]
    pieces = [*_GPT2_BYTES, *("".join(pair) for pair in merges)]
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.BPE({piece: i for i, piece in enumerate(pieces)}, merges)
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(
        add_prefix_space=False, use_regex=False
    )
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.add_special_tokens([tokenizers.AddedToken("<end>", special=True)])
    folder = tmp_path_factory.mktemp("tiny-tokenizer")
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": "<end>",
        "clean_up_tokenization_spaces": False,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return TokenizerFiles("tiny", folder, 288)
