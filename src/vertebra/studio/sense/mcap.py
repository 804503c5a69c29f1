"""Recordings of shapes (MCAP) for the page: nothing is estimated anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from vertebra.errors import RecordingError
from vertebra.mechanics.kinematics import frames as link_frames
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing.recording.shape_reader import McapRecords, RecordedShapes, read_shapes
from vertebra.sensing.sensed_shape import SensorState
from vertebra.studio.sense.look import NOT_KNOWN, Look, Looks
from vertebra.studio.sense.recording import Recorded, Thinned, checked_shapes

_UNHEARD: dict[str, Any] = {
    "state": "silent", "age": None, "samples": 0, "outliers": 0, "tilt_weight": 1.0, "heading_weight": 1.0
}  # fmt: skip


def recorded_shapes(path: str, robot: Robot, most: int) -> Recorded:
    """The shapes of a recording; links are placed by the joint angles, so without the twist of joints."""
    name = Path(path).name
    shapes = read_shapes(path)
    if not len(shapes.times):
        raise RecordingError(name, "holds no shape; record again")
    sensors = shapes.heading_residuals.shape[1]
    checked_shapes(name, robot, shapes.angles.shape[1], sensors, str(shapes.robot.get("name", "")))
    health = _health(path, sensors)
    kept = Thinned(most)
    for row in range(len(shapes.times)):
        kept.add(_look(robot, shapes, row, health.get(row, [])) if kept.wants else None)
    shown = "" if len(kept.kept) == kept.seen else f"; {len(kept.kept)} of them are shown"
    fault = "" if shapes.complete else f"{name} was cut off; these are the shapes before that."
    return Recorded(Looks(kept.kept), f"{kept.seen} recorded shapes{shown}.", fault)


def _look(robot: Robot, shapes: RecordedShapes, row: int, health: list[dict[str, Any]]) -> Look:
    frames = link_frames(robot, shapes.angles[row])
    base = shapes.tip_rotations[row] @ frames[-1, :3, :3].T
    rows = health or [_UNHEARD] * shapes.heading_residuals.shape[1]
    return Look(
        time=float(shapes.times[row]), frames=frames, base=base, tip=base.T @ shapes.tips[row],
        covariance=base.T @ shapes.tip_covariances[row, :3, :3] @ base, angles=shapes.angles[row],
        angle_sigmas=shapes.angle_sigmas[row], headings=shapes.heading_residuals[row],
        states=np.array([SensorState[str(item["state"]).upper()] for item in rows], np.int64),
        ages=_column(rows, "age"), samples=_column(rows, "samples").astype(np.int64),
        outliers=_column(rows, "outliers").astype(np.int64),
        weights=np.column_stack([_column(rows, "tilt_weight"), _column(rows, "heading_weight")]),
        lost=np.full(len(rows), NOT_KNOWN, np.int64),
    )  # fmt: skip


def _column(rows: list[dict[str, Any]], name: str) -> Floats:
    return np.array([np.inf if item[name] is None else item[name] for item in rows], np.float64)


def _is_state(item: dict[str, Any]) -> bool:
    return set(_UNHEARD) <= set(item) and str(item["state"]).upper() in SensorState.__members__


def _health(path: str, sensors: int) -> dict[int, list[dict[str, Any]]]:
    """States of the sensors for each shape: the last word on them before it or with it."""
    topics: dict[int, str] = {}
    known: list[dict[str, Any]] = []
    found: dict[int, list[dict[str, Any]]] = {}
    row = -1
    try:
        for kind, record in McapRecords(path):
            if kind == "Channel":
                topics[record.id] = record.topic
            elif kind == "Message" and topics.get(record.channel_id) == "/estimate":
                row += 1
                found[row] = known
            elif kind == "Message" and topics.get(record.channel_id) == "/health":
                known = found[row] = json.loads(record.data)["sensors"]
                if len(known) != sensors or not all(map(_is_state, known)):
                    raise ValueError("a sensor is missing, or its state is none of ours")
    except (ValueError, KeyError, TypeError) as error:
        raise RecordingError(Path(path).name, f"has states of sensors that cannot be read ({error})") from None
    return found
