"""The direction in which a locked chain holds least: the lowest points of a grid, each followed downhill."""

from __future__ import annotations

import numpy as np

from vertebra.payload.pushes import Pushes
from vertebra.robot.tables import Floats

VALLEYS = 4
"""Lowest points of the grid that are followed."""
SPOKES = 8
"""Directions tried around each of them."""
FINEST = 1e-7
"""rad."""


def worst_directions(pushes: Pushes, tensions: Floats) -> tuple[Floats, Floats]:
    """Directions (VALLEYS, 3) around which the payload is least, and the payloads there, N.

    Starts from the directions of `pushes`; a compass search narrows each one down.
    """
    forces = pushes.least(tensions)
    centres = _apart(pushes.directions, forces)
    lowest = pushes.towards(centres).least(tensions)
    turns = 2.0 * np.pi * np.arange(SPOKES) / SPOKES
    radius = 2.0 / np.sqrt(len(forces))
    while radius > FINEST:
        first, second = _across(centres)
        spokes = np.cos(turns)[:, None, None] * first + np.sin(turns)[:, None, None] * second
        tried = centres + radius * spokes
        tried /= np.linalg.norm(tried, axis=2, keepdims=True)
        around = pushes.towards(tried.reshape(-1, 3)).least(tensions).reshape(SPOKES, -1)
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
