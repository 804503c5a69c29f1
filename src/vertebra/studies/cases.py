"""From a row of a study to a robot and what acts on it: what a row sets, and the arithmetic that sets it."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.errors import DescriptionError, InputError, VertebraError
from vertebra.mechanics.problem import Load, require_pull
from vertebra.robot.description import MOUNTS
from vertebra.robot.fields import Place, places, with_values
from vertebra.robot.reading import did_you_mean
from vertebra.robot.robot import Robot
from vertebra.robot.tables import BALL, Floats
from vertebra.robot.units import UnitError, parse_unit, to_si
from vertebra.statics.forward import shape_from_lengths, shape_from_tensions
from vertebra.statics.shape import Shape

Held = Literal["tensions", "lengths", "shortenings", "bends", "nothing"]
"""What holds the robot in its shape; nothing where a study asks only about the robot itself."""
PER_CABLE = {"tensions": "N", "lengths": "m", "shortenings": "m", "friction": ""}
PER_JOINT = {"bends": "rad", "azimuths": "rad"}
QUICK = ("tensions", "lengths", "shortenings", "bends", "azimuths", "sensors")
"""Rows that differ in these alone have the same robot, gravity, loads and friction."""
WORDS = (
    *PER_CABLE, *PER_JOINT, "gravity", "gravity.tilt", "gravity.azimuth", "loads[0].force[2]", "loads[0].mass",
    "sensors[0].x",
)  # fmt: skip
"""What messages suggest beside fields of the robot file."""
LOAD_UNITS = {"force": "N", "moment": "N*m", "point": "m", "mass": "kg"}


# What a study can set.


@dataclass(frozen=True)
class Target:
    """A field of the robot file, or a part of what acts on the robot."""

    text: str
    """As the study writes it."""
    unit: str | None
    """SI; None for what is no quantity."""
    whole: bool
    """Whether it is a count."""
    nominal: Any
    """What the robot file or the study says; None for nothing, or for several different values."""
    paths: tuple[str, ...] = ()
    """Single fields of the robot file; empty for what acts."""
    word: str = ""
    """What acts: tensions, gravity, loads, ..."""
    index: int | None = None
    """Which cable, joint, component, load or sensor; None for all."""
    part: str = ""
    """tilt or azimuth of gravity; force, moment, point or mass of a load."""
    component: int = 0
    """Of a force, moment, point or turn of a sensor."""

    @property
    def is_quick(self) -> bool:
        """Whether rows that differ in it alone are solved together."""
        return self.word in QUICK


_ACTING = re.compile(
    r"(?P<many>tensions|lengths|shortenings|friction|bends|azimuths)(\[(?P<each>\d{1,6})\])?"
    r"|gravity(\[(?P<axis>[0-2])\]|\.(?P<turn>tilt|azimuth))?"
    r"|loads\[(?P<load>\d{1,6})\]\.((?P<vector>force|moment|point)\[(?P<component>[0-2])\]|(?P<mass>mass))"
    r"|sensors\[(?P<sensor>\d{1,6})\]\.(?P<about>[xyz])"
)


def each(text: str, robot: Robot, acting: Acting) -> list[str]:
    """What a name with ``[*]`` stands for, each by itself; a name without one stands for itself."""
    start, star, rest = text.partition("[*]")
    if not star:
        return [text]
    counts = dict.fromkeys(PER_CABLE, range(len(robot.cables))) | dict.fromkeys(PER_JOINT, range(len(robot.joints)))
    counts |= {"gravity": range(3), "loads": range(len(acting.loads))}
    if start == "sensors" and _ACTING.fullmatch(f"sensors[0]{rest}"):
        counts["sensors"] = robot.sensor_links.tolist()
    if start.startswith("loads[") and _ACTING.fullmatch(f"{start}[0]{rest}"):
        counts[start] = range(3)
    if start in counts:
        return [name for number in counts[start] for name in each(f"{start}[{number}]{rest}", robot, acting)]
    return [place.path for place in places(robot, text)]


def target(text: str, robot: Robot, acting: Acting) -> Target:
    """What a name in a study stands for; `InputError` that suggests what may have been meant."""
    found = _ACTING.fullmatch(text)
    if found is not None:
        return _acting_target(text, found, robot, acting)
    if text.split("[")[0].split(".")[0] in (*PER_CABLE, *PER_JOINT, "loads") and text not in ("lengths",):
        raise InputError("vary", f"no such part{did_you_mean(text, WORDS)}; such as {', '.join(WORDS)}")
    return _field_target(text, places(robot, text, WORDS))


def _field_target(text: str, found: Sequence[Place]) -> Target:
    kinds = {re.sub(r"\[\d+\]", "", place.path) for place in found}
    if len(kinds) > 1:
        listed = ", ".join(place.path for place in found[:4]) + (", ..." if len(found) > 4 else "")
        raise InputError("vary", f"names different fields: {listed}; write the path of one")
    values = {repr(place.value): place.value for place in found}
    nominal = next(iter(values.values())) if len(values) == 1 else None
    whole = all(isinstance(place.value, int) and not isinstance(place.value, bool) for place in found)
    return Target(text, found[0].unit, whole, nominal, tuple(place.path for place in found))


def _acting_target(text: str, found: re.Match[str], robot: Robot, acting: Acting) -> Target:
    if found["many"]:
        word, index = found["many"], None if found["each"] is None else int(found["each"])
        unit, count = (PER_CABLE | PER_JOINT)[word], len(robot.cables if word in PER_CABLE else robot.joints)
        if index is not None and index >= count:
            what = "cables" if word in PER_CABLE else "joints"
            raise InputError("vary", f"{robot.name} has {count} {what}, counted from 0")
        value = acting.nominal(word)
        if isinstance(value, list):
            value = value[index] if index is not None and index < len(value) else None
        return Target(text, unit, False, value, word=word, index=index)
    if found["load"]:
        index, part = int(found["load"]), found["vector"] or "mass"
        if index >= len(acting.loads):
            raise InputError("vary", f"the study has {len(acting.loads)} loads, counted from 0; list it under `loads`")
        component = int(found["component"] or 0)
        load = acting.loads[index]
        given: Any = load.mass if part == "mass" else getattr(load, part)
        if given is None:
            raise InputError("vary", "the load has no point of its own; give it one under `loads`")
        value = given if part == "mass" else given[component]
        return Target(text, LOAD_UNITS[part], False, value, word="loads", index=index, part=part, component=component)
    if found["turn"]:
        return Target(text, "rad", False, None, word="gravity", part=found["turn"])
    if found["sensor"]:
        link, carried = int(found["sensor"]), robot.sensor_links.tolist()
        if link not in carried:
            raise InputError("vary", f"{robot.name} has no sensor on link {link}; links {_listed(carried)} carry one")
        about = "xyz".index(found["about"])
        return Target(text, "rad", False, 0.0, word="sensors", index=carried.index(link), component=about)
    own = robot.gravity.tolist() if acting.gravity is None else list(acting.gravity)
    if found["axis"]:
        axis = int(found["axis"])
        return Target(text, "m/s^2", False, own[axis], word="gravity", index=axis)
    return Target(text, None, False, None, word="gravity")


def _listed(links: list[int]) -> str:
    return ", ".join(map(str, links)) if len(links) < 8 else f"{links[0]} to {links[-1]}"


class Acting(NamedTuple):
    """What acts on every row, unless a row says otherwise; SI."""

    tensions: float | list[float] | None = None
    lengths: float | list[float] | None = None
    shortenings: float | list[float] | None = None
    friction: float | list[float] | None = None
    bends: float | list[float] | None = None
    azimuths: float | list[float] | None = None
    gravity: tuple[float, ...] | None = None
    """m/s^2; None for the robot's own."""
    loads: tuple[Load, ...] = ()
    stiffness_EA: float | list[float] | None = None  # noqa: N815 - the symbol of the field

    def nominal(self, word: str) -> float | list[float] | None:
        """What is given for each cable or joint."""
        value: float | list[float] | None = getattr(self, word)
        return value


# Arithmetic: numbers, numbers with a unit, names, and a few functions. No text is ever run as code.


def _by_real(choose: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def pick(first: Any, *others: Any) -> Any:
        for other in others:
            first = np.where(choose(np.real(first), np.real(other)), first, other)
        return first

    return pick


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "abs": lambda x: np.where(np.real(x) < 0.0, -x, x), "min": _by_real(operator.le), "max": _by_real(operator.ge),
    "round": lambda x: np.round(np.real(x)), "floor": lambda x: np.floor(np.real(x)),
    "ceil": lambda x: np.ceil(np.real(x)),
}  # fmt: skip
_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}  # fmt: skip
_WITH_UNIT = re.compile(r"(?<![\w.])((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(?![eE][+-]?\d)([A-Za-zµμ°]+)(?![\w(])")
LONGEST = 500
"""Characters of a formula, and of what is said about a row: there may be a million of them."""


class Expression:
    """A formula such as ``150 mm / links - 2 * gap``: SI, elementwise on arrays, and exact for complex numbers, so that
    it can be differentiated."""

    def __init__(self, text: str) -> None:
        self.text = text
        if len(text) > LONGEST:
            raise ValueError(f"is longer than {LONGEST} characters")
        plain = _WITH_UNIT.sub(_in_si, text.replace("^", "**"))
        try:
            self._tree = ast.parse(plain.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ValueError(f"is not a formula; write one such as '150 mm / links', not {text!r}") from None
        self.names = frozenset(_names(self._tree))

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """Its value, SI, from those of its names."""
        with np.errstate(all="ignore"):  # what is not finite is told of the row that it belongs to
            return _value(self._tree, values)


def _in_si(match: re.Match[str]) -> str:
    try:
        return repr(float(match[1]) * float(parse_unit(match[2]).factor))
    except UnitError as error:
        raise ValueError(f"{match[0]!r}: {error}; write a sign between a number and a name") from None


def _names(node: ast.expr, depth: int = 0) -> Iterator[str]:
    """Names of variables; `ValueError` for anything but arithmetic."""
    if depth > 50:
        raise ValueError("is nested too deeply")
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return
    if isinstance(node, ast.Name):
        if node.id != "pi":
            yield node.id
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        yield from _names(node.left, depth + 1)
        yield from _names(node.right, depth + 1)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        yield from _names(node.operand, depth + 1)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args and not node.keywords:
        if node.func.id not in FUNCTIONS:
            raise ValueError(f"has no function {node.func.id!r}{did_you_mean(node.func.id, FUNCTIONS)}")
        if (node.func.id in ("min", "max")) != (len(node.args) > 1):
            raise ValueError(f"{node.func.id} takes {'two or more' if node.func.id in ('min', 'max') else 'one'}")
        for argument in node.args:
            yield from _names(argument, depth + 1)
    else:
        raise ValueError(f"only numbers, names, + - * / ^ and {', '.join(FUNCTIONS)} are allowed")


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant):
        return float(node.value)  # type: ignore[arg-type]
    if isinstance(node, ast.Name):
        return math.pi if node.id == "pi" else values[node.id]
    if isinstance(node, ast.BinOp):
        return _OPERATORS[type(node.op)](np.asarray(_value(node.left, values)), _value(node.right, values))
    if isinstance(node, ast.UnaryOp):
        inside = _value(node.operand, values)
        return -inside if isinstance(node.op, ast.USub) else inside
    call: Any = node
    return FUNCTIONS[call.func.id](*(_value(argument, values) for argument in call.args))


# Rows.


@dataclass(frozen=True, eq=False)
class Case:
    """One row of a study: a robot and what acts on it, SI. What a user's function is called with."""

    robot: Robot
    values: dict[str, Any]
    """What varies, by name: numbers in SI, words, and of choices the fields that they set."""
    held: Held
    gravity: Floats | None
    """(3,) m/s^2; None for the robot's own."""
    loads: tuple[Load, ...]
    friction: float | list[float] | None
    """None for the robot's own."""
    tensions: Floats | None
    """(cables,) N, where they are given."""
    lengths: Floats | None
    """(cables,) m, without tension, where they or shortenings are given."""
    shortenings: Floats | None
    """(cables,) m."""
    bends: Floats | None
    """(n,) rad, of ball joints."""
    azimuths: Floats | None
    """(n,) rad."""
    sensors: Floats | None
    """(sensors, 3) rad about the world's axes, by which each orientation sensor is wrong; None for nothing."""
    stiffness_EA: float | list[float] | None  # noqa: N815
    """N; None for that of the robot file."""

    @property
    def forces(self) -> dict[str, Any]:
        """Gravity, loads and friction, as calls take them."""
        return {"gravity": self.gravity, "loads": self.loads, "friction": self.friction}

    def shape(self, check: bool = True, start: Floats | None = None) -> Shape:
        """The shape of this row, solved anew at each call; `check` and `start` as in `shape_from_tensions`."""
        if self.held == "tensions":
            given: Any = self.tensions
            return shape_from_tensions(self.robot, given, **self.forces, start=start, check=check)
        if self.held in ("lengths", "shortenings"):
            return shape_from_lengths(
                self.robot, self.lengths, shortenings=self.shortenings, stiffness_EA=self.stiffness_EA, start=start,
                check=check, **self.forces,
            )  # fmt: skip
        raise InputError("shape", "this row has neither tensions nor lengths, so it has no shape to solve for")


@dataclass(frozen=True, eq=False)
class Group:
    """Rows with the same robot, gravity, loads and friction, which are solved together."""

    rows: NDArray[np.int64]
    """(n,) numbers of the rows among those that were asked for."""
    robot: Robot
    forces: dict[str, Any]
    """Gravity, loads and friction, as calls take them."""
    held: Held
    given: dict[str, Floats]
    """tensions, lengths, shortenings: (n, cables); bends, azimuths: (n, joints); sensors: (n, sensors, 3)."""
    stiffness_EA: float | list[float] | None  # noqa: N815
    names: tuple[str, ...]
    values: Floats
    """(n, variables)"""
    meanings: tuple[tuple[Any, ...], ...]
    """Of each variable, what its labels stand for."""

    def take(self, which: Any) -> Group:
        """Some of its rows, by their places or a mask."""
        given = {word: array[which] for word, array in self.given.items()}
        return replace(self, rows=self.rows[which], given=given, values=self.values[which])

    def case(self, row: int) -> Case:
        """One of its rows."""
        values = {
            name: meant[int(value)] if meant else value
            for name, value, meant in zip(self.names, self.values[row].tolist(), self.meanings, strict=True)
        }
        given: dict[str, Any] = {word: self.given[word][row] if word in self.given else None for word in QUICK}
        return Case(self.robot, values, self.held, **self.forces, **given, stiffness_EA=self.stiffness_EA)


@dataclass(frozen=True, eq=False)
class Failure:
    """Rows whose robot, gravity, loads or friction cannot be."""

    rows: NDArray[np.int64]
    message: str


@dataclass(frozen=True, eq=False)
class Plan:
    """How rows become cases."""

    robot: Robot
    acting: Acting
    held: Held
    names: tuple[str, ...]
    """Of the variables, the columns of `values`."""
    meanings: tuple[tuple[Any, ...], ...]
    """Of each variable, what its labels stand for; empty for numbers."""
    direct: tuple[tuple[Target, int], ...]
    """Targets that a variable sets by itself, and its column."""
    formulas: tuple[tuple[Target, Expression | Any], ...]
    """Targets that `set` sets, by a formula or a constant."""
    choices: tuple[tuple[int, Mapping[str, tuple[Target, Any]]], ...]
    """Columns of choices; of each field of any alternative, its target and one value per alternative, None where the
    alternative leaves it as it is."""
    by_choice: Mapping[str, tuple[int, Floats]] = field(default_factory=dict)
    """Names that choices give a number, for formulas: the column of the choice, and one number per alternative."""

    @cached_property
    def slow(self) -> NDArray[np.int64]:
        """Columns of variables that change more than tensions, lengths or bends."""
        columns = {column for target, column in self.direct if not target.is_quick} | {at for at, _ in self.choices}
        for goal, formula in self.formulas:
            if not goal.is_quick and isinstance(formula, Expression):
                columns |= {self._column(name) for name in formula.names}
        return np.array(sorted(columns), np.int64)

    def assigned(self, row: Any) -> dict[str, Any]:
        """Everything that a row (variables,) sets, by name: SI, or words. Complex numbers stay complex."""
        return {goal.text: value for goal, value in self._assigned(np.asarray(row)[None, :], quick=None)}

    def _assigned(self, values: Any, quick: bool | None) -> Iterator[tuple[Target, Any]]:
        """Targets and their values: of the first row for slow ones, (n,) of all rows for quick ones alone."""
        one = values[0]
        for column, fields in self.choices:
            if quick is not True:
                for goal, alternatives in fields.values():
                    if alternatives[int(one[column].real)] is not None:
                        yield goal, alternatives[int(one[column].real)]
        for goal, at in self.direct:
            if quick is None or goal.is_quick == quick:
                meant = self.meanings[at]
                yield goal, meant[int(one[at].real)] if meant else values[:, at] if quick else one[at]
        for goal, formula in self.formulas:
            if quick is None or goal.is_quick == quick:
                if isinstance(formula, Expression):
                    known = {name: self._number(name, values) for name in formula.names}
                    found = np.broadcast_to(formula(known), len(values))
                    yield goal, found if quick else found[0]
                else:
                    yield goal, formula

    def _column(self, name: str) -> int:
        """Of the variable that decides what a name in a formula stands for."""
        return self.by_choice[name][0] if name in self.by_choice else self.names.index(name)

    def _number(self, name: str, values: Any) -> Any:
        """(n,) what a name in a formula stands for."""
        if name not in self.by_choice:
            return values[:, self._column(name)]
        numbers = self.by_choice[name][1]
        return numbers[values[:, self._column(name)].real.astype(np.int64)]

    def groups(self, values: Floats) -> Iterator[Group | Failure]:
        """Rows (n, variables), those that can be solved together at a time."""
        for rows in self._alike(values[:, self.slow]):
            try:
                group = self._group(rows, values[rows])
            except Exception as error:  # a robot that cannot be is told of its rows, whatever is wrong with it
                yield Failure(rows, row_message(error))
                continue
            wrong = np.zeros(len(rows), np.bool_)
            for word, array in group.given.items():
                wrong |= _wrong_rows(word, array)
            if not wrong.any():
                yield group
                continue
            for row in np.flatnonzero(wrong).tolist():
                yield Failure(rows[[row]], _what_is_wrong(group.given, row))
            if not wrong.all():
                yield group.take(~wrong)

    def _alike(self, slow: Floats) -> Iterator[NDArray[np.int64]]:
        count = len(slow)
        if slow.shape[1] == 0 or count <= 1:
            if count:
                yield np.arange(count)
            return
        changes = np.flatnonzero((slow[1:] != slow[:-1]).any(axis=1)) + 1
        order = np.arange(count)
        if len(changes) > count // 8:  # rows alike are not next to each other, or there are none
            order = np.lexsort(slow.T[::-1])
            changes = np.flatnonzero((slow[order[1:]] != slow[order[:-1]]).any(axis=1)) + 1
        yield from np.split(order, changes)

    def _group(self, rows: NDArray[np.int64], values: Floats) -> Group:
        fields, slow = dict[str, Any](), list[tuple[Target, Any]]()
        for goal, value in self._assigned(values[:1], quick=False):
            if goal.paths:
                fields |= dict.fromkeys(goal.paths, _for_file(goal, value))
            else:
                slow.append((goal, value))
        robot = with_values(self.robot, fields) if fields else self.robot
        acting = self._with(robot, slow)
        given = dict[str, Floats]()
        words = {"bends": ("bends", "azimuths", "tensions"), "nothing": ()}.get(self.held, (self.held,))
        for word in words:
            base, width = acting.nominal(word), len(robot.cables if word in PER_CABLE else robot.joints)
            if isinstance(base, list) and len(base) != width:
                raise InputError(word, f"are {len(base)} in the study, and the robot of this row needs {width}")
            if base is not None or self.held != "bends" or word != "tensions":
                given[word] = np.empty((len(rows), width))
                given[word][:] = 0.0 if base is None else base
        for goal, value in self._assigned(values, quick=True):
            if goal.word == "sensors":
                place = given.setdefault("sensors", np.zeros((len(rows), len(robot.sensor_links), 3)))
                place[:, goal.index, goal.component] = value
                continue
            place = given.setdefault(goal.word, np.zeros((len(rows), len(robot.cables))))
            if goal.index is not None and goal.index >= place.shape[1]:
                raise InputError(goal.text, f"the robot of this row has only {place.shape[1]}")
            place.T[slice(None) if goal.index is None else goal.index] = value
        forces = {"gravity": acting.gravity, "loads": acting.loads, "friction": acting.friction}
        return Group(
            rows, robot, forces, self.held, given, acting.stiffness_EA, self.names, values, self.meanings
        )  # fmt: skip

    def _with(self, robot: Robot, changes: Sequence[tuple[Target, Any]]) -> Acting:
        """What acts on rows that change this."""
        acting = self.acting
        gravity = None if acting.gravity is None else list(acting.gravity)
        loads: list[dict[str, Any]] = [dict(vars(load)) for load in acting.loads]
        own: dict[str, Any] = {}
        turned = dict[str, float]()
        for goal, value in changes:
            if goal.word == "gravity" and goal.part:
                turned[goal.part] = float(value)
            elif goal.word == "gravity" and goal.index is None:
                given = MOUNTS[value] if isinstance(value, str) else value
                gravity = [to_si(part, "m/s^2", "9.8 m/s^2") for part in given]
            elif goal.word == "gravity":
                gravity = robot.gravity.tolist() if gravity is None else gravity
                gravity[goal.index] = float(value)  # type: ignore[index]
            elif goal.word == "loads":
                load = loads[goal.index or 0]
                if goal.part == "mass":
                    load["mass"] = float(value)
                else:
                    vector = list(load[goal.part])
                    vector[goal.component] = float(value)
                    load[goal.part] = vector
            else:
                base = own.get(goal.word, acting.nominal(goal.word))
                if goal.index is None:
                    own[goal.word] = float(value)
                else:
                    count = len(robot.cables if goal.word in PER_CABLE else robot.joints)
                    listed = list(base) if isinstance(base, list) else [0.0 if base is None else base] * count
                    listed[goal.index] = float(value)
                    own[goal.word] = listed
        if turned:
            size = float(np.linalg.norm(robot.gravity if gravity is None else gravity))
            tilt, azimuth = turned.get("tilt", 0.0), turned.get("azimuth", 0.0)
            side = size * math.sin(tilt)
            gravity = [side * math.cos(azimuth), side * math.sin(azimuth), -size * math.cos(tilt)]
        return acting._replace(
            **own, gravity=None if gravity is None else tuple(gravity), loads=tuple(Load(**load) for load in loads)
        )

    @cached_property
    def nominal(self) -> Group:
        """The robot of the file under what the study says where nothing varies."""
        alone = replace(self, names=(), meanings=(), direct=(), formulas=(), choices=())
        return alone._group(np.zeros(1, np.int64), np.empty((1, 0)))

    def case(self, row: Any) -> Case:
        """One row (variables,); raises what is wrong with it."""
        group = self._group(np.zeros(1, np.int64), np.asarray(row, np.float64)[None, :])
        _require_numbers(group.given, 0)
        return group.case(0)


def _wrong_rows(word: str, array: Floats) -> NDArray[np.bool_]:
    """(n,) rows with numbers that no robot can take."""
    fine = np.isfinite(array) & (array >= (0.0 if word == "tensions" else -np.inf))
    if fine.all():
        return np.zeros(len(array), np.bool_)
    wrong: NDArray[np.bool_] = np.logical_or.reduce((~fine).reshape(len(array), -1), axis=1)
    return wrong


def _require_numbers(given: Mapping[str, Floats], row: int) -> None:
    for word, array in given.items():
        if not np.isfinite(array[row]).all():
            raise InputError(word, "a formula of `set` gives no finite number")
        if word == "tensions":
            require_pull(word, array[row])


def _what_is_wrong(given: Mapping[str, Floats], row: int) -> str:
    try:
        _require_numbers(given, row)
    except InputError as error:
        return row_message(error)
    raise AssertionError("a row that is wrong must say why")


def _for_file(goal: Target, value: Any) -> Any:
    """A value as the robot file takes it."""
    if goal.unit is None and not goal.whole:
        return value
    number = float(np.real(value))
    if not math.isfinite(number):
        raise InputError(goal.text, "a formula of `set` gives no finite number")
    if not goal.whole:
        return number
    if number != round(number):
        raise InputError(goal.text, f"must be a whole number, and `set` gives {number:g}; use round(...)")
    return int(number)


def row_message(error: BaseException) -> str:
    """One line that says what went wrong in a row."""
    said = "; ".join(map(str, error.problems)) if isinstance(error, DescriptionError) else str(error)
    text = " ".join(said.split())
    text = text if isinstance(error, VertebraError) else f"{type(error).__name__}: {text}"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."


def how_held(robot: Robot, words: frozenset[str]) -> Held:
    """What holds the robot, from all words that a study gives or varies; `InputError` for two at once."""
    if (robot.joints["kind"] == BALL).all():
        found = sorted(words & {"lengths", "shortenings"})
        if found:
            raise InputError(found[0], f"{robot.name} has ball joints, which are locked in shapes: give `bends`")
        return "bends"
    given: list[Held] = [word for word in ("tensions", "lengths", "shortenings") if word in words]
    if len(given) > 1:
        raise InputError(given[1], f"give {given[0]} or {given[1]}, not both")
    for word in ("bends", "azimuths"):
        if word in words:
            raise InputError(word, f"are of ball joints, and {robot.name} has others: give `tensions` or `lengths`")
    return given[0] if given else "nothing"


def constant(goal: Target, value: Any) -> Expression | Any:
    """What `set` gives a target: a number in SI, a word, or a formula; `ValueError` for anything else."""
    if goal.unit is None and not goal.whole:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("must be a number, a text with a unit, or a formula")
    try:
        return to_si(value, goal.unit or "", "12 mm")
    except UnitError:
        if not isinstance(value, str):
            raise ValueError("must be finite") from None
        return Expression(value)
