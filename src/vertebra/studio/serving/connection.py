"""One window's line to the studio, with everything taken out of it that a window may not say."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from typing import Any

from websockets.asyncio.server import ServerConnection

from vertebra.studio.serving.messages import Refused, Schema
from vertebra.studio.serving.uploads import Uploads
from vertebra.studio.serving.widgets import Widgets

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
