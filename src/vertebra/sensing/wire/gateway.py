"""A sensor node as a program: a WitMotion sensor on a serial line, answering on a CAN bus.

Does on a computer what the board of a node does in the robot, for a bench without boards and for proving boards.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event
from typing import TYPE_CHECKING, Any

from vertebra.sensing.wire.bus import receive, send
from vertebra.sensing.wire.can import Frame, Heartbeat, decode_heartbeat
from vertebra.sensing.wire.node_board import NodeBoard
from vertebra.sensing.wire.serial_line import ByteStream, SerialReader
from vertebra.sensing.wire.sync_master import SyncMaster

if TYPE_CHECKING:
    from can import BusABC

LONGEST_WAIT = 0.1
"""s; how long `stop` may go unnoticed."""


class Gateway:
    """Sensor `node` between a serial stream and a bus; `options` are those of `NodeBoard`.

    With `sync_rate` (Hz) it is the master of the network too and answers its own SYNC. `on_heartbeat` is called with
    every heartbeat sent.
    """

    def __init__(
        self,
        node: int,
        bus: BusABC,
        stream: ByteStream,
        *,
        sync_rate: float | None = None,
        on_heartbeat: Callable[[Heartbeat], None] = lambda heartbeat: None,
        **options: Any,
    ) -> None:
        self.board = NodeBoard(node, time.monotonic(), **options)
        self.heartbeats: int = 0
        self._bus, self._stream, self._on_heartbeat = bus, stream, on_heartbeat
        self._master = None if sync_rate is None else SyncMaster(bus, sync_rate)

    def run(self, stop: Event, duration: float | None = None) -> None:
        """Work until `stop` is set, `duration` in s has passed, or a line fails (BusError)."""
        end = float("inf") if duration is None else time.monotonic() + duration
        reader = SerialReader(self._stream, self.board.feed)
        try:
            while not stop.is_set() and time.monotonic() < end:
                self._step(end)
                if reader.error is not None:
                    raise reader.error
        finally:
            reader.close()

    def _step(self, end: float) -> None:
        due = min(end, self.board.heartbeat_due, self._master.due if self._master else end)
        frame = receive(self._bus, min(max(due - time.monotonic(), 0.0), LONGEST_WAIT))
        if frame is not None:
            self._answer(frame)
        if self._master is not None and (beat := self._master.beat()) is not None:
            self._answer(beat)
        if time.monotonic() >= self.board.heartbeat_due:
            self._send_heartbeat()

    def _send_heartbeat(self) -> None:
        frame = self.board.heartbeat(time.monotonic())
        send(self._bus, frame)
        self.heartbeats += 1
        heartbeat = decode_heartbeat(frame.data)
        if heartbeat is not None:
            self._on_heartbeat(heartbeat)

    def _answer(self, frame: Frame) -> None:
        for answer in self.board.answer(frame, time.monotonic()):
            send(self._bus, answer)
