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


class CompiledGrammar:
    """A grammar ready to mask the tokens of one vocabulary. Made by `constrain.compile`.

    Reuse it, and share it between threads: what one matcher visits is there for the next. When the
    automaton has grown to half of `limits.max_terms`, new matchers get a fresh one; the old goes
    with its last matcher.

    Attributes:
        grammar: What was compiled.
        vocab: For which vocabulary.
    """

    def __init__(self, grammar: Grammar, vocab: Vocabulary, limits: Limits) -> None:
        self.grammar = grammar
        self.vocab = vocab
        self._limits = limits
        self._automaton = Automaton(grammar, vocab, limits)

    @property
    def automaton(self) -> Automaton:
        """The states and rows that new matchers share."""
        if self._automaton.num_terms > self._limits.max_terms // 2:
            self._automaton = Automaton(self.grammar, self.vocab, self._limits)
        return self._automaton

    def matcher(self) -> Matcher:
        """A matcher at the start of a new sequence."""
        return Matcher(self.automaton)

    @property
    def num_terms(self) -> int:
        """Terms made so far: states and their parts."""
        return self._automaton.num_terms

    @property
    def nbytes(self) -> int:
        """Memory held by terms and rows, in bytes; heads shared with other grammars not counted."""
        return self._automaton.nbytes

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
    automaton = compiled.automaton
    if automaton.is_empty(automaton.start):
        raise UnsatisfiableError(
            f"no text at all matches {grammar!r}",
            hint="some of its parts contradict each other",
        )
    automaton.build_ahead(RULES_AHEAD)
    if not vocab.spells_all_text:
        _refuse_unspellable(automaton)
    return compiled


def _refuse_unspellable(automaton: Automaton) -> None:
    """Follow every token from the start, breadth first within a budget, in search of a sentence.

    A place that no token goes on from does not matter as long as there is another way; who steers
    into it gets a `DeadEndError` from the matcher.

    Raises:
        VocabularyError: No tokens spell any sentence.
    """
    seen = {automaton.start}
    todo = deque([(automaton.start, b"")])
    steps = 0
    stuck = ""
    while todo:
        state, text = todo.popleft()
        if automaton.is_accepting(state) or steps > MAX_SPELLING_STEPS:
            return
        row = automaton.mask_row(state)
        if row.empty and not stuck:
            place = f"after {text.decode(errors='replace')!r}" if text else "at the start"
            stuck = f"{place} the text goes on with {describe_bytes(automaton.next_bytes(state))}"
        for token_id in row.token_ids():
            steps += 1
            after = automaton.after_token(state, token_id)
            if after != DEAD and after not in seen:
                seen.add(after)
                todo.append((after, text + (automaton.vocab.token_bytes[token_id] or b"")))
    raise VocabularyError(
        f"this vocabulary cannot spell {automaton.grammar!r}: {stuck}, and no token does so\n"
        "hint: check that the vocabulary holds raw bytes (Vocabulary.from_transformers does), or "
        "add tokens for single bytes"
    )
