"""What an answer may be differentiated by: words for what acts on the robot, paths of fields of the robot file, or all.

Each parameter is a direction: how all numbers of a problem of statics change with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vertebra.derivatives.shape import MIXED, ShapeProblem, one_each
from vertebra.errors import InputError, shown
from vertebra.mechanics.gradient import Numbers
from vertebra.mechanics.layout import LAW_CURVE, LAW_LEVEL, LAW_PRESLIDING, LAW_SLOPE, LAW_SQUARE
from vertebra.mechanics.problem import Problem
from vertebra.robot.arguments import link_index, link_point
from vertebra.robot.fields import Numbers as RobotNumbers
from vertebra.robot.fields import table_tangents
from vertebra.robot.reading import did_you_mean
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.statics.shape import Shape

By = str | Sequence[str] | Mapping[str, ArrayLike] | None


class Parameters(NamedTuple):
    """Columns of a derivative."""

    names: list[str]
    units: list[str]
    values: Floats
    """(p,) SI."""
    directions: Floats
    """(p, k) how k numbers change with each: all those of a problem of statics, as `Numbers.flat` lays them out; or the
    k outputs themselves."""


def words_of(by: By) -> list[str]:
    """The words and paths that are asked for; none where all are."""
    if by is None or (isinstance(by, str) and by == "all"):
        return []
    try:
        asked = [by] if isinstance(by, str) else list(by)
    except Exception:  # an object may raise anything when it is listed
        asked = []
    if not asked or not all(isinstance(word, str) for word in asked):
        raise InputError("by", f"must be words or paths: 'tensions', 'sections[0].joint.radius'; not {shown(by)}")
    return asked


def gathered(
    by: By, words: Mapping[str, Callable[[], Parameters]], fields: Callable[[list[str]], Parameters],
    all_words: Sequence[str],
) -> Parameters:  # fmt: skip
    """What `by` stands for: words, or single entries of them as their columns are named, and paths of `fields`, all of
    which an empty path stands for; by default `all_words` and all fields. A mapping gives the weights of one direction.
    """
    asked = words_of(by) or [*all_words, ""]
    if isinstance(by, Mapping):
        weighed = [_weighed(word, _parts([word], words, fields)[0], by[word]) for word in asked]
        unit = weighed[0].units[0] if len(weighed) == 1 else MIXED
        total = np.sum([part.directions for part in weighed], axis=0)
        return Parameters([" and ".join(asked)], [unit], np.zeros(1), total)
    runs = groupby(asked, lambda word: word.split("[")[0] in words)
    parts = [part for _, run in runs for part in _parts(list(run), words, fields)]
    whole = together(parts)
    # Two paths may name the same field.
    return _some(whole, [whole.names.index(name) for name in dict.fromkeys(whole.names)])


def _parts(
    asked: list[str], words: Mapping[str, Callable[[], Parameters]], fields: Callable[[list[str]], Parameters]
) -> list[Parameters]:
    """Of words one by one, or of paths all together, which takes less time."""
    if asked[0].split("[")[0] in words:
        return [_entries(word, words[word.split("[")[0]]()) for word in asked]
    try:
        return [fields(asked)]
    except InputError:
        for word in asked:
            near = did_you_mean(word, words, 0.8)  # else a field is nearer
            if near:
                raise InputError("by", f"there is no {shown(word)}{near}") from None
        raise


def is_entry(name: str, word: str) -> bool:
    """Whether a parameter of this name is what a word stands for, or a part of it: tensions[0] of tensions."""
    return name == word or name.startswith((f"{word}[", f"{word}."))


def _entries(word: str, whole: Parameters) -> Parameters:
    """Those entries of what a word stands for that are asked for: all, or one by its name."""
    chosen = [at for at, name in enumerate(whole.names) if is_entry(name, word)]
    if not chosen:
        raise InputError("by", f"there is no {word}; there are {whole.names[0]} to {whole.names[-1]}")
    return _some(whole, chosen)


def together(parts: list[Parameters]) -> Parameters:
    return Parameters(
        [name for part in parts for name in part.names], [unit for part in parts for unit in part.units],
        np.concatenate([part.values for part in parts]), np.vstack([part.directions for part in parts]),
    )  # fmt: skip


def _some(part: Parameters, chosen: list[int]) -> Parameters:
    names, units = [part.names[at] for at in chosen], [part.units[at] for at in chosen]
    return Parameters(names, units, part.values[chosen], part.directions[chosen])


def _weighed(word: str, part: Parameters, given: ArrayLike) -> Parameters:
    """One direction: the sum of a part's directions, each times its weight."""
    weights = one_each("by", word, given, len(part.names))
    unit = part.units[0] if len(set(part.units)) == 1 else MIXED
    return Parameters([word], [unit], np.zeros(1), weights[None] @ part.directions)


def listed(name: str, unit: str, values: Floats, directions: Floats) -> Parameters:
    """The entries of one array: name[0], name[1], ..."""
    names = [f"{name}[{at}]" for at in range(len(values))]
    return Parameters(names, [unit] * len(names), values, directions)


# Of a shape.


def held_by_length(shape: Shape, asked: Iterable[str], argument: str = "by") -> bool:
    """Whether cables are held by their lengths, not by their tensions: as asked, else as they are."""
    words = {word.split("[")[0] for word in asked}
    if {"lengths", "tensions"} <= words:
        raise InputError(argument, "cables are held by their tensions or by their lengths; ask for one of them")
    return "lengths" in words or ("tensions" not in words and len(shape._cables.rest) > 0)


def parameters_of(case: ShapeProblem, by: By, apart: bool = False) -> Parameters:
    """Of the problem of a shape. `apart`: a column for every joint and link that shares a field of its section."""
    problem, robot = case.problem, case.problem.robot
    words = {
        "lengths" if case.by_length else "tensions": lambda: _cables(case),
        "gravity": lambda: _gravity(case),
        "loads": lambda: _loads(case),
        "friction": lambda: _friction(case),
    }
    # What comes from the robot file is among its fields.
    everything = [next(iter(words))]
    everything += ["gravity"] * (not np.array_equal(problem.gravity, robot.gravity)) + ["loads"] * bool(problem.loads)
    everything += ["friction"] * (bool(problem.laws) and problem.laws != robot.friction_laws)
    return gathered(by, words, lambda paths: _fields(case, paths, apart), everything)


def _cables(case: ShapeProblem) -> Parameters:
    rows = Numbers.zeros(case.problem, len(case.tensions), case.by_length)
    if not case.by_length:
        rows.tensions[:] = np.eye(len(case.tensions))
        return listed("tensions", "N", case.tensions, rows.flat)
    rows.rest[:] = np.eye(len(case.rest))
    rows.rate[:] = np.diag(-case.rate / case.rest)  # rate = EA / rest
    return listed("lengths", "m", case.rest, rows.flat)


def _gravity(case: ShapeProblem) -> Parameters:
    rows = Numbers.zeros(case.problem, 3, case.by_length)
    rows.gravity[:] = np.eye(3)
    return listed("gravity", "m/s^2", case.problem.gravity, rows.flat)


def _loads(case: ShapeProblem) -> Parameters:
    """Force, moment, point and mass of each load."""
    problem = case.problem
    if not problem.loads:
        raise InputError("by", "there are no loads on the robot; give the solve `loads`, of zero force if need be")
    rows = Numbers.zeros(problem, 10 * len(problem.loads), case.by_length)
    names, units, values = list[str](), list[str](), list[float]()
    row = 0
    for number, load in enumerate(problem.loads):
        place = link_point(problem.robot, link_index(problem.robot, load.link), load.point)
        parts = (("force", load.force, "N"), ("moment", load.moment, "N*m"), ("point", place, "m"))
        for what, vector, unit in parts:
            for axis, value in enumerate(np.asarray(vector).tolist()):
                _move_load(problem, rows, row, number, what, np.eye(3)[axis])
                names.append(f"loads[{number}].{what}[{axis}]")
                units.append(unit)
                values.append(value)
                row += 1
        _move_load(problem, rows, row, number, "force", problem.gravity)  # what a mass at its point weighs
        names.append(f"loads[{number}].mass")
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


def _friction(case: ShapeProblem) -> Parameters:
    """Coefficients a, b and c of mu = a theta^2 + b theta + c and the presliding of each cable; of a law that is a
    curve, what is added to it."""
    problem, curve_rows = case.problem, _curve_rows(case)
    if not problem.laws:
        raise InputError("by", "the cables have no friction; give the solve a `friction`, of 1e-12 if need be")
    columns = (
        (LAW_SQUARE, "a", "1/rad^2"), (LAW_SLOPE, "b", "1/rad"), (LAW_LEVEL, "c", ""),
        (LAW_PRESLIDING, "presliding", "m"),
    )  # fmt: skip
    rows = Numbers.zeros(problem, len(columns) * len(problem.laws), case.by_length)
    names, units, values = [], [], []
    for k, law in enumerate(problem.laws):
        for row, (column, symbol, unit) in enumerate(columns, len(columns) * k):
            if law.curve is None or column == LAW_PRESLIDING:
                rows.laws[row, k, column] = 1.0
            else:
                _lift_curve(rows.curves[row, curve_rows[k]], column)
            names.append(f"friction[{k}].{symbol}")
            units.append(unit)
            values.append(law.presliding if column == LAW_PRESLIDING else law.coefficients[column])
    return Parameters(names, units, np.array(values), rows.flat)


def _lift_curve(curve: Floats, power: int) -> None:
    """Add theta^2, theta or 1 to a sampled law, for LAW_SQUARE, LAW_SLOPE and LAW_LEVEL."""
    theta = np.linspace(0.0, 0.5 * np.pi, len(curve))
    curve[:, 0] = (theta**2, theta, np.ones_like(theta))[power]
    curve[:, 1] = (2.0 * theta, np.ones_like(theta), np.zeros_like(theta))[power]


# Fields of the robot file.


def _fields(case: ShapeProblem, paths: list[str], apart: bool) -> Parameters:
    """Fields that paths name; all of them for an empty one."""
    problem, robot = case.problem, case.problem.robot
    tangents = table_tangents(robot, None if paths == [""] else paths, apart)
    rows = Numbers.zeros(problem, len(tangents.groups), case.by_length)
    for row in range(len(tangents.groups)):
        _change(case, rows, row, tangents.tables(row))
    return Parameters(
        [group.path for group in tangents.groups], [group.unit for group in tangents.groups],
        np.array([group.fields[0].value for group in tangents.groups]), rows.flat,
    )  # fmt: skip


def _change(case: ShapeProblem, rows: Numbers, row: int, change: RobotNumbers) -> None:
    """How a problem changes with a robot. What the call gave itself (gravity, friction, axial stiffness, the point of a
    load) does not follow the robot file."""
    problem, robot = case.problem, case.problem.robot
    rows.joints[row], rows.cables[row], rows.segments[row] = change.joints, change.cables, change.segments
    rows.origin[row], rows.tip_point[row] = change.origin, change.tip_point
    for column in ("reach", "mass", "center_of_mass"):
        rows.links[row][column] = change.links[column]
    _follow_links(problem, rows, row, robot, change)
    if np.array_equal(problem.gravity, robot.gravity):
        rows.gravity[row] = change.gravity
    if case.by_length:
        rigid = robot.cables["stiffness_EA"]
        follows = np.isfinite(rigid) & np.isclose(case.rate * case.rest, rigid, rtol=1e-12, atol=0.0)
        rows.rate[row] = np.where(follows, change.cables["stiffness_EA"] / case.rest, 0.0)
    if problem.laws and problem.laws == robot.friction_laws:
        rows.laws[row][:, : change.laws.shape[1]] = change.laws
        first, table = 0, 0
        for section in robot.description.sections:
            if section.cables is not None:
                if section.cables.friction is not None and section.cables.friction.table is not None:
                    rows.curves[row, _curve_rows(case)[first]] = change.curves[table]
                    table += 1
                first += len(section.cables.azimuth)


def _curve_rows(case: ShapeProblem) -> list[int]:
    """Of each cable, where its law is among the sampled ones; below zero for a law that is not."""
    friction = case.work.friction
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
