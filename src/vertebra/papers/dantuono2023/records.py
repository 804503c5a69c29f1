"""The comparison as plain rows: for JSON and CSV. Units are in the names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from vertebra.papers import csv_rows
from vertebra.papers.dantuono2023.cases import DURATION, TIME_STEP
from vertebra.papers.dantuono2023.comparison import Comparison
from vertebra.papers.dantuono2023.migration import FAST
from vertebra.papers.dantuono2023.runs import Run

SOURCE = "D'Antuono et al. 2023, Dynamic model of a tendon-actuated snake robot using the Newton-Euler formulation"


def tension_records(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """One a motion, method, reading and instant."""
    for one in comparison.runs:
        base, off = one.base, one.out_of_balance
        for row, time in enumerate(one.motion.time):
            yield {
                "motion": one.case.name,
                "method": one.method,
                "reading": one.reading.name,
                "t_s": round(float(time), 9),
                **{f"T{k}_N": float(value) for k, value in enumerate(base[row], 1)},
                "out_of_balance_Nm": float(off[row]),
            }


def run_record(one: Run) -> dict[str, Any]:
    """What is highest in one run."""
    moment, joint, time = one.worst
    return {
        "motion": one.case.name,
        "method": one.method,
        "reading": one.reading.name,
        **{f"peak_T{k}_N": float(value) for k, value in enumerate(one.peaks, 1)},
        "feasible_share": one.feasible,
        "out_of_balance_Nm": moment,
        "out_of_balance_joint": joint,
        "out_of_balance_t_s": time,
        "least_contact_force_N": one.least_contact,
    }


def record(comparison: Comparison) -> dict[str, Any]:
    """Everything but the tensions of every instant, which are in the CSV file."""
    found: dict[str, Any] = {
        "paper": SOURCE,
        "duration_s": DURATION,
        "time_step_s": TIME_STEP,
        "peaks": [run_record(one) for one in comparison.runs],
        "migration": [
            {"motion": one.case.name, "share_of_largest_moment": one.share, f"share_at_{FAST:g}_rad_s": one.at(FAST)}
            for one in comparison.migrations
        ],
    }
    if comparison.continuity is not None:
        straight = comparison.continuity
        found["straight_robot"] = {
            "needed_moments_Nm": straight.needed.tolist(),
            "per_link_tensions_N": straight.per_link.tolist(),
            "shared_tensions_N": straight.shared.tolist(),
            "shared_out_of_balance_Nm": straight.residual.tolist(),
            "independent_moments": straight.inputs,
        }
    if comparison.poses is not None:
        found["migration_random_poses"] = asdict(comparison.poses)
    if comparison.claims:
        found["claims"] = [asdict(claim) for claim in comparison.claims]
        found["equations"] = [
            {"equations": one.name, "moments_Nm": one.moments.tolist(), "sum_of_base_tensions_N": one.base}
            for one in comparison.variants
        ]
        found["sensitivity"] = [asdict(one) for one in comparison.sensitivities]
        found["other_robots"] = [
            {**asdict(one.dimensions), "rise_percent": one.rise, "3d_over_pan": one.over_pan,
             "T2_above_pretension_N": one.bottom_pull}
            for one in comparison.robots
        ]  # fmt: skip
    return found


def csv_text(comparison: Comparison) -> str:
    """Tensions at the base at every instant, one row each."""
    return csv_rows.csv_text(list(tension_records(comparison)))
