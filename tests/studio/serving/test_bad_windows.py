"""Windows and strangers that misbehave: what they send is refused and counted, and good windows never notice."""

from __future__ import annotations

import gc
import logging
import math
import os
import random
import socket
from collections.abc import Iterator

import pytest
import viser
from tests.studio.serving.small_studio import Studio, update
from tests.studio.visitors import CAMERA, code_at_end, eventually, get, heard, packed, raw, window

from vertebra.studio.serving.messages import MOST_BAD, GuardedConnection
from vertebra.studio.serving.server import Access, open_server

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"


@pytest.fixture
def studio() -> Iterator[Studio]:
    with open_server(Access(port=0, needs_token=False), label="studio") as server:
        yield Studio(server)


@pytest.fixture(autouse=True)
def _no_tracebacks(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing that visitors do may leave a traceback in a log."""
    with caplog.at_level(logging.WARNING):
        yield
    assert [record for record in caplog.records if record.exc_info] == []


def test_a_good_window(studio: Studio) -> None:
    studio.good_window_works()
    with window(studio.server) as line:
        line.send(packed(CAMERA))
        line.send(update(studio.choice, "b"))
        line.send(update(studio.button, True))
        assert eventually(lambda: studio.choice.value == "b" and studio.clicks == 1)
    assert studio.server.dropped == {}


def test_windows_are_in_step(studio: Studio) -> None:
    with window(studio.server) as first, window(studio.server) as second:
        for line in (first, second):
            line.send(packed(CAMERA))
        assert eventually(lambda: len(studio.server.viser.get_clients()) == 2)
        first.send(update(studio.slider, 7.0))
        assert eventually(lambda: studio.slider.value == 7.0)
        assert heard(second, "GuiUpdateMessage")["updates"] == {"value": 7.0}


def test_values_that_widgets_do_not_have(studio: Studio) -> None:
    with window(studio.server) as line:
        line.send(packed(CAMERA))
        for widget, value in (
            (studio.slider, 11.0), (studio.slider, "5"), (studio.slider, [1.0]), (studio.choice, "c"),
            (studio.choice, 1), (studio.button, 1), (studio.upload, "x"),
        ):  # fmt: skip
            line.send(update(widget, value))
        assert eventually(lambda: studio.server.dropped == {"no value for this widget": 7})
    assert (studio.slider.value, studio.choice.value, studio.clicks) == (1.0, "a", 0)


def test_properties_of_widgets_are_not_theirs_to_change(studio: Studio) -> None:
    with window(studio.server) as line:
        line.send(packed(CAMERA))
        for name in ("label", "max", "disabled", "_impl", "update_cb"):
            updates = {"value": 2.0, name: 3}
            line.send(packed({"type": "GuiUpdateMessage", "uuid": studio.slider._impl.uuid, "updates": updates}))
        assert eventually(lambda: studio.server.dropped == {"not a value": 5})
    assert (studio.slider.value, studio.slider.max) == (1.0, 10.0)


def test_no_window_opens_a_tunnel(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(studio.server.viser, "request_share_url", lambda *_: asked.append(1))
    with window(studio.server) as line:
        line.send(packed(CAMERA))
        line.send(packed({"type": "ShareUrlRequest"}))
        line.send(packed({"type": "ShareUrlDisconnect"}))
        assert eventually(lambda: studio.server.dropped == {"not allowed": 2})
        line.send(update(studio.slider, 3.0))
        assert eventually(lambda: studio.slider.value == 3.0)
    assert asked == []


def test_a_large_upload_that_is_announced(studio: Studio) -> None:
    size = 50_000_000
    with window(studio.server) as line:
        line.send(packed(CAMERA))
        assert eventually(lambda: studio.server.viser.get_clients())
        line.send(studio.start(size))
        for index in range(math.ceil(size / 524_288)):
            line.send(studio.part(b"x" * 524_288, index))
        assert eventually(lambda: studio.server.dropped == {"upload too large": 1, "upload not announced": 96})
        assert studio.held() == 0
        assert "at most 1000000" in str(heard(line, "NotificationShowMessage")), "the window is told"
    assert studio.files == []
    studio.good_window_works()


def test_a_large_upload_in_one_message(studio: Studio) -> None:
    with window(studio.server) as line:
        line.send(packed(CAMERA))
        assert code_at_end(line, [studio.part(b"x" * 50_000_000)]) == 1009
    assert studio.held() == 0
    studio.good_window_works()


def test_more_than_was_announced(studio: Studio) -> None:
    with window(studio.server) as line:
        line.send(packed(CAMERA))
        line.send(studio.start(900_000))
        line.send(studio.part(b"x" * 524_288))
        assert eventually(lambda: studio.held() == 2)
        line.send(studio.part(b"x" * 524_288, 1))
        assert eventually(lambda: studio.server.dropped == {"upload not as announced": 1})
        assert eventually(lambda: studio.held() == 0)
    assert studio.files == []


@pytest.mark.parametrize("with_camera", [True, False])
def test_an_upload_that_is_broken_off_is_freed(studio: Studio, with_camera: bool) -> None:
    with window(studio.server) as line:
        if with_camera:
            line.send(packed(CAMERA))
        line.send(studio.start(900_000))
        line.send(studio.part(b"x" * 524_288))
        assert eventually(lambda: studio.held() == 2)
    assert eventually(lambda: studio.held() == 0)


def test_an_upload_without_a_button(studio: Studio) -> None:
    with window(studio.server) as line:
        line.send(packed(CAMERA))
        line.send(studio.start(10).replace(studio.upload._impl.uuid.encode(), studio.slider._impl.uuid.encode()))
        assert eventually(lambda: studio.server.dropped == {"upload without a button": 1})


def test_the_window_learns_of_its_refused_upload(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, str]] = []

    def notify(client: viser.ClientHandle, title: str, body: str, **look: str) -> None:
        told.append((client.client_id, body))
        raise RuntimeError("telling failed")

    monkeypatch.setattr(viser.ClientHandle, "add_notification", notify)
    with open_server(Access(port=0, needs_token=False), label="x", upload_limit=100) as server:
        studio = Studio(server)
        with window(server), window(server) as second:
            second.send(packed(CAMERA))
            assert eventually(lambda: server.viser.get_clients())
            (number,) = server.viser.get_clients()
            second.send(studio.start(101))
            assert eventually(lambda: told == [(number, "upload too large: 101 bytes, at most 100")])
            second.send(update(studio.slider, 2.0))
            assert eventually(lambda: studio.slider.value == 2.0)
        assert f'content="{100}"' in get(server)[2], "the page knows the limit"


def test_a_thousand_malformed_messages(studio: Studio) -> None:
    rng = random.Random(1)
    good = [packed(CAMERA), update(studio.slider, 2.0), studio.start(10), studio.part(b"0123456789")]
    count = 20_000 if SOAK else 1_000
    for _ in range(math.ceil(count / 500)):
        with window(studio.server) as line:
            for _ in range(500):
                data = (
                    bytearray(rng.choice(good)) if rng.random() < 0.5 else bytearray(rng.randbytes(rng.randrange(200)))
                )
                data[:1] = rng.randbytes(1)
                line.send(bytes(data) if rng.random() < 0.9 else data.hex())
            line.send(packed({"type": "done"}))
    assert eventually(lambda: sum(studio.server.dropped.values()) >= count * 0.9)
    assert "connection failed" not in studio.server.dropped
    assert "handler failed" not in studio.server.dropped
    assert eventually(lambda: studio.held() == 0)
    studio.good_window_works()


def test_a_window_that_only_sends_junk_is_cut_off(studio: Studio) -> None:
    with window(studio.server) as line:
        assert code_at_end(line, ["junk"] * (MOST_BAD + 1)) == 1008
    assert studio.server.dropped == {"text instead of bytes": MOST_BAD + 1}
    studio.good_window_works()


def junk_requests(rng: random.Random) -> bytes:
    """A request that no browser sends."""
    host = b"Host: localhost\r\n"
    return rng.choice(
        (
            rng.randbytes(rng.randrange(1, 400)),
            b"GET " + rng.randbytes(20).replace(b"\n", b"") + b" HTTP/1.1\r\n" + host + b"\r\n",
            b"GET / HTTP/9.9\r\n" + host + b"\r\n",
            b"\r\n\r\n\r\n",
            b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n" + host + b"\r\n",
            b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 200 + b"\r\n",
            b"GET / HTTP/1.1\r\n" + host + b"Content-Length: -5\r\n\r\n",
            b"GET / HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
            b"GET / HTTP/1.1\r\n" + host + b"no colon here\r\n\r\n",
            b"GET /none?" + rng.randbytes(30).hex().encode() + b" HTTP/1.1\r\n" + host + b"\r\n",
            b"GET / HTTP/1.1\r\n" + host + b"Upgrade: websocket\r\nOrigin: http://localhost\r\n\r\n",
            b"GET / HTTP/1.1\r\n"
            + host
            + b"Upgrade: WebSocket, h2c\r\nOrigin: http://localhost\r\nConnection: x\r\n\r\n",
            b"GET / HTTP/1.1\r\n" + host + b"Cookie: " + b";=" * 500 + b"\r\nOrigin: \r\nUpgrade: \r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + rng.randbytes(100),
        )
    )


def test_a_thousand_malformed_requests(studio: Studio) -> None:
    rng = random.Random(2)
    for count in range(10_000 if SOAK else 1_000):
        answer = raw(studio.server, junk_requests(rng), hang_up=True)
        assert b" 200 " not in answer[:20], count
        assert b" 101 " not in answer[:20], count
    studio.good_window_works()


def test_half_a_request_holds_up_nobody(studio: Studio) -> None:
    lines = [socket.create_connection(("127.0.0.1", studio.server.port)) for _ in range(50)]
    try:
        for line in lines:
            line.sendall(b"GET / HTTP/1.1\r\nHost: local")
        studio.good_window_works()
    finally:
        for line in lines:
            line.close()


def test_two_hundred_windows_leave_nothing_behind(studio: Studio) -> None:
    server = studio.server

    def come_and_go(number: int) -> None:
        with window(server) as line:
            if number % 2:
                line.send(packed(CAMERA))
                line.recv(timeout=10)

    def left_behind() -> list[int]:
        inner = server.viser._websock_server
        sizes = [server.windows, len(server.viser.get_clients()), studio.held()]
        return [*sizes, len(inner._client_state_from_id), len(inner._live_connections)]

    def objects() -> int:
        gc.collect()
        return sum(1 for each in gc.get_objects() if type(each) in (GuardedConnection, viser.ClientHandle))

    for number in range(200):
        come_and_go(number)
    assert eventually(lambda: not any(left_behind())), left_behind()
    assert eventually(lambda: objects() <= 4), objects()
    assert server.dropped == {}
