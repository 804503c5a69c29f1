"""Recordings in the Sense tab: loaded in a process of its own, then played, paused and sought."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from vertebra.robot.tables import Floats
from vertebra.studio.player import Player
from vertebra.studio.sense.recording import Recorded, read_recording
from vertebra.studio.sense.run import WINDOW, Sensed

if TYPE_CHECKING:
    from vertebra.studio.studio import Studio


class Playback:
    """One recording at a time; `show` is called on the studio's thread with what is due."""

    def __init__(
        self,
        studio: Studio,
        show: Callable[[Sensed], None],
        moved: Callable[[float], None],
        changed: Callable[[], None],
    ) -> None:
        """`moved` is told the time, s; `changed` that it is loaded, or has ended."""
        self._studio, self._show, self._changed = studio, show, changed
        self._player = Player(studio.loop.post, self._row, moved, changed)
        self._recorded: Recorded | None = None
        self._loading: object | None = None
        self._at = 0

    @property
    def loaded(self) -> bool:
        """Whether there is something to play."""
        return self._recorded is not None

    @property
    def playing(self) -> bool:
        """Whether it plays."""
        return self._player.playing

    @property
    def duration(self) -> float:
        """s."""
        return self._player.duration

    def load(
        self, path: str, name: str, method: str, calibration: str | None, speed: float,
        failed: Callable[[Exception], None],
    ) -> None:  # fmt: skip
        """Make a recording ready and play it."""
        mark = self._loading = object()
        self._studio.jobs.start(
            read_recording, path, self._studio.robot.to_mapping(), method, calibration,
            done=lambda recorded: self._loaded(mark, recorded, speed),
            failed=lambda error: self._not_loaded(mark, error, failed),
            progress=lambda share: self._studio.status.working(share, f"Estimating the shapes of {name}"),
        )  # fmt: skip

    def forget(self) -> None:
        """Stop, and leave the recording."""
        self.halt()
        self._recorded = None

    def halt(self) -> None:
        """Stop; what is being loaded is given up."""
        self._player.pause()
        if self._loading is not None:
            self._loading = None
            self._studio.jobs.cancel()
            self._studio.status.clear()

    def play(self, speed: float) -> None:
        """From where it stands."""
        if self.loaded:
            self._player.play(speed)

    def pause(self) -> None:
        """Stay where it is."""
        self._player.pause()

    def seek(self, at: float) -> None:
        """Show what was at `at` s."""
        if self.loaded:
            self._player.pause()
            self._player.seek(at)

    def past(self, seconds: float) -> Floats:
        """(K, 6) s, tip in m and two zeros of the last `seconds` before what is shown."""
        assert self._recorded is not None
        times, tips = self._recorded.looks.times, self._recorded.looks.tips
        rows = slice(int(np.searchsorted(times, times[self._at] - seconds)), self._at + 1)
        return np.column_stack([times[rows], tips[rows], np.zeros((len(times[rows]), 2))])

    def _row(self, row: int) -> None:
        if self._recorded is not None and row < len(self._recorded.looks):
            self._at, looks = row, self._recorded.looks
            self._show(Sensed(None, "", looks[row], rates=looks.rates(row, WINDOW)))

    def _loaded(self, mark: object, recorded: Recorded, speed: float) -> None:
        if mark is not self._loading:
            return
        self._loading, self._recorded = None, recorded
        self._player.load(recorded.looks.times)
        self._row(0)
        self._player.play(speed)
        self._changed()
        self._studio.status.clear()
        say = self._studio.status.error if recorded.fault else self._studio.status.say
        say(recorded.fault or recorded.note)

    def _not_loaded(self, mark: object, error: Exception, failed: Callable[[Exception], None]) -> None:
        if mark is self._loading:
            self._loading = None
            failed(error)
