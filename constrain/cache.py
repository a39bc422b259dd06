"""Where `constrain` keeps files: one folder, which the user can set."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["cache_folder"]


def cache_folder() -> Path:
    """The folder for compiled kernels, fetched models and tokenizers; it need not exist yet.

    `CONSTRAIN_CACHE_DIR` if it is set, else the user's cache folder of this system.
    """
    if given := os.environ.get("CONSTRAIN_CACHE_DIR"):
        return Path(given)
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("constrain", appauthor=False))
