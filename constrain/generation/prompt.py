"""A prompt, as people write it, -> token ids."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence

from constrain.errors import ModelError
from constrain.generation.interfaces import Tokenizer

__all__ = ["Prompt", "is_batch", "prompt_ids"]

Prompt = str | Sequence[Mapping[str, str]] | Sequence[int]
"""Raw text, or chat messages (`{"role": ..., "content": ...}`), or token ids."""


def is_batch(prompt: Prompt | Sequence[Prompt]) -> bool:
    """Tell several prompts from one: their first element is itself a text or a sequence.

    Raises:
        TypeError: It is neither.
    """
    _check_type(prompt)
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
        ModelError: Text without a tokenizer, messages without a chat template or that it refuses,
            or nothing to start from.
        TypeError: It is no prompt.
    """
    _check_type(prompt)
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
        text = _put_into_template(tokenizer, prompt)
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    else:
        ids = list(prompt)
    if not ids:
        raise ModelError("the prompt has no tokens\nhint: give at least one word to start from")
    try:
        return [operator.index(token_id) for token_id in ids]
    except TypeError:
        raise _not_a_prompt(prompt) from None


def _put_into_template(tokenizer: Tokenizer, messages: Prompt) -> str:
    try:
        text: str = tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, tokenize=False
        )
    except Exception as error:  # a template is code, and may raise anything
        raise ModelError(
            f"the chat template refuses the messages: {type(error).__name__}: {error}\n"
            'hint: a message is {"role": "user", "content": "..."}; templates differ in the roles '
            "that they know and in their order"
        ) from error
    return text


def _check_type(prompt: object) -> None:
    # bytes are a sequence of integers, and nobody means those as token ids.
    if not isinstance(prompt, Sequence) or isinstance(prompt, (bytes, bytearray)):
        raise _not_a_prompt(prompt)


def _not_a_prompt(given: object) -> TypeError:
    what = type(given).__name__
    if isinstance(given, Sequence) and not isinstance(given, (bytes, bytearray)):
        what += " with " + ", ".join(sorted({type(one).__name__ for one in given}))
    hint = "several prompts are a list of those"
    if isinstance(given, Mapping) and "input_ids" in given:
        hint = 'pass its token ids, prompt["input_ids"], or the text itself; none of it padded'
    elif isinstance(given, Mapping) and "role" in given:
        hint = "a list of one message is a prompt, [prompt]"
    return TypeError(
        f"prompt is a text, a list of messages or a list of token ids, not {what}\nhint: {hint}"
    )
