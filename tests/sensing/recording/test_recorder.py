from __future__ import annotations

import dataclasses
import os
import random
import signal
import time
from pathlib import Path

import can
import numpy as np
import pytest
from tests.sensing.networks import go, network, one_shape, sender
from tests.sensing.recording.test_derived_log import count_with_the_mcap_library
from tests.sensing.wire.bench import child, free_group

import vertebra as vb
from vertebra.errors import InputError, RecordingError
from vertebra.sensing.recording.raw_log import LogReader, read_frames
from vertebra.sensing.recording.recorder import Recorder, frames_from_bytes, frames_to_bytes
from vertebra.sensing.recording.shape_reader import read_shapes
from vertebra.sensing.wire.can import Frame

KILLS = 20 if os.environ.get("VERTEBRA_SOAK") == "1" else 3
ROBOT = vb.load("lapusan2022")


def some_frames(count: int) -> list[Frame]:
    chance = random.Random(3)
    return [Frame(0x100 + i % 21, chance.randbytes(chance.choice([0, 5, 8])), 1.7e9 + i * 1e-3) for i in range(count)]


def test_frames_pass_the_pipe_bit_for_bit():
    frames = some_frames(50)
    assert list(frames_from_bytes(frames_to_bytes(frames))) == frames


@pytest.mark.parametrize("suffix", [".blf", ".log"])
def test_everything_given_is_written(suffix, tmp_path):
    frames = some_frames(30_000)
    shape = one_shape(ROBOT)
    with Recorder(tmp_path / f"a{suffix}", tmp_path / "a.mcap", ROBOT) as recorder:
        for i, frame in enumerate(frames):
            recorder.frame(frame)
            if i % 100 == 0:
                recorder.shape(dataclasses.replace(shape, time=i * 1e-3), frame.time)
        counters = recorder.close()
    assert (counters.frames_given, counters.frames_written) == (30_000, 30_000)
    assert (counters.shapes_given, counters.shapes_written) == (300, 300)
    assert (counters.waiting, counters.fault) == (0, "")
    reader = LogReader(tmp_path / f"a{suffix}")
    assert [(frame.id, frame.data) for frame in reader] == [(frame.id, frame.data) for frame in frames]
    shapes = read_shapes(tmp_path / "a.mcap")
    assert (reader.complete, shapes.complete) == (True, True)
    assert np.array_equal(shapes.times, np.arange(300) * 100 * 1e-3)


def test_giving_does_not_wait_for_the_recording_process(tmp_path):
    frames = some_frames(20_000)
    with Recorder(tmp_path / "a.blf") as recorder:
        os.kill(recorder.process, signal.SIGSTOP)
        began = time.monotonic()
        for frame in frames:
            recorder.frame(frame)
        took = time.monotonic() - began
        time.sleep(0.1)
        assert recorder.counters.frames_written < 20_000
        os.kill(recorder.process, signal.SIGCONT)
    assert took < 1.0
    assert list(read_frames(tmp_path / "a.blf")) == frames


KILLED = """
import sys, time
from vertebra.sensing.recording.recorder import Recorder
from vertebra.sensing.wire.can import Frame
with Recorder(sys.argv[1]) as recorder:
    for number in range(500):
        recorder.frame(Frame(0x101, number.to_bytes(8, "little"), 1.7e9 + number))
    time.sleep(0.1)
    print(recorder.process, flush=True)
    time.sleep(30)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_the_file_is_finished_when_the_sensing_process_dies(how, tmp_path):
    with child(KILLED, str(tmp_path / "a.blf")) as process:
        number = int(process.stdout.readline())
        process.send_signal(how)
        process.wait(20)
        assert ends_within(number, 10.0)
    reader = LogReader(tmp_path / "a.blf")
    assert [int.from_bytes(frame.data, "little") for frame in reader] == list(range(500))
    assert reader.complete


def ends_within(process: int, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def test_ctrl_c_in_the_terminal_does_not_reach_the_recording_process(tmp_path):
    with Recorder(tmp_path / "a.log") as recorder:
        os.kill(recorder.process, signal.SIGINT)
        assert os.getpgid(recorder.process) != os.getpgid(0)
        time.sleep(0.1)
        recorder.frame(Frame(0x101, b"x", 1.7e9))
    assert len(list(read_frames(tmp_path / "a.log"))) == 1


def test_kill_of_the_recording_process_costs_less_than_a_second(tmp_path):
    chance = random.Random(os.urandom(8))
    shape = one_shape(ROBOT)
    for attempt in range(KILLS):
        suffix = (".blf", ".log")[attempt % 2]
        raw, derived = tmp_path / f"{attempt}{suffix}", tmp_path / f"{attempt}.mcap"
        recorder = Recorder(raw, derived, ROBOT)
        frames, killed = feed_until_killed(recorder, shape, chance.uniform(0.3, 1.5))
        with pytest.raises(RecordingError, match="has ended early"):
            recorder.close()
        found = list(read_frames(raw))
        assert [(f.id, f.data) for f in found] == [(f.id, f.data) for f in frames[: len(found)]]
        missing = [frame for frame in frames[len(found) :] if frame.time < killed - 1.0]
        assert missing == []
        assert len(list(can.LogReader(raw))) == len(found)
        shapes = read_shapes(derived)
        assert count_with_the_mcap_library(derived) == len(shapes.times)
        last = shapes.times[-1] if len(shapes.times) else 0.0
        assert killed - 1.0 - frames[0].time <= last + 0.02


def feed_until_killed(recorder: Recorder, shape, seconds: float) -> tuple[list[Frame], float]:
    """Frames at 1 kHz and shapes at 50 Hz in real time; what was given, and when the process was killed."""
    frames: list[Frame] = []
    began = time.time()
    while time.time() - began < seconds:
        for _ in range(20):
            frames.append(Frame(0x101, len(frames).to_bytes(8, "little"), time.time()))
            recorder.frame(frames[-1])
        recorder.shape(dataclasses.replace(shape, time=frames[-1].time - began), frames[-1].time)
        time.sleep(0.02)
    os.kill(recorder.process, signal.SIGKILL)
    return frames, time.time()


RECORD = "from vertebra.cli.sense import app; app()"


def test_kill_of_sense_record_costs_less_than_a_second(tmp_path):
    chance = random.Random(os.urandom(8))
    simulation = network(ROBOT, 3.0)
    for attempt in range(max(1, KILLS // 2)):
        suffix = (".blf", ".log")[attempt % 2]
        url, out = free_group(), tmp_path / f"{attempt}{suffix}"
        with child(RECORD, "record", str(out), "--bus", url) as recorder, sender(simulation, url, tmp_path) as sending:
            assert "recording" in recorder.stderr.readline()
            go(sending)
            began = time.time()
            time.sleep(chance.uniform(0.8, 2.0))
            recorder.kill()
            recorded = time.time() - began
            recorder.wait(20)
        found = list(read_frames(out))
        assert [(f.id, f.data) for f in found] == [(f.id, f.data) for f in simulation.frames[: len(found)]]
        due = [frame for frame in simulation.frames if frame.time < simulation.frames[0].time + recorded - 1.0]
        assert len(found) >= len(due)
        assert len(list(can.LogReader(out))) == len(found)


def test_faults_are_told(tmp_path):
    with pytest.raises(InputError, match="at least one file"):
        Recorder()
    with pytest.raises(InputError, match="needs the robot"):
        Recorder(derived=tmp_path / "a.mcap")
    with pytest.raises(RecordingError, match=r"must end in \.mcap"):
        Recorder(derived=tmp_path / "a.bag", robot=ROBOT)
    with pytest.raises(RecordingError, match=r"must end in \.blf"):
        Recorder(tmp_path / "a.bin")
    with pytest.raises(RecordingError, match=r"nowhere/a\.blf: cannot be written"):
        Recorder(tmp_path / "nowhere" / "a.blf")
