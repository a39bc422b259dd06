"""`compile`: a grammar and a vocabulary become a `CompiledGrammar`."""

from __future__ import annotations

from constrain.algebra.printer import describe_bytes
from constrain.automaton import Automaton
from constrain.errors import UnsatisfiableError, VocabularyError
from constrain.grammar import Grammar
from constrain.limits import DEFAULT_LIMITS, Limits
from constrain.matcher.matcher import Matcher
from constrain.vocab import Vocabulary

__all__ = ["CompiledGrammar", "compile"]

RULES_AHEAD = 32
"""Rule bodies made before the first mask: most schemas fit whole, and a large one costs no more."""


class CompiledGrammar(Automaton):
    """A grammar ready to mask the tokens of one vocabulary. Made by `constrain.compile`.

    Reuse it, and share it between threads: what one matcher visits is there for the next.
    """

    def matcher(self) -> Matcher:
        """A matcher at the start of a new sequence."""
        return Matcher(self)

    def __repr__(self) -> str:
        return f"CompiledGrammar({self.grammar!r}, {self.vocab!r}, terms={self.num_terms})"


def compile(
    grammar: Grammar, vocab: Vocabulary, *, limits: Limits = DEFAULT_LIMITS
) -> CompiledGrammar:
    """Compile a grammar for a vocabulary.

    Little is done here: the root term is interned, its emptiness decided, and a few rules are made.
    States and masks follow when a sequence reaches them. The first call in a process loads the
    kernels from the disk cache, and the first on a machine compiles them (`constrain.warmup` does
    that with a progress report).

    Args:
        grammar: What to generate.
        vocab: The tokens to generate it with.
        limits: Budgets for this grammar.

    Raises:
        UnsatisfiableError: No text at all matches the grammar.
        VocabularyError: No token can begin any sentence of the grammar.
        LimitExceededError: A budget was reached.
        TypeError: An argument has another type.
    """
    if not isinstance(grammar, Grammar):
        raise TypeError(
            f"compile wants a constrain.Grammar, not {type(grammar).__name__}: "
            "make one with Grammar.from_json_schema(...) or Grammar.from_regex(...)"
        )
    if not isinstance(vocab, Vocabulary):
        raise TypeError(
            f"compile wants a constrain.Vocabulary, not {type(vocab).__name__}: "
            "make one with Vocabulary.from_transformers(tokenizer)"
        )
    compiled = CompiledGrammar(grammar, vocab, limits)
    if compiled.is_empty(compiled.start):
        raise UnsatisfiableError(
            f"no text at all matches {grammar!r}",
            hint="some of its parts contradict each other",
        )
    compiled.build_ahead(RULES_AHEAD)
    if compiled.mask_row(compiled.start).empty:
        wanted = compiled.next_bytes(compiled.start)
        raise VocabularyError(
            f"this vocabulary cannot spell {grammar!r}: a text must begin with "
            f"{describe_bytes(wanted)}, and no token does so within the grammar\n"
            "hint: check that the vocabulary holds raw bytes (Vocabulary.from_transformers does)"
        )
    return compiled
