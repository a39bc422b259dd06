"""The loop: what comes out fits the grammar, whatever the model would rather say."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch

import constrain
from constrain.errors import (
    BackendUnavailableError,
    MatchError,
    ModelError,
    SamplingError,
    UnsatisfiableError,
    VocabularyError,
)
from tests.generation.stand_ins import END, OTHER_END, VOCAB_SIZE, StandIn, vocabulary
from tests.generation.test_prompts import small_tokenizer

PAIRS = r'\{"(a|b)+": \d{1,3}(, "(a|b)+": \d{1,3}){0,2}\}'


def run(prompt: Any = (3,), grammar: Any = None, model: Any = None, **options: Any) -> Any:
    """Generate with the stand-ins."""
    prompt = list(prompt) if isinstance(prompt, tuple) else prompt
    options = {"vocab": vocabulary(), "max_new_tokens": 60} | options
    return constrain.generate(model or StandIn(), None, prompt, grammar=grammar, **options)


def seeded(seed: int, **options: Any) -> constrain.SamplingParams:
    return constrain.SamplingParams(seed=seed, **options)


@pytest.mark.parametrize("seed", range(20))
def test_the_text_is_a_sentence(seed: int) -> None:
    grammar = constrain.Grammar.from_regex(PAIRS)
    result = run(grammar=grammar, params=seeded(seed))
    assert result.finish_reason == "stop"
    assert grammar.accepts(result.text.encode())
    assert result.text_bytes == result.text.encode() == vocabulary().decode(result.token_ids)
    assert isinstance(result.parsed, dict)


def test_logprobs_are_those_of_the_tokens_drawn() -> None:
    grammar = constrain.Grammar.from_regex("(a|b){4,9}")
    asked, silent = seeded(3, logprobs=2), seeded(3)
    told, plain = run([[3], [3]], grammar, params=[asked, silent])
    assert told.token_ids == plain.token_ids
    assert told.text == plain.text
    assert plain.reports == ()
    assert len(told.reports) == told.timings.num_tokens
    assert all(len(report.top_logprobs) <= 2 for report in told.reports)
    model = StandIn()
    matcher = constrain.compile(grammar, vocabulary()).matcher()
    said = [3]
    for token, report in zip(told.token_ids, told.reports, strict=False):
        ids = torch.tensor([said])
        logits = model(ids, torch.ones_like(ids)).logits[0, -1:].numpy()
        bitmask = constrain.allocate_token_bitmask(1, vocabulary().vocab_size)
        matcher.fill_next_token_bitmask(bitmask)
        shares = constrain.Sampler().distribution(logits, constrain.SamplingParams(), bitmask)[0]
        assert report.logprob == pytest.approx(np.log(shares[token]), abs=1e-5)
        assert report.top_logprobs[0][1] == pytest.approx(np.log(shares.max()), abs=1e-5)
        matcher.accept_token(token)
        said.append(token)


@pytest.mark.parametrize("seed", range(5))
def test_a_stream_says_the_same_in_pieces(seed: int) -> None:
    grammar = constrain.Grammar.from_regex("(a|€){1,9}")
    result = run(grammar=grammar, params=seeded(seed))
    stream = run(grammar=grammar, params=seeded(seed), stream=True)
    pieces = list(stream)
    assert "".join(pieces) == result.text
    assert all(pieces)
    assert "\ufffd" not in result.text
    assert (stream.result.token_ids, stream.result.finish_reason) == (result.token_ids, "stop")


def test_a_stream_does_nothing_until_it_is_read_and_can_be_left() -> None:
    model = StandIn()
    stream = run(grammar=constrain.Grammar.from_regex("a{5}"), model=model, stream=True)
    assert model.widths == []
    assert next(stream) == "a"
    assert len(model.widths) == 1
    assert stream.result.text == "aaaaa"
    assert list(stream) == []


class FailsOnce(StandIn):
    """A model that fails in one of its steps."""

    def __init__(self, error: BaseException, step: int = 3) -> None:
        super().__init__()
        self.error = error
        self.step = step

    def __call__(self, input_ids: Any, attention_mask: Any) -> Any:
        output = super().__call__(input_ids, attention_mask)
        if len(self.widths) == self.step:
            raise self.error
        return output


@pytest.mark.parametrize("error", [RuntimeError("out of memory"), KeyboardInterrupt()])
@pytest.mark.parametrize("prompt", [(3,), [[3], [4]]], ids=["one", "batch"])
def test_a_stream_that_failed_does_not_look_like_one_that_ended(
    prompt: Any, error: BaseException
) -> None:
    grammar = constrain.Grammar.from_regex("a{5}")
    stream = run(prompt, grammar, FailsOnce(error), stream=True)
    with pytest.raises(type(error)):
        list(stream)
    for again in (
        lambda: next(stream),
        lambda: list(stream),
        lambda: stream.result if prompt == (3,) else stream.results,
    ):
        with pytest.raises(ModelError, match=f"failed at an earlier .* {type(error).__name__}"):
            again()


def test_each_row_of_a_batch_says_what_it_says_alone() -> None:
    prompts: list[Any] = [[3], [5, 5, 5, 5], [9, 1, 2], [7], [3]]
    grammars = [
        constrain.Grammar.from_regex(PAIRS),
        constrain.Grammar.from_regex("(a|b){1,4}"),
        None,
        constrain.Grammar.from_regex("€+ ?"),
        constrain.Grammar.from_regex(PAIRS),
    ]
    params = [seeded(1), seeded(2, temperature=0.5), seeded(3, top_k=4), seeded(4), seeded(5)]
    alone = [
        run(prompt, grammar, params=one, max_new_tokens=12)
        for prompt, grammar, one in zip(prompts, grammars, params, strict=True)
    ]
    assert len({result.timings.num_tokens for result in alone}) > 1, "rows end at different steps"
    together = run(prompts, grammars, params=params, max_new_tokens=12)
    assert [r.token_ids for r in together] == [r.token_ids for r in alone]
    assert [r.finish_reason for r in together] == [r.finish_reason for r in alone]
    assert [r.text for r in together] == [r.text for r in alone]

    streamed = run(prompts, grammars, params=params, max_new_tokens=12, stream=True)
    texts = [""] * len(prompts)
    for row, piece in streamed:
        texts[row] += piece
    assert texts == [r.text for r in alone]
    assert [r.token_ids for r in streamed.results] == [r.token_ids for r in alone]


def test_rows_that_have_ended_are_not_run() -> None:
    model = StandIn()
    grammars = [constrain.Grammar.from_regex(p) for p in ("a", "a{4}", "a{2}")]
    run([[3]] * 3, grammars, model)
    assert [batch for batch, _ in model.widths] == [3, 2, 1, 1]


def test_rows_without_a_seed_differ() -> None:
    grammar = constrain.Grammar.from_regex("(a|b){40}")
    texts = {r.text for r in run([[3]] * 4, grammar)}
    assert len(texts) == 4


def test_penalties_see_what_was_said() -> None:
    grammar = constrain.Grammar.from_regex("(1|2){4}")
    model = StandIn(favourites={9: 50.0, 11: 49.0, 10: -100.0})
    greedy = constrain.SamplingParams(temperature=0)
    wary = constrain.SamplingParams(temperature=0, presence_penalty=90.0)
    assert run(grammar=grammar, model=model, params=greedy).text == "1111"
    assert run(grammar=grammar, model=model, params=wary).text[:2] == "12"


@pytest.mark.parametrize("end", [END, OTHER_END])
def test_every_end_token_ends(end: int) -> None:
    grammar = constrain.Grammar.from_regex("a*")
    result = run(grammar=grammar, model=StandIn(favourites={end: 100.0}))
    assert (result.text, result.token_ids, result.finish_reason) == ("", (), "stop")
    assert result.timings.num_tokens == 1


def test_a_sentence_that_cannot_grow_ends_without_asking_the_model() -> None:
    model = StandIn()
    result = run(grammar=constrain.Grammar.from_regex("a{3}"), model=model, max_new_tokens=3)
    assert (result.text, result.finish_reason) == ("aaa", "stop")
    assert len(model.widths) == 3
    nothing = run(grammar=constrain.Grammar.from_regex(""), model=model)
    assert (nothing.text, nothing.finish_reason, len(model.widths)) == ("", "stop", 3)


def test_a_budget_cuts_and_says_so() -> None:
    grammar = constrain.Grammar.from_regex("a{9}")
    result = run(grammar=grammar, max_new_tokens=4)
    assert (result.text, result.finish_reason) == ("aaaa", "length")
    with pytest.raises(json.JSONDecodeError):
        _ = result.parsed
    assert run(grammar=grammar, max_new_tokens=0).finish_reason == "length"


def test_half_a_character_at_the_cut_is_kept_as_bytes_only() -> None:
    grammar = constrain.Grammar.from_regex("a€")
    model = StandIn(favourites={12: 50.0, 15: -100.0})  # \xe2 alone
    result = run(grammar=grammar, model=model, max_new_tokens=3)
    assert (result.text, result.text_bytes) == ("a", b"a\xe2\x82")


def test_without_a_grammar_anything_goes_until_an_end_token() -> None:
    result = run(params=seeded(0), max_new_tokens=200, model=StandIn(favourites={END: 1.0}))
    assert result.finish_reason == "stop"
    assert result.timings.mask_us == ()
    assert result.timings.first_mask_s == 0


def test_logits_wider_than_the_vocabulary_are_padding() -> None:
    grammar = constrain.Grammar.from_regex("a{9}")
    result = run(grammar=grammar, model=StandIn(width=40, favourites={39: 100.0}))
    assert result.text == "aaaaaaaaa"


def test_logits_narrower_than_the_vocabulary_are_refused() -> None:
    with pytest.raises(ModelError, match=r"20 logits(.|\n)*vocab_size=20"):
        run(grammar=constrain.Grammar.from_regex("a"), model=StandIn(width=20))


def test_a_compiled_grammar_is_used_with_its_vocabulary() -> None:
    compiled = constrain.compile(constrain.Grammar.from_regex("(a|b){6}"), vocabulary())
    result = constrain.generate(StandIn(), None, [3], grammar=compiled, params=seeded(0))
    assert result.timings.compile_s < 0.01
    assert len(result.text) == 6
    other = vocabulary(eos_token_ids=[END])
    with pytest.raises(ModelError, match="different vocabularies"):
        run(grammar=compiled, vocab=other)


def test_a_grammar_compiled_for_other_tokens_than_the_tokenizer_s_is_refused() -> None:
    tokenizer = small_tokenizer()
    regex = constrain.Grammar.from_regex("(a|b){6}")
    own = constrain.Vocabulary.from_transformers(tokenizer)
    wider = constrain.Vocabulary.from_transformers(tokenizer, 300, eos_token_ids=[256, 280])
    for vocab in (own, wider):
        compiled = constrain.compile(regex, vocab)
        result = constrain.generate(StandIn(width=300), tokenizer, "x", grammar=compiled)
        assert len(result.text) == 6

    other = vocabulary()
    compiled = constrain.compile(regex, other)
    match = (
        rf"{other.fingerprint[:12]}, and the tokenizer has {own.fingerprint[:12]}: token 0 is b'{{'"
    )
    with pytest.raises(ModelError, match=match):
        constrain.generate(StandIn(), tokenizer, [3], grammar=compiled)
    given = constrain.generate(StandIn(), tokenizer, [3], grammar=compiled, vocab=other)
    assert len(given.text) == 6, "whoever names the vocabulary means it"


def test_a_token_that_the_grammar_does_not_allow_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("constrain.matcher.Matcher.accept_token", lambda *_: False)
    with pytest.raises(MatchError, match="was drawn for row 0, and its grammar does not allow"):
        run(grammar=constrain.Grammar.from_regex("a"))


def test_a_tokenizer_wider_than_the_model_is_refused_before_the_model_runs() -> None:
    class Narrow(StandIn):
        def get_input_embeddings(self) -> Any:
            return torch.nn.Embedding(20, 2)

    model = Narrow()
    with pytest.raises(ModelError, match=r"row 1 has token 20, and the model has ids 0 to 19"):
        run([[3], [5, 20]], model=model)

    class FewLogits(StandIn):
        def get_output_embeddings(self) -> Any:
            return torch.nn.Linear(2, 20)

    with pytest.raises(ModelError, match=r"20 logits(.|\n)*saved with the model"):
        run(model=FewLogits())
    assert model.widths == []


def test_the_figures_add_up() -> None:
    result = run(grammar=constrain.Grammar.from_regex("a{9}"), params=seeded(0))
    timings = result.timings
    steps = timings.num_tokens
    assert len(timings.sampler_us) == len(timings.accept_us) == steps
    assert len(timings.forward_us) == steps - 1
    assert len(timings.mask_us) == steps  # the first is first_mask_s; the last found the end
    assert timings.num_prompt_tokens == 1
    assert timings.first_mask_s >= timings.compile_s > 0
    assert timings.decode_s * 1e6 >= sum(timings.forward_us)
    assert timings.tokens_per_second == pytest.approx(steps / timings.decode_s)
    assert timings.percentile("mask", 0) == min(timings.mask_us)
    assert timings.percentile("mask", 100) == max(timings.mask_us)
    assert timings.percentile("mask", 50) in timings.mask_us


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"max_new_tokens": -1}, SamplingError, "max_new_tokens=-1"),
        ({"max_new_tokens": "many"}, SamplingError, "max_new_tokens='many'"),
        ({"params": [seeded(0)]}, SamplingError, "params is a list, and there is one prompt"),
        ({"prompt": [[1], [2]], "grammar": [None]}, SamplingError, "1 entries for 2 prompts"),
        ({"prompt": []}, ModelError, "an empty list: it has no tokens, and no prompts"),
        ({"prompt": 3}, TypeError, "a list of token ids, not int"),
        ({"prompt": None}, TypeError, "a list of token ids, not NoneType"),
        ({"prompt": b"ab"}, TypeError, "a list of token ids, not bytes"),
        ({"prompt": {"role": "user"}}, TypeError, r"not dict\nhint: a list of one message"),
        ({"prompt": {"input_ids": [[1]]}}, TypeError, r'not dict\nhint: .*prompt\["input_ids"\]'),
        ({"prompt": [1.5, 2]}, TypeError, "not list with float, int"),
        ({"prompt": [[1], 2]}, TypeError, "a list of token ids, not int"),
        ({"prompt": [3, -1]}, ModelError, "row 0 has token -1, and the model has ids >= 0"),
        ({"prompt": [[1], []]}, ModelError, "no tokens"),
        ({"grammar": "a+"}, TypeError, r"constrain.Grammar, not str\nhint: .*from_regex"),
        ({"grammar": {}}, TypeError, r"constrain.Grammar, not dict\nhint: .*from_json_schema"),
        ({"params": {"seed": 1}}, TypeError, "SamplingParams, not dict"),
        ({"grammar": constrain.Grammar.from_regex("é")}, VocabularyError, "cannot spell"),
        ({"grammar": constrain.Grammar.from_regex("[^\\s\\S]")}, UnsatisfiableError, "no text"),
        ({"model": object()}, ModelError, "cannot be called as a model"),
        ({"prompt": "a"}, ModelError, "a prompt of text needs a tokenizer, not NoneType"),
        ({"vocab": None}, ModelError, "NoneType is no tokenizer of transformers"),
    ],
)
def test_a_wrong_argument_is_named(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        run(**options)


def test_a_prompt_beyond_the_context_is_refused_and_the_context_bounds_the_text() -> None:
    class Config:
        max_position_embeddings = 5

    model = StandIn()
    model.config = Config()
    grammar = constrain.Grammar.from_regex("a{9}")
    result = run([3, 3, 3], grammar, model)
    assert (result.text, result.finish_reason) == ("aaa", "length")
    assert max(width for _, width in model.widths) == 5
    with pytest.raises(ModelError, match="has 6 tokens, and the model holds 5"):
        run([3] * 6, grammar, model)


def test_nan_logits_are_an_error_and_not_a_token() -> None:
    model = StandIn(favourites={3: float("nan")})
    with pytest.raises(SamplingError, match="NaN"):
        run(grammar=constrain.Grammar.from_regex("a"), model=model)


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(BackendUnavailableError, match=r"constrain-decoding\[torch\]"):
        run(grammar=constrain.Grammar.from_regex("a"))


@pytest.mark.parametrize(
    "first", ["import constrain.generation", "from constrain.generation import load_model", ""]
)
def test_the_name_generate_is_the_function_whatever_was_imported_first(first: str) -> None:
    check = "import constrain; constrain.generate(None, None, [1], max_new_tokens=-1)"
    done = subprocess.run(
        [sys.executable, "-c", f"{first}\n{check}"], capture_output=True, text=True, check=False
    )
    assert "SamplingError: max_new_tokens=-1" in done.stderr


def test_token_ids_may_be_an_array() -> None:
    grammar = constrain.Grammar.from_regex("(a|b){6}")
    expected = run([3, 5], grammar, params=seeded(0))
    for ids in (np.array([3, 5]), torch.tensor([3, 5])):
        assert run(ids, grammar, params=seeded(0)).token_ids == expected.token_ids


@pytest.mark.parametrize("make", [np.zeros, torch.zeros])
def test_masking_an_empty_batch_is_nothing(make: Any) -> None:
    logits = make((0, VOCAB_SIZE))
    constrain.apply_token_bitmask(logits, constrain.allocate_token_bitmask(0, VOCAB_SIZE))
    assert logits.shape == (0, VOCAB_SIZE)


def test_the_width_of_the_vocabulary_is_the_stand_in_s() -> None:
    assert vocabulary().vocab_size == VOCAB_SIZE
