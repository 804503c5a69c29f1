from __future__ import annotations

import math

import numpy as np
import pytest
from tests.sensing.networks import network

import vertebra as vb
from vertebra.sensing.recording.raw_log import RawLogWriter
from vertebra.sensing.recording.shape_reader import read_shapes
from vertebra.sensing.wire.can import Frame, sync_data

ROBOT = vb.load("lapusan2022")


def recorded(path, frames):
    with RawLogWriter(path) as writer:
        for frame in frames:
            writer.write(frame)
    return str(path)


@pytest.fixture
def recording(tmp_path):
    return recorded(tmp_path / "run.blf", network(ROBOT, 0.5).frames)


def test_the_last_shape_is_near_the_truth(vertebra, recording):
    ran = vertebra("sense", "replay", recording, "--robot", "lapusan2022", "--json")
    assert ran.code == 0, ran.err
    truth = network(ROBOT, 0.5).truth
    errors = np.degrees(np.array(ran.json["last"]["angles"]) - truth.angles[-1])
    assert np.abs(errors).max() < 1.5
    assert ran.json["shapes"] == 51
    assert ran.json["counters"]["sync"] == 51
    assert ran.json["complete"]


def test_people_get_a_table(vertebra, recording):
    ran = vertebra("sense", "replay", recording, "--robot", "lapusan2022", "--speed", "20")
    assert ran.code == 0
    assert "51 over 0.50 s" in ran.out
    assert "all ok" in ran.out


def test_shapes_are_written(vertebra, recording, tmp_path):
    mcap, table = tmp_path / "run.mcap", tmp_path / "run.csv"
    ran = vertebra("sense", "replay", recording, "--robot", "lapusan2022", "--mcap", str(mcap), "--out", str(table))
    assert ran.code == 0, ran.err
    shapes, rows = read_shapes(mcap), np.genfromtxt(table, delimiter=",", names=True)
    assert shapes.complete
    assert len(shapes.times) == len(rows) == 51
    assert np.allclose(rows["q1_deg"], np.degrees(shapes.angles[:, 0]), rtol=1e-8)
    again = vertebra("sense", "replay", recording, "--robot", "lapusan2022", "--out", str(table))
    assert again.code == 2
    assert "--overwrite" in again.err


def test_a_calibration_is_used(vertebra, recording, tmp_path):
    path = tmp_path / "calibration.yaml"
    zero = "[0, 0, 0]"
    path.write_text(
        "vertebra_calibration: 1\nrobot: lapusan2022\ndate: ''\nposes: []\nquality: {}\nsensors:\n"
        + "".join(
            f"  - {{sensor: {i}, mount_deg: [{5 if i == 4 else 0}, 0, 0], mount_sigma_deg: {zero}, heading_deg: 0, "
            f"heading_sigma_deg: 0, gyro_bias_deg_s: {zero}, gyro_bias_sigma_deg_s: {zero}}}\n"
            for i in range(5)
        )
    )
    plain = vertebra("sense", "replay", recording, "--robot", "lapusan2022", "--json")
    turned = vertebra("sense", "replay", recording, "--robot", "lapusan2022", "--calibration", str(path), "--json")
    assert turned.code == 0, turned.err
    change = np.array(turned.json["last"]["angles"]) - np.array(plain.json["last"]["angles"])
    assert math.degrees(np.abs(change[6:]).max()) == pytest.approx(5, abs=0.5)
    assert math.degrees(np.abs(change[:4]).max()) < 0.1


def test_why_there_is_no_shape(vertebra, tmp_path):
    frames = network(ROBOT, 0.2).frames
    cases = {
        "no frames": [],
        "no SYNC": [frame for frame in frames if frame.id != 0x80],
        "no orientations": [Frame(0x80, sync_data(1, 0.5), 1.7e9)],
    }
    for number, (words, given) in enumerate(cases.items()):
        ran = vertebra("sense", "replay", recorded(tmp_path / f"{number}.log", given), "--robot", "lapusan2022")
        assert ran.code == 2
        assert words in ran.err


def test_a_damaged_recording_gives_what_stands_before_the_damage(vertebra, recording, tmp_path):
    log, table = tmp_path / "run.log", tmp_path / "run.csv"
    vertebra("sense", "convert", recording, str(log))
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join([*lines[:200], "nonsense\n", *lines[200:]]))
    ran = vertebra("sense", "replay", str(log), "--robot", "lapusan2022", "--out", str(table))
    assert ran.code == 2
    assert "line 201" in ran.err
    assert 20 < len(table.read_text().splitlines()) < 50
