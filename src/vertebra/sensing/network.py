"""Frames in, shapes out: the same for a live bus and for a recording."""

from __future__ import annotations

import numpy as np

from vertebra.mechanics.kernels.sensor_intake import ACCEPTED, OUTLIER
from vertebra.mechanics.kernels.sensor_intake import ANGLES as ANGLE_FORM
from vertebra.mechanics.kernels.sensor_intake import QUATERNION as QUATERNION_FORM
from vertebra.sensing.answers import Answers
from vertebra.sensing.counters import Counters
from vertebra.sensing.estimator import ShapeEstimator
from vertebra.sensing.sensed_shape import SensedShape
from vertebra.sensing.sync_clock import SyncClock
from vertebra.sensing.wire.can import (
    ANGLES,
    DISTURBED,
    FAULT,
    GYRO,
    HEARTBEAT,
    QUATERNION,
    SYNC,
    UNSETTLED,
    Frame,
    Sample,
    decode_angles,
    decode_gyro,
    decode_heartbeat,
    decode_quaternion,
    decode_sync,
    kind_and_node,
)

OLDEST = 0.0254
"""s: the last age that says how old a sample is; the one after it stands for anything older."""
_DECODERS = {ANGLES: decode_angles, GYRO: decode_gyro, QUATERNION: decode_quaternion}


class SensorNetwork:
    """Decodes the frames of a network for an estimator, and lets it solve once a cycle.

    A cycle is a SYNC and the answers to it. It is solved as soon as all sensors that are alive have answered, or when
    the next SYNC closes it. Everything depends on the frames and their order alone, so a replayed recording gives the
    same bits as the live bus did.
    """

    def __init__(self, estimator: ShapeEstimator) -> None:
        self.estimator = estimator
        links = estimator.robot.sensor_links
        self.counters = Counters(links)
        self.clock = SyncClock()
        self._rows = {int(link): row for row, link in enumerate(links)}
        self._orientations, self._rates = Answers(len(links), expected=True), Answers(len(links), expected=False)
        self._three, self._four = np.zeros(3), np.zeros(4)
        self._pending = False

    @property
    def sync_period(self) -> float:
        """s between SYNCs; 0 until two have come."""
        return self.clock.period

    def receive(self, frame: Frame) -> SensedShape | None:
        """Take a frame; the shape when it completes a cycle."""
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
        """The shape from all that has come, without closing the cycle."""
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
        sample = _DECODERS[kind](data)
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
            return None
        if sample.status & FAULT:
            counters.faults += 1
            self.estimator.report_fault(int(counters.sensors[row]))
        elif sample.age > OLDEST:
            counters.too_old += 1
        else:
            self._file(kind, row, sample, synced - sample.age)
        return self._solve() if self._complete(count) else None

    def _file(self, kind: int, row: int, sample: Sample, time: float) -> None:
        estimator = self.estimator
        if kind == GYRO:
            rates = self._three
            rates[0], rates[1], rates[2] = sample.values
            estimator.file_rate(row, rates, time)
            return
        if kind == ANGLES:
            form, values = ANGLE_FORM, self._three
            values[0], values[1], values[2] = sample.values
        else:
            form, values = QUATERNION_FORM, self._four
            values[0], values[1], values[2], values[3] = sample.values
        status = sample.status
        outcome = estimator.file(row, form, values, time, bool(status & DISTURBED), bool(status & UNSETTLED))
        if outcome == ACCEPTED:
            self._pending = True
        elif outcome == OUTLIER:
            self.counters.outliers[row] += 1

    def _complete(self, count: int) -> bool:
        """Whether all that are alive have answered SYNC number `count`."""
        return self._pending and self._orientations.complete(count) and self._rates.complete(count)

    def _solve(self) -> SensedShape | None:
        if not self._pending:
            return None
        self._pending = False
        return self.estimator.solve()
