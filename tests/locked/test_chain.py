"""What acts on a locked chain: dead loads and weights, cable friction, joints in a guide."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.locked import snakes
from tests.oracles.ball_chain import Snake

import vertebra as vb

ROBOT = vb.load("cai2023")
DOWN = (0.0, -1.0, 0.0)
SEEDS = range(25)


def bent(seed, joints=19):
    rng = np.random.default_rng(seed)
    return rng.uniform(-0.08, 0.08, joints), rng.uniform(-3, 3, joints), rng.uniform(25, 40, 3)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_part_of_the_load_that_is_always_there_is_missing_from_the_payload(seed):
    rng = np.random.default_rng(seed)
    shape, d, link = bent(seed), rng.normal(size=3), int(rng.integers(1, 20))
    d /= np.linalg.norm(d)
    point, couple = 0.01 * rng.normal(size=3), 0.005 * rng.normal(size=3)
    whole = vb.payload(ROBOT, *shape, d, link, point, couple)
    assert 0.0 < whole.force < np.inf  # something to divide
    part = 0.4 * whole.force
    dead = vb.Load(part * d, part * couple, link, point)
    rest = vb.payload(ROBOT, *shape, d, link, point, couple, loads=[dead])
    assert rest.force == pytest.approx(whole.force - part, rel=1e-9)
    assert (rest.joint, rest.mode) == (whole.joint, whole.mode)
    assert rest.contact.force == pytest.approx(whole.contact.force, abs=1e-9)
    assert rest.contact.moment == pytest.approx(whole.contact.moment, abs=1e-11)
    # In two parts, and in another order.
    halves = [vb.Load(0.2 * whole.force * d, link=link, point=point), vb.Load(moment=part * couple, link=link)]
    halves += [vb.Load(0.2 * whole.force * d, link=link, point=point), vb.Load(link=3), vb.Load((9, 9, 9), link=0)]
    again = vb.payload(ROBOT, *shape, d, link, point, couple, loads=halves[::-1])
    assert again.limits == pytest.approx(rest.limits, rel=1e-9, abs=1e-12)
    # A whole load more than it can carry.
    more = vb.Load(1.001 * whole.force * d, 1.001 * whole.force * couple, link, point)
    assert vb.payload(ROBOT, *shape, d, link, point, couple, loads=more).slips_unloaded


@pytest.mark.parametrize("seed", SEEDS)
def test_weights_are_loads_at_the_centres_of_mass(seed):
    question = snakes.question(np.random.default_rng(2000 + seed))
    gravity = np.array(question.robot.gravity if question.gravity is None else question.gravity)
    weightless = snakes.changed(question.robot, link={"mass": 0.0}, cables={"linear_density": 0.0, "lock_mass": 0.0})
    shape = vb.BallShape(question.bends, question.azimuths)
    masses = vb.Pose(question.robot, shape.coordinates).masses
    frames = vb.Pose(question.robot, shape.coordinates).frames

    def at(link, place):
        """The place of a mass in the frame of a link."""
        return frames[link, :3, :3].T @ (place - frames[link, :3, 3])

    hung = [
        vb.Load(mass * gravity, link=i, point=at(i, masses.links_at[i])) for i, mass in enumerate(masses.links) if i > 0
    ]
    for k, cable in enumerate(question.robot.cables):
        last = int(cable["last_link"])
        hung.append(vb.Load(masses.locks[k] * gravity, link=last, point=at(last, masses.locks_at[k])))
        for j in range(last):
            # Half of what hangs in a gap on either link: the outer half at the hole of entry.
            entry = frames[j + 1] @ [cable["x"], cable["y"], question.robot.segments[k, j]["entry"], 1.0]
            exit_ = 2 * masses.cables_at[k, j] - entry[:3]
            half = 0.5 * masses.cables[k, j] * gravity
            hung.append(vb.Load(half, link=j + 1, point=at(j + 1, entry[:3])))
            hung.append(vb.Load(half, link=j, point=at(j, exit_)))
    own = question.ask()
    as_loads = question.ask(robot=weightless, loads=[*question.loads, *hung])
    assert as_loads.limits == pytest.approx(own.limits, rel=1e-8, abs=1e-12)
    assert as_loads.contact.force == pytest.approx(own.contact.force, abs=1e-9)
    # And the other way: gravity switched off, the same weights as loads.
    no_gravity = question.ask(gravity=(0, 0, 0), loads=[*question.loads, *hung])
    assert no_gravity.limits == pytest.approx(own.limits, rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_the_base_joint_carries_all_that_hangs_beyond_it(seed):
    """Total of `masses`, but for the half of the first gap's cables that the base holds."""
    rng = np.random.default_rng(seed)
    robot = snakes.changed(
        ROBOT, cables={"linear_density": 3e-3, "lock_mass": 4e-4}, link={"center_of_mass": [1e-3, 0, 2e-3]}
    )
    shape = vb.BallShape(rng.uniform(-0.3, 0.3, 19), rng.uniform(-3, 3, 19))
    masses = vb.Pose(robot, shape.coordinates).masses
    g = 9.8 * rng.normal(size=3)
    payload = vb.payload(robot, *shape, 0.0, DOWN, link=0, gravity=g)
    carried = masses.total - 0.5 * masses.cables[:, 0].sum()
    assert payload.contact.force[0] == pytest.approx(-carried * g, rel=1e-12)
    # The moment about the base joint, whose centre is the origin: the lever of the whole less that of the held half.
    table, frames = robot.segments[:, 0], vb.Pose(robot, shape.coordinates).frames
    exits = np.array([frames[0] @ [c["x"], c["y"], s["exit"], 1.0] for c, s in zip(robot.cables, table, strict=True)])[
        :, :3
    ]
    lever = masses.total * masses.center - 0.5 * masses.cables[:, 0] @ exits
    assert payload.contact.moment[0] == pytest.approx(-np.cross(lever, g), abs=1e-15)
    assert masses.cables.sum() > 1e-4


@pytest.mark.parametrize("seed", SEEDS)
def test_joints_beyond_the_loaded_link_do_not_feel_the_load(seed):
    rng = np.random.default_rng(seed)
    shape, d, link = bent(seed), rng.normal(size=3), int(rng.integers(0, 20))
    payload = vb.payload(ROBOT, *shape, d, link, gravity=(0, -1, 0))
    beyond = payload.limits[link:]
    assert set(payload.modes[link:]) <= {"unlimited"} or (beyond[np.isfinite(beyond)] == 0).all()
    unloaded = vb.payload(ROBOT, *shape, d, 0, gravity=(0, -1, 0))
    assert payload.contact.force[link:].tobytes() == unloaded.contact.force[link:].tobytes()
    assert payload.contact.moment[link:].tobytes() == unloaded.contact.moment[link:].tobytes()
    assert unloaded.force in (0.0, math.inf)
    if link > 0 and payload.joint and not payload.slips_unloaded:
        assert payload.joint <= link
        expected = unloaded.contact.force[:link] - payload.force * payload.direction
        assert payload.contact.force[:link] == pytest.approx(expected, abs=1e-12 * (105 + payload.force))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_moment_per_newton_moves_the_point(seed):
    """(p - q) x d is what a force at p has over the same force at q."""
    rng = np.random.default_rng(seed)
    shape, d, link = bent(seed), rng.normal(size=3), int(rng.integers(1, 20))
    d /= np.linalg.norm(d)
    p, q, couple = 0.02 * rng.normal(size=3), 0.02 * rng.normal(size=3), 0.01 * rng.normal(size=3)
    frame = vb.Pose(ROBOT, vb.BallShape(*shape[:2]).coordinates).frames[link, :3, :3]
    there = vb.payload(ROBOT, *shape, d, link, p, couple)
    here = vb.payload(ROBOT, *shape, d, link, q, couple + np.cross(frame @ (p - q), d))
    assert here.limits == pytest.approx(there.limits, rel=1e-9)
    assert here.modes == there.modes


def test_default_points():
    robot = snakes.changed(ROBOT, tip={"length": 0.012}, link={"center_of_mass": [0.001, 0.002, 0.003]})
    shape = bent(3)
    for link, point in (
        (-1, (0, 0, 0.012)),
        (19, (0, 0, 0.012)),
        (7, (0.001, 0.002, 0.003)),
        (-13, (0.001, 0.002, 0.003)),
    ):
        by_default, stated = (vb.payload(robot, *shape, DOWN, link, at) for at in (None, point))
        assert by_default.limits.tobytes() == stated.limits.tobytes()
        assert by_default.link == link % 20


def test_gravity_by_name_and_by_vector():
    shape = bent(4)
    for name, vector in (("ground", (0, 0, -9.8)), ("ceiling", (0, 0, 9.8)), ("wall", (-9.8, 0, 0))):
        named, given = (vb.payload(ROBOT, *shape, DOWN, gravity=g) for g in (name, vector))
        assert named.limits.tobytes() == given.limits.tobytes()
    own, same = vb.payload(ROBOT, *shape, DOWN), vb.payload(ROBOT, *shape, DOWN, gravity=ROBOT.gravity)
    assert own.limits.tobytes() == same.limits.tobytes()
    assert own.force < vb.payload(ROBOT, *shape, DOWN, gravity=(0, 0, 0)).force


def test_the_longer_the_lever_the_smaller_the_load():
    """A pure moment at any link is felt by all joints before it alike."""
    forces = [vb.payload(ROBOT, 0.0, 0.0, 35.0, DOWN, link=link, gravity=(0, 0, 0)).force for link in range(1, 20)]
    assert (np.diff(forces) < 0).all()
    turned = [
        vb.payload(ROBOT, 0.0, 0.0, 35.0, (0, 0, -1), link, moment_per_force=(10, 0, 0), gravity=(0, 0, 0)).limits
        for link in (1, 10, 19)
    ]
    for link, limits in zip((1, 10, 19), turned, strict=True):
        assert limits[:link] == pytest.approx(np.full(link, turned[0][0]), rel=1e-9)
        assert np.isinf(limits[link:]).all()


# Cable friction: the tension left at each joint, and what it does to the payload.


RNG = np.random.default_rng(0)
BENDS, AZIMUTHS = RNG.uniform(-0.15, 0.15, 19), RNG.uniform(-3, 3, 19)
LAW = vb.FrictionLaw.quadratic(14.0, 0.7, 0.105)


def test_tension_falls_by_half_a_bend_at_every_hole():
    payload = vb.payload(ROBOT, BENDS, AZIMUTHS, [30.0, 35.0, 40.0], DOWN, friction=0.2)
    bends = np.abs(BENDS)
    passed = np.cumsum(bends) - 0.5 * bends  # all bends before, and half of this one
    assert payload.tensions == pytest.approx(np.outer([30.0, 35.0, 40.0], np.exp(-0.2 * passed)), rel=1e-14)
    assert payload.tensions[:, 0] == pytest.approx(np.array([30.0, 35.0, 40.0]) * np.exp(-0.1 * bends[0]))


@pytest.mark.parametrize(
    ("friction", "rule"),
    [
        (0.25, 0.25),
        (np.float64(0.25), 0.25),
        (vb.FrictionLaw.constant(0.1), 0.1),
        ([0.0, 0.1, 0.3], [0.0, 0.1, 0.3]),
        (LAW, lambda theta: 14 * theta**2 + 0.7 * theta + 0.105),
        ([0.1, LAW, 0.2], [0.1, lambda theta: 14 * theta**2 + 0.7 * theta + 0.105, 0.2]),
    ],
)
def test_payload_with_friction_against_the_oracle(friction, rule):
    for link in (-1, 8):
        payload = vb.payload(ROBOT, BENDS, AZIMUTHS, [36.0, 34.0, 35.0], DOWN, link, friction=friction)
        snake = Snake(ROBOT, BENDS, AZIMUTHS, [36.0, 34.0, 35.0], friction=rule)
        tensions = [[snake.tension(k, joint) for joint in range(1, 20)] for k in range(3)]
        assert payload.tensions == pytest.approx(np.array(tensions), rel=1e-12)
        assert payload.limits == pytest.approx(snake.limits(DOWN, link), rel=1e-8)


def test_the_law_of_the_file_is_the_default():
    rough = snakes.changed(ROBOT, cables={"friction": 0.15})
    by_file = vb.payload(rough, BENDS, AZIMUTHS, 35.0, DOWN)
    stated = vb.payload(ROBOT, BENDS, AZIMUTHS, 35.0, DOWN, friction=0.15)
    assert by_file.limits.tobytes() == stated.limits.tobytes()
    assert by_file.tensions.tobytes() == stated.tensions.tobytes()
    # A given law takes the place of that of the file.
    smooth = vb.payload(rough, BENDS, AZIMUTHS, 35.0, DOWN, friction=0)
    assert smooth.limits.tobytes() == vb.payload(ROBOT, BENDS, AZIMUTHS, 35.0, DOWN).limits.tobytes()
    assert (smooth.tensions == 35.0).all()


def test_a_straight_snake_loses_nothing():
    smooth, rough = (vb.payload(ROBOT, 0.0, 0.0, 35.0, DOWN, friction=mu) for mu in (0.0, 1.0))
    assert smooth.limits.tobytes() == rough.limits.tobytes()


def test_friction_keeps_the_payload_proportional_to_the_tension():
    forces = [
        vb.payload(ROBOT, BENDS, AZIMUTHS, T, DOWN, gravity=(0, 0, 0), friction=LAW).force / T
        for T in (5.0, 35.0, 80.0)
    ]
    assert forces == pytest.approx([forces[0]] * 3, rel=1e-9)


def test_joints_of_a_second_section_count_the_bends_of_the_first():
    mapping = ROBOT.to_mapping()
    section = mapping["sections"][0]
    mapping["sections"] = [{**section, "joints": 7}, {**section, "joints": 5}]
    robot = vb.load(mapping)
    bends = BENDS[:12]
    payload = vb.payload(robot, bends, AZIMUTHS[:12], 20.0, DOWN, friction=0.3)
    passed = np.cumsum(np.abs(bends)) - 0.5 * np.abs(bends)
    assert payload.tensions[3:] == pytest.approx(np.tile(20.0 * np.exp(-0.3 * passed), (3, 1)))
    assert payload.tensions[:3, :7] == pytest.approx(np.tile(20.0 * np.exp(-0.3 * passed[:7]), (3, 1)))
    # Cables of the first section end there, as in the tensions of a `Shape`.
    assert (payload.tensions[:3, 7:] == 0.0).all()
    snake = Snake(robot, bends, AZIMUTHS[:12], 20.0, friction=0.3)
    assert payload.limits == pytest.approx(snake.limits(DOWN), rel=1e-8)


# Joints in a rigid guide cannot slip, and everything else stays as it was.


@pytest.mark.parametrize("seed", range(20))
def test_a_guide_takes_its_joints_out_of_the_question(seed):
    question = snakes.question(np.random.default_rng(3000 + seed))
    n = len(question.robot.joints)
    free = question.ask()
    for guided in range(n + 1):
        held = question.ask(guided=guided)
        assert np.isinf(held.limits[:guided]).all()
        assert set(held.modes[:guided]) <= {"unlimited"}
        assert held.limits[guided:].tobytes() == free.limits[guided:].tobytes()
        assert held.modes[guided:] == free.modes[guided:]
        assert held.force == held.limits.min()
        assert held.force >= free.force
        assert held.joint == 0 or held.joint > guided
        assert held.reentry > held.force or math.isinf(held.reentry)
    assert question.ask(guided=n).mode == "unlimited"
    assert question.ask(guided=n).contact.force == pytest.approx(question.ask(link=0).contact.force, abs=1e-12)


def test_a_guided_joint_that_slips_is_not_blamed():
    robot = vb.load("cai2023")
    bends = np.zeros(19)
    bends[2] = 0.8
    assert vb.payload(robot, bends, 0.0, 35.0, (0, -1, 0)).joint == 3
    free = vb.payload(robot, bends, 0.0, 35.0, (0, -1, 0), guided=3)
    assert free.force > 1.0
    assert free.joint > 3
    assert vb.payload(robot, bends, 0.0, 35.0, (0, -1, 0), guided=2).slips_unloaded


def test_a_guide_of_k_joints_is_a_snake_that_is_k_joints_shorter():
    """Straight, so that the rest of it stands as it would on a base of its own."""
    robot, short = vb.load("cai2023"), snakes.short(12)
    long = vb.payload(robot, 0.0, 0.0, 35.0, (0.3, -1, 0.1), guided=7)
    cut = vb.payload(short, 0.0, 0.0, 35.0, (0.3, -1, 0.1))
    assert long.limits[7:] == pytest.approx(cut.limits, rel=1e-11)
    assert long.joint == cut.joint + 7


@pytest.mark.parametrize("guided", [np.int64(3), np.int8(3), 3])
def test_numbers_of_guided_joints(guided):
    payload = vb.payload(vb.load("cai2023"), 0.0, 0.0, 35.0, (0, -1, 0), guided=guided)
    assert payload.joint == 4
