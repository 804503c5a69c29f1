"""The moving robot in the normal equations: the states of all links at all times are found and eliminated.

Times are independent of each other but for the wander of headings, which neighbouring times share.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.calibration.chain_elimination import Chain, constants_equations, state_change
from vertebra.sensing.calibration.joint_constraints import Gap
from vertebra.sensing.calibration.motion_factors import JointRows, SensorRows, joint_rows, sensor_rows
from vertebra.sensing.calibration.noise import far_heading
from vertebra.sensing.calibration.readings import Flags, Readings
from vertebra.sensing.calibration.unknowns import EACH, HEADING, Unknowns

_RELAXED, _ROUNDS = 1e-6, 3
"""rad, rad/s; and the most steps: what is left is done in the next round, which starts here."""
_CHUNK = 1000


@dataclass(frozen=True, eq=False)
class MotionNoise:
    """Variances of single readings, each multiplied by how many of them count as one."""

    tilt: float
    """rad^2"""
    heading: float
    """rad^2, of a reading, and again of what all headings of a sensor within `heading_memory` share."""
    heading_memory: float
    """s"""
    gyro: Floats
    """(m,) rad^2/s^2; infinite without rates."""
    gyro_spread: Floats
    """(m,) rad/s; standard deviations, without their memory."""
    twist: float
    """rad^2, of what a joint forbids."""
    twist_rate: float
    """rad^2/s^2"""


class WanderStep(NamedTuple):
    """How the wander of one block follows from a change of the constants."""

    across: Floats
    """(m, 7m)"""
    alone: Floats
    """(m,)"""


@dataclass(frozen=True, eq=False)
class Motion:
    """A recording of free motion, with the states of the links found so far."""

    readings: Readings
    gaps: tuple[Gap, ...]
    noise: MotionNoise
    rotations: Floats
    """(m, K, 3, 3) links to world."""
    rates: Floats
    """(m, K, 3) rad/s, world axes."""
    blocks: tuple[slice, ...]
    """Times that share the wander of a heading."""
    doubts: Floats
    """(m, K) by how much the weight of each heading is divided."""
    wander: Floats
    """(m, blocks) rad; how far the headings of a sensor are off for the length of `heading_memory`."""

    @classmethod
    def start(cls, readings: Readings, gaps: tuple[Gap, ...], noise: MotionNoise, unknowns: Unknowns) -> Motion:
        """States as the sensors say them."""
        said = (
            so3.about_z(-unknowns.headings)[:, None] @ readings.rotations @ np.swapaxes(unknowns.mounts, 1, 2)[:, None]
        )
        in_link = (readings.gyros - unknowns.biases[:, None]) @ np.swapaxes(unknowns.mounts, 1, 2)
        rates = np.einsum("ikab,ikb->ika", said, np.where(readings.gyro_seen[..., None], in_link, 0.0))
        blocks = _blocks(len(readings.times), noise.heading_memory / readings.period)
        wander = np.zeros((len(readings.sensors), len(blocks)))
        return cls(readings, gaps, noise, _filled(said, readings.seen), rates, blocks, np.ones(said.shape[:2]), wander)

    def sensor(self, i: int, unknowns: Unknowns, part: slice) -> tuple[SensorRows, Floats]:
        """Rows of sensor i at some times, and their weights (K, 6)."""
        data = self.readings
        rows = sensor_rows(
            data.rotations[i, part], data.gyros[i, part], unknowns.mounts[i], self.headings(i, unknowns)[part],
            unknowns.biases[i], self.rotations[i, part], self.rates[i, part],
        )  # fmt: skip
        weights = np.empty_like(rows.residuals)
        weights[:, :2] = (data.seen[i, part] / self.noise.tilt)[:, None]
        usable = data.seen[i, part] & data.heading_seen[i, part]
        weights[:, 2] = usable / (self.noise.heading * self.doubts[i, part])
        weights[:, 3:] = (data.gyro_seen[i, part] / self.noise.gyro[i])[:, None]
        return rows, weights

    def doubted(self, unknowns: Unknowns) -> Motion:
        """With headings that are far off trusted less."""
        every, spread = slice(None), float(np.sqrt(self.noise.heading))
        off = [self.sensor(i, unknowns, every)[0].residuals[:, 2] for i in range(len(self.doubts))]
        return replace(self, doubts=far_heading(np.stack(off), spread))

    def headings(self, i: int, unknowns: Unknowns) -> Floats:
        """(K,) offset of sensor i at every time, rad."""
        lengths = [block.stop - block.start for block in self.blocks]
        return np.asarray(unknowns.headings[i] + np.repeat(self.wander[i], lengths))

    def joint(self, i: int, part: slice) -> tuple[JointRows, Floats]:
        """Rows of the gap behind sensor i, and their weights (K, 2c): none where a sensor was not heard."""
        R, w, data = self.rotations[:, part], self.rates[:, part], self.readings
        rows = joint_rows(self.gaps[i], R[i], w[i], R[i + 1], w[i + 1])
        held = data.seen[i, part] & data.seen[i + 1, part]
        rates = held & data.gyro_seen[i, part] & data.gyro_seen[i + 1, part]
        weights = np.stack([held / self.noise.twist, rates / self.noise.twist_rate], axis=1)
        return rows, np.repeat(weights, len(self.gaps[i].constants), axis=1)

    def chain(self, unknowns: Unknowns, part: slice) -> Chain:
        """All rows at some times."""
        m = len(unknowns.mounts)
        sensors = [self.sensor(i, unknowns, part) for i in range(m)]
        return Chain(sensors, [self.joint(i, part) for i in range(m - 1)])

    def relaxed(self, unknowns: Unknowns) -> Motion:
        """The most likely states for given constants."""
        R, w = self.rotations.copy(), self.rates.copy()
        for part in _blocks(R.shape[1], _CHUNK):
            motion = replace(self, rotations=R, rates=w)
            for _ in range(_ROUNDS):
                change = state_change(motion.chain(unknowns, part))
                R[:, part] = so3.exp(change[..., :3]) @ R[:, part]
                w[:, part] += change[..., 3:]
                if np.abs(change).max() < _RELAXED:
                    break
        return replace(self, rotations=R, rates=w)

    def normal_equations(self, unknowns: Unknowns) -> tuple[Floats, Floats, list[WanderStep]]:
        """Information (7m, 7m) and slope (7m,) in the constants of the sensors, with states and wander eliminated."""
        size = EACH * len(unknowns.mounts)
        information, slope, steps = np.zeros((size, size)), np.zeros(size), list[WanderStep]()
        for number, block in enumerate(self.blocks):
            here, steep = constants_equations(self.chain(unknowns, block))
            # A wander acts as its heading does, but only within its block.
            inverse = np.linalg.inv(here[HEADING::EACH, HEADING::EACH] + np.eye(size // EACH) / self.noise.heading)
            across = inverse @ here[HEADING::EACH]
            alone = inverse @ (steep[HEADING::EACH] + self.wander[:, number] / self.noise.heading)
            information += here - here[:, HEADING::EACH] @ across
            slope += steep - here[:, HEADING::EACH] @ alone
            steps.append(WanderStep(across, alone))
        return information, slope, steps

    def wandered(self, steps: list[WanderStep], change: Floats) -> Motion:
        """After the constants of the sensors changed by `change` (7m,)."""
        moves = [-step.alone - step.across @ change for step in steps]
        return replace(self, wander=self.wander + np.stack(moves, axis=1))

    def twist_rates(self, unknowns: Unknowns) -> tuple[Floats, ...]:
        """For each gap (c, K): what the gyroscopes say of the rates that its joints forbid, rad/s."""
        in_link = (self.readings.gyros - unknowns.biases[:, None]) @ np.swapaxes(unknowns.mounts, 1, 2)
        said = np.einsum("ikab,ikb->ika", self.rotations, in_link)
        return tuple(
            joint_rows(gap, self.rotations[i], said[i], self.rotations[i + 1], said[i + 1])
            .residuals[:, len(gap.constants) :]
            .T
            for i, gap in enumerate(self.gaps)
        )


def _filled(rotations: Floats, seen: Flags) -> Floats:
    """Where nothing was said, the nearest earlier orientation (or the first)."""
    filled = rotations.copy()
    for i, row in enumerate(seen):
        places = np.where(row, np.arange(len(row)), 0)
        places = np.maximum(np.maximum.accumulate(places), np.argmax(row))
        filled[i] = rotations[i, places]
    return filled


def _blocks(K: int, length: float) -> tuple[slice, ...]:
    """K times in blocks of about so many."""
    edges = np.linspace(0, K, max(1, round(K / max(length, 1.0))) + 1).round().astype(int)
    return tuple(slice(int(start), int(stop)) for start, stop in pairwise(edges))
