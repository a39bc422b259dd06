"""`constrain.generate` with a stand-in for a model: it wants to say "no" for ever, and cannot.

$ python examples/06_generate_text.py
(yes|no)                    stop    no
yes(, yes)*[.]              length  yes, yes, yes, yes,
(yes|oui)(, (yes|oui)){2}   stop    yes, yes, yes
"""

from __future__ import annotations

from types import SimpleNamespace

import torch

import constrain

TOKENS = [b"no", b"n", b"yes", b"y", b"es", b", ", b".", b"oui", b" "]
END = len(TOKENS)
WISHES = torch.tensor([5.0, 4.0, 3.0, 2.0, 1.0, 3.5, 0.0, 2.5, 4.5, -1.0])


def model(input_ids: torch.Tensor) -> SimpleNamespace:
    """Give the same logits everywhere: what is called a model needs no more than this."""
    return SimpleNamespace(logits=WISHES.repeat(*input_ids.shape, 1))


def main() -> None:
    """Generate under three patterns; the second does not end within its budget."""
    vocab = constrain.Vocabulary([*TOKENS, None], eos_token_ids=[END])
    greedy = constrain.SamplingParams(temperature=0)
    for pattern in ("(yes|no)", "yes(, yes)*[.]", "(yes|oui)(, (yes|oui)){2}"):
        result = constrain.generate(
            model,
            tokenizer=None,
            prompt=[0],  # token ids, so no tokenizer is needed
            grammar=constrain.Grammar.from_regex(pattern),
            params=greedy,
            max_new_tokens=8,
            vocab=vocab,
        )
        print(f"{pattern:27} {result.finish_reason:7} {result.text}")


if __name__ == "__main__":
    main()
