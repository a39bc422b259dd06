"""URLs, e-mail and IP addresses: parts of what pydantic reads that are surely valid.

URLs are parsed by the WHATWG's rules, which are a program; e-mail addresses by `email-validator`,
which knows reserved domains. Here are the plain forms: a scheme, a host of ASCII labels or an IPv4
address, a port, and the characters that RFC 3986 allows after it.
"""

from __future__ import annotations

from typing import Final

from constrain.frontends.pydantic.core import JSON, Core, Place
from constrain.frontends.pydantic.ranges import digits_between

__all__ = ["EMAIL", "IP_PATTERNS", "read_multi_host_url", "read_url"]

_BYTE: Final = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4: Final = rf"{_BYTE}(?:\.{_BYTE}){{3}}"
_GROUP: Final = "[0-9A-Fa-f]{1,4}"
_ALNUM: Final = "[A-Za-z0-9]"
# At most 61 characters, no two hyphens in a row: `xn--` would have to be decoded.
_LABEL: Final = f"{_ALNUM}(?:-?{_ALNUM}){{0,30}}"
# A last label that starts with a letter is no number, so the host is no odd IPv4 address.
_LAST_LABEL: Final = f"[A-Za-z](?:-?{_ALNUM}){{0,30}}"
_HOST: Final = rf"(?:(?:{_LABEL}\.){{0,3}}{_LAST_LABEL}|{_IPV4})"
_PORT: Final = f"(?::{digits_between(1, 65535)})?"
_CHARACTER: Final = r"(?:[A-Za-z0-9._~!$&()*+,;=:@-]|%[0-9A-Fa-f]{2})"
_TAIL: Final = rf"(?:\?(?:{_CHARACTER}|[/?])*)?(?:#(?:{_CHARACTER}|[/?])*)?"
_REST: Final = f"(?:/{_CHARACTER}*)*{_TAIL}"
_USER: Final = r"(?:[A-Za-z0-9._~-]+(?::[A-Za-z0-9._~-]+)?@)?"
_WEB: Final = "(?:https?|wss?|ftp)"
_OTHER: Final = "[a-z][a-z0-9]{0,30}"


def read_url(core: Core, place: Place) -> JSON:
    """A URL of the allowed schemes; where all are, of the web's, or of any without a port."""
    schemes = core.get("allowed_schemes")
    if schemes:
        others = [scheme.replace("+", "\\+").replace(".", "\\.") for scheme in schemes]
        forms = [
            f"(?:{'|'.join([s for s in others if s != 'file'])})://{_USER}{_HOST}{_PORT}{_REST}"
        ]
        if "file" in schemes:  # has no port, and no host of its own
            forms.append(f"file:///{_CHARACTER}*{_REST}")
            forms = forms[1:] if len(schemes) == 1 else forms
    else:
        forms = [f"{_WEB}://{_USER}{_HOST}{_PORT}{_REST}", f"{_OTHER}://{_HOST}{_REST}"]
    schema: Core = {"type": "string", "pattern": f"^(?:{'|'.join(forms)})$"}
    if core.get("max_length") is not None:
        schema["maxLength"] = core["max_length"] - 1  # a slash may be added to a bare host
    return schema


def read_multi_host_url(core: Core, place: Place) -> JSON:
    """The same, with one host."""
    return read_url(core, place)


_ATOM: Final = "[A-Za-z0-9_+-]{1,30}"
# Top-level names that nobody can have, which email-validator refuses.
_RESERVED: Final = "(?!(?:arpa|example|invalid|local|localhost|onion|test)$)"
EMAIL: Final = (
    f"^{_ATOM}(?:\\.{_ATOM})?@(?:{_ALNUM}(?:-?{_ALNUM}){{0,20}}\\.){{1,3}}{_RESERVED}[a-z]{{2,20}}$"
)
"""An address that email-validator takes: at most 64 characters before the @, 254 in all."""


def _ipv6() -> str:
    """IPv6 addresses: eight groups, or fewer around one `::`; the last two may be as in IPv4."""
    forms = [f"(?:{_GROUP}:){{6}}(?:{_GROUP}:{_GROUP}|{_IPV4})"]
    for before in range(8):
        # At least one group is left out.
        start = f"(?:{_GROUP}:){{{before - 1}}}{_GROUP}" if before else ""
        after = 7 - before
        if after >= 1:
            forms.append(f"{start}::(?:{_GROUP}:){{0,{after - 1}}}{_GROUP}")
        if after >= 2:
            forms.append(f"{start}::(?:{_GROUP}:){{0,{after - 2}}}{_IPV4}")
        forms.append(f"{start}::")
    return f"(?:{'|'.join(forms)})"


def _networks() -> str:
    """IPv4 networks: every prefix length, with zeros in the bits behind it."""
    forms = []
    for length in range(33):
        whole, bits = divmod(length, 8)
        octets = [_BYTE] * whole
        if bits:
            step = 2 ** (8 - bits)
            octets.append(f"(?:{'|'.join([str(n) for n in range(0, 256, step)])})")
        octets += ["0"] * (4 - len(octets))
        forms.append(f"{'[.]'.join(octets)}/{length}")
    return f"^(?:{'|'.join(forms)}|{_IPV4})$"


def _networks6() -> str:
    """IPv6 networks: whole groups and `::`, with a prefix length that covers them."""
    forms = [f"::/{digits_between(0, 128)}", f"(?:{_GROUP}:){{7}}{_GROUP}(?:/128)?"]
    for groups in range(1, 7):
        lengths = digits_between(16 * groups, 128)
        forms.append(f"(?:{_GROUP}:){{{groups - 1}}}{_GROUP}::/{lengths}")
    return f"^(?:{'|'.join(forms)})$"


_IPV4_TEXT: Final = {"type": "string", "format": "ipv4"}
_IPV6_TEXT: Final = {"type": "string", "pattern": f"^{_ipv6()}$"}
_V4_INTERFACE: Final = {"type": "string", "pattern": f"^{_IPV4}(?:/{digits_between(0, 32)})?$"}
_V6_INTERFACE: Final = {
    "type": "string",
    "pattern": f"^(?:(?:{_GROUP}:){{7}}{_GROUP}|(?:(?:{_GROUP}:){{0,5}}{_GROUP})?::(?:{_GROUP})?)"
    f"(?:/{digits_between(0, 128)})?$",
}
_V4_NETWORK: Final = {"type": "string", "pattern": _networks()}
_V6_NETWORK: Final = {"type": "string", "pattern": _networks6()}

IP_PATTERNS: Final[dict[str, JSON]] = {
    "pydantic._internal._validators.ip_v4_address_validator": _IPV4_TEXT,
    "pydantic._internal._validators.ip_v6_address_validator": _IPV6_TEXT,
    "pydantic._internal._validators.ip_v4_network_validator": _V4_NETWORK,
    "pydantic._internal._validators.ip_v6_network_validator": _V6_NETWORK,
    "pydantic._internal._validators.ip_v4_interface_validator": _V4_INTERFACE,
    "pydantic._internal._validators.ip_v6_interface_validator": _V6_INTERFACE,
    "ipaddress.IPv4Address": _IPV4_TEXT,
    "ipaddress.IPv6Address": _IPV6_TEXT,
    "ipaddress.IPv4Network": _V4_NETWORK,
    "ipaddress.IPv6Network": _V6_NETWORK,
    "ipaddress.IPv4Interface": _V4_INTERFACE,
    "ipaddress.IPv6Interface": _V6_INTERFACE,
    "pydantic.networks.IPvAnyAddress._validate": {"anyOf": [_IPV4_TEXT, _IPV6_TEXT]},
    "pydantic.networks.IPvAnyInterface._validate": {"anyOf": [_V4_INTERFACE, _V6_INTERFACE]},
    "pydantic.networks.IPvAnyNetwork._validate": {"anyOf": [_V4_NETWORK, _V6_NETWORK]},
}
"""By the name of the validating function."""
