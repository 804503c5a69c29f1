"""Dead loads, weights and the place of the load."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.locked import snakes

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
