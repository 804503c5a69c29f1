"""Play, pause, time, speed and repeat, as controls around a player."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from vertebra.robot.tables import Floats
from vertebra.studio.player import Player

if TYPE_CHECKING:
    from vertebra.studio.tab import Tab

PLAY, PAUSE = "Play", "Pause"
LEAST_SPAN = 1e-3
"""s, of the time slider for a motion that has one moment only."""


class Playback:
    """Calls `show(row)` thirty times a second while it plays, and `moved(time)` a few times a second."""

    def __init__(self, tab: Tab[Any], show: Callable[[int], None], moved: Callable[[float], None]) -> None:
        self._tab, self._told = tab, moved
        self.player = Player(tab.studio.loop.post, show, self._moved, self._ended)

    def controls(self) -> None:
        """Add the controls; all are off until there is something to play."""
        gui, when = self._tab.gui, self._tab.when
        with gui.add_folder("Playback") as self.folder:
            self._button = when(gui.add_button(PLAY, disabled=True), self._pressed)
            self._time = when(gui.add_slider("Time (s)", 0.0, 1.0, 0.001, 0.0, disabled=True), self._sought)
            self._speed = when(gui.add_slider("Speed", 0.05, 4.0, 0.05, 1.0), self._paced)
            self._repeat = when(gui.add_checkbox("Repeat", True), self._paced)

    def load(self, times: Floats) -> None:
        """Stand at the first of `times`, s."""
        self.player.load(times)
        low, high = float(times[0]), float(times[-1])
        high = max(high, low + LEAST_SPAN)
        self._time.min, self._time.max, self._time.value = low, high, low
        self._time.step = (high - low) / 1000
        self._button.disabled = self._time.disabled = False
        self._mark()

    def empty(self) -> None:
        """Nothing to play."""
        self.player.pause()
        self._button.disabled = self._time.disabled = True
        self._mark()

    def play(self) -> None:
        """From where it stands."""
        self.player.play(self.speed, self.repeat)
        self._mark()

    def pause(self) -> None:
        """Stay where it is."""
        self.player.pause()
        self._mark()

    @property
    def speed(self) -> float:
        """Seconds of motion in a second."""
        return float(self._speed.value)

    @property
    def repeat(self) -> bool:
        """Whether it begins again at the end."""
        return bool(self._repeat.value)

    def restore(self, speed: float, repeat: bool) -> None:
        """Set the controls."""
        self._speed.value, self._repeat.value = speed, repeat

    def _pressed(self) -> None:
        self.pause() if self.player.playing else self.play()

    def _paced(self) -> None:
        if self.player.playing:
            self.play()

    def _sought(self) -> None:
        self.pause()
        self.player.seek(float(self._time.value))
        self._told(self.player.time)

    def _moved(self, time: float) -> None:
        if self.player.playing:  # a person who drags the slider has stopped it
            self._time.value = time
            self._told(time)

    def _ended(self) -> None:
        self._time.value = self.player.time
        self._told(self.player.time)
        self._mark()

    def _mark(self) -> None:
        self._button.label = PAUSE if self.player.playing else PLAY
