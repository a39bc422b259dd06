"""`GrammarCache`: compiled grammars for a server, as many as fit into some bytes.

A request brings the text of a grammar. Most texts come again, so what was compiled is kept, by the
text and the options; a compiled grammar also gets faster, as what one sequence visits is there for
the next. It grows meanwhile: its size is read again and again, and the least recently used go.

    cache = GrammarCache(vocab, max_bytes=1 << 30)
    matcher = cache.compile(Grammar.from_json_schema, schema, style="any").matcher()

Requests that come at once with one grammar wait for the first of them. What is forgotten lives on
with the matchers that use it.

Alternatives considered: a bound on how many there are (`lru_cache`): 4 MB or 400 KB each; sizes
read once (half of what a grammar comes to); to read all sizes at each request (a millisecond for
200 grammars).
"""

from __future__ import annotations

import hashlib
import marshal
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn, ParamSpec

from constrain.errors import ConstrainError, GrammarError
from constrain.grammar import Grammar
from constrain.limits import DEFAULT_LIMITS, Limits, require_limits
from constrain.matcher.compile import CompiledGrammar, compile
from constrain.vocab import Vocabulary

__all__ = ["CacheInfo", "GrammarCache"]

_P = ParamSpec("_P")
_READ_AGAIN: Final = 4
"""Sizes of others that each request reads again, in turn; some 5 us each."""
_ENTRY_BYTES: Final = 1_000
"""An entry beside what is compiled."""
_ATOMS: Final[frozenset[type]] = frozenset((str, bytes, int, float, bool, type(None)))
_DATA: Final[tuple[type, ...]] = (Mapping, list, tuple, *_ATOMS)


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What a cache has done so far.

    Attributes:
        hits: Requests for a grammar that was there, or being compiled.
        misses: Requests that compiled, those that failed included.
        evictions: Grammars that went because of the bound.
        num_grammars: How many there are.
        nbytes: What they hold, each as last read.
    """

    hits: int
    misses: int
    evictions: int
    num_grammars: int
    nbytes: int


@dataclass(slots=True, eq=False)
class _Entry:
    """A grammar that is compiled, or being compiled until `ready`."""

    ready: threading.Event = field(default_factory=threading.Event)
    maker: int = field(default_factory=threading.get_ident)
    """The thread that compiles it, and must not wait for itself."""
    compiled: CompiledGrammar | None = None
    error: ConstrainError | None = None
    nbytes: int = 0


class GrammarCache:
    """Compiled grammars of one vocabulary, bounded by their bytes. Thread-safe.

    Args:
        vocab: The tokens to generate with.
        max_bytes: What all of them may hold (`CompiledGrammar.nbytes`). The least recently used go
            first; one that is larger by itself is not kept. Rows that several grammars share are
            counted for each, and what only a matcher still holds is not counted.
        limits: Budgets for each grammar.
        eager: Make masks ahead of need: see `constrain.compile`.

    Raises:
        TypeError: An argument has another type.
        GrammarError: max_bytes is no size.

    Attributes:
        vocab: The tokens to generate with.
        max_bytes: The bound.
    """

    def __init__(
        self,
        vocab: Vocabulary,
        *,
        max_bytes: int,
        limits: Limits = DEFAULT_LIMITS,
        eager: bool = False,
    ) -> None:
        if not isinstance(vocab, Vocabulary):
            raise TypeError(
                f"GrammarCache wants a constrain.Vocabulary, not {type(vocab).__name__}: "
                "make one with Vocabulary.from_transformers(tokenizer)"
            )
        if not isinstance(max_bytes, int) or max_bytes < 0:
            raise GrammarError(
                f"max_bytes={max_bytes!r}: an integer >= 0 was expected",
                hint="1 << 30 is a GiB, room for about a thousand JSON Schemas",
            )
        require_limits(limits)
        self.vocab = vocab
        self.max_bytes = max_bytes
        self._limits = limits
        self._eager = eager
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()  # least recently used first
        self._to_read: list[Hashable] = []
        self._nbytes = 0
        self._hits = self._misses = self._evictions = 0

    def compile(
        self,
        make: Callable[_P, Grammar],
        /,
        *source: _P.args,
        **options: _P.kwargs,
    ) -> CompiledGrammar:
        """The compiled grammar of `make(*source, **options)`; made, and kept, if it is new.

        The key is `make` with all arguments: texts, dictionaries and lists count by a hash of their
        content (in its order, so a schema that declares its properties in another order is another
        schema), all others by type and equality.

        Args:
            make: `Grammar.from_json_schema`, `Grammar.from_tools`, or a function of your own whose
                result depends on its arguments only.
            source: Positional arguments of `make`.
            options: Keyword arguments of `make`.

        Raises:
            TypeError: An argument has no key; `get` takes one of your own.
            ConstrainError: The grammar is refused, as by `make` or `constrain.compile`, or an
                argument has more parts than `Limits.max_source_nodes`. Nothing is kept then.
        """
        if not callable(make):
            raise TypeError(
                "GrammarCache.compile wants what makes the grammar, and its arguments, not a "
                f"{type(make).__name__}\n"
                "hint: cache.compile(Grammar.from_json_schema, schema), or, for a grammar that is "
                "made already, cache.get(key, lambda: grammar)"
            )
        given = tuple(_key(value, self._limits) for value in source)
        named = tuple((name, _key(options[name], self._limits)) for name in sorted(options))
        key = (make, given, named)
        return self.get(key, lambda: make(*source, **options))

    def get(self, key: Hashable, make: Callable[[], Grammar]) -> CompiledGrammar:
        """The compiled grammar of a key of your own; `make` is called if the key is new.

        Args:
            key: Whatever tells this grammar from all others of this cache.
            make: Makes the grammar. Calls for one key at the same time wait for the first of them.

        Raises:
            ConstrainError: The grammar is refused, or `make` asks for its own key. Nothing is kept
                then, and calls that waited for it raise the same error.
        """
        while True:
            with self._lock:
                entry = self._entries.get(key)
                if entry is None:
                    entry = self._entries[key] = _Entry()
                    self._misses += 1
                    break
                self._entries.move_to_end(key)
                self._hits += 1
            if not entry.ready.is_set() and entry.maker == threading.get_ident():
                raise GrammarError(
                    "what makes a grammar of this cache asks the cache for that very grammar",
                    hint="a grammar that holds itself is a rule of one in GBNF or Lark",
                )
            entry.ready.wait()
            if entry.error is not None:
                raise entry.error
            if entry.compiled is not None:
                with self._lock:
                    self._keep_within_bound(key)
                return entry.compiled
            # Whoever compiled it was interrupted, or ran out of memory: that is not the grammar's.
        try:
            compiled = compile(make(), self.vocab, limits=self._limits, eager=self._eager)
            entry.compiled = compiled
        except ConstrainError as error:
            entry.error = error
            raise
        finally:
            with self._lock:
                if entry.compiled is None and self._entries.get(key) is entry:
                    del self._entries[key]
                self._keep_within_bound(key)
            entry.ready.set()
        return compiled

    def clear(self) -> None:
        """Forget all grammars; matchers in use keep theirs."""
        with self._lock:
            for key in list(self._entries):
                self._forget(key)

    @property
    def nbytes(self) -> int:
        """What the grammars hold, in bytes, read now."""
        with self._lock:
            for key in self._entries:
                self._read(key)
            return self._nbytes

    @property
    def info(self) -> CacheInfo:
        """Hits, misses, evictions and what is held."""
        with self._lock:
            return CacheInfo(
                self._hits, self._misses, self._evictions, len(self._entries), self._nbytes
            )

    def __len__(self) -> int:
        return len(self._entries)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a GrammarCache cannot be pickled or copied: its grammars are shared by threads\n"
            "hint: make one in each process; a vocabulary and a compiled grammar do pickle"
        )

    def __repr__(self) -> str:
        held = f"{self._nbytes:,} of {self.max_bytes:,} bytes"
        return f"GrammarCache({self.vocab!r}, {len(self)} grammars, {held})"

    # Under the lock

    def _keep_within_bound(self, used: Hashable) -> None:
        """Read some sizes again, that of the one just used among them; forget what is too much."""
        self._read(used)
        for _ in range(_READ_AGAIN):
            if not self._to_read:
                self._to_read = list(self._entries)
            if self._to_read:
                self._read(self._to_read.pop())
        while self._nbytes > self.max_bytes:
            done = (key for key, entry in self._entries.items() if entry.compiled is not None)
            self._forget(next(done))
            self._evictions += 1

    def _read(self, key: Hashable) -> None:
        entry = self._entries.get(key)
        if entry is not None and entry.compiled is not None:
            now = _ENTRY_BYTES + entry.compiled.nbytes
            self._nbytes += now - entry.nbytes
            entry.nbytes = now

    def _forget(self, key: Hashable) -> None:
        self._nbytes -= self._entries.pop(key).nbytes


def _key(value: Any, limits: Limits) -> Hashable:  # noqa: ANN401 - whatever a grammar is made from
    """What stands for an argument: two share it only if each part has an equal one of its type.

    Raises:
        TypeError: There is none.
        LimitExceededError: It has more parts than a grammar may, or holds itself.
    """
    key = _key_of_data(value, limits) if isinstance(value, _DATA) else (type(value), value)
    try:
        hash(key)
    except TypeError as error:
        raise _without_key(value, "it cannot be hashed") from error
    return key


def _key_of_data(value: Any, limits: Limits) -> Hashable:  # noqa: ANN401
    """The key of JSON in Python's types, or in some made of those.

    Each part with its type: 1 is not True, nor the key 1 the key "1", nor a tuple a list.

    Cost: 0.2 us a part.
    """
    flat: list[Any] = []
    types: dict[type[Any], int] = {}
    others: list[Hashable] = []
    stack = [value]
    while stack:
        part = stack.pop()
        kind = type(part)
        if kind in _ATOMS:
            flat.append(part)
            continue
        number = types.setdefault(kind, len(types))
        if isinstance(part, (Mapping, list, tuple)):
            flat.append((number, len(part)))
            limits.check("max_source_nodes", len(flat), "an argument of GrammarCache.compile")
            if isinstance(part, Mapping):
                for item in part.items():
                    stack.extend(item)
            else:
                stack.extend(part)
        elif isinstance(part, _DATA):
            flat.append((number,))
            others.append(part)
        else:
            raise _without_key(value, "it is no JSON")
    written = marshal.dumps(flat, 2)  # 2: what is equal looks equal, were it one object or two
    return hashlib.sha256(written).digest(), tuple(types), tuple(others)


def _without_key(value: object, why: str) -> TypeError:
    return TypeError(
        f"GrammarCache.compile has no key for an argument of type {type(value).__name__}: {why}\n"
        "hint: cache.get(key, lambda: ...) takes a key of your own"
    )
