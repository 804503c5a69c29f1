"""The dashboard of `vertebra sense live`: rates, latency, tip, joints and sensors at a glance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from vertebra.cli.output import new_table, plain
from vertebra.cli.sense_output import angle_text, poor_sensors, tip_text

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table

    from vertebra.sensing.live import LiveSession, SessionStatistics
    from vertebra.sensing.recording.recorder import Recorder
    from vertebra.sensing.sensed_shape import SensedShape

COLOURS = {"ok": "green", "disturbed": "yellow", "outlier": "yellow", "stale": "red", "fault": "red", "silent": "red"}


def status_line(session: LiveSession, recorder: Recorder | None) -> str:
    """One line for logs and pipes."""
    found, latest = session.statistics, session.latest
    parts = [f"{found.seconds:.1f} s", f"{found.frame_rate:.0f} frames/s", f"{found.shape_rate:.0f} shapes/s",
             f"lost {found.lost}", f"latency {_latency(found)}"]  # fmt: skip
    if latest is None:
        parts.append(hint(session) or "no shape yet")
    else:
        parts += [f"tip {tip_text(latest.shape)}", f"angles {angle_text(latest.shape.angles)} deg",
                  f"sensors: {poor_sensors(latest.shape)}"]  # fmt: skip
    if recorder is not None:
        parts.append(_recording(recorder))
    return " | ".join(parts)


def hint(session: LiveSession) -> str:
    """Why there is no shape; empty if it is not known."""
    counters = session.network.counters
    if not counters.frames:
        return "no frames have come; is the bus the right one, do the nodes have power?"
    if not counters.sync:
        return "frames come but no SYNC (id 080); if no other master sends it, add --sync 100"
    if not (counters.angles or counters.quaternion):
        return "SYNCs come but no orientations; do the nodes answer, and are their numbers those of the robot's links?"
    return ""


def dashboard(session: LiveSession, recorder: Recorder | None, title: str) -> Group:
    """Everything, as one picture."""
    from rich.console import Group
    from rich.text import Text

    found, latest = session.statistics, session.latest
    parts: list[RenderableType] = [Text(plain(title), style="bold"), _rates(session, recorder, found)]
    if latest is None:
        parts.append(Text(hint(session) or "no shape yet", style="yellow"))
    else:
        shape = latest.shape
        covariance = shape.covariance
        turn = ", ".join(f"{math.degrees(math.sqrt(value)):.2f}" for value in np.diagonal(covariance)[3:])
        preview = "" if latest.final else "  (preliminary: a sensor is late)"
        parts += [
            Text(f"tip {tip_text(shape)}, turned +- ({turn}) deg{preview}"),
            Text(""),
            _links(session, shape),
        ]
    parts.append(Text("Ctrl-C ends", style="dim"))
    return Group(*parts)


def _latency(found: SessionStatistics) -> str:
    return f"{found.latency_p50 * 1e3:.2f} ms, 99 % {found.latency_p99 * 1e3:.2f} ms"


def _recording(recorder: Recorder) -> str:
    counters = recorder.counters
    if counters.fault:
        return f"RECORDING FAILED: {counters.fault}"
    return f"recorded {counters.frames_written} frames, {counters.shapes_written} shapes, waiting {counters.waiting}"


def _rates(session: LiveSession, recorder: Recorder | None, found: SessionStatistics) -> Table:
    table = new_table(("", ""))
    table.show_header = False
    counters = session.network.counters
    table.add_row("time", f"{found.seconds:.1f} s")
    table.add_row("frames", f"{found.frame_rate:.0f} a second, {found.frames} in all, {found.waiting} waiting")
    table.add_row("shapes", f"{found.shape_rate:.0f} a second, {found.previews} preliminary")
    table.add_row(
        "drops",
        f"lost {found.lost}, duplicates {counters.duplicates.sum()}, malformed {counters.malformed}, "
        f"unknown {counters.unknown}, no SYNC {counters.no_sync}",
    )
    table.add_row("latency", f"{_latency(found)}, longest {found.latency_max * 1e3:.2f} ms")
    if recorder is not None:
        table.add_row("recorder", plain(_recording(recorder)))
    return table


def _links(session: LiveSession, shape: SensedShape) -> Table:
    """One row a link: the angles of its joint, and its sensor."""
    from rich.text import Text

    names = ("link", "joint, deg", "+-", "sensor", "age, ms", "heading, deg", "tilt, deg", "lost", "outliers")
    table = new_table(names, [name for name in names if name != "sensor"])
    rows = {row.sensor: (place, row) for place, row in enumerate(shape.health)}
    lost, joints = session.network.counters.lost, shape.robot.joints
    for link in range(len(joints) + 1):
        angles = slice(0, 0)
        if link:
            angles = slice(joints["first"][link - 1], joints["first"][link - 1] + joints["freedoms"][link - 1])
        cells: list[str | Text] = [str(link), _degrees(shape.angles[angles]), _degrees(shape.angle_sigmas[angles])]
        if link in rows:
            place, row = rows[link]
            cells += [
                Text(row.state, style=COLOURS[row.state]),
                f"{row.age * 1e3:.0f}" if math.isfinite(row.age) else "-",
                f"{math.degrees(shape.heading_residuals[place]):.2f}",
                f"{math.degrees(shape.tilt_residuals[place]):.2f}",
                str(lost[place]),
                str(row.outliers),
            ]
        table.add_row(*cells)
    return table


def _degrees(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    return "  ".join(f"{value:.2f}" for value in np.degrees(values))
