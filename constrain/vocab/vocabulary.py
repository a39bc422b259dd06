"""`Vocabulary`: the bytes of every token id, and which ids are never text.

    >>> vocab = Vocabulary([b"{", b"}", b"ab", None], [3], {"<end>": 3}, vocab_size=32)
    >>> vocab
    Vocabulary(num_tokens=4, vocab_size=32, eos_token_ids=(3,), special_tokens=1)
    >>> vocab.decode([0, 2, 1, 3])
    b'{ab}'

Three kinds of id: *text* (its bytes are known), *never text* (`None`: special tokens, end tokens,
ids that nothing uses), and *padding* (ids from `num_tokens` up to `vocab_size`: logits exist,
tokens don't). A mask never allows padding, never allows an id of no bytes (it would make no
progress), and allows an id that is never text only where the grammar names it or the text may end.
"""

from __future__ import annotations

import hashlib
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from constrain.errors import TokenRejectedError, VocabularyError
from constrain.vocab import disk_cache
from constrain.vocab.arguments import (
    MAX_TOKEN_BYTES,
    MAX_TOTAL_BYTES,
    MAX_VOCAB_SIZE,
    as_id,
    check_sizes,
    checked_ends,
    checked_specials,
    checked_texts,
    checked_width,
    shown,
)
from constrain.vocab.kept_trie import arrays_of, trie_of
from constrain.vocab.texts import NEVER_TEXT, Texts
from constrain.vocab.trie import Trie, build_trie

if TYPE_CHECKING:
    from constrain.vocab.adapters.table import TokenTable

__all__ = ["MAX_TOKEN_BYTES", "MAX_TOTAL_BYTES", "MAX_VOCAB_SIZE", "EndTokens", "Vocabulary"]

_BYTES_OF_TEXT = frozenset([*b"\t\n\r", *range(0x20, 0x7F), *range(0x80, 0xF1), 0xF3, 0xF4]) - {
    0xC0,
    0xC1,
}

_T = TypeVar("_T")

EndTokens = int | str | Iterable[int | str]
"""End tokens as a caller may give them: an id, the name of a token, or several."""


class Vocabulary:
    """Exact bytes for every token id of a model. Immutable, and shared freely between threads.

    Args:
        token_bytes: Bytes of each id, raw: not the encoded spelling of a tokenizer file (`Ġ`, `▁`,
            `<0x0A>`); `from_transformers` and its like translate that. None for an id that is never
            text. Bytes need not be UTF-8 by themselves. Several ids may have the same bytes: each
            is allowed where one is. `b""` is never allowed.
        eos_token_ids: Every id the decoding loop stops on, at least one; the first is the one to
            show. Never text: bytes given for them are ignored.
        special_tokens: Ids by name, as a grammar may name them. Never text: bytes given for them
            are ignored.
        vocab_size: Width of the logits, `len(token_bytes)` by default. Wider: ids past the list are
            padding and never allowed (a special or end id among them is taken in). Narrower: the
            model's output layer lacks the ids from `vocab_size` on, so they don't exist and are
            dropped, special and end ids too; at least one end id must remain.

    Attributes:
        token_bytes: Bytes of each id; None where it is never text.
        vocab_size: Width of the logits.
        num_tokens: `len(token_bytes)`, at most `vocab_size`.
        eos_token_ids: End ids, each once, in the order given.
        special_tokens: Read-only mapping from name to id.

    Raises:
        VocabularyError: A wrong type, an id out of range, no end token, two names for one id, or a
            size beyond `MAX_VOCAB_SIZE`, `MAX_TOKEN_BYTES`, `MAX_TOTAL_BYTES`.
    """

    __slots__ = (
        "__weakref__",
        "_eos_token_ids",
        "_fingerprint",
        "_lock",
        "_offsets",
        "_special_tokens",
        "_spells_all_text",
        "_text_lengths",
        "_texts",
        "_token_bytes",
        "_trie",
        "_vocab_size",
    )

    def __init__(
        self,
        token_bytes: Sequence[bytes | None],
        eos_token_ids: Sequence[int],
        special_tokens: Mapping[str, int] | None = None,
        vocab_size: int | None = None,
    ) -> None:
        texts = Texts.of(checked_texts(token_bytes))
        self._fill(texts, eos_token_ids, special_tokens or {}, vocab_size)

    def _fill(
        self,
        texts: Texts,
        eos_token_ids: Sequence[int],
        special_tokens: Mapping[str, int],
        vocab_size: int | None,
    ) -> None:
        num_ids = len(texts.lengths)
        width = num_ids if vocab_size is None else checked_width(vocab_size)
        id_range = max(width, num_ids)
        ends = checked_ends(eos_token_ids, id_range)
        specials = checked_specials(special_tokens, id_range)

        kept_ends = tuple(i for i in ends if i < width)
        if not kept_ends:
            raise VocabularyError(
                f"no end token is left: vocab_size is {width}, and every id in eos_token_ids "
                f"{shown(ends)} is at or past it\n"
                "hint: give the width of the model's logits, or the end ids that the model has"
            )
        kept_specials = {name: i for name, i in specials.items() if i < width}
        never_text = set(kept_ends).union(kept_specials.values())
        num_kept = max(min(num_ids, width), max(never_text) + 1)
        if num_kept != num_ids:
            texts = texts.resized(num_kept)
        if any(texts.lengths[i] != NEVER_TEXT for i in never_text):
            texts = texts.without(never_text)
        check_sizes(texts)

        self._texts = texts
        self._vocab_size = width
        self._eos_token_ids = kept_ends
        self._special_tokens = MappingProxyType(kept_specials)
        self._lock = threading.RLock()
        self._token_bytes: tuple[bytes | None, ...] | None = None
        self._offsets: npt.NDArray[np.int32] | None = None
        self._text_lengths: npt.NDArray[np.int32] | None = None
        self._trie: Trie | None = None
        self._fingerprint: str | None = None
        self._spells_all_text: bool | None = None

    @classmethod
    def from_transformers(
        cls,
        tokenizer: Any,  # noqa: ANN401 - any of dozens of classes, told apart by what they hold
        vocab_size: int | None = None,
        *,
        eos_token_ids: EndTokens | None = None,
    ) -> Vocabulary:
        """Read a tokenizer of `transformers`.

        `constrain.vocab.adapters` defines the bytes of a token. Decode with
        `clean_up_tokenization_spaces=False`: that clean-up changes text after the fact, and no mask
        sees it.

        Args:
            tokenizer: One backed by `tokenizers` ("fast"), by a SentencePiece model, by tiktoken,
                or by mistral-common.
            vocab_size: Width of the logits (`model.config.vocab_size`) if it differs from the
                tokenizer's.
            eos_token_ids: All end tokens, ids or names, in place of the tokenizer's single one.
                Chat models often have several: pass `model.generation_config.eos_token_id`.

        Raises:
            VocabularyError: No end token can be found, or the bytes of a token cannot be told
                exactly; the message names the component.
        """
        from constrain.vocab.adapters.transformers import read_transformers

        return cls._from_table(read_transformers(tokenizer, eos_token_ids), vocab_size)

    @classmethod
    def from_tokenizers(
        cls,
        tokenizer: Any,  # noqa: ANN401 - tokenizers.Tokenizer, not imported here
        vocab_size: int | None = None,
        *,
        eos_token_ids: EndTokens,
    ) -> Vocabulary:
        """Read a `tokenizers.Tokenizer` (a tokenizer.json), which doesn't say what ends a text.

        Args:
            tokenizer: The tokenizer; its decoder says what bytes a token is.
            vocab_size: Width of the logits if it differs from the highest id + 1.
            eos_token_ids: All end tokens, ids or names.

        Raises:
            VocabularyError: The bytes of a token cannot be told exactly; the message names the
                component.
        """
        from constrain.vocab.adapters.tokenizers import read_tokenizers

        return cls._from_table(read_tokenizers(tokenizer, eos_token_ids), vocab_size)

    @classmethod
    def from_tiktoken(
        cls,
        encoding: Any,  # noqa: ANN401 - tiktoken.Encoding, not imported here
        vocab_size: int | None = None,
        *,
        eos_token_ids: EndTokens | None = None,
    ) -> Vocabulary:
        """Read a `tiktoken.Encoding`.

        Args:
            encoding: The encoding.
            vocab_size: Width of the logits if it differs from `encoding.n_vocab`.
            eos_token_ids: All end tokens, ids or names; `<|endoftext|>` by default.

        Raises:
            VocabularyError: No end token.
        """
        from constrain.vocab.adapters.tiktoken import read_tiktoken

        return cls._from_table(read_tiktoken(encoding, eos_token_ids), vocab_size)

    @classmethod
    def from_sentencepiece(
        cls,
        processor: Any,  # noqa: ANN401 - sentencepiece.SentencePieceProcessor, not imported here
        vocab_size: int | None = None,
        *,
        eos_token_ids: EndTokens | None = None,
    ) -> Vocabulary:
        """Read a `sentencepiece.SentencePieceProcessor` (a tokenizer.model).

        Args:
            processor: The processor, with a model loaded.
            vocab_size: Width of the logits if it differs from the number of pieces.
            eos_token_ids: All end tokens, ids or pieces; the model's `eos_id` by default.

        Raises:
            VocabularyError: No model, no end token, or a model that rewrites text after decoding.
        """
        from constrain.vocab.adapters.sentencepiece import read_sentencepiece

        return cls._from_table(read_sentencepiece(processor, eos_token_ids), vocab_size)

    @classmethod
    def from_mistral_common(
        cls,
        tokenizer: Any,  # noqa: ANN401 - a class of mistral_common, not imported here
        vocab_size: int | None = None,
        *,
        eos_token_ids: EndTokens | None = None,
    ) -> Vocabulary:
        """Read a `MistralTokenizer` of mistral-common, or its Tekken or SentencePiece part.

        Args:
            tokenizer: The tokenizer.
            vocab_size: Width of the logits if it differs from the tokenizer's.
            eos_token_ids: All end tokens, ids or names; the tokenizer's `eos_id` by default.

        Raises:
            VocabularyError: No end token, or neither a Tekken nor a SentencePiece tokenizer.
        """
        from constrain.vocab.adapters.mistral_common import read_mistral_common

        return cls._from_table(read_mistral_common(tokenizer, eos_token_ids), vocab_size)

    @classmethod
    def _from_table(cls, table: TokenTable, vocab_size: int | None) -> Vocabulary:
        vocab = cls.__new__(cls)
        vocab._fill(table.texts, table.eos_token_ids, table.special_tokens, vocab_size)
        return vocab

    @property
    def token_bytes(self) -> tuple[bytes | None, ...]:
        """Bytes of each id; None where the id is never text.

        Made on first use, and kept: 20 ms and 8 MB for 150,000 tokens.
        """
        if self._token_bytes is None:
            with self._lock:
                if self._token_bytes is None:
                    self._token_bytes = self._texts.as_tuple()
        return self._token_bytes

    def bytes_of(self, token_id: int) -> bytes:
        """The bytes of one id, empty where it is never text; makes no `token_bytes` of all."""
        first, last = self.flat_offsets[token_id : token_id + 2].tolist()
        return self._texts.flat[first:last].tobytes()

    @property
    def num_tokens(self) -> int:
        """How many ids the vocabulary knows; ids from here to `vocab_size` are padding."""
        return len(self._texts.lengths)

    @property
    def vocab_size(self) -> int:
        """Width of the logits."""
        return self._vocab_size

    @property
    def eos_token_ids(self) -> tuple[int, ...]:
        """Ids that end a text, at least one."""
        return self._eos_token_ids

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """Ids that a grammar may name; read-only."""
        return self._special_tokens

    def id_of(self, name: str | int) -> int:
        """The id of the token that a grammar names.

        Args:
            name: The name of a special token, or the text of a token; or an id, which is checked.

        Raises:
            VocabularyError: There is none.

        Cost: for a name that is no special token's, a look at every token.
        """
        if isinstance(name, int):
            if 0 <= name < self.vocab_size:
                return name
            raise VocabularyError(
                f"the grammar names token {name}, and ids go from 0 to {self.vocab_size - 1}"
            )
        found = self._special_tokens.get(name)
        if found is not None:
            return found
        try:
            return self.token_bytes.index(name.encode())
        except ValueError:
            near = get_close_matches(name, self._special_tokens, 3) or [*self._special_tokens][:3]
            has = f"it has {', '.join(map(repr, near))}" if near else "it has no special tokens"
            raise VocabularyError(
                f"the vocabulary has no token {name!r}\n"
                f"hint: {has}; special_tokens of Vocabulary names others"
            ) from None

    @property
    def flat_bytes(self) -> npt.NDArray[np.uint8]:
        """The bytes of all ids end to end, in id order; uint8, read-only, never empty."""
        return self._texts.flat

    @property
    def flat_offsets(self) -> npt.NDArray[np.int32]:
        """Where each id lies in `flat_bytes`: `flat_bytes[flat_offsets[i]:flat_offsets[i + 1]]`.

        [num_tokens + 1], int32, read-only. The length is 0 for ids without bytes.
        """
        if self._offsets is None:
            self._offsets = self._texts.offsets()
        return self._offsets

    @property
    def text_lengths(self) -> npt.NDArray[np.int32]:
        """How many bytes each id has; 0 for ids that are never text, and for padding.

        [vocab_size], int32, read-only.
        """
        if self._text_lengths is None:
            found = np.zeros(self._vocab_size, np.int32)
            found[: self.num_tokens] = np.maximum(self._texts.lengths, 0)
            found.flags.writeable = False
            self._text_lengths = found
        return self._text_lengths

    @property
    def trie(self) -> Trie:
        """The text tokens as a trie, built or read from disk on first use, and kept.

        Cost: 0.2 s for 152,000 tokens where no process has built it before, else 10 ms.
        """
        if self._trie is None:
            with self._lock:
                if self._trie is None:
                    num_texts = int(np.count_nonzero(self._texts.lengths > 0))
                    self._trie = self.derive(
                        "trie",
                        make=lambda: arrays_of(build_trie(self.token_bytes)),
                        read=lambda arrays: trie_of(arrays, self.num_tokens, num_texts),
                    )
        return self._trie

    def derive(
        self,
        name: str,
        *,
        make: Callable[[], disk_cache.Arrays],
        read: Callable[[disk_cache.Arrays], _T | None],
        sources: tuple[str, ...] = (),
    ) -> _T:
        """What follows from the vocabulary alone, made, or read if a process kept it before.

        Kept is only what follows from a vocabulary of `disk_cache.MIN_TOKENS` ids or more. A disk
        that fails, or a file that is damaged, is as if nothing was kept.

        Args:
            name: What it is; letters only.
            make: Makes it as arrays: uint8 or int32, one-dimensional.
            read: Makes it of such arrays, which are read-only where they come from disk. None if
                they are not of this vocabulary: a file proves nothing.
            sources: Files of the code of `make`, outside of this room: where they change, what was
                kept before is not read.
        """
        path = None
        if self.num_tokens >= disk_cache.MIN_TOKENS:
            path = disk_cache.path_of(self.fingerprint, name, sources)
            kept = disk_cache.load_arrays(path)
            found = None if kept is None else read(kept)
            if found is not None:
                return found
            if kept is not None:
                disk_cache.discard(path)
        arrays = make()
        if path is not None:
            disk_cache.save_arrays(path, arrays)
        found = read(arrays)
        assert found is not None, f"{name} is not what it should be"
        return found

    @property
    def spells_all_text(self) -> bool:
        """Whether each byte of assigned text is a token by itself, so that no text is out of reach.

        True for byte-level and byte-fallback tokenizers. If not, a grammar may come to a place that
        no token goes on from. Control characters other than tab and line ends, and the first bytes
        of the planes 4 to 11, where nothing is assigned, may be missing: some tokenizers lack them.
        """
        if self._spells_all_text is None:
            single = set(self.trie.single_bytes)
            self._spells_all_text = single.issuperset(_BYTES_OF_TEXT)
        return self._spells_all_text

    @property
    def fingerprint(self) -> str:
        """SHA-256 in hex over all that a mask depends on: equal content, equal fingerprint."""
        if self._fingerprint is None:
            self._fingerprint = self._digest()
        return self._fingerprint

    def decode(self, ids: Iterable[int], *, skip_special_tokens: bool = True) -> bytes:
        """Concatenate the bytes of `ids`.

        Unlike a tokenizer's own decode it strips no leading space and cleans nothing up: this is
        the text as the masks see it. It may end inside a code point.

        Args:
            ids: Token ids. Padding and ids that nothing uses contribute no bytes.
            skip_special_tokens: False writes the names of special tokens, in UTF-8, where they
                stand.

        Raises:
            TokenRejectedError: An id is not an integer in 0..vocab_size - 1.
            TypeError: `ids` is no list of ids.
        """
        if not isinstance(ids, Iterable):
            raise TypeError(f"ids is a list of token ids, not {type(ids).__name__}")
        names = {} if skip_special_tokens else {i: n for n, i in self._special_tokens.items()}
        texts = self.token_bytes
        parts = []
        for position, given in enumerate(ids):
            i = as_id(given)
            if i is None or not 0 <= i < self._vocab_size:
                raise TokenRejectedError(
                    f"{given!r} at position {position} is not a token id: expected an integer in "
                    f"0..{self._vocab_size - 1}"
                )
            text = texts[i] if i < len(texts) else None
            parts.append(names.get(i, "").encode() if text is None else text)
        return b"".join(parts)

    def __len__(self) -> int:
        return self.num_tokens

    def __repr__(self) -> str:
        return (
            f"Vocabulary(num_tokens={self.num_tokens}, vocab_size={self.vocab_size}, "
            f"eos_token_ids={shown(self.eos_token_ids)}, "
            f"special_tokens={len(self.special_tokens)})"
        )

    def __copy__(self) -> Vocabulary:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Vocabulary:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # Locks don't pickle, and what is prepared is on disk or cheaper to build than to send.
        texts = self._texts
        flat = texts.flat[: texts.num_bytes].tobytes()
        lengths = texts.lengths.astype("<i4").tobytes()
        rest = self._eos_token_ids, dict(self._special_tokens), self._vocab_size
        return _restored, (type(self), flat, lengths, *rest)

    def _digest(self) -> str:
        digest = hashlib.sha256(b"constrain vocabulary 1\0")
        texts = self._texts
        for numbers in ([self._vocab_size], texts.lengths, sorted(self._eos_token_ids)):
            digest.update(np.array(len(numbers), "<i8").tobytes())
            digest.update(np.asarray(numbers, "<i8").tobytes())
        digest.update(texts.flat[: texts.num_bytes].tobytes())
        for name, i in sorted(self._special_tokens.items()):
            encoded = name.encode()
            digest.update(np.array([i, len(encoded)], dtype="<i8").tobytes() + encoded)
        return digest.hexdigest()


_RESTORED: weakref.WeakValueDictionary[str, Vocabulary] = weakref.WeakValueDictionary()
_RESTORED_LOCK = threading.Lock()


def _restored(
    cls: type[Vocabulary],
    flat: bytes,
    lengths: bytes,
    eos_token_ids: tuple[int, ...],
    special_tokens: dict[str, int],
    vocab_size: int,
) -> Vocabulary:
    """A vocabulary out of a pickle.

    Pickles of one vocabulary become one object as long as it is in use, with one trie and one set
    of masks: a server may get it with every grammar.
    """
    vocab = cls.__new__(cls)
    texts = Texts.over(flat, np.frombuffer(lengths, "<i4"))
    vocab._fill(texts, eos_token_ids, special_tokens, vocab_size)
    key = f"{cls.__module__}.{cls.__qualname__} {eos_token_ids} {vocab.fingerprint}"
    with _RESTORED_LOCK:
        return _RESTORED.setdefault(key, vocab)
