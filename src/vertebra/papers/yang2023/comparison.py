"""All cases under all conditions and both closures, the claims of the text, and the loop that has memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from vertebra.mechanics.problem import Closure
from vertebra.papers.yang2023.cases import CASES, CLOSURES, Case, solve
from vertebra.papers.yang2023.claims import Claim
from vertebra.papers.yang2023.conditions import CONDITIONS
from vertebra.papers.yang2023.differences import Solved
from vertebra.papers.yang2023.hysteresis import Loop, tension_loop
from vertebra.papers.yang2023.model_claims import model_claims
from vertebra.papers.yang2023.printed_claims import printed_claims, unprinted_claims


@dataclass(frozen=True, eq=False)
class Comparison:
    """Our results, and the text's claims beside them."""

    cases: tuple[Case, ...]
    conditions: tuple[str, ...]
    closures: tuple[Closure, ...]
    solved: Solved
    """Our shape of every case under every condition and closure of the above."""
    claims: tuple[Claim, ...] = ()
    """Those of the text; only when all was solved."""
    loops: Mapping[Closure, Loop] = field(default_factory=dict)
    """Tension loop on prototype B by each closure; only when all was solved."""

    def __repr__(self) -> str:
        return f"Comparison({len(self.cases)} cases, {len(self.solved)} shapes, {len(self.claims)} claims)"


def compare() -> Comparison:
    """Solve everything: 42 cases, 5 conditions, 2 closures, and the loop."""
    whole = select()
    solved = whole.solved
    claims = (*model_claims(solved), *printed_claims(), *unprinted_claims(solved))
    loops = {closure: tension_loop(closure=closure) for closure in whole.closures}
    return Comparison(whole.cases, whole.conditions, whole.closures, solved, claims, loops)


def select(
    cases: Collection[Case] = CASES,
    conditions: Collection[str] = tuple(CONDITIONS),
    closures: Collection[Closure] = CLOSURES,
) -> Comparison:
    """Only the shapes of some cases, conditions and closures."""
    solved = {
        (case.number, condition, closure): solve(case, condition, closure)
        for case in cases
        for condition in conditions
        for closure in closures
    }
    return Comparison(tuple(cases), tuple(conditions), tuple(closures), solved)
