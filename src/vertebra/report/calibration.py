"""The answer about a calibration of sensors: values with standard deviations, and what the recordings cannot tell."""

from __future__ import annotations

import math
from typing import Any

from vertebra.report.document import Facts, Report
from vertebra.sensing.calibration.calibration import Calibration, verdicts


def calibration_report(calibration: Calibration) -> Report:
    """A calibration; `Calibration.save` writes its file."""
    return Report(
        f"Calibration of {calibration.robot}",
        record=lambda: calibration_record(calibration),
        tables=lambda: calibration_tables(calibration),
    )


def calibration_tables(calibration: Calibration) -> tuple[Facts, ...]:
    """Tables for people: values with standard deviations, what is missing, how good the data are."""
    rows = verdicts(calibration)
    cells = [
        [_cell(row.value, row.sigma, row.word) for row in rows if row.sensor == sensor]
        for sensor in calibration.sensors.tolist()
    ]
    sensors = [str(sensor) for sensor in calibration.sensors]
    mounts = ("sensor", "mount x [deg]", "mount y [deg]", "mount z [deg]", "heading [deg]")
    gyros = ("sensor", "x [deg/s]", "y [deg/s]", "z [deg/s]")
    title = f"Calibration of {calibration.robot} from {', '.join(calibration.poses)}"
    parts = [
        Facts(title, mounts, tuple((sensor, *row[:4]) for sensor, row in zip(sensors, cells, strict=True))),
        Facts("Gyro bias", gyros, tuple((sensor, *row[4:]) for sensor, row in zip(sensors, cells, strict=True))),
    ]
    lost = tuple((str(row.sensor), row.parameter, row.remedy) for row in rows if row.word == "not identifiable")
    if lost:
        parts.append(
            Facts("Not identifiable from these recordings", ("sensor", "what", "would be determined by"), lost)
        )
    numbers = tuple((name, f"{value:.4g}") for name, value in calibration.quality.items())
    parts.append(Facts("Data", ("", ""), numbers))
    return tuple(parts)


def _cell(value: float, sigma: float, word: str) -> str:
    if word == "not identifiable":
        return "-"
    if word == "by definition":
        return "0 by definition"
    digits = min(max(1 - math.floor(math.log10(max(math.degrees(sigma), 1e-6))), 0), 4)
    return f"{math.degrees(value):+.{digits}f} ± {math.degrees(sigma):.{digits}f}"


def calibration_record(calibration: Calibration) -> dict[str, Any]:
    """The calibration in SI."""
    return {
        "robot": calibration.robot,
        "date": calibration.date,
        "poses": list(calibration.poses),
        "quality": dict(calibration.quality),
        "sensors": calibration.sensors.tolist(),
        "mounts": calibration.mounts.tolist(),
        "headings": calibration.headings.tolist(),
        "gyro_biases": calibration.gyro_biases.tolist(),
        "mount_sigmas": calibration.mount_sigmas.tolist(),
        "heading_sigmas": calibration.heading_sigmas.tolist(),
        "gyro_bias_sigmas": calibration.gyro_bias_sigmas.tolist(),
        "not_identifiable": [
            {"sensor": row.sensor, "parameter": row.parameter, "remedy": row.remedy}
            for row in verdicts(calibration)
            if row.word == "not identifiable"
        ],
    }
