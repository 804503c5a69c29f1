"""The switch "Record" of the Sense tab: what it starts, what became of it, and where it can be kept."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from vertebra.errors import StudioError
from vertebra.robot.robot import Robot
from vertebra.studio.readout import notes
from vertebra.studio.sense.settings import RECORDING
from vertebra.studio.sense.tape import LIMITS, Deck, Tape

if TYPE_CHECKING:
    from vertebra.studio.sense.controls import Controls
    from vertebra.studio.studio import Studio

NOTHING = "nothing has been recorded yet; tick Record while the tab senses"


class Taping:
    """The last recording of a tab, if there is one."""

    def __init__(self, studio: Studio, controls: Controls) -> None:
        self._studio, self._controls, self._robot = studio, controls, studio.robot
        self._tape: Tape | None = None

    def switch(self, deck: Deck | None) -> None:
        """The switch has been moved; `deck` of what runs now. A new recording takes the place of the last."""
        record = self._controls.record
        if not record.value:
            self.stop()
        elif deck is None:
            record.value = False
            raise StudioError("recording", "nothing is being sensed; start the virtual robot or connect a bus first")
        else:
            self.forget()
            self._tape = deck.tape = Tape(
                self._robot, lambda error: self._studio.loop.post("sense tape", lambda: self._failed(error))
            )
        self.tell()

    def stop(self) -> None:
        """End it; what was recorded stays until the next recording."""
        if self._tape is not None:
            self._tape.stop()
        change(self._controls.record, "value", False)

    def forget(self) -> None:
        """End it and take its files away."""
        tape, self._tape = self._tape, None
        if tape is not None:
            tape.discard()

    def tell(self) -> None:
        """Say how it stands."""
        tape, controls = self._tape, self._controls
        if tape is not None and not tape.recording:
            change(controls.record, "value", False)
        live = [LIMITS] if controls.source != RECORDING else []
        change(controls.told, "content", notes(live if tape is None else [tape.told, *live]))
        change(controls.keep, "visible", tape is not None)

    def keep(self) -> None:
        """Write it to the studio's folder."""
        tape, folder, stem = self._found(), self._studio.folder, _stem(self._robot)
        written = []
        for name, content in ((f"{stem}.mcap", tape.mcap()), (f"{stem}.blf", tape.frames())):
            path = folder.write_path(name)
            with path.open("xb") as file:
                file.write(content)
            written.append(path.name)
        self._controls.find_files()
        self._studio.status.say(f"The folder has {written[0]} (shapes) and {written[1]} (frames) now.")

    def mcap(self) -> tuple[str, bytes]:
        """Name and content of the recording of shapes."""
        return f"{_stem(self._robot)}.mcap", self._found().mcap()

    def _found(self) -> Tape:
        if self._tape is None:
            raise StudioError("recording", NOTHING)
        return self._tape

    def _failed(self, error: Exception) -> None:
        self.tell()
        self._studio.fail(error)


def _stem(robot: Robot) -> str:
    """Of the files of a recording, without what file names must not have."""
    return re.sub(r"[^\w.-]+", "-", robot.name).strip(".-")[:100] + "-sensed"


def change(handle: Any, name: str, value: object) -> None:
    """Set a property of a control if it is not so already: every setting is sent to all windows."""
    if getattr(handle, name) != value:
        setattr(handle, name, value)
