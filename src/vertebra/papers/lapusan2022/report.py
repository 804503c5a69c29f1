"""What is shown of the comparison: sentences, tables, plots, and plain rows for JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, replace
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

import vertebra as vb
from vertebra.papers.lapusan2022 import PAPER
from vertebra.papers.lapusan2022.cases import (
    BASE_NOTE,
    BASES,
    METHODS,
    MM,
    MODELS,
    PRINTED,
    SEEDS,
    SHOWN_POSE,
    VARIANTS,
    orientations,
    platforms,
    poses,
    python_robot,
    true_platforms,
)
from vertebra.papers.lapusan2022.claims import claims, triple
from vertebra.papers.lapusan2022.model import ENCODERS, USED, Results, results, timing
from vertebra.papers.lapusan2022.published import QUANTITIES, TESTS, UNITS, errors
from vertebra.papers.paper import Claim, Comparison, Reproduced, claim_sections, decimals, rounds_to, verdict_sentence
from vertebra.report.document import Facts, Figures, Section, Sentences, fixed
from vertebra.report.panels import Panel, Series, panel_figure, spread
from vertebra.report.scene import Ghost, Scene, View, robot_scene
from vertebra.robot.tables import Floats

NOTE = "Poses are in the frame of the base; z runs along the straight robot. Simulated, not measured."
BASES_CAPTION = "Left: position. Right: orientation. Pairwise and chain are right to rounding."
SHAPES = (
    "The robot as it is. Orange: its platforms by the printed equations, black (white on a dark page): by `chain`,"
    " both with perfect sensors."
    " Seen in the frame of the base, which leans or turns in the world. Above: how far the printed equations miss the"
    " tip. Drag to turn, scroll to zoom."
)
MAE = "Hollow: the paper's. Filled: ours, simulated with noise of the stated precision, against the truth."
HIL = MAE + " The paper's are differences between two computers with the same input, not errors of the shape."
TIMES = (
    "The first of the simulated runs. Left: noise of the stated precision. Right: wandering headings, magnetic bursts,"
    " lost frames; peaks there are shapes made while samples were missing."
)
GROWTH = "All modules together bend as far as four do. Encoders: joint angles with independent errors of 0.05 deg."
PLOT = "22rem"


def compare() -> Comparison:
    """The equations on their own, both tests with simulated sensors, and the statements."""
    found = results()
    judged = claims(found)
    return Comparison(
        PAPER,
        "Lapusan et al. 2022: shape from a network of orientation sensors",
        found,
        tuple(headlines(found, judged)),
        tuple(sections(found, judged)),
        tuple(details(found)),
        record(found),
        lambda: error_records(found),
        lambda: still_panels(found),
        "Lapusan et al. 2022: shape from orientation sensors; ours simulated, module length assumed",
        judged,
        _reproduced(found),
        NOTE,
        speed,
    )


def speed() -> str:
    """How long a shape takes, measured."""
    took = timing()
    return (
        f"On this machine `chain` takes {1e6 * took.chain:.0f} microseconds per shape, five samples included,"
        f" {took.chain / took.printed:.2f} times as long as (3) to (6) in NumPy."
    )


def _reproduced(found: Results) -> Reproduced:
    """Printed mean errors that noise of the stated size alone gives, to the printed digit."""
    same = total = 0
    for test in TESTS:
        ours = found.mae(test, "stated", "paper").tolist()
        for value, printed in zip(ours, errors(test).mae.tolist(), strict=True):
            same += rounds_to(value, printed, decimals(printed))
            total += 1
    return Reproduced(same, total, "printed mean errors by the stated noise alone, simulated; causes are not printed")


def sections(found: Results, claims: Sequence[Claim]) -> Iterator[Section]:
    """What matters most, in the order of the page."""
    bases = partial(base_figures, found)
    yield Figures("bases", bases, PLOT, "The equations alone, by orientation of the base", BASES_CAPTION)
    yield base_facts(found)
    yield Sentences("", "", (BASE_NOTE,))
    yield Figures("shapes", shape_pictures, "23rem", "One pose by the printed equations", SHAPES, columns=2)
    yield Figures("tracker", _mae_panels(found, "tracker"), PLOT, "Against the tracker", MAE)
    yield mae_facts(found, "tracker")
    yield mae_facts(found, "hil")
    yield Sentences("", "", tuple(method_notes()))
    yield from claim_sections(claims)


def details(found: Results) -> Iterator[Section]:
    """Everything else."""
    yield variant_facts(found)
    yield cause_facts(found)
    yield Sentences("", "", (CAUSE_NOTE,))
    yield Figures("hil", _mae_panels(found, "hil"), PLOT, "Against a virtual robot", HIL)
    yield virtual_facts(found)
    times = [time_panel(found, "hil", model) for model in ("stated", "datasheet")]
    yield Figures("times", times, PLOT, "Error over time", TIMES)
    yield spread_facts(found)
    yield Figures("growth", partial(growth_figures, found), PLOT, "More modules", GROWTH)
    yield growth_facts(found)
    yield growth_angle_facts(found)
    yield Sentences("", "", (GROWTH_NOTE,))
    yield range_facts(found)


def _mae_panels(found: Results, test: str) -> list[Panel]:
    """Of positions and of angles."""
    return [mae_panel(found, test, places) for places in (slice(0, 3), slice(3, 6))]


# Sentences and tables.

LITERAL = (
    "Equations 1 to 9, written down apart from ours, give the poses of method `paper` to 1e-12: tests compare both."
)
SIMULATED = "Simulated; errors are in the frame of the base."
POSE_HEADERS = tuple(f"{name}\n[{unit}]" for name, unit in zip(QUANTITIES, UNITS, strict=True))
TITLES = {"hil": "virtual robot (HIL)", "tracker": "tracker"}


def headlines(found: Results, claims: Sequence[Claim]) -> Iterator[str]:
    """What came out, in sentences."""
    judged = verdict_sentence(claims, "statements of the paper")
    yield f"{judged} Everything of ours is simulated; d1 and d2 are assumed."
    level, yawed, *_, lying = (one.methods["paper"].mean_mm for one in found.bases)
    right = max(one.methods[name].largest_mm for one in found.bases for name in ("pairwise", "chain"))
    yield (
        f"With perfect sensors the equations as printed miss the tip by {fixed(level, 1)} mm on a level base,"
        f" {fixed(yawed, 0)} mm when it is yawed by 30 deg and {fixed(lying, 0)} mm when it is horizontal; corrected,"
        f" by {right:.0e} mm on any base."
    )
    yield _blind(found)
    printed, mae = errors("tracker").mae, found.mae("tracker", "stated", "chain")
    paper = found.mae("tracker", "stated", "paper")
    yield (
        f"Noise of the stated precision would make {triple(paper)} mm in x, y, z by the printed equations and"
        f" {triple(mae)} mm by `chain`; the paper measured {triple(printed)} mm against a tracker. Noise does not"
        " explain that."
    )
    yield _ranges_fit(found)
    yield LITERAL


def _blind(found: Results) -> str:
    worst = max(found.virtual, key=lambda one: one.from_truth_mm)
    return (
        f"The test against a virtual robot cannot see this: repeated here, both agree to {worst.from_virtual_mm:.0e} mm"
        f" while both are {fixed(worst.from_truth_mm, 0)} mm from the truth, since both take the same relative angles."
    )


def _ranges_fit(found: Results) -> str:
    ours, printed = found.ranges["tracker"], errors("tracker").ranges
    return (
        "The printed ranges of motion fit 4 modules of 84 mm: bends chosen for x, y, alpha and beta of the tracker test"
        f" give {fixed(ours[2], 1)} mm in z (printed {fixed(printed[2], 1)}) and {fixed(ours[5], 1)} deg in gamma"
        f" ({fixed(printed[5], 1)}). That does not prove the assumed length."
    )


def base_facts(found: Results) -> Facts:
    """Perfect sensors: errors of the tip by base and method."""
    rows = [
        (
            one.base.name,
            *(fixed(value) for value in astuple(one.methods["paper"])),
            *(f"{one.methods[name].largest_mm:.0e}" for name in ("pairwise", "chain")),
        )
        for one in found.bases
    ]
    headers = (
        "base", "paper\nmean\n[mm]", "\nlargest\n[mm]", "\nmean\n[deg]", "\nlargest\n[deg]",
        "pairwise\nlargest\n[mm]", "chain\nlargest\n[mm]",
    )  # fmt: skip
    return Facts("Error of the tip with perfect sensors", headers, tuple(rows))


def variant_facts(found: Results) -> Facts:
    """Which equation does what, by base."""
    names = list(found.bases[0].variants)
    rows = [(name, *(fixed(one.variants[name].mean_mm) for one in found.bases)) for name in names]
    headers = ("equations", *(one.base.name.replace(" ", "\n", 1) for one in found.bases))
    return Facts("Mean error of the tip by corrected equation, perfect sensors [mm]", headers, tuple(rows))


def growth_facts(found: Results) -> Facts:
    """By number of modules."""
    rows = []
    for one in found.growth:
        perfect = [fixed(error.mean_mm, 1) for error in one.exact.values()]
        noisy = [fixed(one.noisy[name].mean_mm) for name in (*METHODS, ENCODERS)]
        rows.append((str(one.modules), *perfect, *noisy))
    headers = (
        "modules", "perfect,\npaper,\nlevel", "\n\ntilted 30", "noise,\n\npaper", "\n\npairwise", "\n\nchain",
        "\nchain,\nsoft", "\nenco-\nders",
    )  # fmt: skip
    return Facts("Mean error of the tip by number of modules [mm]", headers, tuple(rows))


def growth_angle_facts(found: Results) -> Facts:
    """The same for the orientation of the tip."""
    names = (*METHODS, ENCODERS)
    rows = tuple((str(one.modules), *(fixed(one.noisy[name].mean_deg) for name in names)) for one in found.growth)
    return Facts("Mean error of the tip's orientation by number of modules, noise [deg]", ("modules", *names), rows)


GROWTH_NOTE = (
    "All modules together bend as far as four do, so that longer robots bend more gently. Noise: one sensor per"
    " platform, 0.05, 0.05 and 1 deg. Encoders: true joint angles with independent errors of 0.05 deg."
)


def mae_facts(found: Results, test: str) -> Facts:
    """The paper's mean absolute errors, and those of our simulation, for one test."""
    printed, rows = errors(test), []
    rows.append((f"published ({'two computers' if test == 'hil' else 'measured'})", *_as_printed(printed.mae)))
    for model in USED[test]:
        rows += [(f"{model}: {name}", *_six(found.mae(test, model, name))) for name in METHODS]
    title = f"Mean absolute errors of the {TITLES[test]} test; ours simulated, against the truth"
    return Facts(title, ("", *POSE_HEADERS), tuple(rows))


def _as_printed(values: Floats) -> tuple[str, ...]:
    return tuple(f"{value:g}" for value in values)


def _six(values: Floats) -> tuple[str, ...]:
    """Two digits after the point, more for small numbers."""
    return tuple(f"{value:.2g}" if 0.0 < value < 0.095 else fixed(float(value)) for value in values)


def method_notes() -> Iterator[str]:
    """What methods and models are."""
    yield from (f"{one.name}: {one.text}." for one in METHODS.values())
    yield from (f"{name}: {text}." for name, text in MODELS.items())
    yield f"Means of {len(SEEDS)} seeds. {SIMULATED}"


def spread_facts(found: Results) -> Facts:
    """Distance of the tip from the truth, run by run."""
    rows = []
    for test in TESTS:
        for model in USED[test]:
            for name in METHODS:
                runs = found.of(test, model, name)
                means = [fixed(one.tip.mean_mm) for one in runs]
                largest = max(one.tip.largest_mm for one in runs)
                rows.append((test, model, name, *means, fixed(largest, 1)))
    seeds = [f"seed {seed}\n[mm]" for seed in SEEDS]
    return Facts("Distance of the tip from the truth, simulated", ("motion", "sensors", "method", *seeds,
                 "largest\n[mm]"), tuple(rows))  # fmt: skip


def range_facts(found: Results) -> Facts:
    """Printed and ours."""
    rows = []
    for test in TESTS:
        rows.append((f"{test}, printed", *(fixed(float(value), 1) for value in errors(test).ranges)))
        rows.append((f"{test}, ours", *(fixed(float(value), 1) for value in found.ranges[test])))
    return Facts("Ranges of motion", ("", *POSE_HEADERS), tuple(rows))


def virtual_facts(found: Results) -> Facts:
    """The first test repeated."""
    rows = tuple((one.base.name, f"{one.from_virtual_mm:.0e}", fixed(one.from_truth_mm, 1)) for one in found.virtual)
    headers = ("base", "from virtual robot\nlargest [mm]", "from truth\nmean [mm]")
    return Facts("The printed equations in the test against a virtual robot, repeated", headers, rows)


def cause_facts(found: Results) -> Facts:
    """What would make such errors against a tracker."""
    rows = [("published (measured)", *_as_printed(errors("tracker").mae))]
    rows += [(one.name, *_six(one.mae)) for one in found.causes]
    return Facts("Mean absolute errors in the tracker's motion, one cause at a time", ("", *POSE_HEADERS), tuple(rows))


CAUSE_NOTE = (
    "Sizes of mounts, headings, twist, length and alignment are assumed: the paper gives none. A wrong length is ruled"
    " out by the small error in z, unless z was set to zero at the start."
)


# Plots and 3D pictures, drawn when a page or a picture is made.

STYLES = {
    "paper": ("#D55E00", "square"),
    "pairwise": ("#0072B2", "diamond"),
    "chain": ("#000000", "circle"),
    "chain, soft": ("#56B4E9", "triangle-up"),
    ENCODERS: ("#7F7F7F", "x"),
}
NOISE = {"stated": "noise as stated", "datasheet": "all errors"}
MOST_POINTS = 400
SHOWN_BASES = (0, 1, 3, 4)
VIEW = View(2, 1, (0.24, -0.70, 0.67))
"""Across the bend and from above, so that errors to any side show."""


def base_panel(found: Results, unit: str = "mm") -> Panel:
    """Error of the tip by tilt of the base, perfect sensors; the yawed base has its own mark. `unit`: mm or deg."""
    mean = attrgetter(f"mean_{unit}")
    tilted = [one for one in found.bases if not one.base.yaw]
    series = []
    for name in ("paper", "pairwise", "chain"):
        colour, symbol = STYLES[name]
        y = [mean(one.methods[name]) for one in tilted]
        series.append(Series(name, [one.base.tilt for one in tilted], y, colour, "solid", symbol, size=8))
    yawed = next(one for one in found.bases if one.base.yaw)
    name, colour = f"paper, level but yawed by {yawed.base.yaw:g} deg", STYLES["paper"][0]
    series.append(Series(name, [0.0], [mean(yawed.methods["paper"])], colour, "", "circle-open", size=12))
    return Panel("perfect sensors", "tilt of the base [deg]", f"mean error of the tip [{unit}]", tuple(series))


def growth_panel(found: Results, unit: str = "deg") -> Panel:
    """Error of the tip against the number of modules, with noise; `unit`: mm or deg."""
    mean = attrgetter(f"mean_{unit}")
    counts = [one.modules for one in found.growth]
    series = []
    for name in (*METHODS, ENCODERS):
        colour, symbol = STYLES[name]
        y = [mean(one.noisy[name]) for one in found.growth]
        series.append(Series(name, counts, y, colour, "dot" if name == ENCODERS else "solid", symbol, size=7))
    return Panel("noise as stated, level base", "modules", f"mean error of the tip [{unit}]", tuple(series))


def mae_panel(found: Results, test: str, places: slice) -> Panel:
    """Mean absolute errors beside the printed ones, with the stated noise: of positions or of angles."""
    names, model = QUANTITIES[places], "stated"
    unit = UNITS[places][0]
    rows = list(range(len(names)))
    series = [Series("published", errors(test).mae[places], rows, "#000000", "", "circle-open", size=14)]
    for name in METHODS:
        colour, symbol = STYLES[name]
        series.append(Series(f"simulated, {name}", found.mae(test, model, name)[places], rows, colour, "",
                             symbol, size=8))  # fmt: skip
    what = {"hil": "HIL motion", "tracker": "tracker motion"}[test]
    return Panel(f"{what}, {NOISE[model]}", f"mean absolute error [{unit}]", "", tuple(series), rows=names)


def time_panel(found: Results, test: str, model: str) -> Panel:
    """Distance of the tip from the truth during the first run."""
    series = []
    for name in ("paper", "pairwise", "chain"):
        run = next(one for one in found.of(test, model, name) if one.seed == SEEDS[0])
        rows = spread(len(run.times), MOST_POINTS)
        series.append(Series(name, run.times[rows], run.distances[rows], STYLES[name][0]))
    return Panel(f"{test} motion, {NOISE[model]}", "time [s]", "error of the tip [mm]", tuple(series))


def base_figures(found: Results) -> list[Any]:
    """Position and orientation of the tip by base."""
    return _from_zero(base_panel(found, unit) for unit in ("mm", "deg"))


def growth_figures(found: Results) -> list[Any]:
    """Position and orientation of the tip by number of modules."""
    return _from_zero(growth_panel(found, unit) for unit in ("mm", "deg"))


def _from_zero(panels: Iterable[Panel]) -> list[Any]:
    figures = [panel_figure([panel]) for panel in panels]
    for figure in figures:
        figure.update_yaxes(rangemode="tozero")
    return figures


def still_panels(found: Results) -> list[Panel]:
    """Of the still picture."""
    return [
        base_panel(found),
        growth_panel(found),
        mae_panel(found, "tracker", slice(0, 3)),
        time_panel(found, "hil", "stated"),
    ]


def shape_pictures() -> Iterator[Any]:
    """One pose on several bases in the frame of the base: the robot, and where methods have it with perfect sensors."""
    from vertebra.report.plotly import picture_row, row_distance

    robot, angles = python_robot(), poses()[SHOWN_POSE]
    true = true_platforms(robot, angles[None])
    scenes, titles = [], []
    for place in SHOWN_BASES:
        base = BASES[place]
        seen = orientations(true, base.rotations(SHOWN_POSE + 1)[-1:])
        printed = platforms(seen, robot, PRINTED)[0]
        chain = vb.shape_from_orientations(robot, seen[0], twist=0.0).platforms_in_base
        scenes.append(_scene(angles, {"paper": printed, "chain": chain}))
        off = MM * np.linalg.norm(printed[-1, :3, 3] - true[0, -1, :3, 3])
        titles.append(f"{base.name}: {off:.1f} mm")
    return picture_row(scenes, titles, row_distance(scenes))


def _scene(angles: Floats, found: Mapping[str, Floats]) -> Scene:
    robot = python_robot()
    scene = robot_scene(robot, vb.Pose(robot, angles).frames)
    ghosts = tuple(Ghost(MM * frames[:, :3, 3], STYLES[name][0], name) for name, frames in found.items())
    corners = np.vstack([scene.low, scene.high, *(ghost.line for ghost in ghosts)])
    # In the frame of the base, gravity would point elsewhere in every picture.
    return replace(scene, view=VIEW, ghosts=ghosts, gravity=None, low=corners.min(axis=0), high=corners.max(axis=0))


# Plain rows for JSON and CSV; units are in the names.

NAMES = tuple(f"{name}_{unit}" for name, unit in zip(QUANTITIES, UNITS, strict=True))


def record(found: Results) -> dict[str, Any]:
    """Everything but the claims and the errors of every instant, which are in the CSV file."""
    return {
        "simulated": True,
        "published": [
            {"test": test, "mae": _records_six(errors(test).mae), "range": _records_six(errors(test).ranges)}
            for test in TESTS
        ],
        "ranges": [{"test": test, **_records_six(values)} for test, values in found.ranges.items()],
        "perfect_sensors": [
            {
                "base": one.base.name,
                "methods": {name: asdict(error) for name, error in one.methods.items()},
                "equations": {variant.key: asdict(one.variants[variant.name]) for variant in VARIANTS},
            }
            for one in found.bases
        ],
        "growth": [asdict(one) for one in found.growth],
        "runs": list(run_records(found)),
        "virtual_robot": [
            {"base": one.base.name, "from_virtual_mm": one.from_virtual_mm, "from_truth_mm": one.from_truth_mm}
            for one in found.virtual
        ],
        "rounding": asdict(found.rounding),
        "lever": asdict(found.lever),
        "platforms_mm": {"moving": found.along.moving_mm.tolist(), "straight": found.along.straight_mm.tolist()},
        "third_angle_deg": found.third_angles,
        "causes": [{"cause": one.name, **_records_six(one.mae)} for one in found.causes],
    }


def run_records(found: Results) -> Iterator[dict[str, Any]]:
    """Mean absolute errors of every simulated run."""
    for one in found.runs:
        yield {
            "motion": one.test,
            "sensors": one.model,
            "method": one.method,
            "seed": one.seed,
            **{f"mae_{name}": value for name, value in _records_six(one.mae).items()},
            **{f"tip_{name}": value for name, value in asdict(one.tip).items()},
        }


def error_records(found: Results) -> Iterator[dict[str, Any]]:
    """Errors of the tip in the base, at every instant of every run."""
    for one in found.runs:
        for time, row in zip(one.times, one.errors, strict=True):
            yield {
                "motion": one.test,
                "sensors": one.model,
                "method": one.method,
                "seed": one.seed,
                "time_s": round(float(time), 6),
                **{f"error_{name}": value for name, value in _records_six(row).items()},
            }


def _records_six(values: Floats) -> dict[str, float]:
    return {name: float(value) for name, value in zip(NAMES, values, strict=True)}
