"""A prompt, as people write it, -> token ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from constrain.errors import ModelError
from constrain.generation.interfaces import Tokenizer

__all__ = ["Prompt", "is_batch", "prompt_ids"]

Prompt = str | Sequence[Mapping[str, str]] | Sequence[int]
"""Raw text, or chat messages (`{"role": ..., "content": ...}`), or token ids."""


def is_batch(prompt: Prompt | Sequence[Prompt]) -> bool:
    """Tell several prompts from one: their first element is itself a text or a sequence."""
    if isinstance(prompt, str) or not prompt:
        return False
    first = prompt[0]
    return isinstance(first, str) or (
        isinstance(first, Sequence) and not isinstance(first, Mapping)
    )


def prompt_ids(tokenizer: Tokenizer, prompt: Prompt) -> list[int]:
    """Turn one prompt into token ids.

    Text is encoded as it stands, with the special tokens that the tokenizer adds by itself (often a
    begin token). Messages go through the chat template, which adds its own, up to where the answer
    begins. An empty text becomes the begin token alone, because a model cannot start from nothing.

    Raises:
        ModelError: Text without a tokenizer, messages without a chat template, or nothing to start
            from.
    """
    has_text = isinstance(prompt, str) or (len(prompt) > 0 and isinstance(prompt[0], Mapping))
    if has_text and not callable(tokenizer):
        raise ModelError(
            f"a prompt of text needs a tokenizer, not {type(tokenizer).__name__}\n"
            "hint: pass the model's tokenizer, or a list of token ids as the prompt"
        )
    if isinstance(prompt, str):
        ids = tokenizer(prompt)["input_ids"]
        if not ids and getattr(tokenizer, "bos_token_id", None) is not None:
            ids = [tokenizer.bos_token_id]
    elif has_text:
        if not getattr(tokenizer, "chat_template", None):
            raise ModelError(
                "the prompt is a list of messages, and the tokenizer has no chat template\n"
                "hint: pass the prompt as one text"
            )
        text = tokenizer.apply_chat_template(prompt, add_generation_prompt=True, tokenize=False)
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    else:
        ids = list(prompt)
    if not ids:
        raise ModelError("the prompt has no tokens\nhint: give at least one word to start from")
    return [int(token_id) for token_id in ids]
