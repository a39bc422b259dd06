"""JSON Lines: each line is JSON by the module `json`."""

from __future__ import annotations

from tests.catalogue.oracles import json

SAMPLES = ('{"a": [1, 2.5e3], "b": {"c": null}}\n[true, "x\\n"]\n', "[]\n{}\n0")


def complaint(text: str) -> str | None:
    if not text:
        return "there is no line"
    for line in text.removesuffix("\n").split("\n"):
        said = json.complaint(line)
        if said is not None:
            return said
    return None
