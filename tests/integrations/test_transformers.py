"""Grammars in `model.generate` of transformers: what it writes fits, however it searches."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import constrain
from constrain.errors import ModelError, SamplingError
from constrain.integrations.transformers import GrammarLogitsProcessor
from tests.generation.test_forward import tiny_llama

torch = pytest.importorskip("torch")

TOKENS = [bytes([b]) for b in b'abcdefghij0123456789{}":, '] + [b"ab", b"12", b'{"', b'":']
END, OTHER_END, PAD = 30, 31, 32
VOCAB = constrain.Vocabulary(
    [*TOKENS, *[None] * 3], eos_token_ids=[END, OTHER_END], special_tokens={"<pad>": PAD}
)
WIDTH = 40  # of the logits, wider than the vocabulary
PROMPT = [1, 2, 3]


def model() -> Any:
    made = tiny_llama()
    made.generation_config.eos_token_id = [END, OTHER_END]
    made.generation_config.pad_token_id = PAD
    return made


def compiled(pattern: str) -> constrain.CompiledGrammar:
    return constrain.compile(constrain.Grammar.from_regex(pattern), VOCAB)


def generated(model: Any, prompts: list[list[int]], processor: Any, **options: Any) -> Any:
    width = max(map(len, prompts))
    ids = torch.tensor([[PAD] * (width - len(prompt)) + prompt for prompt in prompts])
    seen = torch.tensor([[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts])
    options = {"max_new_tokens": 20, "do_sample": False} | options
    found = model.generate(ids, attention_mask=seen, logits_processor=[processor], **options)
    if not isinstance(found, torch.Tensor):
        found = found.sequences
    return found[:, width:].tolist()


def text(ids: list[int]) -> bytes:
    """What the tokens before the first end token spell."""
    ends = [i for i, token in enumerate(ids) if token in (END, OTHER_END)]
    return VOCAB.decode(ids[: ends[0]] if ends else ids)


PATTERN = r'\{"[a-j]{1,3}": [0-9]{2,4}\}'


def test_greedy_search_is_that_of_generate() -> None:
    grammar = compiled(PATTERN)
    found = generated(model(), [PROMPT], GrammarLogitsProcessor(grammar))[0]
    params = constrain.SamplingParams(temperature=0)
    own = constrain.generate(model(), None, PROMPT, grammar=grammar, params=params)
    assert own.finish_reason == "stop"
    assert text(found) == own.text_bytes
    assert found[: len(own.token_ids)] == list(own.token_ids)


@pytest.mark.parametrize("seed", range(5))
def test_sampling_with_a_grammar_for_each_prompt(seed: int) -> None:
    torch.manual_seed(seed)
    patterns = [PATTERN, None, "[0-9]{3}(ab)*"]
    grammars = [None if pattern is None else compiled(pattern) for pattern in patterns]
    prompts = [[1, 2, 3, 4], [5], [6, 7]]
    processor = GrammarLogitsProcessor(grammars)
    found = generated(model(), prompts, processor, do_sample=True, num_return_sequences=2)
    assert len(found) == 6
    for grammar, ids in zip(grammars, [found[:2], found[2:4], found[4:]], strict=True):
        if grammar is None:
            continue
        for one in ids:
            rejection = grammar.grammar.first_rejection(text(one))
            ended = END in one or OTHER_END in one
            assert rejection is None if ended else rejection is None or rejection.at_end


def test_what_is_not_constrained_is_what_it_is_without() -> None:
    processor = GrammarLogitsProcessor([None])
    found = generated(model(), [PROMPT], processor)
    assert found == generated(model(), [PROMPT], lambda input_ids, scores: scores)


def test_beam_search_finds_the_best_sentence() -> None:
    """Of fourteen sentences, spelled in every way, with a beam for each."""
    grammar = compiled("(a|ab|12)[0-3]|[ef]")
    spelled = [
        ids
        for count in (1, 2, 3)
        for ids in itertools.product(range(len(TOKENS)), repeat=count)
        if grammar.grammar.accepts(VOCAB.decode(ids))
    ]
    made = model()

    def score(ids: tuple[int, ...]) -> float:
        whole = torch.tensor([[*PROMPT, *ids]])
        with torch.no_grad():
            steps = made(input_ids=whole).logits[0, len(PROMPT) - 1 :].log_softmax(-1)
        said = sum(float(steps[i, token]) for i, token in enumerate(ids))
        return said + max(float(steps[-1, END]), float(steps[-1, OTHER_END]))

    best = max(spelled, key=score)
    processor = GrammarLogitsProcessor(grammar)
    options = {"num_beams": 2 * len(spelled), "length_penalty": 0.0, "early_stopping": "never"}
    found = generated(made, [PROMPT], processor, **options)[0]
    assert tuple(found[: len(best)]) == best
    assert found[len(best)] in (END, OTHER_END)


def test_more_beams_than_ways_to_go_on() -> None:
    processor = GrammarLogitsProcessor([compiled("ab12"), compiled("0{9}")])
    found = generated(model(), [[1, 2], [3]], processor, num_beams=6)
    assert [text(ids) for ids in found] == [b"ab12", b"0" * 9]


def test_assisted_generation_writes_what_greedy_search_writes() -> None:
    grammar = compiled(PATTERN)
    alone = generated(model(), [PROMPT], GrammarLogitsProcessor(grammar))
    torch.manual_seed(3)
    processor = GrammarLogitsProcessor(grammar)
    assisted = generated(model(), [PROMPT], processor, prompt_lookup_num_tokens=3)
    assert text(assisted[0]) == text(alone[0])


def test_drafts_that_are_taken_back() -> None:
    """As a loop calls it that tries a draft, token by token, and goes on from before it."""
    processor = GrammarLogitsProcessor(compiled("[ab]{3}"))
    a, b, c = 0, 1, 2

    def allowed(*ids: int) -> set[int]:
        scores = processor(torch.tensor([[*PROMPT, *ids]]), torch.zeros(1, WIDTH))
        return set(torch.isfinite(scores[0]).nonzero().flatten().tolist())

    start = allowed()
    assert start == {a, b, TOKENS.index(b"ab")}
    assert allowed(a) == start
    assert allowed(a, b) == {a, b}
    assert allowed(a, b, a) == {END, OTHER_END}
    assert allowed(a, c) == {END, OTHER_END}  # outside of the language
    assert allowed(a, VOCAB.vocab_size) == {END, OTHER_END}
    assert allowed(a, WIDTH - 1) == {END, OTHER_END}
    assert allowed(b) == start
    assert allowed(b, TOKENS.index(b"ab"), END) == {END, OTHER_END}
    assert allowed(b, TOKENS.index(b"ab"), END, PAD) == {END, OTHER_END}


def test_the_logits_that_are_given_stay_as_they_are() -> None:
    logits = torch.zeros(2, WIDTH)
    GrammarLogitsProcessor(compiled("a"))(torch.tensor([PROMPT, PROMPT]), logits)
    assert not logits.any()


def test_each_call_of_generate_needs_its_own() -> None:
    processor = GrammarLogitsProcessor(compiled("a"))
    processor(torch.tensor([PROMPT]), torch.zeros(1, WIDTH))
    with pytest.raises(ModelError, match="for each call of generate"):
        processor(torch.tensor([[9, 9, 9, 9]]), torch.zeros(1, WIDTH))


def test_a_list_has_one_for_each_prompt() -> None:
    processor = GrammarLogitsProcessor([compiled("a"), None])
    with pytest.raises(SamplingError, match="2 grammars for 3 sequences"):
        processor(torch.tensor([PROMPT] * 3), torch.zeros(3, WIDTH))


def test_fewer_logits_than_tokens() -> None:
    processor = GrammarLogitsProcessor(compiled("a"))
    with pytest.raises(ModelError, match="gives 20 logits, and the vocabulary is 33 wide"):
        processor(torch.tensor([PROMPT]), torch.zeros(1, 20))


def test_as_many_logits_as_tokens() -> None:
    processor = GrammarLogitsProcessor(compiled("a"))
    scores = processor(torch.tensor([PROMPT]), torch.zeros(1, VOCAB.vocab_size))
    assert scores.isfinite().sum() == 1


def test_each_step_accepts_one_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the sequence is: the tokens before are not accepted once more."""
    accepted = []
    accept_token = constrain.Matcher.accept_token

    def counting(matcher: constrain.Matcher, token: int) -> bool:
        accepted.append(token)
        return accept_token(matcher, token)

    monkeypatch.setattr(constrain.Matcher, "accept_token", counting)
    processor = GrammarLogitsProcessor(compiled("[ab]{20,}"))
    found = generated(model(), [PROMPT], processor, max_new_tokens=15)
    assert accepted == found[0][:14]  # the last one is not asked about


def test_what_is_no_compiled_grammar() -> None:
    with pytest.raises(TypeError, match="not Grammar"):
        GrammarLogitsProcessor(constrain.Grammar.from_regex("a"))


def test_half_precision() -> None:
    processor = GrammarLogitsProcessor(compiled("a"))
    scores = torch.zeros(1, WIDTH, dtype=torch.bfloat16)
    masked = processor(torch.tensor([PROMPT]), scores)
    assert masked.dtype == torch.bfloat16
    assert torch.isfinite(masked[0]).nonzero().flatten().tolist() == [TOKENS.index(b"a")]
