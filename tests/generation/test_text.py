"""Streamed text: whole characters only, and nothing lost between them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from constrain.generation.text import Utf8Text


@given(st.text(), st.data())
def test_however_the_bytes_are_cut_the_text_comes_out(whole: str, data: st.DataObject) -> None:
    encoded = whole.encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(encoded)))))
    text = Utf8Text()
    parts = [text.add(encoded[a:b]) for a, b in zip([0, *cuts], [*cuts, len(encoded)], strict=True)]
    assert "".join(parts) == whole
    assert text.held_back == b""


def test_the_start_of_a_character_is_held_back() -> None:
    text = Utf8Text()
    flag = "🙂".encode()
    assert [text.add(flag[i : i + 1]) for i in range(3)] == ["", "", ""]
    assert text.held_back == flag[:3]
    assert text.add(flag[3:]) == "🙂"


def test_bytes_that_are_no_text_show_as_replacements() -> None:
    text = Utf8Text()
    assert text.add(b"a\xff") == "a\ufffd"
    assert text.add(b"\xc3(") == "\ufffd("
