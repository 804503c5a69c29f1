"""Our tensions of the three motions beside what the paper says of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vertebra.papers.dantuono2023.cases import CASES, REVERSED, STATED, SWAPPED, Case
from vertebra.papers.dantuono2023.claims import HOLDS, Claim, claims_of
from vertebra.papers.dantuono2023.continuity import Continuity, continuity
from vertebra.papers.dantuono2023.dimensions import Found, Sensitivity, random_robots, sensitivities
from vertebra.papers.dantuono2023.equations import Variant, variants
from vertebra.papers.dantuono2023.equations_of_link import equation_count
from vertebra.papers.dantuono2023.migration import Migration, RandomPoses, migrations, random_poses
from vertebra.papers.dantuono2023.runs import METHODS, Method, Run, run
from vertebra.papers.dantuono2023.weight_share import weight_share


@dataclass(frozen=True, eq=False)
class Comparison:
    """Everything that is shown; of one case alone, only its tensions and the migration term."""

    runs: tuple[Run, ...]
    """Every case by both methods as stated; then link by link in the other readings."""
    migrations: tuple[Migration, ...]
    claims: tuple[Claim, ...] = ()
    continuity: Continuity | None = None
    poses: RandomPoses | None = None
    variants: tuple[Variant, ...] = ()
    robots: tuple[Found, ...] = ()
    sensitivities: tuple[Sensitivity, ...] = ()

    @property
    def cases(self) -> tuple[Case, ...]:
        """Those that were worked out."""
        return tuple(dict.fromkeys(one.case for one in self.runs))

    def run(self, case: str, method: Method = "per_link", reading: str = STATED.name) -> Run:
        """Tensions of one case by one method in one reading."""
        return next(
            one for one in self.runs if (one.case.name, one.method, one.reading.name) == (case, method, reading)
        )

    def __repr__(self) -> str:
        names = ", ".join(case.name for case in self.cases)
        if not self.claims:
            return f"Comparison({names})"
        holds = sum(claim.verdict == HOLDS for claim in self.claims)
        return f"Comparison({names}: {holds} of {len(self.claims)} statements hold)"


def compare() -> Comparison:
    """Work out everything."""
    cases = tuple(CASES.values())
    stated = _stated(cases)
    renamed = [replace(one, reading=SWAPPED) for one in stated if one.method == "per_link"]
    runs = (*stated, *(run(case, "per_link", REVERSED) for case in cases), *renamed)
    robots = tuple(random_robots())
    claims = tuple(claims_of(runs, robots, equation_count(), weight_share()))
    return Comparison(
        runs, migrations(cases), claims, continuity(), random_poses(), tuple(variants()), robots, tuple(sensitivities())
    )


def compare_case(case: Case) -> Comparison:
    """Tensions of one case by both methods, as stated and with the weight reversed."""
    return Comparison((*_stated([case]), run(case, "per_link", REVERSED)), migrations([case]))


def _stated(cases: Sequence[Case]) -> list[Run]:
    return [run(case, method) for method in METHODS for case in cases]
