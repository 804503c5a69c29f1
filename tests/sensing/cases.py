"""Robots, poses and orientations that the tests of shape sensing share."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation
from tests import robots

import vertebra as vb
from vertebra.robot.tables import BALL
from vertebra.sensing.estimator import ShapeEstimator

DEGREE = np.pi / 180


def universal(count, order="yx", limit="90 deg", **sensors):
    """A robot like lapusan2022 with any number of modules."""
    joint = {"kind": "universal", "order": order, "lower": "42 mm", "limit": limit}
    mapping = {"vertebra": 1, "name": f"universal-{count}-{order}"}
    if sensors:
        mapping["sensors"] = sensors
    return vb.load({**mapping, "sections": [{"joints": count, "joint": joint, "link": {"length": "42 mm"}}]})


def with_sensors(robot, **sensors):
    """The same robot with sensors elsewhere or of another quality."""
    return vb.load({**robot.to_mapping(), "sensors": sensors})


def every_kind():
    """One robot of each kind of joint, and the mixed ones."""
    ball = robots.section(4, robots.BALL, robots.BALL_LINK)
    return [
        universal(4),
        universal(7, "xy"),
        robots.robot("rolling", robots.section(6, robots.ROLLING, azimuth=["0 deg", "70 deg"])),
        robots.robot("flexure", robots.section(6, robots.FLEXURE, azimuth=["20 deg", "-65 deg"])),
        robots.robot("pin", robots.section(6, robots.PIN, azimuth=["140 deg", "10 deg"])),
        robots.robot("ball", ball),
        robots.mirror_mix(),
        robots.turning_mix(),
        robots.ball_first(),
    ]


def random_pose(robot, rng, share=0.6):
    """Joint angles within a share of the limits."""
    joints = robot.joints
    reach = share * joints["limit"] / np.where(joints["kind"] == BALL, np.sqrt(2), 1.0)
    return rng.uniform(-1.0, 1.0, robot.freedoms) * np.repeat(reach, joints["freedoms"])


def random_rotation(rng):
    return Rotation.from_quat(rng.normal(size=4)).as_matrix()


def about_z(angle):
    return Rotation.from_rotvec([0.0, 0.0, angle]).as_matrix()


def disturbed(rotations, noise, rng):
    """Rz(heading) exp(tilt) R, with errors of the given standard deviations (..., 3), rad."""
    errors = rng.normal(size=(len(rotations), 3)) * noise
    tilts, headings = errors * [1.0, 1.0, 0.0], errors * [0.0, 0.0, 1.0]
    return (Rotation.from_rotvec(headings) * Rotation.from_rotvec(tilts)).as_matrix() @ rotations


def link_rotations(robot, q, base):
    """(sensors, 3, 3) true orientations of the links that carry sensors."""
    return (base @ vb.Pose(robot, q).frames[:, :3, :3])[robot.sensor_links]


def feed(estimator, rotations, time, **given):
    """One sample per sensor, all taken at the same time; whether each was accepted."""
    links = estimator.robot.sensor_links.tolist()
    return [estimator.update(link, R, time, **given) for link, R in zip(links, rotations, strict=True)]


def fed(robot, rotations, time=0.0, **options):
    """A new estimator with one sample per sensor."""
    estimator = ShapeEstimator(robot, **options)
    assert all(feed(estimator, rotations, time))
    return estimator


def assert_finite(shape):
    """Nothing in a result is NaN or infinite, no variance negative, every frame a frame, every angle within range."""
    for name in ("angles", "joint_twists", "base", "frames", "platforms", "tip_frame", "covariance",
                 "platform_covariances", "angle_sigmas", "heading_residuals", "tilt_residuals", "weights"):  # fmt: skip
        assert np.isfinite(getattr(shape, name)).all(), name
    assert (np.diagonal(shape.platform_covariances, axis1=1, axis2=2) >= -1e-15).all()
    rotations = shape.frames[:, :3, :3]
    np.testing.assert_allclose(
        rotations @ rotations.transpose(0, 2, 1), np.broadcast_to(np.eye(3), rotations.shape), atol=1e-9
    )
    assert ((shape.weights >= 0.0) & (shape.weights <= 1.0)).all()


def numbers_of(shape):
    """All numbers of a result, as bytes."""
    arrays = (shape.angles, shape.joint_twists, shape.base, shape.frames, shape.platforms, shape.tip_frame,
              shape.covariance, shape.platform_covariances, shape.angle_sigmas, shape.heading_residuals,
              shape.tilt_residuals, shape.states, shape.ages, shape.samples, shape.outliers, shape.weights)  # fmt: skip
    return (
        b"".join(array.tobytes() for array in arrays) + repr((shape.time, shape.iterations, shape.converged)).encode()
    )


def turned(rate, time):
    """exp(rate time)."""
    return Rotation.from_rotvec(np.asarray(rate) * time).as_matrix()


def still(robot, seed=0):
    """A pose of the robot: angles, base, orientations."""
    rng = np.random.default_rng(seed)
    q, base = random_pose(robot, rng), random_rotation(rng)
    return q, base, link_rotations(robot, q, base)
