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
from tests.sensing.recording.full_disks import (
    FRAMES,
    SHAPES,
    Given,
    fill_and_empty,
    in_own_namespace,
    limit_files,
    limited,
)
from tests.sensing.recording.test_shape_log import count_with_the_mcap_library
from tests.sensing.wire.bench import child, free_group
from tests.waiting import DEADLINE, runs, wait_until

import vertebra as vb
from vertebra.errors import InputError, RecordingError
from vertebra.sensing.recording import recorder as recorder_module
from vertebra.sensing.recording.files import FLUSH_EVERY
from vertebra.sensing.recording.raw_log import LogReader, read_frames
from vertebra.sensing.recording.recorder import FEED_EVERY, TELL_EVERY, Recorder, frames_from_bytes, frames_to_bytes
from vertebra.sensing.recording.shape_reader import read_shapes
from vertebra.sensing.wire.can import Frame

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
KILLS, FILLS = (20, 20) if SOAK else (2, 2)
ROBOT = vb.load("lapusan2022")


def some_frames(count: int) -> list[Frame]:
    chance = random.Random(3)
    return [Frame(0x100 + i % 21, chance.randbytes(chance.choice([0, 5, 8])), 1.7e9 + i * 1e-3) for i in range(count)]


def test_frames_go_through_the_pipe_bit_for_bit():
    frames = some_frames(50)
    assert list(frames_from_bytes(frames_to_bytes(frames))) == frames


@pytest.mark.parametrize("suffix", [".blf", ".log"])
def test_everything_given_is_written(suffix, tmp_path):
    frames = some_frames(10_000)
    shape = one_shape(ROBOT)
    with Recorder(tmp_path / f"a{suffix}", tmp_path / "a.mcap", ROBOT) as recorder:
        for i, frame in enumerate(frames):
            recorder.frame(frame)
            if i % 100 == 0:
                recorder.shape(dataclasses.replace(shape, time=i * 1e-3), frame.time)
        counters = recorder.close()
    assert (counters.frames_given, counters.frames_written) == (10_000, 10_000)
    assert (counters.shapes_given, counters.shapes_written) == (100, 100)
    assert (counters.waiting, counters.fault) == (0, "")
    reader = LogReader(tmp_path / f"a{suffix}")
    assert [(frame.id, frame.data) for frame in reader] == [(frame.id, frame.data) for frame in frames]
    shapes = read_shapes(tmp_path / "a.mcap")
    assert (reader.complete, shapes.complete) == (True, True)
    assert np.array_equal(shapes.times, np.arange(100) * 100 * 1e-3)


def test_giving_does_not_wait_for_the_recording_process(tmp_path):
    frames = some_frames(8_000)
    with Recorder(tmp_path / "a.blf") as recorder:
        # Nobody reads the pipe, and it holds less than these frames: whoever waits for it waits for ever.
        os.kill(recorder.process, signal.SIGSTOP)
        for frame in frames:
            recorder.frame(frame)
        assert recorder.counters.frames_given == 8_000
        os.kill(recorder.process, signal.SIGCONT)
    assert list(read_frames(tmp_path / "a.blf")) == frames


KILLED = """
import sys, time
from vertebra.sensing.recording.recorder import Recorder
from vertebra.sensing.wire.can import Frame
with Recorder(sys.argv[1]) as recorder:
    for number in range(500):
        recorder.frame(Frame(0x101, number.to_bytes(8, "little"), 1.7e9 + number))
    while recorder._frames:  # all are sent then, and perhaps not in the file yet
        time.sleep(0.01)
    print(recorder.process, flush=True)
    sys.stdin.readline()
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_the_file_is_finished_when_the_sensing_process_dies(how, tmp_path):
    with child(KILLED, str(tmp_path / "a.blf")) as process:
        number = int(process.stdout.readline())
        process.send_signal(how)
        process.wait(DEADLINE)
        wait_until(lambda: not runs(number), "the end of the recording process")
    reader = LogReader(tmp_path / "a.blf")
    assert [int.from_bytes(frame.data, "little") for frame in reader] == list(range(500))
    assert reader.complete


def test_ctrl_c_in_the_terminal_does_not_reach_the_recording_process(tmp_path):
    with Recorder(tmp_path / "a.log") as recorder:
        os.kill(recorder.process, signal.SIGINT)
        assert os.getpgid(recorder.process) != os.getpgid(0)
        recorder.frame(Frame(0x101, b"x", 1.7e9))
    assert len(list(read_frames(tmp_path / "a.log"))) == 1


def test_a_kill_of_the_recording_process_costs_nothing_that_was_in_the_file(tmp_path):
    chance = random.Random(os.urandom(8))
    shape = one_shape(ROBOT)
    for attempt in range(KILLS):
        suffix = (".blf", ".log")[attempt % 2]
        raw, derived = tmp_path / f"{attempt}{suffix}", tmp_path / f"{attempt}.mcap"
        recorder = Recorder(raw, derived, ROBOT)
        wanted = chance.randrange(200, 1200)
        frames, kept = feed_until_killed(recorder, shape, raw, derived, wanted)
        with pytest.raises(RecordingError, match="has ended early"):
            recorder.close()
        found = list(read_frames(raw))
        assert [(f.id, f.data) for f in found] == [(f.id, f.data) for f in frames[: len(found)]]
        assert len(found) >= wanted
        assert len(list(can.LogReader(raw))) == len(found)
        shapes = read_shapes(derived)
        assert count_with_the_mcap_library(derived) == len(shapes.times)
        assert len(shapes.times) >= kept


def feed_until_killed(recorder: Recorder, shape, raw: Path, derived: Path, wanted: int) -> tuple[list[Frame], int]:
    """Frames at about 1 kHz and shapes at 50 Hz until `wanted` frames and a shape are in the files, then a kill.

    What was given, and how many shapes the file had.
    """
    frames: list[Frame] = []

    def give_and_look() -> bool:
        for _ in range(20):
            frames.append(Frame(0x101, len(frames).to_bytes(8, "little"), time.time()))
            recorder.frame(frames[-1])
        recorder.shape(dataclasses.replace(shape, time=len(frames) * 1e-3), frames[-1].time)
        return sum(1 for _ in read_frames(raw)) >= wanted and len(read_shapes(derived).times) > 0

    wait_until(give_and_look, f"{wanted} frames in the file")
    kept = max(len(read_shapes(derived).times), recorder.counters.shapes_written)
    assert recorder.counters.frames_written <= sum(1 for _ in read_frames(raw))
    os.kill(recorder.process, signal.SIGKILL)
    return frames, kept


@pytest.mark.parametrize("suffix", [".blf", ".log", ".csv"])
def test_a_disk_that_is_full_for_a_while_costs_nothing(suffix, tmp_path):
    fill_and_empty(tmp_path, suffix, FILLS, limited)


def test_a_real_disk_that_is_full_for_a_while_costs_nothing(tmp_path):
    try:
        ran = in_own_namespace(str(tmp_path), str(FILLS))
    except OSError as error:
        pytest.skip(f"disks cannot be mounted here ({error}); files of limited size stand in for them")
    assert ran.stdout == "nothing is lost\n", ran.stderr


def test_the_periods_until_a_fault_is_reported_add_up_to_less_than_a_second():
    assert FEED_EVERY + FLUSH_EVERY < 0.5
    assert FEED_EVERY + FLUSH_EVERY + TELL_EVERY < 1.0


def test_a_disk_that_stays_full_is_named_at_the_end_with_what_is_missing(tmp_path):
    raw, derived = tmp_path / "a.blf", tmp_path / "a.mcap"
    recorder = Recorder(raw, derived, ROBOT)
    given = Given(recorder, raw, derived)
    given.give()
    wait_until(given.written)
    limit_files(recorder.process, 1)
    given.give()
    with pytest.raises(RecordingError, match="File too large") as error:
        recorder.close()
    assert error.value.path == str(raw)
    assert f"{FRAMES} of {2 * FRAMES} frames are not in the file" in str(error.value)
    assert f"{SHAPES} of {2 * SHAPES} shapes are not in the file" in str(error.value)
    counters = recorder.counters
    assert (counters.frames_written, counters.shapes_written) == (FRAMES, SHAPES)
    assert (counters.waiting, counters.lost) == (0, FRAMES + SHAPES)
    given.require_files(FRAMES, SHAPES, complete=False)


def test_a_kill_while_the_disk_is_full_costs_nothing_that_was_reported_as_written(tmp_path):
    for attempt in range(KILLS):
        raw, derived = tmp_path / f"{attempt}.blf", tmp_path / f"{attempt}.mcap"
        recorder = Recorder(raw, derived, ROBOT)
        given = Given(recorder, raw, derived)
        given.give()
        wait_until(given.written)
        limit_files(recorder.process, 1)
        given.give()
        wait_until(lambda recorder=recorder: recorder.counters.fault)
        os.kill(recorder.process, signal.SIGKILL)
        with pytest.raises(RecordingError, match="File too large"):
            recorder.close()
        given.require_files(FRAMES, SHAPES, complete=False)


def test_a_killed_recording_process_is_noticed_on_a_quiet_bus(tmp_path):
    recorder = Recorder(tmp_path / "a.blf")
    os.kill(recorder.process, signal.SIGKILL)
    wait_until(lambda: recorder.counters.fault)
    recorder.frame(Frame(0x101, b"", 1.7e9))
    counters = recorder.counters
    assert (counters.frames_given, counters.waiting, counters.lost) == (1, 0, 1)
    with pytest.raises(RecordingError, match="has ended early"):
        recorder.close()


def test_what_waits_for_the_recording_process_is_bounded_and_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(recorder_module, "MOST_FRAMES", 5_000)
    recorder = Recorder(tmp_path / "a.csv")
    os.kill(recorder.process, signal.SIGSTOP)
    count = 0

    def give() -> bool:
        nonlocal count
        for _ in range(1_000):
            recorder.frame(Frame(0x101, count.to_bytes(8, "little"), 1.7e9 + count))
            count += 1
        return recorder.counters.lost > 0

    # The pipe takes some, and what is being sent waits too.
    wait_until(give, "more frames than may wait")
    assert "is too slow" in recorder.counters.fault
    os.kill(recorder.process, signal.SIGCONT)
    wait_until(lambda: (recorder.counters.waiting, recorder.counters.fault) == (0, ""))
    counters = recorder.counters
    with pytest.raises(RecordingError, match=f"{counters.lost} of {count} frames and shapes are not in the file"):
        recorder.close()
    found = [int.from_bytes(frame.data, "little") for frame in read_frames(tmp_path / "a.csv")]
    assert len(found) == counters.frames_written == count - counters.lost
    assert found == sorted(set(found))


def test_an_invalid_frame_is_refused_and_reported_and_the_others_are_kept(tmp_path):
    recorder, frames = Recorder(tmp_path / "a.log"), some_frames(20)
    for frame in [frames[0], Frame(0x12345, b"", 1.7e9), Frame(1, bytes(9), 1.7e9), *frames[1:]]:
        recorder.frame(frame)
    wait_until(lambda: recorder.counters.waiting == 0)
    assert (recorder.counters.frames_written, recorder.counters.lost) == (20, 2)
    with pytest.raises(RecordingError, match="frame: needs an 11-bit id, at most 8 bytes"):
        recorder.close()
    assert [(f.id, f.data) for f in read_frames(tmp_path / "a.log")] == [(f.id, f.data) for f in frames]


@pytest.mark.parametrize(("raw", "derived"), [("a.blf", None), ("b.blf", "a.mcap")])
def test_a_second_recorder_of_the_same_file_is_refused(raw, derived, tmp_path):
    paths = [tmp_path / name if name else None for name in (raw, derived)]
    other = [tmp_path / "c.blf", paths[1]] if derived else paths
    frames = some_frames(500)
    with Recorder(*paths, ROBOT) as recorder:
        for frame in frames[:250]:
            recorder.frame(frame)
        for overwrite, words in ((True, "another recorder"), (False, "exists; choose another name")):
            with pytest.raises(RecordingError, match=words) as error:
                Recorder(*other, ROBOT, overwrite=overwrite)
            assert error.value.path == str(other[-1] or other[0])
        for frame in frames[250:]:
            recorder.frame(frame)
    assert [(f.id, f.data) for f in read_frames(paths[0])] == [(f.id, f.data) for f in frames]
    assert not (tmp_path / "c.blf").exists()


def test_the_lock_of_a_killed_recorder_does_not_stay(tmp_path):
    recorder = Recorder(tmp_path / "a.blf")
    os.kill(recorder.process, signal.SIGKILL)
    with pytest.raises(RecordingError, match="has ended early"):
        recorder.close()
    with Recorder(tmp_path / "a.blf") as recorder:
        recorder.frame(Frame(0x101, b"x", 1.7e9))
    assert len(list(read_frames(tmp_path / "a.blf"))) == 1


RECORD = "from vertebra.cli.sense import app; app()"


def test_a_kill_of_sense_record_costs_nothing_that_was_in_the_file(tmp_path):
    chance = random.Random(os.urandom(8))
    simulation = network(ROBOT, 3.0)
    for attempt in range(max(1, KILLS // 2)):
        suffix = (".blf", ".log")[attempt % 2]
        url, out = free_group(), tmp_path / f"{attempt}{suffix}"
        with child(RECORD, "record", str(out), "--bus", url) as recorder, sender(simulation, url, tmp_path) as sending:
            assert "recording" in recorder.stderr.readline()
            go(sending)
            wanted = chance.randrange(100, 1000)
            wait_until(lambda out=out, wanted=wanted: sum(1 for _ in read_frames(out)) >= wanted)
            recorder.kill()
            recorder.wait(DEADLINE)
        found = list(read_frames(out))
        assert [(f.id, f.data) for f in found] == [(f.id, f.data) for f in simulation.frames[: len(found)]]
        assert len(found) >= wanted
        assert len(list(can.LogReader(out))) == len(found)


def test_faults_are_reported(tmp_path):
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
