"""Every token of real tokenizers against their own decoders, and texts through them."""

from __future__ import annotations

import base64
import functools
import itertools
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pytest

from constrain.vocab import Vocabulary
from tests.vocab.real_tokenizers import tokenizer_file

# Composed characters only (Qwen 3 normalises to NFC), but with marks that have no composed form.
SAMPLE = """\
The quick brown fox can't jump over 13 lazy dogs; it's 3.14159 metres, isn't it?
Füße, naïve, Łódź, İstanbul, Ελλάδα, Привет, שלום, مرحبا, हिन्दी, ไทย, 한국어, 日本語, 中文。
x̱ q̃ and ᄒᆞᆫ: marks without a composed form. Å n\u0303o? No: ño.
🙂 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 👍🏽 ☺️ 𝔘𝔫𝔦 𓀀 \U0010ffff\ufffd
def f(a: int) -> str:
\treturn f"{a!r:>{10}}"  # tabs\tand "quotes"


{"key": [1, 2.5e-3, null, true], "nested": {"a\\\\n": "\\u00e9 / \\" </script>"}}
<tool_call>{}</tool_call> <br> <unused0> a      b        c                                    d
\r\n trailing space \x00\x07\x7f\u200b\u00a0\u2028end"""
# n + combining tilde composes: what a normaliser may change is kept out of the text.
SAMPLE = SAMPLE.replace("n\u0303o? No: ", "")


@dataclass(frozen=True)
class Real:
    """A real tokenizer, its vocabulary, and what it does by itself."""

    vocab: Vocabulary
    encode: Callable[[str], list[int]]
    decode: Callable[[list[int]], str]
    first: bytes = b""
    """What the first token of a text loses when the tokenizer decodes."""


def from_json(name: str, eos: Any, width: int | None = None, first: bytes = b"") -> Real:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(tokenizer_file(name)))
    return Real(
        Vocabulary.from_tokenizers(tokenizer, width, eos_token_ids=eos),
        lambda text: tokenizer.encode(text, add_special_tokens=False).ids,
        lambda ids: tokenizer.decode(ids, skip_special_tokens=True),
        first,
    )


def from_folder(name: str, eos: Any, width: int | None = None, first: bytes = b"") -> Real:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tokenizer_file(name).parent)
    return Real(
        Vocabulary.from_transformers(tokenizer, width, eos_token_ids=eos),
        lambda text: tokenizer.encode(text, add_special_tokens=False),
        lambda ids: tokenizer.decode(
            ids, skip_special_tokens=True, clean_up_tokenization_spaces=False
        ),
        first,
    )


def mistral_spm() -> Real:
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_file=str(tokenizer_file("mistral-spm")))
    vocab = Vocabulary.from_sentencepiece(processor)
    return Real(vocab, processor.encode, processor.decode, b" ")


def tekken() -> Real:
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    tekken = Tekkenizer.from_file(tokenizer_file("tekken"))
    vocab = Vocabulary.from_mistral_common(tekken)
    return Real(vocab, lambda text: tekken.encode(text, bos=False, eos=False), tekken.decode)


def tiktoken_encoding() -> Any:
    import tiktoken

    lines = tokenizer_file("o200k").read_bytes().splitlines()
    ranks = {base64.b64decode(t): int(i) for t, i in (line.split() for line in lines)}
    pattern = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+(?!\S)|\s+"
    specials = {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}
    return tiktoken.Encoding(
        "o200k", pat_str=pattern, mergeable_ranks=ranks, special_tokens=specials
    )


def o200k() -> Real:
    encoding = tiktoken_encoding()
    vocab = Vocabulary.from_tiktoken(encoding, 201088)
    return Real(vocab, encoding.encode_ordinary, encoding.decode)


MAKERS: dict[str, Callable[[], Real]] = {
    "qwen3": lambda: from_folder("qwen3", None, 151936),
    "llama2": lambda: from_folder("llama2", None, first=b" "),
    "gemma3": lambda: from_folder("gemma3", [1, "<end_of_turn>"], 262208),
    "deepseek3": lambda: from_folder("deepseek3", None, 129280),
    "smollm2": lambda: from_folder("smollm2", None),
    "gpt4o": lambda: from_json("gpt4o", "<|endoftext|>"),
    "mistral-spm": mistral_spm,
    "tekken": tekken,
    "o200k": o200k,
    "minilm": lambda: from_json("minilm", "[SEP]", first=b" "),
}


@functools.cache
def real(name: str) -> Real:
    return MAKERS[name]()


everyone = pytest.mark.parametrize("name", MAKERS)


@everyone
def test_the_bytes_of_a_text_are_those_of_its_tokens(name: str) -> None:
    it = real(name)
    ids = it.encode(SAMPLE)
    whole = it.vocab.decode(ids)
    assert whole == it.first + it.decode(ids).encode()
    if name != "minilm":  # it lower-cases, and drops what it doesn't know
        assert whole == it.first + SAMPLE.encode()


def completions(text: bytes) -> Iterable[tuple[bytes, bytes]]:
    """Bytes to put before and after a part of UTF-8 to make it whole."""
    heads = (b"", b"\xc3", b"\xe5", b"\xe5\x80", b"\xf1", b"\xf1\x80", b"\xf1\x80\x80")
    for head, count in itertools.product(heads, range(4)):
        for tail in (b"\x80" * count, b"\xa0" + b"\x80" * (count - 1), b"\x90" + b"\x80" * 2):
            try:
                (head + text + tail).decode()
            except UnicodeDecodeError:
                continue
            yield head, tail


@everyone
def test_every_token_adds_its_bytes(name: str) -> None:
    """What `decode` shows of a token after another is its bytes; halves are made whole first."""
    it = real(name)
    texts = it.vocab.token_bytes
    one_byte = {t: i for i, t in enumerate(texts) if t and len(t) == 1 and t >= b"\x80"}
    before = next(i for i in it.encode("x") if texts[i] in (b"x", b" x"))
    start = it.decode([before]).encode()
    incomplete = set()
    for i, text in enumerate(texts):
        if text is None:
            continue
        after = it.decode([before, i])
        try:
            text.decode()
        except UnicodeDecodeError:
            assert after == (start + text).decode("utf-8", "replace")
            pair = next(iter(completions(text)), None)
            if pair is None:
                incomplete.add(text)
                continue
            head, tail = ([one_byte[bytes([b])] for b in part] for part in pair)
            whole = it.decode([before, *head, i, *tail])
            assert whole.encode() == start + pair[0] + text + pair[1], (i, text)
        else:
            assert after.encode() == start + text, (i, text)
    # These are in no text, so nothing makes them whole.
    assert incomplete <= {bytes([b]) for b in (0xC0, 0xC1, *range(0xF5, 0x100))}


@pytest.mark.parametrize("name", ["qwen3", "llama2", "gemma3", "deepseek3", "smollm2", "minilm"])
def test_never_text_is_what_decoding_drops(name: str) -> None:
    it = real(name)
    before = it.encode("x")
    start = it.decode(before)
    dropped = {i for i in range(it.vocab.num_tokens) if it.decode([*before, i]) == start}
    never_text = {i for i, text in enumerate(it.vocab.token_bytes) if text is None}
    mask = {it.vocab.special_tokens["<mask>"]} if name == "gemma3" else set()
    assert never_text == dropped | mask  # Gemma's mask is added, named, but not marked special


EXPECTED = {  # num_tokens, vocab_size, end ids, ids that are never text
    "qwen3": (151669, 151936, (151645,), 14),
    "llama2": (32000, 32000, (2,), 3),
    "gemma3": (262145, 262208, (1, 106), 10),
    "deepseek3": (128815, 129280, (1,), 804),
    "smollm2": (49152, 49152, (2,), 17),
    "gpt4o": (200019, 200019, (199999,), 21),
    "mistral-spm": (32768, 32768, (2,), 751),
    "tekken": (131072, 131072, (2,), 1000),
    "o200k": (200019, 201088, (199999,), 21),
    "minilm": (30522, 30522, (102,), 5),
}


@everyone
def test_sizes_end_tokens_and_ids_that_are_never_text(name: str) -> None:
    vocab = real(name).vocab
    never_text = sum(text is None for text in vocab.token_bytes)
    assert (vocab.num_tokens, vocab.vocab_size, vocab.eos_token_ids, never_text) == EXPECTED[name]
    assert all(vocab.token_bytes[i] is None for i in vocab.special_tokens.values())
    assert set(vocab.eos_token_ids) <= set(vocab.special_tokens.values())


@everyone
def test_the_trie_spells_every_token(name: str) -> None:
    vocab = real(name).vocab
    trie = vocab.trie
    texts = vocab.token_bytes
    expected = sorted((t, i) for i, t in enumerate(texts) if t)
    assert trie.tokens.tolist() == [i for _, i in expected]
    path = bytearray()
    for node, (byte, depth) in enumerate(zip(trie.byte.tolist(), trie.depth.tolist(), strict=True)):
        path[depth:] = (byte,)
        for i in trie.tokens[trie.token_start[node] : trie.token_start[node + 1]]:
            assert texts[i] == path
    assert trie.max_depth == max(len(t) for t, _ in expected)
    assert trie.nbytes < 20_000_000


def test_added_tokens_that_are_not_special_are_text() -> None:
    qwen, gemma, deepseek = (real(name) for name in ("qwen3", "gemma3", "deepseek3"))
    assert qwen.vocab.token_bytes[151657] == b"<tool_call>"
    assert qwen.encode("<tool_call>") == [151657]
    added = {b"\n\n\n", b"  ", b"\t\t", b"<table>", b"<unused0>", b"</blockquote>", b"[multimodal]"}
    assert added <= set(gemma.vocab.token_bytes)
    assert "<｜fim▁hole｜>".encode() in deepseek.vocab.token_bytes


@pytest.mark.parametrize("name", ["qwen3", "deepseek3", "smollm2", "llama2"])
def test_special_names_are_spelled_by_other_tokens(name: str) -> None:
    """The text of a special token can be written, but only letter by letter."""
    vocab = real(name).vocab
    assert vocab.special_tokens
    texts = set(vocab.token_bytes)
    assert not texts & {special.encode() for special in vocab.special_tokens}


def test_the_json_and_the_tokenizer_of_transformers_agree() -> None:
    for name, eos in (("qwen3", "<|im_end|>"), ("llama2", "</s>"), ("deepseek3", [1])):
        loaded = from_json(name, eos, real(name).vocab.vocab_size)
        assert loaded.vocab.fingerprint == real(name).vocab.fingerprint


def test_the_two_forms_of_o200k_agree() -> None:
    assert real("o200k").vocab.token_bytes == real("gpt4o").vocab.token_bytes


def test_mistral_through_transformers() -> None:
    """The classes of `transformers` over mistral-common and over SentencePiece read the same."""
    from transformers.tokenization_mistral_common import MistralCommonBackend
    from transformers.tokenization_utils_sentencepiece import SentencePieceBackend

    for name in ("tekken", "mistral-spm"):
        wrapped = MistralCommonBackend(tokenizer_file(name))
        for read in (
            Vocabulary.from_transformers(wrapped),
            Vocabulary.from_mistral_common(wrapped.tokenizer),
        ):
            assert read.fingerprint == real(name).vocab.fingerprint
    slow = SentencePieceBackend(
        vocab_file=str(tokenizer_file("mistral-spm")),
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
    )
    assert Vocabulary.from_transformers(slow).fingerprint == real("mistral-spm").vocab.fingerprint


def test_a_tokenizer_config_names_the_end_token_as_an_object() -> None:
    config = tokenizer_file("deepseek3").parent / "tokenizer_config.json"
    declared = json.loads(config.read_text(encoding="utf-8"))["eos_token"]
    assert declared["content"] == "<｜end▁of▁sentence｜>"
    vocab = real("deepseek3").vocab
    assert vocab.special_tokens[declared["content"]] == vocab.eos_token_ids[0]
