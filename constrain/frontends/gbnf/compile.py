"""Productions to a term: names resolved, lazy rules ended where they first can."""

from __future__ import annotations

from constrain.algebra.terms import ALL, ANY_BYTE, Term, cat, complement, intersect
from constrain.errors import GrammarError, GrammarSyntaxError, UnsatisfiableError
from constrain.frontends.cfg import Expression, Symbol, Terminal, lower, parts_of
from constrain.frontends.gbnf.reader import Reader, quoted
from constrain.frontends.gbnf.syntax import Definition, read_rules
from constrain.frontends.mistaken import hint_on_name, nearest
from constrain.limits import DEFAULT_LIMITS, Limits

__all__ = ["from_gbnf"]


def from_gbnf(text: str, *, root: str = "root", limits: Limits = DEFAULT_LIMITS) -> Term:
    """The texts of a grammar.

    Args:
        text: The grammar.
        root: The rule that stands for the whole.
        limits: Budgets: max_input_bytes, max_nesting, max_source_nodes.

    Raises:
        GrammarSyntaxError: It does not parse, or names a rule that does not exist.
        UnsupportedFeatureError: Something in it cannot be honoured exactly.
        UnsatisfiableError: `root` has no text: it can never finish.
        LimitExceededError: It is larger than the limits allow.
    """
    reader = Reader(text, limits)
    rules = read_rules(reader)
    _check_names(reader, rules, root)
    productions = {name: rule.body for name, rule in rules.items()}
    for rule in rules.values():
        if rule.options.lazy:
            productions[rule.name] = _lazy(reader, rule, rules, productions, limits)
    try:
        return lower(productions, root, limits=limits)
    except UnsatisfiableError as error:
        error.source, error.span = text, rules[root].span
        raise


def _check_names(reader: Reader, rules: dict[str, Definition], root: str) -> None:
    if not isinstance(root, str):
        raise GrammarError(f"root must be the name of a rule, a str, not {type(root).__name__}")
    if root not in rules:
        near = nearest(root, rules)
        hint = f"name one of the rules as the whole: root={quoted(next(iter(rules)))}"
        raise GrammarSyntaxError(
            f"the grammar has no rule {quoted(root)}",
            hint=hint if near is None else f"did you mean {near!r}? Else {hint}",
        )
    for rule in rules.values():
        for name, span in rule.uses:
            if name not in rules:
                raise reader.error(
                    f"there is no rule {quoted(name)}",
                    *span,
                    hint=hint_on_name(name, rules, f'literals are in quotes: "{name[:60]}"'),
                )


def _lazy(
    reader: Reader,
    rule: Definition,
    rules: dict[str, Definition],
    productions: dict[str, Expression],
    limits: Limits,
) -> Expression:
    """The texts of a rule that do not begin with another of its texts."""
    for name in _reached(productions[rule.name], productions):
        if rules[name].options.lazy:
            raise reader.unsupported(
                f"the lazy rule {quoted(rule.name)} uses the lazy rule {quoted(name)}", *rule.span
            )
    term = lower(productions, rule.name, limits=limits)
    if not term.regular:
        raise reader.unsupported(
            f"the lazy rule {quoted(rule.name)} recurses or names tokens",
            *rule.span,
            hint="lazy rules are made of literals, classes, repeats and rules made of them",
        )
    return Terminal(intersect((term, complement(cat(term, ANY_BYTE, ALL)))))


def _reached(expression: Expression, productions: dict[str, Expression]) -> set[str]:
    """The names that an expression uses, and those use."""
    found: set[str] = set()
    todo = [expression]
    while todo:
        part = todo.pop()
        if isinstance(part, Symbol) and part.name not in found:
            found.add(part.name)
            todo.append(productions[part.name])
        todo += parts_of(part)
    return found
