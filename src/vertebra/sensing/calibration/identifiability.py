"""What the recordings determine: posterior standard deviations, and the poses that would tell the rest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.calibration.result import Calibration
from vertebra.sensing.calibration.solve import Solution, sensor_covariance
from vertebra.sensing.calibration.unknowns import BIAS, HEADING

MOUNT_BLIND = np.radians(3.0)
HEADING_BLIND = np.radians(5.0)
BIAS_BLIND = np.radians(0.5)
"""rad and rad/s; what is less sure than this is not determined. Beforehand, it is ten times as unsure or more."""
AZIMUTH_BLIND = np.radians(1.0)
"""rad; the azimuth of the joints is only worth fitting if it is known better than a sensor can be glued on."""
_SAME = 0.995
_PART = 0.1
"""An axis with more than this part of an undetermined direction is not determined."""


class Determined(NamedTuple):
    """Constants with what is not determined taken out."""

    mounts: Floats
    headings: Floats
    biases: Floats
    mount_sigmas: Floats
    heading_sigmas: Floats
    bias_sigmas: Floats


def azimuth_known(solution: Solution, up: Floats) -> bool:
    """Whether the motion tells how any sensor is turned about the vertical of the straight pose against the joints."""
    m = len(solution.unknowns.mounts)
    return any(up @ sensor_covariance(solution, i)[:3, :3] @ up < AZIMUTH_BLIND**2 for i in range(m))


def determined(solution: Solution, up: Floats, first_held: bool) -> Determined:
    """Values and standard deviations; infinite, and the value of a perfect sensor, where nothing is known."""
    unknowns = solution.unknowns
    m = len(unknowns.mounts)
    mounts, headings, biases = unknowns.mounts.copy(), unknowns.headings.copy(), unknowns.biases.copy()
    mount_sigmas, heading_sigmas, bias_sigmas = np.empty((m, 3)), np.empty(m), np.empty((m, 3))
    for i in range(m):
        covariance = sensor_covariance(solution, i)
        blind = [up] if i == 0 and first_held else []
        mount_sigmas[i], lost = _axes(covariance[:3, :3], blind, up)
        mounts[i] = _without(mounts[i], lost)
        heading_sigmas[i] = np.sqrt(covariance[HEADING, HEADING]) if i else 0.0
        bias_sigmas[i] = np.sqrt(np.diag(covariance)[BIAS])
    heading_sigmas[heading_sigmas > HEADING_BLIND] = np.inf
    headings[np.isinf(heading_sigmas)] = headings[0] = 0.0
    bias_sigmas[bias_sigmas > BIAS_BLIND] = np.inf
    biases[np.isinf(bias_sigmas)] = 0.0
    return Determined(mounts, headings, biases, mount_sigmas, heading_sigmas, bias_sigmas)


def _axes(covariance: Floats, blind: list[Floats], up: Floats) -> tuple[Floats, list[Floats]]:
    """Standard deviations about x, y, z, infinite along undetermined directions; and those directions."""
    values, directions = np.linalg.eigh(covariance)
    found = directions.T[values > MOUNT_BLIND**2]
    # What a single pose leaves open is the turn about the vertical; noise tips the direction by a little.
    lost = [*blind, *(up if abs(direction @ up) > _SAME else direction for direction in found)]
    known = values <= MOUNT_BLIND**2
    sigmas = np.sqrt((directions[:, known] ** 2 * values[known]).sum(axis=1))
    for direction in lost:
        sigmas[np.abs(direction) > _PART] = np.inf
    return sigmas, lost


def _without(mount: Floats, lost: list[Floats]) -> Floats:
    """The mount without its turn about an undetermined direction; nothing is left of one with several."""
    if not lost:
        return mount
    if len(lost) > 1:
        return np.eye(3)
    w, xyz = so3.quaternion(mount)
    return np.asarray(so3.exp(-2.0 * np.arctan2(xyz @ lost[0], w) * lost[0]) @ mount)


class Verdict(NamedTuple):
    """Of one number of a calibration."""

    sensor: int
    parameter: str
    """``mount x``, ``mount y``, ``mount z``, ``heading``, ``gyro bias x``, ..."""
    value: float
    """rad or rad/s."""
    sigma: float
    """rad or rad/s; infinite when not identifiable."""
    word: str
    """``determined``, ``by definition`` or ``not identifiable``."""
    remedy: str
    """What would determine it."""


def verdicts(calibration: Calibration) -> tuple[Verdict, ...]:
    """One for each number, sensor by sensor."""
    rows = list[Verdict]()
    for i, sensor in enumerate(calibration.sensors.tolist()):
        turns = so3.log(calibration.mounts[i])
        named = [(f"mount {axis}", turns[k], calibration.mount_sigmas[i, k]) for k, axis in enumerate("xyz")]
        named.append(("heading", calibration.headings[i], calibration.heading_sigmas[i]))
        named += [
            (f"gyro bias {axis}", calibration.gyro_biases[i, k], calibration.gyro_bias_sigmas[i, k])
            for k, axis in enumerate("xyz")
        ]
        rows += [_verdict(calibration.poses, i, sensor, name, float(v), float(sigma)) for name, v, sigma in named]
    return tuple(rows)


def _verdict(poses: tuple[str, ...], i: int, sensor: int, name: str, value: float, sigma: float) -> Verdict:
    if np.isfinite(sigma):
        word = "by definition" if i == 0 and name == "heading" else "determined"
        return Verdict(sensor, name, value, sigma, word, "")
    return Verdict(sensor, name, value, sigma, "not identifiable", _remedy(poses, i, name))


def _remedy(poses: tuple[str, ...], i: int, name: str) -> str:
    if name.startswith("gyro"):
        return "send rates (frames 0x180 + sensor)"
    if i == 0:
        motion = "motion of pin, rolling, flexure or universal joints"
        return f"{motion}; until then the base sensor defines the azimuth" if "motion" not in poses else (
            "larger motion, unless all joints are balls; the base sensor defines the azimuth"
        )  # fmt: skip
    missing = [pose for pose in ("straight", "tilted", "motion") if pose not in poses]
    return {"tilted": "a pose tilted by about 30 deg", "motion": "30 s of motion"}.get(
        missing[0] if missing else "", "a larger tilt, or more motion"
    )
