"""Reads recordings of shapes back, whole or cut off."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vertebra.errors import RecordingError
from vertebra.robot.tables import Floats
from vertebra.sensing.recording.mcap_records import McapRecords


@dataclass(frozen=True, eq=False, repr=False)
class RecordedShapes:
    """Shapes of a recording, one row a shape; NaN where the estimator had no finite number."""

    robot: dict[str, Any]
    """The robot file as a mapping; `vertebra.load` takes it. Empty if the recording does not have it."""
    clock_offset: float
    """s to add to `times` for Unix time."""
    times: Floats
    """(N,) s of the SYNC clock."""
    angles: Floats
    """(N, freedoms) rad."""
    angle_sigmas: Floats
    """(N, freedoms) rad."""
    tips: Floats
    """(N, 3) m, world axes."""
    tip_rotations: Floats
    """(N, 3, 3) tip axes to world axes."""
    tip_covariances: Floats
    """(N, 6, 6), place before rotation, world axes; m^2, m rad, rad^2."""
    heading_residuals: Floats
    """(N, sensors) rad."""
    tilt_residuals: Floats
    """(N, sensors) rad."""
    complete: bool
    """False: the file was cut off, and these are the shapes before that."""

    def __repr__(self) -> str:
        end = "" if self.complete else ", cut off"
        return f"RecordedShapes({len(self.times)} shapes of {self.angles.shape[1]} angles{end})"


_COLUMNS = {
    "angles": ("angles_rad", (-1,)),
    "angle_sigmas": ("angle_sigmas_rad", (-1,)),
    "tips": ("tip_m", (3,)),
    "tip_rotations": ("tip_rotation", (3, 3)),
    "tip_covariances": ("tip_covariance", (6, 6)),
    "heading_residuals": ("heading_residuals_rad", (-1,)),
    "tilt_residuals": ("tilt_residuals_rad", (-1,)),
}


def read_shapes(path: str | Path) -> RecordedShapes:
    """Shapes of an MCAP recording, up to the last whole chunk; RecordingError for a damaged file."""
    records = McapRecords(path)
    rows: list[dict[str, Any]] = []
    robot: dict[str, Any] = {}
    offset, topics = 0.0, dict[int, str]()
    try:
        for kind, record in records:
            if kind == "Channel":
                topics[record.id] = record.topic
            elif kind == "Message" and topics.get(record.channel_id) == "/estimate":
                rows.append(json.loads(record.data))
            elif kind == "Attachment" and record.name == "robot.json":
                robot = json.loads(record.data)
            elif kind == "Metadata" and record.name == "clock":
                offset = float(record.metadata["sync_to_unix_offset_s"])
        arrays = {name: _column(rows, key, form) for name, (key, form) in _COLUMNS.items()}
        times = np.array([row["time_s"] for row in rows], dtype=np.float64)
    except (ValueError, KeyError, TypeError) as error:
        raise RecordingError(str(path), f"has an estimate that cannot be read ({error}); record it again") from None
    return RecordedShapes(robot, offset, times, **arrays, complete=records.complete)


def _column(rows: list[dict[str, Any]], key: str, form: tuple[int, ...]) -> Floats:
    if not rows:
        return np.zeros((0, *(0 if size < 0 else size for size in form)))
    return np.array([row[key] for row in rows], dtype=np.float64).reshape(len(rows), *form)
