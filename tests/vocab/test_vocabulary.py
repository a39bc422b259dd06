"""What a `Vocabulary` holds, what it refuses, and that nothing about it can change."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrain.errors import CompileError, TokenRejectedError, VocabularyError
from constrain.vocab import Vocabulary
from constrain.vocab.vocabulary import MAX_TOKEN_BYTES, MAX_TOTAL_BYTES, MAX_VOCAB_SIZE


def test_holds_what_it_was_given() -> None:
    vocab = Vocabulary([b"{", b"}", None, b"ab"], [2], {"<|im_end|>": 2}, vocab_size=32)
    assert vocab.token_bytes == (b"{", b"}", None, b"ab")
    assert vocab.vocab_size == 32
    assert vocab.num_tokens == len(vocab) == 4
    assert vocab.eos_token_ids == (2,)
    assert vocab.special_tokens == {"<|im_end|>": 2}


def test_the_width_is_the_length_of_the_list_by_default() -> None:
    assert Vocabulary([b"a", None], [1]).vocab_size == 2


def test_special_and_end_ids_are_never_text() -> None:
    vocab = Vocabulary([b"a", b"</s>", b"[PAD]", b"b"], [1], {"[PAD]": 2})
    assert vocab.token_bytes == (b"a", None, None, b"b")
    assert vocab.trie.tokens.tolist() == [0, 3]


def test_several_end_ids_keep_their_order_and_lose_repetitions() -> None:
    assert Vocabulary([b"a"] * 4, [3, 1, 3, 1]).eos_token_ids == (3, 1)


def test_duplicate_bytes_keep_every_id() -> None:
    vocab = Vocabulary([b'"', b"P", b"AD", b"P", None], [4])
    assert [i for i in vocab.trie.tokens if vocab.token_bytes[i] == b"P"] == [1, 3]


def test_the_empty_token_is_kept_but_not_walked() -> None:
    vocab = Vocabulary([b"\0", b"", b"a", None], [3])
    assert vocab.token_bytes[1] == b""
    assert vocab.trie.tokens.tolist() == [0, 2]


def test_bytes_need_not_be_text() -> None:
    vocab = Vocabulary([b"\xe9", b"\x81", b"\x93", "道".encode(), None], [4])
    assert vocab.decode([0, 1, 2]) == vocab.decode([3]) == "道".encode()


def test_ids_of_numpy_are_ids() -> None:
    specials = {"<s>": np.int32(0)}
    vocab = Vocabulary([None, b"a", None], np.array([2]), specials, vocab_size=np.int64(8))
    assert vocab.eos_token_ids == (2,)
    assert vocab.special_tokens == {"<s>": 0}
    assert type(vocab.vocab_size) is type(vocab.eos_token_ids[0]) is int


class TestAWiderOutputLayer:
    def test_has_padding(self) -> None:
        vocab = Vocabulary([b"a", None], [1], vocab_size=64)
        assert (vocab.num_tokens, vocab.vocab_size) == (2, 64)
        assert vocab.decode([0, 63]) == b"a"

    def test_takes_in_special_and_end_ids_from_the_padding(self) -> None:
        vocab = Vocabulary([b"a"], [3], {"<x>": 2}, vocab_size=8)
        assert vocab.token_bytes == (b"a", None, None, None)
        assert vocab.eos_token_ids == (3,)
        assert vocab.decode([2], skip_special_tokens=False) == b"<x>"


class TestANarrowerOutputLayer:
    def test_lacks_the_ids_past_it(self) -> None:
        vocab = Vocabulary([b"a", None, b"b", b"c", None], [1, 4], {"<x>": 4}, vocab_size=3)
        assert vocab.token_bytes == (b"a", None, b"b")
        assert vocab.vocab_size == vocab.num_tokens == 3
        assert vocab.eos_token_ids == (1,)
        assert vocab.special_tokens == {}
        assert sorted(vocab.trie.tokens.tolist()) == [0, 2]

    def test_must_keep_an_end_token(self) -> None:
        with pytest.raises(VocabularyError, match=r"no end token is left.*\(3, 4\)"):
            Vocabulary([b"a", b"b", b"c", None, None], [3, 4], vocab_size=3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"token_bytes": b"abc"}, "token_bytes is a value of type bytes"),
        ({"token_bytes": "abc"}, "token_bytes is a value of type str"),
        ({"token_bytes": {0: b"a"}}, "token_bytes is a value of type dict"),
        ({"token_bytes": None}, "token_bytes is None"),
        ({"token_bytes": iter([b"a"])}, "list_iterator"),
        ({"token_bytes": [b"a", "b"]}, r"token_bytes\[1\] is a value of type str.*\n.*encode"),
        ({"token_bytes": [bytearray(b"a")]}, r"token_bytes\[0\] is a value of type bytearray"),
        ({"token_bytes": [b"a", 7]}, r"token_bytes\[1\] is a value of type int"),
        (
            {"token_bytes": [b"a" * (MAX_TOKEN_BYTES + 1), None, None]},
            r"token_bytes\[0\] has 65,537 bytes",
        ),
        ({"eos_token_ids": []}, "eos_token_ids is empty"),
        ({"eos_token_ids": 2}, r"hint: eos_token_ids=\[2\]"),
        ({"eos_token_ids": None}, "eos_token_ids is None"),
        ({"eos_token_ids": "2"}, "eos_token_ids is a value of type str"),
        ({"eos_token_ids": ["</s>"]}, "eos_token_ids has '</s>'"),
        ({"eos_token_ids": [True]}, "eos_token_ids has True"),
        ({"eos_token_ids": [1.0]}, "eos_token_ids has 1.0"),
        ({"eos_token_ids": [3]}, r"eos_token_ids has 3.*ids are 0\.\.2"),
        ({"eos_token_ids": [-1]}, "eos_token_ids has -1"),
        ({"special_tokens": ["<s>"]}, "special_tokens is a value of type list"),
        ({"special_tokens": {"<s>": 3}}, r"special_tokens\['<s>'\] has 3"),
        ({"special_tokens": {"<s>": None}}, r"special_tokens\['<s>'\] has None"),
        ({"special_tokens": {"<s>": 1, "<b>": 1}}, "id 1 two names, '<s>' and '<b>'"),
        ({"special_tokens": {0: "<s>"}}, "special_tokens has the key 0"),
        ({"special_tokens": {"": 1}}, "special_tokens has the key ''"),
        ({"special_tokens": {"\ud800": 1}}, "special_tokens has the key"),
        ({"vocab_size": 0}, "vocab_size is 0"),
        ({"vocab_size": -5}, "vocab_size is -5"),
        ({"vocab_size": MAX_VOCAB_SIZE + 1}, "vocab_size is 16777217"),
        ({"vocab_size": "3"}, "vocab_size is a value of type str"),
        ({"vocab_size": 3.0}, "vocab_size is a value of type float"),
        ({"vocab_size": True}, "vocab_size is a value of type bool"),
    ],
)
def test_refuses(arguments: dict, message: str) -> None:
    good = {"token_bytes": [b"a", b"b", None], "eos_token_ids": [2]}
    with pytest.raises(VocabularyError, match=f"(?s){message}"):
        Vocabulary(**{**good, **arguments})


def test_refuses_absurd_lengths() -> None:
    with pytest.raises(VocabularyError, match="16,777,217 entries"):
        Vocabulary([None] * (MAX_VOCAB_SIZE + 1), [0])
    token = b"a" * MAX_TOKEN_BYTES  # one object: the list is small
    with pytest.raises(VocabularyError, match="67,174,400 bytes in all"):
        Vocabulary([token] * (MAX_TOTAL_BYTES // MAX_TOKEN_BYTES + 1) + [None], [1025])


def test_its_errors_are_errors_of_compiling() -> None:
    with pytest.raises(CompileError):
        Vocabulary([b"a"], [])


class TestDecode:
    vocab = Vocabulary([b"a", "é".encode()[:1], None, b"", None], [2], {"<end>": 2}, vocab_size=9)

    def test_concatenates(self) -> None:
        assert self.vocab.decode([0, 1, 3, 0]) == b"a\xc3a"
        assert self.vocab.decode([]) == b""
        assert self.vocab.decode(np.array([0, 0])) == b"aa"

    def test_skips_special_ids_or_names_them(self) -> None:
        assert self.vocab.decode([0, 2, 4, 8, 0]) == b"aa"
        assert self.vocab.decode([0, 2, 4, 8, 0], skip_special_tokens=False) == b"a<end>a"

    @pytest.mark.parametrize("bad", [9, -1, None, "0", 0.0, True])
    def test_refuses_what_is_no_id(self, bad: object) -> None:
        with pytest.raises(TokenRejectedError, match=r"at position 1 .* 0\.\.8"):
            self.vocab.decode([0, bad])

    with pytest.raises(TypeError, match="a list of token ids, not int"):
        vocab.decode(3)


def test_nothing_can_be_assigned_or_written() -> None:
    vocab = Vocabulary([b"a", None], [1], {"</s>": 1})
    for name in ("token_bytes", "eos_token_ids", "special_tokens", "vocab_size", "trie", "other"):
        with pytest.raises(AttributeError):
            setattr(vocab, name, None)
    assert isinstance(vocab.special_tokens, MappingProxyType)
    for array in (vocab.flat_bytes, vocab.flat_offsets, vocab.trie.byte, vocab.trie.tokens):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_keeps_no_hold_of_the_arguments() -> None:
    token_bytes, specials = [b"a", None], {"</s>": 1}
    vocab = Vocabulary(token_bytes, [1], specials)
    token_bytes[0] = b"b"
    specials["x"] = 0
    assert vocab.token_bytes == (b"a", None)
    assert vocab.special_tokens == {"</s>": 1}
    assert token_bytes == [b"b", None]


def test_flat_bytes_are_the_bytes_by_id() -> None:
    vocab = Vocabulary([b"ab", None, b"", b"\0", b"c"], [1], vocab_size=99)
    assert vocab.flat_bytes.dtype == np.uint8
    assert vocab.flat_offsets.dtype == np.int32
    assert vocab.flat_bytes.tobytes() == b"ab\0c"
    assert vocab.flat_offsets.tolist() == [0, 2, 2, 2, 3, 4]


def test_flat_bytes_of_no_text_can_still_be_indexed() -> None:
    vocab = Vocabulary([None], [0])
    assert len(vocab.flat_bytes) == 1
    assert vocab.flat_offsets.tolist() == [0, 0]
    assert vocab.trie.num_nodes == 0


class TestFingerprint:
    def test_is_a_sha256_and_stable(self) -> None:
        vocab = Vocabulary([b"a", b"", None], [2], {"</s>": 2}, 32)
        assert vocab.fingerprint == Vocabulary([b"a", b"", b"?"], [2], {"</s>": 2}, 32).fingerprint
        # Caches on disk are keyed by it: changing this line makes every one of them stale.
        assert vocab.fingerprint == (
            "00c13700223bc042e8206142ad48cd60b9dde1a28dde2342d830359bf0a835d0"
        )

    def test_does_not_depend_on_orders_without_meaning(self) -> None:
        a = Vocabulary([b"a", None, None], [1, 2], {"x": 1, "y": 2})
        b = Vocabulary([b"a", None, None], [2, 1], {"y": 2, "x": 1})
        assert a.fingerprint == b.fingerprint

    def test_tells_contents_apart(self) -> None:
        all_different = [
            Vocabulary([b"a", b"b", None], [2]),
            Vocabulary([b"ab", b"", None], [2]),
            Vocabulary([b"", b"ab", None], [2]),
            Vocabulary([None, b"ab", None], [2]),
            Vocabulary([b"a", b"b", None], [2], vocab_size=4),
            Vocabulary([b"a", b"b", None, None], [2]),
            Vocabulary([b"a", b"b", None, None], [3]),
            Vocabulary([b"a", b"b", None, None], [2, 3]),
            Vocabulary([b"a", b"b", None, None], [2], {"x": 3}),
            Vocabulary([b"a", b"b", None, None], [2], {"y": 3}),
            Vocabulary([b"a", b"b", None, None], [2], {"x": 2}),
            Vocabulary([b"a", b"c", None], [2]),
        ]
        assert len({v.fingerprint for v in all_different}) == len(all_different)


@given(
    st.lists(st.one_of(st.none(), st.binary(max_size=5)), min_size=1, max_size=12),
    st.data(),
)
def test_copies_and_pickles_are_equal(token_bytes: list[bytes | None], data: st.DataObject) -> None:
    eos = data.draw(st.integers(0, len(token_bytes) - 1))
    vocab = Vocabulary(token_bytes, [eos], {"<e>": eos}, len(token_bytes) + 3)
    for other in (pickle.loads(pickle.dumps(vocab)), copy.deepcopy(vocab), copy.copy(vocab)):
        assert other.fingerprint == vocab.fingerprint
        assert other.token_bytes == vocab.token_bytes
        assert other.eos_token_ids == vocab.eos_token_ids
        assert other.vocab_size == vocab.vocab_size


def test_threads_share_one_trie() -> None:
    vocab = Vocabulary([*(b"%d" % n for n in range(3000)), None], [3000])
    start = threading.Barrier(8)
    tries: list[object] = []

    def ask() -> None:
        start.wait()
        tries.append(vocab.trie)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(tries) == 8
    assert {id(trie) for trie in tries} == {id(vocab.trie)}


def test_repr_is_short_for_any_size() -> None:
    vocab = Vocabulary([b"a", *[None] * 50], range(1, 51), {"<e>": 1})
    assert repr(vocab) == (
        "Vocabulary(num_tokens=51, vocab_size=51, "
        "eos_token_ids=(1, 2, 3, 4, 5, 6, 7, 8, ... 50 ids), special_tokens=1)"
    )


def test_adapters_and_tokenizer_libraries_are_imported_only_when_asked_for() -> None:
    import subprocess

    code = (
        "import sys, constrain.vocab; "
        "heavy = {'torch', 'transformers', 'tokenizers', 'tiktoken', 'sentencepiece', "
        "'constrain.vocab.adapters'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_pickles_of_one_vocabulary_are_one_object_with_one_trie() -> None:
    vocab = Vocabulary([b"a", b"ab", b"", None], [3], {"<end>": 3}, vocab_size=9)
    text = pickle.dumps(vocab)
    first, second = pickle.loads(text), pickle.loads(text)
    assert first is second
    assert first.trie is second.trie
    assert first.token_bytes == vocab.token_bytes
    other_order = Vocabulary([b"a", None, None], [1, 2])
    assert pickle.loads(pickle.dumps(other_order)).eos_token_ids == (1, 2)
    swapped = Vocabulary([b"a", None, None], [2, 1])
    assert pickle.loads(pickle.dumps(swapped)).eos_token_ids == (2, 1)


def test_a_pickle_is_not_larger_than_the_bytes_it_tells() -> None:
    vocab = Vocabulary([str(i).encode() for i in range(20_000)] + [None], [20_000])
    vocab.trie  # noqa: B018 - what is prepared is not sent
    assert len(pickle.dumps(vocab)) < 20_000 * 10


def test_a_pickle_of_another_class_is_of_that_class() -> None:
    vocab = _Named([b"a", None], [1])
    assert type(pickle.loads(pickle.dumps(vocab))) is _Named


class _Named(Vocabulary):
    """A class of the user's own."""


def test_bytes_one_by_one_are_made_on_demand_and_kept() -> None:
    vocab = Vocabulary([b"a", None, b""], [1])
    assert vocab.token_bytes == (b"a", None, b"")
    assert vocab.token_bytes is vocab.token_bytes
    assert vocab.flat_offsets is vocab.flat_offsets


def test_text_lengths_are_those_of_every_id_of_the_logits() -> None:
    vocab = Vocabulary([b"abc", None, b"", b"xy"], [1], vocab_size=6)
    assert vocab.text_lengths.tolist() == [3, 0, 0, 2, 0, 0]
    assert vocab.text_lengths is vocab.text_lengths
    assert not vocab.text_lengths.flags.writeable
    assert Vocabulary([b"abc", None, b"xy"], [1], vocab_size=2).text_lengths.tolist() == [3, 0]
