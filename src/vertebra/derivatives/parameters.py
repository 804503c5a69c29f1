"""What an answer may be differentiated by: words for what acts on the robot, paths of fields of the robot file, or all.

Each parameter is a direction: how all numbers of a problem of statics change with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vertebra.derivatives.standing import AXES, Standing
from vertebra.errors import InputError, shown
from vertebra.mechanics.gradient import Numbers
from vertebra.mechanics.layout import LAW_CURVE, LAW_LEVEL, LAW_PRESLIDING, LAW_SLOPE, LAW_SQUARE
from vertebra.mechanics.problem import Problem
from vertebra.robot.arguments import link_index, link_point, numbers
from vertebra.robot.fields import Numbers as RobotNumbers
from vertebra.robot.fields import table_tangents
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

By = str | Sequence[str] | Mapping[str, ArrayLike] | None
WORDS = ("tensions", "lengths", "gravity", "loads", "friction")


class Parameters(NamedTuple):
    """Columns of a derivative."""

    names: list[str]
    units: list[str]
    values: Floats
    """(p,) SI."""
    directions: Floats
    """(p, all numbers of the problem), as `Numbers.flat` lays them out."""


def words_of(by: By) -> list[str]:
    """The words and paths that are asked for; none where all are."""
    if by is None or (isinstance(by, str) and by == "all"):
        return []
    asked = [by] if isinstance(by, str) else list(by)
    if not asked or not all(isinstance(word, str) for word in asked):
        raise InputError(
            "by", f"must be words or paths such as 'tensions' or 'sections[0].joint.radius', not {shown(by)}"
        )
    return asked


def parameters_of(standing: Standing, by: By) -> Parameters:
    """What `by` stands for, in the problem of a shape; a mapping gives the weights of one direction."""
    asked = words_of(by)
    if not asked:
        problem, robot = standing.problem, standing.problem.robot
        asked = ["lengths" if standing.by_length else "tensions"]
        # What comes from the robot file is among its fields.
        asked += ["gravity"] * (not np.array_equal(problem.gravity, robot.gravity)) + ["loads"] * bool(problem.loads)
        asked += ["friction"] * (bool(problem.laws) and problem.laws != robot.friction_laws) + [""]
    if isinstance(by, Mapping):
        parts = [_part(standing, word) for word in asked]
        weighed = [_weighed(word, part, by[word]) for word, part in zip(asked, parts, strict=True)]
        return Parameters(
            [" and ".join(asked)], [weighed[0].units[0] if len(weighed) == 1 else "given direction"], np.zeros(1),
            np.sum([part.directions for part in weighed], axis=0),
        )  # fmt: skip
    parts = list[Parameters]()
    for is_word, some in groupby(asked, WORDS.__contains__):
        together = list(some)
        parts += [_part(standing, word) for word in together] if is_word else [_fields(standing, together)]
    names, units = [name for part in parts for name in part.names], [unit for part in parts for unit in part.units]
    once = [names.index(name) for name in dict.fromkeys(names)]  # two paths may name the same field
    values, directions = np.concatenate([part.values for part in parts]), np.vstack([part.directions for part in parts])
    return Parameters([names[at] for at in once], [units[at] for at in once], values[once], directions[once])


def _weighed(word: str, part: Parameters, weights: ArrayLike) -> Parameters:
    """One direction: the sum of a part's directions, each times its weight."""
    given = numbers("by", weights, "any unit")
    if given.size != len(part.names):
        raise InputError("by", f"{word} has {len(part.names)} numbers, so as many weights, not {given.size}")
    unit = part.units[0] if len(set(part.units)) == 1 else "given direction"
    return Parameters([word], [unit], np.zeros(1), given.reshape(1, -1) @ part.directions)


def _part(standing: Standing, word: str) -> Parameters:
    problem, robot = standing.problem, standing.problem.robot
    cables = [f"{k + 1}" for k in range(len(robot.cables))]
    rows = Numbers.zeros(problem, _count(standing, word), standing.by_length)
    if word == "tensions":
        rows.tensions[:] = np.eye(len(cables))
        return Parameters([f"tension {k}" for k in cables], ["N"] * len(cables), standing.tensions, rows.flat)
    if word == "lengths":
        rows.rest[:] = np.eye(len(cables))
        rows.rate[:] = np.diag(-standing.rate / standing.rest)  # rate = EA / rest
        return Parameters([f"length {k}" for k in cables], ["m"] * len(cables), standing.rest, rows.flat)
    if word == "gravity":
        rows.gravity[:] = np.eye(3)
        return Parameters([f"gravity {axis}" for axis in AXES], ["m/s^2"] * 3, problem.gravity, rows.flat)
    if word == "loads":
        return _loads(problem, rows)
    if word == "friction":
        return _friction(standing, rows, cables)
    return _fields(standing, [word])


def _count(standing: Standing, word: str) -> int:
    """How many parameters a word stands for; refuses what the shape does not have."""
    problem, cables = standing.problem, len(standing.problem.robot.cables)
    if word == "loads" and not problem.loads:
        raise InputError("by", "there are no loads on the robot; give the solve `loads`, of zero force if need be")
    if word == "friction" and not problem.laws:
        raise InputError("by", "the cables have no friction; give the solve a `friction`, of 1e-12 if need be")
    return {"gravity": 3, "loads": 10 * len(problem.loads), "friction": 4 * cables}.get(word, cables)


def _loads(problem: Problem, rows: Numbers) -> Parameters:
    """Force, moment, point and mass of each load."""
    names, units, values = list[str](), list[str](), list[float]()
    row = 0
    for number, load in enumerate(problem.loads):
        place = link_point(problem.robot, link_index(problem.robot, load.link), load.point)
        parts = (("force", load.force, "N"), ("moment", load.moment, "N*m"), ("point", place, "m"))
        for what, vector, unit in parts:
            for axis, value in enumerate(np.asarray(vector).tolist()):
                _move_load(problem, rows, row, number, what, np.eye(3)[axis])
                names.append(f"load {number + 1} {what} {AXES[axis]}")
                units.append(unit)
                values.append(value)
                row += 1
        _move_load(problem, rows, row, number, "force", problem.gravity)  # what a mass at its point weighs
        names.append(f"load {number + 1} mass")
        units.append("kg")
        values.append(load.mass)
        row += 1
    return Parameters(names, units, np.array(values), rows.flat)


def _move_load(problem: Problem, rows: Numbers, row: int, number: int, what: str, change: Floats) -> None:
    """Change the force, moment or point of a load; its mass is at its point, and one body with the link."""
    links = [link_index(problem.robot, load.link) for load in problem.loads]
    place = sorted(range(len(links)), key=links.__getitem__).index(number)  # in the problem's table
    rows.loads[row, place][what] += change
    if what == "point" and problem.loads[number].mass:
        link = links[number]
        rows.links[row, link]["center_of_mass"] += problem.loads[number].mass * change / problem.links[link]["mass"]


def _friction(standing: Standing, rows: Numbers, cables: list[str]) -> Parameters:
    """Coefficients a, b and c of mu = a theta^2 + b theta + c and the presliding of each cable; of a law that is a
    curve, what is added to it."""
    problem, curve_rows = standing.problem, _curve_rows(standing)
    columns = ((LAW_SQUARE, "a", "1/rad^2"), (LAW_SLOPE, "b", "1/rad"), (LAW_LEVEL, "c", ""), (LAW_PRESLIDING, "", "m"))
    names, units, values = [], [], []
    for k, (cable, law) in enumerate(zip(cables, problem.laws, strict=True)):
        for row, (column, symbol, unit) in enumerate(columns, 4 * k):
            if law.curve is None or column == LAW_PRESLIDING:
                rows.laws[row, k, column] = 1.0
            else:
                _lift_curve(rows.curves[row, curve_rows[k]], column)
            names.append(f"friction {cable} {symbol}".rstrip() if symbol else f"presliding {cable}")
            units.append(unit)
            values.append(law.presliding if column == LAW_PRESLIDING else law.coefficients[column])
    return Parameters(names, units, np.array(values), rows.flat)


def _lift_curve(curve: Floats, power: int) -> None:
    """Add theta^2, theta or 1 to a sampled law, for LAW_SQUARE, LAW_SLOPE and LAW_LEVEL."""
    theta = np.linspace(0.0, 0.5 * np.pi, len(curve))
    curve[:, 0] = (theta**2, theta, np.ones_like(theta))[power]
    curve[:, 1] = (2.0 * theta, np.ones_like(theta), np.zeros_like(theta))[power]


# Fields of the robot file.


def _fields(standing: Standing, paths: list[str]) -> Parameters:
    """Fields that paths name; all of them for an empty one."""
    problem, robot = standing.problem, standing.problem.robot
    tangents = table_tangents(robot, None if paths == [""] else paths)
    rows = Numbers.zeros(problem, len(tangents.groups), standing.by_length)
    for row in range(len(tangents.groups)):
        _change(standing, rows, row, tangents.tables(row))
    return Parameters(
        [group.path for group in tangents.groups], [group.unit for group in tangents.groups],
        np.array([group.fields[0].value for group in tangents.groups]), rows.flat,
    )  # fmt: skip


def _change(standing: Standing, rows: Numbers, row: int, change: RobotNumbers) -> None:
    """How a problem changes with a robot. What the call gave itself (gravity, friction, axial stiffness, the point of a
    load) does not follow the robot file."""
    problem, robot = standing.problem, standing.problem.robot
    rows.joints[row], rows.cables[row], rows.segments[row] = change.joints, change.cables, change.segments
    rows.origin[row], rows.tip_point[row] = change.origin, change.tip_point
    for column in ("reach", "mass", "center_of_mass"):
        rows.links[row][column] = change.links[column]
    _follow_links(problem, rows, row, robot, change)
    if np.array_equal(problem.gravity, robot.gravity):
        rows.gravity[row] = change.gravity
    if standing.by_length:
        rigid = robot.cables["stiffness_EA"]
        follows = np.isfinite(rigid) & (standing.rate * standing.rest == rigid)
        rows.rate[row] = np.where(follows, change.cables["stiffness_EA"] / standing.rest, 0.0)
    if problem.laws and problem.laws == robot.friction_laws:
        rows.laws[row][:, : change.laws.shape[1]] = change.laws
        first, table = 0, 0
        for section in robot.description.sections:
            if section.cables is not None:
                if section.cables.friction is not None and section.cables.friction.table is not None:
                    rows.curves[row, _curve_rows(standing)[first]] = change.curves[table]
                    table += 1
                first += len(section.cables.azimuth)


def _curve_rows(standing: Standing) -> list[int]:
    """Of each cable, where its law is among the sampled ones; below zero for a law that is not."""
    friction = standing.work.friction
    return [] if friction is None else friction.laws[:, LAW_CURVE].astype(int).tolist()


def _follow_links(problem: Problem, rows: Numbers, row: int, robot: Robot, change: RobotNumbers) -> None:
    """Loads without a point of their own are at the tip, or at the centre of mass of their link; and a link is one body
    with the masses that it carries."""
    for number, load in enumerate(problem.loads):
        link = link_index(robot, load.link)
        if load.point is None:
            shift = change.tip_point if link == len(robot.joints) else change.links["center_of_mass"][link]
            _move_load(problem, rows, row, number, "point", shift)
    for link in {link_index(robot, load.link) for load in problem.loads if load.mass}:
        own, body = robot.links[link], problem.links[link]
        moved = rows.links[row, link]
        spare = moved["center_of_mass"] - change.links["center_of_mass"][link]  # of masses whose place moves
        first = change.links["mass"][link] * (own["center_of_mass"] - body["center_of_mass"])
        first = first + own["mass"] * change.links["center_of_mass"][link]
        moved["center_of_mass"] = spare + first / body["mass"]
