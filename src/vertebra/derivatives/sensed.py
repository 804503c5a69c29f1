"""Derivatives of a shape that sensors give, laid out by what they are by.

The fit along the chain ends where the sensors' pulls balance on the axis of every freedom. That balance is
differentiated, not the search (theory 10.6); shapes by pairs are in closed form.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.derivatives.parameters import By, Parameters, gathered, listed
from vertebra.derivatives.shape import AXES
from vertebra.dynamics.directions import STEP, slope_along
from vertebra.errors import InputError
from vertebra.mechanics.kernels.sensed_chain import LIMIT_WEIGHT
from vertebra.mechanics.kernels.sensor_intake import bring_to, place_sensed
from vertebra.mechanics.kinematics import twist_table
from vertebra.mechanics.layout import SENSOR
from vertebra.robot.fields import moved, table_tangents
from vertebra.robot.robot import Robot
from vertebra.robot.tables import BACKBONE, BALL, Floats
from vertebra.sensing.estimator import ChainScratch
from vertebra.sensing.pairwise import pairwise_frames, paper_frames
from vertebra.sensing.sensed_shape import Evidence, SensedShape, unknown_angles
from vertebra.sensing.so3 import exp, tilt_and_heading

OUTPUTS = ("tip", "tip pose", "angles")
"""What can be asked of a sensed shape."""
GEOMETRY = ("joints", "links", "origin", "tip_point")
"""Arrays of a robot that a sensed shape depends on, besides those of its sensors."""
AT_LIMIT = 1.0 - 1e-12
"""From this share of its limit on an angle was cut to it."""
SETTLED_STEP = 1e-9
"""rad: a step by the exact slopes that is still larger shows that the fit is not where the pulls balance."""

SINGULAR = 1e12
"""Condition number from which on the slopes of the balance do not tell where it goes."""
REMEDY = "it takes sensors on both sides of every joint"


class Change(NamedTuple):
    """A parameter: what changes per unit of it."""

    tables: dict[str, NDArray[Any]]
    """Of the robot, by name."""
    information: Floats
    """(n+1, 3) 1/rad^2."""
    stiff: float
    """Information that a joint does not twist, 1/rad^2."""
    straight: Floats
    """(n,) 1/rad^2."""
    turns: Floats
    """(n+1, 3) of what was measured, world axes, rad."""
    base: Floats
    """(3,) of a base that is known, world axes, rad."""
    step: float
    """How far to go for a difference."""


class State(NamedTuple):
    """What the fit finds."""

    base: Floats
    """(3, 3)."""
    q: Floats
    twist: Floats

    def moved(self, step: Floats) -> State:
        """By (3 + freedoms + joints,) rad: turn of the base in world axes, angles, twists."""
        turn, q, twist = np.split(step, [3, 3 + len(self.q)])
        return State(exp(turn) @ self.base, self.q + q, self.twist + twist)


class Sensed:
    """A sensed shape that can be differentiated."""

    def __init__(self, shape: SensedShape) -> None:
        self.shape, self.robot = shape, shape.robot
        self.given = given = _usable(shape)
        n, own = len(self.robot.joints), self.robot.joints
        self.measured, self.information = np.zeros((n + 1, 3, 3)), np.zeros((n + 1, 3))
        self.sensors = given.said.view(SENSOR)
        bring_to(shape.time, self.sensors, given.gyro, given.stale_after, self.measured, self.information)
        self.owner = np.repeat(np.arange(n), own["freedoms"])
        place = np.arange(self.robot.freedoms) - own["first"][self.owner]
        self.bends = np.isin(own["kind"], (BALL, BACKBONE))[self.owner] & (place < 2)
        self.limited = place < 2
        self.still = np.zeros(3 + self.robot.freedoms + n)
        self.state = State(shape.base, shape.angles, shape.joint_twists)
        if shape.method == "chain":
            self._balance()

    # The fit along the chain: where the pulls of the sensors balance.

    def _balance(self) -> None:
        """Go from where the search ended, within 1e-6 rad, to the balance itself; and its slopes there."""
        given, robot = self.given, self.robot
        self.gated = np.zeros((len(robot.links), 2), dtype=bool)
        self.gated[robot.sensor_links] = self.shape.weights < 1.0
        self.held = self.limited & (self._sizes(self.state.q) >= AT_LIMIT * robot.joints["limit"][self.owner])
        soft = (robot.joints["freedoms"] < 3) & (given.twist > 0.0)
        self.free = np.concatenate([np.full(3, not given.base_known), np.full(robot.freedoms, True), soft])
        still, step = self._change(), self.still.copy()
        slopes = self._slopes()
        scale = np.sqrt(np.abs(np.diag(slopes)))
        # A robot of small limits counts as settled whatever its sensors say.
        if not scale.all() or np.linalg.cond(slopes / np.outer(scale, scale)) > SINGULAR:
            raise InputError("result", f"the sensors do not determine all angles; {REMEDY}")
        for _ in range(3):
            step[self.free] = -np.linalg.solve(slopes, self._imbalance(*self._sample(still, self.still, 0.0)))
            self.state = self.state.moved(step)
        if not np.abs(step).max() < SETTLED_STEP:
            raise InputError("result", "this shape is not where its sensors balance; solve again for one that is")
        self.slopes = self._slopes()

    def _slopes(self) -> Floats:
        """(unknowns, unknowns) of the imbalance by each unknown."""
        still, units = self._change(), np.eye(len(self.still))
        return np.array([self._imbalance_along(still, units[at]) for at in np.flatnonzero(self.free)]).T

    def _sample(self, change: Change, step: Floats, units: float) -> tuple[Floats, Floats, Floats]:
        """So many units along a change and a step of the state: residuals (n+1, 3) rad, world axes of all unknowns
        (3 + freedoms + n, 3), and what draws each of these to zero or to a limit, 1/rad."""
        robot, state = moved(self.robot, change.tables, units), self.state.moved(units * step)
        frames, axes = _placed(robot, state)
        measured = exp(units * change.turns) @ self.measured
        residuals = tilt_and_heading(measured @ frames[:, :3, :3].transpose(0, 2, 1))
        straight = (self.given.straight + units * change.straight)[self.owner]
        wish = -straight * state.q - LIMIT_WEIGHT * (state.q - self._kept(robot, state.q))
        stiff = self._stiff + units * change.stiff
        return (
            residuals,
            np.concatenate([np.eye(3), axes, frames[1:, :3, 2]]),
            np.concatenate([np.zeros(3), wish, -stiff * state.twist]),
        )

    def _imbalance(self, residuals: Floats, axes: Floats, wish: Floats) -> Floats:
        """(unknowns,) pulls of all sensors beyond on the axis of each, and its wish, 1/rad."""
        pulls = self._weights(residuals) * self.information * residuals
        return np.asarray(((axes * self._beyond(pulls)).sum(axis=1) + wish)[self.free])

    def _imbalance_along(self, change: Change, step: Floats) -> Floats:
        """Its slope. Weights of sensors beyond the gate follow their residuals, as in the fit."""
        residuals, axes, _ = self._sample(change, step, 0.0)
        by_residuals, by_axes, by_wish = slope_along(lambda units: self._sample(change, step, units), change.step)
        information, weights = self.information, self._weights(residuals)
        pulls = weights * information * residuals
        turned = weights * (change.information * residuals + information * by_residuals)
        # w = gate^2 / s, so w' = -w s' / s, with s = sum I r^2.
        grown = change.information * residuals**2 + 2.0 * information * residuals * by_residuals
        sizes = np.where(self.gated, _of_tilt_and_heading(information * residuals**2), 1.0)
        turned -= np.where(self.gated, _of_tilt_and_heading(grown) / sizes, 0.0)[:, [0, 0, 1]] * pulls
        slope = (by_axes * self._beyond(pulls) + axes * self._beyond(turned)).sum(axis=1) + by_wish
        return np.asarray(slope[self.free])

    def _weights(self, residuals: Floats) -> Floats:
        """(n+1, 3) of the sensors' axes: (gate / size)^2 for what is beyond the gate now, however near it comes."""
        square = self.given.gate**2
        sizes = _of_tilt_and_heading(self.information * residuals**2)
        return (square / np.where(self.gated, sizes, square))[:, [0, 0, 1]]

    def _beyond(self, pulls: Floats) -> Floats:
        """(3 + freedoms + n, 3) sum of the pulls on all links that each unknown turns."""
        total = np.cumsum(pulls[::-1], axis=0)[::-1]
        return np.concatenate([np.broadcast_to(total[0], (3, 3)), total[1 + self.owner], total[1:]])

    def _sizes(self, q: Floats) -> Floats:
        """(freedoms,) what a limit holds for: the angle, or the bend that it is a component of."""
        bends = np.sqrt(np.bincount(self.owner, np.where(self.bends, q * q, 0.0)))
        return np.where(self.bends, bends[self.owner], np.abs(q))

    def _kept(self, robot: Robot, q: Floats) -> Floats:
        """Angles with those that are beyond their limits now cut to them."""
        sizes = np.where(self.held, self._sizes(q), 1.0)
        return np.where(self.held, q * robot.joints["limit"][self.owner] / sizes, q)

    @property
    def _stiff(self) -> float:
        return self.given.twist**-2 if self.given.twist > 0.0 else 0.0

    # Slopes of what is asked for.

    def along(self, change: Change) -> Floats:
        """(6 + freedoms,) of tip, its turn and all angles, per unit of a parameter."""
        step = self.still.copy()
        if self.shape.method == "chain":
            step[:3] = change.base
            step[self.free] = -np.linalg.solve(self.slopes, self._imbalance_along(change, step))

        def answer(units: float) -> tuple[Floats, Floats, Floats]:
            robot = moved(self.robot, change.tables, units)
            if self.shape.method == "chain":
                state = self.state.moved(units * step)
                state = state._replace(q=self._kept(robot, state.q))
                frames = _placed(robot, state)[0]
            else:
                frames, state = self._by_pairs(robot, exp(units * change.turns), exp(units * change.base))
            return frames[-1, :3, :3] @ robot.tip_point + frames[-1, :3, 3], frames[-1, :3, :3], state.q

        tip, rotation, angles = slope_along(answer, change.step)
        spin = rotation @ answer(0.0)[1].T
        turn = 0.5 * np.array([spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]])
        return np.concatenate([tip, turn, angles])

    def _by_pairs(self, robot: Robot, turns: Floats, turn: Floats) -> tuple[Floats, State]:
        """Frames and state by "pairwise" or "paper", with all that was measured turned, and a known base too."""
        measured, q = turns @ self.measured, np.zeros(robot.freedoms)
        if self.given.base_known:
            measured[0] = turn @ self.shape.base
        base = measured[0].copy()
        if self.shape.method == "paper":
            frames = paper_frames(robot, measured, base, q)
        else:
            every = np.full(len(robot.links), True)
            frames = pairwise_frames(ChainScratch(robot), measured, every, True, base, q)
        return frames, State(base, q, self.state.twist)

    # Parameters.

    def _change(self, **changes: Any) -> Change:
        links, joints = len(self.robot.links), len(self.robot.joints)
        none = Change({}, np.zeros((links, 3)), 0.0, np.zeros(joints), np.zeros((links, 3)), np.zeros(3), STEP)
        return none._replace(**changes)

    def orientations(self) -> Parameters:
        """Small turns of what each sensor reported."""
        names, rows = [], []
        for sensor, link in enumerate(self.robot.sensor_links):
            for axis in range(3):
                turns = np.zeros((len(self.robot.links), 3))
                turns[link, axis] = 1.0
                names.append(f"orientations[{sensor}][{axis}]")
                rows.append(self.along(self._change(turns=turns)))
        return Parameters(names, ["rad"] * len(names), np.zeros(len(names)), np.array(rows))

    def known_base(self) -> Parameters:
        """Small turns of a base that is known."""
        rows = [self.along(self._change(base=axis)) for axis in np.eye(3)]
        return listed("base", "rad", np.zeros(3), np.array(rows))

    def fields(self, paths: list[str]) -> Parameters:
        """Fields that paths name, all for an empty one; what the call gave itself does not follow them."""
        given, robot = self.given, self.robot
        tangents, rows = table_tangents(robot, None if paths == [""] else paths), []
        noise, links = self.sensors["noise"], robot.sensor_links
        variances = np.column_stack([self.sensors["tilt_variance"], noise[:, 2] ** 2 / self.sensors["heading_trust"]])
        for row, group in enumerate(tangents.groups):
            tables = tangents.tables(row)
            information, stiff = np.zeros_like(self.information), 0.0
            size = robot.length if group.unit == "m" else 1.0
            if tables.sensor_noise.any() or tables.sensor_twist:
                size = group.fields[0].value or 1.0
            if given.own_noise:
                # Of a stream too, variances go with the square of the noise of its samples.
                information[links] = -2.0 * self.information[links] ** 2 * variances * tables.sensor_noise / noise
            if given.own_twist and given.twist > 0.0:
                stiff = -2.0 * float(tables.sensor_twist) * given.twist**-3
            straight = -2.0 * given.straight * tables.joints["limit"] / robot.joints["limit"]
            change = self._change(
                tables={name: getattr(tables, name) for name in GEOMETRY}, information=information, stiff=stiff,
                straight=straight, step=STEP * size,
            )  # fmt: skip
            rows.append(self.along(change))
        groups = tangents.groups
        values = np.array([group.fields[0].value for group in groups])
        return Parameters([group.path for group in groups], [group.unit for group in groups], values, np.array(rows))

    def notes(self) -> list[str]:
        """Where the answer has a corner, which side its derivatives are of."""
        if self.shape.method != "chain":
            return []
        state = self.state
        just = self.held & (np.abs(state.q) <= np.abs(self._kept(self.robot, state.q)))
        return [
            f"joint {joint + 1} just reaches its limit: the derivatives are those of one that the limit holds"
            for joint in dict.fromkeys(self.owner[just].tolist())
        ]


def _of_tilt_and_heading(parts: Floats) -> Floats:
    """(n+1, 2) sums of what is about the world's x and y, and what is about the vertical."""
    return np.stack([parts[:, 0] + parts[:, 1], parts[:, 2]], axis=1)


def _placed(robot: Robot, state: State) -> tuple[Floats, Floats]:
    """Frames (n+1, 4, 4), and the world axes of all freedoms (freedoms, 3)."""
    frames, axes = np.zeros((len(robot.links), 4, 4)), twist_table(robot)
    place_sensed(robot.joints, robot.links, robot.origin, state.base, state.q, state.twist, frames, axes)
    return frames, axes[:, :3]


def _usable(shape: SensedShape) -> Evidence:
    """What a shape was found from, if that determines it."""
    if shape.evidence is None:
        raise InputError("result", "this shape does not hold what it was found from; take one of a ShapeEstimator")
    unknown = unknown_angles(shape.robot, shape.angle_sigmas)
    if unknown:
        joints = ", ".join(str(joint) for joint in dict.fromkeys(shape.robot.joint_of(row) for row in unknown))
        raise InputError("result", f"the sensors do not determine the angles of joints {joints}; {REMEDY}")
    if not shape.converged:
        raise InputError("result", "the fit has not converged: its shape contradicts its sensors; check their states")
    return shape.evidence


def sensed_parameters(shape: SensedShape, outputs: list[str], by: By) -> tuple[Parameters, list[str]]:
    """What `by` stands for in a sensed shape, with the derivatives of the outputs by each; and what to know of them."""
    sensed = Sensed(shape)
    words = {"orientations": sensed.orientations} | ({"base": sensed.known_base} if sensed.given.base_known else {})
    found = gathered(by, words, sensed.fields, list(words))
    rows = {"tip": range(3), "tip pose": range(6), "angles": range(6, found.directions.shape[1])}
    chosen = [row for word in outputs for row in rows[word]]
    return found._replace(directions=found.directions[:, chosen]), sensed.notes()


def sensed_outputs(shape: SensedShape, outputs: list[str]) -> tuple[list[str], list[str], Floats]:
    """Names, units and values of what is asked of a sensed shape."""
    tip = [f"tip {axis}" for axis in AXES]
    names = {
        "tip": tip,
        "tip pose": tip + [f"tip turn {axis}" for axis in AXES],
        "angles": [f"angle {name}" for name in shape.robot.freedom_names],
    }
    values = {"tip": shape.tip, "tip pose": np.append(shape.tip, np.zeros(3)), "angles": shape.angles}
    asked = [name for word in outputs for name in names[word]]
    units = ["m" if name in tip else "rad" for name in asked]
    return asked, units, np.concatenate([values[word] for word in outputs])
