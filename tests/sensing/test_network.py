"""From frames to shapes: cycles, time stamps, status bits, counters."""

from __future__ import annotations

import os

import numpy as np
import pytest
from tests.sensing.bus_traffic import PERIOD, POSE, Traffic, adds_up, answer, cycle, network, received, sync
from tests.sensing.cases import assert_finite, numbers_of

from vertebra.sensing.network import AGREEING, SyncClock
from vertebra.sensing.wire.can import (
    ANGLES,
    DISTURBED,
    FAULT,
    GYRO,
    HEARTBEAT,
    QUATERNION,
    SYNC,
    UNSETTLED,
    Frame,
    Sync,
    heartbeat_data,
    sync_data,
)

WIRE = 2e-4
"""rad: what the resolution of the wire leaves."""
SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
FUZZED = 100_000 if SOAK else 5_000


@pytest.mark.parametrize("kinds", [(ANGLES,), (QUATERNION,), (ANGLES, GYRO), (GYRO, ANGLES)], ids=str)
def test_one_shape_per_cycle_as_soon_as_it_is_complete(kinds):
    net = network()
    for count in range(20):
        frames = cycle(count, kinds)
        shapes = [net.receive(frame) for frame in frames]
        # Rates are waited for once they have come; in the first cycle it is not known that they will.
        if count > 0:
            assert [shape is not None for shape in shapes] == [False] * (len(frames) - 1) + [True]
            assert shapes[-1].time == pytest.approx(50.0 + count * PERIOD)
    np.testing.assert_allclose(shapes[-1].angles, POSE, atol=WIRE)
    assert net.sync_period == pytest.approx(PERIOD)
    assert net.counters.lost.sum() == net.counters.duplicates.sum() == net.counters.reordered.sum() == 0
    assert numbers_of(net.peek()) == numbers_of(net.estimator.peek())


def test_stamps_are_those_of_sync_less_age_and_never_of_arrival():
    plain, late = network(), network()
    frames = [
        frame
        for count in range(10)
        for frame in [sync(count), *(answer(ANGLES, s, count, age=0.001 * s) for s in range(5))]
    ]
    first = received(plain, frames)
    second = received(late, [frame._replace(time=1e9 - 7.0 * k) for k, frame in enumerate(frames)])
    assert [numbers_of(shape) for shape in first] == [numbers_of(shape) for shape in second]
    np.testing.assert_allclose(first[-1].ages, 0.001 * np.arange(5), atol=1e-9)
    assert first[-1].time == pytest.approx(50.09)


def test_a_cycle_with_a_missing_answer_is_closed_by_the_next_sync():
    net = network()
    received(net, cycle(0) + cycle(1))
    frames = [frame for frame in cycle(2) if frame.id != ANGLES + 3]
    assert received(net, frames) == []
    shape = net.receive(sync(3))
    assert shape.time == pytest.approx(50.02)
    assert shape.ages[3] == pytest.approx(PERIOD)


def test_a_dead_sensor_is_waited_for_no_longer():
    net = network()
    received(net, cycle(0))
    prompt = []
    for count in range(1, 60):
        frames = [frame for frame in cycle(count) if frame.id != ANGLES + 3]
        prompt.append(net.receive(frames[0]) is None and received(net, frames[1:]) != [])
    assert not any(prompt[:20])
    assert all(prompt[30:])
    assert net.counters.lost[3] == 0
    received(net, cycle(60))
    assert net.counters.lost[3] == 59


def test_status_bits():
    net = network()
    for count in range(3):
        received(net, cycle(count))
    received(
        net, [sync(3), *(answer(ANGLES, s, 3, {1: DISTURBED, 2: FAULT, 3: UNSETTLED}.get(s, 0)) for s in range(5))]
    )
    shape = net.peek()
    assert [health.state for health in shape.health] == ["ok", "disturbed", "fault", "ok", "ok"]
    assert net.counters.faults == 1
    assert shape.samples.tolist() == [4, 4, 3, 4, 4]
    received(net, cycle(4))
    assert net.peek().health[2].state == "ok"
    assert net.counters.lost.tolist() == [0] * 5


def test_a_faulty_node_has_answered():
    net = network()
    received(net, cycle(0))
    frames = [sync(1), *(answer(ANGLES, s, 1, FAULT if s == 4 else 0) for s in range(5))]
    assert [net.receive(frame) is not None for frame in frames] == [False] * 5 + [True]


def test_unknown_and_malformed_frames_are_counted():
    net = network()
    received(net, cycle(0))
    before = numbers_of(net.peek())
    for frame in (
        Frame(0x7FF, b""),
        Frame(0x000, b"\0" * 8),
        Frame(ANGLES + 5, b"\0" * 8),
        Frame(ANGLES + 127, b"\0" * 8),
    ):
        assert net.receive(frame) is None
    assert net.counters.unknown == 4
    bad = [SYNC, ANGLES + 1, GYRO + 1, QUATERNION + 1, HEARTBEAT + 1]
    for can_id in bad:
        for length in (0, 7, 9):
            assert net.receive(Frame(can_id, b"\1" * length)) is None
    assert net.counters.malformed == 15
    assert net.receive(Frame(QUATERNION + 1, b"\xff\x3f\xff\x1f\xff\x0f\0\0")) is None  # no unit quaternion has these
    assert net.counters.malformed == 16
    net.receive(Frame(HEARTBEAT + 2, heartbeat_data(5.0)))
    assert net.counters.heartbeat == 1
    assert numbers_of(net.peek()) == before
    assert adds_up(net.counters)


def test_answers_without_a_sync_have_no_time():
    net = network()
    assert received(net, cycle(3)[1:]) == []
    assert net.counters.no_sync == 5
    received(net, [sync(4), answer(ANGLES, 0, 3), answer(ANGLES, 1, 4)])
    assert net.counters.no_sync == 6
    assert net.peek().samples.tolist() == [0, 1, 0, 0, 0]
    assert net.peek().time == pytest.approx(50.04)


def test_a_sample_at_the_largest_age_is_not_used():
    """255 stands for 25.5 ms or more: a sensor that hangs must not look fresh at every SYNC."""
    net = network()
    for count in range(5):
        received(net, cycle(count))
    for count in range(5, 45):
        ages = {2: 0.0255}
        shapes = received(net, [sync(count), *(answer(ANGLES, s, count, age=ages.get(s, 0.0)) for s in range(5))])
        assert len(shapes) == 1
    assert shapes[0].samples.tolist() == [45, 45, 5, 45, 45]
    assert shapes[0].health[2].state == "stale"
    assert net.counters.lost.sum() == 0


def test_replay_gives_the_same_bits():
    frames = Traffic(100, 5).frames
    runs = [[numbers_of(shape) for shape in received(network(), frames)] for _ in range(2)]
    assert runs[0] == runs[1]


def test_peeking_does_not_disturb_the_network():
    frames = Traffic(60, 6).frames
    plain, watched = network(), network()
    first, second = received(plain, frames), []
    for frame in frames:
        shape = watched.receive(frame)
        if watched.estimator.time > 0.0:
            watched.peek()
        if shape is not None:
            second.append(shape)
    assert [numbers_of(shape) for shape in first] == [numbers_of(shape) for shape in second]


@pytest.mark.parametrize("start", [0, 65_500])
@pytest.mark.parametrize("seed", range(8 if SOAK else 2))
def test_counters_tell_what_really_happened(seed, start):
    traffic = Traffic(600, seed, start=start)
    net = network()
    shapes = received(net, traffic.frames)
    counters = net.counters
    assert counters.frames == len(traffic.frames)
    assert counters.sync == traffic.syncs
    assert counters.angles == sum(len(traffic.arrived[ANGLES, s]) for s in range(5))
    assert counters.gyro == sum(len(traffic.arrived[GYRO, s]) for s in range(5))
    assert counters.unknown == counters.malformed == counters.no_sync == counters.ignored_sync == counters.faults == 0
    for sensor in range(5):
        found = [int(getattr(counters, name)[sensor]) for name in ("received", "lost", "duplicates", "reordered")]
        assert found == list(traffic.expected(sensor))
    assert len(shapes) > 250
    times = [shape.time for shape in shapes]
    assert (np.diff(times) >= 0.0).all()
    for shape in shapes[5:]:
        assert_finite(shape)
        np.testing.assert_allclose(shape.angles, POSE, atol=WIRE)
        cycles = (shape.time - 50.0) / PERIOD
        assert cycles == pytest.approx(round(cycles), abs=1e-3)


def test_a_late_answer_does_not_turn_time_back():
    net = network()
    for count in range(5):
        received(net, cycle(count))
    before = numbers_of(net.peek())
    assert net.receive(answer(ANGLES, 2, 3)) is None
    assert net.counters.duplicates[2] == 1
    assert numbers_of(net.peek()) == before


def test_an_answer_older_than_the_first_takes_no_loss_back():
    net = network()
    received(net, [sync(0), sync(1), sync(2), answer(ANGLES, 1, 2), sync(3), sync(4), answer(ANGLES, 1, 4)])
    assert net.counters.lost[1] == 1
    net.receive(answer(ANGLES, 1, 1))
    assert net.counters.lost[1] == 1
    assert net.counters.reordered[1] == 1
    net.receive(answer(ANGLES, 1, 3))
    assert net.counters.lost[1] == 0


def test_an_ignored_sync_closes_no_cycle():
    net = network()
    received(net, cycle(0) + cycle(1))
    frames = cycle(2)
    assert received(net, [*frames[:3], sync(2), Frame(SYNC, sync_data(900, 7.0)), *frames[3:5]]) == []
    assert net.counters.ignored_sync == 2
    assert net.receive(frames[5]).time == pytest.approx(50.02)


@pytest.mark.parametrize("counter", [0, 9, 19, 26, 31_000])
def test_after_a_restart_of_the_master_all_sensors_are_believed_again(counter):
    net = network()
    for count in range(20):
        received(net, cycle(count))
    last, heard = net.peek(), []
    for k in range(40):
        frames = [Frame(SYNC, sync_data(counter + k & 0xFFFF, 3.0 + k * PERIOD))]
        frames += [answer(ANGLES, sensor, counter + k) for sensor in range(5)]
        for shape in received(net, frames):
            assert shape.time >= last.time
            last = shape
        heard.append(last.samples.sum())
    # Within a quarter of a second, and then every sample.
    np.testing.assert_array_equal(np.diff(heard[25:]), 5)
    assert last.ages.max() < 1e-9
    assert net.sync_period == pytest.approx(PERIOD)


def test_another_sync_rate_is_followed():
    net = network()
    for count in range(20):
        received(net, cycle(count))
    times = []
    for k in range(20):
        frames = [sync(20 + k, 50.19 + 0.05 * (k + 1)), *(answer(ANGLES, sensor, 20 + k) for sensor in range(5))]
        times += [shape.time for shape in received(net, frames)]
    assert net.sync_period == pytest.approx(0.05)
    np.testing.assert_allclose(np.diff(times)[-10:], 0.05)
    assert net.counters.lost.sum() == 0


def random_frame(rng, count):
    """Anything: good frames, foreign ids, random payloads of any length, damaged bits."""
    kind = rng.integers(8)
    if kind == 0:
        return Frame(int(rng.integers(0x800)), rng.bytes(int(rng.integers(0, 9))))
    if kind == 1:
        base = rng.choice([SYNC, ANGLES, GYRO, QUATERNION, HEARTBEAT])
        return Frame(int(base + rng.integers(6) * (base != SYNC)), rng.bytes(8))
    if kind == 2:
        return Frame(int(rng.integers(0x20000000)), rng.bytes(int(rng.integers(0, 65))))
    good = (
        sync(count) if kind == 3 else answer(int(rng.choice([ANGLES, GYRO, QUATERNION])), int(rng.integers(5)), count)
    )
    if kind == 4:
        data = bytearray(good.data)
        data[rng.integers(8)] ^= 1 << int(rng.integers(8))
        return good._replace(data=bytes(data))
    return good


@pytest.mark.parametrize("method", ["chain", "pairwise", "paper"])
def test_no_frame_breaks_it(method):
    rng = np.random.default_rng(7)
    net, shapes = network(method=method), 0
    for k in range(FUZZED):
        shape = net.receive(random_frame(rng, k // 12))
        if shape is not None:
            shapes += 1
            assert_finite(shape)
    assert shapes > 50
    assert adds_up(net.counters)
    counters = net.counters
    assert counters.frames == k + 1
    assert min(counters.sync, counters.angles, counters.gyro, counters.quaternion) > 0
    assert min(counters.unknown, counters.malformed, counters.ignored_sync, counters.faults) > 0
    for name in ("received", "lost", "duplicates", "reordered", "outliers"):
        assert (getattr(counters, name) >= 0).all()
    # Good frames again, and all is well within a second.
    for count in range(k // 12 + 1, k // 12 + 101):
        received(net, cycle(count))
    assert {health.state for health in net.peek().health} == {"ok"}
    assert str(counters.frames) in repr(counters)


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


def test_repeated_damage_is_ignored():
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


def test_the_clock_recovers_from_a_damaged_first_sync():
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
