from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from mcap.records import Channel, Message
from tests.sensing.recording.test_claimed_sizes import DEEP, LONG, mcap

import vertebra as vb
from vertebra.errors import RecordingError, StudioError, VertebraError
from vertebra.sensing.estimator import ShapeEstimator
from vertebra.sensing.network import Replay
from vertebra.sensing.recording.raw_log import RawLogWriter
from vertebra.sensing.recording.shape_log import DerivedLogWriter, record, robot_contents
from vertebra.sensing.simulated.motion import Motion
from vertebra.sensing.simulated.sensors import SensorModel
from vertebra.sensing.simulated.stream import simulated_frames
from vertebra.studio.sense import replay
from vertebra.studio.sense.replay import Recorded, Thinned, read_recording

ROBOT = vb.load("lapusan2022")
RUN = simulated_frames(ROBOT, Motion.wander(ROBOT), SensorModel.datasheet(), 1.5)


def write(path: Path, frames=RUN.frames) -> Path:
    with RawLogWriter(path) as log:
        for frame in frames:
            log.write(frame)
    return path


def read(path: Path, robot=ROBOT, method="chain", most=8000, calibration=None) -> Recorded:
    return read_recording(str(path), robot.to_mapping(), method, calibration, most, report=lambda share: None)


@pytest.mark.parametrize(("suffix", "method"), [(".blf", "chain"), (".log", "pairwise"), (".csv", "paper")])
def test_every_shape_is_that_of_a_replay_to_the_last_bit(tmp_path, suffix, method):
    path = write(tmp_path / f"run{suffix}")
    recorded = read(path, method=method)
    shapes = [update.shape for update in Replay(path, ShapeEstimator(ROBOT, method))]
    assert len(recorded.snapshots) == len(shapes) > 100
    for row, shape in enumerate(shapes):
        snapshot = recorded.snapshots[row]
        assert snapshot.time == shape.time
        for ours, theirs in (
            (snapshot.frames, shape.frames_in_base), (snapshot.tip, shape.tip_in_base),
            (snapshot.angles, shape.angles), (snapshot.angle_sigmas, shape.angle_sigmas),
            (snapshot.states, shape.states), (snapshot.weights, shape.weights),
            (snapshot.headings, shape.heading_residuals), (snapshot.ages, shape.ages),
            (snapshot.samples, shape.samples),
        ):  # fmt: skip
            assert np.array_equal(ours, theirs)
        assert np.allclose(np.trace(snapshot.covariance), np.trace(shape.covariance[:3, :3]), rtol=1e-9)
    assert recorded.fault == ""
    assert f"{len(shapes)} shapes" in recorded.note


def test_progress_is_reported_and_a_long_recording_is_thinned_evenly(tmp_path):
    shares: list[float] = []
    path = write(tmp_path / "run.blf")
    whole = read(path)
    few = read_recording(str(path), ROBOT.to_mapping(), "chain", None, 50, report=shares.append)
    assert 25 <= len(few.snapshots) <= 50
    assert all(
        np.array_equal(few.snapshots[row].angles, whole.snapshots[4 * row].angles) for row in range(len(few.snapshots))
    )
    assert "are shown" in few.note
    assert all(0.0 <= share <= 1.0 for share in shares)


def test_thinning_keeps_the_first_and_even_steps():
    thin = Thinned(8)
    for row in range(1000):
        thin.add(row if thin.wants else None)  # type: ignore[arg-type]
    assert thin.kept[0] == 0
    assert len(set(np.diff(thin.kept).tolist())) == 1  # type: ignore[arg-type]
    assert thin.seen == 1000


def test_rates_are_samples_per_second(tmp_path):
    run = simulated_frames(ROBOT, Motion.straight(ROBOT), SensorModel(drops=0.0), 1.5)
    snapshots = read(write(tmp_path / "run.csv", run.frames)).snapshots
    assert np.allclose(snapshots.rates(len(snapshots) - 1, 1.0), 100.0, atol=1.5)
    assert np.array_equal(snapshots.rates(0, 1.0), np.zeros(5))


def test_a_recording_of_shapes_shows_the_recorded_ones(tmp_path):
    path = write(tmp_path / "run.blf")
    with DerivedLogWriter(tmp_path / "run.mcap", robot_contents(ROBOT)) as log:
        for update in Replay(path, ShapeEstimator(ROBOT)):
            log.write(record(update.shape, update.arrival))
    ours, theirs = read(tmp_path / "run.mcap").snapshots, read(path).snapshots
    assert len(ours) == len(theirs)
    for row in (0, 40, len(ours) - 1):
        assert np.array_equal(ours[row].angles, theirs[row].angles)
        # Links are placed without the estimated twists, a fraction of a degree.
        assert np.allclose(ours[row].frames[..., :3, 3], theirs[row].frames[..., :3, 3], atol=2e-3)
        assert np.allclose(np.linalg.norm(ours[row].tip), np.linalg.norm(theirs[row].tip), atol=1e-12)
        assert np.array_equal(ours[row].headings, theirs[row].headings)
    assert (ours[len(ours) - 1].samples > 0).all()
    assert np.isfinite(ours[len(ours) - 1].ages).all()
    with pytest.raises(StudioError, match="choose the right robot"):
        read(tmp_path / "run.mcap", vb.load("hu2023-planar"))


def test_a_damaged_recording_shows_what_comes_before_the_damage_and_says_where_that_is(tmp_path):
    path = write(tmp_path / "run.csv")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:600], "what is this\n", *lines[600:]]))
    recorded = read(path)
    assert 20 < len(recorded.snapshots) < 120
    assert "line" in recorded.fault


def test_a_recording_that_was_cut_off_says_so(tmp_path):
    path = write(tmp_path / "run.log")
    path.write_bytes(path.read_bytes()[:-5])
    assert "cut off" in read(path).fault


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.blf", b"no recording"), ("a.log", b""), ("a.csv", b"time_s,id,data\n"), ("a.mcap", b"no recording"),
     ("a.mcap", b""), ("a.txt", b"")],
)  # fmt: skip
def test_what_is_no_recording_is_refused_with_its_name(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(RecordingError, match=name):
        read(tmp_path / name)


@pytest.mark.parametrize(
    ("sensors", "words"),
    [(DEEP, "nested too deeply"), (b'{"sensors":[%s]}' % LONG, "digits"), (b"[]", "not an object"),
     (b'{"sensors":[{"state":"ok","age":%s,"samples":1,"tilt_weight":1,"heading_weight":1}]}' % LONG[:400], "large")],
)  # fmt: skip
def test_states_of_sensors_that_cannot_be_read_are_refused_with_the_name_of_the_file(sensors, words, tmp_path):
    path = tmp_path / "run.mcap"
    path.write_bytes(mcap(Channel(1, "/health", "json", {}, 0), Message(1, 0, sensors, 0, 0)))
    with pytest.raises(RecordingError, match=words) as error:
        replay._health(str(path), 1)
    assert error.value.path == "run.mcap"


def test_frames_of_another_robot_and_a_bad_calibration_are_refused(tmp_path):
    foreign = [frame._replace(id=0x17F) for frame in RUN.frames]
    with pytest.raises(RecordingError, match="no SYNC"):
        read(write(tmp_path / "run.csv", foreign))
    (tmp_path / "bad.yaml").write_text("sensors: [")
    with pytest.raises(VertebraError):
        read(write(tmp_path / "good.csv"), calibration=str(tmp_path / "bad.yaml"))
