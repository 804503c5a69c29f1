"""Which steps are possible, and what no sequence of steps may ever break."""

from __future__ import annotations

import math
import os
from itertools import pairwise

import numpy as np
import pytest
from tests.follow.snakes import inner, machine, outer

import vertebra as vb
from vertebra.follow.journey import FollowTheLeader
from vertebra.follow.plan import cycle_steps
from vertebra.follow.state import Lock, PairState, broken_rules, undo
from vertebra.follow.steps import Advance, Bend, Loosen, Retract, Snake, Steer, Tighten

SEQUENCES = 10_000 if os.environ.get("VERTEBRA_SOAK") == "1" else 300
OUT, IN = Snake.OUTER, Snake.INNER
LIMIT = math.pi / 2


class Model:
    """The rules written independently: lists that are pushed and popped, and sets of loose snakes."""

    def __init__(self, joints: int, inner_joints: int) -> None:
        self.joints = {OUT: joints, IN: inner_joints}
        self.bends: dict[Snake, list[Bend]] = {OUT: [], IN: []}
        self.loose: set[Snake] = set()

    def try_step(self, step: object) -> bool:
        """Whether the step is legal; done when it is."""
        if isinstance(step, Loosen):
            legal = not self.loose
            self.loose |= {step.snake} if legal else set()
        elif isinstance(step, Tighten):
            legal = step.snake in self.loose
            self.loose -= {step.snake}
        elif isinstance(step, Steer):
            legal = OUT in self.loose and len(self.bends[OUT]) > len(self.bends[IN]) and abs(step.bend) <= LIMIT
            if legal:
                self.bends[OUT][-1] = Bend(step.bend, step.azimuth)
        else:
            assert isinstance(step, Advance | Retract)
            legal = step.snake in self.loose and self._slide(step)
        return legal

    def _slide(self, step: Advance | Retract) -> bool:
        counts = {snake: len(bends) for snake, bends in self.bends.items()}
        counts[step.snake] += 1 if isinstance(step, Advance) else -1
        if not (0 <= counts[step.snake] <= self.joints[step.snake] and counts[OUT] - counts[IN] in (0, 1)):
            return False
        if isinstance(step, Retract):
            self.bends[step.snake].pop()
        else:
            self.bends[step.snake].append(self.bends[OUT][counts[IN] - 1] if step.snake is IN else Bend(0.0, 0.0))
        return True


def assert_invariants(state: PairState, joints: int, inner_joints: int) -> None:
    assert state.lock in (Lock.BOTH_RIGID, Lock.OUTER_LOOSE, Lock.INNER_LOOSE), "never both loose"
    assert 0 <= len(state.outer) - len(state.inner) <= 1
    assert state.outer[: len(state.inner)] == state.inner, "the common prefix is identical"
    assert len(state.outer) <= joints
    assert len(state.inner) <= inner_joints
    assert all(abs(bend.bend) <= LIMIT for bend in state.outer)


def onward(model: Model) -> object:
    """The step that leads farther out, or at least ends what was begun."""
    ahead = len(model.bends[OUT]) - len(model.bends[IN])
    turn = IN if ahead else OUT
    if not model.loose:
        return Loosen(turn)
    return Advance(turn) if turn in model.loose else Tighten(turn.other)


def random_step(rng: np.random.Generator, model: Model | None = None) -> object:
    if model is not None and rng.random() < 0.4:
        return onward(model)
    kind = rng.integers(5)
    if kind == 4:
        bend = float(rng.uniform(-0.35, 0.35)) if rng.random() < 0.9 else float(rng.choice([-1, 1]) * (LIMIT + 0.01))
        return Steer(bend, float(rng.uniform(-math.pi, math.pi)))
    return (Loosen, Tighten, Advance, Retract)[kind](Snake.OUTER if rng.random() < 0.5 else Snake.INNER)


@pytest.mark.parametrize("inner_joints", [2, 4, 6])
def test_random_steps_keep_every_rule(inner_joints: int) -> None:
    """Legal steps do what the model does, illegal ones are refused and change nothing; both occur often."""
    rng, joints, tally = np.random.default_rng(inner_joints), 4, {True: 0, False: 0}
    farthest = 0
    for _ in range(SEQUENCES // 3 + 1):
        snakes, model = machine(joints, inner_joints), Model(joints, inner_joints)
        for _ in range(int(rng.integers(20, 60))):
            step, before, count = random_step(rng, model), snakes.state, len(snakes.steps)
            legal = model.try_step(step)
            tally[legal] += 1
            if legal:
                after = snakes.do(step)
                changed = [place for place in range(len(after.inner)) if after.outer[place] != before.outer[place]]
                assert not changed, "steering changes the newest joint of the outer snake only"
            else:
                with pytest.raises((vb.InputError, vb.OutOfRange)):
                    snakes.do(step)
                assert snakes.state is before
                assert len(snakes.steps) == count
            state = snakes.state
            assert_invariants(state, joints, inner_joints)
            assert list(state.outer) == model.bends[OUT]
            assert list(state.inner) == model.bends[IN]
            assert ({state.loose} - {None}) == model.loose
            farthest = max(farthest, len(state.outer))
    assert min(tally.values()) > SEQUENCES
    assert farthest == min(joints, inner_joints + 1), "all the way out"


def test_a_random_walk_is_undone_exactly() -> None:
    """Step by step through the same states, and in one go to the start; joints that were steered twice included."""
    rng, steered_twice = np.random.default_rng(5), 0
    for _ in range(40):
        snakes, model = machine(4), Model(4, 4)
        for _ in range(60):
            step = random_step(rng, model)
            if model.try_step(step):
                snakes.do(step)
        steered_twice += any(isinstance(a, Steer) and isinstance(b, Steer) for a, b in pairwise(snakes.steps))
        again = machine(4, state=snakes.state)
        for state, step in zip(snakes.states[-2::-1], snakes.steps[::-1], strict=True):
            assert again.run(undo(state, step)) == state
        assert snakes.run(snakes.way_back()) == PairState()
    assert steered_twice > 5


def test_a_whole_cycle() -> None:
    snakes = machine(3)
    bend = Bend(0.2, 1.0)
    steps = list(cycle_steps(snakes.pair, [bend]))
    assert [str(step) for step in steps] == [
        "loosen outer", "advance outer", "steer 11.46 deg toward azimuth 57.3 deg", "tighten outer",
        "loosen inner", "advance inner", "tighten inner",
    ]  # fmt: skip
    states = [snakes.do(step) for step in steps]
    assert [state.lock for state in states] == [
        *(Lock.OUTER_LOOSE,) * 3, Lock.BOTH_RIGID, *(Lock.INNER_LOOSE,) * 2, Lock.BOTH_RIGID,
    ]  # fmt: skip
    assert states[1].outer == (Bend(0.0, 0.0),)
    assert states[-1].outer == states[-1].inner == (bend,)


def test_the_way_back_is_inner_first() -> None:
    snakes = machine(3)
    snakes.run(cycle_steps(snakes.pair, [Bend(0.2, 1.0)]))
    assert [str(step) for step in snakes.way_back()] == [
        "loosen inner", "retract inner", "tighten inner", "loosen outer", "steer straight", "retract outer",
        "tighten outer",
    ]  # fmt: skip
    snakes.run(snakes.way_back())
    assert snakes.state == PairState()


@pytest.mark.parametrize(
    ("done", "step", "why"),
    [
        ([], Advance(OUT), "the outer snake is rigid; loosen it first"),
        ([Loosen(OUT)], Loosen(IN), "one of the two must hold"),
        ([Loosen(OUT)], Steer(0.1, 0), "where the inner one is; advance it first"),
        ([Loosen(OUT), Advance(OUT)], Advance(OUT), "let the inner one follow"),
        ([Loosen(OUT)], Retract(OUT), "the inner snake is out as far; retract it first"),
        ([Loosen(IN)], Advance(IN), "as far as the outer one"),
        ([Loosen(IN)], Retract(IN), "all inside the guide"),
        ([], Steer(0.1, 0), "only a loose outer snake"),
        ([], Tighten(IN), "the inner snake is rigid already"),
        ([], "advance", "must be Loosen, Tighten, Advance, Retract or Steer, not str"),
    ],
)
def test_illegal_steps_say_the_state_and_what_is_allowed(done: list, step: object, why: str) -> None:
    snakes = machine(2)
    snakes.run(done)
    before = snakes.state
    with pytest.raises(vb.InputError) as caught:
        snakes.do(step)
    assert caught.value.argument == str(step)
    assert why in str(caught.value)
    assert repr(before) in str(caught.value)
    assert ", ".join(snakes.allowed) in str(caught.value)
    assert snakes.state is before


def test_what_is_allowed() -> None:
    snakes = machine(2)
    assert snakes.allowed == ("loosen outer", "loosen inner")
    snakes.run([Loosen(OUT), Advance(OUT)])
    assert snakes.allowed == ("tighten outer", "retract outer", "steer")


@pytest.mark.parametrize(("inner_joints", "reach", "short"), [(5, 4, "outer"), (3, 4, "outer"), (2, 3, "inner")])
def test_a_short_inner_snake_limits_the_outer_one(inner_joints: int, reach: int, short: str) -> None:
    snakes = machine(4, inner_joints)
    assert snakes.pair.reach == reach
    snakes.run(cycle_steps(snakes.pair, [Bend(0.1, 0.0)] * reach))
    assert (len(snakes.state.outer), len(snakes.state.inner)) == (reach, min(reach, inner_joints))
    snakes.do(Loosen(OUT))
    with pytest.raises(vb.InputError, match=f"all links that the {short} snake allows are out|one link ahead already"):
        snakes.do(Advance(OUT))


def test_steering_beyond_a_limit_names_the_snake() -> None:
    for robots, owner, limit in (
        ((outer(3), inner(3)), "no link slides around a sharper corner", 90),
        ((outer(3, limit=20.0), inner(3)), "the limit of the outer snake", 20),
        ((outer(3), inner(3, limit=15.0)), "the limit of the inner snake", 15),
        ((outer(3, limit=120.0), inner(3, limit=120.0)), "no link slides around a sharper corner", 90),
    ):
        snakes = FollowTheLeader(*robots, outer_tensions=35, inner_tensions=60)
        snakes.run([Loosen(OUT), Advance(OUT)])
        before = snakes.state
        with pytest.raises(vb.OutOfRange, match="steering at place 1 from the entry"):
            snakes.do(Steer(-math.radians(limit) - 1e-6, 0.0))
        with pytest.raises(vb.OutOfRange, match="steering at place 1 from the entry") as caught:
            snakes.do(Steer(math.radians(limit) + 1e-6, 0.0))
        assert (caught.value.joint, math.degrees(caught.value.limit)) == (3, pytest.approx(limit))
        assert owner in str(caught.value)
        assert snakes.state is before
        snakes.do(Steer(-caught.value.limit, 0.3))


def test_joints_with_other_limits_cannot_take_the_place() -> None:
    """The last section bends far, the first one does not: its joints cannot follow into a sharp corner."""
    mapping = outer(2).to_mapping()
    stiff = {**mapping["sections"][0], "joints": 1}
    stiff = {**stiff, "joint": {**stiff["joint"], "limit": "5 deg"}}
    stiff.pop("cables")
    robot = vb.load({**mapping, "sections": [stiff, mapping["sections"][0]]})
    snakes = FollowTheLeader(robot, inner(3), outer_tensions=35, inner_tensions=60)
    snakes.run(cycle_steps(snakes.pair, [Bend(0.2, 0.0), Bend(0.2, 0.0)]))
    snakes.do(Loosen(OUT))
    before = snakes.state
    with pytest.raises(vb.OutOfRange, match="advance outer: that joint of the outer snake cannot take") as caught:
        snakes.do(Advance(OUT))
    assert (caught.value.joint, snakes.state) == (1, before)


@pytest.mark.parametrize(
    ("state", "rule"),
    [
        (PairState(Lock.BOTH_RIGID, (Bend(0, 0),) * 2, ()), "one link more, not 2"),
        (PairState(Lock.BOTH_RIGID, (), (Bend(0, 0),)), "not 0 links where the inner has 1"),
        (PairState(Lock.BOTH_RIGID, (Bend(0.1, 0),), (Bend(0.2, 0),)), "not at place 1"),
        (PairState(Lock.BOTH_RIGID, (Bend(0, 0),) * 3, (Bend(0, 0),) * 3), "has 2 joints, not 3"),
        (PairState(Lock.BOTH_RIGID, (Bend(1.6, 0),), (Bend(1.6, 0),)), "bent by 1.6 rad"),
        (PairState("both loose"), "lock must be one of"),
    ],
)
def test_unsound_states_are_refused(state: PairState, rule: str) -> None:
    assert any(rule in text for text in broken_rules(machine(2).pair, state))
    with pytest.raises(vb.InputError, match=rule):
        machine(2, state=state)


def test_a_machine_goes_on_from_a_state() -> None:
    first = machine(3)
    first.run(cycle_steps(first.pair, [Bend(0.2, 1.0)]))
    second = machine(3, state=first.state)
    assert second.state == first.state
    assert second.do(Loosen(IN)).lock is Lock.INNER_LOOSE
    assert "1 links of the outer" in repr(second)


@pytest.mark.parametrize("step", [lambda: Steer(math.nan, 0.0), lambda: Steer("a", 0), lambda: Advance("both")])
def test_steps_check_themselves(step) -> None:
    with pytest.raises(vb.InputError):
        step()
