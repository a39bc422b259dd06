"""Every bound on work and memory, in one place, each with its reason.

A bound is deterministic: it counts things, not seconds, so the same input gives the same answer on
every machine. What reaches a bound raises `LimitExceededError`, which names the field.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from constrain.errors import GrammarError, LimitExceededError

__all__ = ["DEFAULT_LIMITS", "Limits", "require_limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Budgets for reading, compiling and matching; the defaults fit a server for the public."""

    max_input_bytes: int = 4 << 20
    """Schema, grammar or pattern text. The largest real schema seen is just under 4 MiB."""
    max_nesting: int = 2_000
    """Depth of groups in a pattern, of arrays and objects in a schema text, of rules that
    begin with each other."""
    max_source_nodes: int = 2_000_000
    """Nodes that a front-end may build for one grammar before any text is read."""
    max_repeat: int = 2**30
    """Lower bound of a repeat (`minLength`, `x{n,}`); counters are int32."""
    max_terms: int = 4_000_000
    """Terms (automaton states and their parts) of one compiled grammar; 60 to 500 bytes each. There
    is room for 2,048 from the start, and a smaller limit allows as many."""
    max_emptiness_states: int = 100_000
    """States searched to decide whether one intersection or complement matches anything."""
    max_mask_rows_bytes: int = 256 << 20
    """Remembered mask rows of one compiled grammar; older rows are dropped past it."""
    max_program_bytes: int = 64 << 20
    """The flat form of one batch of terms on its way into the store."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, int) or not 0 < value < 1 << 62:
                raise GrammarError(
                    f"Limits.{field.name} must be a positive int, not {value!r}",
                    hint="leave it out for the default",
                )

    def check(self, limit: str, given: int, where: str) -> None:
        """Raise if `given` is over the bound named `limit`.

        Raises:
            LimitExceededError: It is.
        """
        allowed: int = getattr(self, limit)
        if given > allowed:
            raise LimitExceededError(limit, given=given, allowed=allowed, where=where)


DEFAULT_LIMITS = Limits()


def require_limits(given: object) -> None:
    """Refuse what is no `Limits`.

    Raises:
        TypeError: It is something else.
    """
    if not isinstance(given, Limits):
        raise TypeError(
            f"limits must be a constrain.Limits, not {type(given).__name__}\n"
            "hint: constrain.Limits(max_terms=...) has the defaults for all that is not named"
        )
