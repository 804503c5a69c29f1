"""What the tests of `simulate` share: runs of the preset, the balance of energy, how long a robot takes to settle."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray

import vertebra as vb

PRESET = vb.load("dantuono2023")
PULL = np.array([30.0, 45.0, 40.0, 35.0])
BENT, SWUNG = np.linspace(-0.1, 0.2, 6), np.linspace(1.0, -2.0, 6)


def swing(tensions: Any = PULL, **options: Any) -> xarray.Dataset:
    """The preset, swinging under four uneven cables."""
    options = {"duration": 0.1, "q0": BENT, "qd0": SWUNG, "friction": 0} | options
    if "lengths" in options:
        return vb.simulate(PRESET, **options)
    return vb.simulate(PRESET, tensions, **options)


def imbalance(run: xarray.Dataset) -> float:
    """Largest energy that came from nowhere, of the largest kinetic energy."""
    total = run.kinetic + run.potential + run.stored + run.dissipated - run.cable_work - run.load_work - run.drawn
    return float(abs(total - total[0]).max() / run.kinetic.max())


def end(run: xarray.Dataset) -> np.ndarray:
    """(2 n,) angles and rates at the end."""
    return np.concatenate([run.q.values[-1], run.qd.values[-1]])


def same(first: xarray.Dataset, second: xarray.Dataset) -> bool:
    """Whether two runs agree bit for bit, attributes and all."""
    return first.identical(second)
