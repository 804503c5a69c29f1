"""Shapes with cable friction: against the paper's own method, along a path with its history, and with more joints."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from tests.oracles.yang2023 import LiteralRobot, literal_lm

import vertebra as vb
from benchmarks.report import Row
from benchmarks.statics_cases import find_shape_repeatedly, together
from benchmarks.timing import medians
from vertebra.mechanics.problem import NO_CABLES, Closure, Problem
from vertebra.papers.yang2023.cases import CASES
from vertebra.robot.tables import Floats

REPEATS = 20
PATH_STEPS = 200


def rows() -> list[Row]:
    return [
        *(against_paper(closure) for closure in ("paper", "virtual-work")),
        *(against_paper_on_c(closure) for closure in ("paper", "virtual-work")),
        *warm_steps(),
        growth(),
        price_of_friction(),
    ]


def masses_of_b() -> list[Floats]:
    """(4,) N each: the fifteen sets of hung masses of prototype B without payload."""
    return [np.array(case.masses_kg) * 9.8 for case in CASES if case.prototype == "B" and not case.payload_kg]


def tensions_of_c(count: int) -> list[Floats]:
    """(12,) N each: bends to all sides, sections in step."""
    robot = vb.load("yang2023-c")
    return [turned(robot, side) for side in np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)]


def turned(robot: vb.Robot, side: float) -> Floats:
    """Tensions that bend the robot toward an azimuth, N."""
    pull: Floats = 6.0 + 3.0 * np.cos(robot.cables["azimuth"] - side)
    return pull


def newton(robot: vb.Robot, tensions: Floats, closure: Closure, friction: float | None = None) -> Callable[[], object]:
    """Our kernel from its usual start, `REPEATS` times in one call."""
    problem = Problem.of(robot, None, (), friction, closure)
    q, work = np.empty(len(robot.joints)), problem.workspace()
    arguments = (*problem.system, tensions, NO_CABLES, NO_CABLES, work.friction, False, q, *work.scratch)
    call = lambda: find_shape_repeatedly(REPEATS, *arguments)  # noqa: E731
    call()
    wanted = vb.shape_from_tensions(robot, tensions, closure=closure, friction=friction).angles
    np.testing.assert_array_equal(q, wanted)
    return call


def against(robot: vb.Robot, pulls: list[Floats], closure: Closure, goal: float, what: str) -> Row:
    literal = LiteralRobot.of(robot)
    for pull in pulls:
        theirs = literal_lm(literal, pull, closure)
        np.testing.assert_allclose(
            theirs.angles, vb.shape_from_tensions(robot, pull, closure=closure).angles, rtol=0, atol=1e-6
        )
    ours, lm = medians(
        together([newton(robot, pull, closure) for pull in pulls]),
        together([lambda pull=pull: literal_lm(literal, pull, closure) for pull in pulls]),  # type: ignore[misc]
    )
    seconds = ours / REPEATS / len(pulls)
    measure = f"LM with differences (NumPy, {lm / len(pulls) * 1e3:.0f} ms) / ours"
    return Row(f"{what}, {closure}", measure, lm / len(pulls) / seconds, goal, f"{seconds * 1e6:.1f} us")


def against_paper(closure: Closure) -> Row:
    return against(vb.load("yang2023-b"), masses_of_b(), closure, 1000.0, "friction, B, 15 published cases")


def against_paper_on_c(closure: Closure) -> Row:
    return against(vb.load("yang2023-c"), tensions_of_c(8), closure, 2000.0, "friction, C, 12 cables, 8 bends")


def warm_steps() -> Iterator[Row]:
    """One step of a path on C, history and warm start included, against a solve of B from nothing: as a user calls
    them, and inside compiled loops."""
    robot = vb.load("yang2023-c")
    path = vb.ShapePath(robot)
    path.step(turned(robot, 0.0))
    loop = np.array(tensions_of_c(PATH_STEPS))
    b, pulls = vb.load("yang2023-b"), masses_of_b()
    cold, walk, single, step = medians(
        together([newton(b, pull, "virtual-work") for pull in pulls]),
        lambda: path.follow(loop),
        together([lambda pull=pull: vb.shape_from_tensions(b, pull) for pull in pulls]),  # type: ignore[misc]
        together([lambda pull=pull: path.step(pull) for pull in loop]),  # type: ignore[misc]
    )
    what, measure = f"friction, {PATH_STEPS} steps along a path of C", "warm step of C / cold solve of B, {}"
    public, kernel = step / PATH_STEPS, walk / PATH_STEPS
    ratio = public / (single / len(pulls))
    yield Row(what, measure.format("public calls"), ratio, 1.0, f"{public * 1e6:.1f} us", at_most=True)
    ratio = kernel / (cold / REPEATS / len(pulls))
    yield Row(what, measure.format("compiled loops"), ratio, 1.0, f"{kernel * 1e6:.1f} us", at_most=True)


def long_flexure(joints: int) -> vb.Robot:
    """Prototype B with another number of joints, without weight: it would break."""
    mapping = vb.load("yang2023-b").to_mapping()
    mapping["sections"][0]["joints"] = joints
    return vb.load({**mapping, "gravity": [0.0, 0.0, 0.0]})


def growth() -> Row:
    """Robots of about the same bend: joints of a longer one bend less."""
    sizes = (6, 12, 24, 50, 100, 200)
    calls = []
    for joints in sizes:
        share = 12.0 / joints
        pulls = [10.0 + share * np.array(uneven) for uneven in ([4, 4, -4, -4], [5, -1, -3, 1], [-3, 2, 4, -1])]
        calls.append(together([newton(long_flexure(joints), pull, "virtual-work") for pull in pulls]))
    seconds = np.array(medians(*calls)) / REPEATS / 3
    exponent = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    detail = ", ".join(f"{second * 1e6:.0f}" for second in seconds) + " us"
    return Row("friction, 6 to 200 joints", "scaling exponent", exponent, 1.3, detail, at_most=True)


def price_of_friction() -> Row:
    robot, pulls = vb.load("yang2023-b"), masses_of_b()
    rough, smooth = medians(
        together([newton(robot, pull, "virtual-work") for pull in pulls]),
        together([newton(robot, pull, "virtual-work", 0.0) for pull in pulls]),
    )
    detail = f"{smooth / REPEATS / len(pulls) * 1e6:.1f} us without"
    return Row("friction, B, 15 published cases", "with friction / without", rough / smooth, None, detail)
