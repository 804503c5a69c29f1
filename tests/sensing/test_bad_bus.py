"""A bus that loses, repeats, delays and damages: counters tell what happened, and nothing breaks."""

from __future__ import annotations

import os

import numpy as np
import pytest
from tests.sensing.bus_traffic import PERIOD, POSE, Traffic, adds_up, answer, cycle, network, received, sync
from tests.sensing.cases import assert_finite, numbers_of

from vertebra.sensing.wire.can import (
    ANGLES,
    GYRO,
    HEARTBEAT,
    QUATERNION,
    SYNC,
    Frame,
    sync_data,
)

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
FUZZED = 100_000 if SOAK else 10_000
WIRE = 2e-4
"""rad: what the resolution of the wire leaves."""


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


def test_a_sync_that_is_none_closes_no_cycle():
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
