"""What is kept of a vocabulary on disk: read where it can be trusted, else built as if it were not
there.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

# Imported before the cache is another one: kernels that are compiled are kept in it too.
from constrain import Grammar, allocate_token_bitmask, compile
from constrain.vocab import Vocabulary, disk_cache
from constrain.vocab import vocabulary as vocabulary_module
from constrain.vocab.disk_cache import load_arrays, path_of, save_arrays
from constrain.vocab.trie import build_trie

TOKENS = [*(bytes([b]) for b in range(256)), b'a"', b'", "', b"ab", b"abc", "é".encode(), None]
FIELDS = ("byte", "depth", "end", "token_start", "tokens", "children", "starts", "max_depth")


def vocabulary() -> Vocabulary:
    return Vocabulary(TOKENS, [len(TOKENS) - 1], vocab_size=300)


def contents(vocab: Vocabulary) -> dict[str, Any]:
    return {field: np.asarray(getattr(vocab.trie, field)).tolist() for field in FIELDS}


BUILT = contents(vocabulary())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, in which this small vocabulary is kept too."""
    monkeypatch.setenv("CONSTRAIN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(disk_cache, "MIN_TOKENS", 1)
    return tmp_path / "cache"


@pytest.fixture
def kept(folder: Path) -> Path:
    """The file of the vocabulary."""
    vocab = vocabulary()
    assert contents(vocab) == BUILT
    (path,) = folder.rglob("*.arrays")
    assert path == path_of(vocab.fingerprint, "trie")
    return path


def refuse_to_build(*_: object) -> None:
    raise AssertionError("it should have been read")


def test_what_is_kept_is_read_and_not_built(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary_module, "build_trie", refuse_to_build)
    vocab = vocabulary()
    assert contents(vocab) == BUILT
    for field in FIELDS[:-1]:
        array = getattr(vocab.trie, field)
        assert not array.flags.writeable
        assert array.flags.aligned
        assert array.flags.c_contiguous
        assert array.dtype == (np.uint8 if field == "byte" else np.int32)


def test_masks_are_the_same(kept: Path) -> None:
    grammar = Grammar.from_json_schema({"type": "array", "items": {"type": "string"}})

    def masks(vocab: Vocabulary) -> list[list[int]]:
        matcher = compile(grammar, vocab).matcher()
        bitmask = allocate_token_bitmask(1, vocab.vocab_size)
        found = []
        for byte in b'["ab", "\xc3\xa9\\n"]':
            matcher.fill_next_token_bitmask(bitmask)
            found.append(bitmask[0].tolist())
            assert matcher.accept_token(byte)
        return found

    read = masks(vocabulary())
    kept.unlink()
    assert masks(vocabulary()) == read


def test_another_process_reads_it(kept: Path) -> None:
    code = (
        "from constrain.vocab import Vocabulary, disk_cache, vocabulary\n"
        "disk_cache.MIN_TOKENS = 1; vocabulary.build_trie = None\n"
        f"vocab = Vocabulary({TOKENS!r}, [{len(TOKENS) - 1}], vocab_size=300)\n"
        "print(vocab.trie.num_nodes, len(vocab.trie.tokens))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    vocab = vocabulary()
    expected = [vocab.trie.num_nodes, len(vocab.trie.tokens)]
    assert [int(word) for word in done.stdout.split()] == expected


def test_small_vocabularies_leave_no_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_cache, "MIN_TOKENS", len(TOKENS) + 1)
    assert contents(vocabulary()) == BUILT
    assert not folder.exists()


def test_a_file_that_was_cut_short_is_built_again(
    kept: Path, caplog: pytest.LogCaptureFixture
) -> None:
    whole = kept.read_bytes()
    caplog.set_level(logging.INFO, "constrain.vocab")
    for length in [*range(120), *range(120, len(whole), 997), len(whole) - 1]:
        caplog.clear()
        kept.write_bytes(whole[:length])
        assert load_arrays(kept) is None
        assert f"what is kept at {kept} is damaged" in caplog.text
        assert not kept.exists()
    kept.write_bytes(whole[:-7])
    assert contents(vocabulary()) == BUILT
    assert kept.read_bytes() == whole


def test_a_byte_that_changed_is_noticed(kept: Path) -> None:
    whole = kept.read_bytes()
    for at in [*range(120), *range(120, len(whole), 997), len(whole) - 1]:
        changed = bytearray(whole)
        changed[at] ^= 0x10
        kept.write_bytes(changed)
        assert load_arrays(kept) is None
    kept.write_bytes(whole + b"\0")
    assert load_arrays(kept) is None
    kept.write_bytes(whole)
    assert load_arrays(kept) is not None


@pytest.mark.parametrize(
    "head",
    [
        *(b"", b"{", b"[1]", b"\xff", b'{"a": 1}', b'[["a", "int32"]]', b"[[[], 1, 2]]"),
        *(b'[["a", "object", 3]]', b'[["a", "uint8", 99999999]]', b'[["a", "uint8", -1]]'),
        b'[["a", "uint8", "3"]]',
    ],
)
def test_a_strange_head_with_the_right_check_sum_is_damage(kept: Path, head: bytes) -> None:
    content = b"constrain vocabulary\n" + len(head).to_bytes(4, "little") + head + b"\1\2\3"
    kept.write_bytes(content + zlib.crc32(content).to_bytes(4, "little"))
    assert load_arrays(kept) is None
    assert contents(vocabulary()) == BUILT


def damaged(arrays: disk_cache.Arrays) -> Iterator[disk_cache.Arrays]:
    """Arrays that are no trie of this vocabulary, in every way that a walk would suffer from."""
    nodes = len(arrays["byte"])

    def changed(name: str, at: int, value: int) -> disk_cache.Arrays:
        array = arrays[name].copy()
        array[at] = value
        return {**arrays, name: array}

    yield {name: array for name, array in arrays.items() if name != "end"}
    yield {**arrays, "more": arrays["end"]}
    yield changed("children", 0, nodes << 8)
    yield changed("children", nodes - 1, 0)
    yield changed("children", 3, -1)
    yield changed("end", 3, 3)
    yield changed("end", 3, nodes + 1)
    yield changed("depth", 3, -1)
    yield changed("tokens", 0, len(TOKENS))
    yield changed("tokens", 0, -5)
    yield changed("token_start", 4, -5)
    yield changed("token_start", -1, 5)
    yield changed("starts", 0, 1)
    yield changed("starts", -1, 1 << 20)
    yield changed("starts", -2, 1 << 20)
    yield changed("starts", 5, -1)
    for name in arrays:
        yield {**arrays, name: arrays[name][:-1]}
        other = np.int32 if arrays[name].dtype == np.uint8 else np.uint8
        yield {**arrays, name: arrays[name].astype(other)}
    smaller = build_trie([b"a", b"ab"])
    yield {name: getattr(smaller, name) for name in arrays}


def test_arrays_that_are_no_trie_of_it_are_built_again(kept: Path) -> None:
    arrays = load_arrays(kept)
    assert arrays is not None
    count = 0
    for wrong in damaged(arrays):
        assert save_arrays(kept, wrong)
        assert contents(vocabulary()) == BUILT
        count += 1
    assert count > 28


def test_a_folder_that_cannot_be_made_is_none(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder.write_bytes(b"a file where the folder should be")
    caplog.set_level(logging.INFO, "constrain.vocab")
    assert contents(vocabulary()) == BUILT
    assert "the next process makes it" in caplog.text
    assert folder.is_file()


@pytest.mark.parametrize("error", [PermissionError(13, "no"), OSError(28, "No space left")])
def test_a_folder_that_cannot_be_written_to_is_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("tempfile.mkstemp", fail)
    assert contents(vocabulary()) == BUILT
    assert not list(folder.rglob("*.arrays"))


def test_a_disk_that_is_full_leaves_nothing_half_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left")

    monkeypatch.setattr(Path, "replace", fail)
    assert contents(vocabulary()) == BUILT
    assert not [path for path in folder.rglob("*") if path.is_file()]


def test_a_file_that_cannot_be_read_is_none(kept: Path, caplog: pytest.LogCaptureFixture) -> None:
    kept.unlink()
    kept.mkdir()  # for everybody, root too
    caplog.set_level(logging.INFO, "constrain.vocab")
    assert contents(vocabulary()) == BUILT
    assert "cannot read what is kept" in caplog.text
    assert not list(kept.parent.glob(".*"))


def test_other_code_does_not_read_it(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.write_bytes(b"what another version may have kept there")
    monkeypatch.setattr(disk_cache, "_source_fingerprint", lambda sources: "another")
    vocab = vocabulary()
    assert contents(vocab) == BUILT
    assert path_of(vocab.fingerprint, "trie") != kept
    assert kept.read_bytes() == b"what another version may have kept there"


def test_the_source_is_in_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    names = set()
    read_bytes = Path.read_bytes
    for more in (b"", b"\n# changed"):
        monkeypatch.setattr(Path, "read_bytes", lambda path, more=more: read_bytes(path) + more)
        names.add(disk_cache._source_fingerprint.__wrapped__(()))
    assert len(names) == 2


def test_many_write_at_once_and_each_finds_a_whole_file(folder: Path) -> None:
    found: list[bool] = []
    barrier = threading.Barrier(8)

    def prepare() -> None:
        barrier.wait()
        for _ in range(5):
            found.append(contents(vocabulary()) == BUILT)

    threads = [threading.Thread(target=prepare) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 40
    (path,) = [path for path in folder.rglob("*") if path.is_file()]
    assert load_arrays(path) is not None


def test_those_not_used_for_longest_go(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = path_of("0" * 64, "a")
    arrays = {"a": np.arange(1000, dtype=np.int32)}
    paths = [path.with_name(f"{i}.arrays") for i in range(6)]
    for i, one in enumerate(paths[:5]):
        assert save_arrays(one, arrays)
        os.utime(one, (i, i))
    assert load_arrays(paths[0]) is not None  # now it was used last
    monkeypatch.setattr(disk_cache, "MAX_CACHE_BYTES", 3 * paths[0].stat().st_size)
    assert save_arrays(paths[5], arrays)
    assert [one.exists() for one in paths] == [True, False, False, False, True, True]
    monkeypatch.setattr(disk_cache, "MAX_CACHE_BYTES", 1)
    assert save_arrays(paths[1], arrays)
    assert [one.exists() for one in paths] == [False, True, False, False, False, False]


def test_arrays_come_back_as_they_were(folder: Path) -> None:
    arrays = {
        "bytes": np.arange(7, dtype=np.uint8),
        "numbers": np.arange(-3, 3, dtype=np.int32),
        "none": np.zeros(0, np.int32),
        "every second": np.arange(10, dtype=np.int32)[::2],
    }
    path = path_of("f" * 64, "a")
    assert save_arrays(path, arrays)
    read = load_arrays(path)
    assert read is not None
    assert {name: (a.dtype, a.tolist()) for name, a in read.items()} == {
        name: (a.dtype, a.tolist()) for name, a in arrays.items()
    }
    head = path.read_bytes().split(b"]]")[0].split(b"[[")[1]
    assert json.loads(b"[[" + head + b"]]")[-1] == ["bytes", "uint8", 7]
