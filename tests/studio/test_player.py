"""Playback: in real time whatever the page does, and its end is told once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import pytest
from tests.waiting import SetClock, wait_until

from vertebra.studio.jobs import Loop
from vertebra.studio.player import Player, WallClock

PATIENCE = 30.0


class SteppedClock(WallClock):
    """A clock that goes on by what is waited for: at once, or only as many times as `tick` allows."""

    def __init__(self, free: bool) -> None:
        self._at, self._free, self._ticks = 100.0, free, threading.Semaphore(0)

    def now(self) -> float:
        return self._at

    def wait(self, stop: threading.Event, seconds: float) -> None:
        while not self._free and not self._ticks.acquire(timeout=0.005):
            if stop.is_set():
                return
        self._at += seconds

    def tick(self, count: int) -> None:
        self._ticks.release(count)


class Screen:
    """A player that shows on a loop, and what was shown when, by its clock."""

    def __init__(self, free: bool = True) -> None:
        self.rows: list[tuple[float, int]] = []
        self.moves: list[float] = []
        self.ends = 0
        self.blocked: threading.Event | None = None
        self.ended = threading.Event()
        self.faults: list[Exception] = []
        self.loop = Loop(self.faults.append)
        self.clock = SteppedClock(free)
        self.player = Player(self.post, self.show, self.moves.append, self.end, self.clock)

    def post(self, key: object, work: Callable[[], None]) -> None:
        """A page that keeps up with its player, unless it is blocked."""
        self.loop.post(key, work)
        if self.blocked is None:
            assert self.loop.settle(PATIENCE)

    def show(self, row: int) -> None:
        self.rows.append((self.clock.now(), row))
        if self.blocked is not None:
            assert self.blocked.wait(PATIENCE)

    def end(self) -> None:
        self.ends += 1
        self.ended.set()

    def until(self, holds: Callable[[], object]) -> None:
        wait_until(holds)

    def settle(self) -> None:
        self.until(lambda: not players())
        assert self.loop.settle(PATIENCE)

    def close(self) -> None:
        self.player.pause()
        self.until(lambda: not players())
        self.loop.close()
        assert self.faults == []


def players() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "studio player"]


@pytest.fixture
def screen() -> Iterator[Screen]:
    """Whose clock runs ahead as fast as the page can show."""
    screen = Screen()
    yield screen
    screen.close()


@pytest.fixture
def stepped() -> Iterator[Screen]:
    """Whose clock goes on when the test says so."""
    screen = Screen(free=False)
    yield screen
    screen.close()


def test_it_keeps_the_pace_of_the_clock(screen: Screen) -> None:
    times = np.linspace(2.0, 2.61, 611)
    screen.player.load(times)
    began = screen.clock.now()
    screen.player.play()
    assert screen.ended.wait(PATIENCE)
    screen.settle()
    shown = np.array([at - began for at, _ in screen.rows])
    np.testing.assert_allclose(shown, np.arange(20) / 30, atol=1e-9)
    due = np.array([times[row] - 2.0 for _, row in screen.rows])
    assert (due <= shown + 1e-9).all(), "nothing is shown before its time"
    assert (shown - due < 0.001 + 1e-9)[:-1].all()
    assert screen.rows[-1][1] == 610
    assert screen.ends == 1
    assert not screen.player.playing
    assert screen.player.time == 2.61
    np.testing.assert_allclose(screen.moves, [2.0, 2.2, 2.4, 2.6, 2.61], atol=1e-9)
    assert screen.player.frames == len(screen.rows)


def test_a_slow_page_skips_frames_and_time_does_not_slow_down(screen: Screen) -> None:
    screen.blocked = threading.Event()
    screen.player.load(np.linspace(0.0, 0.6, 61))
    screen.player.play()
    screen.until(lambda: not players())
    assert screen.player.time == 0.6
    screen.blocked.set()
    assert screen.ended.wait(PATIENCE)
    screen.settle()
    assert screen.rows[-1][1] == 60
    assert len(screen.rows) <= 2, "the one that blocked the page, and the last"


@pytest.mark.parametrize("speed", [4.0, 0.5])
def test_speed(screen: Screen, speed: float) -> None:
    screen.player.load(np.array([0.0, 2.0]))
    began = screen.clock.now()
    screen.player.play(speed)
    assert screen.ended.wait(PATIENCE)
    assert screen.clock.now() - began == pytest.approx(2.0 / speed, abs=1 / 30)


def test_play_continues_where_pause_stopped(stepped: Screen) -> None:
    stepped.player.load(np.linspace(0.0, 5.0, 501))
    stepped.player.play(4.0)
    stepped.clock.tick(4)
    stepped.until(lambda: len(stepped.rows) == 5)
    stepped.player.pause()
    stepped.settle()
    stands = stepped.player.time
    assert stands == pytest.approx(4 * 4.0 / 30)
    assert stepped.ends == 0
    stepped.player.play()
    stepped.clock.tick(2)
    stepped.until(lambda: len(stepped.rows) == 8)
    assert [row for _, row in stepped.rows[5:]] == [int((stands + k / 30) * 100 + 1e-9) for k in range(3)]


def test_the_wall_clock_is_that_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float | None] = []
    stop = threading.Event()
    monkeypatch.setattr(stop, "wait", waits.append)
    WallClock().wait(stop, 0.02)
    assert waits == [0.02]
    monkeypatch.setattr("vertebra.studio.player.time", SetClock(7.0))
    assert WallClock().now() == 7.0


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


def test_seek_while_it_plays_continues_from_there(stepped: Screen) -> None:
    stepped.player.load(np.linspace(0.0, 100.0, 1001))
    stepped.player.play()
    stepped.clock.tick(2)
    stepped.until(lambda: len(stepped.rows) == 3)
    stepped.player.seek(50.0)
    stepped.clock.tick(3)
    stepped.until(lambda: stepped.player.time >= 50.0 + 2 / 30)
    assert stepped.player.playing
    assert all(row == 500 or row == 501 for _, row in stepped.rows[3:])


def test_at_the_end_play_starts_from_the_beginning(screen: Screen) -> None:
    screen.player.load(np.linspace(1.0, 1.1, 11))
    screen.player.seek(1.1)
    screen.player.play()
    assert screen.ended.wait(PATIENCE)
    screen.settle()
    assert min(row for _, row in screen.rows) < 5


def test_loading_stops_and_goes_to_the_first(stepped: Screen) -> None:
    stepped.player.load(np.linspace(0.0, 50.0, 51))
    stepped.player.play()
    stepped.player.load(np.array([3.0, 4.0]))
    stepped.settle()
    assert not stepped.player.playing
    assert stepped.player.time == 3.0
    assert stepped.player.duration == 1.0


def test_a_motion_of_one_instant_ends_immediately(screen: Screen) -> None:
    screen.player.load(np.array([7.0]))
    screen.player.play()
    assert screen.ended.wait(PATIENCE)
    screen.settle()
    assert {row for _, row in screen.rows} == {0}
    assert screen.ends == 1


def test_playing_again_and_again_leaves_one_thread(stepped: Screen) -> None:
    stepped.player.load(np.linspace(0.0, 50.0, 501))
    for _ in range(20):
        stepped.player.play()
    stepped.until(lambda: len(players()) == 1)
    stepped.player.pause()
    stepped.until(lambda: not players())
    assert stepped.ends == 0
