"""A call whose work could grow beyond any machine by one argument refuses it before the work starts."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from itertools import repeat
from typing import Any

import numpy as np
import pytest

import vertebra as vb
from vertebra.errors import InputError
from vertebra.identify.rig import simulate_rig
from vertebra.identify.slip_model import simulate_slips
from vertebra.locked import sphere_grid

SNAKE, ROLLING, ARM = vb.load("cai2023"), vb.load("hu2023-prototype"), vb.load("dantuono2023")
LOCKED = SNAKE, 0.02, 0.3, 35.0
BILLION = 10**9


def long_arm(joints: int) -> vb.Robot:
    mapping = ARM.to_mapping()
    mapping["sections"][0]["joints"] = joints
    return vb.load(mapping)


def path() -> vb.ShapePath:
    return vb.ShapePath(ROLLING)


TOO_MUCH: dict[str, tuple[str, str, Callable[[], Any]]] = {
    "directions of a grid": ("count", "from 1 to 1,000,000,", lambda: sphere_grid(BILLION)),
    "directions of a map": ("directions", "from 1 to 1,000,000,", lambda: vb.payload_map(*LOCKED, BILLION)),
    "cells of a map": (
        "directions",
        "cells, more than 20,000,000",
        lambda: vb.payload_map(SNAKE, np.full((300, 19), 0.02), 0.3, 35.0, 100_000),
    ),
    "links of a map": (
        "directions",
        "cells, more than 20,000,000",
        lambda: vb.payload_map(*LOCKED, 100_000, links=[-1] * 300),
    ),
    "links without end": ("links", "more than 10,000", lambda: vb.payload_map(*LOCKED, 5, links=repeat(-1))),
    "starts": ("starts", "from 1 to", lambda: vb.equilibria(ROLLING, [5.0] * 4, starts=BILLION)),
    "substeps of a step": ("substeps", "from 1 to 1,000,000,", lambda: path().step([5.0] * 4, substeps=BILLION)),
    "substeps of a walk": ("substeps", "from 1 to 500,000,", lambda: path().follow([[5.0] * 4] * 2, substeps=BILLION)),
    "steps": ("dt", "longer step", lambda: vb.simulate(ARM, [20.0] * 4, duration=1e6, dt=1e-6)),
    "steps beyond count": ("dt", "longer step", lambda: vb.simulate(ARM, [20.0] * 4, duration=1e12, dt=1e-50)),
    "rows": ("every", "keep one in 2", lambda: vb.simulate(ARM, [20.0] * 4, duration=1e4, dt=1e-3)),
    "numbers": (
        "every",
        "of 900 angles are too many to keep; keep one in",
        lambda: vb.simulate(long_arm(900), [20.0] * 4, duration=1e3, dt=1e-3),
    ),
    "gaps": (
        "method",
        "3600 gaps",
        lambda: vb.allocate_tensions(long_arm(900), np.zeros(900), method="capstan", friction=0.3),
    ),
    "repeats of a rig": (
        "repeats",
        "from 1 to 10,000,",
        lambda: simulate_rig(vb.FrictionLaw.constant(0.1), repeats=BILLION),
    ),
    "repeats of slips": ("repeats", "from 1 to 10,000,", lambda: simulate_slips(SNAKE, repeats=BILLION)),
}


@pytest.mark.parametrize("case", TOO_MUCH)
def test_too_much_is_refused_before_any_work(case: str) -> None:
    argument, said, call = TOO_MUCH[case]
    tracemalloc.start()
    try:
        with pytest.raises(InputError) as caught:
            call()
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert caught.value.argument == argument
    assert said in caught.value.message
    assert most < 60e6, "memory for the work was taken"


def test_the_stated_limits_are_in_the_docstrings() -> None:
    for call, words in (
        (sphere_grid, "At most a million"), (vb.payload_map, "20 million cells"), (vb.equilibria, "ten million"),
        (vb.simulate, "100 million steps"), (vb.allocate_tensions, "up to a thousand"),
        (vb.ShapePath.follow, "a million at most"), (vb.ShapePath.step, "a million at most"),
    ):  # fmt: skip
        assert words in (call.__doc__ or ""), call


def test_a_map_on_one_thread_tells_its_progress() -> None:
    told: list[int] = []
    whole = vb.payload_map(*LOCKED, 40_000, threads=1, progress=lambda done, count: told.append(done))
    assert len(told) >= 4
    assert told == sorted(told)
    assert told[-1] == 40_000
    two = vb.payload_map(*LOCKED, 40_000, threads=2)
    np.testing.assert_array_equal(whole.payload, two.payload)
