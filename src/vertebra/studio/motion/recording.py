"""A motion as an MCAP file with Foxglove's messages: /tf, /joints, /tip as in recordings of shapes, and /tensions.

Times are those of the motion. Every channel says that nothing in it was measured.
"""

from __future__ import annotations

import io
import json
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vertebra.errors import InputError, StudioError
from vertebra.mechanics.kinematics import frames, tip_frame
from vertebra.report.panels import spread
from vertebra.sensing.recording.files import to_ns
from vertebra.sensing.recording.shape_log import MessageMaker, missing, robot_contents
from vertebra.sensing.recording.shape_record import ShapeRecord
from vertebra.studio.motion.played import Motion

ROWS_A_SECOND, MOST_ROWS, MOST_FRAMES = 60, 1200, 12_000
"""Moments of a recording, and frames of links in all of them together: more takes longer than a click should."""
_NUMBERS = {"type": "array", "items": {"type": "number"}}
_TENSIONS = {
    "title": "vertebra.Tensions",
    "type": "object",
    "properties": {
        "time_s": {"type": "number", "description": "Time of the motion"},
        "base_N": _NUMBERS | {"description": "Tension of each cable where it enters the base"},
        "across_joints_N": {
            "type": "array", "items": _NUMBERS, "description": "Of each cable across each joint; 0 beyond its end"
        },
    },
}  # fmt: skip


def motion_recording(motion: Motion) -> tuple[str, bytes]:
    """Name and content of the file; the same motion gives the same bytes."""
    try:
        content = _content(motion)
    except InputError as error:
        raise StudioError("recording", error.message) from None
    return f"{motion.robot.name}-{motion.kind}.mcap", content


def _content(motion: Motion) -> bytes:
    robot_facts = robot_contents(motion.robot)
    make = MessageMaker(list(robot_facts["joints"]))
    stream = io.BytesIO()
    writer = _new_writer(stream)
    writer.start(profile="", library="vertebra")
    writer.add_metadata("vertebra", dict(robot_facts["about"]) | {"source": motion.kind, "motion": motion.words})
    for name, text in robot_facts["files"].items():
        writer.add_attachment(0, 0, name, "application/json" if name.endswith("json") else "text/xml", text.encode())
    channels = _channels(writer, make, {"source": motion.kind})
    for number, row in enumerate(_rows(motion).tolist()):
        ns = to_ns(float(motion.time[row] - motion.time[0]))
        for topic, data in _messages(motion, row, make, ns).items():
            writer.add_message(channels[topic], ns, data, ns, number)
    writer.finish()
    return stream.getvalue()


def _rows(motion: Motion) -> NDArray[np.int64]:
    enough = math.ceil(ROWS_A_SECOND * float(motion.time[-1] - motion.time[0])) + 1
    return spread(len(motion.time), min(enough, MOST_ROWS, MOST_FRAMES // len(motion.robot.links)))


def _messages(motion: Motion, row: int, make: MessageMaker, ns: int) -> dict[str, bytes]:
    angles, time = motion.angles[row], float(motion.time[row])
    empty = np.zeros(0)
    shape = ShapeRecord(
        time, time, angles, empty, frames(motion.robot, angles), tip_frame(motion.robot, angles), empty, empty, empty,
        (),
    )  # fmt: skip
    tensions = {
        "time_s": time,
        "base_N": motion.tensions[row].tolist(),
        "across_joints_N": motion.tensions_at(row).tolist(),
    }
    return {
        "/tf": make.transforms(shape, ns),
        "/joints": make.joints(shape, ns),
        "/tip": make.tip(shape, ns),
        "/tensions": json.dumps(tensions, allow_nan=False, separators=(",", ":")).encode(),
    }


def _channels(writer: Any, make: MessageMaker, metadata: dict[str, str]) -> dict[str, int]:
    channels = {}
    for topic, schema in make.schemas().items():
        if topic == "/log":
            continue
        number = writer.register_schema(schema.name, schema.encoding, schema.data)
        channels[topic] = writer.register_channel(topic, "protobuf", number, metadata)
    number = writer.register_schema(_TENSIONS["title"], "jsonschema", json.dumps(_TENSIONS).encode())
    channels["/tensions"] = writer.register_channel("/tensions", "json", number, metadata)
    return channels


def _new_writer(stream: io.BytesIO) -> Any:
    try:
        from mcap.writer import Writer
    except ImportError:
        raise missing("mcap") from None
    return Writer(stream)
