"""The keys that came so far and that a schema does not name: none of them may come again.

A set that gets one key more at a time, without a copy: an object of n such keys is n sets. Beside
its keys it has what the next key is told by, the union of their spellings, made of the one before
it; so a store reads of it only what is new.

    >>> from constrain.algebra.terms import literal
    >>> ab, ba = [NOTHING.with_key(0, x, literal(x.encode())) for x in ("aa", "bb")]
    >>> ab = ab.with_key(0, "bb", literal(b"bb"))
    >>> ba = ba.with_key(0, "aa", literal(b"aa"))
    >>> ab == ba, ab == ab.with_key(1, "cc", literal(b"cc")), ab.count(0)
    (True, False, 2)

Cost: to add a key, one step for each region that has keys. Sets are compared key by key only where
their hashes are the same.
"""

from __future__ import annotations

from typing import Final

from constrain.algebra.terms import EMPTY, Term, alt

__all__ = ["NOTHING", "Taken"]

_HASH_MASK: Final = (1 << 61) - 1


class Taken:
    """A set of keys, each in a region. Begin with `NOTHING`."""

    __slots__ = ("_before", "_hash", "_key", "_regions")

    def __init__(
        self,
        before: Taken | None,
        key: tuple[int, str] | None,
        regions: dict[int, tuple[int, Term]],
    ) -> None:
        self._before = before
        self._key = key
        self._regions = regions
        self._hash: int = (before._hash + hash(key)) & _HASH_MASK if before is not None else 0

    def with_key(self, region: int, key: str, spelled: Term) -> Taken:
        """These and one more, which is none of them.

        Args:
            region: The index of the region that the key is in.
            key: The key.
            spelled: Every spelling of it.
        """
        count, spellings = self._regions.get(region, (0, EMPTY))
        after = count + 1, alt((spellings, spelled))
        return Taken(self, (region, key), {**self._regions, region: after})

    def spellings(self, region: int) -> Term:
        """Every spelling of every key of a region; `EMPTY` if there is none."""
        return self._regions.get(region, (0, EMPTY))[1]

    def count(self, region: int) -> int:
        """How many keys of a region there are."""
        return self._regions.get(region, (0, EMPTY))[0]

    def regions(self) -> list[int]:
        """The region of each key."""
        return [region for region, (count, _) in self._regions.items() for _ in range(count)]

    def _keys(self) -> set[tuple[int, str]]:
        keys = set()
        at: Taken | None = self
        while at is not None and at._key is not None:
            keys.add(at._key)
            at = at._before
        return keys

    def __bool__(self) -> bool:
        return self._before is not None

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Taken):
            return self is other
        return self._hash == other._hash and self._keys() == other._keys()


NOTHING: Final = Taken(None, None, {})
