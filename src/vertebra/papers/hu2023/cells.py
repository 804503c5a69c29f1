"""Every estimated cell of Tables 1 to 3 beside ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from vertebra.papers.hu2023.cases import Solved
from vertebra.papers.hu2023.published import HALF_DIGIT, Key, columns, references


@dataclass(frozen=True)
class Cell:
    """One printed estimate."""

    key: Key
    """Table, item and mount."""
    quantity: str
    """With its unit: ``theta2_deg``, ``x_mm``."""
    published: float
    ours: float
    reference: float | None
    """What the paper simulated or measured; none for an estimate without gravity, which has no column of its own."""

    @property
    def difference(self) -> float:
        """Ours minus published."""
        return self.ours - self.published

    @property
    def equal(self) -> bool:
        """Whether ours, rounded as the paper rounds, is the printed number; an exact half may go either way."""
        return abs(self.difference) <= HALF_DIGIT + 1e-9


def compared_cells(solved: Mapping[Key, Solved]) -> Iterator[Cell]:
    """Those of the cases in `solved`, column by column; 216 when all are there."""
    real = references()
    for column in columns():
        if column.estimated and column.key in solved:
            beside = real.get(column.key, {})
            for quantity, published in column.values:
                ours = solved[column.key].value(quantity)
                yield Cell(column.key, quantity, published, ours, beside.get(quantity))
