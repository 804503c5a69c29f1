"""Files on their way in: what was announced, what came, and from whom. Nothing beyond the limit is collected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

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
