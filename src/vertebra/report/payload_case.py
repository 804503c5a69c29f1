"""What a payload was asked for: the robot in its given shape, its cables, its weight and other loads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from vertebra.locked.ball_shape import BallShape
from vertebra.mechanics.kinematics import frames
from vertebra.mechanics.problem import Load
from vertebra.report.overlays import ARROW_SHARE, MOMENT_COLOUR, Arrow, place_text
from vertebra.report.payload_words import tensions_text
from vertebra.report.scene import MM, Scene, cable_label, robot_scene
from vertebra.report.shape_scene import THINNEST, WIDEST
from vertebra.robot.arguments import link_index, link_point
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

DEAD_LOAD_COLOUR = "#8C6D1F"
DEAD_LOAD_SHARE = 0.6
"""Arrows of loads that act all the time, in lengths of the arrow of the payload."""


@dataclass(frozen=True, eq=False, repr=False)
class PayloadCase:
    """A robot that friction holds in a given shape. Make one with `payload_case`."""

    robot: Robot
    shape: BallShape
    words: str
    """The shape in short, such as ``S 2.85 deg``."""
    frames: Floats
    """(n+1, 4, 4) m."""
    tensions: Floats
    """(cables,) N, at the base."""
    gravity: Floats
    """(3,) m/s^2."""
    point: Floats | None
    """(3,) m, where the payload acts in the frame of its link; None for the tip, or the centre of mass."""
    loads: tuple[Load, ...]
    """Loads that act all the time."""
    notes: tuple[tuple[str, str], ...] = ()
    """What else was asked for: rows of a table of facts."""

    def place(self, link: int) -> Floats:
        """(3,) mm in the world: where a payload at `link` acts."""
        return MM * _place(self.robot, self.frames, link, self.point)

    def where(self, link: int) -> str:
        """Such as ``the tip`` or ``link 5``."""
        return place_text(self.robot, Load(link=link, point=self.point))

    def __repr__(self) -> str:
        return f"PayloadCase({self.robot.name!r}, {self.words}, {tensions_text(self.tensions)})"


def payload_case(
    robot: Robot,
    shape: BallShape,
    words: str,
    tensions: ArrayLike,
    gravity: Floats,
    point: ArrayLike | None = None,
    loads: Sequence[Load] = (),
    notes: Sequence[tuple[str, str]] = (),
) -> PayloadCase:
    """The case with its frames; `tensions` in N, one or one a cable."""
    pulled = np.broadcast_to(np.asarray(tensions, dtype=np.float64), (len(robot.cables),))
    at = None if point is None else np.asarray(point, dtype=np.float64)
    placed = frames(robot, shape.coordinates)
    return PayloadCase(robot, shape, words, placed, pulled, gravity, at, tuple(loads), tuple(notes))


def case_scene(case: PayloadCase, tell_tensions: bool = True) -> Scene:
    """The robot in its shape and the loads that always act, mm; cables drawn the wider the tighter they are, unless
    the picture shows several tensions at once."""
    scene = robot_scene(case.robot, case.frames, case.gravity)
    arrows = tuple(_load_arrows(case, float((scene.high - scene.low).max())))
    if not tell_tensions:
        return replace(scene, arrows=arrows)
    highest = float(case.tensions.max(initial=0.0))
    share = case.tensions / highest if highest > 0 else np.zeros(len(case.tensions))
    labels = (f"{cable_label(case.robot, k)}: {round(float(t), 9):.4g} N" for k, t in enumerate(case.tensions))
    return replace(
        scene,
        cable_labels=tuple(labels),
        cable_widths=tuple(float(THINNEST + (WIDEST - THINNEST) * part) for part in share),
        arrows=arrows,
    )


def _load_arrows(case: PayloadCase, size: float) -> Iterator[Arrow]:
    for number, load in enumerate(case.loads, 1):
        at = MM * _place(case.robot, case.frames, load.link, load.point)
        for vector, unit, colour in ((load.force, "N", DEAD_LOAD_COLOUR), (load.moment, "N*m", MOMENT_COLOUR)):
            strength = float(np.linalg.norm(vector))
            if strength > 0:
                end = at + DEAD_LOAD_SHARE * ARROW_SHARE * size * np.asarray(vector) / strength
                name = f"load {number} at {place_text(case.robot, load)}: {strength:.4g} {unit}"
                yield Arrow(at, end, colour, name)


def _place(robot: Robot, frames: Floats, link: int, point: ArrayLike | None) -> Floats:
    """(3,) m."""
    row = link_index(robot, link)
    at: Floats = frames[row][:3, :3] @ link_point(robot, row, point) + frames[row][:3, 3]
    return at
