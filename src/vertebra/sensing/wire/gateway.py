"""A sensor node in software: a WitMotion sensor on a serial line, answering on a CAN bus.

Does on a computer what a node board does in the robot, for a bench without boards and for testing boards.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterator
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Protocol

from vertebra.errors import BusError, InputError
from vertebra.sensing.wire import can
from vertebra.sensing.wire.bus import receive, remedy, require_device, require_package, send
from vertebra.sensing.wire.can import (
    DISTURBED,
    FAULT,
    MOST_SENSORS,
    SYNC,
    UNSETTLED,
    Frame,
    Heartbeat,
    decode_heartbeat,
)
from vertebra.sensing.wire.sync_master import SyncMaster
from vertebra.sensing.wire.witmotion import (
    STANDARD_GRAVITY,
    Acceleration,
    Angles,
    Magnetometer,
    Packet,
    QuaternionPacket,
    Rates,
    WitMotionCounters,
    WitMotionParser,
)

if TYPE_CHECKING:
    from can import BusABC

READ_TIMEOUT = 0.1
"""s; how long a read waits, and so how long a reader takes to stop."""
LONGEST_WAIT = 0.1
"""s; how long `stop` may go unnoticed."""
HEARTBEAT_PERIOD = 1.0
"""s"""
SILENT_AFTER = 0.1
"""s without a new sample after which answers carry FAULT."""
SHAKE = 1.0
"""m/s^2 by which the acceleration may differ from gravity before answers carry UNSETTLED."""
SENT = (can.ANGLES, can.GYRO, can.QUATERNION)


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
        """Run until `stop` is set, `duration` in s has passed, or a line fails (BusError)."""
        end = math.inf if duration is None else time.monotonic() + duration
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


class NodeBoard:
    """The logic of a node board: keeps the newest sample of each kind and answers SYNC with it.

    Has no clock, line or bus of its own: times are passed in, so that a recording gives the same answers again.

    `kinds`: which frames to send, as far as the sensor gives packets for them. `field`: smallest and largest magnitude
    of the magnetometer in counts; outside it the heading is reported as disturbed. `delay`: s from the measurement
    to the arrival of its packet, part of the age. `now`: s of the caller's clock; uptime counts from it.
    """

    def __init__(
        self,
        node: int,
        now: float = 0.0,
        *,
        kinds: Collection[int] = SENT,
        field: tuple[float, float] | None = None,
        shake: float = SHAKE,
        delay: float = 0.0,
        silent_after: float = SILENT_AFTER,
    ) -> None:
        if not 0 <= node < MOST_SENSORS:
            raise InputError("node", f"must be the number of a link, 0 to {MOST_SENSORS - 1}, not {node}")
        if field is not None and not 0 <= field[0] < field[1]:
            raise InputError("field", f"needs the smallest and the largest magnitude in counts, not {field}")
        self.node = node
        self.answers = 0
        """Answer frames made so far."""
        self._kinds, self._field, self._shake, self._delay, self._silent_after = (
            kinds,
            field,
            shake,
            delay,
            silent_after,
        )
        self._parser = WitMotionParser()
        self._newest: dict[type, tuple[Packet, float]] = {}
        self._last_sync: can.Sync | None = None
        self._started = self._last_beat = now
        self._samples = 0

    @property
    def counters(self) -> WitMotionCounters:
        """What became of the sensor's bytes."""
        return self._parser.counters

    @property
    def heartbeat_due(self) -> float:
        """When the next heartbeat is due, s of the caller's clock."""
        return self._last_beat + HEARTBEAT_PERIOD

    def feed(self, data: bytes, now: float) -> None:
        """Take bytes of the sensor that came at `now`."""
        for packet in self._parser.feed(data):
            if isinstance(packet, QuaternionPacket) and not 0.9 < math.hypot(*packet) < 1.1:
                continue  # a sensor that has not found its orientation yet sends zeros
            self._newest[type(packet)] = (packet, now)
            self._samples += isinstance(packet, self._counted)

    @property
    def _counted(self) -> type:
        """Angles and quaternions of one sample come together, so only one of them is counted."""
        return Angles if Angles in self._newest else QuaternionPacket

    def answer(self, frame: Frame, now: float) -> list[Frame]:
        """The answer to a frame that came at `now`: the newest samples to a new SYNC, nothing to anything else."""
        sync = can.decode_sync(frame.data) if frame.id == SYNC else None
        # On some buses the master hears its own SYNC again.
        if sync is None or sync == self._last_sync:
            return []
        self._last_sync = sync
        frames = list(self._frames(sync.counter, now))
        self.answers += len(frames)
        return frames

    def heartbeat(self, now: float) -> Frame:
        """State of this node, with the status bits as flags; the next heartbeat is due a second later."""
        rate = self._samples / (now - self._last_beat) if now > self._last_beat else 0.0
        self._samples, self._last_beat = 0, now
        _, newest = self._newest.get(self._counted, (None, -math.inf))
        flags = self._status(now) | self._fault(now, newest)
        data = can.heartbeat_data(now - self._started, self.counters.checksum_errors, rate, flags)
        return Frame(can.HEARTBEAT + self.node, data)

    def _frames(self, counter: int, now: float) -> Iterator[Frame]:
        status = self._status(now)
        for kind, packet_type, encode in _ENCODERS:
            if kind not in self._kinds or packet_type not in self._newest:
                continue
            packet, came = self._newest[packet_type]
            values = packet if packet_type is QuaternionPacket else packet[:3]
            bits = status | self._fault(now, came)
            yield Frame(kind + self.node, encode(values, counter, bits, now - came + self._delay))

    def _fault(self, now: float, came: float) -> int:
        return FAULT if now - came > self._silent_after else 0

    def _status(self, now: float) -> int:
        status = 0
        if self._field is not None and (field := self._magnitude(Magnetometer, now)) is not None:
            low, high = self._field
            status |= 0 if low <= field <= high else DISTURBED
        if (felt := self._magnitude(Acceleration, now)) is not None and abs(felt - STANDARD_GRAVITY) > self._shake:
            status |= UNSETTLED
        return status

    def _magnitude(self, kind: type, now: float) -> float | None:
        packet, came = self._newest.get(kind, (None, 0.0))
        return math.hypot(*packet[:3]) if packet is not None and now - came <= self._silent_after else None


_ENCODERS = (
    (can.ANGLES, Angles, can.angles_data),
    (can.GYRO, Rates, can.gyro_data),
    (can.QUATERNION, QuaternionPacket, can.quaternion_data),
)


class ByteStream(Protocol):
    """A serial line as far as it is used here; pyserial's Serial is one."""

    @property
    def in_waiting(self) -> int:
        """Bytes that can be read without waiting."""

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes; fewer, or none, when the line stays silent."""


def open_serial(device: str, baud: int) -> Any:
    """A line to a sensor: 8 data bits, no parity, 1 stop bit, opened exclusively."""
    require_package(device, "serial")
    require_device(device, device)
    import serial

    try:
        return serial.Serial(device, baud, timeout=READ_TIMEOUT, exclusive=True)
    except (OSError, ValueError) as error:
        raise BusError(device, remedy(error, device)) from error


class SerialReader:
    """Hands every piece of a line to `take(bytes, time)` as it comes, in a thread of its own."""

    def __init__(
        self, stream: ByteStream, take: Callable[[bytes, float], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.error: BusError | None = None
        """Why reading ended, if not by `close`."""
        self._stream, self._take, self._clock, self._stop = stream, take, clock, Event()
        self._thread = Thread(target=self._run, name="serial-reader", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop reading; the stream stays open."""
        self._stop.set()
        self._thread.join(10 * READ_TIMEOUT)

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                data = self._stream.read(self._stream.in_waiting or 1)
                if data:
                    self._take(data, self._clock())
        except (OSError, TypeError) as error:
            # pyserial raises TypeError if its file is closed during a read.
            name = getattr(self._stream, "name", None) or "serial line"
            self.error = BusError(str(name), f"{remedy(error, str(name))}; was it unplugged?")
