"""Where the links of a snake are, in the frame of the entry: origin at the first ball centre outside the guide; and
polylines in space. All in m.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from vertebra.errors import InputError
from vertebra.follow.pair import SnakePair
from vertebra.follow.state import PairState
from vertebra.follow.steps import STRAIGHT, Advance, Bend, Retract, Snake, bend_toward, turned
from vertebra.locked.ball_shape import BallShape
from vertebra.mechanics.kinematics import Pose
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

SNAP = 1e-12
"""A vertex this close to the wanted distance, as a fraction of it, is the point asked for.

At a right angle the distance grows only with the square of the travel, so that round-off in it would move the point by
a millionth of a link; snapped to the vertex, links that stand on vertices stay exactly there.
"""
CHUNK = 512


def point_ahead(
    line: Floats, vertex: int, start: Floats, center: Floats, distance: float, end_slack: float = 0.0
) -> tuple[int, Floats] | None:
    """Where the polyline (N, 3), walked on from `start`, first gets `distance` away from `center`; None if never.

    `start` is on the segment after `vertex` and within `distance` of `center`. The answer is the vertex before the
    point, and the point. The end of the line also counts when it is `end_slack` (a fraction) nearer than that.
    """
    first = vertex
    for low in range(vertex + 1, len(line), CHUNK):
        away = np.linalg.norm(line[low : low + CHUNK] - center, axis=1)
        hits = np.flatnonzero(away >= distance * (1.0 - SNAP))
        if len(hits):
            k = low + int(hits[0])
            if away[hits[0]] <= distance * (1.0 + SNAP):
                return k, line[k].copy()
            # The ball is convex, so the segment that ends outside leaves it exactly once.
            begin = start if k - 1 == first else line[k - 1]
            return k - 1, _exit(begin, line[k], center, distance)
    if np.linalg.norm(line[-1] - center) >= distance * (1.0 - end_slack) and end_slack > 0.0:
        return len(line) - 1, line[-1].copy()
    return None


def _exit(begin: Floats, end: Floats, center: Floats, radius: float) -> Floats:
    """Where the segment from inside to outside crosses the sphere."""
    along = end - begin
    u = along / np.linalg.norm(along)
    w = begin - center
    b, c = float(w @ u), min(float(w @ w) - radius * radius, 0.0)
    root = math.sqrt(b * b - c)
    t = -c / (b + root) if b > 0.0 else root - b  # the form without cancellation
    point: Floats = begin + t * u
    return point


def distances(points: Floats, line: Floats) -> Floats:
    """(M,) from each of the points (M, 3) to the nearest point of the polyline (N, 3)."""
    if len(line) == 1:
        alone: Floats = np.linalg.norm(points - line[0], axis=1)
        return alone
    nearest = np.full(len(points), np.inf)
    for low in range(0, len(line) - 1, CHUNK):
        a, b = line[low : low + CHUNK + 1][:-1], line[low + 1 : low + CHUNK + 1]
        along = b - a
        size = np.maximum((along * along).sum(axis=1), 1e-300)
        w = points[:, None, :] - a
        share = np.clip((w * along).sum(axis=2) / size, 0.0, 1.0)
        off = np.linalg.norm(w - share[:, :, None] * along, axis=2)
        nearest = np.minimum(nearest, off.min(axis=1))
    return nearest


def body_points(centers: Floats, per_link: int) -> Floats:
    """Points evenly along the chain of `centers` (k, 3): `per_link` of them per link, and the last centre."""
    if len(centers) < 2:
        return centers
    share = np.arange(per_link) / per_link
    inner = centers[:-1, None, :] + share[None, :, None] * np.diff(centers, axis=0)[:, None, :]
    return np.vstack([inner.reshape(-1, 3), centers[-1:]])


def farthest(centers: Floats, line: Floats, per_link: int = 16, refinements: int = 3) -> tuple[float, Floats]:
    """Largest distance of the chain from the line, refined around where it is, and (M,) distances evenly along it."""
    points = body_points(centers, per_link)
    off = distances(points, line)
    largest, at = float(off.max()), int(off.argmax())
    for _ in range(refinements):
        near = points[max(at - 1, 0) : at + 2]
        points = body_points(near, per_link)
        finer = distances(points, line)
        largest, at = max(largest, float(finer.max())), int(finer.argmax())
    return largest, off


# Links of a snake: z points out of the guide. Within a step, the ball centres of the sliding snake stay on the line of
# both snakes.


def ball_shape(robot: Robot, bends: Sequence[Bend]) -> BallShape:
    """Bends of all joints of the robot: those in the guide are straight, `bends` the others."""
    everything = [STRAIGHT] * (len(robot.joints) - len(bends)) + list(bends)
    return BallShape(np.array([bend.bend for bend in everything]), np.array([bend.azimuth for bend in everything]))


def snake_frames(robot: Robot, bends: Sequence[Bend], slid: float = 0.0) -> Floats:
    """(n+1, 4, 4) frames of all links, m; with `bends` at the last joints, the link before them is at z = `slid`."""
    found = Pose(robot, ball_shape(robot, bends).coordinates).frames
    found[:, 2, 3] += slid - found[len(robot.joints) - len(bends), 2, 3]
    return found


def state_frames(pair: SnakePair, state: PairState, snake: Snake) -> Floats:
    """(n+1, 4, 4) frames of all links of one snake, m."""
    return snake_frames(pair.robot(snake), state.bends(snake))


def ball_centers(pair: SnakePair, state: PairState, snake: Snake) -> Floats:
    """(m+1, 3) from the entry to the far end of the last link, m, for m links outside."""
    guided = len(pair.robot(snake).joints) - len(state.bends(snake))
    centers: Floats = state_frames(pair, state, snake)[guided:, :3, 3]
    return centers


def head(pair: SnakePair, state: PairState) -> Floats:
    """(3,) far end of the outer snake's last link, m: the point that follows the path."""
    last: Floats = ball_centers(pair, state, Snake.OUTER)[-1]
    return last


def slide_line(pair: SnakePair, state: PairState) -> Floats:
    """The polyline that a sliding snake follows, m: the guide, the body of both snakes, and straight on beyond."""
    length = pair.link_length
    body = state_frames(pair, state, Snake.OUTER)[len(pair.outer.joints) - len(state.outer) :]
    guide = np.array([[0.0, 0.0, -2.0 * length], [0.0, 0.0, -length]])
    beyond = body[-1, :3, 3] + 2.0 * length * body[-1, :3, 2]
    return np.vstack([guide, body[:, :3, 3], beyond])


def sliding_centers(pair: SnakePair, state: PairState, step: Advance | Retract, share: float) -> Floats:
    """(m+2, 3) ball centres of the snake that slides, m, from the last one in the guide on.

    `state` is that before the step, `share` from 0 (not moved) to 1 (a whole link). Consecutive centres are exactly
    one link apart; at the ends they are the vertices of the line.
    """
    if not 0.0 <= share <= 1.0:
        raise InputError("share", f"must be from 0 to 1, not {share!r}")
    count = len(state.bends(step.snake)) - isinstance(step, Retract)
    out = share if isinstance(step, Advance) else 1.0 - share  # how far the extra link is out, in links
    line, length = slide_line(pair, state), pair.link_length
    centers = np.empty((count + 2, 3))
    centers[0] = 0.0, 0.0, -(1.0 - out) * length
    vertex = 1 if out < 1.0 else 2
    for k in range(count + 1):
        found = point_ahead(line, vertex, centers[k], centers[k], length)
        if found is None:
            raise InputError(str(step), f"the line ends before link {k + 1} of the sliding snake")
        vertex, centers[k + 1] = found
    return centers


def sliding_frames(pair: SnakePair, state: PairState, step: Advance | Retract, share: float) -> Floats:
    """(n+1, 4, 4) frames of all links of the snake that slides, m; see `sliding_centers`."""
    centers = sliding_centers(pair, state, step, share)
    rotation, bends = np.eye(3), []
    for direction in np.diff(centers, axis=0):
        bends.append(bend_toward(rotation, direction))
        rotation = turned(rotation, bends[-1])
    return snake_frames(pair.robot(step.snake), bends, float(centers[0, 2]))
