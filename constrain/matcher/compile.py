"""`compile`: a grammar and a vocabulary become a `CompiledGrammar`."""

from __future__ import annotations

from collections import deque

from constrain.algebra.printer import describe_bytes
from constrain.algebra.store import DEAD
from constrain.automaton import Automaton
from constrain.errors import UnsatisfiableError, VocabularyError
from constrain.grammar import Grammar
from constrain.limits import DEFAULT_LIMITS, Limits
from constrain.matcher.matcher import Matcher
from constrain.vocab import Vocabulary

__all__ = ["CompiledGrammar", "compile"]

MAX_SPELLING_STEPS = 20_000
"""Tokens followed at compile time in search of a sentence; for odd vocabularies only."""
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
        VocabularyError: The vocabulary cannot spell any sentence.
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
    if not vocab.spells_all_text:
        _refuse_unspellable(compiled)
    return compiled


def _refuse_unspellable(compiled: CompiledGrammar) -> None:
    """Follow every token from the start, breadth first within a budget, in search of a sentence.

    A place that no token goes on from does not matter as long as there is another way; who steers
    into it gets a `DeadEndError` from the matcher.

    Raises:
        VocabularyError: No tokens spell any sentence.
    """
    seen = {compiled.start}
    todo = deque([(compiled.start, b"")])
    steps = 0
    stuck = ""
    while todo:
        state, text = todo.popleft()
        if compiled.is_accepting(state) or steps > MAX_SPELLING_STEPS:
            return
        row = compiled.mask_row(state)
        if row.empty and not stuck:
            place = f"after {text.decode(errors='replace')!r}" if text else "at the start"
            stuck = f"{place} the text goes on with {describe_bytes(compiled.next_bytes(state))}"
        for token_id in row.token_ids():
            steps += 1
            after = compiled.after_token(state, token_id)
            if after != DEAD and after not in seen:
                seen.add(after)
                todo.append((after, text + (compiled.vocab.token_bytes[token_id] or b"")))
    raise VocabularyError(
        f"this vocabulary cannot spell {compiled.grammar!r}: {stuck}, and no token does so\n"
        "hint: check that the vocabulary holds raw bytes (Vocabulary.from_transformers does), or "
        "add tokens for single bytes"
    )
