"""The controls of the Payload tab: shape, cables, load, mount, bounds of the best tensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from vertebra.studio.form import put
from vertebra.studio.payload import model
from vertebra.studio.payload.settings import FORMS, GOALS, STANDS, TIP, TOWARDS, PayloadSettings

if TYPE_CHECKING:
    from vertebra.studio.studio import Studio

MANY = 6
"""Cables beyond this number are folded away: one slider for all is left."""
STEPS = 200
"""Of a slider of tensions."""


class PayloadControls:
    """`changed` is called after a person has moved one, `best` when the best tensions are asked for."""

    def __init__(self, studio: Studio, changed: Callable[[], None], best: Callable[[], None]) -> None:
        self._studio, self._changed = studio, changed
        self._gui, self._robot = studio.server.gui, studio.robot
        self.most = model.most_tension(self._robot)
        """N, end of the sliders."""
        self._shape_controls()
        self._cable_controls()
        self._load_controls()
        self._best_controls(best)

    def _when(self, handle: Any, act: Callable[[], None] | None = None) -> Any:
        return self._studio.when(handle, act or self._changed)

    def _shape_controls(self) -> None:
        gui, most = self._gui, model.most_bend(self._robot)
        self._form = self._when(gui.add_dropdown("Shape", FORMS, initial_value="S"), self._form_chosen)
        bend = gui.add_slider("Bend (deg)", 0.0, most, most / 2000, model.usual_bend(self._robot))
        self._bend = self._when(bend)
        self._azimuth = self._when(gui.add_slider("Toward (deg)", -180.0, 180.0, 1.0, 0.0))
        self._from = self._when(gui.add_slider("From (deg)", -360.0, 360.0, 5.0, 0.0))
        self._to = self._when(gui.add_slider("To (deg)", -360.0, 360.0, 5.0, 180.0))

    def _cable_controls(self) -> None:
        gui, count = self._gui, len(self._robot.cables)
        usual, step = model.usual_tension(self._robot), self.most / STEPS
        self._common = self._when(gui.add_slider("All cables (N)", 0.0, self.most, step, usual), self._all_pulled)
        self._common.disabled = count == 0
        with gui.add_folder("Each cable", expand_by_default=0 < count <= MANY, visible=count > 0):
            self._tensions = [
                self._when(gui.add_slider(f"Cable {k + 1} (N)", 0.0, self.most, step, usual)) for k in range(count)
            ]

    def _load_controls(self) -> None:
        gui, last = self._gui, len(self._robot.links) - 1
        self._links = {"tip": TIP} | {f"link {link}": link for link in range(last - 1, 0, -1)}
        with gui.add_folder("Load"):
            self._link = self._when(gui.add_dropdown("Acts on", tuple(self._links)))
            self._toward = self._when(gui.add_dropdown("Pulls toward", TOWARDS), self._form_chosen)
            self._load_azimuth = self._when(gui.add_slider("Azimuth (deg)", -180.0, 180.0, 1.0, 0.0))
            self._elevation = self._when(gui.add_slider("Elevation (deg)", -90.0, 90.0, 1.0, 0.0))
            self._mount = self._when(gui.add_dropdown("Stands on", STANDS))
            self._body = self._when(gui.add_checkbox("Payload body", True))
        self._arrange()

    def _best_controls(self, best: Callable[[], None]) -> None:
        gui, usual, step = self._gui, model.usual_tension(self._robot), self.most / STEPS
        with gui.add_folder("Best tensions", expand_by_default=False):
            self._goal = self._when(gui.add_dropdown("Hold most in", GOALS))
            self._least = self._when(gui.add_slider("Least (N)", 0.0, self.most, step, 0.0))
            self._largest = self._when(gui.add_slider("Most (N)", 0.0, self.most, step, usual))
            self._best = self._when(gui.add_button("Find the best tensions"), best)
            self._best.disabled = len(self._robot.cables) == 0

    def _all_pulled(self) -> None:
        for slider in self._tensions:
            slider.value = float(self._common.value)
        self._changed()

    def _form_chosen(self) -> None:
        self._arrange()
        self._changed()

    def _arrange(self) -> None:
        """Only what counts is shown."""
        form, turned = str(self._form.value), self._toward.value == TOWARDS[-1]
        for handle, shown in (
            (self._bend, form != "straight"),
            (self._azimuth, form in ("arc", "S")),
            (self._from, form == "spiral"),
            (self._to, form == "spiral"),
            (self._load_azimuth, turned),
            (self._elevation, turned),
        ):
            if handle.visible != shown:
                handle.visible = shown

    def pull(self, tensions: Any) -> None:
        """Set the cables, N."""
        for slider, tension in zip(self._tensions, tensions, strict=True):
            put([slider], [float(tension)])
        if len(set(tensions)) == 1:
            put([self._common], [float(tensions[0])])

    def fields(self) -> dict[str, Any]:
        """What is set, by names of `PayloadSettings`."""
        return {
            "form": self._form.value,
            "bend_deg": float(self._bend.value),
            "azimuth_deg": float(self._azimuth.value),
            "from_deg": float(self._from.value),
            "to_deg": float(self._to.value),
            "tensions": tuple(float(slider.value) for slider in self._tensions),
            "link": self._links[str(self._link.value)],
            "toward": self._toward.value,
            "load_azimuth_deg": float(self._load_azimuth.value),
            "load_elevation_deg": float(self._elevation.value),
            "mount": self._mount.value,
            "body": bool(self._body.value),
            "goal": self._goal.value,
            "least": float(self._least.value),
            "most": float(self._largest.value),
        }

    def restore(self, settings: PayloadSettings) -> None:
        """Set everything; settings fit the robot."""
        self._form.value, self._toward.value, self._mount.value = settings.form, settings.toward, settings.mount
        link = settings.link if settings.link < len(self._robot.links) - 1 else TIP
        self._link.value = next(name for name, number in self._links.items() if number == link)
        self._body.value, self._goal.value = settings.body, settings.goal
        for slider, value in (
            (self._bend, settings.bend_deg),
            (self._azimuth, settings.azimuth_deg),
            (self._from, settings.from_deg),
            (self._to, settings.to_deg),
            (self._load_azimuth, settings.load_azimuth_deg),
            (self._elevation, settings.load_elevation_deg),
            (self._least, settings.least),
            (self._largest, settings.most),
        ):
            if value is not None:
                put([slider], [value])
        if settings.tensions:
            self.pull(settings.tensions)
        self._arrange()
