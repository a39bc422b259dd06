"""IP addresses and networks: the module `ipaddress`."""

from __future__ import annotations

import ipaddress


def complaint(text: str) -> str | None:
    try:
        ipaddress.ip_interface(text)
    except ValueError as error:
        return str(error)
    return None
