"""What the Payload tab computes in a process of its own: the best tensions, and a journey of two snakes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vertebra.follow.journey import Journey, Moment, follow_the_leader
from vertebra.follow.steps import read_path
from vertebra.locked.best import WORST, BestTensions, best_tensions
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.studio.payload.examples import example_inner, example_path
from vertebra.studio.payload.model import direction_of, shape_of
from vertebra.studio.payload.settings import GOALS, SAME_INNER, PayloadSettings
from vertebra.studio.robot_source import file_robot

Report = Callable[[float], None]
MOST_SAMPLES, MOST_FRAMES = 6, 60_000
"""Pictures of a step that moves something, and frames of links in all pictures of a journey."""


@dataclass(frozen=True, eq=False)
class PlayedJourney:
    """A journey and its pictures."""

    journey: Journey
    moments: tuple[Moment, ...]


def find_best(robot: Robot, settings: PayloadSettings, gravity: Floats, *, report: Report) -> BestTensions:
    """`vertebra.best_tensions` in the direction of the load, or in the worst one."""
    report(0.0)
    aim = direction_of(settings, gravity) if settings.goal == GOALS[0] else WORST
    bounds = settings.least, settings.most
    return best_tensions(robot, shape_of(robot, settings), aim, bounds, settings.link, gravity=gravity)


def follow(
    outer: Robot, settings: PayloadSettings, gravity: Floats, inner: Path | None, path: Path | None, *, report: Report
) -> PlayedJourney:
    """`vertebra.follow_the_leader` of the robot around an inner snake; goes on where the rigid snake does not hold.

    `inner`, `path`: files; None for the example that the settings name.
    """
    report(0.0)
    journey = follow_the_leader(
        outer, _inner(outer, settings, inner), example_path(outer, settings.path) if path is None else read_path(path),
        outer_tensions=settings.tensions, inner_tensions=settings.inner_tension or 0.0, gravity=gravity,
        tip_load=settings.tip_load * direction_of(settings, gravity), come_back=settings.come_back, check=False,
    )  # fmt: skip
    report(0.7)
    return PlayedJourney(journey, pictures(journey))


def _inner(outer: Robot, settings: PayloadSettings, file: Path | None) -> Robot:
    if file is not None:
        return file_robot(file.name, file.read_bytes())[0]
    return outer if settings.inner == SAME_INNER else example_inner(outer)


def pictures(journey: Journey) -> tuple[Moment, ...]:
    """As many pictures as can be kept: fewer of each step, then not of every step."""
    links = len(journey.pair.outer.links) + len(journey.pair.inner.links)
    room = max(MOST_FRAMES // links, 2)
    samples = max(1, min(MOST_SAMPLES, room // max(len(journey.steps), 1)))
    moments = journey.frames(samples)
    kept = np.unique(np.linspace(0, len(moments) - 1, min(room, len(moments))).round().astype(int))
    return tuple(moments[i] for i in kept.tolist())
