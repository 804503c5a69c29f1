"""The comparison as plain rows: for JSON and CSV. Units are in the names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from vertebra.papers import csv_rows
from vertebra.papers.cai2023.comparison import Comparison
from vertebra.papers.cai2023.curve import Curve

SOURCE = "Cai, Orehov and Choset 2023, Statics Modeling of Discrete Joint Surgical Probes with Tendon-based Stiffening"


def payload_records(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """One a shape and set of tensions."""
    for curve in comparison.curves:
        for tensions, payload, alone in zip(curve.case.tensions, curve.payloads, curve.weightless, strict=True):
            yield {
                "table": curve.case.table,
                "shape": curve.case.shape,
                **{f"T{k}_N": float(value) for k, value in enumerate(tensions, 1)},
                "payload_N": payload.force,
                "weakest_joint": payload.joint,
                "mode": payload.mode,
                "payload_without_weight_N": alone.force,
            }


def curve_record(curve: Curve) -> dict[str, Any]:
    """What a row of a table implies, and ours."""
    implied, (slope, intercept) = curve.printed.implied, curve.line
    return {
        "table": curve.case.table,
        "shape": curve.case.shape,
        "implied_low_N": implied.low,
        "implied_high_N": implied.high,
        "largest_payload_N": curve.largest.force,
        "outside_by_N": curve.miss,
        "weakest_joint": curve.largest.joint,
        "mode": curve.largest.mode,
        "slope_N_per_N": slope,
        "intercept_N": intercept,
        "largest_distance_from_line_N": curve.off_line,
    }


def record(comparison: Comparison) -> dict[str, Any]:
    """Everything."""
    return {
        "paper": SOURCE,
        "payloads": list(payload_records(comparison)),
        "largest": [curve_record(curve) for curve in comparison.curves],
        "best_tensions": [
            {
                "shape": shape,
                **{f"T{k}_N": float(value) for k, value in enumerate(best.tensions, 1)},
                "payload_N": best.payload.force,
                "weakest_joint": best.payload.joint,
                "mode": best.payload.mode,
            }
            for shape, best in comparison.best.items()
        ],
        "claims": [{k: v for k, v in asdict(claim).items() if k != "decimals"} for claim in comparison.claims],
        "other_readings": [asdict(reading) for reading in comparison.readings],
        "sensitivity_N": [asdict(one) for one in comparison.sensitivities],
    }


def csv_text(comparison: Comparison) -> str:
    """Every payload, one row each."""
    return csv_rows.csv_text(list(payload_records(comparison)))
