"""Frames to and from a CAN bus that a URL names; `bus_url.py` lists the URLs, python-can does the work.

A bus is a context manager: ``with open_bus("socketcan://can0") as bus: ...`` closes it. On udp_multicast a bus hears
its own frames too; on the others it does not, see `hears_itself`.
"""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from vertebra.errors import BusError, InputError
from vertebra.sensing.wire.bus_checks import remedy, require_usable
from vertebra.sensing.wire.bus_url import BusAddress, parse_bus_url
from vertebra.sensing.wire.can import Frame

if TYPE_CHECKING:
    from can import BusABC, Message

RECEIVE_BUFFER = 64 << 20
"""Bytes asked for; Linux gives what net.core.rmem_max allows, and a burst that does not fit is lost."""
FLOOD = 0.05
"""s beyond its timeout that `receive` spends on frames that it must pass over."""


@dataclass
class Skipped:
    """Frames that `receive` passed over."""

    error: int = 0
    """Error frames: the adapter reports trouble on the wires."""
    remote: int = 0
    """Requests without data."""
    extended: int = 0
    """Frames with 29-bit ids or of CAN FD; none of this network."""
    undecodable: int = 0
    """Datagrams or lines that are no CAN frame."""

    @property
    def total(self) -> int:
        """All of them."""
        return self.error + self.remote + self.extended + self.undecodable


_SKIPPED: WeakKeyDictionary[Any, Skipped] = WeakKeyDictionary()
_URLS: WeakKeyDictionary[Any, BusAddress] = WeakKeyDictionary()


def open_bus(url: str, **options: Any) -> BusABC:
    """The bus that `url` names; `options` are those of the URL and win over them."""
    address = parse_bus_url(url, options)
    require_usable(address)
    import can

    settings = dict(address.options)
    receive_buffer = settings.pop("receive_buffer", RECEIVE_BUFFER)
    try:
        bus = can.Bus(channel=address.channel, interface=address.interface, ignore_config=True, **settings)
    except (can.CanError, OSError, ValueError, TypeError) as error:
        raise BusError(url, remedy(error.__cause__ or error, address.channel)) from error
    if address.interface in ("udp_multicast", "socketcan"):
        _widen(bus, receive_buffer)
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
    """The next frame with an 11-bit id, or None when `timeout` in s has passed without one.

    Frames of other kinds and what cannot be decoded are passed over and counted, see `skipped`.
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
    """Frames of this bus that `receive` passed over so far."""
    return _SKIPPED.setdefault(bus, Skipped())


def hears_itself(bus: BusABC) -> bool:
    """Whether `receive` gives the frames that were sent through the same bus too."""
    address = _URLS.get(bus)
    return address is not None and (
        address.interface == "udp_multicast" or bool(address.options.get("receive_own_messages"))
    )


def receive_buffer(bus: BusABC) -> int | None:
    """Bytes that the system keeps for frames that are not fetched yet; None where there is no socket."""
    if bus not in _URLS or _URLS[bus].interface not in ("udp_multicast", "socketcan"):
        return None
    with _socket_of(bus) as same:
        return same.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)


def _widen(bus: BusABC, wanted: int) -> None:
    with _socket_of(bus) as same:
        same.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, wanted)


def _socket_of(bus: BusABC) -> socket.socket:
    """The socket of a bus by its public file number; a second handle, so that closing it leaves the bus open."""
    return socket.socket(fileno=os.dup(bus.fileno()))


def _pass_over(bus: BusABC, error: Exception) -> None:
    """Count what could not be decoded; raise when the bus itself has failed."""
    cause = error.__cause__ or error
    if isinstance(cause, OSError) or getattr(bus, "_is_shutdown", False):
        raise _failed(bus, error) from error
    skipped(bus).undecodable += 1
    # The buffer of slcan keeps a line that it cannot decode and would fail on it for ever.
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
