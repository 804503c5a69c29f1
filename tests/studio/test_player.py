"""Playback: at the pace of the wall clock whatever the page does, and never twice at the end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import pytest

from vertebra.studio.jobs import Loop
from vertebra.studio.player import Player

PATIENCE = 30.0
LATE = 0.3
"""s that a busy machine may be late, at most."""


class Screen:
    """A player that shows on a loop, and what was shown when."""

    def __init__(self) -> None:
        self.rows: list[tuple[float, int]] = []
        self.moves: list[float] = []
        self.ends = 0
        self.pause = 0.0
        self.ended = threading.Event()
        self.faults: list[Exception] = []
        self.loop = Loop(self.faults.append)
        self.player = Player(self.loop.post, self.show, self.moves.append, self.end)

    def show(self, row: int) -> None:
        self.rows.append((time.monotonic(), row))
        time.sleep(self.pause)

    def end(self) -> None:
        self.ends += 1
        self.ended.set()

    def until(self, holds: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < end
            time.sleep(0.005)

    def settle(self) -> None:
        self.until(lambda: not players())
        assert self.loop.settle(PATIENCE)


def players() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "studio player"]


@pytest.fixture
def screen() -> Iterator[Screen]:
    screen = Screen()
    try:
        yield screen
        assert screen.faults == []
    finally:
        screen.player.pause()
        screen.loop.close()
    screen.until(lambda: not players())


def test_it_keeps_the_pace_of_the_clock(screen: Screen) -> None:
    times = np.linspace(2.0, 2.6, 601)
    screen.player.load(times)
    began = time.monotonic()
    screen.player.play()
    assert screen.player.playing
    assert screen.ended.wait(PATIENCE)
    screen.settle()
    assert time.monotonic() - began >= 0.6
    due = np.array([times[row] - 2.0 for _, row in screen.rows])
    shown = np.array([at - began for at, _ in screen.rows])
    assert (due <= shown + 0.002).all(), "nothing is shown before its time"
    assert np.median((shown - due)[:-1]) < LATE
    assert screen.rows[-1][1] == 600
    assert [row for _, row in screen.rows] == sorted(row for _, row in screen.rows)
    assert screen.ends == 1
    assert not screen.player.playing
    assert screen.player.time == 2.6
    assert screen.moves[-1] == 2.6
    assert screen.player.frames == len(screen.rows) <= 25


def test_a_slow_page_skips_frames_and_ends_in_time(screen: Screen) -> None:
    screen.pause = 0.15
    screen.player.load(np.linspace(0.0, 0.6, 61))
    began = time.monotonic()
    screen.player.play()
    assert screen.ended.wait(PATIENCE)
    assert time.monotonic() - began < 0.6 + 2 * screen.pause + LATE
    screen.settle()
    assert len(screen.rows) <= 7
    assert screen.rows[-1][1] == 60


@pytest.mark.parametrize("speed", [4.0, 0.5])
def test_speed(screen: Screen, speed: float) -> None:
    screen.player.load(np.array([0.0, 0.2]))
    began = time.monotonic()
    screen.player.play(speed)
    assert screen.ended.wait(PATIENCE)
    assert 0.2 / speed <= time.monotonic() - began < 0.2 / speed + LATE + 0.05


def test_pause_stays_and_play_goes_on_from_there(screen: Screen) -> None:
    screen.player.load(np.linspace(0.0, 5.0, 501))
    screen.player.play(4.0)
    screen.until(lambda: len(screen.rows) > 4)
    screen.player.pause()
    screen.settle()
    stands, shown = screen.player.time, len(screen.rows)
    assert 0.0 < stands < 5.0
    time.sleep(0.1)
    assert (screen.player.time, len(screen.rows)) == (stands, shown)
    assert screen.ends == 0
    screen.player.play()
    screen.until(lambda: len(screen.rows) > shown + 1)
    assert screen.rows[shown][1] >= int(stands * 100)
    screen.player.pause()


def test_repeat_begins_again_and_never_ends(screen: Screen) -> None:
    screen.player.load(np.linspace(0.0, 0.12, 13))
    screen.player.play(repeat=True)
    screen.until(lambda: sum(row == 12 for _, row in screen.rows) >= 3)
    screen.player.pause()
    screen.settle()
    assert screen.ends == 0
    rows = [row for _, row in screen.rows]
    assert sum(later < sooner for sooner, later in pairwise(rows)) >= 2


def test_seek_shows_the_row_that_is_due(screen: Screen) -> None:
    times = np.array([0.0, 0.1, 0.25, 0.7])
    screen.player.load(times)
    for at, row in ((0.0, 0), (0.1, 1), (0.2499, 1), (0.25, 2), (0.7, 3), (9.0, 3), (-1.0, 0), (0.69, 2)):
        screen.player.seek(at)
        assert screen.loop.settle(PATIENCE)
        assert screen.rows[-1][1] == row
        assert screen.player.time == pytest.approx(np.clip(at, 0.0, 0.7))
    assert not screen.player.playing


def test_seek_while_it_plays_goes_on_from_there(screen: Screen) -> None:
    screen.player.load(np.linspace(0.0, 100.0, 1001))
    screen.player.play()
    screen.until(lambda: len(screen.rows) > 2)
    screen.player.seek(50.0)
    assert screen.loop.settle(PATIENCE)
    seen = len(screen.rows)
    screen.until(lambda: len(screen.rows) > seen + 3)
    assert screen.player.playing
    assert all(500 <= row < 900 for _, row in screen.rows[seen:])


def test_at_the_end_play_starts_from_the_beginning(screen: Screen) -> None:
    screen.player.load(np.linspace(1.0, 1.1, 11))
    screen.player.seek(1.1)
    screen.player.play()
    assert screen.ended.wait(PATIENCE)
    screen.settle()
    assert min(row for _, row in screen.rows) < 5


def test_loading_stops_and_stands_at_the_first(screen: Screen) -> None:
    screen.player.load(np.linspace(0.0, 50.0, 51))
    screen.player.play()
    screen.player.load(np.array([3.0, 4.0]))
    screen.settle()
    assert not screen.player.playing
    assert screen.player.time == 3.0
    assert screen.player.duration == 1.0


def test_one_moment_ends_at_once(screen: Screen) -> None:
    screen.player.load(np.array([7.0]))
    screen.player.play()
    assert screen.ended.wait(PATIENCE)
    screen.settle()
    assert {row for _, row in screen.rows} == {0}
    assert screen.ends == 1


def test_playing_again_and_again_leaves_one_thread(screen: Screen) -> None:
    screen.player.load(np.linspace(0.0, 50.0, 501))
    for _ in range(20):
        screen.player.play()
    screen.until(lambda: len(players()) == 1)
    screen.player.pause()
    screen.until(lambda: not players())
    assert screen.ends == 0
