"""How does a simulated motion change with its parameters? Derivatives of the steps that `simulate` takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vertebra.dynamics.directions import STEP, Direction, flat, slope_along
from vertebra.dynamics.problem import Moving
from vertebra.errors import InputError
from vertebra.mechanics.kernels.sensitivities import Parameters, Shifted, run_sensitivities
from vertebra.mechanics.kernels.stepping import trace_tips
from vertebra.mechanics.kinematics import spatial_tables, twist_table
from vertebra.mechanics.layout import BODY_WIDTH, POWER_WIDTH
from vertebra.mechanics.problem import CableFriction
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

if TYPE_CHECKING:
    from vertebra.dynamics.simulate import Run

SENSITIVITIES = {
    "q_sensitivity": ("joint", "rad", "change of a joint angle per change of a parameter"),
    "qd_sensitivity": ("joint", "rad/s", "change of a joint rate per change of a parameter"),
    "tip_sensitivity": ("axis", "m", "change of the tip position per change of a parameter"),
}
"""Dimension besides time and parameter, unit per unit of the parameter and meaning of each variable."""


@dataclass(frozen=True, eq=False)
class Sensitivities:
    """Derivatives of a run along some directions; `advance` moves them on with it."""

    robot: Robot
    along: tuple[Direction, ...]
    before: tuple[Any, ...]
    """Arguments of the kernel before the numbers of the steps."""
    after: tuple[Any, ...]
    """And after the inputs."""
    parameters: Parameters
    angles: Floats
    """(rows, parameters, n) rad per unit of each parameter."""
    rates: Floats
    filled: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        along: tuple[Direction, ...],
        moving: Moving,
        run: Run,
        resistance: Callable[[Robot], tuple[Floats, Floats]],
    ) -> Sensitivities:
        """Of a run that was laid out and has not begun; `resistance`: EA of the cables of a robot, N, and damping of
        its joints, N*m*s/rad, in the question that was asked."""
        robot, (scratch, resting, room, _, _, q, qd) = moving.robot, run.after[:7]
        n, c, count = robot.freedoms, len(robot.cables), len(along)
        by_length, _, axial, losses, least, most, bumper, bump = run.before[1]

        def numbers(direction: Direction, units: float) -> list[NDArray[Any]]:
            """All that the kernels read, with a parameter changed by so many units."""
            other = direction.moved(moving, units)
            EA, damping = resistance(other.robot)
            damping = damping if direction.damping is None else damping + units * direction.damping
            EA = EA if direction.axial is None else EA + units * direction.axial
            limits = other.robot.freedom_limits
            ends = (-limits, limits) if bumper > 0.0 else (least, most)
            return [*other.statics.system, EA, damping, *ends]

        parts = numbers(Direction("nothing", ""), 0.0)
        row = np.concatenate([flat(part) for part in parts])
        moved, tables, at = row.copy(), [], 0
        for part in parts:
            end = at + part.nbytes // row.itemsize
            tables.append(moved[at:end].view(part.dtype).reshape(part.shape))
            at = end
        first, where, slopes, sizes = [0], [], [], []
        largest = np.abs(run.inputs.samples).max(axis=0, initial=0.0)
        for direction in along:
            if direction.robot is not None:
                _require_smooth(robot, direction, bumper > 0.0, least, most)
            size = direction.size(moving, largest, losses, axial)

            def in_a_row(units: float, direction: Direction = direction) -> tuple[Floats]:
                return (np.concatenate([flat(part) for part in numbers(direction, units)]),)

            (slope,) = slope_along(in_a_row, STEP / size if size else 1.0)
            where.append(np.flatnonzero(slope))
            slopes.append(slope[where[-1]])
            sizes.append(size)
            first.append(first[-1] + len(where[-1]))
        parameters = Parameters(
            row, moved, np.array(first), np.concatenate(where), np.concatenate(slopes),
            _stacked([direction.inputs for direction in along], c), np.array(sizes),
            _stacked([direction.q for direction in along], n), _stacked([direction.qd for direction in along], n),
            np.ones(count),
        )  # fmt: skip
        rows = len(run.records.steps)
        angles, rates, filled = np.empty((rows, count, n)), np.empty((rows, count, n)), np.ones(1, np.int64)
        angles[0], rates[0] = parameters.dq, parameters.dqd
        chain = *tables[:6], np.empty((len(robot.joints), BODY_WIDTH)), moving.heavy_gaps
        drive = by_length, False, *tables[6:], bumper, bump
        before = chain, drive, CableFriction.nothing(), spatial_tables(robot), *run.before[4:]
        after = (
            _copies(scratch), _copies(resting), (*_copies(room[:-1]), np.zeros(1, np.int64)), np.zeros(POWER_WIDTH),
            q.copy(), qd.copy(), tuple(parameters), tuple(np.empty((len(Shifted._fields), n))), angles, rates, filled,
        )  # fmt: skip
        return cls(robot, along, before, after, parameters, angles, rates, filled)

    def advance(self, first: int, last: int, final: int, every: int, samples: Floats) -> None:
        """From one step to another, of a run that ends with `final`."""
        run_sensitivities(*self.before, first, last, final, every, samples, *self.after)

    def variables(self, q: Floats) -> tuple[dict[str, Any], dict[str, Any]]:
        """Variables and coordinates of a data set for the rows of a run with angles `q` (rows, n)."""
        rows = len(q)
        # A run that ended early has one more row, of the state before it did.
        self.angles[rows - 1], self.rates[rows - 1] = self.parameters.dq, self.parameters.dqd
        tips = np.stack([self._tips(q, p) for p in range(len(self.along))], axis=1)
        values = dict(zip(SENSITIVITIES, (self.angles[:rows], self.rates[:rows], tips), strict=True))
        variables = {
            name: (
                ("time", "parameter", dimension),
                values[name].copy(),
                {"units": f"{unit} per unit of the parameter", "long_name": meaning},
            )
            for name, (dimension, unit, meaning) in SENSITIVITIES.items()
        }
        names, units = ([getattr(each, part) for each in self.along] for part in ("name", "unit"))
        return variables, {"parameter": names, "parameter_unit": ("parameter", units)}

    def _tips(self, q: Floats, p: int) -> Floats:
        """(rows, 3) of one parameter, m per unit: by the angles, and by the robot's own lengths."""
        turned, direction = self.angles[: len(q), p], self.along[p]
        scale = np.abs(turned).max(axis=1, keepdims=True)
        way = np.divide(turned, scale, out=np.zeros_like(turned), where=scale > 0.0)
        step = min(STEP, 0.2 * (np.pi - float(np.abs(q).max())))
        (by_angles,) = slope_along(lambda units: (_tips_at(self.robot, q + units * way),), step)
        tangents = direction.robot
        by_angles *= scale
        if tangents is None:
            return by_angles
        step = STEP / (tangents.size(self.robot) or STEP)
        (by_tables,) = slope_along(lambda units: (_tips_at(tangents.moved(self.robot, units), q),), step)
        by_angles += by_tables
        return by_angles


def _tips_at(robot: Robot, q: Floats) -> Floats:
    n, rows = len(robot.joints), len(q)
    tips, lengths = np.empty((rows, 3)), np.empty((rows, len(robot.cables)))
    trace_tips(
        robot.joints, robot.links, robot.cables, robot.segments, robot.origin, q, robot.tip_point,
        spatial_tables(robot), np.empty((n + 1, 4, 4)), twist_table(robot), tips, lengths,
    )  # fmt: skip
    return tips


def _copies(arrays: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], ...]:
    return tuple(array.copy() for array in arrays)


def _stacked(rows: list[Floats | None], columns: int) -> Floats:
    return np.array([np.zeros(columns) if row is None else row for row in rows]).reshape(len(rows), columns)


def _require_smooth(robot: Robot, direction: Direction, bumpers: bool, least: Floats, most: Floats) -> None:
    """Refuse what has no derivative: a mass in a gap that would appear, the angle at which faces meet."""
    tangents = direction.robot
    assert tangents is not None
    for table, column in (("joints", "mass"), ("cables", "linear_density")):
        appears = (getattr(robot, table)[column] == 0.0) & (getattr(tangents, table)[column] != 0.0)
        if appears.any():
            raise InputError(
                "sensitivities",
                f"{direction.name} is 0 for {table[:-1]} {int(np.argmax(appears)) + 1}, and can only grow; give a "
                "small value above 0 in the robot file",
            )
    limits = robot.freedom_limits
    if bumpers and ((least > -limits) | (most < limits)).any():
        joint = robot.joint_of(int(np.argmax((least > -limits) | (most < limits))))
        raise InputError(
            "sensitivities",
            f"the faces of joint {joint} meet before its limit, where its bumper then is, and no derivative of that "
            f"angle is known for {direction.name}; give a smaller limit in the robot file",
        )
