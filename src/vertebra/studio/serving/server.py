"""Opens the studio's page: on this machine only unless asked otherwise, and then only for those who have the token."""

from __future__ import annotations

import atexit
import errno
import ipaddress
import socket
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Self

from vertebra.errors import StudioError
from vertebra.studio.serving.gate import Gate, GateSettings, Page, checked_token, make_token

if TYPE_CHECKING:
    import viser

    from vertebra.studio.serving.messages import Rules
    from vertebra.studio.serving.viser_hook import GuardedServe, RoomServe

FIRST_PORT = 8080
PORTS_TRIED = 100


def resolved(host: str) -> tuple[socket.AddressFamily, str]:
    """Family and numeric address of a host to bind to."""
    if not host.strip():
        raise StudioError("host", "is empty; use 127.0.0.1 for this machine only, or 0.0.0.0 for all networks")
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise StudioError("host", f"no address is known for {host!r}; use 127.0.0.1 or one of this machine") from None
    family, _, _, _, place = found[0]
    return family, str(place[0])


def is_loopback(address: str) -> bool:
    """Whether only programs on this machine can reach a numeric address."""
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def listening_socket(host: str, port: int | None) -> socket.socket:
    """A socket that listens on `port`; without one on 8080 or the next free one. Port 0: any free one."""
    family, address = resolved(host)
    if port is not None:
        if not 0 <= port <= 65535:
            raise StudioError("port", f"{port} is not a port; use 1 to 65535, or 0 for any free one")
        return _listen(family, address, port)
    for candidate in range(FIRST_PORT, FIRST_PORT + PORTS_TRIED):
        try:
            return _listen(family, address, candidate)
        except StudioError as error:
            if error.field != "port":
                raise
    raise StudioError("port", f"all ports from {FIRST_PORT} to {FIRST_PORT + PORTS_TRIED - 1} are taken; name another")


def _listen(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    try:
        return socket.create_server((address, port), family=family)
    except PermissionError:
        raise StudioError("port", f"{port} needs administrator rights; use one above 1023") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise StudioError("port", f"{port} is taken by another program; use another, or none to find one") from None
        raise StudioError("host", f"cannot listen on {address}: {error.strerror}; use one of this machine") from None


def shown_host(address: str) -> str:
    """The host to write into an address: one that others can open, where all networks are listened on."""
    number = ipaddress.ip_address(address.partition("%")[0])
    shown = _own_address(number.version) if number.is_unspecified else address
    return f"[{shown}]" if ":" in shown else shown


def _own_address(version: int) -> str:
    """The address this machine sends from. Connecting a datagram socket sends nothing; the target is for examples."""
    family, far, local = {
        4: (socket.AF_INET, "192.0.2.1", "127.0.0.1"),
        6: (socket.AF_INET6, "2001:db8::1", "::1"),
    }[version]
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((far, 9))
        except OSError:
            return local
        return str(probe.getsockname()[0])


# The server.

UPLOAD_LIMIT = 1_000_000
"""Bytes of a file that a window may send; a robot file has some thousand."""


@dataclass(frozen=True)
class Access:
    """Where the studio listens, and who is let in."""

    host: str = "127.0.0.1"
    """Name or address to listen on; 0.0.0.0 for all networks."""
    port: int | None = None
    """None: 8080, or the next free one. 0: any free one."""
    token: str | None = None
    """What windows have to show; None: a random one."""
    needs_token: bool = True
    """False for a studio behind the user's own proxy: whoever reaches its port may drive it."""


class Room:
    """A viser server and the windows that show it. Use it in a ``with`` block, or call `stop`."""

    def __init__(self, server: viser.ViserServer, serve: RoomServe, url: str) -> None:
        self.viser, self.serve, self.url = server, serve, url
        """`url`: the address to open, with the token if there is one."""
        self._stopped = False
        # Viser stops itself at exit too, but prints; ours comes first.
        atexit.register(self.stop)

    @property
    def dropped(self) -> dict[str, int]:
        """How many messages of windows were refused, by reason."""
        return dict(self.serve.rules.dropped)

    @property
    def windows(self) -> int:
        """Windows that show it now."""
        return len(self.serve.connections)

    def forget_removed(self) -> None:
        """Let go of messages about controls that are off the page; viser itself does so only when a window opens."""
        from vertebra.studio.serving.viser_hook import forget_removed

        forget_removed(self.viser)

    def stop(self) -> None:
        """Close all windows, and the port if it has one; calling it again does nothing."""
        from vertebra.studio.serving.viser_hook import quiet_viser

        atexit.unregister(self.stop)
        if not self._stopped:
            self._stopped = True
            with quiet_viser():
                self.viser.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class Server(Room):
    """The room with the port."""

    serve: GuardedServe

    def __init__(self, server: viser.ViserServer, serve: GuardedServe, label: str) -> None:
        settings = serve.gate.settings
        query = f"?token={settings.token}" if settings.token else ""
        super().__init__(server, serve, f"http://{shown_host(settings.address)}:{settings.port}/{query}")
        self._label = label
        self.port = settings.port
        """Where it listens."""
        self.token = settings.token
        """What windows have to show; None when they need nothing."""

    def open_room(self) -> Room:
        """Another room at the same address; `serve.rooms` brings windows to it."""
        from vertebra.studio.serving.viser_hook import RoomServe

        serve = RoomServe(_rules(self.serve.rules.uploads.limit))
        return Room(_started(self._label, serve), serve, self.url)

    def stop(self) -> None:
        self.serve.gate.open = False
        super().stop()

    def __repr__(self) -> str:
        return f"Server(port {self.port}, {self.windows} windows, token {'needed' if self.token else 'not needed'})"


def open_server(
    access: Access,
    *,
    label: str,
    on_state: Callable[[str], None] | None = None,
    upload_limit: int = UPLOAD_LIMIT,
) -> Server:
    """Open the page.

    `on_state` gets the text of ``/?state=...`` when a person opens such an address, on a thread of its own.
    `upload_limit` is in bytes of one file.
    """
    if find_spec("viser") is None:
        raise StudioError("viser", 'the studio needs it; pip install "vertebra[studio]"')
    from vertebra.studio.serving.viser_hook import GuardedServe, viser_index

    if access.token is not None and not access.needs_token:
        raise StudioError("token", "is given, and is not needed; leave one of the two out")
    token = None if access.token is None else checked_token(access.token)
    page = Page(viser_index(), upload_limit)
    sock = listening_socket(access.host, access.port)
    address, port = sock.getsockname()[:2]
    if token is None and access.needs_token:
        token = make_token()
    settings = GateSettings(address, port, token, not is_loopback(address), page, on_state)
    serve = GuardedServe(sock, Gate(settings, lambda: serve.windows), _rules(upload_limit))
    try:
        server = _started(label, serve)
    except BaseException:
        sock.close()
        raise
    serve.gate.open = True
    return Server(server, serve, label)


def _rules(upload_limit: int) -> Rules:
    from vertebra.studio.serving.messages import ALLOWED, Rules, Schema
    from vertebra.studio.serving.viser_hook import message_types

    return Rules(Schema(message_types(ALLOWED)), upload_limit)


def _started(label: str, serve: RoomServe) -> viser.ViserServer:
    """Viser for a room, and its rules complete."""
    from vertebra.studio.serving.viser_hook import Widgets, client_id_of, start_viser

    def refused(connection: object, reason: str) -> None:
        number = client_id_of(server, connection)
        client = server.get_clients().get(-1 if number is None else number)
        if client is not None:
            client.add_notification("The file was not taken", reason, color="red")

    server = start_viser(label, serve)
    serve.rules.on_refused, serve.rules.widgets = refused, Widgets(server)
    server.gui.configure_theme(show_logo=False, show_share_button=False)
    return server
