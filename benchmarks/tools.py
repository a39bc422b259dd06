"""Workloads out of function-calling tools: schemas that share many parts, as a server sees them.

A tool becomes the schema of one call, `{"name": const, "arguments": parameters}`, and its valid
calls become texts, keys in declared order.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

from benchmarks.declared_order import in_declared_order
from benchmarks.registry import SHARED, DataMissingError, Text, Workload

__all__ = ["TOOLS", "sample_tools"]

TOOLS = SHARED / "data" / "tools"
_FILES = ("bfcl", "github-mcp")


def sample_tools(size: int, *, data: Path = TOOLS) -> list[Workload]:
    """The first tools in the order of a digest of their schema; those with a valid call.

    The same size gives the same tools on every machine, and no two have the same schema.

    Args:
        size: How many; fewer come where the data has fewer.
        data: Folder of `bfcl.jsonl.gz` and `github-mcp.jsonl.gz`.

    Raises:
        DataMissingError: They are not there.
    """
    found: dict[str, Workload] = {}
    for name in _FILES:
        path = data / f"{name}.jsonl.gz"
        if not path.is_file():
            raise DataMissingError(f"no tools: the benchmark expects {path}")
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                workload = _workload(json.loads(line))
                if workload.texts:
                    found.setdefault(workload.schema, workload)
    return sorted(found.values(), key=_digest)[:size]


def _workload(tool: dict[str, Any]) -> Workload:
    schema = {
        "type": "object",
        "properties": {"name": {"const": tool["name"]}, "arguments": tool["parameters"]},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }
    calls = [
        {"name": tool["name"], "arguments": arguments} for arguments in tool.get("valid_calls", ())
    ]
    spelled = [json.dumps(in_declared_order(call, schema), ensure_ascii=False) for call in calls]
    texts = tuple(Text(index, text, True, None) for index, text in enumerate(spelled))
    name = f"{tool['source']}/{tool['name']}"
    return Workload(name, tool["source"], json.dumps(schema, ensure_ascii=False), texts)


def _digest(workload: Workload) -> bytes:
    return hashlib.sha256(workload.schema.encode()).digest()
