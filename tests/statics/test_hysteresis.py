"""What friction remembers along a path, and what it costs: hysteresis and work."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.oracles import friction as oracle

import vertebra as vb

Law = vb.FrictionLaw


def light(name: str, **cables: Any) -> vb.Robot:
    """A preset whose cables weigh nothing: then weights have an energy, and work is accounted for to the last joule."""
    mapping = vb.load(name).to_mapping()
    for section in mapping["sections"]:
        section["cables"].update({"linear_density": 0.0, **cables})
    return vb.load(mapping)


A, B, C = (vb.load(f"yang2023-{name}") for name in "abc")
LIGHT_B = light("yang2023-b")


def circle(steps: int) -> np.ndarray:
    """(steps, 4) one loop of tensions of prototype B, N."""
    turn = 2 * np.pi * np.arange(1, steps + 1) / steps
    swing, sway = 4 * np.cos(turn), 2 * np.sin(turn)
    return np.stack([6 + swing, 6 + swing, 3 + sway, 3 + sway], axis=1)


def test_loading_and_unloading_differ() -> None:
    path = vb.ShapePath(B)
    up = path.follow([[t, t, 1, 1] for t in np.linspace(1, 12, 12)])
    down = path.follow([[t, t, 1, 1] for t in np.linspace(11, 1, 11)])
    apart = np.linalg.norm(up.tip[:-1][::-1] - down.tip, axis=1)
    assert apart.max() > 5e-3
    # On the way back the tip lags: it is still bent more.
    assert (down.tip[:, 0] > up.tip[:-1][::-1][:, 0]).all()


def test_without_friction_there_is_no_memory() -> None:
    path = vb.ShapePath(B, friction=0)
    up = path.follow([[t, t, 1, 1] for t in np.linspace(1, 12, 12)])
    down = path.follow([[t, t, 1, 1] for t in np.linspace(11, 1, 11)])
    np.testing.assert_allclose(down.angles, up.angles[:-1][::-1], rtol=0, atol=1e-13)
    assert path.friction_work == 0.0
    assert (path.slip == 0.0).all()


@pytest.mark.parametrize("closure", ["virtual-work", "paper"])
@pytest.mark.parametrize("law", [None, Law.constant(0.3, 1e-4), Law.of(lambda t: 0.1 + t, 1e-6)], ids=repr)
def test_a_loop_of_tensions_ends_in_a_loop_of_the_tip(law: Any, closure: Any) -> None:
    path = vb.ShapePath(B, friction=law, closure=closure)
    first, second, third = (path.follow(circle(60)) for _ in range(3))
    np.testing.assert_allclose(third.tip, second.tip, rtol=0, atol=1e-9)
    assert np.abs(second.tip - first.tip).max() > 1e-5
    works = np.diff([first.friction_work[-1], second.friction_work[-1], third.friction_work[-1]])
    assert works[1] == pytest.approx(works[0], rel=1e-9)
    # The tip encloses an area; it does not go back and forth on a line.
    x, z = second.tip[:, 0], second.tip[:, 2]
    assert abs(np.sum(x * np.roll(z, -1) - z * np.roll(x, -1))) > 1e-7


def spent_in_the_last_cycle(robot: vb.Robot, law: Any, steps: int) -> tuple[float, float]:
    """Work of the actuators by the trapezoidal rule, and work against friction as the path counts it, J."""
    path, rows = vb.ShapePath(robot, friction=law), circle(steps)
    path.follow(rows)
    before, cycle = path.follow(rows), path.follow(rows)
    lengths = np.vstack([before.lengths[-1:], cycle.lengths])
    tensions = np.vstack([rows[-1:], rows])
    given = -float((0.5 * (tensions[1:] + tensions[:-1]) * np.diff(lengths, axis=0)).sum())
    return given, float(cycle.friction_work[-1] - before.friction_work[-1])


@pytest.mark.parametrize("law", [None, Law.constant(0.3, 1e-4)], ids=["own", "constant"])
def test_friction_dissipates_the_work_of_the_actuators_in_a_cycle(law: Any) -> None:
    misses = []
    for steps in (100, 200, 400, 800):
        given, spent = spent_in_the_last_cycle(LIGHT_B, law, steps)
        assert given > 0.0
        assert spent > 0.0
        misses.append(abs(given / spent - 1.0))
    print([f"{miss:.1e}" for miss in misses])
    # Second order: four times closer at half the step, roughly, since slip sets in between steps.
    assert misses[-1] < 1e-4
    assert misses[-1] < misses[0] / 20
    assert misses[0] < 5e-3


def test_work_balances_for_rolling_joints() -> None:
    robot = light("hu2023-prototype")
    path = vb.ShapePath(robot, friction=0.15, gravity=(0, 0, 0))
    turn = 2 * np.pi * np.arange(1, 401) / 400
    rows = 6 + np.stack([2 * np.cos(turn), np.sin(turn), -2 * np.cos(turn), -np.sin(turn)], axis=1)
    path.follow(rows)
    before, cycle = path.follow(rows), path.follow(rows)
    np.testing.assert_allclose(cycle.tip, before.tip, rtol=0, atol=1e-9)
    lengths, tensions = np.vstack([before.lengths[-1:], cycle.lengths]), np.vstack([rows[-1:], rows])
    given = -float((0.5 * (tensions[1:] + tensions[:-1]) * np.diff(lengths, axis=0)).sum())
    spent = float(cycle.friction_work[-1] - before.friction_work[-1])
    assert spent > 0.0
    assert given == pytest.approx(spent, rel=2e-3)


def test_work_is_never_taken_back_beyond_what_presliding_stored() -> None:
    law = Law.quadratic(14, 0.7, 0.105, 1e-6)
    path = vb.ShapePath(B, friction=law)
    rng = np.random.default_rng(1)
    walk = path.follow(rng.uniform(1.0, 12.0, (200, 4)))
    gains = np.diff(np.append(0.0, walk.friction_work))
    stored = 0.5 * 1e-6 * 2 * path.save().history[2].sum()
    assert gains.min() >= -stored
    assert walk.friction_work[-1] > 0.0
    assert (gains > 0.0).mean() > 0.95


def test_within_presliding_everything_is_elastic() -> None:
    """Nothing slips fully, so the way back is the way there, and no work is lost."""
    path = vb.ShapePath(A, friction=Law.quadratic(14, 0.7, 0.105, 1e-2))
    rows = [[2, 2, 1, 1], [4, 3, 1, 2], [6, 2, 2, 2]]
    there = [path.step(row) for row in rows]
    assert 1e-3 < np.abs(there[-1].slip).max() < 1.0
    work = path.friction_work
    assert work > 0.0
    for shape, row in zip(there[-2::-1], rows[-2::-1], strict=True):
        back = path.step(row)
        np.testing.assert_allclose(back.tip, shape.tip, rtol=0, atol=1e-12)
        np.testing.assert_allclose(back.slip, shape.slip, rtol=0, atol=1e-9)
    for row in rows[1:]:
        path.step(row)
    assert path.friction_work == pytest.approx(work, rel=1e-9)


def test_a_small_reversal_after_full_slip_is_elastic() -> None:
    path = vb.ShapePath(B, friction=Law.quadratic(14, 0.7, 0.105, 1e-3))
    loaded = path.step([9.0, 7.0, 1.0, 2.0])
    assert (np.abs(loaded.slip) == 1.0).any()
    work = path.friction_work
    eased = path.step([8.7, 6.8, 1.0, 2.0])
    assert np.abs(eased.tip - loaded.tip).max() > 1e-6
    assert path.friction_work < work
    again = path.step([9.0, 7.0, 1.0, 2.0])
    np.testing.assert_allclose(again.tip, loaded.tip, rtol=0, atol=1e-12)
    assert path.friction_work == pytest.approx(work, abs=1e-15)


def test_steps_are_where_the_oracle_finds_balance() -> None:
    """The history is kept by the oracle for itself."""
    rng = np.random.default_rng(3)
    for closure in ("virtual-work", "paper"):
        path = vb.ShapePath(A, friction=Law.constant(0.3, 1e-4), closure=closure)  # type: ignore[arg-type]
        rules = [oracle.Rule(lambda t: 0.3, 1e-4)] * 4
        question = oracle.Question(A, rules, np.zeros(4), A.gravity, at_discs=closure == "paper")
        q = np.zeros(6)
        for i in range(8):
            pull = rng.uniform(0.0, 12.0, 4)
            question = question.follow(q, pull) if i else oracle.Question(
                A, rules, pull, A.gravity, at_discs=closure == "paper"
            )  # fmt: skip
            shape = path.step(pull)
            q = shape.angles
            assert np.abs(oracle.residual(question, q)).max() <= 1e-10 * shape.moment_scale
            np.testing.assert_allclose(shape.slip, oracle.slips(question, q), rtol=0, atol=1e-9)
            np.testing.assert_allclose(shape.tensions, oracle.tensions(question, q), rtol=1e-9, atol=1e-12)
            np.testing.assert_array_equal(path.slip, shape.slip)


def test_fine_steps_tend_to_one_path() -> None:
    """A step that does not turn back needs no substeps; one that does comes closer with each."""
    ends = []
    for substeps in (1, 4, 16, 64, 256):
        path = vb.ShapePath(B)
        path.step([10, 8, 1, 3], substeps=substeps)
        ends.append(path.step([2, 8, 6, 3], substeps=substeps).tip)
    misses = [float(np.abs(end - ends[-1]).max()) for end in ends[:-1]]
    assert misses[-1] < 1e-5
    assert misses[-1] < misses[0]
