from __future__ import annotations

import contextlib
import dataclasses
import errno
import os
import signal
from pathlib import Path
from types import SimpleNamespace

import can
import numpy as np
import pytest
from tests.sensing.networks import one_shape
from tests.sensing.recording.test_raw_log import SUFFIXES, some_frames, without_times
from tests.sensing.recording.test_shape_log import ROBOT, shapes
from tests.sensing.wire.bench import child
from tests.waiting import DEADLINE

from vertebra.errors import InputError, RecordingError
from vertebra.sensing.recording import files
from vertebra.sensing.recording.files import WholeFile
from vertebra.sensing.recording.raw_log import LogReader, RawLogWriter, read_frames
from vertebra.sensing.recording.shape_log import DerivedLogWriter, ShapesCsv, record, robot_contents
from vertebra.sensing.recording.shape_reader import copy_mcap, read_shapes


def raw_writer(path: Path, **options) -> RawLogWriter:
    return RawLogWriter(path, **options)


def shape_writer(path: Path, **options) -> DerivedLogWriter:
    return DerivedLogWriter(path, robot_contents(ROBOT), **options)


def table_writer(path: Path, **options) -> ShapesCsv:
    return ShapesCsv(path, ROBOT, **options)


def close(writer) -> None:
    (writer.close if hasattr(writer, "close") else writer.__exit__)()


WRITERS = [
    *((raw_writer, f"a{suffix}") for suffix in SUFFIXES),
    (shape_writer, "a.mcap"),
    (table_writer, "shapes.csv"),
    (WholeFile, "a.bin"),
]


@pytest.mark.parametrize(("make", "name"), WRITERS)
def test_a_second_writer_of_a_file_is_refused_and_the_first_goes_on(make, name, tmp_path):
    path, alias = tmp_path / name, tmp_path / f"link-{name}"
    alias.symlink_to(path)
    writer = make(path)
    before = path.read_bytes()
    for again in (path, alias):
        with pytest.raises(RecordingError, match="is being written by another recorder; stop that one") as error:
            make(again)
        assert error.value.path == str(again)
    assert path.read_bytes() == before
    close(writer)
    close(make(path))


def test_a_recording_is_not_destroyed_by_a_second_one(tmp_path):
    given = some_frames(100)
    with RawLogWriter(tmp_path / "a.blf") as writer:
        for frame in given[:50]:
            writer.write(frame)
        writer.flush()
        with pytest.raises(RecordingError, match="another recorder"):
            RawLogWriter(tmp_path / "a.blf")
        for frame in given[50:]:
            writer.write(frame)
    assert list(read_frames(tmp_path / "a.blf")) == given


def test_a_live_recording_is_not_the_target_of_a_copy(tmp_path):
    with shape_writer(tmp_path / "source.mcap") as writer:
        writer.write(record(one_shape(ROBOT), 1.7e9))
    with shape_writer(tmp_path / "live.mcap") as writer:
        writer.write(record(one_shape(ROBOT), 1.7e9))
        with pytest.raises(RecordingError, match="another recorder"):
            copy_mcap(tmp_path / "source.mcap", tmp_path / "live.mcap")
    assert len(read_shapes(tmp_path / "live.mcap").times) == 1


@pytest.mark.parametrize(("make", "name"), WRITERS)
def test_files_that_exist_are_kept_unless_they_may_be_replaced(make, name, tmp_path):
    path = tmp_path / name
    path.write_bytes(b"last year's recording")
    with pytest.raises(RecordingError, match="exists; choose another name"):
        make(path, overwrite=False)
    assert path.read_bytes() == b"last year's recording"
    close(make(path))
    assert b"last year" not in path.read_bytes()


HOLD = """
import sys
from vertebra.sensing.recording.raw_log import RawLogWriter
writer = RawLogWriter(sys.argv[1])
print("open", flush=True)
sys.stdin.readline()
"""


def test_other_processes_are_refused_until_the_writer_is_gone_however_it_ends(tmp_path):
    path = tmp_path / "a.log"
    with child(HOLD, str(path)) as process:
        assert process.stdout.readline() == "open\n"
        with pytest.raises(RecordingError, match="another recorder"):
            RawLogWriter(path)
        process.send_signal(signal.SIGKILL)
        process.wait(DEADLINE)
        with RawLogWriter(path) as writer:
            writer.write(some_frames(1)[0])
    assert without_times(read_frames(path)) == without_times(some_frames(1))


class Disk:
    """A disk that is full while `full`, and takes a part of each block before it says so."""

    def __init__(self, monkeypatch) -> None:
        self.full = False
        self.writes = 0
        really = os.write

        def write(descriptor: int, data: bytes) -> int:
            self.writes += 1
            if self.full:
                really(descriptor, bytes(data)[:7])
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return really(descriptor, data)

        monkeypatch.setattr(os, "write", write)


@pytest.fixture
def disk(monkeypatch):
    return Disk(monkeypatch)


@pytest.fixture
def flushes(monkeypatch):
    """What writers would call by the clock: the test calls it."""
    given = []
    monkeypatch.setattr(files, "TimedFlush", lambda flush: given.append(flush) or SimpleNamespace(stop=int))
    return given


@pytest.mark.parametrize(("make", "name"), [(raw_writer, "a.blf"), (raw_writer, "a.csv"), (shape_writer, "a.mcap")])
def test_a_file_that_cannot_be_begun_is_not_left_behind(make, name, tmp_path, disk):
    disk.full = True
    with pytest.raises(RecordingError, match="No space left on device"):
        make(tmp_path / name, overwrite=False)
    assert list(tmp_path.iterdir()) == []
    disk.full = False
    close(make(tmp_path / name, overwrite=False))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_frames_are_counted_once_they_are_in_the_file(suffix, tmp_path, disk, flushes):
    path, given = tmp_path / f"a{suffix}", some_frames(90)
    with RawLogWriter(path) as writer:
        for frame in given[:30]:
            writer.write(frame)
        assert (writer.frames, writer.waiting) == (0, 30)
        flushes[0]()
        assert (writer.frames, writer.waiting, writer.fault) == (30, 0, None)
        disk.full = True
        for frame in given[30:60]:
            writer.write(frame)
        flushes[0]()
        assert (writer.frames, writer.waiting) == (30, 30)
        assert "No space left on device" in str(writer.fault)
        assert without_times(read_frames(path)) == without_times(given[:30])
        for frame in given[60:]:
            writer.write(frame)
        disk.full = False
        flushes[0]()
        assert (writer.frames, writer.waiting, writer.fault) == (90, 0, None)
    reader = LogReader(path)
    assert without_times(reader) == without_times(given)
    assert reader.complete


def test_shapes_are_counted_once_they_are_in_the_file(tmp_path, disk, flushes):
    path, given = tmp_path / "a.mcap", shapes(60)
    with shape_writer(path) as writer:
        for shape in given[:20]:
            writer.write(shape)
        flushes[0]()
        disk.full = True
        for shape in given[20:40]:
            writer.write(shape)
        flushes[0]()
        assert (writer.shapes, writer.waiting) == (20, 20)
        assert "No space left on device" in str(writer.fault)
        assert len(read_shapes(path).times) == 20
        for shape in given[40:]:
            writer.write(shape)
        disk.full = False
        flushes[0]()
        assert (writer.shapes, writer.waiting, writer.fault) == (60, 0, None)
    found = read_shapes(path)
    assert found.complete
    assert np.array_equal(found.times, [shape.time for shape in given])


def test_each_frame_is_packed_once_however_long_the_disk_is_full(tmp_path, disk, flushes, monkeypatch):
    packed, really = 0, can.BLFWriter.on_message_received

    def count(self, message) -> None:
        nonlocal packed
        packed += 1
        really(self, message)

    monkeypatch.setattr(can.BLFWriter, "on_message_received", count)
    writer, given = RawLogWriter(tmp_path / "a.blf"), some_frames(9_000)
    disk.full = True
    disk.writes = 0
    for frame in given:
        with contextlib.suppress(RecordingError):
            writer.write(frame)
    for _ in range(5):
        flushes[0]()
    with pytest.raises(RecordingError, match=r"No space left on device.*9000 of 9000 frames are not in the file"):
        writer.close()
    assert packed == 9_000
    # By the clock and at the end, not for each frame.
    assert disk.writes <= 10


@pytest.mark.parametrize("make", [raw_writer, shape_writer])
def test_what_waits_in_memory_is_bounded_and_what_is_lost_is_counted(make, tmp_path, disk, flushes, monkeypatch):
    monkeypatch.setattr(files, "MOST_WAITING", 20_000)
    path = tmp_path / ("a.blf" if make is raw_writer else "a.mcap")
    given = some_frames(4_000) if make is raw_writer else shapes(200)
    writer, kept = make(path), []
    disk.full = True
    for number, item in enumerate(given):
        if number == len(given) // 2:
            assert 0 < writer.lost == number - len(kept)
            assert writer.waiting == len(kept)
            disk.full = False
            flushes[0]()
            assert (writer.waiting, writer.fault) == (0, None)
        try:
            writer.write(item)
        except RecordingError as error:
            assert "No space left on device" in str(error)  # noqa: PT017 - most writes succeed
            assert f"{writer.lost} {writer.items} are lost" in str(error)  # noqa: PT017
        else:
            kept.append(item)
        if number % 20 == 0:
            flushes[0]()
    assert writer.lost == len(given) - len(kept)
    with pytest.raises(RecordingError, match=f"{writer.lost} of {len(given)} {writer.items} are not in the file"):
        writer.close()
    if make is raw_writer:
        assert list(read_frames(path)) == kept
    else:
        assert np.array_equal(read_shapes(path).times, [shape.time for shape in kept])


def test_frames_are_not_written_again_when_only_the_header_fails(tmp_path, flushes, monkeypatch):
    really, broken = WholeFile.rewrite_head, True

    def fails(self: WholeFile, block: bytes) -> None:
        if broken and self.size > 144:
            raise self._failed(OSError(errno.EIO, os.strerror(errno.EIO)))
        really(self, block)

    monkeypatch.setattr(WholeFile, "rewrite_head", fails)
    given = some_frames(40)
    with RawLogWriter(tmp_path / "a.blf") as writer:
        for number, frame in enumerate(given):
            writer.write(frame)
            if number % 10 == 9:
                flushes[0]()
        assert "Input/output error" in str(writer.fault)
        broken = False
    reader = LogReader(tmp_path / "a.blf")
    assert list(reader) == given
    assert reader.complete


def test_a_closed_writer_says_so(tmp_path):
    for make, name, item in (
        (raw_writer, "a.csv", some_frames(1)[0]),
        (shape_writer, "a.mcap", record(one_shape(ROBOT), 1.7e9)),
    ):
        with make(tmp_path / name) as writer:
            pass
        writer.close()
        for call in (writer.flush, lambda writer=writer, item=item: writer.write(item)):
            with pytest.raises(RecordingError, match="the recording is closed; open a new one") as error:
                call()
            assert error.value.path == str(tmp_path / name)


@pytest.mark.parametrize("time", [float("nan"), float("inf"), 1e18, -1e18])
def test_shapes_without_a_time_are_refused_before_they_reach_the_file(time, tmp_path):
    shape = record(one_shape(ROBOT), 1.7e9)
    with shape_writer(tmp_path / "a.mcap") as writer:
        for changes in ({"time": time}, {"arrival": time}):
            with pytest.raises(InputError, match="shape: needs a time"):
                writer.write(dataclasses.replace(shape, **changes))
        writer.write(shape)
    assert len(read_shapes(tmp_path / "a.mcap").times) == 1


def test_an_error_in_the_block_is_not_hidden_by_a_full_disk(tmp_path, disk):
    def record() -> None:
        with RawLogWriter(tmp_path / "a.log") as writer:
            disk.full = True
            writer.write(some_frames(1)[0])
            raise KeyError("the user's")

    with pytest.raises(KeyError, match="the user's"):
        record()
