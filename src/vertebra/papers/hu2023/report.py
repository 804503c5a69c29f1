"""What is shown of the comparison: sentences, tables, plots, and plain rows for JSON and CSV."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np

from vertebra.papers.hu2023 import PAPER
from vertebra.papers.hu2023.cases import EXPERIMENTS, MOUNTS, Cell
from vertebra.papers.hu2023.claims import claims
from vertebra.papers.hu2023.model import IterationCount, Results, experiment_results, items_of, results
from vertebra.papers.hu2023.published import Key, Values, estimates, references
from vertebra.papers.paper import Claim, Comparison, Reproduced, claim_sections, verdict_sentence
from vertebra.report.document import Facts, Figures, Section, fixed
from vertebra.report.panels import Panel, Series, panel_figure
from vertebra.report.scene import CABLE_COLOURS, Scene, ghost
from vertebra.report.shape import shape_scene
from vertebra.robot.tables import Floats

NOTE = "Published numbers are the paper's; ours are computed from the robot file and the cable tensions alone."
SHAPES = (
    "Solid: our shape under its weight, its tip as a filled mark. Diamond: the measured tip. Grey line: our shape "
    "without gravity. Drag to turn, scroll to zoom."
)
LEGEND = "Filled: ours. Circles: the paper's estimate. Diamonds: what the paper simulated or measured."


def compare(experiments: bool = False) -> Comparison:
    """All tables and the quoted mean errors; or only the three ground-mounted experiments of the prototype."""
    found = experiment_results() if experiments else results()
    judged = () if experiments else claims(found.solved)
    return Comparison(
        PAPER,
        "Hu et al. 2023: prototype on the ground" if experiments else "Hu et al. 2023: published and ours",
        found,
        tuple(headlines(found, judged)),
        tuple(sections(found, judged)),
        () if experiments else tuple(details(found)),
        record(found),
        lambda: (cell_record(cell) for cell in found.cells),
        lambda: still_panels(found),
        "Hu et al. 2023, Table 3: the prototype bent in one plane, published and ours",
        judged,
        Reproduced(found.equal, len(found.cells), "cells of Tables 1 to 3 equal to the printed digit"),
        NOTE,
    )


def sections(found: Results, claims: Sequence[Claim]) -> Iterator[Section]:
    """What matters most; only the experiments when nothing else was solved."""
    shapes = partial(experiment_pictures, found)
    yield Figures("shapes", shapes, "24rem", "The prototype in its three ground-mounted experiments", SHAPES, True)
    if not claims:
        yield table_facts(found, 3)
        yield experiment_facts(found)
        return
    yield cell_counts(found)
    yield Figures("plane", partial(plane_figures, found), "30rem", "Table 3 in the plane of bending", LEGEND)
    yield from _angles(found, 3)
    yield from claim_sections(claims)


def details(found: Results) -> Iterator[Section]:
    """Everything else."""
    yield from (*_angles(found, 1), *_angles(found, 2))
    yield tip_facts(found)
    yield triangle_facts(found)
    yield iteration_facts(found)


def _angles(found: Results, table: int) -> Iterator[Section]:
    yield Figures(f"angles-{table}", partial(angle_figures, found, table), "28rem", TITLES[table], LEGEND)
    yield table_facts(found, table)


# Sentences and tables.

TITLES = {
    1: "Table 1: planar robot, six links, simulated",
    2: "Table 2: spatial robot, six links, simulated",
    3: "Table 3: prototype, twelve links, bent in one plane, measured",
}
NOT_EQUAL = " *"


def headlines(found: Results, claims: Sequence[Claim]) -> Iterator[str]:
    """What came out, in sentences."""
    tables = sorted({cell.key[0] for cell in found.cells})
    where = f"Tables {tables[0]} to {tables[-1]}" if len(tables) > 1 else f"Table {tables[0]}"
    yield f"{found.equal} of {len(found.cells)} estimated cells of {where} equal ours to the printed digit."
    if claims:
        yield verdict_sentence(claims, "mean errors quoted in the text")
    if found.tips:
        possible = sum(tip.possible for tip in found.tips)
        yield (
            "Table 4 prints no tips, only how far they are from measured ones: our pairs of tips fit the printed"
            f" distances in {possible} of {len(found.tips)} cases."
        )
    if found.iteration_counts:
        yield _iteration_sentence(found)


def _iteration_sentence(found: Results) -> str:
    counts = with_weight(found.iteration_counts)
    worst = max(one.difference for one in counts)
    failed = sum(one.kept_at_one is None for one in counts)
    newton, sweeps = [one.newton for one in counts], [one.halving for one in counts if one.halving is not None]
    return (
        f"The paper's iteration and ours agree to {worst:.0e} rad on all {len(counts)} cases with weight;"
        f" it takes {min(sweeps)} to {max(sweeps)} sweeps where Newton takes {min(newton)} to {max(newton)}"
        f" iterations, and with omega kept at 1 it fails on {failed}."
    )


def cell_counts(found: Results) -> Facts:
    """Cells of each table."""
    rows = []
    for table, group in groupby(found.cells, lambda cell: cell.key[0]):
        cells = list(group)
        largest = max(abs(cell.difference) for cell in cells)
        rows.append((str(table), str(len(cells)), str(sum(cell.equal for cell in cells)), f"{largest:.4f}"))
    headers = ("table", "estimated cells", "equal", "largest difference [deg, mm]")
    return Facts("Published estimates and ours", headers, tuple(rows))


def table_facts(found: Results, table: int) -> Facts:
    """A printed table turned on its side: rows with the paper's estimate, ours, and what it is compared with."""
    cells = [cell for cell in found.cells if cell.key[0] == table]
    rows = [row for key, group in groupby(cells, lambda cell: cell.key) for row in _rows(key, list(group))]
    names = list(dict.fromkeys(cell.quantity for cell in cells))
    return Facts(TITLES[table], ("case", "", *(heading(name) for name in names)), tuple(rows))


def _rows(key: Key, cells: Sequence[Cell]) -> Iterator[tuple[str, ...]]:
    """Two or three rows; the name of the case runs down the first column, which keeps it narrow."""
    table, item, mount = key
    where = "no gravity" if mount == "none" else mount
    names = [where, ""] if item == "any" else [f"exp. {item}" if table == 3 else item, where]
    yield (names[0], "paper", *(fixed(cell.published) for cell in cells))
    yield (names[1], "ours", *(fixed(cell.ours) + ("" if cell.equal else NOT_EQUAL) for cell in cells))
    real = [cell.reference for cell in cells if cell.reference is not None]
    if real:
        yield ("", _real(table), *(fixed(value) for value in real))


def heading(quantity: str) -> str:
    """``theta2_deg`` as a narrow heading of three lines."""
    name, unit = quantity.split("_")
    joint = name.removeprefix("theta")
    return f"joint\n{joint}\n[{unit}]" if joint != name else f"tip\n{name}\n[{unit}]"


def experiment_facts(found: Results) -> Facts:
    """How far the estimated tips of the ground-mounted experiments are from the measured ones."""
    columns = {key: list(group) for key, group in groupby(found.cells, lambda cell: cell.key)}
    rows = []
    for item in EXPERIMENTS:
        free, loaded = columns[3, item, "none"], columns[3, item, "ground"]
        real = [cell.reference or 0.0 for cell in loaded[-3:]]
        texts = [
            fixed(math.dist([value(cell) for cell in column[-3:]], real))
            for column in (free, loaded)
            for value in (attrgetter("published"), attrgetter("ours"))
        ]
        payload = " ".join(f"{tension:.2f}" for tension in found.solved[3, item, "ground"].case.tensions)
        rows.append((f"exp. {item}", payload, *texts))
    headers = ("", "tensions\n[N]", "no gravity\npaper", "no gravity\nours", "gravity\npaper", "gravity\nours")
    return Facts("Distance of the estimated tip from the measured one, mm", headers, tuple(rows))


def tip_facts(found: Results) -> Facts:
    """Our tips for the payloads of Table 4; the paper prints none."""
    rows = []
    tips = {(tip.tip, tip.mount): tip for tip in found.tips}
    for number in sorted({tip.tip for tip in found.tips}):
        ground, ceiling = (tips[number, mount] for mount in MOUNTS)
        payload = " ".join(f"{tension:.2f}" for tension in ground.tensions)
        places = ground.no_gravity_tip, ground.with_gravity_tip, ceiling.with_gravity_tip
        rows.append((str(number), payload, *(" ".join(fixed(value, 1) for value in place) for place in places)))
    headers = ("tip", "tensions [N]", "no gravity [mm]", "ground [mm]", "ceiling [mm]")
    return Facts("Table 4: prototype bent in space. Our tips; the paper prints none", headers, tuple(rows))


def triangle_facts(found: Results) -> Facts:
    """What the printed errors of Table 4 allow, and ours."""
    rows = []
    for tip in found.tips:
        errors = fixed(tip.no_gravity_error), fixed(tip.with_gravity_error)
        allowed = fixed(tip.least), fixed(tip.apart), fixed(tip.most)
        verdict = "possible" if tip.possible else "impossible"
        rows.append((str(tip.tip), tip.mount, *errors, *allowed, verdict))
    headers = ("tip", "", "error\nwithout", "error\nwith", "at\nleast", "our tips\napart", "at\nmost", "")
    return Facts("Table 4: printed errors, and how far apart they let the two tips be, mm", headers, tuple(rows))


def iteration_facts(found: Results) -> Facts:
    """Iterations of both methods, on the cases with weight."""
    rows = []
    for one in with_weight(found.iteration_counts):
        sweeps = (_count(n) for n in (one.halving, one.kept_at_one, one.kept_at_half))
        rows.append((one.case, str(one.newton), *sweeps, f"{one.difference:.0e}"))
    headers = ("", "Newton\nsteps", "sweeps\nhalving", "omega\n1", "omega\n0.5", "differ\n[rad]")
    return Facts("The paper's iteration (to 1e-12 m at the tip) and Newton's method", headers, tuple(rows))


def with_weight(counts: Sequence[IterationCount]) -> list[IterationCount]:
    """Those with gravity: without it the first sweep is the answer."""
    return [one for one in counts if not one.case.endswith("no gravity")]


def _count(sweeps: int | None) -> str:
    return "fails" if sweeps is None else str(sweeps)


# Plots and 3D pictures, drawn when a page or a picture is made.

MEASURED_COLOUR = "#0072B2"
GREY = "#7F7F7F"
MARKS = {"ours": ("circle", 6.0), "paper's estimate": ("circle-open", 11.0)}
REAL = ("diamond-open", 8.0)
"""Symbol and size by what is shown."""


def angle_figures(found: Results, table: int) -> list[Any]:
    """Bending angles along the robot on both mounts, to one scale."""
    figure = panel_figure([bend_panel(found, table, mount) for mount in MOUNTS])
    figure.update_xaxes(dtick=1 if table < 3 else 2)
    figure.update_yaxes(matches="y")
    return [figure]


def plane_figures(found: Results) -> list[Any]:
    """The experiments of Table 3 in the plane in which the prototype bends."""
    return [panel_figure([plane_panel(found, mount) for mount in MOUNTS])]


def still_panels(found: Results) -> list[Panel]:
    """Shapes and bending angles of the prototype on each mount that was solved."""
    mounts = [mount for mount in MOUNTS if (3, EXPERIMENTS[0], mount) in found.solved]
    return [panel for mount in mounts for panel in (plane_panel(found, mount), bend_panel(found, 3, mount))]


def plane_panel(found: Results, mount: str) -> Panel:
    """Shapes of Table 3 at equal scale on both axes; those on the ceiling hang."""
    series = []
    for item, colour in zip(EXPERIMENTS, CABLE_COLOURS, strict=False):
        case: Key = (3, item, mount)
        series.append(Series("without gravity", *_backbone(found, (3, item, "none")), colour, "dot", width=1.0))
        series.append(Series(f"experiment {item}", *_backbone(found, case), colour))
        places = {"ours": found.solved[case].shape.tip * 1e3}
        places |= {what: _place(values) for what, values in _printed(case).items()}
        series += [_marks(what, ([-float(at[1])], [float(at[2])]), colour) for what, at in places.items()]
    return Panel(f"Shape, {mount}", "-y [mm]", "z [mm]", (*series, *_key(3)), equal=True, flipped=mount == "ceiling")


def bend_panel(found: Results, table: int, mount: str) -> Panel:
    """Bending angles of one of Tables 1 to 3."""
    series = []
    for item, colour in zip(items_of(table), CABLE_COLOURS, strict=False):
        case: Key = (table, item, mount)
        ours = {cell.quantity: cell.ours for cell in found.cells if cell.key == case}
        series.append(Series(f"experiment {item}" if table == 3 else item, *_bends(ours), colour))
        series += [_marks(what, _bends(values), colour) for what, values in ({"ours": ours} | _printed(case)).items()]
    return Panel(f"Bending angles, {mount}", "joint", "bending angle [deg]", (*series, *_key(table)))


def _printed(case: Key) -> dict[str, Values]:
    return {"paper's estimate": estimates()[case], _real(case[0]): references()[case]}


def _real(table: int) -> str:
    return "measured" if table == 3 else "ADAMS"


def _marks(what: str, points: tuple[Sequence[float], Sequence[float]], colour: str, name: str = "") -> Series:
    symbol, size = MARKS.get(what, REAL)
    return Series(name, *points, colour, "", symbol, size=size)


def _key(table: int) -> Iterator[Series]:
    """What each kind of mark is: entries of the legend, for points that are nowhere."""
    return (_marks(what, ([math.nan], [math.nan]), GREY, what) for what in (*MARKS, _real(table)))


def _bends(values: Values) -> tuple[list[int], list[float]]:
    """Numbers of joints, and their bending angles, deg."""
    found = {name: value for name, value in values.items() if name.endswith("_deg")}
    return [int(name.removeprefix("theta").removesuffix("_deg")) for name in found], list(found.values())


def _place(values: Values) -> Floats:
    """(3,) mm, the tip."""
    return np.array([values[f"{axis}_mm"] for axis in "xyz"])


def _backbone(found: Results, case: Key) -> tuple[list[float], list[float]]:
    """The robot from base to tip in the plane of bending, mm."""
    shape = found.solved[case].shape
    points = np.vstack([shape.frames[:, :3, 3], shape.tip]) * 1e3
    return (-points[:, 1]).tolist(), points[:, 2].tolist()


def experiment_pictures(found: Results) -> Iterator[Any]:
    """The prototype in the three ground-mounted experiments, with the measured tip and the shape without gravity."""
    from vertebra.report.plotly import picture_row, point_trace

    scenes = [_experiment_scene(found, item) for item in EXPERIMENTS]
    pictures = picture_row(scenes, [f"experiment {item}" for item in EXPERIMENTS])
    for item, figure in zip(EXPERIMENTS, pictures, strict=True):
        tip = _place(references()[3, item, "ground"])
        figure.add_trace(point_trace(tip, MEASURED_COLOUR, "measured tip", "diamond-open", 7))
        yield figure


def _experiment_scene(found: Results, item: str) -> Scene:
    loaded, free = (found.solved[3, item, mount].shape for mount in ("ground", "none"))
    scene = shape_scene(loaded, [ghost(loaded.robot, free.frames, "without gravity")])
    return replace(scene, ellipsoid=None)  # it would hide the measured tip


# Plain rows for JSON and CSV; units are in the names.


def cell_record(cell: Cell) -> dict[str, Any]:
    """One cell."""
    table, item, mount = cell.key
    return {
        "table": table,
        "item": item,
        "mount": mount,
        "quantity": cell.quantity,
        "published": cell.published,
        "ours": cell.ours,
        "simulated_or_measured": cell.reference,
        "equal": cell.equal,
    }


def record(found: Results) -> dict[str, Any]:
    """Everything but the claims; the parts that were not asked for are left out."""
    out: dict[str, Any] = {"cells_equal": found.equal, "cells": [cell_record(cell) for cell in found.cells]}
    if found.tips:
        out["table_4"] = [
            {
                "tip": tip.tip,
                "mount": tip.mount,
                "tensions_N": tip.tensions,
                "published_error_no_gravity_mm": tip.no_gravity_error,
                "published_error_mm": tip.with_gravity_error,
                "our_tip_no_gravity_mm": tip.no_gravity_tip,
                "our_tip_mm": tip.with_gravity_tip,
                "apart_mm": tip.apart,
                "possible": tip.possible,
            }
            for tip in found.tips
        ]
    if found.iteration_counts:
        out["algorithms"] = [
            {
                "case": one.case,
                "newton_iterations": one.newton,
                "sweeps_omega_halved": one.halving,
                "sweeps_omega_1": one.kept_at_one,
                "sweeps_omega_half": one.kept_at_half,
                "largest_difference_rad": one.difference,
            }
            for one in found.iteration_counts
        ]
    return out
