"""The answer about sensed shapes: how a shape and its sensors look in a line, in a table and in a record."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from vertebra.sensing.sensed_shape import unknown_angles

if TYPE_CHECKING:
    from vertebra.sensing.network import Counters
    from vertebra.sensing.sensed_shape import SensedShape

MOST_ANGLES = 12
"""Angles that are shown in a line."""


def tip_text(shape: SensedShape) -> str:
    """Tip and its standard deviations, mm."""
    places = ", ".join(f"{value * 1e3:.2f}" for value in shape.tip)
    return f"({places}) +- ({', '.join(f'{value * 1e3:.2f}' for value in tip_sigmas(shape))}) mm"


def tip_sigmas(shape: SensedShape) -> list[float]:
    """Standard deviations of the tip along the world's axes, m."""
    return [float(value) for value in np.sqrt(np.diagonal(shape.covariance)[:3])]


def angle_text(angles: Any) -> str:
    """Angles in degrees, separated by commas."""
    shown = ", ".join(f"{value:.2f}" for value in np.degrees(angles[:MOST_ANGLES]))
    return f"{shown} ... ({len(angles)})" if len(angles) > MOST_ANGLES else shown


def poor_sensors(shape: SensedShape) -> str:
    """Sensors that are not ok."""
    poor = [f"{row.sensor} {row.state}" for row in shape.health if row.state != "ok"]
    return ", ".join(poor) if poor else "all ok"


def unknown_joints(shape: SensedShape) -> str:
    """Joints with an angle that the sensors do not determine."""
    from vertebra.report.shape import joint_list

    robot = shape.robot
    return joint_list(tuple(dict.fromkeys(robot.joint_of(row) for row in unknown_angles(robot, shape.angle_sigmas))))


def sensed_rows(shape: SensedShape) -> list[tuple[str, str]]:
    """A shape as rows of a table."""
    return [
        ("time", f"{shape.time:.3f} s after the start of the SYNC clock"),
        ("tip", tip_text(shape)),
        ("joint angles, deg", angle_text(shape.angles)),
        ("their spread, deg", angle_text(shape.angle_sigmas)),
        *([] if shape.settled else [("not settled", f"{unknown_joints(shape)} not determined by the sensors")]),
        ("sensors", poor_sensors(shape)),
    ]


def sensed_record(shape: SensedShape) -> dict[str, Any]:
    """A shape as JSON, SI."""
    return {
        "time": shape.time,
        "tip": shape.tip.tolist(),
        "tip_in_base": shape.tip_in_base.tolist(),
        "angles": shape.angles.tolist(),
        "angle_sigmas": shape.angle_sigmas.tolist(),
        "settled": shape.settled,
        "covariance": shape.covariance.tolist(),
        "heading_residuals": shape.heading_residuals.tolist(),
        "tilt_residuals": shape.tilt_residuals.tolist(),
        "health": [row._asdict() for row in shape.health],
    }


def counters_record(counters: Counters) -> dict[str, Any]:
    """Counters as JSON."""
    fields = {item.name: getattr(counters, item.name) for item in dataclasses.fields(counters)}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in fields.items()}
