"""Where a studio listens."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest

from vertebra.errors import StudioError
from vertebra.studio.serving import server as address
from vertebra.studio.serving.server import is_loopback, listening_socket, shown_host


def test_any_free_port() -> None:
    with closing(listening_socket("127.0.0.1", 0)) as sock:
        assert sock.getsockname()[0] == "127.0.0.1"
        assert sock.getsockname()[1] > 0


def test_a_port_that_is_taken_is_named() -> None:
    with closing(listening_socket("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
        with pytest.raises(StudioError, match=rf"^port: {port} is taken") as caught:
            listening_socket("127.0.0.1", port)
        assert caught.value.field == "port"


def test_without_a_port_the_next_free_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(listening_socket("127.0.0.1", 0)) as sock:
        taken = sock.getsockname()[1]
        monkeypatch.setattr(address, "FIRST_PORT", taken)
        with closing(listening_socket("127.0.0.1", None)) as second:
            assert taken < second.getsockname()[1] < taken + address.PORTS_TRIED
        monkeypatch.setattr(address, "PORTS_TRIED", 1)
        with pytest.raises(StudioError, match=r"^port: all ports from"):
            listening_socket("127.0.0.1", None)


@pytest.mark.parametrize("port", [-1, 65536])
def test_no_port(port: int) -> None:
    with pytest.raises(StudioError, match=r"^port: .* is no port"):
        listening_socket("127.0.0.1", port)


@pytest.mark.parametrize("host", ["", "  ", "no.such.host.invalid", "192.0.2.7", "a" * 300, "256.1.1.1"])
def test_no_host(host: str) -> None:
    """None may fall back to all networks, as an empty host does for sockets."""
    with pytest.raises(StudioError, match=r"^host: "):
        listening_socket(host, 0)


def test_who_reaches_an_address() -> None:
    assert is_loopback("127.0.0.1")
    assert is_loopback("127.9.9.9")
    assert is_loopback("::1")
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("::")
    assert not is_loopback("10.0.0.1")


def test_the_host_to_open() -> None:
    assert shown_host("127.0.0.1") == "127.0.0.1"
    assert shown_host("::1") == "[::1]"
    shown = shown_host("0.0.0.0")
    assert shown != "0.0.0.0"
    assert socket.inet_aton(shown)
