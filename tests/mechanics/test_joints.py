"""Joint laws: values, derivatives and the hand-over from series to closed form."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest

from vertebra.mechanics.kernels.algebra import rotation_coefficient_derivatives, rotation_coefficients
from vertebra.mechanics.kernels.joints import arc_centroid, arc_centroid_derivatives, mirror_law
from vertebra.robot.tables import FLEXURE, PIN, ROLLING

ANGLES = np.concatenate([np.linspace(-2.8, 2.8, 57), [-1e-3, 0.19, 0.1999, 0.2, 0.2001, -0.21]])


def law(kind, size, q):
    return mirror_law(kind, size, q, np.sin(q / 2), np.cos(q / 2))


def exact_s(kind, size, q):
    """The law as written in the theory, in extended precision and for complex angles."""
    q = np.asarray(q, dtype=np.clongdouble)
    if kind == ROLLING:
        return size / np.cos(q / 2) - size
    return size / q * np.tan(q / 2)


@pytest.mark.parametrize("kind", [ROLLING, FLEXURE])
@pytest.mark.parametrize("q", ANGLES[ANGLES != 0])
def test_law_and_derivatives_match_the_definition(kind, q):
    s, first, second = law(kind, 0.02, q)
    assert s == pytest.approx(float(exact_s(kind, 0.02, q).real), rel=1e-14, abs=1e-18)
    tiny, step = np.longdouble(1e-30), np.longdouble(1e-5)
    assert first == pytest.approx(float(exact_s(kind, 0.02, q + 1j * tiny).imag / tiny), rel=1e-12, abs=1e-17)
    behind, here, ahead = (exact_s(kind, 0.02, q + k * step).real for k in (-1, 0, 1))
    assert second == pytest.approx(float((ahead - 2 * here + behind) / step**2), rel=1e-7)


@pytest.mark.parametrize("q", [1e-3, 1e-6, -1e-9, 1e-15, 5e-324])
def test_law_next_to_straight_keeps_all_digits(q):
    # Leading terms; the next ones are below the tolerance.
    assert law(ROLLING, 0.02, q) == pytest.approx((0.02 * q * q / 8, 0.02 * q / 4, 0.02 / 4), rel=2e-6, abs=0)
    expected = (0.003 * (1 + q * q / 12), 0.003 * q / 6, 0.003 / 6)
    assert law(FLEXURE, 0.006, q) == pytest.approx(expected, rel=2e-6, abs=0)


def test_law_of_a_straight_joint():
    assert law(ROLLING, 0.02, 0.0) == (0.0, 0.0, 0.005)
    assert law(FLEXURE, 0.006, 0.0) == pytest.approx((0.003, 0.0, 0.006 / 12), rel=1e-15)
    assert law(PIN, 0.004, 0.7) == (0.004, 0.0, 0.0)


@pytest.mark.parametrize("kind", [ROLLING, FLEXURE])
def test_law_has_no_step_where_series_and_closed_form_meet(kind):
    below, above = np.nextafter(0.2, 0), np.nextafter(0.2, 1)
    np.testing.assert_allclose(law(kind, 1.0, below), law(kind, 1.0, above), rtol=2e-13)


def test_arc_centroid_has_no_step_and_matches_its_definition():
    for h in (0.02, 0.0499999, 0.0500001, 0.3, 1.2, -0.7):
        wide = np.longdouble(h)
        expected = float((1 / np.cos(wide) - np.sin(wide) / wide) / (2 * wide))
        assert arc_centroid(h, np.sin(h), np.cos(h)) == pytest.approx(expected, rel=1e-13)
    assert arc_centroid(1e-6, np.sin(1e-6), np.cos(1e-6)) == pytest.approx(1e-6 / 3, rel=1e-12)
    assert arc_centroid(0.0, 0.0, 1.0) == 0.0


def decimal_sine(x):
    """(sin, cos) by their power series, to all digits of the context."""
    sine, cosine, term = Decimal(0), Decimal(0), Decimal(1)
    for k in range(120):
        if k % 2:
            sine += term * (-1) ** (k // 2)
        else:
            cosine += term * (-1) ** (k // 2)
        term = term * x / (k + 1)
    return sine, cosine


def decimal_derivatives(function, x):
    """A function of one Decimal and its first two derivatives by differences in 70 digits."""
    step = Decimal(10) ** -18
    behind, here, ahead = function(x - step), function(x), function(x + step)
    return float(here), float((ahead - behind) / (2 * step)), float((ahead - 2 * here + behind) / step**2)


def exact_centroid(h):
    sine, cosine = decimal_sine(h)
    return (1 / cosine - sine / h) / (2 * h)


def exact_tangent_ratio(h):
    sine, cosine = decimal_sine(h)
    return sine / cosine / h


# Half angles on both sides of every hand-over from series to closed form, from next to nothing to nearly a half turn.
HALF_ANGLES = [1e-9, 1e-4, -0.01, 0.0499, 0.0501, -0.0999, 0.1001, 0.15, 0.1999, -0.1999, 0.2001, 0.3, -0.7, 1.2, 1.5]


@pytest.mark.parametrize("h", HALF_ANGLES)
def test_arc_centroid_and_its_derivatives_match_seventy_digits(h):
    with localcontext() as context:
        context.prec = 70
        value, first, second = decimal_derivatives(exact_centroid, Decimal(h))
    found = arc_centroid_derivatives(h, np.sin(h), np.cos(h))
    assert found[0] == pytest.approx(value, rel=2e-14, abs=0)
    assert found[1] == pytest.approx(first, rel=1e-13, abs=0)
    assert found[2] == pytest.approx(second, rel=1e-12, abs=0)
    assert arc_centroid(h, np.sin(h), np.cos(h)) == pytest.approx(value, rel=1e-12, abs=0)


@pytest.mark.parametrize("h", HALF_ANGLES)
def test_flexure_law_and_its_derivatives_match_seventy_digits(h):
    with localcontext() as context:
        context.prec = 70
        value, first, second = decimal_derivatives(exact_tangent_ratio, Decimal(h))
    # s = (L/2) f(q/2)
    expected = (0.5 * value, 0.25 * first, 0.125 * second)
    assert law(FLEXURE, 1.0, 2 * h) == pytest.approx(expected, rel=1e-12, abs=0)


def test_arc_centroid_of_a_straight_rod():
    assert arc_centroid_derivatives(0.0, 0.0, 1.0) == pytest.approx((0.0, 1 / 3, 0.0), rel=1e-15, abs=0)


@pytest.mark.parametrize("phi", [1e-6, 0.01, 0.2, 0.2449, 0.245, 0.5, 1.0, 2.0, 3.1])
def test_rotation_coefficients_match_their_definitions(phi):
    c, a, b, d = rotation_coefficients(phi * phi)
    x = np.longdouble(phi)
    assert c == pytest.approx(float(np.cos(x)), abs=2e-16)
    assert a == pytest.approx(float(np.sin(x) / x), rel=1e-15)
    assert b == pytest.approx(float(2 * np.sin(x / 2) ** 2 / x**2), rel=1e-15)
    if phi > 0.1:
        assert d == pytest.approx(float((x - np.sin(x)) / x**3), rel=1e-14)


@pytest.mark.parametrize("y", [0.0, 0.01, 0.0599, 0.0601, 0.5, 4.0, 9.0])
def test_rotation_coefficient_derivatives_match_differences(y):
    step = 1e-4
    c, a, b, _ = rotation_coefficients(y)
    a1, a2, b1, b2 = rotation_coefficient_derivatives(y, c, a, b)
    low = max(y - step, 0.0)
    ahead, behind = rotation_coefficients(y + step), rotation_coefficients(low)
    if y > 0:
        assert a1 == pytest.approx((ahead[1] - behind[1]) / (2 * step), abs=1e-9)
        assert b1 == pytest.approx((ahead[2] - behind[2]) / (2 * step), abs=1e-9)
        d_ahead = rotation_coefficient_derivatives(y + step, *ahead[:3])
        d_behind = rotation_coefficient_derivatives(low, *behind[:3])
        assert a2 == pytest.approx((d_ahead[0] - d_behind[0]) / (2 * step), abs=1e-9)
        assert b2 == pytest.approx((d_ahead[2] - d_behind[2]) / (2 * step), abs=1e-9)
    else:
        assert (a1, a2, b1, b2) == (-1 / 6, 1 / 60, -1 / 24, 1 / 360)
