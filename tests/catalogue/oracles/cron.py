"""Cron expressions: the package `cronsim`."""

from __future__ import annotations

from datetime import datetime

from cronsim import CronSim, CronSimError


def complaint(text: str) -> str | None:
    try:
        CronSim(text, datetime(2024, 1, 1))
    except CronSimError as error:
        return str(error)
    return None
