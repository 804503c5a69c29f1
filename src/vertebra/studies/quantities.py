"""What a study asks of every row, and the rows answered: compiled batches where there are some, a status and a message
where a row has no answer."""

from __future__ import annotations

import ast
import importlib
import inspect
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from vertebra.dynamics.linearise import LinearModel, linearise
from vertebra.errors import InputError, shown
from vertebra.locked.ball_shape import BallShape
from vertebra.locked.payload import payload
from vertebra.mechanics.kinematics import Pose
from vertebra.mechanics.problem import Load
from vertebra.robot.arguments import axial_stiffness, positive_count, vector, whole
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing.estimator import shape_from_orientations
from vertebra.sensing.sensed_shape import SensedShape
from vertebra.statics.branches import critical_tension
from vertebra.statics.forward import Shapes, shapes_from_tensions
from vertebra.statics.shape import Shape, Status, principal_stiffnesses
from vertebra.studies.cases import Case, Failure, Group, Plan, row_message

ROW_STATUS = ("solved", "no equilibrium", "out of range", "unstable", "error")
"""Of a row, in the order of its codes: how its shape was found, or that something raised an error."""
ERROR = 4
AXES = ("x", "y", "z")
REFERENCES = ("nominal", "nominal robot", "weightless")
MOST_FACTOR = 1e6
"""Of the loads, beyond which nothing is looked for."""
FACTOR_DIGITS = 1e-9
"""Part of a load margin to which it is found."""
MOST_TURN = 0.05
"""Of a joint, rad, on the way from one load to the next."""


class Column(NamedTuple):
    """One number of every row."""

    name: str
    """``tip.x``, ``mass``."""
    unit: str
    """SI; empty for none."""
    quantity: str
    """``tip``."""
    label: str
    """``x``; empty where the quantity is one number."""


class Outcome(NamedTuple):
    """Rows answered."""

    results: Floats
    """(n, columns) SI; NaN where a row has no answer."""
    status: NDArray[np.int8]
    """(n,) codes of ROW_STATUS."""
    messages: dict[int, str]
    """Of rows that raised an error, by number."""

    @classmethod
    def empty(cls, rows: int, columns: int) -> Outcome:
        """Without any answer yet."""
        return cls(np.full((rows, columns), np.nan), np.zeros(rows, np.int8), {})


def message_of(status: int, messages: Mapping[int, str], row: int) -> str:
    """Why a row has no answer, in a sentence; empty where it has one."""
    if status == 0:
        return ""
    return messages[row] if status == ERROR else Status(status).sentence


# What is known about a group of rows once it is solved.

T = TypeVar("T")


class _once(Generic[T]):  # noqa: N801 - used as `property` is
    """Computed when it is first asked for. In Python 3.11 `functools.cached_property` has one lock for all objects of a
    class, so that one thread at a time would solve shapes."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute, self.name = compute, compute.__name__

    def __get__(self, owner: Any, kind: type | None = None) -> T:
        value = owner.__dict__[self.name] = self.compute(owner)
        return value


class _Solved:
    """The shapes of a group of rows."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.count = len(group.rows)

    @_once
    def shapes(self) -> Shapes | None:
        """All at once, where tensions hold the robot."""
        group = self.group
        if group.held != "tensions":
            return None
        return shapes_from_tensions(group.robot, group.given["tensions"], **group.forces, threads=1)

    @_once
    def by_length(self) -> list[Shape]:
        """One by one, where lengths do."""
        return [self.group.case(row).shape(check=False) for row in range(self.count)]

    @_once
    def status(self) -> NDArray[np.int8]:
        """(n,) codes of `Status`."""
        if self.group.held in ("bends", "nothing"):
            return np.zeros(self.count, np.int8)
        if self.shapes is not None:
            return self.shapes.status.astype(np.int8)
        return np.array([shape.status for shape in self.by_length], np.int8)

    def shape(self, row: int) -> Shape:
        """Of one row, in full."""
        return self.by_length[row] if self.shapes is None else self.shapes.shape(row)

    @_once
    def tip(self) -> Floats:
        """(n, 3) m."""
        if self.shapes is not None:
            return self.shapes.tip
        if self.group.held == "bends":
            return np.array([self.pose(row).tip for row in range(self.count)])
        return np.array([shape.tip for shape in self.by_length])

    @_once
    def compliance(self) -> Floats:
        """(n, 3, 3) of the tip against forces, its symmetric part, m/N."""
        if self.shapes is not None:
            linear = self.shapes.compliance[:, :3, :3]
        else:
            linear = np.array([shape.compliance[:3, :3] for shape in self.by_length])
        return 0.5 * (linear + linear.transpose(0, 2, 1))

    def pose(self, row: int) -> Pose:
        """Of one row."""
        case = self.group.case(row)
        if case.held != "bends":
            return Pose(case.robot, self.shape(row).angles)
        return Pose(case.robot, BallShape.of(case.robot, case.bends, case.azimuths).coordinates)  # type: ignore[arg-type]

    def sensed(self, row: int) -> SensedShape:
        """What orientation sensors on the robot say, each wrong by as much as the row says."""
        robot, errors = self.group.robot, self.group.given.get("sensors")
        rotations = self.pose(row).frames[robot.sensor_links, :3, :3]
        if errors is not None:
            rotations = Rotation.from_rotvec(errors[row]).as_matrix() @ rotations
        return shape_from_orientations(robot, rotations)


Answer = Callable[["_Solved", Mapping[str, Any], NDArray[np.int64]], Floats | Iterator[Any]]
"""Of the rows of a group that have a shape, an array (rows, columns); or one after the other, each as it is asked."""


@dataclass(frozen=True)
class Quantity:
    """What a study may ask for."""

    name: str
    unit: str
    """SI."""
    what: str
    """A sentence for the docs."""
    answer: Answer
    labels: Callable[[Robot, Mapping[str, Any]], Sequence[str]] = lambda robot, settings: ("",)
    """Of its columns."""
    needs: tuple[str, ...] = ("tensions", "lengths", "shortenings")
    """What must hold the robot."""
    settings: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    """What may stand behind it, and how each is checked."""


# The answers.


def _tip(solved: _Solved, settings: Mapping[str, Any], rows: NDArray[np.int64]) -> Floats:
    return solved.tip[rows]


def _angles(solved: _Solved, settings: Mapping[str, Any], rows: NDArray[np.int64]) -> Floats:
    if solved.shapes is not None:
        return solved.shapes.angles[rows]
    return np.array([solved.by_length[row].angles for row in rows])


def _stiffness(solved: _Solved, settings: Mapping[str, Any], rows: NDArray[np.int64]) -> Floats:
    return principal_stiffnesses(np.linalg.eigvalsh(solved.compliance[rows])[:, ::-1])


def _compliance(solved: _Solved, settings: Mapping[str, Any], rows: NDArray[np.int64]) -> Floats:
    return solved.compliance[rows].reshape(len(rows), 9)


def _energy(solved: _Solved, settings: Mapping[str, Any], rows: NDArray[np.int64]) -> Floats:
    if solved.shapes is not None:
        return solved.shapes.energy[rows, None]
    return np.array([[solved.by_length[row].energy] for row in rows])


def _cable_lengths(solved: _Solved, settings: Mapping[str, Any], rows: NDArray[np.int64]) -> Floats:
    if solved.shapes is not None:
        return solved.shapes.lengths[rows]
    return np.array([solved.by_length[row].lengths for row in rows])


def _largest_tension(solved: _Solved, settings: Mapping[str, Any], rows: NDArray[np.int64]) -> Floats | Iterator[Any]:
    if solved.shapes is not None and not solved.shapes.friction:
        most: Floats = solved.shapes.tensions[rows].max(axis=1, initial=0.0)[:, None]
        return most
    return (_most_tension(solved.shape(row)) for row in rows)


def _most_tension(shape: Shape) -> float:
    return float(max(shape.tensions.max(initial=0.0), shape.tensions_at_base.max(initial=0.0)))


def _margin(solved: _Solved, settings: Mapping[str, Any], rows: NDArray[np.int64]) -> Iterator[Any]:
    return (solved.shape(row).tension_margin() for row in rows)


def _load_margin(solved: _Solved, settings: Mapping[str, Any], rows: NDArray[np.int64]) -> Iterator[Any]:
    return (load_margin(solved.group.case(row), solved.shape(row)) for row in rows)


def load_margin(case: Case, shape: Shape) -> float:
    """The factor on all loads of a case, 1 or more, at which its shape is lost: no equilibrium any more, a joint at its
    limit, or buckling. Infinite where a million times the loads are carried."""
    if not any(np.any(load.force) or np.any(load.moment) or load.mass for load in case.loads):
        raise InputError("loads", "a load margin needs loads that are not zero")

    def carried(factor: float, start: Floats) -> Floats | None:
        loads = tuple(
            Load(factor * np.array(load.force), factor * np.array(load.moment), load.link, load.point,
                 factor * load.mass)
            for load in case.loads
        )  # fmt: skip
        found = replace(case, loads=loads).shape(check=False, start=start)
        return found.angles if found.status == Status.SOLVED else None

    factor, angles, step = 1.0, shape.angles, 1.0
    while step > FACTOR_DIGITS * factor:
        found = carried(factor + step, angles)
        # A large turn is a jump to another shape, or a fold that a shorter step will see.
        if found is None or np.abs(found - angles).max() > MOST_TURN:
            step *= 0.5
            continue
        factor, angles, step = factor + step, found, 2.0 * step
        if factor >= MOST_FACTOR:
            return math.inf
    return factor


def _frequencies(solved: _Solved, settings: Mapping[str, Any], rows: NDArray[np.int64]) -> Iterator[Any]:
    for row in rows:
        yield linear_model(solved.group.case(row), solved.shape(row), settings).frequencies[: settings.get("count", 3)]


def linear_model(case: Case, shape: Shape, settings: Mapping[str, Any]) -> LinearModel:
    """The motion near the shape of a row: with its cables elastic where their lengths are given, else under constant
    tensions."""
    robot = shape.robot.fill_inertia() if settings.get("fill inertia", False) else shape.robot
    elastic = None if case.held == "tensions" else axial_stiffness(robot, case.stiffness_EA)
    return linearise(
        robot, shape.angles, shape.tensions_at_base, shape.gravity, shape.loads, friction=shape.friction or 0.0,
        stiffness_EA=elastic,
    )  # fmt: skip


def _critical_tension(solved: _Solved, settings: Mapping[str, Any], rows: NDArray[np.int64]) -> Floats:
    forces = solved.group.forces
    value = critical_tension(solved.group.robot, gravity=forces["gravity"], loads=forces["loads"])
    return np.full((len(rows), 1), value)


def _payload(solved: _Solved, settings: Mapping[str, Any], rows: NDArray[np.int64]) -> Iterator[Any]:
    for row in rows:
        case = solved.group.case(row)
        if case.tensions is None:
            raise InputError("tensions", "a payload needs the tensions of the cables")
        yield payload(
            case.robot, case.bends, case.azimuths, case.tensions, settings.get("direction", (0.0, 0.0, -1.0)),  # type: ignore[arg-type]
            settings.get("link", -1), settings.get("point"), **case.forces,
        ).force  # fmt: skip


def _mass(solved: _Solved, settings: Mapping[str, Any], rows: NDArray[np.int64]) -> Floats:
    return np.full((len(rows), 1), solved.group.robot.mass)


def _reach(solved: _Solved, settings: Mapping[str, Any], rows: NDArray[np.int64]) -> Floats:
    return np.full((len(rows), 1), solved.group.robot.length)


def _tip_error(solved: _Solved, settings: Mapping[str, Any], rows: NDArray[np.int64]) -> Floats | Iterator[Any]:
    reference = settings.get("reference", "nominal")
    if not isinstance(reference, str):
        return _distances(solved.tip[rows] - reference)
    group, plan = solved.group, settings["plan"]
    if reference == "nominal":
        there = _Solved(plan.nominal)
        if there.status[0] != 0:
            raise _no_reference(reference, there.status[0])
        return _distances(solved.tip[rows] - there.tip[0])
    changes: dict[str, Any] = {"forces": group.forces | {"gravity": np.zeros(3)}}
    if reference == "nominal robot":
        changes = {"robot": plan.robot, "forces": plan.nominal.forces}
    there = _Solved(replace(group, **changes))
    if (there.status[rows] != 0).any():
        return (_distance(solved, there, row, reference) for row in rows)
    return _distances(solved.tip[rows] - there.tip[rows])


def _distances(off: Floats) -> Floats:
    """(n, 1) m"""
    sizes: Floats = np.linalg.norm(off, axis=1, keepdims=True)
    return sizes


def _distance(solved: _Solved, there: _Solved, row: int, reference: str) -> float:
    if there.status[row] != 0:
        raise _no_reference(reference, there.status[row])
    return float(_distances(solved.tip[row : row + 1] - there.tip[row])[0, 0])


def _no_reference(reference: str, status: int) -> InputError:
    return InputError("tip error", f"the reference ({reference}) has no shape: {Status(status).sentence}")


def _sensed_tip(solved: _Solved, settings: Mapping[str, Any], rows: NDArray[np.int64]) -> Iterator[Any]:
    return (solved.sensed(row).tip for row in rows)


def _sensed_error(solved: _Solved, settings: Mapping[str, Any], rows: NDArray[np.int64]) -> Iterator[Any]:
    return (np.linalg.norm(solved.sensed(row).tip - solved.tip[row]) for row in rows)


def _function(solved: _Solved, settings: Mapping[str, Any], rows: NDArray[np.int64]) -> Iterator[Any]:
    call = settings["call"]
    for row in rows:
        yield call(solved.group.case(row))


# What a person writes behind a quantity.


def _reference(value: Any) -> Any:
    if isinstance(value, str):
        if value not in REFERENCES:
            raise InputError("reference", f"must be {', '.join(REFERENCES)} or a position in m, not {shown(value)}")
        return value
    return vector("reference", value, "m")


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise InputError("fill inertia", f"must be true or false, not {shown(value)}")
    return value


def _link(value: Any) -> int:
    link = whole(value)
    if link is None:
        raise InputError("link", f"must be a whole number, -1 for the last link, not {shown(value)}")
    return link


def _direction(value: Any) -> Floats:
    found = vector("direction", value, "any unit")
    if not found.any():
        raise InputError("direction", "must not be all zero")
    return found


def _word(value: Any) -> str:
    if not isinstance(value, str) or not value or len(value) > 100:
        raise InputError("name", f"must be a word, not {shown(value)}")
    return value


def _labels(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or len({_word(one) for one in value}) < len(value):
        raise InputError("labels", f"must be a list of different words, one per number, not {shown(value)}")
    return tuple(value)


ANY = ("tensions", "lengths", "shortenings", "bends", "nothing")
PLACED = ("tensions", "lengths", "shortenings", "bends")

QUANTITIES = {
    quantity.name: quantity
    for quantity in (
        Quantity("tip", "m", "Position of the tip.", _tip, lambda robot, settings: AXES, PLACED),
        Quantity(
            "angles", "rad", "Of every joint.", _angles,
            lambda robot, settings: robot.freedom_names,
        ),
        Quantity(
            "cable lengths", "m", "From the base plane to the end.", _cable_lengths,
            lambda robot, settings: [str(k + 1) for k in range(len(robot.cables))],
        ),
        Quantity("energy", "J", "Potential of cables, elastic joints, weights and forces.", _energy),
        Quantity(
            "stiffness", "N/m", "Of the tip against forces, along its principal axes.", _stiffness,
            lambda robot, settings: ("softest", "middle", "stiffest"),
        ),
        Quantity(
            "compliance", "m/N", "Motion of the tip per force on it.", _compliance,
            lambda robot, settings: [a + b for a in AXES for b in AXES],
        ),
        Quantity("largest tension", "N", "Along any cable.", _largest_tension),
        Quantity(
            "tension margin", "", "Factors on all tensions between which the shape stays stable.", _margin,
            lambda robot, settings: ("lower", "upper"),
        ),
        Quantity("load margin", "", "Factor on all loads at which the shape is lost.", _load_margin),
        Quantity(
            "natural frequencies", "Hz", "Of small motions about the shape, lowest first.", _frequencies,
            lambda robot, settings: [str(k + 1) for k in range(settings.get("count", 3))],
            settings={"count": lambda value: positive_count("count", value, 10_000), "fill inertia": _flag},
        ),
        Quantity(
            "critical tension", "N", "Common tension below which the straight robot buckles.", _critical_tension,
            needs=ANY,
        ),
        Quantity(
            "payload", "N", "Load at which the first link of a locked robot slips.", _payload, needs=("bends",),
            settings={"direction": _direction, "link": _link, "point": lambda value: vector("point", value, "m")},
        ),
        Quantity("mass", "kg", "Of the robot.", _mass, needs=ANY),
        Quantity("reach", "m", "From the base to the tip of the straight robot.", _reach, needs=ANY),
        Quantity(
            "tip error", "m", "Distance of the tip from a reference: where it is when nothing varies (nominal), where "
            "the robot of the file has it under the tensions of the row (nominal robot), where the same robot has it "
            "without weight (weightless), or a position.", _tip_error, needs=PLACED, settings={"reference": _reference},
        ),
        Quantity(
            "sensed tip", "m", "Position of the tip that the orientation sensors on the robot tell.", _sensed_tip,
            lambda robot, settings: AXES, PLACED,
        ),
        Quantity(
            "sensed error", "m", "Distance from the tip that the orientation sensors tell to where it is.",
            _sensed_error, needs=PLACED,
        ),
        Quantity(
            "function", "", "What a function of yours returns for a row.", _function,
            lambda robot, settings: settings.get("labels", ("",)), ANY,
            settings={"call": lambda value: value, "unit": _word, "labels": _labels},
        ),
    )
}  # fmt: skip
"""By name."""


@dataclass(frozen=True, eq=False)
class Asked:
    """A quantity that a study asks for."""

    quantity: Quantity
    settings: Mapping[str, Any]
    columns: tuple[Column, ...]


def user_function(text: str, folder: Path | None) -> Callable[[Case], float]:
    """The function that ``module:function`` names, in a file beside the study or installed; `InputError` if there is
    none of one argument."""
    module_name, colon, name = text.partition(":")
    if not colon or not all(part.isidentifier() for part in (*module_name.split("."), name)):
        raise InputError("function", f"must be module:function, such as my_arm:wobble, not {shown(text)}")
    path = [str(folder)] if folder is not None else []
    sys.path[:0] = path
    try:
        found: Any = getattr(_module(module_name, folder), name)
    except ImportError as error:
        where = f" beside the study in {folder}" if folder is not None else ""
        raise InputError("function", f"{text}: {error}; is the file {module_name}.py{where}?") from None
    except AttributeError:
        raise InputError("function", f"{text}: {module_name} has no {name}") from None
    except (Exception, SystemExit) as error:  # the user's own file may raise anything
        raise InputError("function", f"{text}: {module_name} fails with {row_message(error)}") from None
    finally:
        for entry in path:
            sys.path.remove(entry)
    try:
        takes = callable(found) and inspect.signature(found).bind(None) is not None
    except (TypeError, ValueError):
        takes = False
    if not takes:
        raise InputError("function", f"{text} must be a function of one argument, the case, and is {shown(found)}")
    function: Callable[[Case], float] = found
    return function


def _module(name: str, folder: Path | None) -> Any:
    """A file beside the study as it is now, since it may have changed; else what is installed."""
    file = None if folder is None else folder / f"{name}.py"
    if file is None or not file.is_file():
        return importlib.import_module(name)
    for other in own_files(file):
        known = sys.modules.get(other.stem)
        if known is not None and getattr(known, "__file__", None) == str(other):
            del sys.modules[other.stem]
    module = ModuleType(name)
    module.__file__ = str(file)
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        exec(compile(file.read_bytes(), str(file), "exec"), vars(module))
    finally:
        if before is not None:  # of another study, or of the caller's
            sys.modules[name] = before
    return module


def own_files(file: Path) -> dict[Path, bytes]:
    """A file of Python and all files in its folder that it imports, these of the others too."""
    found, waiting = dict[Path, bytes](), [file]
    while waiting:
        path = waiting.pop()
        if path in found or not path.is_file():
            continue
        found[path] = path.read_bytes()
        for node in ast.walk(ast.parse(found[path])):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            waiting += [file.parent / f"{name}.py" for name in names if name]
    return found


# Rows.


def evaluate(plan: Plan, asked: Sequence[Asked], values: Floats) -> Outcome:
    """The answers to all rows (n, variables): each the same whatever rows it is asked with."""
    outcome = Outcome.empty(len(values), sum(len(one.columns) for one in asked))
    for group in plan.groups(values):
        if isinstance(group, Failure):
            _fail(outcome, group.rows, group.message)
        else:
            _answer(group, asked, outcome)
    return outcome


def _fail(outcome: Outcome, rows: NDArray[np.int64], message: str) -> None:
    outcome.status[rows] = ERROR
    outcome.messages.update((int(row), message) for row in rows if int(row) not in outcome.messages)


def _answer(group: Group, asked: Sequence[Asked], outcome: Outcome) -> None:
    solved, column = _Solved(group), 0
    needed = any("nothing" not in one.quantity.needs for one in asked)
    try:
        if needed:
            outcome.status[group.rows] = solved.status
    except Exception as error:
        if solved.count == 1:
            _fail(outcome, group.rows, row_message(error))
            return
        middle = solved.count // 2  # one row must not spoil the others
        _answer(group.take(slice(None, middle)), asked, outcome)
        _answer(group.take(slice(middle, None)), asked, outcome)
        return
    for one in asked:
        width = len(one.columns)
        rows = np.arange(solved.count) if "nothing" in one.quantity.needs else np.flatnonzero(solved.status == 0)
        place = outcome.results[:, column : column + width]
        try:
            found = one.quantity.answer(solved, one.settings, rows)
            if isinstance(found, np.ndarray):
                _require_width(one, found.shape[1])
                place[group.rows[rows]] = found
            else:
                _one_by_one(solved, one, rows, place, outcome)
        except Exception as error:
            _fail(outcome, group.rows[rows], row_message(error))
        column += width


def _one_by_one(solved: _Solved, one: Asked, rows: NDArray[np.int64], place: Floats, outcome: Outcome) -> None:
    """Each row by itself, so that one that raises an error leaves the others alone."""
    group = solved.group
    for row in rows:
        try:
            (found,) = one.quantity.answer(solved, one.settings, np.array([row]))
            numbers = np.atleast_1d(np.asarray(found, np.float64))
            _require_width(one, numbers.size)
            if np.isnan(numbers).any():
                raise InputError(one.columns[0].quantity, "gives no number (NaN) for this row")
            place[group.rows[row]] = numbers
        except Exception as error:
            _fail(outcome, group.rows[[row]], row_message(error))


def _require_width(one: Asked, width: int) -> None:
    if width != len(one.columns):
        raise InputError(
            one.columns[0].quantity, f"has {width} numbers in this row, and {len(one.columns)} in the others"
        )


def checked_settings(quantity: Quantity, given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a quantity as its answer takes them."""
    from vertebra.robot.reading import did_you_mean

    known = {"name": _word, **quantity.settings}
    for name in given:
        if name not in known:
            raise InputError(
                str(name), f"{quantity.name} has no such setting{did_you_mean(name, known)}; it has {', '.join(known)}"
            )
    return {name: known[name](value) for name, value in given.items()}
