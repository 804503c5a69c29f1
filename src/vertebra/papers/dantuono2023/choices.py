"""One case: three motions, by both ways to share out tensions, in three readings."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vertebra.mechanics.kinematics import Pose
from vertebra.papers.case import (
    DRAWN,
    NO_DIFFERENCE,
    Axis,
    Choice,
    Curves,
    Line,
    Opens,
    Outcome,
    Report,
    Source,
    own_line,
)
from vertebra.papers.dantuono2023.cases import (
    AMPLITUDE,
    BOTTOM,
    CASES,
    FREQUENCY,
    METHODS,
    PRESET,
    READINGS,
    SHORT,
    STATED,
    Method,
    Run,
    case_named,
    run,
    snake,
)
from vertebra.papers.dantuono2023.claims import RISE, bottom_highest, rise_of_bottom
from vertebra.papers.paper import Verdict, unless_explained
from vertebra.papers.printed import fixed
from vertebra.report.panels import spread

METHOD_NAMES: dict[str, Method] = {"link by link": "per_link", "one tension per cable": "shared"}
NO_TENSION = (
    "The paper prints no tension and no dimension of its robot: it draws tensions and tells what to see in them. Ours"
    " are those of an assumed robot; what depends on that is said."
)
MOST_ROWS = 400
"""Of what is played: 30 a second."""


def axes() -> tuple[Axis, ...]:
    """Motion, method and reading."""
    return (
        Axis("Motion", tuple(CASES), "pan"),
        Axis("Tensions", tuple(METHOD_NAMES), "link by link", {"one a cable": "one tension per cable"}),
        Axis("Text read", tuple(READINGS), STATED.name),
    )


def source(choice: Choice) -> Source:
    """The preset; with gravity the other way where the text is read so."""
    reading = READINGS[choice[2]]
    mapping = snake().to_mapping()
    mapping["gravity"] = reading.gravity(snake()).tolist()
    return Source(PRESET, mapping, "weight-reversed")


def opens(choice: Choice) -> Opens:
    """In the Motion tab."""
    settings = {
        "source": "sway",
        "pattern": choice[0],
        "amplitude_deg": float(np.degrees(AMPLITUDE)),
        "period": 2.0 * np.pi / FREQUENCY,
        "method": METHOD_NAMES[choice[1]],
    }
    note = "The Motion tab numbers cables as the paper states them." if READINGS[choice[2]].swapped else ""
    return Opens("motion", settings, note)


def outcome(choice: Choice, report: Report) -> Outcome:
    """Tensions along the motion."""
    case, method, reading = case_named(choice[0]), METHOD_NAMES[choice[1]], READINGS[choice[2]]
    found = run(case, method, reading)
    report(0.5)
    rows = spread(len(found.motion.time), MOST_ROWS)
    robot = snake()
    tensions = np.asarray(found.allocation.tensions)[rows]
    if tensions.ndim == 2:
        tensions = np.repeat(tensions[:, :, None], len(robot.joints), axis=2)
    return Outcome(
        f"{SHORT[case.name]}, {METHODS[method]}",
        tuple(_lines(found)),
        np.array([Pose(robot, q).frames for q in found.motion.q[rows]]),
        reading.gravity(robot),
        tensions,
        times=found.motion.time[rows],
        curves=Curves(
            found.motion.time, tuple((f"T{k + 1} (N)", found.base[:, k]) for k in range(found.base.shape[1]))
        ),
        notes=(NO_TENSION, f"Read here: {reading.text}."),
    )


def _lines(found: Run) -> Iterator[Line]:
    for k, peak in enumerate(found.peaks.tolist(), 1):
        yield own_line(f"peak of T{k} at the base (N)", fixed(peak, 2), DRAWN)
    if found.case.name != "3d":
        holds, _, _ = bottom_highest(found.case.name)({found.case.name: found.base})
        highest = int(found.base.max(axis=0).argmax()) + 1
        verdict = unless_explained(bool(holds), Verdict.CONTRADICTS)
        yield Line("highest at all times", f"T{BOTTOM + 1}", f"T{highest}", NO_DIFFERENCE, verdict)
    if found.case.name != "pan":
        yield _rise_line(found)
    moment, joint, time = found.worst
    yield own_line("most out of balance (N m)", f"{moment:.2g}, joint {joint}, {fixed(time, 2)} s")
    yield own_line("least contact force (N)", fixed(found.least_contact, 2))


def _rise_line(found: Run) -> Line:
    other = run(CASES["3d" if found.case.name == "tilt" else "tilt"], found.method, found.reading)
    holds, _, numbers = rise_of_bottom({one.case.name: one.base for one in (found, other)})
    rise = numbers["rise_percent"]
    verdict = Verdict.DEPENDS if holds is None else Verdict.CONTRADICTS
    return Line("T2 rises, tilt to 3D (%)", f"almost {RISE:g}", fixed(rise, 2), f"{rise - RISE:+.2f}", verdict)


def words(choice: Choice) -> frozenset[str]:
    """Of the motion; the rise is from tilt to 3D."""
    return frozenset({choice[0], "any"} | ({"rise"} if choice[0] != "pan" else set()))
