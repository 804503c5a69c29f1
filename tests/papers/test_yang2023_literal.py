"""The paper's own method: against our solver on every case and condition, and against plainer forms of itself."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracles import statics
from tests.oracles.yang2023 import LiteralRobot, cable_tensions, literal_angles, literal_lm, literal_residual, locate

import vertebra as vb
from vertebra.errors import InputError
from vertebra.papers.yang2023.cases import CASES, CLOSURES, Case, solve, tensions_of

A, B, C = (vb.load(f"yang2023-{letter}") for letter in "abc")
PROTOTYPES = {"A": A, "B": B}
LAW = (14.0, 0.70, 0.105)
PRESLIDING = 1e-5


def literal_robot(case: Case, condition: str) -> LiteralRobot:
    """Table 5 in the terms of the paper's method; nothing of it comes from `CONDITIONS`."""
    return LiteralRobot.of(
        PROTOTYPES[case.prototype],
        friction={"I": (0, 0, 0), "III": (0, 0, 0.3)}.get(condition, LAW),
        presliding=PRESLIDING,
        disc_only=condition == "IV",
        payload_kg=0.020 if condition == "V" and case.number >= 31 else 0.0,
    )


@pytest.mark.parametrize("closure", CLOSURES)
@pytest.mark.parametrize("condition", ["I", "II", "III", "IV", "V"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.number}-{case.prototype}")
def test_equals_our_solver_on_every_case_of_the_paper(case, condition, closure):
    literal = literal_angles(literal_robot(case, condition), 9.8 * np.array(case.masses_kg), closure)
    ours = solve(case, condition, closure)
    assert literal.converged
    np.testing.assert_allclose(ours.angles, literal.angles, atol=1e-12, rtol=0)
    np.testing.assert_allclose(ours.tip, literal.tip, atol=1e-12, rtol=0)
    np.testing.assert_allclose(ours.tensions, literal.tensions_along, atol=1e-10, rtol=0)


@pytest.mark.parametrize("closure", CLOSURES)
def test_equals_our_solver_on_three_sections_of_cables(closure):
    rng, robot = np.random.default_rng(3), LiteralRobot.of(C)
    for _ in range(8):
        tensions = rng.uniform(1.0, 12.0, 12)
        literal = literal_angles(robot, tensions, closure)
        ours = vb.shape_from_tensions(C, tensions, closure=closure)
        assert literal.converged
        np.testing.assert_allclose(ours.angles, literal.angles, atol=1e-12, rtol=0)
        np.testing.assert_allclose(ours.tensions, literal.tensions_along, atol=1e-10, rtol=0)
        # Cables of a section end with it.
        assert not ours.tensions[:4, 4:].any()
        assert not ours.tensions[4:8, 8:].any()


@pytest.mark.parametrize("closure", CLOSURES)
@pytest.mark.parametrize("robot", [A, B], ids=["A", "B"])
def test_equals_our_solver_under_gravity_and_forces_from_anywhere(robot, closure):
    rng = np.random.default_rng(4)
    for _ in range(8):
        down, force = rng.normal(size=(2, 3))
        down, force, tensions = 9.8 * down / np.linalg.norm(down), 0.1 * force, rng.uniform(2.0, 10.0, 4)
        law = rng.uniform([0, 0, 0], [14, 0.7, 0.3])
        literal = literal_angles(LiteralRobot.of(robot, friction=law, gravity=down, tip_force=force), tensions, closure)
        ours = vb.shape_from_tensions(
            robot, tensions, gravity=down, loads=[vb.Load(force=force)], closure=closure,
            friction=vb.FrictionLaw.quadratic(*law),
        )  # fmt: skip
        assert literal.converged
        np.testing.assert_allclose(ours.angles, literal.angles, atol=1e-12, rtol=0)


@pytest.mark.parametrize("closure", CLOSURES)
@pytest.mark.parametrize("number", [1, 12, 16, 27])
def test_loading_and_unloading_equal_our_path(number, closure):
    case = CASES[number - 1]
    full, robot = tensions_of(case), literal_robot(case, "II")
    path = vb.ShapePath(PROTOTYPES[case.prototype], closure=closure)
    history, tips = None, []
    for share in (0.5, 1.0, 0.97, 0.5):
        literal = literal_angles(robot, share * full, closure, history)
        ours = path.step(share * full)
        assert literal.converged
        np.testing.assert_allclose(ours.angles, literal.angles, atol=1e-12, rtol=0)
        np.testing.assert_allclose(ours.slip, literal.history.slip, atol=1e-9, rtol=0)
        history = literal.history
        tips.append(literal.tip)
    # The way back is another one.
    assert np.linalg.norm(tips[3] - tips[0]) > 1e-4


def poses(robot, count=5, seed=6):
    return np.random.default_rng(seed).uniform(-0.25, 0.25, (count, len(robot.joints)))


@pytest.mark.parametrize("robot", [A, B, C], ids=["A", "B", "C"])
def test_virtual_work_without_friction_is_the_slope_of_the_energy(robot):
    rng, force = np.random.default_rng(7), np.array([0.05, -0.1, 0.2])
    tensions, down = rng.uniform(1.0, 12.0, len(robot.cables)), np.array([-5.0, 3.0, 7.0])
    literal = LiteralRobot.of(robot, friction=(0, 0, 0), gravity=down, tip_force=force)
    for q in poses(robot):
        slope = statics.residual(robot, q, tensions, down, [vb.Load(force=force)])
        np.testing.assert_allclose(literal_residual(literal, q, tensions, "virtual-work"), slope, atol=1e-14, rtol=0)


@pytest.mark.parametrize("robot", [A, B, C], ids=["A", "B", "C"])
def test_tensions_follow_the_solved_recursion(robot):
    rng = np.random.default_rng(8)
    literal, pull = LiteralRobot.of(robot, friction=LAW, presliding=1e-3), rng.uniform(1.0, 12.0, len(robot.cables))
    for q in poses(robot):
        tension, (slip, variation) = cable_tensions(literal, q, locate(literal, q), pull, literal.fresh())
        theta = np.abs(q) / 2
        u = (14.0 * theta**2 + 0.70 * theta + 0.105) * np.sin(theta)
        gap = robot.joints["size"] / q
        for k, cable in enumerate(robot.cables):
            # Eq 4 for a hole at distance e toward the bend side.
            last, e = cable["last_link"], robot.segments["offset"][k]
            change = 2 * (gap - e) * np.sin(q / 2) - robot.joints["size"]
            F, before = pull[k], 0.0
            for j in range(last):
                drawn = change[j:last].sum()
                s = min(max(drawn / 1e-3, -1.0), 1.0)
                F, before = F * (1 + s * before) / (1 - s * u[j]), u[j]
                np.testing.assert_allclose(variation[k, j], drawn, atol=1e-16, rtol=0)
                np.testing.assert_allclose([slip[k, j], tension[k, j]], [s, F], atol=1e-12, rtol=0)
            assert not tension[k, last:].any()


def test_slip_goes_on_from_its_history():
    literal = LiteralRobot.of(B, presliding=1e-3)
    q, later = poses(B, 2)
    pull = np.full(4, 5.0)
    _, first = cable_tensions(literal, q, locate(literal, q), pull, literal.fresh())
    _, second = cable_tensions(literal, later, locate(literal, later), pull, first)
    moved = first.slip + (second.variation - first.variation) / 1e-3
    np.testing.assert_allclose(second.slip, np.clip(moved, -1, 1), atol=1e-15, rtol=0)
    assert (np.abs(second.slip) < 1).any()
    assert (np.abs(moved) > 1).any()
    _, same = cable_tensions(literal, q, locate(literal, q), pull, first)
    np.testing.assert_allclose(same.slip, first.slip, atol=1e-15, rtol=0)


@pytest.mark.parametrize("robot", [A, C], ids=["A", "C"])
def test_moments_at_disc_centres_are_those_of_all_that_acts_beyond(robot):
    """Eqs 37 and 41 unrolled: the segments beyond a joint pull two discs each and cancel."""
    rng = np.random.default_rng(9)
    n, cables, force = len(robot.joints), robot.cables, np.array([0.05, -0.1, 0.2])
    literal, pull = LiteralRobot.of(robot, tip_force=force), rng.uniform(1.0, 12.0, len(cables))
    down = robot.gravity
    for q in poses(robot):
        frames = vb.Pose(robot, q).frames

        def place(link, x, y, z, frames=frames):
            return frames[link] @ [x, y, z, 1.0]

        tension, _ = cable_tensions(literal, q, locate(literal, q), pull, literal.fresh())
        residual = literal_residual(literal, q, pull, "paper")
        rods = locate(literal, q).rods
        for j in range(n):
            centre = frames[0][:3, 3] if j == 0 else place(j, 0, 0, 0.003)[:3]
            moment = np.cross(place(n, *robot.tip_point)[:3] - centre, force)
            for i in range(j, n):
                moment += np.cross(place(i + 1, 0, 0, 0.003)[:3] - centre, 1.4e-3 * down)
                moment += np.cross(rods[i] - centre, 0.373e-3 * down)
                for k, cable in enumerate(cables):
                    if i < cable["last_link"]:
                        leave = place(i, cable["x"], cable["y"], 0.003 if i == 0 else 0.006)[:3]
                        enter = place(i + 1, cable["x"], cable["y"], 0.0)[:3]
                        length = np.linalg.norm(leave - enter)
                        moment += np.cross((leave + enter) / 2 - centre, 2.5e-3 * length * down)
                        if i == j:
                            moment += np.cross(enter - centre, tension[k, j] * (leave - enter) / length)
                        if i + 1 == cable["last_link"]:
                            lock = place(i + 1, cable["x"], cable["y"], 0.006)[:3]
                            moment += np.cross(lock - centre, 0.8475e-3 * down)
            axis = frames[j][:3, :3] @ [robot.joints["axis_x"][j], robot.joints["axis_y"][j], 0.0]
            expected = robot.joints["stiffness"][j] * q[j] - axis @ moment
            np.testing.assert_allclose(residual[j], expected, atol=1e-14, rtol=0)


@pytest.mark.parametrize("closure", CLOSURES)
def test_plain_levenberg_marquardt_from_zero_is_enough(closure):
    for case in CASES[::4]:
        robot, tensions = literal_robot(case, "II"), tensions_of(case)
        plain, exact = literal_lm(robot, tensions, closure), literal_angles(robot, tensions, closure)
        assert plain.converged
        np.testing.assert_allclose(plain.angles, exact.angles, atol=1e-6, rtol=0)
        # Every iteration takes a difference in each angle, and a try.
        assert plain.evaluations >= 3 * (len(robot.axes) + 1)


@pytest.mark.parametrize("seed", range(6))
def test_a_ramp_of_a_tenth_of_a_micron_is_still_solved(seed):
    """Angles turn friction round within 20 microradians: differences must be finer than that."""
    tensions = np.random.default_rng(seed).uniform(1.0, 12.0, 12)
    assert literal_angles(LiteralRobot.of(C, presliding=1e-7), tensions, "paper", tolerance=1e-11).converged


def test_a_shape_says_what_it_is():
    shape = literal_angles(literal_robot(CASES[0], "II"), tensions_of(CASES[0]))
    assert repr(shape).startswith("LiteralShape(converged after ")


def with_measured_friction() -> vb.Robot:
    mapping = A.to_mapping()
    mapping["sections"][0]["cables"]["friction"] = {"table": [["0 deg", 0.1], ["10 deg", 0.6]]}
    return vb.load(mapping)


@pytest.mark.parametrize(
    ("argument", "question"),
    [
        ("tensions", lambda: literal_angles(LiteralRobot.of(A), [1.0, 2.0])),
        ("tensions", lambda: literal_lm(LiteralRobot.of(A), [1.0, 2.0, 3.0, -4.0])),
        ("closure", lambda: literal_angles(LiteralRobot.of(A), np.ones(4), "energy")),
        ("robot", lambda: LiteralRobot.of(vb.load("hu2023-planar"))),
        ("friction", lambda: LiteralRobot.of(A, friction=(0.1, 0.2))),
        ("friction", lambda: LiteralRobot.of(with_measured_friction())),
        ("presliding", lambda: LiteralRobot.of(A, presliding=0.0)),
    ],
)
def test_wrong_questions_are_named(argument, question):
    with pytest.raises(InputError) as caught:
        question()
    assert caught.value.argument == argument
