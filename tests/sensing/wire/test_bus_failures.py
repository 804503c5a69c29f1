"""Buses that cannot be opened or fail in use: each error names its remedy."""

from __future__ import annotations

import errno
import os
import pickle
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import can
import pytest

from vertebra.errors import BusError
from vertebra.sensing.wire import bus as bus_checks
from vertebra.sensing.wire.bus import open_bus, receive, send
from vertebra.sensing.wire.can import Frame


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
