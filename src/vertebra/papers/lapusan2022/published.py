"""The numbers printed in the paper. All of them are in its text; it has no tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from vertebra.papers.paper import read_rows
from vertebra.robot.tables import Floats

FOLDER = Path(__file__).parent / "tables"
QUANTITIES: tuple[str, ...] = ("x", "y", "z", "alpha", "beta", "gamma")
"""Of a pose, in the order of every array of six: mm, then deg; alpha, beta, gamma are roll, pitch, yaw."""
UNITS = ("mm",) * 3 + ("deg",) * 3
TESTS = {
    "hil": "the board against a virtual robot that is fed with the same sensor data; last platform",
    "tracker": "the board against an electromagnetic tracker; end effector",
}

SENSOR_TILT, SENSOR_HEADING = 0.05, 1.0
"""Stated precision of a sensor about x and y, and about z, deg (section 3)."""
SENSOR_RATE, LOOP_RATE = 100.0, 20.0
"""Samples of a sensor, and cycles of the main programme, Hz (section 3)."""
EXECUTION_TIME = 50.0
"""ms; the code is said to take less (section 3)."""
ANGLE_AGREEMENT = 1e-6
"""deg; relative angles of board and virtual robot are said to differ by less (section 4.2)."""
MODULES = 4


@dataclass(frozen=True, eq=False)
class Errors:
    """What one test printed; each (6,) in the order of `QUANTITIES`, mm and deg."""

    test: str
    mae: Floats
    """Mean absolute errors."""
    ranges: Floats
    """Of motion, from the least to the greatest value."""
    largest: Floats
    """Largest absolute error of any platform; NaN where none is printed."""


@cache
def errors(test: str) -> Errors:
    """Those of `hil` or `tracker`."""
    rows = {row["quantity"]: row for row in read_rows(FOLDER / "errors.csv") if row["test"] == test}
    columns = [[float(rows[name][column] or "nan") for name in QUANTITIES] for column in ("mae", "range", "largest")]
    return Errors(test, *(np.array(column) for column in columns))
