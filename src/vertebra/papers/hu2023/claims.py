"""The mean errors that the text quotes, worked out again from the printed cells and from our estimates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from vertebra.papers.hu2023 import mean_errors
from vertebra.papers.hu2023.mean_errors import Evidence
from vertebra.papers.hu2023.published import HALF_DIGIT, Key, Values, estimates, references, tip_errors

HOLDS = "holds"
UNROUNDED = "holds unrounded"
LAST_DIGIT = "last digit"
FAILS = "does not hold"
VERDICTS = {
    HOLDS: "the printed cells give the quoted number",
    UNROUNDED: "the printed cells miss its last digit, our unrounded estimates give it",
    LAST_DIGIT: "both miss its last digit, by no more than the rounding of the printed cells explains",
    FAILS: "the printed cells give another number",
}

# How far rounding of the printed cells can move a mean error: each cell by half a digit, a difference by a whole one.
POSITION_SLACK = 2 * HALF_DIGIT * math.sqrt(3)
ANGLE_SLACK = 2 * HALF_DIGIT
TOTAL_SLACK = 5 * ANGLE_SLACK


@dataclass(frozen=True)
class Claim:
    """One number of the text."""

    section: str
    """Where the paper says it."""
    what: str
    gravity: bool | None
    """Whether it is about the estimate with gravity; none where it is about both."""
    unit: str
    quoted: float
    decimals: int
    """Digits after the point in the text."""
    from_published: float
    """Worked out from the printed cells."""
    from_ours: float | None
    """Worked out from our estimates and the printed simulations or measurements; none where that cannot be done."""
    slack: float
    """How far the rounding of the printed cells can move it."""

    @property
    def verdict(self) -> str:
        """One of `VERDICTS`."""
        half = 0.5 * 10.0**-self.decimals
        off = abs(self.from_published - self.quoted)
        if off <= half + 1e-9:
            return HOLDS
        if self.from_ours is not None and abs(self.from_ours - self.quoted) <= half:
            return UNROUNDED
        return LAST_DIGIT if off <= half + self.slack else FAILS


class _Quote(NamedTuple):
    """Two numbers of the text: with gravity, and without."""

    section: str
    what: str
    unit: str
    pair: tuple[float, float]
    mean: Callable[..., float]
    """From evidence and `weight`, whether it is the estimate with gravity."""
    slack: float


def _quotes() -> Iterator[_Quote]:
    for table, mount, section, pair in (
        (1, "ground", "4.1.1", (2.08, 17.16)),
        (1, "ceiling", "4.1.1", (3.52, 12.36)),
        (2, "ground", "4.1.2", (3.10, 6.28)),
        (2, "ceiling", "4.1.2", (1.57, 2.15)),
        (3, "ground", "4.2.1", (1.67, 67.04)),
        (3, "ceiling", "4.2.1", (2.69, 29.12)),
    ):
        mean = partial(mean_errors.mean_position, table=table, mount=mount)
        yield _Quote(section, f"Table {table} {mount}: tip", "mm", pair, mean, POSITION_SLACK)
    for mount, pair in (("ground", (3.98, 10.89)), ("ceiling", (1.28, 3.69))):
        mean = partial(mean_errors.position_of, table=2, mount=mount, item="steel")
        yield _Quote("4.1.2", f"Table 2 {mount}: tip, steel", "mm", pair, mean, POSITION_SLACK)
    for table, section, pair in ((1, "4.1.1", (0.48, 4.39)), (2, "4.1.2", (0.56, 1.52))):
        mean = partial(mean_errors.mean_angle, table=table)
        yield _Quote(section, f"Table {table}: angle", "deg", pair, mean, ANGLE_SLACK)
    for mount, pair in (("ground", (0.72, 40.71)), ("ceiling", (1.28, 19.23))):
        mean = partial(mean_errors.mean_total_angle, mount=mount)
        yield _Quote("4.2.1", f"Table 3 {mount}: total bend", "deg", pair, mean, TOTAL_SLACK)


def claims(ours: Mapping[Key, Values]) -> tuple[Claim, ...]:
    """Every mean error of the text; `ours` are our values of all estimated columns of Tables 1 to 3."""
    real, tips = references(), tip_errors()
    printed, again = Evidence(estimates(), real, tips), Evidence(ours, real, tips)
    pairs = [claim for quote in _quotes() for claim in _two_claims(quote, printed, again)]
    return (*pairs, *_tip_claims(printed), _reduction(printed, again))


def _two_claims(quote: _Quote, printed: Evidence, ours: Evidence) -> Iterator[Claim]:
    for weight, number in zip((True, False), quote.pair, strict=True):
        mean, again = (quote.mean(source, weight=weight) for source in (printed, ours))
        yield Claim(quote.section, quote.what, weight, quote.unit, number, 2, mean, again, quote.slack)


def _tip_claims(printed: Evidence) -> Iterator[Claim]:
    """Table 4, of which the paper prints no tips, so that there is nothing to set ours against."""
    for mount, pair in (("ground", (2.29, 28.35)), ("ceiling", (3.14, 20.78))):
        for weight, number in zip((True, False), pair, strict=True):
            mean = mean_errors.mean_tip_error(printed, mount, weight)
            yield Claim("4.2.2", f"Table 4 {mount}: tip", weight, "mm", number, 2, mean, None, HALF_DIGIT)


def _reduction(printed: Evidence, ours: Evidence) -> Claim:
    """Ours takes our estimates for Table 3 and the printed errors for Table 4."""
    both = mean_errors.pooled_reduction(printed), mean_errors.pooled_reduction(ours)
    return Claim("abstract, 5", "Tables 3, 4: error removed", None, "%", 91.5, 1, *both, 0.05)
