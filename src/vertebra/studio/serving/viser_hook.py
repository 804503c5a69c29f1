"""All that touches viser's internals: its server, started on our socket with our gate before it; its widgets, its
kinds of messages and its page.

Viser has no place for a gate, so the one call by which it opens its port (`websockets.asyncio.server.serve`) is
replaced while it starts. If viser ever opens its port in another way, starting fails instead of leaving it open.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
import threading
import warnings
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import rich
import viser
import viser._messages as viser_messages
import viser.infra._infra as viser_infra
import websockets.asyncio.server as websocket_server
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from vertebra.errors import StudioError
from vertebra.studio.serving.gate import Gate, Visit, add_security_headers
from vertebra.studio.serving.messages import LARGEST_PICTURE, GuardedConnection, Rules, across, fits_widget

_LOCK = threading.RLock()
_log = logging.getLogger("vertebra.studio")
_wire_log = logging.getLogger("vertebra.studio.wire")
_wire_log.disabled = True  # malformed requests are counted, not logged
# A window may leave while something is on its way to it.
warnings.filterwarnings("ignore", r"Queued an? \w+ on a closed connection")
Handler = Callable[[Any], Coroutine[Any, Any, None]]


GOING_AWAY = 1001
CLOSING_SECONDS = 1.0
"""That a window may take to agree that it is closed: one that hangs does not hold up the end of the studio."""


class RoomServe:
    """Stands in for `serve` while viser starts: same call, but no port. Windows are brought by the one that has it."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.original: Any = None
        self.connections: set[GuardedConnection] = set()
        self._serving: set[asyncio.Task[Any]] | None = set()
        """One task for each window; None once the room is closed."""
        self.used = False

    def __call__(self, handler: Handler, *args: Any, **options: Any) -> Any:
        if getattr(handler, "__module__", "") != viser_infra.__name__:
            return self.original(handler, *args, **options)
        self.used = True
        self._handler, self._loop = handler, asyncio.get_running_loop()
        self._loop.set_exception_handler(self._count_failure)
        return self._opened(options)

    def _opened(self, options: dict[str, Any]) -> Any:
        return self

    async def __aenter__(self) -> RoomServe:
        return self

    async def __aexit__(self, *_: object) -> None:
        serving, self._serving = self._serving, None
        for task in serving or ():
            task.cancel()
        await asyncio.gather(*serving or (), return_exceptions=True)

    @property
    def server(self) -> Any:
        """What viser asks for its sockets."""
        return SimpleNamespace(sockets=())

    async def take(self, inner: ServerConnection) -> None:
        """Serve a window until it leaves; called on the loop that reads its connection."""
        try:
            await across(self._loop, self._served(GuardedConnection(inner, self.rules)))
        except asyncio.CancelledError:
            if self._serving is not None:
                raise
            await inner.close(GOING_AWAY)
        except Exception as error:
            self.rules.dropped["connection failed"] += 1
            _log.warning("a window was cut off: %s: %s", type(error).__name__, error)

    async def _served(self, connection: GuardedConnection) -> None:
        task = asyncio.current_task()
        if task is None or self._serving is None:
            raise asyncio.CancelledError
        self._serving.add(task)
        self.connections.add(connection)
        try:
            await self._handler(connection)
        finally:
            self.connections.discard(connection)
            self.rules.leave(connection)
            if self._serving is not None:
                self._serving.discard(task)

    def _count_failure(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        self.rules.dropped["handler failed"] += 1
        _log.warning("%s: %s", context.get("message"), context.get("exception"))


class GuardedServe(RoomServe):
    """The one with the port: our socket, our gate, our limits. Its windows show its own viser, or are brought to a room
    of their own."""

    def __init__(self, sock: socket.socket, gate: Gate, rules: Rules) -> None:
        super().__init__(rules)
        self.sock, self.gate = sock, gate
        self.windows = 0
        """That are open now, in all rooms."""
        self.rooms: Callable[[Visit], AbstractAsyncContextManager[RoomServe | None]] | None = None
        """Gives the room of a window for as long as it is open; None for one that has none."""

    def _opened(self, options: dict[str, Any]) -> Any:
        options.update(
            sock=self.sock,
            process_request=self._answer,
            process_response=self._add_headers,
            max_size=LARGEST_PICTURE,
            close_timeout=CLOSING_SECONDS,
            logger=_wire_log,
            server_header=None,
        )
        return self.original(self._guarded, **options)

    async def _guarded(self, inner: ServerConnection) -> None:
        if inner.subprotocol != f"viser-v{viser.__version__}":
            # Viser's page asks for a reload on this code and these words.
            await inner.close(1002, f"Version mismatch. Server: {viser.__version__}")
            return
        self.windows += 1
        try:
            if self.rooms is None:
                await self.take(inner)
                return
            assert inner.request is not None
            async with self.rooms(self.gate.visit(inner.request)) as room:
                await (room or self).take(inner)
        finally:
            self.windows -= 1

    async def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        return await self.gate.answer(request)

    def _add_headers(self, connection: ServerConnection, request: Request, response: Response) -> None:
        add_security_headers(response.headers)


def start_viser(label: str, serve: RoomServe) -> viser.ViserServer:
    """A running viser server behind the gate."""
    with _LOCK, quiet_viser():
        serve.original = websocket_server.serve
        websocket_server.serve = serve  # type: ignore[assignment,misc]
        try:
            # The address is not used; were the gate not in place, only this machine would reach a random port.
            server = viser.ViserServer(host="127.0.0.1", port=0, label=label, verbose=False)
        finally:
            websocket_server.serve = serve.original  # type: ignore[misc]
        if not serve.used:
            server.stop()
            raise StudioError("viser", 'opens its port in a way not known here; pip install "vertebra[studio]"')
    return server


def client_id_of(server: viser.ViserServer, connection: object) -> int | None:
    """Viser's number of the window behind a connection; None when it has left."""
    live = dict(server._websock_server._live_connections)
    return next((number for number, each in live.items() if each is connection), None)


@contextmanager
def quiet_viser() -> Iterator[None]:
    """What viser prints meanwhile is dropped; what others print is not."""
    with _LOCK:
        original = rich.print

        def others_only(*args: Any, **options: Any) -> None:
            if not sys._getframe(1).f_globals.get("__name__", "").startswith("viser"):
                original(*args, **options)

        rich.print = others_only
        try:
            yield
        finally:
            rich.print = original


def forget_removed(server: viser.ViserServer) -> None:
    """Let go of messages about controls that are off the page."""
    server._run_garbage_collector()


class Widgets:
    """The widgets of a running studio, the ones that only one window has included."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._server = server

    def find(self, uuid: str) -> Any | None:
        """The handle of a widget; None when it is gone."""
        found = (api._gui_input_handle_from_uuid.get(uuid) for api in self._apis())
        return next((handle for handle in found if handle is not None), None)

    def takes(self, uuid: str, value: Any) -> bool:
        """Whether the widget can take the value; True for one that is gone, which viser ignores."""
        handle = self.find(uuid)
        return handle is None or fits_widget(value, handle._impl.value, handle._impl.props)

    def takes_files(self, uuid: str) -> bool:
        """Whether the widget is an upload button."""
        return isinstance(self.find(uuid), viser.GuiUploadButtonHandle)

    def forget_upload(self, transfer: str) -> None:
        """Free the parts that viser has collected of an upload."""
        for api in self._apis():
            api._current_file_upload_states.pop(transfer, None)

    def _apis(self) -> Iterator[viser.GuiApi]:
        yield self._server.gui
        for client in self._server.get_clients().values():
            yield client.gui


def message_types(names: Iterable[str]) -> dict[str, type]:
    """Viser's declarations of messages, by their names."""
    return {name: getattr(viser_messages, name) for name in names}


def viser_index() -> str:
    """Viser's own page, as it is installed."""
    return (Path(viser.__file__).parent / "client" / "build" / "index.html").read_text(encoding="utf-8")
