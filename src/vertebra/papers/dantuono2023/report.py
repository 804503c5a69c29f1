"""What is shown of the comparison: sentences, tables, plots, and plain rows for JSON and CSV."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np

import vertebra as vb
from vertebra.papers.dantuono2023 import PAPER
from vertebra.papers.dantuono2023.cases import (
    BOTTOM,
    DURATION,
    METHOD_NAMES,
    METHODS,
    READINGS,
    REVERSED,
    SHORT,
    STATED,
    TIME_STEP,
    TOP,
    Case,
    Method,
    Run,
    case_named,
    motion,
    snake,
)
from vertebra.papers.dantuono2023.claims import claims
from vertebra.papers.dantuono2023.model import (
    FACTOR,
    FAST,
    INSTANT,
    MORE,
    POSES,
    RATES,
    SPREAD,
    Migration,
    Results,
    case_results,
    own_rate,
    results,
)
from vertebra.papers.paper import Claim, Comparison, Reproduced, Verdict, claim_sections, verdict_sentence
from vertebra.report.document import Facts, Figures, Section, Sentences, fixed
from vertebra.report.panels import Panel, Series, panel_figure, panel_still, spread
from vertebra.report.scene import CABLE_COLOURS, Scene, View, cable_style, robot_scene
from vertebra.robot.tables import Floats

TITLE = "D'Antuono et al. 2023: dynamics of a rolling-joint robot"
PICTURE = "D'Antuono et al. 2023: cable tensions at the base; dimensions of the robot are assumed"
NOTE = "Ours (x, y, z) are the paper's (y, z, x): z runs along the robot, y is up. Computed, not measured."
PER_LINK = (
    "The paper's method. Cables 2 and 4 are at the bottom and on top, 1 and 3 at the sides; where curves lie on each"
    " other, each shows behind the next. The paper draws these curves for a robot whose dimensions it does not print."
)
SHARED = "One tension per cable from base to tip, as near to the needed joint torques as pulling alone can come."
RESIDUAL = "What those tensions leave: torques about the joints' axes. Dashed: pan joints."
REVERSED_CAPTION = (
    "As above, link by link, with gravity pointing up: what the paper's order of cables would need. Cables 2 and 4"
    " change roles."
)
SCENES_CAPTION = (
    "At the largest angles. The tighter a cable is at the base, the wider it is drawn. Drag to turn, scroll to zoom."
)
ALONG = (
    "Left: the paper's method gives one cable six tensions. Right: what the joints need, and what one tension gives."
)
MIGRATION = (
    "Left: the joint with the largest missing torque, at the paper's speed. Right: in the pose of largest angles, all"
    " moving joints at that rate."
)
PLOT = "21rem"


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
        tuple(_details(whole, judged)),
        record(whole),
        lambda: tension_records(whole),
        lambda: partial(still_picture, whole),
        PICTURE,
        judged,
        Reproduced(sum(claim.verdict is Verdict.REPRODUCED for claim in printed), len(printed), counted),
        NOTE,
    )


def _sections(whole: Results, claims: Sequence[Claim]) -> Iterator[Section]:
    yield _tensions(whole)
    yield peak_facts(whole)
    yield Sentences("", "", (*(f"{name}: {text}." for name, text in METHODS.items()), COLUMNS))
    yield from claim_sections(claims)
    yield reading_facts(claims)
    shown = dict.fromkeys(one.reading.name for one in whole.runs)
    yield Sentences("", "", tuple(f"{name}: {READINGS[name].text}." for name in shown))


def _details(whole: Results, claims: Sequence[Claim]) -> Iterator[Section]:
    lead = "Gravity along +z of the paper, link by link:"
    yield Sentences("With the weight reversed", lead, other_notes(claims, REVERSED.name))
    yield _reversed(whole)
    yield reading_peak_facts(whole)
    yield _scenes(whole, columns=2)
    yield from _shared_pictures(whole)
    title = "The statements with one tension per cable"
    yield Sentences(title, "Gravity and cables as stated:", other_notes(claims, "shared"))
    yield Figures("along", partial(along_figures, whole), PLOT, "One cable, six tensions", ALONG)
    yield along_facts(whole)
    yield from _migration(whole)
    yield equation_facts(whole)
    yield sensitivity_facts(whole)
    yield Sentences("", "", (robot_note(whole),))
    for case in whole.cases:
        yield instant_facts(whole, case)


def _one_case(whole: Results) -> Comparison:
    return Comparison(
        PAPER,
        f"{TITLE}, {SHORT[whole.cases[0].name]}",
        whole,
        (),
        tuple(_case_sections(whole)),
        (),
        record(whole),
        lambda: tension_records(whole),
        lambda: partial(still_picture, whole),
        PICTURE,
        note=NOTE,
    )


def _case_sections(whole: Results) -> Iterator[Section]:
    yield _tensions(whole)
    yield peak_facts(whole)
    yield _scenes(whole)
    yield from _shared_pictures(whole)
    yield _reversed(whole)
    yield reading_peak_facts(whole)
    yield from _migration(whole)
    yield instant_facts(whole, whole.cases[0])


def _tensions(whole: Results) -> Section:
    figures = partial(tension_figures, whole, "per_link")
    return Figures("per-link", figures, PLOT, "Tensions link by link", PER_LINK)


def _reversed(whole: Results) -> Section:
    figures = partial(tension_figures, whole, "per_link", REVERSED.name)
    return Figures("reversed", figures, PLOT, "Tensions with the weight reversed", REVERSED_CAPTION)


def _scenes(whole: Results, columns: int = 0) -> Section:
    title = "The robot at the largest angles"
    return Figures("scenes", partial(scene_pictures, whole), "23rem", title, SCENES_CAPTION, columns=columns)


def _shared_pictures(whole: Results) -> Iterator[Section]:
    yield Figures("shared", partial(tension_figures, whole, "shared"), PLOT, "One tension per cable", SHARED)
    title = "Torques out of balance with one tension per cable"
    yield Figures("residual", partial(residual_figures, whole), PLOT, title, RESIDUAL)


def _migration(whole: Results) -> Iterator[Section]:
    figures = partial(migration_figures, whole)
    yield Figures("migration", figures, PLOT, "Migration of contact points", MIGRATION)
    yield migration_facts(whole)


# Sentences and tables.

EVERY = DURATION / 8
"""s between rows of the table of tensions."""
MILLI = 1e3
COLUMNS = (
    "off: largest torque that stays out of balance; contact: least normal force of any contact point, below 0 where"
    " links would come apart."
)
LITERAL = (
    "The paper's own algorithm, written down apart from ours, gives the same joint forces to 1e-10 once the migration"
    " of contact points is included, and the same sum of tensions link by link to 1e-8 N: tests compare both."
)


def headlines(whole: Results, claims: Sequence[Claim]) -> Iterator[str]:
    """What came out, in sentences."""
    yield (
        f"{verdict_sentence(claims, 'statements of the paper')} It prints no tension and no dimension of its robot:"
        " ours are assumed."
    )
    stated, turned = (whole.run("pan", reading=name) for name in (STATED.name, REVERSED.name))
    yield (
        f"The top cable, 4, carries the weight: at most {fixed(float(stated.peaks[TOP]), 1)} N at the base in pan,"
        f" while cable 2, at the bottom, stays at its pretension of {fixed(float(stated.peaks[BOTTOM]), 1)} N. The"
        " paper has cable 2 highest; with the weight reversed, so does ours:"
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
        f" cable can have; four tensions make {whole.continuity.inputs} independent joint torques there, and six"
        " are needed."
    )


def _shared(whole: Results) -> str:
    parts = []
    for case in whole.cases:
        torque, joint, _ = whole.run(case.name, "shared").worst
        parts.append(f"{SHORT[case.name]} {fixed(torque, 2)} N m at joint {joint}")
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
    return Facts("Highest tensions at the base, and torques out of balance", headers, tuple(rows))


def _peaks(one: Run) -> tuple[str, ...]:
    torque, joint, _ = one.worst
    off = fixed(MILLI * torque, 1)
    where = "-" if float(off) == 0.0 else str(joint)
    return (
        *(fixed(float(peak)) for peak in one.peaks),
        fixed(100.0 * one.feasible, 0),
        off,
        where,
        fixed(one.least_contact, 1),
    )


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


def instant_facts(whole: Results, case: Case) -> Facts:
    """Tensions at the base, eight times per period."""
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
    return Facts("The same statements in other readings", ("", STATED.name, *heads), rows)


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
        ("torque needed [mN m]", *_cells(MILLI * found.needed, 1)),
        *((f"cable {k} link by link [N]", *_cells(row, 2)) for k, row in enumerate(found.per_link, 1)),
        *((f"cable {k} shared [N]", *_cells(value.repeat(6), 2)) for k, value in enumerate(found.shared, 1)),
        ("shared: out of balance [mN m]", *_cells(MILLI * found.residual, 1)),
    ]
    return Facts("Tensions along each cable of the straight robot at rest", ("", *JOINTS), tuple(rows))


def _cells(values: Floats, decimals: int) -> tuple[str, ...]:
    return tuple(fixed(float(value), decimals) for value in values)


def migration_facts(whole: Results) -> Facts:
    """How much of the joint torques the missing term is."""
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
    headers = ("motion", "joint rate\n[rad/s]", "share of largest\ntorque [%]")
    return Facts("Migration of contact points: torques that (5) and (11) leave out", headers, tuple(rows))


def equation_facts(whole: Results) -> Facts:
    """Joint torques by the equations as printed."""
    rows = tuple((one.name, *_cells(MILLI * one.torques, 2), fixed(one.base, 1)) for one in whole.variants)
    title = f"Joint torques [mN m] of the 3D motion at {INSTANT:g} s by other equations; sum of tensions at the base"
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


# Plots and 3D pictures, drawn when a page or a picture is made.

MOST_POINTS = 253
"""Of a curve."""
WIDTHS = (6.0, 4.4, 3.0, 1.8)
"""Of cables 1 to 4: where curves lie on each other, each shows behind the next."""
MARGIN = 0.06
VIEW = View(1, 1, (-math.cos(0.5) * math.cos(0.4), math.sin(0.5), math.cos(0.5) * math.sin(0.4)))
"""From one side and above, with the wall on the left."""
CLOSER = 0.9
SCENES = (("pan", 1.0), ("tilt", 1.0), ("tilt", 3.0), ("3d", 1.0))
"""Case and instant, in pi seconds: at the largest angles."""
THINNEST, WIDEST = 0.5, 2.5
CASE_STYLES = {"pan": ("#0072B2", "circle"), "tilt": ("#D55E00", "square"), "3d": ("#000000", "diamond")}


def tension_panel(one: Run) -> Panel:
    """Tensions at the base over time."""
    rows = spread(len(one.motion.time), MOST_POINTS)
    series = [
        Series(f"T{k + 1}", one.motion.time[rows], one.base[rows, k], cable_style(k)[0], width=WIDTHS[k])
        for k in range(one.base.shape[1])
    ]
    return Panel(SHORT[one.case.name], "time [s]", "tension at the base [N]", tuple(series))


def tension_figures(whole: Results, method: Method, reading: str = STATED.name) -> list[Any]:
    """All cases by one method, to one scale."""
    runs = [whole.run(case.name, method, reading) for case in whole.cases]
    return _to_scale(map(tension_panel, runs), 0.0, 1.08 * max(float(one.base.max()) for one in runs))


def _to_scale(panels: Iterable[Panel], low: float, high: float) -> list[Any]:
    figures = [panel_figure([panel]) for panel in panels]
    for figure in figures:
        figure.update_yaxes(range=[low, high])
    return figures


def residual_panel(one: Run) -> Panel:
    """Torques that one tension per cable leaves out of balance."""
    rows = spread(len(one.motion.time), MOST_POINTS)
    series = [
        Series(f"joint {j + 1}", one.motion.time[rows], one.allocation.residual[rows, j], CABLE_COLOURS[j],
               "solid" if j % 2 else "dash", width=1.8)
        for j in range(one.allocation.residual.shape[1])
    ]  # fmt: skip
    return Panel(SHORT[one.case.name], "time [s]", "out of balance [N m]", tuple(series))


def residual_figures(whole: Results) -> list[Any]:
    """All cases, to one scale."""
    runs = [whole.run(case.name, "shared") for case in whole.cases]
    values = np.concatenate([one.allocation.residual.ravel() for one in runs])
    low, high = float(values.min()), float(values.max())
    margin = MARGIN * max(high - low, 1e-6)
    return _to_scale(map(residual_panel, runs), low - margin, high + margin)


def along_figures(whole: Results) -> list[Any]:
    """The top cable of the straight robot joint by joint, and what each joint needs and gets."""
    found = whole.continuity
    assert found is not None
    joints, axis = list(range(1, 7)), "joint, from the base"
    tensions = (
        Series("cable 4, link by link", joints, found.along, cable_style(TOP)[0], "dot", "circle", size=8),
        Series("cable 4, one tension", joints, found.shared[TOP].repeat(6), "#000000", "solid"),
    )
    torques = (
        Series("needed", joints, found.needed, "#000000", "", "circle-open", size=12),
        Series("by one tension per cable", joints, found.needed - found.residual, "#0072B2", "", "circle", size=7),
    )
    cable = panel_figure([Panel("the top cable of the straight robot", axis, "tension [N]", tensions)])
    cable.update_yaxes(rangemode="tozero")
    return [cable, panel_figure([Panel("joint torques of the straight robot", axis, "torque [N m]", torques)])]


def migration_figures(whole: Results) -> list[Any]:
    """The missing torques over time, and their share against the joint rate."""
    shares = panel_figure([_share_panel(whole.migrations)])
    shares.update_xaxes(type="log")
    shares.update_yaxes(type="log", exponentformat="power")
    return [panel_figure([_missing_panel(whole.migrations)]), shares]


def _missing_panel(migrations: Sequence[Migration]) -> Panel:
    series = []
    for one in migrations:
        worst = int(np.abs(one.missing).max(axis=0).argmax())
        colour = CASE_STYLES[one.case.name][0]
        name = f"{SHORT[one.case.name]}, joint {worst + 1}"
        series.append(Series(name, one.time, 1e6 * one.missing[:, worst], colour))
    return Panel("left out by (5) and (11)", "time [s]", "torque [10⁻⁶ N m]", tuple(series))


def _share_panel(migrations: Sequence[Migration]) -> Panel:
    series = []
    for one in migrations:
        colour, symbol = CASE_STYLES[one.case.name]
        series.append(Series(SHORT[one.case.name], RATES, 100.0 * one.by_rate, colour, "solid", symbol))
    ends = [100.0 * float(np.min([one.by_rate for one in migrations])), 1.0]
    series.append(Series("the paper's motions", [own_rate()] * 2, ends, "#7F7F7F", "dash"))
    return Panel("at the largest angles", "joint rate [rad/s]", "share of largest torque [%]", tuple(series))


def scene_pictures(whole: Results) -> Iterator[Any]:
    """The robot at a few instants; the tighter a cable at the base, the wider it is drawn."""
    from vertebra.report.plotly import picture_row, row_distance

    chosen = [(name, time) for name, time in SCENES if any(case.name == name for case in whole.cases)]
    scenes, titles = [], []
    for name, pis in chosen:
        scenes.append(_scene(whole.run(name), pis * math.pi))
        titles.append(f"{SHORT[name]}, t = {pis * math.pi:.2f} s")
    # With bends to all sides the common box is mostly empty.
    return picture_row(scenes, titles, row_distance(scenes) * (CLOSER if len(scenes) > 2 else 1.0))


def _scene(one: Run, time: float) -> Scene:
    at = int(np.abs(one.motion.time - time).argmin())
    tensions = one.base[at]
    widths = tuple(THINNEST + (WIDEST - THINNEST) * float(value / one.base.max()) for value in tensions)
    labels = tuple(f"cable {k}: {value:.1f} N at the base" for k, value in enumerate(tensions, 1))
    q = motion(one.case, np.array([time])).q[0]
    scene = robot_scene(snake(), vb.Pose(snake(), q).frames)
    # Seen from one side, the arrow of gravity would be off the picture in most; the axes say what is up.
    return replace(scene, view=VIEW, gravity=None, cable_widths=widths, cable_labels=labels)


def still_picture(whole: Results) -> Any:
    """Tensions at the base of all motions: a row link by link, then one with one tension per cable."""
    names = {method: name for name, method in METHOD_NAMES.items()}
    panels = [
        replace(tension_panel(whole.run(case.name, method)), title=f"{SHORT[case.name]}, {names[method]}")
        for method in METHODS
        for case in whole.cases
    ]
    return panel_still(panels, PICTURE, max(len(whole.cases), 2))


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
    torque, joint, time = one.worst
    return {
        "motion": one.case.name,
        "method": one.method,
        "reading": one.reading.name,
        **{f"peak_T{k}_N": float(value) for k, value in enumerate(one.peaks, 1)},
        "feasible_share": one.feasible,
        "out_of_balance_Nm": torque,
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
            {"equations": one.name, "moments_Nm": one.torques.tolist(), "sum_of_base_tensions_N": one.base}
            for one in whole.variants
        ]
        found["sensitivity"] = [asdict(one) for one in whole.sensitivities]
        found["other_robots"] = [
            {**asdict(one.dimensions), "rise_percent": one.rise, "3d_over_pan": one.over_pan,
             "T2_above_pretension_N": one.bottom_pull}
            for one in whole.robots
        ]  # fmt: skip
    return found
