from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from constrain.vocab.texts import NEVER_TEXT, Texts

token_lists = st.lists(st.one_of(st.none(), st.binary(max_size=4)), max_size=20)


@given(token_lists)
def test_one_array_holds_the_same(token_bytes: list[bytes | None]) -> None:
    texts = Texts.of(token_bytes)
    assert texts.as_tuple() == tuple(token_bytes)
    joined = b"".join(text or b"" for text in token_bytes)
    assert texts.flat[: texts.num_bytes].tobytes() == joined
    offsets = texts.offsets().tolist()
    for i, text in enumerate(token_bytes):
        assert texts.flat[offsets[i] : offsets[i + 1]].tobytes() == (text or b"")
        assert (texts.lengths[i] == NEVER_TEXT) == (text is None)
    for array in (texts.flat, texts.lengths, texts.offsets()):
        assert not array.flags.writeable


@given(token_lists, st.integers(0, 30))
def test_resized(token_bytes: list[bytes | None], num_ids: int) -> None:
    padded = [*token_bytes, *[None] * 30][:num_ids]
    assert Texts.of(token_bytes).resized(num_ids).as_tuple() == tuple(padded)


@given(token_lists, st.sets(st.integers(0, 30)))
def test_without(token_bytes: list[bytes | None], ids: set[int]) -> None:
    expected = tuple(None if i in ids else text for i, text in enumerate(token_bytes))
    texts = Texts.of(token_bytes).without(ids)
    assert texts.as_tuple() == expected
    assert texts.num_bytes == sum(len(text or b"") for text in expected)
