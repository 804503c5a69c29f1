"""Files that claim more than they have, or unpack to more than recordings do: refused without much memory or work."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path

import can
import lz4.frame
import pytest
import zstandard
from mcap.records import Attachment, Channel, Chunk, Message, Metadata, Schema
from mcap.writer import RecordBuilder
from tests.sensing.recording.test_raw_log import NOW, some_frames
from tests.sensing.recording.test_shape_log import shapes, write
from tests.sensing.wire.bench import child
from tests.waiting import DEADLINE

from vertebra.errors import RecordingError
from vertebra.sensing.recording import files
from vertebra.sensing.recording.raw_log import LogReader, read_frames
from vertebra.sensing.recording.shape_reader import McapRecords, copy_mcap, read_shapes

READ = """
import resource, sys
from vertebra.errors import RecordingError
from vertebra.sensing.recording.raw_log import read_frames
from vertebra.sensing.recording.shape_reader import read_shapes
import mcap.records, mcap.data_stream, zstandard, lz4.frame
now = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + (200 << 20),) * 2)
resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
for path in sys.argv[1:]:
    try:
        print(len(read_shapes(path).times if path.endswith(".mcap") else list(read_frames(path))))
    except RecordingError as error:
        print("RecordingError", error, flush=True)
"""


def read_with_little_memory(*paths: Path) -> list[str]:
    """What a process prints that reads the files; it may take 200 MB and 30 s of the processor for all of them."""
    with child(READ, *map(str, paths)) as process:
        out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, err[-2000:]
    return out.splitlines()


LOBJ = struct.Struct("<4sHHLL")


def blf(*objects: bytes, header: int = 144) -> bytes:
    """A BLF file of these objects."""
    first = struct.Struct("<4sL8xQ").pack(b"LOGG", header, 144 + sum(map(len, objects))).ljust(144, b"\0")
    return first + b"".join(objects)


def container(content: bytes, claimed: int | None = None, size: int | None = None, packed: bool = True) -> bytes:
    """A container; `claimed` bytes unpacked, `size` bytes packed, or what is true."""
    body = zlib.compress(content, 9) if packed else content
    body = struct.pack("<H6xL4x", 2 if packed else 0, len(content) if claimed is None else claimed) + body
    whole = LOBJ.pack(b"LOBJ", 16, 1, 16 + len(body) if size is None else size, 10) + body
    return whole + bytes((16 + len(body)) % 4)


def message(size: int = 48, kind: int = 1) -> bytes:
    """A frame that claims to be an object of `size` bytes."""
    return LOBJ.pack(b"LOBJ", 32, 1, size, kind) + struct.pack("<L4xQ", 2, 0) + struct.pack("<HBBL8s", 1, 0, 8, 1, b"")


ZEROS = container(bytes(16 << 20))
"""16 MiB in 16 kB."""

BLF_BOMBS = {
    "an object of 4 GB, and containers to fill it": (
        blf(container(message() + message(0xFFFF_FFF0)), *[ZEROS] * 80),
        "an object has an impossible size: it claims 4294967280 bytes",
    ),
    "an object of 64 MB, and containers to fill it": (
        blf(container(message() + message(64 << 20)), *[ZEROS] * 80),
        "bytes unpacked, more than 16 MiB and 100 times",
    ),
    "a container that unpacks to more than it claims": (
        blf(container(message()), container(bytes(256 << 20), claimed=1000)),
        "a container claims 1000 bytes unpacked and has more",
    ),
    "a container that claims 4 GB unpacked": (
        blf(container(bytes(1 << 20), claimed=0xFFFF_FFFF)),
        "claims 4294967295 bytes unpacked; at most 67108864",
    ),
    "a container of 4 GB": (blf(container(message(), size=0xFFFF_FFFF)), "it claims 4294967295 bytes"),
    "a container smaller than its header": (blf(container(message(), size=3)), "it claims 3 bytes"),
    "a header of 4 GB": (blf(container(message()), header=0xFFFF_FFFF), "its header claims 4294967295 bytes"),
    "an unknown object of size 0": (blf(container(message(0, kind=999))), "it claims 0 bytes"),
    "a packing that is not known": (blf(container(message()).replace(b"\x02\0\0\0", b"\x07\0\0\0", 1)), "method 7"),
}


def test_blf_files_are_refused_for_what_they_claim(tmp_path):
    paths = [tmp_path / f"{bomb}.blf" for bomb in BLF_BOMBS]
    for path, (content, _) in zip(paths, BLF_BOMBS.values(), strict=True):
        path.write_bytes(content)
    found = read_with_little_memory(*paths)
    for line, path, (_, words) in zip(found, paths, BLF_BOMBS.values(), strict=True):
        assert line.startswith(f"RecordingError {path}, at")
        assert words in line


def test_the_number_of_frames_grows_with_the_size_of_the_file(tmp_path, monkeypatch):
    """Honest frames, but packed a thousand times smaller: refused before they are many."""
    monkeypatch.setattr(files, "ALWAYS_UNPACKED", 1 << 20)
    path, count = tmp_path / "bomb.blf", 0
    path.write_bytes(blf(*[container(message() * 2730)] * 60))
    size = path.stat().st_size
    assert 200 * size < 60 * 2730 * 48
    with pytest.raises(RecordingError, match="100 times their size"):  # noqa: PT012 - the loop is what raises
        for _ in read_frames(path):
            count += 1
    assert 2730 < count <= ((1 << 20) + 100 * size) / 48


def test_an_object_may_go_on_through_many_containers(tmp_path):
    path = tmp_path / "a.blf"
    data = message() + message(48 + (1 << 20), kind=999) + bytes(1 << 20) + message()
    path.write_bytes(blf(*[container(data[at : at + 500], packed=False) for at in range(0, len(data), 500)]))
    assert len(list(read_frames(path))) == 2
    path.write_bytes(path.read_bytes()[:-100])
    reader = LogReader(path)
    assert len(list(reader)) == 1
    assert not reader.complete


def test_classic_frames_in_objects_of_can_fd_are_read_as_python_can_reads_them(tmp_path):
    path, objects = tmp_path / "a.blf", []
    stamp = struct.pack("<L4xQ", 2, 1_500_000_000)
    for fd, remote, size in ((0, 0, 8), (0, 0, 5), (1, 0, 8), (0, 1, 0)):
        body = struct.pack("<HBBLLBBB5x64s", 1, 0x80 * remote, size, 0x123, 0, 0, fd, size, b"ABCDEFGH")
        objects.append(LOBJ.pack(b"LOBJ", 32, 1, 32 + len(body), 100) + stamp + body)
        flags = 0x1000 * fd + 0x10 * remote
        body = struct.pack("<BBBBLLLLLLLHBBL", 1, size, size, 0, 0x124, 0, flags, 0, 0, 0, 0, 0, 0, 0, 0) + b"ABCDEFGH"
        objects.append(LOBJ.pack(b"LOBJ", 40, 2, 40 + len(body), 101) + stamp + bytes(8) + body)
    path.write_bytes(blf(container(b"".join(objects))))
    reader = LogReader(path)
    found = list(reader)
    theirs = [m for m in can.BLFReader(str(path)) if not (m.is_fd or m.is_remote_frame)]
    assert [(f.id, f.data, f.time) for f in found] == [(m.arbitration_id, bytes(m.data), m.timestamp) for m in theirs]
    assert len(found) == reader.skipped == 4


def test_times_are_read_as_python_can_reads_them(tmp_path):
    path = tmp_path / "a.blf"
    logger = can.BLFWriter(str(path))
    for frame in some_frames(500):
        logger(can.Message(frame.time * 1.0000001, frame.id, is_extended_id=False, data=frame.data))
    logger.stop()
    assert [frame.time for frame in read_frames(path)] == [m.timestamp for m in can.BLFReader(str(path))]


MAGIC = b"\x89MCAP0\r\n"


def mcap(*records) -> bytes:
    """An MCAP file of these records, without an index."""
    builder = RecordBuilder()
    for item in records:
        item.write(builder)
    return MAGIC + builder.end()


def chunk(data: bytes, compression: str, claimed: int) -> Chunk:
    return Chunk(compression, data, 0, 0, 0, claimed)


def zstd_zeros(count: int) -> bytes:
    packer = zstandard.ZstdCompressor().compressobj(size=count)
    return b"".join([*(packer.compress(bytes(1 << 20)) for _ in range(count >> 20)), packer.flush()])


def estimate(text: bytes) -> list:
    return [Channel(1, "/estimate", "json", {}, 0), Message(1, 0, text, 0, 0)]


DEEP, LONG = b"[" * 100_000 + b"]" * 100_000, b"9" * 5_000


def attachment(text: bytes) -> list:
    return [Attachment(0, 0, "robot.json", "application/json", text)]


MCAP_BOMBS = {
    "a zstd chunk that unpacks to more than it claims": (
        lambda: [chunk(zstd_zeros(1 << 30), "zstd", 1000)],
        "a chunk claims 1000 bytes unpacked and has more",
    ),
    "an lz4 chunk that unpacks to more than it claims": (
        lambda: [chunk(lz4.frame.compress(bytes(256 << 20)), "lz4", 1000)],
        "a chunk claims 1000 bytes unpacked and has more",
    ),
    "a zstd chunk that claims too much": (
        lambda: [chunk(zstd_zeros(1 << 30), "zstd", 1 << 30)],
        "claims 1073741824 bytes unpacked; at most 67108864",
    ),
    "many chunks of an allowed size": (
        lambda: [chunk(zstd_zeros(60 << 20), "zstd", 60 << 20)] * 20,
        "bytes unpacked, more than 16 MiB and 100 times",
    ),
    "a chunk that unpacks to less than it claims": (
        lambda: [chunk(zstandard.compress(bytes(100)), "zstd", 1000)],
        "a chunk claims 1000 bytes unpacked and has 100",
    ),
    "a record that claims more than its chunk has": (
        lambda: [chunk(b"\x05" + (1 << 62).to_bytes(8, "little"), "", 9)],
        f"a record in a chunk claims {1 << 62} bytes; the chunk has 0",
    ),
    "a packing that is not known": (lambda: [chunk(bytes(9), "rar", 9)], "is packed by 'rar'"),
    "deep JSON in a message": (lambda: estimate(DEEP), "nested too deeply"),
    "deep JSON in an attachment": (lambda: attachment(DEEP), "nested too deeply"),
    "a long number in a message": (lambda: estimate(b'{"time_s":%s}' % LONG), "4300 digits"),
    "a long number in an attachment": (lambda: attachment(b'{"sections":%s}' % LONG), "4300 digits"),
    "a number too large for a float": (lambda: estimate(b'{"time_s":%s}' % LONG[:400]), "too large"),
    "a long text of JSON": (lambda: estimate(b"[" + b"[]," * 2_000_000 + b"[]]"), "at most 4194304 are read"),
    "JSON that is not an object": (lambda: attachment(b"[1, 2]"), "is not an object"),
    "a clock that is set by a long number": (
        lambda: [Metadata("clock", {"sync_to_unix_offset_s": LONG.decode()})],
        "a time is '999",
    ),
    "a clock that is not a number": (lambda: [Metadata("clock", {"sync_to_unix_offset_s": "nan"})], "a time is 'nan'"),
}


def test_mcap_files_are_refused_for_what_they_claim(tmp_path):
    paths = [tmp_path / f"{bomb}.mcap" for bomb in MCAP_BOMBS]
    for path, (make, _) in zip(paths, MCAP_BOMBS.values(), strict=True):
        path.write_bytes(mcap(*make()))
    found = read_with_little_memory(*paths)
    for line, path, (_, words) in zip(found, paths, MCAP_BOMBS.values(), strict=True):
        assert line.startswith(f"RecordingError {path}")
        assert words in line


def test_the_number_of_records_grows_with_the_size_of_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "ALWAYS_UNPACKED", 1 << 20)
    builder = RecordBuilder()
    for _ in range(30_000):
        Message(1, 0, b"", 0, 0).write(builder)
    data = builder.end()
    path, count = tmp_path / "bomb.mcap", 0
    path.write_bytes(mcap(*[chunk(zstandard.compress(data, 19), "zstd", len(data))] * 20))
    size = path.stat().st_size
    assert 20 * len(data) > 200 * size
    with pytest.raises(RecordingError, match="100 times their size"):  # noqa: PT012 - the loop is what raises
        for _ in McapRecords(path):
            count += 1
    assert 30_000 <= count <= ((1 << 20) + 100 * size) / 31
    copied = copy_mcap(path, tmp_path / "whole.mcap")
    assert "100 times their size" in str(copied.fault)


def test_a_copy_has_schemas_and_channels_once_however_often_a_file_repeats_them(tmp_path):
    source, target = tmp_path / "a.mcap", tmp_path / "b.mcap"
    repeated = [Schema(7, b"{}", "jsonschema", "x"), Channel(7, "/x", "json", {}, 7)] * 70_000
    source.write_bytes(mcap(*repeated, Message(7, 0, b"{}", 0, 0)))
    copied = copy_mcap(source, target)
    assert copied.fault is None
    assert sorted(kind for kind, _ in McapRecords(target)) == ["Channel", "Message", "Schema"]
    assert target.stat().st_size < 2_000


@pytest.mark.parametrize("compression", ["zstd", "lz4", ""])
def test_chunks_of_every_packing_are_read(compression, tmp_path):
    row = {
        "time_s": 1.5, "angles_rad": [0.5, None], "angle_sigmas_rad": [1, 2], "tip_m": [1, 2, 3],
        "tip_rotation": [0] * 9, "tip_covariance": [0] * 36, "heading_residuals_rad": [], "tilt_residuals_rad": [],
    }  # fmt: skip
    builder = RecordBuilder()
    for item in estimate(json.dumps(row).encode()):
        item.write(builder)
    data = builder.end()
    packed = {"zstd": zstandard.compress, "lz4": lz4.frame.compress, "": bytes}[compression](data)
    path = tmp_path / "a.mcap"
    path.write_bytes(mcap(chunk(packed, compression, len(data))))
    found = read_shapes(path)
    assert found.times.tolist() == [1.5]
    assert found.angles[0, 0] == 0.5
    assert found.heading_residuals.shape == (1, 0)


def test_real_recordings_stay_far_below_the_limits(tmp_path):
    """A robot that stands still, in silence: what packs best."""
    from vertebra.sensing.recording.raw_log import RawLogWriter

    with RawLogWriter(tmp_path / "a.blf") as log:
        for number, frame in enumerate(some_frames(1) * 20_000):
            log.write(frame._replace(time=NOW + number * 1e-3))
    assert 30 * (tmp_path / "a.blf").stat().st_size > 20_000 * 48
    path = write(tmp_path / "a.mcap", shapes(1) * 500)
    unpacked = sum(len(record.data) for kind, record in McapRecords(path) if kind == "Message")
    assert unpacked < 50 * path.stat().st_size
