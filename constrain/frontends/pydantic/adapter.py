"""What a user passes as a type -> a `TypeAdapter` of pydantic, which is imported here and late."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, get_args, get_origin

from constrain.errors import BackendUnavailableError, GrammarError, UnsupportedFeatureError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = ["OLDEST", "adapter_of", "config_of", "name_of"]

OLDEST: Final = (2, 12)
"""The oldest pydantic that the tests were run with."""
_LONGEST_NAME: Final = 60
_VALUES: Final = (str, bytes, int, float, list, tuple, dict, set, frozenset)
"""pydantic takes some of them: a dict as its own core schema, whose types are not JSON's."""


def adapter_of(model: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - whatever pydantic can make a type of
    """A validator for a model, dataclass, TypedDict, Union or any other type of pydantic's.

    Raises:
        BackendUnavailableError: pydantic is not installed.
        UnsupportedFeatureError: It is too old.
        GrammarError: `model` is no type that pydantic knows.
    """
    try:
        import pydantic
    except ImportError as error:
        raise BackendUnavailableError(
            "pydantic", extra="pydantic", needed_for="Grammar.from_pydantic"
        ) from error
    version = tuple([int(part) for part in pydantic.VERSION.split(".")[:2]])
    if version < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise UnsupportedFeatureError(
            f"pydantic {pydantic.VERSION}", hint=f"pip install 'pydantic>={wanted}'"
        )
    if isinstance(model, (*_VALUES, pydantic.BaseModel)):
        hint = "pass the class, not an instance or its name"
        if isinstance(model, dict):
            hint = "a JSON Schema is read by Grammar.from_json_schema"
        elif isinstance(model, (list, tuple)):
            hint = "pass a type: Cat | Dog for either, list[Cat] or tuple[int, str] for arrays"
        raise GrammarError(f"{type(model).__name__} {model!r:.80} is no type", hint=hint)
    from pydantic_core import SchemaError

    try:
        made = model if isinstance(model, pydantic.TypeAdapter) else pydantic.TypeAdapter(model)
        made.core_schema["type"]  # fails where a name is not defined yet
        return made
    except (pydantic.PydanticUserError, pydantic.errors.PydanticUndefinedAnnotation) as error:
        reason = str(error).partition("\n")[0]
        raise GrammarError(f"{model!r:.80} is no type for pydantic: {reason}") from error
    except (SchemaError, RuntimeError, TypeError) as error:  # a constraint of another type
        reason = str(error).rpartition("\n")[2].strip()
        raise GrammarError(f"{model!r:.80} is no type for pydantic: {reason}") from error


def config_of(adapter: TypeAdapter[Any]) -> dict[str, Any]:
    """The configuration that an adapter was given, under the names of core schemas."""
    config: dict[str, Any] = dict(getattr(adapter, "_config", None) or {})
    if config.get("extra") is not None:
        config["extra_fields_behavior"] = config.pop("extra")
    return {name: value for name, value in config.items() if value is not None}


def name_of(adapter: TypeAdapter[Any]) -> str:
    """The adapted type, for messages."""
    kind = getattr(adapter, "_type", None)
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if isinstance(kind, type) and get_origin(kind) is None:
        return kind.__name__
    shown = repr(kind).replace("typing.", "")
    return shown if len(shown) <= _LONGEST_NAME else f"{shown[: _LONGEST_NAME - 3]}..."
