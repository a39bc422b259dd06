"""The array that a store's terms lie in: its sections, its first size, and how it grows.

An arena has room for more than it holds. A small one is plain memory. A large one lies on pages of
its own: those that nothing was written to cost nothing, and when it is replaced by a larger one all
of them go back to the system at once, where freed memory between others would stay.

    200,000 terms: 20 MB of room, 15 MB used; grown in the heap, the process held 60 MB in the end

Memory of arenas of usual size is kept when they are gone, up to a bound, for the next ones: the
system takes longer to give new pages (some microseconds each) than it takes to make terms in them.

Alternatives considered: pages of their own for every arena. Memory that is used again needs no new
pages, so that grammars of usual size cost a tenth more time.
"""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from constrain.errors import LimitExceededError
from constrain.kernels.derive import layout as lay

__all__ = [
    "COUNTS",
    "FIRST_CAPACITY",
    "SMALL",
    "TABLES",
    "Int32Array",
    "empty_arena",
    "grown_arena",
    "held_bytes",
]

Int32Array = npt.NDArray[np.int32]

FIRST_CAPACITY: Final = {
    "nodes": 2048,
    "pool": 2048,
    "classes": 128,
    "partitions": 256,
    "targets": 16384,
    "captures": 64,
    "token_sets": 8,
    "token_ids": 32,
    "products": lay.PRODUCT_SLOTS,
    "returns": lay.RETURN_SLOTS,
    "work": 16384,
    "frames": 512,
}
TABLES: Final = {lay.TABLE: "nodes", lay.CLASS_TABLE: "classes", lay.PARTITION_TABLE: "partitions"}
"""Sections that are hashed, and the capacity that each follows."""
SMALL: Final = 1 << 19
"""Bytes up to which an arena grows in large steps."""

SECTIONS: Final = (
    # section of the layout, the capacity it follows, slots for each
    (lay.NODES, "nodes", lay.NODE),
    (lay.MARK, "nodes", 1),
    (lay.QUEUE, "nodes", 1),
    (lay.PARENT, "nodes", 1),
    (lay.TABLE, "nodes", 2),
    (lay.POOL, "pool", 1),
    (lay.CLASSES, "classes", lay.CLASS_WORDS),
    (lay.CLASS_TABLE, "classes", 2),
    (lay.PARTITIONS, "partitions", lay.PARTITION_WORDS),
    (lay.PARTITION_SIZE, "partitions", 1),
    (lay.PARTITION_TABLE, "partitions", 2),
    (lay.TARGETS, "targets", 1),
    (lay.BODY, "nodes", 1),
    (lay.WORK, "work", 1),
    (lay.FRAMES, "frames", 1),
    (lay.COVER_MARK, "nodes", 1),
    (lay.COVER_QUEUE, "nodes", 1),
    (lay.COVER_WITH, "nodes", 1),
    (lay.CAPTURES, "captures", lay.CAPTURE_SLOTS),
    (lay.TOKEN_SETS, "token_sets", 3),
    (lay.TOKEN_IDS, "token_ids", 1),
    (lay.FIRST_BYTES, "partitions", lay.PARTITION_WORDS),
    (lay.PRODUCTS, "products", 3),
    (lay.RETURNS, "returns", 2),
)
COUNTS: Final = (
    ("nodes", lay.NUM_NODES),
    ("pool", lay.NUM_POOL),
    ("classes", lay.NUM_CLASSES),
    ("partitions", lay.NUM_PARTITIONS),
    ("targets", lay.NUM_TARGETS),
)
"""Where the head says how much of a capacity is used."""

SCRATCH: Final = frozenset(
    (
        *(lay.MARK, lay.QUEUE, lay.PARENT, lay.WORK, lay.FRAMES),
        *(lay.COVER_MARK, lay.COVER_QUEUE, lay.COVER_WITH),
    )
)
"""Sections that a kernel reads only what it has written to since it was called."""

MAX_ARENA_BYTES: Final = 4 * lay.INFINITE
"""What int32 offsets reach."""
_MAPPED: Final = 1 << 20
"""Bytes from which on an arena lies on pages of its own."""
MAX_KEPT: Final = 1 << 22
"""Bytes of the largest memory that is kept for another arena."""
MAX_ALL_KEPT: Final = 1 << 23
"""Bytes of all that is kept so, in a process."""
_BLOCK: Final = 1 << 14
"""Slots, 64 KiB, that are not copied where all are zero: that would take pages."""


def empty_arena(capacity: Mapping[str, int]) -> Int32Array:
    """An arena with room for what `capacity` says, and nothing in it.

    Raises:
        LimitExceededError: It would be larger than `MAX_ARENA_BYTES`.
    """
    sizes = [capacity[what] * slots for _, what, slots in SECTIONS]
    offsets = np.cumsum([lay.HEAD, *sizes])
    if 4 * offsets[-1] > MAX_ARENA_BYTES:
        raise LimitExceededError(
            "MAX_ARENA_BYTES",
            given=4 * int(offsets[-1]),
            allowed=MAX_ARENA_BYTES,
            where=f"a grammar of {capacity['nodes']:,} terms",
        )
    arena = _zeros(int(offsets[-1]))
    arena[lay.OFFSETS : lay.OFFSETS + len(offsets)] = offsets
    return arena


def grown_arena(small: Int32Array, capacity: Mapping[str, int], *, tables: bool) -> Int32Array:
    """A larger arena with what is in a smaller one, but for scratch; ids and offsets stay.

    Args:
        small: Left as it is.
        capacity: At least that of the smaller one.
        tables: Copy the tables too; else they are empty, to be filled by `OP_REHASH`.
    """
    large = empty_arena(capacity)
    large[: lay.OFFSETS] = small[: lay.OFFSETS]
    large[lay.SUMMARY : lay.HEAD] = small[lay.SUMMARY : lay.HEAD]
    for section, values in _filled(small):
        if section in SCRATCH or (section in TABLES and not tables):
            continue
        at = int(large[section])
        for first in range(0, len(values), _BLOCK):
            block = values[first : first + _BLOCK]
            if len(values) <= _BLOCK or block.any():
                large[at + first : at + first + len(block)] = block
    return large


def held_bytes(arena: Int32Array) -> int:
    """Memory that an arena takes: all of a small one, what was used of a large one."""
    if 4 * _size(len(arena)) < _MAPPED:
        return arena.nbytes
    return 4 * lay.HEAD + sum(values.nbytes for _, values in _filled(arena))


def _filled(arena: Int32Array) -> list[tuple[int, Int32Array]]:
    """The sections, without the room that is left in them as far as the head tells."""
    counts = {what: int(arena[slot]) for what, slot in COUNTS}
    found = []
    for section, what, slots in SECTIONS:
        first, last = arena[section : section + 2].tolist()
        if what in counts and section not in TABLES:
            last = min(last, first + counts[what] * slots)
        found.append((section, arena[first:last]))
    return found


_kept: dict[int, list[Int32Array]] = {}
"""Memory without an arena by its size. Lists are taken from and added to as a whole: no lock, since
what adds is a finalizer, which may run anywhere."""


class _Lease:
    """Memory of one arena; all views of it hold this. Once none is left the memory is kept."""

    __slots__ = ("__array_interface__", "_memory")

    def __init__(self, memory: Int32Array, num_slots: int) -> None:
        self._memory = memory
        self.__array_interface__ = memory[:num_slots].__array_interface__

    def __del__(self) -> None:
        all_kept = sum(4 * size * len(kept) for size, kept in list(_kept.items()))
        if all_kept + self._memory.nbytes <= MAX_ALL_KEPT:
            _kept.setdefault(len(self._memory), []).append(self._memory)


def _size(num_slots: int) -> int:
    """How many slots of memory an arena gets: few sizes, so that it can be used again."""
    if 4 * num_slots > MAX_KEPT:
        return num_slots
    power: int = 1 << (num_slots - 1).bit_length()
    return 3 * power // 4 if num_slots <= 3 * power // 4 else power


def _zeros(num_slots: int) -> Int32Array:
    size = _size(num_slots)
    if 4 * size > MAX_KEPT:
        return _new_zeros(size)
    try:
        memory = _kept[size].pop()
    except (KeyError, IndexError):
        memory = _new_zeros(size)
    else:
        memory[:num_slots] = 0
    return np.asarray(_Lease(memory, num_slots))


def _new_zeros(num_slots: int) -> Int32Array:
    if 4 * num_slots < _MAPPED or not hasattr(mmap, "MAP_PRIVATE"):
        return np.zeros(num_slots, np.int32)
    try:
        pages = mmap.mmap(-1, 4 * num_slots, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"no room for an arena of {4 * num_slots:,} bytes") from error
    return np.frombuffer(pages, np.int32)
