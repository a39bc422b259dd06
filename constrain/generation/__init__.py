"""A model, a prompt and a grammar -> text: the loop that everything else exists for.

In: a transformers model and its tokenizer, a prompt, a grammar, sampling parameters.
Out: the text, the tokens, why it ended, what each part cost; or the same as a stream.
Decided here: how a prompt becomes tokens, when to stop, which rows still run, where the demo's
model comes from. Not decided here: which tokens are allowed (`matcher`), which one is drawn
(`sampling`).

Read in this order: `generate` (the way in), `loop` (the steps), `forward` (the model's), `facts`
(what it says of itself), `rows` (one sequence in it), `stream`, `prompt`, `vocabularies`, `text`,
`stop`, `result`; then the model: `load`, `store`, `download`, `gguf`; and `interfaces`, `kernels`,
`progress`, `packages`. torch and transformers are imported when they are first needed, so importing
this room is cheap.
"""

from __future__ import annotations

from constrain.generation.generate import generate
from constrain.generation.kernels import kernels_are_kept, warmup_kernels
from constrain.generation.load import load_model
from constrain.generation.progress import Progress
from constrain.generation.result import GenerationResult, GenerationTimings
from constrain.generation.store import MODEL_NAME, fetch_model
from constrain.generation.stream import BatchStream, TextStream

__all__ = [
    "MODEL_NAME",
    "BatchStream",
    "GenerationResult",
    "GenerationTimings",
    "Progress",
    "TextStream",
    "fetch_model",
    "generate",
    "kernels_are_kept",
    "load_model",
    "warmup_kernels",
]
