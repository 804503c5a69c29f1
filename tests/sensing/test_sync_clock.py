"""The clock of the network: wraps, losses, damage, restarts."""

from __future__ import annotations

import numpy as np
import pytest

from vertebra.sensing.network import AGREEING, SyncClock
from vertebra.sensing.wire.can import Sync

PERIOD = 0.01


def ran(clock=None, *, start=0, count=20, time=100.0, period=PERIOD, lost=()):
    """A clock after `count` SYNCs from counter `start`, without those in `lost`."""
    clock = clock or SyncClock()
    for k in range(count):
        if k not in lost:
            assert clock.receive(Sync(start + k & 0xFFFF, time + k * period))
    return clock


def test_counts_and_times():
    clock = ran()
    assert (clock.count, clock.ignored) == (19, 0)
    assert clock.time == pytest.approx(100.19)
    assert clock.period == pytest.approx(PERIOD)
    for back in range(8):
        count = clock.resolve(19 - back & 15)
        assert count == 19 - back
        assert clock.time_of(count) == pytest.approx(100.19 - back * PERIOD)


def test_before_the_first_and_the_second_sync():
    clock = SyncClock()
    for counter in range(16):
        assert clock.time_of(clock.resolve(counter)) is None
    clock.receive(Sync(0, 100.0))
    assert clock.period == 0.0
    times = {counter: clock.time_of(clock.resolve(counter)) for counter in range(16)}
    assert times.pop(0) == 100.0
    assert set(times.values()) == {None}


def test_the_counter_wraps():
    clock = ran(start=65530, count=40)
    assert clock.count == 39
    assert clock.time == pytest.approx(100.39)
    assert clock.ignored == 0


def test_more_syncs_than_the_counter_counts():
    clock = ran(start=5, count=140_000)
    assert clock.count == 139_999
    assert clock.time == pytest.approx(100.0 + 139_999 * PERIOD)


@pytest.mark.parametrize("lost", [(5,), (5, 6, 7), tuple(range(3, 17)), (1,), (18,)])
def test_lost_syncs_are_filled_in(lost):
    clock = ran(lost=lost)
    assert clock.count == 19
    assert clock.period == pytest.approx(PERIOD)
    for back in range(8):
        assert clock.time_of(19 - back) == pytest.approx(100.19 - back * PERIOD, abs=1e-9)


def test_an_answer_to_a_sync_that_was_lost():
    clock = ran(count=20)
    for ahead in range(1, 8):
        count = clock.resolve(19 + ahead & 15)
        assert count == 19 + ahead
        assert clock.time_of(count) == pytest.approx(100.19 + ahead * PERIOD)


def test_a_pause_of_minutes_is_no_restart():
    clock = ran(count=20)
    assert clock.receive(Sync(20 + 30_000, 100.2 + 300.0))
    assert clock.count == 30_020
    assert clock.time == pytest.approx(400.2)


def test_repeated_and_reordered_syncs_are_ignored():
    clock = ran(count=20)
    for counter in (19, 18, 15, 3):
        assert not clock.receive(Sync(counter, 100.0 + counter * PERIOD))
    assert clock.ignored == 4
    assert (clock.count, clock.time) == (19, pytest.approx(100.19))
    ran(clock, start=20, time=100.2)
    assert clock.count == 39


def damaged():
    """Of the SYNC that should be number 20 at 100.2 s."""
    wild = [(20, 0.0), (20, 2.8e8), (20, 100.26), (20, 100.1), (9000, 100.2), (65000, 100.2), (0, 0.0), (40_000, 1e5)]
    bits = [(20 ^ 1 << bit, 100.2) for bit in range(1, 16)]
    return wild + bits


@pytest.mark.parametrize("sync", damaged(), ids=str)
def test_a_single_damaged_sync_changes_nothing(sync):
    clock = ran(count=20)
    clock.receive(Sync(*sync))
    assert (clock.count, clock.time, clock.ignored) == (19, pytest.approx(100.19), 1)
    ran(clock, start=21, time=100.21)
    assert clock.count == 40
    assert clock.time == pytest.approx(100.4)
    assert clock.period == pytest.approx(PERIOD)


def test_damage_that_comes_again_and_again_is_ignored():
    rng = np.random.default_rng(0)
    clock = ran(count=20)
    for k in range(20, 2000):
        clock.receive(Sync(k, 100.0 + k * PERIOD))
        clock.receive(Sync(int(rng.integers(65536)), float(rng.uniform(0, 2.8e8))))
        assert clock.count == k
        assert clock.time == pytest.approx(100.0 + k * PERIOD)


def test_a_second_master_between_the_beats_of_the_first_is_ignored():
    clock = ran(count=20)
    for k in range(20, 60):
        assert not clock.receive(Sync(1000 + k, 7.0 + k * PERIOD))
        assert clock.receive(Sync(k, 100.0 + k * PERIOD))
    assert clock.time == pytest.approx(100.59)


@pytest.mark.parametrize("time", [0.0, 100.05, 99.0, 5e4])
@pytest.mark.parametrize("counter", [0, 1, 12, 19, 20, 21, 40_000, 65_500])
def test_a_restarted_master_is_followed_and_time_goes_on(counter, time):
    clock = ran(count=20)
    before, times = clock.time, []
    for k in range(30):
        clock.receive(Sync(counter + k & 0xFFFF, time + k * PERIOD))
        times.append(clock.time)
    assert (np.diff([before, *times]) >= 0.0).all()
    moved = np.diff(times)[AGREEING + 1 :]
    np.testing.assert_allclose(moved, PERIOD, atol=1e-7)
    assert clock.ignored <= AGREEING + 1
    assert clock.period == pytest.approx(PERIOD)


@pytest.mark.parametrize("period", [0.001, 0.005, 0.02, 0.1, 1.0])
def test_another_rate_is_followed(period):
    clock = ran(count=20)
    start = 100.19 + period
    for k in range(10):
        clock.receive(Sync(20 + k, start + k * period))
    assert clock.period == pytest.approx(period)
    assert clock.time == pytest.approx(start + 9 * period)
    assert clock.count == 29


def test_a_jittering_master_is_believed():
    rng = np.random.default_rng(1)
    clock = SyncClock()
    for k in range(500):
        assert clock.receive(Sync(k, 10.0 + k * PERIOD + rng.uniform(-0.001, 0.001)))
    assert clock.ignored == 0


def test_a_damaged_first_sync_is_got_over():
    for counter, time in ((700, 2.8e8), (40_000, 99.0), (0, 0.0)):
        clock = SyncClock()
        clock.receive(Sync(counter, time))
        for k in range(10):
            clock.receive(Sync(5000 + k, 100.0 + k * PERIOD))
        assert clock.period == pytest.approx(PERIOD)
        assert clock.time_of(clock.resolve(5009 & 15)) == clock.time


def test_time_never_runs_backwards():
    rng = np.random.default_rng(2)
    clock, last = SyncClock(), (-1.0, -1)
    counter, time = 0, 50.0
    for _ in range(20_000):
        kind = rng.integers(12)
        counter, time = counter + 1, time + PERIOD
        if kind == 0:
            counter, time = int(rng.integers(65536)), float(rng.uniform(0, 1e3))
        elif kind == 1:
            clock.receive(Sync(int(rng.integers(65536)), float(rng.uniform(0, 2.8e8))))
        elif kind == 2:
            time += float(rng.uniform(0, 1))
        if kind != 3:
            clock.receive(Sync(counter & 0xFFFF, time))
        assert clock.time >= last[0]
        assert clock.count >= last[1]
        assert clock.period >= 0.0
        last = (clock.time, clock.count)
