"""The comparison as plain rows: for JSON and CSV. Units are in the names."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from vertebra.papers import csv_rows
from vertebra.papers.yang2023.cases import in_paper_axes, tensions_of
from vertebra.papers.yang2023.claims import Claim
from vertebra.papers.yang2023.comparison import Comparison
from vertebra.papers.yang2023.hysteresis import Loop

SOURCE = (
    "Yang et al. 2023, Comprehensive kinetostatic modeling and morphology characterization of cable-driven continuum"
    " robots for in-situ aero-engine maintenance"
)


def tip_records(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """One a shape: tips in the paper's axes."""
    for case in comparison.cases:
        tensions = {f"T{cable}_N": float(value) for cable, value in enumerate(tensions_of(case), 1)}
        for condition in comparison.conditions:
            for closure in comparison.closures:
                x, y, z = (
                    float(value) for value in in_paper_axes(comparison.solved[case.number, condition, closure].tip)
                )
                yield {
                    "case": case.number,
                    "prototype": case.prototype,
                    "test": case.test,
                    **tensions,
                    "payload_g": case.payload_kg * 1e3,
                    "condition": condition,
                    "closure": closure,
                    "x_mm": x,
                    "y_mm": y,
                    "z_mm": z,
                }


def claim_record(claim: Claim) -> dict[str, Any]:
    """With null where there is no bound."""
    fields = {name: value for name, value in asdict(claim).items() if name not in ("decimals", "triangle")}
    bounds = {name: None if math.isinf(fields[name]) else fields[name] for name in ("low", "high")}
    return fields | bounds | {"verdict": claim.verdict}


def loop_record(loop: Loop) -> dict[str, Any]:
    """The whole path and what it cost."""
    return {
        "tension_difference_N": loop.difference.tolist(),
        "tips_mm": loop.tips.tolist(),
        "tips_without_friction_mm": loop.frictionless.tolist(),
        "friction_work_mJ": loop.friction_work.tolist(),
        "work_of_hung_masses_mJ": loop.cable_work.tolist(),
        "width_mm": loop.width,
        "widest_at_N": loop.widest_at,
        "drift_mm": loop.drift,
    }


def record(comparison: Comparison) -> dict[str, Any]:
    """Everything; the parts that were not asked for are left out."""
    out: dict[str, Any] = {
        "paper": SOURCE,
        "axes": "x along the robot, y up, z sideways",
        "tips": list(tip_records(comparison)),
    }
    if comparison.claims:
        out["claims"] = [claim_record(claim) for claim in comparison.claims]
    if comparison.loops:
        out["hysteresis"] = {closure: loop_record(loop) for closure, loop in comparison.loops.items()}
    return out


def csv_text(comparison: Comparison) -> str:
    """Every tip, one row each."""
    return csv_rows.csv_text(list(tip_records(comparison)))
