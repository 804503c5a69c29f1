"""Statements of the text, beside our numbers or the printed ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vertebra.papers.cai2023 import published
from vertebra.papers.cai2023.cases import SHAPES, gains
from vertebra.papers.cai2023.model import Results
from vertebra.papers.cai2023.published import HALF_DIGIT, ErrorRow, error_rows
from vertebra.papers.paper import Claim, Verdict, rounds_to, unless_explained
from vertebra.report.document import fixed

MODEL, PRINT = "our model", "printed numbers"


class _Judged(NamedTuple):
    """A claim before it has a number."""

    section: str
    what: str
    unit: str
    says: str
    """The number or the limit of the text."""
    basis: str
    """What ours is worked out from: our model or the printed numbers."""
    ours: float | None
    """None when it cannot be checked."""
    verdict: Verdict
    why: str
    decimals: int = 2

    def claim(self, key: str) -> Claim:
        """With the shapes that it is about."""
        shape = next((name for name in SHAPES if name in self.what), None)
        found = "" if self.ours is None else f"{fixed(self.ours, self.decimals)} {self.unit}"
        details = {name: getattr(self, name) for name in ("unit", "says", "basis", "ours")}
        about = frozenset({shape} if shape else {"equal"})
        says = self.says if self.says in ("linear", "largest") else f"{self.says} {self.unit}"
        return Claim(key, self.section, self.what, says, found, self.verdict, self.why, about, details)


def claims(found: Results) -> tuple[Claim, ...]:
    """All that the text says about payloads and errors."""
    return tuple(one.claim(str(number)) for number, one in enumerate(_judged(found), 1))


def _judged(found: Results) -> Iterator[_Judged]:
    yield from _gains(found)
    yield _line(found)
    yield from _errors([row for row in error_rows().values() if row.table == 1])
    yield _Judged(
        "III-B", "scatter of experiments", "N", f"{published.SCATTER:.2f}", PRINT, None, Verdict.NOT_PRINTED,
        "Experiments are only drawn.",
    )  # fmt: skip


def _gains(found: Results) -> Iterator[_Judged]:
    for shape, quoted in published.GAINS.items():
        tried = gains(found.curve(1, shape), found.curve(2, shape))
        low, high = found.gain_ranges[shape]
        within = Verdict.DEPENDS if low <= quoted <= high else Verdict.NOT_REPRODUCED
        yield _Judged(
            "III-C", f"{shape}: largest gain", "%", f"{quoted:.2f}", MODEL, max(tried),
            unless_explained(rounds_to(max(tried), quoted), within),
            "By 5 N less in tendon 1: 0, 5, 5 N against 5, 5, 5 N. The higher the tensions, the smaller the gain. With"
            f" one of the assumed numbers 5 % larger it is {fixed(low)} to {fixed(high)} %. The text does not say which"
            " tensions it compares, nor whether it quotes experiments or its model.",
        )  # fmt: skip
        yield _Judged(
            "III-C", f"{shape}: smallest gain", "%", "> 0", MODEL, min(tried), unless_explained(min(tried) > 0.0),
            "At 35 N; the text says that the payload grows.",
        )  # fmt: skip


def _line(found: Results) -> _Judged:
    off = max(curve.off_line for curve in found.curves if curve.case.table == 1)
    return _Judged(
        "III-B", "payload off a straight line", "N", "linear", MODEL, off,
        unless_explained(off < published.FORCE_STEP),
        "Largest of four shapes, against a line with its own intercept; called linear below the 0.05 N by which the"
        " paper's method loads a link. Without weight the payload is in proportion to the tension, with it only nearly"
        " linear, and weight takes off a part that does not depend on tension.",
        6,
    )  # fmt: skip


def _errors(rows: Sequence[ErrorRow]) -> Iterator[_Judged]:
    limits = (
        ("mean error", "N", published.MEAN_BELOW, max(row.mean for row in rows)),
        ("largest error", "N", published.LARGEST_BELOW, max(row.largest for row in rows)),
        ("mean error", "%", {"III-B": published.MEAN_PERCENT_BELOW}, max(row.mean_percent for row in rows)),
        ("largest error", "%", {"III-B": published.LARGEST_PERCENT_BELOW}, max(row.largest_percent for row in rows)),
    )
    for what, unit, bounds, most in limits:
        for section, bound in bounds.items():
            if math.isclose(most, bound):
                verdict = Verdict.DEPENDS
                why = (
                    "Table I prints the limit itself, so digits that it does not print decide: the error lies between"
                    f" {most - HALF_DIGIT:g} and {most + HALF_DIGIT:g} {unit}."
                )
            else:
                verdict, why = unless_explained(most < bound, Verdict.CONTRADICTS), "Table I."
            yield _Judged(section, what, unit, f"< {bound:g}", PRINT, most, verdict, why)
    worst = max(rows, key=lambda row: row.mean), max(rows, key=lambda row: row.largest)
    in_percent = max(rows, key=lambda row: row.largest_percent)
    yield _Judged(
        "III-B", "errors of non-planar shape", "N", "largest", PRINT, worst[1].largest,
        unless_explained({row.shape for row in worst} == {"non-planar"}, Verdict.CONTRADICTS),
        f"In N. In % of its payload the {in_percent.shape} has the largest error of all,"
        f" {in_percent.largest_percent:.2f} %.",
    )  # fmt: skip
