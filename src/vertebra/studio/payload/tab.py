"""Payload: how much load until a link of a friction-locked robot slips, and which joint gives way."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vertebra.locked.best import BestTensions
from vertebra.locked.chain import sphere_grid
from vertebra.locked.payload import Payload
from vertebra.mechanics.kinematics import Pose
from vertebra.report.meshes import Ints, Mesh
from vertebra.report.payload import COLOURS, NORMAL_SHARE, SPHERE_SIZE, axis_top, contact_point, force_text
from vertebra.report.payload_map import CUT, Body, skin
from vertebra.report.scene import ARROW_SHARE, MM, rgb
from vertebra.robot.tables import Floats
from vertebra.studio import palette
from vertebra.studio.form import Form, change, put
from vertebra.studio.payload.journey import JourneyPanel
from vertebra.studio.payload.model import (
    PayloadAnswer,
    answer_text,
    best_sentence,
    best_text,
    body_text,
    check,
    find_best,
    has_balls,
    other_joints_text,
    solve,
)
from vertebra.studio.payload.settings import (
    AS_IN_SHAPE,
    TIP,
    PayloadSettings,
    most_tension,
    tension_step,
    usual_tension,
)
from vertebra.studio.readout import Plot
from vertebra.studio.scene import Picture
from vertebra.studio.shape.model import gravity_of
from vertebra.studio.shape.settings import ShapeSettings
from vertebra.studio.tab import Tab

if TYPE_CHECKING:
    from vertebra.studio.scene import Stage

# In the scene: the load, the weakest joint and its contact, the body of payloads.


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
        change(self._label, "text", force_text(found.force))
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
        self._ball.scale = SPHERE_SIZE * self._stage.scale * float(answer.case.robot.joints["radius"][row])
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


# The tab.

MANY = 6
"""Cables beyond this number are folded away: one slider for all is left."""


class PayloadTab(Tab[PayloadSettings]):
    """Shape, cables and load on the left; payload, weakest joint and contacts on the right; a journey beside."""

    name, title, settings_type = "payload", "Payload", PayloadSettings

    answer: PayloadAnswer | None = None
    """The last one."""

    def controls(self) -> None:
        robot, gui = self.studio.robot, self.gui
        self.answer, self.form, self._best = None, None, ""
        if not has_balls(robot):
            gui.add_html(other_joints_text(robot))
            return
        count, self._most = len(robot.cables), most_tension(robot)
        form = self.form = Form(self.studio, PayloadSettings, "tabs.payload", lambda name: self._changed())
        form.add("form", "bend_deg", "azimuth_deg", "from_deg", "to_deg")
        step, usual = tension_step(robot), usual_tension(robot)
        common = gui.add_slider("All cables (N)", 0.0, self._most, step, usual, disabled=count == 0)
        self._common = self.when(common, self._common_moved)
        with form.folder("Each cable", expanded=0 < count <= MANY, visible=count > 0):
            form.add("tensions")
        with form.folder("Load"):
            form.add("link", "toward", "load_azimuth_deg", "load_elevation_deg", "mount", "body")
        with form.folder("Best tensions", expanded=False):
            form.add("goal", "least", "most")
            self.when(gui.add_button("Find the best tensions", disabled=count == 0), self._best_asked)
        self._journey = JourneyPanel(self.studio, form, self._journey_asked, self._clear, self._changed)
        self._view = PayloadView(self.studio.stage)
        form.arrange()

    def results(self) -> None:
        self._text = self.gui.add_html("")
        if self.form is None:
            self._text.content = other_joints_text(self.studio.robot)
            return
        self._plot = Plot(self.gui, "Limit of each joint", "joint", "limit (N)", counted=True)
        self._legend = self.gui.add_html("")
        self._journey.results()

    def shown(self) -> None:
        if self.form is None:
            robot = self.studio.robot
            straight = Pose(robot, np.zeros(robot.freedoms)).frames
            self.studio.stage.draw(Picture(straight, gravity=self._gravity(PayloadSettings())))
            return
        self.form.list_files()
        first = self.answer is None
        self._show()
        if first:
            self.studio.stage.look()  # across the bend, which the robot of another tab may not have

    def hidden(self) -> None:
        if self.form is None:
            return
        self._stop()
        self._journey.leave()
        self._view.hide()

    def removed(self) -> None:
        if self.form is not None:
            self._journey.leave()
            self._view.remove()

    def _changed(self) -> None:
        """A person has changed something: earlier results no longer apply."""
        self._stop()
        self._best = ""
        self._journey.leave()
        self._show()

    def _stop(self) -> None:
        """End what is computed for other settings."""
        if self.studio.jobs.busy:
            self.studio.jobs.cancel()
            self.studio.status.clear()

    def _show(self) -> None:
        settings = self.settings()
        gravity = self._gravity(settings)
        self.answer = answer = solve(self.studio.robot, settings, gravity)
        with self.studio.server.atomic():
            picture = Picture(answer.case.frames, answer.found.tensions, self._most, gravity)
            self.studio.stage.draw(picture)
            self._view.draw(answer)
            self._text.content = self._best + answer_text(answer, self._most)
            self._text.visible = True
            self._show_limits(answer)
            self._legend.content = body_text(answer.body, self._view.colours) if answer.body is not None else ""
            self._legend.visible = answer.body is not None

    def _show_limits(self, answer: PayloadAnswer) -> None:
        """Limits over the joints, cut where a few large ones would hide the others."""
        found, top = answer.found, axis_top(answer.found)
        limits = np.minimum(found.limits, top)
        cut = f"limit (N), cut at {top:.3g}" if (found.limits > top).any() else "limit (N)"
        lines = [(cut, limits), ("payload (N)", np.full_like(limits, min(found.force, top)))]
        self._plot.show(np.arange(1.0, len(limits) + 1), lines)

    def _gravity(self, settings: PayloadSettings) -> Floats:
        shape: Any = self.studio.tabs["shape"].settings()
        mount = shape if settings.mount == AS_IN_SHAPE else ShapeSettings(mount=settings.mount)
        return gravity_of(self.studio.robot, mount)

    def _common_moved(self) -> None:
        assert self.form is not None
        self.form.set("tensions", [float(self._common.value)] * len(self.form.handles("tensions")))
        self._changed()

    def _set_tensions(self, tensions: tuple[float, ...]) -> None:
        """Set the cables, N, and the slider of all where they are equal."""
        assert self.form is not None
        self.form.set("tensions", tensions)
        if len(set(tensions)) == 1:
            put([self._common], tensions)

    # Best tensions --------------------------------------------------------------------------------------------------

    def _best_asked(self) -> None:
        settings, studio = self.settings(), self.studio
        self._journey.leave()
        studio.status.working(0.0, "Finding the best tensions ...")
        studio.jobs.start(
            find_best, studio.robot, settings, self._gravity(settings),
            done=lambda found: self._best_found(found, settings.goal), failed=studio.fail,
        )  # fmt: skip

    def _best_found(self, found: BestTensions, goal: str) -> None:
        self._set_tensions(tuple(found.tensions.tolist()))
        self._best = best_text(found, goal)
        self._show()
        self.studio.status.working(None)
        self.studio.status.say(best_sentence(found))
        self.studio.share.changed()

    # Follow the leader ----------------------------------------------------------------------------------------------

    def _journey_asked(self) -> None:
        settings = self.settings()
        self._journey.start(settings, self._gravity(settings))

    def _clear(self) -> None:
        """Make room for a journey."""
        self._view.hide()
        self._text.visible = self._legend.visible = False
        self._plot.hide()

    # State ----------------------------------------------------------------------------------------------------------

    def restore(self, settings: PayloadSettings) -> None:
        robot = self.studio.robot
        check(robot, settings)
        if self.form is None:
            return
        if settings.link == len(robot.links) - 1:
            settings = settings.model_copy(update={"link": TIP})
        self.form.check(settings)
        self._journey.leave()
        self.form.write(settings)
        self._set_tensions(self.settings().tensions)
        self._best = ""
