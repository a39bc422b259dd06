r"""One batch, a grammar per row, one sampler; the stand-in for a model has no idea what it says.

$ python examples/03_sample_a_batch.py
Ulivmd Lugf            fits  [A-Z][a-z]{2,5} [A-Z][a-z]{3}
2.51.9.56              fits  (25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.\d{1,2}){3}
{"ok": false}          fits  \{"ok": (true|false)(, "x": -?[1-9]\d{0,3})?\}
"""

from __future__ import annotations

import numpy as np

import constrain

TOKENS = [bytes([b]) for b in range(32, 127)] + [b'{"', b'": ', b'", "', b"true", b"false"]
END = len(TOKENS)
PATTERNS = [
    r"[A-Z][a-z]{2,5} [A-Z][a-z]{3}",
    r"(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.\d{1,2}){3}",
    r'\{"ok": (true|false)(, "x": -?[1-9]\d{0,3})?\}',
]


def main() -> None:
    """Draw three texts at once; a row leaves when its matcher has ended."""
    vocab = constrain.Vocabulary([*TOKENS, None], eos_token_ids=[END])
    matchers = [
        constrain.compile(constrain.Grammar.from_regex(pattern), vocab).matcher()
        for pattern in PATTERNS
    ]
    params = [constrain.SamplingParams(temperature=0.8, seed=seed) for seed in (1, 2, 3)]
    bitmask = constrain.allocate_token_bitmask(len(matchers), vocab.vocab_size)
    sampler = constrain.Sampler()
    noise = np.random.default_rng(0)

    texts: list[list[int]] = [[], [], []]
    running = [0, 1, 2]
    while running:
        constrain.fill_next_token_bitmasks([matchers[i] for i in running], bitmask)
        logits = noise.normal(size=(len(running), vocab.vocab_size)).astype(np.float32)
        drawn = sampler.sample(
            logits,
            [params[i] for i in running],
            bitmask=bitmask[: len(running)],
            positions=[len(texts[i]) for i in running],
        )
        for i, token in zip(running, drawn.token_ids.tolist(), strict=True):
            matchers[i].accept_token(token)
            texts[i].append(token)
        running = [i for i in running if not matchers[i].is_terminated]
    for pattern, ids in zip(PATTERNS, texts, strict=True):
        print(f"{vocab.decode(ids).decode():22} fits  {pattern}")


if __name__ == "__main__":
    main()
