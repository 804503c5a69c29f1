"""Motion of a simulated robot, and the truth about it: base, joints as sums of sines, links with exact rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.mechanics.kernels.joints import DONE, walk_chain
from vertebra.robot.arguments import coordinates, numbers
from vertebra.robot.robot import Robot
from vertebra.robot.tables import BACKBONE, BALL, Floats
from vertebra.sensing import so3

_ROUNDING = 1e-6


def base_rotation(robot: Robot, base: ArrayLike | None) -> Floats:
    """(3, 3) base axes to world axes: as given, or the one that makes the robot's own gravity point down."""
    if base is None:
        return _from_gravity(robot.gravity)
    rotation = numbers("base", base, "a rotation matrix")
    good = rotation.shape == (3, 3) and np.abs(rotation @ rotation.T - np.eye(3)).max() < _ROUNDING
    if not (good and np.linalg.det(rotation) > 0):
        raise InputError("base", "must be a rotation matrix (3, 3) from base axes to world axes with z up")
    return rotation


def tilted_base(tilt: float) -> Floats:
    """(3, 3) a base tilted by `tilt` rad from upright, its z toward the world's x."""
    return so3.exp(np.array([0.0, tilt, 0.0]))


def _from_gravity(gravity: Floats) -> Floats:
    strength = np.linalg.norm(gravity)
    if strength == 0:
        return np.eye(3)
    up = -gravity / strength
    axis = np.cross(up, [0.0, 0.0, 1.0])
    sin = np.linalg.norm(axis)
    if sin < _ROUNDING:
        return np.diag([1.0, np.sign(up[2]), np.sign(up[2])])
    return so3.exp(axis / sin * np.arctan2(sin, up[2]))


_SINES = 3
_WITHIN = 0.95
"""Largest amplitude, as a share of a joint's limit."""


@dataclass(frozen=True, eq=False, repr=False)
class Motion:
    """Coordinates over time: middle + sum of sizes sin(frequencies t + phases). Rad, s."""

    middle: Floats
    """(coordinates,) rad."""
    sizes: Floats
    """(coordinates, sines) rad."""
    frequencies: Floats
    """(coordinates, sines) rad/s."""
    phases: Floats
    """(coordinates, sines) rad."""

    @classmethod
    def wander(cls, robot: Robot, seed: int = 0, *, amplitude: float = 0.35, speed: float = 0.5) -> Motion:
        """Random smooth motion of every joint coordinate, never beyond `amplitude` rad and `speed` rad/s.

        The amplitude shrinks to 95 % of a joint's limit where that is less.
        """
        if not (0 < amplitude < np.inf and 0 < speed < np.inf):
            raise InputError("amplitude, speed", f"must be above 0, not {amplitude} rad and {speed} rad/s")
        reach = np.minimum(amplitude, _WITHIN * _limits(robot))
        unit = _unit_sines(np.random.default_rng([seed, 1]), robot.freedoms)
        sizes = unit.sizes * reach[:, None]
        pace = speed / (sizes * unit.frequencies).sum(axis=1, keepdims=True)
        return cls(unit.middle, sizes, unit.frequencies * pace, unit.phases)

    @classmethod
    def hold(cls, robot: Robot, angles: ArrayLike) -> Motion:
        """Rest at joint coordinates (freedoms,), rad."""
        middle = coordinates(robot, angles)
        nothing = np.zeros((robot.freedoms, 1))
        return cls(middle, nothing, nothing, nothing)

    @classmethod
    def straight(cls, robot: Robot) -> Motion:
        """Rest in the straight pose."""
        return cls.hold(robot, np.zeros(robot.freedoms))

    @classmethod
    def twisting(cls, joints: int, amount: float, seed: int) -> Motion:
        """Slow twist of each joint with root mean square `amount`, rad: 0.05 to 0.3 Hz."""
        unit = _unit_sines(np.random.default_rng([seed, 2]), joints)
        sizes = unit.sizes * (amount / np.sqrt((unit.sizes**2).sum(axis=1, keepdims=True) / 2))
        return cls(unit.middle, sizes, 2 * np.pi * 0.1 * unit.frequencies, unit.phases)

    def angles(self, time: ArrayLike) -> Floats:
        """(coordinates,) at one time, or (times, coordinates); s, rad."""
        waves: Floats = self.sizes * np.sin(self._arguments(time))
        total: Floats = self.middle + waves.sum(axis=-1)
        return total

    def rates(self, time: ArrayLike) -> Floats:
        """Derivatives of `angles`, rad/s."""
        waves: Floats = self.sizes * self.frequencies * np.cos(self._arguments(time))
        total: Floats = waves.sum(axis=-1)
        return total

    def to_mapping(self) -> dict[str, Any]:
        """Plain lists for a file."""
        return {name: getattr(self, name).tolist() for name in ("middle", "sizes", "frequencies", "phases")}

    @classmethod
    def from_mapping(cls, mapping: dict[str, Any]) -> Motion:
        """The motion that `to_mapping` wrote."""
        return cls(**{name: np.array(mapping[name]) for name in ("middle", "sizes", "frequencies", "phases")})

    def _arguments(self, time: ArrayLike) -> Floats:
        times = np.asarray(time, dtype=np.float64)
        arguments: Floats = times[..., None, None] * self.frequencies + self.phases
        return arguments

    def __repr__(self) -> str:
        most = np.degrees(np.abs(self.sizes).sum(axis=1).max())
        fastest = np.degrees(np.abs(self.sizes * self.frequencies).sum(axis=1).max())
        return f"Motion({len(self.middle)} coordinates, at most {most:.3g} deg about the middle, {fastest:.3g} deg/s)"


def _unit_sines(rng: np.random.Generator, width: int) -> Motion:
    """Sizes that add up to 1, frequencies of 0.5 to 3 rad/s that grow from sine to sine."""
    sizes = rng.uniform(0.3, 1.0, (width, _SINES))
    frequencies = rng.uniform(0.5, 1.0, (width, _SINES)) * np.arange(1, _SINES + 1)
    phases = rng.uniform(0.0, 2 * np.pi, (width, _SINES))
    return Motion(np.zeros(width), sizes / sizes.sum(axis=1, keepdims=True), frequencies, phases)


def _limits(robot: Robot) -> Floats:
    """(freedoms,) limit of each coordinate while all others move too, rad."""
    limits = robot.joints["limit"] / np.where(np.isin(robot.joints["kind"], (BALL, BACKBONE)), np.sqrt(2), 1.0)
    return np.repeat(limits, robot.joints["freedoms"])


def chain_motion(robot: Robot, motion: Motion, twisting: Motion, times: Floats, links: int) -> tuple[Floats, Floats]:
    """Frames (times, links, 4, 4) in the base and turning rates (times, links, 3) in link axes, rad/s, of links 0 on.

    A link's frame is turned about its own z by the twist of its joint: R_j = R_(j-1) A(q_j) Rz(twist_j).
    """
    frames, axes = _stiff_chain(robot, motion.angles(times), links)
    spins = axes[..., :3] * motion.rates(times)[..., None]
    moving = np.concatenate([[0], np.cumsum(robot.joints["freedoms"])])[:links]
    sums = np.concatenate([np.zeros((len(times), 1, 3)), np.cumsum(spins, axis=1)], axis=1)[:, moving]
    rates = np.einsum("klba,klb->kla", frames[..., :3, :3], sums)
    return twisted(frames, rates, twisting.angles(times), twisting.rates(times))


def twisted(frames: Floats, rates: Floats, twists: Floats, twist_rates: Floats) -> tuple[Floats, Floats]:
    """Frames and rates, as in `chain_motion`, of a chain whose joints twist, from those of the chain without twist."""
    if not (twists.any() or twist_rates.any()):
        return frames, rates
    soft, soft_rates = frames.copy(), rates.copy()
    for link in range(1, frames.shape[1]):
        step = _across(frames[:, link - 1], frames[:, link])
        own = rates[:, link] - _turned_back(step, rates[:, link - 1])
        turn = so3.about_z(twists[:, link - 1])
        turning = _turned_back(step, soft_rates[:, link - 1]) + own
        soft_rates[:, link] = np.einsum("kba,kb->ka", turn, turning)
        soft_rates[:, link, 2] += twist_rates[:, link - 1]
        step[:, :3, :3] = step[:, :3, :3] @ turn
        soft[:, link] = soft[:, link - 1] @ step
    return soft, soft_rates


def _stiff_chain(robot: Robot, angles: Floats, links: int) -> tuple[Floats, Floats]:
    """Frames and axes of all freedoms without twist, for every pose."""
    frames = np.empty((len(angles), len(robot.links), 4, 4))
    axes = np.empty((len(angles), robot.freedoms, 6))
    for pose in range(len(angles)):
        status = walk_chain(robot.joints, robot.links, robot.origin, angles[pose], frames[pose], axes[pose])
        if status != DONE:
            raise InputError("motion", f"bends joint {status + 1} beyond 180 deg; give a smaller amplitude")
    return frames[:, :links], axes


def _across(before: Floats, after: Floats) -> Floats:
    """Frames `after` in the axes of frames `before`."""
    step = np.zeros_like(after)
    step[:, :3, :3] = np.swapaxes(before[:, :3, :3], 1, 2) @ after[:, :3, :3]
    step[:, :3, 3] = _turned_back(before, after[:, :3, 3] - before[:, :3, 3])
    step[:, 3, 3] = 1.0
    return step


def _turned_back(frames: Floats, vectors: Floats) -> Floats:
    turned: Floats = np.einsum("kba,kb->ka", frames[:, :3, :3], vectors)
    return turned


@dataclass(frozen=True, eq=False, repr=False)
class SensorTruth:
    """The constant errors of simulated sensors: R_meas = Rz(heading) R M, gyro_meas = M^T omega + bias."""

    sensors: tuple[int, ...]
    """(m,) links that carry a sensor."""
    mounts: Floats
    """(m, 3, 3) M: sensor axes to link axes."""
    headings: Floats
    """(m,) rad."""
    gyro_biases: Floats
    """(m, 3) rad/s, sensor axes."""

    def __repr__(self) -> str:
        return f"SensorTruth(sensors {', '.join(map(str, self.sensors))})"


@dataclass(frozen=True, eq=False, repr=False)
class Truth:
    """The true motion of a simulated robot, at the times of all SYNCs of the master."""

    robot: Robot
    times: Floats
    """(N,) s of the master's clock."""
    angles: Floats
    """(N, freedoms) rad."""
    twists: Floats
    """(N, joints) rad; twist of each joint."""
    frames: Floats
    """(N, links, 4, 4) frames of the links in the world, m, with the twist; the world's z is up."""
    base: Floats
    """(3, 3) base axes to world axes."""

    @property
    def frames_in_base(self) -> Floats:
        """(N, links, 4, 4) m."""
        return world_frames(self.base.T, self.frames)

    def frames_at(self, times: ArrayLike) -> Floats:
        """(K, links, 4, 4) in the world at any times within the run, interpolated between SYNCs."""
        wanted = np.atleast_1d(np.asarray(times, dtype=np.float64))
        if wanted.size and not (self.times[0] <= wanted.min() and wanted.max() <= self.times[-1]):
            raise InputError("times", f"must lie within {self.times[0]:g} to {self.times[-1]:g} s")
        row = np.minimum(np.searchsorted(self.times, wanted, side="right") - 1, len(self.times) - 2)
        share = ((wanted - self.times[row]) / (self.times[row + 1] - self.times[row]))[:, None, None]
        before, after = self.frames[row], self.frames[row + 1]
        result: Floats = before + share[..., None] * (after - before)
        turned = so3.log(np.swapaxes(before[..., :3, :3], -1, -2) @ after[..., :3, :3])
        result[..., :3, :3] = before[..., :3, :3] @ so3.exp(share * turned)
        return result

    def __repr__(self) -> str:
        span = f"{self.times[0]:g} to {self.times[-1]:g} s" if len(self.times) else "empty"
        return f"Truth({self.robot.name!r}, {len(self.times)} times, {span})"


def world_frames(base: Floats, frames: Floats) -> Floats:
    """Frames (..., 4, 4) with base axes, turned to world axes by `base` (3, 3)."""
    result = frames.copy()
    result[..., :3, :] = base @ frames[..., :3, :]
    return result
