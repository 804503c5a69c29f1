"""Frames of a sensor network on a bad bus, and what really happened to them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation
from tests.sensing.cases import link_rotations, universal

from vertebra.sensing.estimator import ShapeEstimator
from vertebra.sensing.network import SensorNetwork
from vertebra.sensing.wire.can import (
    ANGLES,
    GYRO,
    QUATERNION,
    SYNC,
    Frame,
    angles_data,
    gyro_data,
    quaternion_data,
    sync_data,
)

ROBOT = universal(4)
POSE = np.linspace(-0.3, 0.3, 8)
ROTATIONS = link_rotations(ROBOT, POSE, np.eye(3))
PERIOD = 0.01


def euler_angles(rotation):
    """roll, pitch, yaw, rad."""
    roll = np.arctan2(rotation[2, 1], rotation[2, 2])
    pitch = -np.arcsin(np.clip(rotation[2, 0], -1.0, 1.0))
    return roll, pitch, np.arctan2(rotation[1, 0], rotation[0, 0])


ANGLES_OF_LINKS = [euler_angles(R) for R in ROTATIONS]


def sync(count, time=None, start=0):
    return Frame(SYNC, sync_data(start + count & 0xFFFF, 50.0 + count * PERIOD if time is None else time))


def answer(kind, sensor, count, status=0, age=0.0, start=0):
    """The answer of a still robot to SYNC number `count`."""
    counter = start + count
    if kind == ANGLES:
        return Frame(ANGLES + sensor, angles_data(ANGLES_OF_LINKS[sensor], counter, status, age))
    if kind == QUATERNION:
        x, y, z, w = Rotation.from_matrix(ROTATIONS[sensor]).as_quat()
        return Frame(QUATERNION + sensor, quaternion_data((w, x, y, z), counter, status, age))
    return Frame(GYRO + sensor, gyro_data((0.0, 0.0, 0.0), counter, status, age))


def cycle(count, kinds=(ANGLES,), sensors=range(5), **given):
    """A SYNC and the answers to it."""
    return [sync(count, start=given.get("start", 0)), *(answer(k, s, count, **given) for k in kinds for s in sensors)]


@dataclass
class Traffic:
    """Cycles of frames with losses, repetitions and delays of up to three cycles, in the order of arrival."""

    cycles: int
    seed: int
    loss: float = 0.3
    repeats: float = 0.1
    delays: float = 0.2
    kinds: tuple[int, ...] = (ANGLES, GYRO)
    start: int = 0
    frames: list[Frame] = field(default_factory=list)
    arrived: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    """(kind, sensor): which SYNCs its answers belong to, in the order of arrival."""
    syncs: int = 0

    def __post_init__(self):
        rng = np.random.default_rng(self.seed)
        moving = []
        for count in range(self.cycles):
            calm = count < 5
            for place, (kind, sensor) in enumerate([(SYNC, 0), *((k, s) for k in self.kinds for s in range(5))]):
                if not calm and rng.random() < self.loss:
                    continue
                frame = sync(count, start=self.start) if kind == SYNC else answer(kind, sensor, count, start=self.start)
                at = count + 0.01 * place
                if not calm and kind != SYNC and rng.random() < self.delays:
                    at += rng.uniform(0.0, 3.0)
                moving.append((at, kind, sensor, count, frame))
                if not calm and kind != SYNC and rng.random() < self.repeats:
                    moving.append((at + rng.uniform(0.0, 1.0), kind, sensor, count, frame))
        for _, kind, sensor, count, frame in sorted(moving, key=lambda entry: entry[0]):
            self.frames.append(frame)
            if kind == SYNC:
                self.syncs += 1
            else:
                self.arrived.setdefault((kind, sensor), []).append(count)

    def expected(self, sensor):
        """received, lost, duplicates, reordered of a sensor."""
        received = lost = duplicates = reordered = 0
        for kind in self.kinds:
            seen, newest = set(), -1
            for count in self.arrived[kind, sensor]:
                received += 1
                if count in seen:
                    duplicates += 1
                elif count < newest:
                    reordered += 1
                seen.add(count)
                newest = max(newest, count)
            lost += newest - min(seen) + 1 - len(seen)
        return received, lost, duplicates, reordered


def network(**options):
    """A network with nothing heard yet."""
    return SensorNetwork(ShapeEstimator(ROBOT, **options))


def received(net, frames):
    """The shapes that some frames give."""
    return [shape for frame in frames if (shape := net.receive(frame)) is not None]


def adds_up(counters):
    """Every frame was counted once."""
    kinds = counters.sync + counters.angles + counters.gyro + counters.quaternion + counters.heartbeat
    return counters.frames == kinds + counters.unknown + counters.malformed
