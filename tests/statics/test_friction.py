"""Shapes with cable friction: against oracles, limits, closed forms, and the same question asked in other ways."""

from __future__ import annotations

import dataclasses
import math
import os
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from tests import robots
from tests.oracles import friction as oracle
from tests.statics.cases import random_case, random_robot, small_motion
from tests.statics.test_forward import assert_same_shape

import vertebra as vb
from vertebra.errors import InputError, OutOfRange
from vertebra.statics import Shape, Shapes, Status
from vertebra.statics.forward import CHUNK

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"

Law = vb.FrictionLaw
A, B, C = (vb.load(f"yang2023-{name}") for name in "abc")
PROTOTYPES = {"a": (A, 12.0), "b": (B, 20.0), "c": (C, 10.0)}
"""Robot and largest tension of a cable, N."""
every_prototype = pytest.mark.parametrize("name", PROTOTYPES)
both_closures = pytest.mark.parametrize("closure", ["virtual-work", "paper"])


def yang(theta: float) -> float:
    return 14.0 * theta**2 + 0.7 * theta + 0.105


def pulls(name: str, count: int, seed: int) -> np.ndarray:
    robot, most = PROTOTYPES[name]
    return np.random.default_rng(seed).uniform(0.0, most, (count, len(robot.cables)))


def actuators(shape: Shape) -> np.ndarray:
    """(cables,) tensions before the base disc: F_0 (1 - s_0 u_0), N."""
    bend = abs(shape.angles[0]) / 2
    grip = np.array([law(bend) for law in shape.friction] or [0.0]) * math.sin(bend)
    return shape.tensions[:, 0] * (1.0 - shape.slip[:, 0] * grip)


# No friction.


ZEROS = {
    "number": 0,
    "none": Law.none(),
    "constant": Law.constant(0.0, 1e-3),
    "quadratic": Law.quadratic(0, 0, 0),
    "of": Law.of(lambda theta: 0.0),
    "table": Law.table([0, 1], [0, 0]),
}


def frictionless_cases() -> list[tuple[vb.Robot, np.ndarray, dict[str, Any]]]:
    rng = np.random.default_rng(8)
    kinds = [("rolling",), ("flexure",), ("rolling", "flexure"), ("rolling", "flexure", "pin")]
    cases = [random_case(rng, kinds[i % 4], int(rng.integers(1, 12)), loads=i % 3) for i in range(12)]
    return [(case.robot, case.tensions, {"gravity": case.gravity, "loads": case.loads}) for case in cases]


@pytest.mark.parametrize("zero", ZEROS)
def test_without_friction_every_call_gives_the_bits_of_the_frictionless_solver(zero: str) -> None:
    """The robot's files have no friction here, so that the plain call is the frictionless one."""
    law = ZEROS[zero]
    for robot, pull, given in frictionless_cases():
        plain = vb.shape_from_tensions(robot, pull, **given, check=False)
        assert_same_shape(vb.shape_from_tensions(robot, pull, **given, friction=law, check=False), plain)
        each = [law] * len(robot.cables)
        assert_same_shape(vb.shape_from_tensions(robot, pull, **given, friction=each, check=False), plain)
        rows = pull * np.linspace(0.5, 1.5, 5)[:, None]
        many, rough = (vb.shapes_from_tensions(robot, rows, **given, friction=f) for f in (None, law))
        for field in dataclasses.fields(Shapes):
            a, b = getattr(many, field.name), getattr(rough, field.name)
            assert a.tobytes() == b.tobytes() if isinstance(a, np.ndarray) else a == b, field.name
        assert (plain.slip == 0.0).all()
        assert plain.friction == ()
        crossing = np.arange(len(robot.joints)) < robot.cables["last_link"][:, None]
        np.testing.assert_array_equal(plain.tensions, np.where(crossing, pull[:, None], 0.0))
        lengths = plain.lengths - 1e-5
        by_length = [vb.shape_from_lengths(robot, lengths, **given, friction=f, check=False) for f in (None, law)]
        assert_same_shape(*by_length)
        if plain.status == Status.SOLVED:
            paths = [vb.ShapePath(robot, **given, friction=f) for f in (None, law)]
            assert_same_shape(*(path.step(pull) for path in paths))
            assert_same_shape(*(path.step(1.1 * pull, check=False) for path in paths))
            assert paths[1].friction_work == 0.0


def test_a_preset_with_friction_switched_off() -> None:
    bare = A.to_mapping()
    del bare["sections"][0]["cables"]["friction"]
    plain = vb.load(bare)
    for pull in pulls("a", 20, 1):
        off, never = vb.shape_from_tensions(A, pull, friction=0), vb.shape_from_tensions(plain, pull)
        assert off.angles.tobytes() == never.angles.tobytes()
        assert off.compliance.tobytes() == never.compliance.tobytes()
        assert np.abs(vb.shape_from_tensions(A, pull).angles - off.angles).max() > 1e-6


@both_closures
@every_prototype
def test_a_little_friction_changes_little(name: str, closure: Any) -> None:
    robot, _ = PROTOTYPES[name]
    for pull in pulls(name, 5, 2):
        # Through the kernels for friction, so that both ways of solving are compared.
        plain = vb.shape_from_tensions(robot, pull, friction=0, closure=closure)
        changes = []
        for mu in (1e-4, 1e-6, 1e-12):
            rough = vb.shape_from_tensions(robot, pull, friction=mu, closure=closure)
            changes.append(np.abs(rough.angles - plain.angles).max())
        assert 1e-7 < changes[0] < 1e-3
        assert changes[1] == pytest.approx(1e-2 * changes[0], rel=0.2)
        assert changes[2] < 1e-9
        np.testing.assert_allclose(rough.compliance, plain.compliance, rtol=0, atol=1e-6 * plain.compliance.max())


# Against the oracle.


def asked(robot: vb.Robot, pull: np.ndarray, closure: str, rules: list[oracle.Rule], **given: Any) -> oracle.Question:
    gravity = given.get("gravity", robot.gravity)
    return oracle.Question(robot, rules, pull, gravity, given.get("loads", ()), at_discs=closure == "paper")


@both_closures
@every_prototype
def test_shapes_are_where_the_oracle_finds_balance(name: str, closure: Any) -> None:
    robot, _ = PROTOTYPES[name]
    loads = (vb.Load(force=(0.05, -0.08, 0.02), moment=(0.0, 0.002, 0.001)),)
    for pull in pulls(name, 3 if SOAK or name != "c" else 1, 3):  # the oracle is slow with the many cables of c
        shape = vb.shape_from_tensions(robot, pull, closure=closure, loads=loads)
        question = asked(robot, pull, closure, [oracle.Rule(yang)] * len(pull), loads=loads)
        left = oracle.residual(question, shape.angles)
        assert np.abs(left).max() <= 1e-11 * shape.moment_scale
        np.testing.assert_allclose(shape.tensions, oracle.tensions(question, shape.angles), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(shape.slip, oracle.slips(question, shape.angles), rtol=0, atol=1e-8)
        # Solved anew by other means, from somewhere near.
        start = shape.angles + np.random.default_rng(1).uniform(-1e-4, 1e-4, len(shape.angles))
        np.testing.assert_allclose(oracle.solve(question, start), shape.angles, rtol=0, atol=1e-9)


def test_mixed_joints_and_laws_are_where_the_oracle_finds_balance() -> None:
    rng = np.random.default_rng(5)
    for _ in range(6):
        case = random_case(rng, ("rolling", "flexure"), 7, loads=1, safety=3.0)
        mus = [lambda t: 0.2, yang, lambda t: 0.3 * math.cos(t), lambda t: 0.0]
        presliding = (10.0 ** rng.uniform(-6, -3, len(case.tensions))).tolist()
        laws = [Law.of(mus[k % 4], d) for k, d in enumerate(presliding)]
        rules = [oracle.Rule(mus[k % 4], d) for k, d in enumerate(presliding)]
        shape = case.solve(friction=laws)
        question = oracle.Question(case.robot, rules, case.tensions, case.field, case.loads)
        assert np.abs(oracle.residual(question, shape.angles)).max() <= 1e-9 * shape.moment_scale
        np.testing.assert_allclose(shape.tensions, oracle.tensions(question, shape.angles), rtol=1e-8, atol=1e-12)


def test_one_joint_in_closed_form() -> None:
    """k q = -F l'(q) with F = T / (1 + u): the cable is drawn to the base and has friction at one face."""
    length, radius, k, T, mu = 7e-3, 5e-3, 0.3, 20.0, 0.4
    joint = {"kind": "flexure", "length": length, "stiffness": k}
    link = {"length": 0.01}
    ring = {"radius": radius, "azimuth": [0.0]}
    section = {"joints": 1, "joint": joint, "azimuth": [0.0], "link": link, "cables": ring}
    robot = vb.load({"vertebra": 1, "name": "one", "sections": [section]})
    shape = vb.shape_from_tensions(robot, [T], friction=mu, gravity=(0, 0, 0))

    def balance(q: float) -> float:
        h = 1e-6
        gap = [2 * (length / x * math.tan(x / 2) * math.cos(x / 2) - radius * math.sin(x / 2)) for x in (q + h, q - h)]
        return k * q + T / (1 + mu * math.sin(q / 2)) * (gap[0] - gap[1]) / (2 * h)

    assert shape.angles[0] == pytest.approx(brentq(balance, 0.01, 1.5, xtol=1e-14), abs=1e-9)
    assert shape.slip.tolist() == [[-1.0]]
    assert shape.tensions[0, 0] == pytest.approx(T / (1 + mu * math.sin(shape.angles[0] / 2)), rel=1e-14)


def test_tension_falls_along_a_pulled_cable_and_rises_along_one_that_is_drawn_out() -> None:
    shape = vb.shape_from_tensions(B, [12.0, 12.0, 1.0, 1.0], friction=0.2)
    pulled, drawn = shape.tensions[:2], shape.tensions[2:]
    # The last joint bends across the plane of the pull, not at all: there nothing slips.
    assert (shape.slip[:2, :-1] == -1.0).all()
    assert (shape.slip[2:, :-1] == 1.0).all()
    assert (np.diff(pulled, axis=1) <= 1e-12).all()
    assert (np.diff(drawn, axis=1) >= -1e-12).all()
    assert (pulled[:, 0] < 12.0).all()
    assert (drawn[:, 0] > 1.0).all()
    # It bends less than without friction.
    assert np.linalg.norm(shape.angles) < np.linalg.norm(vb.shape_from_tensions(B, [12, 12, 1, 1], friction=0).angles)


@both_closures
def test_short_presliding_tends_to_the_rule_of_the_sign(closure: Any) -> None:
    """With the sign of every slip as the paper takes it, solved by other means."""
    pull = np.array([9.0, 5.0, 1.0, 3.0])
    shapes = [vb.shape_from_tensions(B, pull, closure=closure, friction=Law.quadratic(14, 0.7, 0.105, d))
              for d in (1e-3, 1e-4, 1e-5, 1e-6)]  # fmt: skip
    sign = np.sign(oracle.way(B, shapes[-1].angles))
    assert (np.abs(sign) == 1.0).all()
    question = asked(B, pull, closure, [oracle.Rule(yang, 1e9)] * 4)
    by_sign = oracle.solve(dataclasses.replace(question, slip=sign), shapes[-1].angles)
    misses = [float(np.abs(shape.angles - by_sign).max()) for shape in shapes]
    assert misses[0] > 1e-5
    assert misses[0] > misses[1] > misses[2]
    assert misses[3] < 1e-9
    np.testing.assert_array_equal(shapes[-1].slip, sign)


# The same question asked otherwise.


def mixed_rows() -> tuple[vb.Robot, np.ndarray, dict[str, Any]]:
    """Rows of all sizes, of which many fail one way or another."""
    rng = np.random.default_rng(5)
    robot = random_robot(rng, ("rolling", "flexure"), 9)
    rows = 40.0 * rng.uniform(0.0, 1.0, (300, len(robot.cables))) ** 2
    rows[:20] = 0.0
    loads = (vb.Load(force=(0.02, 0.01, 0.0)), vb.Load(moment=(0.0, 1e-3, 2e-3), link=3))
    law = Law.of(lambda t: 0.2 + math.sin(t))
    return robot, rows, {"loads": loads, "friction": [law, 0.5] * (len(robot.cables) // 2)}


BATCHES = {
    "a": lambda: (A, pulls("a", 300, 4) ** 2, {}),
    "b, paper": lambda: (B, pulls("b", 300, 5) * np.linspace(0, 10, 300)[:, None], {"closure": "paper"}),
    "c": lambda: (C, pulls("c", 300, 6) * np.linspace(0, 4, 300)[:, None], {"friction": Law.constant(0.3, 1e-4)}),
    "mixed": mixed_rows,
    "standing": lambda: (vb.load("hu2023-prototype"), pulls("a", 300, 7) ** 3 / 300, {"friction": 0.3}),
}


@pytest.mark.parametrize("name", BATCHES)
def test_rows_are_single_solves_to_the_last_bit(name: str) -> None:
    robot, rows, given = BATCHES[name]()
    shapes = vb.shapes_from_tensions(robot, rows, **given)
    fields = ("angles", "tip", "lengths", "compliance", "energy", "residual", "moment_scale")
    for i, row in enumerate(rows):
        if shapes.solved[i] and i % 5:
            continue
        single = vb.shape_from_tensions(robot, row, check=False, **given)
        assert shapes.status[i] == single.status
        assert shapes.iterations[i] == single.iterations
        for field in fields:
            assert np.asarray(getattr(shapes, field)[i]).tobytes() == np.asarray(getattr(single, field)).tobytes(), (
                i, field,
            )  # fmt: skip
        assert_same_shape(shapes.shape(i), single)
    print(name, shapes)


def test_some_rows_above_fail_and_most_do_not() -> None:
    questions = [make() for make in BATCHES.values()]
    statuses = [vb.shapes_from_tensions(robot, rows, **given).status for robot, rows, given in questions]
    assert sum(len(set(status.tolist())) > 1 for status in statuses) >= 2
    assert all((status == 0).mean() > 0.3 for status in statuses)


def test_any_number_of_threads_gives_the_same_bits() -> None:
    robot, rows, given = BATCHES["c"]()
    many = np.vstack([rows] * 4)
    assert len(many) > 4 * CHUNK
    one, two, all_cores = (vb.shapes_from_tensions(robot, many, threads=n, **given) for n in (1, 2, None))
    for other in (two, all_cores):
        for field in ("angles", "tip", "compliance", "residual", "status", "iterations"):
            assert getattr(one, field).tobytes() == getattr(other, field).tobytes(), field


@pytest.mark.parametrize("kind", ["rolling", "flexure"])
def test_two_equal_sections_are_one(kind: str) -> None:
    """Where all cables end at the tip, and have the same friction."""
    joint = robots.ROLLING if kind == "rolling" else robots.FLEXURE
    ring = robots.cables("4 mm", "10 deg", "100 deg", "190 deg", "280 deg", friction={"quadratic": [2, 0.7, 0.105]})
    whole = robots.robot("one", robots.section(8, joint, azimuth=["0 deg", "90 deg"], cables=ring))
    halves = (robots.section(4, joint, azimuth=["0 deg", "90 deg"], cables=c) for c in (None, ring))
    split = robots.robot("two", *halves)
    for pull in ([8.0, 6.0, 7.0, 9.0], [3.0, 2.0, 2.0, 2.5]):
        shapes = [vb.shape_from_tensions(robot, pull, gravity="ceiling") for robot in (whole, split)]
        for field in ("angles", "tip", "tensions", "slip", "compliance", "lengths"):
            assert getattr(shapes[0], field).tobytes() == getattr(shapes[1], field).tobytes(), field
        paths = [vb.ShapePath(robot, gravity="ceiling") for robot in (whole, split)]
        rows = np.array(pull) * np.array([1.0, 1.1, 0.9])[:, None]
        assert paths[0].follow(rows).angles.tobytes() == paths[1].follow(rows).angles.tobytes()
        assert paths[0].friction_work == paths[1].friction_work > 0.0


def test_cables_that_end_early_have_friction_at_their_own_joints_only() -> None:
    shape = vb.shape_from_tensions(C, np.full(12, 4.0))
    ends = C.cables["last_link"]
    beyond = np.arange(14) >= ends[:, None]
    assert (shape.slip[beyond] == 0.0).all()
    assert (shape.tensions[beyond] == 0.0).all()
    assert (shape.tensions[~beyond] > 0.0).all()
    way = oracle.way(C, shape.angles)
    assert (way[beyond] == 0.0).all()
    np.testing.assert_array_equal(np.sign(shape.slip[np.abs(way) > 1e-9]), np.sign(way[np.abs(way) > 1e-9]))


def test_a_planar_robot_stays_in_its_plane_and_its_twin_in_another() -> None:
    robot = vb.load("hu2023-planar")
    turn = math.radians(37.0)
    mapping = robot.to_mapping()
    for section in mapping["sections"]:
        section["azimuth"] = [azimuth + turn for azimuth in section["azimuth"]]
        section["cables"]["azimuth"] = [azimuth + turn for azimuth in section["cables"]["azimuth"]]
    twin = vb.load(mapping)
    spin = np.array([[math.cos(turn), -math.sin(turn), 0], [math.sin(turn), math.cos(turn), 0], [0, 0, 1.0]])
    gravity = np.array([-9.8, 0.0, 0.0])
    for law in (0.2, Law.quadratic(14, 0.7, 0.105, 1e-4)):
        flat = vb.ShapePath(robot, gravity=gravity, friction=law)
        turned = vb.ShapePath(twin, gravity=spin @ gravity, friction=law)
        for pull in ([2.0, 2.4, 2.0, 5.1], [2.0, 4.0, 2.0, 3.0], [1.0, 5.0, 1.0, 3.5]):
            here, there = flat.step(pull), turned.step(pull)
            assert (here.frames[:, 1, 3] == 0.0).all()
            np.testing.assert_allclose(there.angles, here.angles, rtol=0, atol=1e-12)
            np.testing.assert_allclose(there.tip, spin @ here.tip, rtol=0, atol=1e-13)
        assert turned.friction_work == pytest.approx(flat.friction_work, rel=1e-9)


def test_a_mirrored_pull_gives_a_mirrored_shape() -> None:
    """Prototype B without weight: cables 1 2 | 3 4 lie on either side of its planes."""
    given: dict[str, Any] = {"gravity": (0, 0, 0)}
    there = vb.shape_from_tensions(B, [9.0, 5.0, 1.0, 3.0], **given)
    back = vb.shape_from_tensions(B, [1.0, 3.0, 9.0, 5.0], **given)
    np.testing.assert_allclose(back.angles, -there.angles, rtol=0, atol=1e-12)
    np.testing.assert_allclose(back.slip, np.roll(there.slip, 2, axis=0), rtol=0, atol=1e-8)


# Compliance.


def pushed_compliance(solve: Any, shape: Shape) -> np.ndarray:
    """(6, 6) at a shape, by central differences over loads on the tip."""
    columns = []
    for i in range(6):
        size = 1e-5 if i < 3 else 5e-7
        load = np.zeros(6)
        load[i] = size
        ends = [solve((vb.Load(force=tuple(s * load[:3]), moment=tuple(s * load[3:])),)) for s in (1, -1)]
        columns.append((small_motion(ends[0], shape) - small_motion(ends[1], shape)) / (2 * size))
    return np.stack(columns, axis=-1)


LAWS = {"own": None, "sticking": Law.constant(0.3, 1e-3), "curve": Law.of(lambda t: 0.1 + t, 3e-5)}


@both_closures
@pytest.mark.parametrize("law", LAWS)
@every_prototype
def test_compliance_is_how_the_tip_moves_under_small_loads(name: str, law: str, closure: Any) -> None:
    robot, _ = PROTOTYPES[name]
    pull = pulls(name, 1, 11)[0]
    given: dict[str, Any] = {"friction": LAWS[law], "closure": closure}
    shape = vb.shape_from_tensions(robot, pull, **given)
    found = pushed_compliance(lambda loads: vb.shape_from_tensions(robot, pull, loads=loads, **given), shape)
    for rows in (slice(0, 3), slice(3, 6)):
        for columns in (slice(0, 3), slice(3, 6)):
            block = found[rows, columns]
            np.testing.assert_allclose(shape.compliance[rows, columns], block, rtol=0, atol=1e-6 * np.abs(block).max())


@both_closures
def test_compliance_with_cables_of_given_length(closure: Any) -> None:
    shortened = vb.shape_from_tensions(A, [6.0, 2.0, 1.0, 3.0], closure=closure).lengths - 2e-5
    given: dict[str, Any] = {"closure": closure, "friction": Law.constant(0.3, 1e-3)}
    shape = vb.shape_from_lengths(A, shortened, **given)
    found = pushed_compliance(lambda loads: vb.shape_from_lengths(A, shortened, loads=loads, **given), shape)
    for columns in (slice(0, 3), slice(3, 6)):
        block = found[:3, columns]
        np.testing.assert_allclose(shape.compliance[:3, columns], block, rtol=0, atol=1e-5 * np.abs(block).max())


# Cables of given length.


@both_closures
@every_prototype
def test_lengths_and_tensions_give_the_same_shape(name: str, closure: Any) -> None:
    robot, most = PROTOTYPES[name]
    for seed, law in enumerate((None, 0.3, Law.of(lambda t: 0.2 + t, 1e-4))):
        pull = np.random.default_rng(seed).uniform(0.3 * most, most, len(robot.cables))
        given: dict[str, Any] = {"closure": closure, "friction": law}
        hung = vb.shape_from_tensions(robot, pull, **given)
        stretch = hung.tensions.sum(axis=1) / robot.cables["last_link"] / 2e4
        held = vb.shape_from_lengths(robot, hung.lengths / (1 + stretch), **given)
        np.testing.assert_allclose(held.angles, hung.angles, rtol=0, atol=1e-9)
        np.testing.assert_allclose(actuators(held), pull, rtol=1e-6)
        again = vb.shape_from_tensions(robot, actuators(held), **given)
        np.testing.assert_allclose(again.angles, held.angles, rtol=0, atol=1e-9)
        np.testing.assert_allclose(again.tensions, held.tensions, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(again.slip, held.slip, rtol=0, atol=1e-4)


def test_slack_cables_have_no_friction() -> None:
    straight = vb.Pose(B, np.zeros(12)).cable_lengths
    shape = vb.shape_from_lengths(B, straight + np.array([-1e-3, -1e-3, 5e-3, 5e-3]))
    assert (shape.tensions[2:] == 0.0).all()
    assert (shape.tensions[:2] > 0.0).all()
    assert (np.diff(shape.tensions[:2], axis=1) <= 0.0).all()
    assert (shape.tensions[:2, -1] < 0.98 * shape.tensions[:2, 0]).all()


# Laws that lock a cable, and other extremes.


def test_a_law_that_locks_a_cable_is_named() -> None:
    with pytest.raises(OutOfRange, match=r"joint \d+.*friction law locks a cable") as caught:
        vb.shape_from_tensions(B, [20.0, 20.0, 0.0, 0.0], friction=20.0)
    error = caught.value
    assert error.joint in error.result.locked
    assert error.result.locked == tuple(sorted(error.result.locked))
    assert set(error.result.locked) <= set(error.result.out_of_range)
    # mu sin(bend) = 0.99 at the limit that it names.
    assert 20.0 * math.sin(error.limit / 2) == pytest.approx(0.99, rel=2e-3)
    assert abs(error.angle) >= error.limit
    result = vb.shape_from_tensions(B, [20.0, 20.0, 0.0, 0.0], friction=20.0, check=False)
    assert result.status == Status.OUT_OF_RANGE
    for values in (result.angles, result.tensions, result.tip, result.slip):
        assert np.isfinite(values).all()
    assert vb.shapes_from_tensions(B, [[20.0, 20.0, 0.0, 0.0]], friction=20.0).status[0] == Status.OUT_OF_RANGE


def test_a_law_that_locks_a_cable_is_named_for_lengths_and_shapes_too() -> None:
    bent = np.full(12, 0.3)
    with pytest.raises(OutOfRange, match="friction law locks a cable"):
        vb.tensions_for_shape(B, bent, friction=20.0)
    lengths = vb.shape_from_tensions(B, [6.0, 6.0, 0.0, 0.0], friction=0).lengths
    assert vb.shape_from_lengths(B, lengths, friction=20.0, check=False).locked


EXTREME_LAWS = [
    Law.constant(1e6),
    Law.constant(1e-300),
    Law.quadratic(1e6, 1e6, 1e6),
    Law.of(lambda t: float(t > 0.02)),
    Law.constant(0.3, 1.0),
    Law.constant(0.3, 1e-9),
    Law.table([0, 0.1, 1.5], [0, 1, 50]),
]


@pytest.mark.parametrize("law", EXTREME_LAWS, ids=repr)
@pytest.mark.parametrize("robot", [A, vb.load("hu2023-prototype")], ids=lambda robot: robot.name)
def test_extreme_laws_and_tensions_give_finite_numbers(robot: vb.Robot, law: vb.FrictionLaw) -> None:
    closures: list[Any] = ["virtual-work", "paper"] if robot is A else ["virtual-work"]
    for closure in closures:
        for tension in (0.0, 1e-300, 1e-9, 1.0, 1e3, 1e8, 1e12):
            for pattern in ([1, 1, 1, 1], [0, 1, 0, 1], [1, 0, 0, 0]):
                pull = tension * np.array(pattern, float)
                shape = vb.shape_from_tensions(robot, pull, friction=law, closure=closure, check=False)
                assert_finite(shape)
                if shape.status == Status.SOLVED:
                    path = vb.ShapePath(robot, friction=law, closure=closure)
                    path.step(pull)
                    assert_finite(path.step(0.5 * pull, check=False))
                    assert math.isfinite(path.friction_work)
        for shortening in (0.0, 1e-9, 1e-3, -1e-3, 0.02):
            given: dict[str, Any] = {"friction": law, "closure": closure, "check": False}
            assert_finite(vb.shape_from_lengths(robot, shortenings=[shortening, 0, 0, 0], **given))


def assert_finite(shape: Shape) -> None:
    for field in dataclasses.fields(shape):
        value = getattr(shape, field.name)
        if field.name == "compliance":
            assert not np.isnan(value).any()
            assert np.isfinite(value).all() or not shape.stable
        elif isinstance(value, np.ndarray | float):
            assert np.isfinite(value).all(), field.name
    assert (np.abs(shape.slip) <= 1.0).all()


def test_a_search_that_fails_tells_of_the_pose_it_shows() -> None:
    """Residual, tensions and slip belong to the angles beside them, solved or not."""
    robot = vb.load("hu2023-prototype")
    rows = [[0.0] * 4, [1e-3] * 4, [0.3, 0.0, 0.0, 0.0]]
    shapes = vb.shapes_from_tensions(robot, rows, friction=0.3)
    assert not shapes.solved.any()
    for i, row in enumerate(rows):
        shape = vb.shape_from_tensions(robot, row, friction=0.3, check=False)
        assert_same_shape(shapes.shape(i), shape)
        if not shape.converged:
            question = oracle.Question(robot, [oracle.Rule(lambda t: 0.3)] * 4, np.array(row), robot.gravity)
            np.testing.assert_allclose(shape.slip, oracle.slips(question, shape.angles), rtol=0, atol=1e-8)
            left = np.abs(oracle.residual(question, shape.angles))
            assert shape.residual == pytest.approx(left.max(), rel=1e-6)


@pytest.mark.parametrize("tension", [0.0, 1e-3])
def test_a_robot_that_falls_over_leaves_its_range_with_friction_as_without(tension: float) -> None:
    robot = vb.load("hu2023-prototype")
    plain, rough = (vb.shape_from_tensions(robot, [tension] * 4, friction=mu, check=False) for mu in (0.0, 1e-6))
    assert plain.status == Status.OUT_OF_RANGE
    assert rough.status == Status.OUT_OF_RANGE


def test_robots_without_cables_and_with_many_joints() -> None:
    bare = robots.robot("bare", robots.section(5, robots.FLEXURE, azimuth=["0 deg", "90 deg"]))
    for closure in ("virtual-work", "paper"):
        shape = vb.shape_from_tensions(bare, [], friction=0.3, closure=closure, gravity="wall")  # type: ignore[arg-type]
        assert shape.slip.shape == shape.tensions.shape == (0, 5)
        assert shape.residual <= 1e-9 * shape.moment_scale
    ring = robots.cables("5 mm", "0 deg", "90 deg", "180 deg", "270 deg", linear_density=0.0, lock_mass=0.0)
    light = {"length": "10 mm", "mass": 0.0}
    long = robots.robot("long", robots.section(200, robots.ROLLING, light, ["0 deg", "90 deg"], ring))
    shape = vb.shape_from_tensions(long, [10.0, 10.2, 10.0, 10.1], friction=0.05)
    assert shape.converged
    assert shape.residual <= 1e-9 * shape.moment_scale
    assert shape.tensions.shape == (4, 200)
    question = oracle.Question(long, [oracle.Rule(lambda t: 0.05)] * 4, np.array([10.0, 10.2, 10.0, 10.1]), np.zeros(3))
    np.testing.assert_allclose(shape.tensions, oracle.tensions(question, shape.angles), rtol=1e-6)


# Wrong arguments.


@pytest.mark.parametrize("robot", [vb.load("hu2023-prototype"), robots.mirror_mix()], ids=lambda robot: robot.name)
def test_the_closure_of_the_paper_is_for_flexures(robot: vb.Robot) -> None:
    with pytest.raises(InputError, match=r"closure: .*joint \d"):
        vb.shape_from_tensions(robot, [1.0] * len(robot.cables), closure="paper")


def test_without_friction_the_slip_is_zero_in_the_papers_closure_too() -> None:
    assert (vb.shape_from_tensions(A, [5.0, 3.0, 1.0, 2.0], friction=0, closure="paper").slip == 0.0).all()
