"""The comparison as small tables of text and plain sentences, for the command line and the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from vertebra.papers.digits import fixed
from vertebra.papers.yang2023.cases import PROTOTYPES
from vertebra.papers.yang2023.claims import FAILS, FITS, HOLDS, UNCHECKABLE, Claim
from vertebra.papers.yang2023.comparison import Comparison
from vertebra.papers.yang2023.conditions import CONDITIONS
from vertebra.papers.yang2023.differences import EFFECTS, GROUPS, between_closures, cases_of, effect, spread
from vertebra.report.document import Facts

ELASTICA = "A finely divided elastica, which assumes neither closure, supports virtual work; a test checks that."
OUTSIDE = "*"


def headlines(comparison: Comparison) -> Iterator[str]:
    """What came out, in sentences."""
    yield (
        f"{len(comparison.cases)} cases of Table 4 under {len(comparison.conditions)} conditions of Table 5 with"
        f" {len(comparison.closures)} closures: {len(comparison.solved)} shapes. The paper prints the tip of none."
    )
    count = Counter(claim.verdict for claim in comparison.claims)
    yield (
        f"Of {len(comparison.claims)} claims of the text, {count[HOLDS]} hold, {count[FITS]} fit what printed errors"
        f" allow, {count[FAILS]} do not hold and {count[UNCHECKABLE]} cannot be checked."
    )
    yield _closures_sentence(comparison)
    if comparison.loops:
        yield from _loop_sentences(comparison)


def _loop_sentences(comparison: Comparison) -> Iterator[str]:
    loop, theirs = comparison.loops["virtual-work"], comparison.loops["paper"]
    yield (
        f"Loading and unloading of prototype B differ by up to {fixed(loop.width, 1)} mm at the tip and cost"
        f" {fixed(float(loop.friction_work[-1]))} mJ of friction a cycle; the paper's rule has no such memory."
    )
    share = 100.0 * theirs.missing / float(theirs.cable_work[-1])
    yield (
        "Over the closed loop the hung masses do the work that friction takes"
        f" (to {fixed(abs(loop.missing), 4)} mJ) by virtual work; by the paper's closure {fixed(share, 1)} % of it"
        " is missing."
    )


def _closures_sentence(comparison: Comparison) -> str:
    parts = []
    for name in PROTOTYPES:
        apart = spread(between_closures(comparison.solved, cases_of(name), "V"))
        parts.append(f"{fixed(apart.mean)} mm apart on {name} (at most {fixed(apart.largest)})")
    return f"Tips by virtual work and by the paper's closure are on average {' and '.join(parts)}. {ELASTICA}"


def condition_facts() -> Facts:
    """Table 5 in words."""
    rows = tuple((name, condition.summary) for name, condition in CONDITIONS.items())
    return Facts("Conditions of Table 5", ("", "what counts"), rows)


def effect_facts(comparison: Comparison) -> Facts:
    """How far tips move when an effect is left out, test by test."""
    rows = []
    for group in GROUPS:
        cases = cases_of(group)
        cells = [_spread_text(effect(comparison.solved, cases, pair, "virtual-work")) for pair in EFFECTS.values()]
        cells.append(_spread_text(between_closures(comparison.solved, cases, "V")))
        rows.append((group, *cells))
    pairs = (f"{name}\n{one} - {other}" for name, (one, other) in EFFECTS.items())
    title = "Distance of the tips under two conditions: mean and largest, mm"
    return Facts(title, ("test", *pairs, "closure\nV"), tuple(rows))


def _spread_text(distances: dict[int, float]) -> str:
    apart = spread(distances)
    return "-" if apart.largest == 0.0 else f"{fixed(apart.mean)} {fixed(apart.largest):>5}"


def closure_facts(comparison: Comparison) -> Facts:
    """How far the two closures are apart on each prototype."""
    rows = []
    for name in PROTOTYPES:
        for condition in comparison.conditions:
            apart = spread(between_closures(comparison.solved, cases_of(name), condition))
            rows.append((name, condition, fixed(apart.mean), fixed(apart.largest), str(apart.case)))
    headers = ("", "condition", "mean", "largest", "in case")
    return Facts("Distance of the tips by virtual work and by the paper's closure, mm", headers, tuple(rows))


def claim_facts(comparison: Comparison, sections: bool = False) -> Facts:
    """Every claim with what it allows, ours under both closures and the verdict; `sections` where there is room."""
    rows = tuple(
        (
            str(number),
            *([claim.section] if sections else []),
            f"{claim.what} [{claim.unit}]" if claim.unit else claim.what,
            claim.says,
            claim.range_text,
            _number(claim, claim.ours),
            _number(claim, claim.by_paper_closure),
            claim.verdict,
        )
        for number, claim in enumerate(comparison.claims, 1)
    )
    headers = (
        "",
        *(["section"] if sections else []),
        "claim",
        "text\nsays",
        "allows",
        "ours",
        "paper's\nclosure",
        "verdict",
    )
    return Facts("Claims of the text (* outside of what it says or allows)", headers, rows)


def _number(claim: Claim, value: float | None) -> str:
    if value is None:
        return "-"
    return fixed(value, claim.decimals) + ("" if claim.allows(value) else OUTSIDE)


def claim_notes(comparison: Comparison) -> Iterator[str]:
    """Why a verdict is what it is; claims with the same reason together."""
    notes: dict[str, list[str]] = {}
    for number, claim in enumerate(comparison.claims, 1):
        if claim.why:
            notes.setdefault(claim.why, []).append(str(number))
    for why, numbers in notes.items():
        yield f"{', '.join(numbers)}: {why}"


def loop_facts(comparison: Comparison) -> Facts:
    """The loops, cycle by cycle."""
    rows = []
    for closure, loop in comparison.loops.items():
        for cycle, (tips, lost, given) in enumerate(
            zip(loop.tips, loop.friction_work, loop.cable_work, strict=True), 1
        ):
            ends = (tips[0, 1], tips[loop.steps, 1], tips[-1, 1])
            width = fixed(loop.width) if cycle == len(loop.tips) else ""
            works = (fixed(float(lost), 3), fixed(float(given), 3))
            rows.append((closure, str(cycle), *(fixed(value) for value in ends), width, *works))
    title = "Loop on B: cables 1, 2 from 9.8 to 19.6 N and back, cables 3, 4 at 9.8 N"
    headers = (
        "closure",
        "cycle",
        "tip y [mm]\nstart",
        "\nmost",
        "\nend",
        "width\n[mm]",
        "work [mJ]\nfriction",
        "\nmasses",
    )
    return Facts(title, headers, tuple(rows))
