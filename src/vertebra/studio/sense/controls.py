"""The controls of the Sense tab: which there are, which are shown for a source, and what they say."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from vertebra.errors import InputError, StudioError
from vertebra.robot.robot import Robot
from vertebra.sensing.estimator import METHODS
from vertebra.sensing.fitting import require_universal
from vertebra.studio.readout import notes
from vertebra.studio.sense import settings as limits
from vertebra.studio.sense.recorder import LIMITS
from vertebra.studio.sense.replay import SUFFIXES
from vertebra.studio.sense.settings import BUS, NO_FILE, RECORDING, VIRTUAL, SenseSettings

if TYPE_CHECKING:
    from vertebra.studio.studio import Studio

NO_RECORDING, NO_CALIBRATION = "(none in the folder)", "(none: perfect sensors)"
WHOLE_BEND_DEG = 150.0
"""All joints of the virtual robot together bend at most so much, unless somebody wants more."""
SIMULATED = (
    "Simulated sensors on a moving robot, in this process and in real time; no hardware, no bus. "
    "Solid: as sensed. Pale: as it really is."
)
LABELS = {VIRTUAL: ("Start", "Stop"), BUS: ("Connect", "Disconnect"), RECORDING: ("Play", "Pause")}
WAITING = {
    VIRTUAL: "The virtual robot starts.",
    BUS: "Not connected: name the bus and press Connect.",
    RECORDING: "No recording is open: .blf, .log and .csv (frames) and .mcap (shapes) of the folder can be chosen.",
}


class Controls:
    """Handles by the name of their field in the settings, and the buttons beside them."""

    def __init__(self, studio: Studio, acts: dict[str, Callable[[], None]]) -> None:
        """`acts`: what to do when somebody moves or presses something; "anew" is for another source or method."""
        self._studio, self._robot = studio, studio.robot
        self._gui = studio.server.gui
        usual = SenseSettings(bend_deg=usual_bend(self._robot))
        self.fields: dict[str, Any] = {}
        self._parts: dict[str, list[Any]] = {VIRTUAL: [], BUS: [], RECORDING: []}
        self._add("source", self._gui.add_dropdown("Source", limits.SOURCES), acts["anew"])
        self._add("method", self._gui.add_dropdown("Method", usable_methods(self._robot)), acts["anew"])
        self._virtual(usual, acts)
        self._bus(usual, acts)
        self._recording(usual, acts)
        self._add("sensor_frames", self._gui.add_checkbox("Frames of the sensors", False), acts["frames"])
        self.go = studio.when(self._gui.add_button("Stop"), acts["go"])
        self.record = studio.when(self._gui.add_checkbox("Record", False, hint=LIMITS), acts["record"])
        self.keep = studio.when(self._gui.add_button("Keep the recording in the folder", visible=False), acts["keep"])
        self.told = self._gui.add_html("")
        self.arrange()

    def _add(self, name: str, handle: Any, act: Callable[[], None], *parts: str) -> None:
        self.fields[name] = self._studio.when(handle, act)
        for part in parts:
            self._parts[part].append(handle)

    def _virtual(self, usual: SenseSettings, acts: dict[str, Callable[[], None]]) -> None:
        gui, anew, fault = self._gui, acts["anew"], acts["fault"]
        links = tuple(str(link) for link in self._robot.sensor_links.tolist())
        self._parts[VIRTUAL].append(gui.add_html(notes([SIMULATED])))
        self._add("model", gui.add_dropdown("Sensors", limits.MODELS, initial_value=usual.model), anew, VIRTUAL)
        self._add("base", gui.add_dropdown("Base", limits.BASES), anew, VIRTUAL)
        bend = gui.add_slider("Joints bend up to (deg)", 1.0, limits.MOST_BEND_DEG, 0.5, usual.bend_deg)
        self._add("bend_deg", bend, anew, VIRTUAL)
        speed = gui.add_slider("At up to (deg/s)", 1.0, limits.MOST_SPEED_DEG, 1.0, usual.speed_deg_s)
        self._add("speed_deg_s", speed, anew, VIRTUAL)
        chosen = gui.add_dropdown("Trouble with sensor on link", links, initial_value=links[len(links) // 2])
        self._add("sensor", chosen, fault, VIRTUAL)
        self._add("silent", gui.add_checkbox("It falls silent", False), fault, VIRTUAL)
        self._add("magnet", gui.add_checkbox("Magnet beside it", False), fault, VIRTUAL)
        most = limits.MOST_MAGNET_DEG
        turn = gui.add_slider("Magnet turns heading (deg)", -most, most, 1.0, usual.magnet_deg)
        self._add("magnet_deg", turn, fault, VIRTUAL)

    def _bus(self, usual: SenseSettings, acts: dict[str, Callable[[], None]]) -> None:
        gui = self._gui
        hint = "socketcan://can0, udp_multicast://, slcan:///dev/ttyACM0, serial:///dev/ttyUSB0, virtual://name"
        self._add("bus", gui.add_text("Bus", usual.bus, hint=hint), acts["anew"], BUS)
        sync = gui.add_number(
            "SYNC (Hz)", 0.0, min=0.0, max=limits.FASTEST_SYNC, step=10.0, hint="0: another master of the bus sends it"
        )
        self._add("sync_hz", sync, acts["anew"], BUS)

    def _recording(self, usual: SenseSettings, acts: dict[str, Callable[[], None]]) -> None:
        gui = self._gui
        self._add("file", gui.add_dropdown("File", (NO_RECORDING,)), acts["anew"], RECORDING)
        calibration = gui.add_dropdown("Calibration", (NO_CALIBRATION,))
        self._add("calibration", calibration, acts["anew"], BUS, RECORDING)
        again = self._studio.when(gui.add_button("Look into the folder again"), self.find_files)
        self.time = self._studio.when(gui.add_slider("Time (s)", 0.0, 1.0, 0.01, 0.0), acts["seek"])
        self._told = self.time.value
        speeds = tuple(f"{speed:g} x" for speed in limits.SPEEDS)
        self._add("play_speed", gui.add_dropdown("Speed", speeds, initial_value="1 x"), acts["speed"], RECORDING)
        self._parts[RECORDING] += [again, self.time]
        self._parts[BUS].append(again)
        self.find_files()

    @property
    def source(self) -> str:
        """The one that is chosen."""
        return str(self.fields["source"].value)

    def arrange(self) -> None:
        """Show what belongs to the chosen source."""
        shown = {id(handle) for handle in self._parts[self.source]}
        for handle in [handle for part in self._parts.values() for handle in part]:
            handle.visible = id(handle) in shown
        self.record.visible = self.source != RECORDING

    def tell_time(self, at: float) -> None:
        """Move the slider of time, unless a person has moved it: what they want comes next."""
        if self.time.value == self._told:
            self.time.value = min(at, float(self.time.max))
            self._told = self.time.value

    def asked_time(self) -> float:
        """Where a person has moved it, s."""
        self._told = self.time.value
        return float(self._told)

    def find_files(self) -> None:
        """List what is in the folder now."""
        names = self._studio.folder.names
        _offer(self.fields["file"], names(SUFFIXES), NO_RECORDING)
        _offer(self.fields["calibration"], names((".yaml", ".yml")), NO_CALIBRATION)

    def read(self) -> SenseSettings:
        """What they say."""
        values = {name: handle.value for name, handle in self.fields.items()}
        values["sensor"] = int(values["sensor"])
        values["play_speed"] = float(str(values["play_speed"]).removesuffix(" x"))
        values["bus"] = str(values["bus"])[:200]
        for name, nothing in (("file", NO_RECORDING), ("calibration", NO_CALIBRATION)):
            values[name] = NO_FILE if values[name] == nothing else values[name]
        return SenseSettings(**values)

    def set(self, settings: SenseSettings) -> None:
        """Set them all; StudioError, before anything is changed, for what is not to be had."""
        self.find_files()
        values = settings.model_dump()
        values["sensor"] = str(settings.sensor)
        values["play_speed"] = f"{settings.play_speed:g} x"
        values["file"] = settings.file or self.fields["file"].options[0]
        values["calibration"] = settings.calibration or NO_CALIBRATION
        for name, handle in self.fields.items():
            options = getattr(handle, "options", None)
            if options is not None and values[name] not in options:
                there = ", ".join(map(str, options[:20]))
                raise StudioError(f"tabs.sense.{name}", f"must be one of {there} for {self._robot.name}")
        for name, handle in self.fields.items():
            handle.value = values[name]
        self.arrange()


def usable_methods(robot: Robot) -> tuple[str, ...]:
    """Methods that can be used on a robot."""
    try:
        require_universal(robot)
    except InputError:
        return tuple(method for method in METHODS if method != "paper")
    return METHODS


def usual_bend(robot: Robot) -> float:
    """Degrees that each joint of the virtual robot bends at most, so that a long robot does not roll itself up."""
    return float(np.clip(round(2 * WHOLE_BEND_DEG / max(len(robot.joints), 1)) / 2, 2.0, 20.0))


def _offer(dropdown: Any, names: list[str], nothing: str) -> None:
    """Put names into a dropdown; the choice stays if it is still there."""
    options = tuple(names) or (nothing,)
    if nothing == NO_CALIBRATION:
        options = (nothing, *names)
    chosen = dropdown.value
    if tuple(dropdown.options) != options:
        dropdown.options = options
        dropdown.value = chosen if chosen in options else options[0]
