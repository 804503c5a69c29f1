"""Buses: frames go through, foreign frames and garbage are skipped."""

from __future__ import annotations

import errno
import json
import os
import pickle
import shutil
import socket
import subprocess
import sys
import time
import tty
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import can
import pytest
from tests.sensing.wire.bench import child, free_group

from vertebra.errors import BusError, InputError
from vertebra.sensing.wire import bus as bus_checks
from vertebra.sensing.wire.bus import hears_itself, open_bus, parse_bus_url, receive, receive_buffer, send, skipped
from vertebra.sensing.wire.can import Frame

NO_ROUTE = """
from vertebra.sensing.wire.bus import open_bus, receive, send
from vertebra.errors import BusError
from vertebra.sensing.wire.can import Frame
try:
    with open_bus("udp_multicast://") as bus:
        send(bus, Frame(7, b"through"))
        print(receive(bus, 2).data.decode())
except BusError as error:
    print(error)
"""
FRAMES = 3000
READER = """
import json, sys, time
from vertebra.sensing.wire.bus import open_bus, receive
with open_bus(sys.argv[1]) as bus:
    print("ready", flush=True)
    numbers, end = [], time.monotonic() + 120
    while len(numbers) < int(sys.argv[2]) and time.monotonic() < end:
        frame = receive(bus, 1)
        if frame is not None:
            numbers.append(int.from_bytes(frame.data, "little"))
    print(json.dumps(numbers), flush=True)
"""
WRITER = """
import sys
from vertebra.sensing.wire.bus import open_bus, send
from vertebra.sensing.wire.can import Frame
with open_bus(sys.argv[1]) as bus:
    sys.stdin.readline()
    for number in range(int(sys.argv[2])):
        send(bus, Frame(0x101, number.to_bytes(8, "little")))
    print("sent", flush=True)
"""


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
    """slcan and serial on a pseudo-terminal: bytes by hand in, frames out, garbage skipped."""
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


@pytest.mark.parametrize(
    ("url", "interface", "channel", "options"),
    [
        ("virtual://bench", "virtual", "bench", {}),
        ("udp_multicast://", "udp_multicast", "239.74.163.2", {"port": 43113, "hop_limit": 1}),
        ("udp_multicast://239.1.2.3:5000?hop_limit=0", "udp_multicast", "239.1.2.3", {"port": 5000, "hop_limit": 0}),
        ("udp_multicast://[ff15::1]:7", "udp_multicast", "ff15::1", {"port": 7, "hop_limit": 1}),
        ("socketcan://can0", "socketcan", "can0", {}),
        ("slcan:///dev/ttyACM0?bitrate=500000", "slcan", "/dev/ttyACM0", {"bitrate": 500000}),
        ("slcan://COM3?listen_only=yes", "slcan", "COM3", {"listen_only": True}),
        ("serial:///dev/ttyUSB0?baudrate=115200", "serial", "/dev/ttyUSB0", {"baudrate": 115200}),
    ],
)
def test_good_urls(url: str, interface: str, channel: str, options: dict[str, object]) -> None:
    assert parse_bus_url(url) == (url, interface, channel, options)


def test_options_of_the_call_win() -> None:
    assert parse_bus_url("udp_multicast://?hop_limit=3", {"hop_limit": 0}).options["hop_limit"] == 0


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("can0", "must begin with one of virtual://"),
        ("ethernet://x", "socketcan://"),
        ("virtual://", "virtual://bench"),
        ("socketcan://", "socketcan://can0"),
        ("slcan:///", "slcan:///dev/ttyACM0"),
        ("serial://", "serial:///dev/ttyUSB0"),
        ("slcan:///dev/ttyACM0?bitrate=fast", "bitrate='fast'"),
        ("slcan:///dev/ttyACM0?speed=1", "no option 'speed'; it has bitrate"),
        ("virtual://a?receive_own_messages=perhaps", "yes/no"),
        ("udp_multicast://192.168.1.1", "not a multicast group"),
        ("udp_multicast://somewhere", "write udp_multicast://239.74.163.2:43113"),
        ("udp_multicast://239.1.1.1:99999", "write udp_multicast://"),
        ("udp_multicast://239.1.1.1?hop_limit=300", "hop_limit"),
    ],
)
def test_wrong_urls_name_what_to_write(url: str, words: str) -> None:
    with pytest.raises(InputError, match=r"^bus: ") as caught:
        parse_bus_url(url)
    assert words in str(caught.value)


@pytest.mark.parametrize("scheme", ["slcan", "serial"])
def test_a_device_that_is_not_there(scheme: str) -> None:
    with pytest.raises(BusError, match=r"there is no device /dev/nothing; .*ttyUSB"):
        open_bus(f"{scheme}:///dev/nothing")


def test_a_device_without_permission(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bus_checks.os, "access", lambda path, mode: False)
    with pytest.raises(BusError, match="dialout"):
        open_bus("slcan:///dev/null")


def test_a_device_that_is_no_serial_line() -> None:
    with pytest.raises(BusError, match="serial:///dev/null"):
        open_bus("serial:///dev/null")


@pytest.mark.skipif(not hasattr(socket, "AF_CAN"), reason="SocketCAN is of Linux")
def test_an_interface_that_is_not_there() -> None:
    with pytest.raises(BusError, match="there is no interface can9; CAN interfaces: "):
        open_bus("socketcan://can9")


@pytest.mark.skipif(not hasattr(socket, "AF_CAN"), reason="SocketCAN is of Linux")
def test_an_interface_that_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"flags": "0x1002", "type": "280"}
    monkeypatch.setattr(bus_checks, "_interface_file", lambda interface, name: files[name])
    with pytest.raises(BusError, match="down; sudo ip link set lo up type can bitrate 500000"):
        open_bus("socketcan://lo")


@pytest.mark.parametrize(
    ("url", "package", "words"),
    [
        ("virtual://a", "can", "python-can"),
        ("udp_multicast://", "msgpack", "msgpack"),
        ("slcan:///dev/null", "serial", "pyserial"),
    ],
)
def test_a_package_that_is_missing(monkeypatch: pytest.MonkeyPatch, url: str, package: str, words: str) -> None:
    monkeypatch.setattr(bus_checks, "find_spec", lambda name: None if name == package else object())
    with pytest.raises(BusError, match=rf'{words}.*pip install "vertebra\[sense\]"'):
        open_bus(url)


class Broken:
    """A bus whose every call fails as a bus of python-can does."""

    channel_info = "broken"

    def __init__(self, number: int) -> None:
        self.number = number

    def fail(self, *arguments: object) -> None:
        try:
            raise OSError(self.number, os.strerror(self.number))
        except OSError as error:
            raise can.CanOperationError("failed", error.errno) from error

    send = recv = fail


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENETDOWN, "ip link set broken up"),
        (errno.ENOBUFS, "terminated"),
        (errno.ENETUNREACH, "ip route add 239.0.0.0/8 dev lo"),
    ],
)
@pytest.mark.parametrize("call", [lambda bus: send(bus, Frame(1, b"")), lambda bus: receive(bus, 0.1)])
def test_failures_in_use_name_the_remedy(number: int, words: str, call: Callable[[Any], object]) -> None:
    with pytest.raises(BusError, match=words) as caught:
        call(Broken(number))
    assert os.strerror(number) in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.skipif(shutil.which("unshare") is None or shutil.which("ip") is None, reason="needs network namespaces")
def test_without_a_network_the_remedy_works() -> None:
    """A computer without any network: the error names two commands, and after them frames go through."""

    def run(commands: str) -> str:
        command = ["unshare", "-rn", "sh", "-c", f'{commands} exec "$0" -c "$1"', sys.executable, NO_ROUTE]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if "unshare" in done.stderr:
            pytest.skip(done.stderr.strip())
        assert done.stderr == ""
        return done.stdout.strip()

    refused = run("")
    assert "no route for multicast" in refused
    remedy = refused.split("to stay on it: ")[1].replace("sudo ", "")
    assert remedy == "ip link set lo up && ip route add 239.0.0.0/8 dev lo"
    assert run(f"{remedy};") == "through"


def test_two_readers_get_all_frames_of_a_writer() -> None:
    url = free_group()
    count = str(FRAMES)
    with child(READER, url, count) as first, child(READER, url, count) as second, child(WRITER, url, count) as writer:
        assert [reader.stdout.readline() for reader in (first, second)] == ["ready\n", "ready\n"]
        writer.stdin.write("go\n")
        writer.stdin.flush()
        assert writer.stdout.readline() == "sent\n"
        for reader in (first, second):
            assert json.loads(reader.stdout.readline()) == list(range(FRAMES))


def test_groups_of_other_ports_are_not_heard() -> None:
    with open_bus(free_group()) as here, open_bus(free_group()) as there:
        send(there, Frame(1, b""))
        assert receive(here, 0.05) is None
