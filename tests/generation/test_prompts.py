"""From what people write to token ids, and from a tokenizer to a vocabulary."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import constrain
from constrain.errors import ModelError
from constrain.generation.prompt import is_batch, prompt_ids
from constrain.generation.vocabularies import end_token_ids, vocabulary_of
from tests.real_model import real_model


def small_tokenizer(**special: str) -> Any:
    """A byte-level tokenizer of transformers in which every byte is a token."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    core = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(letters)}, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    special = special or {"eos_token": "<end>"}
    return PreTrainedTokenizerFast(tokenizer_object=core, **special)


class Model:
    """Only what says how wide the logits are and what ends a text."""

    def __init__(self, vocab_size: int, eos_token_id: Any) -> None:
        self.config = type("Config", (), {"vocab_size": vocab_size})
        self.generation_config = type("Generation", (), {"eos_token_id": eos_token_id})


def test_text_is_encoded_as_it_stands_and_messages_go_through_the_template() -> None:
    _, tokenizer = real_model()
    assert prompt_ids(tokenizer, "Hello") == tokenizer("Hello")["input_ids"]
    messages = [{"role": "user", "content": "Hello"}]
    decoded = tokenizer.decode(prompt_ids(tokenizer, messages))
    assert decoded.endswith("<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n")
    assert prompt_ids(tokenizer, [5, 6]) == [5, 6]


def test_an_empty_text_starts_from_the_begin_token() -> None:
    tokenizer = small_tokenizer(bos_token="<begin>", eos_token="<end>")
    assert prompt_ids(tokenizer, "") == [tokenizer.bos_token_id]
    with pytest.raises(ModelError, match="no tokens"):
        prompt_ids(small_tokenizer(), "")


def test_messages_without_a_template_are_refused() -> None:
    with pytest.raises(ModelError, match=r"no chat template(.|\n)*one text"):
        prompt_ids(small_tokenizer(), [{"role": "user", "content": "Hello"}])


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("{{ raise_exception('roles must alternate') }}", "TemplateError: roles must alternate"),
        ("{{ messages[0]['content'].strip() }}", "UndefinedError: 'dict object' has no attribute"),
        ("{{ messages[0]['role'] + 1 }}", "TypeError: can only concatenate str"),
    ],
)
def test_messages_that_the_template_refuses_are_an_error_of_the_model(
    template: str, why: str
) -> None:
    tokenizer = small_tokenizer()
    tokenizer.chat_template = template
    with pytest.raises(ModelError, match=rf"refuses the messages: {why}(.|\n)*hint: a message is"):
        prompt_ids(tokenizer, [{"role": "user"}])


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("text", False),
        ([1, 2], False),
        ([], False),
        ([{"role": "user", "content": "x"}], False),
        (["a", "b"], True),
        ([[1, 2], [3]], True),
        ([[{"role": "user", "content": "x"}]], True),
    ],
)
def test_a_batch_is_a_list_of_prompts(prompt: Any, expected: bool) -> None:
    assert is_batch(prompt) is expected


def test_a_vocabulary_is_read_once_per_tokenizer_and_width() -> None:
    tokenizer = small_tokenizer()
    model = Model(300, None)
    first = vocabulary_of(tokenizer, model)
    assert vocabulary_of(tokenizer, model) is first
    assert first.vocab_size == 300
    assert vocabulary_of(tokenizer).vocab_size == 257
    assert vocabulary_of(small_tokenizer(), model) is not first


def test_a_tokenizer_that_grows_is_read_again() -> None:
    tokenizer = small_tokenizer()
    before = vocabulary_of(tokenizer)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<tool>"]})
    after = vocabulary_of(tokenizer)
    assert "<tool>" not in before.special_tokens
    assert after.special_tokens["<tool>"] == 257


def test_a_vocabulary_does_not_keep_its_tokenizer_alive() -> None:
    tokenizer = small_tokenizer()
    vocabulary_of(tokenizer)
    gone = weakref.ref(tokenizer)
    del tokenizer
    gc.collect()
    assert gone() is None


def test_the_end_tokens_of_tokenizer_and_model_all_count() -> None:
    tokenizer = small_tokenizer()
    assert end_token_ids(tokenizer) == (256,)
    assert end_token_ids(tokenizer, Model(300, [7, 256, 9])) == (256, 7, 9)
    assert vocabulary_of(tokenizer, Model(300, 9)).eos_token_ids == (256, 9)


def test_the_real_model_fits_its_vocabulary() -> None:
    model, tokenizer = real_model()
    vocab = vocabulary_of(tokenizer, model)
    assert vocab.vocab_size == 49152
    assert tokenizer.eos_token_id in vocab.eos_token_ids
    text = "Grüße, 世界 🙂 1234"
    assert vocab.decode(tokenizer(text)["input_ids"]) == text.encode()


def test_the_real_model_follows_a_regex() -> None:
    model, tokenizer = real_model()
    grammar = constrain.Grammar.from_regex(r'\{"city": "[A-Z][a-zé]{1,12}", "year": (19|20)\d\d\}')
    question = [{"role": "user", "content": "Which city hosted the Olympic games, and when?"}]
    params = constrain.SamplingParams(temperature=0.8, seed=3)
    stream = constrain.generate(
        model, tokenizer, question, grammar=grammar, params=params, stream=True
    )
    text = "".join(stream)
    assert stream.result.finish_reason == "stop"
    assert grammar.accepts(text.encode())
    assert set(stream.result.parsed) == {"city", "year"}
