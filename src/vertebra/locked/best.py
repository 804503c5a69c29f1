"""Which tensions carry the largest load?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.errors import Infeasible, InputError, shown
from vertebra.locked.ball_shape import BallShape
from vertebra.locked.chain import LockedChain, Setting, UnitLoad, load_couple, sphere_grid, unit_vector
from vertebra.locked.payload import Payload, limit_of
from vertebra.mechanics.kernels.ball import joint_limits, least_limits
from vertebra.mechanics.kernels.contact import SLIDING, TORSION
from vertebra.mechanics.problem import Load
from vertebra.robot.arguments import as_robot, tension_bounds
from vertebra.robot.friction import Friction
from vertebra.robot.robot import Robot, RobotLike
from vertebra.robot.tables import Floats

WORST = "worst"
GRID = 400
"""Directions among which the worst is sought."""
CONE_GRID = 24
"""Directions of the cone programme for the worst one."""
LEVELS = 33
"""Number of equal tensions that are compared."""
SAMPLES = 256
"""Tensions drawn at random, as starts beside that of the cone programme."""
STARTS = 3
WORST_ITERATIONS = 6
"""How often the worst direction is searched again."""


@dataclass(frozen=True, eq=False, repr=False)
class BestTensions:
    """Tensions that carry the largest load, and what equal tensions would carry."""

    tensions: Floats
    """(cables,) N, at the base."""
    payload: Payload
    """With these tensions, computed anew by `payload`."""
    equal_tensions: Floats
    """(cables,) N: the best tensions that are all the same, as far as the bounds allow."""
    equal: Payload
    """With equal tensions, in the same direction (for "worst": in their own worst direction)."""
    direction: Floats
    """(3,) of the load, unit vector; for "worst" the one in which these tensions carry least."""

    @property
    def gain(self) -> float:
        """Payload over that of equal tensions, minus one; infinite when equal tensions carry nothing."""
        if self.payload.force == self.equal.force:
            return 0.0
        return self.payload.force / self.equal.force - 1.0 if self.equal.force > 0.0 else math.inf

    def __repr__(self) -> str:
        pulls = ", ".join(f"{tension:.4g}" for tension in self.tensions)
        return f"BestTensions({pulls} N hold {self.payload.force:.4g} N, {self.gain:+.1%} over equal tensions)"


def best_tensions(
    robot: RobotLike,
    shape: BallShape | tuple[ArrayLike, ArrayLike],
    direction: ArrayLike | str,
    bounds: tuple[ArrayLike | None, ArrayLike | None] | None = None,
    link: int = -1,
    point: ArrayLike | None = None,
    moment_per_force: ArrayLike | None = None,
    gravity: str | ArrayLike | None = None,
    *,
    loads: Sequence[Load] | None = (),
    friction: Friction | None = None,
    socket_limit: ArrayLike | None = None,
    guided: int = 0,
) -> BestTensions:
    """Cable tensions with the largest payload in a direction, or with the largest payload in the "worst" direction.

    `shape`: bends and azimuths; `bounds`: least and most tension, N, each one number or one per cable; default:
    pretension and max_tension of the robot file. Other arguments as in `payload`. Starts are the answer of a cone
    programme, equal tensions and the best of a few hundred random ones; linear programmes on the exact limits refine
    each, and the best is returned with its payload computed anew. Payloads are quasi-concave in the tensions in every
    case tried, which is no proof: compare with your own search where much depends on it.

    Raises `Infeasible` naming the joint when no tensions hold the robot itself.
    """
    robot = as_robot(robot)
    chain = LockedChain.of(
        robot, _shape(robot, shape), Setting.of(robot, gravity, loads, socket_limit, guided), friction
    )
    low, high = _bounds(robot, bounds)
    worst = isinstance(direction, str)
    if worst and direction != WORST:
        raise InputError("direction", f'must be three numbers or "{WORST}", not {shown(direction)}')
    toward = sphere_grid(GRID) if worst else unit_vector("direction", direction)[None]
    place = chain.unit_load(toward[0], link, point, load_couple(moment_per_force))
    unit_loads = UnitLoads(chain, place, toward)
    equal = _best_equal(unit_loads, low, high)
    best = _search(unit_loads, equal, low, high)
    if worst:
        best = _against_worst(unit_loads, best, low, high)
    equal_answer, answer = (_certified(unit_loads, tensions, worst) for tensions in (equal, best))
    if equal_answer.force >= answer.force:
        best, answer = equal, equal_answer
    if answer.slips_unloaded:
        raise Infeasible(
            answer.joint, "friction", _missing(answer),
            f"no tensions within the bounds hold the robot itself in this shape: with equal tensions {answer.reason}",
            answer,
        )  # fmt: skip
    return BestTensions(best, answer, equal, equal_answer, answer.direction)


def _missing(answer: Payload) -> float:
    """Friction that the slipping joint lacks, as a multiple of what it has."""
    row = answer.joint - 1
    return float(max(answer.contact.sliding_use[row], answer.contact.torsion_use[row])) - 1.0


def _shape(robot: Robot, shape: BallShape | tuple[ArrayLike, ArrayLike]) -> BallShape:
    if not isinstance(shape, tuple | list) or len(shape) != 2:
        raise InputError("shape", "must be a BallShape, or a pair of bends and azimuths")
    return BallShape.of(robot, *shape)


def _bounds(robot: Robot, bounds: tuple[ArrayLike | None, ArrayLike | None] | None) -> tuple[Floats, Floats]:
    if bounds is None:
        bounds = (None, None)
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise InputError("bounds", "must be a pair: least and most tension in N, each one number or one per cable")
    low, high = tension_bounds(robot, *bounds)
    if len(low) == 0:
        raise InputError("robot", f"{robot.name} has no cables to choose tensions for")
    if not np.isfinite(high).all():
        raise InputError("bounds", "give the largest tension of each cable, N: payload grows with it without limit")
    return low, high


def _best_equal(unit_loads: UnitLoads, low: Floats, high: Floats) -> Floats:
    """Of equal tensions, clipped to the bounds, those that carry most; of equally good ones the largest."""
    levels = np.linspace(float(low.min()), float(high.max()), LEVELS)
    if low.max() <= high.min():
        levels = np.linspace(float(low.max()), float(high.min()), LEVELS)
    held = [float(unit_loads.least(np.clip(np.full_like(low, level), low, high)).min()) for level in levels]
    best = max(range(LEVELS), key=lambda i: (held[i], i))
    return np.clip(np.full_like(low, levels[best]), low, high)


def _search(unit_loads: UnitLoads, equal: Floats, low: Floats, high: Floats) -> Floats:
    """The best of several starts, each refined."""
    if math.isinf(float(unit_loads.least(equal).min())):
        return equal
    few = unit_loads.towards(sphere_grid(CONE_GRID)) if len(unit_loads.directions) > CONE_GRID else unit_loads
    random = np.random.default_rng(0).random((SAMPLES, len(low)))
    starts = [equal, *cone_tensions(few, low, high, equal), *(low + random * (high - low))]
    starts.sort(key=lambda tensions: -float(few.least(tensions).min()))
    best = max((refined(few, start, low, high) for start in starts[:STARTS]), key=lambda found: found[1])
    return best[0]


def _against_worst(unit_loads: UnitLoads, tensions: Floats, low: Floats, high: Floats) -> Floats:
    """Tensions refined against more and more of the directions in which they turn out to carry least."""
    for _ in range(WORST_ITERATIONS):
        better, load = refined(unit_loads, tensions, low, high)
        directions, forces = worst_directions(unit_loads.towards(sphere_grid(GRID)), better)
        tensions = better
        if forces.min() >= load * (1.0 - 1e-6):
            break
        unit_loads = unit_loads.towards(np.concatenate([unit_loads.directions, directions]))
    return tensions


def _certified(unit_loads: UnitLoads, tensions: Floats, worst: bool) -> Payload:
    """The payload computed anew; for "worst" in the direction in which it is least."""
    direction = unit_loads.directions[0]
    if worst:
        directions, forces = worst_directions(unit_loads, tensions)
        direction = directions[int(np.argmin(forces))]
    x, y, z = direction.tolist()
    return limit_of(unit_loads.chain, tensions, unit_loads.at._replace(direction=(x, y, z)))


# One locked chain under loads of many directions: limits of all joints, and how they change with the tensions.

STEP = 1e-6
"""Relative change of the tensions where no formula gives the slope."""


@dataclass(frozen=True, eq=False)
class UnitLoads:
    """Unit loads of several directions at one point of a locked chain."""

    chain: LockedChain
    at: UnitLoad
    """Where they act; its direction does not matter."""
    directions: Floats
    """(D, 3) unit vectors."""

    def towards(self, directions: Floats) -> UnitLoads:
        """The same with other directions."""
        return UnitLoads(self.chain, self.at, np.ascontiguousarray(directions))

    def least(self, tensions: Floats) -> Floats:
        """(D,) load at which the first joint gives way, N."""
        count = len(self.directions)
        force, row, mode = np.empty(count), np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
        joints, supply, frames, guided, link, at, _, couple = self._question(tensions, self.at)
        least_limits(joints, supply, frames, guided, link, at, self.directions, couple, 0, count, force, row, mode)
        return force

    def limits(self, tensions: Floats, k: int) -> tuple[Floats, NDArray[np.int64]]:
        """(n,) load at which each joint gives way in direction k, N, and how."""
        n = len(self.chain.robot.joints)
        limits, modes = np.empty(n), np.empty(n, dtype=np.int64)
        joint_limits(*self._question(tensions, self._unit_load(k)), limits, modes)
        return limits, modes

    def slopes(self, tensions: Floats, k: int, limits: Floats, modes: NDArray[np.int64]) -> Floats:
        """(n, cables) change of `limits` in direction k per newton of each cable; zero for unlimited joints."""
        slopes = np.zeros((len(limits), len(tensions)))
        finite = np.isfinite(limits)
        direct = finite & ((modes == SLIDING) | (modes == TORSION))
        if direct.any():
            slopes[direct] = self._polynomial_slopes(tensions, k, limits, modes, direct)
        others = finite & ~direct
        if others.any():
            slopes[others] = self._difference_slopes(tensions, k, limits)[others]
        return slopes

    def load_arms(self, k: int) -> Floats:
        """(n, 6) force and moment on each joint per newton of load in direction k; zero beyond the loaded link."""
        unit_load = self._unit_load(k)
        centres = self.chain.frames[:-1, :3, 3]
        moment = np.cross(np.array(unit_load.at) - centres, unit_load.direction) + unit_load.couple
        arms = np.concatenate([np.broadcast_to(unit_load.direction, moment.shape), moment], axis=1)
        arms[unit_load.link :] = 0.0
        return arms

    def _polynomial_slopes(
        self, tensions: Floats, k: int, limits: Floats, modes: NDArray[np.int64], rows: NDArray[np.bool_]
    ) -> Floats:
        """Where the slip polynomial p(T, F) is zero, dF/dT = -(dp/dT) / (dp/dF)."""
        joints, arms = self.chain.robot.joints[rows], self.load_arms(k)[rows]
        supply = self.chain.supply(tensions)[rows] - limits[rows, None] * arms
        radius, mu = joints["radius"][:, None], joints["friction"][:, None]
        f, m = supply[:, :3], supply[:, 3:] / radius
        A, B, C = ((u * v).sum(axis=1, keepdims=True) for u, v in ((f, f), (m, m), (f, m)))
        w = mu * mu
        kappa = mu * joints["ring_radius"][:, None] / radius
        side = (1.0 - kappa * kappa) * np.sign(C)
        sliding = modes[rows, None] == SLIDING
        by_f = np.where(
            sliding, 2.0 * (B * f - C * m - w * C * m) - 4.0 * w / (1.0 + w) * A * f, side * m - 2.0 * kappa * f
        )
        by_m = np.where(sliding, 2.0 * (A * m - C * f - w * C * f), 2.0 * kappa * m + side * f)
        gradient = np.concatenate([by_f, by_m / radius], axis=1)
        by_tension = np.einsum("jx,jkx->jk", gradient, self.chain.pulls[rows])
        by_load = -(gradient * arms).sum(axis=1)
        # At a crossing the polynomial rises with the load; where it only just does, the slope is practically infinite.
        by_load = np.maximum(by_load, 1e-12 * np.abs(by_tension).max(axis=1) + 1e-300)
        slopes: Floats = -by_tension / by_load[:, None]
        return slopes

    def _difference_slopes(self, tensions: Floats, k: int, limits: Floats) -> Floats:
        size = float(tensions.max(initial=0.0)) or float(limits[np.isfinite(limits)].max(initial=0.0))
        step = STEP * (size or 1.0)  # N, any: without tensions and limits there is no force to compare with
        columns = []
        for cable in range(len(tensions)):
            moved = tensions.copy()
            moved[cable] += step
            changed, _ = self.limits(moved, k)
            columns.append(np.where(np.isfinite(changed) & np.isfinite(limits), changed - limits, 0.0) / step)
        return np.column_stack(columns)

    def _unit_load(self, k: int) -> UnitLoad:
        x, y, z = self.directions[k].tolist()
        return self.at._replace(direction=(x, y, z))

    def _question(self, tensions: Floats, unit_load: UnitLoad) -> tuple[object, ...]:
        return self.chain.question(self.chain.supply(tensions), unit_load)


# Tensions for the largest load as a cone programme: exact on the axes it is built around, and re-centred on them.
#
# With an axis a for each contact, nearly along its force, the slip limits are second-order cones in tensions and load
# (theory 5.7): |m across a| <= r_o sin(atan mu) f.a, and |2 k m +- (r_o^2 - k^2) (f.a) a| <= (r_o^2 + k^2) f.a, k = mu
# r_c.

CONE_ITERATIONS = 3
"""Solutions, each around the contact forces of the one before."""
FAR = 1e3
"""Loads beyond this many times the sum of all tensions count as unlimited."""


def cone_tensions(unit_loads: UnitLoads, low: Floats, high: Floats, start: Floats) -> list[Floats]:
    """Tensions of each iteration, best guess last; fewer or none where the programme has no solution."""
    chain = unit_loads.chain
    found: list[Floats] = []
    tensions, load = start, 0.0
    for _ in range(CONE_ITERATIONS):
        axes = []
        for k in range(len(unit_loads.directions)):
            force = (chain.supply(tensions) - load * unit_loads.load_arms(k))[:, :3]
            size = np.linalg.norm(force, axis=1, keepdims=True)
            # A contact without force: along its link.
            axes.append(np.where(size > 0.0, force / np.where(size > 0.0, size, 1.0), chain.frames[1:, :3, 2]))
        answer = _solve(unit_loads, axes, low, high)
        if answer is None:
            break
        tensions, load = np.clip(answer[:-1], low, high), float(answer[-1])
        found.append(tensions)
    return found


def _solve(unit_loads: UnitLoads, axes: list[Floats], low: Floats, high: Floats) -> Floats | None:
    """Tensions and load (cables + 1,); None without a solution."""
    import clarabel
    from scipy.sparse import csc_matrix

    cables = len(low)
    scale = float(high.max())  # unknowns in units of the largest tension
    bounds = np.eye(cables + 1)
    rows = [bounds, -bounds]
    right = [np.append(high / scale, FAR * cables), np.append(-low / scale, 0.0)]
    cones: list[Any] = [clarabel.NonnegativeConeT(2 * (cables + 1))]
    for k, axis in enumerate(axes):
        for block, constant in _cones(unit_loads, k, axis, scale):
            rows.append(-block.reshape(-1, cables + 1))
            right.append(constant.reshape(-1))
            cones += [clarabel.SecondOrderConeT(block.shape[1])] * len(block)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    objective = np.zeros(cables + 1)
    objective[-1] = -1.0
    none = csc_matrix((cables + 1, cables + 1))
    solver = clarabel.DefaultSolver(
        none, objective, csc_matrix(np.concatenate(rows)), np.concatenate(right), cones, settings
    )
    solution = solver.solve()
    if solution.status not in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved):
        return None
    return scale * np.array(solution.x)


def _cones(unit_loads: UnitLoads, k: int, axis: Floats, scale: float) -> list[tuple[Floats, Floats]]:
    """Blocks (joints, size, cables + 1) and constants (joints, size): block x + constant lies in the cone."""
    chain = unit_loads.chain
    rows = slice(chain.setting.guided, None)
    joints, a = chain.robot.joints[rows], axis[rows]
    radius, mu = joints["radius"], joints["friction"]
    # Force and moment / radius of each contact, linear in tensions and load: (joints, 6, cables + 1) and (joints, 6).
    unit = np.repeat(np.array([1.0, 0.0]), 3) + np.repeat(np.array([0.0, 1.0]), 3) / radius[:, None]
    linear = np.concatenate([chain.pulls[rows], -unit_loads.load_arms(k)[rows, None]], axis=1).transpose(0, 2, 1)
    linear, constant = linear * unit[:, :, None], chain.rest[rows] * unit / scale
    both = np.concatenate([linear, constant[:, :, None]], axis=2)
    force, moment = both[:, :3], both[:, 3:]
    press = np.einsum("jx,jxz->jz", a, force)  # f.a
    across = moment - a[:, :, None] * np.einsum("jx,jxz->jz", a, moment)[:, None]
    sine = mu / np.sqrt(1.0 + mu * mu)
    kappa = mu * joints["ring_radius"] / radius
    twist = ((1.0 - kappa**2)[:, None] * press)[:, None] * a[:, :, None]
    top = ((1.0 + kappa**2)[:, None] * press)[:, None]
    sliding = np.concatenate([(sine[:, None] * press)[:, None], across], axis=1)
    turn = 2.0 * kappa[:, None, None] * moment
    torsion = [np.concatenate([top, turn + twist], axis=1), np.concatenate([top, turn - twist], axis=1)]
    return [(np.ascontiguousarray(block[:, :, :-1]), block[:, :, -1]) for block in (sliding, *torsion)]


# Refinement to the last digits: linear programmes on the exact limits, within a trust region.

STEPS = 80
FIRST_REGION = 0.1
"""Fraction of the tension range."""
LAST_REGION = 1e-10
CLOSE = 1.5
"""Directions and joints within this multiple of the least limit take part."""


def refined(unit_loads: UnitLoads, start: Floats, low: Floats, high: Floats) -> tuple[Floats, float]:
    """Tensions near `start` with a larger least limit over all joints and directions, and that limit, N."""
    tensions, load = start, float(unit_loads.least(start).min())
    region = FIRST_REGION
    width = high - low
    rows: tuple[Floats, Floats] | None = None
    for _ in range(STEPS):
        if region < LAST_REGION or not 0.0 < load < np.inf:
            break
        if rows is None:
            rows = _active(unit_loads, tensions, load)
        least, most = np.maximum(low - tensions, -region * width), np.minimum(high - tensions, region * width)
        # In units of the load, for the programme has tolerances of its own.
        step, promise = (load * part for part in _step(rows[0] / load, rows[1], least / load, most / load))
        if promise <= load * (1.0 + 1e-13):
            break
        trial = np.clip(tensions + step, low, high)
        reached = float(unit_loads.least(trial).min())
        gained = (reached - load) / (promise - load)
        if reached > load:
            tensions, load, rows = trial, reached, None
        if gained < 0.25:
            region *= 0.25
        elif gained > 0.75:
            region = min(2.0 * region, 1.0)
    return tensions, load


def _active(unit_loads: UnitLoads, tensions: Floats, load: float) -> tuple[Floats, Floats]:
    """Limits (rows,) that are close to the least, and their slopes (rows, cables)."""
    limits, slopes = [], []
    for k in np.flatnonzero(unit_loads.least(tensions) <= CLOSE * load):
        each, modes = unit_loads.limits(tensions, int(k))
        near = each <= CLOSE * CLOSE * load
        limits.append(each[near])
        slopes.append(unit_loads.slopes(tensions, int(k), each, modes)[near])
    return np.concatenate(limits), np.concatenate(slopes)


def _step(limits: Floats, slopes: Floats, least: Floats, most: Floats) -> tuple[Floats, float]:
    """Change of tensions within bounds that raises the least of limits + slopes step most, and what it promises."""
    from scipy.optimize import linprog

    cables = len(least)
    answer = linprog(
        np.append(np.zeros(cables), -1.0),
        A_ub=np.column_stack([-slopes, np.ones(len(limits))]),
        b_ub=limits,
        bounds=[*zip(least, most, strict=True), (None, None)],
        method="highs",
    )
    if answer.status != 0:
        return np.zeros(cables), -np.inf
    return answer.x[:-1], float(answer.x[-1])


# The direction in which a locked chain carries least: the lowest points of a grid, each followed downhill.

VALLEYS = 4
"""Lowest points of the grid that are followed."""
SPOKES = 8
"""Directions tried around each of them."""
FINEST = 1e-7
"""rad."""


def worst_directions(unit_loads: UnitLoads, tensions: Floats) -> tuple[Floats, Floats]:
    """Directions (VALLEYS, 3) around which the payload is least, and the payloads there, N.

    Starts from the directions of `unit_loads`; a compass search narrows each one down.
    """
    forces = unit_loads.least(tensions)
    centres = _apart(unit_loads.directions, forces)
    lowest = unit_loads.towards(centres).least(tensions)
    turns = 2.0 * np.pi * np.arange(SPOKES) / SPOKES
    radius = 2.0 / np.sqrt(len(forces))
    while radius > FINEST:
        first, second = _across(centres)
        spokes = np.cos(turns)[:, None, None] * first + np.sin(turns)[:, None, None] * second
        tried = centres + radius * spokes
        tried /= np.linalg.norm(tried, axis=2, keepdims=True)
        around = unit_loads.towards(tried.reshape(-1, 3)).least(tensions).reshape(SPOKES, -1)
        best = around.argmin(axis=0)
        column = np.arange(len(centres))
        better = around[best, column] < lowest
        centres = np.where(better[:, None], tried[best, column], centres)
        lowest = np.where(better, around[best, column], lowest)
        if not better.any():
            radius *= 0.5
    return centres, lowest


def _apart(directions: Floats, forces: Floats) -> Floats:
    """The lowest directions, none of them next to another."""
    chosen: list[int] = []
    close = np.cos(4.0 / np.sqrt(len(directions)))
    for k in np.argsort(forces, kind="stable"):
        if all(directions[k] @ directions[other] < close for other in chosen):
            chosen.append(int(k))
        if len(chosen) == VALLEYS:
            break
    return directions[chosen]


def _across(directions: Floats) -> tuple[Floats, Floats]:
    """Two unit vectors (D, 3) each, perpendicular to the directions and to each other."""
    helper = np.eye(3)[np.abs(directions).argmin(axis=1)]
    first = np.cross(directions, helper)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return first, np.cross(directions, first)
