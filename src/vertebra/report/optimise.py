"""The answer of an optimisation: which design is best and what limits it, or the Pareto front of designs, each with its
robot file; how designs change along the front, and how the search went."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vertebra.report.document import (
    MOTION_FILES,
    TURN_IT,
    Facts,
    Figures,
    Files,
    Listing,
    Report,
    Rows,
    Section,
    Sentences,
    json_text,
    plain_value,
)
from vertebra.report.panels import Panel, Series, panel_figure, panel_still, spread
from vertebra.report.robot import about_robot, part_tables
from vertebra.robot.reading import parse_yaml
from vertebra.robot.tables import Floats
from vertebra.robot.units import axis_title, quantity_text, shown_unit
from vertebra.studies.optimise import Optimum, constraint_text
from vertebra.studies.quantities import Column, message_of
from vertebra.studies.study import Constraint, Search
from vertebra.studies.variables import Variable

OPTIMISE_FILES = MOTION_FILES
ROBOT_FILES = (".yaml", ".yml", ".json")
"""What a picked robot can be written to."""
BEYOND_COLOUR, WITHIN_COLOUR, FRONT_COLOUR = "#c8ccd0", "#9ecae1", "#0072B2"
MIDDLE_COLOUR, BOUND_COLOUR = "#D55E00", "#222222"
FAINT = {BEYOND_COLOUR: "#8a939b", WITHIN_COLOUR: "#3d8fc6"}
"""The same on a page, where they are seen through: it may be dark."""
WORD_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#8c6d1f")
"""Of the words of a variable."""
MOST_OBJECTIVES = 4
"""Of a scatter matrix."""
MOST_ALONG = 8
"""Variables, and constraints, that are drawn along the front."""
MOST_STILL = 5
"""Variables of a still picture, beside the front."""
MOST_ROBOTS = 4
"""That are drawn."""
MOST_POINTS, MOST_STILL_POINTS = 2500, 500
"""Of other rows in a plot of a page, and of a still picture."""
BEYOND, WITHIN, FRONT, MIDDLE, BEST = "misses a constraint", "tried", "front", "middle", "best"
CLICK = "Click a mark of the front to save its robot file."
Rowset = NDArray[np.int64]


def optimise_report(found: Optimum) -> Report:
    """The best design, or the front."""
    study = found.study
    lead, *others = found.sentences()
    said = Sentences(study.name, lead, tuple(others))

    def page() -> Iterator[Section]:
        yield said._replace(title="Summary")
        yield from pictures(found)
        yield from along_pictures(found)
        yield robot_pictures(found)
        yield member_files(found)
        yield history_picture(found)
        yield from facts(found)
        yield Listing("Study", study.text)
        word, number = _typical(found)
        robot = found.robot(number)
        yield about_robot(robot, f"Robot of {word}")
        yield from part_tables(robot)

    def tables() -> Iterator[Facts | Sentences]:
        yield said
        headers, *rows = found.rows()
        yield Facts("Pareto front" if found.is_front else "Best design", headers, tuple(rows))

    return Report(
        f"{study.name}: {'Pareto front' if found.is_front else 'optimum'}",
        record=lambda: optimise_record(found),
        tables=tables,
        page=page,
        picture=lambda: lambda: optimise_still(found),
        rows=lambda: tried_rows(found),
        dataset=found.to_dataset,
    )


def robot_file_report(text: str) -> Report:
    """The robot file of a design."""
    mapping: Any = parse_yaml(text)
    return Report(
        "robot file",
        record=lambda: {"robot": mapping},
        text=lambda: text,
        texts={".json": lambda: json_text(mapping)},
    )


def _search(found: Optimum) -> Search:
    assert found.study.optimise is not None  # or there were no optimum
    return found.study.optimise


def _typical(found: Optimum) -> tuple[str, int]:
    """The design that is shown in full: its name, and its number."""
    return (f"number {found.middle}, the middle", found.middle) if found.is_front else ("the best design", 0)


# Tables and files.


def member_files(found: Optimum) -> Files:
    """Designs, with their robot files."""
    headers, *rows = found.rows()
    stem = re.sub(r"[^\w-]+", "-", found.study.name).strip("-") or "robot"
    names = [f"{stem}-{number}.yaml" if found.is_front else f"{stem}.yaml" for number in range(len(found))]
    lead = f"{'Each' if found.is_front else 'The'} number saves a robot file that vertebra reads."
    if found.is_front:
        words = ", ".join(f"{number} is the {'middle' if word == MIDDLE else f'best in {word}'}"
                          for word, number in found.named.items())  # fmt: skip
        lead += f" Number {words}."
    return Files(
        "Pareto front" if found.is_front else "Best design", lead, headers, tuple(rows), tuple(names),
        tuple(found.robot_file(number) for number in range(len(found))),
    )  # fmt: skip


def facts(found: Optimum) -> Iterator[Facts]:
    """What was looked for, how it was looked for, and why rows failed."""
    study, search = found.study, _search(found)
    names = [column.name for column in study.columns]
    rows = [(names[one.column], str(one.sense), "") for one in search.objectives]
    rows += [(names[one.column], _bound_text(found, one), _margin_text(found, one)) for one in search.constraints]
    yield Facts("Objectives and constraints", ("column", "wanted", "designs at the bound"), tuple(rows))
    how = [
        ("evaluations", f"{found.evaluations:,}"), ("of these computed", f"{found.computed:,}"),
        ("meet all constraints", f"{int(found.feasible.sum()):,}"), ("no answer", f"{found.failed:,}"),
    ]  # fmt: skip
    how += [("derivatives", f"{found.gradients:,}")] if found.gradients else []
    yield Facts("Search", ("", ""), tuple(how))
    if found.failed:
        failed = np.flatnonzero(found.tried.status).tolist()
        said = Counter(message_of(int(found.tried.status[row]), found.tried.messages, row) for row in failed)
        listed = tuple((f"{rows:,}", message) for message, rows in said.most_common(10))
        yield Facts("Designs without an answer", ("designs", "why"), listed)


def _bound_text(found: Optimum, constraint: Constraint) -> str:
    sides = [constraint_text(found.study, constraint, most) for most in (False, True)
             if (constraint.most if most else constraint.least) is not None]  # fmt: skip
    name = found.study.columns[constraint.column].name
    return " and ".join(dict.fromkeys(side.removeprefix(f"{name} ") for side in sides))


def _margin_text(found: Optimum, constraint: Constraint) -> str:
    limits = dict(found.limits)
    return " and ".join(
        f"{limits[text]} of {len(found)}" for most in (False, True)
        if (text := constraint_text(found.study, constraint, most)) in limits
    )  # fmt: skip


def optimise_record(found: Optimum) -> dict[str, Any]:
    """As JSON, SI; what `--pick` reads."""
    study, search = found.study, _search(found)
    record: dict[str, Any] = {"study": study.name, "method": found.method, "seed": found.seed}
    record |= {name: plain_value(getattr(found, name)) for name in
               ("evaluations", "gradients", "computed", "failed", "stopped", "kkt_residual")}  # fmt: skip
    record["feasible"] = int(found.feasible.sum())
    record["sentences"] = list(found.sentences())
    record["objectives"] = [{"name": study.columns[one.column].name, "sense": one.sense} for one in search.objectives]
    record["limits"] = [{"limit": text, "members": count} for text, count in found.limits]
    record["units"] = dict(_units(found))
    record["named"] = found.named
    record["members"] = [_member_record(found, number) for number in range(len(found))]
    record["history"] = {"evaluations": found.history.evaluations.tolist(), "best": found.history.best.tolist()}
    return record


def _units(found: Optimum) -> list[tuple[str, str]]:
    """Names and SI units of variables and columns."""
    units = [(one.name, one.unit) for one in found.study.variables]
    return units + [(one.name, one.unit) for one in found.study.columns]


def _member_record(found: Optimum, number: int) -> dict[str, Any]:
    study = found.study
    return {
        "number": number,
        "variables": {one.name: _value(one, value) for one, value in
                      zip(study.variables, found.values[number].tolist(), strict=True)},
        "quantities": {one.name: value for one, value in
                       zip(study.columns, found.results[number].tolist(), strict=True)},
        "comments": list(found.comments(number)),
        "robot": found.robot(number).to_mapping(),
    }  # fmt: skip


def _value(variable: Variable, value: float) -> str | int | float:
    if variable.labels:
        return variable.labels[int(value)]
    return int(value) if variable.whole else value


def tried_rows(found: Optimum) -> Rows:
    """Every row that was tried, in order; `number` is that of members."""
    study = found.study
    names = [f"{name}_{unit}".rstrip("_") for name, unit in _units(found)]
    numbers = {int(row): number for number, row in enumerate(found.members)}

    def rows() -> Iterator[Sequence[Any]]:
        both = zip(found.tried_values.tolist(), found.tried.results.tolist(), strict=True)
        for row, (values, results) in enumerate(both):
            known = [None if math.isnan(value) else value for value in results]
            given = [_value(one, value) for one, value in zip(study.variables, values, strict=True)]
            yield [numbers.get(row), int(found.feasible[row]), *given, *known]

    return Rows(["number", "feasible", *names], rows())


# Pictures.


class Axis:
    """One number of every row that was tried, as people read it: a variable or a column."""

    def __init__(self, found: Optimum, one: Variable | Column, values: Floats) -> None:
        self.found, self.unit, self.values = found, one.unit, values / shown_unit(one.unit)[1]
        self.variable = one if isinstance(one, Variable) else None
        self.title = axis_title(one.name, one.unit)

    @classmethod
    def of_variable(cls, found: Optimum, place: int) -> Axis:
        """Of one of the study's variables."""
        return cls(found, found.study.variables[place], found.tried_values[:, place])

    @classmethod
    def of_column(cls, found: Optimum, place: int) -> Axis:
        """Of one of the study's columns."""
        return cls(found, found.study.columns[place], found.tried.results[:, place])

    @property
    def labels(self) -> tuple[str, ...]:
        """Words that numbers stand for."""
        return self.variable.labels if self.variable is not None else ()

    @cached_property
    def view(self) -> tuple[float, float] | None:
        """What is in view: of a variable its range; of a column the front, and as much again on both sides of it."""
        if self.variable is not None:
            size = shown_unit(self.unit)[1]
            low, high = self.variable.lower / size, self.variable.upper / size
            return None if self.labels else _with_room(low, high)
        members, others = self.values[self.found.members], self.values[self.found.feasible]
        others = others[np.isfinite(others)]
        low, high = float(members.min()), float(members.max())
        if not math.isfinite(high - low) or not len(others):
            return None
        wide = high - low if len(members) > 2 and high > low else float(np.ptp(np.quantile(others, (0.02, 0.98))))
        return _with_room(max(low - wide, float(others.min())), min(high + wide, float(others.max())))


def _with_room(low: float, high: float) -> tuple[float, float] | None:
    room = 0.06 * (high - low)
    return (low - room, high + room) if room > 0.0 else None


def _cloud(found: Optimum, x: Axis, y: Axis, most: int) -> Iterator[Series]:
    """Rows that are no members, as faint marks, at most so many of each kind."""
    known = np.isfinite(x.values) & np.isfinite(y.values)
    known[found.members] = False
    for name, rows, colour in ((BEYOND, known & ~found.feasible, BEYOND_COLOUR), (WITHIN, known & found.feasible,
                               WITHIN_COLOUR)):  # fmt: skip
        shown = np.flatnonzero(rows)
        for axis in (x, y):  # what is far out of view would only make the page larger
            if (view := axis.view) is not None:
                shown = shown[(axis.values[shown] >= view[0]) & (axis.values[shown] <= view[1])]
        shown = shown[spread(len(shown), most)]
        if len(shown):
            yield Series(name, x.values[shown], y.values[shown], colour, "", "circle", size=4)


def _words(found: Optimum) -> Variable | None:
    """The variable whose words give the front its colours."""
    for one, values in zip(found.study.variables, found.values.T, strict=True):
        if one.labels and 1 < len(np.unique(values)) <= len(WORD_COLOURS):
            return one
    return None


def _marks(found: Optimum, x: Axis, y: Axis, dash: str = "") -> Iterator[Series]:
    """The members, each with its robot file behind it, joined by a line if it has a `dash`."""
    members, word = found.members, _words(found)

    def marks(
        name: str, numbers: Rowset, colour: str, symbol: str = "circle", size: float = 7.0, line: str = dash
    ) -> Series:
        rows = members[numbers]
        texts = [mark_text(found, int(number)) for number in numbers]
        keys = [str(number) for number in numbers]
        return Series(name, x.values[rows], y.values[rows], colour, line, symbol, 1.0, size, texts, keys)

    if not found.is_front:
        yield marks(BEST, np.arange(1), MIDDLE_COLOUR, "diamond", 11.0)
        return
    if word is None:
        yield marks(FRONT, np.arange(len(members)), FRONT_COLOUR)
    else:
        place = found.study.variables.index(word)
        for colour, value in zip(WORD_COLOURS, np.unique(found.values[:, place]), strict=False):
            numbers = np.flatnonzero(found.values[:, place] == value)
            yield marks(f"{word.name} {word.text(float(value))}", numbers, colour)
    if len(members) > 2:
        yield marks(MIDDLE, np.array([found.middle]), MIDDLE_COLOUR, "diamond-open", 15.0, "")


def mark_text(found: Optimum, number: int) -> str:
    """What a mark says on a page."""
    head = f"number {number}" if found.is_front else BEST
    study = found.study
    search = _search(found)
    lines = [f"{one.name} {one.text(value)}" for one, value in
             zip(study.variables, found.values[number].tolist(), strict=True)]  # fmt: skip
    wanted = [one.column for one in search.objectives] + [one.column for one in search.constraints]
    for place in dict.fromkeys(wanted):
        column = study.columns[place]
        lines.append(f"{column.name} {quantity_text(float(found.results[number, place]), column.unit)}")
    return "<br>".join((f"<b>{head}</b>", *lines))


def front_panels(found: Optimum, most: int = MOST_POINTS) -> list[Panel]:
    """Objectives against each other, two by two."""
    axes = [Axis.of_column(found, one.column) for one in _search(found).objectives[:MOST_OBJECTIVES]]
    dash = "solid" if len(_search(found).objectives) == 2 else ""  # only then a front is a line
    return [
        Panel("", x.title, y.title, (*_cloud(found, x, y, most), *_marks(found, x, y, dash)), x_range=x.view,
              y_range=y.view)
        for x, y in combinations(axes, 2)
    ]  # fmt: skip


def _without_legend(series: Sequence[Series]) -> tuple[Series, ...]:
    """Where another plot explains the colours."""
    return tuple(replace(one, name="") for one in series)


def pictures(found: Optimum) -> Iterator[Figures]:
    """The front; of one objective how the search found it."""
    if not found.is_front:
        return
    count = len(_search(found).objectives)
    panels = front_panels(found)
    caption = f"{CLICK} Grey and light blue: the other designs that were tried."
    if count > MOST_OBJECTIVES:
        caption += f" The first {MOST_OBJECTIVES} of {count} objectives are drawn."
    drawn, columns = [_figure(panel) for panel in panels], min(len(panels), 3)
    if columns == 1:
        drawn[0].update_layout(margin={"b": 75}, legend={"y": -0.13})
    yield Figures("front", drawn, "34rem" if columns == 1 else "22rem", "", caption, columns == 1, columns=columns)


def along_panels(found: Optimum, most: int = MOST_POINTS) -> list[Panel]:
    """The first objective against each variable."""
    y = Axis.of_column(found, _search(found).objectives[0].column)
    panels = []
    for place, one in enumerate(found.study.variables):
        if one.upper > one.lower:
            x = Axis.of_variable(found, place)
            series = _without_legend((*_cloud(found, x, y, most), *_marks(found, x, y)))
            panels.append(Panel("", x.title, y.title, series, columns=x.labels, x_range=x.view, y_range=y.view))
    return panels


def bound_panels(found: Optimum) -> list[Panel]:
    """The first objective against each quantity with a constraint, and the bounds."""
    search = _search(found)
    y = Axis.of_column(found, search.objectives[0].column)
    panels = []
    for one in search.constraints:
        x = Axis.of_column(found, one.column)
        size = shown_unit(x.unit)[1]
        ends = [end / size for end in (one.least, one.most) if end is not None]
        reach = x.view or (min(ends), max(ends))
        room = 0.06 * (max(reach[1], *ends) - min(reach[0], *ends))
        view = (min(reach[0], *ends) - room, max(reach[1], *ends) + room) if room else None
        tall = y.view or (float(y.values[found.members].min()), float(y.values[found.members].max()))
        lines = [Series("bound", [end, end], list(tall), BOUND_COLOUR, "dash") for end in ends]
        series = _without_legend((*_cloud(found, x, y, MOST_POINTS), *lines, *_marks(found, x, y)))
        panels.append(Panel("", x.title, y.title, series, x_range=view, y_range=y.view))
    return panels


def along_pictures(found: Optimum) -> Iterator[Figures]:
    """Variables and constraints."""
    where = "along the front" if found.is_front else "of the designs that were tried"
    parts: tuple[tuple[str, list[Panel], str, str], ...] = (
        ("variables", along_panels(found), f"Variables {where}", "Each axis shows the whole range of a variable."),
        ("constraints", bound_panels(found), f"Constraints {where}", "Dashed: what a quantity must keep to."),
    )
    for name, panels, title, caption in parts:
        if panels:
            left = len(panels) - MOST_ALONG
            more = f" {left} more are in the table." if left > 0 else ""
            drawn = [_small_figure(panel) for panel in panels[:MOST_ALONG]]
            columns = 2 if len(panels) in (2, 4) else min(len(panels), 3)
            yield Figures(name, drawn, "18rem", title, caption + more, columns=columns)


def _figure(panel: Panel) -> Any:
    """The plotly figure of a panel, in which only designs that have a robot file are pointed at and clicked."""
    figure = panel_figure([panel]).update_layout(margin={"t": 12})
    for trace in figure.data:
        if trace.customdata is None:
            trace.update(hoverinfo="skip", hovertemplate=None)
        if trace.marker.color in FAINT:
            trace.marker.update(color=FAINT[trace.marker.color], opacity=0.4)
    return figure.update_layout(margin={"b": 100}, legend={"y": -0.3})


def _small_figure(panel: Panel) -> Any:
    """The same of a panel that needs no legend."""
    return _figure(panel).update_layout(margin={"b": 50}, showlegend=False)


def robot_pictures(found: Optimum) -> Figures:
    """Robots of the front, in the shape that the study asks about."""
    shown = dict[int, list[str]]()
    for word, number in found.named.items():
        shown.setdefault(number, []).append(word if word in (BEST, MIDDLE) else f"best in {word}")
    numbers = list(shown)[:MOST_ROBOTS]
    named = ", ".join(f"number {number} ({' and '.join(shown[number])})" for number in numbers)
    caption = f"From top to bottom: {named}. {TURN_IT}" if found.is_front else f"The best design. {TURN_IT}"
    return Figures(
        "robots", lambda: [_scene(found, number) for number in numbers], "19rem",
        "Robots of the front" if found.is_front else "Robot", caption, columns=1,
    )  # fmt: skip


def _scene(found: Optimum, number: int) -> Any:
    from vertebra.locked.ball_shape import BallShape
    from vertebra.mechanics.kinematics import Pose
    from vertebra.report.plotly import scene_figure
    from vertebra.report.scene import robot_scene

    case = found.study.case(found.values[number])
    if case.held in ("tensions", "lengths", "shortenings"):
        frames = case.shape().frames
    elif case.held == "bends":
        bent = BallShape.of(case.robot, case.bends, case.azimuths)  # type: ignore[arg-type]
        frames = Pose(case.robot, bent.coordinates).frames
    else:
        frames = Pose(case.robot, np.zeros(case.robot.freedoms)).frames
    figure = scene_figure(robot_scene(case.robot, frames, case.gravity))
    figure.update_layout(showlegend=False)
    return figure


def history_panel(found: Optimum) -> Panel:
    """How far the search was after so many evaluations."""
    evaluations, best = found.history
    if found.is_front:
        name, values, title = "front", 100.0 * best, "hypervolume, share of the last [%]"
    else:
        column = found.study.columns[_search(found).objectives[0].column]
        name, values = "best so far", best / shown_unit(column.unit)[1]
        title = f"best {axis_title(column.name, column.unit)}"
    symbol = "circle" if len(evaluations) <= 60 else ""
    known = np.isfinite(values)
    line = Series(name, evaluations[known].tolist(), values[known], FRONT_COLOUR, symbol=symbol, size=5)
    return Panel("", "evaluations", title, (line,))


def history_picture(found: Optimum) -> Figures:
    """How the search went."""
    caption = "A curve that still rises at the end asks for more evaluations." if found.is_front else (
        "The best design that meets all constraints, after so many evaluations."
    )  # fmt: skip
    figure = panel_figure([history_panel(found)]).update_layout(margin={"t": 12, "b": 50}, showlegend=False)
    return Figures("history", [figure], "18rem", "Search", caption)


def optimise_still(found: Optimum) -> Any:
    """The matplotlib figure: the front, or the history of one objective, and the variables beside it."""
    word, most = _words(found), MOST_STILL_POINTS
    panels = front_panels(found, most) if found.is_front else [history_panel(found)]
    # What gives the marks their colours needs no plot of its own.
    panels += [one for one in along_panels(found, most) if word is None or one.x != word.name][:MOST_STILL]
    whole = {one.name for one in found.study.variables if one.whole}
    title = f"{found.study.name}: {'Pareto front' if found.is_front else 'optimum'}, {found.evaluations:,} evaluations"
    figure = panel_still(panels, title, 2 if len(panels) in (2, 4) else min(len(panels), 3))
    for axes in figure.axes:
        if axes.get_xlabel() in whole:
            axes.xaxis.get_major_locator().set_params(integer=True)
    return figure
