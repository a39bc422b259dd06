"""YAML: the package `PyYAML`, safe and in pure Python."""

from __future__ import annotations

import yaml


def complaint(text: str) -> str | None:
    try:
        yaml.load(text, yaml.SafeLoader)
    except (yaml.YAMLError, ValueError) as error:
        return str(error)
    return None
