"""The forward pass: the same logits as the model gives for each whole sequence alone."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from constrain.errors import ModelError
from constrain.generation.facts import context_length, logit_width
from constrain.generation.forward import Forward
from tests.real_model import real_model

torch = pytest.importorskip("torch")


def tiny_llama(**changes: Any) -> Any:
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=40,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        **changes,
    )
    return LlamaForCausalLM(config).eval()


PROMPTS = [[1, 2, 3, 4, 5], [6, 7], [8]]


def alone(model: Any, ids: list[int]) -> Any:
    with torch.no_grad():
        return model(input_ids=torch.tensor([ids])).logits[0, -1]


def test_rows_of_different_length_get_the_logits_they_get_alone() -> None:
    model = tiny_llama()
    batch = Forward(model, PROMPTS, pad_token_id=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        logits = batch.prefill()
    for row, prompt in enumerate(PROMPTS):
        torch.testing.assert_close(logits[row], alone(model, prompt), rtol=1e-4, atol=1e-5)


def test_rows_that_end_leave_and_the_others_do_not_notice() -> None:
    model = tiny_llama()
    batch = Forward(model, PROMPTS, pad_token_id=0)
    batch.prefill()
    logits = batch.step([9, 10, 11], [0, 1, 2])
    torch.testing.assert_close(logits[1], alone(model, [6, 7, 10]), rtol=1e-4, atol=1e-5)
    logits = batch.step([12, 13], [0, 2])
    assert logits.shape == (2, 40)
    torch.testing.assert_close(
        logits[0], alone(model, [1, 2, 3, 4, 5, 9, 12]), rtol=1e-4, atol=1e-5
    )
    torch.testing.assert_close(logits[1], alone(model, [8, 11, 13]), rtol=1e-4, atol=1e-5)
    logits = batch.step([14], [1])
    torch.testing.assert_close(logits[0], alone(model, [8, 11, 13, 14]), rtol=1e-4, atol=1e-5)


def test_the_cache_is_used_and_one_token_is_run_per_step() -> None:
    model = tiny_llama()
    widths = []
    model.model.embed_tokens.register_forward_hook(
        lambda module, inputs, output: widths.append(inputs[0].shape[1])
    )
    batch = Forward(model, PROMPTS, pad_token_id=0)
    batch.prefill()
    batch.step([1, 1], [0, 1])
    batch.step([2, 2], [0, 1])
    assert widths == [5, 1, 1]


RECURRENT = {
    "mamba": {"state_size": 4, "expand": 1},
    "rwkv": {"attention_hidden_size": 16},  # without a cache of transformers'
    "falcon_h1": {  # each layer has both
        "mamba_d_ssm": 16,
        "mamba_n_heads": 2,
        "mamba_d_state": 4,
        "mamba_n_groups": 1,
        "head_dim": 4,
        "num_key_value_heads": 2,
    },
}


@pytest.mark.parametrize("kind", RECURRENT)
def test_a_state_that_padding_would_enter_is_that_of_the_row_alone(kind: str) -> None:
    from transformers import AutoConfig, AutoModelForCausalLM

    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 4}
    config = AutoConfig.for_model(
        kind, vocab_size=40, num_hidden_layers=2, **sizes, **RECURRENT[kind]
    )
    model = AutoModelForCausalLM.from_config(config).float().eval()
    texts = [[6, 7], [1, 2, 3, 4, 5], [8, 9], [5, 4], [3, 3, 3, 3, 3], [8]]
    batch = Forward(model, texts, pad_token_id=0)
    logits = batch.prefill()
    for keep in ([0, 1, 2, 3, 4, 5], [0, 2, 3, 4, 5], [0, 2, 3, 4], [1, 2, 3], [0, 2], [1]):
        for row, text in enumerate(texts):
            torch.testing.assert_close(logits[row], alone(model, text), rtol=1e-4, atol=1e-5)
        texts = [[*texts[row], 10 + row] for row in keep]
        logits = batch.step([text[-1] for text in texts], keep)
    torch.testing.assert_close(logits[0], alone(model, texts[0]), rtol=1e-4, atol=1e-5)


class WithoutCache:
    """The least that counts as a model: logits that say what it was given."""

    def __call__(self, input_ids: Any) -> Any:
        class Output:
            logits = torch.nn.functional.one_hot(input_ids, 40).float().cumsum(dim=1)

        return Output


def test_a_model_without_a_cache_is_given_whole_sequences() -> None:
    batch = Forward(WithoutCache(), [[1, 2], [3, 3]], pad_token_id=0)
    assert batch.prefill()[1, 3] == 2
    logits = batch.step([3], [1])
    assert logits.shape == (1, 40)
    assert logits[0, 3] == 3


class Adapted(torch.nn.Module):
    """A model as PEFT wraps it: it names a few arguments, and passes all of them on."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.base_model = inner

    def get_base_model(self) -> Any:
        return self.base_model

    def forward(self, input_ids: Any = None, attention_mask: Any = None, **others: Any) -> Any:
        return self.base_model(input_ids=input_ids, attention_mask=attention_mask, **others)


class WithTokensBefore(Adapted):
    """The same with learnt tokens before each call, as in prompt tuning."""

    class active_peft_config:
        is_prompt_learning = True

    def forward(self, input_ids: Any = None, attention_mask: Any = None, **others: Any) -> Any:
        before = torch.tensor([[7, 3]] * len(input_ids))
        return super().forward(torch.cat([before, input_ids], dim=1), attention_mask, **others)


class Compiled(torch.nn.Module):
    """A model as `torch.compile` wraps it, which itself takes 20 seconds."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self._orig_mod = inner

    def forward(self, *arguments: Any, **others: Any) -> Any:
        return self._orig_mod(*arguments, **others)


def without_cache(model: Any) -> Any:
    return lambda input_ids, attention_mask, position_ids: model(
        input_ids=input_ids, attention_mask=attention_mask, position_ids=position_ids
    )


def without_names(model: Any) -> Any:
    return lambda input_ids, **others: model(input_ids=input_ids, **others)


WRAPPERS = {
    "adapted": Adapted,
    "tokens before": WithTokensBefore,
    "compiled": lambda model: Compiled(Adapted(model)),
    "several devices": torch.nn.DataParallel,
    "without cache": without_cache,
    "without names": without_names,
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_wrapped_model_says_what_it_says_for_whole_texts(wrapper: str) -> None:
    model = WRAPPERS[wrapper](tiny_llama())
    texts = [list(prompt) for prompt in PROMPTS]
    batch = Forward(model, texts, pad_token_id=0)
    logits = batch.prefill()
    for keep in ([0, 1, 2], [0, 2], [0, 1]):
        for row, text in enumerate(texts):
            whole = model(
                input_ids=torch.tensor([text]),
                attention_mask=torch.ones(1, len(text) + 2 * (wrapper == "tokens before")),
                position_ids=torch.arange(len(text) + 2 * (wrapper == "tokens before"))[None],
            )
            expected = whole.logits[0, -1]
            torch.testing.assert_close(logits[row], expected, rtol=1e-4, atol=1e-5)
        texts = [[*texts[row], 10 + row] for row in keep]
        logits = batch.step([text[-1] for text in texts], keep)


def test_what_a_wrapped_model_says_of_itself() -> None:
    for wrapper in ("adapted", "compiled", "several devices"):
        model = WRAPPERS[wrapper](tiny_llama())
        assert (logit_width(model), context_length(model)) == (40, 64)


def test_a_wrapped_model_has_a_cache() -> None:
    widths = []
    inner = tiny_llama()
    inner.model.embed_tokens.register_forward_hook(
        lambda module, inputs, output: widths.append(inputs[0].shape[1])
    )
    batch = Forward(Adapted(inner), PROMPTS, pad_token_id=0)
    batch.prefill()
    batch.step([1, 1], [0, 1])
    assert widths == [5, 1]


def test_a_model_without_a_mask_sees_no_padding() -> None:
    logits = Forward(WithoutCache(), [[1], [3, 3], [2]], pad_token_id=0).prefill()
    assert logits.argmax(dim=1).tolist() == [1, 3, 2]
    assert logits.sum(dim=1).tolist() == [1, 2, 1]


def test_a_thing_that_takes_no_ids_is_no_model() -> None:
    with pytest.raises(ModelError, match="takes no input_ids"):
        Forward(lambda text: text, [[1]], pad_token_id=0)
    with pytest.raises(ModelError, match="cannot be called as a model"):
        Forward(3, [[1]], pad_token_id=0)


def test_a_model_with_an_encoder_is_sent_to_transformers_own_loop() -> None:
    from transformers import BartConfig, BartForConditionalGeneration

    sizes = dict.fromkeys(("encoder_layers", "decoder_layers"), 1)
    sizes |= dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 2)
    sizes |= dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim", "d_model"), 8)
    model = BartForConditionalGeneration(BartConfig(vocab_size=40, **sizes))
    with pytest.raises(ModelError, match=r"an encoder and a decoder.*\nhint: .*GrammarLogits"):
        Forward(model, [[4]], pad_token_id=0)


def test_the_width_is_that_of_the_output_layer() -> None:
    model = tiny_llama()
    assert (logit_width(model), context_length(model)) == (40, 64)
    model.resize_token_embeddings(64)
    assert logit_width(model) == 64
    assert logit_width(WithoutCache()) is None
    assert context_length(WithoutCache()) is None


def test_greedy_steps_of_the_real_model_equal_those_of_transformers() -> None:
    model, tokenizer = real_model()
    inputs = tokenizer("The capital of France is", return_tensors="pt")
    expected = model.generate(**inputs, max_new_tokens=6, do_sample=False)[0].tolist()
    ids = inputs["input_ids"][0].tolist()
    batch = Forward(model, [ids], pad_token_id=0)
    logits = batch.prefill()
    for _ in range(6):
        ids.append(int(logits.argmax()))
        logits = batch.step(ids[-1:], [0])
    assert ids == expected
