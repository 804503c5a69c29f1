"""Messages of a recording of shapes: Foxglove's own where there is one, JSON with a schema for the rest."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from vertebra.errors import InputError
from vertebra.sensing.recording.shape_record import HealthRow, ShapeRecord
from vertebra.sensing.so3 import quaternion

if TYPE_CHECKING:
    from vertebra.robot.robot import Robot

WORLD, TIP = "world", "tip"


def foxglove_messages() -> Any:
    """The module of Foxglove's messages, or an error that says how to get it."""
    try:
        from foxglove import messages
    except ImportError:
        raise missing("foxglove-sdk") from None
    return messages


def missing(package: str) -> InputError:
    """What to do about a missing package."""
    return InputError("mcap", f'recordings of shapes need {package}; run: pip install "vertebra[sense]"')


def joint_names(robot: Robot) -> list[str]:
    """One name a freedom, as in the URDF of the robot: joint3, or joint3_a and joint3_b for two axes."""
    names = []
    for number, count in enumerate(robot.joints["freedoms"].tolist(), 1):
        names += [f"joint{number}"] if count == 1 else [f"joint{number}_{axis}" for axis in "abc"[:count]]
    return names


class MessageMaker:
    """Encodes the messages of a shape; `ns` is their time since 1970."""

    def __init__(self, joints: list[str]) -> None:
        self._joints = joints
        self._foxglove = foxglove_messages()

    def schemas(self) -> dict[str, Any]:
        """Topics of protobuf messages and their schemas."""
        foxglove = self._foxglove
        kinds = {
            "/tf": foxglove.FrameTransforms,
            "/joints": foxglove.JointStates,
            "/tip": foxglove.PoseInFrame,
            "/log": foxglove.Log,
        }
        return {topic: kind.get_schema() for topic, kind in kinds.items()}

    def transforms(self, shape: ShapeRecord, ns: int) -> bytes:
        """World to every link and to the tip."""
        foxglove, stamp = self._foxglove, self._stamp(ns)
        names = [*(f"link{i}" for i in range(len(shape.frames))), TIP]
        w, xyz = quaternion(shape.frames[:, :3, :3])
        tip_w, tip_xyz = quaternion(shape.tip_frame[:3, :3])
        places = [*shape.frames[:, :3, 3].tolist(), shape.tip_frame[:3, 3].tolist()]
        turns = zip([*w.tolist(), float(tip_w)], [*xyz.tolist(), tip_xyz.tolist()], strict=True)
        transforms = [
            foxglove.FrameTransform(
                timestamp=stamp, parent_frame_id=WORLD, child_frame_id=name,
                translation=foxglove.Vector3(x=x, y=y, z=z), rotation=foxglove.Quaternion(x=a, y=b, z=c, w=s),
            )
            for name, (x, y, z), (s, (a, b, c)) in zip(names, places, turns, strict=True)
        ]  # fmt: skip
        return bytes(foxglove.FrameTransforms(transforms=transforms).encode())

    def joints(self, shape: ShapeRecord, ns: int) -> bytes:
        """Angle of every freedom, rad."""
        foxglove = self._foxglove
        named = zip(self._joints, shape.angles.tolist(), strict=True)
        states = [foxglove.JointState(name=name, position=angle) for name, angle in named]
        return bytes(foxglove.JointStates(timestamp=self._stamp(ns), joints=states).encode())

    def tip(self, shape: ShapeRecord, ns: int) -> bytes:
        """Pose of the tip in the world."""
        foxglove = self._foxglove
        x, y, z = shape.tip_frame[:3, 3].tolist()
        w, (a, b, c) = (part.tolist() for part in quaternion(shape.tip_frame[:3, :3]))
        pose = foxglove.Pose(
            position=foxglove.Vector3(x=x, y=y, z=z), orientation=foxglove.Quaternion(x=a, y=b, z=c, w=w)
        )
        return bytes(foxglove.PoseInFrame(timestamp=self._stamp(ns), frame_id=WORLD, pose=pose).encode())

    def log(self, text: str, warning: bool, ns: int) -> bytes:
        """A line of the log."""
        level = self._foxglove.LogLevel.Warning if warning else self._foxglove.LogLevel.Info
        return bytes(self._foxglove.Log(timestamp=self._stamp(ns), level=level, message=text, name="vertebra").encode())

    def _stamp(self, ns: int) -> Any:
        return self._foxglove.Timestamp(*divmod(ns, 1_000_000_000))


def estimate_json(shape: ShapeRecord) -> bytes:
    """Everything that the estimator says about the shape, with all digits."""
    return _json(
        {
            "time_s": shape.time,
            "arrival_s": shape.arrival,
            "angles_rad": shape.angles.tolist(),
            "angle_sigmas_rad": shape.angle_sigmas.tolist(),
            "tip_m": shape.tip_frame[:3, 3].tolist(),
            "tip_rotation": shape.tip_frame[:3, :3].ravel().tolist(),
            "tip_covariance": shape.covariance.ravel().tolist(),
            "heading_residuals_rad": shape.heading_residuals.tolist(),
            "tilt_residuals_rad": shape.tilt_residuals.tolist(),
        }
    )


def health_json(rows: tuple[HealthRow, ...]) -> bytes:
    """States of the sensors."""
    return _json({"sensors": [row._asdict() for row in rows]})


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps({key: _finite(item) for key, item in value.items()}, separators=(",", ":")).encode()


def _finite(value: Any) -> Any:
    """JSON has no infinity: the spread of what no sensor tells is null."""
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _numbers(text: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": ["number", "null"]}, "description": text}


def _number(text: str) -> dict[str, Any]:
    return {"type": ["number", "null"], "description": text}


JSON_SCHEMAS = {
    "/estimate": (
        "vertebra.Estimate",
        _object(
            time_s=_number("Time of the estimate on the SYNC clock"),
            arrival_s=_number("Unix time when the frame came that made it"),
            angles_rad=_numbers("Joint coordinates in the order of /joints"),
            angle_sigmas_rad=_numbers("Standard deviations of the joint coordinates"),
            tip_m=_numbers("Place of the tip in the world"),
            tip_rotation=_numbers("Tip axes to world axes, row by row"),
            tip_covariance=_numbers("6 x 6 row by row, place before rotation, world axes"),
            heading_residuals_rad=_numbers("Heading of each sensor against the shape"),
            tilt_residuals_rad=_numbers("Tilt of each sensor against the shape"),
        ),
    ),
    "/health": (
        "vertebra.Health",
        _object(
            sensors={
                "type": "array",
                "items": _object(
                    sensor={"type": "integer", "description": "Number of the sensor's link"},
                    state={"type": "string", "description": "ok, silent, stale, outlier, disturbed or fault"},
                    age=_number("s since the newest sample; null if there never was one"),
                    samples={"type": "integer", "description": "Samples used so far"},
                    outliers={"type": "integer", "description": "Samples refused so far"},
                    heading_weight=_number("0 (not used) to 1"),
                    tilt_weight=_number("0 (not used) to 1"),
                ),
            }
        ),
    ),
}
"""Topic: name of the message, JSON schema."""
