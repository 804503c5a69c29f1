"""Who is let in, and what they get: every request, for the page or a socket, passes here before viser sees it."""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
import secrets
from asyncio import sleep
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from importlib.resources import files
from urllib.parse import parse_qs, quote, urlencode

from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from vertebra.errors import StudioError

SHORTEST_TOKEN = 16
LONGEST_TOKEN = 200
_PLAIN = re.compile(r"[A-Za-z0-9._~-]+")


def make_token() -> str:
    """A random token of 192 bits."""
    return secrets.token_urlsafe(24)


def checked_token(token: str) -> str:
    """The token itself if it can be used: long enough to resist guessing, plain enough for an address and a cookie."""
    if not SHORTEST_TOKEN <= len(token) <= LONGEST_TOKEN:
        raise StudioError(
            "token",
            f"has {len(token)} characters; use {SHORTEST_TOKEN} to {LONGEST_TOKEN}, or leave it out for a random one",
        )
    if not _PLAIN.fullmatch(token):
        raise StudioError("token", "may only have letters, digits and . _ ~ -, because it is part of an address")
    return token


def same_token(given: str, token: str) -> bool:
    """Whether two tokens are equal; the time it takes does not reveal how much of them is."""
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), token.encode())


def cookie_values(header: str, name: str) -> list[str]:
    """Values of one cookie in a Cookie header; programs on other ports of the host may have left odd ones there."""
    pairs = (part.partition("=") for part in header.split(";"))
    return [value.strip() for key, _, value in pairs if key.strip() == name]


def bearer_value(header: str) -> str | None:
    """The token of an Authorization header; None for any other kind of authorization."""
    kind, _, value = header.strip().partition(" ")
    return value.strip() if kind.lower() == "bearer" else None


# The page a window loads: viser's, under our name, with our additions, and allowed to do nothing else.

TITLE = "Vertebra studio"
DESCRIPTION = "Cable-driven snake-like robots: shape, payload, motion and sensing"
_NONCE = "vertebra-nonce-goes-here"


class Page:
    """The text of the page. Each answer has a nonce of its own, and only scripts that carry it run."""

    def __init__(self, index: str, upload_limit: int) -> None:
        self._pieces = _studio_page(index, upload_limit).encode().split(_NONCE.encode())

    def answer(self) -> tuple[bytes, str]:
        """Bytes of the page, and the nonce that its policy has to name."""
        nonce = secrets.token_urlsafe(16)
        return nonce.encode().join(self._pieces), nonce


def page_policy(nonce: str, host: str) -> str:
    """Content-Security-Policy of the page: what viser's client needs, from here only.

    Its socket runs in a worker made from a blob, its messages are unpacked by WebAssembly, its styles are inline, and
    it fetches pictures it carries itself (data:, blob:). No eval: `gui.add_plotly` does not work, `add_uplot` does.
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'nonce-{nonce}' 'wasm-unsafe-eval'",
            "worker-src blob:",
            "style-src 'unsafe-inline'",
            "img-src data: blob:",
            f"connect-src 'self' ws://{host} wss://{host} data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    )


PLAIN_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""Content-Security-Policy of everything but the page."""


def _studio_page(index: str, upload_limit: int) -> str:
    """Viser's page with our name, icon, style and script; a nonce on each script, the ones it makes included."""
    icon = quote(_web("icon.svg").strip())
    head = (
        f'<meta name="vertebra-upload-limit" content="{upload_limit}" />\n'
        f"<style>\n{_web('page.css')}{_web('readout.css')}</style>\n"
        f'<script nonce="{_NONCE}">\n{_web("page.js")}{_web("tabs.js")}</script>\n</head>'
    )
    text = index
    for pattern, replacement in (
        (r"<title>[^<]*</title>", f"<title>{TITLE}</title>"),
        (r'<link\s+rel="icon"\s+href="[^"]*"\s*/>', f'<link rel="icon" href="data:image/svg+xml,{icon}" />'),
        (r'<meta name="description" content="[^"]*" />', f'<meta name="description" content="{DESCRIPTION}" />'),
        (r"<script data-p=", f'<script nonce="{_NONCE}" data-p='),
        (r"e\.textContent=code;", f'e.textContent=code;e.nonce="{_NONCE}";'),
        (r"</head>", head),
    ):
        text = _replaced_once(text, pattern, replacement)
    return text


def _replaced_once(text: str, pattern: str, replacement: str) -> str:
    changed, count = re.subn(pattern, lambda _: replacement, text)
    if count != 1:
        raise StudioError("viser", f'its page is not the one known here ({pattern}); pip install "vertebra[studio]"')
    return changed


def _web(name: str) -> str:
    return (files("vertebra.studio") / "web" / name).read_text(encoding="utf-8")


# The gate.

LONGEST_STATE = 8000
"""Characters of ``state=``. The whole request line may have 8192 bytes in `websockets`, or the request is cut off."""
STATE_SECONDS = 5.0
"""How long the page waits until a state is opened; a slow one is opened later."""
WRONG_TOKEN_SECONDS = 0.5
MOST_WINDOWS = 32
_LOOPBACK_NAMES = {"127.0.0.1", "localhost", "[::1]"}
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?")
_SINGLE = (
    "Host", "Origin", "Upgrade", "Authorization", "Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest", "Sec-Purpose",
)  # fmt: skip
_PATHS = ("/", "/index.html")
_WINDOW = re.compile(r"[A-Za-z0-9]{16,64}")
MOST_STATES = 64
"""States that wait for the window in which they were opened."""
_log = logging.getLogger("vertebra.studio")
_QUESTION = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ max-width: 34rem; margin: 18vh auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; color: #1a1a1a; }}
h1 {{ font-size: 1.25rem; }}
a {{ display: inline-block; margin: 0.5rem 0.5rem 0 0; padding: 0.5rem 1rem; border: 1px solid #005b96;
  border-radius: 0.25rem; color: #005b96; text-decoration: none; }}
a:first-child {{ background: #005b96; color: #ffffff; }}
</style>
</head>
<body>
<h1>{title}</h1>
<p>{said}</p>
<p>{choices}</p>
</body>
</html>
"""
_QUESTION_POLICY = f"{PLAIN_POLICY}; style-src 'unsafe-inline'"
_ASKED_STATE = (
    "You followed a link from outside the studio. It opens a saved state, which replaces the robot and the settings "
    "that you have now. Nothing has been changed yet."
)
_ASKED_VISIT = "You followed a link from another site to this studio."


@dataclass(frozen=True)
class GateSettings:
    """Where the studio listens, what it asks for, and what it serves."""

    address: str
    """Numeric address that is listened on."""
    port: int
    token: str | None
    """Needed by every window; None: they need nothing."""
    any_host: bool
    """Whether the machine is reached by names not known here; then the token, or the user's own proxy, protects."""
    page: Page
    on_state: Callable[[str], None] | None
    """Gets the states that are opened by address; None: each waits for the window that opened it."""

    @property
    def cookie(self) -> str:
        """Name of the cookie; with the port, because cookies of one host are shared by all its ports."""
        return f"vertebra_{self.port}"


@dataclass(frozen=True)
class Visit:
    """What the socket of a window says about itself."""

    window: str
    """Its name, which it keeps when it is reloaded; empty for a program that gives none."""
    state: str
    """The state that was opened in it by address, told once; empty without one."""


class Gate:
    """Answers requests. `windows` tells the number of open sockets; `open` turns true once viser runs."""

    def __init__(self, settings: GateSettings, windows: Callable[[], int]) -> None:
        self.settings, self.windows = settings, windows
        self.open = False
        self._seal = secrets.token_bytes(32)
        self._states: dict[str, str] = {}
        """By the nonce of the page that was served with each."""

    async def answer(self, request: Request) -> Response | None:
        """The answer to a request; None lets a socket through."""
        if any(len(request.headers.get_all(name)) > 1 for name in _SINGLE):
            return plain(HTTPStatus.BAD_REQUEST, "A header that may appear only once appears twice.")
        host = request.headers.get("Host", "")
        if not self._is_own(host):
            return plain(HTTPStatus.MISDIRECTED_REQUEST, "This studio does not answer to that host name.")
        path, _, query = request.path.partition("?")
        asked = _query_values(query)
        is_socket = "Upgrade" in request.headers
        if is_socket and not _same_origin(request.headers.get("Origin", ""), host):
            return plain(HTTPStatus.FORBIDDEN, "Only the studio's own page may open its socket.")
        is_visit = not is_socket and path in _PATHS and _is_visit(request.headers)
        refused = await self._check_token(request, {} if is_socket else asked, is_visit)
        if refused is not None:
            return refused
        if path not in _PATHS:
            return plain(HTTPStatus.NOT_FOUND, "There is nothing here. The studio is at /")
        if not self.open:
            return plain(HTTPStatus.SERVICE_UNAVAILABLE, "The studio is starting. Reload the page.")
        if self.windows() >= MOST_WINDOWS:
            return plain(
                HTTPStatus.SERVICE_UNAVAILABLE,
                f"{MOST_WINDOWS} windows of this studio are open, which is the most it serves. Close one, then reload.",
            )
        if is_socket:
            return None
        state = asked.get("state", "") if is_visit else ""
        if state and not self._is_own_act(request.headers, state, asked.get("confirm", "")):
            return self._ask(state)
        return await self._serve_page(host, state if len(state) <= LONGEST_STATE else "")

    def visit(self, request: Request) -> Visit:
        """Who comes with a socket that was let through."""
        asked = _query_values(request.path.partition("?")[2])
        name = asked.get("window", "")
        return Visit(name if _WINDOW.fullmatch(name) else "", self._states.pop(asked.get("page", ""), ""))

    def _is_own(self, host: str) -> bool:
        """Whether the Host header names this studio: any other name may be that of a foreign page that points here."""
        match = _HOST.fullmatch(host)
        if match is None:
            return False
        name = match["name"].lower()
        own = self.settings.address if ":" not in self.settings.address else f"[{self.settings.address}]"
        return self.settings.any_host or name in _LOOPBACK_NAMES or name == own

    async def _check_token(self, request: Request, asked: dict[str, str], is_visit: bool) -> Response | None:
        """None for requests with the token. A token in the address becomes a cookie and leaves the address."""
        token = self.settings.token
        if token is None:
            return None
        headers = request.headers
        given = [value for line in headers.get_all("Cookie") for value in cookie_values(line, self.settings.cookie)]
        given += [value for value in [bearer_value(headers.get("Authorization", ""))] if value is not None]
        if "token" in asked:
            if same_token(asked["token"], token):
                return self._move_to_cookie({name: value for name, value in asked.items() if name != "token"})
            given.append(asked["token"])
        elif any(same_token(value, token) for value in given):
            return None
        if given:  # only those who guess wrong have to wait
            await sleep(WRONG_TOKEN_SECONDS)
        elif is_visit and headers.get("Sec-Fetch-Site") == "cross-site":
            return self._ask(asked.get("state", ""))  # browsers send the cookie only from a page of the studio
        return plain(
            HTTPStatus.UNAUTHORIZED,
            "This studio needs its token. Paste the whole address that was printed where the studio was started, with "
            "?token=... at its end, into the address bar of the browser.",
            ("WWW-Authenticate", 'Bearer realm="vertebra studio"'),
        )

    def _move_to_cookie(self, asked: dict[str, str]) -> Response:
        cookie = f"{self.settings.cookie}={self.settings.token}; HttpOnly; SameSite=Strict; Path=/"
        place = f"/?{urlencode(asked, quote_via=quote, safe='')}" if asked else "/"
        return plain(HTTPStatus.SEE_OTHER, "The token is accepted.", ("Set-Cookie", cookie), ("Location", place))

    def _is_own_act(self, headers: Headers, state: str, confirm: str) -> bool:
        """Whether a person wants this state: followed a link on the studio's own page, typed or pasted the address,
        or confirmed it. Any other page can send a browser here, and browsers that do not say where they come from may
        have been sent; a program that shows the token in a header, which pages cannot set, was not."""
        token = self.settings.token
        shown = bearer_value(headers.get("Authorization", ""))
        return (
            headers.get("Sec-Fetch-Site") in ("same-origin", "none")
            or (token is not None and shown is not None and same_token(shown, token))
            or same_token(confirm, self._confirmation(state))
        )

    def _confirmation(self, state: str) -> str:
        """What the link of our own question carries; other pages can neither guess nor read it."""
        return hmac.new(self._seal, state.encode("utf-8", "surrogateescape"), "sha256").hexdigest()[:32]

    def _ask(self, state: str) -> Response:
        """A page that changes nothing, and asks whether to open what another page points to."""
        choices = '<a href="/">Open the studio</a>'
        if state:
            link = f"/?state={quote(state, safe='')}&amp;confirm={self._confirmation(state)}"
            choices = f'<a href="{link}">Open the saved state</a> <a href="/">Keep what I have</a>'
        body = _QUESTION.format(title=TITLE, said=_ASKED_STATE if state else _ASKED_VISIT, choices=choices)
        headers = Headers({"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": _QUESTION_POLICY})
        return _finished(HTTPStatus.OK, headers, body.encode())

    async def _open_state(self, state: str, nonce: str) -> None:
        """Pass on a state from the address. Whether or not it works, the page is served."""
        if self.settings.on_state is None:
            self._states[nonce] = state
            if len(self._states) > MOST_STATES:
                del self._states[next(iter(self._states))]
            return
        try:
            await asyncio.wait_for(asyncio.to_thread(self.settings.on_state, state), STATE_SECONDS)
        except TimeoutError:
            _log.warning("the state in the address takes longer than %g s", STATE_SECONDS)
        except Exception as error:
            _log.warning("the state in the address could not be opened: %s", error)

    async def _serve_page(self, host: str, state: str) -> Response:
        body, nonce = self.settings.page.answer()
        if state:
            await self._open_state(state, nonce)
        headers = Headers(
            {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": page_policy(nonce, host)}
        )
        return _finished(HTTPStatus.OK, headers, body)


def plain(status: HTTPStatus, text: str, *more: tuple[str, str]) -> Response:
    """A short answer in plain words."""
    return _finished(status, Headers([("Content-Type", "text/plain; charset=utf-8"), *more]), f"{text}\n".encode())


def add_security_headers(headers: Headers) -> None:
    """What every answer carries, the ones that `websockets` makes itself included."""
    for name, value in (
        ("Content-Security-Policy", PLAIN_POLICY),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cache-Control", "no-store"),
    ):
        if name not in headers:
            headers[name] = value


def _finished(status: HTTPStatus, headers: Headers, body: bytes) -> Response:
    headers["Content-Length"] = str(len(body))
    headers["Connection"] = "close"
    return Response(status.value, status.phrase, headers, body)


def _query_values(query: str) -> dict[str, str]:
    """The values of a query, the first of each name; a query that cannot be read asks for nothing."""
    try:
        found = parse_qs(query, keep_blank_values=True, max_num_fields=16, errors="replace")
    except ValueError:
        return {}
    return {name: values[0] for name, values in found.items()}


def _same_origin(origin: str, host: str) -> bool:
    """Whether a socket was asked for by a page of this studio; browsers tell, and pages cannot change it."""
    return origin.lower() in (f"http://{host}".lower(), f"https://{host}".lower())


def _is_visit(headers: Headers) -> bool:
    """Whether a person opens the page, rather than a picture, a frame or a guess of the browser asking for it."""
    return (
        headers.get("Sec-Fetch-Mode", "navigate") == "navigate"
        and headers.get("Sec-Fetch-Dest", "document") == "document"
        and "Sec-Purpose" not in headers
    )
