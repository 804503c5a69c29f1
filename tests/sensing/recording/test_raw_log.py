from __future__ import annotations

import os
import random
from pathlib import Path

import can
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.waiting import wait_until

from vertebra.errors import InputError, RecordingError
from vertebra.sensing.recording.files import FLUSH_EVERY, WholeFile
from vertebra.sensing.recording.raw_log import LogReader, RawLogWriter, read_frames
from vertebra.sensing.wire.can import Frame

CASES = 400 if os.environ.get("VERTEBRA_SOAK") == "1" else 40
SUFFIXES = (".blf", ".log", ".csv")
EXACT = (".blf", ".csv")
NOW = 1_763_000_000.0

frames = st.builds(
    Frame, st.integers(0, 0x7FF), st.binary(max_size=8), st.floats(NOW, NOW + 1e6).map(lambda time: round(time, 7))
)


def some_frames(count: int, seed: int = 1) -> list[Frame]:
    chance = random.Random(seed)
    return [
        Frame(chance.randrange(0x800), chance.randbytes(chance.choice([0, 3, 8, 8, 8])), NOW + 0.123456789 + i * 3.7e-4)
        for i in range(count)
    ]


def write(path: Path, given: list[Frame]) -> Path:
    with RawLogWriter(path) as writer:
        for frame in given:
            writer.write(frame)
    return path


def without_times(given: list[Frame]) -> list[tuple[int, bytes]]:
    return [(frame.id, frame.data) for frame in given]


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(given_frames=st.lists(frames, max_size=30))
def test_what_is_written_comes_back(suffix, given_frames, tmp_path_factory):
    path = write(tmp_path_factory.mktemp("log") / f"a{suffix}", given_frames)
    reader = LogReader(path)
    found = list(reader)
    assert reader.complete
    assert without_times(found) == without_times(given_frames)
    if suffix == ".csv" or (suffix == ".blf" and all(frame.time >= given_frames[0].time - 1 for frame in given_frames)):
        assert [frame.time for frame in found] == [frame.time for frame in given_frames]
    elif suffix == ".log":
        assert all(abs(a.time - b.time) < 1e-6 for a, b in zip(found, given_frames, strict=True))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_times_without_a_date_come_back(suffix, tmp_path):
    given_frames = [Frame(0x80, bytes(8), 0.25), Frame(0x101, bytes(8), 12.000001)]
    assert list(read_frames(write(tmp_path / f"a{suffix}", given_frames))) == given_frames


def test_a_clock_that_is_set_back_keeps_order_and_data(tmp_path):
    given_frames = [Frame(1, b"a", NOW), Frame(2, b"b", NOW - 3600), Frame(3, b"c", NOW + 1)]
    found = list(read_frames(write(tmp_path / "a.blf", given_frames)))
    assert without_times(found) == without_times(given_frames)
    assert found[1].time < found[0].time < found[2].time


@pytest.mark.parametrize("suffix", [".blf", ".log"])
def test_python_can_reads_our_files(suffix, tmp_path):
    given_frames = some_frames(9000)
    found = list(can.LogReader(write(tmp_path / f"a{suffix}", given_frames)))
    assert [(m.arbitration_id, bytes(m.data)) for m in found] == without_times(given_frames)
    assert max(abs(m.timestamp - f.time) for m, f in zip(found, given_frames, strict=True)) < 1e-6


@pytest.mark.parametrize("suffix", [".blf", ".log"])
def test_we_read_files_of_python_can(suffix, tmp_path):
    given_frames = some_frames(9000)
    logger = can.Logger(tmp_path / f"a{suffix}")
    for frame in given_frames:
        logger(can.Message(frame.time, frame.id, is_extended_id=False, data=frame.data))
    logger.stop()
    reader = LogReader(tmp_path / f"a{suffix}")
    found = list(reader)
    assert reader.complete
    assert without_times(found) == without_times(given_frames)
    assert max(abs(a.time - b.time) for a, b in zip(found, given_frames, strict=True)) < 1e-6


@pytest.mark.parametrize("suffix", [".blf", ".log"])
def test_frames_that_are_not_ours_are_skipped_and_counted(suffix, tmp_path):
    logger = can.Logger(tmp_path / f"a{suffix}")
    for message in (
        can.Message(NOW, 0x101, is_extended_id=False, data=bytes(8)),
        can.Message(NOW, 0x1ABCDEF, is_extended_id=True, data=bytes(8)),
        can.Message(NOW, 0x102, is_extended_id=False, is_remote_frame=True),
        can.Message(NOW, is_error_frame=True),
        can.Message(NOW, 0x103, is_extended_id=False, is_fd=True, data=bytes(12)),
        can.Message(NOW, 0x104, is_extended_id=False, data=b"x"),
    ):
        logger(message)
    logger.stop()
    reader = LogReader(tmp_path / f"a{suffix}")
    assert [frame.id for frame in reader] == [0x101, 0x104]
    assert reader.skipped == 4


def test_lines_of_candump_with_direction_and_nanoseconds(tmp_path):
    path = tmp_path / "a.log"
    path.write_text("(1763000000.000001) vcan0 101#0A0B R\n\n(1763000000.000000500) can1 102#\n")
    assert list(read_frames(path)) == [Frame(0x101, b"\n\x0b", NOW + 1e-6), Frame(0x102, b"", NOW + 5e-7)]


@pytest.mark.parametrize("suffix", [".blf", ".log"])
def test_a_file_is_good_before_it_is_closed(suffix, tmp_path):
    path, given_frames = tmp_path / f"a{suffix}", some_frames(50)
    with RawLogWriter(path) as writer:
        assert list(can.LogReader(path)) == []
        assert list(read_frames(path)) == []
        for frame in given_frames:
            writer.write(frame)
        writer.flush()
        assert len(list(can.LogReader(path))) == 50
        reader = LogReader(path)
        assert without_times(list(reader)) == without_times(given_frames)
        assert reader.complete
        assert writer.frames == 50


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_quiet_bus_is_flushed_by_the_clock(suffix, tmp_path):
    assert FLUSH_EVERY <= 0.25
    with RawLogWriter(tmp_path / f"a{suffix}") as writer:
        writer.write(Frame(0x101, bytes(8), NOW))
        wait_until(lambda: len(list(read_frames(tmp_path / f"a{suffix}"))) == 1)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_cut_off_anywhere_gives_what_is_whole(suffix, tmp_path):
    given_frames, ends = some_frames(12), []
    path, cut = tmp_path / f"a{suffix}", tmp_path / f"cut{suffix}"
    with RawLogWriter(path) as writer:
        for number, frame in enumerate(given_frames):
            writer.write(frame)
            if number % 4 == 3:
                writer.flush()
                ends.append(path.stat().st_size)
    data = path.read_bytes()
    for size in range(len(data)):
        cut.write_bytes(data[:size])
        reader = LogReader(cut)
        found = without_times(list(reader))
        assert found == without_times(given_frames[: len(found)])
        assert len(found) >= 4 * sum(end <= size for end in ends)
        assert not (reader.complete and suffix == ".blf")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_damaged_files_end_in_a_recording_error_or_cleanly(suffix, tmp_path):
    chance, path = random.Random(7), tmp_path / f"bad{suffix}"
    data = write(tmp_path / f"a{suffix}", some_frames(200)).read_bytes()
    errors = 0
    for _ in range(CASES):
        bad = bytearray(data)
        for _ in range(chance.choice([1, 3, 30])):
            bad[chance.randrange(len(bad))] = chance.randrange(256)
        if chance.random() < 0.3:
            del bad[chance.randrange(len(bad)) :]
        path.write_bytes(bad)
        try:
            found = list(read_frames(path))
        except RecordingError as error:
            errors += error.path == str(path) and error.position is not None
        else:
            assert all(0 <= frame.id <= 0x7FF and len(frame.data) <= 8 for frame in found)
    assert errors > CASES / 4


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "content", [b"hello world, this is no recording\n", bytes(4096), random.Random(1).randbytes(4096)]
)
def test_other_files_are_refused(suffix, content, tmp_path):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(content)
    with pytest.raises(RecordingError, match="name the right file"):
        list(read_frames(path))


def test_the_line_that_is_wrong_is_named(tmp_path):
    path = tmp_path / "a.log"
    path.write_text("(1763000000.000001) can0 101#00\n(1763000000.0) can0 101#0\n")
    found = []
    with pytest.raises(RecordingError, match="line 2") as error:
        found.extend(read_frames(path))
    assert error.value.position == 2


def test_a_damaged_container_is_named_and_the_frames_before_it_are_given(tmp_path):
    path, given_frames = tmp_path / "a.blf", some_frames(100)
    with RawLogWriter(path) as writer:
        for frame in given_frames[:50]:
            writer.write(frame)
        writer.flush()
        size = path.stat().st_size
        for frame in given_frames[50:]:
            writer.write(frame)
    data = bytearray(path.read_bytes())
    data[size + 60] ^= 0xFF
    path.write_bytes(data)
    found: list[Frame] = []
    with pytest.raises(RecordingError, match=f"damaged at byte {size}") as error:
        found.extend(read_frames(path))
    assert error.value.position == size
    assert without_times(found) == without_times(given_frames[:50])


def test_an_object_of_size_zero_is_damage_and_not_an_endless_file(tmp_path):
    path = tmp_path / "a.blf"
    logger = can.Logger(path, compression_level=0)
    for frame in some_frames(3):
        logger(can.Message(frame.time, frame.id, is_extended_id=False, data=frame.data))
    logger.stop()
    data = bytearray(path.read_bytes())
    second_size = 144 + 32 + 48 + 8
    assert data[second_size : second_size + 4] == (48).to_bytes(4, "little")
    data[second_size : second_size + 4] = bytes(4)
    path.write_bytes(data)
    with pytest.raises(RecordingError, match="impossible size"):
        list(read_frames(path))


def test_a_full_disk_is_reported_and_no_frame_is_lost(tmp_path, monkeypatch):
    path, given_frames = tmp_path / "a.blf", some_frames(40)
    writer = RawLogWriter(path)
    really, full = os.write, True

    def scarce(descriptor: int, data: bytes) -> int:
        if full and len(data) > 144:
            really(descriptor, bytes(data)[:100])
            raise OSError(28, "No space left on device")
        return really(descriptor, data)

    monkeypatch.setattr(os, "write", scarce)
    for frame in given_frames:
        writer.write(frame)
    with pytest.raises(RecordingError, match="No space left on device"):
        writer.flush()
    assert path.stat().st_size == 144
    assert list(read_frames(path)) == []
    full = False
    writer.close()
    assert list(read_frames(path)) == given_frames


def test_a_kill_between_the_first_container_and_its_header_leaves_the_date_right(tmp_path, monkeypatch):
    really = WholeFile.rewrite_head

    def never_after_a_container(self: WholeFile, block: bytes) -> None:
        if self.size == 144:
            really(self, block)

    monkeypatch.setattr(WholeFile, "rewrite_head", never_after_a_container)
    given_frames = some_frames(5)
    assert list(read_frames(write(tmp_path / "a.blf", given_frames))) == given_frames


@pytest.mark.parametrize(
    "frame", [Frame(0x800, b"", NOW), Frame(1, bytes(9), NOW), Frame(1, b"", -1.0), Frame(1, b"", float("nan"))]
)
def test_frames_that_no_bus_carries_are_refused(frame, tmp_path):
    with RawLogWriter(tmp_path / "a.blf") as writer, pytest.raises(InputError, match="11-bit id"):
        writer.write(frame)


def test_wrong_names_missing_folders_and_closed_files(tmp_path):
    with pytest.raises(RecordingError, match=r"must end in \.blf, \.log, \.csv"):
        RawLogWriter(tmp_path / "a.txt")
    with pytest.raises(RecordingError, match="cannot be written"):
        RawLogWriter(tmp_path / "nowhere" / "a.blf")
    with pytest.raises(RecordingError, match="cannot be read"):
        list(read_frames(tmp_path / "a.blf"))
    with RawLogWriter(tmp_path / "a.blf") as writer:
        pass
    writer.close()
    with pytest.raises(RecordingError, match="is closed"):
        writer.write(Frame(1, b"", NOW))
    with pytest.raises(RecordingError, match="is closed"):
        writer.flush()
    assert list(read_frames(tmp_path / "a.blf")) == []
