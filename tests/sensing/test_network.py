"""From frames to shapes: cycles, time stamps, counters, and a bus that loses, repeats, delays and damages."""

from __future__ import annotations

import os

import numpy as np
import pytest
from tests.sensing.bus_traffic import PERIOD, POSE, ROBOT, Traffic, answer, cycle, sync
from tests.sensing.cases import assert_finite, numbers_of

from vertebra.sensing.estimator import ShapeEstimator
from vertebra.sensing.network import SensorNetwork
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
    heartbeat_data,
    sync_data,
)

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
FUZZED = 100_000 if SOAK else 10_000
WIRE = 2e-4
"""rad: what the resolution of the wire leaves."""


def network(**options):
    return SensorNetwork(ShapeEstimator(ROBOT, **options))


def received(net, frames):
    """The shapes that some frames give."""
    return [shape for frame in frames if (shape := net.receive(frame)) is not None]


@pytest.mark.parametrize("kinds", [(ANGLES,), (QUATERNION,), (ANGLES, GYRO), (GYRO, ANGLES)], ids=str)
def test_one_shape_a_cycle_as_soon_as_it_is_complete(kinds):
    net = network()
    for count in range(20):
        frames = cycle(count, kinds)
        shapes = [net.receive(frame) for frame in frames]
        # Rates are waited for once they have come; in the first cycle nobody knows that they will.
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


def adds_up(counters):
    kinds = counters.sync + counters.angles + counters.gyro + counters.quaternion + counters.heartbeat
    return counters.frames == kinds + counters.unknown + counters.malformed


def test_answers_without_a_sync_have_no_time():
    net = network()
    assert received(net, cycle(3)[1:]) == []
    assert net.counters.no_sync == 5
    received(net, [sync(4), answer(ANGLES, 0, 3), answer(ANGLES, 1, 4)])
    assert net.counters.no_sync == 6
    assert net.peek().samples.tolist() == [0, 1, 0, 0, 0]
    assert net.peek().time == pytest.approx(50.04)


def test_a_sync_that_is_none_closes_no_cycle():
    net = network()
    received(net, cycle(0) + cycle(1))
    frames = cycle(2)
    assert received(net, [*frames[:3], sync(2), Frame(SYNC, sync_data(900, 7.0)), *frames[3:5]]) == []
    assert net.counters.ignored_sync == 2
    assert net.receive(frames[5]).time == pytest.approx(50.02)


def test_an_age_without_end_is_no_time():
    """255 stands for 25.5 ms or more: a sensor that hangs must not look as if it were new at every SYNC."""
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
    for k in range(FUZZED if method == "chain" else FUZZED // 5):
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
