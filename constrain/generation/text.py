"""Bytes as they come -> text as it may be shown.

A token may end in the middle of a character: `é` is two bytes, an emoji four, and byte-level tokens
cut anywhere. What has come of such a character is held back until it is whole, so no replacement
character appears that the model did not cause. If the text is cut there, the held-back bytes are
not shown: what was shown stays a prefix of what would have come. Bytes that can never become UTF-8,
which only unconstrained text has, show as U+FFFD.
"""

from __future__ import annotations

import codecs

__all__ = ["Utf8Text"]


class Utf8Text:
    r"""Text that grows by bytes.

    >>> text = Utf8Text()
    >>> text.add(b"caf\xc3"), text.add(b"\xa9")
    ('caf', 'é')
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def add(self, data: bytes) -> str:
        """Append `data` and return the characters that it completed."""
        return self._decoder.decode(data)

    @property
    def held_back(self) -> bytes:
        """The bytes of a character that is not whole yet."""
        return self._decoder.getstate()[0]
