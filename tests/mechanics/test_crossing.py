"""First crossings of polynomials against exact rational arithmetic and numpy's roots."""

from __future__ import annotations

import itertools
import math
import os
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.exact_roots import Exact

from vertebra.mechanics.kernels.contact import first_rise, first_rise_across, first_rise_of_quadratic, next_fall

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
ROUND_OFF = Fraction(1, 10**13)
"""Of the sizes of the terms: a polynomial that stays below this is not above zero, and one within it is at zero."""


def judged(p, found, cap=math.inf):
    """Whether a first rise is that of the polynomial, but for round-off in its coefficients."""
    true = p.first_rise(cap)
    if math.isfinite(found):
        if found > cap * (1 + 1e-15):
            return "beyond the cap"
        if abs(p(Fraction(found))) > ROUND_OFF * p.size(Fraction(found)):
            return "not a root"
    if true is not None and found > true:
        end = Fraction(min(found, cap)) if math.isfinite(min(found, cap)) else 1000 * true
        if p.highest(true, max(end, true)) > ROUND_OFF:
            return f"rises before, at {float(true)}"
    return "right"


def product(factors, lead=1.0):
    out = np.array([lead])
    for factor in factors:
        out = np.convolve(out, factor)
    return out


# Families, all with coefficients within a few orders of size of each other once x is measured in a suitable unit.


def anyhow(rng):
    return rng.normal(size=5) * 10.0 ** rng.uniform(-2, 2, 5)


def clustered(rng):
    """Four real roots, ever closer together."""
    near = 10.0 ** -rng.uniform(0, 12)
    return product(
        [[-rng.choice([-1, 1, 1]) * (1 + near * rng.normal()), 1.0] for _ in range(4)], rng.choice([-1.0, 1.0])
    )


def double(rng):
    """Two roots that all but meet, or all but miss each other."""
    x, gap = rng.uniform(0.1, 2), 10.0 ** -rng.uniform(2, 16) * rng.choice([-1, 0, 1])
    return product([[x * x + gap, -2 * x, 1.0], [rng.normal(), 1.0], [rng.normal(), 1.0]], rng.choice([-1.0, 1.0]))


def positive(rng):
    """No real root, or none but by a hair."""
    pairs = [[x * x + 10.0 ** -rng.uniform(0, 16), -2 * x, 1.0] for x in rng.normal(size=2)]
    return product(pairs, rng.choice([-1.0, 1.0]))


def fourfold(rng):
    x = rng.uniform(0.1, 2)
    return -product([[-x, 1.0]] * 4) + rng.normal(size=5) * 10.0 ** -rng.uniform(6, 18)


def sparse(rng):
    return rng.normal(size=5) * rng.integers(0, 2, 5)


def spread(rng):
    """Roots over eight orders of size."""
    return product(
        [[-(10.0 ** rng.uniform(-4, 4)) * rng.choice([-1, 1, 1]), 1.0] for _ in range(4)], rng.choice([-1.0, 1.0])
    )


FAMILIES = (anyhow, clustered, double, positive, fourfold, sparse, spread)


def cases(family, count, seed=0):
    """Negative at zero, in any units of x and of the value."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        c = family(rng)
        c[0] = c[0] or -1.0
        c = -math.copysign(1.0, c[0]) * c * 10.0 ** (rng.uniform(-4, 4) * np.arange(5)) * 10.0 ** rng.uniform(-20, 20)
        yield tuple(map(float, c)), rng


every_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)


@every_family
def test_the_first_rise_is_that_of_exact_arithmetic(family):
    answers = []
    for c, rng in cases(family, 3000 if SOAK else 150):
        p, found = Exact(c), first_rise(c, math.inf)
        assert judged(p, found) == "right", c
        unit = found if math.isfinite(found) else 10.0 ** rng.uniform(-4, 4)
        for cap in (unit * 10.0 ** rng.uniform(-2, 3), unit * (1 + 1e-3), unit * (1 - 1e-3)):
            assert judged(p, first_rise(c, cap), cap) == "right", (c, cap)
        answers.append(math.isfinite(found))
    assert any(answers)
    assert not all(answers) or family is spread


@every_family
def test_the_first_rise_is_that_of_numpy(family):
    """Where numpy can tell: roots apart from each other."""
    checked = 0
    for c, _ in cases(family, 2000 if SOAK else 300, seed=1):
        every = np.polynomial.polynomial.polyroots(np.trim_zeros(c, "b")) if any(c[1:]) else np.array([])
        slope = np.polynomial.Polynomial(c).deriv()
        distance = [abs(a - b) / (abs(a) + abs(b)) for k, a in enumerate(every) for b in every[k + 1 :]]
        if min(distance, default=1.0) < 0.05:
            continue
        real = [x.real for x in every if abs(x.imag) < 1e-9 * abs(x) and x.real > 0]
        rising = [x for x in real if slope(x) > 0]
        assert first_rise(c, math.inf) == pytest.approx(min(rising, default=math.inf), rel=1e-8)
        checked += 1
    assert checked > 30 or family not in (anyhow, sparse, spread)


@every_family
def test_the_next_fall_is_that_of_exact_arithmetic(family):
    falls = 0
    for c, _ in cases(family, 1000 if SOAK else 100, seed=2):
        upside_down = tuple(-x for x in c)
        p = Exact(c)
        assert judged(p, next_fall(upside_down, 0.0)) == "right"
        roots = [float(root) for root in p.roots]
        # A start somewhere between the roots, where the polynomial is clearly above zero.
        starts = [0.5 * (a + b) for a, b in itertools.pairwise([*roots, 3 * roots[-1]])] if roots else []
        for start in starts:
            at = Fraction(start)
            if -p(at) <= Fraction(1, 10**9) * p.size(at):
                continue
            fall = next_fall(upside_down, start)
            after = [root for root in p.roots if root > at and p(root * (1 + Fraction(1, 10**6))) > 0]
            assert fall > start
            if fall == pytest.approx(float(after[0]) if after else math.inf, rel=1e-9):
                falls += bool(after)
            elif math.isfinite(fall) and not (after and after[0] < fall):
                assert abs(p(Fraction(fall))) <= 10 * ROUND_OFF * p.size(Fraction(fall))
            else:
                end = Fraction(fall) if math.isfinite(fall) else 1000 * after[0]
                assert p.highest(after[0], end) <= 10 * ROUND_OFF
    assert falls > 3 or family in (positive, fourfold, sparse)


@every_family
def test_a_rise_across_another_origin(family):
    """The same polynomial given by its coefficients about `reach`: as good as these, seen from there."""
    rng = np.random.default_rng(3)
    for c, _ in cases(family, 1000 if SOAK else 100, seed=3):
        p, free = Exact(c), first_rise(c, math.inf)
        reach = float((free if math.isfinite(free) else 1.0) * 10.0 ** rng.uniform(-1, 1))
        unit = Fraction(c[0]) / p.p[0]
        about = [x * unit for x in p.about(Fraction(reach))]
        about += [Fraction(0)] * (5 - len(about))

        def slack(x, about=about, reach=reach, unit=unit):
            return ROUND_OFF * sum(abs(a) * abs(x - Fraction(reach)) ** k for k, a in enumerate(about)) / abs(unit)

        for cap in (math.inf, reach * 0.7, reach * 3):
            found = first_rise_across(tuple(float(x) for x in about), c[0], reach, cap)
            true = p.first_rise(cap)
            if math.isfinite(found):
                assert 0 < found <= cap * (1 + 1e-15)
                assert abs(p(Fraction(found))) <= slack(Fraction(found)) + ROUND_OFF * p.size(Fraction(found))
            if true is not None and found > true * (1 + Fraction(1, 10**9)):
                end = Fraction(min(found, cap)) if math.isfinite(min(found, cap)) else 1000 * true
                between = [true, end, *(turn for turn in p.turns if true < turn < end)]
                assert all(p(x) <= slack(x) + ROUND_OFF * p.size(x) for x in between), (c, reach, cap)


COEFFICIENTS = st.floats(-1e3, 1e3).map(lambda value: value if abs(value) > 1e-9 else 0.0)


@settings(max_examples=3 * settings().max_examples)
@given(st.floats(1e-12, 1e3), COEFFICIENTS, COEFFICIENTS, st.floats(-8, 8), st.floats(-8, 8), st.floats(0, 2))
def test_the_first_rise_of_a_quadratic(low, c1, c2, unit, size, shift):
    """From any start at which it is negative."""
    c = [-low, c1 * 10.0**unit, c2 * 10.0 ** (2 * unit)]
    c = [float(x * 10.0**size) for x in c]
    found = first_rise_of_quadratic(*c, 0.0)
    p = Exact(c)
    assert judged(p, found) == "right"
    # The same about another origin.
    s = float(shift * 10.0**-unit)
    unit_of_p = Fraction(c[0]) / p.p[0]
    about = [float(x * unit_of_p) for x in p.about(Fraction(s))] + [0.0, 0.0]
    moved = s + first_rise_of_quadratic(*about[:3], -s)
    assert moved >= 0
    if math.isfinite(found) and math.isfinite(moved):
        rough = p.size(Fraction(s)) + p.size(Fraction(moved))
        assert abs(p(Fraction(moved))) <= ROUND_OFF * rough


def test_a_quadratic_with_a_known_root():
    assert first_rise_of_quadratic(-6.0, 1.0, 1.0, 0.0) == pytest.approx(2.0)
    assert first_rise_of_quadratic(-6.0, 1.0, 1.0, 2.5) == math.inf
    assert first_rise_of_quadratic(-6.0, 5.0, -1.0, 0.0) == pytest.approx(2.0)  # up at 2, down at 3
    assert first_rise_of_quadratic(-6.0, 5.0, -1.0, 2.5) == math.inf
    assert first_rise_of_quadratic(-6.0, -5.0, -1.0, -10.0) == pytest.approx(-3.0)  # up at -3, down at -2
    assert first_rise_of_quadratic(-6.0, 2.0, 0.0, 0.0) == pytest.approx(3.0)
    assert first_rise_of_quadratic(-6.0, -2.0, 0.0, 0.0) == math.inf
    assert first_rise_of_quadratic(-1.0, 2.0, -1.0, 0.0) == math.inf  # touches at 1
    assert first_rise_of_quadratic(-1.0, 0.0, 0.0, 0.0) == math.inf
    assert first_rise_of_quadratic(-1e-26, 1e10, 1.0, 0.0) == pytest.approx(1e-36)


def test_quartics_with_known_roots():
    rises_at_1_and_3 = tuple(product([[-1.0, 1.0], [-2.0, 1.0], [-3.0, 1.0], [4.0, 1.0]]))
    assert rises_at_1_and_3[0] < 0
    assert first_rise(rises_at_1_and_3, math.inf) == pytest.approx(1.0, rel=1e-15)
    assert first_rise(rises_at_1_and_3, 1.001) == pytest.approx(1.0, rel=1e-14)
    assert first_rise(rises_at_1_and_3, 0.999) == math.inf
    assert next_fall(rises_at_1_and_3, 1.5) == pytest.approx(2.0)
    assert next_fall(rises_at_1_and_3, 4.0) == math.inf
    falls_first = tuple(-product([[-1.0, 1.0], [-2.0, 1.0], [-3.0, 1.0], [-4.0, 1.0]]))
    assert first_rise(falls_first, math.inf) == pytest.approx(1.0)
    misses = tuple(-product([[1.0 + 1e-12, -2.0, 1.0], [2.0, 1.0], [3.0, 1.0]]))
    assert first_rise(misses, math.inf) == math.inf
    assert first_rise((-1.0, 0.0, 0.0, 0.0, 0.0), math.inf) == math.inf
    assert first_rise((-1.0, 0.0, 0.0, 0.0, 16.0), math.inf) == pytest.approx(0.5)
    # Up at 1 and down at 1 + 1e-7, then up again at 5: the narrow one counts.
    narrow = tuple(product([[-1.0, 1.0], [-1.0 - 1e-7, 1.0], [-5.0, 1.0], [1.0, 1.0]], 1.0))
    assert narrow[0] < 0
    assert first_rise(narrow, math.inf) == pytest.approx(1.0, rel=1e-7)


def test_the_search_ends_where_all_roots_meet():
    """Noise around a fourfold root must not be searched interval by interval, which would take hours."""
    rng = np.random.default_rng(4)
    for _ in range(2000):
        c = tuple(map(float, fourfold(rng)))
        if c[0] < 0:
            first_rise(c, math.inf)
            first_rise(c, 3.0)


def test_a_root_far_beyond_the_scale_of_the_first_terms_keeps_its_digits():
    far = (-1.0, -4.883212064170295e17, 0.0, -16725276491327.521, 7147890.49844074)
    assert first_rise(far, math.inf) == pytest.approx(2339889.8715873905, rel=1e-14)
