"""Studies: a million rows against the batch kernel alone, growth and memory; gradient search against CMA-ES."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from tests.studies.test_optimise import REACH, SAG, SECTION

import vertebra as vb
from benchmarks.report import Row
from benchmarks.statics import all_cores
from benchmarks.timing import medians
from vertebra.robot.tables import Floats
from vertebra.studies import Study

ROWS = 1_000_000
TILTS = 10
PIECE = 50_000
"""Rows that the kernel alone is given at a time, so that compliances do not fill the memory."""


def rows() -> list[Row]:
    with all_cores():
        return [*against_kernel(), growth(), *searches()]


def study(count: int) -> dict[str, Any]:
    """Tensions times tilts of gravity, `count` rows of the prototype."""
    return {
        "study": 1, "robot": "hu2023-prototype", "tensions": 2.0, "quantities": ["tip"],
        "vary": {
            "gravity.tilt": {"from": 0, "to": "90 deg", "count": TILTS},
            "tensions[0]": {"from": 1.0, "to": 5.0, "count": 10},
            "tensions[1]": {"from": 1.0, "to": 5.0, "count": 10},
            "tensions[2]": {"from": 1.0, "to": 5.0, "count": count // (100 * TILTS)},
        },
    }  # fmt: skip


def tips(asked: Study) -> Floats:
    """The same rows by the batch call alone."""
    values, size = asked.values(0, asked.rows), 9.81
    tensions, found = np.full((len(values), 4), 2.0), np.empty((len(values), 3))
    tensions[:, :3] = values[:, 1:]
    each = len(values) // TILTS
    for first in range(0, len(values), each):
        tilt = values[first, 0]
        gravity = [size * np.sin(tilt), 0.0, -size * np.cos(tilt)]
        for start in range(first, first + each, PIECE):
            part = slice(start, min(start + PIECE, first + each))
            found[part] = vb.shapes_from_tensions(asked.robot, tensions[part], gravity=gravity).tip
    return found


def against_kernel() -> Iterator[Row]:
    asked = Study.read(study(ROWS))
    kernel, swept = medians(lambda: tips(asked), lambda: vb.sweep(asked))
    what = "study, 1000000 rows of 12 links, tensions x tilt, all cores"
    yield Row(what, "throughput, sweep / batch kernel alone", kernel / swept, 0.8, f"{ROWS / swept:,.0f} a second")
    yield Row(what, "peak memory, GB", memory(), 2.0, "a process of its own", at_most=True)


MEASURED = """
import resource
import vertebra as vb
from benchmarks.studies import ROWS, study
vb.sweep(study(ROWS))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)
"""


def memory() -> float:
    """GB, of a process that sweeps."""
    done = subprocess.run([sys.executable, "-c", MEASURED], capture_output=True, text=True, check=True)
    return float(done.stdout)


def growth() -> Row:
    sizes = (10_000, 100_000, 1_000_000)
    studies = [Study.read(study(size)) for size in sizes]
    seconds = medians(*(lambda s=s: vb.sweep(s) for s in studies), clock=time.process_time)  # type: ignore[misc]
    exponent = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    detail = ", ".join(f"{second / size * 1e6:.2f}" for size, second in zip(sizes, seconds, strict=True))
    measure = "scaling exponent of CPU time"
    return Row("study, 10000 to 1000000 rows", measure, exponent, 1.05, f"us per row: {detail}", at_most=True)


# Searches.


def searches() -> Iterator[Row]:
    """How many more rows CMA-ES evaluates for the same optimum than the search by gradients, derivatives counted: until
    it stops by itself, and until its best row is as good to 1e-4."""
    for problem in (REACH, SAG, SECTION):
        by_gradient, by_cma = (vb.optimise(problem, method=method) for method in ("gradient", "cma"))
        ours, wanted = by_gradient.evaluations + by_gradient.gradients, by_gradient.objectives[0, 0]
        off = np.flatnonzero(~(np.abs(by_cma.history.best - wanted) <= 1e-4 * abs(wanted)))
        near = by_cma.history.evaluations[off[-1] + 1 if len(off) else 0]
        what = f"search, {problem['name']}, {len(problem['vary'])} variables"
        yield Row(what, "evaluations, CMA-ES / gradients", by_cma.evaluations / ours, 20.0, f"{ours} evaluations")
        yield Row(what, "the same, CMA-ES until 1e-4 near", near / ours, None, "")
