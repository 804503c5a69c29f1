"""Polylines in space: the first point ahead at a distance, and how far points are from a line. All in m."""

from __future__ import annotations

import math

import numpy as np

from vertebra.robot.tables import Floats

SNAP = 1e-12
"""A vertex this close to the wanted distance, as a fraction of it, is the point asked for.

At a right angle the distance grows only with the square of the way, so that round-off in it would move the point by a
millionth of a link; snapped to the vertex, links that stand on vertices stay exactly there.
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
    """Points evenly along the chain of `centers` (k, 3): `per_link` a link, and the last centre."""
    if len(centers) < 2:
        return centers
    share = np.arange(per_link) / per_link
    inner = centers[:-1, None, :] + share[None, :, None] * np.diff(centers, axis=0)[:, None, :]
    return np.vstack([inner.reshape(-1, 3), centers[-1:]])


def farthest(centers: Floats, line: Floats, per_link: int = 16, rounds: int = 3) -> tuple[float, Floats]:
    """Largest distance of the chain from the line, refined around its place, and (M,) distances evenly along it."""
    points = body_points(centers, per_link)
    off = distances(points, line)
    largest, at = float(off.max()), int(off.argmax())
    for _ in range(rounds):
        near = points[max(at - 1, 0) : at + 2]
        points = body_points(near, per_link)
        finer = distances(points, line)
        largest, at = max(largest, float(finer.max())), int(finer.argmax())
    return largest, off
