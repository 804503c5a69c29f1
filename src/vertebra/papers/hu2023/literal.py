"""The paper's algorithm as printed, equation by equation, in the paper's own frames; compiled.

It shares no formula with `vertebra.mechanics`, so that the two can check each other. Frames (Section 2.1.1): link i
counts from 1, link 1 is fixed; its frame {i} sits at its mass centre with z toward the base and y along the line of
contact with link i-1. "Top" is the face toward the base, "bottom" the one toward the tip. theta[i-2] is the
bending angle between links i-1 and i.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.mechanics.compiled import kernel
from vertebra.robot.description import RollingJoint
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

Vector = tuple[float, float, float]
Sums = tuple[float, float, float, float, float]

CONVERGED, TOO_MANY_SWEEPS, STALLED, NO_ROOT = range(4)
PATIENCE = 10
"""Sweeps without a smaller change of the tip after which an omega counts as not converging."""
LEAST_OMEGA = 1.0 / 64.0
"""With a smaller omega the tip moves so little in a sweep that its change says nothing about the error."""


@kernel
def turn_y(c: float, s: float, v: Vector) -> Vector:
    """R_y of the angle with cosine `c` and sine `s`."""
    return c * v[0] + s * v[2], v[1], c * v[2] - s * v[0]


@kernel
def turn_z(c: float, s: float, v: Vector) -> Vector:
    """R_z of the angle with cosine `c` and sine `s`."""
    return c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]


@kernel
def between_world_and_first(alpha: float, v: Vector) -> Vector:
    """Rz(pi - alpha_1) Ry(pi) of Section 3.1, which is its own inverse: from the world to {1} and back.

    Eq 18 prints Rz(-pi + alpha_1) for the way back and so contradicts Section 3.1; the published tips agree with this.
    """
    turned: Vector = turn_z(-math.cos(alpha), math.sin(alpha), (-v[0], v[1], -v[2]))
    return turned


@kernel
def orientation(i: int, alpha: float) -> float:
    """alpha_i of Section 3.2.2."""
    return alpha if i % 2 == 1 else -alpha


@kernel
def cable_sums(i: int, alpha: float, R: float, r: float, T: Floats) -> Sums:
    """What eqs 13, 14 and 16 need of the cables in link i.

    The four segments in a joint are parallel (eqs 1, 3), so sums over the cables suffice: T, T r cos(phi),
    T r sin(phi), and T times the two roots of eqs 4 (top) and 2 (bottom).
    """
    alpha_i = orientation(i, alpha)
    total, along_x, along_y, top, bottom = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(4):
        if i % 2 == 1:
            T_ij = T[(j + 3) % 4]
            phi = (0.0, -alpha, math.pi, math.pi - alpha)[j]
        else:
            T_ij = T[j]
            phi = (0.0, math.pi + alpha, math.pi, alpha)[j]
        total += T_ij
        along_x += T_ij * r * math.cos(phi)
        along_y += T_ij * r * math.sin(phi)
        top += T_ij * math.sqrt(R * R - (r * math.cos(phi)) ** 2)
        bottom += T_ij * math.sqrt(R * R - (r * math.cos(phi + alpha_i)) ** 2)
    return total, along_x, along_y, top, bottom


@kernel
def bending_angle(a: float, b: float, c: float, previous: float) -> float:
    """The root of a sin(theta/2) + b cos(theta/2) + c = 0 (eq 16) within +-90 deg nearest `previous`; NaN if none."""
    sine = -c / math.hypot(a, b)
    if not abs(sine) <= 1.0:
        return math.nan
    best = math.nan
    for half in (math.asin(sine), math.pi - math.asin(sine)):
        half -= math.atan2(b, a)
        if half > math.pi:
            half -= 2.0 * math.pi
        elif half < -math.pi:
            half += 2.0 * math.pi
        if abs(half) < 0.25 * math.pi and not abs(2.0 * half - previous) >= abs(best - previous):
            best = 2.0 * half
    return best


@kernel
def update_gravity(theta: Floats, weight: Vector, alpha: float, G: Floats) -> None:
    """Algorithm 1: the weight of a link in every frame. All links weigh the same, so one walk of eq 15 serves all."""
    ca, sa = math.cos(alpha), math.sin(alpha)
    v = between_world_and_first(alpha, weight)
    for i in range(2, len(G) + 1):
        v = turn_z(ca, -orientation(i, sa), v)
        v = turn_y(math.cos(theta[i - 2]), math.sin(theta[i - 2]), v)
        G[i - 1, 0], G[i - 1, 1], G[i - 1, 2] = v


@kernel
def bending_angles(
    previous: Floats, G: Floats, alpha: float, R: float, L: float, odd: Sums, even: Sums, star: Floats
) -> bool:
    """Algorithm 2: all bending angles from the tip to the base, into `star`; False where eq 16 has no root.

    `odd` and `even` are the cables of links with odd and even numbers.
    """
    n = len(G)
    ca, sin_alpha = math.cos(alpha), math.sin(alpha)
    Fb, Mb = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    sin_b, cos_b = 0.0, 0.0  # of theta_i/2; both zero at the last link, where no cable leaves the bottom
    for i in range(n, 1, -1):
        sa = orientation(i, sin_alpha)
        total, along_x, along_y, top, bottom = odd if i % 2 == 1 else even
        Gx, Gy, Gz = G[i - 1, 0], G[i - 1, 1], G[i - 1, 2]

        # eq 16
        a = R * (cos_b * total - Fb[2] - Gz) - top
        b = along_x + R * (-sin_b * ca * total + Fb[0] + Gx)
        c = (
            cos_b * (R * Fb[0] - along_x)
            - sin_b * ca * (2 * (L / 2 - R) * total + bottom + R * Fb[2])
            + 2 * (L / 2 - R) * Fb[0]
            + (L / 2 - R) * Gx
            - Mb[1]
        )
        star[i - 2] = bending_angle(a, b, c, previous[i - 2])
        if math.isnan(star[i - 2]):
            return False
        sin_t, cos_t = math.sin(star[i - 2] / 2), math.cos(star[i - 2] / 2)

        # eq 13 with eqs 1 and 3: the contact force on the top
        Ft = (
            sin_b * ca * total - sin_t * total - Fb[0] - Gx,
            -sin_b * sa * total - Fb[1] - Gy,
            cos_b * total - cos_t * total - Fb[2] - Gz,
        )
        # eq 14 with the cables (eqs 1 to 4) and contacts (eqs 6, 9): x and z components, y being eq 16
        low = total * (R - L / 2) - bottom
        xb, yb, zb = -R * sin_b * ca, R * sin_b * sa, R - L / 2 - R * cos_b
        xt, zt = R * sin_t, L / 2 - R + R * cos_t
        Mx = -cos_b * along_y - low * sin_b * sa + cos_t * along_y + yb * Fb[2] - zb * Fb[1] - zt * Ft[1] + Mb[0]
        Mz = sin_b * (along_x * sa + along_y * ca) - along_y * sin_t + xb * Fb[1] - yb * Fb[0] + xt * Ft[1] + Mb[2]
        Mt = (-Mx, 0.0, -Mz)

        # eq 17; for the next link the angle changes its sign
        sin_b, cos_b = -sin_t, cos_t
        c, s = cos_b * cos_b - sin_b * sin_b, 2.0 * sin_b * cos_b
        Fx, Fy, Fz = turn_z(ca, sa, turn_y(c, s, Ft))
        Fb = (-Fx, -Fy, -Fz)
        Mx, My, Mz = turn_z(ca, sa, turn_y(c, s, Mt))
        Mb = (-Mx, -My, -Mz)
    return True


@kernel
def tip_position(theta: Floats, alpha: float, R: float, L: float, base: float, tip: float) -> Vector:
    """Algorithm 3, eqs 18 to 20, from the tip inward; `base` is d_1 along z, `tip` how far it lies from {n}."""
    ca, sa = math.cos(alpha), math.sin(alpha)
    p = (0.0, 0.0, -tip)
    for i in range(len(theta) + 1, 1, -1):
        s, c = math.sin(theta[i - 2] / 2), math.cos(theta[i - 2] / 2)
        m = s / c
        l = L / 2 - R * (1 - c) + m * R * s  # noqa: E741 - the paper's letter
        p = (p[0] - 2 * m * l / (m * m + 1), p[1], p[2] - 2 * l / (m * m + 1))
        p = turn_z(ca, orientation(i, sa), turn_y(c * c - s * s, -2 * s * c, p))
    x, y, z = between_world_and_first(alpha, p)
    return x, y, z + base


@kernel
def relax(
    alpha: float, R: float, L: float, r: float, base: float, tip: float, weight: Floats, T: Floats,
    omega: float, halve: bool, tolerance: float, most: int,
    theta: Floats, relaxed: Floats, star: Floats, trial: Floats, G: Floats,
) -> tuple[int, int, float, Vector]:  # fmt: skip
    """Algorithm 4: status, sweeps, last omega and tip; the angles are in `star`.

    `halve` follows the end of Section 3.4: an omega that fails to converge is halved and the sweeps go on from the
    last angles. Section 3.4 does not say what failing means; here: no root of eq 16, or PATIENCE sweeps without a
    smaller change of the tip. `theta`, `relaxed`, `star`, `trial` (n-1,) and `G` (n, 3) are work space.
    """
    wG = (weight[0], weight[1], weight[2])
    odd, even = cable_sums(1, alpha, R, r, T), cable_sums(2, alpha, R, r, T)
    theta[:] = 0.0
    G[:] = 0.0
    if not bending_angles(theta, G, alpha, R, L, odd, even, star):
        star[:] = math.nan
        return NO_ROOT, 0, omega, (math.nan, math.nan, math.nan)
    p = tip_position(star, alpha, R, L, base, tip)
    smallest, since = math.inf, 0
    for sweep in range(1, most + 1):
        for k in range(len(theta)):  # eq 23
            relaxed[k] = theta[k] + omega * (star[k] - theta[k])
        update_gravity(relaxed, wG, alpha, G)
        found = bending_angles(relaxed, G, alpha, R, L, odd, even, trial)
        if found:
            for k in range(len(theta)):
                theta[k], star[k] = relaxed[k], trial[k]
            q = tip_position(star, alpha, R, L, base, tip)
            change = math.sqrt((q[0] - p[0]) ** 2 + (q[1] - p[1]) ** 2 + (q[2] - p[2]) ** 2)
            p = q
            if change < tolerance:
                return CONVERGED, sweep, omega, p
            since = 0 if change < smallest else since + 1
            smallest = min(change, smallest)
        elif not halve:
            return NO_ROOT, sweep, omega, p
        if halve and (not found or since >= PATIENCE):
            if omega / 2 < LEAST_OMEGA:
                return STALLED if found else NO_ROOT, sweep, omega, p
            omega, smallest, since = omega / 2, math.inf, 0
    return TOO_MANY_SWEEPS, most, omega, p


# The paper's own method for the shape of its robot: nonlinear Gauss-Seidel with relaxation.
#
# It is slower than `vertebra.shape_from_tensions` and may not converge; it is here to check that solver, and to be
# compared with it. Only the way of compiling it comes from `vertebra.mechanics`.

OUTCOMES = {
    CONVERGED: "the tip has come to rest",
    TOO_MANY_SWEEPS: "the tip still moves after the last sweep; allow more sweeps or a smaller omega",
    STALLED: "halving omega no longer makes the tip move less; the tolerance may be below round-off",
    NO_ROOT: "the moment balance of a link has no bending angle within +-90 deg",
}


@dataclass(frozen=True)
class LiteralRobot:
    """A robot in the paper's parameters; SI units."""

    links: int
    """n, with the fixed first link."""
    orientation: float
    """alpha, angle between the two contact lines of a link, rad, within +-pi/2."""
    surface_radius: float
    """R of the rolling surfaces, m."""
    link_length: float
    """L, m."""
    cable_radius: float
    """r, from the axis of the robot to each of the four cables, m."""
    link_mass: float
    """Of every link but the first, kg."""
    base: float
    """From the world origin to the centre of the first link, m: d_1 of eq 18."""
    tip: float
    """From the centre of the last link to the tip point, m."""


@dataclass(frozen=True, eq=False)
class LiteralShape:
    """What the iteration ended with."""

    angles: Floats
    """(n-1,) rad, in the sign of `vertebra`, of the last whole sweep; NaN when not even the first one succeeded."""
    tip: Floats
    """(3,) m, world frame."""
    sweeps: int
    """Sweeps over the robot after the first one, which is without weight."""
    omega: float
    """Relaxation of the last sweep."""
    converged: bool
    """Whether the tip moved by less than the tolerance in the last sweep."""
    outcome: str
    """Why it ended, as a sentence."""

    def __repr__(self) -> str:
        x, y, z = self.tip * 1e3
        state = "converged" if self.converged else "NOT converged"
        return f"LiteralShape({state} in {self.sweeps} sweeps, tip ({x:.2f}, {y:.2f}, {z:.2f}) mm)"


def literal_shape(
    robot: LiteralRobot,
    tensions: ArrayLike,
    gravity: ArrayLike,
    *,
    omega: float | None = None,
    tolerance: float = 1e-12,
    most_sweeps: int = 10_000,
) -> LiteralShape:
    """Shape under four cable tensions (N) and gravity (m/s^2, world frame) by the paper's iteration.

    `omega` None starts at 1 and is halved whenever the iteration fails to converge, as the paper suggests; a number
    in (0, 1] is kept. `tolerance` is on the change of the tip in one sweep, m. The result says whether it converged.
    """
    T, g = np.array(tensions, dtype=np.float64), np.array(gravity, dtype=np.float64)
    if T.shape != (4,) or not np.isfinite(T).all():
        raise InputError("tensions", "must be four finite numbers in N, one for each cable of the paper's robot")
    if g.shape != (3,) or not np.isfinite(g).all():
        raise InputError("gravity", "must be three finite numbers in m/s^2")
    if omega is not None and not 0.0 < omega <= 1.0:
        raise InputError("omega", f"must be above 0 and at most 1, not {omega}")
    if not abs(robot.cable_radius) <= robot.surface_radius:
        raise InputError("robot", "the cables must pass through the rolling surface: cable_radius <= surface_radius")
    joints = robot.links - 1
    theta, relaxed, star, trial = (np.zeros(joints) for _ in range(4))
    status, sweeps, last_omega, tip = relax(
        float(robot.orientation), float(robot.surface_radius), float(robot.link_length), float(robot.cable_radius),
        float(robot.base), float(robot.tip), robot.link_mass * g, T,
        float(omega or 1.0), omega is None, float(tolerance), int(most_sweeps),
        theta, relaxed, star, trial, np.zeros((robot.links, 3)),
    )  # fmt: skip
    return LiteralShape(
        star, np.array(tip), sweeps, last_omega, status == CONVERGED, OUTCOMES[status]
    )  # fmt: skip


def literal_robot(robot: Robot) -> LiteralRobot:
    """The paper's parameters of a robot that has its form: rolling joints of two azimuths and four bare cables.

    Raises `InputError` for a robot of any other form.
    """
    section = robot.description.sections[0]
    joint, link, cables = section.joint, section.link, section.cables
    if len(robot.description.sections) > 1 or not isinstance(joint, RollingJoint) or cables is None:
        raise InputError("robot", f"{robot.name} is not one section of rolling joints with cables")
    azimuth, holes = robot.joints["azimuth"], robot.cables["azimuth"]
    alpha = -float(azimuth[1]) if len(azimuth) > 1 else math.pi - float(holes[1 % len(holes)])
    alpha = math.remainder(alpha, 2 * math.pi)
    toward = [0.0 if number % 2 == 0 else -alpha for number in range(len(azimuth))]
    if not (_same_turns(azimuth, toward) and _same_turns(holes, [0.0, math.pi - alpha, math.pi, -alpha])):
        raise InputError("robot", f"{robot.name} has joints or cables at other azimuths than the paper's robots")
    if cables.holes not in (None, "surface") or cables.lock_mass or cables.linear_density or cables.friction:
        raise InputError("robot", f"{robot.name} has cables with weight, friction or holes off the rolling surface")
    if np.abs(robot.links["center_of_mass"][1:] - [0.0, 0.0, link.length / 2]).max() > 1e-12:
        raise InputError("robot", f"{robot.name} has links whose centre of mass is not in their middle")
    return LiteralRobot(
        links=len(robot.links),
        orientation=alpha,
        surface_radius=joint.radius,
        link_length=link.length,
        cable_radius=cables.radius,
        link_mass=link.mass,
        base=robot.description.base.length - link.length / 2,
        tip=robot.description.tip.length + link.length / 2,
    )


def _same_turns(found: ArrayLike, wanted: ArrayLike) -> bool:
    a, b = np.asarray(found, dtype=np.float64), np.asarray(wanted, dtype=np.float64)
    return a.shape == b.shape and bool(np.all(np.abs(np.exp(1j * a) - np.exp(1j * b)) < 1e-9))
