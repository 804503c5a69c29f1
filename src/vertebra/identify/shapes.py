"""Measured shapes: checked, read from a file, predicted with their derivatives in any parameter, and simulated."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import CellProblem, InputError, MeasurementError, VertebraError, row_name
from vertebra.identify.measurements import FINITE, LARGEST, checked_g, freeze, measured_text, rule
from vertebra.identify.parameters import Choice, MountedRobot, Parameter, Setup, apply_all, unknowns
from vertebra.mechanics.gradient import Numbers, Seeds, pose_gradients
from vertebra.mechanics.kernels.friction import commit_slip
from vertebra.mechanics.kernels.newton import find_shape
from vertebra.mechanics.kinematics import Pose
from vertebra.mechanics.layout import HISTORY_DRAWN, HISTORY_PLANES, HISTORY_SLIP, LAW_PRESLIDING
from vertebra.mechanics.problem import NO_CABLES, Closure, Problem
from vertebra.robot.robot import Robot
from vertebra.robot.table_file import (
    TIP,
    Column,
    angle_columns,
    file_error,
    read_table,
    tension_columns,
    wrong_values,
)
from vertebra.robot.tables import Floats
from vertebra.statics.shape import build_shape

LISTS = {"tensions": 2, "tips": 2, "angles": 2, "payload": 1, "weight": 1, "sigma_tip": 1, "sigma_angle": 1}
"""Arrays of measured shapes and their dimensions."""


class UnsolvedRow(VertebraError):  # noqa: N818 - like the errors of the solvers
    """A row whose shape cannot be predicted; ``cause`` is the error of the solver."""

    def __init__(self, row: int, line: int, cause: VertebraError) -> None:
        self.row, self.line, self.cause = row, line, cause
        super().__init__(
            f"{row_name(row, line)}: {cause}. The row has no shape with these parameters: start from other values "
            "(NAME=START), or leave it out"
        )


@dataclass(frozen=True, eq=False, repr=False)
class ShapeData:
    """Measured shapes of one robot, one row each, SI. NaN stands for what was not measured."""

    tensions: Floats
    """(N, cables) N."""
    tips: Floats
    """(N, 3) m."""
    angles: Floats
    """(N, n) rad."""
    payload: Floats
    """(N,) kg hung from the tip."""
    weight: Floats
    """(N,) how much a row counts; 1 is usual."""
    sigma_tip: Floats
    """(N,) standard deviation of each coordinate of the tip, m; NaN where not stated."""
    sigma_angle: Floats
    """(N,) standard deviation of each angle, rad; NaN where not stated."""
    sequence: tuple[str, ...]
    """(N,) rows of the same name are successive steps of one path; an empty name is a path of one row."""
    lines: tuple[int, ...]
    """(N,) line of the file; 0 without one."""
    source: str = "measured shapes"
    """Where they come from, for people."""
    simulated: bool = False
    """Whether they are simulated."""
    notes: tuple[str, ...] = ()
    """Remarks about the file, such as columns that were not used."""
    freedoms: tuple[str, ...] = ()
    """(n,) `Robot.freedom_names`, for the names of columns; may be left out where every joint has one freedom."""

    def __post_init__(self) -> None:
        freeze(self, LISTS, "shape")
        if self.tips.shape[1] != 3 or not len(self) == len(self.sequence) == len(self.lines):
            raise InputError("shapes", "tips have three coordinates; sequence and lines have one entry per shape")
        problems = list(self._problems())
        if problems:
            raise MeasurementError(problems, self.source)

    def _problems(self) -> Iterator[CellProblem]:
        columns = shape_columns(self.tensions.shape[1], self.freedoms or self.angles.shape[1])
        values = {"t": self.tensions, "tip": self.tips, "q": self.angles, "payload": self.payload,
                  "weight": self.weight, "sigma_tip": self.sigma_tip, "sigma_angle": self.sigma_angle}  # fmt: skip
        yield from wrong_values(columns, values, self.lines)
        for row in np.flatnonzero(np.isnan(self.tips).all(axis=1) & np.isnan(self.angles).all(axis=1)).tolist():
            angles = angle_columns(self.freedoms or self.angles.shape[1]).spoken
            message = f"has neither a tip nor a joint angle; give x_mm, y_mm, z_mm or {angles}"
            yield CellProblem(row + 1, self.lines[row], "", message)

    @property
    def has_tips(self) -> bool:
        return bool(np.isfinite(self.tips).any())

    @property
    def has_angles(self) -> bool:
        return bool(np.isfinite(self.angles).any())

    @property
    def paths(self) -> list[list[int]]:
        """Rows that follow each other, in order; a row without a name is a path of one."""
        found: dict[object, list[int]] = {}
        for row, name in enumerate(self.sequence):
            found.setdefault(name or row, []).append(row)
        return list(found.values())

    def __len__(self) -> int:
        return len(self.tensions)

    def __repr__(self) -> str:
        made = "simulated " if self.simulated else ""
        what = " and ".join(["tips"] * self.has_tips + ["joint angles"] * self.has_angles)
        return f"ShapeData: {len(self)} {made}shapes with {what}, from {self.source}"


# The file of measured shapes: one row per shape, in the units people measure in.
#
# t1_N,t2_N,t3_N,t4_N,x_mm,y_mm,z_mm
# 2,2,8,8,-57.95,0.00,130.97


def shape_columns(cables: int, freedoms: int | Sequence[str]) -> tuple[Column, ...]:
    """Columns of the file for a robot; the tip and the angles may be measured in part. `freedoms` as in
    `angle_columns`."""
    # A measured coordinate without a unit would rather be in mm than in m.
    tensions, option = tension_columns(cables), partial(Column, needed=False, blank=True)
    mass = rule(lambda mass: 0.0 <= mass < LARGEST, "must be a mass of 0 g or more, not {:g}", 1e3)
    weight = rule(lambda value: 0.0 < value < LARGEST, "must be above 0, not {:g}; leave out rows that do not count")
    sigma = rule(lambda sigma: 0.0 < sigma < LARGEST, "must be a standard deviation above 0")
    return (
        Column(name="m", unit="kg", count=cables, needed=False, instead="t", check=mass, why=tensions.why),
        replace(tensions, instead="m"),
        replace(TIP, bare=False, needed=False, partial=True, blank=True, check=FINITE),
        replace(angle_columns(freedoms), needed=False, partial=True, blank=True, check=FINITE),
        option(name="payload", unit="kg", written="g", check=mass),
        option(name="weight", check=weight),
        option(name="sigma_tip", unit="m", written="mm", parts=("sigma",), check=sigma),
        option(name="sigma_angle", unit="rad", written="deg", parts=("sigma",), check=sigma),
        Column(name="sequence", text=True, needed=False),
    )


def read_shapes(path: str | Path, robot: Robot, *, g: float | None = None) -> ShapeData:
    """Measured shapes of `robot` from a CSV file.

    Columns: the tension of every cable, t1_N, t2_N, ..., or the mass hung from it, m1_kg, m2_kg, ... (times `g` in
    m/s^2, 9.8 unless stated); of the tip x_mm, y_mm, z_mm and of joints q1_deg, q2_deg, ..., any of them, an empty
    cell where nothing was measured. Optional: payload_g at the tip, weight, sigma_mm, sigma_deg, sequence.
    """
    Problem.of(robot, None, ())  # refuses robots that have no statics, before their cables are counted
    freedoms = tuple(robot.freedom_names)
    table = read_table(path, shape_columns(len(robot.cables), freedoms), per="shape")
    if "tip" not in table.values and "q" not in table.values:
        angles = angle_columns(freedoms).spoken
        raise file_error(table.origin, f"has nothing measured; give the tip as x_mm, y_mm, z_mm, or angles {angles}")
    if g is not None and "t" in table.values:
        raise InputError("g", f"{path} has tensions; g belongs to hung masses m1_kg, m2_kg, ...")
    blank = np.full((len(table), max(3, len(freedoms))), np.nan)
    try:
        return ShapeData(
            tensions=table.values["t"] if "t" in table.values else checked_g(g) * table.values["m"],
            tips=table.values.get("tip", blank[:, :3]),
            angles=table.values.get("q", blank[:, : len(freedoms)]),
            payload=table.get("payload", 0.0),
            weight=table.get("weight", 1.0),
            sigma_tip=table.get("sigma_tip", math.nan),
            sigma_angle=table.get("sigma_angle", math.nan),
            sequence=table.texts.get("sequence", ("",) * len(table)),
            lines=table.lines,
            source=f"{Path(path).name}, {len(table)} {'simulated' if table.simulated else 'measured'} shapes",
            simulated=table.simulated,
            notes=table.notes,
            freedoms=freedoms,
        )
    except MeasurementError as error:
        raise table.as_written(error) from None


def shape_csv(data: ShapeData) -> str:
    """The text of a file of shapes, with all digits needed to read it back. Simulated ones say so in line 1."""
    numbers = {
        "t": data.tensions,
        "tip": 1e3 * data.tips,
        "q": np.degrees(data.angles),
        "sigma_tip": 1e3 * data.sigma_tip,
        "sigma_angle": np.degrees(data.sigma_angle),
    }
    if data.payload.any():
        numbers["payload"] = 1e3 * data.payload
    if (data.weight != 1.0).any():
        numbers["weight"] = data.weight
    columns = shape_columns(data.tensions.shape[1], data.freedoms or data.angles.shape[1])
    return measured_text(columns, numbers, {"sequence": data.sequence}, data.source if data.simulated else "")


# Every row as a function of the parameters, and how what is measured of it responds to them.

STEP = 1e-3
"""Of the differences, in sizes of the parameter."""
ROUND_OFF = 1e-11
"""m or rad: a parameter that moves nothing by more, when it changes by its size, moves nothing."""
CENTRAL = ((-2.0, 1 / 12), (-1.0, -8 / 12), (1.0, 8 / 12), (2.0, -1 / 12))
ONE_SIDED = ((1.0, 48 / 12), (2.0, -36 / 12), (3.0, 16 / 12), (4.0, -3 / 12))
"""Places in steps, and weights of what has changed there: differences of fourth order."""


class Stencil(NamedTuple):
    """The robot with one parameter a little changed, and what that contributes to a derivative."""

    mounted: MountedRobot
    weight: float


class Row(NamedTuple):
    """A solved row: its pose, and the friction history before it."""

    q: Floats
    history: Floats


@dataclass(frozen=True, eq=False)
class Prediction:
    """Every row solved at given values of the parameters."""

    values: Floats
    """(p,) SI."""
    mounted: MountedRobot
    rows: tuple[Row, ...]
    tips: Floats
    """(N, 3) in the robot's own frame, m."""
    seen: Floats
    """(N, 3 + n) tip in m and joint angles in rad, as they would be measured."""


class ShapeModel:
    """The rows of measured shapes as functions of parameters."""

    def __init__(self, setup: Setup, data: ShapeData, parameters: Sequence[Parameter]) -> None:
        self.setup, self.data, self.parameters = setup, data, tuple(parameters)
        self.measured = np.isfinite(np.hstack([data.tips, data.angles]))

    def predict(self, values: Floats) -> Prediction:
        """Solve every row; raises `UnsolvedRow` for the first that has no shape, `VertebraError` for no such robot."""
        mounted = apply_all(self.setup, self.parameters, values).mounted()
        data, robot = self.data, mounted.robot
        n, c, joints = robot.freedoms, len(robot.cables), len(robot.joints)
        rows: list[Row] = [Row(np.empty(0), np.empty(0))] * len(data)
        tips, angles = np.empty((len(data), 3)), np.empty((len(data), n))
        for path in data.paths:
            q, history = np.zeros(n), np.zeros((HISTORY_PLANES, c, joints))
            for step, row in enumerate(path):
                before = history.copy()
                q = self._solve(mounted.with_payload(float(data.payload[row])), row, q.copy(), history, step > 0)
                rows[row] = Row(q, before)
                tips[row], angles[row] = Pose(robot, q).tip, q
        return Prediction(values.copy(), mounted, tuple(rows), tips, np.hstack([mounted.seen(tips), angles]))

    def _solve(self, problem: Problem, row: int, q: Floats, history: Floats, use_start: bool) -> Floats:
        """The pose of a row, from `q`; friction's `history` goes on to the next."""
        work, pull = problem.workspace(history=history), self.data.tensions[row].copy()
        status = find_shape(*problem.system, pull, NO_CABLES, NO_CABLES, work.friction, use_start, q, *work.scratch)
        try:
            shape = build_shape(problem, status, pull, q, work).require_solved()
            if shape.at_stops and self.parameters:
                message = f"joint {shape.at_stops[0]} rests on its rigid stop, which hides what the parameters change"
                raise InputError("shapes", f"{message}; measure with smaller tensions")
        except VertebraError as error:
            raise UnsolvedRow(row + 1, self.data.lines[row], error) from error
        if work.friction is not None:
            commit_slip(problem.robot.cables, work.friction.laws, pull, work.friction.grip, history)
        return q

    def differentiate(self, prediction: Prediction) -> Floats:
        """(N, 3 + n, p) derivative of what is measured of every row in every parameter; zero for what is not."""
        data, mounted, p = self.data, prediction.mounted, len(self.parameters)
        stencils = [self._stencil(prediction.values, place) for place in range(p)]
        turned = slopes_of(lambda each: each.turn, mounted, stencils)
        shifted = slopes_of(lambda each: each.offset, mounted, stencils)
        directions: dict[float, Floats] = {}
        slopes = np.zeros((*prediction.seen.shape, p))
        for path in data.paths:
            memory = np.zeros((p, len(mounted.robot.cables), len(mounted.robot.joints)))
            for row, following in zip_longest(path, path[1:]):
                payload = float(data.payload[row])
                if payload not in directions:
                    directions[payload] = slopes_of(partial(numbers_with, payload), mounted, stencils)
                slopes[row, self.measured[row]], memory = self._row_slopes(
                    prediction, row, following, directions[payload], memory
                )
        slopes[:, :3] += np.einsum("pij,rj->rip", turned, prediction.tips) + shifted.T
        slopes[~self.measured] = 0.0
        size = np.array([each.size(value) for each, value in zip(self.parameters, prediction.values, strict=True)])
        slopes[..., np.abs(slopes * size).max(axis=(0, 1)) < ROUND_OFF] = 0.0
        return slopes

    def _stencil(self, values: Floats, place: int) -> list[Stencil]:
        """Changed robots about `values`; to one side where there is no robot on the other."""
        size = STEP * self.parameters[place].size(float(values[place]))
        failed: VertebraError | None = None
        for side, points in ((1.0, CENTRAL), (1.0, ONE_SIDED), (-1.0, ONE_SIDED)):
            try:
                return [
                    Stencil(self._changed(values, place, side * size * at), side * weight / size)
                    for at, weight in points
                ]
            except VertebraError as error:
                failed = error
        assert failed is not None
        raise failed

    def _changed(self, values: Floats, place: int, change: float) -> MountedRobot:
        changed = values.copy()
        changed[place] += change
        return apply_all(self.setup, self.parameters, changed).mounted()

    def _row_slopes(
        self, prediction: Prediction, row: int, following: int | None, directions: Floats, memory: Floats
    ) -> tuple[Floats, Floats]:
        """(m, p) of what is measured of a row, in a frame that stays; and dw/dp (p, cables, joints) after the row,
        `memory` before it: w = s - D / presliding is all that the slip s of a later row knows of those before it."""
        mounted, (q, history), pull = prediction.mounted, prediction.rows[row], self.data.tensions[row].copy()
        problem = mounted.with_payload(float(self.data.payload[row]))
        work = problem.workspace(history=history.copy())
        # Where a cable sticks, w stays as it is; where it slips, s does.
        after = np.zeros_like(history) if following is None else prediction.rows[following].history
        cables, holes = np.nonzero(np.abs(after[HISTORY_SLIP]) == 1.0)
        each = np.eye(len(self.measured[row]))[self.measured[row]]
        first, outputs = len(each), len(each) + len(cables)
        seeds = Seeds.none(problem, outputs)
        seeds.tip[:first, :3], seeds.angles[:first] = each[:, :3] @ mounted.turn, each[:, 3:]
        if len(cables):
            drawn = np.zeros((outputs, *after[HISTORY_DRAWN].shape))
            drawn[np.arange(first, outputs), cables, holes] = 1.0
            seeds = seeds._replace(slip=np.zeros_like(drawn), drawn=drawn)
        found, _ = pose_gradients(problem, work, prediction.tips[row], q, pull, seeds)
        slopes, left = found.along(directions), memory.copy()
        if work.friction is not None:
            slopes += np.einsum("mkj,pkj->mp", found.history[:, HISTORY_SLIP], memory)
            left[:, cables, holes] = -slopes[first:].T / work.friction.laws[cables, LAW_PRESLIDING]
        return slopes[:first], left


def numbers_with(payload: float, mounted: MountedRobot) -> Floats:
    """(everything,) that a row with this payload in kg is predicted from, as `Numbers.flat` lays it out."""
    numbers: Floats = Numbers.of(mounted.with_payload(payload)).flat[0]
    return numbers


def slopes_of(
    part: Callable[[MountedRobot], Floats], mounted: MountedRobot, stencils: Sequence[Sequence[Stencil]]
) -> Floats:
    """(p, ...) how an array of a robot changes per unit of each parameter; zero to the bit where it does not."""
    here = part(mounted)
    slopes = np.zeros((len(stencils), *here.shape))
    for slope, points in zip(slopes, stencils, strict=True):
        for changed, weight in points:
            there = part(changed)
            moved = there != here  # what is infinite, or a whole number, never moves
            slope[moved] += weight * (there[moved] - here[moved])
    return slopes


# Shapes that a known robot would show: for planning measurements, and for testing what is fitted.


def simulate_shapes(
    robot: Robot,
    tensions: ArrayLike,
    values: Mapping[str, float] | None = None,
    *,
    noise_tip: float = 0.0,
    noise_angle: float = 0.0,
    seed: int = 0,
    tips: bool = True,
    joints: Iterable[int] | None = None,
    payload: ArrayLike = 0.0,
    sequence: Sequence[str] | None = None,
    gravity: str | ArrayLike | None = None,
    closure: Closure = "virtual-work",
) -> ShapeData:
    """Simulated shapes under rows of tensions (N, cables), N, of a robot whose parameters have these `values`.

    `noise_tip` in m and `noise_angle` in rad: standard deviation of normal noise on every coordinate and angle.
    `joints`: which angles are measured, counted from 1; default all without `tips`, none with them. `payload` in kg,
    one for all or one per row. `sequence`: path names, one per row; by default every row is a path of its own.
    """
    pull = np.array(tensions, dtype=np.float64)
    n, c, freedoms = len(robot.joints), len(robot.cables), robot.freedoms
    if pull.ndim != 2 or pull.shape[1] != c:
        raise InputError("tensions", f"must have shape (N, {c}) for {robot.name}, not {pull.shape}")
    count = len(pull)
    setup = Setup.of(robot, gravity, closure)
    if values:
        asked = unknowns(setup, [Choice(name, start=value) for name, value in values.items()])
        setup = apply_all(setup, [item.parameter for item in asked], np.array([item.start for item in asked]))
    blank = np.full(count, np.nan)
    data = ShapeData(
        pull, np.zeros((count, 3)), np.full((count, freedoms), np.nan), np.broadcast_to(payload, count), np.ones(count),
        blank, blank, tuple(sequence or [""] * count), (0,) * count, freedoms=tuple(robot.freedom_names),
    )  # fmt: skip
    seen = ShapeModel(setup, data, ()).predict(np.empty(0)).seen
    random = np.random.default_rng(seed)
    places = seen[:, :3] + random.normal(0.0, 1.0, (count, 3)) * noise_tip
    angles = seen[:, 3:] + random.normal(0.0, 1.0, (count, freedoms)) * noise_angle
    measured = list(joints) if joints is not None else [] if tips else list(range(1, n + 1))
    if not all(1 <= joint <= n for joint in measured):
        raise InputError("joints", f"must be from 1 to {n}")
    kept = np.repeat(np.isin(np.arange(1, n + 1), measured), robot.joints["freedoms"])
    noise = " and ".join(
        [f"{1e3 * noise_tip:g} mm"] * tips + [f"{np.degrees(noise_angle):g} deg"] * bool(kept.any())
    )  # fmt: skip
    return ShapeData(
        pull, places if tips else np.full((count, 3), np.nan), np.where(kept, angles, np.nan), data.payload,
        data.weight, blank, blank, data.sequence, data.lines,
        f"{count} simulated shapes of {robot.name} with {noise} of noise, seed {seed}", simulated=True,
        freedoms=data.freedoms,
    )  # fmt: skip
