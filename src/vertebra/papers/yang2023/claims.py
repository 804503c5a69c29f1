"""What a claim of the text is, and how it is judged.

The paper prints distances between computed and measured tips, but no tips. Two computations whose tips are on average
e1 and e2 away from the measured ones are on average at least |e1 - e2| and at most e1 + e2 away from each other (the
triangle M A B, case by case). So a printed pair of errors leaves a range for the difference between two conditions,
which needs no measurement; whether ours lies in it is what can be checked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

HOLDS = "holds"
FITS = "fits"
FAILS = "does not hold"
UNCHECKABLE = "not checkable"
VERDICTS = {
    HOLDS: "our numbers, or the printed ones, say the same",
    FITS: "ours lies in the range that the printed errors allow; the measured tips behind them are not printed",
    FAILS: "our numbers, or the printed ones, say something else",
    UNCHECKABLE: "needs numbers that are not printed",
}
MODEL, PRINT = "our model", "printed numbers"


@dataclass(frozen=True)
class Claim:
    """One statement of the text."""

    section: str
    """Where the paper makes it."""
    what: str
    unit: str
    says: str
    """The number or the word of the text."""
    basis: str
    """What ours is worked out from: our model or the printed numbers."""
    low: float = -math.inf
    high: float = math.inf
    """What ours must be between for the claim to hold."""
    ours: float | None = None
    """By virtual work, where the model is asked; none when it cannot be checked."""
    by_paper_closure: float | None = None
    """The same with the paper's moments at the disc centre."""
    decimals: int = 2
    triangle: bool = False
    """Whether the range comes from printed errors against tips that are not printed."""
    why: str = ""

    @property
    def verdict(self) -> str:
        """One of `VERDICTS`, about ours."""
        if self.ours is None or (math.isinf(self.low) and math.isinf(self.high)):
            return UNCHECKABLE
        if not self.allows(self.ours):
            return FAILS
        return FITS if self.triangle else HOLDS

    def allows(self, value: float) -> bool:
        """Whether a number is in the range."""
        return self.low <= value <= self.high

    @property
    def range_text(self) -> str:
        """The range that printed errors leave, or nothing when the text says a number or a limit itself."""
        if not self.triangle:
            return ""
        low = f"{self.low:.{self.decimals}f}"
        return f"> {low}" if math.isinf(self.high) else f"{low}-{self.high:.{self.decimals}f}"
