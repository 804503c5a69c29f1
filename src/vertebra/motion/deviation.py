"""How far the bodies are from where they should be: at the ends of steps, and while a snake slides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vertebra.motion.pair import SnakePair
from vertebra.motion.polyline import body_points, distances, farthest
from vertebra.motion.poses import ball_centers, head, slide_line, sliding_centers
from vertebra.motion.state import Lock, PairState, farthest_out
from vertebra.motion.steps import Advance, Retract, Snake, Step
from vertebra.robot.tables import Floats

SHARES = 8
"""A slide of one link is looked at in so many parts."""
HALVINGS = 5
"""Then the place of the largest distance is searched for this many times more finely."""


@dataclass(frozen=True)
class Deviation:
    """Distance of a body from a line."""

    largest: float
    """m."""
    rms: float
    """m, evenly along the links."""

    def __repr__(self) -> str:
        return f"Deviation({self.largest * 1e3:.4g} mm at most, {self.rms * 1e3:.4g} mm rms)"


def from_tip_path(pair: SnakePair, states: Sequence[PairState]) -> tuple[Deviation, Floats]:
    """Both bodies against the path of the head, over all states; and the largest distance in each, (states,) m.

    The path is made of places where the head has been while it was steered, and of where it is now. A body that
    follows the leader has not left it.
    """
    trail: list[Floats] = list(ball_centers(pair, states[0], Snake.OUTER))
    largest, squares, count = [], 0.0, 0
    for state in states:
        out = len(state.outer)
        del trail[out + 1 :]
        if len(trail) == out:
            trail.append(head(pair, state))
        elif out and state.lock is Lock.OUTER_LOOSE and len(state.inner) < out:
            trail[out] = head(pair, state)
        # Body and trail are straight between vertices: ends and middles of links tell all.
        points = [body_points(ball_centers(pair, state, snake), 2) for snake in Snake]
        off = distances(np.vstack(points), np.array(trail))
        largest.append(float(off.max()))
        squares, count = squares + float(off @ off), count + len(off)
    return Deviation(max(largest), math.sqrt(squares / count)), np.array(largest)


def from_wanted(pair: SnakePair, states: Sequence[PairState], wanted: Floats) -> Deviation:
    """The outer snake, as far out as it got, against the wanted polyline (N, 3)."""
    largest, off = farthest(ball_centers(pair, farthest_out(states), Snake.OUTER), wanted)
    return Deviation(largest, math.sqrt(float(off @ off) / len(off)))


def corner_cut(pair: SnakePair, states: Sequence[PairState], steps: Sequence[Step]) -> tuple[Deviation, Floats]:
    """Sliding snakes against the line they slide along; and the largest distance in each step, (steps,) m.

    A link that passes a corner of angle phi cuts it by (L/2) sin(phi/2), about L phi/4.
    """
    largest, squares = np.zeros(len(steps)), []
    for number, (state, step) in enumerate(zip(states, steps, strict=False)):
        if isinstance(step, Advance | Retract):
            largest[number], mean_square = _slide_cut(pair, state, step)
            squares.append(mean_square)
    rms = math.sqrt(sum(squares) / len(squares)) if squares else 0.0
    return Deviation(float(largest.max(initial=0.0)), rms), largest


def _slide_cut(pair: SnakePair, state: PairState, step: Advance | Retract) -> tuple[float, float]:
    """Largest distance in one slide, m, and the mean square along the snake and the way, m^2."""
    line = slide_line(pair, state)

    def cuts(share: float) -> Floats:
        return link_cuts(sliding_centers(pair, state, step, share), line)

    coarse = {part / SHARES: cuts(part / SHARES) for part in range(1, SHARES)}
    best = max(coarse, key=lambda share: coarse[share].max())
    largest, width = float(coarse[best].max()), 1.0 / SHARES
    for _ in range(HALVINGS):
        width /= 2.0
        for share in (best - width, best + width):
            found = float(cuts(share).max())
            if found > largest:
                largest, best = found, share
                break
    # The distance rises and falls linearly along a link, so its mean square is a third of that of its peak.
    return largest, float(np.mean([np.mean(found**2) / 3.0 for found in coarse.values()]))


def link_cuts(centers: Floats, line: Floats) -> Floats:
    """(k,) largest distance of each link of a sliding snake from its own part of the line, m.

    `centers` (k+1, 3) from the last one in the guide on, `line` as `slide_line` gives it: a link begins on one segment
    and ends on the next. With alpha and beta between the link and its two segments, the points of the link at
    t L sin(alpha) from the one and (1 - t) L sin(beta) from the other are farthest where both are equal.
    """
    links = np.diff(centers, axis=0)
    length = np.linalg.norm(links, axis=1)
    corners = line[2 : 2 + len(links)]
    alpha, beta = (
        _sine(corners - centers[:-1], links / length[:, None]),
        _sine(centers[1:] - corners, links / length[:, None]),
    )
    total = alpha + beta
    peaks: Floats = np.divide(length * alpha * beta, total, out=np.zeros_like(total), where=total > 0.0)
    return peaks


def _sine(vectors: Floats, axes: Floats) -> Floats:
    """(k,) of the angle between each vector and each unit vector; 0 for no vector."""
    size = np.linalg.norm(vectors, axis=1)
    across = np.linalg.norm(np.cross(vectors, axes), axis=1)
    sine: Floats = np.divide(across, size, out=np.zeros_like(size), where=size > 0.0)
    return sine
