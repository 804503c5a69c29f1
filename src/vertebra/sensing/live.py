"""A live session: frames from a bus through a `SensorNetwork` to listeners and a recorder, on two threads."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from vertebra.errors import VertebraError
from vertebra.sensing.network import SensorNetwork, Update
from vertebra.sensing.wire.bus import receive
from vertebra.sensing.wire.can import ANGLES, QUATERNION, Frame, kind_and_node

if TYPE_CHECKING:
    from can import BusABC

    from vertebra.sensing.estimator import ShapeEstimator
    from vertebra.sensing.recording.recorder import Recorder

PEEK_AFTER = 0.002
"""s without a frame after which an incomplete cycle gives a preliminary shape."""
_ASLEEP = 0.1
"""s that threads sleep at most, so that they notice the end of the session."""
_WINDOW = 2.0
"""s over which rates are taken."""
_FAR = 60.0
"""s; an arrival time further than this from the host's clock is by another clock."""


class SessionStatistics(NamedTuple):
    """How a session is doing."""

    seconds: float
    """Since the start."""
    frames: int
    """Processed by the estimator."""
    waiting: int
    """Fetched from the bus and not yet processed."""
    shapes: int
    """Final shapes."""
    previews: int
    """Preliminary shapes, of cycles in which a sensor was late or silent."""
    frame_rate: float
    """1/s, over the last two seconds."""
    shape_rate: float
    """1/s, over the last two seconds."""
    lost: int
    """Sensor answers missing between two that came."""
    latency_p50: float
    """s from the arrival of a frame to the shape that it made."""
    latency_p99: float
    latency_max: float


class LiveSession:
    """Estimates the shape of a robot while frames come; a context manager that starts and stops it.

    One thread fetches frames from the bus and does nothing else, so that the system's buffer never fills; another turns
    them into shapes. Neither polls: both sleep until something comes.

    `listeners` are called with an `Update` from the estimating thread and must be quick. `recorder` gets every
    frame in the order in which the estimator takes it, and every final shape.
    """

    def __init__(
        self,
        bus: BusABC,
        estimator: ShapeEstimator,
        *,
        recorder: Recorder | None = None,
        listeners: Iterable[Callable[[Update], None]] = (),
        peek_after: float = PEEK_AFTER,
    ) -> None:
        self.network = SensorNetwork(estimator)
        self.latest: Update | None = None
        """The last update; None before the first."""
        self.fault: VertebraError | None = None
        """What ended the session early."""
        self._bus, self._recorder, self._listeners = bus, recorder, tuple(listeners)
        self._peek_after = peek_after
        self._order = threading.Lock()
        self._queue: SimpleQueue[Frame] = SimpleQueue()
        self._stopping = threading.Event()
        self._latency = LatencyHistogram()
        self._shapes = self._previews = 0
        self._began, self._began_at = time.monotonic(), time.time()
        self._marks: deque[tuple[float, int, int]] = deque([(self._began, 0, 0)])
        self._threads = [
            threading.Thread(target=self._guarded, args=(work,), name=name, daemon=True)
            for name, work in (("sense-receive", self._receive), ("sense-estimate", self._estimate))
        ]

    def start(self) -> None:
        """Start both threads."""
        self._began, self._began_at = time.monotonic(), time.time()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End once all fetched frames are processed; raises what ended the session early."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()
        if self.fault is not None:
            raise self.fault

    @property
    def running(self) -> bool:
        """False once the session has ended or failed."""
        return not self._stopping.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        """Sleep until the session ends or fails, or `timeout` s have passed; returns whether it has ended."""
        return self._stopping.wait(timeout)

    @property
    def statistics(self) -> SessionStatistics:
        """How the session is doing."""
        seconds, frames, shapes = self._mark()
        began, old_frames, old_shapes = self._marks[0]
        span = max(seconds - (began - self._began), 1e-9)
        latency = self._latency
        return SessionStatistics(
            seconds, frames, self._queue.qsize(), shapes, self._previews,
            (frames - old_frames) / span, (shapes - old_shapes) / span, int(self.network.counters.lost.sum()),
            latency.percentile(50), latency.percentile(99), latency.longest,
        )  # fmt: skip

    def why_no_shape(self, send_sync: str) -> str:
        """What is missing for a first shape, and the remedy; empty if nothing is.

        `send_sync`: what a person does so that this computer sends SYNC.
        """
        counters = self.network.counters
        if not counters.frames:
            return "no frames have come; is it the right bus, and do the nodes have power?"
        if not counters.sync:
            return f"frames arrive, but no SYNC (id 080); if no other master sends it, {send_sync}"
        if not (counters.angles or counters.quaternion):
            return "SYNCs arrive, but no orientations; do the nodes answer, and do their numbers match the links?"
        return ""

    def _mark(self) -> tuple[float, int, int]:
        """Time and counts now, kept for the rates of the next two seconds."""
        now, frames, shapes = time.monotonic(), self.network.counters.frames, self._shapes
        if now - self._marks[-1][0] > 0.1:
            self._marks.append((now, frames, shapes))
        while len(self._marks) > 1 and self._marks[1][0] < now - _WINDOW:
            self._marks.popleft()
        return now - self._began, frames, shapes

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except VertebraError as error:
            self.fault = error
        finally:
            self._stopping.set()

    def hear(self, frame: Frame) -> None:
        """Take a frame as if the bus had brought it, such as a SYNC that this computer sends and does not hear."""
        # Under a lock: the recording must have the order that the estimator sees.
        with self._order:
            if self._recorder is not None:
                self._recorder.frame(frame)
            self._queue.put(frame)

    def _receive(self) -> None:
        while not self._stopping.is_set():
            frame = receive(self._bus, _ASLEEP)
            if frame is not None:
                self.hear(on_host_clock(frame))

    def _estimate(self) -> None:
        network, take = self.network, self._queue.get
        last, is_open = 0.0, False
        while True:
            try:
                frame = take(timeout=self._peek_after if is_open else _ASLEEP)
            except Empty:
                if is_open:
                    is_open = False
                    self._preview(last)
                elif self._stopping.is_set() and not self._threads[0].is_alive():
                    return
                continue
            shape = network.receive(frame)
            if shape is not None:
                self._publish(Update(shape, frame.time, True), counted=is_open or _is_sample(frame))
                is_open = False
            elif _is_sample(frame):
                is_open = True
            last = frame.time

    def _preview(self, arrival: float) -> None:
        """Publish the shape of a cycle that still lacks an answer; the estimator stays as it is."""
        if self.network.estimator.time > -math.inf:
            self._previews += 1
            self._publish(Update(self.network.peek(), arrival, False), counted=True)

    def _publish(self, update: Update, counted: bool) -> None:
        """Call all listeners; `counted`: part of the latency, once per cycle."""
        self.latest = update
        for listener in self._listeners:
            listener(update)
        if update.final:
            self._shapes += 1
            if self._recorder is not None:
                self._recorder.shape(update.shape, update.arrival)
        # Frames from before the start would only show how long the start took.
        if counted and update.arrival >= self._began_at:
            self._latency.add(time.time() - update.arrival)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is None:
            self.stop()
        else:
            self._stopping.set()


def _is_sample(frame: Frame) -> bool:
    known = kind_and_node(frame.id)
    return known is not None and known[0] in (ANGLES, QUATERNION)


def on_host_clock(frame: Frame) -> Frame:
    """The frame with its arrival in Unix time: adapters that stamp frames by a clock of their own are not trusted."""
    now = time.time()
    return frame if abs(frame.time - now) < _FAR else frame._replace(time=now)


SHORTEST = 1e-5
"""s; the first bin holds everything shorter."""
PER_DECADE = 50
"""Bins per decade; a percentile is right to 5 %."""
DECADES = 6
"""So that the last bin holds everything longer than 10 s."""


class LatencyHistogram:
    """Counts of durations in bins of equal ratio: a run of a week needs no more memory than one of a second."""

    def __init__(self) -> None:
        self._counts = np.zeros(DECADES * PER_DECADE + 1, dtype=np.int64)
        self.longest = 0.0
        """s."""

    def add(self, seconds: float) -> None:
        """Count a duration."""
        place = math.ceil(math.log10(max(seconds, SHORTEST) / SHORTEST) * PER_DECADE)
        self._counts[min(place, len(self._counts) - 1)] += 1
        self.longest = max(self.longest, seconds)

    @property
    def count(self) -> int:
        """Durations counted."""
        return int(self._counts.sum())

    def percentile(self, percent: float) -> float:
        """Upper edge in s of the bin that this percentile falls into, never more than the longest; 0 without any."""
        if self.count == 0:
            return 0.0
        place = int(np.searchsorted(np.cumsum(self._counts), math.ceil(self.count * percent / 100)))
        if place == len(self._counts) - 1:
            return self.longest
        return min(SHORTEST * 10 ** (place / PER_DECADE), self.longest)
