"""Where a benchmark notes what is measured, so that one that was ended can go on.

A journal's name holds a digest of what is measured, so figures of other settings are never mixed.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

__all__ = ["JOURNALS", "open_journal"]

JOURNALS = Path(__file__).resolve().parent / "results" / "journal"
"""Not in git. What is in it may be deleted when no benchmark runs."""


def open_journal(name: str, identity: str, *, resume: bool) -> Path:
    """The file that a measurement is noted in.

    Args:
        name: What people read in the file's name.
        identity: Everything that tells this measurement from others.
        resume: Keep what an earlier start has noted; else it is deleted.
    """
    digest = hashlib.sha256(identity.encode()).hexdigest()[:12]
    journal = JOURNALS / f"{name}-{digest}.jsonl"
    if not resume:
        journal.unlink(missing_ok=True)
    return journal
