"""Frames and tip Jacobian of a rolling-joint chain in plain NumPy: the reference, written as one would in a lab."""

from __future__ import annotations

import numpy as np


def frames_and_jacobian(joints, links, tip, q):
    frame = np.eye(4)
    frames, axes, centres = [frame], [], []
    for j in range(len(q)):
        radius, x, y, angle = joints["size"][j], joints["axis_x"][j], joints["axis_y"][j], q[j]
        half = angle / 2
        s = radius / np.cos(half) - radius
        cos, sin = np.cos(angle), np.sin(angle)
        turn = np.array(
            [
                [cos + x * x * (1 - cos), x * y * (1 - cos), y * sin, 0.0],
                [x * y * (1 - cos), cos + y * y * (1 - cos), -x * sin, 0.0],
                [-y * sin, x * sin, cos, 0.0],
                [0.0, 0.0, 0.0, 1.0],
            ]
        )
        up = np.eye(4)
        up[2, 3] = links["reach"][j] + s
        over = np.eye(4)
        over[2, 3] = s
        crossing = frame @ up
        bend = np.array([y, -x, 0.0])
        tangent = np.cos(half) * bend - np.sin(half) * np.array([0.0, 0.0, 1.0])
        axes.append(frame[:3, :3] @ np.array([x, y, 0.0]))
        centres.append(crossing[:3, 3] + radius * np.tan(half) * (frame[:3, :3] @ tangent))
        frame = crossing @ turn @ over
        frames.append(frame)
    point = frame[:3, 3] + frame[:3, :3] @ tip
    axes, centres = np.array(axes), np.array(centres)
    return np.array(frames), np.vstack([np.cross(axes, point - centres).T, axes.T])
