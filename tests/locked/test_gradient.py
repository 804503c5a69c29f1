"""Derivatives of payloads against differences of whole calls; what they say where there is none."""

from __future__ import annotations

import math
import os
import pickle
from collections import Counter

import numpy as np
import pytest
from tests.locked import payload_differences as numeric
from tests.locked import snakes

import vertebra as vb
from vertebra.errors import InputError
from vertebra.locked import payload_gradient

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
SEEDS = range(400 if SOAK else 60)
ROBOT = vb.load("cai2023")
DOWN = (0.0, -1.0, 0.0)
LAWS = (
    vb.FrictionLaw.quadratic(0.1, 0.2, 0.1),
    vb.FrictionLaw.constant(0.2),
    vb.FrictionLaw.of(lambda theta: 0.2 + 0.1 * math.sin(3.0 * theta)),
    vb.FrictionLaw.table([0.0, 0.1, 0.3], [0.1, 0.2, 0.4]),
)


def question(seed):
    """Of any kind: heavy or weightless, with cable friction, sockets, a guide, loads that have masses, torques."""
    rng = np.random.default_rng(seed)
    given = dict(vars(snakes.question(rng)))
    robot = given["robot"]
    n, cables = len(robot.joints), len(robot.cables)
    size = float(robot.joints["radius"].mean())
    given["tensions"] = np.maximum(given["tensions"], 1.0)
    if rng.random() < 0.4:
        given["gravity"] = 200.0 * rng.normal(size=3)
    if rng.random() < 0.5:
        links = rng.integers(-n - 1, n + 1, 3).tolist()
        points = [None, None, size * rng.normal(size=3)]
        given["loads"] = [
            *given["loads"],
            *(
                vb.Load(0.5 * rng.normal(size=3), 0.5 * size * rng.normal(size=3), link, point, rng.uniform(1e-3, 2e-2))
                for link, point in zip(links, points, strict=True)
            ),
        ]
    chosen = [LAWS[k] for k in rng.integers(0, 4, cables)]
    way = rng.integers(0, 4)
    if way == 0:
        given["friction"] = chosen
    elif way == 1:
        given["friction"] = None
        given["robot"] = robot = numeric.with_tables(robot, friction_laws=tuple(chosen))
    if rng.random() < 0.5:
        # Rims not far from where the contacts are without load.
        unloaded = vb.payload(**{**given, "link": 0, "point": None})
        lean = np.arccos(np.clip((unloaded.contact.normal * unloaded.chain.frames[1:, :3, 2]).sum(axis=1), -1.0, 1.0))
        joints = robot.joints.copy()
        joints["socket"] = np.minimum(lean + rng.uniform(0.05, 0.3, n), 3.0)
        given["robot"] = numeric.with_tables(robot, joints=joints)
        if rng.random() < 0.5:
            given["socket_limit"] = np.minimum(lean + rng.uniform(0.05, 0.3, n), 3.0)
    if rng.random() < 0.5:
        given["guided"] = int(rng.integers(0, n))
    if rng.random() < 0.4:
        given |= {"moment": rng.normal(size=3), "direction": None, "point": None, "moment_per_force": None}
    return given


def gradients(answer):
    """Of each joint that has a limit above 0, by row."""
    found = {}
    for row, limit in enumerate(answer.limits):
        if 0.0 < limit < math.inf:
            found[row] = payload_gradient(answer, row + 1)
    return found


def assert_same(number, answer, found, tolerance=1e-8):
    """Of the differences with several steps one agrees, in the change of the limit relative to itself."""
    left, tried = dict(found), set()
    for step in numeric.STEPS:
        slope = numeric.difference(number, answer, step)
        for row in list(left):
            if np.isnan(slope[row]):
                continue
            tried.add(row)
            unit = number.size / answer.limits[row]
            exact = number.read(left[row]) * unit
            if abs(exact - slope[row] * unit) <= tolerance * max(abs(exact), 0.05):
                del left[row]
        if not left:
            return len(tried)
    wrong = {row: (number.read(gradient), slope[row]) for row, gradient in left.items() if row in tried}
    assert not wrong, (number.name, wrong)
    return len(tried)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_derivative_is_that_of_differences(seed):
    given = question(seed)
    answer = vb.payload(**given)
    found = gradients(answer)
    for number in numeric.numbers_of(given) if found else ():
        assert_same(number, answer, found)


def test_questions_are_of_every_kind():
    """Sliding, torsion and rims under forces and torques; guides, masses, laws of files and of questions."""
    kinds, features = Counter(), Counter()
    for seed in range(60):
        given = question(seed)
        answer = vb.payload(**given)
        held = [mode for mode, limit in zip(answer.modes, answer.limits, strict=True) if 0.0 < limit < math.inf]
        kinds.update((mode, answer.unit) for mode in held)
        if held:
            setting = answer.chain.setting
            features["guide"] += setting.guided > 0
            features["mass"] += any(load.mass for load in setting.acting)
            features["laws of the file"] += answer.chain.own_friction and not all(
                law.is_none for law in answer.chain.laws
            )
            features["laws of the question"] += not answer.chain.own_friction
            features["gravity of the file"] += setting.own_gravity
            features["sockets of the file"] += setting.own_sockets and math.isfinite(setting.joints["socket"][0])
            features["sockets of the question"] += not setting.own_sockets
            features["point of the file"] += answer.unit_load.own_point
            features["point of the question"] += not answer.unit_load.own_point
    assert all(kinds[mode, unit] > 2 for mode in ("sliding", "torsion", "socket") for unit in ("N", "N*m")), kinds
    assert min(features.values()) > 2, features


def usual(**changes):
    given = {"bends": 0.05, "azimuths": np.linspace(0.0, 2.0, 19), "tensions": 35.0, "direction": (0.1, -1.0, 0.2)}
    return vb.payload(ROBOT, **{**given, **changes})


def test_without_a_joint_it_is_that_of_the_payload():
    answer = usual(tensions=[30.0, 35.0, 36.0])
    whole, own = payload_gradient(answer), payload_gradient(answer, answer.joint)
    assert (whole.limit, whole.joint, whole.mode, whole.unit) == (answer.force, answer.joint, answer.mode, "N")
    assert whole.is_smooth
    assert repr(whole) == f"PayloadGradient({answer.force:.4g} N: joint {answer.joint} slides)"
    for name, value in vars(whole).items():
        assert pickle.dumps(value) == pickle.dumps(getattr(own, name)), name


def test_columns_that_no_payload_knows_are_zero():
    gradient = payload_gradient(usual(socket_limit=0.4, friction=0.1))
    for name, known in numeric.COLUMNS.items():
        table = getattr(gradient, name)
        assert table.dtype == getattr(ROBOT, name).dtype
        assert table.shape == getattr(ROBOT, name).shape
        unknown = set(table.dtype.names) - set(known) - {"friction"}
        assert not any(table[column].any() for column in unknown)


def test_best_tensions_carry_payloads_that_have_one():
    best = vb.best_tensions(ROBOT, (0.05, 0.3), DOWN, (20.0, 35.0))
    gradient = payload_gradient(best.payload)
    # A little more of any cable that is not at its bound would not help all joints at the weakest load.
    assert gradient.limit == best.payload.force
    assert gradient.tensions @ best.tensions == pytest.approx(best.payload.force, rel=0.1)


@pytest.mark.parametrize("seed", range(5))
def test_without_weight_the_payload_is_proportional_to_the_tensions(seed):
    """Euler: F = dF/dT . T."""
    rng = np.random.default_rng(seed)
    answer = usual(tensions=rng.uniform(20.0, 40.0, 3), direction=rng.normal(size=3), gravity=(0, 0, 0))
    gradient = payload_gradient(answer)
    assert gradient.tensions @ answer.base_tensions == pytest.approx(answer.force, rel=1e-12)


def test_a_payload_from_another_process_has_the_same():
    answer = usual(loads=[vb.Load((0.1, 0.0, 0.0), mass=1e-3)], friction=0.1, socket_limit=0.5)
    there = pickle.loads(pickle.dumps(answer))
    one, two = payload_gradient(answer), payload_gradient(there)
    for name in ("bends", "tensions", "joints", "links", "cables", "segments", "tip_point", "robot_gravity"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes(), name


# Where there is none, or one in some directions only.


def test_an_unlimited_payload_has_none():
    answer = vb.payload(ROBOT, 0.0, 0.0, 35.0, (0, 0, -1), gravity=(0, 0, 0))
    with pytest.raises(InputError, match="another direction") as caught:
        payload_gradient(answer)
    assert caught.value.argument == "payload"


def test_joints_without_a_limit_and_joints_that_there_are_not():
    answer = usual(link=5, guided=2)
    for joint, word in ((1, "guide"), (9, "any load"), (0, "from 1 to 19"), (20, "from 1 to 19"), (1.5, "from 1")):
        with pytest.raises(InputError, match=word) as caught:
            payload_gradient(answer, joint)
        assert caught.value.argument == "joint"
    with pytest.raises(InputError, match=r"ask for joints 3, 4, 5$"):
        payload_gradient(answer, 7)
    with pytest.raises(InputError, match="payload"):
        payload_gradient(2.0)


def test_a_robot_that_slips_by_itself_goes_on_slipping():
    answer = usual(bends=0.9)
    assert answer.slips_unloaded
    gradient = payload_gradient(answer)
    assert "without load" in gradient.notes[0]
    assert len(gradient.notes) == 1
    for name in ("bends", "azimuths", "tensions", "direction", "gravity", "friction", "tip_point"):
        assert not getattr(gradient, name).any()
    assert not gradient.joints["friction"].any()


STACK = snakes.short(5)
ALONG = {"bends": 0.0, "azimuths": 0.0, "direction": (0, 0, 1), "gravity": (0, 0, -9.8)}


def test_links_that_come_apart():
    """Straight and upright: all that changes along the axis keeps them coming apart, and is a true derivative."""
    given = {"robot": STACK, "tensions": np.full(3, 35.0), **ALONG}
    answer = vb.payload(**given)
    assert answer.modes == ("separation",) * 5
    found = gradients(answer)
    assert all("comes apart" in gradient.notes[0] for gradient in found.values())
    kept = 0
    for number in numeric.numbers_of(given):
        keeps = ("links.mass", "joints.size", "gravity[2]", "azimuths", "robot.tip_point[2]", "joints.friction")
        if number.name.startswith(keeps):
            assert assert_same(number, answer, found) == 5, number.name
            kept += 1
    assert kept > 20
    together = numeric.Number(
        "tensions", 35.0, lambda step: {**given, "tensions": given["tensions"] + step}, lambda g: g.tensions.sum()
    )
    assert assert_same(together, answer, found) == 5
    assert payload_gradient(answer).tensions == pytest.approx(np.ones(3), rel=1e-12)
    # Any other change makes a joint slide, and no change of that size can do more than the derivative says.
    aside = vb.payload(**{**given, "direction": (1e-6, 0, 1)})
    assert aside.mode == "sliding"


def test_two_joints_at_the_same_load():
    weightless = {**ALONG, "gravity": (0, 0, 0), "direction": (0, 0, 1), "moment_per_force": (0, 0, 1.0)}
    answer = vb.payload(STACK, tensions=35.0, **weightless)
    assert answer.modes == ("torsion",) * 5
    gradient = payload_gradient(answer)
    assert gradient.notes == ("the load is also the limit of joints 2, 3, 4, 5; derivatives are those of joint 1",)
    assert payload_gradient(answer, 3).is_smooth


def two_modes(ask, low, high):
    """Answers on either side of where the mode changes between two arguments, as close as numbers are."""
    first, last = ask(low).mode, ask(high).mode
    assert first != last
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (middle, high) if ask(middle).mode == first else (low, middle)
    return ask(low), ask(high)


@pytest.mark.parametrize("rivals", [("socket", "sliding"), ("socket", "torsion"), ("sliding", "torsion")])
def test_two_modes_at_the_same_load(rivals):
    """A rim where the contact slides or twists; a torque with the load that twists the joint as soon as it slides."""
    given = {"bends": 0.0, "azimuths": 0.0, "tensions": 35.0, "direction": DOWN, "gravity": (0, 0, 0)}
    robot = snakes.short(1)
    turned = 0.02 if rivals == ("socket", "torsion") else 0.0

    def ask(value):
        if rivals[0] == "socket":
            return vb.payload(robot, **given, moment_per_force=(0, 0, turned), socket_limit=value)
        return vb.payload(robot, **given, moment_per_force=(0, 0, value))

    both = two_modes(ask, 1e-4, 1.5 if rivals[0] == "socket" else 0.05)
    assert tuple(answer.mode for answer in both) == rivals
    for answer in both:
        (note,) = payload_gradient(answer).notes
        assert "another limit at the same load" in note
    assert payload_gradient(ask(2e-4)).is_smooth


def nearly_touching(excess):
    """A joint pulled off its ball by a load through the centre while 30 N hold it aside: with a dead moment of r sin 30
    N it would only just slide at 105 N, where the contact force is least."""
    centre, sine = (0.0, 0.0, -8.5e-3), 0.58 / math.hypot(1.0, 0.58)
    moment = 6.35e-3 * sine * 30.0 * (1.0 + excess)
    loads = [vb.Load((30.0, 0.0, 0.0), (0.0, moment, 0.0), point=centre)]
    return vb.payload(snakes.short(1), 0.0, 0.0, 35.0, (0, 0, 1), point=centre, gravity=(0, 0, 0), loads=loads)


def test_a_limit_that_is_only_just_touched():
    assert nearly_touching(-1e-6).mode != "sliding"
    answer = nearly_touching(1e-5)
    # F = 105 - sqrt(M^2 - 30^2), M = moment / (r sin).
    gradient, M = payload_gradient(answer), 30.0 * (1.0 + 1e-5)
    by_moment = -M / math.sqrt(M * M - 900.0) / (6.35e-3 * 0.58 / math.hypot(1.0, 0.58))
    assert gradient.is_smooth
    assert gradient.loads[0].moment[1] == pytest.approx(by_moment, rel=1e-9)
    with pytest.raises(InputError, match="only just slides at 105 N") as caught:
        payload_gradient(nearly_touching(1e-13))
    assert caught.value.argument == "payload"


def test_straight_joints_with_cable_friction():
    answer = usual(bends=np.where(np.arange(19) == 1, 0.0, 0.05), friction=0.2)
    limit = payload_gradient(answer, 3)
    assert len(limit.notes) == 1
    assert "straight joint 2;" in limit.notes[0]
    # The mean of both sides, as central differences have it.
    sides = [usual(bends=np.where(np.arange(19) == 1, h, 0.05), friction=0.2).limits[2] for h in (-1e-5, 1e-5)]
    assert (sides[1] - sides[0]) / 2e-5 == pytest.approx(limit.bends[1], rel=1e-4)
    assert payload_gradient(answer, 1).is_smooth
    # A law that starts at 0 has no corner.
    assert payload_gradient(usual(bends=0.0, friction=vb.FrictionLaw.quadratic(0.1, 0.1, 0.0)), 3).is_smooth


def test_cables_without_friction_toward_more_of_it():
    answer = usual()
    gradient = payload_gradient(answer)
    h = 0.02
    for k in range(3):
        for i in range(3):
            there = []
            for step in (0, 1, 2, 3, 4):
                laws = [vb.FrictionLaw.none()] * 3
                laws[k] = vb.FrictionLaw(tuple(np.eye(3)[i] * step * h))
                there.append(usual(friction=laws).limits[gradient.joint - 1])
            slope = (-25 * there[0] + 48 * there[1] - 36 * there[2] + 16 * there[3] - 3 * there[4]) / (12 * h)
            assert gradient.friction[k, i] == pytest.approx(slope, rel=1e-6, abs=1e-10)
            assert gradient.cables["friction"][k, i] == gradient.friction[k, i]


def test_a_law_that_is_a_curve_has_no_coefficients():
    gradient = payload_gradient(usual(friction=[LAWS[2], LAWS[1], LAWS[3]]))
    assert gradient.friction.any(axis=1).tolist() == [False, True, False]
    assert not gradient.cables["friction"].any()
