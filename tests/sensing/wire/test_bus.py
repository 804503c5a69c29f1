"""Buses: frames through, foreign frames and garbage passed over."""

from __future__ import annotations

import os
import socket
import time
import tty
import uuid
from pathlib import Path
from typing import Any

import can
import pytest
from tests.sensing.wire.bench import free_group

from vertebra.errors import BusError, InputError
from vertebra.sensing.wire.bus import hears_itself, open_bus, parse_bus_url, receive, receive_buffer, send, skipped
from vertebra.sensing.wire.can import Frame


def virtual() -> str:
    return f"virtual://{uuid.uuid4()}"


def test_frames_through_a_virtual_bus() -> None:
    url = virtual()
    with open_bus(url) as here, open_bus(url) as there:
        assert receive(there, 0) is None
        send(here, Frame(0x103, b"12345678"))
        frame = receive(there, 1)
        assert frame is not None
        assert (frame.id, frame.data, type(frame.data)) == (0x103, b"12345678", bytes)
        assert abs(frame.time - time.time()) < 60
        assert receive(here, 0) is None
        assert receive_buffer(here) is None


def test_which_buses_hear_themselves() -> None:
    for url in (virtual(), virtual() + "?receive_own_messages=yes", free_group()):
        with open_bus(url) as bus:
            send(bus, Frame(1, b""))
            assert (receive(bus, 0.1) is not None) == hears_itself(bus), url


def test_frames_of_other_kinds_are_passed_over_and_counted() -> None:
    url = virtual()
    with open_bus(url) as here, open_bus(url) as there:
        here.send(can.Message(arbitration_id=1, is_extended_id=True))
        here.send(can.Message(arbitration_id=1, is_extended_id=False, is_remote_frame=True))
        here.send(can.Message(arbitration_id=1, is_extended_id=False, is_error_frame=True))
        send(here, Frame(2, b""))
        assert receive(there, 0) == Frame(2, b"", pytest.approx(time.time(), abs=60))
        counts = skipped(there)
        assert (counts.extended, counts.remote, counts.error, counts.undecodable) == (1, 1, 1, 0)
        assert counts.total == 3
        assert skipped(here).total == 0


def test_a_flood_of_foreign_frames_does_not_hold_the_caller() -> None:
    class Flood:
        def recv(self, timeout: float) -> can.Message:
            return can.Message(arbitration_id=1, is_extended_id=True)

    flood: Any = Flood()
    assert receive(flood, 0.01) is None
    assert skipped(flood).extended > 10


@pytest.mark.parametrize("frame", [Frame(0x800, b""), Frame(-1, b""), Frame(1, b"123456789")])
def test_frames_that_no_bus_takes(frame: Frame) -> None:
    with open_bus(virtual()) as bus, pytest.raises(InputError, match="11 bits"):
        send(bus, frame)


def test_a_closed_bus_says_so() -> None:
    for url in (virtual(), free_group()):
        bus = open_bus(url)
        bus.shutdown()
        with pytest.raises(BusError, match="closed"):
            receive(bus, 0.1)
        with pytest.raises(BusError, match="closed"):
            send(bus, Frame(1, b""))


def test_malformed_datagrams_do_not_stop_reception() -> None:
    import msgpack

    url = free_group()
    address = parse_bus_url(url)
    with open_bus(url) as bus, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 0)
        junk = [b"", b"junk", os.urandom(5000), msgpack.packb([1, 2]), msgpack.packb({"arbitration_id": "x"}), b"\xc1"]
        for data in junk:
            stranger.sendto(data, (address.channel, address.options["port"]))
        send(bus, Frame(5, b"ok"))
        frame = receive(bus, 2)
        assert frame is not None
        assert (frame.id, frame.data) == (5, b"ok")
        assert skipped(bus).undecodable == len(junk)
        assert receive(bus, 0.01) is None


def test_the_receive_buffer_is_as_large_as_allowed() -> None:
    limits = Path("/proc/sys/net/core/rmem_max")
    limit = int(limits.read_text()) if limits.exists() else 0
    with open_bus(free_group()) as bus:
        # Linux doubles what it grants, for its own bookkeeping.
        assert (receive_buffer(bus) or 0) >= limit


def test_a_burst_waits_in_the_buffer() -> None:
    """2000 frames before the first is fetched: 21 sensors for a second."""
    with open_bus(free_group()) as bus:
        for number in range(2000):
            send(bus, Frame(1, number.to_bytes(8, "little")))
        numbers = []
        while (frame := receive(bus, 0.1)) is not None:
            numbers.append(int.from_bytes(frame.data, "little"))
        assert numbers == list(range(2000))


def test_a_serial_bus_and_a_bus_of_lines() -> None:
    """slcan and serial on a pseudo-terminal: bytes by hand in, frames out, garbage passed over."""
    for scheme, line, garbage in (
        ("slcan", b"t1033AABBCC\r", b"t1zz\r" + b"\xff\xfe\r"),
        ("serial", b"\xaa\0\0\0\0\x03\x03\x01\0\0\xaa\xbb\xcc\xbb", b"\xaa\0\0\0\0\x09"),
    ):
        ours, theirs = os.openpty()
        try:
            tty.setraw(theirs)
            options: dict[str, Any] = {"sleep_after_open": 0.0} if scheme == "slcan" else {}
            with open_bus(f"{scheme}://{os.ttyname(theirs)}", **options) as bus:
                for data in (garbage, line):
                    os.write(ours, data)
                    frame = receive(bus, 0.3)
                assert frame is not None
                assert (frame.id, frame.data) == (0x103, b"\xaa\xbb\xcc")
                assert skipped(bus).undecodable >= 1
        finally:
            os.close(ours)
            os.close(theirs)
