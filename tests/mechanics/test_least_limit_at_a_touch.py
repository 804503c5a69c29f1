"""A later joint that only just touches its limit must not raise the least limit found before it.

With a cap, round-off may count a touch as a slip, and without one not.
"""

from __future__ import annotations

import math

import numpy as np
from tests.mechanics import wrench_cases

import vertebra as vb
from vertebra.mechanics.kernels.ball import least_limit
from vertebra.mechanics.kernels.contact import load_limit


def two_joints(w, i, cap):
    """Arguments of `least_limit`: joint 1 gives way at `cap`, joint 2 is the contact in row i."""
    f0, m0, d, m1, mu, radius, ring = w.call(i)
    joints = vb.load("cai2023").joints[:2].copy()
    joints["friction"], joints["radius"], joints["ring_radius"] = mu, radius, ring
    joints.flags.writeable = False
    # A joint without moment, pressed across the load, as strong as it takes.
    across = np.cross(d, (0.3, -0.5, 0.8))
    limit, _ = load_limit(tuple(across.tolist()), (0.0, 0.0, 0.0), d, m1, mu, radius, ring, math.inf)
    if math.isinf(limit):
        return None
    supply = np.array([[*(cap / limit * across), 0.0, 0.0, 0.0], [*f0, *m0]])
    # Both balls at the point of the load: the moment of the load is the couple alone.
    frames = np.tile(np.eye(4), (3, 1, 1))
    return joints, supply, frames, 0, 2, (0.0, 0.0, 0.0), d, m1


def test_a_touch_does_not_raise_the_least_limit():
    rng = np.random.default_rng(0)
    w = wrench_cases.touching(np.random.default_rng(8), 3000)
    differ = 0
    for i in range(len(w)):
        call = w.call(i)
        free, _ = load_limit(*call, math.inf)
        unit = free if math.isfinite(free) else float(np.linalg.norm(w.f0[i]))
        for cap in (unit * 10.0 ** rng.uniform(-0.3, 1, 20)).tolist():
            capped, _ = load_limit(*call, cap)
            if capped < cap < free:
                arguments = two_joints(w, i, cap)
                if arguments is not None:
                    least, row, _ = least_limit(*arguments)
                    assert least <= cap * (1 + 1e-9)
                    assert row == 0
                    differ += 1
    print(f"{differ} touches that count only with a cap")
