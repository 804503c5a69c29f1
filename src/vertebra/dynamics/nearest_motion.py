"""Which trajectory that the cables can give is nearest to the one asked for, and which tensions are the least there?

With one tension per cable, a few cables cannot give every motion of many joints. Among the motions that satisfy the
equations of motion at every sample with tensions T within their bounds and angles within reach, the nearest one has the
smallest

    D + TIE sum (T / highest bound)^2,   D = sum |e|^2 + SMOOTH^4 sum |d2e/dt2|^2

where e are the deviations of the angles from the wanted ones. The second sum is negligible for slow changes and keeps
fast oscillations out, with which cables could push a robot a little further on average. The third decides between
tensions that do equally well. Each end has a sample beyond it, which belongs to no answer: it gives the end rates and
accelerations by central differences like all others, so that the equations hold there and a jerk at the end counts.

A robot may be able to follow a motion only where it is unstable: below the tension that keeps a standing robot up, or
beyond the one at which universal joints, flexures and rods buckle. There every joint is balanced like a pendulum upside
down. So a motion counts only if it is the wanted one, but for 1 %, or if the robot, at rest at any of its samples,
keeps MARGIN of the stiffness that it has under the least tensions, |v . H v| of its weakest motion v. The search starts
from the least tensions, which count much at first and ever less from step to step; what it finds stands if it counts.
Otherwise a second search keeps that stiffness in every step, from the least tensions or the middle between the bounds,
wherever the robot is stable; at given angles the tensions that keep it are a convex set. Where that fails too, the
nearest of all is taken. Widening bounds that nothing needs therefore does not change the answer.

Tensions would still run up for the last thousandth of a deviation. So a last search takes, of all motions whose
distance sqrt(D) exceeds the least by no more than ALLOWED of it, the one with the least and smoothest tensions: the
smallest

    sum T^2 + CALM^2 sum |dT/dt|^2
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vertebra.dynamics.equations_of_motion import (
    angle_derivatives,
    mass_matrices_at,
    rate_derivatives,
    required_torques,
)
from vertebra.dynamics.problem import Moving, States, joint_damping, states
from vertebra.dynamics.simulate import joint_ranges
from vertebra.errors import InputError
from vertebra.mechanics.kernels.spatial import measure_spans
from vertebra.mechanics.kinematics import measure, until_faces_meet
from vertebra.mechanics.layout import SPAN_SECOND
from vertebra.robot.arguments import positive
from vertebra.robot.robot import Robot
from vertebra.robot.tables import BACKBONE, Floats

SMOOTH = 0.1
"""s; deviations that come and go faster than this count much more."""
ALLOWED = 0.01
"""Part of the least distance from the wanted motion that is given up for smaller and smoother tensions."""
NEGLIGIBLE = 1e-8
"""rad; so is this much of every angle, root mean square."""
CALM = 1.0
"""s; a tension that changes by all of itself in this time counts twice."""
LEAST_SAMPLES = 5


class NearestTrajectory(NamedTuple):
    """A motion that the cables can give, N samples of n angles."""

    q: Floats
    """(N, n) rad."""
    qd: Floats
    """(N, n) rad/s: central differences of q; at the ends with the sample beyond that the equations of motion give."""
    qdd: Floats
    """(N, n) rad/s^2: likewise."""
    tensions: Floats
    """(N, cables) N, within the bounds."""
    residual: Floats
    """(N, n) torques that the equations leave, N*m."""
    converged: bool
    """The equations hold to 1e-9 of the torque scale, and a further step of the search for the nearest motion would
    change no angle by more than 1e-6 rad, or what is minimised by no more than 1e-9 of it. Otherwise the motion is
    feasible as far as `residual` says, but perhaps not the nearest."""


def nearest_trajectory(
    problem: Moving, q: ArrayLike, low: Floats, high: Floats, dt: float, damping: ArrayLike | None = None
) -> NearestTrajectory:
    """The feasible trajectory near angles `q` (N, n) in rad at time steps of `dt` s, N of 5 or more, with the least and
    smoothest tensions.

    `low`, `high`: (cables,) bounds of the tensions, N; `damping` as in `allocate_tensions`. Rates and accelerations of
    the wanted motion are taken from its angles by the same central differences as those of the answer. No joint goes
    beyond its limit, or beyond where its faces meet. A search that fails returns where it ended, `converged` false.
    """
    wanted = states(problem.robot, q)
    if wanted.single or len(wanted.q) < LEAST_SAMPLES:
        count = 1 if wanted.single else len(wanted.q)
        raise InputError("q", f"must have {LEAST_SAMPLES} samples or more to find a trajectory near it, not {count}")
    if not np.isfinite(high).all():
        raise InputError("upper", "must be finite, in N; give max_tension of the cables in the robot file")
    equations = MotionEquations(problem, positive("dt", dt), joint_damping(problem.robot, damping))
    goal = Goal.of(equations, wanted.q, low, high)
    angles, tensions, converged = goal.nearest()
    if converged and tensions.size:
        relaxed = goal.with_distance(angles, tensions)
        near, least, _ = search(relaxed, angles, tensions)
        holds = float(np.abs(goal.unbalanced(near, least)).max()) <= BALANCED
        if holds and relaxed.objective(near, least) <= relaxed.objective(angles, tensions):
            angles, tensions = near, least
    motion = equations.motion(angles)
    return NearestTrajectory(*motion[1:], tensions, equations.unbalanced(motion, tensions), converged)


# Equations of motion of sampled angles, rates and accelerations by central differences, and their derivatives.


@dataclass(frozen=True, eq=False)
class MotionEquations:
    """M qdd + bias + d qd + k q + sum_k T_k l_k' = 0 at the N samples between the ends of N + 2."""

    moving: Moving
    dt: float
    """Time step, s."""
    damping: Floats
    """(n,) N*m*s/rad."""

    def motion(self, q: Floats) -> States:
        """Of (N + 2, n) angles in rad, at the samples between the ends."""
        before, at, after = q[:-2], np.ascontiguousarray(q[1:-1]), q[2:]
        return States(False, at, (after - before) / (2.0 * self.dt), (after - 2.0 * at + before) / self.dt**2)

    def unbalanced(self, motion: States, tensions: Floats) -> Floats:
        """(N, n) torques that the equations leave, N*m, of N states under tensions (N, cables)."""
        arms = cable_arms(self.moving, motion.q)
        left: Floats = self._free(motion) + np.einsum("ijk,ik->ij", arms, tensions)
        return left

    def _free(self, motion: States) -> Floats:
        """The same without cables."""
        springs = self.moving.robot.springs * motion.q + self.damping * motion.qd
        free: Floats = required_torques(self.moving, motion, False)[0] + springs
        return free

    def stiffness(self, motion: States, tensions: Floats) -> Floats:
        """(N, n, n) derivatives of these torques in the angles, N*m/rad, at given rates and accelerations."""
        own = np.arange(motion.q.shape[1])
        stiff = angle_derivatives(self.moving, motion, order=2) + cable_stiffness(self.moving, motion.q, tensions)
        stiff[:, own, own] += self.moving.robot.springs
        return stiff

    def at_rest(self, q: Floats) -> States:
        return States(False, q, np.zeros_like(q), np.zeros_like(q))

    def stiffness_at_rest(self, q: Floats, tensions: Floats) -> Floats:
        """(N, n, n) N*m/rad, symmetric, at (N, n) angles."""
        stiff = self.stiffness(self.at_rest(q), tensions)
        return 0.5 * (stiff + stiff.transpose(0, 2, 1))

    def weakest(self, q: Floats, tensions: Floats) -> Floats:
        """(N,) least stiffness at rest against any motion, N*m/rad; the robot stays where this is positive."""
        return np.asarray(np.linalg.eigvalsh(self.stiffness_at_rest(q, tensions))[:, 0], dtype=np.float64)

    def weak_motions(self, q: Floats, tensions: Floats, count: int) -> tuple[Floats, Floats, Floats]:
        """The `count` least stiffnesses (N, count) at rest, N*m/rad, and their derivatives in the angles (N, count, n)
        and tensions (N, count, cables). With its motion v a stiffness is v . H v, so that its derivatives are second
        ones of torques and lengths along v."""
        values, motions = np.linalg.eigh(self.stiffness_at_rest(q, tensions))
        in_angles, in_tensions = np.empty((len(q), count, q.shape[1])), np.empty((len(q), count, tensions.shape[1]))
        here = self.unbalanced(self.at_rest(q), tensions)
        for k in range(count):
            v = motions[:, :, k]
            ahead, behind = (np.ascontiguousarray(q + way * ALONG * v) for way in (1.0, -1.0))
            there, back = (self.unbalanced(self.at_rest(at), tensions) for at in (ahead, behind))
            in_angles[:, k] = (there - 2.0 * here + back) / ALONG**2
            arms = cable_arms(self.moving, ahead) - cable_arms(self.moving, behind)
            in_tensions[:, k] = np.einsum("ij,ijk->ik", v, arms) / (2.0 * ALONG)
        return values[:, :count], in_angles, in_tensions

    def derivatives(self, q: Floats, tensions: Floats) -> tuple[Any, Any, Floats]:
        """Sparse matrices of the derivatives in all angles, (N n, (N+2) n), and all tensions, (N n, N c), and the
        torques without cables (N, n): the equations are linear in the tensions."""
        from scipy.sparse import block_diag, bsr_matrix

        motion = self.motion(q)
        m, n = motion.q.shape
        arms = cable_arms(self.moving, motion.q)
        stiff = self.stiffness(motion, tensions)
        inertia = mass_matrices_at(self.moving, motion.q) / self.dt**2
        losses = (rate_derivatives(self.moving, motion) + np.diag(self.damping)) / (2.0 * self.dt)
        blocks = np.stack([inertia - losses, stiff - 2.0 * inertia, inertia + losses], axis=1).reshape(3 * m, n, n)
        columns = (np.arange(m)[:, None] + np.arange(3)).reshape(-1)
        in_angles = bsr_matrix((blocks, columns, 3 * np.arange(m + 1)), shape=(m * n, (m + 2) * n))
        in_tensions = block_diag(list(arms), format="csc")
        return in_angles.tocsc(), in_tensions, self._free(motion)


def cable_arms(moving: Moving, q: Floats) -> Floats:
    """(N, n, cables) derivative of every cable's length in every coordinate, m/rad."""
    return np.array([measure(moving.robot, row).first.T for row in q])


def cable_stiffness(moving: Moving, q: Floats, tensions: Floats) -> Floats:
    """(N, n, n) second derivatives of the cables' lengths times their tensions (N, cables), N*m/rad."""
    robot, spatial = moving.robot, moving.statics.spatial()
    stiff = np.zeros((*q.shape, q.shape[1]))
    own = np.arange(q.shape[1])
    for i, (row, pull) in enumerate(zip(q, tensions, strict=True)):
        stiff[i, own, own] = measure(robot, row).second.T @ pull
        if spatial is None:
            continue
        measure_spans(robot.joints, robot.links, robot.cables, robot.segments, row, spatial)
        for j in np.flatnonzero(robot.joints["freedoms"] > 1).tolist():
            first, freedoms = int(robot.joints["first"][j]), int(robot.joints["freedoms"][j])
            crossing = robot.cables["last_link"] > j
            for a in range(freedoms):
                for b in range(a):
                    pair = spatial.spans[crossing, j, SPAN_SECOND + a * (a + 1) // 2 + b] @ pull[crossing]
                    stiff[i, first + a, first + b] = stiff[i, first + b, first + a] = pair
    return stiff


# How far joints can go.


class Reach(NamedTuple):
    """Of every joint: its limit, and where its faces meet at a cable."""

    robot: Robot
    least: Floats
    """(n,) rad."""
    most: Floats
    rods: list[int]
    """First coordinate of each backbone, whose limit holds for the bend in whatever direction."""

    @classmethod
    def of(cls, robot: Robot) -> Reach:
        rods = robot.joints["first"][robot.joints["kind"] == BACKBONE].tolist()
        return cls(robot, *joint_ranges(robot), rods)

    def nearest(self, q: Floats) -> Floats:
        """(N, n) angles within reach."""
        within: Floats = np.clip(q, self.least, self.most)
        for row in self.rods:
            bend = np.hypot(within[:, row], within[:, row + 1])
            within[:, row : row + 2] *= (self.most[row] / np.maximum(bend, self.most[row]))[:, None]
        for angles in within if self.rods else ():
            self._part_faces(angles)
        return within

    def _part_faces(self, angles: Floats) -> None:
        """Bend backbones back to where their faces meet, if these have passed through each other."""
        bends = np.concatenate([[row, row + 1] for row in self.rods])
        unbent = angles.copy()
        unbent[bends] = 0.0
        part = np.repeat(until_faces_meet(self.robot, unbent, angles), self.robot.joints["freedoms"])
        angles[bends] *= part[bends]

    def gaps(self, q: Floats) -> tuple[Floats, Floats]:
        """(N, rows) lengths of the cables across the backbones, m, and (N, rows, n) their derivatives."""
        joints = np.flatnonzero(self.robot.joints["kind"] == BACKBONE)
        found = [measure(self.robot, row) for row in q]
        pairs = [(k, j) for j in joints for k in np.flatnonzero(self.robot.cables["last_link"] > j)]
        lengths = np.array([[one.lengths[k, j] for k, j in pairs] for one in found]).reshape(len(q), -1)
        slopes = np.zeros((*lengths.shape, q.shape[1]))
        for place, (k, j) in enumerate(pairs):
            first = self.robot.joints["first"][j]
            own = slice(first, first + self.robot.joints["freedoms"][j])
            slopes[:, place, own] = [one.first[k, own] for one in found]
        return lengths, slopes

    def keeps(self, q: Floats) -> bool:
        """Whether no joint of (N, n) angles is beyond its reach, but for round-off."""
        return bool((np.abs(q - self.nearest(q)) <= BEYOND).all())


# The search: sequential quadratic programming.
#
# Each step solves a programme with the exact objective and linearised equations, and is shortened until the sum of
# the objective and the weighted torques out of balance falls. Limits of joints and the distance are convex and exact in
# the programme, so a part of a step keeps them too.

TIE = 1e-8
"""rad^2; full tension of a cable counts as much as a deviation of 0.1 mrad of a joint."""
AMPLE = 10.0
"""Tensions are scaled by this many times what the largest torque needs, or by the highest bound if that is less."""
FIRST_TIE = 1e-2
"""rad^2; what a tension that gives the largest torque needed counts at first."""
BALANCED = 1e-9
"""Of the torque scale: the equations hold."""
SOUND = 1e-6
"""They nearly hold."""
SETTLED = 1e-6
"""rad; steps below this change nothing of interest."""
SAME, SAME_TENSIONS = 1e-9, 1e-4
"""Of the objective: a change that is none, in the search for the nearest motion and for the least tensions."""
BEYOND = 1e-9
"""rad; of a limit, round-off."""
CLEAR = 1e-6
"""Of the longest link: faces stay so far apart in the programmes, so that what these leave open makes none cross."""
MOST_STEPS = 200
MOST_CAUTION = 1e4
MOST_RESTORED = 6
AS_ASKED = 0.01
"""Of the size of the wanted motion: distance of one that counts as the same, be the robot stable along it or not."""
MARGIN = 0.2
"""Of the least stiffness under the lower bounds of the tensions: what a robot that has to be stable keeps."""
WEAK = 3
"""Motions of each sample that are looked at for that."""
FIRMLY = 100.0
"""A sample without any of its margin costs this many times the objective."""
ALONG = 1e-3
"""rad; change over which second derivatives are taken."""
FARTHEST = 3.1
"""rad; steps stay within the half turn at which joint laws end."""
LONGEST, SHORTEST = 0.7, 1e-4
"""rad of a step; least fraction of one."""


class Goal(NamedTuple):
    """What is asked for, fixed during a search."""

    equations: MotionEquations
    q: Floats
    """(N + 2, n) wanted angles, one sample beyond each end, rad."""
    low: Floats
    high: Floats
    unit: float
    """N; tensions are searched for as parts of it, whatever their bounds."""
    scale: float
    """Of the torques, N*m."""
    reach: Reach
    root: Any
    """Sparse F: the square of the distance is |F e|^2 for the deviation e of the angles."""
    weight: Any
    """Sparse F^T F."""
    smooth: Any
    """Sparse: tensions t, as parts of the unit, count as t S t in the search for the least ones."""
    first_tie: float
    """What the unit of tension of a cable counts in the first step of a search from the least tensions, rad^2."""
    last_tie: float
    """What it counts in the end."""
    tie: float = 0.0
    """What it counts in this step, if that is more."""
    margin: Floats | None = None
    """(N,) N*m/rad; least stiffness that is kept against every motion, None where the robot may be unstable."""
    distance: float = 0.0
    """The largest that is allowed; 0 while the nearest motion is searched for."""
    exchange: float = 1.0
    """What a squared radian is worth where tensions are minimised, for steps that must be cautious."""

    @classmethod
    def of(cls, equations: MotionEquations, q: Floats, low: Floats, high: Floats) -> Goal:
        """The nearest motion."""
        from scipy.sparse import diags, eye, kron, vstack

        count, n = q.shape
        robot, dt = equations.moving.robot, equations.dt
        levers = np.abs(robot.segments["offset"]).max(axis=1, initial=0.0)
        if robot.freedoms > len(robot.joints):
            levers = np.maximum(levers, robot.cables["radius"])
        beyond = np.array([4.0, -6.0, 4.0, -1.0])  # of cubics
        q = np.concatenate([[beyond @ q[:4]], q, [beyond @ q[:-5:-1]]])
        needed = float(np.abs(equations.unbalanced(equations.motion(q), np.zeros((count, len(low))))).max())
        lever, most = float(levers.max(initial=0.0)), float(high.max(initial=0.0))
        pull = needed / lever if lever else 0.0
        unit = max(min(most, AMPLE * pull), float(low.max(initial=0.0))) or most or 1.0
        scale = needed + unit * float(levers.sum())
        second = diags([1.0, -2.0, 1.0], [0, 1, 2], shape=(count, count + 2)) * (SMOOTH / dt) ** 2
        root = kron(vstack([eye(count, count + 2, 1), second]), eye(n), format="csc")
        change = diags([-1.0, 1.0], [0, 1], shape=(count - 1, count)) * (CALM / dt)
        smooth = kron(eye(count) + change.T @ change, eye(len(low)), format="csc")
        return cls(
            equations, q, low, high, unit, scale or 1.0, Reach.of(robot), root, (root.T @ root).tocsc(), smooth,
            FIRST_TIE * (unit / (pull or unit)) ** 2, TIE * (unit / (most or unit)) ** 2,
        )  # fmt: skip

    def nearest(self) -> tuple[Floats, Floats, bool]:
        """Angles (N + 2, n) within reach, tensions (N, cables) and whether a search found them: from the lower bounds;
        unless the robot is stable there, by stable motions only, from the lower bounds or half-way between the bounds,
        wherever it is stable; and where that fails too, the nearest of all these."""
        q, found = self.within(self.q), []
        least, middle = (np.tile(pull, (len(q) - 2, 1)) for pull in (self.low, 0.5 * (self.low + self.high)))
        margin = self.kept(q)
        steady = [(self._replace(tie=self.first_tie, margin=margin), pulls) for pulls in (least, middle)]
        starts = [(self._replace(tie=self.first_tie), least), *steady, (self, middle)]
        for place, (goal, pulls) in enumerate(starts):
            if goal.margin is not None and self.falls(q, pulls):
                continue
            answer = search(goal, q, pulls)
            if answer[2] and (self.is_asked(answer[0]) or (self.weakest(*answer[:2]) >= (1.0 - SOUND) * margin).all()):
                return answer
            found.append((not answer[2], self.objective(*answer[:2]), place, answer))
        return min(found)[-1]

    def is_asked(self, q: Floats) -> bool:
        """Whether a motion is the wanted one, but for little."""
        e = (q - self.q).reshape(-1)
        return float(e @ (self.weight @ e)) <= (AS_ASKED**2) * float((self.q[1:-1] ** 2).sum())

    def weakest(self, q: Floats, tensions: Floats) -> Floats:
        """(N,) least stiffness of the robot at rest, N*m/rad."""
        return self.equations.weakest(np.ascontiguousarray(q[1:-1]), tensions)

    def kept(self, q: Floats) -> Floats:
        """(N,) N*m/rad; the stiffness that a robot which has to be stable keeps."""
        least = self.weakest(q, np.tile(self.low, (len(q) - 2, 1)))
        kept: Floats = np.maximum(MARGIN * np.abs(least), BALANCED * self.scale)
        return kept

    def falls(self, q: Floats, tensions: Floats) -> bool:
        """Whether there is a sample at which the robot, at rest, would not stay."""
        return bool((self.weakest(q, tensions) <= 0.0).any())

    def shaky(self, q: Floats, tensions: Floats) -> float:
        """Sum of what stiffnesses lack of the margin, as parts of it; infinite where the robot is unstable."""
        if self.margin is None:
            return 0.0
        weakest = self.weakest(q, tensions)
        return float(np.maximum(1.0 - weakest / self.margin, 0.0).sum()) if (weakest > 0.0).all() else np.inf

    def within(self, q: Floats) -> Floats:
        """The nearest angles within reach; beyond the ends anything is."""
        return np.concatenate([q[:1], self.reach.nearest(q[1:-1]), q[-1:]])

    def with_distance(self, q: Floats, tensions: Floats) -> Goal:
        """The least tensions not much farther away than `q`."""
        e = (q - self.q).reshape(-1)
        distance = (1.0 + ALLOWED) * float(np.sqrt(e @ (self.weight @ e))) + NEGLIGIBLE * float(np.sqrt(q.size))
        weakest, unit = self.weakest(q, tensions), float(tensions.max()) or self.unit
        margin = np.minimum(self.kept(q), weakest) if (weakest > 0.0).all() else None
        found = self._replace(distance=distance, margin=margin, unit=unit)
        return found._replace(exchange=found.objective(q, tensions) / distance**2)

    def objective(self, q: Floats, tensions: Floats) -> float:
        pulls = tensions.reshape(-1) / self.unit
        if self.distance:
            return float(pulls @ (self.smooth @ pulls))
        e = (q - self.q).reshape(-1)
        return float(e @ (self.weight @ e) + max(self.tie, self.last_tie) * (pulls @ pulls))

    def unbalanced(self, q: Floats, tensions: Floats) -> Floats:
        """(N, n) as parts of the torque scale."""
        return self.equations.unbalanced(self.equations.motion(q), tensions) / self.scale

    def allows(self, q: Floats) -> bool:
        """Whether angles are within reach and near enough."""
        e = (q - self.q).reshape(-1)
        near = not self.distance or float(e @ (self.weight @ e)) <= (1.0 + SETTLED) * self.distance**2
        return bool(np.abs(q[1:-1]).max() < FARTHEST) and near and self.reach.keeps(q[1:-1])


def search(goal: Goal, q: Floats, tensions: Floats) -> tuple[Floats, Floats, bool]:
    """Angles (N + 2, n), tensions (N, cables) and whether they are the answer, from a start that `goal` allows."""
    penalty, price, caution, before, left, settled = 0.0, 0.0, 0.0, np.inf, goal.unbalanced(q, tensions), False
    same, sound, least = SAME_TENSIONS if goal.distance else SAME, (q, tensions, left), 0.0
    for _ in range(MOST_STEPS):
        found = _programme(goal, q, tensions, caution)
        if found is None:
            # Steps led so far from the equations that none leads back: take shorter ones from where they held.
            caution = least = max(4.0 * least, 1.0)
            if q is sound[0] or caution > MOST_CAUTION:
                break
            (q, tensions, left), before = sound, np.inf
            continue
        step, pulls, multipliers, prices = found
        longest = float(np.abs(step).max())
        # Multipliers far from the answer say little about those near it.
        penalty = max(0.5 * penalty, 1.5 * float(np.abs(multipliers).max(initial=0.0)))
        price = max(0.5 * price, 1.5 * float(prices.max(initial=0.0)))
        taken = _shortened(goal, q, tensions, left, step, pulls, penalty, price)
        if taken is None:
            caution = max(4.0 * caution, 1.0)
            if caution > MOST_CAUTION:
                break
            continue
        start = goal.objective(q, tensions)
        q, tensions, left = taken
        # The curvature of the equations is not in the programmes: where it is large, steps overshoot or do not get
        # shorter, and caution, which pulls each answer towards where it started, makes up for it.
        caution = max(2.0 * caution, 0.5) if longest > 0.7 * before else max(0.3 * caution, least)
        before = longest
        if float(np.abs(left).max()) <= SOUND:
            sound, least = (q, tensions, left), 0.3 * least
        stays = abs(goal.objective(q, tensions) - start) <= same * start
        # At the largest distance nothing is left for restoring the equations.
        holds = float(np.abs(left).max()) <= BALANCED
        settled = (holds and stays) or (longest <= SETTLED and (holds or not goal.distance))
        if settled and goal.tie <= goal.last_tie:
            break
        goal = goal._replace(tie=0.1 * goal.tie)
    if not settled and np.abs(sound[2]).max() < np.abs(left).max():
        q, tensions, left = sound
    q, left = _restored(goal, q, tensions)
    return q, tensions, settled and float(np.abs(left).max()) <= BALANCED


def _shortened(
    goal: Goal, q: Floats, tensions: Floats, left: Floats, step: Floats, pulls: Floats, penalty: float, price: float
) -> tuple[Floats, Floats, Floats] | None:
    """Angles, tensions and torques out of balance after as much of the step as lowers the merit."""
    longest = float(np.abs(step).max())
    fraction = min(1.0, LONGEST / longest) if longest else 1.0
    shaky, worst = goal.shaky(q, tensions), float(np.abs(left).max())
    start = goal.objective(q, tensions) + penalty * float(np.abs(left).sum()) + price * shaky
    correct: Callable[[Floats], Floats] | None = None
    while fraction > SHORTEST:
        angles, rest = q + fraction * step, left
        mixed = np.clip(tensions + fraction * (pulls - tensions), goal.low, goal.high)
        for corrected in (False, True):
            if corrected:
                # The equations bend away from the step: go back to them, at least to second order.
                correct = correct or _corrector(goal, q, tensions)
                angles = angles + correct(rest - (1.0 - fraction) * left)
            angles = goal.within(angles)
            if not goal.allows(angles):
                break
            rest = goal.unbalanced(angles, mixed)
            merit = goal.objective(angles, mixed) + penalty * float(np.abs(rest).sum())
            # Near the answer merits differ by round-off, and steps are safe.
            safe = longest < 10.0 * SETTLED and float(np.abs(rest).max()) <= max(worst, BALANCED)
            if merit < start or safe:
                lacking = goal.shaky(angles, mixed)
                if merit + price * lacking < start or (safe and lacking <= shaky):
                    return angles, mixed, rest
        fraction *= 0.5
    return None


def _corrector(goal: Goal, q: Floats, tensions: Floats) -> Callable[[Floats], Floats]:
    """From torques out of balance (parts of the scale) to the smallest change of the angles that takes them away."""
    from scipy.sparse import bmat
    from scipy.sparse.linalg import splu

    slopes = goal.equations.derivatives(q, tensions)[0] / goal.scale
    both = splu(bmat([[goal.weight, slopes.T], [slopes, None]], format="csc"))

    def change(left: Floats) -> Floats:
        found = both.solve(np.concatenate([np.zeros(q.size), -left.reshape(-1)]))
        return np.asarray(found[: q.size].reshape(q.shape), dtype=np.float64)

    return change


def _restored(goal: Goal, q: Floats, tensions: Floats) -> tuple[Floats, Floats]:
    """The last digits of the equations, which the programmes leave: the nearest angles at which they hold with these
    tensions, and what is left."""
    left = goal.unbalanced(q, tensions)
    for _ in range(MOST_RESTORED):
        if np.abs(left).max() <= 0.01 * BALANCED:
            break
        step = _corrector(goal, q, tensions)(left)
        if not goal.allows(q + step):
            break
        better = goal.unbalanced(q + step, tensions)
        if not np.abs(better).max() < 0.5 * np.abs(left).max():
            break
        q, left = q + step, better
    return q, left


def _programme(goal: Goal, q: Floats, tensions: Floats, caution: float) -> tuple[Floats, ...] | None:
    """Step of the angles (N + 2, n), new tensions (N, cables) and the multipliers of the equations (N n,) and of the
    stiffnesses that are kept (N WEAK,)."""
    import clarabel
    from scipy.sparse import block_diag, csr_matrix, eye, hstack, triu, vstack

    in_angles, in_tensions, free = goal.equations.derivatives(q, tensions)
    rows, pulls = in_tensions.shape
    unit, scale, size = goal.unit, goal.scale, q.size
    equations = hstack([in_angles / scale, in_tensions * (unit / scale)])
    select = hstack([csr_matrix((pulls, size)), eye(pulls)], format="csr")
    low, high = (np.tile(bound / unit, len(free)) for bound in (goal.low, goal.high))
    fixed, open_ = low == high, low < high
    matrices, rights = [equations, select[fixed]], [-free.reshape(-1) / scale, low[fixed]]
    cones = [clarabel.ZeroConeT(rows + int(fixed.sum()))]
    # What must stay positive, then pairs and the distance, which stay within circles.
    limits, slacks = _limits(goal.reach, q)
    matrices += [select[open_], -select[open_], hstack([limits, csr_matrix((len(slacks), pulls))])]
    rights += [high[open_], -low[open_], slacks]
    cones += [clarabel.NonnegativeConeT(2 * int(open_.sum()) + len(slacks))]
    samples = range(1, len(q) - 1)
    circles = [_circle(goal.reach, i * q.shape[1] + row, row, q) for i in samples for row in goal.reach.rods]
    e = (q - goal.q).reshape(-1)
    if goal.distance:
        circles += [(-goal.root / goal.distance, goal.root @ e / goal.distance)]
    for moves, start in circles:
        matrices += [hstack([vstack([csr_matrix((1, size)), moves]), csr_matrix((len(start) + 1, pulls))])]
        rights += [np.concatenate([[1.0], start])]
        cones += [clarabel.SecondOrderConeT(len(start) + 1)]
    pull, tie = tensions.reshape(-1) / unit, max(goal.tie, goal.last_tie)
    if goal.distance:
        quadratic = [caution * goal.exchange * goal.weight, goal.smooth + caution * eye(pulls)]
        slope = np.concatenate([np.zeros(size), -2.0 * caution * pull])
    else:
        quadratic = [(1.0 + caution) * goal.weight, tie * (1.0 + caution) * eye(pulls)]
        slope = np.concatenate([2.0 * (goal.weight @ e), -2.0 * tie * caution * pull])
    lacking = csr_matrix((sum(map(len, rights)), 0))
    if goal.margin is not None:
        # One more variable is what stiffnesses lack of their margin; it costs much.
        rows_kept, kept = _kept_stiffness(goal, goal.margin, q, tensions)
        matrices += [rows_kept, csr_matrix((1, size + pulls))]
        rights += [kept, np.zeros(1)]
        cones += [clarabel.NonnegativeConeT(len(kept) + 1)]
        lacking = vstack([csr_matrix((lacking.shape[0], 1)), csr_matrix(np.full((len(kept) + 1, 1), -1.0))])
        quadratic += [csr_matrix((1, 1))]
        slope = np.append(slope, FIRMLY * goal.objective(q, tensions))
    objective = 2.0 * block_diag(quadratic, format="csc")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(
        triu(objective, format="csc"), slope, hstack([vstack(matrices), lacking], format="csc"), np.concatenate(rights),
        cones, settings,
    )  # fmt: skip
    solution = solver.solve()
    if solution.status not in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved):
        return None
    x, multipliers = np.array(solution.x), np.array(solution.z)
    found = np.clip(unit * x[size : size + pulls].reshape(tensions.shape), goal.low, goal.high)
    step = goal.within(q + x[:size].reshape(q.shape)) - q
    prices = multipliers[-1 - len(kept) : -1] if goal.margin is not None else np.zeros(0)
    return step, found, multipliers[:rows], prices


def _kept_stiffness(goal: Goal, margin: Floats, q: Floats, tensions: Floats) -> tuple[Any, Floats]:
    """Sparse rows A and what is left, so that a step of the angles and new tensions x keep the least stiffnesses where
    A x <= left, as parts of the margin."""
    from scipy.sparse import block_diag, csr_matrix, hstack

    inner, n = np.ascontiguousarray(q[1:-1]), q.shape[1]
    values, in_angles, in_tensions = goal.equations.weak_motions(inner, tensions, min(WEAK, n))
    share = 1.0 / margin[:, None]
    by_angle, by_pull = -share[:, :, None] * in_angles, -share[:, :, None] * in_tensions
    left = share * values - 1.0 + np.einsum("ijk,ik->ij", by_pull, tensions)
    outer = csr_matrix((left.size, n))
    rows = [outer, block_diag(list(by_angle)), outer, goal.unit * block_diag(list(by_pull))]
    return hstack(rows, format="csr"), left.reshape(-1)


def _limits(reach: Reach, q: Floats) -> tuple[Any, Floats]:
    """Sparse rows A and what is left, so that a step d keeps every joint within reach where A d <= left: limits of
    single coordinates, and the cables across backbones, which must not become shorter than nothing."""
    from scipy.sparse import block_diag, csr_matrix, eye, vstack

    inner, n = q[1:-1], q.shape[1]
    single = np.isfinite(reach.most) & ~np.isin(np.arange(n), [row + k for row in reach.rods for k in (0, 1)])
    rows = np.tile(single, len(inner))
    chosen = eye(inner.size, q.size, n, format="csr")[rows]
    parts = [chosen, -chosen]
    left = [(reach.most - inner).reshape(-1)[rows], (inner - reach.least).reshape(-1)[rows]]
    if reach.rods:
        lengths, slopes = reach.gaps(inner)
        parts += [-csr_matrix(block_diag(list(slopes))) @ eye(inner.size, q.size, n)]
        left += [(lengths - CLEAR * reach.robot.links["length"].max()).reshape(-1)]
    return vstack(parts), np.concatenate(left)


def _circle(reach: Reach, place: int, row: int, q: Floats) -> tuple[Any, Floats]:
    """Rows for the two bends of a backbone, `place` of the first among all angles, as parts of their limit."""
    from scipy.sparse import csr_matrix

    limit = float(reach.most[row])
    moves = csr_matrix((np.full(2, -1.0 / limit), ([0, 1], [place, place + 1])), shape=(2, q.size))
    return moves, q.reshape(-1)[place : place + 2] / limit
