"""The model, one step at a time: token ids in, one row of logits per sequence out.

Prompts of different lengths are padded on the left, so that the last column is the last token of
each row; the attention mask hides the padding and positions count from each row's own start. A
model that cannot hide it, because it takes no mask or has a state that padding would enter (Mamba,
RWKV, hybrids), gets a batch for each length instead. A row that has ended is taken out of the
cache, so it costs nothing more.

What a model takes differs (`facts`): `cache` or `past_key_values` (transformers renamed it in 5.x),
`position_ids`, `logits_to_keep`. A model that takes or returns no cache is given the whole
sequences each time.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from constrain.generation.facts import argument_names, is_recurrent, unwrapped
from constrain.generation.interfaces import Model, Tensor
from constrain.generation.packages import require

__all__ = ["Forward"]


class Forward:
    """One batch of sequences on their way through a model.

    Args:
        model: Called as transformers calls a causal language model: `model(input_ids=[B, T],
            ...).logits` is [B, T, V] or, for `logits_to_keep`, [B, 1, V]. One that takes an
            `attention_mask` and no `position_ids` counts positions from where the mask begins.
        prompts: Token ids of each row, none empty.
        pad_token_id: Any id that the model has; it is never attended to.
    """

    def __init__(self, model: Model, prompts: list[list[int]], pad_token_id: int) -> None:
        self._torch = require("torch", "generating text")
        takes = argument_names(model)
        if is_recurrent(model):
            # Some such models ignore a mask, others hold it for one of the tokens of this step.
            takes -= {"attention_mask"}
        hides_padding = "attention_mask" in takes
        rows_of: defaultdict[int, list[int]] = defaultdict(list)
        for row, prompt in enumerate(prompts):
            rows_of[0 if hides_padding else len(prompt)].append(row)
        self._rows = list(rows_of.values())  # of the last result, for each batch
        self._batches = [
            _Batch(model, takes, [prompts[row] for row in rows], pad_token_id)
            for rows in self._rows
        ]

    def prefill(self) -> Tensor:
        """Run the prompts.

        Returns:
            [B, V], the logits after the last token of each row, in the model's dtype and on its
            device.
        """
        return self._in_order([batch.prefill() for batch in self._batches])

    def step(self, tokens: list[int], keep: list[int]) -> Tensor:
        """Append one token to each row that goes on, and drop the others.

        Args:
            tokens: One id per kept row, in the order of `keep`.
            keep: Row indices of the last batch, increasing, at least one. The rows of the result
                are these.

        Returns:
            [len(keep), V], the logits after `tokens`.
        """
        place_of = {row: place for place, row in enumerate(keep)}
        batches, all_rows, logits = [], [], []
        for batch, rows in zip(self._batches, self._rows, strict=True):
            kept = [i for i, row in enumerate(rows) if row in place_of]
            if kept:
                places = [place_of[rows[i]] for i in kept]
                batches.append(batch)
                all_rows.append(places)
                logits.append(batch.step([tokens[place] for place in places], kept))
        self._batches, self._rows = batches, all_rows
        return self._in_order(logits)

    def _in_order(self, logits: list[Tensor]) -> Tensor:
        """Put the rows of all batches together; most often there is one."""
        if len(logits) == 1:
            return logits[0]
        rows = self._torch.tensor([row for rows in self._rows for row in rows])
        return self._torch.cat(logits)[rows.argsort().to(logits[0].device)]


class _Batch:
    """Sequences that share the calls of a model, padded to one length."""

    def __init__(
        self, model: Model, takes: frozenset[str], prompts: list[list[int]], pad_token_id: int
    ) -> None:
        self._model = model
        self._takes = takes
        self._torch = require("torch", "generating text")
        self._cache_name = "cache" if "cache" in takes else "past_key_values"
        self._cache: Any = None
        width = max(map(len, prompts))
        ids = [[pad_token_id] * (width - len(prompt)) + prompt for prompt in prompts]
        seen = [[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts]
        device = getattr(unwrapped(model), "device", "cpu")
        self._ids = self._torch.tensor(ids, device=device)  # [B, T]
        self._attention = self._torch.tensor(seen, device=device)  # [B, T], 0 on padding

    def prefill(self) -> Tensor:
        return self._run(self._ids)

    def step(self, tokens: list[int], keep: list[int]) -> Tensor:
        if len(keep) < len(self._ids):
            self._select(keep)
        new = self._torch.tensor(tokens, device=self._ids.device)[:, None]  # [B, 1]
        self._ids = self._torch.cat([self._ids, new], dim=1)
        self._attention = self._torch.cat([self._attention, self._torch.ones_like(new)], dim=1)
        return self._run(new if self._cache is not None else self._ids)

    def _select(self, keep: list[int]) -> None:
        index = self._torch.tensor(keep, device=self._ids.device)
        self._ids = self._ids[index]
        self._attention = self._attention[index]
        if self._cache is None:
            return
        # What is recurrent in a cache only the method for beam search knows.
        layers = getattr(self._cache, "layers", ())
        recurrent = any(hasattr(layer, "recurrent_states") for layer in layers)
        name = "reorder_cache" if recurrent else "batch_select_indices"
        if hasattr(self._cache, name):
            getattr(self._cache, name)(index)
        else:
            # Without a way to drop rows from it, the cache is made again by the next call.
            self._cache = None

    def _run(self, ids: Tensor) -> Tensor:
        inputs = {"input_ids": ids, "attention_mask": self._attention, "use_cache": True}
        inputs[self._cache_name] = self._cache
        positions = (self._attention.cumsum(dim=1) - 1).clamp(min=0)  # [B, T]
        inputs["position_ids"] = positions[:, -ids.shape[1] :]
        inputs["logits_to_keep"] = 1
        inputs = {name: value for name, value in inputs.items() if name in self._takes}
        # Entered and left within the call: a generator must not hold the mode while its consumer
        # runs.
        with self._torch.inference_mode():
            outputs = self._model(**inputs)
        if self._cache_name in self._takes:
            self._cache = getattr(outputs, self._cache_name, None)
        return outputs.logits[:, -1, :]
