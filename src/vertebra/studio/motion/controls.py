"""The controls of the Motion tab: where a motion is from, what drives it, how tensions are found for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vertebra.errors import StudioError
from vertebra.report.scene import round_number_below
from vertebra.studio.form import put
from vertebra.studio.motion.model import PATTERN_NAMES, completed, lacks, patterns, start_from
from vertebra.studio.motion.settings import LONGEST, Method, MotionSettings, Pull, Source
from vertebra.studio.shape.model import most_tensions, usual_tension

if TYPE_CHECKING:
    from vertebra.studio.tab import Tab

SOURCES: dict[Source, str] = {
    "simulate": "Simulate from the current shape",
    "sway": "Trajectory: sway",
    "file": "Trajectory file",
}
PULLS: dict[Pull, str] = {"hold": "hold the tensions", "step": "step on one cable", "sine": "sine on one cable"}
METHODS: dict[Method, str] = {"shared": "shared: one tension a cable", "per_link": "per link: each joint's own"}
CHOOSE, NO_FILE = "choose a file", "no CSV file in the folder"


class MotionControls:
    """Made anew for every robot. `chosen` is called after a choice from a list, `moved` after a change of a number."""

    def __init__(self, tab: Tab[Any], chosen: Callable[[], None], moved: Callable[[], None]) -> None:
        self._gui, self._when, self._robot = tab.gui, tab.when, tab.studio.robot
        self._chosen, self._moved = chosen, moved
        self._own = completed(MotionSettings(), self._robot, start_from(None, self._robot))
        self._tensions_set = False
        """Whether a person has set the tensions; else they are those of the Shape tab."""

    # Making ---------------------------------------------------------------------------------------------------------

    def head(self) -> None:
        """Where the motion is from."""
        gui = self._gui
        self._source = self._choice("Motion", SOURCES.values(), self._source_chosen)
        self.fill = self._when(gui.add_checkbox("Links as solid cylinders", False), self._chosen)
        self.fill.visible = bool(lacks(self._robot, False)) and not lacks(self._robot, True)

    def body(self) -> None:
        """What belongs to each source."""
        gui = self._gui
        with gui.add_folder("Pull after the start") as self._pulling:
            self._pull_controls()
        with gui.add_folder("Simulation") as self._simulation:
            self._duration = self._slider("Duration (s)", 0.05, LONGEST, 0.05, 3.0)
            self._damping = self._number("Damping (N m s/rad)", 0.0, 1e3, self._own.damping or 0.0)
            self._step = self._number("Step (ms), 0: chosen", 0.0, 10.0, 0.0, 0.01)
        with gui.add_folder("Sway") as self._swaying:
            names = tuple(PATTERN_NAMES[pattern] for pattern in patterns(self._robot))
            self._pattern = self._choice("Joints", names, self._chosen)
            limit = math.degrees(float(np.min(self._robot.joints["limit"], initial=np.pi / 2)))
            self._degrees = self._slider("Amplitude (deg)", 0.0, min(limit, 45.0), 0.5, min(limit, 10.0))
            self._period = self._slider("Period (s)", 0.1, 20.0, 0.1, 4.0)
        with gui.add_folder("Trajectory file") as self._filing:
            self._file = self._choice("File", (NO_FILE,), self._chosen)
        with gui.add_folder("Tensions") as self._allocating:
            self._method = self._choice("Method", METHODS.values(), self._chosen)
            self._most = self._number("Most of a cable (N)", 0.01, 1e6, self._own.most_tension or 1.0, 0.01)
            limits = self._robot.cables["max_tension"]
            self._most.visible = bool(len(limits)) and not np.isfinite(limits).all()
        self._show_folders()

    def _pull_controls(self) -> None:
        gui, count, usual = self._gui, len(self._robot.cables), usual_tension(self._robot)
        self._pull = self._choice("Then", PULLS.values(), self._pull_chosen)
        self._pull.value = PULLS["step"]
        self._cable = self._choice("Cable", tuple(str(k + 1) for k in range(max(count, 1))), self._moved)
        self._amplitude = self._slider("By (N)", -2 * usual, 2 * usual, usual / 100, self._own.amplitude or 0.0)
        self._frequency = self._slider("Frequency (Hz)", 0.05, 10.0, 0.05, 1.0)
        self._tensions = [
            self._when(gui.add_slider(f"Cable {k + 1} (N)", 0.0, most, most / 500, usual), self._tension_moved)
            for k, most in enumerate(most_tensions(self._robot, usual))
        ]

    def _choice(self, label: str, options: Sequence[str] | Any, act: Callable[[], None]) -> Any:
        return self._when(self._gui.add_dropdown(label, tuple(options)), act)

    def _slider(self, label: str, low: float, high: float, step: float, value: float) -> Any:
        return self._when(self._gui.add_slider(label, low, high, step, value), self._moved)

    def _number(self, label: str, low: float, high: float, value: float, step: float | None = None) -> Any:
        step = step or (round_number_below(value / 10) if value > 0 else 1e-6)
        return self._when(self._gui.add_number(label, value, min=low, max=high, step=step), self._moved)

    # Events ---------------------------------------------------------------------------------------------------------

    def _source_chosen(self) -> None:
        self._show_folders()
        self._chosen()

    def _pull_chosen(self) -> None:
        self._show_folders()
        self._moved()

    def _tension_moved(self) -> None:
        self._tensions_set = True
        self._moved()

    def _show_folders(self) -> None:
        source, pull = self.source, _key(PULLS, self._pull.value)
        self._pulling.visible = source == "simulate" and bool(self._tensions)
        self._simulation.visible = source == "simulate"
        self._swaying.visible, self._filing.visible = source == "sway", source == "file"
        self._allocating.visible = source != "simulate"
        self._cable.visible = self._amplitude.visible = pull != "hold"
        self._frequency.visible = pull == "sine"

    # Reading and setting --------------------------------------------------------------------------------------------

    @property
    def source(self) -> Source:
        """Where the motion is from."""
        source: Source = _key(SOURCES, self._source.value)
        return source

    def adopt(self, tensions: Sequence[float]) -> None:
        """The Shape tab's tensions, N, unless a person has set others here."""
        if not self._tensions_set:
            put(self._tensions, tensions)

    def list_files(self, names: Sequence[str]) -> None:
        """Offer the trajectories of the folder."""
        options = (CHOOSE if names else NO_FILE, *names)
        if tuple(self._file.options) != options:
            now = self._file.value
            self._file.options = options
            self._file.value = now if now in options else options[0]

    def settings(self) -> dict[str, Any]:
        """Fields of MotionSettings that these controls say."""
        return {
            "source": self.source,
            "pull": _key(PULLS, self._pull.value),
            "cable": int(self._cable.value),
            "amplitude": float(self._amplitude.value),
            "frequency": float(self._frequency.value),
            "tensions": tuple(float(slider.value) for slider in self._tensions) if self._tensions_set else (),
            "duration": float(self._duration.value),
            "damping": float(self._damping.value),
            "step_ms": float(self._step.value),
            "pattern": _key(PATTERN_NAMES, self._pattern.value),
            "amplitude_deg": float(self._degrees.value),
            "period": float(self._period.value),
            "file": "" if self._file.value == self._file.options[0] else str(self._file.value),
            "method": _key(METHODS, self._method.value),
            "most_tension": float(self._most.value),
            "fill_inertia": bool(self.fill.value),
        }

    def check(self, settings: MotionSettings) -> None:
        """Raise for what does not fit the robot or the folder."""
        count, name = len(self._tensions), self._robot.name
        if settings.tensions and len(settings.tensions) != count:
            raise StudioError("tabs.motion.tensions", f"must have {count} numbers for {name}, or none")
        if settings.cable > max(count, 1):
            raise StudioError("tabs.motion.cable", f"there is no cable {settings.cable}; {name} has {count}")
        if settings.pattern not in patterns(self._robot):
            raise StudioError("tabs.motion.pattern", f"all axes of {name} are parallel; use pan")
        if settings.file and settings.file not in self._file.options[1:]:
            raise StudioError(
                "tabs.motion.file", f"there is no {settings.file!r} in the studio's folder; copy it there"
            )

    def restore(self, settings: MotionSettings) -> None:
        """Set everything; `check` comes before."""
        own = self._own
        self._source.value, self._pull.value = SOURCES[settings.source], PULLS[settings.pull]
        self._cable.value, self._pattern.value = str(settings.cable), PATTERN_NAMES[settings.pattern]
        self._method.value, self.fill.value = METHODS[settings.method], settings.fill_inertia
        self._file.value = settings.file or self._file.options[0]
        self._tensions_set = bool(settings.tensions)
        put(self._tensions, settings.tensions)
        numbers = (
            (self._amplitude, own.amplitude if settings.amplitude is None else settings.amplitude),
            (self._damping, own.damping if settings.damping is None else settings.damping),
            (self._most, own.most_tension if settings.most_tension is None else settings.most_tension),
            (self._frequency, settings.frequency),
            (self._duration, settings.duration),
            (self._step, settings.step_ms),
            (self._degrees, settings.amplitude_deg),
            (self._period, settings.period),
        )
        put([handle for handle, _ in numbers], [value or 0.0 for _, value in numbers])
        self._show_folders()


def _key(names: dict[Any, str], label: str) -> Any:
    """The name in settings of what a list says."""
    return next(key for key, shown in names.items() if shown == label)
