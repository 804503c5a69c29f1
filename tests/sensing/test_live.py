from __future__ import annotations

import os
import threading
import time
from queue import SimpleQueue

import numpy as np
import pytest
from tests.sensing.network_load import measure_load
from tests.sensing.networks import long_robot, network
from tests.waiting import DEADLINE, SetClock, wait_until

import vertebra as vb
from vertebra.errors import InputError, RecordingError, VertebraError
from vertebra.sensing import live
from vertebra.sensing.estimator import ShapeEstimator
from vertebra.sensing.live import LatencyHistogram, LiveSession
from vertebra.sensing.network import Replay, SensorNetwork, Update, replay
from vertebra.sensing.recording.raw_log import RawLogWriter
from vertebra.sensing.recording.shape_reader import read_shapes
from vertebra.sensing.wire.bus import open_bus, receive, send
from vertebra.sensing.wire.can import ANGLES, SYNC, Frame

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
SECONDS = {False: 60.0, True: 60.0} if SOAK else {False: 1.0, True: 0.5}
"""Of angles alone, and of angles and rates."""
ROBOT = vb.load("lapusan2022")
FIELDS = (
    "time", "angles", "joint_twists", "base", "frames", "platforms", "tip_frame", "covariance", "platform_covariances",
    "angle_sigmas", "heading_residuals", "tilt_residuals", "iterations", "converged", "states", "ages", "samples",
    "outliers", "weights",
)  # fmt: skip


@pytest.fixture(autouse=True)
def compiled():
    """Loading compiled code is not part of the times tested here."""
    SensorNetworkRun(ROBOT, network(ROBOT, 0.1).frames)


class SensorNetworkRun:
    """Frames through a network without a bus: what a live session must give."""

    def __init__(self, robot, frames: list[Frame]) -> None:
        self.network = SensorNetwork(ShapeEstimator(robot))
        self.shapes = [shape for frame in frames if (shape := self.network.receive(frame)) is not None]


def same(a, b) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in FIELDS)


@pytest.mark.parametrize("gyro", [False, True])
def test_full_load_loses_nothing_and_a_replay_gives_the_same_bits(gyro, tmp_path, capsys):
    sent = network(long_robot(), SECONDS[gyro], gyro).frames
    # A computer that does not run the receiver for 0.1 s drops frames itself when its buffer is small; then once more.
    for _ in range(3):
        load = measure_load(SECONDS[gyro], gyro, tmp_path)
        with capsys.disabled():
            print(f"\n{load}")
        assert load.sent == len(sent)
        assert len(load.recorded) == load.estimated
        if load.estimated == load.sent:
            break
    assert [(f.id, f.data) for f in load.recorded] == [(f.id, f.data) for f in sent]
    assert load.lost == 0
    again = list(replay(load.path, ShapeEstimator(long_robot())))
    assert len(again) == len(load.shapes) > 90 * SECONDS[gyro]
    assert all(same(a, b) for a, b in zip(again, load.shapes, strict=True))
    shapes = read_shapes(tmp_path / "load.mcap")
    assert np.array_equal(shapes.angles, [shape.angles for shape in load.shapes])


def test_previews_do_not_change_what_a_replay_gives():
    """A network that loses frames has incomplete cycles, which are peeked at."""
    frames = network(ROBOT, 1.0, True, 0.1).frames
    plain = SensorNetworkRun(ROBOT, frames)
    updates = run_live(ROBOT, frames, lockstep=True)
    assert sum(not update.final for update in updates) > 20
    final = [update.shape for update in updates if update.final]
    assert len(final) == len(plain.shapes)
    assert all(same(a, b) for a, b in zip(final, plain.shapes, strict=True))


def run_live(robot, frames: list[Frame], lockstep: bool = False) -> list[Update]:
    """All updates of a session that is fed over a virtual bus; `lockstep`: every cycle is shown before the next."""
    updates: list[Update] = []
    name = f"virtual://{os.urandom(8).hex()}"
    with (
        open_bus(name) as here,
        open_bus(name) as there,
        LiveSession(here, ShapeEstimator(robot), listeners=[updates.append]) as session,
    ):
        seen, answered = 0, False
        for frame in frames:
            if lockstep and frame.id == SYNC and answered:
                wait_until(lambda seen=seen: len(updates) > seen, "a shape or a preview of the cycle")
            if frame.id == SYNC:
                seen, answered = len(updates), False
            answered = answered or frame.id & ~0x7F == ANGLES
            send(there, frame)
        wait_until(lambda: session.statistics.frames == len(frames))
    return updates


def test_a_silent_sensor_is_not_waited_for():
    """Without previews the shape would come with the next SYNC, here never."""
    frames = [frame for frame in network(ROBOT, 0.05).frames if frame.id != 0x104]
    answers = [i for i, frame in enumerate(frames) if frame.id == 0x103]
    updates = run_live(ROBOT, frames[: answers[2] + 1])
    wanted = SensorNetworkRun(ROBOT, frames[: answers[2] + 1])
    assert len([update for update in updates if update.final]) == len(wanted.shapes)
    assert not updates[-1].final
    assert same(updates[-1].shape, wanted.network.peek())


def test_statistics_count():
    frames = network(ROBOT, 0.5).frames
    name = f"virtual://{os.urandom(8).hex()}"
    with open_bus(name) as here, open_bus(name) as there, LiveSession(here, ShapeEstimator(ROBOT)) as session:
        for frame in frames:
            send(there, frame)
        wait_until(lambda: session.statistics.frames == len(frames))
    found = session.statistics
    assert found.shapes == len(SensorNetworkRun(ROBOT, frames).shapes)
    assert 0 < found.latency_p50 <= found.latency_p99 <= found.latency_max <= found.seconds
    assert (found.lost, found.waiting) == (0, 0)


def test_rates_are_those_of_the_last_two_seconds(monkeypatch):
    clock = SetClock()
    monkeypatch.setattr(live, "time", clock)
    with open_bus(f"virtual://{os.urandom(8).hex()}") as bus:
        session, rates = LiveSession(bus, ShapeEstimator(ROBOT)), []
        for count in (10, 20, 30, 40, 50):
            for _ in range(count):
                session.network.receive(Frame(0x7FF, b"", clock.now))
            clock.sleep(1.25)
            rates.append(session.statistics.frame_rate)
    assert rates == pytest.approx([8, 12, 20, 28, 36])


def test_it_sleeps_while_nothing_comes(monkeypatch):
    """Both threads sleep until something comes, rather than poll."""
    naps = {"receive": SimpleQueue(), "estimate": SimpleQueue()}

    class Told(SimpleQueue):
        def get(self, *, timeout):
            naps["estimate"].put(timeout)
            return super().get(timeout=timeout)

    def told(bus, timeout):
        naps["receive"].put(timeout)
        return receive(bus, timeout)

    monkeypatch.setattr(live, "SimpleQueue", Told)
    monkeypatch.setattr(live, "receive", told)
    with open_bus(f"virtual://{os.urandom(8).hex()}") as bus, LiveSession(bus, ShapeEstimator(ROBOT)):
        for taken in naps.values():
            assert [taken.get(timeout=DEADLINE) for _ in range(3)] == [0.1, 0.1, 0.1]


def test_a_bus_that_fails_ends_the_session_with_its_error():
    bus = open_bus(f"virtual://{os.urandom(8).hex()}")
    session = LiveSession(bus, ShapeEstimator(ROBOT))
    session.start()
    bus.shutdown()
    assert session.wait(DEADLINE)
    with pytest.raises(VertebraError):
        session.stop()


def test_frames_of_two_threads_are_recorded_in_the_order_of_the_estimator():
    class Kept:
        def __init__(self) -> None:
            self.frames: list[Frame] = []

        def frame(self, frame: Frame) -> None:
            self.frames.append(frame)
            time.sleep(0)

        def shape(self, *_: object) -> None:
            pass

    kept, taken = Kept(), list[Frame]()
    with open_bus(f"virtual://{os.urandom(8).hex()}") as bus:
        session = LiveSession(bus, ShapeEstimator(ROBOT), recorder=kept)
        receive = session.network.receive
        session.network.receive = lambda frame: taken.append(frame) or receive(frame)
        with session:
            threads = [
                threading.Thread(target=lambda n=n: [session.hear(Frame(n, b"", float(i))) for i in range(500)])
                for n in (1, 2)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    assert len(taken) == 1000
    assert taken == kept.frames


def test_percentiles_are_right_to_five_percent():
    durations = np.random.default_rng(1).lognormal(np.log(1e-3), 1.0, 4999)
    histogram = LatencyHistogram()
    for duration in durations:
        histogram.add(float(duration))
    assert histogram.count == 4999
    assert histogram.longest == durations.max()
    for percent in (1, 50, 99, 99.9):
        exact = np.percentile(durations, percent, method="inverted_cdf")
        assert exact <= histogram.percentile(percent) <= exact * 1.05


def test_nothing_and_extremes():
    histogram = LatencyHistogram()
    assert histogram.percentile(99) == 0.0
    histogram.add(-1e-3)
    assert histogram.percentile(50) == 0.0
    histogram.add(1e9)
    assert histogram.percentile(100) == 1e9
    assert histogram.percentile(50) == pytest.approx(1e-5)


@pytest.fixture
def recording(tmp_path):
    path = tmp_path / "a.blf"
    with RawLogWriter(path) as writer:
        for frame in network(ROBOT, 0.5).frames:
            writer.write(frame)
    return path


def test_speed_paces_the_frames(recording):
    slept: list[float] = []
    list(Replay(recording, ShapeEstimator(ROBOT), 2.0, clock=lambda: sum(slept), sleep=slept.append))
    times = np.unique([frame.time for frame in network(ROBOT, 0.5).frames])
    np.testing.assert_allclose(slept, np.diff(times) / 2, atol=1e-5)


@pytest.mark.parametrize("speed", [0.0, -1.0, float("nan"), float("inf")])
def test_impossible_speeds_are_refused(speed, recording):
    with pytest.raises(InputError, match="speed"):
        replay(recording, ShapeEstimator(ROBOT), speed)


def test_a_damaged_recording_gives_the_shapes_before_the_damage(tmp_path):
    path, frames = tmp_path / "a.log", network(ROBOT, 0.5).frames
    with RawLogWriter(path) as writer:
        for frame in frames:
            writer.write(frame)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:100], "nonsense\n", *lines[100:]]))
    shapes = []
    with pytest.raises(RecordingError, match="line 101"):
        shapes.extend(replay(path, ShapeEstimator(ROBOT)))
