"""A real tokenizer cut to its first tokens, or grown by further merges.

A byte-level BPE tokenizer of n tokens is the beginning of a longer one: its merges are in order of
rank. So the first n pieces with the merges that make them are a tokenizer of its own. It is grown
by merging two pieces of letters, drawn with a fixed seed, which gives long words, as a larger
training would. Special tokens come last, as they do in the original.

The result is a folder with `tokenizer.json`, which every engine reads by its own constructor.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from benchmarks.registry import DataMissingError
from benchmarks.vocabularies import TokenizerFiles, cache_folder, locate

__all__ = ["resize", "resized_description"]

_LAYOUT = 1
"""Part of the folder's name: a change of what is written here is a new folder."""


def resize(name: str, size: int) -> TokenizerFiles:
    """A tokenizer of exactly `size` ids, made from a real one.

    Args:
        name: A byte-level tokenizer of `benchmarks.vocabularies`.
        size: Number of ids, special ones included; the logits are as wide.

    Raises:
        DataMissingError: The tokenizer is absent, or not byte-level BPE.

    Cost: a second or two the first time; then it is in the cache folder.
    """
    source = locate(name)
    folder = cache_folder() / f"{name}-resized-{_LAYOUT}-{size}"
    files = TokenizerFiles(f"{name}-{size}", folder, size)
    if not (folder / "tokenizer_config.json").is_file():
        folder.mkdir(parents=True, exist_ok=True)
        description = resized_description(source.description(), size)
        config = _config(source.folder)
        _write(folder / "tokenizer.json", description)
        _write(folder / "tokenizer_config.json", config)  # last: it says that all is there
    return files


def resized_description(description: dict[str, Any], size: int) -> dict[str, Any]:
    """The contents of a `tokenizer.json` with another number of ids.

    Raises:
        DataMissingError: It is not BPE, or its tokens cannot be cut or grown to that size.
    """
    model = description["model"]
    if model.get("type") != "BPE" or model.get("byte_fallback"):
        raise DataMissingError("only a byte-level BPE tokenizer can be resized")
    special = [token for token in description["added_tokens"] if token["special"]]
    pieces = sorted(model["vocab"], key=model["vocab"].__getitem__)
    merges = [tuple(m.split(" ")) if isinstance(m, str) else tuple(m) for m in model["merges"]]
    wanted = size - len(special)
    if wanted < 256:
        raise DataMissingError(f"{size} ids are too few for 256 bytes and {len(special)} specials")
    if wanted <= len(pieces):
        pieces = pieces[:wanted]
        kept = set(pieces)
        merges = [m for m in merges if kept.issuperset((*m, m[0] + m[1]))]
    else:
        grown = _grown(pieces, wanted - len(pieces))
        merges += grown
        pieces += [left + right for left, right in grown]
    tokens = [token | {"id": wanted + index} for index, token in enumerate(special)]
    vocab = {piece: token_id for token_id, piece in enumerate(pieces)}
    resized = dict(model, vocab=vocab, merges=[list(merge) for merge in merges])
    return dict(description, model=resized, added_tokens=tokens, post_processor=None)


def _grown(pieces: list[str], count: int) -> list[tuple[str, str]]:
    """Pairs of pieces of letters whose concatenations are new and all different."""
    known = set(pieces)
    lefts = [p for p in pieces if 2 <= len(p) <= 8 and p.lstrip("\u0120").isascii() and _word(p)]
    rights = [p for p in lefts if not p.startswith("\u0120") and len(p) <= 6]
    if len(lefts) * len(rights) < 4 * count:
        raise DataMissingError(f"too few pieces of letters to grow by {count}")
    draw = random.Random(0)
    pairs: list[tuple[str, str]] = []
    while len(pairs) < count:
        left, right = draw.choice(lefts), draw.choice(rights)
        if left + right not in known:
            known.add(left + right)
            pairs.append((left, right))
    return pairs


def _word(piece: str) -> bool:
    return piece.removeprefix("\u0120").isalpha()


def _config(folder: Path) -> dict[str, Any]:
    config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": config["eos_token"],
        "clean_up_tokenization_spaces": False,
    }


def _write(path: Path, contents: dict[str, Any]) -> None:
    path.write_text(json.dumps(contents, ensure_ascii=False), encoding="utf-8")
