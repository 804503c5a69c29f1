"""Follow the leader: a journey of two concentric snakes, computed in a process of its own, and in words and numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vertebra.errors import StudioError
from vertebra.follow.holding import Holding
from vertebra.follow.journey import Journey, Snapshot, follow_the_leader
from vertebra.follow.steps import read_path
from vertebra.report.follow import COLOURS, journey_summary
from vertebra.report.payload import force_text, weakest_text
from vertebra.robot.robot import Robot, load
from vertebra.robot.tables import Floats
from vertebra.studio.payload.model import Report, direction_of
from vertebra.studio.payload.settings import EXAMPLE_PATHS, SAME_INNER, PayloadSettings
from vertebra.studio.readout import Value, light, readout, swatches
from vertebra.studio.state import file_robot

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


# The computation.

MOST_SAMPLES, MOST_FRAMES = 6, 60_000
"""Pictures of a step that moves something, and frames of links in all pictures of a journey."""


@dataclass(frozen=True, eq=False)
class PlayedJourney:
    """A journey and its pictures."""

    journey: Journey
    moments: tuple[Snapshot, ...]


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


def pictures(journey: Journey) -> tuple[Snapshot, ...]:
    """As many pictures as can be kept: fewer of each step, then not of every step."""
    links = len(journey.pair.outer.links) + len(journey.pair.inner.links)
    room = max(MOST_FRAMES // links, 2)
    samples = max(1, min(MOST_SAMPLES, room // max(len(journey.steps), 1)))
    moments = journey.frames(samples)
    kept = np.unique(np.linspace(0, len(moments) - 1, min(room, len(moments))).round().astype(int))
    return tuple(moments[i] for i in kept.tolist())


# In words and numbers, at one instant and as a whole.

HEADROOM = 1.2
"""Loads without limit are drawn this far above the largest one that has a limit."""


def journey_text(journey: Journey, moment: Snapshot) -> str:
    """HTML of what holds now, and of the journey as a whole."""
    found = journey.holdings[moment.step - 1] if moment.step else None
    outer, inner = moment.links_out
    values = [
        Value("payload-step", "step", moment.label),
        Value("payload-lock", "now", str(moment.lock)),
        Value("payload-out", "links out", f"{outer} outer, {inner} inner"),
        *_holding(found),
    ]
    whole = [Value(f"payload-journey-{label.replace(' ', '-')}", label, text) for label, text in _rows(journey)]
    return (
        _light(found) + readout("This step", values) + swatches((colour, name) for name, colour in COLOURS.values())
        + readout("The journey", whole)
    )  # fmt: skip


def carried(journey: Journey) -> tuple[Floats, list[tuple[str, Floats]]]:
    """Steps after which one snake is loose, and lines over them, N: what the other carries at the tip, what it must."""
    rows = [(step, found) for step, found in enumerate(journey.holdings, 1) if found is not None]
    forces = np.array([found.force for _, found in rows])
    finite = forces[np.isfinite(forces)]
    top = HEADROOM * float(finite.max()) if len(finite) and finite.max() > 0 else 1.0
    name = "carries (N)" if len(finite) == len(forces) else "carries (N), no limit at the top"
    wanted = np.array([found.wanted for _, found in rows])
    return np.array([float(step) for step, _ in rows]), [(name, np.minimum(forces, top)), ("wanted (N)", wanted)]


def _light(found: Holding | None) -> str:
    if found is None:
        return light("payload-holds", True, "Both snakes are rigid")
    verdict = f"The rigid {found.rigid} snake {'holds' if found.holds else 'does not hold'}"
    return light("payload-holds", found.holds, verdict)


def _holding(found: Holding | None) -> list[Value]:
    """The same lines whether or not a snake is loose, so that nothing jumps while the journey is played."""
    texts = ("-", "-", "-")
    if found is not None:
        texts = force_text(found.force), force_text(found.margin), weakest_text(found.joint, found.payload.mode)
    labels = (("carries", "carries at the tip"), ("margin", "beyond the tip load"), ("gives", "gives way"))
    return [Value(f"payload-{key}", label, text) for (key, label), text in zip(labels, texts, strict=True)]


def _rows(journey: Journey) -> list[tuple[str, str]]:
    return [(row[0], row[1]) for row in journey_summary(journey, "").rows]
