"""A studio's server: where it listens, how it opens and stops, that it is quiet, and that viser never listens
without the gate.
"""

from __future__ import annotations

import gc
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
import rich
import viser
import viser.infra._infra
import websockets.asyncio.server
from tests.studio.serving.small_studio import Studio, update
from tests.studio.visitors import CAMERA, code_at_end, eventually, get, packed, window

from vertebra.errors import StudioError
from vertebra.studio.serving import server as address
from vertebra.studio.serving import viser_hook as hook
from vertebra.studio.serving.server import (
    UPLOAD_LIMIT,
    Access,
    Server,
    is_loopback,
    listening_socket,
    open_server,
    shown_host,
)


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
    with pytest.raises(StudioError, match=r"^port: .* is not a port"):
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


# A studio's server: how it opens and stops, that it is quiet, and that viser never listens without the gate.


@pytest.fixture
def studio() -> Iterator[Studio]:
    with open_server(Access(port=0, needs_token=False), label="studio") as server:
        yield Studio(server)


def test_a_window_of_another_version_gets_a_message(studio: Studio, capfd: pytest.CaptureFixture[str]) -> None:
    with window(studio.server, protocol="viser-v0.0.1") as line:
        assert code_at_end(line) == 1002
        assert "Version mismatch" in line.protocol.close_reason
    assert capfd.readouterr() == ("", "")


def test_a_failing_callback_is_one_line_in_the_log(studio: Studio, caplog: pytest.LogCaptureFixture) -> None:
    @studio.slider.on_update
    async def _(_: object) -> None:
        raise RuntimeError("the callback failed")

    with window(studio.server) as line:
        line.send(packed(CAMERA))
        line.send(update(studio.slider, 2.0))
        line.send(update(studio.choice, "b"))
        assert eventually(lambda: studio.choice.value == "b")
        # The task that failed says so when it is thrown away.
        assert eventually(lambda: gc.collect() >= 0 and studio.server.dropped == {"handler failed": 1})
    assert "the callback failed" in caplog.text


def test_it_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    before = rich.print
    with open_server(Access(port=0, needs_token=False), label="x") as server, window(server) as line:
        line.send(packed(CAMERA))
        assert eventually(lambda: server.viser.get_clients())
    assert rich.print is before
    assert capfd.readouterr() == ("", "")


def test_others_still_print_meanwhile(capsys: pytest.CaptureFixture[str]) -> None:
    with hook.quiet_viser():
        rich.print("heard")
    assert capsys.readouterr().out == "heard\n"


def test_stopping_frees_the_port_and_may_be_repeated() -> None:
    server = open_server(Access(port=0, needs_token=False), label="x")
    with window(server) as line:
        server.stop()
        server.stop()
        assert code_at_end(line) == 1001
    with pytest.raises(OSError):  # noqa: PT011 - which one depends on the system
        socket.create_connection(("127.0.0.1", server.port), timeout=2)
    with open_server(Access(port=server.port, needs_token=False), label="again") as again:
        assert get(again)[0] == 200


def test_a_port_that_is_taken_is_an_error_and_leaves_no_server() -> None:
    with open_server(Access(port=0, needs_token=False), label="x") as server:
        threads = threading.active_count()
        with pytest.raises(StudioError, match=f"^port: {server.port} is taken"):
            open_server(Access(port=server.port, needs_token=False), label="y")
        assert threading.active_count() == threads
        assert get(server)[0] == 200


def test_several_studios_start_together() -> None:
    opened: list[Server] = []
    starts = [
        threading.Thread(target=lambda: opened.append(open_server(Access(port=0, needs_token=False), label="x")))
        for _ in range(4)
    ]
    original = websockets.asyncio.server.serve
    for start in starts:
        start.start()
    for start in starts:
        start.join(20)
    try:
        assert len({server.port for server in opened}) == 4
        for server in opened:
            assert get(server, Host="evil.example")[0] == 421
        assert websockets.asyncio.server.serve is original
    finally:
        for server in opened:
            server.stop()


def test_the_hook_into_viser_still_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Viser opens its port by the call that is replaced, with a handler of its own; nothing of it stays replaced."""
    original = websockets.asyncio.server.serve
    seen: list[str] = []
    inner = hook.GuardedServe.__call__

    def watched(self: hook.GuardedServe, handler: Any, *args: Any, **options: Any) -> Any:
        seen.append(handler.__module__)
        return inner(self, handler, *args, **options)

    monkeypatch.setattr(hook.GuardedServe, "__call__", watched)
    with open_server(Access(port=0, needs_token=False), label="x") as server:
        assert seen == [viser.infra._infra.__name__]
        assert websockets.asyncio.server.serve is original
        assert server.viser.get_port() == server.port


def test_if_viser_opens_its_port_in_another_way_there_is_no_studio(monkeypatch: pytest.MonkeyPatch) -> None:
    """Viser's module gets `serve` of its own, so that the replaced one is not called: it must not stay open."""
    started: list[viser.ViserServer] = []
    start = viser.ViserServer.__init__

    def remember(self: viser.ViserServer, *args: Any, **options: Any) -> None:
        started.append(self)
        hook.websocket_server.serve, ours = real, hook.websocket_server.serve
        start(self, *args, **options)
        hook.websocket_server.serve = ours

    real = websockets.asyncio.server.serve
    monkeypatch.setattr(viser.ViserServer, "__init__", remember)
    with pytest.raises(StudioError, match=r"^viser: opens its port in a way not known here"):
        open_server(Access(port=0, needs_token=False), label="x")
    (server,) = started
    assert websockets.asyncio.server.serve is real
    with pytest.raises(OSError):  # noqa: PT011
        socket.create_connection(("127.0.0.1", server.get_port()), timeout=2)


def test_another_server_of_websockets_that_starts_meanwhile_is_left_alone() -> None:
    called: list[Any] = []
    serve = hook.GuardedServe(None, None, None)  # type: ignore[arg-type]
    serve.original = lambda *args, **options: called.append((args, options))
    serve(get, "host", 1, max_size=7)
    assert called == [((get, "host", 1), {"max_size": 7})]
    assert not serve.used


@pytest.mark.parametrize("token", ["short", "with space in the token"])
def test_bad_tokens_open_nothing(token: str) -> None:
    with pytest.raises(StudioError, match=r"^token: "):
        open_server(Access(port=0, token=token), label="x")


def test_without_viser_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vertebra.studio.serving.server.find_spec", lambda _: None)
    with pytest.raises(StudioError, match=r'^viser: .*pip install "vertebra\[studio\]"'):
        open_server(Access(port=0, needs_token=False), label="x")


def test_the_limit_is_a_megabyte() -> None:
    assert UPLOAD_LIMIT == 1_000_000


def test_a_slow_state_does_not_hold_up_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vertebra.studio.serving.gate.STATE_SECONDS", 0.1)
    done = threading.Event()
    with open_server(Access(port=0, needs_token=False), label="x", on_state=lambda _: done.wait(60)) as server:  # type: ignore[arg-type,return-value]
        try:
            assert get(server, "/?state=slow", Sec_Fetch_Site="none")[0] == 200  # while the state is still being opened
        finally:
            done.set()
