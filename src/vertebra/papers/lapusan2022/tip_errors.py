"""How far an estimated pose is from the true one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vertebra.papers.lapusan2022.equations import MM, poses_mm_deg
from vertebra.robot.tables import Floats


@dataclass(frozen=True)
class TipError:
    """Distance and angle between estimated and true poses of the tip, in the frame of the base."""

    mean_mm: float
    largest_mm: float
    mean_deg: float
    largest_deg: float


def tip_error(found: Floats, true: Floats) -> TipError:
    """Of frames (N, 4, 4), m."""
    apart, turned = distances_mm(found, true), angles_deg(found, true)
    return TipError(float(apart.mean()), float(apart.max()), float(turned.mean()), float(turned.max()))


def distances_mm(found: Floats, true: Floats) -> Floats:
    """(N,) between the origins of frames (N, 4, 4) in m."""
    return np.asarray(MM * np.linalg.norm(found[:, :3, 3] - true[:, :3, 3], axis=1))


def angles_deg(found: Floats, true: Floats) -> Floats:
    """(N,) by which one frame must turn to be parallel to the other; exact for small angles too."""
    relative = np.swapaxes(true[:, :3, :3], 1, 2) @ found[:, :3, :3]
    # |R - I| = 2 sqrt(2) sin(angle / 2): no arccos, which loses half of the digits near 1.
    chord = np.linalg.norm(relative - np.eye(3), axis=(1, 2)) / np.sqrt(8.0)
    return np.asarray(np.degrees(2.0 * np.arcsin(np.minimum(chord, 1.0))))


def differences(found: Floats, true: Floats) -> Floats:
    """(N, 6) mm and deg: found less true, in x, y, z, alpha, beta, gamma."""
    out = poses_mm_deg(found) - poses_mm_deg(true)
    out[:, 3:] = (out[:, 3:] + 180.0) % 360.0 - 180.0
    return out


def mean_absolute(found: Floats, true: Floats) -> Floats:
    """(6,) mm and deg: mean absolute errors, as the paper gives them."""
    return np.asarray(np.abs(differences(found, true)).mean(axis=0))
