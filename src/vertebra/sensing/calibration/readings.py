"""Frames of a recording as arrays: the reading of each sensor at each SYNC."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.network import SyncClock
from vertebra.sensing.wire.can import (
    ANGLES,
    DECODERS,
    DISTURBED,
    FAULT,
    GYRO,
    OLDEST_AGE,
    QUATERNION,
    SYNC,
    UNSETTLED,
    Frame,
    Sample,
    decode_sync,
    kind_and_node,
)

NEIGHBOURS = 1.6
"""Rates are interpolated between samples that are at most this many periods apart."""

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class Readings:
    """Orientations and rates of m sensors, brought to the times of K SYNCs."""

    sensors: tuple[int, ...]
    """(m,) numbers of the sensors."""
    times: Floats
    """(K,) s of the master's clock."""
    rotations: Floats
    """(m, K, 3, 3) as measured, sensor axes to world axes; identity where there is none."""
    seen: Flags
    """(m, K) whether there is an orientation."""
    heading_seen: Flags
    """(m, K) whether its heading is usable: the node reports no magnetic disturbance."""
    gyros: Floats
    """(m, K, 3) rad/s, sensor axes; zero where there is none."""
    gyro_seen: Flags
    """(m, K)"""
    ages: Floats
    """(m, K) s; over which each orientation was carried forward by its rates."""
    strangers: tuple[int, ...] = ()
    """Sensors in the recording that were not asked for."""

    @property
    def duration(self) -> float:
        """s."""
        return float(self.times[-1] - self.times[0]) if len(self.times) else 0.0

    @property
    def period(self) -> float:
        """s between SYNCs."""
        return float(np.median(np.diff(self.times))) if len(self.times) > 1 else 0.0

    def without_bias(self, biases: Floats) -> Readings:
        """With rotations carried forward by rates less their biases (m, 3), rad/s; the rates themselves stay."""
        back = so3.exp(-self.ages[..., None] * biases[:, None])
        return replace(self, rotations=self.rotations @ back)

    def only(self, i: int) -> Readings:
        """Those of the sensor in row i."""
        return self._cut(slice(i, i + 1), slice(None))

    def thinned(self, most: int) -> Readings:
        """At most `most` SYNCs, evenly spread."""
        step = -(-len(self.times) // most)
        if step <= 1:
            return self
        return self._cut(slice(None), slice(None, None, step))

    def _cut(self, rows: slice, columns: slice) -> Readings:
        return Readings(
            self.sensors[rows],
            self.times[columns],
            self.rotations[rows, columns],
            self.seen[rows, columns],
            self.heading_seen[rows, columns],
            self.gyros[rows, columns],
            self.gyro_seen[rows, columns],
            self.ages[rows, columns],
            self.strangers,
        )

    def __repr__(self) -> str:
        return f"Readings({len(self.sensors)} sensors, {len(self.times)} SYNCs, {self.duration:.3g} s)"


def read_readings(frames: Iterable[Frame], sensors: Sequence[int]) -> Readings:
    """Decode frames; samples are stamped by SYNC and carried to the time of their SYNC by the sensor's own rates."""
    collected = _Collected(sensors)
    for frame in frames:
        collected.receive(frame)
    times = collected.grid()
    m, K = len(sensors), len(times)
    rotations, seen, heading_seen = np.tile(np.eye(3), (m, K, 1, 1)), np.zeros((m, K), bool), np.zeros((m, K), bool)
    gyros, gyro_seen, ages = np.zeros((m, K, 3)), np.zeros((m, K), bool), np.zeros((m, K))
    for i, sensor in enumerate(sensors):
        gyros[i], gyro_seen[i] = _at_syncs(times, collected.answers(sensor, GYRO))
        for kind in (ANGLES, QUATERNION):
            found = collected.answers(sensor, kind)
            if not len(found.counts):
                continue
            convert = so3.from_roll_pitch_yaw if kind == ANGLES else so3.from_quaternion
            # Over an age of a few milliseconds any rate nearby will do.
            turned = so3.exp(found.ages[:, None] * gyros[i, found.counts])
            rotations[i, found.counts] = convert(found.values) @ turned
            seen[i, found.counts], ages[i, found.counts] = True, found.ages
            heading_seen[i, found.counts] = found.status & DISTURBED == 0
    gyros[~gyro_seen] = 0.0
    strangers = tuple(sorted(collected.nodes - set(sensors)))
    return Readings(tuple(sensors), times, rotations, seen, heading_seen, gyros, gyro_seen, ages, strangers)


@dataclass(frozen=True, eq=False)
class _Answers:
    counts: NDArray[np.int64]
    values: Floats
    ages: Floats
    status: NDArray[np.int64]
    times: Floats


class _Collected:
    """Answers by sensor and kind, each with the number of its SYNC."""

    def __init__(self, sensors: Sequence[int]) -> None:
        self.nodes = set[int]()
        self._sensors = set(sensors)
        self._clock = SyncClock()
        self._sync_times = dict[int, float]()
        self._rows: dict[tuple[int, int], dict[int, Sample]] = {
            (sensor, kind): {} for sensor in sensors for kind in (ANGLES, QUATERNION, GYRO)
        }

    def receive(self, frame: Frame) -> None:
        found = kind_and_node(frame.id)
        if found is None:
            return
        kind, node = found
        if kind == SYNC:
            sync = decode_sync(frame.data)
            if sync is not None:
                self._clock.receive(sync)
        elif kind in DECODERS:
            self.nodes.add(node)
            sample = DECODERS[kind](frame.data)
            if sample is not None and node in self._sensors:
                self._keep(node, kind, sample)

    def _keep(self, node: int, kind: int, sample: Sample) -> None:
        if sample.status & (FAULT | UNSETTLED) or sample.age >= OLDEST_AGE:
            return
        count = self._clock.resolve(sample.counter)
        time = self._clock.time_of(count)
        if time is not None:
            self._sync_times.setdefault(count, time)
            self._rows[node, kind].setdefault(count, sample)

    def grid(self) -> Floats:
        """Times of all SYNCs that were answered; `answers` then gives positions in this array."""
        self._position = {count: place for place, count in enumerate(sorted(self._sync_times))}
        return np.array([self._sync_times[count] for count in self._position])

    def answers(self, sensor: int, kind: int) -> _Answers:
        rows = sorted(self._rows[sensor, kind].items())
        samples = [sample for _, sample in rows]
        width = 4 if kind == QUATERNION else 3
        ages = np.array([sample.age for sample in samples])
        return _Answers(
            np.array([self._position[count] for count, _ in rows], dtype=np.int64),
            np.array([sample.values for sample in samples]).reshape(-1, width),
            ages,
            np.array([sample.status for sample in samples], dtype=np.int64),
            np.array([self._sync_times[count] for count, _ in rows]) - ages,
        )


def _at_syncs(times: Floats, answers: _Answers) -> tuple[Floats, Flags]:
    """Rates at the times of SYNCs, interpolated between samples; and where there are samples on both sides."""
    if len(answers.times) < 2 or len(times) < 2:
        return np.zeros((len(times), 3)), np.zeros(len(times), bool)
    rates = np.stack([np.interp(times, answers.times, answers.values[:, axis]) for axis in range(3)], axis=-1)
    after = np.searchsorted(answers.times, times, side="left")
    inside = (after > 0) & (after < len(answers.times))
    after = np.clip(after, 1, len(answers.times) - 1)
    near = answers.times[after] - answers.times[after - 1] < NEIGHBOURS * np.median(np.diff(times))
    # A sample taken at its SYNC needs no neighbour.
    exact = np.zeros(len(times), bool)
    exact[answers.counts[answers.ages == 0.0]] = True
    return rates, (inside & near) | exact
