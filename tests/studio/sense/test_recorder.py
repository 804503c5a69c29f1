from __future__ import annotations

import os

import numpy as np
import pytest
from tests.sensing.recording.full_disks import limit_files
from tests.studio import visitors

import vertebra as vb
from vertebra.errors import RecordingError, StudioError
from vertebra.sensing.estimator import ShapeEstimator
from vertebra.sensing.network import SensorNetwork
from vertebra.sensing.recording.raw_log import read_frames
from vertebra.sensing.recording.shape_log import DerivedLogWriter, record, robot_contents
from vertebra.sensing.recording.shape_reader import McapRecords, read_shapes
from vertebra.sensing.simulated.motion import Motion
from vertebra.sensing.simulated.sensors import SensorModel
from vertebra.sensing.simulated.stream import simulated_frames
from vertebra.studio.sense import recorder as sense_recorder
from vertebra.studio.sense.recorder import RecorderSwitch, Recording, completed

soon = visitors.eventually
ROBOT = vb.load("lapusan2022")
RUN = simulated_frames(ROBOT, Motion.wander(ROBOT), SensorModel.datasheet(), 0.5)


def play(switch: RecorderSwitch) -> list:
    """A run into a switch; the shapes of it."""
    network, shapes = SensorNetwork(ShapeEstimator(ROBOT)), []
    for frame in RUN.frames:
        switch.frame(frame)
        shape = network.receive(frame)
        if shape is not None:
            shapes.append(shape)
            switch.shape(shape, frame.time)
    return shapes


def test_what_is_played_comes_back_while_it_records_and_after(tmp_path):
    errors: list[Exception] = []
    switch, recording = RecorderSwitch(), Recording(ROBOT, errors.append)
    try:
        assert soon(lambda: recording._recorder is not None)
        switch.recording = recording
        shapes = play(switch)
        for ended in (False, True):
            if ended:
                recording.stop()
                assert recording.join(20)
            path = tmp_path / f"{ended}.mcap"
            assert soon(
                lambda path=path: path.write_bytes(recording.mcap()) and len(read_shapes(path).times) == len(shapes)
            )
            found = read_shapes(path)
            assert found.complete
            assert np.array_equal(found.angles, [shape.angles for shape in shapes])
            assert [kind for kind, _ in McapRecords(path)].count("Attachment") == 2
        (tmp_path / "run.blf").write_bytes(recording.frames())
        assert list(read_frames(tmp_path / "run.blf")) == RUN.frames
        assert "Recorded" in recording.summary
        assert not recording.running
        play(switch)  # goes nowhere
    finally:
        recording.discard()
    assert soon(lambda: not recording.place.exists())
    assert errors == []
    with pytest.raises(StudioError, match="tick Record"):
        recording.mcap()


def test_an_unfinished_file_is_cut_behind_its_last_whole_record(tmp_path):
    with DerivedLogWriter(tmp_path / "whole.mcap", robot_contents(ROBOT)) as log:
        network = SensorNetwork(ShapeEstimator(ROBOT))
        for shape in filter(None, map(network.receive, RUN.frames)):
            log.write(record(shape, 1.0))
            log.flush()
    data = (tmp_path / "whole.mcap").read_bytes()
    assert completed(data) == data
    counts = []
    for share in (0.0, 0.0001, 0.3, 0.6, 0.9):
        (tmp_path / "cut.mcap").write_bytes(completed(data[: int(share * len(data))]))
        found = read_shapes(tmp_path / "cut.mcap")
        assert found.complete
        counts.append(len(found.times))
    assert counts == sorted(counts)
    assert counts[0] == 0 < counts[-1]


def test_a_recording_ends_at_its_limits(monkeypatch):
    monkeypatch.setattr(sense_recorder, "LONGEST_RECORDING", 0.1)
    recording = Recording(ROBOT, pytest.fail)
    try:
        assert recording.join(30)
        assert recording.full
        assert "limit" in recording.summary
    finally:
        recording.discard()


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts file descriptors by /proc")
def test_a_recording_discarded_immediately_leaves_nothing():
    before = len(os.listdir("/proc/self/fd"))
    recordings = [Recording(ROBOT, pytest.fail) for _ in range(2)]
    for recording in recordings:
        recording.discard()
    for recording in recordings:
        assert recording.join(30)
        assert not recording.place.exists()
    assert soon(lambda: len(os.listdir("/proc/self/fd")) == before)


def test_a_full_disk_is_noted_while_it_is_full_and_nothing_is_lost(tmp_path):
    recording = Recording(ROBOT, pytest.fail)
    try:
        assert soon(lambda: recording._recorder is not None)
        limit_files(recording._recorder.process, 1)
        for frame in RUN.frames:
            recording.frame(frame)
        assert soon(lambda: "At present it fails" in recording.summary)
        assert "frames.blf: cannot be written (File too large)" in recording.summary
        limit_files(recording._recorder.process, None)
        assert soon(lambda: "fails" not in recording.summary)
        recording.stop()
        (tmp_path / "run.blf").write_bytes(recording.frames())
        assert list(read_frames(tmp_path / "run.blf")) == RUN.frames
    finally:
        recording.discard()


def test_a_recording_that_cannot_be_written_is_reported(monkeypatch):
    monkeypatch.setattr(sense_recorder, "FRAMES", "nowhere/frames.blf")
    errors: list[Exception] = []
    recording = Recording(ROBOT, errors.append)
    recording.join(30)
    recording.discard()
    assert isinstance(errors[0], RecordingError)
    assert "cannot be written" in str(errors[0])
