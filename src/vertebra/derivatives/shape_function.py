"""The shape of a robot as a function of arrays, many rows at a time, with its Jacobian: what `vb.jax` and
`vb.torch` call.

A call is about two arrays whose leading axes are rows and are broadcast: tensions (..., cables) and values of
parameters (..., p). Rows of equal values share a robot, and are solved and differentiated together on all cores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.derivatives.parameters import parameters_of
from vertebra.derivatives.shape import ShapeProblem, derivatives_of_rows
from vertebra.errors import InputError, shown
from vertebra.mechanics.gradient import Seeds
from vertebra.mechanics.kinematics import Pose
from vertebra.mechanics.problem import Load, Problem
from vertebra.robot.arguments import as_robot, vector, word
from vertebra.robot.fields import Group, matching, with_values
from vertebra.robot.friction import Friction
from vertebra.robot.robot import Robot, RobotLike
from vertebra.robot.tables import Floats
from vertebra.statics.forward import Shapes, shape_from_tensions, shapes_from_tensions, tension_rows

KEPT = 16
"""Robots of the last sets of values that a function keeps: a gradient follows a value at the same point."""
FROM_SEEDS = {"tip": "tip", "tip frame": "tip pose", "angles": "angles", "lengths": "lengths"}
"""Outputs that the kernel differentiates all at once, and what it differentiates for each."""


@dataclass(frozen=True)
class Key:
    """One parameter of a function."""

    path: str
    """As a person wrote it."""
    groups: tuple[Group, ...]
    """The fields that it stands for; none for the vector of gravity."""

    @property
    def shape(self) -> tuple[int, ...]:
        """A number for one field; as many as it stands for otherwise."""
        count = len(self.groups) or 3
        return () if count == 1 else (count,)


class Solved(NamedTuple):
    """Rows of shapes; NaN where there is no stable one."""

    outputs: Floats
    """(..., m) side by side."""
    angles: Floats
    """(..., freedoms) rad."""
    tip: Floats
    """(..., 3) m."""


class _Made:
    """The robot of one set of values, and what its derivatives need."""

    def __init__(self, robot: Robot, call: dict[str, Any], words: Sequence[str]) -> None:
        self.robot, self.call = robot, call
        self.words = [one for one in words if one in FROM_SEEDS]
        self._directions = dict[tuple[str, ...], Floats]()

    def shape(self, tensions: Floats, angles: Floats) -> ShapeProblem:
        """A shape whose angles are known."""
        return ShapeProblem.of(shape_from_tensions(self.robot, tensions, start=angles, **self.call), False)

    def directions(self, by: tuple[str, ...], one: Callable[[], ShapeProblem]) -> Floats:
        """(p, all numbers of the problem) of what is differentiated by; `one`: any shape of this robot."""
        if by not in self._directions:
            self._directions[by] = parameters_of(one(), by).directions
        return self._directions[by]

    @cached_property
    def problem(self) -> Problem:
        return Problem.of(self.robot, **self.call)

    @cached_property
    def seeds(self) -> Seeds:
        """Of all outputs that the kernel differentiates at once."""
        each = [_seeds(self.problem, FROM_SEEDS[one]) for one in self.words]
        return Seeds(*map(np.concatenate, zip(*each, strict=True)))


@dataclass(frozen=True, eq=False)
class ShapeFunction:
    """Outputs of the shape of a robot under tensions, as a function of those and of its parameters."""

    robot: Robot
    words: tuple[str, ...]
    """The outputs."""
    alone: bool
    """Whether the one output is asked for by its word, not in a list."""
    call: dict[str, Any]
    """Gravity, loads and friction."""
    keys: tuple[Key, ...] = ()
    """The parameters; what is not among them stays as in the robot file."""

    @classmethod
    def make(
        cls, robot: RobotLike, of: str | Sequence[str], gravity: str | ArrayLike | None, loads: Sequence[Load] | None,
        friction: Friction | None,
    ) -> ShapeFunction:  # fmt: skip
        made = as_robot(robot)
        words = (of,) if isinstance(of, str) else tuple(of) if isinstance(of, Sequence) else (of,)
        allowed = (*FROM_SEEDS, "compliance")
        for one in words:
            word("of", one, allowed)
        if not words or len(set(words)) < len(words):
            raise InputError("of", f"must be one or several of {', '.join(allowed)}, each once, not {shown(of)}")
        call: dict[str, Any] = {"gravity": gravity, "loads": loads, "friction": friction}
        Problem.of(made, **call)  # what is wrong with them is told now
        return cls(made, words, isinstance(of, str), call)

    # What goes in and comes out.

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of each output of one row."""
        n, c = self.robot.freedoms, len(self.robot.cables)
        shapes = {"tip": (3,), "tip frame": (4, 4), "angles": (n,), "lengths": (c,), "compliance": (6, 6)}
        return {one: shapes[one] for one in self.words}

    @property
    def size(self) -> int:
        """How many numbers all outputs of one row have."""
        return sum(map(prod, self.shapes.values()))

    def by(self, paths: Sequence[str]) -> ShapeFunction:
        """Of parameters at these paths; a wrong one raises `InputError` that names near ones."""
        keys, taken = list[Key](), dict[str, str]()
        for path in paths:
            try:
                groups = matching(self.robot, path)
            except InputError as error:
                raise InputError("parameters", error.message) from None
            for field in (field for group in groups for field in group.fields):
                if field.path.startswith("gravity[") and path != "gravity":
                    raise InputError("parameters", f"gravity is given as a vector of 3, 'gravity', not {shown(path)}")
                if taken.setdefault(field.path, path) != path:
                    raise InputError("parameters", f"{path} and {taken[field.path]} both set {field.path}")
            keys.append(Key(path, () if path == "gravity" else groups))
        return replace(self, keys=tuple(keys))

    def given(self, parameters: Mapping[str, Any] | None) -> dict[str, Any]:
        """What a person gives as parameters, sorted by path."""
        if parameters is None:
            return {}
        if not isinstance(parameters, Mapping) or not all(isinstance(path, str) for path in parameters):
            raise InputError("parameters", f"must be a dictionary of paths and values, not {shown(parameters)}")
        return {path: parameters[path] for path in sorted(parameters)}

    def join(self, xp: Any, tensions: Any, values: Sequence[Any]) -> tuple[Any, Any]:
        """Tensions and values of all parameters side by side, arrays of one framework `xp` with as many leading axes
        each."""
        shapes: list[tuple[str, Any, tuple[int, ...]]] = [("tensions", tensions, (len(self.robot.cables),))]
        shapes += [(key.path, value, key.shape) for key, value in zip(self.keys, values, strict=True)]
        for name, array, own in shapes:
            if tuple(array.shape)[array.ndim - len(own) :] != own or array.ndim < len(own):
                wanted = f"{own}, or (..., {own[0]}) for rows" if own else "(), or (rows,)"
                name = "tensions" if name == "tensions" else f"parameters[{name!r}]"
                raise InputError(name, f"must have shape {wanted}, not {tuple(array.shape)}")
        leads = [tuple(array.shape)[: array.ndim - len(own)] for _, array, own in shapes]
        try:
            np.broadcast_shapes(*leads)
        except ValueError:
            told = ", ".join(f"{lead} of {name}" for (name, _, _), lead in zip(shapes, leads, strict=True) if lead)
            raise InputError("parameters", f"leading axes do not fit together: {told}") from None
        rank = max(map(len, leads))
        flat = [
            xp.reshape(array, ((1,) * (rank - len(lead)) + lead + (prod(own),)))
            for (_, array, own), lead in zip(shapes, leads, strict=True)
        ]
        lead = np.broadcast_shapes((1,) * rank, *leads[1:])
        parts = [xp.broadcast_to(part, (*lead, part.shape[-1])) for part in flat[1:]]
        return flat[0], xp.concatenate(parts, -1) if parts else flat[0][..., :0]

    def split(self, outputs: Any) -> Any:
        """Arrays (..., m) as the output that was asked for by its word, or as a dictionary of those of a list."""
        ends = [0, *accumulate(map(prod, self.shapes.values()))]
        found = {
            one: outputs[..., first:last].reshape(*outputs.shape[:-1], *own)
            for (one, own), (first, last) in zip(self.shapes.items(), pairwise(ends), strict=True)
        }
        return found[self.words[0]] if self.alone else found

    # Rows.

    def check(self, tensions: Floats, values: Floats) -> None:
        """Raise what a call would raise."""
        tension_rows(self.robot, tensions.reshape(-1, tensions.shape[-1]))
        for _ in self._robots(tensions, values):
            pass

    def _robots(self, tensions: Floats, values: Floats) -> Iterator[tuple[_Made, NDArray[Any]]]:
        """Each distinct robot, checked, with the rows that are of it."""
        lead = np.broadcast_shapes(tensions.shape[:-1], values.shape[:-1])
        sets, which = np.zeros((1, 0)), np.zeros(values.shape[:-1], int)
        if self.keys:
            sets, which = np.unique(values.reshape(-1, values.shape[-1]), axis=0, return_inverse=True)
        rows = np.broadcast_to(which.reshape(values.shape[:-1]), lead).ravel()
        for place, numbers in enumerate(sets):
            yield self._made(tuple(numbers.tolist())), np.flatnonzero(rows == place)

    @cached_property
    def _made(self) -> Callable[[tuple[float, ...]], _Made]:
        return lru_cache(KEPT)(self._make)

    def _make(self, numbers: tuple[float, ...]) -> _Made:
        robot, call, left, fields = self.robot, self.call, list(numbers), dict[str, float]()
        for key in self.keys:
            if key.groups:
                for group in key.groups:
                    value = left.pop(0)
                    fields |= {field.path: value for field in group.fields}
            else:
                call = call | {"gravity": vector("gravity", left[:3], "m/s^2")}
                del left[:3]
        return _Made(with_values(robot, fields) if fields else robot, call, self.words)

    def solve(self, tensions: Floats, values: Floats) -> Solved:
        """Of all rows."""
        lead = np.broadcast_shapes(tensions.shape[:-1], values.shape[:-1])
        pull = np.broadcast_to(tensions, (*lead, tensions.shape[-1])).reshape(-1, tensions.shape[-1])
        found = Solved(*(np.full((len(pull), width), np.nan) for width in (self.size, self.robot.freedoms, 3)))
        for made, rows in self._robots(tensions, values):
            shapes = shapes_from_tensions(made.robot, pull[rows], **made.call)
            good = shapes.solved
            found.outputs[rows[good]] = self._outputs(shapes)[good]
            found.angles[rows[good]], found.tip[rows[good]] = shapes.angles[good], shapes.tip[good]
        return Solved(*(part.reshape(*lead, part.shape[-1]) for part in found))

    def _outputs(self, shapes: Shapes) -> Floats:
        """(N, m)"""
        parts = {"tip": shapes.tip, "angles": shapes.angles, "lengths": shapes.lengths, "compliance": shapes.compliance}
        if "tip frame" in self.words:
            parts["tip frame"] = np.array([Pose(shapes.robot, q).tip_frame for q in shapes.angles])
        return np.hstack([parts[one].reshape(len(shapes), prod(own)) for one, own in self.shapes.items()])

    def jacobian(self, by: tuple[bool, bool], tensions: Floats, values: Floats, angles: Floats, tip: Floats) -> Floats:
        """(..., m, columns) of all rows, by tensions, by values or by both; NaN where there is no stable shape."""
        lead, c = angles.shape[:-1], tensions.shape[-1]
        pull, q, tips = (
            np.ascontiguousarray(np.broadcast_to(part, (*lead, part.shape[-1])).reshape(-1, part.shape[-1]))
            for part in (tensions, angles, tip)
        )
        asked = ("tensions",) * by[0] + tuple(key.path for key in self.keys) * by[1]
        result = np.full((len(pull), self.size, c * by[0] + values.shape[-1] * by[1]), np.nan)
        for made, all_rows in self._robots(tensions, values):
            rows = all_rows[np.isfinite(q[all_rows, 0])]
            if len(rows):
                result[rows] = self._derivatives(made, asked, tips[rows], q[rows], pull[rows])
        return result.reshape(*lead, *result.shape[1:])

    def _derivatives(self, made: _Made, by: tuple[str, ...], tips: Floats, q: Floats, pull: Floats) -> Floats:
        """(N, m, columns) at shapes of one robot."""
        directions = made.directions(by, lambda: made.shape(pull[0], q[0]))
        parts = dict[str, Floats]()
        if made.words:
            rows = derivatives_of_rows(made.problem, made.seeds, directions, tips, q, pull)
            first = 0
            for one in made.words:
                last = first + (6 if one == "tip frame" else prod(self.shapes[one]))
                parts[one], first = rows[:, first:last], last
        if "tip frame" in parts:
            frames = np.array([Pose(made.robot, angles).tip_frame for angles in q])
            parts["tip frame"] = _frame_derivatives(frames, parts["tip frame"])
        if "compliance" in self.words:
            each = [made.shape(*row).compliance().derivatives for row in zip(pull, q, strict=True)]
            parts["compliance"] = np.array(each) @ directions.T
        return np.concatenate([parts[one] for one in self.words], axis=1)


def _seeds(problem: Problem, output: str) -> Seeds:
    """Every entry of an output."""
    places: Mapping[str, Callable[[Seeds], Floats]] = {
        "tip": lambda seeds: seeds.tip[:, :3], "tip pose": lambda seeds: seeds.tip,
        "angles": lambda seeds: seeds.angles, "lengths": lambda seeds: seeds.lengths,
    }  # fmt: skip
    count = places[output](Seeds.none(problem, 1)).shape[1]
    seeds = Seeds.none(problem, count)
    places[output](seeds)[:] = np.eye(count)
    return seeds


def _frame_derivatives(frames: Floats, motions: Floats) -> Floats:
    """(N, 16, p) of frames (N, 4, 4), from how they move and turn (N, 6, p): the columns of a rotation R turn as
    vectors do, dR_j = omega x R_j."""
    result = np.zeros((*frames.shape, motions.shape[-1]))
    result[:, :3, 3] = motions[:, :3]
    for column in range(3):
        result[:, :3, column] = np.cross(motions[:, 3:], frames[:, :3, column, None], axis=1)
    return result.reshape(len(frames), 16, -1)
