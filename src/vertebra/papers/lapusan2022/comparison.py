"""Our numbers, and the statements of the paper judged by them."""

from __future__ import annotations

from dataclasses import dataclass

from vertebra.papers.lapusan2022.claims import HOLDS, Claim, claims_of
from vertebra.papers.lapusan2022.findings import Findings, findings


@dataclass(frozen=True, eq=False)
class Comparison:
    """Everything that is shown."""

    found: Findings
    claims: tuple[Claim, ...]

    def __repr__(self) -> str:
        level, lying = (self.found.bases[place].methods["paper"].mean_mm for place in (0, -1))
        holds = sum(claim.verdict == HOLDS for claim in self.claims)
        return (
            f"Comparison(equations as printed {level:.1f} mm off on a level base, {lying:.0f} mm on a horizontal one;"
            f" {holds} of {len(self.claims)} statements hold)"
        )


def compare() -> Comparison:
    """Work out everything."""
    found = findings()
    return Comparison(found, tuple(claims_of(found)))
