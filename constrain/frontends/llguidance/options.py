"""Options of a grammar: `%llguidance {...}`."""

from __future__ import annotations

from typing import Any, Final

from constrain.errors import GrammarSyntaxError, UnsupportedFeatureError

__all__ = ["check_options"]

_FLAGS: Final = ("no_forcing", "allow_initial_skip", "allow_invalid_utf8", "ignore_once")
_REPETITIONS: Final = ("repeat", "once")


def check_options(options: Any, source: str, span: tuple[int, int]) -> None:  # noqa: ANN401
    """Refuse what is no option.

    `no_forcing` is about how text is tokenized, never about which text; it is let through.

    Raises:
        GrammarSyntaxError: A value has the wrong type.
        UnsupportedFeatureError: The option is not known, or cannot be honoured.
    """
    if not isinstance(options, dict):
        raise GrammarSyntaxError("options are a JSON object", source=source, span=span)
    for name, value in options.items():
        if name in _FLAGS:
            if not isinstance(value, bool):
                raise GrammarSyntaxError(f"{name} is true or false", source=source, span=span)
            if name == "allow_invalid_utf8" and value:
                raise UnsupportedFeatureError(
                    "allow_invalid_utf8: texts are UTF-8 here", source=source, span=span
                )
        elif name == "skip_repetition":
            if value not in _REPETITIONS:
                raise GrammarSyntaxError(f"{name} is 'repeat' or 'once'", source=source, span=span)
        else:
            known = ", ".join((*_FLAGS, "skip_repetition"))
            raise UnsupportedFeatureError(
                f"the option {name!r} is not known",
                source=source,
                span=span,
                hint=f"known: {known}",
            )
