"""Every exception that `constrain` raises, drawn as a tree.

::

    ConstrainError
    +-- GrammarError (ValueError)        your input is wrong: carries source, place, hint
    |   +-- RegexSyntaxError             a regular expression does not parse
    |   +-- GrammarSyntaxError           a grammar text does not parse
    |   +-- SchemaError                  a JSON Schema is not valid
    |   +-- UnsupportedFeatureError      valid, but it cannot be honoured exactly
    |   +-- UnsatisfiableError           no text can match
    +-- CompileError
    |   +-- LimitExceededError           a budget of `constrain.Limits` was reached
    |   +-- VocabularyError              the vocabulary is wrong or cannot spell the language
    +-- MatchError
    |   +-- TokenRejectedError           a token id that cannot be judged (out of range)
    |   +-- DeadEndError                 no token may come next
    |   +-- RollbackError                more steps than were taken
    +-- SamplingError (ValueError)       logits or sampling parameters are wrong
    +-- ModelError                       a model or tokenizer is missing or does not fit
    +-- BackendUnavailableError (ImportError)   an optional package is missing

Who is to blame is in the branch: `GrammarError` and `SamplingError` are the caller's input,
`CompileError` is the combination of grammar, vocabulary and budget, `MatchError` is the decoding
loop.
"""

from __future__ import annotations

from functools import partial
from typing import Any

__all__ = [
    "BackendUnavailableError",
    "CompileError",
    "ConstrainError",
    "DeadEndError",
    "GrammarError",
    "GrammarSyntaxError",
    "LimitExceededError",
    "MatchError",
    "ModelError",
    "RegexSyntaxError",
    "RollbackError",
    "SamplingError",
    "SchemaError",
    "TokenRejectedError",
    "UnsatisfiableError",
    "UnsupportedFeatureError",
    "VocabularyError",
]


class ConstrainError(Exception):
    """Root of every error that `constrain` raises on purpose."""

    slug = "constrain"


class GrammarError(ConstrainError, ValueError):
    """The grammar, schema, regex or list of choices is wrong.

    Attributes:
        reason: One sentence that says what is wrong, without the place.
        source: The text that was read (a pattern or grammar), or None.
        span: Half-open (start, end) offsets in code points into `source`, or None.
        pointer: JSON pointer as a URI fragment (`#/properties/a`), or None.
        hint: The way out, or None.
    """

    slug = "grammar"

    def __init__(
        self,
        reason: str,
        *,
        source: str | None = None,
        span: tuple[int, int] | None = None,
        pointer: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.reason = reason
        self.source = source
        self.span = span
        self.pointer = pointer
        self.hint = hint
        super().__init__(reason)

    def __str__(self) -> str:
        parts = [self.reason if self.pointer is None else f"{self.reason} (at {self.pointer})"]
        if self.source is not None and self.span is not None:
            parts.append(_caret(self.source, self.span))
        if self.hint is not None:
            parts.append(f"hint: {self.hint}")
        return "\n".join(parts)


class RegexSyntaxError(GrammarError):
    """A regular expression does not parse in the dialect that was asked for."""

    slug = "regex-syntax"


class GrammarSyntaxError(GrammarError):
    """A grammar text does not parse, or names a rule that does not exist."""

    slug = "grammar-syntax"


class SchemaError(GrammarError):
    """A JSON Schema is not valid: a value of the wrong form, a `$ref` that leads nowhere."""

    slug = "schema"


class UnsupportedFeatureError(GrammarError):
    """The input is valid, but `constrain` cannot honour it exactly, so it refuses."""

    slug = "unsupported-feature"


class UnsatisfiableError(GrammarError):
    """No text can match: the constraints contradict each other."""

    slug = "unsatisfiable"


class CompileError(ConstrainError):
    """A grammar and a vocabulary cannot be put together."""

    slug = "compile"


class LimitExceededError(CompileError):
    """A budget was reached (`constrain.Limits`).

    Attributes:
        limit: Name of the field of `Limits`.
        given: The size that was asked for (a lower bound where counting stopped).
        allowed: The bound in force.
        where: What was being done or read.
    """

    slug = "limit-exceeded"

    def __init__(self, limit: str, *, given: int, allowed: int, where: str) -> None:
        self.limit = limit
        self.given = given
        self.allowed = allowed
        self.where = where
        super().__init__(limit, given, allowed, where)

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions are rebuilt from positional arguments; these are keywords.
        where = self.where
        return partial(
            type(self), self.limit, given=self.given, allowed=self.allowed, where=where
        ), ()

    def __str__(self) -> str:
        return (
            f"{self.where} needs {self.limit} >= {self.given:,}, and {self.allowed:,} is allowed\n"
            f"hint: simplify it, or pass limits=constrain.Limits({self.limit}=...)"
        )


class VocabularyError(CompileError):
    """A vocabulary is malformed, or it cannot spell the language of a grammar."""

    slug = "vocabulary"


class MatchError(ConstrainError):
    """A matcher was asked for something that its position does not allow."""

    slug = "match"


class TokenRejectedError(MatchError):
    """A token id that no mask can judge: it lies outside the vocabulary."""

    slug = "token-rejected"


class DeadEndError(MatchError):
    """No token may come next, not even an end token."""

    slug = "dead-end"


class RollbackError(MatchError):
    """More steps were to be rolled back than were taken."""

    slug = "rollback"


class SamplingError(ConstrainError, ValueError):
    """Logits or sampling parameters have the wrong form or range."""

    slug = "sampling"


class ModelError(ConstrainError):
    """A model or tokenizer is missing, damaged, or does not fit."""

    slug = "model"


class BackendUnavailableError(ConstrainError, ImportError):
    """An optional package is missing; the message names the extra to install."""

    slug = "backend-unavailable"

    def __init__(self, package: str, *, extra: str, needed_for: str) -> None:
        self.package = package
        self.extra = extra
        self.needed_for = needed_for
        super().__init__(
            f"{needed_for} needs the package '{package}', which is not installed\n"
            f"hint: pip install 'constrain-decoding[{extra}]'"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), self.package, extra=self.extra, needed_for=self.needed_for), ()


def _caret(source: str, span: tuple[int, int]) -> str:
    """Draw the line of `source` that holds `span`, with carets under it."""
    start, end = span
    start = max(0, min(start, len(source)))
    line_start = source.rfind("\n", 0, start) + 1
    line_end = source.find("\n", start)
    line_end = len(source) if line_end < 0 else line_end
    left = max(line_start, start - 60)
    right = min(line_end, start + 60)
    shown = source[left:right].replace("\t", " ")
    width = max(1, min(end, right) - start)
    number = source.count("\n", 0, start) + 1
    column = start - line_start + 1
    lead = "..." if left > line_start else ""
    tail = "..." if right < line_end else ""
    return (
        f"  line {number}, column {column}:\n"
        f"  {lead}{shown}{tail}\n"
        f"  {' ' * (len(lead) + start - left)}{'^' * width}"
    )
