"""Frames and Jacobian against plain NumPy, and how time grows with the number of links."""

from __future__ import annotations

from functools import partial

import numpy as np

import vertebra as vb
from benchmarks import numpy_chain
from benchmarks.report import Row
from benchmarks.timing import medians
from vertebra.mechanics.compiled import kernel
from vertebra.mechanics.kernels.joints import point_jacobian, walk_chain

SIZES = (12, 50, 200, 1000)


@kernel
def frames_and_jacobian(joints, links, origin, q, link, point, frames, twists, jacobian):
    """Both in one compiled call."""
    walk_chain(joints, links, origin, q, frames, twists)
    point_jacobian(joints, frames, twists, link, point, jacobian)


def long_robot(links: int) -> vb.Robot:
    mapping = vb.load("hu2023-prototype").to_mapping()
    mapping["sections"][0]["joints"] = links - 1
    return vb.load(mapping)


def kernel_call(robot: vb.Robot, q: np.ndarray):
    n = len(robot.joints)
    out = np.empty((n + 1, 4, 4)), np.empty((n, 6)), np.empty((6, n))
    return partial(frames_and_jacobian, robot.joints, robot.links, robot.origin, q, n, robot.tip_point, *out)


def rows() -> list[Row]:
    result, seconds = [], []
    for links in SIZES:
        robot = long_robot(links)
        q = np.random.default_rng(links).uniform(-0.3, 0.3, links - 1)
        reference = numpy_chain.frames_and_jacobian(robot.joints, robot.links, robot.tip_point, q)
        np.testing.assert_allclose(reference[0], vb.Pose(robot, q).frames, rtol=0, atol=1e-11)
        np.testing.assert_allclose(reference[1], vb.Pose(robot, q).jacobian(), rtol=0, atol=1e-11)
        plain, compiled, public = medians(
            lambda: numpy_chain.frames_and_jacobian(robot.joints, robot.links, robot.tip_point, q),  # noqa: B023
            kernel_call(robot, q),
            lambda: vb.Pose(robot, q).jacobian(),  # noqa: B023
        )
        seconds.append(compiled)
        goal = 100.0 if links in (12, 200) else None
        what = f"frames + Jacobian, {links} links"
        result.append(Row(what, "plain NumPy / kernel", plain / compiled, goal, f"{compiled * 1e6:.2f} us"))
        result.append(Row(what, "plain NumPy / public call", plain / public, None, f"{public * 1e6:.2f} us"))
    exponent = np.polyfit(np.log(SIZES), np.log(seconds), 1)[0]
    result.append(Row("frames + Jacobian, 12 to 1000 links", "scaling exponent", exponent, 1.1, "", at_most=True))
    return result
