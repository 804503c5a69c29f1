"""Frames in, shapes out, from a live bus or a recording: samples are dated by SYNC, lost ones are counted."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vertebra.errors import InputError, shown
from vertebra.mechanics.kernels.sensor_intake import ACCEPTED, JUMP_RATE, OUTLIER
from vertebra.mechanics.kernels.sensor_intake import ANGLES as ANGLE_FORM
from vertebra.mechanics.kernels.sensor_intake import QUATERNION as QUATERNION_FORM
from vertebra.robot.arguments import as_robot
from vertebra.robot.robot import RobotLike
from vertebra.robot.tables import Floats
from vertebra.sensing.estimator import ShapeEstimator
from vertebra.sensing.recording.raw_log import LogReader
from vertebra.sensing.sensed_shape import Integers, SensedShape
from vertebra.sensing.wire.can import (
    ANGLES,
    DECODERS,
    DISTURBED,
    FAULT,
    GYRO,
    HEARTBEAT,
    OLDEST_AGE,
    SYNC,
    UNSETTLED,
    Frame,
    Sample,
    Sync,
    decode_heartbeat,
    decode_sync,
    kind_and_node,
)


class SensorNetwork:
    """Decodes the frames of a network for an estimator and has it solve once per cycle.

    A cycle is a SYNC and the answers to it. It is solved as soon as all live sensors have answered, or when the next
    SYNC closes it. Everything depends on the frames and their order alone, so a replayed recording gives the
    same bits as the live bus did.
    """

    def __init__(self, estimator: ShapeEstimator | RobotLike) -> None:
        """`estimator`: where the samples go; a robot stands for a new estimator of it with the usual settings."""
        if not isinstance(estimator, ShapeEstimator):
            estimator = ShapeEstimator(as_robot(estimator, "estimator"))
        self.estimator: ShapeEstimator = estimator
        links = estimator.robot.sensor_links
        self.counters = Counters(links)
        self.clock = SyncClock()
        self._rows = {int(link): row for row, link in enumerate(links)}
        self._orientations, self._rates = Answers(len(links), expected=True), Answers(len(links), expected=False)
        self._answered: list[tuple[int, int, Sample, float] | None] = [None] * len(links)
        self._conflict_times: list[tuple[float, ...]] = [()] * len(links)
        self._three, self._four = np.zeros(3), np.zeros(4)
        self._pending = False

    @property
    def sync_period(self) -> float:
        """s between SYNCs; 0 until two have come."""
        return self.clock.period

    def receive(self, frame: Frame) -> SensedShape | None:
        """Process a frame; returns the shape if it completes a cycle."""
        if not (isinstance(frame, Frame) and type(frame.id) is int and type(frame.data) is bytes):
            raise InputError("frame", f"must be a Frame with a whole number for its id and bytes, not {shown(frame)}")
        counters = self.counters
        counters.frames += 1
        known = kind_and_node(frame.id)
        if known is None:
            counters.unknown += 1
            return None
        kind, node = known
        if kind == SYNC:
            return self._receive_sync(frame.data)
        row = self._rows.get(node)
        if row is None:
            counters.unknown += 1
            return None
        if kind == HEARTBEAT:
            good = decode_heartbeat(frame.data) is not None
            counters.heartbeat += good
            counters.malformed += not good
            return None
        return self._receive_answer(kind, row, frame.data)

    def peek(self) -> SensedShape:
        """The shape from everything so far, without closing the cycle."""
        return self.estimator.peek()

    def _receive_sync(self, data: bytes) -> SensedShape | None:
        sync = decode_sync(data)
        if sync is None:
            self.counters.malformed += 1
            return None
        self.counters.sync += 1
        if not self.clock.receive(sync):
            self.counters.ignored_sync += 1
            return None
        return self._solve()

    def _receive_answer(self, kind: int, row: int, data: bytes) -> SensedShape | None:
        counters = self.counters
        sample = DECODERS[kind](data)
        if sample is None:
            counters.malformed += 1
            return None
        if kind == ANGLES:
            counters.angles += 1
        elif kind == GYRO:
            counters.gyro += 1
        else:
            counters.quaternion += 1
        counters.received[row] += 1
        count = self.clock.resolve(sample.counter)
        synced = self.clock.time_of(count)
        if synced is None:
            counters.no_sync += 1
            return None
        answers = self._rates if kind == GYRO else self._orientations
        if not answers.note(row, count, counters):
            if kind != GYRO:
                self._compare(row, count, kind, sample, synced - sample.age)
            return None
        if kind != GYRO:
            self._answered[row] = (count, kind, sample, synced - sample.age)
        if sample.status & FAULT:
            counters.faults += 1
            self.estimator.report_fault(int(counters.sensors[row]))
        elif sample.age >= OLDEST_AGE:
            counters.too_old += 1
        else:
            self._file(kind, row, sample, synced - sample.age)
        return self._solve() if self._complete(count) else None

    def _compare(self, row: int, count: int, kind: int, sample: Sample, time: float) -> None:
        """Look at a second answer to one SYNC: a node may send one twice, but then both say the same."""
        first = self._answered[row]
        if first is None or first[0] != count:
            return
        apart = math.acos(min(max(float(_down(kind, sample) @ _down(first[1], first[2])), -1.0), 1.0))
        noise = float(self.estimator.robot.sensor_noise[:2].sum())
        if apart <= 2.0 * self.estimator.gate * noise + JUMP_RATE * abs(time - first[3]):
            return
        self.counters.conflicts[row] += 1
        before, self._conflict_times[row] = self._conflict_times[row], (*self._conflict_times[row], time)[-AGREEING:]
        if len(before) >= AGREEING - 1 and time - before[1 - AGREEING] < CONFLICT_SPAN:
            self.estimator.report_conflict(int(self.counters.sensors[row]))

    def _file(self, kind: int, row: int, sample: Sample, time: float) -> None:
        estimator = self.estimator
        if kind == GYRO:
            rates = self._three
            rates[0], rates[1], rates[2] = sample.values
            estimator._file_rate(row, rates, time)
            return
        if kind == ANGLES:
            form, values = ANGLE_FORM, self._three
            values[0], values[1], values[2] = sample.values
        else:
            form, values = QUATERNION_FORM, self._four
            values[0], values[1], values[2], values[3] = sample.values
        status = sample.status
        outcome = estimator._file(row, form, values, time, bool(status & DISTURBED), bool(status & UNSETTLED))
        if outcome == ACCEPTED:
            self._pending = True
        elif outcome == OUTLIER:
            self.counters.outliers[row] += 1

    def _complete(self, count: int) -> bool:
        """Whether all live sensors have answered SYNC number `count`."""
        return self._pending and self._orientations.complete(count) and self._rates.complete(count)

    def _solve(self) -> SensedShape | None:
        if not self._pending:
            return None
        self._pending = False
        return self.estimator.solve()


def _down(kind: int, sample: Sample) -> Floats:
    """(3,) the world's vertical in the axes of the sensor: its tilt, whatever its heading."""
    if kind == ANGLES:
        roll, pitch, _ = sample.values
        return np.array([-math.sin(pitch), math.cos(pitch) * math.sin(roll), math.cos(pitch) * math.cos(roll)])
    w, x, y, z = sample.values
    return np.array([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)])


class Update(NamedTuple):
    """A shape as listeners get it."""

    shape: SensedShape
    arrival: float
    """s (Unix) when the newest frame in it came."""
    final: bool
    """False: a sensor has not answered yet; the final shape of this cycle will follow."""


class Replay:
    """Final shapes of a recording: the same frames give the same shapes as on the live bus, bit for bit. Iterate once.

    `speed`: 1 for as recorded, 2 for twice as fast; None for as fast as possible. `estimator` should be new: samples it
    has already seen change its results.
    """

    def __init__(
        self,
        path: str | Path,
        estimator: ShapeEstimator,
        speed: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if speed is not None and not (math.isfinite(speed) and speed > 0):
            raise InputError("speed", f"must be a positive number, or None for as fast as possible, not {speed!r}")
        self.reader = LogReader(path)
        """Says after the last shape whether the recording was cut off."""
        self.network = SensorNetwork(estimator)
        self._speed, self._clock, self._sleep = speed, clock, sleep

    def __iter__(self) -> Iterator[Update]:
        began, first = self._clock(), None
        for frame in self.reader:
            if self._speed is not None:
                first = frame.time if first is None else first
                ahead = (frame.time - first) / self._speed - (self._clock() - began)
                if ahead > 0:
                    self._sleep(ahead)
            shape = self.network.receive(frame)
            if shape is not None:
                yield Update(shape, frame.time, True)


def replay(path: str | Path, estimator: ShapeEstimator, speed: float | None = None) -> Iterator[SensedShape]:
    """Shapes of a recording (.blf, .log or .csv), one per cycle; see `Replay`.

    Raises RecordingError where the file is damaged, after the shapes before that.
    """
    return (update.shape for update in Replay(path, estimator, speed))


@dataclass(eq=False)
class Counters:
    """Counts of frames by kind, and of answers per sensor; they grow while frames come."""

    sensors: Integers
    """(sensors,) numbers of their links."""
    frames: int = 0
    """All of them."""
    sync: int = 0
    angles: int = 0
    gyro: int = 0
    quaternion: int = 0
    heartbeat: int = 0
    unknown: int = 0
    """With an id outside this network, or of a sensor that the robot does not have."""
    malformed: int = 0
    """With a wrong length or impossible content."""
    no_sync: int = 0
    """Answers whose SYNC is not known, and so neither is their time."""
    faults: int = 0
    """Answers in which a node reports that its sensor does not work."""
    too_old: int = 0
    """Answers with a sample so old that its time is not known."""
    ignored_sync: int = 0
    """SYNCs that fit neither the clock nor each other."""
    received: Integers = field(init=False)
    """(sensors,) answers that came: angles, quaternions and rates."""
    lost: Integers = field(init=False)
    """(sensors,) answers missing between two that came."""
    duplicates: Integers = field(init=False)
    reordered: Integers = field(init=False)
    """(sensors,) answers that came after a later one; they are no longer counted as lost."""
    outliers: Integers = field(init=False)
    """(sensors,) orientations that jumped and were not used."""
    conflicts: Integers = field(init=False)
    """(sensors,) second answers to one SYNC that contradict the first."""

    def __post_init__(self) -> None:
        for name in ("received", "lost", "duplicates", "reordered", "outliers", "conflicts"):
            setattr(self, name, np.zeros(len(self.sensors), dtype=np.int64))

    def __repr__(self) -> str:
        return (
            f"Counters({self.frames} frames: {self.sync} SYNC, {self.angles} angles, {self.quaternion} quaternions, "
            f"{self.gyro} rates, {self.heartbeat} heartbeats, {self.unknown} unknown, {self.malformed} malformed; "
            f"lost {self.lost.sum()}, duplicates {self.duplicates.sum()}, outliers {self.outliers.sum()})"
        )


SYNCS_REMEMBERED = 16
"""SYNCs that the 4-bit counter in an answer can tell apart."""
AHEAD = 7
"""An answer up to this many SYNCs ahead of the last one belongs to a lost SYNC; beyond that it is an old answer."""
LONGEST_PERIOD = 5.0
"""s between SYNCs."""
AGREEING = 3
"""SYNCs that must agree with each other before the clock jumps: a single one may be damaged."""
TOLERANCE = 0.5
"""How early or late a SYNC may be, as a share of the period."""


class SyncClock:
    """Turns the counter and age in an answer into the time of the sample, s of the master's clock.

    Counts SYNCs across the wrap of their counter, fills in lost ones, ignores damaged ones, and carries on after a
    restart of the master without ever running backwards.
    """

    def __init__(self) -> None:
        self.count = -1
        """SYNCs since the start, lost ones included; -1 before the first."""
        self.time = 0.0
        """s, of the last SYNC."""
        self.period = 0.0
        """s between SYNCs; 0 until two have come."""
        self.ignored = 0
        """SYNCs that fit neither the clock nor each other, and repeated ones."""
        self._counter = 0
        self._shift = 0.0
        self._counts = [-1] * SYNCS_REMEMBERED
        self._times = [0.0] * SYNCS_REMEMBERED
        self._doubtful: list[Sync] = []

    def receive(self, sync: Sync) -> bool:
        """Process a SYNC; False if it is ignored."""
        if self.count < 0:
            self._accept(sync, 0)
            return True
        ahead = (sync.counter - self._counter) & 0xFFFF
        if self._fits(ahead, sync.time + self._shift - self.time):
            self._accept(sync, self.count + ahead)
            self._doubtful.clear()
            return True
        if ahead != 0 and self._agrees(sync):
            self._jump()
            return True
        self.ignored += 1
        return False

    def resolve(self, counter: int) -> int:
        """Number (as in `count`) of the SYNC that an answer with this 4-bit counter belongs to."""
        ahead = (counter - self._counter) % SYNCS_REMEMBERED
        return self.count + (ahead if ahead <= AHEAD else ahead - SYNCS_REMEMBERED)

    def time_of(self, count: int) -> float | None:
        """When SYNC number `count` was sent, s; None if it was lost before the period was known."""
        if count < 0:
            return None
        slot = count % SYNCS_REMEMBERED
        if self._counts[slot] == count:
            return self._times[slot]
        if self.period == 0.0:
            return None
        return self.time + (count - self.count) * self.period

    def _fits(self, ahead: int, elapsed: float) -> bool:
        if not 0 < ahead <= 0x7FFF or elapsed <= 0.0:
            return False
        if self.period == 0.0:
            return elapsed / ahead <= LONGEST_PERIOD
        return abs(elapsed - ahead * self.period) <= TOLERANCE * self.period + 0.01 * elapsed

    def _accept(self, sync: Sync, count: int) -> None:
        time = sync.time + self._shift
        if self.count >= 0:
            self.period = (time - self.time) / (count - self.count)
        self.count, self.time, self._counter = count, time, sync.counter
        self._counts[count % SYNCS_REMEMBERED], self._times[count % SYNCS_REMEMBERED] = count, time

    def _agrees(self, sync: Sync) -> bool:
        """Whether this SYNC and those before it that did not fit the clock agree with each other."""
        if self._doubtful:
            last = self._doubtful[-1]
            steps, elapsed = (sync.counter - last.counter) & 0xFFFF, sync.time - last.time
            if not (0 < steps <= AHEAD and 0.0 < elapsed <= steps * LONGEST_PERIOD):
                self._doubtful.clear()
        self._doubtful.append(sync)
        return len(self._doubtful) >= AGREEING

    def _jump(self) -> None:
        """The master has restarted or changed its rate: carry on from its last SYNC."""
        first, last = self._doubtful[0], self._doubtful[-1]
        self.period = (last.time - first.time) / ((last.counter - first.counter) & 0xFFFF)
        steps = (last.counter - self._counter) & 0xFFFF
        elapsed = last.time + self._shift - self.time
        if steps <= 0x7FFF and 0.0 < elapsed <= LONGEST_PERIOD * steps:
            count = self.count + steps
        else:
            count = self.count + 1
            self._shift = self.time + self.period - last.time
        self._doubtful.clear()
        period = self.period
        self._accept(last, count)
        self.period = period


CONFLICT_SPAN = 1.0
"""s within which as many contradicting answers as there must be `AGREEING` SYNCs show that a number is shared: a single
one may be a late answer to an older SYNC."""
PATIENCE = 25
"""SYNCs without an answer after which a sensor is no longer waited for."""
CYCLES_REMEMBERED = 64
"""SYNCs over which a repeated answer is told from a late one."""


class Answers:
    """Which sensors have answered which SYNC, for one kind of answer: orientations or rates.

    Finds lost, repeated and late answers and complete cycles. `expected`: waited for before the first one comes.
    """

    def __init__(self, sensors: int, *, expected: bool) -> None:
        self._last = [-1] * sensors
        self._begin = [-1] * sensors
        self._heard = [0] * sensors  # bit k: has answered SYNC `last - k`
        self._expected = expected
        self._first = -1
        self._count = -1
        self._awaited: list[int] = []

    def note(self, row: int, count: int, counters: Counters) -> bool:
        """File an answer of sensor `row` to SYNC number `count`; False if it is a repeat."""
        if self._first < 0:
            self._first = count
        ahead = count - self._last[row]
        if self._last[row] < 0 or ahead > 0:
            if self._last[row] >= 0:
                counters.lost[row] += ahead - 1
            else:
                self._begin[row] = count
            self._heard[row] = (self._heard[row] << min(ahead, CYCLES_REMEMBERED) | 1) & (1 << CYCLES_REMEMBERED) - 1
            self._last[row] = count
            return True
        if -ahead < CYCLES_REMEMBERED:
            if self._heard[row] >> -ahead & 1:
                counters.duplicates[row] += 1
                return False
            self._heard[row] |= 1 << -ahead
            counters.lost[row] -= count > self._begin[row]
        counters.reordered[row] += 1
        return True

    def complete(self, count: int) -> bool:
        """Whether all live sensors have answered SYNC number `count`, the newest."""
        if count != self._count:
            if count < self._count:
                return False
            self._count, self._awaited = count, self._alive(count)
        last, awaited = self._last, self._awaited
        while awaited and last[awaited[-1]] >= count:
            awaited.pop()
        return not awaited

    def _alive(self, count: int) -> list[int]:
        oldest = max(count - PATIENCE, 0)
        starting = self._expected and count - self._first < PATIENCE
        return [row for row, last in enumerate(self._last) if last >= oldest or (starting and last < 0)]
