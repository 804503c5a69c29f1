"""Samples of simulated sensors as payloads of CAN frames."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.simulated.sensor_errors import Measured
from vertebra.sensing.simulated.sensor_model import SensorModel
from vertebra.sensing.wire.can import ANGLES, DISTURBED, GYRO, QUATERNION, angles_data, gyro_data, quaternion_data

Payloads = list[tuple[int, list[bytes]]]
"""For each kind of frame (ANGLES, ...), one payload a sample."""


def payloads(model: SensorModel, measured: Measured, counters: Sequence[int], ages: Floats) -> Payloads:
    """What a node sends for samples that answer the SYNCs `counters`, `ages` s old at them."""
    status = [DISTURBED if disturbed else 0 for disturbed in measured.disturbed.tolist()]
    tails = list(zip(counters, status, ages.tolist(), strict=True))
    kinds: Payloads = []
    if model.quaternions:
        values = np.column_stack(so3.quaternion(measured.orientations)).tolist()
        kinds.append((QUATERNION, [quaternion_data(q, *tail) for q, tail in zip(values, tails, strict=True)]))
    else:
        values = so3.roll_pitch_yaw(measured.orientations).tolist()
        kinds.append((ANGLES, [angles_data(angles, *tail) for angles, tail in zip(values, tails, strict=True)]))
    if model.gyro:
        values = measured.rates.tolist()
        kinds.append((GYRO, [gyro_data(rates, *tail) for rates, tail in zip(values, tails, strict=True)]))
    return kinds
