"""How does the robot move near a state? The exact linear model, its modes and its stability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.dynamics.equations_of_motion import (
    angle_derivatives,
    mass_matrices_at,
    rate_derivatives,
    required_torques,
)
from vertebra.dynamics.problem import Moving, States, joint_damping, require_resistance, states
from vertebra.errors import InputError
from vertebra.mechanics.gradient import Seeds, pose_gradients
from vertebra.mechanics.kernels.newton import inspect_pose
from vertebra.mechanics.kinematics import Pose, directions_at_stops
from vertebra.mechanics.layout import GRIP_HOLD, GRIP_RATIO, GRIP_SLIP, REPORT_SCALE, STATE_TAU
from vertebra.mechanics.problem import NO_CABLES, Load, Workspace
from vertebra.robot.arguments import SMALLEST, as_robot, numbers, word
from vertebra.robot.friction import Friction
from vertebra.robot.robot import Robot, RobotLike
from vertebra.robot.tables import BACKBONE, Floats

Outputs = Literal["tip", "angles"]

BALANCED = 1e-9
"""A torque out of balance below this part of the torque scale counts as zero."""


@dataclass(frozen=True, eq=False)
class Question:
    """What `linearise` was asked beside the state, checked."""

    moving: Moving
    """Gravity, loads and friction of the cables."""
    damping: ArrayLike | None
    """N*m*s/rad, as given; None for that of the robot file."""
    axial: ArrayLike | None
    """EA in N, as given; None for cables that are not elastic."""
    outputs: Outputs
    link: int
    point: ArrayLike | None
    """m, as given."""


@dataclass(frozen=True, eq=False, repr=False)
class LinearModel:
    """d/dt x = A x + B u + (0, accelerations), y = C x + D u for small changes from one state of a robot.

    x = (change of the angles in rad, change of the rates in rad/s); u = change of the tensions in N, or of the lengths
    of elastic cables without tension in m. What rests on a rigid stop does not move, as long as it presses: rows and
    columns of A and rows of B are zero there, and eigenvalues and modes are those of the f motions that are left, all n
    without stops.
    """

    robot: Robot
    q: Floats
    """(n,) where it was made, rad."""
    qd: Floats
    """(n,) rad/s."""
    tensions: Floats
    """(cables,) N."""
    A: Floats
    """(2n, 2n)"""
    B: Floats
    """(2n, cables) per N, or per m of rest length."""
    C: Floats
    """(3, 2n) position of the point in m, world axes; (n, 2n) with the angles as outputs."""
    D: Floats
    """(3, cables) or (n, cables): zeros."""
    inputs: Literal["tensions", "lengths"]
    outputs: Outputs
    accelerations: Floats
    """(n,) of the state itself, rad/s^2; zero in equilibrium."""
    in_equilibrium: bool
    """At rest and in balance, to 1e-9 of the torque scale. Elsewhere the model is as exact, but holds only near its
    time: stability and modes then say what small changes would do if the state stayed what it is."""
    M: Floats
    """(n, n) mass matrix, kg*m^2."""
    K: Floats
    """(n, n) stiffness at the pose, N*m/rad: elastic joints, cables, gravity, loads. Unsymmetric under dead moments
    that have no energy."""
    damping: Floats
    """(n,) N*m*s/rad."""
    eigenvalues: NDArray[np.complex128]
    """(2f,) of A, 1/s, slowest first."""
    damping_ratios: Floats
    """(2f,) -Re/|.| of each eigenvalue: 0 undamped, 1 without oscillation, negative growing."""
    stable: bool
    """Every small disturbance dies out or, without damping, stays small. A direction that nothing holds is not
    stable."""
    frequencies: Floats
    """(f,) natural frequencies without damping in Hz, from K v = w^2 M v, lowest first; 0 where a mode only grows."""
    growth: Floats
    """(f,) rate at which each of these modes grows without damping, 1/s; 0 where it is held."""
    modes: NDArray[Any]
    """(n, f) their shapes, one per column, with v^H M v = 1, largest component positive. Complex only where dead
    moments make two modes flutter: growing while they oscillate."""
    at_stops: tuple[int, ...]
    """Joints that rest on their rigid stops, counted from 1."""
    question: Question
    """What was asked beside the state: `linear_derivatives` asks it again."""

    @property
    def state_names(self) -> list[str]:
        """(2n,) of the rows of A: q1, ... and qd1, ...; q1a, q1b, ... where a joint has several freedoms."""
        return [f"{part}{name}" for part in ("q", "qd") for name in self.robot.freedom_names]

    @property
    def input_names(self) -> list[str]:
        """(cables,) of the columns of B: t1, ... for tensions, length1, ... for lengths."""
        return [f"{'t' if self.inputs == 'tensions' else 'length'}{k + 1}" for k in range(len(self.tensions))]

    @property
    def output_names(self) -> list[str]:
        """Of the rows of C: x, y, z of the point, or the angles."""
        return ["x", "y", "z"] if self.outputs == "tip" else self.state_names[: len(self.q)]

    def __repr__(self) -> str:
        held = "stable" if self.stable else f"unstable, grows with {self.eigenvalues.real.max():.4g} 1/s"
        where = "" if self.in_equilibrium else ", not in equilibrium"
        if self.at_stops:
            where = f", {len(self.at_stops)} joints at their stops{where}"
        if not len(self.frequencies):
            return f"LinearModel of {self.robot.name!r}: nothing moves{where}"
        low, high = self.frequencies[0], self.frequencies[-1]
        return f"LinearModel of {self.robot.name!r}: {low:.4g} to {high:.4g} Hz, {held}{where}"


def linearise(
    robot: RobotLike,
    q: ArrayLike,
    tensions: ArrayLike,
    gravity: str | ArrayLike | None = None,
    loads: Sequence[Load] | None = (),
    *,
    qd: ArrayLike | None = None,
    damping: ArrayLike | None = None,
    friction: Friction | None = None,
    stiffness_EA: ArrayLike | None = None,
    outputs: Outputs = "tip",
    link: int = -1,
    point: ArrayLike | None = None,
) -> LinearModel:
    """The motion near angles `q` (rad) and rates `qd` (rad/s, default none) under cable `tensions` (N).

    `damping` in N*m*s/rad, one for all or one per freedom: default that of the robot file. With `stiffness_EA` (N, one
    for all or one per cable) cables are elastic, stretched from lengths that give these tensions, and inputs are those
    lengths; a cable without tension is slack. `outputs`: position of a `point` of a `link` (as in `jacobian`, default
    the tip), or the joint angles.

    `friction` of cables in their holes: default that of the robot file, 0 for none; cables count as pulled from the
    straight robot. While they stick, friction is elastic and part of the model. Where one slips there is no linear
    model, since it holds against one direction of a small motion and slides on in the other: raises `InputError`.

    Joints that rest on rigid stops are held there, in a state without rates.

    Exact wherever it is made: stiffness, mass matrix and cables are analytic; what inertia adds away from equilibrium
    comes from differences of order 8 of `inverse_dynamics` (1e-12 or so of it) and vanishes in equilibrium. Raises
    `OutOfRange` where the faces of a joint have passed through each other.
    """
    robot = as_robot(robot)
    moving = Moving.of(robot, gravity, loads, friction)
    state = states(robot, _one_state(robot, "q", q), None if qd is None else _one_state(robot, "qd", qd))
    require_resistance(moving.statics, state.q[0])
    pull, losses = moving.statics.tensions(tensions), joint_damping(robot, damping)
    word("outputs", outputs, get_args(Outputs))
    given = [
        None if values is None else numbers(name, values, unit)
        for name, values, unit in (
            ("damping", damping, "N*m*s/rad"), ("stiffness_EA", stiffness_EA, "N"), ("point", point, "m"),
        )
    ]  # fmt: skip
    question = Question(moving, given[0], given[1], outputs, link, given[2])
    return linear_model(question, state, pull, losses)


def linear_model(question: Question, state: States, pull: Floats, losses: Floats) -> LinearModel:
    """The model at one state (1, n) under tensions (cables,) in N and damping (n,) in N*m*s/rad that were checked."""
    moving, stiffness_EA = question.moving, question.axial
    robot, angles, rates = moving.robot, state.q[0], state.qd[0]
    M, pose = mass_matrices_at(moving, state.q)[0], Pose(robot, angles)
    lengths = pose.cable_lengths
    K, torques, scale, work = _stiffness(moving, angles, pull)
    mean = np.ones(len(pull))
    if work.friction is not None:
        _require_sticking(robot, pull, work)
        mean = work.friction.grip[GRIP_RATIO].sum(axis=1) / robot.cables["last_link"]
    rest = rate = NO_CABLES
    if stiffness_EA is not None:
        rest, EA = _unstretched(mean * pull, lengths, stiffness_EA)
        rate = EA / rest
        rest = np.where(pull > 0.0, rest, 2.0 * lengths)  # slack without tension
        K = _stiffness(moving, angles, pull.copy(), rest, rate)[0]
    by_input = _torques_by_input(moving, pose, pull, rest, rate)

    # What moves, without weight and loads, whose part in the stiffness is analytic.
    inertia = moving.weightless()
    torques += required_torques(inertia, state, False)[0] + losses * rates
    held = _held(robot, angles, rates, M, torques)
    rises, free = held.rises, held.free
    motion = state._replace(single=False, qdd=rises[None])
    K += held.turning
    by_q = K + angle_derivatives(inertia, motion)[0] + M @ held.carried
    by_qd = rate_derivatives(inertia, motion)[0] + np.diag(losses)

    n, c = by_input.shape
    within, mass = free @ free.T, free.T @ M @ free

    def given(torque: Floats) -> Floats:
        """The accelerations that torques on the freedoms give to what is free."""
        return np.asarray(-free @ np.linalg.solve(mass, free.T @ torque), dtype=np.float64)

    A = np.block([[np.zeros((n, n)), within], [(given(by_q) + held.carried) @ within, given(by_qd) @ within]])
    B = np.vstack([np.zeros((n, c)), given(by_input)])
    tip = question.outputs == "tip"
    seen = pose.jacobian(question.link, question.point)[:3] if tip else np.eye(n)
    values = eigenvalues_of(mass, free.T @ by_q @ free, free.T @ by_qd @ free)
    modes, sizes = natural_modes(mass, free.T @ K @ free, free), np.abs(values)
    ratios = np.divide(-values.real, sizes, out=np.zeros(len(values)), where=sizes > 0.0)
    return LinearModel(
        robot, angles, rates, pull, A, B, np.hstack([seen, np.zeros_like(seen)]), np.zeros((len(seen), c)),
        "tensions" if stiffness_EA is None else "lengths", question.outputs, rises,
        bool(not rates.any() and (np.abs(free.T @ torques) <= BALANCED * scale).all()), M, K, losses,
        values, ratios, is_stable(values), modes.frequencies, modes.growth, modes.shapes, held.joints, question,
    )  # fmt: skip


class Held(NamedTuple):
    """What rigid stops leave of a motion."""

    rises: Floats
    """(n,) accelerations, rad/s^2."""
    free: Floats
    """(n, f) directions that are free, of unit length and at right angles."""
    turning: Floats
    """(n, n) stiffness against turning the bend of a backbone along its stop, by what presses on that, N*m/rad."""
    carried: Floats
    """(n, n) acceleration along a stop's direction per change of the angles, as a bend turns along it, 1/s^2."""
    joints: tuple[int, ...]
    """That rest on stops, counted from 1."""


def _held(robot: Robot, q: Floats, qd: Floats, M: Floats, torques: Floats) -> Held:
    """Which stops hold at `q`, where `torques` (n,) are out of balance without accelerations: stops only push."""
    from scipy.linalg import null_space

    n, stops = len(q), directions_at_stops(robot, q)
    while True:
        free = null_space(stops.T) if stops.size else np.eye(n)
        rises = np.asarray(-free @ np.linalg.solve(free.T @ M @ free, free.T @ torques), dtype=np.float64)
        press = stops.T @ (torques + M @ rises)
        if (press < 0.0).all():
            break
        stops = np.delete(stops, int(np.argmax(press)), axis=1)
    joints = [robot.joint_of(int(np.abs(stop).argmax())) for stop in stops.T]
    if joints and qd.any():
        raise InputError(
            "qd",
            f"joint {joints[0]} rests on its rigid stop, where there is a linear model of a state without rates only; "
            "leave qd out, or use simulate",
        )
    turning, carried = np.zeros((n, n)), np.zeros((n, n))
    for joint, stop, pressed in zip(joints, stops.T, press, strict=True):
        if robot.joints["kind"][joint - 1] == BACKBONE:
            first = robot.joints["first"][joint - 1]
            pair, across = slice(first, first + 2), np.zeros((n, n))
            across[pair, pair] = (np.eye(2) - np.outer(stop[pair], stop[pair])) / np.linalg.norm(q[pair])
            turning -= pressed * across
            carried -= np.outer(stop, across @ rises)
    return Held(rises, free, turning, carried, tuple(sorted(set(joints))))


def _one_state(robot: Robot, name: str, values: ArrayLike) -> Floats:
    array = numbers(name, values, "SI units")
    if array.shape != (robot.freedoms,):
        raise InputError(name, f"must have shape ({robot.freedoms},) for {robot.name}, not {array.shape}")
    return array


def _stiffness(
    moving: Moving, q: Floats, tensions: Floats, rest: Floats = NO_CABLES, rate: Floats = NO_CABLES
) -> tuple[Floats, Floats, float, Workspace]:
    """Of the robot at rest: stiffness (n, n) in N*m/rad, torques dV/dq (n,), their scale in N*m, and what the kernels
    left, friction of the cables included. With `rest` and `rate` (cables,), m and N/m, cables are elastic."""
    problem, by_length = moving.statics, len(rest) > 0
    work = problem.workspace(by_length)
    inspect_pose(*problem.system, tensions, rest, rate, work.friction, False, q, *work.scratch[1:])
    stiffness = problem.dense_stiffness(work, by_length)
    return stiffness, work.state[:, STATE_TAU].copy(), float(work.report[REPORT_SCALE]), work


def _torques_by_input(moving: Moving, pose: Pose, tensions: Floats, rest: Floats, rate: Floats) -> Floats:
    """(n, cables) of the torques dV/dq at a pose, by each tension; with `rest` and `rate` by each length without
    tension, EA held."""
    problem, n = moving.statics, len(pose.angles)
    found, _ = pose_gradients(
        problem, problem.workspace(len(rest) > 0), pose.tip, pose.angles, tensions.copy(), Seeds.none(problem, n),
        np.eye(n), rest, rate,
    )  # fmt: skip
    return -found.tensions if not len(rest) else found.rate * rate / rest - found.rest


def _require_sticking(robot: Robot, tensions: Floats, work: Workspace) -> None:
    """Refuse a state in which a cable slips through a hole that grips it: its friction has no derivative there."""
    assert work.friction is not None
    grip = work.friction.grip[:, :, : len(robot.joints)]
    slips = (np.abs(grip[GRIP_SLIP]) >= 1.0) & (grip[GRIP_HOLD] > 0.0) & (tensions[:, None] > 0.0)
    slips &= np.arange(len(robot.joints)) < robot.cables["last_link"][:, None]
    if slips.any():
        cable, joint = (int(i) + 1 for i in np.argwhere(slips)[0])
        raise InputError(
            "friction",
            f"cable {cable} slips in the link before joint {joint}, as {int(slips.any(axis=1).sum())} of "
            f"{len(tensions)} cables do; friction then opposes either direction of a small motion, and no linear model "
            "exists: use simulate, or pass friction=0 for the model without friction (its equilibrium is that of "
            "shape_from_tensions with friction=0)",
        )


def _unstretched(means: Floats, lengths: Floats, given: ArrayLike) -> tuple[Floats, Floats]:
    """(cables,) each: lengths without tension, m, and EA, N. With T = EA (l - l0) / l0, l0 = l / (1 + T / EA)."""
    EA = numbers("stiffness_EA", given, "N")
    if EA.shape not in ((), means.shape) or not (EA >= SMALLEST).all():
        raise InputError("stiffness_EA", f"must be one number above 0 N, or {len(means)}, one per cable")
    return lengths / (1.0 + means / EA), np.broadcast_to(EA, means.shape)


# Modes, eigenvalues and stability of M x'' + G x' + K x = 0.

SYMMETRIC = 1e-11
"""A stiffness matrix counts as symmetric if its halves differ by less than this part of its largest entry."""
STILL = 1e-7
"""An eigenvalue below this part of the largest counts as zero: the square root of round-off in a stiffness."""
GROWS = 1e-11
"""A real part above this part of the largest eigenvalue is growth, not round-off."""


class Modes(NamedTuple):
    """Natural modes without damping."""

    frequencies: Floats
    """(n,) Hz."""
    growth: Floats
    """(n,) 1/s."""
    shapes: NDArray[Any]
    """(n, n) one per column."""


def natural_modes(M: Floats, K: Floats, directions: Floats) -> Modes:
    """Of K v = -s^2 M v with v^H M v = 1: growing modes first, then by frequency. Shapes are told by the
    `directions` (n, f) that the f coordinates of M and K stand for."""
    if not len(M):
        return Modes(np.empty(0), np.empty(0), np.empty((len(directions), 0)))
    L = np.asarray(np.linalg.cholesky(M), dtype=np.float64)
    squares, shapes = own_values(_normalised(L, K))
    order = np.lexsort((squares.imag, squares.real))
    shapes = directions @ np.linalg.solve(L.T, shapes[:, order])
    largest = np.take_along_axis(shapes, np.abs(shapes).argmax(axis=0)[None], axis=0)
    # V is of unit length in coordinates where M is one, which is v^H M v = 1.
    shapes = shapes * (np.abs(largest) / largest)
    rates = np.sqrt(-squares[order])
    return Modes(np.abs(rates.imag) / (2.0 * np.pi), np.abs(rates.real), shapes)


def eigenvalues_of(M: Floats, K: Floats, G: Floats) -> NDArray[np.complex128]:
    """(2n,) 1/s, slowest first."""
    if not len(M):
        return np.empty(0, dtype=np.complex128)
    L = np.asarray(np.linalg.cholesky(M), dtype=np.float64)
    stiffness, losses = _normalised(L, K), _normalised(L, G)
    if losses.any():
        # Time is scaled so that the fastest mode takes about one unit, and no digits are lost.
        pace = float(np.sqrt(np.abs(stiffness).sum(axis=1).max())) or 1.0
        n = len(M)
        whole = np.block([[np.zeros((n, n)), np.eye(n)], [-stiffness / pace**2, -losses / pace]])
        values = pace * np.linalg.eigvals(whole).astype(np.complex128)
    else:
        rates = np.sqrt(-own_values(stiffness)[0])
        values = np.concatenate([rates, -rates])
    ordered: NDArray[np.complex128] = values[np.lexsort((values.imag, values.real, np.abs(values)))]
    return ordered


def is_stable(values: NDArray[np.complex128]) -> bool:
    """No eigenvalue grows, and none is zero."""
    sizes = np.abs(values)
    most = sizes.max(initial=0.0)
    return bool((values.real <= GROWS * most).all() and (sizes > STILL * most).all())


def _normalised(L: Floats, K: Floats) -> Floats:
    """L^-1 K L^-T: in coordinates where the mass matrix L L^T is one."""
    # A triangular solver would start threads for these few numbers, which takes up to fifty times as long.
    half = np.linalg.solve(L, K)
    whole: Floats = np.linalg.solve(L, half.T).T
    return whole


def own_values(S: Floats) -> tuple[NDArray[np.complex128], NDArray[Any]]:
    """Eigenvalues and vectors; real ones where S is symmetric up to round-off."""
    if np.abs(S - S.T).max() <= SYMMETRIC * np.abs(S).max():
        values, vectors = np.linalg.eigh(0.5 * (S + S.T))
    else:
        values, vectors = np.linalg.eig(S)
    return values.astype(np.complex128), vectors
