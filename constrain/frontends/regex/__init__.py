"""Regular expressions to terms.

In: a pattern in one of three dialects: "python" (the module `re`), "ecma" (ECMA-262, what JSON
Schema's `pattern` is written in) or "rust" (the crate `regex`). Out: a term, the language of its
full matches, over UTF-8 or another alphabet. Decided here: what each construct means, case folding,
anchors and lookaround. What cannot be honoured exactly raises `UnsupportedFeatureError` with a
caret under it. Not decided here: how code points are spelled (`algebra.utf8`), whether the language
is empty (`algebra.store`).

    >>> term = from_regex(r"[a-c]{2,4}")
    >>> term.nullable
    False

Read in this order: `nodes` (the syntax tree), `reader` (what readers share: groups, quantifiers,
errors), `python_syntax` and `python_classes`, `ecma_syntax` with `ecma_class_sets`,
`unicode_properties`, `unicode_names` and `unicode_tables`; of the crate `regex`, `rust_flags`,
`rust_escapes` and `rust_class_sets` (each reads a little more), `rust_syntax`, with `rust_classes`,
`rust_anchors` and `byte_nodes` (patterns over bytes); `case_folding`, `atomic` (atomic groups
rewritten), `plain` (nodes without assertions to terms), `resolve` (assertions in their smallest
form), `cells` (what is still to be matched), `plain_parts` (what has no assertions, among what
has), `configurations` (a pattern with assertions, run symbolically), `assertions` (its terms);
`loose` and `explain` (where in a pattern a text stands).
"""

from __future__ import annotations

from constrain.algebra.codepoints import CodepointSet
from constrain.algebra.terms import Term
from constrain.algebra.utf8 import UTF8, Alphabet
from constrain.errors import GrammarError, UnsupportedFeatureError
from constrain.frontends.regex.assertions import lower_assertions
from constrain.frontends.regex.byte_nodes import BYTE_ALPHABET, BYTES, OfBytes
from constrain.frontends.regex.ecma_syntax import read_ecma
from constrain.frontends.regex.nodes import RegexNode, chars, concat, repetition
from constrain.frontends.regex.plain import factor, lower_plain
from constrain.frontends.regex.python_syntax import read_python
from constrain.frontends.regex.resolve import Resolved
from constrain.frontends.regex.rust_syntax import read_rust
from constrain.limits import DEFAULT_LIMITS, Limits

__all__ = ["RegexNode", "from_regex", "lower", "parse", "search"]


def parse(
    pattern: str, dialect: str = "python", *, flags: str = "", limits: Limits = DEFAULT_LIMITS
) -> RegexNode:
    """Read a pattern.

    Args:
        pattern: The pattern, without delimiters.
        dialect: "python", "ecma" or "rust".
        flags: Letters, in force for the whole pattern: out of "ismxau" for "python", "imsuv" for
            "ecma" (u always is; v allows sets of sets in classes), "imsUuRx" for "rust".
        limits: Budgets: max_input_bytes, max_nesting, max_source_nodes.

    Raises:
        RegexSyntaxError: The pattern is not valid in the dialect.
        UnsupportedFeatureError: It is, but has a back-reference or the like.
        LimitExceededError: It is too long or nests too deep.
    """
    if dialect == "python":
        return read_python(pattern, limits, flags)
    if dialect == "rust":
        return read_rust(pattern, limits, flags)
    if dialect != "ecma":
        raise GrammarError(
            f"dialect must be 'python', 'ecma' or 'rust', not {dialect!r}",
            hint='leave it out for "python", the syntax of `re`',
        )
    return read_ecma(pattern, limits, flags)


def search(node: RegexNode) -> RegexNode:
    """`node` anywhere in a text: anything, `node`, anything. Anchors keep their sense."""
    of_bytes = isinstance(node, OfBytes)
    anything = repetition(chars(BYTES if of_bytes else CodepointSet.ANY), 0, None)
    if isinstance(node, OfBytes):
        return OfBytes(concat((anything, node.body, anything)))
    return concat((anything, node, anything))


def lower(node: RegexNode, alphabet: Alphabet = UTF8, *, limits: Limits = DEFAULT_LIMITS) -> Term:
    """The texts that `node` matches as a whole, spelled in `alphabet`.

    Raises:
        UnsupportedFeatureError: An assertion that cannot be honoured exactly.
        LimitExceededError: Assertions inside repeats need too many states.
    """
    if isinstance(node, OfBytes):
        if alphabet is not UTF8:
            raise UnsupportedFeatureError(
                "a pattern that matches bytes which are no text, where a text is needed",
                hint="leave Unicode on: without (?-u) it matches text",
            )
        node, alphabet = node.body, BYTE_ALPHABET
    factored = factor(node)
    if factored.plain:
        return lower_plain(factored, alphabet, {})
    resolved = Resolved(factored)
    if resolved.root.plain:
        return lower_plain(resolved.root, alphabet, {})
    return lower_assertions(resolved, alphabet, limits)


def from_regex(
    pattern: str, dialect: str = "python", *, flags: str = "", limits: Limits = DEFAULT_LIMITS
) -> Term:
    """The UTF-8 texts that a pattern matches as a whole: `lower(parse(pattern))`."""
    return lower(parse(pattern, dialect, flags=flags, limits=limits), limits=limits)
