"""Statements of the text, beside our numbers or the printed ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from vertebra.papers.cai2023 import published
from vertebra.papers.cai2023.curve import Curve
from vertebra.papers.cai2023.published import HALF_DIGIT, ErrorRow

HOLDS = "holds"
NEAR = "near"
LAST_DIGIT = "last digit"
FAILS = "does not hold"
UNCHECKABLE = "not checkable"
VERDICTS = {
    HOLDS: "our numbers, or the printed ones, say the same",
    NEAR: "ours is within one percentage point of a printed number, but not that number: it depends on what is assumed",
    LAST_DIGIT: "the printed number is the limit itself, so that only its rounding can make the statement true",
    FAILS: "our numbers, or the printed ones, say something else",
    UNCHECKABLE: "needs numbers that are only drawn",
}
MODEL, PRINT = "our model", "printed numbers"
ONE_POINT = 1.0


@dataclass(frozen=True)
class Claim:
    """One statement."""

    section: str
    """Where the paper makes it."""
    what: str
    unit: str
    says: str
    """The number or the limit of the text."""
    basis: str
    """What ours is worked out from: our model or the printed numbers."""
    ours: float | None
    """None when it cannot be checked."""
    verdict: str
    """One of `VERDICTS`."""
    why: str = ""
    decimals: int = 2


def gains(equal: Curve, less: Curve) -> list[float]:
    """By how much the payload is larger when T1 is 5 N less, %, level by level."""
    return [100.0 * (b / a - 1.0) for a, b in zip(equal.forces.tolist(), less.forces.tolist(), strict=True)]


def claims_of(curves: Sequence[Curve], printed: Mapping[tuple[int, str], ErrorRow]) -> Iterator[Claim]:
    """All that the text says about payloads and errors."""
    by_case = {(curve.case.table, curve.case.shape): curve for curve in curves}
    yield from _gains(by_case)
    yield from _lines(by_case)
    yield from _errors([row for row in printed.values() if row.table == 1])
    yield Claim(
        "III-B", "scatter of experiments", "N", f"{published.SCATTER:.2f}", PRINT, None, UNCHECKABLE,
        "Experiments are only drawn.",
    )  # fmt: skip


def _gains(curves: Mapping[tuple[int, str], Curve]) -> Iterator[Claim]:
    for shape, quoted in published.GAINS.items():
        found = gains(curves[1, shape], curves[2, shape])
        most = max(found)
        near = NEAR if abs(most - quoted) <= ONE_POINT else FAILS
        yield Claim(
            "III-C", f"{shape}: largest gain", "%", f"{quoted:.2f}", MODEL, most,
            HOLDS if abs(most - quoted) <= HALF_DIGIT else near,
            "By 5 N less in tendon 1: 0, 5, 5 N against 5, 5, 5 N. The higher the tensions, the smaller the gain. The"
            " text does not say which tensions it compares, nor whether it quotes experiments or its model.",
        )  # fmt: skip
        least = min(found)
        yield Claim(
            "III-C", f"{shape}: smallest gain", "%", "> 0", MODEL, least, HOLDS if least > 0.0 else FAILS,
            "At 35 N; the text says that the payload grows.",
        )  # fmt: skip


def _lines(curves: Mapping[tuple[int, str], Curve]) -> Iterator[Claim]:
    equal = [curve for (table, _), curve in curves.items() if table == 1]
    off = max(curve.off_line for curve in equal)
    yield Claim(
        "III-B", "payload off a straight line", "N", "linear", MODEL, off,
        HOLDS if off < published.FORCE_STEP else FAILS,
        "Largest of four shapes, against a line with its own intercept; called linear below the 0.05 N by which the"
        " paper's method loads a link. Without weight the payload is in proportion to the tension, with it only nearly"
        " linear, and weight takes off a part that does not depend on tension.",
        6,
    )  # fmt: skip


def _errors(rows: Sequence[ErrorRow]) -> Iterator[Claim]:
    limits = (
        ("mean error", "N", published.MEAN_BELOW, max(row.mean for row in rows)),
        ("largest error", "N", published.LARGEST_BELOW, max(row.largest for row in rows)),
        ("mean error", "%", {"III-B": published.MEAN_PERCENT_BELOW}, max(row.mean_percent for row in rows)),
        ("largest error", "%", {"III-B": published.LARGEST_PERCENT_BELOW}, max(row.largest_percent for row in rows)),
    )
    for what, unit, bounds, most in limits:
        for section, bound in bounds.items():
            verdict = HOLDS if most < bound else LAST_DIGIT if math.isclose(most, bound) else FAILS
            yield Claim(section, what, unit, f"< {bound:g}", PRINT, most, verdict, "Table I.")
    worst = max(rows, key=lambda row: row.mean), max(rows, key=lambda row: row.largest)
    shapes = {row.shape for row in worst}
    in_percent = max(rows, key=lambda row: row.largest_percent)
    yield Claim(
        "III-B", "errors of non-planar shape", "N", "largest", PRINT, worst[1].largest,
        HOLDS if shapes == {"non-planar"} else FAILS,
        f"In N. In % of its payload the {in_percent.shape} has the largest error of all,"
        f" {in_percent.largest_percent:.2f} %.",
    )  # fmt: skip
