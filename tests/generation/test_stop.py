"""Stop texts: where a text is cut, what a stream says before, and why it ended."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import constrain
from constrain.errors import SamplingError
from constrain.generation.stop import StopSearch
from tests.generation.stand_ins import END, TOKENS, StandIn, vocabulary
from tests.generation.test_generate import run, seeded

ANY = constrain.Grammar.from_regex("(a|b|€)*")
BIASED = {TOKENS.index(b"ab"): 3.0, TOKENS.index(b"\xe2"): 3.0}


def first_cut(whole: bytes, texts: list[bytes]) -> tuple[int, bytes] | None:
    """Where a text is cut and by what: the stop text that ends first; the longest, if several."""
    for end in range(1, len(whole) + 1):
        ending = [text for text in texts if whole[:end].endswith(text)]
        if ending:
            longest = max(ending, key=len)
            return end - len(longest), longest
    return None


@given(
    st.lists(st.text("aé", min_size=1, max_size=4), min_size=1, max_size=3),
    st.text("aéb", max_size=12),
    st.data(),
)
def test_however_the_bytes_are_cut_the_same_is_found(
    stop: list[str], text: str, data: st.DataObject
) -> None:
    whole = text.encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    pieces = [whole[i:j] for i, j in itertools.pairwise([0, *cuts, len(whole)])]
    texts = [one.encode() for one in stop]
    wanted = first_cut(whole, texts)
    search, said = StopSearch(stop), b""
    for piece in pieces:
        said += search.add(piece)
        seen = whole[: len(said) + len(search.held_back)]
        if search.found is not None:
            break
        # What was said can stand whatever comes next, and no more than that is held back.
        assert said + search.held_back == seen
        begun = [n for n in range(len(seen) + 1) if any(t.startswith(seen[n:]) for t in texts)]
        assert len(said) == min(begun)
    if wanted is None:
        assert search.found is None
        assert said + search.held_back == whole
    else:
        assert (said, search.found.encode()) == (whole[: wanted[0]], wanted[1])


@pytest.mark.parametrize("grammar", [None, ANY], ids=["free", "grammar"])
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("stop", [["b"], ["ba", "ab"], ["aa", "baab"], ["€"], ["€a", "b€"]])
def test_the_text_is_what_it_would_have_been_up_to_a_stop_text(
    stop: list[str], seed: int, grammar: Any
) -> None:
    options = {"grammar": grammar, "params": seeded(seed), "model": StandIn(favourites=BIASED)}
    whole = run(**options)
    wanted = first_cut(whole.text_bytes, [text.encode() for text in stop])
    result = run(stop=stop, **options)
    assert result.token_ids == whole.token_ids[: len(result.token_ids)]
    if wanted is None:
        assert (result.text, result.finish_reason) == (whole.text, whole.finish_reason)
        assert result.stop_string is None
    else:
        assert result.text_bytes == whole.text_bytes[: wanted[0]]
        assert result.finish_reason == "stop_string"
        assert result.stop_string.encode() == wanted[1]
        # The last token is the one that made the stop text whole.
        spelled = [vocabulary().decode([i]) for i in result.token_ids]
        assert first_cut(b"".join(spelled), [wanted[1]]) is not None
        assert first_cut(b"".join(spelled[:-1]), [wanted[1]]) is None
    stream = run(stop=stop, stream=True, **options)
    pieces = list(stream)
    assert "".join(pieces) == result.text
    assert all(pieces)
    assert stream.result.stop_string == result.stop_string


@pytest.mark.parametrize("last", ["a", "b", "aa", None])
def test_what_was_held_back_is_said_when_the_text_ends_otherwise(last: str | None) -> None:
    """By an end token, by a sentence that cannot grow, by the budget."""
    a = TOKENS.index(b"a")
    for options in (
        {
            "model": StandIn(favourites={END: 99, a: 50}),
            "grammar": constrain.Grammar.from_regex("aa(b?)"),
        },
        {"grammar": constrain.Grammar.from_regex("aa")},
        {"model": StandIn(favourites={a: 99}), "max_new_tokens": 2},
    ):
        stream = run(stop=["aab", f"aa{last}"], stream=True, **options)
        assert "".join(stream) == stream.result.text == "aa"
        assert stream.result.text_bytes == b"aa"
        assert stream.result.stop_string is None
        assert stream.result.finish_reason != "stop_string"


def test_a_stop_text_that_a_sentence_ends_with_is_cut_off_too() -> None:
    result = run(grammar=constrain.Grammar.from_regex("a{3}b"), stop="b")
    assert (result.text, result.finish_reason, result.stop_string) == ("aaa", "stop_string", "b")


def test_each_row_of_a_batch_stops_by_itself() -> None:
    grammars = [constrain.Grammar.from_regex(pattern) for pattern in ("abab", "aaaa", "bb")]
    results = run([[3], [4], [5]], grammars, stop=["ba", "bb"])
    assert [one.text for one in results] == ["a", "aaaa", ""]
    assert [one.stop_string for one in results] == ["ba", None, "bb"]
    stream = run([[3], [4], [5]], grammars, stop=["ba", "bb"], stream=True)
    said = list(stream)
    for row, result in enumerate(results):
        assert "".join(text for i, text in said if i == row) == result.text


@pytest.mark.parametrize("stop", [None, [], ()])
def test_without_stop_texts_nothing_is_held_back(stop: Any) -> None:
    assert list(run(grammar=constrain.Grammar.from_regex("a{3}"), stop=stop, stream=True)) == [
        "a",
        "a",
        "a",
    ]


@pytest.mark.parametrize(
    ("stop", "error", "message"),
    [
        ("", SamplingError, "an empty text"),
        (["a", ""], SamplingError, "an empty text"),
        (["\ud800"], SamplingError, "cannot be written in UTF-8"),
        (b"a", TypeError, "stop is a text or a list of texts, not bytes"),
        (3, TypeError, "stop is a text or a list of texts, not int"),
        ([3], TypeError, "stop is a text or a list of texts, not one with int"),
        ([b"a"], TypeError, "not one with bytes"),
    ],
)
def test_what_is_no_stop_text_is_refused(stop: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        run(stop=stop)
