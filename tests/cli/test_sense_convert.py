from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from tests.sensing.networks import network

import vertebra as vb
from vertebra.sensing.recording.raw_log import RawLogWriter, read_frames
from vertebra.sensing.recording.shape_reader import read_shapes

ROBOT = vb.load("lapusan2022")


@pytest.fixture
def recording(tmp_path):
    path = tmp_path / "run.blf"
    with RawLogWriter(path) as writer:
        for frame in network(ROBOT, 0.4).frames:
            writer.write(frame)
    return path


def test_frames_go_round_through_all_formats(vertebra, recording, tmp_path):
    frames = list(read_frames(recording))
    names = ["run.blf", "a.csv", "b.log", "c.blf", "d.csv"]
    for source, out in pairwise(names):
        ran = vertebra("sense", "convert", str(tmp_path / source), str(tmp_path / out))
        assert ran.code == 0, ran.err
        assert f"{len(frames)} frames" in ran.err
    assert list(read_frames(tmp_path / "a.csv")) == frames
    found = list(read_frames(tmp_path / "d.csv"))
    assert [(f.id, f.data) for f in found] == [(f.id, f.data) for f in frames]
    assert max(abs(a.time - b.time) for a, b in zip(found, frames, strict=True)) < 1e-6


def test_frames_become_shapes_and_shapes_a_table(vertebra, recording, tmp_path):
    mcap, table = tmp_path / "run.mcap", tmp_path / "shapes.csv"
    ran = vertebra("sense", "convert", str(recording), str(mcap), "--robot", "lapusan2022", "--json")
    assert ran.code == 0, ran.err
    shapes = read_shapes(mcap)
    assert ran.json["shapes"] == len(shapes.times) > 35
    assert ran.json["complete"]
    assert vertebra("sense", "convert", str(mcap), str(table)).code == 0
    rows = np.genfromtxt(table, delimiter=",", names=True)
    assert np.allclose(rows["time_s"], shapes.times, atol=1e-6)
    assert np.allclose(rows["q3_deg"], np.degrees(shapes.angles[:, 2]), rtol=1e-8)
    assert np.allclose(rows["z_mm"], shapes.tips[:, 2] * 1e3, rtol=1e-8)
    assert np.allclose(rows["x_sigma_mm"], np.sqrt(shapes.tip_covariances[:, 0, 0]) * 1e3, rtol=1e-8)


def test_a_cut_file_is_mended(vertebra, recording, tmp_path):
    whole, cut = tmp_path / "whole.log", tmp_path / "cut.log"
    vertebra("sense", "convert", str(recording), str(whole))
    cut.write_bytes(whole.read_bytes()[:-30])
    ran = vertebra("sense", "convert", str(cut), str(tmp_path / "mended.blf"))
    assert ran.code == 0
    assert "was cut off" in ran.err
    assert len(list(read_frames(tmp_path / "mended.blf"))) == len(list(read_frames(recording))) - 1


def test_of_a_damaged_file_the_good_part_is_saved_and_the_place_is_named(vertebra, recording, tmp_path):
    whole, bad, out = tmp_path / "whole.log", tmp_path / "bad.log", tmp_path / "saved.blf"
    vertebra("sense", "convert", str(recording), str(whole))
    lines = whole.read_text().splitlines(keepends=True)
    bad.write_text("".join([*lines[:50], "nonsense\n", *lines[50:]]))
    ran = vertebra("sense", "convert", str(bad), str(out), "--json")
    assert ran.code == 2
    assert ran.json["error"]["type"] == "RecordingError"
    assert ran.json["error"]["position"] == 51
    assert len(list(read_frames(out))) == 50


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run.blf", "run.mcap"], "--robot"),
        (["run.blf", "run.blf", "--overwrite"], "is the recording itself"),
        (["run.blf", "run.txt"], "must end in"),
        (["none.blf", "run.log"], "no such file"),
        (["run.txt", "run.log"], "must end in"),
        (["run.blf", "there.log"], "--overwrite"),
    ],
)
def test_what_cannot_be(arguments, words, vertebra, recording, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.log").write_text("")
    ran = vertebra("sense", "convert", *arguments)
    assert ran.code == 2
    assert words in ran.err
