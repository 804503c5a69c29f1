"""Who is let in: names, origins, tokens and paths, asked over real sockets."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from html import unescape
from urllib.parse import quote

import pytest
from tests.studio.visitors import CAMERA, eventually, get, packed, raw, window
from tests.waiting import wait_until
from websockets.exceptions import InvalidStatus

from vertebra.errors import StudioError
from vertebra.studio.serving.gate import (
    LONGEST_STATE,
    MOST_WINDOWS,
    WRONG_TOKEN_SECONDS,
    bearer_value,
    checked_token,
    cookie_values,
    make_token,
    same_token,
)
from vertebra.studio.serving.server import Access, Server, open_server


def test_random_tokens_differ_and_pass_their_own_check() -> None:
    made = {make_token() for _ in range(50)}
    assert len(made) == 50
    assert all(checked_token(token) == token and len(token) >= 32 for token in made)


@pytest.mark.parametrize(
    "token", ["", "short", "a" * 15, "a" * 201, "a" * 15 + " ", "a" * 16 + ";", "ä" * 16, "a\n" * 9]
)
def test_tokens_that_are_weak_or_break_a_header(token: str) -> None:
    with pytest.raises(StudioError, match=r"^token: "):
        checked_token(token)


def test_only_the_same_token_is_the_same() -> None:
    token = "0123456789abcdef"
    assert same_token(token, token)
    for other in ("", token[:-1], token + "x", token.upper(), "ä", "\udc80", "\x00"):
        assert not same_token(other, token)


def test_cookies_among_odd_neighbours() -> None:
    header = 'x={"a"; b=1=2;; vertebra_1=right ; =; vertebra_1=twice; vertebra_10=other; ä'
    assert cookie_values(header, "vertebra_1") == ["right", "twice"]
    assert cookie_values("", "vertebra_1") == []


def test_bearer() -> None:
    assert bearer_value("Bearer abc") == "abc"
    assert bearer_value(" bearer  abc ") == "abc"
    assert bearer_value("Basic abc") is None
    assert bearer_value("") is None


# Who is let in: names, origins, tokens and paths, asked over real sockets.

SECRET = "correct-horse-battery"
STATES: list[str] = []
TYPED = {"Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document", "Sec_Fetch_Site": "none"}
"""What a browser sends when a person types an address."""


def open_state(state: str) -> None:
    STATES.append(state)
    if state == "bad":
        raise RuntimeError("this state is bad")


@pytest.fixture(scope="module")
def here() -> Iterator[Server]:
    """On this machine only; windows need no token."""
    with open_server(Access(port=0, needs_token=False), label="here", on_state=open_state) as server:
        yield server


@pytest.fixture(scope="module")
def public() -> Iterator[Server]:
    """On all networks, with a token."""
    with open_server(Access("0.0.0.0", 0, SECRET), label="public", on_state=open_state) as server:
        yield server


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """s that each wrong token was made to wait; nobody waits here."""
    STATES.clear()
    asked: list[float] = []

    async def pause(seconds: float) -> None:
        asked.append(seconds)

    monkeypatch.setattr("vertebra.studio.serving.gate.sleep", pause)
    return asked


def refused(server: Server, **how: str) -> int:
    with pytest.raises(InvalidStatus) as caught:
        window(server, **how)  # type: ignore[arg-type]
    return caught.value.response.status_code


def test_the_page_is_served_here_without_a_token(here: Server) -> None:
    status, headers, text = get(here)
    assert status == 200
    assert "<title>Vertebra studio</title>" in text
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert here.url == f"http://127.0.0.1:{here.port}/"
    assert here.token is None
    assert get(here, "/index.html")[0] == 200


@pytest.mark.parametrize("path", ["/", "/none", "/?token=x"])
def test_every_answer_has_the_headers(here: Server, public: Server, path: str) -> None:
    for server in (here, public):
        headers = get(server, path)[1]
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert "Server" not in headers


def test_each_page_has_a_nonce_of_its_own_and_no_script_without_it(here: Server) -> None:
    nonces = set()
    for _ in range(2):
        _, headers, text = get(here)
        policy = headers["Content-Security-Policy"]
        (nonce,) = re.findall(r"'nonce-([^']+)'", policy)
        nonces.add(nonce)
        assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]
        assert "'unsafe-eval'" not in policy
        assert text.count("<script") == text.count(f'<script nonce="{nonce}"') == 2
        assert text.count(f'e.nonce="{nonce}"') == 1, "the script that the page makes itself"
    assert len(nonces) == 2


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]", "LOCALHOST"])
def test_names_of_this_machine(here: Server, name: str) -> None:
    assert get(here, Host=f"{name}:{here.port}")[0] == 200
    with window(here, Host=f"{name}:{here.port}"):
        pass


@pytest.mark.parametrize(
    "name",
    [
        "evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", "0.0.0.0", "a b", "", "[::2]",
        "x;y", "127.0.0.1:1:2",
    ],
)  # fmt: skip
def test_foreign_names_that_point_here(here: Server, name: str) -> None:
    """A page of another site can make its own name point to this machine."""
    status, _, text = get(here, Host=name)
    assert (status, "<html" in text) == (421, False)
    if re.fullmatch(r"[\w.]+", name):
        assert refused(here, Host=name) == 421


def test_a_request_without_a_host_or_with_two(here: Server) -> None:
    assert raw(here, b"GET / HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 421 ")
    two = b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"
    assert raw(here, two).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://localhost", None])
def test_sockets_that_other_pages_open(here: Server, public: Server, origin: str | None) -> None:
    for server in (here, public):
        assert refused(server, origin=origin, Cookie=f"vertebra_{server.port}={SECRET}") == 403  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "path",
    [
        "/../etc/passwd", "/..", "/%2e%2e/%2e%2e/etc/passwd", "/%2E%2E%2Fetc", "/..%2f..%2fsetup", "/%252e%252e/x",
        "/..\\..\\x", "/%5c..%5c..%5cx", "//etc/passwd", "/./index.html", "/index.html/", "/index.html%00",
        "/etc/passwd", "http://evil.example/", "*", "index.html", "/assets/", "/favicon.ico", "/\xc3\xa9",
        "/index.html/../../_viser.py",
    ],
)  # fmt: skip
def test_no_path_leads_elsewhere(here: Server, path: str) -> None:
    answer = raw(here, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode("latin-1"))
    assert answer.startswith(b"HTTP/1.1 404 "), answer[:80]
    assert b"root:" not in answer
    assert b"import" not in answer


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "TRACE"])
def test_only_get_is_answered(here: Server, method: str) -> None:
    answer = raw(here, f"{method} / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc".encode())
    assert b"200 OK" not in answer
    assert b"<html" not in answer


def test_without_the_token_no_other_machine_is_let_in(public: Server) -> None:
    for path in ("/", "/index.html", "/?state=x", "/none", "/?token="):
        status, headers, text = get(public, path)
        assert status == 401
        assert "?token=" in text
        assert SECRET not in text + str(headers)
        assert "Set-Cookie" not in headers
    assert refused(public) == 401
    assert STATES == []


@pytest.mark.parametrize("guess", [SECRET[:-1], SECRET + "x", "%ff", ""])
def test_wrong_tokens_wait(public: Server, guess: str, pauses: list[float]) -> None:
    assert get(public, f"/?token={guess}")[0] == 401
    assert refused(public, Cookie=f"vertebra_{public.port}={guess or 'x'}") == 401
    assert refused(public, Authorization=f"Bearer {guess or 'x'}") == 401
    assert pauses == [WRONG_TOKEN_SECONDS] * 3


def test_a_wrong_token_with_a_right_cookie_is_still_wrong(public: Server) -> None:
    assert get(public, "/?token=wrong", Cookie=f"vertebra_{public.port}={SECRET}")[0] == 401


def test_the_right_token_becomes_a_cookie(public: Server) -> None:
    status, headers, _ = get(public, f"/?token={SECRET}&state=a%2Fb%26c%3Dd%C3%A9")
    assert status == 303
    assert headers["Location"] == "/?state=a%2Fb%26c%3Dd%C3%A9", "the token leaves the address, the state stays"
    cookie, *flags = headers["Set-Cookie"].split("; ")
    assert cookie == f"vertebra_{public.port}={SECRET}"
    assert set(flags) == {"HttpOnly", "SameSite=Strict", "Path=/"}
    assert STATES == []
    status, _, text = get(public, headers["Location"], Cookie=f"other=1; {cookie}", **TYPED)
    assert (status, "Vertebra studio" in text) == (200, True)
    assert STATES == ["a/b&c=dé"]
    with window(public, Cookie=cookie) as line:
        line.send(packed(CAMERA))
        assert eventually(lambda: len(public.viser.get_clients()) == 1)
    assert get(public, f"/?token={SECRET}")[1]["Location"] == "/"
    assert get(public, f"/?a=1&token={SECRET}&b=%26")[1]["Location"] == "/?a=1&b=%26"


def test_programs_send_the_token_in_a_header(public: Server) -> None:
    assert get(public, Authorization=f"Bearer {SECRET}")[0] == 200
    with window(public, Authorization=f"Bearer {SECRET}"):
        pass
    assert get(public, "/none", Authorization=f"Bearer {SECRET}")[0] == 404


def test_the_cookie_of_another_port_opens_nothing(public: Server) -> None:
    assert get(public, Cookie=f"vertebra_{public.port + 1}={SECRET}")[0] == 401


def test_on_all_networks_any_name_is_taken_and_named_in_the_policy_only_if_it_is_one(public: Server) -> None:
    _, headers, _ = get(public, Host="robot-lab.local:80", Authorization=f"Bearer {SECRET}")
    assert "ws://robot-lab.local:80 " in headers["Content-Security-Policy"]
    assert get(public, Host="x; script-src *", Authorization=f"Bearer {SECRET}")[0] == 421


def test_those_who_guess_do_not_hold_up_others(public: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting, over = list[float](), threading.Event()

    async def pause(seconds: float) -> None:
        waiting.append(seconds)
        while not over.is_set():
            await asyncio.sleep(0.01)

    monkeypatch.setattr("vertebra.studio.serving.gate.sleep", pause)
    guesses = [threading.Thread(target=get, args=(public, "/?token=guess")) for _ in range(20)]
    for guess in guesses:
        guess.start()
    wait_until(lambda: len(waiting) == len(guesses))
    assert get(public, "/none", Authorization=f"Bearer {SECRET}")[0] == 404
    assert all(guess.is_alive() for guess in guesses)
    over.set()
    for guess in guesses:
        guess.join()


def test_the_address_carries_the_token(public: Server) -> None:
    assert public.url.endswith(f":{public.port}/?token={SECRET}")
    assert "//0.0.0.0" not in public.url
    assert SECRET not in repr(public)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_token_is_made_when_none_is_given(host: str) -> None:
    with open_server(Access(host, 0), label="x") as server:
        assert server.token is not None
        assert len(server.token) >= 32
        assert get(server)[0] == 401
        assert get(server, f"/?token={server.token}")[0] == 303
        assert server.url.endswith(f"/?token={server.token}")
        assert refused(server) == 401


def test_no_token_is_needed_only_where_that_is_asked_for() -> None:
    with open_server(Access("0.0.0.0", 0, needs_token=False), label="x") as server:
        assert server.token is None
        assert get(server)[0] == 200
    with pytest.raises(StudioError, match=r"^token: "):
        open_server(Access(port=0, token=SECRET, needs_token=False), label="x")


def test_a_token_may_be_asked_for_here_too() -> None:
    with open_server(Access(port=0, token=SECRET), label="x") as server:
        assert get(server)[0] == 401
        assert refused(server) == 401
        assert get(server, Host="evil.example", Authorization=f"Bearer {SECRET}")[0] == 421


def test_a_state_in_the_address(here: Server) -> None:
    assert get(here, "/?state=robot%3Dhu", **TYPED)[0] == 200
    assert get(here, "/?state=bad", **TYPED)[0] == 200, "a bad state does not break the page"
    assert get(here, f"/?state={'x' * LONGEST_STATE}", **TYPED)[0] == 200
    assert STATES == ["robot=hu", "bad", "x" * LONGEST_STATE]


def test_a_state_longer_than_the_address_may_be(here: Server) -> None:
    answer = raw(here, f"GET /?state={'x' * 10_000} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    assert b"200 OK" not in answer
    assert STATES == []
    assert get(here)[0] == 200


@pytest.mark.parametrize(
    "headers",
    [{"Sec_Fetch_Mode": "no-cors"}, {"Sec_Fetch_Mode": "cors"}, {"Sec_Fetch_Dest": "iframe"}, {"Sec_Purpose": "x"}],
)
def test_only_a_visit_changes_the_state(here: Server, headers: dict[str, str]) -> None:
    """A picture or a frame in a page of another site asks for the address too."""
    assert get(here, "/?state=x", **TYPED | headers)[0] == 200
    assert STATES == []
    assert get(here, "/?state=x", **TYPED)[0] == 200
    assert STATES == ["x"]


def confirmed(text: str) -> str:
    """Where the question's link to the state leads."""
    (place,) = re.findall(r'href="(/\?state=[^"]+)"', text)
    return unescape(place)


@pytest.mark.parametrize("site", ["cross-site", "same-site", None])
def test_a_state_that_another_site_points_to_is_opened_only_when_a_person_says_so(
    here: Server, site: str | None
) -> None:
    """An old browser does not tell where it comes from: it may have been sent, so it is asked too."""
    headers = TYPED | {"Sec_Fetch_Site": site} if site else {}
    state = "a&b=\"<é>'x" + "y" * (LONGEST_STATE - 100)
    status, answered, text = get(here, f"/?state={quote(state)}", **headers)
    assert (status, STATES) == (200, [])
    assert "Nothing has been changed yet" in text
    assert "<script" not in text
    assert "default-src 'none'" in answered["Content-Security-Policy"]
    assert answered["X-Frame-Options"] == "DENY", "no page can draw over the question"
    assert get(here, confirmed(text), **headers)[0] == 200
    assert [state] == STATES


@pytest.mark.parametrize("confirm", ["", "x", "0" * 32, "é"])
def test_nobody_else_can_confirm(here: Server, confirm: str) -> None:
    away = TYPED | {"Sec_Fetch_Site": "cross-site"}
    other = confirmed(get(here, "/?state=another", **away)[2]).partition("&confirm=")[2]
    for given in (quote(confirm), other):
        assert "Nothing has been changed" in get(here, f"/?state=mine&confirm={given}", **away)[2]
    assert STATES == []


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_a_link_of_the_studio_itself_or_a_typed_one_needs_no_question(here: Server, site: str) -> None:
    assert get(here, "/?state=x", **TYPED | {"Sec_Fetch_Site": site})[0] == 200
    assert STATES == ["x"]


def test_a_program_that_shows_the_token_is_not_asked(public: Server) -> None:
    assert get(public, "/?state=x", Authorization=f"Bearer {SECRET}")[0] == 200
    assert STATES == ["x"]


def test_a_link_from_another_site_to_a_studio_with_a_token(public: Server) -> None:
    """Its cookie comes only with requests of its own pages; the question is one of them, and tells nothing."""
    away, cookie = TYPED | {"Sec_Fetch_Site": "cross-site"}, f"vertebra_{public.port}={SECRET}"
    status, headers, text = get(public, "/?state=x", **away)
    assert (status, STATES) == (200, [])
    assert SECRET not in text + str(headers)
    place = confirmed(text)
    assert get(public, place, **TYPED | {"Sec_Fetch_Site": "same-origin"})[0] == 401, "without the cookie"
    assert STATES == []
    assert get(public, place, Cookie=cookie, **TYPED | {"Sec_Fetch_Site": "same-origin"})[0] == 200
    assert STATES == ["x"]
    assert '<a href="/">Open the studio</a>' in get(public, "/", **away)[2]
    assert get(public, "/", **away | {"Sec_Fetch_Dest": "iframe"})[0] == 401
    assert get(public, "/none", **away)[0] == 401
    assert get(public, "/?token=wrong&state=x", **away)[0] == 401


@pytest.mark.parametrize("query", ["&" * 2000, "state", "state=%ff%fe", "=&=", "a=1&" * 100, "%", "state=;"])
def test_odd_queries(here: Server, query: str) -> None:
    assert get(here, f"/?{query}")[0] == 200


def test_as_many_windows_as_it_serves(here: Server) -> None:
    open_windows = []
    try:
        while len(open_windows) < MOST_WINDOWS:
            open_windows.append(window(here))
        assert eventually(lambda: here.windows == MOST_WINDOWS)
        assert refused(here) == 503
        status, _, text = get(here)
        assert status == 503
        assert "Close one, then reload" in text
    finally:
        for each in open_windows:
            each.close()
    assert eventually(lambda: here.windows == 0)
    with window(here):
        pass
