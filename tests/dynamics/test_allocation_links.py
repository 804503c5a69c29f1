"""Tensions of every link on its own, on random links: optimal, within all constraints, refused where there are none."""

from __future__ import annotations

import os
from types import SimpleNamespace

import numpy as np
import pytest
from tests.oracles.link_programme import KINDS, Link, least_sum_in_true_cone

from vertebra.dynamics.allocation import JointNeeds, per_link_tensions
from vertebra.mechanics.kernels.link_tensions import weigh_joints
from vertebra.mechanics.layout import CROSSING_ROWS, FORCE_AXIAL, FORCE_NORMAL, FORCE_TANGENTIAL, WRENCH_MA
from vertebra.robot.tables import CABLE, JOINT, ROLLING

JOINTS = 4


def random_links(rng, cables, steps, feasible, tidy=False):
    """Tables of a robot of JOINTS unrelated joints, their needs (steps, JOINTS), contacts, bounds.

    `tidy`: cables at right angles and round numbers, so that many answers are equally good.
    """
    joints, table = np.zeros(JOINTS, JOINT), np.zeros(cables, CABLE)
    joints["kind"], joints["first"], joints["freedoms"] = ROLLING, np.arange(JOINTS), 1
    psi = rng.integers(0, 4, JOINTS) * np.pi / 2 if tidy else rng.uniform(0, 2 * np.pi, JOINTS)
    phi = np.arange(cables) * np.pi / 2 if tidy else rng.uniform(0, 2 * np.pi, cables)
    joints["axis_x"], joints["axis_y"] = -np.sin(psi), np.cos(psi)
    radius = 0.02 if tidy else rng.uniform(0.005, 0.03, cables)
    table["x"], table["y"] = radius * np.cos(phi), radius * np.sin(phi)
    table["last_link"] = JOINTS
    along = table["x"][:, None] * joints["axis_x"] + table["y"][:, None] * joints["axis_y"]
    reach = table["x"][:, None] * joints["axis_y"] - table["y"][:, None] * joints["axis_x"]
    if tidy:
        # Round-off in place of zero would be an arm to the oracle.
        along, reach = np.round(along, 12), np.round(reach, 12)
    contacts = np.zeros((JOINTS, 4))
    contacts[:, 0] = 0.022 if tidy else rng.uniform(0.01, 0.03, JOINTS)
    contacts[:, 0] *= rng.random(JOINTS) < 0.85
    contacts[:, 1], contacts[:, 2] = (0.5, 1.0) if tidy else (rng.uniform(0.1, 1.0, JOINTS), rng.uniform(0, 3, JOINTS))
    low = np.full(cables, 5.0) if tidy else rng.uniform(0.0, 10.0, cables)
    high = np.full(cables, 100.0) if tidy else low + rng.uniform(0.0, 120.0, cables) * (rng.random(cables) < 0.95)
    arms = reach[None] + (0.0 if tidy else rng.normal(0.0, 0.003, (steps, 1, JOINTS)))
    arms = np.broadcast_to(arms, (steps, cables, JOINTS)).copy()
    wrenches = np.empty((steps, JOINTS, 6))
    for i in range(steps):
        for j in range(JOINTS):
            wrenches[i, j] = needed_wrench(rng, arms[i, :, j], along[:, j], low, high, contacts[j], feasible, tidy)
    needs = JointNeeds(np.zeros((steps, JOINTS)), wrenches[:, :, WRENCH_MA].copy(), wrenches, arms)
    return SimpleNamespace(joints=joints, cables=table), needs, contacts, low, high, along


def needed_wrench(rng, arms, along, low, high, contact, feasible, tidy):
    b, mu, least, _ = contact
    tensions = rng.uniform(low, high)
    if tidy:
        tensions = np.clip(np.round(tensions, -1), low, high)
    moment = float(arms @ tensions)
    if not feasible:
        scale = rng.choice([1.0, 3.0, 10.0])
        force = rng.normal(0.0, 20.0 * scale, 3)
        moments = rng.normal(0.0, 0.4 * scale, 3)
        return np.array([*force, *moments[:2], moment if rng.random() < 0.5 else moments[2]])
    if not b:
        return np.array([*rng.normal(0.0, 10.0, 3), *rng.normal(0.0, 0.3, 2), moment])
    across = np.round(rng.normal(0.0, 3.0, 2)) if tidy else rng.normal(0.0, 3.0, 2)
    reserve = rng.integers(0, 3, 2) if tidy else rng.exponential(20.0, 2)
    normal = np.maximum(least, np.abs(across) / mu) + reserve
    axial = rng.uniform(-1.0, 1.0) * np.sqrt(np.maximum((mu * normal) ** 2 - across**2, 0.0)).sum()
    return np.array(
        [
            normal.sum() - tensions.sum(),
            across.sum(),
            axial,
            -b * (across[0] - across[1]),
            b * (normal[0] - normal[1]) - along @ tensions,
            moment,
        ]
    )


def solved(given):
    robot, needs, contacts, low, high, _ = given
    return per_link_tensions(robot, needs, contacts, low, high)


def link_of(given, i, j, **relaxed):
    """The oracle's view of one of the links."""
    _, needs, contacts, low, high, along = given
    b, mu, least, _ = contacts[j]
    return Link(needs.wrenches[i, j], needs.arms[i, :, j], along[:, j], low, high, b, mu, least, relaxed)


SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
STEPS = 22 if SOAK else 5
"""Each stands for 96 links that have an answer: 1 to 12 cables, two kinds of numbers, four joints."""


def batches(seed, feasible, steps=STEPS):
    rng = np.random.default_rng(seed)
    for cables in range(1, 13):
        for tidy in (False, True):
            yield cables, random_links(rng, cables, steps, feasible, tidy)


def places(given):
    return [(i, j) for i in range(len(given[1].arms)) for j in range(JOINTS)]


def forces_of(given, tensions):
    """N, S_t, S_a at both points of every joint, and the torques out of balance."""
    robot, needs, contacts, low, high, _ = given
    steps, cables, n = tensions.shape
    residual, scale, forces = np.empty((steps, n)), np.empty(steps), np.empty((4, steps, n, 2))
    weigh_joints(
        robot.joints, robot.cables, contacts, low, high, needs.arms, needs.torques, needs.wrenches, tensions,
        np.empty((CROSSING_ROWS, cables)), np.empty(cables), residual, scale, forces,
    )  # fmt: skip
    return forces, residual


def test_the_least_sum_is_that_of_linprog_and_no_tie_has_smaller_squares():
    count = 0
    for cables, given in batches(10, True):
        tensions, amounts = solved(given)
        assert not amounts.any()
        for i, j in places(given):
            oracle = link_of(given, i, j).solve()
            assert oracle.status == 0
            assert tensions[i, :, j].sum() == pytest.approx(oracle.fun, abs=1e-8)
            assert np.linalg.norm(tensions[i, :, j]) <= np.linalg.norm(oracle.x[:cables]) + 1e-8
            count += 1
    assert count >= (2000 if SOAK else 480)


@pytest.mark.parametrize("true_cone", [False, True])
def test_every_answer_keeps_every_constraint(true_cone):
    for _, given in batches(11, True, 4 * STEPS):
        _, needs, contacts, low, high, _ = given
        contacts[:, 3] = true_cone
        tensions, amounts = solved(given)
        assert not amounts.any()
        assert (tensions >= low[:, None]).all()
        assert (tensions <= high[:, None]).all()
        forces, residual = forces_of(given, tensions)
        assert np.abs(residual).max() <= 1e-9
        touching = contacts[:, 0] > 0.0
        normal, limit = forces[FORCE_NORMAL][:, touching], contacts[touching, 1:2] * forces[FORCE_NORMAL][:, touching]
        across, along = np.abs(forces[FORCE_TANGENTIAL][:, touching]), np.abs(forces[FORCE_AXIAL][:, touching])
        assert (normal >= contacts[touching, 2:3] - 1e-9).all()
        used = np.hypot(across, along) if true_cone else np.maximum(across, along)
        assert (used <= limit + 1e-9).all()
        # What the points exert is what the motion needs.
        np.testing.assert_allclose(along.sum(axis=2), np.abs(needs.wrenches[:, touching, 2]), atol=1e-9)


def test_every_infeasible_link_names_what_truly_stands_in_the_way():
    """Giving way by the named amounts restores an answer; giving way by less does not."""
    count, alone = 0, 0
    for _, given in batches(12, False, 22 if SOAK else 6):
        _, amounts = solved(given)
        for i, j in places(given):
            feasible = link_of(given, i, j).solve().status == 0
            assert feasible == (not amounts[i, j].any())
            if feasible:
                continue
            count += 1
            named = {KINDS[kind]: amounts[i, j, kind] for kind in np.flatnonzero(amounts[i, j])}
            alone += len(named) == 1
            enough = {kind: amount + 1e-9 for kind, amount in named.items()}
            assert link_of(given, i, j, **enough).solve().status == 0
            for kind, amount in named.items():
                short = 1e-6 * max(1.0, amount) * (0.02 if kind == "moment" else 1.0)
                assert link_of(given, i, j, **(enough | {kind: max(amount - short, 0.0)})).solve().status != 0
    assert count >= 200
    assert alone >= 0.6 * count


def test_no_single_constraint_would_do_where_several_are_named():
    """Each on its own is not enough, however far it gives way; and the first in the list that is enough is named."""
    several = 0
    for _, given in batches(13, False, 6):
        _, amounts = solved(given)
        for i, j in places(given):
            named = np.flatnonzero(amounts[i, j])
            if not len(named):
                continue
            several += len(named) > 1
            earlier = KINDS[: named[0]] if len(named) == 1 else KINDS
            for kind in earlier:
                assert link_of(given, i, j, **{kind: 1e5}).solve().status != 0
    assert several > 0


def test_the_true_cone_costs_what_a_conic_solver_says():
    tighter = 0
    for _, given in batches(14, True, 3 * STEPS // 2):
        contacts = given[2]
        box, _ = solved(given)
        contacts[:, 3] = 1.0
        tensions, amounts = solved(given)
        assert not amounts.any()
        for i, j in places(given):
            if contacts[j, 0]:
                least = least_sum_in_true_cone(link_of(given, i, j))
                assert tensions[i, :, j].sum() == pytest.approx(least, abs=2e-6)
                tighter += tensions[i, :, j].sum() > box[i, :, j].sum() + 1e-6
    assert tighter > 100


def between_cone_and_box(given, rng):
    """The links with fixed tensions, and so much axial force that the box still holds it but the true cone does not."""
    robot, needs, contacts, low, high, along = given
    fixed = rng.uniform(low, high)
    short = np.zeros(needs.wrenches.shape[:2])
    contacts[:, 3] = 1.0
    for i, j in places(given):
        b, mu, *_ = contacts[j]
        if b:
            wrench = needed_wrench(rng, needs.arms[i, :, j], along[:, j], fixed, fixed, contacts[j], True, False)
            turn, across = wrench[4] + along[:, j] @ fixed, wrench[1] + np.array([-1.0, 1.0]) * wrench[3] / b
            normal = 0.5 * (wrench[0] + fixed.sum() + np.array([1.0, -1.0]) * turn / b)
            cone = np.sqrt(np.maximum((mu * normal) ** 2 - (0.5 * across) ** 2, 0.0)).sum()
            wrench[2] = 0.5 * (cone + mu * normal.sum())
            short[i, j] = wrench[2] - cone
            needs.wrenches[i, j], needs.torques[i, j] = wrench, wrench[WRENCH_MA]
    return (robot, needs, contacts, fixed, fixed.copy(), along), short


def test_what_only_the_true_cone_forbids_gives_way_by_what_it_says():
    rng = np.random.default_rng(15)
    names = []
    for _, given in batches(15, True, 3):
        tight, short = between_cone_and_box(given, rng)
        amounts = solved(tight)[1]
        for i, j in places(given):
            if short[i, j] < 1e-3:
                continue
            named = {KINDS[kind]: amounts[i, j, kind] for kind in np.flatnonzero(amounts[i, j])}
            names += named
            assert named
            assert least_sum_in_true_cone(link_of(tight, i, j)) is None
            if set(named) <= {"max_tension", "pretension"}:
                for sign, holds in ((1.0, True), (-1.0, False)):
                    moved = {kind: amount * (1.0 + 1e-3 * sign) + 1e-5 * sign for kind, amount in named.items()}
                    assert (least_sum_in_true_cone(link_of(tight, i, j, **moved)) is not None) == holds
            if list(named) == ["friction_1"]:
                # The tensions are fixed, so the first point's limit must rise until both carry the axial force.
                forces, _ = forces_of(tight, np.broadcast_to(tight[3][:, None], (3, len(tight[3]), JOINTS)).copy())
                limit, across = given[2][j, 1] * forces[FORCE_NORMAL, i, j], forces[FORCE_TANGENTIAL, i, j]
                limit[0] += named["friction_1"]
                assert np.sqrt(limit**2 - across**2).sum() == pytest.approx(given[1].wrenches[i, j, 2], abs=1e-8)
    assert {"max_tension", "friction_1"} <= set(names)


def test_a_trajectory_gives_what_its_steps_give():
    """Warm starts change nothing but the time."""
    for _, given in batches(16, True, 6):
        robot, needs, *rest = given
        together, _ = solved(given)
        for i in range(6):
            alone = JointNeeds(*(part[i : i + 1].copy() for part in needs))
            np.testing.assert_allclose(solved((robot, alone, *rest))[0][0], together[i], atol=1e-8)


def test_infeasible_links_keep_their_tensions_in_bounds():
    for _, given in batches(17, False, 6):
        *_, low, high, _ = given
        tensions, _ = solved(given)
        assert (tensions >= low[:, None]).all()
        assert (tensions <= high[:, None]).all()
