"""What a worker is asked to measure, as one JSON file.

The texts are tokenised before any engine exists, so every engine plays the same ids.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.registry import Workload
from benchmarks.vocabularies import TokenizerFiles, encode

__all__ = ["Plan", "PlannedSchema", "PlannedText", "make_plan"]


@dataclass(frozen=True, slots=True)
class PlannedText:
    """A text as token ids.

    Attributes:
        index: Position among the schema's tests in the data.
        text: The text, for engines that are asked about it as a whole.
        valid: Expected verdict.
        ids: The text's token ids.
        declared_ids: Ids of the same value with keys in declared order, None if that is `text`.
    """

    index: int
    text: str
    valid: bool
    ids: tuple[int, ...]
    declared_ids: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class PlannedSchema:
    """A schema, or a grammar of the catalogue, with its texts.

    Attributes:
        id: Its name in the results.
        collection: Where it came from.
        schema: A JSON Schema as text, or the name of a grammar.
        texts: What is played.
        kind: `json_schema` or `grammar`.
    """

    id: str
    collection: str
    schema: str
    texts: tuple[PlannedText, ...]
    kind: str = "json_schema"


@dataclass(frozen=True, slots=True)
class Plan:
    """One run.

    Attributes:
        vocabulary: Name of the tokenizer.
        tokenizer_folder: Where it lies.
        vocab_size: Width of the logits.
        engines: Names, in the order in which they are prepared.
        limits: For some engines, how many schemas of the sample they play.
        rotation: Which engine goes first on the first schema; it moves on by one with each schema.
        schemas: What is played.
    """

    vocabulary: str
    tokenizer_folder: str
    vocab_size: int
    engines: tuple[str, ...]
    limits: dict[str, int]
    rotation: int
    schemas: tuple[PlannedSchema, ...]

    @property
    def tokenizer(self) -> TokenizerFiles:
        """The tokenizer that made the ids."""
        return TokenizerFiles(self.vocabulary, Path(self.tokenizer_folder), self.vocab_size)

    def steps(self) -> list[tuple[int, str]]:
        """(index of a schema, engine) in the order in which they are played."""
        order = []
        for index in range(len(self.schemas)):
            first = (index + self.rotation) % len(self.engines)
            for engine in self.engines[first:] + self.engines[:first]:
                if index < self.limits.get(engine, index + 1):
                    order.append((index, engine))
        return order

    def write(self, path: Path) -> None:
        """Save as JSON."""
        path.write_text(json.dumps(dataclasses.asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Plan:
        """Load what `write` saved."""
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        schemas = tuple(
            PlannedSchema(
                entry["id"],
                entry["collection"],
                entry["schema"],
                tuple(
                    PlannedText(
                        text["index"],
                        text["text"],
                        text["valid"],
                        tuple(text["ids"]),
                        None if text["declared_ids"] is None else tuple(text["declared_ids"]),
                    )
                    for text in entry["texts"]
                ),
                entry["kind"],
            )
            for entry in data["schemas"]
        )
        return cls(
            data["vocabulary"],
            data["tokenizer_folder"],
            data["vocab_size"],
            tuple(data["engines"]),
            data["limits"],
            data["rotation"],
            schemas,
        )


def make_plan(
    workloads: Sequence[Workload],
    files: TokenizerFiles,
    engines: Sequence[str],
    limits: dict[str, int],
) -> Plan:
    """Tokenise a sample for some engines.

    Cost: one tokenisation of every text, below a second for 60 schemas.
    """
    texts = [text for workload in workloads for text in workload.texts]
    spellings = [text.text for text in texts]
    spellings += [text.declared for text in texts if text.declared is not None]
    ids = dict(zip(spellings, encode(spellings, files), strict=True))
    schemas = tuple(
        PlannedSchema(
            workload.id,
            workload.collection,
            workload.schema,
            tuple(
                PlannedText(
                    text.index,
                    text.text,
                    text.valid,
                    ids[text.text],
                    None if text.declared is None else ids[text.declared],
                )
                for text in workload.texts
            ),
        )
        for workload in workloads
    )
    return Plan(files.name, str(files.folder), files.vocab_size, tuple(engines), limits, 0, schemas)
