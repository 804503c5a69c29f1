"""What the Payload tab adds to the scene: the load, the weakest joint and its contact, the body of payloads."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vertebra.locked.chain import sphere_grid
from vertebra.locked.payload import Payload
from vertebra.report.meshes import Ints, Mesh
from vertebra.report.payload import COLOURS, NORMAL_SHARE, RING_SIZE, contact_point, force_text
from vertebra.report.payload_map import CUT, Body, skin
from vertebra.report.scene import ARROW_SHARE, MM, rgb
from vertebra.robot.tables import Floats
from vertebra.studio import palette
from vertebra.studio.form import change
from vertebra.studio.payload.model import PayloadAnswer

if TYPE_CHECKING:
    from vertebra.studio.scene import Stage


class SphereNet(NamedTuple):
    """Triangles between evenly spread directions, whole and cut. Vertices: directions, middles of edges, centres."""

    triangles: Ints
    """(F, 3) rows of directions."""
    edges: Ints
    """(E, 2) rows of directions."""
    cut: Ints
    """(F, 3, 2, 3) of each triangle, the two triangles that are the share of each corner."""


@lru_cache(maxsize=4)
def sphere_net(count: int) -> SphereNet:
    """Of `count` directions; they are the same for every body."""
    triangles = skin(sphere_grid(count))
    ends = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2), axis=2).reshape(-1, 2)
    edges, numbers = np.unique(ends, axis=0, return_inverse=True)
    after = count + numbers.reshape(-1, 3)
    centre = count + len(edges) + np.arange(len(triangles))
    before = np.roll(after, 1, axis=1)
    corners = np.stack([triangles, after, np.repeat(centre[:, None], 3, axis=1), before], axis=2)
    return SphereNet(triangles, edges, corners[:, :, CUT])


def body_meshes(body: Body) -> dict[int, Mesh]:
    """Skin by weakest joint, mm, 0 where there is no limit; triangles between directions of different joints are cut
    halfway, so that every direction has its own share. Empty for a body that cannot be drawn."""
    if body.scale == 0:
        return {}
    triangles, edges, cut = sphere_net(len(body.directions))
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


OPACITY = 0.55
_THIN: dict[str, Any] = {"shaft_radius": 0.008, "head_radius": 0.02, "head_length": 0.05}
_PLAIN: dict[str, Any] = {"side": "double", "cast_shadow": False, "receive_shadow": False, "visible": False}


class PayloadView:
    """Nodes that are kept and updated in place; made for one robot."""

    def __init__(self, stage: Stage) -> None:
        self._stage, scene = stage, stage.scene
        nothing = np.zeros((1, 2, 3))
        self._load = scene.add_arrows("/payload/load", nothing, palette.FORCE, visible=False, **_THIN)
        self._normal = scene.add_arrows("/payload/normal", nothing, palette.WEAKEST, visible=False, **_THIN)
        self._ball = scene.add_icosphere(
            "/payload/weakest", radius=1.0, subdivisions=3, color=palette.WEAKEST, opacity=0.6, **_PLAIN
        )
        self._label = scene.add_label("/payload/label", "", visible=False)
        self._skins: list[Any] = []
        self.colours: dict[int, str] = {}
        """Of the weakest joints of the body; a joint keeps its colour from one body to the next."""

    def draw(self, answer: PayloadAnswer) -> None:
        """Show everything of an answer. Call within the server's `atomic()`."""
        found = answer.found
        start = answer.case.place(found.link) / MM * self._stage.scale
        self._arrow(self._load, start, ARROW_SHARE * found.direction)
        text = f"{force_text(found.force)}"
        if self._label.text != text:
            self._label.text = text
        self._label.position = start + 1.1 * ARROW_SHARE * found.direction
        self._label.visible = True
        self._mark(answer, found)
        self._draw_body(answer.body)

    def hide(self) -> None:
        """Show nothing."""
        for node in (self._load, self._normal, self._ball, self._label, *self._skins):
            change(node, "visible", False)

    def remove(self) -> None:
        """Take all out of the scene."""
        for node in (self._load, self._normal, self._ball, self._label, *self._skins):
            node.remove()

    def _mark(self, answer: PayloadAnswer, found: Payload) -> None:
        """The weakest joint; its contact only where something presses."""
        change(self._ball, "visible", found.joint > 0)
        touches = found.joint > 0 and bool(found.contact.normal[found.joint - 1].any())
        if not touches:
            change(self._normal, "visible", False)
        if not found.joint:
            return
        row = found.joint - 1
        self._ball.scale = RING_SIZE * self._stage.scale * float(answer.case.robot.joints["radius"][row])
        self._ball.position = self._stage.scale * found.contact.centers[row]
        if touches:
            point = contact_point(answer.case, found) / MM * self._stage.scale
            self._arrow(self._normal, point, NORMAL_SHARE * ARROW_SHARE * found.contact.normal[row])

    def _arrow(self, node: Any, start: Floats, reach: Floats) -> None:
        node.points = np.array([[start, start + reach]], np.float32)
        change(node, "visible", True)

    def _draw_body(self, body: Body | None) -> None:
        meshes = {} if body is None else body_meshes(body)
        if body is not None:
            self.colours = joint_colours(body, self.colours)
        for place, (joint, mesh) in enumerate(meshes.items()):
            if place == len(self._skins):
                self._skins.append(self._skin(place))
            node = self._skins[place]
            node.vertices = (self._stage.scale / MM * mesh.vertices).astype(np.float32)
            node.faces = mesh.triangles.astype(np.uint32)
            colour = rgb(self.colours[joint])
            if tuple(node.color) != colour:
                node.color = colour
            change(node, "visible", True)
        for node in self._skins[len(meshes) :]:
            change(node, "visible", False)

    def _skin(self, place: int) -> Any:
        return self._stage.scene.add_mesh_simple(
            f"/payload/body-{place}", np.zeros((3, 3)), np.array([[0, 1, 2]]), opacity=OPACITY, **_PLAIN
        )


def joint_colours(body: Body, before: dict[int, str]) -> dict[int, str]:
    """A colour for each weakest joint, most frequent first; a joint keeps the one it had `before`. More joints than
    colours get steps of one scale, base to tip; none is grey."""
    joints, counts = np.unique(body.joint[body.joint > 0], return_counts=True)
    order = joints[np.argsort(-counts, kind="stable")].tolist()
    if len(order) > len(palette.LINES) - 1:
        steps = palette.tension_colours(np.arange(1.0, len(joints) + 1), len(joints))
        colours = {
            joint: f"#{r:02x}{g:02x}{b:02x}" for joint, (r, g, b) in zip(joints.tolist(), steps.tolist(), strict=True)
        }
    else:
        colours = {joint: before[joint] for joint in order if before.get(joint) in palette.LINES[:-1]}
        free = [colour for colour in palette.LINES[:-1] if colour not in colours.values()]
        colours |= dict(zip((joint for joint in order if joint not in colours), free, strict=False))
    return colours | {0: COLOURS["unlimited"]}
