"""Every accepted text may be generated, in the tokens that its tokenizer writes it in."""

from __future__ import annotations

import pytest

import constrain
from tests.catalogue.entries import NAMES, entry
from tests.vocab.test_real_tokenizers import Real, real

TOKENIZERS = ("qwen3", "llama2", "o200k")


def spelling(made: Real, text: bytes) -> list[int] | None:
    """The tokens of a text that stands within another; None where its tokenizer changes it."""
    before = b"\n" if made.first else b""  # keeps off the space that some put before a text
    tokens = made.encode((before + text).decode())
    first = next((n for n in range(3) if made.vocab.decode(tokens[n:]) == text), None)
    return None if first is None else tokens[first:]


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("name", NAMES)
def test_accepted_texts_token_by_token(name, tokenizer):
    found = entry(name)
    made = real(tokenizer)
    vocab = made.vocab
    compiled = constrain.compile(found.grammar, vocab)
    bitmask = constrain.allocate_token_bitmask(1, vocab.vocab_size)
    skipped = 0
    for text in found.accept:
        tokens = spelling(made, text.data)
        if tokens is None:
            skipped += 1
            continue
        tokens = [*tokens, vocab.eos_token_ids[0]]
        assert compiled.matcher().validate_tokens(tokens) == len(tokens), text
        matcher = compiled.matcher()
        every = 1 if found.share == 1 else 1 + len(tokens) // 3
        for place, token in enumerate(tokens):
            if place % every == 0:
                matcher.fill_next_token_bitmask(bitmask)
                word, bit = divmod(token, 32)
                assert (int(bitmask[0, word]) >> bit) & 1, (text, place, vocab.token_bytes[token])
            assert matcher.accept_token(token), (text, place, vocab.token_bytes[token])
    assert skipped <= len(found.accept) / 3, "texts that the tokenizer does not write as they are"
