"""How far sensed shapes are from the truth, in the frame of the base."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vertebra.errors import InputError
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.hil.estimate import SensedRun
from vertebra.sensing.sensed_shape import SensorState
from vertebra.sensing.simulated.motion import Truth, world_frames


@dataclass(frozen=True, eq=False, repr=False)
class Score:
    """K shapes of one method beside the truth, SI, axes of the base. A mean is that of absolute errors (MAE)."""

    robot: Robot
    method: str
    times: Floats
    """(K,) s of the master's clock."""
    true_angles: Floats
    """(K, freedoms) rad."""
    angles: Floats
    """(K, freedoms) rad, sensed."""
    true_frames: Floats
    """(K, links, 4, 4) m."""
    frames: Floats
    """(K, links, 4, 4) m, sensed."""

    @property
    def angle_errors(self) -> Floats:
        """(K, freedoms) rad; sensed minus true joint angles."""
        return self.angles - self.true_angles

    @cached_property
    def platform_errors(self) -> Floats:
        """(K, links, 3) m; sensed minus true position of each platform."""
        return platforms(self.robot, self.frames) - platforms(self.robot, self.true_frames)

    @property
    def platform_distances(self) -> Floats:
        """(K, links) m."""
        distances: Floats = np.linalg.norm(self.platform_errors, axis=-1)
        return distances

    @cached_property
    def platform_turns(self) -> Floats:
        """(K, links) rad; angle of the rotation from the true to the sensed platform."""
        turned = np.swapaxes(self.true_frames[..., :3, :3], -1, -2) @ self.frames[..., :3, :3]
        angles: Floats = np.linalg.norm(so3.log(turned), axis=-1)
        return angles

    @cached_property
    def platform_angles(self) -> Floats:
        """(K, links, 3) rad; differences of alpha, beta, gamma of the platforms: R = Rz(gamma) Ry(beta) Rx(alpha)."""
        difference = so3.roll_pitch_yaw(self.frames[..., :3, :3]) - so3.roll_pitch_yaw(self.true_frames[..., :3, :3])
        wrapped: Floats = np.remainder(difference + np.pi, 2 * np.pi) - np.pi
        return wrapped

    @property
    def true_tips(self) -> Floats:
        """(K, 3) m."""
        return _points(self.true_frames[:, -1], self.robot.tip_point)

    @property
    def tips(self) -> Floats:
        """(K, 3) m, sensed."""
        return _points(self.frames[:, -1], self.robot.tip_point)

    @cached_property
    def tip_errors(self) -> Floats:
        """(K,) m; distance between sensed and true tip."""
        distances: Floats = np.linalg.norm(self.tips - self.true_tips, axis=-1)
        return distances

    @property
    def tip_mean(self) -> float:
        """m; mean distance of the tip."""
        return float(self.tip_errors.mean())

    @property
    def tip_worst(self) -> float:
        """m"""
        return float(self.tip_errors.max())

    @property
    def turn_mean(self) -> float:
        """rad; mean angle between sensed and true last link."""
        return float(self.platform_turns[:, -1].mean())

    @property
    def turn_worst(self) -> float:
        """rad"""
        return float(self.platform_turns[:, -1].max())

    def __repr__(self) -> str:
        tip = f"{self.tip_mean * 1e3:.3f} mm (worst {self.tip_worst * 1e3:.3f})"
        turn = f"{np.degrees(self.turn_mean):.3f} deg (worst {np.degrees(self.turn_worst):.3f})"
        return f"Score of {self.method} on {len(self.times)} shapes: tip {tip}, {turn}"


def score(sensed: SensedRun, truth: Truth) -> Score:
    """Compare shapes with the truth at their own times.

    Left out are shapes after the last SYNC of the truth, and the first ones, until every sensor that is ever heard has
    been heard once.
    """
    within = (sensed.times >= truth.times[0]) & (sensed.times <= truth.times[-1]) & _begun(sensed)
    if not within.any():
        raise InputError("sensed", "has no shape within the time of the truth; both must be of one run")
    times = sensed.times[within]
    true_frames = world_frames(truth.base.T, truth.frames_at(times))
    true_angles = np.column_stack([np.interp(times, truth.times, column) for column in truth.angles.T])
    angles, frames = sensed.angles[within], sensed.frames[within]
    return Score(truth.robot, sensed.method, times, true_angles, angles, true_frames, frames)


def platforms(robot: Robot, frames: Floats) -> Floats:
    """(..., links, 3) far face of each link, where the next joint starts, m."""
    reach = np.zeros((len(robot.links), 3))
    reach[:, 2] = robot.links["reach"]
    return _points(frames, reach)


def _begun(sensed: SensedRun) -> NDArray[np.bool_]:
    """(K,) whether all sensors that are ever heard have been heard by then."""
    unheard = sensed.states == SensorState.SILENT
    begun: NDArray[np.bool_] = ~(unheard & ~unheard[-1]).any(axis=1)
    return begun


def _points(frames: Floats, points: Floats) -> Floats:
    """Points given in the axes of frames (..., 4, 4)."""
    there: Floats = frames[..., :3, 3] + (frames[..., :3, :3] @ points[..., None])[..., 0]
    return there
