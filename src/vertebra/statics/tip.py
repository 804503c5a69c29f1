"""Which tensions bring the tip here, and as stiff as this?

A coarse look at many tensions, then damped Gauss-Newton steps within the bounds from the best of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import Infeasible, InputError
from vertebra.mechanics.kinematics import Pose
from vertebra.mechanics.problem import Closure, Load, Problem
from vertebra.robot.arguments import as_robot, flag, numbers, positive, tension_bounds, tip_position, vector
from vertebra.robot.friction import Friction
from vertebra.robot.robot import Robot, RobotLike
from vertebra.robot.tables import Floats
from vertebra.statics.forward import require_solved, shape_from_tensions, shapes_from_tensions
from vertebra.statics.least_tensions import CLOSE_ENOUGH, Answer, least, nearest
from vertebra.statics.path import ShapePath
from vertebra.statics.shape import Shape, Status
from vertebra.statics.tip_search import TipGoal, TipSearch, Walls, descend

MOST = 1e3
"""How far the search goes without an upper bound: times the tension that balances weight, loads and elastic joints."""
SAMPLES = (300, 900)
"""Tensions looked at before the search, and once more where these lead nowhere."""
TRIES = 24
ANSWERS, AGREEING = 4, (8, 4)
"""Answers that are compared with friction; without, how many optima are found at least, and how many of them have to
agree on the best."""
ALIKE = 1e-6
"""Relative difference of norms below which two optima are the same."""
KICKS = (0.0, 0.01, 0.01, 0.02, 0.02, 0.05, 0.05, 0.1, 0.1, 0.2)
"""On a path: how far from the last tensions the search starts, relative."""
STIFFNESS_TOLERANCE = 1e-4
"""Relative."""
TOLERANCE = 5e-6
"""Distance that counts as reached, unless stated: as a part of the robot's length."""
PROVEN = 1e-7
"""Residual of the first-order conditions below which an optimum counts as one."""
WORTH = 1.5
"""How much larger than others the tensions of a proven optimum may be."""
TRIED = 3
"""Least answers next to which a steadier one is looked for."""
MARGINS = (1.1, 1.3, 1.6, 2.0, 4.0, 8.0, 16.0, 64.0)
"""Where tensions could shrink until the robot gives way: stiffness of its weakest motion that is kept, as a factor on
what is left when it is about to take another shape."""


@dataclass(frozen=True, eq=False, repr=False)
class TipTensions:
    """Tensions that bring the tip as near as they can to where it should be."""

    tensions: Floats
    """(cables,) N, within the bounds."""
    shape: Shape
    """The shape that they give."""
    error: float
    """Distance of the tip from the wanted position, m."""
    stiffness: float | None
    """Tip stiffness in the wanted direction, N/m; None when none was wanted."""
    reached: bool
    """Position within the tolerance, and direction and stiffness if wanted."""
    at_bounds: tuple[int, ...]
    """Cables at their least or most tension, counted from 1."""
    tilt: float | None
    """Angle between the tip and the wanted axis or rotation, rad; None when none was wanted."""
    kkt: float
    """Residual of the first-order conditions of an optimum, without units: that no tensions nearby do the same with a
    smaller sum of squares (on a path: with less change), or, where the goal is not met exactly, come nearer. Zero at an
    optimum, infinite where none could be told, as where friction makes kinks. Where less tension would let a joint
    leave its rigid stop there is a kink too, and no small number."""
    stops: tuple[str, ...]
    """What holds the answer where it is, in words: cables at a bound, joints at their limit. For a goal that is not
    reached, that is what keeps the tip from it."""
    held: tuple[tuple[int, int], ...] = ()
    """The cables among them, counted from 1, and the bound that holds each: -1 its least tension, 1 its most."""

    def __repr__(self) -> str:
        pulls = ", ".join(f"{tension:.4g}" for tension in self.tensions)
        tilt = "" if self.tilt is None else f", {np.degrees(self.tilt):.3g} deg off"
        stiff = "" if self.stiffness is None else f", {self.stiffness:.4g} N/m"
        missed = "" if self.reached else ", not reached"
        return f"TipTensions({pulls} N, {self.error * 1e3:.3g} mm off{tilt}{stiff}{missed})"


def tensions_for_tip(
    robot: RobotLike,
    position: ArrayLike,
    *,
    axis: ArrayLike | None = None,
    rotation: ArrayLike | None = None,
    stiffness: tuple[ArrayLike, float] | None = None,
    gravity: str | ArrayLike | None = None,
    loads: Sequence[Load] | None = (),
    friction: Friction | None = None,
    closure: Closure = "virtual-work",
    path: ShapePath | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    start: ArrayLike | None = None,
    tolerance: float | None = None,
    check: bool = True,
) -> TipTensions:
    """Least cable tensions whose shape has its tip at `position` (3,) m. Only stable shapes within the range of every
    joint count.

    More cables than needed leave a choice: the least sum of squares is taken, the best of several optima that searches
    from different starts lead to. `kkt` in the result says how well it meets the conditions of an optimum.

    `axis`: (3,) where the last link shall point, world axes; needs five cables. `rotation`: (3, 3) the wanted axes of
    the last link, one per column, as in `shape.frames`; needs six. `stiffness`: a direction and the tip stiffness
    wanted in it, N/m; needs one cable more. `lower`, `upper`: bounds in N, one or one per cable; default pretension and
    max_tension of the robot file, and where that has none, a thousand times what balances weight and loads. `friction`,
    `closure`, `start` as in `shape_from_tensions`: each trial is solved from the start. `tolerance`: m, default 5
    millionths of the robot's length; angles have that over the length.

    `path`: the next step of a path instead, with its history, gravity, loads and friction. The search starts from its
    last tensions and takes the answer closest to them, so that tensions along a tip path change little by little; where
    none is near, any other. The path itself does not move: step it with the answer.

    With `check`, raises `Infeasible` with the closest answer as `result` when the tip does not get there: it says by
    how much, and which cables or joints stop it.
    """
    robot = as_robot(robot)
    check = flag("check", check)
    problem = problem_of(robot, path, gravity, loads, friction, closure, start)
    low, high = tension_bounds(robot, lower, upper)
    if len(low) == 0:
        raise InputError("robot", f"{robot.name} has no cables")
    tolerance = TOLERANCE * robot.length if tolerance is None else positive("tolerance", tolerance)
    goal = tip_goal(robot, position, axis, rotation, stiffness)
    usual = usual_tension(problem, low, high)
    farthest = np.minimum(high, low + MOST * usual)
    enough = 0.2 * tolerance / goal.size
    if path is None:
        tip = TipSearch(problem, goal, usual, start)
        found = _search(tip, low, high, farthest, start, enough)
        shape = shape_from_tensions(
            robot, found.tensions, gravity=gravity, loads=loads, friction=friction, closure=closure, start=start,
            check=False,
        )  # fmt: skip
    else:
        state = path.save()
        tip = TipSearch(problem, goal, usual, state.angles if state.steps else None, state.history.copy())
        found = _next_on_path(tip, path.tensions, low, high, farthest, enough)
        shape = path.preview(found.tensions)
    result = tip_result(shape, goal, found, tip.walls, low, high, tolerance)
    if check:
        require_solved(problem, shape)
        if not result.reached:
            _refuse(result, stiffness, on_path=path is not None)
    return result


def problem_of(
    robot: Robot, path: ShapePath | None, gravity: str | ArrayLike | None, loads: Sequence[Load] | None,
    friction: Friction | None, closure: Closure, start: ArrayLike | None = None,
) -> Problem:  # fmt: skip
    """The problem of a path, or without one, what was given."""
    if path is None:
        return Problem.of(robot, gravity, loads, friction, closure)
    if not isinstance(path, ShapePath):
        raise InputError("path", f"must be a ShapePath, not {type(path).__name__}")
    if path.robot != robot:
        raise InputError("path", f"is of {path.robot.name}, not of {robot.name}")
    given = (gravity, friction, start, loads or None)
    if any(value is not None for value in given) or closure not in ("virtual-work", path.problem.closure):
        raise InputError("path", "has its own gravity, loads, friction, closure and start; leave those out")
    return path.problem


def _next_on_path(
    tip: TipSearch, last: Floats | None, low: Floats, high: Floats, farthest: Floats, enough: float
) -> Found:
    """The answer that the last tensions lead to; where they lead to none, the usual search, history included."""
    if last is not None:
        # Where cables begin to slip back, the tip responds differently than just before: a kick finds the new slope.
        rng = np.random.default_rng(0)
        size = np.maximum(last, 0.1 * float(last.max()))
        for kick in KICKS:
            first = last + kick * size * rng.uniform(-1.0, 1.0, len(last))
            tensions, miss = descend(tip, np.clip(first, low, farthest), low, farthest, enough)
            if miss <= enough:
                nearby = None if tip.problem.laws else least(tip, tensions, low, farthest, toward=last)
                return Found(tensions, None) if nearby is None else Found(nearby.tensions, nearby)
    return _search(tip, low, high, farthest, None, enough)


class Found(NamedTuple):
    """What a search found."""

    tensions: Floats
    answer: Answer | None
    """None where the first-order conditions could not be told."""
    first: Floats | None = None
    """Where its search began."""


def _search(
    tip: TipSearch, low: Floats, high: Floats, farthest: Floats, start: ArrayLike | None, enough: float
) -> Found:
    """The least tensions that reach the goal, or those that come nearest to it."""
    near, miss_of_near = low, np.inf
    found: list[Found] = []
    for count in SAMPLES:
        for first in _candidates(tip, low, high, start, count):
            tensions, miss = descend(tip, first, low, farthest, enough)
            if miss > enough:
                if miss < miss_of_near:
                    near, miss_of_near = tensions, miss
                continue
            optimum = least(tip, tensions, low, farthest)
            found.append(Found(tensions, None) if optimum is None else Found(optimum.tensions, optimum, tensions))
            if _agree(found):
                return _proven(tip, found, low, farthest)
            if tip.problem.laws and len(found) == ANSWERS:
                return min(found, key=_norm)
    if found:
        return _proven(tip, found, low, farthest)
    return _nearest(tip, near, low, farthest)


def _norm(found: Found) -> float:
    return float(np.linalg.norm(found.tensions))


def _agree(found: list[Found]) -> bool:
    norms = np.array([_norm(one) for one in found])
    return len(norms) >= AGREEING[0] and int((norms <= (1.0 + ALIKE) * norms.min()).sum()) >= AGREEING[1]


def _proven(tip: TipSearch, found: list[Found], low: Floats, high: Floats) -> Found:
    """The least of the answers; where the robot is about to give way there, the least with some stability left."""
    found.sort(key=_norm)
    for place, one in enumerate(found):
        if tip.problem.laws or (one.answer is not None and one.answer.kkt <= PROVEN):
            return one if _norm(one) <= WORTH * _norm(found[0]) else found[0]
        steadier = (
            steadier_answer(tip, one.answer, low, high, one.first) if one.answer is not None and place < TRIED else None
        )
        others = [_norm(other) for other in found[place + 1 :] if other.answer and other.answer.kkt <= PROVEN]
        if steadier is not None and np.linalg.norm(steadier.tensions) <= min([WORTH * _norm(found[0]), *others]):
            return Found(steadier.tensions, steadier)
    return found[0] if found[0].answer is not None else _nearest(tip, found[0].tensions, low, high)


def _nearest(tip: TipSearch, tensions: Floats, low: Floats, high: Floats) -> Found:
    """The tensions nearby that come nearest to the goal; if they meet it after all, the least that do."""
    closest = nearest(tip, tensions, low, high)
    if closest is not None and float(np.linalg.norm(closest.point.off)) <= CLOSE_ENOUGH:
        closest = least(tip, closest.tensions, low, high) or closest
    return Found(tensions, None) if closest is None else Found(closest.tensions, closest)


def steadier_answer(
    tip: TipSearch, answer: Answer, low: Floats, high: Floats, first: Floats | None = None
) -> Answer | None:
    """The least tensions with some stability left, next to an answer that is about to give way; or from `first`."""
    if tip.residual(answer.tensions) is None:
        return None
    weakest, before = tip.weakest(), tip.walls.margin
    if not np.isfinite(weakest):
        return None
    try:
        for more in MARGINS:
            tip.walls.margin = more * weakest
            for start in (answer.tensions,) if first is None else (answer.tensions, first):
                optimum = least(tip, start, low, high)
                if optimum is not None and optimum.kkt <= PROVEN:
                    return optimum
    finally:
        tip.walls.margin = before
    return None


def tip_goal(
    robot: Robot, position: ArrayLike, axis: ArrayLike | None = None, rotation: ArrayLike | None = None,
    stiffness: tuple[ArrayLike, float] | None = None,
) -> TipGoal:  # fmt: skip
    """The goal, checked."""
    place = tip_position(robot, position)
    turned = rows = along = None
    value = 0.0
    if axis is not None and rotation is not None:
        raise InputError("rotation", "give axis or rotation, not both")
    if axis is not None:
        turned = np.zeros((3, 3))
        turned[:, 2] = _unit("axis", axis)
        rows = np.linalg.svd(turned[:, 2:].T)[2][1:]
    if rotation is not None:
        turned, rows = numbers("rotation", rotation, "any unit"), np.eye(3)
        if turned.shape != (3, 3) or np.abs(turned.T @ turned - rows).max() > 1e-6 or np.linalg.det(turned) < 0.0:
            raise InputError("rotation", "must be a (3, 3) rotation matrix: right-handed unit axes, one per column")
    if stiffness is not None:
        try:
            direction, wanted = stiffness
        except Exception:  # an object may raise anything when it is taken apart
            raise InputError("stiffness", "must be a direction and a stiffness: ((0, 0, 1), 20.0) in N/m") from None
        value = positive("stiffness", wanted)
        along = _unit("stiffness", direction)
    goal = TipGoal(place, robot.length, along, value, turned, rows)
    if rows is not None and len(robot.cables) < goal.count:
        asked = f"position and {'axis' if axis is not None else 'rotation'}{'' if along is None else ' and stiffness'}"
        raise InputError(
            "axis" if axis is not None else "rotation",
            f"{asked} need {goal.count} cables or more, and {robot.name} has {len(robot.cables)}",
        )
    return goal


def _unit(name: str, direction: ArrayLike) -> Floats:
    along = vector(f"{name} direction" if name == "stiffness" else name, direction, "any unit")
    if not along.any():
        raise InputError(name, "the direction must not be all zero")
    unit: Floats = along / np.linalg.norm(along)
    return unit


def _candidates(tip: TipSearch, low: Floats, high: Floats, start: ArrayLike | None, count: int) -> Floats:
    """Tensions to start from, the most promising first."""
    problem, goal, rng = tip.problem, tip.goal, np.random.default_rng(0)
    robot = problem.robot
    level = tip.usual * 10.0 ** rng.uniform(-1.5, 1.5, (count, 1))
    # Even tensions, uneven ones, and ones with single cables all but slack.
    shares = rng.uniform(0.0, 1.0, (count, len(low))) ** rng.choice([0.3, 1.0, 3.0], (count, 1))
    samples = np.clip(low + level * shares, low, high)
    bounded = np.isfinite(high)
    third = count // 3
    samples[:third, bounded] = rng.uniform(low[bounded], high[bounded], (third, int(bounded.sum())))
    shapes = shapes_from_tensions(
        robot, samples, gravity=problem.gravity, loads=problem.loads, friction=problem.laws or 0.0,
        closure=problem.closure, start=start, threads=1,
    )  # fmt: skip
    solved = shapes.solved
    if not solved.any():
        return np.empty((0, len(low)))
    misses = (shapes.tip[solved] - goal.position) / goal.size
    miss = (misses**2).sum(axis=1)
    if goal.turned is not None:
        axes = np.array([Pose(robot, angles).frames[-1, :3, :3] for angles in shapes.angles[solved]])
        miss += goal.tilt(axes) ** 2
    if goal.direction is not None:
        miss += goal.too_soft(shapes.compliance[solved], goal.direction) ** 2
    nearest: Floats = samples[solved][np.argsort(miss, kind="stable")]
    # Neighbours of the best share its fate: half of the tries go to it, the others, in turn, are spread over the ranks.
    best = np.arange(TRIES // 2)
    spread = np.geomspace(TRIES // 2, max(len(nearest) - 1, TRIES // 2), TRIES // 2).astype(int)
    ranks = np.array(list(dict.fromkeys(np.column_stack([best, spread]).reshape(-1).tolist())))
    chosen: Floats = nearest[ranks[ranks < len(nearest)]]
    return chosen


def usual_tension(problem: Problem, low: Floats, high: Floats) -> float:
    """A tension that matters to this robot: what balances its weight, its loads and its elastic joints.

    A robot that has none of them takes the same shape at any tension: then its bounds say, or nothing does, and 1 N is
    as good as any.
    """
    robot = problem.robot
    lever = float(robot.cables["radius"].mean())
    mass = robot.mass + sum(load.mass for load in problem.loads)
    weight = mass * float(np.linalg.norm(problem.gravity))
    push = float(np.abs(problem.table["force"]).sum()) + weight
    torque = push * robot.length + float(np.abs(problem.table["moment"]).sum())
    torque += 0.3 * float(robot.joints["stiffness"].max(initial=0.0))
    bounded = np.concatenate([high[np.isfinite(high)], low])
    return torque / lever if torque > 0.0 else float(bounded.max(initial=0.0)) or 1.0


def tip_result(
    shape: Shape, goal: TipGoal, found: Found, walls: Walls, low: Floats, high: Floats, tolerance: float
) -> TipTensions:
    """The answer with all that it says of itself."""
    tensions, answer = found.tensions, found.answer
    error = float(np.linalg.norm(shape.tip - goal.position))
    reached, stiffness, tilt = error <= tolerance and shape.status == Status.SOLVED, None, None
    if goal.turned is not None:
        tilt = float(goal.tilt(shape.frames[-1, :3, :3]))
        reached = reached and tilt <= tolerance / goal.size
    if goal.direction is not None:
        give = float(goal.direction @ shape.compliance[:3, :3] @ goal.direction)
        stiffness = 1.0 / give if give > 0.0 else np.inf
        reached = reached and abs(stiffness / goal.stiffness - 1.0) <= STIFFNESS_TOLERANCE
    edge = np.flatnonzero((tensions <= low) | (tensions >= high)) + 1
    stops: list[str] = []
    if answer is not None:
        for cable, side in answer.held:
            bound = "least" if side < 0 else "most" if tensions[cable] >= high[cable] else "largest searched"
            stops.append(f"cable {cable + 1} at its {bound} tension of {tensions[cable]:.4g} N")
        stops += [walls.name(wall) for wall in answer.walls]
        if not reached and not stops:
            stops.append("the reach of the robot, at no bound")
    kkt, held = (np.inf, ()) if answer is None else (answer.kkt, answer.held)
    return TipTensions(
        tensions, shape, error, stiffness, reached, tuple(edge.tolist()), tilt, kkt, tuple(stops),
        tuple((cable + 1, side) for cable, side in held),
    )  # fmt: skip


def _refuse(result: TipTensions, wanted: tuple[ArrayLike, float] | None, on_path: bool) -> None:
    stops = f"; what stops it: {', '.join(result.stops)}" if result.stops else ""
    tilt = "" if result.tilt is None else f" and {np.degrees(result.tilt):.4g} deg"
    stiff = "" if wanted is None else f" and stiffness {result.stiffness:.4g} N/m of {float(wanted[1]):.4g} wanted"
    raise Infeasible(
        0, "tip position", result.error,
        f"the tip gets within {result.error * 1e3:.4g} mm{tilt}{stiff}{stops}; ask for a place within reach"
        f"{', or widen the bounds' if on_path else ', widen the bounds, or try another start'}", result,
    )  # fmt: skip
