"""The comparison as plain rows: for JSON and CSV. Units are in the names."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from vertebra.papers import csv_rows
from vertebra.papers.hu2023.cells import Cell
from vertebra.papers.hu2023.comparison import Comparison

SOURCE = "Hu et al. 2023, doi 10.3390/robotics12010002"


def cell_record(cell: Cell) -> dict[str, Any]:
    """One cell."""
    table, item, mount = cell.key
    return {
        "table": table,
        "item": item,
        "mount": mount,
        "quantity": cell.quantity,
        "published": cell.published,
        "ours": cell.ours,
        "simulated_or_measured": cell.reference,
        "equal": cell.equal,
    }


def record(comparison: Comparison) -> dict[str, Any]:
    """Everything; the parts that were not asked for are left out."""
    out: dict[str, Any] = {
        "paper": SOURCE,
        "cells_equal": comparison.equal,
        "cells": [cell_record(cell) for cell in comparison.cells],
    }
    if comparison.claims:
        out["claims"] = [asdict(claim) | {"verdict": claim.verdict} for claim in comparison.claims]
    if comparison.tips:
        out["table_4"] = [
            {
                "tip": tip.tip,
                "mount": tip.mount,
                "tensions_N": tip.tensions,
                "published_error_no_gravity_mm": tip.no_gravity_error,
                "published_error_mm": tip.with_gravity_error,
                "our_tip_no_gravity_mm": tip.no_gravity_tip,
                "our_tip_mm": tip.with_gravity_tip,
                "apart_mm": tip.apart,
                "possible": tip.possible,
            }
            for tip in comparison.tips
        ]
    if comparison.races:
        out["algorithms"] = [
            {
                "case": race.case,
                "newton_iterations": race.newton,
                "sweeps_omega_halved": race.halving,
                "sweeps_omega_1": race.kept_at_one,
                "sweeps_omega_half": race.kept_at_half,
                "largest_difference_rad": race.difference,
            }
            for race in comparison.races
        ]
    return out


def csv_text(comparison: Comparison) -> str:
    """Every cell, one row each."""
    return csv_rows.csv_text([cell_record(cell) for cell in comparison.cells])
