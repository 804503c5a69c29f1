"""The table that an estimator keeps of its sensors, with their calibration."""

from __future__ import annotations

import math

import numpy as np

from vertebra.errors import InputError
from vertebra.mechanics.kernels.sensor_intake import SENSOR
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats, Table
from vertebra.sensing.calibration.result import Calibration


def sensor_table(robot: Robot, noise: Floats, calibration: Calibration | None) -> Table:
    """(sensors,) rows of `SENSOR`, nothing heard yet; `noise` (sensors, 3) rad."""
    table = np.zeros(len(robot.sensor_links), SENSOR)
    table["link"], table["noise"] = robot.sensor_links, noise
    table["rotation"] = table["mount"] = np.eye(3)
    table["heading_cos"] = table["heading_trust"] = 1.0
    table["time"] = table["rate_time"] = -math.inf
    if calibration is not None:
        _calibrate(table, robot, calibration)
    return table


def _calibrate(table: Table, robot: Robot, calibration: Calibration) -> None:
    missing = np.setdiff1d(robot.sensor_links, calibration.sensors)
    if missing.size:
        raise InputError("calibration", f"has no entry for sensor {missing[0]} of {robot.name}; calibrate this robot")
    order = np.argsort(calibration.sensors)
    rows = order[np.searchsorted(calibration.sensors, robot.sensor_links, sorter=order)]
    headings = calibration.headings[rows]
    table["mount"], table["bias"] = calibration.mounts[rows], calibration.gyro_biases[rows]
    table["heading_cos"], table["heading_sin"] = np.cos(headings), np.sin(headings)
