"""Universal joints: the pins they are in one plane, cables that bend at both platforms, all questions of statics."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from tests.oracles import friction as oracle
from tests.oracles import mirror_chain, statics
from tests.oracles.statics import Elastic
from tests.robots import ROLLING, UNIVERSAL, cables, robot, section, universals
from tests.statics.cases import Case, random_case
from tests.statics.test_branches import Scaled, assert_sound, dense_stable_range
from tests.statics.test_oracles_agree import UNIVERSAL_MIXES

import vertebra as vb
from vertebra.mechanics.problem import Problem, Workspace
from vertebra.statics import stable_tensions
from vertebra.statics.hold import RANK
from vertebra.statics.shape import Status
from vertebra.statics.tip_search import TipGoal, TipSearch

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
SEEDS = range(120 if SOAK else 8)


def universal_case(seed: int, **options: Any) -> Case:
    rng = np.random.default_rng([61, seed])
    kinds = UNIVERSAL_MIXES[seed % len(UNIVERSAL_MIXES)]
    return random_case(rng, kinds, int(rng.integers(len(kinds), 9)), **options)


# A universal joint in the middle of its gap, bent in one plane, is a pin there ---------------------------------------

HALF, LINK = 0.006, 0.008
"""m: from a face of the pin robot to its pin, and length of its links."""
MIDDLE = HALF + LINK / 2
CENTRE = 0.3 * LINK


def twins(order: str, joints: int = 4, **cables: Any) -> tuple[vb.Robot, vb.Robot]:
    """Pins whose holes are in the middle of their links, and universal joints between platforms there."""
    spring, damping = {"stiffness": 0.2}, {"damping": 2e-4}
    inert = {"mass": 0.004, "inertia": [3e-7, 4e-7, 2e-7]}
    ring = {"radius": 0.005, "azimuth": ["0 deg", "90 deg", "180 deg", "270 deg"], "lock_mass": 0.0007, **cables}
    pin = section(
        joints,
        {"kind": "pin", "length": 2 * HALF, **spring, **damping},
        {"length": LINK, "center_of_mass": CENTRE, **inert},
        ["0 deg"],
        {**ring, "holes": {"recess": LINK / 2}},
    )
    universal = section(
        joints,
        {"kind": "universal", "order": order, "lower": MIDDLE, **spring, **damping},
        {"length": MIDDLE, "center_of_mass": CENTRE + HALF, **inert},
        cables=ring,
    )
    pins = robot("pins", pin, base=0.02, tip=0.003)
    return pins, robot("universals", universal, base=0.02 - LINK / 2, tip=0.003 + LINK / 2)


def in_plane(order: str, angles: np.ndarray) -> np.ndarray:
    """(..., joints) angles about y of a universal robot; those about x must be zero."""
    bent = 0 if order == "yx" else 1
    np.testing.assert_allclose(angles[..., 1 - bent :: 2], 0.0, rtol=0, atol=1e-12)
    return angles[..., bent::2]


def lifted(order: str, angles: np.ndarray) -> np.ndarray:
    """A pose of the universal robot bent in the plane."""
    out = np.zeros((*angles.shape[:-1], 2 * angles.shape[-1]))
    out[..., (0 if order == "yx" else 1) :: 2] = angles
    return out


def shifted(loads: tuple[vb.Load, ...]) -> tuple[vb.Load, ...]:
    """The same loads on universal joints, whose links begin in the middle of the gap."""
    moved = [None if load.point is None else np.add(load.point, (0, 0, HALF)) for load in loads]
    return tuple(
        vb.Load(force=load.force, moment=load.moment, link=load.link, point=point)
        for load, point in zip(loads, moved, strict=True)
    )


TWIN_LOADS = (
    vb.Load(force=(0.3, 0.0, -0.2), moment=(0.0, 0.004, 0.0)),
    vb.Load(force=(-0.1, 0.0, 0.15), link=2, point=(0.002, 0.0, 0.004)),
)
TWIN_GRAVITY = (4.0, 0.0, -7.0)
TWIN_PULLS = np.array([[3.0, 2.0, 1.0, 2.0], [1.0, 3.0, 4.0, 3.0], [0.5, 0.0, 2.5, 0.0]])
both_orders = pytest.mark.parametrize("order", ["yx", "xy"])
both_densities = pytest.mark.parametrize("density", [0.0, 0.03])


def assert_twins(order: str, pin: vb.statics.Shape, universal: vb.statics.Shape) -> None:
    np.testing.assert_allclose(in_plane(order, universal.angles), pin.angles, rtol=0, atol=1e-12)
    np.testing.assert_allclose(universal.tip, pin.tip, rtol=0, atol=1e-13)
    np.testing.assert_allclose(universal.lengths, pin.lengths, rtol=1e-13)
    np.testing.assert_allclose(universal.tensions, pin.tensions, rtol=1e-11, atol=1e-12)
    plane = np.ix_([0, 2, 4], [0, 2, 4])
    size = np.abs(pin.compliance).max()
    np.testing.assert_allclose(universal.compliance[plane], pin.compliance[plane], rtol=0, atol=1e-11 * size)


@both_densities
@both_orders
def test_bent_in_one_plane_a_universal_robot_is_a_pin_robot(order: str, density: float) -> None:
    pins, universal = twins(order, linear_density=density)
    for pull in TWIN_PULLS:
        one = vb.shape_from_tensions(pins, pull, gravity=TWIN_GRAVITY, loads=TWIN_LOADS)
        other = vb.shape_from_tensions(universal, pull, gravity=TWIN_GRAVITY, loads=shifted(TWIN_LOADS))
        assert np.abs(one.angles).max() > 0.05
        assert_twins(order, one, other)
        assert other.energy == pytest.approx(one.energy, rel=1e-12)
        held = {"stiffness_EA": 800.0, "gravity": TWIN_GRAVITY}
        rest = one.lengths / (1 + pull / 800.0)
        one = vb.shape_from_lengths(pins, rest, loads=TWIN_LOADS, **held)
        other = vb.shape_from_lengths(universal, rest, loads=shifted(TWIN_LOADS), **held)
        np.testing.assert_allclose(one.tensions_at_base, pull, rtol=0, atol=1e-8)
        np.testing.assert_allclose(in_plane(order, other.angles), one.angles, rtol=0, atol=1e-12)


@both_orders
def test_friction_of_a_universal_robot_in_one_plane_is_that_of_a_pin_robot(order: str) -> None:
    pins, universal = twins(order, linear_density=0.03)
    law = vb.FrictionLaw.quadratic(3.0, 0.7, 0.105, 1e-5)
    paths = [
        vb.ShapePath(pins, gravity=TWIN_GRAVITY, loads=TWIN_LOADS, friction=law),
        vb.ShapePath(universal, gravity=TWIN_GRAVITY, loads=shifted(TWIN_LOADS), friction=law),
    ]
    for pull in (*TWIN_PULLS, *TWIN_PULLS[::-1]):
        one, other = (path.step(pull) for path in paths)
        # Slip over the presliding of 0.01 mm takes five digits from the lengths.
        np.testing.assert_allclose(in_plane(order, other.angles), one.angles, rtol=0, atol=1e-10)
        np.testing.assert_allclose(other.slip, one.slip, rtol=0, atol=1e-7)
        np.testing.assert_allclose(other.tensions, one.tensions, rtol=1e-7, atol=1e-9)
        assert np.ptp(one.tensions[0]) > 0.02 * pull[0]
    assert paths[1].friction_work == pytest.approx(paths[0].friction_work, rel=1e-6)


@both_densities
@both_orders
def test_a_universal_robot_moves_in_one_plane_as_a_pin_robot(order: str, density: float) -> None:
    pins, universal = twins(order, linear_density=density)
    rng = np.random.default_rng(7)
    n = len(pins.joints)
    q, qd, qdd = rng.uniform(-0.5, 0.5, n), rng.normal(0.0, 3.0, n), rng.normal(0.0, 30.0, n)
    about, shift = (
        {"gravity": TWIN_GRAVITY, "loads": TWIN_LOADS},
        {"gravity": TWIN_GRAVITY, "loads": shifted(TWIN_LOADS)},
    )
    state = lifted(order, q), lifted(order, qd)
    tau = vb.inverse_dynamics(pins, q, qd, qdd, **about)
    both = vb.inverse_dynamics(universal, *state, lifted(order, qdd), **shift)
    np.testing.assert_allclose(in_plane(order, both), tau, rtol=0, atol=1e-12 * np.abs(tau).max())
    M, rows = vb.mass_matrix(pins, q), np.arange(0 if order == "yx" else 1, 2 * n, 2)
    np.testing.assert_allclose(vb.mass_matrix(universal, state[0])[np.ix_(rows, rows)], M, rtol=0, atol=1e-12 * M.max())
    rise = vb.forward_dynamics(pins, q, qd, TWIN_PULLS[0], **about)
    both = vb.forward_dynamics(universal, *state, TWIN_PULLS[0], **shift)
    np.testing.assert_allclose(both[rows], rise, rtol=0, atol=1e-11 * np.abs(rise).max())
    run = {"duration": 0.02, "dt": 2e-4}
    one = vb.simulate(pins, TWIN_PULLS[0], q0=q, qd0=qd, **about, **run)
    other = vb.simulate(universal, TWIN_PULLS[0], q0=state[0], qd0=state[1], **shift, **run)
    np.testing.assert_allclose(other.q.values[:, rows], one.q.values, rtol=0, atol=1e-9)
    np.testing.assert_allclose(other.q.values[:, rows ^ 1], 0.0, rtol=0, atol=1e-9)


# Cables with friction -------------------------------------------------------------------------------------------------


def rough_case(seed: int) -> tuple[Case, list[vb.FrictionLaw], oracle.Question]:
    """Laws of several kinds; steep ones would lock cables that bend by tens of degrees."""
    case = universal_case(seed, loads=1)
    rng = np.random.default_rng([62, seed])
    presliding = 10 ** rng.uniform(-6.0, -4.0, len(case.tensions))
    laws = [
        vb.FrictionLaw.constant(0.3, d) if k % 2 else vb.FrictionLaw.quadratic(2.0, 0.4, 0.1, d)
        for k, d in enumerate(presliding)
    ]
    rules = [oracle.Rule(law, law.presliding) for law in laws]
    return case, laws, oracle.Question(case.robot, rules, case.tensions, case.field, case.loads)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_step_of_a_path_balances_by_the_oracle(seed: int) -> None:
    case, laws, check = rough_case(seed)
    rng = np.random.default_rng([63, seed])
    first = case.solve(friction=laws)
    path = vb.ShapePath(case.robot, gravity=case.gravity, loads=case.loads, friction=laws)
    for i, row in enumerate(case.tensions * np.vstack([np.ones(len(laws)), rng.uniform(0.6, 1.4, (4, len(laws)))])):
        check = check.follow(path.angles, row) if i else check
        shape = path.step(row)
        if i == 0:
            np.testing.assert_allclose(first.angles, shape.angles, rtol=0, atol=1e-11)
        left = np.abs(oracle.residual(check, shape.angles)).max()
        assert left <= 1e-9 * shape.moment_scale
        np.testing.assert_allclose(shape.slip, oracle.slips(check, shape.angles), rtol=0, atol=1e-7)
        np.testing.assert_allclose(shape.tensions, oracle.tensions(check, shape.angles), rtol=1e-8, atol=1e-12)


def test_platforms_bend_a_cable_by_angles_of_their_own() -> None:
    """One joint bent about x by 0.4 rad with the platforms 14 mm before and 10 mm beyond it: by trigonometry."""
    rig = universals("xy", 1, springs=0.0)
    cable, q = rig.cables[0], 0.4
    y, below, above = cable["y"], 0.014, 0.010
    step = np.array([y * np.cos(q) - above * np.sin(q) - y, below + y * np.sin(q) + above * np.cos(q)])
    lean = np.arctan2(abs(step[0]), step[1])
    found = oracle.bends(rig, np.array([q, 0.0]))[0, 0]
    np.testing.assert_allclose(found, [lean, abs(q - lean)], rtol=1e-12)


def test_a_loop_of_tensions_closes_and_costs_work() -> None:
    stiff, rolling = {**UNIVERSAL, "stiffness": 0.6}, section(2, ROLLING, azimuth=["0 deg", "90 deg"])
    ring = cables("6 mm", "30 deg", "150 deg", "270 deg")
    rig = robot("loop", section(2, stiff), rolling, section(2, stiff | {"order": "yx"}, cables=ring))
    law = vb.FrictionLaw.constant(0.25, 1e-5)
    base = np.linspace(2.0, 3.0, len(rig.cables))
    swing = np.zeros(len(rig.cables))
    swing[0] = 1.5
    cycle = [base + swing * np.sin(phase) for phase in np.linspace(0.0, 2 * np.pi, 41)[1:]]
    path = vb.ShapePath(rig, gravity="ceiling", friction=law)
    path.step(base)
    runs = [path.follow(cycle) for _ in range(3)]
    second, third = runs[1], runs[2]
    # After one cycle the loop is the same each time around; loading and unloading differ.
    np.testing.assert_allclose(third.angles, second.angles, rtol=0, atol=1e-8)
    tips = second.tip
    half = len(cycle) // 2
    assert np.linalg.norm(tips[4] - tips[half - 6], axis=-1) > 1e-4
    spent = [run.friction_work[-1] - run.friction_work[0] for run in runs]
    assert spent[1] > 0
    assert spent[2] == pytest.approx(spent[1], rel=1e-4)


# Questions of statics -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_shapes_there_and_back(seed: int) -> None:
    """Lengths, tensions and margins of a shape, and the same in a batch."""
    case = universal_case(seed)
    shape = case.solve()
    about = {"gravity": case.gravity, "loads": case.loads}
    rest = shape.lengths / (1 + case.tensions / 2000.0)
    held = vb.shape_from_lengths(case.robot, rest, stiffness_EA=2000.0, **about)
    np.testing.assert_allclose(held.angles, shape.angles, rtol=0, atol=1e-9)
    np.testing.assert_allclose(held.tensions_at_base, case.tensions, rtol=1e-6, atol=1e-7 * case.tensions.max())
    cables = Elastic(rest, np.full(len(rest), 2000.0))
    left = statics.residual(case.robot, held.angles, cables, case.field, case.loads)
    assert np.abs(left).max() < 1e-9 * shape.moment_scale
    # The least tensions may be too small for a stable robot.
    found = vb.tensions_for_shape(case.robot, shape.angles, lower=0.0, upper=np.inf, check=False, **about)
    left = statics.residual(case.robot, shape.angles, found.tensions, case.field, case.loads)
    assert np.abs(left).max() < 1e-9 * shape.moment_scale
    values = np.linalg.svd(vb.Pose(case.robot, shape.angles).cable_segments.first)[1]
    round_off = 1e-15 * values[0] / values[values > RANK * values[0]].min()
    assert np.linalg.norm(found.tensions) <= np.linalg.norm(case.tensions) * (1 + 1e-9 + round_off)
    low, high = shape.tension_margin()
    assert low <= 1 <= high
    Scaled(shape).check(low, high)
    rows = case.tensions * np.random.default_rng(seed).uniform(0.8, 1.2, (4, len(case.tensions)))
    batch = vb.shapes_from_tensions(case.robot, rows, **about)
    for i, row in enumerate(rows):
        one = vb.shape_from_tensions(case.robot, row, check=False, **about)
        np.testing.assert_array_equal(batch.angles[i], one.angles)
        np.testing.assert_array_equal(batch.compliance[i], one.compliance)


@pytest.mark.parametrize("seed", range(len(UNIVERSAL_MIXES)))
def test_all_shapes_are_sound_and_the_reached_one_is_among_them(seed: int) -> None:
    """Little tension on a standing robot: some have several shapes."""
    case = universal_case(seed, gap_mass=False, safety=0.2)
    about = {"gravity": case.gravity, "loads": case.loads}
    found = vb.equilibria(case.robot, case.tensions, starts=32, **about)
    assert len(found) >= 1
    assert_sound(found, case.robot, case.tensions, case.field, case.loads)
    assert found.reached is not None
    np.testing.assert_allclose(found.shapes[found.reached].angles, case.solve().angles, rtol=0, atol=1e-8)


def test_a_long_column_has_mirrored_shapes() -> None:
    """Equal tensions, a weight on top and too little stiffness: it falls to any side, and straight is a saddle."""
    rig = universals("yx", 4, springs=0.1)
    weight = vb.Load(force=(0.0, 0.0, -1.0))
    found = vb.equilibria(rig, [0.2] * 3, gravity="ground", loads=[weight])
    assert len(found) == 4  # springs on two axes resist least along either
    assert_sound(found, rig, np.full(3, 0.2), np.array([0.0, 0.0, -9.8]), (weight,))
    assert all(np.abs(shape.angles).max() > 0.1 for shape in found.shapes)


@pytest.mark.parametrize("gravity", ["ground", "ceiling"])
def test_stable_tensions_are_those_of_dense_eigenvalues(gravity: str) -> None:
    """Cables that balance: four at right angles, in sections of universal and rolling joints."""
    ring = {"radius": "5 mm", "azimuth": ["0 deg", "90 deg", "180 deg", "270 deg"], "lock_mass": "2 g"}
    stiff = {"kind": "universal", "lower": "12 mm", "stiffness": 0.5}
    rolling = {"kind": "rolling", "radius": "15 mm"}
    link, down = {"length": "12 mm", "mass": "4 g"}, np.array([0.0, 0.0, -9.8 if gravity == "ground" else 9.8])
    bends = {"universal": None, "rolling": ["0 deg", "90 deg"]}
    for kinds in ([stiff], [stiff, rolling], [rolling, stiff]):
        parts = [section(3, joint, link, bends[joint["kind"]], ring) for joint in kinds]
        rig = robot("column", *parts)
        low, high = stable_tensions(rig, gravity=gravity)
        expected = dense_stable_range(rig, down)
        assert (low, high) == pytest.approx(expected, rel=1e-7)
        assert high < np.inf
        assert vb.critical_tension(rig, gravity=gravity) == low


@pytest.mark.parametrize("seed", SEEDS[:4])
def test_the_tip_is_brought_to_a_reachable_place(seed: int) -> None:
    case = universal_case(seed, gap_mass=False)
    shape = case.solve()
    about = {"gravity": case.gravity, "loads": case.loads}
    found = vb.tensions_for_tip(case.robot, shape.tip, lower=0.0, upper=3 * case.tensions.max(), **about)
    again = vb.shape_from_tensions(case.robot, found.tensions, **about)
    assert np.linalg.norm(again.tip - shape.tip) < 1e-6


@pytest.mark.parametrize("friction", [0.0, 0.25])
@pytest.mark.parametrize("seed", range(len(UNIVERSAL_MIXES)))
def test_how_the_tip_answers_to_tensions(seed: int, friction: float) -> None:
    """By central differences; a long presliding keeps the kinks of friction out of their reach."""
    case = universal_case(seed, gap_mass=False)
    law = vb.FrictionLaw.constant(friction, 1e-3) if friction else 0.0
    tip = TipSearch(
        Problem.of(case.robot, case.gravity, case.loads, law), TipGoal(np.zeros(3), 1.0, None, 0.0), 1.0, None
    )
    assert tip.residual(case.tensions) is not None
    step = 1e-4 * case.tensions.max()
    for k, unit in enumerate(np.eye(len(case.tensions))):
        ends = [
            vb.shape_from_tensions(
                case.robot, case.tensions + s * step * unit, gravity=case.gravity, loads=case.loads, friction=law
            ).tip
            for s in (1, -1)
        ]
        slope = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(tip.by_tension[:3, k], slope, rtol=0, atol=1e-6 * np.abs(tip.by_tension[:3]).max())


def test_memory_that_nothing_has_written_yet_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    shape = universal_case(1).solve()
    expected, fresh = shape.tension_margin(), Problem.workspace

    def stained(problem: Problem, *given: Any) -> Workspace:
        work = fresh(problem, *given)
        for array in work.scratch[:6]:
            array[...] = 1.5e308
        return work

    monkeypatch.setattr(Problem, "workspace", stained)
    assert shape.tension_margin() == expected


def test_a_joint_pushed_past_its_limit_is_named() -> None:
    stiff = {**UNIVERSAL, "stiffness": 0.5}
    ring = cables("6 mm", "30 deg", "150 deg", "270 deg")
    rig = robot("limits", section(1, stiff), section(1, stiff | {"stiffness": 0.1, "limit": 0.2}, cables=ring))
    asked = {"gravity": (0, 0, 0), "loads": [vb.Load(force=(0.0, 3.0, 0.0))]}
    with pytest.raises(vb.OutOfRange) as caught:
        vb.shape_from_tensions(rig, [0.1] * 3, **asked)
    shape = vb.shape_from_tensions(rig, [0.1] * 3, check=False, **asked)
    assert shape.status == Status.OUT_OF_RANGE
    assert shape.out_of_range == (2,)
    assert caught.value.joint == 2
    assert abs(caught.value.angle) == np.abs(shape.angles[2:]).max() > 0.2


@pytest.mark.parametrize("pull", [0.5, 4.0])
def test_the_margin_counts_how_the_freedoms_of_a_joint_soften_together(pull: float) -> None:
    """More tension stiffens either axis of this joint by itself, and yet one direction between them gives way."""
    ring = {"radius": 0.022, "azimuth": ["142 deg"]}
    link, joint = {"length": 0.018, "mass": 0.001}, {"kind": "universal", "lower": 0.0137, "stiffness": 0.5}
    rig = robot("one", section(1, joint, link, cables=ring))
    q, T = np.array([-0.66, -0.70]), np.array([pull])
    needed = statics.residual(rig, q, T, np.zeros(3))
    force, *_ = np.linalg.lstsq(mirror_chain.tip_jacobian(rig, q)[:3].T, needed, rcond=None)
    loads = [vb.Load(force=tuple(force))]
    shape = vb.shape_from_tensions(rig, T, gravity=(0, 0, 0), loads=loads, start=q)
    np.testing.assert_allclose(shape.angles, q, rtol=0, atol=1e-9)
    assert (vb.Pose(rig, q).cable_segments.second > 0).all()
    low, high = shape.tension_margin()
    assert 1 < high < np.inf
    Scaled(shape).check(low, high)
