"""Recordings of motions: readable by others, and honest about what they are."""

import io
import json
import sys

import numpy as np
import pytest
from tests.studio.motion.samples import planned, simulated

import vertebra as vb
from vertebra.errors import StudioError
from vertebra.studio.motion.motion import motion_recording

pytest.importorskip("mcap")


def read(content):
    from mcap.reader import make_reader

    return make_reader(io.BytesIO(content))


@pytest.mark.parametrize(("make", "kind"), [(simulated, "simulated"), (planned, "planned")])
def test_every_channel_says_where_it_is_from(make, kind):
    name, content = motion_recording(make())
    assert name == f"dantuono2023-{kind}.mcap"
    reader = read(content)
    channels = reader.get_summary().channels.values()
    assert {channel.topic for channel in channels} == {"/tf", "/joints", "/tip", "/tensions"}
    assert all(channel.metadata == {"source": kind} for channel in channels)
    about = {record.name: record.metadata for record in reader.iter_metadata()}["vertebra"]
    assert about["source"] == kind
    assert about["robot"] == "dantuono2023"


def test_messages_hold_the_motion():
    motion = simulated()
    reader = read(motion_recording(motion)[1])
    rows = [
        (message.log_time * 1e-9, json.loads(message.data)) for _, _, message in reader.iter_messages(["/tensions"])
    ]
    times = np.array([time for time, _ in rows])
    assert times[0] == 0.0
    assert times[-1] == pytest.approx(motion.time[-1])
    assert len(rows) == 31
    for time, values in rows:
        row = motion.row_at(time + 1e-9)
        assert values["base_N"] == motion.tensions[row].tolist()
        assert np.shape(values["across_joints_N"]) == (4, 6)


def test_frames_and_angles_are_those_of_the_robot():
    motion = planned()
    found = {}
    for schema, channel, message in read(motion_recording(motion)[1]).iter_messages(["/tf", "/joints", "/tip"]):
        assert schema.name.startswith("foxglove.")
        found.setdefault(channel.topic, []).append(message)
    assert len(found["/tf"]) == len(found["/joints"]) == len(found["/tip"])
    tip = vb.Pose(motion.robot, motion.angles[0]).tip_frame[:3, 3]
    packed = b"".join(np.float64(value).tobytes() for value in tip[2:])
    assert packed in found["/tip"][0].data  # a double of protobuf stands there as it is
    assert packed in found["/tf"][0].data


def test_the_same_motion_gives_the_same_bytes():
    assert motion_recording(planned()) == motion_recording(planned())


def test_attached_files_describe_the_robot():
    files = {file.name: file.data for file in read(motion_recording(simulated())[1]).iter_attachments()}
    assert vb.load(json.loads(files["robot.json"])).name == "dantuono2023"
    assert b"<robot" in files["robot.urdf"]


@pytest.mark.parametrize("module", ["mcap.writer", "foxglove"])
def test_a_missing_extra_is_named(monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(StudioError, match=r'pip install "vertebra\[sense\]"'):
        motion_recording(simulated())
