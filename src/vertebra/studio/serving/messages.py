"""What a window may send to the studio: known messages with the annotated fields, finite numbers and bounded texts.

Viser hands every message it can decode to its handlers, names any property of a widget, and can be made to open a
tunnel to another host. Here only the messages that the page needs pass; all others are dropped with a reason.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import math
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec.msgpack
from websockets.asyncio.server import ServerConnection

if TYPE_CHECKING:
    from vertebra.studio.serving.viser_hook import Widgets

ALLOWED = (
    "CommandTriggerMessage",
    "FileTransferPart",
    "FileTransferStartUpload",
    "GetRenderResponseMessage",
    "GuiButtonHoldMessage",
    "GuiFormDirtyMessage",
    "GuiFormSubmitMessage",
    "GuiUpdateMessage",
    "LocalStorageGetItemResponseMessage",
    "SceneNodeClickMessage",
    "SceneNodeDragMessage",
    "ScenePointerMessage",
    "TransformControlsDragEndMessage",
    "TransformControlsDragStartMessage",
    "TransformControlsUpdateMessage",
    "ViewerCameraMessage",
)
LARGEST_PLAIN = 64 * 1024
"""Bytes of a message that carries no file."""
LARGEST_PART = 640 * 1024
"""Bytes of a part of a file; the page sends 512 KiB and a little around them."""
LARGEST_PICTURE = 8 * 1024 * 1024
"""Bytes of a picture that the studio asked a window for; also the largest frame that is read at all."""
MOST_BAD = 1000
"""Bad messages after which a window is cut off."""
POLICY_VIOLATION = 1008
_log = logging.getLogger("vertebra.studio")
_LARGEST = {"FileTransferPart": LARGEST_PART, "GetRenderResponseMessage": LARGEST_PICTURE}

LONGEST_TEXT = 4096
LONGEST_VALUE = 32 * 1024
"""Characters of the text in a widget."""
LONGEST_LIST = 64
LARGEST_NUMBER = 1e15
"""Of any number; far beyond a length in m or a pixel, and its square is still finite."""


@dataclasses.dataclass(frozen=True)
class Refused:
    """A message that is dropped."""

    reason: str
    """A few words; the same for all messages with the same fault."""


class Schema:
    """The fields of the allowed messages, from viser's own annotations."""

    def __init__(self, declared: Mapping[str, type]) -> None:
        """`declared`: the class of each message in ALLOWED."""
        self._fields: dict[str, dict[str, Any]] = {}
        self._needed: dict[str, set[str]] = {}
        for name in ALLOWED:
            kind = declared[name]
            fields = [each for each in dataclasses.fields(kind) if each.init]
            hints = get_type_hints(kind)
            self._fields[name] = {each.name: hints[each.name] for each in fields}
            self._needed[name] = {each.name for each in fields if each.default is dataclasses.MISSING}

    def read(self, raw: object) -> dict[str, Any] | Refused:
        """The decoded message, its ``type`` included; or why it is dropped. Never raises."""
        if not isinstance(raw, bytes):
            return Refused("text instead of bytes")
        if len(raw) > LARGEST_PICTURE:
            return Refused("too large")
        try:
            message = msgspec.msgpack.decode(raw)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return Refused("not readable")
        kind = message.get("type") if isinstance(message, dict) else None
        if not isinstance(kind, str) or kind not in self._fields:
            return Refused("not allowed")
        if len(raw) > _LARGEST.get(kind, LARGEST_PLAIN):
            return Refused("too large")
        return self._checked(kind, message)

    def _checked(self, kind: str, message: dict[str, Any]) -> dict[str, Any] | Refused:
        known, given = self._fields[kind], message.keys() - {"type"}
        if not self._needed[kind] <= given or not given <= known.keys():
            return Refused("wrong fields")
        if not all(_fits(message[name], known[name]) and _is_rotation(name, message[name]) for name in given):
            return Refused("wrong value")
        if kind == "GuiUpdateMessage" and message["updates"].keys() != {"value"}:
            return Refused("not a value")
        return message


def _fits(value: Any, hint: Any) -> bool:
    """Whether a decoded value is what an annotation says."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, each) for each in inner)
    if origin is Literal:
        return any(value is each or (isinstance(value, str) and value == each) for each in inner)
    if origin is tuple:
        return _fits_tuple(value, inner)
    if origin is dict:
        return isinstance(value, dict) and len(value) <= LONGEST_LIST and all(map(_is_plain, value.values()))
    if hint is float:
        return _is_number(value)
    if hint is int:
        return _is_number(value) and isinstance(value, int)
    if hint is str:
        return isinstance(value, str) and len(value) <= LONGEST_TEXT
    return isinstance(value, hint) if hint in (bytes, type(None)) else False


def _fits_tuple(value: Any, inner: tuple[Any, ...]) -> bool:
    if not isinstance(value, list) or len(value) > LONGEST_LIST:
        return False
    wanted = (inner[0],) * len(value) if inner[-1] is Ellipsis else inner
    return len(wanted) == len(value) and all(map(_fits, value, wanted))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST_NUMBER


def _is_plain(value: Any, depth: int = 2) -> bool:
    """What a widget may send as its value: a switch, a number, a text, or short lists of these."""
    if isinstance(value, list):
        return depth > 0 and len(value) <= LONGEST_LIST and all(_is_plain(each, depth - 1) for each in value)
    if isinstance(value, str):
        return len(value) <= LONGEST_VALUE
    return isinstance(value, bool) or _is_number(value)


def _is_rotation(name: str, value: Any) -> bool:
    """Whether a quaternion has length 1: zero would become NaN where it is normalised. True for other fields."""
    return name != "wxyz" or abs(math.hypot(*value) - 1) < 0.01


# Files on their way in: what was announced, what came, and from whom. Nothing beyond the limit is collected.

MOST_AT_ONCE = 2
"""Uploads of one window at the same time."""
SMALLEST_PART = 4096
"""Bytes of a part on average, at least; the page sends parts of 512 KiB."""
LONGEST_FILENAME = 255


@dataclass
class _Transfer:
    owner: object
    size: int
    parts: int
    received: int = 0
    seen: set[int] = field(default_factory=set)


class Uploads:
    """All uploads of a studio. A refusal is a short reason; the transfer it belongs to is then forgotten."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        """Bytes of one file."""
        self._transfers: dict[str, _Transfer] = {}

    def __len__(self) -> int:
        return len(self._transfers)

    def refuse_start(self, owner: object, message: Mapping[str, Any]) -> str:
        """Why an announced upload is refused; empty when it may come."""
        name, size, parts = message["transfer_uuid"], message["size_bytes"], message["part_count"]
        if size > self.limit:
            return f"upload too large: {size} bytes, at most {self.limit}"
        if size < 0 or (parts == 0) != (size == 0) or not 0 <= parts <= 1 + size // SMALLEST_PART:
            return "upload inconsistent"
        if len(message["filename"].encode()) > LONGEST_FILENAME:
            return "upload with a long name"
        if name in self._transfers or len(self.of(owner)) >= MOST_AT_ONCE:
            return "upload while others run"
        if parts:
            self._transfers[name] = _Transfer(owner, size, parts)
        return ""

    def refuse_part(self, owner: object, message: Mapping[str, Any]) -> str:
        """Why a part is refused; empty when it is one that was announced."""
        name, index, content = message["transfer_uuid"], message["part_index"], message["content"]
        transfer = self._transfers.get(name)
        if transfer is None or transfer.owner is not owner:
            return "upload not announced"
        transfer.received += len(content)
        transfer.seen.add(index)
        complete = len(transfer.seen) == transfer.parts
        fits = transfer.received == transfer.size if complete else transfer.received < transfer.size
        if not 0 <= index < transfer.parts or not fits:
            self.forget(name)
            return "upload not as announced"
        if complete:
            self.forget(name)
        return ""

    def of(self, owner: object) -> list[str]:
        """Transfers that one window has under way."""
        return [name for name, transfer in self._transfers.items() if transfer.owner is owner]

    def forget(self, name: str) -> None:
        """Free what is known about a transfer."""
        self._transfers.pop(name, None)


# What only the running studio knows: its widgets, its windows and what they have under way.


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


class Rules:
    """The rules for all windows of a studio, and what was refused so far."""

    def __init__(
        self, schema: Schema, upload_limit: int, on_refused: Callable[[object, str], None] = lambda owner, reason: None
    ) -> None:
        self.schema = schema
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
            except Exception as error:  # telling is a courtesy; the connection does not depend on it
                _log.warning("the window could not be told of its refused upload: %s", error)

    def leave(self, owner: object) -> None:
        """Free what a closed window has left behind."""
        for transfer in self.uploads.of(owner):
            self.uploads.forget(transfer)
            if self.widgets is not None:
                self.widgets.forget_upload(transfer)


T = TypeVar("T")


async def across(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> T:
    """Await `work` on the loop it belongs to, which may be that of another thread."""
    if loop is asyncio.get_running_loop():
        return await work
    try:
        there = asyncio.run_coroutine_threadsafe(work, loop)
    except RuntimeError:  # it has ended
        work.close()
        raise
    return await asyncio.wrap_future(there)


class GuardedConnection:
    """What viser sees of a connection: exactly the members it uses, so that nothing can go past the rules.

    Made on the loop that reads the connection; used on the loop of any viser server.
    """

    def __init__(self, inner: ServerConnection, rules: Rules) -> None:
        self._inner, self._rules = inner, rules
        self._home = asyncio.get_running_loop()
        self._bad = 0

    @property
    def subprotocol(self) -> str | None:
        """The protocol agreed on: the version of viser's client."""
        return self._inner.subprotocol

    async def recv(self) -> bytes:
        """The next message that may pass."""
        while True:
            raw = await across(self._home, self._inner.recv())
            refused = self._rules.refusal(self, raw)
            if refused is None and isinstance(raw, bytes):
                return raw
            self._rules.count(self, refused or Refused("text instead of bytes"))
            self._bad += 1
            if self._bad > MOST_BAD:
                await self.close(POLICY_VIOLATION, "too many messages that the studio does not take")

    async def send(self, message: bytes) -> None:
        """Send to the window."""
        await across(self._home, self._inner.send(message))

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the connection."""
        await across(self._home, self._inner.close(code, reason))
