"""A model folder -> (model, tokenizer), offline, with errors that say what the folder lacks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from constrain.errors import ModelError
from constrain.generation.packages import check_installed, import_packages, require
from constrain.generation.progress import Progress, silent
from constrain.generation.store import fetch_model

__all__ = ["load_model"]


def load_model(
    path: str | Path | None = None, progress: Progress = silent, *, device: str = "cpu"
) -> tuple[Any, Any]:
    """Load a causal language model and its tokenizer from a local folder.

    Args:
        path: A folder that `save_pretrained` wrote; None for the model of `fetch_model`, fetched if
            need be.
        progress: Told "import", "load", and what `fetch_model` tells.
        device: Where the weights go. On "cpu" they are float32 (there the fastest), elsewhere as
            stored.

    Returns:
        The model, in evaluation mode, and the tokenizer.

    Raises:
        ModelError: The path does not exist or is not a folder with a model that transformers can
            read.
        BackendUnavailableError: `torch` or `transformers` is missing.
    """
    check_installed(("transformers", "torch"), "loading a model")
    given = None if path is None else _model_folder(Path(path))
    import_packages(("torch", "transformers"), "loading a model", progress)
    folder = fetch_model(progress) if given is None else given
    progress("load", 0, 1)
    transformers = require("transformers", "loading a model")
    torch = require("torch", "loading a model")
    bars = transformers.utils.logging
    had_bars = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = transformers.AutoModelForCausalLM.from_pretrained(
            folder, local_files_only=True, dtype=torch.float32 if device == "cpu" else "auto"
        )
        model = model.to(device).eval()
    # Every kind: safetensors and tokenizers raise classes of their own, and Exception itself.
    except Exception as error:
        first = str(error).strip().splitlines() or [type(error).__name__]
        raise ModelError(
            f"transformers cannot load a model from {folder}\n  {first[0]}\n"
            "hint: the folder must be one that save_pretrained wrote for a causal language model"
            + ("; fetch it again: constrain model fetch --force" if path is None else "")
        ) from error
    finally:
        if had_bars:
            bars.enable_progress_bar()
    progress("load", 1, 1)
    return model, tokenizer


def _model_folder(folder: Path) -> Path:
    """Check first: transformers takes what is no folder for a name on a hub, and says so."""
    if not folder.exists():
        raise ModelError(
            f"there is no model at {folder}\n"
            "hint: give a local folder; without --model the fetched model is used"
        )
    if not folder.is_dir():
        raise ModelError(f"{folder} is a file\nhint: give the folder that holds config.json")
    config = folder / "config.json"
    if not config.is_file():
        raise ModelError(f"{folder} is not a model folder: it has no config.json")
    try:
        kind = json.loads(config.read_text(encoding="utf-8")).get("model_type")
    except (ValueError, AttributeError) as error:
        raise ModelError(f"{config} is not a JSON object: {error}") from error
    if not isinstance(kind, str):
        raise ModelError(f"{config} names no model_type, so transformers cannot tell what it is")
    return folder
