"""Everything that the paper publishes beside what we get."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vertebra.papers.hu2023.algorithms import Race, races
from vertebra.papers.hu2023.cases import Solved, cases, solve, tip_cases
from vertebra.papers.hu2023.cells import Cell, compared_cells
from vertebra.papers.hu2023.claims import Claim, claims
from vertebra.papers.hu2023.published import Key, estimates
from vertebra.papers.hu2023.tips import TipCheck, tip_checks


@dataclass(frozen=True, eq=False)
class Comparison:
    """Our results beside the published ones."""

    solved: Mapping[Key, Solved]
    """Our shape of every case."""
    cells: tuple[Cell, ...]
    """Every estimated cell of those cases in Tables 1 to 3."""
    claims: tuple[Claim, ...] = ()
    """Every mean error that the text quotes."""
    tips: tuple[TipCheck, ...] = ()
    """Every payload and mount of Table 4."""
    races: tuple[Race, ...] = ()
    """The paper's algorithm against ours on every case."""

    @property
    def equal(self) -> int:
        """Estimated cells that we reproduce to the printed digit."""
        return sum(cell.equal for cell in self.cells)

    def __repr__(self) -> str:
        return f"Comparison({self.equal} of {len(self.cells)} cells equal, {len(self.claims)} claims)"


def compare() -> Comparison:
    """Solve every case of the paper and set the results beside all published numbers."""
    solved = {case.key: solve(case) for case in (*cases(), *tip_cases())}
    ours = {key: {name: solved[key].value(name) for name in values} for key, values in estimates().items()}
    return Comparison(
        solved,
        tuple(compared_cells(solved)),
        claims(ours),
        tuple(tip_checks(solved)),
        tuple(races(solved.values())),
    )


def compare_experiments() -> Comparison:
    """Only the prototype on the ground, with and without its weight: the three experiments of Table 3."""
    wanted = [case for case in cases() if case.key[0] == 3 and case.key[2] in ("none", "ground")]
    solved = {case.key: solve(case) for case in wanted}
    return Comparison(solved, tuple(compared_cells(solved)))
