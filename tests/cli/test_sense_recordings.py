"""`vertebra sense record`, `replay` and `convert`."""

from __future__ import annotations

import json
import math
import signal
from itertools import pairwise

import numpy as np
import pytest
from tests.cli.test_sense_live import COMMAND
from tests.sensing.networks import go, network, sender
from tests.sensing.recording.full_disks import limit_files
from tests.sensing.wire.bench import child, free_group
from tests.waiting import DEADLINE, wait_until

import vertebra as vb
from vertebra.sensing.recording.raw_log import RawLogWriter, read_frames
from vertebra.sensing.recording.shape_reader import read_shapes
from vertebra.sensing.wire.bus import open_bus, send
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


def test_record_keeps_every_frame_until_it_is_told_to_end(tmp_path):
    url, out = free_group(), tmp_path / "run.log"
    simulation = network(ROBOT, 1.0, True)
    with (
        sender(simulation, url, tmp_path) as sending,
        child(COMMAND, "sense", "record", str(out), "--bus", url, "--json") as process,
    ):
        assert "stop with Ctrl-C" in process.stderr.readline()
        go(sending)
        wait_until(lambda: sum(1 for _ in read_frames(out)) == len(simulation.frames), "all frames in the file")
        process.send_signal(signal.SIGTERM)
        found, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0
    assert json.loads(found)["frames"] == len(simulation.frames)
    assert [(f.id, f.data) for f in read_frames(out)] == [(f.id, f.data) for f in simulation.frames]


def test_record_ends_after_its_time_and_keeps_old_files(vertebra, tmp_path):
    arguments = ("sense", "record", str(tmp_path / "a.blf"), "--bus", "virtual://quiet", "--duration", "0.3 s")
    ran = vertebra(*arguments, "--json")
    assert ran.code == 0
    assert ran.json["seconds"] >= 0.3
    assert list(read_frames(tmp_path / "a.blf")) == []
    again = vertebra(*arguments)
    assert again.code == 2
    assert "--overwrite" in again.err


def test_record_tells_of_a_full_disk_and_of_its_end_and_loses_nothing(tmp_path):
    url, out = free_group(), tmp_path / "run.blf"
    with (
        child(COMMAND, "sense", "record", str(out), "--bus", url, "--duration", "100 s") as process,
        open_bus(url) as bus,
    ):
        assert "stop with Ctrl-C" in process.stderr.readline()
        send(bus, Frame(0x101, b"before"))
        wait_until(lambda: len(list(read_frames(out))) == 1)
        limit_files(process.pid, 1)
        send(bus, Frame(0x101, b"while"))
        assert f"RECORDING FAILS: {out}: cannot be written (File too large)" in process.stderr.readline()
        limit_files(process.pid, None)
        assert "is written again; 0 frames are lost" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        process.wait(DEADLINE)
    assert process.returncode == 0
    assert [frame.data for frame in read_frames(out)] == [b"before", b"while"]


def test_record_ends_with_the_cause_when_the_disk_stays_full(tmp_path):
    url, out = free_group(), tmp_path / "run.log"
    with (
        child(COMMAND, "sense", "record", str(out), "--bus", url, "--duration", "100 s") as process,
        open_bus(url) as bus,
    ):
        assert "stop with Ctrl-C" in process.stderr.readline()
        limit_files(process.pid, 1)
        send(bus, Frame(0x101, b"gone"))
        assert "RECORDING FAILS" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 2
    assert "File too large" in err
    assert "1 of 1 frames are not in the file" in err


def test_two_commands_do_not_record_to_one_file(vertebra, tmp_path):
    url, out = free_group(), tmp_path / "run.blf"
    with child(COMMAND, "sense", "record", str(out), "--bus", url, "--duration", "100 s") as process:
        assert "stop with Ctrl-C" in process.stderr.readline()
        ran = vertebra("sense", "record", str(out), "--bus", "virtual://quiet", "--duration", "0.1 s", "--overwrite")
    assert ran.code == 2
    assert f"{out}: is being written by another recorder; stop that one" in ran.err


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
    assert np.allclose(rows["q1a_deg"], np.degrees(shapes.angles[:, 0]), rtol=1e-8)
    again = vertebra("sense", "replay", recording, "--robot", "lapusan2022", "--out", str(table))
    assert again.code == 2
    assert "--overwrite" in again.err


def test_shapes_before_all_sensors_were_heard_are_flagged(vertebra, tmp_path):
    """Until then some angles are only known to be within their limit."""
    frames = network(ROBOT, 0.3).frames
    late = [frame for i, frame in enumerate(frames) if i > 20 or frame.id not in (0x103, 0x104)]
    recording, table = recorded(tmp_path / "run.blf", late), tmp_path / "run.csv"
    ran = vertebra("sense", "replay", recording, "--robot", "lapusan2022", "--out", str(table), "--json")
    header, *rows = (line.split(",") for line in table.read_text().splitlines())
    settled = [row[header.index("settled")] for row in rows]
    sigmas = [max(float(row[i]) for i, name in enumerate(header) if name.endswith("_sigma_deg")) for row in rows]
    assert settled[0] == "False"
    assert settled[-1] == "True"
    assert [flag == "False" for flag in settled] == [sigma > 15.0 for sigma in sigmas]
    assert ran.json["unsettled"] == settled.count("False")
    assert ran.json["last"]["settled"]
    told = vertebra("sense", "replay", recording, "--robot", "lapusan2022").out
    assert f"{settled.count('False')} of them" in told
    assert "in which sensors did not determine every angle" in " ".join(told.split())


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


def test_frames_pass_through_all_formats(vertebra, recording, tmp_path):
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
    ran = vertebra("sense", "convert", recording, str(mcap), "--robot", "lapusan2022", "--json")
    assert ran.code == 0, ran.err
    shapes = read_shapes(mcap)
    assert ran.json["shapes"] == len(shapes.times) > 35
    assert ran.json["complete"]
    assert vertebra("sense", "convert", str(mcap), str(table)).code == 0
    rows = np.genfromtxt(table, delimiter=",", names=True)
    assert np.allclose(rows["time_s"], shapes.times, atol=1e-6)
    assert np.allclose(rows["q2a_deg"], np.degrees(shapes.angles[:, 2]), rtol=1e-8)
    assert np.allclose(rows["z_mm"], shapes.tips[:, 2] * 1e3, rtol=1e-8)
    assert np.allclose(rows["x_sigma_mm"], np.sqrt(shapes.tip_covariances[:, 0, 0]) * 1e3, rtol=1e-8)


def test_a_cut_file_is_mended(vertebra, recording, tmp_path):
    whole, cut = tmp_path / "whole.log", tmp_path / "cut.log"
    vertebra("sense", "convert", recording, str(whole))
    cut.write_bytes(whole.read_bytes()[:-30])
    ran = vertebra("sense", "convert", str(cut), str(tmp_path / "mended.blf"))
    assert ran.code == 0
    assert "was cut off" in ran.err
    assert len(list(read_frames(tmp_path / "mended.blf"))) == len(list(read_frames(recording))) - 1


def test_of_a_damaged_file_the_good_part_is_saved_and_the_place_is_named(vertebra, recording, tmp_path):
    whole, bad, out = tmp_path / "whole.log", tmp_path / "bad.log", tmp_path / "saved.blf"
    vertebra("sense", "convert", recording, str(whole))
    lines = whole.read_text().splitlines(keepends=True)
    bad.write_text("".join([*lines[:50], "nonsense\n", *lines[50:]]))
    ran = vertebra("sense", "convert", str(bad), str(out), "--json")
    assert ran.code == 2
    assert ran.json["error"] == "RecordingError"
    assert ran.json["position"] == 51
    assert len(list(read_frames(out))) == 50


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run.blf", "run.mcap"], "--robot"),
        (["run.blf", "run.blf", "--overwrite"], "would replace IN"),
        (["run.blf", "run.txt"], "must end in"),
        (["none.blf", "run.log"], "no such file"),
        (["run.txt", "run.log"], "must end in"),
        (["run.blf", "there.log"], "--overwrite"),
    ],
)
def test_what_cannot_be_converted(arguments, words, vertebra, recording, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.log").write_text("")
    ran = vertebra("sense", "convert", *arguments)
    assert ran.code == 2
    assert words in ran.err
