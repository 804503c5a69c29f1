"""The contact of a ball and its socket against its own equations, and its first slip against a dense scan."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.mechanics import wrench_cases
from tests.oracles import ball_contact
from tests.oracles.ball_scan import Wrenches, wrong_limits

from vertebra.mechanics.kernels.contact import (
    HOLDS,
    SEPARATION,
    SLIDING,
    TORSION,
    contact_state,
    load_limit,
    polynomial_value,
    rim_limit,
    slip_polynomials,
)

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
NAMES = np.array(["unlimited", "sliding", "torsion", "separation", "socket"])
every_kind = pytest.mark.parametrize("kind", wrench_cases.KINDS, ids=lambda kind: kind.__name__)


def state(f, m, radius):
    pressing, sliding, torsion, n = contact_state(tuple(map(float, f)), tuple(map(float, m)), float(radius))
    return pressing, sliding, torsion, np.array(n)


def limits(w, cap=math.inf):
    """The kernel's limits and the names of the modes."""
    found = [load_limit(*w.call(i), cap) for i in range(len(w))]
    return np.array([load for load, _ in found]), NAMES[[mode for _, mode in found]]


# What a contact carries.


@every_kind
def test_the_state_satisfies_the_balance(kind):
    w = kind(np.random.default_rng(1), 300)
    loads = np.random.default_rng(2).uniform(0.0, 3.0, len(w)) * np.sqrt((w.f0**2).sum(-1))
    forces, moments = w.at(loads)
    for f, m, r in zip(forces, moments, w.radius, strict=True):
        pressing, sliding, torsion, n = state(f, m, r)
        size = np.linalg.norm(f)
        if pressing == 0.0:
            continue
        assert abs(n @ n - 1) < 1e-12
        assert pressing > 0.0
        friction = f - pressing * n
        assert abs(friction @ n) < 1e-12 * size
        assert np.linalg.norm(friction) == pytest.approx(sliding, rel=1e-7, abs=1e-12 * size)
        left = r * np.cross(n, f) + torsion * n - m
        assert np.linalg.norm(left) < 1e-12 * (r * size + np.linalg.norm(m))


@every_kind
def test_the_state_is_that_of_the_equations(kind):
    w = kind(np.random.default_rng(3), 300)
    forces, moments = w.at(np.random.default_rng(4).uniform(0.0, 3.0, len(w)))
    for f, m, r in zip(forces, moments, w.radius, strict=True):
        got, size = state(f, m, r), np.linalg.norm(f)
        pressing, sliding, torsion = ball_contact.contact(f, m, r)
        if got[0] == 0.0 or pressing < 1e-6 * size:
            continue  # all but grazing: whether anything presses is decided by round-off
        assert got[0] == pytest.approx(pressing, rel=1e-9)
        assert got[1] == pytest.approx(sliding, rel=1e-9, abs=1e-12 * size)
        assert got[2] == pytest.approx(torsion, rel=1e-9, abs=1e-12 * r * size)


def test_the_state_is_that_of_a_search_for_the_normal():
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(60):
        f, m, r = rng.normal(size=3), rng.normal(size=3) * rng.uniform(0, 2), rng.uniform(0.5, 2.0)
        searched = ball_contact.contact_by_search(f, m, r)
        assert searched is not None
        got = state(f, m, r)
        assert got[:3] == pytest.approx(searched[:3], abs=1e-8)
        assert got[3] == pytest.approx(searched[3], abs=1e-8)
        assert got[3] == pytest.approx(ball_contact.normal(f, m, r), abs=1e-8)
        found += 1
    assert found == 60


def test_a_moment_across_the_force_moves_the_contact_and_nothing_else():
    # r n x f = m with sin = 0.6: n leans by 36.87 degrees, no torsion.
    pressing, sliding, torsion, n = state((0, 0, 10.0), (0, 0.06, 0), 0.01)
    assert (pressing, sliding, torsion) == pytest.approx((8.0, 6.0, 0.0))
    assert n == pytest.approx([-0.6, 0.0, 0.8])


def test_a_moment_along_the_force_is_torsion_and_nothing_else():
    assert state((0, 0, 10.0), (0, 0, -0.06), 0.01)[:3] == pytest.approx((10.0, 0.0, -0.06))
    assert state((0, 0, 10.0), (0, 0, -0.06), 0.01)[3] == pytest.approx([0, 0, 1])


def test_a_contact_that_would_need_the_ball_to_be_larger_presses_nothing():
    pressing, sliding, torsion, n = state((0, 0, 10.0), (0, 0.2, 0), 0.01)
    assert (pressing, sliding, torsion) == (0.0, 10.0, 0.0)
    assert n == pytest.approx([-1, 0, 0])
    assert state((0, 0, 0), (0, 0.2, 0), 0.01)[0] == 0.0


# When it slips.


@every_kind
def test_the_polynomials_are_positive_where_friction_does_not_suffice(kind):
    w = kind(np.random.default_rng(6), 400)
    size = np.sqrt((w.f0**2).sum(-1)) + np.sqrt((w.m0**2).sum(-1)) / w.radius
    loads = np.random.default_rng(7).uniform(0.0, 2.0, len(w)) * size
    slides, twists = w.margins(loads)
    checked = 0
    for i in range(len(w)):
        f0, m0, d, m1, mu, r, ring = w.call(i)
        scaled = (tuple(x / r for x in m0), tuple(x / r for x in m1))
        sliding, plus, minus = slip_polynomials(f0, scaled[0], d, scaled[1], mu, ring / r)
        # The torsion polynomials also forbid what no contact can carry, so they count only where it does not slide.
        if abs(slides[i]) > 1e-6 and loads[i] < 1.5 * size[i]:
            assert (polynomial_value(sliding, loads[i]) > 0) == (slides[i] > 0)
            checked += 1
        if slides[i] < -1e-6 and abs(twists[i]) > 1e-6 and loads[i] < 1.5 * size[i]:
            worst = max(polynomial_value((*plus, 0.0, 0.0), loads[i]), polynomial_value((*minus, 0.0, 0.0), loads[i]))
            assert (worst > 0) == (twists[i] > 0)
            checked += 1
    assert checked > 100


@every_kind
def test_the_first_slip_of_thousands_of_wrenches(kind):
    """20,000 in all; more with VERTEBRA_SOAK=1."""
    count, rounds = 3400, 30 if SOAK else 1
    for seed in range(rounds):
        w = kind(np.random.default_rng(100 + seed), count)
        found, modes = limits(w)
        assert not np.isnan(found).any()
        assert (found >= 0).all()
        wrong = wrong_limits(w, found, modes)
        assert {name: rows.tolist() for name, rows in wrong.items()} == {"missed": [], "early": [], "mode": []}
        assert len(found) == count
        for name in ("unlimited", "sliding"):
            assert (modes == name).sum() > count / 50, name


def test_the_wrenches_are_of_all_kinds():
    found = {kind.__name__: limits(kind(np.random.default_rng(100), 1000)) for kind in wrench_cases.KINDS}
    names = np.concatenate([modes for _, modes in found.values()])
    for name, least in (("unlimited", 500), ("sliding", 500), ("torsion", 500), ("separation", 20)):
        assert (names == name).sum() > least
    assert sum((load == 0).sum() for load, _ in found.values()) > 50


@every_kind
def test_a_cap_hides_what_lies_beyond_it_and_changes_nothing_else(kind):
    w = kind(np.random.default_rng(8), 400)
    rng = np.random.default_rng(9)
    free, modes = limits(w)
    for i in range(len(w)):
        for factor in (0.5, 0.999, 1.001, 3.0, 1e6):
            cap = (free[i] if np.isfinite(free[i]) else rng.uniform(0.1, 10.0)) * factor
            load, mode = load_limit(*w.call(i), float(cap))
            if free[i] <= cap:
                same = load == pytest.approx(free[i], rel=1e-7) and NAMES[mode] == modes[i]
            else:
                same = (load, mode) == (math.inf, HOLDS)
            # Where the excess comes to zero and turns back, round-off decides whether that is a slip.
            touch = min(load, free[i])
            assert same or abs(w[[i]].margin(np.array([touch]))[0]) < 1e-12


@every_kind
def test_forces_lengths_and_axes_have_no_units_of_their_own(kind):
    """Forces times 1000, lengths times 10, everything turned and mirrored."""
    w = kind(np.random.default_rng(10), 300)
    turn = Rotation.random(random_state=1).as_matrix()
    free, modes = limits(w)
    # Forces mirror as vectors, moments as axial vectors.
    for R, sign in ((turn, 1.0), (turn @ np.diag([1.0, -1.0, 1.0]), -1.0), (np.eye(3), 1.0)):
        other = Wrenches(
            1000 * w.f0 @ R.T,
            10_000 * sign * w.m0 @ R.T,
            w.d @ R.T,
            10 * sign * w.m1 @ R.T,
            w.mu,
            10 * w.radius,
            10 * w.ring,
        )
        wrong = wrong_limits(w, limits(other)[0] / 1000, limits(other)[1], round_off=1e-12)
        assert not any(len(rows) for rows in wrong.values())
    if kind.__name__ in ("anyhow", "planar", "weightless"):
        # Well-conditioned ones to many digits.
        same = np.isfinite(free)
        assert limits(other)[0][same] / 1000 == pytest.approx(free[same], rel=1e-6)
        assert (limits(other)[1] == modes).all()


def test_without_friction_any_sideways_load_slips():
    still = ((0.0, 0.0, 10.0), (0.0, 0.0, 0.0))
    load, mode = load_limit(*still, (1.0, 0.0, 0.0), (0.0, 0.01, 0.0), 0.0, 0.006, 0.005, math.inf)
    assert mode == SLIDING
    assert load < 1e-10
    load, mode = load_limit(*still, (0.0, 0.0, -1.0), (0.0, 0.0, 0.01), 0.0, 0.006, 0.005, math.inf)
    assert mode == TORSION
    assert load < 1e-10
    # Along the axis it may be pressed as hard as one likes, or pulled until nothing presses.
    assert load_limit(*still, (0.0, 0.0, -1.0), (0.0, 0.0, 0.0), 0.0, 0.006, 0.005, math.inf) == (math.inf, HOLDS)
    assert load_limit(*still, (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), 0.0, 0.006, 0.005, math.inf) == (10.0, SEPARATION)


def test_textbook_cases():
    """A force that presses with 10 N on a ball of 6 mm, mu 0.5, ring 5 mm."""
    down = ((0.0, 0.0, 10.0), (0.0, 0.0, 0.0))
    ball = (0.5, 0.006, 0.005, math.inf)
    # A pure moment across it: r |f| sin(atan mu).
    load, mode = load_limit(*down, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), *ball)
    assert mode == SLIDING
    assert load == pytest.approx(0.006 * 10 * 0.5 / math.sqrt(1.25), rel=1e-12)
    # A pure moment along it: mu r_c F_N.
    load, mode = load_limit(*down, (0.0, 0.0, 0.0), (0.0, 0.0, -1.0), *ball)
    assert mode == TORSION
    assert load == pytest.approx(0.5 * 0.005 * 10, rel=1e-11)
    # A force through the centre only turns the normal.
    assert load_limit(*down, (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), *ball) == (math.inf, HOLDS)


@pytest.mark.parametrize("f0", [(0.0, 0.0, 0.0), (0.0, 0.0, 1e-14)])
def test_nothing_presses_and_something_turns(f0):
    assert load_limit(f0, (0.0, 0.1, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.5, 0.006, 0.005, math.inf) == (
        0.0,
        SEPARATION,
    )


@pytest.mark.parametrize("shift", [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 3e-12])
@pytest.mark.parametrize("arm", [0.0, 0.3, 0.44, 0.45, 1.0, 3.0])
def test_pulled_all_but_apart(shift, arm):
    """f = (e, 0, 1 - F) and m = e (0, h, 0): slips when 1 - F is comparable with e, unless h < r sin(atan mu)."""
    load, mode = load_limit(
        (shift, 0.0, 1.0), (0.0, arm * shift, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), 0.5, 1.0, 0.8, math.inf
    )
    sine = 0.5 / math.sqrt(1.25)  # 0.447
    if arm < sine:
        assert (load, mode) == (math.inf, HOLDS)
    else:
        # |m| = r |f| sin(atan mu), the moment being across the force.
        assert mode == SLIDING
        left = shift * math.sqrt((arm / sine) ** 2 - 1)
        assert 1 - load == pytest.approx(left, rel=1e-3 if shift < 1e-11 else 1e-4)


# Contacts that dip over the rim of their socket between two samples of the search.


ZERO = (0.0, 0.0, 0.0)
BACK = (0.0, 0.0, -1.0)


def limit_at_rim(start, height, forbidden, cap):
    """The force (start - F, height, 1) passes the z axis; `forbidden` is the angle from it that the rim cuts out."""
    rim = math.cos(math.pi - forbidden)
    return rim_limit((start, height, 1.0), ZERO, (1.0, 0.0, 0.0), ZERO, 0.006, BACK, rim, cap)


def load_at_rim(start, height, forbidden):
    """Where the angle from z first is `forbidden`: (start - F)^2 + height^2 = tan^2."""
    return start - math.sqrt(math.tan(forbidden) ** 2 - height**2)


@pytest.mark.parametrize("start", [0.05, 0.3, 1.0, 3.05, 7.7])
@pytest.mark.parametrize("cap", [10.0, 8.0, 100.0, math.inf])
def test_a_dip_between_samples_is_found(start, cap):
    assert limit_at_rim(start, 0.0005, 0.002, cap) == pytest.approx(load_at_rim(start, 0.0005, 0.002), rel=1e-8)
    # As close, but not over the rim.
    assert limit_at_rim(start, 0.0025, 0.002, cap) == math.inf


@pytest.mark.parametrize("start", [0.05, 3.05])
def test_a_dip_just_before_the_cap_is_found(start):
    assert limit_at_rim(start, 0.0005, 0.002, start + 0.01) == pytest.approx(
        load_at_rim(start, 0.0005, 0.002), rel=1e-8
    )
    assert limit_at_rim(start, 0.0005, 0.002, start - 0.01) == math.inf
    assert limit_at_rim(start, 0.0005, 0.002, start) == pytest.approx(load_at_rim(start, 0.0005, 0.002), rel=1e-8)


def test_no_load_and_no_end():
    assert rim_limit((0.0, 0.0, 1.0), ZERO, ZERO, ZERO, 0.006, (0.0, 0.0, 1.0), 0.9, 0.0) == math.inf
    assert rim_limit((1.0, 0.0, 0.1), ZERO, ZERO, ZERO, 0.006, (0.0, 0.0, 1.0), 0.9, 0.0) == 0.0
    # Toward 45 degrees from the axis, and a rim just before and just beyond it.
    d = (-math.sqrt(0.5), 0.0, -math.sqrt(0.5))
    for past, finite in ((1e-4, True), (-1e-4, False)):
        rim = math.cos(math.pi / 4 - past)
        found = rim_limit((0.0, 0.0, 1.0), ZERO, d, ZERO, 0.006, (0.0, 0.0, 1.0), rim, math.inf)
        assert math.isfinite(found) == finite
    # The back of the ball is no more inside than its side.
    assert rim_limit((0.0, 0.0, -1.0), ZERO, d, ZERO, 0.006, (0.0, 0.0, 1.0), 0.9, math.inf) == 0.0
