"""The comparison as plain rows: for JSON and CSV. Units are in the names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from vertebra.papers import csv_rows
from vertebra.papers.lapusan2022.comparison import Comparison
from vertebra.papers.lapusan2022.published import QUANTITIES, TESTS, UNITS, errors
from vertebra.robot.tables import Floats

SOURCE = "Lapusan, Hancu and Rad 2022, Shape Sensing of Hyper-Redundant Robots Using an AHRS IMU Sensor Network"
NAMES = tuple(f"{name}_{unit}" for name, unit in zip(QUANTITIES, UNITS, strict=True))


def record(comparison: Comparison) -> dict[str, Any]:
    """Everything but the errors of every instant, which are in the CSV file."""
    found = comparison.found
    return {
        "paper": SOURCE,
        "simulated": True,
        "published": [
            {"test": test, "mae": _six(errors(test).mae), "range": _six(errors(test).ranges)} for test in TESTS
        ],
        "ranges": [{"test": test, **_six(values)} for test, values in found.ranges.items()],
        "perfect_sensors": [
            {
                "base": one.base.name,
                "methods": {name: asdict(error) for name, error in one.methods.items()},
                "equations": {name: asdict(error) for name, error in one.variants.items()},
            }
            for one in found.bases
        ],
        "growth": [asdict(one) for one in found.growth],
        "runs": list(run_records(comparison)),
        "virtual_robot": [
            {"base": one.base.name, "from_virtual_mm": one.from_virtual_mm, "from_truth_mm": one.from_truth_mm}
            for one in found.virtual
        ],
        "rounding": asdict(found.rounding),
        "lever": asdict(found.lever),
        "platforms_mm": {"moving": found.along.moving_mm.tolist(), "straight": found.along.straight_mm.tolist()},
        "third_angle_deg": found.third_angles,
        "causes": [{"cause": one.name, **_six(one.mae)} for one in found.causes],
        "claims": [asdict(claim) for claim in comparison.claims],
    }


def run_records(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Mean absolute errors of every simulated run."""
    for one in comparison.found.runs:
        yield {
            "motion": one.test,
            "sensors": one.model,
            "method": one.method,
            "seed": one.seed,
            **{f"mae_{name}": value for name, value in _six(one.mae).items()},
            **{f"tip_{name}": value for name, value in asdict(one.tip).items()},
        }


def error_records(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Errors of the tip in the base, at every instant of every run."""
    for one in comparison.found.runs:
        for time, row in zip(one.times, one.errors, strict=True):
            yield {
                "motion": one.test,
                "sensors": one.model,
                "method": one.method,
                "seed": one.seed,
                "t_s": round(float(time), 6),
                **{f"error_{name}": value for name, value in _six(row).items()},
            }


def csv_text(comparison: Comparison) -> str:
    """Errors at every instant, one row each."""
    return csv_rows.csv_text(list(error_records(comparison)))


def _six(values: Floats) -> dict[str, float]:
    return {name: float(value) for name, value in zip(NAMES, values, strict=True)}
