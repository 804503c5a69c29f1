"""Claims of the text about computed shapes, worked out with our model under both closures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from vertebra.papers.digits import fixed
from vertebra.papers.yang2023 import published
from vertebra.papers.yang2023.cases import PROTOTYPES, others_mass, prototype
from vertebra.papers.yang2023.claims import MODEL, Claim
from vertebra.papers.yang2023.differences import Solved
from vertebra.papers.yang2023.evidence import Evidence

CLEAR = 0.5**0.5
"""Correlation from which a trend is called clear: it then explains half of the variance or more."""
LINEAR = 0.05
"""Half the mass may have this much more or less than half the effect and still be called linear."""
CALIBRATED = "Our friction law is assumed and was calibrated to this, so that a fit alone confirms nothing."


@dataclass(frozen=True)
class Question:
    """A claim before our number is known; fields as in `Claim`."""

    section: str
    what: str
    unit: str
    says: str
    number: Callable[[Evidence], float]
    """What ours is, from our shapes under one closure."""
    low: float = -math.inf
    high: float = math.inf
    decimals: int = 2
    triangle: bool = False
    why: str = ""

    def answer(self, ours: Evidence, theirs: Evidence) -> Claim:
        """With our number under both closures."""
        return Claim(
            self.section, self.what, self.unit, self.says, MODEL, self.low, self.high, self.number(ours),
            self.number(theirs), self.decimals, self.triangle, self.why,
        )  # fmt: skip


def model_claims(solved: Solved) -> Iterator[Claim]:
    """All that our model can say something about."""
    ours, theirs = Evidence(solved, "virtual-work"), Evidence(solved, "paper")
    for question in (*_errors(ours), *_trends(), *_rods_and_solver()):
        yield question.answer(ours, theirs)
    yield from _masses()


def _errors(ours: Evidence) -> Iterator[Question]:
    """Mean and largest errors of B in plane, each beside the full model's."""
    full = published.tip_errors()["in-plane", "B"]
    over = published.LARGEST_WITHOUT_FRICTION
    yield Question(
        "6.2.1", "B, no friction: largest", "mm", f"> {over:g}",
        partial(Evidence.largest_on_b, condition="I"), low=over - full.largest, triangle=True, why=CALIBRATED,
    )  # fmt: skip
    percent = published.IMPROVEMENT["I"]
    implied = full.mean / (1.0 - percent / 100.0)
    means = (
        ("6.2.1", "no friction", "I", implied, f"{CALIBRATED} The mean is not printed: it follows from {percent} %,"
         " read as the other two percentages, which are of means."),
        ("6.2.1", "constant", "III", published.MEAN_WITH_CONSTANT_FRICTION, CALIBRATED),
        ("6.2.2", "only discs weigh", "IV", published.MEAN_WITH_DISCS_ONLY, _why_discs_only(ours)),
    )  # fmt: skip
    for section, what, condition, error, why in means:
        said = f"({fixed(error)})" if error == implied else fixed(error)
        yield Question(
            section, f"B, {what}: mean", "mm", said, partial(Evidence.mean_on_b, condition=condition),
            low=error - full.mean, high=error + full.mean, triangle=True, why=why,
        )  # fmt: skip


def _why_discs_only(ours: Evidence) -> str:
    at_the_tip = ours.effect_of_others(prototype("B", at_the_tip=True))
    return (
        "Not reached with the masses that follow from the two printed weights. The text does not say how the weight"
        f" beside the discs ({fixed(others_mass(prototype('B')) * 1e3)} g on B) is spread; with all of it at the tip"
        f" the mean would be {fixed(at_the_tip)} mm."
    )


def _trends() -> Iterator[Question]:
    for section, what, condition, why in (
        ("6.2.1", "friction", "I", "Correlation of the distance between tips with the bend of the robot, over the"
         " in-plane cases of A and of B, the smaller of the two."),
        ("6.2.1", "constant", "III", "Likewise. Our variable coefficient passes 0.3 within the range of the"
         " cases, and there the two models meet again; where it does so is assumed."),
    ):  # fmt: skip
        yield Question(
            section, f"{what} grows with bend", "", "grows", partial(Evidence.trend, condition=condition), low=CLEAR,
            why=why,
        )  # fmt: skip
    for section, what, condition in (
        ("6.2.1", "friction", "I"),
        ("6.2.1", "constant", "III"),
        ("6.2.2", "others' weight", "IV"),
    ):
        yield Question(
            section, f"{what}: B over A", "", "> 1", partial(Evidence.ratio, condition=condition), low=1.0, decimals=1,
            why="Means over the in-plane cases: the effect is larger on the longer robot.",
        )  # fmt: skip
    yield Question(
        "6.5", "half of others' weight", "", "linear", Evidence.linearity,
        low=0.5 - LINEAR, high=0.5 + LINEAR, decimals=3,
        why="Others: rods, cables and locks. Effect of half their weight over that of all, in plane on B.",
    )  # fmt: skip


def _rods_and_solver() -> Iterator[Question]:
    yield Question(
        "6.1", "largest strain of rods", "", f"< {published.LARGEST_STRAIN:g}", Evidence.strain,
        high=published.LARGEST_STRAIN, decimals=4,
    )  # fmt: skip
    yield Question(
        "4.6", "iterations, six discs", "", "1.72 s", Evidence.iterations, decimals=1,
        why='"1.72 s" and "8" are swapped in the text: 8 must be the iterations. Its 200 samples are not given.',
    )  # fmt: skip


def _masses() -> Iterator[Claim]:
    robots = {name: prototype(name) for name in PROTOTYPES}
    share = min(others_mass(robot) / robot.mass for robot in robots.values())
    yield Claim("1", "others' weight of all", "%", "> 30", MODEL, low=30.0, ours=100.0 * share, decimals=1)
    for name, grams in published.MASS_G.items():
        yield Claim(
            "6.2.3", f"mass of {name}", "g", fixed(grams), MODEL, grams - 0.005, grams + 0.005,
            robots[name].mass * 1e3, why="The masses beside the discs were inferred from this.",
        )  # fmt: skip
