"""Formats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from constrain.algebra.terms import Term
from constrain.algebra.utf8 import Alphabet

FORMATS: Final[dict[str, Callable[[Alphabet], Term]]] = {}
REFUSED_FORMATS: Final[dict[str, str]] = {}
