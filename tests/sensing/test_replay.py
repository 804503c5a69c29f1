from __future__ import annotations

import numpy as np
import pytest
from tests.sensing.networks import network

import vertebra as vb
from vertebra.errors import InputError, RecordingError
from vertebra.sensing.estimator import ShapeEstimator
from vertebra.sensing.live import Replay, replay
from vertebra.sensing.recording.raw_log import RawLogWriter

ROBOT = vb.load("lapusan2022")


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
