"""How a simulated robot moves: each coordinate a sum of sines, with exact rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.robot.arguments import coordinates
from vertebra.robot.robot import Robot
from vertebra.robot.tables import BALL, Floats

_SINES = 3
_WITHIN = 0.95
"""Of a joint's limit: the largest amplitude."""


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
        """Rest, straight."""
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
        """The motion of `to_mapping`."""
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
    """(freedoms,) how far each coordinate may go while all others move too, rad."""
    limits = robot.joints["limit"] / np.where(robot.joints["kind"] == BALL, np.sqrt(2), 1.0)
    return np.repeat(limits, robot.joints["freedoms"])
