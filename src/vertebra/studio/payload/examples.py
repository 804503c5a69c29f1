"""An inner snake and paths for a journey, made for the robot at hand. All numbers are assumed: no paper states them."""

from __future__ import annotations

import math

import numpy as np

from vertebra.errors import StudioError
from vertebra.robot.robot import Robot, load
from vertebra.robot.tables import Floats
from vertebra.studio.payload.settings import EXAMPLE_PATHS

SIZE, MASS = 0.5, 0.35
"""Of the inner snake's links, in sizes and masses of the outer one's."""
CHANNEL, CABLES = 0.19, 0.6
"""Length of its channels in link lengths, and radius of its cable circle in radii of its balls."""
AZIMUTHS = (-90.0, 30.0, 150.0)
"""deg, of its cables."""
RADIUS, ANGLE = 0.62, 1.5
"""Of the arc: robot lengths, and rad; all of it is 93 % of the robot's length."""
POINTS = 200


def example_inner(outer: Robot) -> Robot:
    """A snake with links as long as the outer one's, and thinner."""
    joint, link = outer.joints[-1], outer.links[-1]
    radius = SIZE * float(joint["radius"])
    return load(
        {
            "vertebra": 1,
            "name": "example-inner",
            "source": "assumed; no paper states these numbers",
            "sections": [
                {
                    "joints": len(outer.joints),
                    "joint": {
                        "kind": "ball",
                        "radius": radius,
                        "ring_radius": SIZE * float(joint["ring_radius"]),
                        "friction": float(joint["friction"]),
                    },
                    "link": {
                        "length": float(joint["size"]),
                        "channel": CHANNEL * float(joint["size"]),
                        "mass": MASS * float(link["mass"]),
                        "diameter": 2 * radius,
                    },
                    "cables": {"radius": CABLES * radius, "azimuth": [math.radians(angle) for angle in AZIMUTHS]},
                }
            ],
        }
    )


def example_path(robot: Robot, name: str) -> Floats:
    """(N, 3) m from the entry: an arc, or an S that leaves its plane."""
    if name not in EXAMPLE_PATHS:
        raise StudioError("path", f"there is no example {name!r}; there are {', '.join(EXAMPLE_PATHS)}")
    along = np.linspace(0.0, 1.0, POINTS)
    radius = RADIUS * robot.length
    if name == EXAMPLE_PATHS[0]:
        angle = ANGLE * along
        return radius * np.column_stack([1 - np.cos(angle), 0 * angle, np.sin(angle)])
    lean, twist = 0.9 * np.sin(2 * math.pi * along), math.pi * along
    step = np.column_stack([np.sin(lean) * np.cos(twist), np.sin(lean) * np.sin(twist), np.cos(lean)])
    middles = (step[1:] + step[:-1]) / 2 * (ANGLE * radius / (POINTS - 1))
    return np.vstack([np.zeros(3), np.cumsum(middles, axis=0)])
