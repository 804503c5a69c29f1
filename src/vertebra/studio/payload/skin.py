"""The skin of a body of payloads, joint by joint, fast enough for every frame of a slider.

The same skin as `report.payload_body.patches` makes, which takes some 50 ms where many joints share a body.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from vertebra.locked.chain import sphere_grid
from vertebra.report.meshes import Ints, Mesh
from vertebra.report.payload_map import CUT, Body, skin


class Net(NamedTuple):
    """Triangles between evenly spread directions, whole and cut. Vertices: directions, middles of edges, centres."""

    triangles: Ints
    """(F, 3) rows of directions."""
    edges: Ints
    """(E, 2) rows of directions."""
    cut: Ints
    """(F, 3, 2, 3) of each triangle, the two triangles that are the share of each corner."""


@lru_cache(maxsize=4)
def net(count: int) -> Net:
    """Of so many directions; they are the same for every body."""
    triangles = skin(sphere_grid(count))
    ends = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2), axis=2).reshape(-1, 2)
    edges, numbers = np.unique(ends, axis=0, return_inverse=True)
    after = count + numbers.reshape(-1, 3)
    centre = count + len(edges) + np.arange(len(triangles))
    before = np.roll(after, 1, axis=1)
    corners = np.stack([triangles, after, np.repeat(centre[:, None], 3, axis=1), before], axis=2)
    return Net(triangles, edges, corners[:, :, CUT])


def skins(body: Body) -> dict[int, Mesh]:
    """Skin by weakest joint, mm, 0 where there is no limit; triangles between directions of different joints are cut
    halfway, so that every direction has its own share. Empty for a body that cannot be drawn."""
    if body.scale == 0:
        return {}
    triangles, edges, cut = net(len(body.directions))
    points = body.drawn
    vertices = np.concatenate([points, points[edges].mean(axis=1), points[triangles].mean(axis=1)])
    owners = body.joint[triangles]
    same = (owners == owners[:, :1]).all(axis=1)
    whole, whole_owners, parts, part_owners = triangles[same], owners[same, 0], cut[~same], owners[~same]
    found = {}
    for joint in np.unique(body.joint).tolist():
        faces = np.concatenate([whole[whole_owners == joint], parts[part_owners == joint].reshape(-1, 3)])
        used = np.zeros(len(vertices), dtype=bool)
        used[faces] = True
        found[joint] = Mesh(vertices[used], (np.cumsum(used) - 1)[faces])
    return found
