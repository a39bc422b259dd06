"""Adapters on small tokenizers made here: each kind of pipeline, and each reason to refuse one."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace
from typing import Any

import pytest
import sentencepiece
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)

from constrain.errors import VocabularyError
from constrain.vocab import Vocabulary
from constrain.vocab.adapters.decoders import byte_level_bytes, piece_reader
from tests.conftest import SHARED, requires_shared

TEXTS = [
    "The quick brown fox jumps over the lazy dog, then it's gone.",
    "Füchse springen über faule Hunde. Ça va? Größe 42!",
    "日本語のテキスト 🦊 and 한국어",
] * 20


def spec(decoder: Any) -> dict[str, Any]:
    return json.loads(decoder.__getstate__())


# --- decoders ---------------------------------------------------------------------------------


def test_byte_level_spells_every_byte() -> None:
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    assert len(alphabet) == 256
    assert {byte_level_bytes(c) for c in alphabet} == {bytes([b]) for b in range(256)}


@given(st.binary(max_size=20))
def test_byte_level_undoes_its_pre_tokenizer(text: bytes) -> None:
    split = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    latin = text.decode("utf-8", "ignore")
    spelled = "".join(piece for piece, _ in split.pre_tokenize_str(latin))
    assert byte_level_bytes(spelled) == latin.encode()


SEQUENCE = decoders.Sequence(
    [
        decoders.Replace("▁", " "),
        decoders.ByteFallback(),
        decoders.Fuse(),
        decoders.Strip(" ", 1, 0),
    ]
)
CONCATENATING = {
    "byte level": decoders.ByteLevel(),
    "byte level in a sequence": decoders.Sequence([decoders.Sequence([decoders.ByteLevel()])]),
    "Llama 2": SEQUENCE,
    "byte fallback": decoders.ByteFallback(),
    "fuse": decoders.Fuse(),
    "replace": decoders.Replace("aa", "b"),
    "metaspace": decoders.Metaspace(),
    "metaspace, other mark": decoders.Metaspace(replacement="_", prepend_scheme="never"),
    "word piece": decoders.WordPiece(),
    "word piece, no cleanup": decoders.WordPiece(prefix="@@", cleanup=False),
    "word piece, no prefix": decoders.WordPiece(prefix="", cleanup=True),
}
pieces = st.one_of(
    st.text("Ġaé▁# '.nt_@", max_size=8),
    st.sampled_from(["<0x41>", "<0x0a>", "<0xG0>", "##s", "n't", "do not", "'s", ".", "@@x", "▁▁"]),
)


@pytest.mark.parametrize("decoder", CONCATENATING.values(), ids=CONCATENATING.keys())
@given(piece=pieces)
def test_reads_a_piece_as_the_decoder_does_after_another(decoder: Any, piece: str) -> None:
    read = piece_reader(spec(decoder))(piece)
    after = decoder.decode(["x", piece])
    assert (b"x" + read).decode("utf-8", "replace") == after


ODD_PIECES = ["", " ", "\n", "a b", "é", "Ā", "ā", "ń", "Ń", "ł", "\U0010ffff", "a\U0010ffffb"]
many_pieces = st.lists(st.one_of(st.none(), pieces, st.sampled_from(ODD_PIECES)), max_size=12)


@pytest.mark.parametrize("decoder", CONCATENATING.values(), ids=CONCATENATING.keys())
@given(given_pieces=many_pieces)
def test_reads_all_pieces_as_one_by_one(decoder: Any, given_pieces: list[str | None]) -> None:
    read = piece_reader(spec(decoder))
    expected = tuple(None if piece is None else read(piece) for piece in given_pieces)
    assert read.read_all(given_pieces).as_tuple() == expected


def test_every_character_of_a_byte_level_piece_among_others() -> None:
    read = piece_reader(spec(decoders.ByteLevel()))
    for codepoint in [*range(0x200), 0xFFFF, 0x10FFFF]:
        given_pieces = ["ab", chr(codepoint), None, "Ġ" + chr(codepoint), "é", ""]
        expected = tuple(None if piece is None else read(piece) for piece in given_pieces)
        assert read.read_all(given_pieces).as_tuple() == expected


REFUSED = {
    "BPEDecoder": decoders.BPEDecoder(),
    "CTC": decoders.CTC(),
    "Replace": decoders.Replace(Regex("a+"), "b"),
    "Strip": decoders.Strip(" ", 1, 0),
    "Strip ": decoders.Sequence([decoders.Fuse(), decoders.Strip(" ", 0, 1)]),
    "Replace ": decoders.Sequence([decoders.ByteFallback(), decoders.Replace("▁", " ")]),
    "Metaspace": decoders.Sequence([decoders.Fuse(), decoders.Metaspace()]),
    "ByteLevel": decoders.Sequence([decoders.ByteFallback(), decoders.ByteLevel()]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refuses_a_decoder_that_is_no_concatenation_by_name(name: str) -> None:
    with pytest.raises(VocabularyError, match=f"decoder with {name.strip()} "):
        piece_reader(spec(REFUSED[name]))


def test_refuses_a_part_it_does_not_know() -> None:
    with pytest.raises(VocabularyError, match="decoder with Rot13 "):
        piece_reader({"type": "Rot13"})


def test_nesting_is_no_recursion() -> None:
    decoder: dict[str, Any] = {"type": "Fuse"}
    for _ in range(100_000):
        decoder = {"type": "Sequence", "decoders": [decoder]}
    assert piece_reader(decoder)("a") == b"a"
    while decoder.get("decoders"):  # else freeing it is a recursion of the interpreter's
        decoder = decoder.pop("decoders")[0]


# --- tokenizers.Tokenizer ---------------------------------------------------------------------


def byte_level(vocab: dict[str, int] | None = None) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(vocab or {"a": 0, "Ġ": 1, "Ã": 2, "©": 3}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def test_added_tokens_are_text_unless_they_are_special() -> None:
    tokenizer = byte_level()
    tokenizer.add_tokens([AddedToken("<tool>", normalized=False), AddedToken("<｜x｜>")])
    tokenizer.add_special_tokens([AddedToken("<|end|>")])
    vocab = Vocabulary.from_tokenizers(tokenizer, eos_token_ids="<|end|>")
    assert vocab.token_bytes == (
        b"a",
        b" ",
        b"\xc3",
        b"\xa9",
        b"<tool>",
        "<｜x｜>".encode(),
        None,
    )
    assert vocab.special_tokens == {"<|end|>": 6}
    assert vocab.eos_token_ids == (6,)


def test_added_tokens_are_what_the_decoder_makes_of_them() -> None:
    # The decoder doesn't know which tokens were added: an added "é" is byte E9, alone no character.
    tokenizer = byte_level()
    tokenizer.add_tokens([AddedToken("é", normalized=False), AddedToken(" é", normalized=False)])
    vocab = Vocabulary.from_tokenizers(tokenizer, eos_token_ids=[0])
    assert vocab.token_bytes[4:] == (b"\xe9", " é".encode())
    assert tokenizer.decode([4]) == "\N{REPLACEMENT CHARACTER}"
    assert tokenizer.decode([5]) == " é"


NORMALIZERS = {
    "Llama 2": normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]),
    "lower case": normalizers.Lowercase(),
    "strip": normalizers.Strip(),
    "NFD": normalizers.NFD(),
}


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("normalizer", NORMALIZERS.values(), ids=NORMALIZERS.keys())
def test_added_tokens_are_what_a_normalizer_leaves_of_them(
    normalizer: Any, normalized: bool
) -> None:
    """An added token is looked for in normalized text, unless it says otherwise."""
    tokenizer = Tokenizer(models.BPE({"x": 0, "▁": 1, "<0x0A>": 2}, []))
    tokenizer.normalizer = normalizer
    tokenizer.decoder = SEQUENCE
    added = ["<Tool>", "a b", " É "]
    tokenizer.add_tokens([AddedToken(content, normalized=normalized) for content in added])
    tokenizer.add_special_tokens([AddedToken("<End>", normalized=normalized)])
    vocab = Vocabulary.from_tokenizers(tokenizer, eos_token_ids="<End>")
    for i in range(3, 6):
        assert b"x" + (vocab.token_bytes[i] or b"") == tokenizer.decode([0, i]).encode()
    assert vocab.special_tokens == {"<End>": 6}
    assert vocab.eos_token_ids == (6,)


def test_holes_are_never_text() -> None:
    tokenizer = byte_level({"a": 0, "b": 5})
    vocab = Vocabulary.from_tokenizers(tokenizer, eos_token_ids=[3], vocab_size=8)
    assert vocab.token_bytes == (b"a", None, None, None, None, b"b")


def test_a_piece_that_occurs_twice_keeps_both_ids() -> None:
    model = models.Unigram([("<unk>", 0.0), ("P", -1.0), ("AD", -1.0), ("P", -2.0)], unk_id=0)
    tokenizer = Tokenizer(model)
    tokenizer.decoder = decoders.Metaspace()
    vocab = Vocabulary.from_tokenizers(tokenizer, eos_token_ids=[4], vocab_size=5)
    assert vocab.token_bytes == (None, b"P", b"AD", b"P", None)


@pytest.mark.parametrize(
    "model",
    [
        models.Unigram([("▁a", 0.0), ("<unk>", 0.0)], unk_id=1),
        models.WordLevel({"▁a": 0, "<unk>": 1}, unk_token="<unk>"),
        models.BPE({"▁a": 0, "<unk>": 1}, [], unk_token="<unk>"),
    ],
    ids=["Unigram", "WordLevel", "BPE"],
)
def test_the_unknown_token_is_never_text(model: Any) -> None:
    tokenizer = Tokenizer(model)
    tokenizer.decoder = decoders.Metaspace()
    vocab = Vocabulary.from_tokenizers(tokenizer, eos_token_ids=[2], vocab_size=3)
    assert vocab.token_bytes == (b" a", None, None)
    assert vocab.special_tokens == {"<unk>": 1}


def test_a_model_without_unknown_token() -> None:
    tokenizer = Tokenizer(models.Unigram([("▁a", 0.0), ("b", 0.0)]))
    tokenizer.decoder = decoders.Metaspace()
    assert Vocabulary.from_tokenizers(tokenizer, eos_token_ids=[1]).token_bytes == (b" a", None)


def test_truncation_to_a_narrow_output_layer() -> None:
    tokenizer = byte_level()
    tokenizer.add_special_tokens(["<|end|>", "<|image|>"])
    vocab = Vocabulary.from_tokenizers(tokenizer, 5, eos_token_ids=["<|end|>", "<|image|>"])
    assert vocab.vocab_size == vocab.num_tokens == 5
    assert vocab.eos_token_ids == (4,)


def spoil_decoder(tokenizer: Tokenizer) -> None:
    tokenizer.decoder = None


def spoil_python(tokenizer: Tokenizer) -> None:
    class Shout:
        def decode_chain(self, tokens: list[str]) -> list[str]:
            return [token.upper() for token in tokens]

    tokenizer.decoder = decoders.Decoder.custom(Shout())


def spoil_byte_level(tokenizer: Tokenizer) -> None:
    tokenizer.decoder = decoders.Fuse()


def spoil_normalizer(tokenizer: Tokenizer) -> None:
    tokenizer.pre_tokenizer = None
    tokenizer.normalizer = normalizers.Sequence([normalizers.ByteLevel()])
    tokenizer.decoder = decoders.Fuse()


def spoil_fallback(tokenizer: Tokenizer) -> None:
    tokenizer.model = models.BPE({"<0x41>": 0}, [], byte_fallback=True)


def spoil_suffix(tokenizer: Tokenizer) -> None:
    tokenizer.model = models.BPE({"a</w>": 0}, [], end_of_word_suffix="</w>")


def spoil_prefix(tokenizer: Tokenizer) -> None:
    tokenizer.model = models.WordPiece({"[UNK]": 0}, unk_token="[UNK]")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (spoil_decoder, "has no decoder"),
        (spoil_python, "has a decoder written in Python"),
        (spoil_byte_level, "a ByteLevel pre-tokenizer but no ByteLevel decoder"),
        (spoil_normalizer, "a ByteLevel pre-tokenizer but no ByteLevel decoder"),
        (spoil_fallback, "a model with byte_fallback but no ByteFallback decoder"),
        (spoil_suffix, "a model with end_of_word_suffix '</w>'"),
        (spoil_prefix, "a model with continuing_subword_prefix but no WordPiece decoder"),
    ],
)
def test_refuses_a_pipeline_that_is_no_concatenation(spoil: Any, message: str) -> None:
    tokenizer = byte_level()
    spoil(tokenizer)
    with pytest.raises(VocabularyError, match=message):
        Vocabulary.from_tokenizers(tokenizer, eos_token_ids=[0])


def test_a_pre_tokenizer_in_python_is_no_obstacle() -> None:
    class Whole:
        def pre_tokenize(self, text: Any) -> None:
            return None

    tokenizer = byte_level()
    tokenizer.pre_tokenizer = pre_tokenizers.PreTokenizer.custom(Whole())
    vocab = Vocabulary.from_tokenizers(tokenizer, eos_token_ids=[0])
    assert vocab.token_bytes == (None, b" ", b"\xc3", b"\xa9")


def test_refuses_other_objects() -> None:
    with pytest.raises(
        VocabularyError, match=r"expected a tokenizers\.Tokenizer, got .* dict\nhint: .*from_file"
    ):
        Vocabulary.from_tokenizers({}, eos_token_ids=[0])


def test_refuses_an_absurd_id() -> None:
    tokenizer = byte_level({"a": 0, "b": 1 << 31})
    with pytest.raises(VocabularyError, match="id 2,147,483,648"):
        Vocabulary.from_tokenizers(tokenizer, eos_token_ids=[0])


# --- WordPiece and Unigram, trained here ---------------------------------------------------------


@pytest.fixture(scope="module")
def word_piece() -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(
        vocab_size=300, special_tokens=["[UNK]", "[SEP]"], show_progress=False
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    return tokenizer


def test_word_piece_tokens_are_what_they_add(word_piece: Tokenizer) -> None:
    vocab = Vocabulary.from_tokenizers(word_piece, eos_token_ids="[SEP]")
    bytes_of = {word_piece.id_to_token(i): t for i, t in enumerate(vocab.token_bytes)}
    assert bytes_of["the"] == b" the"
    assert bytes_of["##o"] == b"o"
    assert bytes_of["."] == b"."
    assert bytes_of["'"] == b" '"
    assert bytes_of["[UNK]"] is None
    for text in TEXTS[:3]:
        ids = word_piece.encode(text).ids
        whole = word_piece.decode(ids).encode()
        assert vocab.decode(ids) == b" " + whole  # the first word of a text has no space


@pytest.fixture(scope="module")
def unigram() -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=200, special_tokens=["<unk>", "</s>"], unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    return tokenizer


def test_unigram_tokens_concatenate(unigram: Tokenizer) -> None:
    vocab = Vocabulary.from_tokenizers(unigram, eos_token_ids="</s>")
    for text in TEXTS[:3]:
        ids = unigram.encode(text).ids
        assert vocab.decode(ids) == b" " + text.encode() == b" " + unigram.decode(ids).encode()


# --- transformers -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fast_class() -> Any:
    transformers = pytest.importorskip("transformers")
    return transformers.PreTrainedTokenizerFast


def small_fast(fast_class: Any, **kwargs: Any) -> Any:
    tokenizer = byte_level()
    tokenizer.add_special_tokens(["<|end|>"])
    tokenizer.add_tokens(["<pad>", "<think>"])
    return fast_class(tokenizer_object=tokenizer, **kwargs)


def test_a_fast_tokenizer_declares_its_end_token(fast_class: Any) -> None:
    vocab = Vocabulary.from_transformers(small_fast(fast_class, eos_token="<|end|>"))
    assert vocab.eos_token_ids == (4,)
    assert vocab.token_bytes == (b"a", b" ", b"\xc3", b"\xa9", None, b"<pad>", b"<think>")


def test_the_caller_names_all_end_tokens(fast_class: Any) -> None:
    tokenizer = small_fast(fast_class, eos_token="<|end|>")
    for requested in ([4, 6], [4, "<think>"], ("<|end|>", 6)):
        vocab = Vocabulary.from_transformers(tokenizer, eos_token_ids=requested)
        assert vocab.eos_token_ids == (4, 6)
        assert vocab.special_tokens == {"<|end|>": 4, "<think>": 6}
        assert vocab.token_bytes[6] is None
    assert Vocabulary.from_transformers(tokenizer, eos_token_ids=6).eos_token_ids == (6,)
    assert Vocabulary.from_transformers(tokenizer, eos_token_ids="<think>").eos_token_ids == (6,)


@pytest.mark.parametrize(
    ("requested", "message"),
    [
        ("<nope>", "names '<nope>', which is not a token"),
        ([4, 1.5], "eos_token_ids has 1.5"),
        ([None], "eos_token_ids has None"),
        ([True], "eos_token_ids has True"),
        ([-1], "eos_token_ids has -1"),
        ([7], "eos_token_ids has 7"),
        ([], "eos_token_ids is empty"),
    ],
)
def test_refuses_end_tokens_that_are_none(fast_class: Any, requested: Any, message: str) -> None:
    tokenizer = small_fast(fast_class, eos_token="<|end|>")
    with pytest.raises(VocabularyError, match=message):
        Vocabulary.from_transformers(tokenizer, eos_token_ids=requested)


def test_padding_that_was_added_is_never_text(fast_class: Any) -> None:
    tokenizer = small_fast(fast_class, eos_token="<|end|>", pad_token="<pad>")
    vocab = Vocabulary.from_transformers(tokenizer)
    assert vocab.token_bytes[5] is None
    assert vocab.special_tokens == {"<|end|>": 4, "<pad>": 5}


def test_a_word_that_serves_as_padding_stays_text(fast_class: Any) -> None:
    tokenizer = small_fast(fast_class, eos_token="<|end|>")
    tokenizer.pad_token = "a"
    assert Vocabulary.from_transformers(tokenizer).token_bytes[0] == b"a"


def test_logits_wider_or_narrower_than_the_tokenizer(fast_class: Any) -> None:
    tokenizer = small_fast(fast_class, eos_token="<|end|>")
    assert Vocabulary.from_transformers(tokenizer, 64).vocab_size == 64
    assert Vocabulary.from_transformers(tokenizer, 5).num_tokens == 5


def test_without_an_end_token_it_says_what_was_tried(fast_class: Any) -> None:
    with pytest.raises(VocabularyError) as caught:
        Vocabulary.from_transformers(small_fast(fast_class))
    for tried in ("special_tokens_map['eos_token']", "init_kwargs['eos_token']", "eos_token_id"):
        assert tried in str(caught.value)
    assert "eos_token_ids=[...]" in str(caught.value)


class Declaring:
    """What the adapter reads of a fast tokenizer, with any declaration of the end token."""

    def __init__(self, backend: Tokenizer, **attributes: Any) -> None:
        self.backend_tokenizer = backend
        self.__dict__.update(attributes)


@pytest.mark.parametrize(
    "attributes",
    [
        {"eos_token": "<|end|>"},
        {"eos_token": {"content": "<|end|>", "lstrip": False, "special": True}},
        {"eos_token": AddedToken("<|end|>")},
        {"eos_token_id": 4},
        {"eos_token_id": [4]},
        {"eos_token": "<gone>", "init_kwargs": {"eos_token": {"content": "<|end|>"}}},
        {"special_tokens_map": {"eos_token": "<|end|>"}, "eos_token_id": 0},
    ],
)
def test_an_end_token_is_found_in_any_form(attributes: dict[str, Any]) -> None:
    tokenizer = byte_level()
    tokenizer.add_special_tokens(["<|end|>"])
    vocab = Vocabulary.from_transformers(Declaring(tokenizer, **attributes))
    assert vocab.eos_token_ids == (4,)
    assert vocab.special_tokens == {"<|end|>": 4}


def test_a_declared_end_token_that_is_no_token_is_not_the_unknown_one() -> None:
    declaring = Declaring(byte_level(), eos_token="</s>", eos_token_id=0)
    with pytest.raises(VocabularyError, match=r"tried: .*eos_token \('</s>'\)"):
        Vocabulary.from_transformers(declaring)


def public_cases(kind: str) -> list[Any]:
    path = SHARED / "cases" / "public-reports.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    cases = [json.loads(line) for line in lines]
    return [pytest.param(c, id=c["id"]) for c in cases if c["input"].get("kind") == kind]


@requires_shared
@pytest.mark.parametrize("case", public_cases("tokenizer"))
def test_public_reports_on_tokenizers(case: dict[str, Any]) -> None:
    given = case["input"]
    if given.get("style") == "wordpiece":
        ids = {piece: i for i, piece in enumerate(given["tokens"])}
        tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
        tokenizer.decoder = decoders.WordPiece()
        vocab = Vocabulary.from_tokenizers(tokenizer, 5, eos_token_ids=[4])
        assert vocab.token_bytes[ids["##able"]] == b"able"
        assert vocab.token_bytes[ids["able"]] == b" able"
        assert vocab.token_bytes[ids["[UNK]"]] is None
        return
    ids = {piece: i for i, piece in enumerate(given["base_vocab"])}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token=given["base_vocab"][0]))
    tokenizer.decoder = decoders.Fuse()
    tokenizer.add_special_tokens(list(given["added"]))
    content = given["eos_token"]["content"]
    for form in (given["eos_token"], content):
        found = Vocabulary.from_transformers(Declaring(tokenizer, eos_token=form))
        assert found.eos_token_ids == (ids[content],)
    with pytest.raises(VocabularyError, match="tried: special_tokens_map"):
        Vocabulary.from_transformers(Declaring(tokenizer))


@requires_shared
@pytest.mark.parametrize("case", public_cases("detok"))
def test_public_reports_on_the_bytes_of_a_token(case: dict[str, Any]) -> None:
    given, deltas = case["input"], case.get("expect_data", {}).get("deltas")
    if given.get("style") == "sentencepiece":
        pieces = given["context_tokens"] + given["tokens"]
        tokenizer = Tokenizer(models.WordLevel({p: i for i, p in enumerate(pieces)}, "?"))
        tokenizer.decoder = decoders.Metaspace()
        vocab = Vocabulary.from_tokenizers(tokenizer, 9, eos_token_ids=[8])
        first = len(given["context_tokens"])
        assert [vocab.decode([i]).decode() for i in range(first, len(pieces))] == deltas
        return
    if "tokens_hex" in given:  # when to show them is the stream's part
        tokens = [bytes.fromhex(token) for token in given["tokens_hex"]]
        vocab = Vocabulary([*tokens, None], [len(tokens)])
        shown = "".join(deltas) if deltas else case["expect_data"]["text"]
        assert vocab.decode(range(len(tokens))).decode("utf-8", "replace") == shown
        return
    texts = [token["t"].encode() if "t" in token else None for token in given["tokens"]]
    names = {token["special"]: i for i, token in enumerate(given["tokens"]) if "special" in token}
    vocab = Vocabulary([*texts, None], [len(texts)], names)
    assert vocab.decode(range(len(texts)), skip_special_tokens=False) == b"hello <s> world"
    assert vocab.decode(range(len(texts))) == b"hello  world"


def test_refuses_a_tokenizer_with_nothing_to_read() -> None:
    for stranger in (object(), {}, None, SimpleNamespace(get_vocab=dict)):
        with pytest.raises(VocabularyError, match="holds neither a tokenizers backend") as caught:
            Vocabulary.from_transformers(stranger)
        assert type(stranger).__name__ in str(caught.value)


# --- tiktoken -----------------------------------------------------------------------------------

RANKS = {bytes([b]): b for b in range(256)} | {b"ab": 256, b"\xc3\xa9": 257, b"abc": 260}


END = {"<|endoftext|>": 262}


def encoding(specials: dict[str, int]) -> tiktoken.Encoding:
    return tiktoken.Encoding("small", pat_str=".+", mergeable_ranks=RANKS, special_tokens=specials)


def test_tiktoken_has_bytes_holes_and_specials() -> None:
    vocab = Vocabulary.from_tiktoken(encoding({**END, "<|im_end|>": 258}))
    assert vocab.num_tokens == vocab.vocab_size == 263
    assert vocab.token_bytes[:256] == tuple(bytes([b]) for b in range(256))
    assert vocab.token_bytes[256:] == (b"ab", b"\xc3\xa9", None, None, b"abc", None, None)
    assert vocab.special_tokens == {"<|endoftext|>": 262, "<|im_end|>": 258}
    assert vocab.eos_token_ids == (262,)


def test_tiktoken_end_tokens_by_name_or_id() -> None:
    small = encoding({**END, "<|im_end|>": 258})
    vocab = Vocabulary.from_tiktoken(small, 300, eos_token_ids=["<|im_end|>", 262, 299])
    assert vocab.eos_token_ids == (258, 262, 299)


def test_tiktoken_without_an_end_token() -> None:
    with pytest.raises(VocabularyError, match=r"the encoding 'small' has no end token.*endoftext"):
        Vocabulary.from_tiktoken(encoding({}))
    with pytest.raises(VocabularyError, match="names '<x>', which is not a token"):
        Vocabulary.from_tiktoken(encoding({}), eos_token_ids="<x>")


def test_tiktoken_refuses_other_objects() -> None:
    with pytest.raises(
        VocabularyError, match=r"expected a tiktoken\.Encoding, got .* str\nhint: tiktoken.get_enc"
    ):
        Vocabulary.from_tiktoken("cl100k_base")


def test_a_slow_tokenizer_over_tiktoken_adds_its_tokens() -> None:
    slow = SimpleNamespace(
        tokenizer=encoding(END),
        added_tokens_decoder={
            258: AddedToken("<|user|>", special=True),
            263: AddedToken("<think>", special=False),
        },
        all_special_ids=[262],
        eos_token="<|endoftext|>",
    )
    vocab = Vocabulary.from_transformers(slow)
    assert vocab.token_bytes[256:] == (
        b"ab",
        b"\xc3\xa9",
        None,
        None,
        b"abc",
        None,
        None,
        b"<think>",
    )
    assert vocab.special_tokens == {"<|endoftext|>": 262, "<|user|>": 258}


# --- sentencepiece --------------------------------------------------------------------------------


def train(**options: Any) -> sentencepiece.SentencePieceProcessor:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS),
        model_writer=model,
        vocab_size=400,
        hard_vocab_limit=False,
        minloglevel=2,
        **options,
    )
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


@pytest.fixture(scope="module")
def processor() -> sentencepiece.SentencePieceProcessor:
    return train(
        byte_fallback=True,
        user_defined_symbols=["<tool>", "a▁b"],
        control_symbols=["<ctl>"],
    )


def test_sentencepiece_reads_every_type(processor: Any) -> None:
    vocab = Vocabulary.from_sentencepiece(processor)
    token_bytes = {processor.id_to_piece(i): t for i, t in enumerate(vocab.token_bytes)}
    assert token_bytes["<tool>"] == b"<tool>"
    assert token_bytes["a▁b"] == b"a b"
    assert token_bytes["<0x00>"] == b"\0"
    assert token_bytes["<0xFF>"] == b"\xff"
    assert vocab.special_tokens == {"<unk>": 0, "<s>": 1, "</s>": 2, "<ctl>": 3}
    assert vocab.eos_token_ids == (2,)
    assert all(vocab.token_bytes[i] is None for i in range(4))


def test_sentencepiece_tokens_are_what_they_add(processor: Any) -> None:
    vocab = Vocabulary.from_sentencepiece(processor)
    before = processor.piece_to_id("<tool>")
    for i, text in enumerate(vocab.token_bytes):
        if text is not None:
            after = processor.decode([before, i])
            assert (b"<tool>" + text).decode("utf-8", "replace") == after


def test_sentencepiece_round_trips(processor: Any) -> None:
    vocab = Vocabulary.from_sentencepiece(processor)
    for text in [*TEXTS[:3], "unseen: \x00 𝄞 ß"]:
        ids = processor.encode(text)
        assert vocab.decode(ids) == b" " + processor.decode(ids).encode()


def test_sentencepiece_end_tokens(processor: Any) -> None:
    vocab = Vocabulary.from_sentencepiece(processor, 512, eos_token_ids=["</s>", "<ctl>", 500])
    assert vocab.eos_token_ids == (2, 3, 500)
    with pytest.raises(VocabularyError, match="names '<nope>'"):
        Vocabulary.from_sentencepiece(processor, eos_token_ids="<nope>")
    with pytest.raises(VocabularyError, match=r"no end token; tried: processor\.eos_id\(\) \(-1\)"):
        Vocabulary.from_sentencepiece(train(eos_id=-1))


def test_sentencepiece_refuses_a_denormalizer(tmp_path: Any) -> None:
    rules = tmp_path / "rules.tsv"
    rules.write_text("61\t62\n", encoding="ascii")  # a -> b
    rewriting = train(denormalization_rule_tsv=str(rules))
    with pytest.raises(VocabularyError, match="has a denormalizer"):
        Vocabulary.from_sentencepiece(rewriting)


def test_sentencepiece_refuses_other_objects() -> None:
    with pytest.raises(VocabularyError, match=r"expected a sentencepiece.* got .* str\nhint: Sent"):
        Vocabulary.from_sentencepiece("tokenizer.model")
    with pytest.raises(VocabularyError, match="no model loaded"):
        Vocabulary.from_sentencepiece(sentencepiece.SentencePieceProcessor())


class Shifted:
    """A slow tokenizer over a SentencePiece model whose ids are shifted, as XLM-R's are."""

    def __init__(self, processor: Any) -> None:
        self.sp_model = processor
        self.added_tokens_decoder = {
            0: AddedToken("<pad>", special=True),
            2: AddedToken("</s>", special=True),
            self.size + 1: AddedToken("<mask>", special=True),
            self.size + 3: AddedToken("<word>", special=False),
        }
        self.all_special_ids = [0, 2, self.size + 1]
        self.eos_token = "</s>"

    @property
    def size(self) -> int:
        return self.sp_model.get_piece_size()

    def __len__(self) -> int:
        return self.size + 4

    def convert_ids_to_tokens(self, i: int) -> str:
        return self.sp_model.id_to_piece(i - 1)  # raises IndexError past the end


def test_a_slow_tokenizer_over_sentencepiece_is_matched_by_piece(processor: Any) -> None:
    slow = Shifted(processor)
    vocab = Vocabulary.from_transformers(slow)
    plain = Vocabulary.from_sentencepiece(processor)
    assert vocab.token_bytes[4 : slow.size + 1] == plain.token_bytes[3:]
    assert vocab.token_bytes[slow.size + 1 :] == (None, None, b"<word>")
    assert vocab.token_bytes[:4] == (None, None, None, None)
    assert vocab.eos_token_ids == (2,)
    assert vocab.special_tokens == {
        "<pad>": 0,
        "<unk>": 1,
        "</s>": 2,
        "<ctl>": 4,
        "<mask>": slow.size + 1,
    }


def test_a_slow_tokenizer_with_a_token_of_its_own_is_refused(processor: Any) -> None:
    slow = Shifted(processor)
    slow.convert_ids_to_tokens = lambda i: "<invented>"
    with pytest.raises(VocabularyError, match="'<invented>'"):
        Vocabulary.from_transformers(slow)


def test_mistral_common_refuses_other_objects() -> None:
    with pytest.raises(VocabularyError, match=r"mistral-common .* got .* type str"):
        Vocabulary.from_mistral_common("tekken.json")
