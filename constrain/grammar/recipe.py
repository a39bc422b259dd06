"""How a grammar was made, so that another process can make the same.

A grammar holds terms whose bodies are made on demand, by functions: those do not pickle. What it
was made from does: the text, the schema, the options. So a grammar remembers the method that made
it and its arguments, and a pickle is a list of such steps, the grammars that others are made of
before them.

    g = Grammar.from_regex("a+") | Grammar.text("b")
    [("from_regex", ("a+",), {}), ("text", ("b",), {}), ("__or__", (Step(0), Step(1)), {})]

Arguments that can change later, dictionaries and lists, are remembered as bytes, at once: a pickle
tells what the grammar was made from, not what became of that.
"""

from __future__ import annotations

import functools
import marshal
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from constrain.errors import GrammarError

__all__ = ["Made", "Recipe", "Steps", "follow", "remembered", "steps_to"]

_P = ParamSpec("_P")
_M = TypeVar("_M")

_NEVER_CHANGE = (str, bytes, int, float, type(None), type)


@dataclass(frozen=True, slots=True)
class Recipe:
    """A call that gives a grammar.

    Attributes:
        name: Of a method of `Grammar`.
        args: As it was called, without the class; grammars among them as they are.
        kwargs: As it was called.
    """

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class Made:
    """What has a recipe, or none."""

    recipe: Recipe | None = None
    """How it was made; None for what was made of a term."""


def remembered(make: Callable[_P, _M]) -> Callable[_P, _M]:
    """Decorate a method that makes a grammar, so that the grammar remembers the call.

    Of a class method the first argument, the class, is left out; of others it is the grammar that
    the new one is made of.
    """

    @functools.wraps(make)
    def remembering(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - those of `make`
        args = tuple(list(a) if isinstance(a, Iterator) else a for a in args)  # read only once
        kwargs = {name: list(a) if isinstance(a, Iterator) else a for name, a in kwargs.items()}
        kept = args[1:] if isinstance(args[0], type) else args
        kept = tuple(map(_frozen, kept))
        kept_by_name = {name: _frozen(value) for name, value in kwargs.items()}
        made = make(*args, **kwargs)
        if isinstance(made, Made) and made.recipe is None:
            made.recipe = Recipe(make.__name__, kept, kept_by_name)
        return made

    return remembering


@dataclass(frozen=True, slots=True)
class _Pickled:
    """What can change, as it was."""

    content: bytes


@dataclass(frozen=True, slots=True)
class _Deep:
    """Plain data that nests too deeply to be pickled, in the form of `marshal`.

    That is no form for other data: what has a buffer, such as a number of NumPy, becomes bytes.
    """

    content: bytes


@dataclass(frozen=True, slots=True)
class _Unknown:
    """What could not be remembered, and why."""

    kind: str
    why: str


@dataclass(frozen=True, slots=True)
class _Step:
    """The grammar that an earlier step made."""

    index: int


def _frozen(value: Any) -> Any:  # noqa: ANN401 - any argument
    if isinstance(value, (*_NEVER_CHANGE, Made)) or not isinstance(
        value, (dict, list, tuple, set, frozenset, bytearray)
    ):
        return value
    try:
        return _Pickled(pickle.dumps(value))
    except RecursionError as error:
        why = str(error)
    except Exception as error:  # whatever a user's class raises
        return _Unknown(type(value).__name__, str(error))
    try:
        return _Deep(marshal.dumps(value, 4))  # 4: read by every Python since 3.4
    except ValueError:
        return _Unknown(type(value).__name__, why)


Steps = list[tuple[str, tuple[Any, ...], dict[str, Any]]]
"""Calls in order; an argument that is a grammar is the number of the step that makes it."""


def steps_to(made: Made) -> Steps:
    """The calls that make something again, in order, every grammar once.

    Raises:
        GrammarError: Something in it was made of a term, or of an argument that does not pickle.

    Cost: the size of what it was made from.
    """
    steps: Steps = []
    number: dict[int, int] = {}
    stack = [made]
    while stack:
        one = stack[-1]
        if id(one) in number:
            stack.pop()
            continue
        recipe = one.recipe
        if recipe is None:
            raise GrammarError(
                f"{getattr(one, 'description', one)} cannot be pickled: it was made of a term, and "
                "terms hold functions",
                hint="pickle what it was made from, and make it in the other process",
            )
        arguments = [*recipe.args, *recipe.kwargs.values()]
        missing = [a for a in arguments if isinstance(a, Made) and id(a) not in number]
        if missing:
            stack.extend(missing)
            continue
        for argument in arguments:
            _check(argument, one)
        steps.append(
            (
                recipe.name,
                tuple(_numbered(a, number) for a in recipe.args),
                {name: _numbered(a, number) for name, a in recipe.kwargs.items()},
            )
        )
        number[id(one)] = len(steps) - 1
        stack.pop()
    return steps


def follow(cls: type[Any], steps: Steps) -> Any:  # noqa: ANN401 - an instance of `cls`
    """Do the calls that `steps_to` lists, on a class and what it makes."""
    results: list[Any] = []

    def thawed(value: Any) -> Any:  # noqa: ANN401
        if isinstance(value, _Step):
            return results[value.index]
        if isinstance(value, _Deep):
            return marshal.loads(value.content)
        return pickle.loads(value.content) if isinstance(value, _Pickled) else value

    for name, args, kwargs in steps:
        given = {key: thawed(value) for key, value in kwargs.items()}
        results.append(getattr(cls, name)(*map(thawed, args), **given))
    return results[-1]


def _numbered(value: Any, number: dict[int, int]) -> Any:  # noqa: ANN401
    return _Step(number[id(value)]) if isinstance(value, Made) else value


def _check(value: Any, made: Made) -> None:  # noqa: ANN401
    """Refuse an argument that does not pickle, by name."""
    kind, why = type(value).__name__, ""
    if isinstance(value, _Unknown):
        kind, why = value.kind, value.why
    elif isinstance(value, (Made, _Pickled, _Deep, str, bytes, int)) or value is None:
        return
    else:
        try:
            pickle.dumps(value)
        except Exception as error:  # whatever a user's class raises
            why = str(error)
        else:
            return
    raise GrammarError(
        f"{getattr(made, 'description', made)} cannot be pickled: it was made with a value of type "
        f"{kind} that cannot ({why})",
        hint="make the grammar in the other process",
    )
