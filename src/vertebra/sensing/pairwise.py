"""Joint angles from the orientations of neighbouring links, pair by pair, and how errors propagate through that.

`pairwise` takes the rotation between two links in the axes of the first; `paper` is equations 1 to 9 of Lapusan et al.
2022 as printed, which take it in world axes and put the joint's two rotations in the other order.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vertebra.errors import InputError
from vertebra.mechanics.kernels.sensed_chain import fit_chain
from vertebra.mechanics.kernels.sensor_intake import fill_pair_angles, place_sensed
from vertebra.robot.robot import Robot
from vertebra.robot.tables import UNIVERSAL, Floats
from vertebra.sensing.so3 import tilt_and_heading

if TYPE_CHECKING:
    from vertebra.sensing.estimator import ChainScratch, Fitted


def pairwise_fit(
    fit: ChainScratch, found: Fitted, fresh: float, noise: Floats, base_known: bool, base: Floats, q: Floats
) -> Floats:
    """Shape from pairs of links with more than `fresh` 1/rad^2 of information; returns the angle variances (freedoms,).

    `fit` holds what was measured; `found` is filled in, q becomes the angles, and base, unless known, its orientation.
    """
    known, measured = fit.information[:, 0] > fresh, fit.measured.copy()
    if base_known:
        known[0], measured[0] = True, base
    frames = pairwise_frames(fit, measured, known, base_known, base, q)
    return _assess(fit, found, frames, known, noise)


def paper_fit(
    fit: ChainScratch, found: Fitted, fresh: float, noise: Floats, base_known: bool, base: Floats, q: Floats
) -> Floats:
    """The same by the published equations, which use the last sample, however old; `fresh` is ignored."""
    heard = fit.information[:, 0] > 0.0
    measured = np.where(heard[:, None, None], fit.measured, np.eye(3))
    if base_known:
        heard[0], measured[0] = True, base
    base[:] = measured[0]
    frames = paper_frames(fit.robot, measured, base, q)
    fit.axes[:] = _universal_axes(fit.robot, frames)
    return _assess(fit, found, frames, heard, noise)


def _assess(fit: ChainScratch, found: Fitted, frames: Floats, known: NDArray[np.bool_], noise: Floats) -> Floats:
    """Fill `found` with frames, residuals and covariances; returns the angle variances (freedoms,)."""
    heard = fit.information[:, 0] > 0.0
    found.frames, found.steps = frames, 1
    variances, found.covariances = pair_covariances(fit, frames, known, noise)
    errors = fit.measured[heard] @ frames[heard, :3, :3].transpose(0, 2, 1)
    found.residuals[heard] = tilt_and_heading(errors)
    return variances


def pairwise_frames(
    fit: ChainScratch, measured: Floats, known: NDArray[np.bool_], base_known: bool, base: Floats, q: Floats
) -> Floats:
    """Frames (n+1, 4, 4) of all links; `known` (n+1,) says which links are measured.

    q becomes the angles. Unless the base is known, `base` becomes the orientation that puts the first measured link
    where it was measured. Joints across unmeasured links share the rotation as evenly as possible.
    """
    robot = fit.robot
    links = np.flatnonzero(known)
    frames = np.zeros((len(robot.links), 4, 4))
    kept = q.copy()
    fill_pair_angles(robot.joints, measured, fit.scratch[0], q)
    paired = known[:-1] & known[1:]
    loose = np.repeat(~paired, robot.joints["freedoms"])
    q[loose] = kept[loose]
    for first, last in pairwise(links):
        if last - first > 1:
            _fit_span(fit, int(first), int(last), measured, q, frames)
    stiff = np.zeros(len(robot.joints))
    if not base_known and links.size:
        place_sensed(robot.joints, robot.links, robot.origin, np.eye(3), q, stiff, frames, fit.axes)
        base[:] = measured[links[0]] @ frames[links[0], :3, :3].T
    place_sensed(robot.joints, robot.links, robot.origin, base, q, stiff, frames, fit.axes)
    return frames


def _fit_span(fit: ChainScratch, first: int, last: int, measured: Floats, q: Floats, frames: Floats) -> None:
    """Angles between two links of known orientation, as near to those in q as possible; q is changed."""
    count, part, ends = last - first, slice(first, last), slice(first, last + 1)
    information = np.zeros((count + 1, 3))
    information[-1] = 1e6
    twist, residuals, weights = np.zeros(count), np.zeros((count + 1, 3)), np.zeros((count + 1, 2))
    frames[first, :3, :3] = measured[first]
    fit_chain(
        fit.robot.joints[part], fit.robot.links[ends], measured[ends], information, math.inf, 0.0, np.zeros(count),
        True, q, twist, frames[ends], fit.axes, fit.factors[ends], residuals, weights,
    )  # fmt: skip


def paper_frames(robot: Robot, measured: Floats, base: Floats, q: Floats) -> Floats:
    """Frames (n+1, 4, 4) by the paper's equations; q is changed to its angles, about y and then about x."""
    turned = measured[1:] @ measured[:-1].transpose(0, 2, 1)  # equation 3
    theta_y = np.arctan2(-turned[:, 2, 0], np.hypot(turned[:, 0, 0], turned[:, 1, 0]))  # equation 4
    theta_x = np.arctan2(turned[:, 2, 1] / np.cos(theta_y), turned[:, 2, 2] / np.cos(theta_y))
    y_first = robot.joints["axis_y"] == 1.0
    q[0::2], q[1::2] = np.where(y_first, theta_y, theta_x), np.where(y_first, theta_x, theta_y)
    frames = np.zeros((len(robot.links), 4, 4))
    frames[:, 3, 3] = 1.0
    frames[0, :3, :3] = base
    for j, joint in enumerate(robot.joints):  # equations 5 and 6
        rotation = frames[j, :3, :3]
        frames[j + 1, :3, 3] = frames[j, :3, 3] + (robot.links["reach"][j] + joint["size"]) * rotation[:, 2]
        frames[j + 1, :3, :3] = rotation @ _about_x_then_y(theta_x[j], theta_y[j])
    return frames


def require_universal(robot: Robot) -> None:
    """The paper's equations are for universal joints with a sensor on every link."""
    others = np.flatnonzero(robot.joints["kind"] != UNIVERSAL)
    if others.size:
        raise InputError(
            "method", f"'paper' is for universal joints and joint {others[0] + 1} is not one; use 'chain' or 'pairwise'"
        )
    if len(robot.sensor_links) < len(robot.links):
        raise InputError("method", "'paper' needs a sensor on every link; use 'chain' or 'pairwise'")


def pair_covariances(
    fit: ChainScratch, frames: Floats, known: NDArray[np.bool_], noise: Floats
) -> tuple[Floats, Floats]:
    """Variances (freedoms,) of the angles, rad^2, and covariances (n+1, 6, 6) of the platforms, world axes, for angles
    that each depend on the two links of a pair; noise (n+1, 3) standard deviations of the sensors, rad.

    Angles that no pair determines get the square of their joint's limit.
    """
    robot, axes = fit.robot, fit.axes
    n = len(robot.joints)
    variances, covariances = np.empty(robot.freedoms), np.zeros((n + 1, 6, 6))
    ends = frames[:, :3, 3] + fit.points[:, None] * frames[:, :3, 2]
    # `before`: effect of the last sensor's error on (turn, displacement at the world's origin) of the links beyond the
    # next joint. Angles count from the measured orientation of the base, so the error of the base turns everything.
    total = np.zeros((6, 6))
    before = np.zeros((6, 3))
    before[:3] = np.eye(3)
    covariances[0] = _at_point(before @ np.diag(noise[0] ** 2) @ before.T, ends[0])
    for j, joint in enumerate(robot.joints):
        own = slice(joint["first"], joint["first"] + joint["freedoms"])
        spin, centre = axes[own, :3], axes[own, 3:6]
        along = axes[own, 6:].sum(axis=1, keepdims=True) * spin
        twists = np.concatenate([spin, np.cross(centre, spin) + along], axis=1).T
        if known[j] and known[j + 1]:
            share = _share(joint["kind"], spin, frames[j, :3, 2], frames[j + 1, :3, 2])
            variances[own] = (share**2 @ (noise[j] ** 2 + noise[j + 1] ** 2)).ravel()
            effect = twists @ share
            leaving = before - effect
            total += leaving @ np.diag(noise[j] ** 2) @ leaving.T
            before = effect
        else:
            variances[own] = joint["limit"] ** 2
            total += joint["limit"] ** 2 * twists @ twists.T
        covariances[j + 1] = _at_point(total + before @ np.diag(noise[j + 1] ** 2) @ before.T, ends[j + 1])
    return variances, covariances


def _share(kind: int, spin: Floats, before: Floats, after: Floats) -> Floats:
    """(freedoms, 3) share of a small turn between two links that each angle takes; the z axes of both links are given.

    The angles of a universal joint leave the rest to a turn about the z of the link before, the bend of a ball or a
    backbone joint to one about the z of the link after.
    """
    if len(spin) == 2:
        return np.asarray(np.linalg.inv([*spin, before if kind == UNIVERSAL else after]).T[:2])
    return np.asarray(np.linalg.pinv(spin.T))


def _universal_axes(robot: Robot, frames: Floats) -> Floats:
    """(freedoms, 6) axes and centres of universal joints between given frames."""
    axes = np.empty((robot.freedoms, 6))
    y_first = (robot.joints["axis_y"] == 1.0)[:, None]
    axes[0::2, :3] = np.where(y_first, frames[:-1, :3, 1], frames[:-1, :3, 0])
    axes[1::2, :3] = np.where(y_first, frames[1:, :3, 0], frames[1:, :3, 1])
    axes[0::2, 3:] = axes[1::2, 3:] = frames[1:, :3, 3]
    return axes


def _at_point(covariance: Floats, point: Floats) -> Floats:
    """From (turn, displacement at the origin) to (displacement of the point, turn)."""
    x, y, z = point
    change = np.zeros((6, 6))
    change[:3, :3] = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]
    change[:3, 3:] = change[3:, :3] = np.eye(3)
    return np.asarray(change @ covariance @ change.T)


def _about_x_then_y(theta_x: float, theta_y: float) -> Floats:
    sx, cx, sy, cy = np.sin(theta_x), np.cos(theta_x), np.sin(theta_y), np.cos(theta_y)
    return np.array([[cy, 0.0, sy], [sx * sy, cx, -sx * cy], [-cx * sy, sx, cx * cy]])
