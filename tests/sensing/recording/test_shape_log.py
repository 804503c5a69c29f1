from __future__ import annotations

import dataclasses
import json
import os
import random
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from jsonschema import validate
from mcap.exceptions import McapError
from mcap.reader import NonSeekingReader, SeekingReader
from scipy.spatial.transform import Rotation
from tests.oracles.protobuf_wire import fields, vector
from tests.sensing.networks import long_robot, one_shape
from tests.waiting import wait_until

import vertebra as vb
from vertebra.errors import RecordingError
from vertebra.sensing.recording import files
from vertebra.sensing.recording.shape_log import DerivedLogWriter, ShapeRecord, record, robot_contents
from vertebra.sensing.recording.shape_reader import copy_mcap, read_shapes
from vertebra.sensing.sensed_shape import SensorState

CASES = 300 if os.environ.get("VERTEBRA_SOAK") == "1" else 12
ARRIVAL = 1_763_000_000.25
ROBOT = vb.load("lapusan2022")


def shapes(count: int, robot=ROBOT, step: float = 0.01) -> list[ShapeRecord]:
    """Shapes that differ in everything that is recorded."""
    chance = np.random.default_rng(3)
    found = []
    for i in range(count):
        shape = one_shape(robot)
        found.append(
            dataclasses.replace(
                record(shape, ARRIVAL + i * step), time=5.0 + i * step,
                angles=chance.normal(size=robot.freedoms), covariance=chance.normal(size=(6, 6)),
                heading_residuals=chance.normal(size=len(robot.sensor_links)),
            )
        )  # fmt: skip
    return found


def write(path: Path, given: list[ShapeRecord], robot=ROBOT, calibration: str | None = None) -> Path:
    with DerivedLogWriter(path, robot_contents(robot, calibration)) as writer:
        for shape in given:
            writer.write(shape)
    return path


def messages(path: Path, topic: str) -> list:
    with open(path, "rb") as file:
        return [message for _, _, message in SeekingReader(file).iter_messages(topics=[topic])]


def test_shapes_come_back_bit_for_bit(tmp_path):
    given = shapes(120)
    found = read_shapes(write(tmp_path / "a.mcap", given))
    assert found.complete
    assert found.clock_offset == ARRIVAL - 5.0
    assert np.array_equal(found.times, [shape.time for shape in given])
    for name in ("angles", "angle_sigmas", "heading_residuals", "tilt_residuals"):
        assert np.array_equal(getattr(found, name), [getattr(shape, name) for shape in given])
    assert np.array_equal(found.tips, [shape.tip_frame[:3, 3] for shape in given])
    assert np.array_equal(found.tip_rotations, [shape.tip_frame[:3, :3] for shape in given])
    assert np.array_equal(found.tip_covariances, [shape.covariance for shape in given])
    assert vb.load(found.robot) == ROBOT


def test_a_shape_becomes_the_same_record_in_another_process():
    shape = one_shape(ROBOT)
    states = np.array([SensorState.OK, SensorState.STALE, SensorState.SILENT, SensorState.FAULT, SensorState.OUTLIER])
    ages = np.array([0.0, 0.3, np.inf, 0.1, 0.2])
    weights = np.array([[1.0, 0.5]] * 5)
    changed = dataclasses.replace(shape, states=states, ages=ages, weights=weights)
    found = record(changed, ARRIVAL)
    for name in ("angles", "angle_sigmas", "frames", "tip_frame", "covariance", "heading_residuals", "tilt_residuals"):
        assert np.array_equal(getattr(found, name), getattr(shape, name))
    assert [row.state for row in found.health] == ["ok", "stale", "silent", "fault", "outlier"]
    assert [row.age for row in found.health] == [0.0, 0.3, np.inf, 0.1, 0.2]
    assert (found.health[0].heading_weight, found.health[0].tilt_weight) == (0.5, 1.0)
    assert found.health == changed.health


def test_a_closed_file_has_an_index_and_says_what_it_is(tmp_path):
    path = write(tmp_path / "a.mcap", shapes(50), calibration="vertebra_calibration: 1\n")
    with open(path, "rb") as file:
        reader = SeekingReader(file, validate_crcs=True)
        summary = reader.get_summary()
        attachments = {item.name: item.data for item in reader.iter_attachments()}
        metadata = {item.name: item.metadata for item in reader.iter_metadata()}
    assert summary is not None
    assert summary.chunk_indexes
    assert summary.statistics.message_count >= 200
    names = {channel.topic: summary.schemas[channel.schema_id].name for channel in summary.channels.values()}
    assert names == {
        "/tf": "foxglove.FrameTransforms", "/joints": "foxglove.JointStates", "/tip": "foxglove.PoseInFrame",
        "/log": "foxglove.Log", "/estimate": "vertebra.Estimate", "/health": "vertebra.Health",
    }  # fmt: skip
    assert json.loads(attachments["robot.json"]) == json.loads(json.dumps(ROBOT.to_mapping()))
    assert attachments["robot.urdf"].startswith(b"<")
    assert attachments["calibration.yaml"] == b"vertebra_calibration: 1\n"
    assert metadata["vertebra"]["robot"] == "lapusan2022"
    assert float(metadata["clock"]["sync_to_unix_offset_s"]) == ARRIVAL - 5.0


def test_messages_are_stamped_by_the_sync_clock_moved_to_unix_time(tmp_path):
    given = shapes(3)
    path = write(tmp_path / "a.mcap", given)
    for topic in ("/tf", "/joints", "/tip", "/estimate"):
        found = messages(path, topic)
        assert [message.log_time for message in found] == [1_763_000_000_250_000_000 + i * 10_000_000 for i in range(3)]
    stamp = dict(fields(dict(fields(messages(path, "/joints")[1].data))[1]))
    assert stamp == {1: 1_763_000_000, 2: 260_000_000}


def test_transforms_joints_and_tip_hold_the_shape(tmp_path):
    shape = shapes(1)[0]
    path = write(tmp_path / "a.mcap", [shape])
    transforms = [dict(fields(data)) for _, data in fields(messages(path, "/tf")[0].data)]
    assert [(item[2], item[3]) for item in transforms] == [
        (b"world", name) for name in (b"link0", b"link1", b"link2", b"link3", b"link4", b"tip")
    ]
    for item, frame in zip(transforms, [*shape.frames, shape.tip_frame], strict=True):
        assert vector(item[4], 3) == frame[:3, 3].tolist()
        turned = Rotation.from_quat(vector(item[5], 4)).as_matrix()
        assert np.allclose(turned, frame[:3, :3], atol=1e-15)
    joints = [dict(fields(data)) for number, data in fields(messages(path, "/joints")[0].data) if number == 2]
    assert [joint[1] for joint in joints[:3]] == [b"joint1_a", b"joint1_b", b"joint2_a"]
    assert [joint[2] for joint in joints] == shape.angles.tolist()
    pose = dict(fields(dict(fields(messages(path, "/tip")[0].data))[3]))
    assert vector(pose[1], 3) == shape.tip_frame[:3, 3].tolist()


def test_json_messages_keep_to_their_schemas(tmp_path):
    shape = shapes(1)[0]
    silent = tuple(row._replace(age=np.inf) for row in shape.health)
    unknown = dataclasses.replace(shape, angle_sigmas=np.full(ROBOT.freedoms, np.inf), health=silent)
    path = write(tmp_path / "a.mcap", [unknown])
    with open(path, "rb") as file:
        rows = list(SeekingReader(file).iter_messages(topics=["/estimate", "/health"]))
    assert len(rows) == 2
    for schema, _, message in rows:
        validate(json.loads(message.data), json.loads(schema.data) | {"additionalProperties": False})
    assert np.isnan(read_shapes(path).angle_sigmas).all()


def test_health_is_recorded_once_a_second_and_when_it_changes(tmp_path):
    given = shapes(250)
    lame = given[120].health[2]._replace(state="stale")
    given[120] = dataclasses.replace(given[120], health=(*given[120].health[:2], lame, *given[120].health[3:]))
    path = write(tmp_path / "a.mcap", given)
    counts = [message.sequence for message in messages(path, "/health")]
    assert counts == [0, 100, 120, 121, 221]
    texts = [dict(fields(message.data))[3] for message in messages(path, "/log")]
    assert texts[5:] == [b"sensor 2: stale (was ok)", b"sensor 2: ok (was stale)"]


def test_an_unclosed_file_can_be_read(tmp_path):
    path, given = tmp_path / "a.mcap", shapes(40)
    with DerivedLogWriter(path, robot_contents(ROBOT)) as writer:
        for shape in given:
            writer.write(shape)
        wait_until(lambda: len(read_shapes(path).times) == 40)
        found = read_shapes(path)
        assert len(found.times) == 40
        assert not found.complete
        unclosed = path.read_bytes()
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(unclosed)
    assert count_with_the_mcap_library(cut) == 40


def count_with_the_mcap_library(path: Path) -> int:
    count = 0
    with open(path, "rb") as file:
        try:
            for _ in NonSeekingReader(file).iter_messages(topics=["/estimate"], log_time_order=False):
                count += 1
        except McapError:
            pass
    return count


@pytest.fixture
def flushes(monkeypatch):
    """What a writer would call by the clock: the test calls it."""
    given = []
    monkeypatch.setattr(files, "TimedFlush", lambda flush: given.append(flush) or SimpleNamespace(stop=int))
    return given


@pytest.mark.usefixtures("flushes")
def test_a_file_cut_off_anywhere_gives_what_is_whole_and_can_be_mended(tmp_path):
    given = shapes(60)
    path, cut, whole = tmp_path / "a.mcap", tmp_path / "cut.mcap", tmp_path / "whole.mcap"
    with DerivedLogWriter(path, robot_contents(ROBOT)) as writer:
        for number, shape in enumerate(given):
            writer.write(shape)
            if number % 20 == 19:
                writer.flush()
    data, chance = path.read_bytes(), random.Random(4)
    for size in [*range(12), *(chance.randrange(len(data)) for _ in range(CASES)), len(data) - 1]:
        cut.write_bytes(data[:size])
        found = read_shapes(cut)
        assert not found.complete
        assert len(found.times) % 20 == 0
        assert np.array_equal(found.times, [shape.time for shape in given[: len(found.times)]])
        copied = copy_mcap(cut, whole)
        assert (copied.complete, copied.fault) == (False, None)
        mended = read_shapes(whole)
        assert mended.complete
        assert np.array_equal(mended.angles, found.angles)
    assert len(found.times) == 60


def test_damaged_files_end_in_a_recording_error_or_cleanly(tmp_path):
    data = write(tmp_path / "a.mcap", shapes(30)).read_bytes()
    chance, path = random.Random(5), tmp_path / "bad.mcap"
    errors = 0
    for _ in range(CASES):
        bad = bytearray(data)
        for _ in range(chance.choice([1, 3, 30])):
            bad[chance.randrange(len(bad))] = chance.randrange(256)
        path.write_bytes(bad)
        try:
            read_shapes(path)
        except RecordingError as error:
            errors += error.path == str(path)
    assert errors > CASES / 4


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "a.mcap"
    path.write_bytes(b"something else altogether")
    with pytest.raises(RecordingError, match="is not an MCAP recording; name the right file"):
        read_shapes(path)
    with pytest.raises(RecordingError, match="cannot be read"):
        read_shapes(tmp_path / "none.mcap")


def test_an_hour_needs_a_small_index(tmp_path, flushes):
    """A chunk per flush, not a chunk per message."""
    with DerivedLogWriter(tmp_path / "a.mcap", robot_contents(long_robot())) as writer:
        for number, shape in enumerate(shapes(100, long_robot())):
            writer.write(shape)
            if number % 25 == 24:
                flushes[0]()
    with open(tmp_path / "a.mcap", "rb") as file:
        assert len(SeekingReader(file).get_summary().chunk_indexes) == 4
