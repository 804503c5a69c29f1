"""Plays a motion, a recording or a journey in real time, and the controls for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from vertebra.robot.tables import Floats

if TYPE_CHECKING:
    from vertebra.studio.tab import Tab

RATE = 30.0
"""Frames per second."""


def row_at(times: Floats, at: float) -> int:
    """The row of increasing `times` that is due `at` a time, s."""
    return max(int(np.searchsorted(times, at + 1e-12, side="right")) - 1, 0)


class WallClock:
    """Time as it passes; tests have clocks of their own."""

    def now(self) -> float:
        """s"""
        return time.monotonic()

    def wait(self, stop: threading.Event, seconds: float) -> None:
        """Until then, or until `stop` is set."""
        stop.wait(seconds)


class Player:
    """Calls `show(row)` through `post`, as often as frames are due; a slow page skips frames, time does not slow down.

    `show` gets the row of `times` that is due; `moved(time)` is called a few times a second, for a slider.
    """

    def __init__(
        self,
        post: Callable[[object, Callable[[], None]], None],
        show: Callable[[int], None],
        moved: Callable[[float], None],
        ended: Callable[[], None],
        clock: WallClock | None = None,
    ) -> None:
        self._post, self._show, self._moved, self._ended = post, show, moved, ended
        self._clock = clock or WallClock()
        self._times: Floats = np.zeros(1)
        self._at = 0.0
        self._speed = 1.0
        self._repeat = False
        self._stop: threading.Event | None = None
        self._lock = threading.RLock()
        self.frames = 0
        """Frames shown since the player was made."""

    @property
    def playing(self) -> bool:
        """Whether it runs."""
        return self._stop is not None

    @property
    def time(self) -> float:
        """Current time, s."""
        return self._at

    @property
    def duration(self) -> float:
        """s."""
        return float(self._times[-1] - self._times[0])

    def load(self, times: Floats) -> None:
        """Take increasing `times`, s, one per row; stops, and goes to the first."""
        with self._lock:
            self.pause()
            self._times = np.asarray(times, np.float64)
            self._at = float(self._times[0])

    def play(self, speed: float = 1.0, repeat: bool = False) -> None:
        """From the current time, or from the start when that is the end."""
        with self._lock:
            self.pause()
            self._speed, self._repeat = speed, repeat
            if self._at >= self._times[-1]:
                self._at = float(self._times[0])
            self._stop = threading.Event()
            threading.Thread(target=self._run, args=(self._stop,), name="studio player", daemon=True).start()

    def pause(self) -> None:
        """Stop at the current time."""
        with self._lock:
            stop, self._stop = self._stop, None
            if stop is not None:
                stop.set()

    def seek(self, at: float) -> None:
        """Show what is due at `at` s; plays on from there when it plays."""
        with self._lock:
            self._at = float(np.clip(at, self._times[0], self._times[-1]))
            self._due()
            if self.playing:
                self.play(self._speed, self._repeat)

    def _due(self) -> None:
        row = row_at(self._times, self._at)
        self._post(("player", id(self)), lambda: self._frame(row))

    def _frame(self, row: int) -> None:
        if row < len(self._times):
            self._show(row)
            self.frames += 1

    def _run(self, stop: threading.Event) -> None:
        clock = self._clock
        began, start, ticks = clock.now(), self._at, 0
        while True:
            with self._lock:
                if stop.is_set():
                    return
                at = start + self._speed * (clock.now() - began)
                over = at >= self._times[-1]
                self._at = min(at, float(self._times[-1]))
                self._due()
                if ticks % 6 == 0 or over:
                    self._post(("player time", id(self)), lambda: self._moved(self._at))
                if over and not self._repeat:
                    self._stop = None
                    self._post(("player end", id(self)), self._ended)
                    return
            if over:
                began, start = clock.now(), float(self._times[0])
            ticks += 1
            next_tick = began + (int((clock.now() - began) * RATE + 1e-6) + 1) / RATE
            clock.wait(stop, max(next_tick - clock.now(), 0.0))


# Play, pause, time, speed and repeat, as controls around a player.

PLAY, PAUSE = "Play", "Pause"
LEAST_SPAN = 1e-3
"""s, of the time slider for a motion that has one instant only."""


class Playback:
    """Calls `show(row)` thirty times a second while it plays, and `moved(time)` a few times a second."""

    def __init__(self, tab: Tab[Any], show: Callable[[int], None], moved: Callable[[float], None]) -> None:
        self._tab, self._on_time = tab, moved
        self.player = Player(tab.studio.loop.post, show, self._moved, self._ended)

    def controls(self) -> None:
        """Add the controls; all are off until there is something to play."""
        gui, when = self._tab.gui, self._tab.when
        with gui.add_folder("Playback") as self.folder:
            self._button = when(gui.add_button(PLAY, disabled=True), self._pressed)
            self._time = when(gui.add_slider("Time (s)", 0.0, 1.0, 0.001, 0.0, disabled=True), self._time_chosen)
            self._speed = when(gui.add_slider("Speed", 0.05, 4.0, 0.05, 1.0), self._pace_changed)
            self._repeat = when(gui.add_checkbox("Repeat", True), self._pace_changed)

    def load(self, times: Floats) -> None:
        """Go to the first of `times`, s."""
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
        """From the current time."""
        self.player.play(self.speed, self.repeat)
        self._mark()

    def pause(self) -> None:
        """Stop at the current time."""
        self.player.pause()
        self._mark()

    @property
    def speed(self) -> float:
        """Seconds of motion per second."""
        return float(self._speed.value)

    @speed.setter
    def speed(self, speed: float) -> None:
        self._speed.value = speed

    @property
    def repeat(self) -> bool:
        """Whether it begins again at the end."""
        return bool(self._repeat.value)

    @repeat.setter
    def repeat(self, repeat: bool) -> None:
        self._repeat.value = repeat

    def _pressed(self) -> None:
        self.pause() if self.player.playing else self.play()

    def _pace_changed(self) -> None:
        if self.player.playing:
            self.play()

    def _time_chosen(self) -> None:
        self.pause()
        self.player.seek(float(self._time.value))
        self._on_time(self.player.time)

    def _moved(self, time: float) -> None:
        if self.player.playing:  # a person who drags the slider has stopped it
            self._time.value = time
            self._on_time(time)

    def _ended(self) -> None:
        self._time.value = self.player.time
        self._on_time(self.player.time)
        self._mark()

    def _mark(self) -> None:
        self._button.label = PAUSE if self.player.playing else PLAY
