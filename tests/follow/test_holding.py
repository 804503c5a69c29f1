"""Before a snake is loosened the other one must carry both and the tip load."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.follow.snakes import DOWN, LENGTH, inner, machine, outer, random_commands

import vertebra as vb
from vertebra.follow.journey import FollowTheLeader
from vertebra.follow.plan import cycle_steps
from vertebra.follow.steps import Advance, Bend, Loosen, Snake, Steer, Tighten
from vertebra.locked.payload import Payload

OUT, IN = Snake.OUTER, Snake.INNER
G = 9.8
OUTER_MASS, INNER_MASS = 1.42e-3, 0.5e-3


def heavier(robot: vb.Robot, mass: float) -> vb.Robot:
    """The same snake with links of `mass` kg."""
    mapping = robot.to_mapping()
    mapping["sections"][0]["link"]["mass"] = mass
    return vb.load(mapping)


def out_by(snakes: FollowTheLeader, commands: list[tuple[float, float]]) -> FollowTheLeader:
    snakes.run(cycle_steps(snakes.pair, [Bend(*command) for command in commands]))
    return snakes


def arrays(joints: int, commands: list[tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    """Bends and azimuths of all joints: straight in the guide."""
    padded = np.array([(0.0, 0.0)] * (joints - len(commands)) + list(commands))
    return padded[:, 0], padded[:, 1]


@pytest.mark.parametrize("loose", [OUT, IN])
@pytest.mark.parametrize("load", [(0.0, -0.3, 0.0), (0.1, 0.05, -0.02)])
def test_the_rigid_snake_carries_the_weight_of_both(loose: Snake, load: tuple) -> None:
    """As one snake whose links weigh as much as two: all centres of mass are at the ball centres."""
    commands = random_commands(np.random.default_rng(0), 5)
    snakes = out_by(machine(8, tip_load=load), commands)
    snakes.do(Loosen(loose))
    found = snakes.holdings[-1]
    rigid, tension = (inner(8), 60.0) if loose is OUT else (outer(8), 35.0)
    both = heavier(rigid, OUTER_MASS + INNER_MASS)
    expected = vb.payload(both, *arrays(8, commands), tension, load, gravity=DOWN, guided=3)
    assert found.rigid is loose.other
    assert found.force == pytest.approx(expected.force, rel=1e-9)
    assert (found.joint, found.payload.mode) == (expected.joint, expected.mode)
    assert found.wanted == pytest.approx(np.linalg.norm(load))
    assert found.margin == pytest.approx(expected.force - found.wanted)
    assert found.weight == pytest.approx(5 * G * (OUTER_MASS + INNER_MASS), rel=1e-12)
    assert found.joint > 3, "joints in the guide cannot slip"


def test_an_outer_snake_that_is_ahead_hangs_on_the_last_link_of_the_inner_one() -> None:
    """Its last link and the tip load reach beyond: a force and a moment on the last link of the inner snake."""
    commands, ahead = random_commands(np.random.default_rng(1), 4), (0.25, 2.0)
    load = np.array([0.1, -0.2, 0.05])
    snakes = out_by(machine(8, tip_load=load), commands)
    snakes.run([Loosen(OUT), Advance(OUT), Steer(*ahead)])
    found = snakes.holdings[-1]
    rotation = Rotation.identity()
    for bend, azimuth in [*commands, ahead]:
        rotation = rotation * Rotation.from_rotvec(bend * np.array([-math.sin(azimuth), math.cos(azimuth), 0.0]))
    reach = rotation.apply([0, 0, LENGTH])  # from the last ball of the inner snake to that of the outer one
    weight, direction = OUTER_MASS * np.array(DOWN), load / np.linalg.norm(load)
    expected = vb.payload(
        heavier(inner(8), OUTER_MASS + INNER_MASS), *arrays(8, commands), 60.0, direction, point=(0, 0, 0),
        moment_per_force=np.cross(reach, direction), gravity=DOWN, guided=4,
        loads=[vb.Load(force=weight, moment=np.cross(reach, weight), point=(0, 0, 0))],
    )  # fmt: skip
    assert found.force == pytest.approx(expected.force, rel=1e-9)
    assert found.joint == expected.joint
    assert found.weight == pytest.approx(G * (5 * OUTER_MASS + 4 * INNER_MASS), rel=1e-12)


def test_cables_and_locks_of_the_loose_snake_weigh_too() -> None:
    def roped(robot: vb.Robot) -> vb.Robot:
        mapping = robot.to_mapping()
        mapping["sections"][0]["cables"] |= {"linear_density": "20 g/m", "lock_mass": "0.4 g"}
        return vb.load(mapping)

    snakes = FollowTheLeader(roped(outer(6)), roped(inner(6)), outer_tensions=35, inner_tensions=60)
    out_by(snakes, [(0.2, 0.5), (0.1, -1.0)])
    plain = out_by(machine(6), [(0.2, 0.5), (0.1, -1.0)])
    for loose in (IN, OUT):
        for machine_ in (snakes, plain):
            machine_.do(Loosen(loose))
        heavy, light = snakes.holdings[-1], plain.holdings[-1]
        q = np.array([Bend(0.2, 0.5).vector, Bend(0.1, -1.0).vector])
        weight = G * sum(vb.Pose(roped(robot(2)), q).masses.total for robot in (outer, inner))
        assert heavy.weight == pytest.approx(weight, rel=1e-12)
        assert heavy.force < light.force
        for machine_ in (snakes, plain):
            machine_.do(Tighten(loose))


def test_low_tension_is_refused_by_joint_and_changes_nothing() -> None:
    """The refusal says how much of the weights is carried, which the payload of one heavy snake confirms."""
    commands = [(0.1, 0.0)] * 7
    snakes = machine(8, outer_tensions=0.3)
    steps = list(cycle_steps(snakes.pair, [Bend(*command) for command in commands]))
    with pytest.raises(vb.Infeasible) as caught:
        snakes.run(steps)
    error, state = caught.value, snakes.state
    number = len(snakes.steps)
    assert steps[number] in (Loosen(IN), Advance(IN))
    assert f"step {number + 1}, {steps[number]}: the rigid outer snake would give way at joint {error.joint}" in str(
        error
    )
    assert "raise outer_tensions" in str(error)
    assert isinstance(error.result, Payload)
    assert (error.joint, error.constraint) == (error.result.joint, error.result.mode)
    with pytest.raises(vb.Infeasible):
        snakes.do(steps[number])
    assert snakes.state is state
    assert len(snakes.steps) == number == len(snakes.holdings)
    assert snakes.allowed, "other steps are possible still"
    again = pickle.loads(pickle.dumps(error))
    assert (again.joint, again.amount) == (error.joint, error.amount)


def test_how_much_is_missing_of_the_weights() -> None:
    commands, tension = [(0.1, 0.0)] * 4, 0.12
    snakes = machine(8, outer_tensions=tension, check=False)
    out_by(snakes, commands)
    checked = machine(8, outer_tensions=tension, state=snakes.state)
    with pytest.raises(vb.Infeasible, match="% of the weights") as caught:
        checked.do(Loosen(IN))
    weight = 4 * G * (OUTER_MASS + INNER_MASS)
    part = 1.0 - caught.value.amount / weight
    assert 0 < part < 1
    both = heavier(outer(8), OUTER_MASS + INNER_MASS)
    for scale, slips in ((0.999 * part, False), (1.001 * part, True)):
        gravity = scale * np.array(DOWN)
        held = vb.payload(both, *arrays(8, commands), tension, DOWN, gravity=gravity, guided=4)
        assert held.slips_unloaded is slips


def test_a_tip_load_that_is_too_much() -> None:
    commands = [(0.1, 0.0)] * 5
    strong = out_by(machine(8), commands)
    strong.do(Loosen(IN))
    force = strong.holdings[-1].force
    weak = machine(8, tip_load=(0.0, -1.01 * force, 0.0), state=strong.states[-2])
    with pytest.raises(vb.Infeasible, match="N is wanted") as caught:
        weak.do(Loosen(IN))
    assert caught.value.amount == pytest.approx(0.01 * force, rel=1e-6)
    assert caught.value.joint == strong.holdings[-1].joint
    machine(8, tip_load=(0.0, -0.99 * force, 0.0), state=strong.states[-2]).do(Loosen(IN))


def test_sharp_bends_slip_under_their_own_cables() -> None:
    snakes = machine(8, gravity=(0, 0, 0))
    steps = [Loosen(OUT), Advance(OUT), Steer(1.3, 0.0), Tighten(OUT)]
    snakes.run(steps)
    with pytest.raises(vb.Infeasible, match="under its own cables; bend less there, or pull its cables unequally"):
        snakes.do(Loosen(IN))


def test_without_tension_nothing_holds() -> None:
    snakes = machine(8, outer_tensions=0)
    snakes.run([Loosen(OUT), Advance(OUT), Tighten(OUT)])
    with pytest.raises(vb.Infeasible, match="raise outer_tensions"):
        snakes.do(Loosen(IN))


def test_without_check_the_journey_goes_on_and_shows_it() -> None:
    snakes = out_by(machine(8, outer_tensions=0.01, check=False), [(0.1, 0.0)] * 3)
    assert len(snakes.steps) == 21
    by_snake = {snake: [h.holds for h in snakes.holdings if h is not None and h.rigid is snake] for snake in Snake}
    assert not any(by_snake[OUT])
    assert all(by_snake[IN])
    assert "outer does not hold" in repr(next(h for h in snakes.holdings if h is not None and h.rigid is OUT))


def test_the_guide_holds_a_snake_that_is_all_inside() -> None:
    snakes = machine(8)
    snakes.run([Loosen(OUT), Advance(OUT)])
    assert [found.force for found in snakes.holdings] == [math.inf, math.inf]
    assert all(found.holds for found in snakes.holdings)
    assert snakes.holdings[0].joint == 0


def test_nothing_to_carry() -> None:
    snakes = out_by(machine(8, gravity=(0, 0, 0)), [(0.1, 0.0)] * 3)
    found = snakes.holdings[-2]
    assert (found.wanted, found.weight) == (0, 0)
    assert found.force > 0


def test_gravity_is_that_of_the_outer_robot_unless_given() -> None:
    np.testing.assert_array_equal(machine(2).pair.gravity, DOWN)
    np.testing.assert_array_equal(machine(2, gravity="ceiling").pair.gravity, (0, 0, 9.8))


def test_an_unsound_start_is_refused() -> None:
    loose = out_by(machine(8), [(0.1, 0.0)] * 4)
    loose.do(Loosen(IN))
    with pytest.raises(vb.Infeasible, match=r"^start: the rigid outer snake"):
        machine(8, outer_tensions=0.01, state=loose.state)


@pytest.mark.parametrize(
    ("change", "argument", "words"),
    [
        ({"outer_tensions": -1}, "outer_tensions", "can only pull"),
        ({"inner_tensions": [1, 2]}, "inner_tensions", "must be one number, or 3"),
        ({"tip_load": (1, 2)}, "tip_load", "three numbers"),
        ({"gravity": "moon"}, "gravity", "ground"),
        ({"inner": lambda: inner(8, length=9e-3)}, "inner", "9 mm long, those of the outer snake 8.5 mm"),
        ({"inner": lambda: vb.load("hu2023-prototype")}, "inner", "ball joints"),
        ({"outer": lambda: 3.0}, "outer", "must be a Robot, as vertebra.load returns, .* not 3.0"),
    ],
)
def test_wrong_arguments_are_named(change: dict, argument: str, words: str) -> None:
    given = {"outer": outer(8), "inner": inner(8), "outer_tensions": 1, "inner_tensions": 1}
    given |= {name: value() if callable(value) else value for name, value in change.items()}
    with pytest.raises(vb.InputError, match=words) as caught:
        FollowTheLeader(given.pop("outer"), given.pop("inner"), **given)
    assert caught.value.argument == argument


def test_links_of_different_lengths_cannot_follow_each_other() -> None:
    mapping = outer(2).to_mapping()
    long = {**mapping["sections"][0], "link": {**mapping["sections"][0]["link"], "length": "9 mm"}}
    robot = vb.load({**mapping, "sections": [{k: v for k, v in long.items() if k != "cables"}, mapping["sections"][0]]})
    with pytest.raises(vb.InputError, match=r"8.5 to 9 mm long; all must be equal"):
        FollowTheLeader(robot, inner(2), outer_tensions=1, inner_tensions=1)


def test_a_snake_without_cables_cannot_be_locked() -> None:
    mapping = inner(2).to_mapping()
    mapping["sections"][0].pop("cables")
    with pytest.raises(vb.InputError, match="no cables to lock it"):
        FollowTheLeader(outer(2), vb.load(mapping), outer_tensions=1, inner_tensions=1)
