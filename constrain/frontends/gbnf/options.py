"""What xgrammar allows in brackets after the name of a rule.

`lazy` is honoured: the rule ends where it first can. The others ask for what a grammar cannot give
(captures, temperatures) or what is best effort there (budgets), so they are refused by name.
"""

from __future__ import annotations

from dataclasses import dataclass

from constrain.frontends.gbnf.reader import Reader, quoted

__all__ = ["RuleOptions", "read_options"]


@dataclass(frozen=True, slots=True)
class RuleOptions:
    """What stands in brackets after a name.

    Attributes:
        lazy: Of the texts of the rule, only those with no other at their beginning.
    """

    lazy: bool = False


def read_options(reader: Reader) -> RuleOptions:
    """The options that come next, if there are any.

    Raises:
        GrammarSyntaxError: They are no list of options.
        UnsupportedFeatureError: An option other than `lazy`.
    """
    if not reader.match("["):
        return RuleOptions()
    lazy = False
    while True:
        reader.skip(lines=False)
        start = reader.at
        name = reader.name()
        if not name:
            raise reader.error(f"expected an option, found {reader.found()}", start)
        if name != "lazy":
            raise reader.unsupported(
                f"the rule option {quoted(name)} is not supported",
                start,
                reader.at,
                hint="leave it out; only lazy is",
            )
        if lazy:
            raise reader.error("the option 'lazy' comes twice", start, reader.at)
        lazy = True
        reader.skip(lines=False)
        if reader.match("]"):
            return RuleOptions(lazy)
        if not reader.match(","):
            raise reader.error(f"expected ] or a comma, found {reader.found()}", reader.at)
