"""The mean errors that the text quotes, worked out again from the printed cells and from our estimates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import NamedTuple

from vertebra.papers.hu2023 import model
from vertebra.papers.hu2023.cases import Solved
from vertebra.papers.hu2023.model import Evidence
from vertebra.papers.hu2023.published import HALF_DIGIT, Key, estimates, references, tip_errors
from vertebra.papers.paper import Claim, Verdict
from vertebra.report.document import fixed

# How far rounding of the printed cells can move a mean error: each cell by half a digit, a difference by a whole one.
POSITION_SLACK = 2 * HALF_DIGIT * math.sqrt(3)
ANGLE_SLACK = 2 * HALF_DIGIT
TOTAL_SLACK = 5 * ANGLE_SLACK


@dataclass(frozen=True)
class Mean:
    """One number of the text."""

    section: str
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
    def judged(self) -> tuple[Verdict, str]:
        """Verdict and reason."""
        half = 0.5 * 10.0**-self.decimals
        off = abs(self.from_published - self.quoted)
        if off <= half + 1e-9:
            return Verdict.REPRODUCED, ""
        if self.from_ours is not None and abs(self.from_ours - self.quoted) <= half:
            return Verdict.REPRODUCED, "The printed cells miss the last digit; our unrounded estimates give it."
        if off <= half + self.slack:
            return Verdict.DEPENDS, (
                "Only the last digit is off: rounding of the printed cells, whose further digits are not printed, can"
                f" move the mean by {fixed(self.slack, 3)} {self.unit}."
            )
        return Verdict.CONTRADICTS, "The mean of the paper's own printed cells is another number."

    def claim(self, key: str) -> Claim:
        """With its verdict."""
        verdict, why = self.judged
        weight = {None: "", True: "with", False: "without"}[self.gravity]
        ours = "" if self.from_ours is None else f", ours {fixed(self.from_ours, self.decimals)}"
        about = {word for word in ("ground", "ceiling", "steel") if word in self.what}
        about |= {weight, " ".join(self.what.split()[:2]).rstrip(":")} if weight else {"measured"}
        return Claim(
            key, self.section, self.what + {None: "", True: ", gravity", False: ", no gravity"}[self.gravity],
            f"{fixed(self.quoted, self.decimals)} {self.unit}",
            f"cells {fixed(self.from_published, self.decimals)}{ours}", verdict, why, frozenset(about),
            {name: value for name, value in asdict(self).items() if name != "section"},
        )  # fmt: skip


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
        mean = partial(model.mean_position, table=table, mount=mount)
        yield _Quote(section, f"Table {table} {mount}: tip", "mm", pair, mean, POSITION_SLACK)
    for mount, pair in (("ground", (3.98, 10.89)), ("ceiling", (1.28, 3.69))):
        mean = partial(model.position_of, table=2, mount=mount, item="steel")
        yield _Quote("4.1.2", f"Table 2 {mount}: tip, steel", "mm", pair, mean, POSITION_SLACK)
    for table, section, pair in ((1, "4.1.1", (0.48, 4.39)), (2, "4.1.2", (0.56, 1.52))):
        mean = partial(model.mean_angle, table=table)
        yield _Quote(section, f"Table {table}: angle", "deg", pair, mean, ANGLE_SLACK)
    for mount, pair in (("ground", (0.72, 40.71)), ("ceiling", (1.28, 19.23))):
        mean = partial(model.mean_total_angle, mount=mount)
        yield _Quote("4.2.1", f"Table 3 {mount}: total bend", "deg", pair, mean, TOTAL_SLACK)


def claims(solved: Mapping[Key, Solved]) -> tuple[Claim, ...]:
    """Every mean error of the text; `solved` are our shapes of all estimated columns of Tables 1 to 3."""
    return tuple(mean.claim(str(number)) for number, mean in enumerate(means(solved), 1))


def means(solved: Mapping[Key, Solved]) -> Iterator[Mean]:
    """The same before they are judged."""
    real, tips = references(), tip_errors()
    ours = {key: {name: solved[key].value(name) for name in values} for key, values in estimates().items()}
    printed, again = Evidence(estimates(), real, tips), Evidence(ours, real, tips)
    for quote in _quotes():
        yield from _two_means(quote, printed, again)
    yield from _tip_means(printed)
    yield _reduction(printed, again)


def _two_means(quote: _Quote, printed: Evidence, ours: Evidence) -> Iterator[Mean]:
    for weight, number in zip((True, False), quote.pair, strict=True):
        mean, again = (quote.mean(source, weight=weight) for source in (printed, ours))
        yield Mean(quote.section, quote.what, weight, quote.unit, number, 2, mean, again, quote.slack)


def _tip_means(printed: Evidence) -> Iterator[Mean]:
    """Table 4, of which the paper prints no tips, so there is nothing to compare ours with."""
    for mount, pair in (("ground", (2.29, 28.35)), ("ceiling", (3.14, 20.78))):
        for weight, number in zip((True, False), pair, strict=True):
            mean = model.mean_tip_error(printed, mount, weight)
            yield Mean("4.2.2", f"Table 4 {mount}: tip", weight, "mm", number, 2, mean, None, HALF_DIGIT)


def _reduction(printed: Evidence, ours: Evidence) -> Mean:
    """Ours takes our estimates for Table 3 and the printed errors for Table 4."""
    both = model.pooled_reduction(printed), model.pooled_reduction(ours)
    return Mean("abstract, 5", "Tables 3, 4: error removed", None, "%", 91.5, 1, *both, 0.05)
