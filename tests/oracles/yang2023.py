"""The paper's own method for the shape of its robots: Levenberg-Marquardt on the balance of all joints, from zero.

It is slow and its derivatives are differences; it is here to check `vertebra.shape_from_tensions`, and to be
compared with it. Nothing in it comes from `vertebra.mechanics`. `literal_lm` is the method as published;
`literal_angles` goes on from there to round-off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.errors import InputError
from vertebra.robot.robot import Robot
from vertebra.robot.tables import FLEXURE, Floats

# A robot in the parameters of the paper's method: everything in the frames of disc centres.

PRESLIDING = 1e-5
"""m, for robot files without friction."""


class History(NamedTuple):
    """What cables remember of an earlier shape."""

    slip: Floats
    """(c, n) slip direction at the disc before each joint, from -1 to 1."""
    variation: Floats
    """(c, n) Delta L of eq 16: change of the cable from each joint to its last disc, m."""


@dataclass(frozen=True, eq=False)
class LiteralRobot:
    """c cables, n joints, n + 1 discs of which disc 0 is the base; SI units."""

    axes: Floats
    """(n, 3) of rotation, in the frames of both discs of a joint."""
    rod_length: Floats
    """(n,) L"""
    stiffness: Floats
    """(n,) 2 E I / L"""
    half: Floats
    """(n + 1, 2) from the near face of a disc to its centre, and from there to its far face."""
    disc_mass: Floats
    """(n + 1,)"""
    disc_at: Floats
    """(n + 1, 3) centre of mass."""
    rod_mass: Floats
    """(n,)"""
    density: Floats
    """(c,) of cables, kg/m."""
    lock_mass: Floats
    """(c,)"""
    lock_at: Floats
    """(c, 3) on the last disc of each cable."""
    last: NDArray[np.int64]
    """(c,) number of that disc."""
    far: Floats
    """(c, n, 3) hole H on the disc before each joint."""
    near: Floats
    """(c, n, 3) hole h on the disc after it."""
    friction: Floats
    """(c, 3) a, b, c of mu = a theta^2 + b theta + c."""
    presliding: Floats
    """(c,) half-width of the ramp in the rule of the slip direction."""
    tip: Floats
    """(3,) on the last disc."""
    gravity: Floats
    """(3,) world axes."""
    tip_force: Floats
    """(3,) world axes, with the weight of the payload."""

    @classmethod
    def of(
        cls,
        robot: Robot,
        friction: ArrayLike | None = None,
        presliding: float | None = None,
        disc_only: bool = False,
        payload_kg: float = 0.0,
        gravity: ArrayLike | None = None,
        tip_force: ArrayLike = (0.0, 0.0, 0.0),
    ) -> LiteralRobot:
        """The parameters of a robot of flexure joints.

        `friction` (a, b, c), `presliding` (m) and `gravity` (m/s^2, world axes): None takes the robot file's; (0, 0, 0)
        is no friction. `disc_only` leaves out the weight of rods, cables and locks. The payload hangs at the tip,
        where `tip_force` (N, world axes) acts too.
        """
        joints, links, cables, segments = robot.joints, robot.links, robot.cables, robot.segments
        if (joints["kind"] != FLEXURE).any() or not len(cables):
            raise InputError("robot", f"{robot.name} must have flexure joints only, and cables, for the paper's method")
        n, c = len(joints), len(cables)
        if friction is None and any(law.curve is not None for law in robot.friction_laws):
            raise InputError("friction", f"{robot.name} has a measured law; give a, b, c of the paper's quadratic one")
        law = np.array(cables["friction"] if friction is None else friction, dtype=np.float64)
        if law.shape not in ((3,), (c, 3)):
            raise InputError("friction", f"must be a, b, c of mu = a theta^2 + b theta + c, once or for {c} cables")
        if presliding is not None and not presliding > 0.0:
            raise InputError("presliding", f"must be a length above 0 m, not {presliding!r}")
        # From the origin of a link's frame to the centre of its disc; the base disc has its centre in the origin.
        centre = np.append(0.0, links["length"][1:] / 2)
        far, near = np.zeros((2, c, n, 3))
        far[..., :2] = near[..., :2] = np.stack([cables["x"], cables["y"]], axis=1)[:, None]
        far[..., 2], near[..., 2] = segments["exit"] - centre[:-1], segments["entry"] - centre[1:]
        last = np.array(cables["last_link"])
        lock_at = np.stack([cables["x"], cables["y"], cables["end"] - centre[last]], axis=1)
        stated = np.where(cables["presliding"] > 0.0, cables["presliding"], PRESLIDING)
        field = np.array(robot.gravity if gravity is None else gravity, dtype=np.float64)
        others = 0.0 if disc_only else 1.0
        return cls(
            axes=np.stack([joints["axis_x"], joints["axis_y"], np.zeros(n)], axis=1),
            rod_length=joints["size"],
            stiffness=joints["stiffness"],
            half=np.stack([centre, links["reach"] - centre], axis=1),
            disc_mass=links["mass"],
            disc_at=links["center_of_mass"] - centre[:, None] * [0.0, 0.0, 1.0],
            rod_mass=others * joints["mass"],
            density=others * cables["linear_density"],
            lock_mass=others * cables["lock_mass"],
            lock_at=lock_at,
            last=last,
            far=far,
            near=near,
            friction=np.broadcast_to(law, (c, 3)),
            presliding=stated if presliding is None else np.full(c, float(presliding)),
            tip=robot.tip_point - [0.0, 0.0, centre[-1]],
            gravity=field,
            tip_force=np.array(tip_force, dtype=np.float64) + payload_kg * field,
        )

    @property
    def crosses(self) -> NDArray[np.bool_]:
        """(c, n) whether a cable crosses a joint."""
        crosses: NDArray[np.bool_] = np.arange(len(self.axes)) < self.last[:, None]
        return crosses

    def fresh(self) -> History:
        """Cables that have not moved since the robot was straight."""
        return History(np.zeros(self.crosses.shape), np.zeros(self.crosses.shape))


# Frames, cable tensions and moments of the paper's method, from points and forces.
#
# Poses q (..., n) may carry leading axes, and may be complex in `locate`. Corrections to the printed equations: the
# last denominator of eq 5 is the distance to the hole h of the next disc, the pressure of eq 13 is F - (F.n) n with n
# normal to the disc, and eq 41 keeps the moment of the lumped force as eq 37 does.

Numbers = NDArray[Any]
"""Real or complex."""
UP = np.array([0.0, 0.0, 1.0])
STEP = 1e-30
"""rad, of complex steps: they have no round-off."""


class Points(NamedTuple):
    """Where things are in the world, m."""

    frames: Numbers
    """(..., n + 1, 4, 4) at the disc centres."""
    discs: Numbers
    """(..., n, 3) centres of mass of discs 1 to n."""
    rods: Numbers
    """(..., n, 3) centres of mass."""
    far: Numbers
    """(..., c, n, 3) holes H before the joints."""
    near: Numbers
    """(..., c, n, 3) holes h after the joints."""
    locks: Numbers
    """(..., c, 3)"""
    tip: Numbers
    """(..., 3)"""


def locate(robot: LiteralRobot, q: Numbers) -> Points:
    """Eqs 1 to 3, and the points that forces act at."""
    n = q.shape[-1]
    s = robot.rod_length * tangent_ratio(q)
    steps = lifted(robot.half[:-1, 1] + s) @ turned(robot.axes, q) @ lifted(s + robot.half[1:, 0])
    frames = np.empty((*q.shape[:-1], n + 1, 4, 4), q.dtype)
    frames[..., 0, :, :] = np.eye(4)
    for j in range(n):
        frames[..., j + 1, :, :] = frames[..., j, :, :] @ steps[..., j, :, :]
    # Eq 30: bending shifts the centre of gravity of a rod along the bisector, toward the bend side.
    aside, ahead = arc_centroid(q)
    toward = np.cross(robot.axes, UP)
    rods = (robot.rod_length * aside)[..., None] * toward
    rods = rods + (robot.half[:-1, 1] + robot.rod_length * ahead)[..., None] * UP
    per_cable = frames[..., None, :, :, :]
    return Points(
        frames,
        placed(frames[..., 1:, :, :], robot.disc_at[1:]),
        placed(frames[..., :-1, :, :], rods),
        placed(per_cable[..., :-1, :, :], robot.far),
        placed(per_cable[..., 1:, :, :], robot.near),
        placed(frames[..., robot.last, :, :], robot.lock_at),
        placed(frames[..., -1, :, :], robot.tip),
    )


def segment_lengths(robot: LiteralRobot, at: Points) -> Numbers:
    """(..., c, n) m from hole to hole; zero where a cable does not run."""
    lengths: Numbers = np.sqrt(((at.near - at.far) ** 2).sum(axis=-1)) * robot.crosses
    return lengths


def cable_tensions(
    robot: LiteralRobot, q: Floats, at: Points, pull: Floats, history: History
) -> tuple[Floats, History]:
    """Tension in each gap (..., c, n) N from `pull` (c,) at the actuators, and the slip there: eqs 11 to 16."""
    straight = segment_lengths(robot, locate(robot, np.zeros(q.shape[-1])))
    changes = segment_lengths(robot, at) - straight
    variation = np.cumsum(changes[..., ::-1], axis=-1)[..., ::-1]
    slip = np.clip(history.slip + (variation - history.variation) / robot.presliding[:, None], -1.0, 1.0)
    theta = np.abs(q)[..., None, :] / 2
    a, b, c = robot.friction.T[:, :, None]
    mu = a * theta**2 + b * theta + c
    unit = unit_vectors(at.near - at.far)
    normals = at.frames[..., None, :, :3, 2]
    # Friction per tension on the disc before a joint and on the disc after it.
    leaving, entering = mu * pressure(unit, normals[..., :-1, :]), mu * pressure(unit, normals[..., 1:, :])
    tension = np.zeros(changes.shape)
    held, drag = np.broadcast_to(pull, changes.shape[:-1]), np.zeros(changes.shape[:-1])
    for j in range(q.shape[-1]):
        # Eq 14 reads F = held + s (drag held + leaving F): the second face of a disc presses with F itself.
        s = slip[..., j]
        held = held * (1 + s * drag) / (1 - s * leaving[..., j])
        tension[..., j], drag = held, entering[..., j]
    return tension * robot.crosses, History(slip, variation)


def paper_moments(robot: LiteralRobot, q: Floats, at: Points, tension: Floats) -> Floats:
    """(..., n) N*m along each joint's axis about the centre of the disc before it: eqs 5 to 9 and 17 to 41."""
    n = q.shape[-1]
    g = robot.gravity
    entering = tension[..., None] * unit_vectors(at.far - at.near)
    # On disc i pulls the next segment too; none leaves the last disc.
    leaving = np.concatenate([-entering[..., 1:, :], np.zeros_like(entering[..., :1, :])], axis=-2)
    exits = np.concatenate([at.far[..., 1:, :], at.near[..., -1:, :]], axis=-2)
    hung = robot.density[:, None] * segment_lengths(robot, at)
    locks = robot.lock_mass[:, None] * (robot.last[:, None] == np.arange(1, n + 1))
    on_last = np.arange(1, n + 1) == n
    on_discs = (  # points and forces (..., any number of them, n discs, 3)
        (at.near, entering),
        (exits, leaving),
        ((at.far + at.near) / 2, hung[..., None] * g),
        (at.locks[..., None, :], locks[..., None] * g),
        (at.discs[..., None, :, :], robot.disc_mass[None, 1:, None] * g),
        (at.rods[..., None, :, :], robot.rod_mass[None, :, None] * g),
        (at.tip[..., None, None, :], on_last[None, :, None] * robot.tip_force),
    )
    centres = at.frames[..., :3, 3]
    before = centres[..., None, :-1, :]
    own_force = sum(force.sum(axis=-3) for _, force in on_discs) + np.zeros((*q.shape, 3))
    own_moment = sum(crossed(point - before, force).sum(axis=-3) for point, force in on_discs) + np.zeros_like(
        own_force
    )
    axes = (at.frames[..., :-1, :3, :3] @ robot.axes[..., None])[..., 0]
    force, moment = np.zeros_like(own_force[..., 0, :]), np.zeros_like(own_force[..., 0, :])
    moments = np.empty(q.shape)
    for j in reversed(range(n)):
        # Eqs 38 to 40: what the disc beyond hands on, with the moment of its lumped force.
        moment = moment + crossed(centres[..., j + 1, :] - centres[..., j, :], force) + own_moment[..., j, :]
        force = force + own_force[..., j, :]
        moments[..., j] = (axes[..., j, :] * moment).sum(axis=-1)
    return moments


def virtual_work(robot: LiteralRobot, q: Floats, at: Points, tension: Floats) -> Floats:
    """(..., n) N*m: work of cables, weights and the tip's force per angle, by complex steps of all frames.

    Tensions and the masses of cable segments are held at their values in `q`.
    """
    hung = (robot.density[:, None] * segment_lengths(robot, at))[..., None, :, :]
    moved = locate(robot, q[..., None, :] + 1j * STEP * np.eye(q.shape[-1]))
    work = -(tension[..., None, :, :] * segment_lengths(robot, moved)).sum(axis=(-2, -1))
    work = work + (hung * ((moved.far + moved.near) / 2 @ robot.gravity)).sum(axis=(-2, -1))
    work = work + moved.discs @ robot.gravity @ robot.disc_mass[1:]
    work = work + moved.rods @ robot.gravity @ robot.rod_mass
    work = work + moved.locks @ robot.gravity @ robot.lock_mass + moved.tip @ robot.tip_force
    moments: Floats = work.imag / STEP
    return moments


def tangent_ratio(q: Numbers) -> Numbers:
    """tan(q/2) / q"""
    small = np.abs(q) < 0.02
    safe = np.where(small, 1.0, q)
    x = q**2 / 4
    series = 0.5 * (1 + x * (1 / 3 + x * (2 / 15 + x * (17 / 315 + x * 62 / 2835))))
    ratio: Numbers = np.where(small, series, np.tan(safe / 2) / safe)
    return ratio


def arc_centroid(q: Numbers) -> tuple[Numbers, Numbers]:
    """Of an arc of length 1 from its start: toward the bend side (q - sin q)/q^2, and ahead (1 - cos q)/q^2."""
    small = np.abs(q) < 0.2
    safe = np.where(small, 1.0, q)
    x = q**2
    aside = q * (1 / 6 - x * (1 / 120 - x * (1 / 5040 - x * (1 / 362880 - x / 39916800))))
    ahead = 1 / 2 - x * (1 / 24 - x * (1 / 720 - x * (1 / 40320 - x * (1 / 3628800 - x / 479001600))))
    return (
        np.where(small, aside, (safe - np.sin(safe)) / safe**2),
        np.where(small, ahead, (1 - np.cos(safe)) / safe**2),
    )


def lifted(z: Numbers) -> Numbers:
    """Trans(0, 0, z)"""
    out = np.zeros((*z.shape, 4, 4), z.dtype)
    out[...] = np.eye(4)
    out[..., 2, 3] = z
    return out


def turned(axes: Floats, q: Numbers) -> Numbers:
    """Rot(axis, q) by Rodrigues' formula, for axes in the plane of a disc."""
    K = np.zeros((len(axes), 4, 4))
    K[:, 0, 2], K[:, 1, 2], K[:, 2, 0], K[:, 2, 1] = axes[:, 1], -axes[:, 0], -axes[:, 1], axes[:, 0]
    sin, versine = np.sin(q)[..., None, None], 2 * np.sin(q / 2)[..., None, None] ** 2
    rotation: Numbers = np.eye(4) + sin * K + versine * (K @ K)
    return rotation


def placed(frames: Numbers, local: Numbers) -> Numbers:
    """Points of discs in the world."""
    world: Numbers = (frames[..., :3, :3] @ local[..., None])[..., 0] + frames[..., :3, 3]
    return world


def unit_vectors(v: Floats) -> Floats:
    unit: Floats = v / np.sqrt((v**2).sum(axis=-1, keepdims=True))
    return unit


def pressure(unit: Floats, normal: Floats) -> Floats:
    """Size of F - (F.n) n of eq 13 for a unit tension."""
    across = unit - (unit * normal).sum(axis=-1, keepdims=True) * normal
    size: Floats = np.sqrt((across**2).sum(axis=-1))
    return size


def crossed(a: Floats, b: Floats) -> Floats:
    """Vector product; np.cross takes several times as long on arrays of this size."""
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    u, v, w = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=-1)


# The method itself.

__all__ = ["Closure", "History", "LiteralRobot", "LiteralShape", "literal_angles", "literal_lm", "literal_residual"]

Closure = Literal["paper", "virtual-work"]
BALANCES = {"paper": paper_moments, "virtual-work": virtual_work}
DIFFERENCE = 1e-6
"""rad, of central differences, where the ramp is not narrower."""


@dataclass(frozen=True, eq=False)
class LiteralShape:
    """What a search ended with."""

    angles: Floats
    """(n,) rad"""
    tip: Floats
    """(3,) m, world axes."""
    tensions_along: Floats
    """(c, n) N, in the gap of each joint."""
    residual: float
    """N*m, largest imbalance of a joint."""
    evaluations: int
    """Poses at which the balance was computed, those of differences included."""
    converged: bool
    """Whether the residual is within the tolerance asked for."""
    history: History
    """Slip and change of length of the cables; give it to the next step of a path."""

    def __repr__(self) -> str:
        x, y, z = self.tip * 1e3
        state = "converged" if self.converged else "NOT converged"
        return f"LiteralShape({state} after {self.evaluations} evaluations, tip ({x:.2f}, {y:.2f}, {z:.2f}) mm)"


def literal_residual(
    robot: LiteralRobot, q: ArrayLike, tensions: ArrayLike, closure: Closure, history: History | None = None
) -> Floats:
    """(..., n) N*m at poses (..., n) rad: bending moment of each joint less the moment of all that acts beyond it."""
    pose = np.asarray(q, dtype=np.float64)
    at = locate(robot, pose)
    along, _ = cable_tensions(robot, pose, at, np.asarray(tensions, dtype=np.float64), history or robot.fresh())
    residual: Floats = robot.stiffness * pose - BALANCES[closure](robot, pose, at, along)
    return residual


class Balance:
    """The residual of one question as a function of the pose, with a count of the poses asked for."""

    def __init__(self, robot: LiteralRobot, tensions: ArrayLike, closure: Closure, history: History | None) -> None:
        self.robot, self.closure, self.history, self.evaluations = robot, closure, history, 0
        self.pull = np.array(tensions, dtype=np.float64)
        if self.pull.shape != (len(robot.last),) or not (np.isfinite(self.pull) & (self.pull >= 0.0)).all():
            raise InputError("tensions", f"must be {len(robot.last)} numbers of 0 N or more, one per cable")
        if closure not in BALANCES:
            raise InputError("closure", f"must be {' or '.join(BALANCES)}, not {closure!r}")

    def __call__(self, q: Floats) -> Floats:
        self.evaluations += q.size // q.shape[-1]
        return literal_residual(self.robot, q, self.pull, self.closure, self.history)

    def jacobian(self, q: Floats) -> Floats:
        """(n, n) by central differences, all poses in one call."""
        robot = self.robot
        ramp = float(robot.presliding.min() / np.abs(robot.near[..., :2]).max())
        step = min(DIFFERENCE, 0.01 * ramp)
        steps = step * np.eye(len(q))
        ahead, behind = self(np.stack([q + steps, q - steps]))
        slopes: Floats = ((ahead - behind) / (2 * step)).T
        return slopes

    def shape(self, q: Floats, tolerance: float) -> LiteralShape:
        """The result at a pose; `tolerance` in rad of the softest joint."""
        robot = self.robot
        at = locate(robot, q)
        along, history = cable_tensions(robot, q, at, self.pull, self.history or robot.fresh())
        worst = float(np.abs(self(q)).max())
        close = worst <= tolerance * float(robot.stiffness.min())
        return LiteralShape(q, at.tip, along, worst, self.evaluations, close, history)


def literal_lm(
    robot: LiteralRobot, tensions: ArrayLike, closure: Closure = "paper", tolerance: float = 1e-8
) -> LiteralShape:
    """The method of the paper's Table 3 and no more: SciPy's Levenberg-Marquardt with its own differences, from zero.

    `tensions`: (c,) N at the actuators. `tolerance`: of the search, and what the residual must reach (rad).
    """
    balance = Balance(robot, tensions, closure, None)
    found = _least_squares(balance, np.zeros(len(robot.axes)), tolerance)
    return balance.shape(found, tolerance)


def literal_angles(
    robot: LiteralRobot,
    tensions: ArrayLike,
    closure: Closure = "paper",
    history: History | None = None,
    start: ArrayLike | None = None,
    tolerance: float = 1e-12,
) -> LiteralShape:
    """The shape to round-off: Levenberg-Marquardt from zero (or `start`, rad), then Newton's steps by differences.

    `tensions`: (c,) N at the actuators. `history`: of an earlier shape. `tolerance`: imbalance in rad of the softest
    joint. Differences are kept well inside the ramp of the slip direction; with coarser ones the search may stall.
    """
    balance = Balance(robot, tensions, closure, history)
    first = np.zeros(len(robot.axes)) if start is None else np.array(start, dtype=np.float64)
    q = _polished(balance, _least_squares(balance, first, 1e-15, jac=balance.jacobian))
    return balance.shape(q, tolerance)


def _least_squares(balance: Balance, start: Floats, tolerance: float, **options: Any) -> Floats:
    from scipy.optimize import least_squares

    result = least_squares(balance, start, method="lm", xtol=tolerance, ftol=tolerance, gtol=tolerance, **options)
    angles: Floats = result.x
    return angles


def _polished(balance: Balance, q: Floats) -> Floats:
    """Newton's steps for as long as they help."""
    now = balance(q)
    for _ in range(20):
        moved = q - np.linalg.solve(balance.jacobian(q), now)
        then = balance(moved)
        if not np.abs(then).max() < np.abs(now).max():
            break
        q, now = moved, then
    return q
