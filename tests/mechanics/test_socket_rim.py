"""Contacts that dip over the rim of their socket between two samples of the search."""

from __future__ import annotations

import math

import pytest

from vertebra.mechanics.kernels.ball import rim_limit

NONE = (0.0, 0.0, 0.0)
BACK = (0.0, 0.0, -1.0)


def limit(start, height, forbidden, cap):
    """The force (start - F, height, 1) passes the z axis; `forbidden` is the angle from it that the rim cuts out."""
    rim = math.cos(math.pi - forbidden)
    return rim_limit((start, height, 1.0), NONE, (1.0, 0.0, 0.0), NONE, 0.006, BACK, rim, cap)


def crossing(start, height, forbidden):
    """Where the angle from z first is `forbidden`: (start - F)^2 + height^2 = tan^2."""
    return start - math.sqrt(math.tan(forbidden) ** 2 - height**2)


@pytest.mark.parametrize("start", [0.05, 0.3, 1.0, 3.05, 7.7])
@pytest.mark.parametrize("cap", [10.0, 8.0, 100.0, math.inf])
def test_a_dip_between_samples_is_found(start, cap):
    assert limit(start, 0.0005, 0.002, cap) == pytest.approx(crossing(start, 0.0005, 0.002), rel=1e-8)
    # As close, but not over the rim.
    assert limit(start, 0.0025, 0.002, cap) == math.inf


@pytest.mark.parametrize("start", [0.05, 3.05])
def test_a_dip_just_before_the_cap_is_found(start):
    assert limit(start, 0.0005, 0.002, start + 0.01) == pytest.approx(crossing(start, 0.0005, 0.002), rel=1e-8)
    assert limit(start, 0.0005, 0.002, start - 0.01) == math.inf
    assert limit(start, 0.0005, 0.002, start) == pytest.approx(crossing(start, 0.0005, 0.002), rel=1e-8)


def test_no_load_and_no_end():
    assert rim_limit((0.0, 0.0, 1.0), NONE, NONE, NONE, 0.006, (0.0, 0.0, 1.0), 0.9, 0.0) == math.inf
    assert rim_limit((1.0, 0.0, 0.1), NONE, NONE, NONE, 0.006, (0.0, 0.0, 1.0), 0.9, 0.0) == 0.0
    # Toward 45 degrees from the axis, and a rim just before and just beyond it.
    d = (-math.sqrt(0.5), 0.0, -math.sqrt(0.5))
    for past, finite in ((1e-4, True), (-1e-4, False)):
        rim = math.cos(math.pi / 4 - past)
        found = rim_limit((0.0, 0.0, 1.0), NONE, d, NONE, 0.006, (0.0, 0.0, 1.0), rim, math.inf)
        assert math.isfinite(found) == finite
    # The back of the ball is no more inside than its side.
    assert rim_limit((0.0, 0.0, -1.0), NONE, d, NONE, 0.006, (0.0, 0.0, 1.0), 0.9, math.inf) == 0.0
