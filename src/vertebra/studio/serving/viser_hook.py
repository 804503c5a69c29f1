"""Whether a widget can take the value that a window sends for it; viser would cast it, or fail in the attempt."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import rich
import viser
import viser.infra._infra as viser_infra
import websockets.asyncio.server as websocket_server
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from vertebra.errors import StudioError
from vertebra.studio.serving.gate import Gate, add_security_headers
from vertebra.studio.serving.messages import LARGEST_PICTURE, Refused, Schema, Uploads

if TYPE_CHECKING:
    import viser


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
        import viser

        return isinstance(self.find(uuid), viser.GuiUploadButtonHandle)

    def forget_upload(self, transfer: str) -> None:
        """Free the parts that viser has collected of an upload."""
        for api in self._apis():
            api._current_file_upload_states.pop(transfer, None)

    def _apis(self) -> Iterator[viser.GuiApi]:
        yield self._server.gui
        for client in self._server.get_clients().values():
            yield client.gui


def fits_widget(value: Any, now: Any, props: Any) -> bool:
    """Whether `value` is of the kind of the present value `now`, one of the options, and within the range."""
    if isinstance(now, tuple):
        return isinstance(value, list) and len(value) == len(now) and all(map(_same_kind, value, now))
    if not _same_kind(value, now):
        return False
    options = getattr(props, "options", None)
    if options is not None and value not in options:
        return False
    least, most = getattr(props, "min", None), getattr(props, "max", None)
    return isinstance(now, str) or ((least is None or value >= least) and (most is None or value <= most))


def _same_kind(value: Any, now: Any) -> bool:
    if isinstance(now, bool) or isinstance(value, bool):
        return isinstance(now, bool) and isinstance(value, bool)
    if isinstance(now, int):
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(now, float):
        return isinstance(value, int | float)
    return isinstance(now, str) and isinstance(value, str)


# One window's line to the studio, with everything taken out of it that a window may not say.

MOST_BAD = 1000
"""Bad messages after which a window is cut off."""
POLICY_VIOLATION = 1008
_log = logging.getLogger("vertebra.studio")


class Rules:
    """What all windows of a studio are measured by, and what was refused so far."""

    def __init__(self, upload_limit: int, on_refused: Callable[[object, str], None]) -> None:
        self.schema = Schema()
        self.uploads = Uploads(upload_limit)
        self.widgets: Widgets | None = None
        """Set once viser runs; no window is let in before."""
        self.dropped: Counter[str] = Counter()
        self.on_refused = on_refused
        """Called with the connection and the reason of a refused upload."""

    def refusal(self, owner: object, raw: object) -> Refused | None:
        """Why a message of a window is dropped; None when it may pass."""
        message = self.schema.read(raw)
        if isinstance(message, Refused):
            return message
        reason = self._refusal_by_state(owner, message)
        return Refused(reason) if reason else None

    def _refusal_by_state(self, owner: object, message: dict[str, Any]) -> str:
        """What only the running studio knows: the widgets there are, and the uploads under way."""
        if self.widgets is None:
            return "not ready"
        kind = message["type"]
        if kind == "GuiUpdateMessage" and not self.widgets.takes(message["uuid"], message["updates"]["value"]):
            return "no value for this widget"
        if kind == "FileTransferStartUpload":
            if not self.widgets.takes_files(message["source_component_uuid"]):
                return "upload without a button"
            return self.uploads.refuse_start(owner, message)
        if kind == "FileTransferPart":
            reason = self.uploads.refuse_part(owner, message)
            if reason == "upload not as announced":
                self.widgets.forget_upload(message["transfer_uuid"])
            return reason
        return ""

    def count(self, owner: object, refused: Refused) -> None:
        """Count a dropped message; tell the window when it waits for an upload."""
        short = refused.reason.partition(":")[0]
        self.dropped[short] += 1
        if short.startswith("upload") and short != "upload not announced":
            try:
                self.on_refused(owner, refused.reason)
            except Exception as error:  # telling is a courtesy; the window's line does not depend on it
                _log.warning("a refused upload could not be told: %s", error)

    def leave(self, owner: object) -> None:
        """Free what a closed window has left behind."""
        for transfer in self.uploads.of(owner):
            self.uploads.forget(transfer)
            if self.widgets is not None:
                self.widgets.forget_upload(transfer)


class GuardedConnection:
    """What viser sees of a connection: exactly the members it uses, so that nothing can go past the rules."""

    def __init__(self, inner: ServerConnection, rules: Rules) -> None:
        self._inner, self._rules = inner, rules
        self._bad = 0

    @property
    def subprotocol(self) -> str | None:
        """The protocol agreed on: the version of viser's client."""
        return self._inner.subprotocol

    async def recv(self) -> bytes:
        """The next message that may pass."""
        while True:
            raw = await self._inner.recv()
            refused = self._rules.refusal(self, raw)
            if refused is None and isinstance(raw, bytes):
                return raw
            self._rules.count(self, refused or Refused("text instead of bytes"))
            self._bad += 1
            if self._bad > MOST_BAD:
                await self._inner.close(POLICY_VIOLATION, "too many messages that the studio does not take")

    async def send(self, message: bytes) -> None:
        """Send to the window."""
        await self._inner.send(message)

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the window's line."""
        await self._inner.close(code, reason)


# Viser's server, started on our socket with our gate before it.
#
# Viser has no place for a gate, so the one call by which it opens its port (`websockets.asyncio.server.serve`) is
# replaced while it starts. If viser ever opens its port in another way, starting fails instead of leaving it open.

_LOCK = threading.RLock()
_wire_log = logging.getLogger("vertebra.studio.wire")
_wire_log.disabled = True  # strangers' junk is counted, not told
Handler = Callable[[Any], Awaitable[None]]


class GuardedServe:
    """Stands in for `serve` while viser starts: same call, our socket, our gate, our limits."""

    def __init__(self, sock: socket.socket, gate: Gate, rules: Rules) -> None:
        self.sock, self.gate, self.rules = sock, gate, rules
        self.original: Any = None
        self.connections: set[GuardedConnection] = set()
        self.used = False

    def __call__(self, handler: Handler, *args: Any, **options: Any) -> Any:
        if getattr(handler, "__module__", "") != viser_infra.__name__:
            return self.original(handler, *args, **options)
        self.used = True
        asyncio.get_running_loop().set_exception_handler(self._count_failure)
        options.update(
            sock=self.sock,
            process_request=self._answer,
            process_response=self._dress,
            max_size=LARGEST_PICTURE,
            logger=_wire_log,
            server_header=None,
        )
        return self.original(self._guarded(handler), **options)

    def _guarded(self, handler: Handler) -> Handler:
        async def guarded(inner: ServerConnection) -> None:
            if inner.subprotocol != f"viser-v{viser.__version__}":
                # Viser's page asks for a reload on this code and these words.
                await inner.close(1002, f"Version mismatch. Server: {viser.__version__}")
                return
            connection = GuardedConnection(inner, self.rules)
            self.connections.add(connection)
            try:
                await handler(connection)
            except Exception as error:
                self.rules.dropped["connection failed"] += 1
                _log.warning("a window was cut off: %s: %s", type(error).__name__, error)
            finally:
                self.connections.discard(connection)
                self.rules.leave(connection)

        return guarded

    async def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        return await self.gate.answer(request)

    def _dress(self, connection: ServerConnection, request: Request, response: Response) -> None:
        add_security_headers(response.headers)

    def _count_failure(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        self.rules.dropped["handler failed"] += 1
        _log.warning("%s: %s", context.get("message"), context.get("exception"))


def start_viser(label: str, serve: GuardedServe) -> viser.ViserServer:
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
    """Let go of messages about controls that are off the page; viser itself does so only when a window opens."""
    server._run_garbage_collector()
