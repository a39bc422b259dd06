"""What is made once for a vocabulary: one object for all threads, gone with it."""

import gc
import threading
import weakref

import pytest

from constrain.vocab import Vocabulary, per_vocabulary


class Made:
    """Something that can be referred to weakly."""


def vocabulary() -> Vocabulary:
    return Vocabulary([b"a", None], [1])


def test_each_vocabulary_has_one_of_its_own():
    made_of = per_vocabulary(lambda vocab: Made())
    one, other = vocabulary(), vocabulary()
    assert one.fingerprint == other.fingerprint
    assert made_of(one) is made_of(one)
    assert made_of(one) is not made_of(other)


def test_two_functions_share_nothing():
    vocab = vocabulary()
    assert per_vocabulary(lambda _: "one")(vocab) == "one"
    assert per_vocabulary(lambda _: "other")(vocab) == "other"


def test_nothing_is_a_result_too():
    asked = []
    made_of = per_vocabulary(asked.append)
    vocab = vocabulary()
    assert made_of(vocab) is None
    assert made_of(vocab) is None
    assert asked == [vocab]


def test_threads_that_ask_at_once_get_the_first_ones():
    first_is_inside, go_on = threading.Event(), threading.Event()
    calls, found = [], []

    @per_vocabulary
    def made_of(vocab: Vocabulary) -> Made:
        calls.append(vocab)
        first_is_inside.set()
        assert go_on.wait(60)
        return Made()

    vocab = vocabulary()
    threads = [threading.Thread(target=lambda: found.append(made_of(vocab))) for _ in range(8)]
    threads[0].start()
    assert first_is_inside.wait(60)
    for thread in threads[1:]:
        thread.start()
    go_on.set()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert len(found) == 8
    assert len(set(map(id, found))) == 1


def test_it_goes_with_the_vocabulary():
    made_of = per_vocabulary(lambda vocab: Made())
    vocab = vocabulary()
    ends = weakref.ref(made_of(vocab))
    gc.collect()
    assert ends() is made_of(vocab)
    del vocab
    gc.collect()
    assert ends() is None


def test_what_failed_is_tried_again():
    calls = []

    @per_vocabulary
    def made_of(vocab: Vocabulary) -> int:
        calls.append(vocab)
        if len(calls) == 1:
            raise MemoryError
        return 7

    vocab = vocabulary()
    with pytest.raises(MemoryError):
        made_of(vocab)
    assert made_of(vocab) == 7


def test_it_keeps_its_name_and_docstring():
    @per_vocabulary
    def made_of(vocab: Vocabulary) -> int:
        """How many ids."""
        return vocab.vocab_size

    assert (made_of.__name__, made_of.__doc__) == ("made_of", "How many ids.")
