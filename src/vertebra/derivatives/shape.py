"""A robot at rest, and the derivatives of what is asked of it by all numbers of its problem.

Tip, angles, lengths and tensions come from one pass of the kernel each. Stiffness, critical tension and the margin hold
the stiffness H itself: with u and v fixed, u . H v is the slope along v of the power u . R, so its derivatives are
slopes along v of those of the kernel, by differences of order 6 at poses near this one, without a solve (theory 10).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError, shown
from vertebra.mechanics.compiled import run_pieces, thread_count
from vertebra.mechanics.gradient import SIXTH, STEP, Numbers, Seeds, form_derivatives, pose_gradients
from vertebra.mechanics.kernels.newton import SETTLED, TOUCHES_STOP, inspect_pose
from vertebra.mechanics.kernels.sweep import NONE
from vertebra.mechanics.kinematics import Pose
from vertebra.mechanics.layout import GRIP_DRAWN, GRIP_SLIP, LAW_PRESLIDING, REPORT_WEAK
from vertebra.mechanics.problem import NO_CABLES, Load, Problem, Workspace
from vertebra.robot.arguments import axial_stiffness, numbers
from vertebra.robot.robot import Robot
from vertebra.robot.tables import BACKBONE, Floats
from vertebra.statics.branches import critical_tension
from vertebra.statics.shape import Shape, build_shape

CORNER = 1e-6
"""So near to slipping, as a part of the presliding, a cable counts as just about to."""
CHUNK = 1024
"""Outputs, of however many poses, that a thread differentiates in one compiled call."""
AXES = ("x", "y", "z")


class Outputs(NamedTuple):
    """What is differentiated, and its derivatives by everything."""

    names: list[str]
    units: list[str]
    values: Floats
    """(m,) SI."""
    derivatives: Floats
    """(m, all numbers of the problem), as `Numbers.flat` lays them out."""


class Linear(NamedTuple):
    """Outputs that the kernel sums by weights."""

    names: list[str]
    units: list[str]
    values: Floats
    place: Callable[[Seeds], Floats]
    """Where in the seeds their weights are."""


Request = str | Mapping[str, ArrayLike]
"""A word for outputs, or weights of the outputs of several."""
MIXED = "SI"
"""Unit of a sum of unlike things."""


@dataclass(frozen=True, eq=False)
class ShapeProblem:
    """A shape as a problem that can be differentiated: its cables held by their tensions or by their lengths."""

    shape: Shape
    problem: Problem
    work: Workspace
    tensions: Floats
    """(cables,) N."""
    rest: Floats
    """(cables,) lengths without tension, m; empty where tensions are held."""
    rate: Floats
    """(cables,) N/m."""

    @classmethod
    def of(cls, shape: Shape, by_length: bool) -> ShapeProblem:
        shape.require_solved()
        problem = shape._problem()
        history, rest, rate = shape._cables.history, shape._cables.rest, shape._cables.rate
        work = problem.workspace(by_length, None if history is None else history.copy())
        if by_length and not len(rest):
            rest = shape.natural_lengths()
            rate = axial_stiffness(shape.robot, None) / rest
        if not by_length:
            rest = rate = NO_CABLES
        made = cls(shape, problem, work, shape.tensions_at_base.copy(), rest, rate)
        made._inspect(problem, shape.angles)
        if work.report[REPORT_WEAK] != NONE:
            held = "lengths" if by_length else "tensions"
            raise InputError("by", f"with its cables held by their {held} this shape would be unstable")
        return made

    @classmethod
    def straight(cls, robot: Robot, gravity: Floats | None, loads: Sequence[Load], tension: float) -> ShapeProblem:
        """The straight robot under a common tension, without friction, whether it is in balance or not."""
        problem = Problem.of(robot, gravity, loads, 0.0)
        work, pull, q = problem.workspace(), np.full(len(robot.cables), tension), np.zeros(robot.freedoms)
        inspect_pose(*problem.system, pull, NO_CABLES, NO_CABLES, None, True, q, *work.scratch[1:])
        return cls(build_shape(problem, SETTLED, pull, q, work), problem, work, pull, NO_CABLES, NO_CABLES)

    @property
    def by_length(self) -> bool:
        return len(self.rest) > 0

    def _inspect(self, problem: Problem, q: Floats) -> Floats:
        """(n, n) the stiffness H at a pose, N*m/rad."""
        pull = self.tensions.copy()
        inspect_pose(*problem.system, pull, self.rest, self.rate, self.work.friction, True, q, *self.work.scratch[1:])
        return problem.dense_stiffness(self.work, self.by_length)

    def gradients(self, seeds: Seeds) -> tuple[Floats, Floats]:
        """Derivatives (m, everything) of the seeds' outputs, and lambda (m, freedoms)."""
        shape = self.shape
        found, rates = pose_gradients(
            self.problem, self.work, shape.tip, shape.angles, self.tensions.copy(), seeds, None, self.rest, self.rate
        )
        return found.flat, rates

    def seeds(self, outputs: int) -> Seeds:
        return Seeds.none(self.problem, outputs)

    # Outputs.

    def outputs(self, request: Request) -> Outputs:
        """What a word stands for, or a sum of what several do, each entry times its weight."""
        if isinstance(request, str):
            if request in OTHERS:
                return self._other(request)
            names, units, values, seeds = self.linear(request)
            return Outputs(names, units, values, self.gradients(seeds)[0])
        plain = {word: weights for word, weights in request.items() if word not in OTHERS}
        names, units, values, seeds = self.linear(plain)
        derivatives = self.gradients(seeds)[0]
        for word in request.keys() - plain.keys():
            part = self._other(word)
            weights = one_each("of", word, request[word], len(part.names))
            values, derivatives = values + weights @ part.values, derivatives + weights @ part.derivatives
            units = [part.units[0] if not plain and len(set(part.units)) == 1 else MIXED]
        return Outputs([" and ".join(request)], units, values, derivatives)

    def _other(self, word: str) -> Outputs:
        """What holds the stiffness itself, which is that of an energy."""
        if self.shape.closure != "virtual-work":
            raise InputError("of", f"{word} of a shape in balance by virtual work; solve it without closure='paper'")
        if self.by_length:
            for k in self._just_taut():
                raise InputError("of", f"cable {k + 1} is just taut, where {word} changes at once; shorten it a little")
        return OTHERS[word](self)

    def _just_taut(self) -> list[int]:
        return np.flatnonzero(np.abs(self.shape.lengths - self.rest) <= 1e-12 * self.rest).tolist()

    def linear(self, request: Request) -> tuple[list[str], list[str], Floats, Seeds]:
        """Names, units, values and weights of outputs that one pass of the kernel each differentiates: every entry of
        what a word stands for, or one weighted sum."""
        parts = {word: getter(self) for word, getter in LINEAR.items()}
        asked = [request] if isinstance(request, str) else list(request)
        for word in asked:
            if word not in parts:
                raise InputError("of", f"a shape has {', '.join((*LINEAR, *OTHERS))}; not {shown(word)}")
        if isinstance(request, str):
            names, units, values, place = parts[request]
            seeds = self.seeds(len(names))
            place(seeds)[:] = np.eye(len(names))
            return names, units, values, seeds
        seeds, value = self.seeds(1), 0.0
        for word, given in request.items():
            names, _, values, place = parts[word]
            weights = one_each("of", word, given, len(names))
            place(seeds)[0] += weights
            value += float(weights @ values)
        unlike = {unit for word in asked for unit in parts[word][1]}
        return [" and ".join(asked)], [unlike.pop() if len(unlike) == 1 else MIXED], np.array([value]), seeds

    def _tip(self) -> Linear:
        return Linear([f"tip {axis}" for axis in AXES], ["m"] * 3, self.shape.tip, lambda seeds: seeds.tip[:, :3])

    def _tip_pose(self) -> Linear:
        names = [f"tip {axis}" for axis in AXES] + [f"tip turn {axis}" for axis in AXES]
        values = np.append(self.shape.tip, np.zeros(3))
        return Linear(names, ["m"] * 3 + ["rad"] * 3, values, lambda seeds: seeds.tip)

    def _angles(self) -> Linear:
        names = [f"angle {name}" for name in self.shape.robot.freedom_names]
        return Linear(names, ["rad"] * len(names), self.shape.angles, lambda seeds: seeds.angles)

    def _lengths(self) -> Linear:
        names = [f"length {k + 1}" for k in range(len(self.tensions))]
        return Linear(names, ["m"] * len(names), self.shape.lengths, lambda seeds: seeds.lengths)

    def _tensions(self) -> Linear:
        names = [f"tension {k + 1}" for k in range(len(self.tensions))]
        return Linear(names, ["N"] * len(names), self.shape.tensions_at_base, lambda seeds: seeds.tensions)

    def compliance(self) -> Outputs:
        """All 36 entries: motion of the tip per force and moment on it."""
        derivatives = self._compliance_derivatives()
        parts = [f"{word} {axis}" for word in ("tip", "tip turn") for axis in AXES]
        pushes = [f"{word} {axis}" for word in ("force", "moment") for axis in AXES]
        units = [["m/N", "m/(N*m)"], ["rad/N", "rad/(N*m)"]]
        names = [f"{part} per {push}" for part in parts for push in pushes]
        unit = [units[row // 3][column // 3] for row in range(6) for column in range(6)]
        return Outputs(names, unit, self.shape.compliance.ravel(), derivatives.reshape(36, -1))

    def stiffness(self) -> Outputs:
        """Principal stiffnesses of the tip, softest first; infinite ones have no derivative and are left out."""
        found = self.shape.stiffness()
        rows = np.flatnonzero(np.isfinite(found.stiffness))
        if not len(rows):
            raise InputError("of", "the tip cannot move to first order, so its stiffness is infinite")
        directions = found.directions[rows]
        by_compliance = self._compliance_derivatives()[:3, :3]
        derivatives = -np.einsum("ri,rj,ijp->rp", directions, directions, by_compliance)
        derivatives *= found.stiffness[rows, None] ** 2
        names = [f"stiffness {row + 1}" for row in rows]
        return Outputs(names, ["N/m"] * len(names), found.stiffness[rows], derivatives)

    def margin(self) -> Outputs:
        """Both ends of the range of factors on all tensions; an end at 0 or at infinity has no derivative."""
        ends = [
            (name, end)
            for name, end in zip(("least", "most"), self.shape.tension_margin(), strict=True)
            if 0.0 < end < np.inf
        ]
        if not ends:
            raise InputError("of", "this shape stays stable whatever the factor on its tensions: it has no margin")
        if self.by_length:
            raise InputError("of", "a margin is that of tensions that are held; leave lengths out of `by`")
        rows, plain = [], replace(self, problem=Problem.of(self.shape.robot, self.shape.gravity, self.shape.loads, 0.0))
        plain = replace(plain, work=plain.problem.workspace())
        for _, end in ends:
            scaled = replace(plain, tensions=end * self.tensions)
            rows.append(self._end_derivative(scaled, self.shape.angles, end, True))
        return Outputs([f"{name} factor on tensions" for name, _ in ends], [""] * len(ends),
                       np.array([end for _, end in ends]), np.array(rows))  # fmt: skip

    def critical(self) -> Outputs:
        """Common tension below which the straight robot buckles."""
        shape = self.shape
        tension = critical_tension(shape.robot, gravity=shape.gravity, loads=shape.loads)
        if tension == 0.0:
            raise InputError(
                "of", "the straight robot stands without cables: its critical tension is 0, whatever changes"
            )
        straight = ShapeProblem.straight(shape.robot, shape.gravity, shape.loads, tension)
        derivative = self._end_derivative(straight, np.zeros(shape.robot.freedoms), tension, False)
        return Outputs(["critical tension"], ["N"], np.array([tension]), derivative[None])

    # What holds the stiffness itself.

    def _end_derivative(self, at: ShapeProblem, q: Floats, end: float, moving: bool) -> Floats:
        """(everything,) of the factor on the tensions, or the common tension, at which the stiffness at a pose is
        singular: in the direction v that gives way, v . H v = 0 there. With `moving`, the pose is that of this shape
        and moves with it; else it is straight whatever changes."""
        H = at._inspect(at.problem, q)
        H = 0.5 * (H + H.T)
        values, vectors = np.linalg.eigh(H)
        v = vectors[:, np.abs(values).argmin()]
        by_numbers, by_angles = at._form_derivatives(q, v, v)
        # The tensions are `end` times those of the shape: v . H v per factor.
        per_tension = Numbers.zeros(at.problem, 1)
        per_tension.tensions[0] = at.tensions / end
        per_end = float(by_numbers @ per_tension.flat[0])
        total = by_numbers.copy()
        if moving:
            given = Numbers.zeros(at.problem, 1)
            given.tensions[0] = 1.0
            where = given.flat[0] != 0.0
            total[where] *= end  # the tensions that are scaled are the shape's
            total = self._spread(at, total) + self._moved(by_angles)
        else:
            total = self._spread(at, total)
            own = Numbers.zeros(self.problem, 1, self.by_length)
            own.tensions[0] = 1.0
            total[own.flat[0] != 0.0] = 0.0  # the common tension is what is asked for
        result: Floats = -total / per_end
        return result

    def _spread(self, at: ShapeProblem, derivatives: Floats) -> Floats:
        """Derivatives of a problem without friction and given lengths, as those of this one."""
        ends = np.cumsum([part.view(np.float64).size for part in Numbers.zeros(at.problem, 1)][:9])
        mine = Numbers.zeros(self.problem, 1, self.by_length)
        room = np.zeros(mine.flat.shape[1])
        room[: ends[-1]] = derivatives[: ends[-1]]
        return room

    def _moved(self, by_angles: Floats) -> Floats:
        """(everything,) of what has these derivatives by the angles, through the motion of the pose."""
        seeds = self.seeds(1)
        seeds.angles[0] = by_angles
        derivatives: Floats = self.gradients(seeds)[0][0]
        return derivatives

    def _form_derivatives(self, q: Floats, u: Floats, v: Floats) -> tuple[Floats, Floats]:
        return form_derivatives(self.problem, self.work, q, self.tensions, u, v, self.rest, self.rate)

    def _compliance_derivatives(self) -> Floats:
        """(6, 6, everything) of J H^-1 J^T."""
        q, robot = self.shape.angles, self.problem.robot
        J = Pose(robot, q).jacobian()
        H = self._inspect(self.problem, q)
        right: Floats = np.linalg.solve(H, J.T).astype(np.float64)
        left: Floats = np.linalg.solve(H.T, J.T).astype(np.float64)
        size = Numbers.zeros(self.problem, 1, self.by_length).flat.shape[1]
        result = np.zeros((6, 6, size))
        symmetric = np.abs(H - H.T).max() <= 1e-13 * np.abs(H).max()
        # J_a x with x held is the slope of the tip along x: its derivatives are slopes of those of the tip.
        by_right = self._tip_slopes(right)
        by_left = by_right if symmetric else self._tip_slopes(left)
        for a in range(6):
            for b in range(a if symmetric else 0, 6):
                by_numbers, by_angles = self._form_derivatives(q, left[:, a], right[:, b])
                own = by_right[0][b, a] + by_left[0][a, b] - by_numbers
                turned = by_right[1][b, a] + by_left[1][a, b] - by_angles
                result[a, b] = own + self._moved(turned)
                if symmetric:
                    result[b, a] = result[a, b]
        return result

    def _tip_slopes(self, directions: Floats) -> tuple[Floats, Floats]:
        """Of J x for each direction x (freedoms, 6), held: (6, 6, everything) by the numbers of the problem, pose held,
        and (6, 6, freedoms) by the angles."""
        q, robot = self.shape.angles, self.problem.robot
        seeds, still = self.seeds(6), np.zeros((6, len(q)))
        seeds.tip[:] = np.eye(6)

        def by_numbers(pose: Pose) -> Floats:
            return pose_gradients(
                self.problem, self.work, pose.tip, pose.angles.copy(), self.tensions.copy(), seeds, still, self.rest,
                self.rate,
            )[0].flat  # fmt: skip

        here = Pose(robot, q)
        slopes = by_numbers(here), here.jacobian()
        found = np.zeros((6, 6, slopes[0].shape[1])), np.zeros((6, 6, len(q)))
        for row, x in enumerate(directions.T):
            h = STEP / float(np.abs(x).max()) if x.any() else STEP
            for steps, weight in SIXTH:
                pose = Pose(robot, q + steps * h * x)
                for total, slope in zip(found, (by_numbers(pose), pose.jacobian()), strict=True):
                    total[row] += weight / h * slope
            # Turns do not commute: d(om_x)/dp is the slope of om_p along x, and om_p x om_x.
            turn = slopes[1][3:] @ x
            for total, slope in zip(found, slopes, strict=True):
                total[row, 3:] += np.cross(slope[3:], turn, axis=0) if slope.shape[1] else 0.0
        return found

    # Corners.

    def notes(self) -> list[str]:
        """Where the answer has a corner, which side its derivatives are of."""
        shape, found = self.shape, []
        self._inspect(self.problem, shape.angles)
        friction = self.work.friction
        if friction is not None:
            n = len(shape.robot.joints)
            slip, drawn = friction.grip[GRIP_SLIP, :, :n], friction.grip[GRIP_DRAWN, :, :n]
            raw = friction.history[0] + (drawn - friction.history[1]) / friction.laws[:, LAW_PRESLIDING, None]
            crossing = np.arange(n) < shape.robot.cables["last_link"][:, None]
            near = crossing & (np.abs(np.abs(raw) - 1.0) < CORNER) & (self.tensions[:, None] > 0.0)
            for k, j in np.argwhere(near):
                side = "sticks" if abs(slip[k, j]) < 1.0 else "slips"
                found.append(
                    f"cable {k + 1} is just about to slip in the link before joint {j + 1}: the derivatives are "
                    f"those of the side on which it {side}"
                )
            straight = [shape.robot.joint_of(int(row)) for row in np.flatnonzero(shape.angles == 0.0)]
            if straight and shape.friction and self.tensions.any():
                found.append(
                    f"joint {straight[0]} is exactly straight, where friction has a corner: the derivatives are the "
                    "mean of both sides"
                )
        if self.by_length:
            found += [f"cable {k + 1} is just taut: the derivatives are those of a taut one" for k in self._just_taut()]
        for j, joint in enumerate(shape.robot.joints):
            own = slice(joint["first"], joint["first"] + joint["freedoms"])
            bend = np.hypot(*shape.angles[own][:2]) if joint["kind"] == BACKBONE else np.abs(shape.angles[own]).max()
            if joint["stops"] and bend >= TOUCHES_STOP * joint["limit"] and not shape.stop_torques[own].any():
                found.append(f"joint {j + 1} just touches its stop: the derivatives are those of a joint that is free")
        return found


LINEAR: dict[str, Callable[[ShapeProblem], Linear]] = {
    "tip": ShapeProblem._tip,
    "tip pose": ShapeProblem._tip_pose,
    "angles": ShapeProblem._angles,
    "lengths": ShapeProblem._lengths,
    "tensions": ShapeProblem._tensions,
}
"""What the kernel sums by weights."""
OTHERS: dict[str, Callable[[ShapeProblem], Outputs]] = {
    "stiffness": ShapeProblem.stiffness,
    "compliance": ShapeProblem.compliance,
    "critical tension": ShapeProblem.critical,
    "tension margin": ShapeProblem.margin,
}
"""What holds the stiffness itself."""


def one_each(argument: str, word: str, given: ArrayLike, count: int) -> Floats:
    """Weights of the entries of what a word stands for."""
    weights = numbers(argument, given, "any unit").reshape(-1)
    if len(weights) != count:
        raise InputError(argument, f"{word} has {count} numbers, so as many weights, not {len(weights)}")
    return weights


def derivatives_of_rows(
    problem: Problem, seeds: Seeds, directions: Floats, tip: Floats, angles: Floats, tensions: Floats
) -> Floats:
    """(N, m, p) of the seeds' m outputs along p directions, at N shapes of the same problem under other tensions
    (N, cables); on all cores."""
    count, outputs = len(angles), len(seeds.tip)
    values = np.empty((count, outputs, len(directions)))
    step = max(1, CHUNK // max(outputs, 1))

    def differentiate(first: int) -> int:
        rows = slice(first, min(first + step, count))
        own = rows.stop - first
        repeated = Seeds(*(np.tile(part, (own, *(1,) * (part.ndim - 1))) for part in seeds))
        found, _ = pose_gradients(problem, problem.workspace(), tip[rows], angles[rows], tensions[rows], repeated)
        values[rows] = found.along(directions).reshape(own, outputs, -1)
        return own

    run_pieces(differentiate, range(0, count, step), thread_count(None), count, None)
    return values
