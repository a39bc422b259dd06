"""Each kernel that Python calls is compiled for one combination of types.

numba compiles another on the spot where an argument has another type (a read-only array is one), in
the middle of decoding, for seconds.
"""

from __future__ import annotations

import subprocess
import sys

CODE = """
import constrain
from constrain.automaton import headwalk
from constrain.kernels.derive import advance, build
from constrain.kernels.walk import walk

def counts():
    return [len(kernel.signatures) for kernel in (advance, build, walk)]

constrain.warmup()
before = counts()
headwalk.LONG_WALK = headwalk.COUNTED_WORTH = headwalk.PLAIN_WORTH = 0
vocab = constrain.Vocabulary([*(bytes([b]) for b in range(256)), b'a"', b'", "', None], [258])
bitmask = constrain.allocate_token_bitmask(1, vocab.vocab_size)
schema = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}}}
for style in ("canonical", "any"):
    grammar = constrain.Grammar.from_json_schema(schema, style=style)
    assert grammar.accepts(b'{"a": "xyz"}')
    for _ in range(4):
        matcher = constrain.compile(grammar, vocab).matcher()
        for byte in b'{"a": "xyz", "b": 1}':
            matcher.fill_next_token_bitmask(bitmask)
            assert matcher.accept_token(byte)
print(before, counts())
"""


def test_decoding_compiles_nothing_that_the_warm_up_did_not():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[1, 1, 1] [1, 1, 1]", done.stderr
