"""Cable friction in plain NumPy from theory 4 and 9: slip, tension at every face, and both closures of the balance.

The tensions are a linear solve of the forces at the two faces of every disc, the virtual work of the cables is a
complex step of each segment, and the paper's moments are summed body by body about the centres of the discs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from tests.oracles import statics
from tests.oracles.chain import NODES, STEP, WEIGHTS
from tests.oracles.mirror_chain import Array, along_arc, complex_steps, frames, gap_ends, place, segment_lengths

from vertebra.robot.robot import Robot
from vertebra.robot.tables import UNIVERSAL


@dataclass(frozen=True)
class Rule:
    """Friction of one cable: mu of the bend at a face in rad, and the slip in m over which friction builds up."""

    mu: Callable[[float], float]
    presliding: float = 1e-5


@dataclass(frozen=True)
class Question:
    """A robot with cable friction, under actuator tensions (cables,) N or elastic cables of given rest length."""

    robot: Robot
    rules: Sequence[Rule]
    tensions: Array | statics.Elastic
    gravity: Array
    loads: tuple = ()
    slip: Array | float = 0.0
    """(cables, n) slip directions of the state before."""
    drawn: Array | float = 0.0
    """(cables, n) slip of the state before, m."""
    at_discs: bool = False
    """Whether torques are balanced about the centres of the discs, as the paper does."""

    def follow(self, q: Array, tensions: Array) -> Question:
        """The question after coming to rest at q, under other tensions."""
        return replace(self, tensions=tensions, slip=slips(self, q), drawn=way(self.robot, q))


def way(robot: Robot, q: Array) -> Array:
    """(cables, n) D_j: change of each cable's segments from joint j to its own end, m."""
    change = (segment_lengths(robot, q) - segment_lengths(robot, np.zeros(len(q)))).real
    return np.cumsum(change[:, ::-1], axis=1)[:, ::-1]


def slips(question: Question, q: Array) -> Array:
    """(cables, n) s_j; 0 past the end of a cable."""
    presliding = np.array([rule.presliding for rule in question.rules])[:, None]
    slip = np.clip(question.slip + (way(question.robot, q) - question.drawn) / presliding, -1.0, 1.0)
    return np.where(np.arange(len(question.robot.joints)) < question.robot.cables["last_link"][:, None], slip, 0.0)


def bends(robot: Robot, q: Array) -> Array:
    """(cables, n, 2) rad by which each cable bends where it leaves the link before each joint and where it enters the
    one beyond: half the angle of a mirror joint, else the angle between the straight piece and the axis of the link."""
    links = frames(robot, q).real
    out = np.zeros((len(robot.cables), len(robot.joints), 2))
    for j, joint in enumerate(robot.joints):
        if joint["kind"] != UNIVERSAL:
            out[:, j] = np.abs(q[joint["first"]]) / 2
            continue
        start, end = gap_ends(robot, links, j)
        for side in (0, 1):
            axis, pieces = links[j + side, :3, 2], end - start
            out[:, j, side] = np.arctan2(np.linalg.norm(np.cross(pieces, axis), axis=-1), pieces @ axis)
    return out


def face_tensions(mu: Callable[[float], float], bends: Array, slip: Array, last: int) -> Array:
    """(n,) F_j for 1 N at the actuator, 0 past the cable's last joint: the cable is pressed against the far face of the
    disc before and the near face of the disc after each joint, and friction at both faces of a disc has one sense."""
    out, into = np.array([[mu(bend) * np.sin(bend) for bend in both] for both in bends]).T
    A, b = np.eye(last), np.zeros(last)
    b[0] = 1.0
    for j in range(last):
        # F_j = F_before + s (pressure at the face behind + pressure at the face ahead) * mu
        A[j, j] -= slip[j] * out[j]
        if j > 0:
            A[j, j - 1] = -1.0 - slip[j] * into[j - 1]
    return np.append(np.linalg.solve(A, b), np.zeros(len(bends) - last))


def tensions(question: Question, q: Array) -> Array:
    """(cables, n) tension of each cable across each joint, N."""
    robot, slip = question.robot, slips(question, q)
    ends = robot.cables["last_link"]
    given = zip(question.rules, bends(robot, q), slip, ends, strict=True)
    ratio = np.array([face_tensions(rule.mu, bent, s, end) for rule, bent, s, end in given])
    ratio = ratio.reshape(len(robot.cables), len(robot.joints))
    if not isinstance(question.tensions, statics.Elastic):
        return np.asarray(question.tensions, float)[:, None] * ratio
    # An elastic cable is stretched by its mean tension.
    mean = ratio.sum(axis=1) / ends
    lengths = (segment_lengths(robot, q).sum(axis=-1) + robot.cables["inside"]).real
    return (question.tensions.tensions(lengths) / mean)[:, None] * ratio


def residual(question: Question, q: Array) -> Array:
    """(freedoms,) torque out of balance, N*m."""
    q = np.asarray(q, float)
    if question.at_discs:
        return residual_at_discs(question, q)
    robot = question.robot
    rest = statics.residual(robot, q, np.zeros(len(robot.cables)), question.gravity, question.loads)
    slopes = segment_lengths(robot, complex_steps(q)).imag / STEP
    return rest + (tensions(question, q) * slopes).sum(axis=(-2, -1))


def moments_about(points: Array, forces: Array, centre: Array) -> Array:
    """(3,) N*m."""
    return np.cross(points - centre, forces).sum(axis=0)


def residual_at_discs(question: Question, q: Array) -> Array:
    """The paper's balance: k q_j less the component along the joint axis of all moments about the disc's centre."""
    robot, gravity = question.robot, np.asarray(question.gravity, float)
    links, pulls, n = frames(robot, q).real, tensions(question, q), len(q)
    ends = [gap_ends(robot, links, j) for j in range(n)]
    out = np.empty(n)
    for j, joint in enumerate(robot.joints):
        points, forces = [], []
        moment = np.zeros(3)
        for k in np.flatnonzero(robot.cables["last_link"] > j):
            near, far = ends[j][0][k], ends[j][1][k]
            points.append(far)
            forces.append(pulls[k, j] * (near - far) / np.linalg.norm(near - far))
        for i in range(j, n):  # gap i, then link i + 1
            if robot.joints["mass"][i]:
                face = place(links, i, [0.0, 0.0, robot.links["reach"][i]])
                arc = along_arc(robot.joints[i], np.asarray(q[i], complex), WEIGHTS * (1 - NODES)).real
                points.append(face + links[i, :3, :3] @ arc)
                forces.append(robot.joints["mass"][i] * gravity)
            for k in np.flatnonzero(robot.cables["last_link"] > i):
                near, far = ends[i][0][k], ends[i][1][k]
                points.append((near + far) / 2)
                forces.append(robot.cables["linear_density"][k] * np.linalg.norm(near - far) * gravity)
            points.append(place(links, i + 1, robot.links["center_of_mass"][i + 1]))
            forces.append(robot.links["mass"][i + 1] * gravity)
            for cable in robot.cables[robot.cables["last_link"] == i + 1]:
                points.append(place(links, i + 1, [cable["x"], cable["y"], cable["end"]]))
                forces.append(cable["lock_mass"] * gravity)
            for load in question.loads:
                link, point = statics.load_place(robot, load)
                if link == i + 1:
                    points.append(place(links, link, point))
                    forces.append(np.asarray(load.force, float))
                    moment = moment + np.asarray(load.moment, float)
        centre = place(links, j, [0.0, 0.0, robot.links["reach"][j] / 2]) if j else np.zeros(3)
        axis = links[j, :3, :3] @ [joint["axis_x"], joint["axis_y"], 0.0]
        moment = moment + moments_about(np.array(points), np.array(forces), centre)
        out[j] = joint["stiffness"] * q[j] - axis @ moment
    return out


def solve(question: Question, start: Array) -> Array:
    """(freedoms,) the pose at which nothing is out of balance, by SciPy's hybrid method; to compare with the solver."""
    from scipy.optimize import root

    found = root(lambda q: residual(question, q), start, method="hybr", options={"xtol": 1e-13})
    return found.x
