r"""Stop texts: where a text is cut, found while its bytes come.

>>> search = StopSearch(["\n\n"])
>>> search.add(b"a\n"), search.add(b"b\n"), search.add(b"\nc"), search.found
(b'a', b'\nb', b'', '\n\n')

What may be the beginning of a stop text is held back until that is known, so nothing is said that
is cut off afterwards. Of several stop texts the one that ends first counts, and the longest of
those that end there, however the bytes are cut into tokens.

Cost: a search of each piece and of what was held back, at most as long as the longest stop text.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["StopSearch"]


class StopSearch:
    """Looks for stop texts in one sequence.

    Attributes:
        held_back: The bytes not said yet: the longest end of the text that begins a stop text.
        found: The stop text that cut the text, once there is one.

    Args:
        texts: None of them empty; what UTF-8 can write.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = {text.encode(): text for text in texts}
        self._most = max(map(len, self._texts), default=1) - 1  # bytes that are held back
        self.held_back = b""
        self.found: str | None = None

    def add(self, data: bytes) -> bytes:
        """Append some bytes, before a stop text was found, and return those that may be said."""
        whole = self.held_back + data
        starts = {text: start for text in self._texts if (start := whole.find(text)) >= 0}
        if starts:
            first = min(starts, key=lambda text: (starts[text] + len(text), starts[text]))
            self.found, self.held_back = self._texts[first], b""
            return whole[: starts[first]]
        at = max(len(whole) - self._most, 0)
        while at < len(whole) and not any(text.startswith(whole[at:]) for text in self._texts):
            at += 1
        self.held_back = whole[at:]
        return whole[:at]
