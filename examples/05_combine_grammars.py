"""Grammars are sets of texts, and combine like sets: |, &, ~, and + for one after the other.

$ python examples/05_combine_grammars.py
total = 42     yes
total = other  yes
while = 1      no
total = for    no
whiles = 1     yes
no text is in both: (Grammar.from_regex('a+') & Grammar.from_regex('b+'))
"""

from __future__ import annotations

import constrain


def main() -> None:
    """Make the names of a small language, without its reserved words."""
    regex = constrain.Grammar.from_regex
    word = regex("[a-z]{3,8}")
    reserved = regex("and|else|for|if|not|or|while")
    name = word & ~reserved
    assignment = name + " = " + (name | regex("[0-9]+"))

    for text in ("total = 42", "total = other", "while = 1", "total = for", "whiles = 1"):
        print(f"{text:14} {'yes' if assignment.accepts(text.encode()) else 'no'}")

    try:
        regex("a+") & regex("b+")
    except constrain.UnsatisfiableError as error:
        print(error)


if __name__ == "__main__":
    main()
