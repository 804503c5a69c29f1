"""Equations 1 to 9 of Lapusan et al. 2022 in plain NumPy, as printed, and what they become when corrected.

One function per equation. Angles in rad, lengths in any unit. theta_ji of (4), which the paper does not define, is
read as theta_jy: only then is (4) the z-y-x extraction that (8) repeats.
"""

from __future__ import annotations

import numpy as np


def eq_1_2(alpha, beta, gamma):
    """R_P of one platform from its z-y-x Euler angles, element by element."""
    ca, sa, cb, sb, cg, sg = np.cos(alpha), np.sin(alpha), np.cos(beta), np.sin(beta), np.cos(gamma), np.sin(gamma)
    return np.array(
        [
            [cg * cb, cg * sb * sa - sg * ca, cg * sb * ca + sg * sa],
            [sg * cb, sg * sb * sa + cg * ca, sg * sb * ca - cg * sa],
            [-sb, cb * sa, cb * ca],
        ]
    )


def eq_3(platform, previous):
    """R_R as printed: the relative rotation about axes of the world."""
    return platform @ previous.T


def eq_3_corrected(platform, previous):
    """The relative rotation about axes of the platform before."""
    return previous.T @ platform


def eq_4(relative):
    """theta_x and theta_y of a relative rotation."""
    theta_y = np.arctan2(-relative[2, 0], np.sqrt(relative[0, 0] ** 2 + relative[1, 0] ** 2))
    theta_x = np.arctan2(relative[2, 1] / np.cos(theta_y), relative[2, 2] / np.cos(theta_y))
    return theta_x, theta_y


def about_x(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def about_y(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def translation(x=0.0, y=0.0, z=0.0):
    out = np.eye(4)
    out[:3, 3] = x, y, z
    return out


def homogeneous(rotation):
    out = np.eye(4)
    out[:3, :3] = rotation
    return out


def eq_6(theta_x, theta_y, d1, d2):
    """Along z, about x, about y, along z: the order in which the text and the subscripts name them."""
    return translation(z=d1) @ homogeneous(about_x(theta_x) @ about_y(theta_y)) @ translation(z=d2)


def eq_6_corrected(theta_x, theta_y, d1, d2):
    """The order that (4) is the inverse of: about y, then about x."""
    return translation(z=d1) @ homogeneous(about_y(theta_y) @ about_x(theta_x)) @ translation(z=d2)


def eq_6_matrices(theta_x, theta_y, d1, d2):
    """(6) as its matrices are printed: d1 in the row of x, d2 in the row of y."""
    return translation(x=d1) @ homogeneous(about_x(theta_x) @ about_y(theta_y)) @ translation(y=d2)


def eq_5(modules, base=None):
    """Frames of all platforms, (n+1, 4, 4), from the transforms of the modules."""
    frames = [np.eye(4) if base is None else homogeneous(base)]
    for module in modules:
        frames.append(frames[-1] @ module)
    return np.array(frames)


def eq_7_8(frame):
    """x, y, z, alpha, beta, gamma of a platform."""
    beta = np.arctan2(-frame[2, 0], np.sqrt(frame[0, 0] ** 2 + frame[1, 0] ** 2))
    alpha = np.arctan2(frame[2, 1] / np.cos(beta), frame[2, 2] / np.cos(beta))
    gamma = np.arctan2(frame[1, 0] / np.cos(beta), frame[0, 0] / np.cos(beta))
    return np.array([*frame[:3, 3], alpha, beta, gamma])


def eq_9(frame, gripper):
    """The end effector, by its transform from the last platform."""
    return frame @ gripper


def platforms(rotations, d1, d2, relative, module, base=None):
    """Frames of platforms (n+1, 4, 4) from orientations (n+1, 3, 3), by one choice of (3) and one of (6)."""
    pairs = zip(rotations[1:], rotations[:-1], strict=True)
    return eq_5([module(*eq_4(relative(platform, previous)), d1, d2) for platform, previous in pairs], base)


def as_printed(rotations, d1, d2, base=None):
    """The whole method."""
    return platforms(rotations, d1, d2, eq_3, eq_6, base)


def corrected(rotations, d1, d2, base=None):
    """The whole method with (3) and (6) corrected."""
    return platforms(rotations, d1, d2, eq_3_corrected, eq_6_corrected, base)


def true_platforms(theta_x, theta_y, d1, d2, base=None):
    """Frames of platforms (n+1, 4, 4) of a robot whose modules bend by these angles, about y and then about x."""
    angles = zip(theta_x, theta_y, strict=True)
    return eq_5([eq_6_corrected(x, y, d1, d2) for x, y in angles], base)
