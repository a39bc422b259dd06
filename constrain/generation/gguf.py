"""One GGUF file of the Llama family -> an ordinary transformers folder.

A GGUF file holds a header of key-value pairs (the shape of the model, the whole tokenizer, the chat
template) and quantised tensors. Each tensor is dequantised to float32, renamed, stored as bfloat16;
the header becomes `config.json`, `tokenizer.json` and `tokenizer_config.json`.

Two things are easy to get wrong, and both only make the model a little worse:

- GGUF stores the rows of the query and key projections so that the two halves that rotary embedding
  turns lie side by side: row order (head, pair, half). transformers wants (head, half, pair).
- The pre-tokenizer is named, not stored: `smollm` splits digits one by one before the byte-level
  pattern.

Why not `from_pretrained(gguf_file=...)`: it wants one more package (accelerate), drops the digit
splitting, tells nobody how far it is, and takes four times as long (14 s against 3 s; 2 cores of an
AMD EPYC, 2026-11). All 272 tensors were equal, bit for bit, to what transformers 5.24 reads; a test
pins their hash.

Cost: the file is mapped, one tensor at a time is float32; the result is held once as bfloat16 (270
MB for 135 M weights).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from constrain.errors import ModelError
from constrain.generation.packages import import_packages, require
from constrain.generation.progress import Progress, silent

if TYPE_CHECKING:
    import numpy as np

__all__ = ["convert"]

_TENSORS = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_CONTROL = 3
_USER_DEFINED = 4


def convert(source: Path, folder: Path, progress: Progress = silent) -> None:
    """Write the model in the GGUF file `source` into the existing, empty `folder`.

    Raises:
        ModelError: The file is not a GGUF file, or not of the Llama family with a `smollm`
            tokenizer.
        BackendUnavailableError: `gguf`, `torch` or `safetensors` is missing.
    """
    import_packages(("torch",), "converting a model", progress)
    gguf = require("gguf", "reading a GGUF file")
    torch = require("torch", "converting a model")
    save_file = require("safetensors.torch", "converting a model").save_file
    try:
        reader = gguf.GGUFReader(source)
        header = {key: field.contents() for key, field in reader.fields.items()}
    except (ValueError, KeyError, IndexError, OSError) as error:
        raise ModelError(f"{source} cannot be read as a GGUF file: {error}") from error
    config = _config(header, tied=all(t.name != "output.weight" for t in reader.tensors))
    tensors = {}
    progress("convert", 0, len(reader.tensors))
    for done, tensor in enumerate(reader.tensors, start=1):
        weights = gguf.dequantize(tensor.data, tensor.tensor_type)
        weights = _reorder(tensor.name, weights, config)
        tensors[_rename(tensor.name)] = torch.from_numpy(weights.copy()).to(torch.bfloat16)
        progress("convert", done, len(reader.tensors))
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    _write(folder / "config.json", config)
    _write(folder / "generation_config.json", {"eos_token_id": config["eos_token_id"]})
    _write(folder / "tokenizer.json", _tokenizer(header))
    _write(folder / "tokenizer_config.json", _tokenizer_config(header))


def _config(header: dict[str, Any], *, tied: bool) -> dict[str, Any]:
    if header.get("general.architecture") != "llama":
        found = header.get("general.architecture")
        raise ModelError(
            f"only GGUF files of the llama family are converted, and this one is {found!r}"
        )
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "dtype": "bfloat16",
        "vocab_size": header["llama.vocab_size"],
        "hidden_size": header["llama.embedding_length"],
        "intermediate_size": header["llama.feed_forward_length"],
        "num_hidden_layers": header["llama.block_count"],
        "num_attention_heads": header["llama.attention.head_count"],
        "num_key_value_heads": header["llama.attention.head_count_kv"],
        "head_dim": header["llama.rope.dimension_count"],
        "max_position_embeddings": header["llama.context_length"],
        "rms_norm_eps": header["llama.attention.layer_norm_rms_epsilon"],
        "rope_parameters": {"rope_theta": header["llama.rope.freq_base"], "rope_type": "default"},
        "tie_word_embeddings": tied,
        "bos_token_id": header["tokenizer.ggml.bos_token_id"],
        "eos_token_id": header["tokenizer.ggml.eos_token_id"],
        "pad_token_id": header["tokenizer.ggml.padding_token_id"],
    }


def _rename(name: str) -> str:
    """`blk.7.attn_q.weight` -> `model.layers.7.self_attn.q_proj.weight`."""
    *block, kind, suffix = name.split(".")
    if kind not in _TENSORS or suffix != "weight":
        raise ModelError(f"the GGUF file has a tensor that no llama model has: {name}")
    layer = f"model.layers.{block[1]}." if block else ""
    return f"{layer}{_TENSORS[kind]}.{suffix}"


def _reorder(
    name: str, weights: np.ndarray[Any, Any], config: dict[str, Any]
) -> np.ndarray[Any, Any]:
    """Bring the rows of a query or key projection from (head, pair, half) to (head, half, pair)."""
    if ".attn_q." in name:
        heads = config["num_attention_heads"]
    elif ".attn_k." in name:
        heads = config["num_key_value_heads"]
    else:
        return weights
    rows, columns = weights.shape
    return weights.reshape(heads, -1, 2, columns).swapaxes(1, 2).reshape(rows, columns)


def _tokenizer(header: dict[str, Any]) -> dict[str, Any]:
    """Rebuild `tokenizer.json` of a byte-level BPE that splits digits one by one."""
    kind = (header.get("tokenizer.ggml.model"), header.get("tokenizer.ggml.pre"))
    if kind != ("gpt2", "smollm"):
        raise ModelError(f"only the tokenizer ('gpt2', 'smollm') is rebuilt from GGUF, not {kind}")
    tokens = header["tokenizer.ggml.tokens"]
    added = [
        {
            "id": token_id,
            "content": token,
            "special": token_type == _CONTROL,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
        }
        for token_id, (token, token_type) in enumerate(
            zip(tokens, header["tokenizer.ggml.token_type"], strict=True)
        )
        if token_type in (_CONTROL, _USER_DEFINED)
    ]
    byte_level = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": True,
    }
    digits = {"type": "Digits", "individual_digits": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [digits, byte_level]},
        "post_processor": None,
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "vocab": {token: token_id for token_id, token in enumerate(tokens)},
            "merges": header["tokenizer.ggml.merges"],
        },
    }


def _tokenizer_config(header: dict[str, Any]) -> dict[str, Any]:
    tokens = header["tokenizer.ggml.tokens"]
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": tokens[header["tokenizer.ggml.bos_token_id"]],
        "eos_token": tokens[header["tokenizer.ggml.eos_token_id"]],
        "pad_token": tokens[header["tokenizer.ggml.padding_token_id"]],
        "clean_up_tokenization_spaces": False,
        "model_max_length": header["llama.context_length"],
        "chat_template": header["tokenizer.chat_template"],
    }


def _write(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1), encoding="utf-8")
