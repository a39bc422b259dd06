"""What a model says of itself: what it takes, how wide and how long it is.

A model may be wrapped: by PEFT, `torch.compile`, or for several devices. The wrapper is what is
called; what it does not say itself the model inside does, to which it passes all arguments on.
"""

from __future__ import annotations

import inspect
from typing import Any

from constrain.errors import ModelError
from constrain.generation.interfaces import Model

__all__ = [
    "argument_names",
    "context_length",
    "input_width",
    "is_recurrent",
    "logit_width",
    "unwrapped",
]

_MOST_WRAPPERS = 8
"""Around one model; more are taken for a model that holds itself."""


def unwrapped(model: Model) -> Model:
    """The model inside of its wrappers; the model itself if there are none."""
    for _ in range(_MOST_WRAPPERS):
        if hasattr(model, "_orig_mod"):  # torch.compile
            model = model._orig_mod
        elif hasattr(model, "get_base_model"):  # PEFT
            model = model.get_base_model()
        elif hasattr(model, "module") and not hasattr(model, "config"):  # DataParallel and others
            model = model.module
        else:
            break
    return model


def argument_names(model: Model) -> frozenset[str]:
    """The names of the arguments that `model(...)` takes; `input_ids` is one.

    Raises:
        ModelError: It cannot be called, or not with token ids alone.
    """
    names, passes_on = _signature(model)
    if passes_on:
        names |= _signature(unwrapped(model))[0]
    if "input_ids" not in names:
        raise ModelError(
            f"{type(model).__name__} takes no input_ids\n"
            "hint: pass a causal language model of transformers, or a callable with its interface"
        )
    if getattr(_config(model), "is_encoder_decoder", False):
        raise ModelError(
            f"{type(model).__name__} has an encoder and a decoder, and this loop runs decoders\n"
            "hint: model.generate(..., logits_processor=[GrammarLogitsProcessor(compiled)]) of "
            "constrain.integrations.transformers runs both"
        )
    if _puts_tokens_before(model):
        return frozenset(("input_ids",))
    return names


def is_recurrent(model: Model) -> bool:
    """Whether transformers marks it as one with a recurrent state."""
    return bool(getattr(unwrapped(model), "_is_stateful", False))


def logit_width(model: Model) -> int | None:
    """Return how many logits the model gives per position, or None if it does not say.

    The output layer says it exactly; the configuration, where there is no such layer to ask.
    """
    inner = unwrapped(model)
    layer = inner.get_output_embeddings() if hasattr(inner, "get_output_embeddings") else None
    weight = getattr(layer, "weight", None)
    if weight is not None and weight.dim() == 2:
        return int(weight.shape[0])
    size = getattr(_text_config(model), "vocab_size", None)
    return None if size is None else int(size)


def input_width(model: Model) -> int | None:
    """Return how many token ids the model takes, or None if it does not say."""
    inner = unwrapped(model)
    layer = inner.get_input_embeddings() if hasattr(inner, "get_input_embeddings") else None
    weight = getattr(layer, "weight", None)
    return int(weight.shape[0]) if weight is not None and weight.dim() == 2 else None


def context_length(model: Model) -> int | None:
    """Return how many tokens the model can hold, or None if it does not say."""
    length = getattr(_text_config(model), "max_position_embeddings", None)
    return int(length) if isinstance(length, int) and length > 0 else None


def _text_config(model: Model) -> Any:  # noqa: ANN401 - a transformers configuration
    config = _config(model)
    return config.get_text_config() if hasattr(config, "get_text_config") else config


def _config(model: Model) -> Any:  # noqa: ANN401
    return getattr(unwrapped(model), "config", None)


def _signature(model: Model) -> tuple[frozenset[str], bool]:
    """The arguments that a call names, and whether it takes others by name, too."""
    try:
        signature = inspect.signature(model.forward if hasattr(model, "forward") else model)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{type(model).__name__} cannot be called as a model: {error}") from error
    kinds = {name: one.kind for name, one in signature.parameters.items()}
    others = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    names = frozenset(name for name, kind in kinds.items() if kind not in others)
    return names, inspect.Parameter.VAR_KEYWORD in kinds.values()


def _puts_tokens_before(model: Model) -> bool:
    """Whether PEFT puts learnt tokens before the text, in every call: no cache can go on then."""
    wrapped = getattr(model, "_orig_mod", model)
    settings = getattr(wrapped, "active_peft_config", None)
    return bool(getattr(settings, "is_prompt_learning", False))
