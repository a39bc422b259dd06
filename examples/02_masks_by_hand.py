"""A matcher follows one text and says which tokens may come next; here one sees it do so.

$ python examples/02_masks_by_hand.py
         | 2 20 19 1
20       | 2 20 0 19 1 12
202      | 2 0 1
2020     | - -0
2020-0   | 2 1
2020-01  | <end>
terminated: True
"""

from __future__ import annotations

import constrain

TOKENS = [b"2", b"20", b"0", b"19", b"-", b"-0", b"1", b"12", b"cat", b" "]
END = len(TOKENS)


def main() -> None:
    """Print what may come next before every token of one text."""
    vocab = constrain.Vocabulary(
        [*TOKENS, None], eos_token_ids=[END], special_tokens={"<end>": END}
    )
    grammar = constrain.Grammar.from_regex(r"(19|20)\d\d-(0[1-9]|1[0-2])")
    matcher = constrain.compile(grammar, vocab).matcher()

    text = b""
    for token in (b"20", b"2", b"0", b"-0", b"1", None):
        allowed = matcher.allowed_token_ids()
        names = [TOKENS[i].decode() if i != END else "<end>" for i in allowed]
        print(f"{text.decode():8} | {' '.join(names)}")
        matcher.accept_token(END if token is None else TOKENS.index(token))
        text += token or b""
    print("terminated:", matcher.is_terminated)


if __name__ == "__main__":
    main()
