"""Chain geometry in plain NumPy, by other constructions than the kernels' and valid for complex angles.

Rolling joints are two hinges at the arc centres, flexures are integrated along their arc, cables are straight lines
between hole points. Complex angles give derivatives by the complex step.
"""

from __future__ import annotations

import itertools

import numpy as np

from vertebra.robot.tables import BALL, FLEXURE, PIN, ROLLING

STEP = 1e-30


def slide(z):
    out = np.eye(4, dtype=complex)
    out[2, 3] = z
    return out


def turn(axis, angle):
    """Rodrigues, for a unit axis and a complex angle."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], dtype=complex)
    out = np.eye(4, dtype=complex)
    out[:3, :3] += np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
    return out


def exponential(w):
    """exp of a rotation vector by its power series: no axis, no square root, smooth at zero."""
    x, y, z = w
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], dtype=complex)
    term, total = np.eye(3, dtype=complex), np.eye(3, dtype=complex)
    for k in range(1, 60):
        term = term @ K / k
        total = total + term
    out = np.eye(4, dtype=complex)
    out[:3, :3] = total
    return out


NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)
NODES, WEIGHTS = 0.5 * (NODES + 1), 0.5 * WEIGHTS


def arc(axis, length, angle):
    """End frame of a rod bent to constant curvature, by quadrature of its tangent."""
    out = turn(axis, angle)
    out[:3, 3] = sum(
        weight * length * turn(axis, node * angle)[:3, 2] for node, weight in zip(NODES, WEIGHTS, strict=True)
    )
    return out


def arc_centroid(axis, length, angle):
    """Centroid of that rod, from its start."""
    return sum(
        weight * arc(axis, node * length, node * angle)[:3, 3] for node, weight in zip(NODES, WEIGHTS, strict=True)
    )


def joint_motion(joint, q):
    """Transform across one joint, from the start of the joint to the frame of the distal link."""
    size, axis = joint["size"], (joint["axis_x"], joint["axis_y"], 0.0)
    if joint["kind"] == ROLLING:
        half = turn(axis, q[0] / 2)
        return slide(-size) @ half @ slide(2 * size) @ half @ slide(-size)
    if joint["kind"] == FLEXURE:
        return arc(axis, size, q[0])
    if joint["kind"] == PIN:
        return slide(size) @ turn(axis, q[0]) @ slide(size)
    if joint["kind"] == BALL:
        return exponential((-q[1], q[0], 0.0)) @ slide(size)
    second = (joint["axis_y"], joint["axis_x"], 0.0)
    return slide(size) @ turn(axis, q[0]) @ turn(second, q[1])


def frames(robot, q):
    out = [slide(robot.origin[2])]
    for j, joint in enumerate(robot.joints):
        part = q[joint["first"] : joint["first"] + joint["freedoms"]]
        out.append(out[-1] @ slide(robot.links["reach"][j]) @ joint_motion(joint, part))
    return np.array(out)


def hole(frame, cable, z):
    return (frame @ np.array([cable["x"], cable["y"], z, 1.0]))[:3]


def distance(a, b):
    # No conjugate: the complex step needs an analytic function.
    return np.sqrt(np.sum((a - b) ** 2))


def segment_lengths(robot, q):
    """(cables, n) straight distances across the joints."""
    links = frames(robot, q)
    out = np.zeros((len(robot.cables), len(robot.joints)), dtype=complex)
    for k, cable in enumerate(robot.cables):
        for j in range(cable["last_link"]):
            segment = robot.segments[k, j]
            out[k, j] = distance(hole(links[j], cable, segment["exit"]), hole(links[j + 1], cable, segment["entry"]))
    return out


def cable_lengths(robot, q):
    """(cables,) along all holes, from the base plane, or a hole of the base below it, to the end."""
    links = frames(robot, q)
    totals = []
    for k, cable in enumerate(robot.cables):
        points = [hole(np.eye(4), cable, min(0.0, robot.origin[2] + robot.segments[k, 0]["exit"]))]
        for j in range(cable["last_link"]):
            points.append(hole(links[j], cable, robot.segments[k, j]["exit"]))
            points.append(hole(links[j + 1], cable, robot.segments[k, j]["entry"]))
        points.append(hole(links[cable["last_link"]], cable, cable["end"]))
        totals.append(sum(distance(a, b) for a, b in itertools.pairwise(points)))
    return np.array(totals)


def derivative(function, q):
    """d function / d q by the complex step; the coordinate is the last axis."""
    columns = []
    for f in range(len(q)):
        moved = q.astype(complex)
        moved[f] += 1j * STEP
        columns.append(function(moved).imag / STEP)
    return np.stack(columns, axis=-1)


def jacobian(robot, q, link, point):
    """Linear and angular rows from the complex step of position and of R' R^T."""
    spot = np.append(point, 1.0)
    d = derivative(lambda q: frames(robot, q)[link], q)
    R = frames(robot, q)[link, :3, :3].real
    linear = np.einsum("ijf,j->if", d, spot)[:3]
    spin = np.einsum("ijf,kj->ikf", d[:3, :3], R)
    return np.vstack([linear, spin[2, 1], spin[0, 2], spin[1, 0]])
