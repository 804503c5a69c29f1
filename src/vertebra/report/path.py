"""The answer about a walk from shape to shape: how far the tip went, what friction took; tables, plots, page, CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.report.document import (
    TURN_IT,
    Facts,
    Figures,
    Report,
    Rows,
    Section,
    number,
    plain_fields,
    plain_value,
    signless_zero,
)
from vertebra.report.panels import Panel, Series
from vertebra.report.scene import Ghost, Mark, Scene, best_view, cable_style, gravity_arrow
from vertebra.report.shape import alike_cables, all_tables, shape_record, shape_scene, shape_tables, warnings
from vertebra.robot.table_file import TIME, TIP, angle_columns, column_names, length_columns, tension_columns
from vertebra.robot.tables import Floats
from vertebra.statics.path import Walk
from vertebra.statics.shape import Shape, Status
from vertebra.statics.tip_path import Jump

MM, MJ = 1e3, 1e3
MOST_ROWS = 400
"""Longer walks are shown with every second, fifth, tenth ... row; files have all of them."""


class Gap(NamedTuple):
    """How far apart two rows with the same tensions are."""

    distance: float
    """m, between their tips."""
    rows: tuple[int, int]
    """Counted from 1."""


def widest_gap(walk: Walk) -> Gap | None:
    """The two rows with the same tensions (to 1 nN) whose tips are farthest apart; none where no tensions come back."""
    _, group = np.unique(np.round(walk.tensions, 9), axis=0, return_inverse=True)
    widest: Gap | None = None
    for rows in _members(group.reshape(-1).astype(np.int64)):
        # A robot that waits repeats its tip: one of each is enough.
        _, first = np.unique(np.round(walk.tip[rows], 12), axis=0, return_index=True)
        kept = rows[np.sort(first)]
        for i in kept:
            apart = np.linalg.norm(walk.tip[kept] - walk.tip[i], axis=1)
            j = int(np.argmax(apart))
            # A closed loop repeats its gaps but for round-off: the first pair of rows is reported.
            if widest is None or apart[j] > widest.distance * (1.0 + 1e-9):
                other = int(kept[j]) if kept[j] != i else int(rows[-1])
                low, high = walk.row_numbers[[min(int(i), other), max(int(i), other)]].tolist()
                widest = Gap(float(apart[j]), (low, high))
    return widest


def _members(group: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Row numbers of every group that has two or more."""
    order = np.argsort(group, kind="stable").astype(np.int64)
    for rows in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        if len(rows) > 1:
            yield rows


def walk_summary(walk: Walk, title: str, before: float = 0.0, substeps: int = 1) -> Facts:
    """The walk as a whole; `before` is the work against friction that an earlier walk has done, J."""
    tip = walk.tip * MM
    ranges = [
        f"{axis} {signless_zero(low, '.3f')} to {signless_zero(high, '.3f')}"
        for axis, low, high in zip("xyz", tip.min(axis=0), tip.max(axis=0), strict=True)
    ]
    travelled = float(np.linalg.norm(np.diff(tip, axis=0), axis=1).sum())
    total = float(walk.friction_work[-1])
    spent = f"{number((total - before) * MJ)} mJ"
    rows = [("rows", str(len(walk)) + (f", each in {substeps} substeps" if substeps > 1 else ""))]
    if len(walk) > 1:
        rows += [
            ("tip range", ", ".join(ranges) + " mm"),
            ("tip travelled", f"{travelled:.3f} mm from the first row to the last"),
            ("hysteresis", gap_text(widest_gap(walk))),
        ]
    rows.append(
        ("work against friction", spent + (f", {number(total * MJ)} mJ since the path began" if before else ""))
    )
    return Facts(title, ("", ""), tuple(rows))


def gap_text(gap: Gap | None) -> str:
    """In one line."""
    if gap is None:
        return "- (no tensions come back)"
    return f"{gap.distance * MM:.3f} mm between the tips of rows {gap.rows[0]} and {gap.rows[1]}, same tensions"


def row_table(walk: Walk, names: Sequence[str] = (), extra: Sequence[Sequence[str]] = ()) -> Facts:
    """Row by row; `extra` are further columns, headed by `names`."""
    shown = shown_rows(len(walk))
    cables = walk.tensions.shape[1]
    headers = ("row", *(f"t{k} [N]" for k in range(1, cables + 1)), "x [mm]", "y [mm]", "z [mm]", "work [mJ]", *names)
    rows = [
        (
            str(walk.row_numbers[i]),
            *(number(round(value, 6)) for value in walk.tensions[i].tolist()),
            *(signless_zero(value * MM, ".3f") for value in walk.tip[i].tolist()),
            f"{walk.friction_work[i] * MJ:.4f}",
            *(column[i] for column in extra),
        )
        for i in shown
    ]
    title = "Rows" if len(shown) == len(walk) else f"Rows, {len(shown)} of {len(walk)}"
    return Facts(title, headers, tuple(rows))


def failed_table(walked: Walked) -> Facts:
    """Rows without a shape, and why."""
    rows = [(str(row.number), row.status.name.lower().replace("_", " "), row.message) for row in walked.failed]
    some = f", the first {MOST_ROWS} of {len(rows)}" if len(rows) > MOST_ROWS else ""
    return Facts(f"Rows without a shape{some}", ("row", "status", "why"), tuple(rows[:MOST_ROWS]))


def shown_rows(count: int, most: int = MOST_ROWS) -> list[int]:
    """All, or evenly some with the last."""
    step = 1
    for size in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000):
        step = size
        if count <= most * size:
            break
    return sorted({*range(0, count, step), count - 1})


# Plots of a walk from shape to shape: the tip, the tensions, the work against friction, and the loop.

TIP_STYLES = (("x", "#222222", "solid"), ("y", "#777777", "dash"), ("z", "#8C6D1F", "dot"))
PATH_COLOUR, WANTED_COLOUR, WORK_COLOUR, MISS_COLOUR = "#882255", "#000000", "#0072B2", "#CC79A7"
MOST_DOTS = 60
"""Rows beyond this number are drawn as a line only."""


@dataclass(frozen=True, eq=False)
class Wanted:
    """Where the tip should have gone."""

    tips: Floats
    """(N, 3) m."""
    reached: tuple[bool, ...]
    """(N,)"""

    def errors(self, walk: Walk) -> Floats:
        """(N,) m."""
        miss: Floats = np.linalg.norm(walk.tip - self.tips, axis=1)
        return miss


def path_panels(walk: Walk, wanted: Wanted | None = None) -> tuple[Panel, ...]:
    """Four plots."""
    last = loop_panel(walk) if wanted is None else miss_panel(walk, wanted)
    return tip_panel(walk, wanted), tension_panel(walk), work_panel(walk), last


def tip_panel(walk: Walk, wanted: Wanted | None = None) -> Panel:
    """Coordinates of the tip, and where it should be."""
    series = []
    for i, (axis, colour, dash) in enumerate(TIP_STYLES):
        series.append(_series(walk, f"tip {axis}", walk.tip[:, i] * MM, colour, dash))
        if wanted is not None:
            place = wanted.tips[:, i] * MM
            series.append(Series(f"wanted {axis}", _rows(walk), place, colour, "", "circle-open", size=9))
    return Panel("Tip", "row", "position [mm]", tuple(series))


def tension_panel(walk: Walk) -> Panel:
    """Tension of each cable, or of those with equal tensions."""
    series = [
        _series(walk, name, walk.tensions[:, k], *cable_style(k)) for k, name in alike_cables(walk.tensions.T).items()
    ]
    return Panel("Tensions at the base", "row", "tension [N]", tuple(series))


def work_panel(walk: Walk) -> Panel:
    """Since the path began."""
    series = _series(walk, "work against friction", walk.friction_work * MJ, WORK_COLOUR, "solid")
    return Panel("Work against friction", "row", "work [mJ]", (series,))


def loop_panel(walk: Walk) -> Panel:
    """The coordinate of the tip that moves most against the tension that changes most: a loop with friction."""
    k, i = int(np.argmax(np.ptp(walk.tensions, axis=0))), int(np.argmax(np.ptp(walk.tip, axis=0)))
    line = Series(
        f"tip {'xyz'[i]} against cable {k + 1}", walk.tensions[:, k], walk.tip[:, i] * MM, cable_style(k)[0],
        symbol=_symbol(walk), size=5,
    )  # fmt: skip
    return Panel("Loop", f"tension of cable {k + 1} [N]", f"tip {'xyz'[i]} [mm]", (line,))


def miss_panel(walk: Walk, wanted: Wanted) -> Panel:
    """How far the tip stayed away."""
    series = _series(walk, "distance from the wanted tip", wanted.errors(walk) * MM, MISS_COLOUR, "solid")
    return Panel("Distance from the wanted tip", "row", "distance [mm]", (series,))


def _series(walk: Walk, name: str, values: Floats, colour: str, dash: str) -> Series:
    return Series(name, _rows(walk), values, colour, dash, _symbol(walk), size=5)


def _rows(walk: Walk) -> Floats:
    """Counted from 1."""
    numbers: Floats = walk.row_numbers.astype(np.float64)
    return numbers


def _symbol(walk: Walk) -> str:
    return "circle" if len(walk) <= MOST_DOTS else ""


def tip_lines(walk: Walk, wanted: Wanted | None = None) -> Iterator[Ghost]:
    """The path of the tip as lines in a 3D picture, mm."""
    if len(walk) > 1:
        if wanted is not None:
            yield Ghost(wanted.tips * MM, WANTED_COLOUR, "wanted path")
        yield Ghost(walk.tip * MM, PATH_COLOUR, "path of the tip")


def tip_marks(walk: Walk, wanted: Wanted | None = None) -> Iterator[Mark]:
    """First row, and in a walk of one the wanted tip."""
    if len(walk) > 1:
        yield Mark(walk.tip[0] * MM, PATH_COLOUR, f"tip in row {walk.row_numbers[0]}")
    elif wanted is not None:
        yield Mark(wanted.tips[0] * MM, WANTED_COLOUR, "wanted tip")


# A walk as a report: the last shape with the path of its tip, plots against the row, and every number.

LAST = "The robot after the last row; tighter cables are drawn wider. " + TURN_IT
TIP_AND_TENSIONS = "Left: where the tip was in the world. Right: tension of each cable where it enters the base."
WORK = (
    "Left: what the cables lost in their holes since the path began; what presliding stores comes back. Right: the "
    "coordinate of the tip that moved most against the tension that changed most. With friction, the way there and "
    "the way back differ."
)
MISS = (
    "Left: what the cables lost in their holes since the path began; what presliding stores comes back. Right: how far "
    "the tip stayed from where it was wanted."
)


MOST_NAMED = 8
"""Rows out of reach beyond this number are only counted."""


class FailedRow(NamedTuple):
    """A row that has no shape."""

    number: int
    """Counted from 1."""
    name: str
    """Where it stands."""
    tensions: Floats
    """(cables,) N."""
    status: Status
    message: str


@dataclass(frozen=True, eq=False)
class Walked:
    """A path after its rows."""

    walk: Walk
    last: Shape
    before: float
    """Work against friction before the first row, J."""
    substeps: int = 1
    wanted: Wanted | None = None
    names: Sequence[str] = ()
    """Of the rows, for messages."""
    times: tuple[float, ...] = ()
    """Of the rows, s, where they are known."""
    rest: Floats | None = None
    """(N, cables) lengths without tension, m, with times."""
    failed: Sequence[FailedRow] = ()
    """Rows without a shape."""
    untried: int = 0
    """Rows after the one where a path with a history had to end."""
    jumps: Sequence[Jump] = ()
    """Rows whose tensions are not next to those of the row before."""

    @property
    def title(self) -> str:
        """For a heading."""
        count = len(self.walk) + len(self.failed) + self.untried
        return f"{self.walk.robot.name} along {count} row{'' if count == 1 else 's'}"

    def summary(self) -> Facts:
        """The walk as a whole and, where tips were wanted, how many were reached."""
        facts = walk_summary(self.walk, self.title, self.before, self.substeps)
        if self.failed:
            count = f"{len(self.walk)} of {len(self.walk) + len(self.failed) + self.untried}"
            facts = facts._replace(rows=(("solved", count), *facts.rows[1:]))
        if self.wanted is None:
            return facts
        reached, farthest = sum(self.wanted.reached), float(self.wanted.errors(self.walk).max())
        more = [("reached", f"{reached} of {len(self.walk)} tips, off by {farthest * MM:.3g} mm at most")]
        if len(self.times) > 1 and self.rest is not None:
            pull, run = (
                float(np.abs(np.gradient(values, self.times, axis=0)).max())
                for values in (self.walk.tensions, self.rest)
            )
            more.append(("fastest", f"{pull:.4g} N/s and {run * MM:.4g} mm/s of cable"))
        if self.jumps:
            more.append(("jumps", f"{len(self.jumps)}, of {max(jump.change for jump in self.jumps):.4g} N at most"))
        return facts._replace(rows=(facts.rows[0], *more, *facts.rows[1:]))


def path_report(walked: Walked) -> Report:
    """A walk."""
    return Report(
        walked.title,
        record=lambda: path_record(walked),
        tables=lambda: (walked.summary(), *shape_tables(walked.last, "After the last row")),
        warnings=(*_jumps(walked), *warnings(walked.last)),
        failures=tuple(_missed(walked)),
        page=lambda: path_sections(walked),
        picture=lambda: path_panels(walked.walk, walked.wanted),
        rows=lambda: Rows(list(_columns(walked)), _rows_of(walked)),
    )


def path_sections(walked: Walked) -> Iterator[Section]:
    """The page."""
    walk, last, wanted = walked.walk, walked.last, walked.wanted
    yield Figures("shape", [path_scene(walk, last, wanted)], "36rem", "Path of the tip", LAST, True)
    tip, tensions, work, other = path_panels(walk, wanted)
    yield Figures("tip", [tip, tensions], "25rem", "Row by row", TIP_AND_TENSIONS)
    yield Figures("work", [work, other], "25rem", "Friction", WORK if wanted is None else MISS)
    yield walked.summary()._replace(title="Path")
    yield from all_tables(last, "Shape after the last row")
    if walked.failed:
        yield failed_table(walked)
    if wanted is None:
        yield row_table(walk)
    else:
        off = [f"{error * MM:.3g}" for error in wanted.errors(walk)]
        yield row_table(walk, ("off [mm]",), (off,))


def path_scene(walk: Walk, last: Shape, wanted: Wanted | None = None) -> Scene:
    """The last shape and the path of its tip, seen from where both spread most."""
    scene = shape_scene(last, tuple(tip_lines(walk, wanted)), tuple(tip_marks(walk, wanted)))
    tips = walk.tip * MM
    view = best_view(np.vstack([scene.origins, tips]), last.gravity)
    around = np.vstack([scene.mount.vertices, scene.origins, tips, scene.low, scene.high])
    return replace(scene, view=view, gravity=gravity_arrow(last.gravity, around, view))


def _missed(walked: Walked) -> Iterator[str]:
    """Rows that have no shape, or whose tip was not reached."""
    for row in walked.failed[:MOST_NAMED]:
        yield f"no shape: {row.name}: {row.message}"
    if len(walked.failed) > MOST_NAMED:
        yield f"no shape: {len(walked.failed) - MOST_NAMED} more rows"
    if walked.untried:
        after = "the row" if walked.untried == 1 else f"the {walked.untried} rows"
        yield f"not tried: {after} after it, since slip depends on every row before"
    if walked.wanted is None:
        return
    errors = walked.wanted.errors(walked.walk)
    missed = [i for i, reached in enumerate(walked.wanted.reached) if not reached]
    for i in missed[:MOST_NAMED]:
        name = walked.names[i] if walked.names else f"row {i + 1}"
        yield f"not reached: {name}: the tip stays {errors[i] * MM:.3g} mm away"
    if len(missed) > MOST_NAMED:
        yield f"not reached: {len(missed) - MOST_NAMED} more rows"


def _jumps(walked: Walked) -> Iterator[str]:
    for jump in walked.jumps[:MOST_NAMED]:
        yield f"row {jump.row}: a tension jumps by {jump.change:.4g} N: {jump.reason}"
    if len(walked.jumps) > MOST_NAMED:
        yield f"tensions jump in {len(walked.jumps) - MOST_NAMED} more rows"


def path_record(walked: Walked) -> dict[str, Any]:
    """Every row as JSON, SI, and the last shape."""
    walk, gap = walked.walk, widest_gap(walked.walk)
    found: dict[str, Any] = {"robot": walk.robot.name, "rows": len(walk), "substeps": walked.substeps}
    found["freedoms"] = walk.robot.freedom_names
    found["row"] = walk.row_numbers.tolist()
    found["failed"] = [
        {"row": row.number, "status": row.status.name.lower(), "message": row.message} for row in walked.failed
    ]
    found["untried"] = walked.untried
    found |= plain_fields(walk, ("tensions", "tip", "angles", "lengths", "friction_work", "iterations"))
    found["friction_work_before"] = walked.before
    found["hysteresis"] = None if gap is None else {"distance": gap.distance, "rows": list(gap.rows)}
    if walked.wanted is not None:
        found["wanted"] = plain_value(walked.wanted.tips)
        found["error"] = plain_value(walked.wanted.errors(walk))
        found["reached"] = list(walked.wanted.reached)
        found["jumps"] = [jump._asdict() for jump in walked.jumps]
    return found | {"last": shape_record(walked.last)}


def _columns(walked: Walked) -> Iterator[str]:
    cables, freedoms = walked.walk.tensions.shape[1], walked.walk.robot.freedom_names
    yield from ("row", *(column_names(TIME) if walked.times else ()), *column_names(tension_columns(cables), TIP))
    if walked.wanted is not None:
        yield from (*(f"wanted_{name}" for name in TIP.names), "error_mm", "reached")
    yield from column_names(angle_columns(freedoms), length_columns(cables))
    yield from ("friction_work_mJ", "status")


def _rows_of(walked: Walked) -> Iterator[list[Any]]:
    walk, wanted = walked.walk, walked.wanted
    angles, errors = np.degrees(walk.angles), None if wanted is None else wanted.errors(walk)
    found: list[list[Any]] = []
    for i in range(len(walk)):
        number, time = int(walk.row_numbers[i]), walked.times[i : i + 1]
        row = [number, *time, *walk.tensions[i].tolist(), *(MM * walk.tip[i]).tolist()]
        if wanted is not None and errors is not None:
            row += [*(MM * wanted.tips[i]).tolist(), MM * float(errors[i]), wanted.reached[i]]
        row += [*angles[i].tolist(), *(MM * walk.lengths[i]).tolist(), MJ * float(walk.friction_work[i]), "solved"]
        found.append(row)
    columns, cables = list(_columns(walked)), column_names(tension_columns(walk.tensions.shape[1]))
    for failed in walked.failed:
        known = dict(zip(cables, failed.tensions.tolist(), strict=True))
        known |= {"row": failed.number, "status": failed.status.name.lower()}
        found.append([known.get(name, "") for name in columns])
    yield from sorted(found, key=lambda row: int(row[0]))
