"""Tables of tips, in the paper's axes and mm."""

from __future__ import annotations

from vertebra.papers.digits import fixed
from vertebra.papers.yang2023.cases import Case, in_paper_axes
from vertebra.papers.yang2023.comparison import Comparison
from vertebra.papers.yang2023.conditions import CONDITIONS
from vertebra.papers.yang2023.differences import EFFECTS, between_closures, effect
from vertebra.report.document import Facts

AXES = "Axes are the paper's: x along the robot, y up, z sideways. Ours (x, y, z) are the paper's (y, z, x)."
CLOSURE_LINES = {"virtual-work": "virtual\nwork", "paper": "paper's\nclosure"}


def case_facts(comparison: Comparison) -> Facts:
    """Every case: the tip with all effects, and how far tips under two conditions or closures are apart."""
    rows = []
    for case in comparison.cases:
        full = in_paper_axes(comparison.solved[case.number, "V", "virtual-work"].tip)
        moves = [effect(comparison.solved, [case], pair, "virtual-work")[case.number] for pair in EFFECTS.values()]
        moves.append(between_closures(comparison.solved, [case], "V")[case.number])
        rows.append((str(case.number), case.prototype, *(fixed(value) for value in (*full, *moves))))
    pairs = (f"{name}\n{one} - {other}" for name, (one, other) in EFFECTS.items())
    headers = ("case", "", "tip\nx", "\ny", "\nz", *pairs, "closures\nV")
    return Facts("Tip under Condition V, and distances of tips, mm", headers, tuple(rows))


def condition_tips(comparison: Comparison, condition: str) -> Facts:
    """Tips of all cases under one condition, by every closure that was solved."""
    rows = tuple(
        (str(case.number), case.prototype, masses_text(case), *_cells(comparison, case, condition))
        for case in comparison.cases
    )
    headers = ("case", "", "hung masses\n[kg]", *_headers(comparison))
    return Facts(f"Condition {condition}, {CONDITIONS[condition].summary}: tip, mm", headers, rows)


def case_tips(comparison: Comparison, case: Case) -> Facts:
    """Tips of one case under every condition that was solved."""
    rows = tuple(
        (condition, CONDITIONS[condition].summary, *_cells(comparison, case, condition))
        for condition in comparison.conditions
    )
    return Facts(f"{case_title(case)}: tip, mm", ("", "condition", *_headers(comparison)), rows)


def case_title(case: Case) -> str:
    """Such as ``Case 42 of B, 1.38 1.38 0.65 0.65 kg on cables, under V 20 g payload``."""
    payload = f", under V {case.payload_kg * 1e3:g} g payload" if case.payload_kg else ""
    return f"Case {case.number} of {case.prototype}, {masses_text(case)} kg on cables{payload}"


def masses_text(case: Case) -> str:
    """kg, on cables 1 to 4."""
    return " ".join(fixed(mass) for mass in case.masses_kg)


def _headers(comparison: Comparison) -> list[str]:
    return [
        f"{CLOSURE_LINES[closure] if axis == 'x' else ''}\n{axis}" for closure in comparison.closures for axis in "xyz"
    ]


def _cells(comparison: Comparison, case: Case, condition: str) -> list[str]:
    return [
        fixed(value)
        for closure in comparison.closures
        for value in in_paper_axes(comparison.solved[case.number, condition, closure].tip)
    ]
