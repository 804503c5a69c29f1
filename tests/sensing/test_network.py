"""From frames to shapes: cycles, time stamps, status bits, counters."""

from __future__ import annotations

import numpy as np
import pytest
from tests.sensing.bus_traffic import PERIOD, POSE, Traffic, adds_up, answer, cycle, network, received, sync
from tests.sensing.cases import numbers_of

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
)

WIRE = 2e-4
"""rad: what the resolution of the wire leaves."""


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
