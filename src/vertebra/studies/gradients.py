"""How does every column of a study change with every variable? Exact derivatives at one row.

Formulas of `set` and fields of the robot file are differentiated by the complex step, the equilibrium by the adjoint
kernels of `vertebra.derivatives`: one solve at the row itself, and none per variable.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from vertebra.derivatives.parameters import Parameters, parameters_of
from vertebra.derivatives.payload import payload_parameters
from vertebra.derivatives.sensed import sensed_parameters
from vertebra.derivatives.shape import ShapeProblem
from vertebra.dynamics.directions import STEP, Direction, Tangents, slope_along
from vertebra.dynamics.model_derivatives import linear_derivatives
from vertebra.dynamics.problem import Moving, joint_damping
from vertebra.errors import InputError, VertebraError
from vertebra.locked.ball_shape import BallShape
from vertebra.locked.payload import payload
from vertebra.mechanics.gradient import Numbers
from vertebra.mechanics.kernels.newton import SETTLED, inspect_pose
from vertebra.mechanics.kinematics import Pose
from vertebra.mechanics.problem import Load, load_table, loaded_links
from vertebra.robot.arguments import axial_stiffness
from vertebra.robot.fields import STEP as TINY
from vertebra.robot.fields import table_tangents
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats, solid_cylinder
from vertebra.sensing.estimator import shape_from_orientations
from vertebra.sensing.sensed_shape import SensedShape
from vertebra.statics.branches import critical_tension
from vertebra.statics.shape import GivenCables, Shape, build_shape, principal_stiffnesses
from vertebra.studies.cases import PER_CABLE, PER_JOINT, Case, Plan, Target, row_message
from vertebra.studies.quantities import linear_model
from vertebra.studies.study import Study

SAME = 1e-9
"""Principal values, frequencies or tensions that differ by less than this part of the largest are one, repeated; and
points are one that lie closer together than this part of their coordinates."""
Weights = dict[str, Floats]
"""Of parameters of `vertebra.sensitivity`, by name: (v,) derivative of each by every variable."""


class Gradient(NamedTuple):
    """Derivatives of all columns of a study at a row, and why some are missing."""

    slopes: Floats
    """(columns, variables) SI; NaN where there is none."""
    reasons: tuple[str, ...]
    """Per column, why it has not all of them; empty where it has."""


def gradient_of(study: Study, row: Any) -> Floats:
    """(columns, variables) derivatives of all columns of a study at a row (variables,), SI; NaN where there is none, as
    `gradient` explains."""
    return gradient(study, row).slopes


def gradient(study: Study, row: Any) -> Gradient:
    """Derivatives of all columns of a study at a row (variables,).

    There is none by whole numbers, words and choices; of functions of the user's and of load margins; of infinite
    stiffnesses, ends of a tension margin at 0 or infinity, a tip error of zero and an unlimited payload; of the largest
    tension where it is not at the base; by friction that is zero, and of natural frequencies by any friction of cables.
    Principal stiffnesses, frequencies, critical tensions and largest tensions that are repeated have one only by
    variables that move all of them alike. There is none at all where the row has no answer.
    """
    values = np.asarray(row, np.float64)
    if values.shape != (len(study.variables),):
        raise InputError(
            "row", f"must have shape ({len(study.variables)},), one value per variable, not {values.shape}"
        )
    result, reasons = np.full((len(study.columns), len(values)), np.nan), [""] * len(study.columns)
    smooth = np.array([not (one.labels or one.whole) for one in study.variables], np.bool_)
    try:
        case = study.case(values)
    except VertebraError as error:
        return Gradient(result, (f"there is no such robot: {row_message(error)}",) * len(reasons))
    weights, unknown = _weights(study.plan, case, values, np.flatnonzero(smooth))
    point, first = _Point(case, weights, int(smooth.sum()), study.plan), 0
    for one in study.asked:
        last = first + len(one.columns)
        try:
            if one.quantity.name not in SLOPES:
                raise InputError("quantity", "it has no derivatives")
            result[first:last, smooth] = SLOPES[one.quantity.name](point, one.settings)
        except (VertebraError, np.linalg.LinAlgError) as error:
            why = error.message if isinstance(error, InputError) else row_message(error)
            reasons[first:last] = [why] * len(one.columns)
        first = last
    result[:, np.flatnonzero(smooth)[unknown]] = np.nan
    result[~np.isfinite(result)] = np.nan
    return Gradient(
        result, tuple(reason or _missing(study, part) for part, reason in zip(result, reasons, strict=True))
    )


def _missing(study: Study, slopes: Floats) -> str:
    """Which variables a column has no derivative by; empty for none."""
    missing = [one for one, slope in zip(study.variables, slopes, strict=True) if np.isnan(slope)]
    if not missing:
        return ""
    if len(missing) == len(slopes) > 1:
        return "it has no derivative by any of the variables"
    first = missing[0]
    kind = f" ({'a choice' if first.labels else 'a whole number'})" if first.labels or first.whole else ""
    more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    return f"it has no derivative by {first.name}{kind}{more}"


# What a variable changes.


def _weights(plan: Plan, case: Case, row: Floats, variables: NDArray[np.int64]) -> tuple[Weights, NDArray[np.bool_]]:
    """Derivatives of everything that the row sets, and which variables have none (v,)."""
    found, unknown = Weights(), np.zeros(len(variables), np.bool_)
    gravity = list[tuple[Target, Any]]()
    for place, variable in enumerate(variables.tolist()):
        moved = row.astype(np.complex128)
        moved[variable] += 1j * TINY
        gravity.clear()
        for goal, value in plan._assigned(moved[None], quick=None):
            if goal.word == "gravity":
                gravity.append((goal, value))
                continue
            slope = np.imag(value) / TINY if isinstance(value, int | float | complex | np.number) else 0.0
            if slope != 0.0 and goal.whole:
                unknown[place] = True
            elif slope != 0.0:
                for name in _names(goal, case):
                    found.setdefault(name, np.zeros(len(variables)))[place] += slope
        for axis, slope in enumerate(_gravity_slope(plan, case.robot, gravity)):
            if slope != 0.0:
                found.setdefault(f"gravity[{axis}]", np.zeros(len(variables)))[place] += slope
    for name in [name for name in found if not _is_known(case, name)]:
        unknown |= found.pop(name) != 0.0
    return found, unknown


def _names(goal: Target, case: Case) -> Iterable[str]:
    """The parameters that a target stands for. What a study gives itself hides the field of the robot file."""
    for path in goal.paths:
        hidden = ("cables.friction" in path and case.friction is not None) or (
            path.endswith("stiffness_EA") and case.stiffness_EA is not None
        )
        if not hidden:
            yield path
    if goal.word in PER_CABLE | PER_JOINT:
        count = len(case.robot.cables if goal.word in PER_CABLE else case.robot.joints)
        for k in range(count) if goal.index is None else (goal.index,):
            yield f"{goal.word}[{k}]" + ".c" * (goal.word == "friction")
    elif goal.word == "loads":
        yield goal.text
    elif goal.word == "sensors":
        yield f"sensors[{goal.index}].{goal.component}"


def _is_field(name: str) -> bool:
    return name.split("[")[0] not in (*PER_CABLE, *PER_JOINT, "gravity", "loads", "sensors")


def _is_known(case: Case, path: str) -> bool:
    if not _is_field(path):
        return True
    try:
        return len(table_tangents(case.robot, path).groups) == 1
    except InputError:
        return False


def _gravity_slope(plan: Plan, robot: Robot, changes: Iterable[tuple[Target, Any]]) -> Floats:
    """(3,) of the gravity that a row sets, as `Plan` reads it, from complex values."""
    gravity = np.array(robot.gravity if plan.acting.gravity is None else plan.acting.gravity, np.complex128)
    turned: dict[str, complex] = {}
    for goal, value in changes:
        if goal.part:
            turned[goal.part] = complex(value)
        elif goal.index is not None:
            gravity[goal.index] = value
        elif not isinstance(value, str):
            gravity[:] = value
    if turned:
        size, tilt, azimuth = np.sqrt((gravity**2).sum()), turned.get("tilt", 0.0), turned.get("azimuth", 0.0)
        side = size * np.sin(tilt)
        gravity = np.array([side * np.cos(azimuth), side * np.sin(azimuth), -size * np.cos(tilt)])
    slope: Floats = gravity.imag / TINY
    return slope


@dataclass(frozen=True, eq=False)
class _Along(Direction):
    """How everything changes with one variable."""

    points: Floats | None = None
    """(loads, 3) m."""
    masses: Floats | None = None
    """(loads,) kg."""

    shorter: float = 1.0
    """Than usual, by so much are the steps of differences."""

    def moved(self, moving: Moving, units: float) -> Moving:
        found = super().moved(moving, units)
        if self.points is None or self.masses is None:
            return found
        problem, robot = found.statics, found.robot
        loads = tuple(
            _moved_load(load, units * mass, units * point)
            for load, mass, point in zip(problem.loads, self.masses.tolist(), self.points, strict=True)
        )
        table, links = load_table(robot, loads), loaded_links(robot, loads)
        return Moving(replace(problem, loads=loads, table=table, links=links))

    def size(self, moving: Moving, inputs: Floats, damping: Floats, axial: Floats) -> float:
        found, robot = super().size(moving, inputs, damping, axial), moving.robot
        if self.points is not None and self.masses is not None:
            mass = max(float(robot.links["mass"].mean()), *(load.mass for load in moving.statics.loads)) or 1.0
            pitch = robot.length / len(robot.joints)
            found = max(found, float(np.abs(self.masses).max()) / mass, float(np.abs(self.points).max()) / pitch)
        return self.shorter * found


def _moved_load(load: Load, mass: float, point: Floats) -> Load:
    """Not checked: a step from a mass of zero makes it negative, and what depends on it is linear in it."""
    found = copy(load)
    object.__setattr__(found, "mass", load.mass + mass)
    if load.point is not None:
        object.__setattr__(found, "point", tuple(np.add(load.point, point).tolist()))
    return found


SHORTER = (1.0, 10.0, 100.0)
"""Steps are tried that are shorter by this where a longer one ends in a robot that cannot be, such as a hole that is
next to the edge of its face. Each costs a digit of 13."""


def _slope(sample: Callable[[float], Floats], step: float) -> Floats:
    """The derivative of an array at 0, by differences with this step, or a shorter one."""
    for shorter in SHORTER[:-1]:
        with suppress(VertebraError):
            return slope_along(lambda units: (sample(units),), step / shorter)[0]
    return slope_along(lambda units: (sample(units),), step / SHORTER[-1])[0]


@dataclass(frozen=True, eq=False)
class _Point:
    """A row, and how it changes with the variables."""

    case: Case
    weights: Weights
    count: int
    """Variables."""
    plan: Plan
    _cache: dict[str, Any] = field(default_factory=dict)

    # The robot.

    @cached_property
    def tangents(self) -> list[Tangents]:
        """Of the robot's tables, one per variable."""
        return self._tangents(self.case.robot, {name: w for name, w in self.weights.items() if _is_field(name)})

    def _tangents(self, robot: Robot, weights: Weights) -> list[Tangents]:
        found = [
            Tangents(*(np.zeros_like(getattr(robot, name)) for name in Tangents._fields)) for _ in range(self.count)
        ]
        if weights:
            each = table_tangents(robot, list(weights))
            for row, group in enumerate(each.groups):
                tables = each.tables(row)
                for k in np.flatnonzero(weights[group.path]):
                    for name in Tangents._fields:
                        part, own = getattr(found[k], name), getattr(tables, name)
                        if part.size:
                            part.reshape(-1).view(np.float64)[:] += weights[group.path][k] * own.reshape(-1).view(
                                np.float64
                            )
        return found

    def by_robot(self, value: Callable[[Robot], Floats]) -> Floats:
        """(..., v) of what the tables of the robot alone determine."""
        robot = self.case.robot
        slopes = []
        for tangents in self.tangents:
            size = tangents.size(robot)
            step = STEP / size if size > 0.0 else 1.0
            slopes.append(_slope(lambda units, t=tangents: value(t.moved(robot, units)), step))  # type: ignore[misc]
        return np.stack(slopes, axis=-1) if slopes else np.empty((*value(robot).shape, 0))

    # The shape.

    @cached_property
    def shape(self) -> Shape:
        return self.case.shape()

    @cached_property
    def problem(self) -> ShapeProblem:
        return ShapeProblem.of(self.shape, self.case.held != "tensions")

    @cached_property
    def directions(self) -> Floats:
        """(v, everything) how the numbers of the problem change with each variable."""
        weights = {name: w for name, w in self.weights.items() if not name.startswith(("shortenings", "sensors["))}
        if self.case.held == "shortenings":
            straight = self.by_robot(lambda robot: Pose(robot, np.zeros(robot.freedoms)).cable_lengths)
            for k, slope in enumerate(straight):
                weights[f"lengths[{k}]"] = slope - self.weights.get(f"shortenings[{k}]", 0.0)
        return self.along(self.problem, weights)

    def along(self, problem: ShapeProblem, weights: Weights) -> Floats:
        """(v, everything) the sum of the directions of parameters, each times its weight; NaN where one has none."""
        total = np.zeros((self.count, Numbers.zeros(problem.problem, 1, problem.by_length).flat.shape[1]))
        for name, direction in self._parameters(problem, list(weights)).items() if weights else ():
            if direction is None:
                total[weights[name] != 0.0] = np.nan
            else:
                total += np.outer(weights[name], direction)
        return total

    def _parameters(self, problem: ShapeProblem, names: list[str]) -> dict[str, Floats | None]:
        def asked(some: list[str]) -> Mapping[str, Floats | None]:
            found: Parameters = parameters_of(problem, some)
            return dict(zip(found.names, found.directions, strict=True))

        try:
            return dict(asked(names))
        except InputError:
            each: dict[str, Floats | None] = {}
            for name in names:
                try:
                    each |= asked([name])
                except InputError:
                    each[name] = None
            return each

    def of(self, word: str) -> Floats:
        """(m, v) of tip, angles, lengths, tensions or what holds the stiffness."""
        if word not in self._cache:
            self._cache[word] = self.problem.outputs(word).derivatives @ self.directions.T
        found: Floats = self._cache[word]
        return found

    def of_cables(self, name: str) -> Floats:
        """(v, cables) slopes of the lengths without tension (`rest`) or the tensions per stretch (`rate`)."""
        marked = Numbers.zeros(self.problem.problem, 1, self.problem.by_length)
        getattr(marked, name)[:] = 1.0
        return self.directions[:, marked.flat[0] != 0.0]

    def tip(self) -> tuple[Floats, Floats]:
        """(3,) m, and (3, v) its slopes."""
        if self.case.held != "bends":
            return self.shape.tip, self.of("tip")
        return self.pose(0.0, 0).tip, self.by_pose(lambda pose, k, units: pose.tip)

    def pose(self, units: float, k: int) -> Pose:
        """So many units of a variable away."""
        robot = self.tangents[k].moved(self.case.robot, units) if self.count else self.case.robot
        if self.case.held != "bends":
            return Pose(robot, self.shape.angles + units * self.of("angles")[:, k])
        given: Any = self.case.bends, self.case.azimuths
        turned = (self._per_joint(word)[k] for word in ("bends", "azimuths"))
        own = (part + units * slope for part, slope in zip(BallShape.of(robot, *given), turned, strict=True))
        return Pose(robot, BallShape(*own).coordinates)

    def by_pose(self, value: Callable[[Pose, int, float], Floats]) -> Floats:
        """(..., v) of what the pose determines."""
        slopes = []
        for k, tangents in enumerate(self.tangents):
            turns = np.append(self._per_joint("bends")[k], self._per_joint("azimuths")[k])
            if self.case.held != "bends":
                turns = self.of("angles")[:, k]
            turns = np.append(turns, self._sensor_turns(k))
            size = max(tangents.size(self.case.robot), float(np.abs(turns).max()))
            step = STEP / size if size > 0.0 else 1.0
            slopes.append(_slope(lambda units, k=k: value(self.pose(units, k), k, units), step))  # type: ignore[misc]
        return np.stack(slopes, axis=-1) if slopes else np.empty((*value(self.pose(0.0, 0), 0, 0.0).shape, 0))

    def measured(self) -> tuple[SensedShape, Floats]:
        """What the sensors tell, and (sensors, 3, v) how what they measure turns about the world's axes."""
        robot = self.case.robot
        errors = np.zeros((len(robot.sensor_links), 3)) if self.case.sensors is None else self.case.sensors

        def rotations(pose: Pose, k: int, units: float) -> Floats:
            wrong: Floats = Rotation.from_rotvec(errors + units * self._sensor_turns(k)).as_matrix()
            return wrong @ pose.frames[robot.sensor_links, :3, :3]

        here = rotations(self.pose(0.0, 0), 0, 0.0)
        spins = np.einsum("sijv,skj->sikv", self.by_pose(rotations), here)
        turns = np.stack([spins[:, 2, 1], spins[:, 0, 2], spins[:, 1, 0]], axis=1)
        return shape_from_orientations(robot, here), turns

    def _sensor_turns(self, k: int) -> Floats:
        """(sensors, 3)"""
        found = np.zeros((len(self.case.robot.sensor_links), 3))
        for sensor, about in np.ndindex(found.shape) if self.count else ():
            found[sensor, about] = self.weights.get(f"sensors[{sensor}].{about}", np.zeros(self.count))[k]
        return found

    def _per_joint(self, word: str) -> Floats:
        """(v, joints)"""
        found = np.zeros((self.count, len(self.case.robot.joints)))
        for k in range(found.shape[1]):
            found[:, k] = self.weights.get(f"{word}[{k}]", 0.0)
        return found

    # What is not the kernel's: a pose and tensions that move as the kernel says, nothing is solved.

    def moves(self, robot: Robot) -> list[_Along]:
        """Per variable; `robot`: that of the row, or the same with its inertia filled in."""
        case, tensions = self.case, self.of("tensions")
        tangents = self.tangents if robot is case.robot else self._filled(robot)
        elastic = np.zeros((len(robot.cables), self.count))
        if case.held != "tensions" and case.stiffness_EA is None:
            elastic = self.by_robot(lambda robot: axial_stiffness(robot, None))
        found = []
        for k in range(self.count):
            gravity = np.array([self.weights.get(f"gravity[{axis}]", np.zeros(self.count))[k] for axis in range(3)])
            loads = len(case.loads)
            forces, points, masses = np.zeros((loads, 6)), np.zeros((loads, 3)), np.zeros(loads)
            for i in range(loads):
                for axis in range(3):
                    for part, place, at in (
                        ("force", forces, axis), ("moment", forces, axis + 3), ("point", points, axis)
                    ):  # fmt: skip
                        weights = self.weights.get(f"loads[{i}].{part}[{axis}]")
                        place[i, at] = 0.0 if weights is None else weights[k]
                weights = self.weights.get(f"loads[{i}].mass")
                masses[i] = 0.0 if weights is None else weights[k]
            found.append(
                _Along(
                    str(k), "", tangents[k], gravity if gravity.any() else None, forces if loads else None,
                    tensions[:, k], axial=elastic[:, k] if elastic[:, k].any() else None,
                    points=points if loads else None, masses=masses if loads else None,
                )
            )  # fmt: skip
        return found

    def _filled(self, robot: Robot) -> list[Tangents]:
        """Of the tables of a robot whose missing inertias are those of solid cylinders."""
        weights = {name: w for name, w in self.weights.items() if _is_field(name)}
        own, plain = self.case.robot, self.tangents
        for index, (section, end) in enumerate(zip(own.description.sections, own.section_ends, strict=True)):
            if section.link.inertia is None and section.link.mass:
                for k in range(self.count):
                    by = [
                        weights.get(f"sections[{index}].link.{name}", np.zeros(self.count))[k]
                        for name in ("mass", "length")
                    ]
                    by.append(float(plain[k].links["diameter"][end]))
                    sizes = section.link.mass, section.link.length, float(own.links["diameter"][end])
                    moved: Any = [size + 1j * TINY * slope for size, slope in zip(sizes, by, strict=True)]
                    for axis, slope in enumerate(solid_cylinder(*moved).imag / TINY):
                        if slope != 0.0:
                            name = f"sections[{index}].link.inertia[{axis}]"
                            weights.setdefault(name, np.zeros(self.count))[k] = slope
        return self._tangents(robot, weights)


# The answers.


def _tip(point: _Point, settings: Mapping[str, Any]) -> Floats:
    return point.tip()[1]


def _angles(point: _Point, settings: Mapping[str, Any]) -> Floats:
    return point.of("angles")


def _cable_lengths(point: _Point, settings: Mapping[str, Any]) -> Floats:
    return point.of("lengths")


def _energy(point: _Point, settings: Mapping[str, Any]) -> Floats:
    """At poses and tensions that move as the kernel says; nothing is solved."""
    shape, case = point.shape, point.problem
    problem, turns, tensions = case.problem, point.of("angles"), point.of("tensions")
    rest, rate = (point.of_cables(name) for name in ("rest", "rate"))
    slopes = np.full((1, point.count), np.nan)
    for k, along in enumerate(point.moves(point.case.robot)):
        if not np.isfinite(point.directions[k]).all():
            continue

        def energy(units: float, k: int = k, along: _Along = along) -> Floats:
            moved = along.moved(Moving(problem), units).statics
            work = moved.workspace(case.by_length)
            pull, q = case.tensions + units * tensions[:, k], shape.angles + units * turns[:, k]
            cables = GivenCables(case.rest + units * rest[k], case.rate + units * rate[k])
            inspect_pose(
                *moved.system, pull, cables.rest, cables.rate, work.friction, True, q, *work.scratch[1:]
            )  # fmt: skip
            return np.array(build_shape(moved, SETTLED, pull, q, work, cables).energy)

        with suppress(VertebraError):
            slopes[0, k] = _slope(energy, _step(point, along, k))
    return slopes


def _step(point: _Point, along: _Along, k: int) -> float:
    """How far to go along variable `k` for a difference: a hundredth of any number, or 0.01 rad."""
    robot, problem, turn = point.case.robot, point.problem, point.of("angles")[:, k]
    moving = Moving(problem.problem)
    size = along.size(moving, problem.tensions, joint_damping(robot, None), axial_stiffness(robot, None))
    size = max(size, float(np.abs(turn).max(initial=0.0)))
    if problem.by_length:  # no cable may go slack on the way, or become taut
        taut, left = problem.tensions > 0.0, np.abs(point.shape.lengths - problem.rest)
        closing = np.abs(point.of("lengths")[:, k] - point.of_cables("rest")[k])
        moves = closing.max(initial=0.0) > 0.0 and closing > SAME * closing.max()
        size = max(size, *np.divide(closing, left, out=np.zeros_like(left), where=moves & ~taut))
        pulls = np.abs(point.of("tensions")[:, k])
        size = max(size, *np.divide(pulls, problem.tensions, out=np.zeros_like(left), where=taut))
    return STEP / size if size > 0.0 else 1.0


def _symmetric_compliance(point: _Point) -> tuple[Floats, Floats]:
    """(3, 3) m/N of the tip against forces, and (3, 3, v) its slopes."""
    slopes = point.of("compliance").reshape(6, 6, -1)[:3, :3]
    compliance = point.shape.compliance[:3, :3]
    return 0.5 * (compliance + compliance.T), 0.5 * (slopes + slopes.transpose(1, 0, 2))


def _compliance(point: _Point, settings: Mapping[str, Any]) -> Floats:
    return _symmetric_compliance(point)[1].reshape(9, -1)


def _stiffness(point: _Point, settings: Mapping[str, Any]) -> Floats:
    compliance, slopes = _symmetric_compliance(point)
    values, vectors = np.linalg.eigh(compliance)
    stiffness = principal_stiffnesses(values[::-1])
    by_axis = _value_slopes(values, vectors, slopes)[::-1]
    return -(np.where(np.isfinite(stiffness), stiffness, np.nan)[:, None] ** 2) * by_axis


def _value_slopes(values: Floats, vectors: Floats, slopes: Floats) -> Floats:
    """(n, v) of the eigenvalues of a symmetric matrix with these slopes (n, n, v); NaN for repeated ones that part."""
    turned = np.einsum("ia,ijv,jb->abv", vectors, slopes, vectors)
    found: Floats = np.einsum("aav->av", turned).copy()
    near = SAME * np.abs(values).max()
    for a in range(len(values)):
        same = np.flatnonzero(np.abs(values - values[a]) <= near)
        if len(same) > 1:
            part = turned[np.ix_(same, same)] - found[a] * np.eye(len(same))[:, :, None]
            parts = np.abs(part).max(axis=(0, 1)) > 1e-6 * np.abs(slopes).max(axis=(0, 1))
            found[a, parts] = np.nan
    return found


def _largest_tension(point: _Point, settings: Mapping[str, Any]) -> Floats:
    shape = point.shape
    base = shape.tensions_at_base
    most = float(base.max(initial=0.0))
    if shape.tensions.max(initial=0.0) > most * (1.0 + SAME):
        raise InputError("largest tension", "it is not at the base there, where alone it has a derivative")
    return _if_alike(point.of("tensions")[base >= most * (1.0 - SAME)])


def _if_alike(slopes: Floats) -> Floats:
    """(1, v) the slopes (k, v) of numbers that are equal, NaN where they part."""
    alike = np.ptp(slopes, axis=0) <= 1e-9 * np.abs(slopes).max(axis=0)
    return np.where(alike, slopes[0], np.nan)[None]


def _margin(point: _Point, settings: Mapping[str, Any]) -> Floats:
    """Of a shape whose tensions are held, whatever held it."""
    ends = np.array(point.shape.tension_margin())
    held = ShapeProblem.of(point.shape, False)
    weights = {
        name: w for name, w in point.weights.items() if not name.startswith(("lengths", "shortenings", "sensors["))
    }
    weights |= {f"tensions[{k}]": slope for k, slope in enumerate(point.of("tensions"))}
    found = np.full((2, point.count), np.nan)
    found[(ends > 0.0) & np.isfinite(ends)] = held.outputs("tension margin").derivatives @ point.along(held, weights).T
    return found


def _frequencies(point: _Point, settings: Mapping[str, Any]) -> Floats:
    shape, count = point.shape, settings.get("count", 3)
    model = linear_model(point.case, shape, settings)
    found, turns = np.full((count, point.count), np.nan), point.of("angles")
    grips = sum((w != 0.0 for name, w in point.weights.items() if "friction" in name), np.zeros(point.count))
    values = model.frequencies[:count]
    for k, along in enumerate(point.moves(model.question.moving.robot)):
        for shorter in SHORTER if np.isfinite(point.directions[k]).all() and not grips[k] else ():
            with suppress(VertebraError):
                slopes = linear_derivatives(model, replace(along, shorter=shorter), turns[:, k]).frequencies
                found[: len(values), k] = _parted(model.frequencies, slopes)[:count]
                break
    return found


def _parted(values: Floats, slopes: Floats) -> Floats:
    """Slopes of frequencies, NaN for repeated ones that part."""
    found = slopes.copy()
    for a in range(len(values)):
        same = np.abs(values - values[a]) <= 1e-6 * values.max()
        if np.ptp(slopes[same]) > 1e-6 * np.abs(slopes).max():
            found[a] = np.nan
    return found


def _critical_tension(point: _Point, settings: Mapping[str, Any]) -> Floats:
    case = point.case
    tension = critical_tension(case.robot, gravity=case.gravity, loads=case.loads)
    if tension == 0.0:
        return np.zeros((1, point.count))
    straight = ShapeProblem.straight(case.robot, case.gravity, case.loads, tension)
    given = ("tensions", "lengths", "shortenings", "friction", "sensors[")
    weights = {name: w for name, w in point.weights.items() if not name.startswith(given)}
    return straight.outputs("critical tension").derivatives @ point.along(straight, weights).T


def _payload(point: _Point, settings: Mapping[str, Any]) -> Floats:
    case = point.case
    if case.tensions is None:
        raise InputError("tensions", "a payload needs the tensions of the cables")
    found = payload(
        case.robot, case.bends, case.azimuths, case.tensions, settings.get("direction", (0.0, 0.0, -1.0)),  # type: ignore[arg-type]
        settings.get("link", -1), settings.get("point"), **case.forces,
    )  # fmt: skip
    slopes = np.zeros((1, point.count))
    names = [name for name in point.weights if not name.startswith("sensors[")]
    if names:
        parameters = payload_parameters(found, names)[0]
        for name, slope in zip(parameters.names, parameters.directions[:, 0], strict=True):
            slopes[0] += slope * point.weights[name]
    return slopes


def _mass(point: _Point, settings: Mapping[str, Any]) -> Floats:
    return point.by_robot(lambda robot: np.array([robot.mass]))


def _reach(point: _Point, settings: Mapping[str, Any]) -> Floats:
    return point.by_robot(lambda robot: np.array([robot.length]))


def _tip_error(point: _Point, settings: Mapping[str, Any]) -> Floats:
    reference = settings.get("reference", "nominal")
    if isinstance(reference, str):
        return _distance(*point.tip(), *_reference(point, reference).tip())
    return _distance(*point.tip(), reference, np.zeros((3, point.count)))


def _distance(one: Floats, by_one: Floats, other: Floats, by_other: Floats) -> Floats:
    """(1, v) of the distance between two points, each with its slopes (3, v)."""
    off = one - other
    distance = math.sqrt(off @ off)
    if distance <= SAME * max(float(np.abs(one).max()), float(np.abs(other).max())):
        raise InputError("error", "it is zero there, where it has a corner and no derivative")
    found: Floats = (off / distance) @ (by_one - by_other)
    return found[None]


def _reference(point: _Point, reference: str) -> _Point:
    """What the tip is compared with, which may move as well."""
    if reference == "nominal":
        return _Point(point.plan.nominal.case(0), {}, point.count, point.plan)
    if reference == "weightless":
        weights = {name: w for name, w in point.weights.items() if not name.startswith("gravity")}
        return _Point(replace(point.case, gravity=np.zeros(3)), weights, point.count, point.plan)
    given = ("tensions", "lengths", "shortenings", "bends", "azimuths")
    weights = {name: w for name, w in point.weights.items() if name.startswith(given)}
    other = replace(point.case, robot=point.plan.robot, **point.plan.nominal.forces)
    return _Point(other, weights, point.count, point.plan)


def _sensed(point: _Point) -> tuple[Floats, Floats]:
    """(3,) m the tip that the sensors tell, and (3, v) its slopes: what they measure turns with the links."""
    robot = point.case.robot
    shape, turns = point.measured()
    fields = [name for name in point.weights if _is_field(name)]
    parameters = sensed_parameters(shape, ["tip"], ["orientations", *fields])[0]
    weights = np.vstack([turns.reshape(-1, point.count), *(point.weights[name] for name in fields)])
    assert parameters.names[3 * len(robot.sensor_links) :] == fields
    return shape.tip, parameters.directions.T @ weights


def _sensed_tip(point: _Point, settings: Mapping[str, Any]) -> Floats:
    return _sensed(point)[1]


def _sensed_error(point: _Point, settings: Mapping[str, Any]) -> Floats:
    return _distance(*_sensed(point), *point.tip())


SLOPES: dict[str, Callable[[_Point, Mapping[str, Any]], Floats]] = {
    "tip": _tip, "angles": _angles, "cable lengths": _cable_lengths, "energy": _energy, "stiffness": _stiffness,
    "compliance": _compliance, "largest tension": _largest_tension, "tension margin": _margin,
    "natural frequencies": _frequencies, "critical tension": _critical_tension, "payload": _payload, "mass": _mass,
    "reach": _reach, "tip error": _tip_error, "sensed tip": _sensed_tip, "sensed error": _sensed_error,
}  # fmt: skip
"""Quantities that have derivatives: (columns, v) each."""
