"""What this room takes from outside, by name, without importing the packages that define it."""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["Model", "Module", "Tensor", "Tokenizer"]

Model: TypeAlias = Any
"""A causal language model of transformers, or a callable with its interface (see `forward`)."""
Tokenizer: TypeAlias = Any
"""The tokenizer of transformers that belongs to a model."""
Tensor: TypeAlias = Any
"""A `torch.Tensor`."""
Module: TypeAlias = Any
"""An imported module."""
