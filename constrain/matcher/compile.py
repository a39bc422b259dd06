"""`compile`: a grammar and a vocabulary become a `CompiledGrammar`."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from constrain.algebra.printer import describe_bytes
from constrain.algebra.store import DEAD, StateId
from constrain.automaton import Automaton
from constrain.errors import UnsatisfiableError, VocabularyError
from constrain.grammar import Grammar
from constrain.limits import DEFAULT_LIMITS, Limits, require_limits
from constrain.matcher.matcher import Matcher
from constrain.vocab import Vocabulary

__all__ = ["CompiledGrammar", "compile"]

MAX_SPELLING_STEPS = 20_000
"""Steps at compile time in search of a sentence; for vocabularies without single bytes only."""


EAGER_STATES = 1024
"""States that `eager=True` visits: some 60 ms. Four times as many leave as many masks over 100 us:
those that are left depend on texts."""


class CompiledGrammar:
    """A grammar ready to mask the tokens of one vocabulary. Made by `constrain.compile`.

    Keep it, and share it between sequences and threads: states that one matcher has visited are
    look-ups for all others. `copy.copy` and `copy.deepcopy` return the same object; a pickle holds
    the grammar and the vocabulary, and is compiled again where it is read.

    Its automaton grows as sequences visit states. At an eighth of `limits.max_terms` it is replaced
    by a fresh one, to which running matchers move by themselves, so memory does not grow with the
    number of sequences.

    Attributes:
        grammar: What was compiled.
        vocab: The vocabulary that it was compiled for.
    """

    def __init__(self, grammar: Grammar, vocab: Vocabulary, limits: Limits) -> None:
        self.grammar = grammar
        self.vocab = vocab
        self._limits = limits
        self._lock = threading.Lock()
        self._automaton = Automaton(grammar, vocab, limits)

    @property
    def automaton(self) -> Automaton:
        """The states and mask rows that matchers share; a fresh one once it is full."""
        if self._automaton.is_full:
            with self._lock:
                if self._automaton.is_full:
                    self._automaton = Automaton(self.grammar, self.vocab, self._limits)
        return self._automaton

    def matcher(self) -> Matcher:
        """A matcher at the start of a new sequence. Cost: a few microseconds."""
        return Matcher(self.automaton, lambda: self.automaton)

    @property
    def num_terms(self) -> int:
        """How many terms (states and their parts) there are so far; see `Limits.max_terms`."""
        return self._automaton.num_terms

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes, estimated: terms, mask rows, steps and rule bodies.

        For a real schema it is within a factor of two of what is allocated, for many together
        within a tenth. Rows that other grammars share are counted here, too; heads that grammars
        share are not, nor is an older automaton that only running matchers still use.

        Cost: some microseconds.
        """
        return self._automaton.nbytes

    def __copy__(self) -> CompiledGrammar:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> CompiledGrammar:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # States and rows are made as they are needed, so there is nothing to send but what they
        # are made from. A vocabulary that comes with many grammars becomes one object.
        return _compiled_again, (self.grammar, self.vocab, self._limits)

    def __repr__(self) -> str:
        made_from = self.grammar.description
        return f"CompiledGrammar({made_from}, {self.vocab!r}, terms={self.num_terms})"


def _compiled_again(grammar: Grammar, vocab: Vocabulary, limits: Limits) -> CompiledGrammar:
    """A compiled grammar out of a pickle."""
    return compile(grammar, vocab, limits=limits)


def compile(
    grammar: Grammar,
    vocab: Vocabulary,
    *,
    limits: Limits = DEFAULT_LIMITS,
    eager: bool = False,
) -> CompiledGrammar:
    """Compile a grammar for a vocabulary.

    The automaton is lazy: little is done here (the start state, and whether anything can match at
    all), and states and masks are made when a sequence first reaches them.

    Args:
        grammar: What to generate.
        vocab: The tokens to generate it with.
        limits: Budgets for this grammar.
        eager: Make masks ahead of need: those of the 1,024 states that most texts are expected to
            visit, or of all states if there are fewer. Not all masks can be made ahead: those that
            depend on the text so far (after a key that the schema does not name, in a list whose
            items must differ) have no end. They and all others are made on demand, as without.

    Raises:
        UnsatisfiableError: No text at all matches the grammar.
        VocabularyError: The vocabulary cannot spell any sentence, or lacks a token that the grammar
            names.
        LimitExceededError: A budget was reached.
        TypeError: An argument has another type.

    Cost: usually below a millisecond; with `eager` 60 to 100 ms, and then 98.8% of the masks of 100
        real schemas took less than 100 us (97.3% without). The first call in a process loads the
        kernels, in a quarter of a second; the first on a machine compiles them (`warmup`).
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
    require_limits(limits)
    compiled = CompiledGrammar(grammar, vocab, limits)
    automaton = compiled.automaton
    if automaton.is_empty(automaton.start):
        raise UnsatisfiableError(
            f"no text at all matches {grammar.description}",
            hint="some of its parts contradict each other; compile them one by one to see which",
        )
    if not vocab.spells_all_text:
        _refuse_unspellable(automaton)
    if eager:
        automaton.build_ahead(EAGER_STATES)
        automaton.explore(EAGER_STATES)
    return compiled


def _refuse_unspellable(automaton: Automaton) -> None:
    """Refuse a grammar of which the vocabulary spells no sentence.

    Two searches, breadth first, each within a budget. By bytes that stand in some token: if these
    reach no sentence, no tokens do. By tokens: if all their ways end, none is a sentence. A place
    that no token goes on from does not matter as long as there is another way; who steers into it
    gets a `DeadEndError` from the matcher.

    Raises:
        VocabularyError: No tokens spell any sentence. Not raised where a budget ends the search.
    """
    vocab = automaton.vocab
    usable = set(b"".join(text for text in vocab.token_bytes if text))

    def by_bytes(state: StateId) -> Iterator[tuple[StateId, bytes]]:
        for b in automaton.next_bytes(state):
            if b in usable:
                text = bytes([b])
                after = automaton.after_bytes(state, text)
                yield after, text
                if (cut := automaton.at_token_end(after)) != after:
                    yield cut, text

    def by_tokens(state: StateId) -> Iterator[tuple[StateId, bytes]]:
        for token_id in automaton.mask_row(state).token_ids():
            after = automaton.after_token(state, token_id)
            if after != DEAD:
                yield after, vocab.token_bytes[token_id] or b""

    for steps in (by_bytes, by_tokens):
        stuck = _search_sentence(automaton, steps)
        if steps is by_bytes and automaton.names_tokens:
            continue  # bytes are not all that it goes on by
        if stuck is not None:
            raise VocabularyError(
                f"this vocabulary cannot spell {automaton.grammar.description}: {stuck}, and no "
                "token does so\nhint: check that the vocabulary holds raw bytes "
                "(Vocabulary.from_transformers does), or add tokens for single bytes"
            )


def _search_sentence(
    automaton: Automaton, steps: Callable[[StateId], Iterator[tuple[StateId, bytes]]]
) -> str | None:
    """Where the ways from the start end, if none is a sentence; None if one is, or time is up."""
    seen = {automaton.start}
    todo = deque([(automaton.start, b"")])
    taken = 0
    stuck = None
    while todo:
        state, text = todo.popleft()
        if automaton.is_accepting(state) or taken > MAX_SPELLING_STEPS:
            return None
        ways = 0
        for after, more in steps(state):
            ways += 1
            if after not in seen:
                seen.add(after)
                todo.append((after, text + more))
        taken += ways
        if ways == 0 and stuck is None:
            place = f"after {text.decode(errors='replace')!r}" if text else "at the start"
            stuck = f"{place} the text goes on with {describe_bytes(automaton.next_bytes(state))}"
    return stuck or "its sentences have no end"
