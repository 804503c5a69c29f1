"""How far our findings depend on the numbers that the paper does not print: all dimensions, masses and coefficients."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

import vertebra as vb
from vertebra.papers.dantuono2023.cases import BOTTOM, CASES, TOP, snake
from vertebra.papers.dantuono2023.runs import run
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

MORE = 0.05
"""Each number is made this much larger and smaller."""
ROBOTS, FACTOR = 24, math.exp(0.5)
"""Robots drawn at random; each number up to this much larger or smaller."""
UNLIMITED = 1e5
"""N; so that no robot of another size meets the bound of the preset."""
PEAK_TIMES = np.array([0.0, 1.0, 3.0]) * math.pi
"""s: straight and fast, and at the largest angles both ways; base tensions peak at one of these."""


@dataclass(frozen=True)
class Dimensions:
    """What is assumed of the robot; SI units."""

    radius: float = 0.035
    contact_angle: float = math.pi / 4
    height: float = 0.06
    hole_radius: float = 0.02
    contact_offset: float = 0.022
    mass: float = 0.15
    friction: float = 0.3
    pretension: float = 5.0

    def robot(self) -> Robot:
        """The preset with these numbers; inertia in proportion to mass."""
        mapping = snake().to_mapping()
        section = mapping["sections"][0]
        recess = self.radius * (1.0 - math.cos(self.contact_angle))
        scale = self.mass / section["link"]["mass"]
        inertia = [scale * value for value in section["link"]["inertia"]]
        section["joint"] |= {
            "radius": self.radius, "contact_offset": self.contact_offset, "friction": self.friction,
        }  # fmt: skip
        section["link"] |= {"length": self.height + 2 * recess, "mass": self.mass, "inertia": inertia}
        section["cables"] |= {
            "radius": self.hole_radius, "holes": {"recess": recess}, "pretension": self.pretension,
            "max_tension": UNLIMITED,
        }  # fmt: skip
        mapping["base"]["length"], mapping["tip"]["length"] = recess, -recess
        return vb.load(mapping)


NAMES = {
    "radius": ("radius of curvature", "35 mm"),
    "contact_angle": ("contact angle", "45 deg"),
    "height": ("height of a link", "60 mm"),
    "hole_radius": ("radius of holes", "20 mm"),
    "contact_offset": ("contact points, off the middle", "22 mm"),
    "mass": ("mass of a link", "150 g"),
    "friction": ("friction coefficient", "0.3"),
    "pretension": ("pretension", "5 N"),
}


@dataclass(frozen=True, eq=False)
class Found:
    """What one robot does in the three motions, tension by tension link by link."""

    dimensions: Dimensions
    peaks: dict[str, Floats]
    """(4,) highest tension of each cable at the base, by case, N."""

    @property
    def rise(self) -> float:
        """%, by which the peak of the cable that carries the weight is higher in 3D than in tilt."""
        return 100.0 * float(self.peaks["3d"][TOP] / self.peaks["tilt"][TOP] - 1.0)

    @property
    def bottom_pull(self) -> float:
        """Highest tension of cable 2 above its pretension in any case, N."""
        return max(float(peaks[BOTTOM]) for peaks in self.peaks.values()) - self.dimensions.pretension

    @property
    def over_pan(self) -> float:
        """Highest tension of any cable in 3D over that in pan."""
        return float(self.peaks["3d"].max() / self.peaks["pan"].max())


@dataclass(frozen=True)
class Sensitivity:
    """One assumed number."""

    what: str
    value: str
    rise: tuple[float, float]
    """% as `Found.rise`, with the number 5 % smaller and larger."""
    over_pan: tuple[float, float]


def found(dimensions: Dimensions) -> Found:
    """Peaks of one robot."""
    robot = dimensions.robot()
    return Found(
        dimensions, {name: run(case, "per_link", time=PEAK_TIMES, robot=robot).peaks for name, case in CASES.items()}
    )


def sensitivities() -> Iterator[Sensitivity]:
    """Every assumed number in turn."""
    start = Dimensions()
    for field, (what, value) in NAMES.items():
        less, more = (
            found(replace(start, **{field: getattr(start, field) * (1.0 + change)})) for change in (-MORE, MORE)
        )
        yield Sensitivity(what, value, (less.rise, more.rise), (less.over_pan, more.over_pan))


def random_robots() -> Iterator[Found]:
    """Robots with all numbers drawn at once; those that cannot be built are drawn again."""
    rng, start, count = np.random.default_rng(2023), Dimensions(), 0
    while count < ROBOTS:
        factors = np.exp(rng.uniform(-1.0, 1.0, len(NAMES)) * math.log(FACTOR))
        drawn = replace(start, **{f: getattr(start, f) * k for f, k in zip(NAMES, factors.tolist(), strict=True)})
        depth = drawn.radius * math.cos(drawn.contact_angle)
        # Holes must lie inside the arc: their plane cuts it at R sin(contact angle).
        if drawn.contact_angle >= math.pi / 2 or math.hypot(depth, drawn.hole_radius) >= drawn.radius:
            continue
        count += 1
        yield found(drawn)
