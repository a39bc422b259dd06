"""A pydantic model instead of a schema: what comes back is an object of it.

The stand-in for a model wants the same tokens everywhere, so the grammar alone makes the text
valid. It leaves out the dough, which has a default.

$ python examples/07_pydantic_objects.py
{"size":"L","price":5.55}
size='L' dough='thin' price=Decimal('5.55')
"""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace
from typing import Annotated, Literal

import torch
from pydantic import BaseModel, Field

import constrain

TOKENS = [token.encode() for token in '" { } : , size dough price S L thin 5 .'.split()]
END = len(TOKENS)


class Pizza(BaseModel):
    """What to bake."""

    size: Literal["S", "M", "L"]
    dough: Literal["thin", "thick"] = "thin"
    price: Annotated[Decimal, Field(gt=0, max_digits=4, decimal_places=2)]


def model(input_ids: torch.Tensor) -> SimpleNamespace:
    """Prefer later tokens, whatever came before."""
    wishes = torch.arange(END + 1, dtype=torch.float32)
    return SimpleNamespace(logits=wishes.repeat(*input_ids.shape, 1))


def main() -> None:
    """Generate one pizza."""
    result = constrain.generate(
        model,
        tokenizer=None,
        prompt=[0],
        grammar=Pizza,
        params=constrain.SamplingParams(temperature=0),
        vocab=constrain.Vocabulary([*TOKENS, None], eos_token_ids=[END]),
    )
    print(result.text)
    print(result.parsed)


if __name__ == "__main__":
    main()
