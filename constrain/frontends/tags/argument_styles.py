r"""How arguments are written where that is not JSON: one entry for each style.

A style is a text for one argument, with `$KEY`, `$VALUE` and, where a style says what kind of value
it is, `$TYPE`. `PARAMETERS` has the styles of structural tags under xgrammar's names, with
whitespace around arguments as a `JSONStyle` allows it; tool formats say whitespace exactly.

    >>> PARAMETERS["qwen_xml"].member
    '<parameter=$KEY>$VALUE</parameter>'
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from constrain.errors import GrammarError

__all__ = ["KINDS", "PARAMETERS", "PYTHON", "ArgumentStyle"]

KINDS: Final = ("string", "number", "boolean", "null", "array", "object")

_ONE_TYPE: Final = MappingProxyType(dict.fromkeys(KINDS, ""))
_PLACES: Final = re.compile(r"\$(KEY|TYPE|VALUE)")


@dataclass(frozen=True, slots=True)
class ArgumentStyle:
    """How the arguments of a call are written.

    Attributes:
        member: One argument: a text with `$KEY`, behind it perhaps `$TYPE`, and then `$VALUE`. What
            stands behind the value may have `$KEY` again.
        types: What `$TYPE` is for each kind of value: "string", "number", "boolean", "null",
            "array", "object".
        begin: Before the arguments.
        between: Between two of them.
        end: After them.
        string: How a string is written: `$VALUE` is its text as it is, without escapes. It cannot
            hold what ends it; such a string is not written at all.
        nested: How the values in arrays and objects are written: "json", where scalars are JSON;
            "python": as literals of Python, scalars and strings too; "same": in this style.
        item: With `nested` "same", an item of an array, a text with `$VALUE` and perhaps `$TYPE`;
            without it an array is one in brackets.
        keys: A pattern for the keys that can be written, in what `re` and ECMA-262 have in common.
        any_order: Arguments come in any order, whatever the style of JSON says: the templates of
            the family sort them.
        mark: What no string may have in it, by default what ends one: the text behind `$VALUE` in
            `string` or else in `member`.

    Raises:
        GrammarError: The texts do not fit together.
    """

    member: str
    types: Mapping[str, str] = field(default_factory=lambda: _ONE_TYPE)
    begin: str = ""
    between: str = ""
    end: str = ""
    string: str = "$VALUE"
    nested: Literal["json", "python", "same"] = "json"
    item: str | None = None
    keys: str = r"""^[^\x00-\x20\x7f<>"&]+( +[^\x00-\x20\x7f<>"&]+)*$"""
    any_order: bool = False
    mark: str = ""

    def __post_init__(self) -> None:
        places = [found[1] for found in _PLACES.finditer(self.member)]
        if places not in (["KEY", "VALUE"], ["KEY", "TYPE", "VALUE"]) and places not in (
            ["KEY", "VALUE", "KEY"],
            ["KEY", "TYPE", "VALUE", "KEY"],
        ):
            raise GrammarError(
                f"an argument has $KEY, perhaps $TYPE, and then $VALUE in it, not {self.member!r}"
            )
        if self.member.startswith("$KEY") and not (self.begin and self.between):
            raise GrammarError("something must stand before each key: in member or around it")
        if set(self.types) != set(KINDS):
            raise GrammarError(f"types has an entry for each of {', '.join(KINDS)}")
        if self.string.count("$VALUE") != 1:
            raise GrammarError(f"a string has $VALUE in it once, and {self.string!r} has not")
        if self.item is not None and self.item.count("$VALUE") != 1:
            raise GrammarError(f"an item has $VALUE in it once, and {self.item!r} has not")
        if self.nested not in ("json", "python", "same"):
            raise GrammarError(f"nested is 'json', 'python' or 'same', not {self.nested!r}")
        mark = self.mark or self.string.partition("$VALUE")[2]
        mark = mark or self.member.partition("$VALUE")[2].partition("$KEY")[0].strip()
        if self.nested != "python" and not mark:
            raise GrammarError("something must end a string: behind $VALUE in string or member")
        if any([mark.startswith(mark[i:]) for i in range(1, len(mark))]):
            raise GrammarError(f"{mark!r} ends as it begins, so a string may end in two places")
        object.__setattr__(self, "mark", mark)


_WORDS: Final = rf"^(?!(?:{'|'.join(keyword.kwlist)})$)[A-Za-z_][A-Za-z0-9_]*$"
_SCALARS: Final = {"number": "json", "boolean": "json", "null": "json"}
_DEEPSEEK: Final = MappingProxyType({**dict.fromkeys(KINDS, "false"), "string": "true"})
_COHERE: Final = MappingProxyType({"string": "raw", **_SCALARS, "array": "list", "object": "dict"})
_NAMED: Final = MappingProxyType({kind: kind for kind in KINDS})

PYTHON: Final = ArgumentStyle(
    "$KEY=$VALUE", begin="(", between=", ", end=")", nested="python", keys=_WORDS
)
"""Keyword arguments of a call in Python."""

PARAMETERS: Final[Mapping[str, ArgumentStyle]] = MappingProxyType(
    {
        "qwen_xml": ArgumentStyle("<parameter=$KEY>$VALUE</parameter>"),
        "minimax_xml": ArgumentStyle('<parameter name="$KEY">$VALUE</parameter>'),
        "deepseek_xml": ArgumentStyle(
            '<｜DSML｜parameter name="$KEY" string="$TYPE">$VALUE</｜DSML｜parameter>', _DEEPSEEK
        ),
        "deepseek_v4_1_xml": ArgumentStyle(
            '<｜DSML｜ parameter name="$KEY" string="$TYPE">$VALUE</｜DSML｜ parameter>', _DEEPSEEK
        ),
        "glm_xml": ArgumentStyle("<arg_key>$KEY</arg_key><arg_value>$VALUE</arg_value>"),
        "kimi_k3_xml": ArgumentStyle(
            '<|open|>argument key="$KEY" type="$TYPE"<|sep|>$VALUE<|close|>argument<|sep|>', _NAMED
        ),
        "cohere_xml": ArgumentStyle(
            '<cofl:value name="$KEY" type="$TYPE">$VALUE</cofl:value>',
            _COHERE,
            nested="same",
            item='<cofl:value type="$TYPE">$VALUE</cofl:value>',
        ),
        "minimax_m3_xml": ArgumentStyle(
            "]<]minimax[>[<$KEY>$VALUE]<]minimax[>[</$KEY>",
            nested="same",
            item="]<]minimax[>[<item>$VALUE]<]minimax[>[</item>",
            keys=r"^[^\x00-\x20\x7f<>\[\]/\"&=]+$",
            mark="]<]minimax[>[",
        ),
        "gemma": ArgumentStyle(
            "$KEY:$VALUE",
            begin="{",
            between=",",
            end="}",
            string='<|"|>$VALUE<|"|>',
            nested="same",
            keys=r"^[^\x00-,/:-@[-^`{-\x7f]+$",  # letters, digits, `-`, `.`, `_`, and beyond ASCII
        ),
    }
)
"""By the names that xgrammar gives them: the `style` of a `json_schema` format."""
