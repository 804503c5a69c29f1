"""What is shown of the comparison: tables, sentences, sections of the page, and plain rows for JSON and CSV."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any

from vertebra.papers.hu2023 import PAPER
from vertebra.papers.hu2023.cases import EXPERIMENTS, MOUNTS, Cell
from vertebra.papers.hu2023.claims import claims
from vertebra.papers.hu2023.model import Race, Results, experiment_results, results
from vertebra.papers.hu2023.published import Key
from vertebra.papers.paper import (
    Claim,
    Comparison,
    Pictures,
    Reproduced,
    Section,
    Table,
    claim_sections,
    figures,
    verdict_sentence,
)
from vertebra.papers.printed import fixed
from vertebra.report.document import Facts

NOTE = "Published numbers are the paper's; ours are computed from the robot file and the cable tensions alone."
SHAPES = (
    "Solid: our shape under its weight, its tip as a filled mark. Diamond: the measured tip. Grey line: our shape "
    "without gravity. Drag to turn, scroll to zoom."
)
MARKS = "Filled: ours. Circles: the paper's estimate. Diamonds: what the paper simulated or measured."
_figures = partial(figures, PAPER.name)


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
        record(found),
        lambda: (cell_record(cell) for cell in found.cells),
        _figures("draw", found),
        judged,
        Reproduced(found.equal, len(found.cells), "cells of Tables 1 to 3 equal to the printed digit"),
        NOTE,
    )


def sections(found: Results, claims: Sequence[Claim]) -> Iterator[Section]:
    """Of the whole comparison, or only the experiments when nothing else was solved."""
    shapes = _figures("experiment_pictures", found)
    yield Pictures("shapes", shapes, "24rem", "The prototype in its three ground-mounted experiments", SHAPES, True)
    if not claims:
        yield Table(table_facts(found, 3), brief=True)
        yield Table(experiment_facts(found), brief=True)
        return
    yield Table(cell_counts(found), brief=True)
    plane = _figures("plane_figures", found)
    yield Pictures("plane", plane, "30rem", "Table 3 in the plane of bending", MARKS)
    for table in (1, 2, 3):
        yield Pictures(f"angles-{table}", _figures("angle_figures", found, table), "28rem", TITLES[table], MARKS)
        yield Table(table_facts(found, table), brief=table == 3)
    yield from claim_sections(claims)
    yield Table(tip_facts(found))
    yield Table(triangle_facts(found))
    yield Table(race_facts(found))


# Sentences and tables.

TITLES = {
    1: "Table 1: planar robot, six links, simulated",
    2: "Table 2: spatial robot, six links, simulated",
    3: "Table 3: prototype, twelve links, bent in one plane, measured",
}
TABLE_4 = (
    "Table 4: prototype bent in space. Only distances from measured tips are printed, so only the triangle is checked"
)
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
            f"Table 4 prints no tips, only how far they are from measured ones: our pairs of tips fit the printed"
            f" distances in {possible} of {len(found.tips)} cases."
        )
    if found.races:
        yield _race_sentence(found)


def _race_sentence(found: Results) -> str:
    races = weighty(found.races)
    worst = max(race.difference for race in races)
    failed = sum(race.kept_at_one is None for race in races)
    newton, sweeps = [race.newton for race in races], [race.halving for race in races if race.halving is not None]
    return (
        f"The paper's iteration and ours agree to {worst:.0e} rad on all {len(races)} cases with weight;"
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
    """A printed table turned on its side: the paper's estimate, ours and what is real, row under row."""
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
        yield ("", "measured" if table == 3 else "ADAMS", *(fixed(value) for value in real))


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


def race_facts(found: Results) -> Facts:
    """Iterations of both methods, on the cases with weight."""
    rows = []
    for race in weighty(found.races):
        sweeps = (_count(n) for n in (race.halving, race.kept_at_one, race.kept_at_half))
        rows.append((race.case, str(race.newton), *sweeps, f"{race.difference:.0e}"))
    headers = ("", "Newton\nsteps", "sweeps\nhalving", "omega\n1", "omega\n0.5", "differ\n[rad]")
    return Facts("The paper's iteration (to 1e-12 m at the tip) and Newton's method", headers, tuple(rows))


def weighty(races: Sequence[Race]) -> list[Race]:
    """Those with gravity: without it the first sweep is the answer."""
    return [race for race in races if not race.case.endswith("no gravity")]


def _count(sweeps: int | None) -> str:
    return "fails" if sweeps is None else str(sweeps)


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
    if found.races:
        out["algorithms"] = [
            {
                "case": race.case,
                "newton_iterations": race.newton,
                "sweeps_omega_halved": race.halving,
                "sweeps_omega_1": race.kept_at_one,
                "sweeps_omega_half": race.kept_at_half,
                "largest_difference_rad": race.difference,
            }
            for race in found.races
        ]
    return out
