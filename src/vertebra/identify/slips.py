"""Slip tests of two links: the rig, the tests checked, and read from the file `slips.csv`."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.errors import CellProblem, InputError, MeasurementError, row_name
from vertebra.robot.csv import SIMULATED, file_error, is_number, read_text, split_cells
from vertebra.robot.description import BallJoint, Cables, Section
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

LARGEST_MU = 100.0
"""No robot file takes more."""
CLOSEST = 1e-6
"""How near mu r_c may come to the radius of the ball, in parts of it: there the torsion limit has no meaning."""


def two_link_rig(robot: Robot) -> Robot:
    """A robot of one joint: the first joint, its link, all cables, and base, tip and gravity as in the file."""
    description = robot.description
    first = description.sections[0]
    if not isinstance(first.joint, BallJoint):
        raise InputError(
            "robot",
            f"slip tests are made on ball joints held by friction, and joint 1 of {robot.name} is a "
            f"{first.joint.kind} joint; give the robot whose links were tested",
        )
    section = first.model_copy(update={"joints": 1, "cables": _all_cables(robot)})
    return Robot(description.model_copy(update={"name": f"{robot.name}, two links", "sections": (section,)}))


def _all_cables(robot: Robot) -> Cables:
    """The cables of all sections as one block, in file order: each of them passes the first joint."""
    groups = [section.cables for section in robot.description.sections if section.cables is not None]
    if not groups:
        raise InputError("robot", f"{robot.name} has no cables to hold a link; add a `cables` block to its file")
    merged = groups[0].model_copy(update={"azimuth": tuple(angle for group in groups for angle in group.azimuth)})
    if any(group.model_copy(update={"azimuth": merged.azimuth}) != merged for group in groups):
        raise InputError(
            "robot",
            f"the cables of {robot.name} differ from section to section; write a robot file of the rig: one section "
            "with one joint and the cables that held the link",
        )
    return merged


def with_friction(robot: Robot, mu: float) -> Robot:
    """The same robot with another friction of joint 1 and of every joint that is like it."""
    description = robot.description
    first = description.sections[0].joint
    sections = tuple(_changed(section, mu) if section.joint == first else section for section in description.sections)
    return Robot(description.model_copy(update={"sections": sections}))


def _changed(section: Section, mu: float) -> Section:
    return section.model_copy(update={"joint": section.joint.model_copy(update={"friction": float(mu)})})


def largest_mu(rig: Robot) -> float:
    """Above it mu r_c reaches the radius of the ball, and no robot file takes it."""
    joint = rig.joints[0]
    return float(min(LARGEST_MU, (1.0 - CLOSEST) * joint["radius"] / joint["ring_radius"]))


# Slip tests of two links, checked: tensions of the cables, and the load that made the link slip.

Rows = NDArray[np.intp]
LARGEST = 1e9
"""No tension, force or place is larger, SI."""
LISTS = {"tensions": 2, "force": 1, "bend": 1, "azimuth": 1, "direction": 2, "point": 2, "step": 1, "held": 1}
"""Lists of a slip test and their dimensions."""
RECORDED = {"slipped": 0.0, "held": 1.0}
"""Which load of a test is written down: the first one that slipped, or the last one that held."""
DECIMALS = 9
"""Tests whose settings agree to this many decimals (SI) are repeats of each other."""


@dataclass(frozen=True, eq=False, repr=False)
class SlipData:
    """Slip tests of two links, one row each, SI: a clamped one, and one that cables hold on its ball."""

    tensions: Floats
    """(n, cables) N."""
    force: Floats
    """(n,) N: the load as written down, above 0."""
    bend: Floats
    """(n,) rad: bend of the joint."""
    azimuth: Floats
    """(n,) rad: where it bends to."""
    direction: Floats
    """(n, 3) of the load, in the world frame; unit vectors."""
    point: Floats
    """(n, 3) m: where the load acts, in the frame of the held link."""
    step: Floats
    """(n,) N: by how much the load grew from one trial to the next; 0 for a load that grows smoothly."""
    held: Floats
    """(n,) 1 where `force` is the last load that held, 0 where it is the first one that slipped."""
    lines: tuple[int, ...] = ()
    """(n,) line of the file; 0 without one."""
    source: str = "slip tests"
    """Where they come from, in words."""
    simulated: bool = False
    """Whether a computer made them."""
    notes: tuple[str, ...] = ()
    """What a person should know about the file, such as columns that were left aside."""

    def __post_init__(self) -> None:
        for name, dimensions in LISTS.items():
            array = _frozen(name, getattr(self, name))
            if array.ndim != dimensions or len(array) != len(self.force) or not len(array):
                raise InputError(name, f"must have one row a slip test, not shape {array.shape}")
            object.__setattr__(self, name, array)
        if self.direction.shape[1] != 3 or self.point.shape[1] != 3 or not self.tensions.shape[1]:
            raise InputError("slips", "directions and points have three coordinates, and one cable or more pulls")
        object.__setattr__(self, "lines", tuple(self.lines) or (0,) * len(self))
        if len(self.lines) != len(self):
            raise InputError("lines", f"must have one entry a slip test, not {len(self.lines)}")
        problems = [
            CellProblem(row + 1, self.lines[row], column, message)
            for row in range(len(self))
            for column, message in self._wrong_cells(row)
        ]
        if problems:
            raise MeasurementError(problems, self.source)
        unit = self.direction / np.linalg.norm(self.direction, axis=1, keepdims=True)
        unit.flags.writeable = False
        object.__setattr__(self, "direction", unit)

    def _wrong_cells(self, row: int) -> Iterator[tuple[str, str]]:
        tensions, force, step = self.tensions[row].tolist(), float(self.force[row]), float(self.step[row])
        for k, tension in enumerate(tensions, 1):
            if not 0.0 <= tension < LARGEST:
                yield f"t{k}_N", f"must be a tension of 0 N or more, not {tension:g}; a cable cannot push"
        if not any(tensions):
            yield "t1_N", "no cable pulls: without any tension nothing presses the links together; leave the row out"
        if not 0.0 < force < LARGEST:
            yield "slip_force_N", f"must be a load above 0 N, not {force:g}; its direction stands in dx, dy, dz"
        if not 0.0 <= step < LARGEST:
            yield "step_N", f"must be a step of the load of 0 N or more, not {step:g}"
        elif not self.held[row] and 0.0 < force < 0.5 * step:
            yield "step_N", f"a load that slipped at {force:g} N cannot have grown in steps of {step:g} N"
        if self.held[row] not in RECORDED.values():
            yield "recorded", "must be 1 where the load is the last that held, 0 where it is the first that slipped"
        for column, angle in (("bend_deg", self.bend[row]), ("azimuth_deg", self.azimuth[row])):
            if not abs(angle) <= 4 * math.pi:
                yield column, "must be an angle in degrees"
        for column, values in (("dx", self.direction[row]), ("px_mm", self.point[row])):
            if not (np.abs(values) < LARGEST).all():
                yield column, "must be finite numbers"
        if not np.linalg.norm(self.direction[row]) > 0.0:
            yield "dx", "dx, dy, dz are all zero; give the direction of the load, such as 0,-1,0"

    @property
    def slip_force(self) -> Floats:
        """(n,) N: the middle of where the slip can have been: between the last load that held and the first that
        slipped."""
        return self.force + (self.held - 0.5) * self.step

    @property
    def settings(self) -> tuple[Rows, Rows]:
        """First row of each setting, and the setting of each row, (n,). Repeats have the same
        joint, cables and load."""
        keys = np.column_stack([self.tensions, self.bend, self.azimuth, self.direction, self.point])
        _, first, cell = np.unique(keys.round(DECIMALS) + 0.0, axis=0, return_index=True, return_inverse=True)
        # In the order of the file, not of the numbers.
        order = np.argsort(first)
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        return first[order], place[cell.ravel()]

    def name(self, row: int) -> str:
        """How a row, counted from 0, is called in messages."""
        return row_name(row + 1, self.lines[row])

    def __len__(self) -> int:
        return len(self.force)

    def __repr__(self) -> str:
        made = "simulated " if self.simulated else ""
        settings = len(self.settings[0])
        return f"SlipData: {len(self)} {made}slip tests at {settings} settings, from {self.source}"


def _frozen(name: str, values: object) -> Floats:
    try:
        array: Floats = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(name, "must be numbers, one row a slip test") from None
    array.flags.writeable = False
    return array


# The file `slips.csv`: one row a slip test of two links, in the units people measure in.
#
# tension_N,slip_force_N 5,6.1 5,5.9 10,12.2

FORCE, TENSION, BEND, AZIMUTH, ARM = "slip_force_N", "tension_N", "bend_deg", "azimuth_deg", "arm_mm"
DIRECTION, POINT = ("dx", "dy", "dz"), ("px_mm", "py_mm", "pz_mm")
STEP, WHICH = "step_N", "recorded"
EXAMPLE = f"{TENSION},{FORCE}"
_EACH = re.compile(r"[tT](\d+)(_.*)?")


def read_slips(
    path: str | Path,
    robot: Robot,
    *,
    direction: Sequence[float] | None = None,
    step: float | None = None,
    recorded: str | None = None,
) -> SlipData:
    """Slip tests of two links of `robot` from a CSV file.

    Columns: slip_force_N, the load; the tension of every cable, t1_N, t2_N, ..., or tension_N for all. Optional:
    bend_deg and azimuth_deg of the joint (0); dx,dy,dz, the direction of the load in the world; where it acts, px_mm,
    py_mm,pz_mm in the frame of the held link, or arm_mm, from the centre of the ball along the link (the tip of the
    robot file); step_N; recorded, slipped or held. `direction` (default: that of gravity), `step` in N and `recorded`
    (default slipped) are for files without these columns. Lines that begin with # are comments.
    """
    rig, origin = two_link_rig(robot), str(path)
    common = _Common(rig, _direction(rig, direction), _step(step), _recorded(recorded))
    text = read_text(Path(path), origin)
    lines = [(i, line) for i, line in enumerate(text.splitlines(), 1) if line.strip(" ,\t") and line[0] != "#"]
    if not lines:
        raise file_error(origin, f"has no slip tests; write a header such as {EXAMPLE} and one row a test")
    (number, header), *body = lines
    names = split_cells(header)
    _check_header(names, header, number, origin, len(rig.cables))
    given = {"direction": (direction, DIRECTION[0]), "step": (step, STEP), "recorded": (recorded, WHICH)}
    for name, (value, column) in given.items():
        if value is not None and column in names:
            raise InputError(name, f"{origin} has its own column {column}; leave one of the two out")
    if direction is None and DIRECTION[0] not in names and not rig.gravity.any():
        raise InputError("direction", f"{robot.name} has no gravity to load along; say where the load pulls to")
    if not body:
        raise file_error(origin, "has a header but no slip tests; write one row a test")
    tests, problems = [], []
    for row, (line, cells) in enumerate(body, 1):
        values, wrong = _read_row(split_cells(cells), names)
        problems += [CellProblem(row, line, column, message) for column, message in wrong]
        tests.append(values)
    if problems:
        raise MeasurementError(problems, origin)
    simulated = text.lower().startswith(SIMULATED)
    source = f"{Path(path).name}, {len(body)} {'simulated' if simulated else 'measured'} slip tests"
    lists = common.lists(tests, names)
    try:
        return SlipData(**lists, lines=tuple(line for line, _ in body), source=source, simulated=simulated,
                        notes=tuple(_notes(names, len(rig.cables))))  # fmt: skip
    except MeasurementError as error:
        # One tension for all cables is wrong once, not once a cable.
        once = dict.fromkeys(_as_written(problem, names) for problem in error.problems)
        raise MeasurementError(list(once), origin) from None


class _Common(NamedTuple):
    """What holds for rows that do not say it themselves."""

    rig: Robot
    direction: Floats
    step: float
    held: float

    def lists(self, tests: Sequence[Mapping[str, float]], names: Sequence[str]) -> dict[str, Floats]:
        """The rows of a file as lists in SI."""

        def column(name: str, default: float) -> Floats:
            return np.array([test.get(name, default) for test in tests])

        cables = range(1, len(self.rig.cables) + 1)
        each = [TENSION] * len(cables) if TENSION in names else [f"t{k}_N" for k in cables]
        tip = self.rig.tip_point.copy()
        place = [1e-3 * column(name, 1e3 * value) for name, value in zip(POINT, tip, strict=True)]
        if ARM in names:
            place[2] = 1e-3 * column(ARM, np.nan) - self.rig.links["length"][1]
            place[2] = np.where(np.isnan(place[2]), tip[2], place[2])
        return {
            "tensions": np.column_stack([column(name, np.nan) for name in each]),
            "force": column(FORCE, np.nan),
            "bend": np.radians(column(BEND, 0.0)),
            "azimuth": np.radians(column(AZIMUTH, 0.0)),
            "direction": np.column_stack(
                [column(name, value) for name, value in zip(DIRECTION, self.direction, strict=True)]
            ),
            "point": np.column_stack(place),
            "step": column(STEP, self.step),
            "held": column(WHICH, self.held),
        }


def slip_csv(data: SlipData) -> str:
    """The text of a file of slip tests, with the digits to read the same back. Simulated ones say so in line 1."""
    columns: dict[str, list[str]] = {}
    if (data.tensions == data.tensions[:, :1]).all():
        columns[TENSION] = _texts(data.tensions[:, 0])
    else:
        columns |= {f"t{k + 1}_N": _texts(pull) for k, pull in enumerate(data.tensions.T)}
    columns[FORCE] = _texts(data.force)
    for name, angle in ((BEND, data.bend), (AZIMUTH, data.azimuth)):
        if angle.any():
            columns[name] = _texts(np.degrees(angle))
    columns |= {name: _texts(values) for name, values in zip(DIRECTION, data.direction.T, strict=True)}
    columns |= {name: _texts(1e3 * values) for name, values in zip(POINT, data.point.T, strict=True)}
    if data.step.any():
        columns[STEP] = _texts(data.step)
        columns[WHICH] = ["held" if held else "slipped" for held in data.held]
    text = io.StringIO()
    if data.simulated:
        text.write(f"{SIMULATED}: {' '.join(data.source.split())}\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def _texts(values: Floats) -> list[str]:
    return [f"{value:.15g}" for value in (values + 0.0).tolist()]


def _known(cables: int) -> tuple[str, ...]:
    each = (f"t{k}_N" for k in range(1, cables + 1))
    return (*each, TENSION, FORCE, BEND, AZIMUTH, *DIRECTION, *POINT, ARM, STEP, WHICH)


def _check_header(names: list[str], header: str, line: int, origin: str, cables: int) -> None:
    """An error that names every column that is missing, stands there twice, or cannot be."""
    known = _known(cables)
    if "," not in header and (";" in header or "\t" in header):
        raise file_error(origin, "separate columns by commas, and write numbers with a decimal point", line)
    found: list[tuple[str, str]] = [(name, "stands there twice; keep one") for name in known if names.count(name) > 1]
    each = [name for name in names if _EACH.fullmatch(name)]
    if FORCE not in names:
        close = [name for name in names if re.match("slip|force|load", name, re.IGNORECASE)]
        hint = f"found {close[0]!r}: give it in N and name it {FORCE}" if close else f"a header such as {EXAMPLE}"
        found.append((FORCE, f"is missing; {hint}"))
    if TENSION in names and each:
        found.append((TENSION, f"give {TENSION} for all cables or {each[0]}, ... for each, not both"))
    elif TENSION not in names and not each:
        close = [name for name in names if name.lower().startswith("tension")]
        hint = f"found {close[0]!r}: give it in N and name it {TENSION}" if close else "one for all cables"
        found.append((TENSION, f"is missing; {hint}, or t1_N to t{cables}_N for each"))
    elif each:
        wanted = known[:cables]
        found += [(name, f"is missing; the rig has {cables} cables") for name in wanted if name not in names]
        found += [(name, f"the rig has {wanted[0]} to {wanted[-1]}, in N") for name in each if name not in wanted]
    for group in (DIRECTION, POINT):
        if 0 < len(set(group) & set(names)) < 3:
            found += [(name, f"is missing; give all of {', '.join(group)}") for name in group if name not in names]
    if ARM in names and set(POINT) & set(names):
        found.append((ARM, f"says where the load acts, and so does {POINT[0]}; give one of them"))
    if found:
        raise MeasurementError([CellProblem(0, line, name, message) for name, message in found], origin)


def _read_row(cells: list[str], names: list[str]) -> tuple[dict[str, float], list[tuple[str, str]]]:
    """The numbers of a row, without the empty cells of optional columns; and what is wrong with it."""
    if len(cells) != len(names):
        more = "; write numbers with a decimal point" if len(cells) > len(names) else ""
        return {}, [("", f"has {len(cells)} cells where the header has {len(names)}{more}")]
    values: dict[str, float] = {}
    wrong: list[tuple[str, str]] = []
    optional = {BEND, AZIMUTH, ARM, STEP, WHICH}
    numbers = {FORCE, TENSION, BEND, AZIMUTH, *DIRECTION, *POINT, ARM, STEP}
    for name, text in zip(names, cells, strict=True):
        if name == WHICH and text:
            if text.lower() in RECORDED:
                values[name] = RECORDED[text.lower()]
            else:
                words = "slipped (the first load that slipped) or held (the last one that held)"
                wrong.append((name, f"must be {words}, not {text!r}"))
        elif name in numbers or _EACH.fullmatch(name):
            if is_number(text):
                values[name] = float(text)
            elif text or name not in optional:
                found = f"not {text!r}" if text else "but the cell is empty"
                wrong.append((name, f"must be a finite plain number, {found}"))
    return values, wrong


def _as_written(problem: CellProblem, names: list[str]) -> CellProblem:
    """The problem under the name that the column has in the file."""
    column = problem.column
    if _EACH.fullmatch(column) and TENSION in names:
        column = TENSION
    if column == POINT[0] and ARM in names:
        column = ARM
    return problem._replace(column=column)


def _direction(rig: Robot, given: Sequence[float] | None) -> Floats:
    vector: Floats = np.array(rig.gravity if given is None else given, dtype=np.float64)
    if vector.shape != (3,) or not np.isfinite(vector).all() or (given is not None and not vector.any()):
        raise InputError("direction", f"must be three numbers in the world frame, such as (0, -1, 0), not {given!r}")
    length = np.linalg.norm(vector)
    return vector / length if length else vector


def _step(step: float | None) -> float:
    if step is None:
        return 0.0
    if isinstance(step, bool) or not isinstance(step, int | float | np.floating) or not 0.0 <= step < 1e9:
        raise InputError("step", f"must be the step of the load in N, 0 or more, not {step!r}")
    return float(step)


def _recorded(word: str | None) -> float:
    if word is not None and word not in RECORDED:
        raise InputError("recorded", f"must be {' or '.join(RECORDED)}, not {word!r}")
    return RECORDED[word or "slipped"]


def _notes(names: list[str], cables: int) -> Iterator[str]:
    extra = [name or "(no name)" for name in names if name not in _known(cables)]
    if extra:
        yield f"columns not used: {', '.join(extra)}"
