"""Which bus a URL names: ``SCHEME://CHANNEL?option=value``.

virtual://name                        inside this process
udp_multicast://239.74.163.2:43113    between processes and computers; without a channel: this one
socketcan://can0                      a CAN interface of Linux
slcan:///dev/ttyACM0?bitrate=500000   a CAN adapter on a serial line that speaks slcan
serial:///dev/ttyUSB0?baudrate=115200 CAN frames on a plain serial line, in the framing of python-can
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from vertebra.errors import InputError

MULTICAST_GROUP = "239.74.163.2"
MULTICAST_PORT = 43113


class BusAddress(NamedTuple):
    """A bus as python-can wants it."""

    url: str
    interface: str
    channel: str
    options: dict[str, Any]


def _flag(text: str) -> bool:
    return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[text.lower()]


_OPTIONS: dict[str, dict[str, Callable[[str], Any]]] = {
    "virtual": {"receive_own_messages": _flag},
    "udp_multicast": {"hop_limit": int, "receive_buffer": int},
    "socketcan": {"receive_own_messages": _flag, "receive_buffer": int},
    "slcan": {"bitrate": int, "tty_baudrate": int, "sleep_after_open": float, "listen_only": _flag},
    "serial": {"baudrate": int},
}
_CHANNELS = {
    "virtual": "a name, as in virtual://bench",
    "socketcan": "an interface, as in socketcan://can0",
    "slcan": "a device, as in slcan:///dev/ttyACM0?bitrate=500000",
    "serial": "a device, as in serial:///dev/ttyUSB0?baudrate=115200",
}


def parse_bus_url(url: str, options: Mapping[str, Any] | None = None) -> BusAddress:
    """What a URL says; `options` win over those in the URL."""
    scheme, colon, rest = url.partition("://")
    if not colon or scheme not in _OPTIONS:
        known = ", ".join(f"{name}://" for name in _OPTIONS)
        raise InputError("bus", f"{url!r} is no bus; it must begin with one of {known}")
    channel, _, query = rest.partition("?")
    found = _options(url, scheme, query) | dict(options or {})
    unknown = sorted(set(found) - set(_OPTIONS[scheme]))
    if unknown:
        raise InputError("bus", f"{url!r}: {scheme} has no option {unknown[0]!r}; it has {', '.join(_OPTIONS[scheme])}")
    if scheme == "udp_multicast":
        channel, found["port"] = _group_and_port(url, channel)
        if not 0 <= found.setdefault("hop_limit", 1) <= 255:
            raise InputError("bus", f"{url!r}: hop_limit must be 0 (this computer only) to 255")
    elif not channel.strip("/"):
        raise InputError("bus", f"{url!r} needs {_CHANNELS[scheme]}")
    return BusAddress(url, scheme, channel, found)


def _options(url: str, scheme: str, query: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, text in parse_qsl(query, keep_blank_values=True):
        try:
            found[name] = _OPTIONS[scheme].get(name, str)(text)
        except (ValueError, KeyError):
            raise InputError("bus", f"{url!r}: {name}={text!r} is not the number or yes/no it must be") from None
    return found


def _group_and_port(url: str, channel: str) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{channel}")
        group, port = parts.hostname or MULTICAST_GROUP, parts.port or MULTICAST_PORT
        if not ipaddress.ip_address(group).is_multicast:
            raise InputError("bus", f"{url!r}: {group} is no multicast group; take 239.0.0.0 to 239.255.255.255")
    except InputError:
        raise
    except ValueError as error:
        raise InputError("bus", f"{url!r}: {error}; write udp_multicast://{MULTICAST_GROUP}:{MULTICAST_PORT}") from None
    return group, port
