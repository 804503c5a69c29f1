"""Where the links of a snake are, in the frame of the entry: origin at the first ball centre outside the guide, z out
of the guide. Between the ends of a step, the ball centres of the sliding snake stay on the line of both snakes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vertebra.errors import InputError
from vertebra.mechanics.kinematics import frames
from vertebra.motion.bend import STRAIGHT, Bend, bend_toward, turned
from vertebra.motion.pair import SnakePair
from vertebra.motion.polyline import point_ahead
from vertebra.motion.state import PairState
from vertebra.motion.steps import Advance, Retract, Snake
from vertebra.robot.ball_shape import BallShape
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats


def ball_shape(robot: Robot, bends: Sequence[Bend]) -> BallShape:
    """Bends of all joints of the robot: those in the guide are straight, `bends` the others."""
    everything = [STRAIGHT] * (len(robot.joints) - len(bends)) + list(bends)
    return BallShape(np.array([bend.bend for bend in everything]), np.array([bend.azimuth for bend in everything]))


def snake_frames(robot: Robot, bends: Sequence[Bend], slid: float = 0.0) -> Floats:
    """(n+1, 4, 4) frames of all links, m; with `bends` at the last joints, the link before them is at z = `slid`."""
    found = frames(robot, ball_shape(robot, bends).coordinates)
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
    """(3,) far end of the outer snake's last link, m: what the path is about."""
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
