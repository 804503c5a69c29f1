"""Frames to and from a CAN bus that a URL names: SCHEME://CHANNEL?option=value. python-can does the work.

A bus is a context manager: ``with open_bus("socketcan://can0") as bus: ...`` closes it. On udp_multicast a bus hears
its own frames too; on the others it does not, see `hears_itself`. What keeps a bus from opening, and the remedy, is
checked here first, because python-can fails with less to say.
"""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit
from weakref import WeakKeyDictionary

from vertebra.errors import BusError, InputError
from vertebra.sensing.wire.can import Frame

if TYPE_CHECKING:
    from can import BusABC, Message

MULTICAST_GROUP = "239.74.163.2"
MULTICAST_PORT = 43113
RECEIVE_BUFFER = 64 << 20
"""Bytes asked for; Linux grants at most net.core.rmem_max, and a burst that does not fit is lost."""
FLOOD = 0.05
"""s beyond its timeout that `receive` may spend on frames that it skips."""


class BusAddress(NamedTuple):
    """A bus as python-can takes it."""

    url: str
    interface: str
    channel: str
    options: dict[str, Any]


@dataclass
class Skipped:
    """Counts of frames that `receive` skipped."""

    error: int = 0
    """Error frames: the adapter reports trouble on the wires."""
    remote: int = 0
    """Requests without data."""
    extended: int = 0
    """Frames with 29-bit ids or of CAN FD; this network has none."""
    undecodable: int = 0
    """Datagrams or lines that are not CAN frames."""

    @property
    def total(self) -> int:
        """All of them."""
        return self.error + self.remote + self.extended + self.undecodable


_SKIPPED: WeakKeyDictionary[Any, Skipped] = WeakKeyDictionary()
_URLS: WeakKeyDictionary[Any, BusAddress] = WeakKeyDictionary()
_WITH_SOCKET = ("udp_multicast", "socketcan")


def open_bus(url: str, **options: Any) -> BusABC:
    """The bus that `url` names; `options` override those in the URL."""
    address = parse_bus_url(url, options)
    require_usable(address)
    import can

    settings = dict(address.options)
    receive_buffer = settings.pop("receive_buffer", RECEIVE_BUFFER)
    try:
        bus = can.Bus(channel=address.channel, interface=address.interface, ignore_config=True, **settings)
    except (can.CanError, OSError, ValueError, TypeError) as error:
        raise BusError(url, remedy(error.__cause__ or error, address.channel)) from error
    if address.interface in _WITH_SOCKET:
        with _socket_of(bus) as same:
            same.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    _URLS[bus] = address
    return bus


def send(bus: BusABC, frame: Frame) -> None:
    """Put a frame on the bus; its time is not sent."""
    import can

    try:
        message = can.Message(arbitration_id=frame.id, data=frame.data, is_extended_id=False, check=True)
    except (ValueError, TypeError) as error:
        raise InputError("frame", f"{error}; ids have 11 bits, data up to 8 bytes") from None
    try:
        bus.send(message)
    except (can.CanError, OSError, ValueError) as error:
        raise _failed(bus, error) from error


def receive(bus: BusABC, timeout: float) -> Frame | None:
    """The next frame with an 11-bit id, or None if none came within `timeout` s.

    Frames of other kinds and undecodable ones are skipped and counted, see `skipped`.
    """
    deadline = time.monotonic() + timeout
    while True:
        try:
            message = bus.recv(timeout)
        except Exception as error:
            _pass_over(bus, error)
        else:
            if message is None:
                return None
            if not (message.is_extended_id or message.is_error_frame or message.is_remote_frame or message.is_fd):
                return Frame(message.arbitration_id, bytes(message.data), message.timestamp)
            _count(bus, message)
        now = time.monotonic()
        if now > deadline + FLOOD:
            return None
        timeout = max(deadline - now, 0.0)


def skipped(bus: BusABC) -> Skipped:
    """Frames of this bus that `receive` has skipped so far."""
    return _SKIPPED.setdefault(bus, Skipped())


def hears_itself(bus: BusABC) -> bool:
    """Whether `receive` also returns frames sent through the same bus."""
    address = _URLS.get(bus)
    return address is not None and (
        address.interface == "udp_multicast" or bool(address.options.get("receive_own_messages"))
    )


def receive_buffer(bus: BusABC) -> int | None:
    """Bytes that the system reserves for frames not fetched yet; None where there is no socket."""
    if bus not in _URLS or _URLS[bus].interface not in _WITH_SOCKET:
        return None
    with _socket_of(bus) as same:
        return same.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)


def _socket_of(bus: BusABC) -> socket.socket:
    """The socket of a bus by its public file number; a second handle, so that closing it leaves the bus open."""
    return socket.socket(fileno=os.dup(bus.fileno()))


def _pass_over(bus: BusABC, error: Exception) -> None:
    """Count an undecodable frame; raise if the bus itself has failed."""
    cause = error.__cause__ or error
    if isinstance(cause, OSError) or getattr(bus, "_is_shutdown", False):
        raise _failed(bus, error) from error
    skipped(bus).undecodable += 1
    # slcan keeps a line that it cannot decode in its buffer and would fail on it for ever.
    flush = getattr(bus, "flush", None)
    if flush is not None:
        flush()


def _count(bus: BusABC, message: Message) -> None:
    counts = skipped(bus)
    if message.is_error_frame:
        counts.error += 1
    elif message.is_remote_frame:
        counts.remote += 1
    else:
        counts.extended += 1


def _failed(bus: BusABC, error: Exception) -> BusError:
    address = _URLS.get(bus)
    name = str(getattr(bus, "channel_info", "bus"))
    where, channel = (address.url, address.channel) if address else (name, name)
    if getattr(bus, "_is_shutdown", False):
        return BusError(where, "the bus is closed; open it again")
    return BusError(where, remedy(error.__cause__ or error, channel))


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
    """What a URL says; `options` override those in the URL."""
    scheme, colon, rest = url.partition("://")
    if not colon or scheme not in _OPTIONS:
        known = ", ".join(f"{name}://" for name in _OPTIONS)
        raise InputError("bus", f"{url!r} is not a bus; it must begin with one of {known}")
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
            raise InputError("bus", f"{url!r}: {group} is not a multicast group; take 239.0.0.0 to 239.255.255.255")
    except InputError:
        raise
    except ValueError as error:
        raise InputError("bus", f"{url!r}: {error}; write udp_multicast://{MULTICAST_GROUP}:{MULTICAST_PORT}") from None
    return group, port


INSTALL = 'pip install "vertebra[sense]"'
_PACKAGES = {"udp_multicast": "msgpack", "slcan": "serial", "serial": "serial"}
_IFF_UP = 1
_CAN_TYPE = "280"
"""Hardware type of CAN interfaces in Linux (ARPHRD_CAN)."""


def require_package(where: str, package: str) -> None:
    """Raise BusError if a package of the extra `sense` is not installed."""
    if find_spec(package) is None:
        name = {"can": "python-can", "serial": "pyserial"}.get(package, package)
        raise BusError(where, f"needs {name}, which is not installed: {INSTALL}")


def require_usable(address: BusAddress) -> None:
    """Raise BusError for anything missing that shows before the bus is opened."""
    for package in ("can", _PACKAGES.get(address.interface, "can")):
        require_package(address.url, package)
    if address.interface == "udp_multicast":
        _require_route(address)
    elif address.interface == "socketcan":
        _require_interface(address)
    elif address.interface in ("slcan", "serial"):
        require_device(address.url, address.channel)


def require_device(where: str, device: str) -> None:
    """Raise BusError if a serial device does not exist or may not be opened; names that are no paths (COM3) pass."""
    if not device.startswith("/"):
        return
    if not Path(device).exists():
        there = sorted(str(path) for pattern in ("ttyUSB*", "ttyACM*") for path in Path("/dev").glob(pattern))
        seen = f"found: {', '.join(there)}" if there else "no /dev/ttyUSB* or /dev/ttyACM* is there: is it plugged in?"
        raise BusError(where, f"there is no device {device}; {seen}")
    if not os.access(device, os.R_OK | os.W_OK):
        raise BusError(where, f"no permission to open {device}; {_DIALOUT}")


def remedy(error: BaseException, channel: str) -> str:
    """What the system reported, and the remedy."""
    number = getattr(error, "errno", None)
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    hint = _REMEDIES.get(number or 0, "").format(channel=channel)
    return f"{text}; {hint}" if hint else text


_DIALOUT = "sudo usermod -aG dialout $USER, then log in again"
_ROUTE = (
    "this computer has no route for multicast; to stay on it: "
    "sudo ip link set lo up && sudo ip route add 239.0.0.0/8 dev lo"
)
_REMEDIES = {
    errno.EACCES: _DIALOUT,
    errno.EPERM: _DIALOUT,
    errno.EBUSY: "another program has it open",
    errno.ENODEV: "`ip link` lists the interfaces",
    errno.ENETDOWN: "sudo ip link set {channel} up type can bitrate 500000",
    errno.ENETUNREACH: _ROUTE,
    errno.ENOBUFS: "no node acknowledges (is another node on the bus, is it terminated?), or the queue is short: "
    "sudo ip link set {channel} txqueuelen 1000",
    errno.EAFNOSUPPORT: "this system has no SocketCAN; it is part of the Linux kernel (sudo modprobe can_raw)",
    errno.EADDRINUSE: "another program uses this port without sharing it; take another port",
}


def _require_route(address: BusAddress) -> None:
    """A route to the group must exist; asking for it sends nothing."""
    group = ipaddress.ip_address(address.channel)
    family = socket.AF_INET if group.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address.channel, address.options["port"]))
    except OSError as error:
        raise BusError(address.url, remedy(error, address.channel)) from error


def _require_interface(address: BusAddress) -> None:
    if not hasattr(socket, "AF_CAN"):
        raise BusError(address.url, _REMEDIES[errno.EAFNOSUPPORT])
    there = [name for _, name in socket.if_nameindex()]
    if address.channel not in there:
        known = [name for name in there if _interface_file(name, "type") == _CAN_TYPE] or ["none"]
        raise BusError(address.url, f"there is no interface {address.channel}; CAN interfaces: {', '.join(known)}")
    if not int(_interface_file(address.channel, "flags") or "0x1", 16) & _IFF_UP:
        raise BusError(address.url, "Network is down; " + _REMEDIES[errno.ENETDOWN].format(channel=address.channel))


def _interface_file(interface: str, name: str) -> str:
    try:
        return Path(f"/sys/class/net/{interface}/{name}").read_text(encoding="ascii").strip()
    except OSError:
        return ""
