"""Whether the rigid snake holds: its own weight, the loose one's, and the load at the tip."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vertebra.errors import Infeasible
from vertebra.follow.pair import SnakePair
from vertebra.follow.poses import ball_shape, state_frames
from vertebra.follow.state import PairState
from vertebra.follow.steps import Snake
from vertebra.locked.payload import Payload, payload
from vertebra.mechanics.kinematics import Pose
from vertebra.mechanics.problem import Load
from vertebra.robot.tables import Floats


@dataclass(frozen=True, eq=False, repr=False)
class Holding:
    """What the rigid snake carries while the other one is loose."""

    rigid: Snake
    payload: Payload
    """Of the rigid snake at the foremost tip, in the direction of the tip load (of gravity without one)."""
    wanted: float
    """Size of the tip load, N."""
    weight: float
    """Of both snakes outside the guide, N."""

    @property
    def force(self) -> float:
        """What it carries at the tip besides all weights, N; infinite when nothing makes it slip."""
        return self.payload.force

    @property
    def joint(self) -> int:
        """Its weakest joint, counted from 1 as in the robot file; 0 when nothing makes it slip."""
        return self.payload.joint

    @property
    def margin(self) -> float:
        """How much more than the tip load it carries, N; negative when it does not hold."""
        return self.force - self.wanted

    @property
    def holds(self) -> bool:
        return not self.payload.slips_unloaded and self.force >= self.wanted

    def __repr__(self) -> str:
        verdict = "holds" if self.holds else "does not hold"
        return f"Holding({self.rigid} {verdict}: {self.force:.4g} N at the tip, {self.wanted:.4g} N wanted)"


def holding(pair: SnakePair, state: PairState) -> Holding | None:
    """What the rigid snake carries in a state; None when both are rigid."""
    if state.rigid is None:
        return None
    wanted = float(np.linalg.norm(pair.tip_load))
    weight = sum(size for _, _, size in _weights(pair, state, state.rigid))
    weight += sum(size for _, _, size in _weights(pair, state, state.rigid.other))
    return Holding(state.rigid, _payload(pair, state, state.rigid), wanted, weight)


def require(pair: SnakePair, state: PairState, found: Holding, doing: str) -> None:
    """`Infeasible` that names the joint that gives way when the rigid snake does not hold."""
    if found.holds:
        return
    answer, rigid = found.payload, found.rigid
    place = answer.joint - len(pair.robot(rigid).joints) + len(state.bends(rigid))
    short, remedy = -found.margin, f"raise {rigid}_tensions, bend less, or carry less"
    if not answer.slips_unloaded:
        what = f"carries {found.force:.4g} N at the tip where {found.wanted:.4g} N is wanted, {short:.4g} N short"
    else:
        carried = _carried_part(pair, state, rigid)
        short = (1.0 - carried) * found.weight + found.wanted
        what = f"carries {carried * 100:.3g} % of the weights, {short:.3g} N short"
        if carried == 0.0:
            what = "slips under its own cables"
            remedy = "bend less there, or pull its cables unequally" if pair.tensions(rigid).any() else remedy
    raise Infeasible(
        answer.joint, answer.mode, short,
        f"{doing}: the rigid {rigid} snake would give way at joint {answer.joint}, place {place} from the entry "
        f"({answer.mode}). It {what}; {remedy}",
        answer,
    )  # fmt: skip


def _payload(pair: SnakePair, state: PairState, rigid: Snake, part: float = 1.0) -> Payload:
    """Payload of the rigid snake, under a `part` of all weights."""
    robot, bends = pair.robot(rigid), state.bends(rigid)
    shape = ball_shape(robot, bends)
    frames = state_frames(pair, state, rigid)
    gravity = part * pair.gravity
    return payload(
        robot, shape.bends, shape.azimuths, pair.tensions(rigid), _direction(pair),
        point=_inside(frames[-1], _foremost_tip(pair, state)), gravity=gravity,
        loads=tuple(_loads(pair, state, rigid, frames, part)), friction=pair.friction, socket_limit=pair.socket_limit,
        guided=len(robot.joints) - len(bends),
    )  # fmt: skip


def _direction(pair: SnakePair) -> Floats:
    for vector in (pair.tip_load, pair.gravity):
        if vector.any():
            return vector
    return np.array([1.0, 0.0, 0.0])


def _foremost_tip(pair: SnakePair, state: PairState) -> Floats:
    """(3,) tip point of the outer snake, m: it is never behind the inner one."""
    last = state_frames(pair, state, Snake.OUTER)[-1]
    tip: Floats = last[:3, 3] + last[:3, :3] @ pair.outer.tip_point
    return tip


def _loads(pair: SnakePair, state: PairState, rigid: Snake, frames: Floats, part: float) -> Iterator[Load]:
    """Weights of the loose snake on the links of the rigid one at the same places; what overhangs, on its last link."""
    robot, count = pair.robot(rigid), len(state.bends(rigid))
    guided = len(robot.joints) - count
    size = float(np.linalg.norm(pair.gravity))
    if not size:
        return
    down = pair.gravity / size
    for place, at, weight in _weights(pair, state, rigid.other):
        link = guided + min(place, count)
        yield Load(force=part * weight * down, link=link, point=_inside(frames[link], at))


def _weights(pair: SnakePair, state: PairState, snake: Snake) -> Iterator[tuple[int, Floats, float]]:
    """Place, position (3,) m in the frame of the entry, and N, of every mass of a snake outside the guide."""
    robot, count = pair.robot(snake), len(state.bends(snake))
    guided, g = len(robot.joints) - count, float(np.linalg.norm(pair.gravity))
    found = Pose(robot, ball_shape(robot, state.bends(snake)).coordinates).masses
    # `masses` counts from the robot's own base, far inside the guide.
    shift = state_frames(pair, state, snake)[0, :3, 3] - robot.origin
    for place in range(1, count + 1):
        link = guided + place
        yield place, found.links_at[link] + shift, g * float(found.links[link])
        for k in np.flatnonzero(found.cables[:, link - 1]):
            yield place, found.cables_at[k, link - 1] + shift, g * float(found.cables[k, link - 1])
    for k in np.flatnonzero(found.locks):
        place = int(robot.cables["last_link"][k]) - guided
        if place > 0:
            yield place, found.locks_at[k] + shift, g * float(found.locks[k])


def _inside(frame: Floats, point: Floats) -> Floats:
    """A point of the world in the frame of a link, m."""
    local: Floats = frame[:3, :3].T @ (point - frame[:3, 3])
    return local


def _carried_part(pair: SnakePair, state: PairState, rigid: Snake) -> float:
    """Largest part of all weights under which the snake holds, by bisection; 0 when its cables alone make it slip."""
    holds, slips = 0.0, 1.0
    if _payload(pair, state, rigid, 0.0).slips_unloaded:
        return 0.0
    while slips - holds > 1e-6:
        middle = 0.5 * (holds + slips)
        if _payload(pair, state, rigid, middle).slips_unloaded:
            slips = middle
        else:
            holds = middle
    return holds
