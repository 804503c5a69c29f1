"""One case: the equations on five bases, and the two tests with simulated sensors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import vertebra as vb
from vertebra.papers.case import (
    NO_DIFFERENCE,
    Axis,
    Choice,
    Curves,
    Line,
    Opens,
    Outcome,
    Report,
    Source,
    number_line,
)
from vertebra.papers.lapusan2022.cases import (
    BASE_NOTE,
    BASES,
    DURATION,
    METHODS,
    POSES,
    PRESET,
    SEEDS,
    SHOWN_POSE,
    Base,
    Method,
    distances_mm,
    estimated_tips,
    mean_absolute,
    motion,
    orientations,
    poses,
    python_robot,
    tip_error,
    true_platforms,
)
from vertebra.papers.lapusan2022.model import MODELS, ranges, sensor_model
from vertebra.papers.lapusan2022.published import LOOP_RATE, QUANTITIES, UNITS, errors
from vertebra.papers.paper import Verdict, decimals, rounds_to, unless_explained
from vertebra.report.document import fixed
from vertebra.robot.tables import Floats
from vertebra.sensing.sensed_shape import SensedShape
from vertebra.sensing.simulated.stream import simulated_frames

TESTS = {"test against the tracker": "tracker", "test against a virtual robot": "hil"}
_WORDS = {test: words for words, test in TESTS.items()}
PLACES = {f"perfect sensors, {base.name} base" if "deg" not in base.name else f"perfect sensors, base {base.name}": base
          for base in BASES}  # fmt: skip
NO_ERROR = (
    "The paper prints no error of its equations alone: it says that they give the pose of every platform. With perfect"
    " sensors anything but 0 is their own."
)
SIMULATED = "Ours is simulated and set against the truth; the paper's is measured."
VIRTUAL = (
    "The paper's numbers are differences between two computers that were fed the same sensor data, not errors of the"
    " shape; ours is simulated and set against the truth."
)
EXACT = 1e-6
"""mm and deg; errors below it are rounding."""
GHOST = "the shape that the method makes of the sensors"
BASES_THERE = {"level": "upright", "horizontal": "horizontal", "yawed 30 deg": "upright"}


def axes() -> tuple[Axis, ...]:
    """Base or test, and method."""
    return Axis("Case", (*PLACES, *TESTS), next(iter(PLACES))), Axis("Method", tuple(METHODS), "paper")


def source(choice: Choice) -> Source:
    """The preset."""
    return Source(PRESET)


def opens(choice: Choice) -> Opens:
    """In the Sense tab, which moves the virtual robot its own way."""
    base = PLACES.get(choice[0])
    place = "upright" if base is None else BASES_THERE.get(base.name, "tilted by 45 deg")
    model = "datasheet" if base is None else "ideal"
    settings = {"method": METHODS[choice[1]].estimator, "model": model, "base": place}
    return Opens("sense", settings, "; ".join(_differences(base)) + ".")


def _differences(base: Base | None) -> Iterator[str]:
    yield "The Sense tab moves the robot by random bends of its own"
    if base is None:
        yield "its sensors have all errors of a datasheet, not only noise of the stated precision"
    elif base.yaw:
        yield "its base is not yawed"
    elif base.name not in BASES_THERE:
        yield f"its base is tilted by 45 deg, not by {base.tilt:g} deg"


def outcome(choice: Choice, report: Report) -> Outcome:
    """Errors of the tip by the chosen method."""
    method = METHODS[choice[1]]
    if choice[0] in TESTS:
        return _tested(TESTS[choice[0]], method, report)
    return _on_base(PLACES[choice[0]], method)


# Perfect sensors ------------------------------------------------------------------------------------------------------


def _on_base(base: Base, method: Method) -> Outcome:
    robot, angles, turned = python_robot(), poses(), base.rotations(POSES)
    true = true_platforms(robot, angles)
    seen = orientations(true, turned)
    found = tip_error(estimated_tips(robot, seen, method), true[:, -1])
    shown = vb.shape_from_orientations(robot, seen[SHOWN_POSE], method.estimator, twist=method.twist)
    lines = (
        Line(
            f"{what} of {POSES} poses ({unit})",
            "none, it says",
            _small(value),
            NO_DIFFERENCE,
            unless_explained(value <= EXACT, Verdict.CONTRADICTS),
        )
        for what, unit, value in (
            ("mean error", "mm", found.mean_mm),
            ("largest error", "mm", found.largest_mm),
            ("mean error", "deg", found.mean_deg),
            ("largest error", "deg", found.largest_deg),
        )
    )
    return Outcome(
        f"Base {base.name}; method {method.name}: {method.text}",
        tuple(lines),
        vb.Pose(robot, angles[SHOWN_POSE]).frames[None],
        turned[SHOWN_POSE].T @ robot.gravity,
        ghosts=shown.frames_in_base[None],
        ghost=GHOST,
        notes=(
            NO_ERROR,
            BASE_NOTE,
            "Shown is one of them, in the frame of the base; gravity points where it does there.",
        ),
    )


def _small(value: float) -> str:
    return fixed(value, 3) if value >= 5e-4 else f"{value:.0e}"


# Simulated sensors ----------------------------------------------------------------------------------------------------


def _tested(test: str, method: Method, report: Report) -> Outcome:
    robot, printed = python_robot(), errors(test)
    found, shown = [], None
    for done, seed in enumerate(SEEDS):
        shapes = _shapes(test, method, seed)
        times = np.array([shape.time for shape in shapes])
        tips = np.array([shape.tip_frame_in_base for shape in shapes])
        angles = motion(test).angles(times)
        true = true_platforms(robot, angles)[:, -1]
        found.append(mean_absolute(tips, true))
        if shown is None:
            ghosts = np.array([shape.frames_in_base for shape in shapes])
            shown = times, angles, ghosts, distances_mm(tips, true)
        report((done + 1) / len(SEEDS))
    assert shown is not None
    times, angles, ghosts, off = shown
    return Outcome(
        f"{_WORDS[test].capitalize()}; method {method.name}: {method.text}",
        tuple(_mae_lines(np.mean(found, axis=0), printed.mae, ranges(test), printed.ranges)),
        np.array([vb.Pose(robot, q).frames for q in angles]),
        robot.gravity,
        ghosts=ghosts,
        ghost=GHOST,
        times=times,
        curves=Curves(times, (("tip off (mm)", off),)),
        notes=(
            VIRTUAL if test == "hil" else SIMULATED,
            f"Simulated: {MODELS['stated']}; {len(SEEDS)} runs, the first is shown.",
        ),
    )


def _shapes(test: str, method: Method, seed: int) -> list[SensedShape]:
    from vertebra.sensing.network import SensorNetwork

    simulated = simulated_frames(
        python_robot(), motion(test), sensor_model("stated"), DURATION, seed, base=np.eye(3), sync_rate=LOOP_RATE
    )
    network = SensorNetwork(vb.ShapeEstimator(python_robot(), method.estimator, twist=method.twist))
    return [shape for frame in simulated.frames if (shape := network.receive(frame)) is not None]


def _mae_lines(ours: Floats, mae: Floats, moved: Floats, printed_ranges: Floats) -> Iterator[Line]:
    for name, unit, value, printed in zip(QUANTITIES, UNITS, ours.tolist(), mae.tolist(), strict=True):
        yield _line(f"mean error of {name} ({unit})", printed, value)
    for name, unit, value, printed in zip(QUANTITIES, UNITS, moved.tolist(), printed_ranges.tolist(), strict=True):
        yield _line(f"range of {name} ({unit})", printed, value)


def _line(what: str, printed: float, ours: float) -> Line:
    digits = decimals(printed)
    verdict = unless_explained(rounds_to(ours, printed, digits), Verdict.DEPENDS)
    return number_line(what, printed, ours, digits, verdict)


def words(choice: Choice) -> frozenset[str]:
    """Whether it is a base or one of the tests."""
    return frozenset({"base"} if choice[0] in PLACES else {"test", TESTS[choice[0]]})
