"""What is shown of the comparison: tables, sentences, sections of the page, and plain rows for JSON and CSV."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from vertebra.papers.dantuono2023 import PAPER
from vertebra.papers.dantuono2023.cases import (
    BOTTOM,
    DURATION,
    METHODS,
    READINGS,
    REVERSED,
    SHORT,
    STATED,
    TIME_STEP,
    TOP,
    Case,
    Run,
    case_named,
)
from vertebra.papers.dantuono2023.claims import PAPER as PAPER_READING
from vertebra.papers.dantuono2023.claims import claims
from vertebra.papers.dantuono2023.model import (
    FACTOR,
    FAST,
    INSTANT,
    MORE,
    POSES,
    SPREAD,
    Results,
    case_results,
    own_rate,
    results,
)
from vertebra.papers.paper import (
    Claim,
    Comparison,
    Pictures,
    Reproduced,
    Section,
    Table,
    Text,
    Verdict,
    claim_sections,
    figures,
    verdict_sentence,
)
from vertebra.papers.printed import fixed
from vertebra.report.document import Facts
from vertebra.robot.tables import Floats

TITLE = "D'Antuono et al. 2023: dynamics of a rolling-joint robot"
NOTE = "Ours (x, y, z) are the paper's (y, z, x): z runs along the robot, y is up. Computed, not measured."
PER_LINK = (
    "The paper's method. Cables 2 and 4 are at the bottom and on top, 1 and 3 at the sides; where curves lie on each"
    " other, each shows behind the next. The paper draws these curves for a robot whose dimensions it does not print."
)
SHARED = "One tension per cable from base to tip, as near to the needed joint moments as pulling cables come."
RESIDUAL = "What those tensions leave: moments about the joints' axes. Dashed: pan joints."
REVERSED_CAPTION = (
    "As above, link by link, with gravity pointing up: what the paper's order of cables would need. Cables 2 and 4"
    " change roles."
)
SCENES = (
    "At the largest angles. A cable is drawn the wider the tighter it is at the base. Drag to turn, scroll to zoom."
)
ALONG = (
    "Left: the paper's method gives one cable six tensions. Right: what the joints need, and what one tension gives."
)
MIGRATION = (
    "Left: the joint with the largest missing moment, at the paper's speed. Right: in the pose of largest angles, all"
    " moving joints at that rate."
)
PLOT, SCENE = "21rem", "23rem"
_figures = partial(figures, PAPER.name)


def compare(case: str | None = None) -> Comparison:
    """All motions and statements, or the tensions of one motion."""
    if case is not None:
        return _one_case(case_results(case_named(case)))
    whole = results()
    judged = claims(whole)
    printed = [claim for claim in judged if claim.key in ("(e)", "(i)")]
    counted = "printed numbers (rise of 43 %; 6 equations, 16 unknowns); no tension is printed"
    return Comparison(
        PAPER,
        TITLE,
        whole,
        tuple(headlines(whole, judged)),
        tuple(_sections(whole, judged)),
        record(whole),
        lambda: tension_records(whole),
        _figures("draw", whole),
        judged,
        Reproduced(sum(claim.verdict is Verdict.REPRODUCED for claim in printed), len(printed), counted),
        NOTE,
    )


def _sections(whole: Results, claims: Sequence[Claim]) -> Iterator[Section]:
    yield _tensions(whole)
    yield Table(peak_facts(whole), brief=True)
    yield Text((*(f"{name}: {text}." for name, text in METHODS.items()), COLUMNS), brief=True)
    yield from claim_sections(claims)
    yield Table(reading_facts(claims), brief=True)
    yield Text(tuple(reading_notes(whole)), brief=True)
    lead = "Gravity along +z of the paper, link by link:"
    yield Text(other_notes(claims, REVERSED.name), "With the weight reversed", lead)
    yield _reversed(whole)
    yield Table(reading_peak_facts(whole))
    yield Pictures(
        "scenes", _figures("scene_pictures", whole), SCENE, "The robot at the largest angles", SCENES,
        more="Bent up, and both at once",
    )  # fmt: skip
    yield from _shared_pictures(whole)
    title = "The statements with one tension per cable"
    yield Text(other_notes(claims, "shared"), title, "Gravity and cables as stated:")
    yield Pictures("along", _figures("along_figures", whole), PLOT, "One cable, six tensions", ALONG)
    yield Table(along_facts(whole))
    yield from _migration(whole)
    yield Table(equation_facts(whole))
    yield Table(sensitivity_facts(whole))
    yield Text((robot_note(whole),))
    for case in whole.cases:
        yield Table(instant_facts(whole, case))


def _one_case(whole: Results) -> Comparison:
    return Comparison(
        PAPER,
        f"{TITLE}, {SHORT[whole.cases[0].name]}",
        whole,
        (),
        tuple(_case_sections(whole)),
        record(whole),
        lambda: tension_records(whole),
        _figures("draw", whole),
        note=NOTE,
    )


def _case_sections(whole: Results) -> Iterator[Section]:
    yield _tensions(whole)
    yield Table(peak_facts(whole), brief=True)
    yield Pictures("scenes", _figures("scene_pictures", whole), "24rem", "The robot at the largest angles", SCENES)
    yield from _shared_pictures(whole)
    yield _reversed(whole)
    yield Table(reading_peak_facts(whole), brief=True)
    yield from _migration(whole, brief=True)
    yield Table(instant_facts(whole, whole.cases[0]), brief=True)


def _tensions(whole: Results) -> Section:
    figures = _figures("tension_figures", whole, "per_link")
    return Pictures("per-link", figures, PLOT, "Tensions link by link", PER_LINK)


def _shared_pictures(whole: Results) -> Iterator[Section]:
    figures = _figures("tension_figures", whole, "shared")
    yield Pictures("shared", figures, PLOT, "One tension per cable", SHARED)
    title = "Torques out of balance with one tension per cable"
    yield Pictures("residual", _figures("residual_figures", whole), PLOT, title, RESIDUAL)


def _reversed(whole: Results) -> Section:
    figures = _figures("tension_figures", whole, "per_link", REVERSED.name)
    return Pictures("reversed", figures, PLOT, "Tensions with the weight reversed", REVERSED_CAPTION)


def _migration(whole: Results, brief: bool = False) -> Iterator[Section]:
    figures = _figures("migration_figures", whole)
    yield Pictures("migration", figures, PLOT, "Migration of contact points", MIGRATION)
    yield Table(migration_facts(whole), brief)


# Sentences and tables.

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


def headlines(whole: Results, claims: Sequence[Claim]) -> Iterator[str]:
    """What came out, in sentences."""
    yield (
        f"{verdict_sentence(claims, 'statements of the paper')} It prints no tension and no dimension of its robot:"
        " ours are assumed."
    )
    stated, turned = (whole.run("pan", reading=name) for name in (STATED.name, "weight reversed"))
    yield (
        f"The top cable, 4, carries the weight: at most {fixed(float(stated.peaks[TOP]), 1)} N at the base in pan,"
        f" while cable 2, at the bottom, stays at its pretension of {fixed(float(stated.peaks[BOTTOM]), 1)} N. The"
        " paper has cable 2 highest. With the weight reversed ours has too:"
        f" {fixed(float(turned.peaks[BOTTOM]), 1)} N."
    )
    yield _rise(whole, claims)
    yield _one_cable(whole)
    yield _shared(whole)
    yield LITERAL


def _rise(whole: Results, claims: Sequence[Claim]) -> str:
    verdict = next(claim.verdict for claim in claims if claim.key == "(e)")
    rises = [robot.rise for robot in whole.robots]
    return (
        f"From tilt to 3D the cable that carries the weight peaks {_top_rise(whole)} % higher (paper: almost 43 %,"
        f" for cable 2: {verdict}); robots of other dimensions have {fixed(min(rises), 0)} to"
        f" {fixed(max(rises), 0)} %."
    )


def _top_rise(whole: Results) -> str:
    tilt, both = (float(whole.run(name).peaks[TOP]) for name in ("tilt", "3d"))
    return fixed(100.0 * (both / tilt - 1.0), 2)


def _one_cable(whole: Results) -> str:
    assert whole.continuity is not None
    along = ", ".join(fixed(float(value), 0) for value in whole.continuity.along)
    return (
        f"Link by link, one and the same cable of the straight robot has {along} N from base to tip, which no single"
        f" cable can have; four tensions make {whole.continuity.inputs} independent joint moments there, and six"
        " are needed."
    )


def _shared(whole: Results) -> str:
    parts = []
    for case in whole.cases:
        moment, joint, _ = whole.run(case.name, "shared").worst
        parts.append(f"{SHORT[case.name]} {fixed(moment, 2)} N m at joint {joint}")
    feasible = max(whole.run(case.name, "shared").feasible for case in whole.cases)
    share = "at no instant" if feasible == 0.0 else f"at {fixed(100.0 * feasible, 1)} % of instants at most"
    least = min(whole.run(case.name, "shared").least_contact for case in whole.cases)
    return (
        f"With one tension per cable, joints balance {share}; up to {', '.join(parts)} stay out of balance, and contact"
        f" points would have to pull with {fixed(-least, 1)} N."
    )


def peak_facts(whole: Results) -> Facts:
    """Highest tensions at the base, case by case."""
    rows = [
        (SHORT[case.name], method, *_peaks(whole.run(case.name, method))) for case in whole.cases for method in METHODS
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


def reading_peak_facts(whole: Results) -> Facts:
    """The same link by link when the text is read otherwise."""
    rows = tuple(
        (SHORT[one.case.name], one.reading.name, *(fixed(float(peak)) for peak in one.peaks))
        for case in whole.cases
        for one in whole.runs
        if one.case == case and one.method == "per_link"
    )
    headers = ("motion", "reading", "T1\n[N]", "T2\n[N]", "T3\n[N]", "T4\n[N]")
    return Facts("Highest tensions at the base, link by link, in other readings", headers, rows)


def reading_notes(whole: Results) -> Iterator[str]:
    """What each reading is."""
    shown = dict.fromkeys(one.reading.name for one in whole.runs)
    return (f"{name}: {READINGS[name].text}." for name in shown)


def instant_facts(whole: Results, case: Case) -> Facts:
    """Tensions at the base, eight times a period."""
    runs = [whole.run(case.name, method) for method in METHODS]
    rows = []
    for time in np.arange(0.0, DURATION, EVERY):
        at = int(np.abs(runs[0].motion.time - time).argmin())
        angle = math.degrees(float(np.abs(runs[0].motion.q[at]).max()) * float(np.sign(runs[0].motion.q[at].sum())))
        cells = [fixed(float(value), 2) for one in runs for value in one.base[at]]
        rows.append((fixed(float(runs[0].motion.time[at])), fixed(angle, 1), *cells))
    names = [f"{method if k == 1 else ''}\nT{k}" for method in METHODS for k in range(1, 5)]
    return Facts(f"Tensions at the base, {SHORT[case.name]} [N]", ("t\n[s]", "angle\n[deg]", *names), tuple(rows))


def reading_facts(claims: Sequence[Claim]) -> Facts:
    """Statements about tensions under other readings, and with one tension per cable."""
    chosen = [claim for claim in claims if claim.details["others"]]
    names = tuple(chosen[0].details["others"])
    rows = tuple(
        (claim.key, claim.verdict.short, *(Verdict(claim.details["others"][name]).short for name in names))
        for claim in chosen
    )
    heads = tuple("stated, one\ntension per cable" if name == "shared" else name for name in names)
    return Facts("The same statements in other readings", ("", PAPER_READING, *heads), rows)


def other_notes(claims: Sequence[Claim], name: str) -> tuple[str, ...]:
    """What was found in another reading, or with one tension per cable."""
    chosen = [claim for claim in claims if name in claim.details["others_found"]]
    return tuple(f"{claim.key} {claim.details['others_found'][name]}" for claim in chosen)


# Further tables: one cable along the robot, migration, equations as printed, assumed numbers.

JOINTS = tuple(f"joint {joint}" for joint in range(1, 7))


def along_facts(whole: Results) -> Facts:
    """Tensions of the straight robot from base to tip."""
    found = whole.continuity
    assert found is not None
    rows = [
        ("moment needed [mN m]", *_cells(MILLI * found.needed, 1)),
        *((f"cable {k} link by link [N]", *_cells(row, 2)) for k, row in enumerate(found.per_link, 1)),
        *((f"cable {k} shared [N]", *_cells(value.repeat(6), 2)) for k, value in enumerate(found.shared, 1)),
        ("shared: out of balance [mN m]", *_cells(MILLI * found.residual, 1)),
    ]
    return Facts("Tensions along each cable of the straight robot at rest", ("", *JOINTS), tuple(rows))


def _cells(values: Floats, decimals: int) -> tuple[str, ...]:
    return tuple(fixed(float(value), decimals) for value in values)


def migration_facts(whole: Results) -> Facts:
    """How much of the joint moments the missing term is."""
    rows = [
        (f"{SHORT[one.case.name]}, as in the paper", fixed(own_rate(), 3), f"{100.0 * one.share:.1e}")
        for one in whole.migrations
    ]
    rows += [
        (f"{SHORT[one.case.name]}, largest angles", fixed(FAST, 0), fixed(100.0 * one.at(FAST), 3))
        for one in whole.migrations
    ]
    if whole.poses is not None:
        poses = f"{POSES} poses up to {math.degrees(SPREAD):.0f} deg"
        rows.append((f"{poses}, mean", fixed(FAST, 0), fixed(100.0 * whole.poses.mean, 2)))
        rows.append((f"{poses}, largest", fixed(FAST, 0), fixed(100.0 * whole.poses.largest, 2)))
    headers = ("motion", "joint rate\n[rad/s]", "share of largest\nmoment [%]")
    return Facts("Migration of contact points: moments that (5) and (11) leave out", headers, tuple(rows))


def equation_facts(whole: Results) -> Facts:
    """Joint moments by the equations as printed."""
    rows = tuple((one.name, *_cells(MILLI * one.moments, 2), fixed(one.base, 1)) for one in whole.variants)
    title = f"Joint moments [mN m] of the 3D motion at {INSTANT:g} s by other equations; sum of tensions at the base"
    return Facts(title, ("equations", *(f"\n{k}" for k in range(1, 7)), "sum\n[N]"), rows)


def sensitivity_facts(whole: Results) -> Facts:
    """What the assumed numbers do to statements (e) and (f)."""
    rows = tuple(
        (f"{one.what}, {one.value}", *(fixed(value, 2) for value in one.rise), *(fixed(v, 3) for v in one.over_pan))
        for one in whole.sensitivities
    )
    less, more = f"-{100 * MORE:g} %", f"+{100 * MORE:g} %"
    headers = ("assumed", f"(e) [%]\n{less}", f"\n{more}", f"(f) 3D/pan\n{less}", f"\n{more}")
    return Facts("Statements (e), for the cable that carries the weight, and (f) with other numbers", headers, rows)


def robot_note(whole: Results) -> str:
    """What robots drawn at random do."""
    rises, ratios, pulls = (
        [getattr(robot, name) for robot in whole.robots] for name in ("rise", "over_pan", "bottom_pull")
    )
    return (
        f"{len(whole.robots)} robots with every assumed number up to {FACTOR:.2f} times larger or smaller: rise"
        f" from tilt to 3D {fixed(min(rises), 1)} to {fixed(max(rises), 1)} %; highest tension in 3D"
        f" {fixed(min(ratios), 3)} to {fixed(max(ratios), 3)} of that in pan; cable 2 at most"
        f" {fixed(max(pulls), 2)} N above its pretension."
    )


# Plain rows for JSON and CSV; units are in the names.


def tension_records(whole: Results) -> Iterator[dict[str, Any]]:
    """One per motion, method, reading and instant."""
    for one in whole.runs:
        base, off = one.base, one.out_of_balance
        for row, time in enumerate(one.motion.time):
            yield {
                "motion": one.case.name,
                "method": one.method,
                "reading": one.reading.name,
                "time_s": round(float(time), 9),
                **{f"T{k}_N": float(value) for k, value in enumerate(base[row], 1)},
                "out_of_balance_Nm": float(off[row]),
            }


def run_record(one: Run) -> dict[str, Any]:
    """What is highest in one run."""
    moment, joint, time = one.worst
    return {
        "motion": one.case.name,
        "method": one.method,
        "reading": one.reading.name,
        **{f"peak_T{k}_N": float(value) for k, value in enumerate(one.peaks, 1)},
        "feasible_share": one.feasible,
        "out_of_balance_Nm": moment,
        "out_of_balance_joint": joint,
        "out_of_balance_t_s": time,
        "least_contact_force_N": one.least_contact,
    }


def record(whole: Results) -> dict[str, Any]:
    """Everything but the claims and the tensions of every instant, which are in the CSV file."""
    found: dict[str, Any] = {
        "duration_s": DURATION,
        "time_step_s": TIME_STEP,
        "peaks": [run_record(one) for one in whole.runs],
        "migration": [
            {"motion": one.case.name, "share_of_largest_moment": one.share, f"share_at_{FAST:g}_rad_s": one.at(FAST)}
            for one in whole.migrations
        ],
    }
    if whole.continuity is not None:
        straight = whole.continuity
        found["straight_robot"] = {
            "needed_moments_Nm": straight.needed.tolist(),
            "per_link_tensions_N": straight.per_link.tolist(),
            "shared_tensions_N": straight.shared.tolist(),
            "shared_out_of_balance_Nm": straight.residual.tolist(),
            "independent_moments": straight.inputs,
        }
    if whole.poses is not None:
        found["migration_random_poses"] = asdict(whole.poses)
    if whole.robots:
        found["equations"] = [
            {"equations": one.name, "moments_Nm": one.moments.tolist(), "sum_of_base_tensions_N": one.base}
            for one in whole.variants
        ]
        found["sensitivity"] = [asdict(one) for one in whole.sensitivities]
        found["other_robots"] = [
            {**asdict(one.dimensions), "rise_percent": one.rise, "3d_over_pan": one.over_pan,
             "T2_above_pretension_N": one.bottom_pull}
            for one in whole.robots
        ]  # fmt: skip
    return found
