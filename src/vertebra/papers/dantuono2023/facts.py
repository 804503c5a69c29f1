"""The comparison as small tables of text and plain sentences, for the command line and the page."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np

from vertebra.papers.dantuono2023.cases import BOTTOM, DURATION, READINGS, STATED, TOP, Case
from vertebra.papers.dantuono2023.claims import FAILS, HOLDS, OPEN, PAPER
from vertebra.papers.dantuono2023.comparison import Comparison
from vertebra.papers.dantuono2023.runs import METHODS, Run
from vertebra.papers.digits import fixed
from vertebra.report.document import Facts

SHORT = {"pan": "pan", "tilt": "tilt", "3d": "3D"}
EVERY = DURATION / 8
"""s between rows of the table of tensions."""
MILLI = 1e3
COLUMNS = (
    "off: largest moment that stays out of balance; contact: least normal force of any contact point, below 0 where"
    " links would come apart."
)
LITERAL = (
    "The paper's own algorithm, written down apart from ours, gives the same joint forces to 1e-10 once the migration"
    " of contact points is put in, and the same sum of tensions link by link to 1e-8 N: tests compare both."
)


def headlines(comparison: Comparison) -> Iterator[str]:
    """What came out, in sentences."""
    count = Counter(claim.verdict for claim in comparison.claims)
    yield (
        f"Of {len(comparison.claims)} statements of the paper, {count[HOLDS]} hold, {count[FAILS]} do not and"
        f" {count[OPEN]} cannot be told. It prints no tension and no dimension of its robot: ours are assumed."
    )
    stated, turned = (comparison.run("pan", reading=name) for name in (STATED.name, "weight reversed"))
    yield (
        f"The top cable, 4, carries the weight: at most {fixed(float(stated.peaks[TOP]), 1)} N at the base in pan,"
        f" while cable 2, at the bottom, stays at its pretension of {fixed(float(stated.peaks[BOTTOM]), 1)} N. The"
        " paper has cable 2 highest. With the weight reversed ours has too:"
        f" {fixed(float(turned.peaks[BOTTOM]), 1)} N."
    )
    yield _rise(comparison)
    yield _one_cable(comparison)
    yield _shared(comparison)
    yield LITERAL


def _rise(comparison: Comparison) -> str:
    claim = next(claim for claim in comparison.claims if claim.letter == "e")
    rises = [robot.rise for robot in comparison.robots]
    return (
        f"From tilt to 3D the cable that carries the weight peaks {_top_rise(comparison)} % higher (paper: almost 43 %,"
        f" for cable 2: {claim.verdict}); robots of other dimensions have {fixed(min(rises), 0)} to"
        f" {fixed(max(rises), 0)} %."
    )


def _top_rise(comparison: Comparison) -> str:
    tilt, both = (float(comparison.run(name).peaks[TOP]) for name in ("tilt", "3d"))
    return fixed(100.0 * (both / tilt - 1.0), 2)


def _one_cable(comparison: Comparison) -> str:
    assert comparison.continuity is not None
    along = ", ".join(fixed(float(value), 0) for value in comparison.continuity.along)
    return (
        f"Link by link, one and the same cable of the straight robot has {along} N from base to tip, which no single"
        f" cable can have; four tensions make {comparison.continuity.inputs} independent joint moments there, and six"
        " are needed."
    )


def _shared(comparison: Comparison) -> str:
    parts = []
    for case in comparison.cases:
        moment, joint, _ = comparison.run(case.name, "shared").worst
        parts.append(f"{SHORT[case.name]} {fixed(moment, 2)} N m at joint {joint}")
    feasible = max(comparison.run(case.name, "shared").feasible for case in comparison.cases)
    share = "at no instant" if feasible == 0.0 else f"at {fixed(100.0 * feasible, 1)} % of instants at most"
    least = min(comparison.run(case.name, "shared").least_contact for case in comparison.cases)
    return (
        f"With one tension a cable, joints balance {share}; up to {', '.join(parts)} stay out of balance, and contact"
        f" points would have to pull with {fixed(-least, 1)} N."
    )


def peak_facts(comparison: Comparison) -> Facts:
    """Highest tensions at the base, case by case."""
    rows = [
        (SHORT[case.name], method, *_peaks(comparison.run(case.name, method)))
        for case in comparison.cases
        for method in METHODS
    ]
    headers = (
        "motion",
        "method",
        "T1\n[N]",
        "T2\n[N]",
        "T3\n[N]",
        "T4\n[N]",
        "feasible\n[%]",
        "off\n[mN m]",
        "at\njoint",
        "contact\n[N]",
    )
    return Facts("Highest tensions at the base, and moments out of balance", headers, tuple(rows))


def _peaks(one: Run) -> tuple[str, ...]:
    moment, joint, _ = one.worst
    off = fixed(MILLI * moment, 1)
    where = "-" if float(off) == 0.0 else str(joint)
    return *(fixed(float(peak)) for peak in one.peaks), fixed(100.0 * one.feasible, 0), off, where, _contact(one)


def _contact(one: Run) -> str:
    return fixed(one.least_contact, 1)


def reading_peak_facts(comparison: Comparison) -> Facts:
    """The same link by link when the text is read otherwise."""
    rows = tuple(
        (SHORT[one.case.name], one.reading.name, *(fixed(float(peak)) for peak in one.peaks))
        for case in comparison.cases
        for one in comparison.runs
        if one.case == case and one.method == "per_link"
    )
    headers = ("motion", "reading", "T1\n[N]", "T2\n[N]", "T3\n[N]", "T4\n[N]")
    return Facts("Highest tensions at the base, link by link, in other readings", headers, rows)


def reading_notes(comparison: Comparison) -> Iterator[str]:
    """What each reading is."""
    shown = dict.fromkeys(one.reading.name for one in comparison.runs)
    return (f"{name}: {READINGS[name].text}." for name in shown)


def instant_facts(comparison: Comparison, case: Case) -> Facts:
    """Tensions at the base, eight times a period."""
    runs = [comparison.run(case.name, method) for method in METHODS]
    rows = []
    for time in np.arange(0.0, DURATION, EVERY):
        at = int(np.abs(runs[0].motion.time - time).argmin())
        angle = math.degrees(float(np.abs(runs[0].motion.q[at]).max()) * float(np.sign(runs[0].motion.q[at].sum())))
        cells = [fixed(float(value), 2) for one in runs for value in one.base[at]]
        rows.append((fixed(float(runs[0].motion.time[at])), fixed(angle, 1), *cells))
    names = [f"{method if k == 1 else ''}\nT{k}" for method in METHODS for k in range(1, 5)]
    return Facts(f"Tensions at the base, {SHORT[case.name]} [N]", ("t\n[s]", "angle\n[deg]", *names), tuple(rows))


def claim_facts(comparison: Comparison) -> Facts:
    """Every statement."""
    rows = tuple((claim.letter, claim.section, claim.says, claim.verdict) for claim in comparison.claims)
    return Facts("Statements of the paper", ("", "section", "statement", "verdict"), rows)


def claim_notes(comparison: Comparison) -> Iterator[str]:
    """What was found, and why; statements with the same reason give it once."""
    said: set[str] = set()
    for claim in comparison.claims:
        why = f" {claim.why}" if claim.why and claim.why not in said else ""
        said.add(claim.why)
        yield f"({claim.letter}) {claim.found}{why}"


def reading_facts(comparison: Comparison) -> Facts:
    """Statements about tensions under other readings, and with one tension a cable."""
    chosen = [claim for claim in comparison.claims if claim.others]
    names = (PAPER, *chosen[0].others)
    rows = tuple((claim.letter, claim.verdict, *(claim.others[name] for name in names[1:])) for claim in chosen)
    heads = tuple("stated, one\ntension a cable" if name == "shared" else name for name in names)
    return Facts("The same statements in other readings", ("", *heads), rows)


def other_notes(comparison: Comparison, name: str) -> Iterator[str]:
    """What was found in another reading, or with one tension a cable."""
    for claim in comparison.claims:
        if name in claim.others_found:
            yield f"({claim.letter}) {claim.others_found[name]}"
