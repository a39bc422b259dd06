"""A draft is tried and taken back; the text goes on along two branches.

$ python examples/04_rollback_and_fork.py
forced:      {"kind": "ca
draft holds: 3 of 4 tokens
accepting:   True
dog fits:    False
t fits:      True
forced now:  }
in the fork: nothing
"""

from __future__ import annotations

import constrain

WORDS = [b"{", b"}", b'"kind"', b":", b" ", b'"cat"', b'"car"', b'"dog"', b'"ca', b't"']
END = len(WORDS)


def ids(*words: bytes) -> list[int]:
    """Look up token ids."""
    return [WORDS.index(word) for word in words]


def main() -> None:
    """Try a draft, take some of it back, go on along two branches."""
    vocab = constrain.Vocabulary([*WORDS, None], eos_token_ids=[END])
    grammar = constrain.Grammar.from_regex(r'\{"kind": "(cat|car)"\}')
    matcher = constrain.compile(grammar, vocab).matcher()

    print("forced:     ", matcher.find_jump_forward_bytes().decode())
    for token in ids(b"{", b'"kind"', b":", b" "):  # the tokens that the model would have used
        matcher.accept_token(token)

    draft = ids(b'"ca', b't"', b"}", b'"dog"')
    print("draft holds:", matcher.validate_tokens(draft), "of", len(draft), "tokens")
    for token in draft[:3]:
        matcher.accept_token(token)
    print("accepting:  ", matcher.is_accepting)

    matcher.rollback(2)
    other = matcher.fork()
    print("dog fits:   ", matcher.accept_token(WORDS.index(b'"dog"')))
    print("t fits:     ", matcher.accept_token(WORDS.index(b't"')))
    print("forced now: ", matcher.find_jump_forward_bytes().decode())
    print("in the fork:", other.find_jump_forward_bytes().decode() or "nothing")


if __name__ == "__main__":
    main()
