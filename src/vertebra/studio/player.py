"""Plays something that has a time: a motion, a recording, a journey; at the pace of the wall clock."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np

from vertebra.robot.tables import Floats

RATE = 30.0
"""Frames a second."""


class Player:
    """Calls `show(row)` through `post`, so often as frames are due; a slow page skips frames, time does not slow down.

    `show` gets the row of `times` that is due; `moved(time)` is told a few times a second, for a slider.
    """

    def __init__(
        self,
        post: Callable[[object, Callable[[], None]], None],
        show: Callable[[int], None],
        moved: Callable[[float], None],
        ended: Callable[[], None],
    ) -> None:
        self._post, self._show, self._moved, self._ended = post, show, moved, ended
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
        """s, where it stands."""
        return self._at

    @property
    def duration(self) -> float:
        """s."""
        return float(self._times[-1] - self._times[0])

    def load(self, times: Floats) -> None:
        """Take rising `times`, s, one a row; stops, and stands at the first."""
        with self._lock:
            self.pause()
            self._times = np.asarray(times, np.float64)
            self._at = float(self._times[0])

    def play(self, speed: float = 1.0, repeat: bool = False) -> None:
        """From where it stands, or from the start when it stands at the end."""
        with self._lock:
            self.pause()
            self._speed, self._repeat = speed, repeat
            if self._at >= self._times[-1]:
                self._at = float(self._times[0])
            self._stop = threading.Event()
            threading.Thread(target=self._run, args=(self._stop,), name="studio player", daemon=True).start()

    def pause(self) -> None:
        """Stay where it is."""
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
        row = int(np.searchsorted(self._times, self._at + 1e-12, side="right")) - 1
        self._post(("player", id(self)), lambda: self._frame(max(row, 0)))

    def _frame(self, row: int) -> None:
        if row < len(self._times):
            self._show(row)
            self.frames += 1

    def _run(self, stop: threading.Event) -> None:
        began, start, ticks = time.monotonic(), self._at, 0
        while True:
            with self._lock:
                if stop.is_set():
                    return
                at = start + self._speed * (time.monotonic() - began)
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
                began, start = time.monotonic(), float(self._times[0])
            ticks += 1
            next_tick = began + (int((time.monotonic() - began) * RATE) + 1) / RATE
            stop.wait(max(next_tick - time.monotonic(), 0.0))
