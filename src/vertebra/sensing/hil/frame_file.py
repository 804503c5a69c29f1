"""Frames of a run as they came, in one compact file for the replay."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vertebra.sensing.wire.can import Frame


def save_frames(path: Path, frames: list[Frame]) -> None:
    """Write ids, payloads and arrival times; payloads keep their length."""
    np.savez_compressed(
        path,
        ids=np.array([frame.id for frame in frames], np.int64),
        lengths=np.array([len(frame.data) for frame in frames], np.int64),
        data=np.frombuffer(b"".join(frame.data for frame in frames), np.uint8),
        times=np.array([frame.time for frame in frames], np.float64),
    )


def read_frames(path: Path) -> list[Frame]:
    """What `save_frames` wrote."""
    with np.load(path) as file:
        data, ends = file["data"].tobytes(), np.cumsum(file["lengths"]).tolist()
        ids, times = file["ids"].tolist(), file["times"].tolist()
    starts = [0, *ends[:-1]]
    rows = zip(ids, starts, ends, times, strict=True) if ids else ()
    return [Frame(can_id, data[start:end], time) for can_id, start, end, time in rows]
