"""The paper's recursive algorithm (section 3.5): accelerations from the base to the tip, balances from the tip back.

It is slow; it is here to check `vertebra.inverse_dynamics` and `vertebra.allocate_tensions`, and to be compared with
them. It has its own frames and its own balances, in the paper's axes and symbols, and takes nothing but numbers from
the robot. Arguments are those of `vertebra.inverse_dynamics`, one instant at a time.

As published, programme 37 is solved link by link with the balances (28) and (30), and accelerations leave out the
migration of the contact point. Three switches: `migration` puts that in; `moments` 29 takes (29) with (21) inserted as
printed, where terms of link n+1 have the wrong sign, instead of (30); `z_0_of_base` reads z_0 of (6) and (7) as the
base's axis.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.errors import Infeasible, InputError
from vertebra.robot.arguments import coordinates, gravity_vector, link_index, link_point
from vertebra.robot.robot import Robot
from vertebra.robot.tables import ROLLING, Floats

if TYPE_CHECKING:
    from vertebra.mechanics.problem import Load

MIN_CONTACT_FORCE = 1.0
"""N, the threshold of (34); the paper prints none."""
Z = np.array([0.0, 0.0, 1.0])

# Velocities and accelerations of all links, eqs 2 to 13 of the paper, in the frame of each link.


@dataclass(frozen=True, eq=False)
class LinkMotion:
    """Link n; vectors in frame n, and accelerations with that of gravity taken off."""

    to_contact: Floats
    """(4, 4) T from f3,n to frame n-1."""
    from_contact: Floats
    """(4, 4) T from frame n to f3,n."""
    frame: Floats
    """(4, 4) frame n in the world, the paper's axes."""
    omega: Floats
    """(3,) rad/s"""
    omega_dot: Floats
    """(3,) rad/s^2"""
    center_acceleration: Floats
    """(3,) of the centre of mass, m/s^2."""

    @property
    def contact(self) -> Floats:
        """(4, 4) f3,n in frame n."""
        return np.asarray(np.linalg.inv(self.from_contact))


def link_motions(
    robot: LiteralRobot,
    theta: Floats,
    theta_d: Floats,
    theta_dd: Floats,
    gravity: Floats,
    *,
    migration: bool = False,
    z_0_of_base: bool = False,
) -> list[LinkMotion]:
    """One per link, from the base on; angles (N,) rad, rad/s, rad/s^2, `gravity` (3,) m/s^2 in our axes.

    `migration` adds what (5) and (11) leave out: the contact point wanders along both surfaces while they roll, so the
    point of the link that touches has no velocity but an acceleration, R/2 theta_d^2 along the normal.
    `z_0_of_base` takes z_0 in (6) and (7) as the axis of the base. It must be that of frame n-1, or (0, 0, 1) in it.
    """
    frame = robot.base_frame()
    omega, omega_dot = np.zeros(3), np.zeros(3)
    v_dot = frame[:3, :3].T @ (AXES @ -gravity)
    motions = []
    for row in range(len(robot.R)):
        to_contact, from_contact = robot.to_contact(row, theta[row]), robot.from_contact(row, theta[row])
        step = to_contact @ from_contact
        turn = step[:3, :3]
        near = to_contact[:3, 3]  # d from frame n-1 to f3,n; here and in the next four lines in frame n-1
        far = step[:3, 3] - near  # d from f3,n to frame n
        z_0 = frame[:3, :3].T @ robot.base_frame()[:3, 2] if z_0_of_base else Z
        faster = omega + theta_d[row] * z_0  # 2, 6
        faster_dot = omega_dot + theta_dd[row] * z_0 + theta_d[row] * cross(faster, z_0)  # 3, 7
        v_dot = v_dot + swing(omega, omega_dot, near) + swing(faster, faster_dot, far)  # 5, 11
        if migration:
            v_dot = v_dot + 0.5 * robot.R[row] * theta_d[row] ** 2 * to_contact[:3, 0]
        frame = frame @ step
        omega, omega_dot, v_dot = turn.T @ faster, turn.T @ faster_dot, turn.T @ v_dot
        a_C = v_dot + swing(omega, omega_dot, robot.center[row])  # 13
        motions.append(LinkMotion(to_contact, from_contact, frame, omega, omega_dot, a_C))
    return motions


def swing(omega: Floats, omega_dot: Floats, d: Floats) -> Floats:
    """(3,) acceleration that turning gives to a point `d` away, m/s^2."""
    return cross(omega_dot, d) + cross(omega, cross(omega, d))


# A robot in the paper's own frames and symbols (section 2.2, Fig. 1).
#
# Axes are the paper's: x along the straight robot, z up. Paper (x, y, z) are ours (z, x, y).
#
# Frame n sits in the far hole plane of link n, x along the link, z along the axis of the joint that follows: so z of
# frame n-1 is the axis about which link n rolls. Frame f3,n sits in the middle between both contact points of joint
# n, with x normal to the surfaces.

AXES = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""(3, 3) turns a vector in our axes into one in the paper's."""


@dataclass(frozen=True, eq=False)
class LiteralRobot:
    """N joints and c cables, SI units; rows are joints, or the links that follow them."""

    R: Floats
    """(N,) radius of curvature, m."""
    a: Floats
    """(N,) from the arc's centre to the hole plane, m: R cos(contact angle)."""
    H: Floats
    """(N,) between both hole planes of the link, m."""
    psi: Floats
    """(N,) turn of the joint's axis about x, from z of the base, rad."""
    base: float
    """World origin to the hole plane of the base, m."""
    mass: Floats
    """(N,) kg"""
    center: Floats
    """(N, 3) p_C of the link in its frame, m; the paper's is (-H/2, 0, 0)."""
    inertia: Floats
    """(N, 3, 3) about the centre of mass, in the link's frame, kg*m^2."""
    hole: Floats
    """(c, 3) of each cable in its plane, before frames are turned about x, m."""
    last: NDArray[np.int64]
    """(c,) link where each cable ends, counted from 1."""
    b: Floats
    """(N,) contact points are so far from the middle, along the joint's axis, m."""
    mu: Floats
    """(N,) static friction between links."""
    pretension: Floats
    """(c,) N"""

    @classmethod
    def of(cls, robot: Robot) -> LiteralRobot:
        """The parameters in a robot file; `InputError` for a robot of another form than the paper's."""
        joints, links, cables = robot.joints, robot.links[1:], robot.cables
        recess = _hole_planes(robot)
        far = np.append(recess[1:], recess[-1])
        H = links["length"] - recess - far
        psi = np.array(joints["azimuth"])
        turns = [AXES.T @ R_x(angle) for angle in np.append(psi[1:], psi[-1])]
        center = links["center_of_mass"] - np.outer(links["length"] - far, [0.0, 0.0, 1.0])
        return cls(
            R=np.array(joints["size"]),
            a=joints["size"] - recess,
            H=H,
            psi=psi,
            base=float(robot.links["reach"][0] - recess[0]),
            mass=np.array(links["mass"]),
            center=np.array([turn.T @ place for turn, place in zip(turns, center, strict=True)]),
            inertia=np.array([turn.T @ np.diag(i) @ turn for turn, i in zip(turns, links["inertia"], strict=True)]),
            hole=np.stack([np.zeros(len(cables)), cables["x"], cables["y"]], axis=1),
            last=np.array(cables["last_link"]),
            b=np.array(joints["contact_offset"]),
            mu=np.array(joints["friction"]),
            pretension=np.array(cables["pretension"]),
        )

    def turn_after(self, row: int) -> float:
        """How far frame n of link n = `row` + 1 is turned about x, rad; the last is turned as the one before it."""
        return float(self.psi[min(row + 1, len(self.psi) - 1)])

    def to_contact(self, row: int, theta: float) -> Floats:
        """(4, 4) T from f3,n to frame n-1, for joint n = `row` + 1 at `theta` rad."""
        return move_x(-self.a[row]) @ turn_z(theta / 2) @ move_x(self.R[row])

    def from_contact(self, row: int, theta: float) -> Floats:
        """(4, 4) T from frame n to f3,n."""
        twist = np.eye(4)
        twist[:3, :3] = R_x(self.turn_after(row) - self.psi[row])
        return move_x(self.R[row]) @ turn_z(theta / 2) @ move_x(self.H[row] - self.a[row]) @ twist

    def base_frame(self) -> Floats:
        """(4, 4) frame 0 in the world."""
        frame = move_x(self.base)
        frame[:3, :3] = R_x(self.psi[0])
        return frame

    def holes(self, row: int) -> Floats:
        """(c, 3) h_1 of link n = `row` + 1 in frame n: those on the side of the base."""
        return np.asarray(self.hole @ R_x(self.turn_after(row)) - [self.H[row], 0.0, 0.0])

    def holes_before(self, row: int) -> Floats:
        """(c, 3) h_2 of link n-1 in frame n-1; those of the base for the first joint."""
        return self.hole @ R_x(self.psi[row])


def _hole_planes(robot: Robot) -> Floats:
    """(N,) how far behind the apex of its arc each joint's hole plane lies, m."""
    joints = robot.joints
    if not (joints["kind"] == ROLLING).all() or not len(robot.cables):
        raise InputError("robot", f"{robot.name} has other joints than rolling ones, or no cables; the paper has both")
    passes = np.arange(1, len(joints) + 1) <= robot.cables["last_link"][:, None]
    recess = np.where(passes, robot.segments["recess"], np.nan)
    deep = np.nanmax(recess, axis=0)
    if not np.array_equal(deep, np.nanmin(recess, axis=0)):
        raise InputError("robot", f"{robot.name} has holes on the arcs; the paper's lie in a plane: holes: {{recess}}")
    if not (joints["contact_offset"] > 0.0).all():
        raise InputError("robot", f"{robot.name} has no contact_offset, by which contact points lie off the middle")
    if robot.cables["linear_density"].any() or robot.cables["lock_mass"].any():
        raise InputError("robot", f"{robot.name} has cables with mass, which the paper leaves out")
    if not ((robot.links["mass"][1:] > 0.0).all() and (robot.links["inertia"][1:] > 0.0).all()):
        raise InputError("robot", f"{robot.name} has links without mass or inertia")
    return np.asarray(deep)


def move_x(distance: float) -> Floats:
    """(4, 4) along x, m."""
    frame = np.eye(4)
    frame[0, 3] = distance
    return frame


def turn_z(angle: float) -> Floats:
    """(4, 4) about z, rad."""
    c, s = math.cos(angle), math.sin(angle)
    frame = np.eye(4)
    frame[:2, :2] = [[c, -s], [s, c]]
    return frame


def R_x(angle: float) -> Floats:
    """(3, 3) rotation about x, rad."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def cross(u: Floats, v: Floats) -> Floats:
    """(3,) u x v; numpy's own takes ten times as long for a single vector."""
    (a, b, c), (d, e, f) = u, v
    return np.array([b * f - c * e, c * d - a * f, a * e - b * d])


# Forces and moments from the tip back to the base: eqs 22 to 30 of the paper, each link in its own frame.


@dataclass(frozen=True, eq=False)
class LiteralBalance:
    """Right-hand sides of (25), (27), (28) and (30): what cables and contacts must exert on every link."""

    body: LiteralRobot
    motions: tuple[LinkMotion, ...]
    right: Floats
    """(N, 6) force, N, and moment about p_C, N*m, in frame n."""

    @property
    def about_contacts(self) -> Floats:
        """(N, 6) the same with the moment about f3,n, in frame n."""
        found = self.right.copy()
        for row, motion in enumerate(self.motions):
            found[row, 3:] += cross(self.body.center[row] - motion.contact[:3, 3], found[row, :3])
        return found

    @property
    def wrenches(self) -> Floats:
        """(N, 6) the same in our axes: force in N, then moment about f3,n in N*m."""
        turns = [AXES.T @ motion.frame[:3, :3] for motion in self.motions]
        parts = self.about_contacts.reshape(-1, 2, 3)
        return np.array([(part @ turn.T).ravel() for part, turn in zip(parts, turns, strict=True)])

    @property
    def tau(self) -> Floats:
        """(N,) moments about the joints' axes, N*m."""
        axes = np.array([motion.contact[:3, 2] for motion in self.motions])
        return np.asarray((axes * self.about_contacts[:, 3:]).sum(axis=1))


def literal_balance(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    gravity: str | ArrayLike | None = None,
    loads: Iterable[Load] = (),
    *,
    moments: int = 30,
    migration: bool = False,
    z_0_of_base: bool = False,
) -> LiteralBalance:
    """Balances at one instant; `q`, `qd`, `qdd` (N,) rad, rad/s, rad/s^2.

    What (30) needs of link n+1 is the moment of all that acts on it from link n. Programme 37 fixes that sum, so it is
    taken from the right-hand side of link n+1 instead of from forces that carry the rounding of a solver.

    `moments` 29: (29) with (21) inserted as printed, where terms of link n+1 have the wrong sign. `loads` are ours: the
    balances of the paper have no room for a load on a link.
    """
    if moments not in (29, 30):
        raise InputError("moments", f"must be 30, or 29 for the equation with its signs as printed, not {moments!r}")
    body = LiteralRobot.of(robot)
    theta, theta_d, theta_dd = (coordinates(robot, value, name) for value, name in ((q, "q"), (qd, "qd"), (qdd, "qdd")))
    motions = link_motions(
        body, theta, theta_d, theta_dd, gravity_vector(robot, gravity), migration=migration, z_0_of_base=z_0_of_base
    )  # fmt: skip
    right = -_loads_on_links(robot, body, motions, loads)
    for row in reversed(range(len(motions))):
        motion, inertia = motions[row], body.inertia[row]
        right[row, :3] += body.mass[row] * motion.center_acceleration  # 22
        right[row, 3:] += inertia @ motion.omega_dot + cross(motion.omega, inertia @ motion.omega)  # 23
        if row + 1 < len(motions):
            force, moment = _of_next(body, motions[row + 1], row, right[row + 1])
            right[row, :3] += force  # 28
            right[row, 3:] += moment if moments == 30 else -moment
    return LiteralBalance(body, tuple(motions), right)


def _of_next(body: LiteralRobot, motion: LinkMotion, row: int, right: Floats) -> tuple[Floats, Floats]:
    """Force of link n+1's balance, and its moment about p_C of link n, in frame n."""
    step = motion.to_contact @ motion.from_contact
    force = step[:3, :3] @ right[:3]
    arm = step[:3, :3] @ body.center[row + 1] + step[:3, 3] - body.center[row]
    return force, step[:3, :3] @ right[3:] + cross(arm, force)


def _loads_on_links(robot: Robot, body: LiteralRobot, motions: Sequence[LinkMotion], loads: Iterable[Load]) -> Floats:
    """(N, 6) of loads on each link: force and moment about p_C, in frame n."""
    total = np.zeros((len(motions), 6))
    for load in loads:
        link = link_index(robot, load.link)
        if link == 0:
            continue
        row = link - 1
        # From our frame, at the apex of the near arc, to the paper's in the far hole plane.
        ahead = body.R[row] - body.a[row] + body.H[row]
        place = (AXES @ link_point(robot, link, load.point) - [ahead, 0.0, 0.0]) @ R_x(body.turn_after(row))
        world = motions[row].frame[:3, :3]
        force, moment = (world.T @ (AXES @ np.asarray(vector)) for vector in (load.force, load.moment))
        total[row] += np.concatenate([force, moment + cross(place - body.center[row], force)])
    return total


# Programme 37 of one link: its balances and constraints (31) to (36) on 16 unknowns, and the least sum of tensions.
#
# Unknowns in order: f_c at both contact points (3 each), f_S at both (3 each), all in f3; then one tension per cable.

CONTACT_UNKNOWNS = 12


class Programme(NamedTuple):
    """Minimise `cost` u with A u = b, G u <= 0 and low <= u <= high."""

    cost: Floats
    """(u,)"""
    A: Floats
    """(6, u) forces, then moments about p_C, in frame n."""
    b: Floats
    """(6,) N, N*m."""
    G: Floats
    """(8, u) the friction box, (35) and (36)."""
    low: Floats
    """(u,) N"""
    high: Floats
    """(u,) N"""

    @property
    def fixed(self) -> int:
        """Unknowns that (32) and (33) set to zero."""
        return int((self.low == self.high).sum())

    @property
    def free(self) -> int:
        """Dimension of what the balances leave of the others."""
        left = self.A[:, self.low != self.high]
        return int(left.shape[1] - np.linalg.matrix_rank(left))


class Forces(NamedTuple):
    """What solves it, N."""

    tensions: Floats
    """(c,)"""
    normal: Floats
    """(2,)"""
    friction: Floats
    """(2, 2) y and z of f3 at each contact point."""


def programme(
    balance: Floats,
    e_1: Floats,
    holes: Floats,
    places: Floats,
    turn: Floats,
    mu: float,
    pretension: Floats,
    upper: float,
    min_contact_force: float,
) -> Programme:
    """The programme of one link, in frame n.

    `balance` (6,) right-hand sides; `e_1` (c, 3) directions of cables; `holes` (c, 3) and `places` (2, 3) where cables
    and contacts act, from p_C, m; `turn` (3, 3) from f3 to frame n.
    """
    count = CONTACT_UNKNOWNS + len(e_1)
    A = np.zeros((6, count))
    for column, place in zip((0, 3, 6, 9), (*places, *places), strict=True):
        A[:3, column : column + 3] = turn
        A[3:, column : column + 3] = np.cross(place, turn.T).T
    A[:3, CONTACT_UNKNOWNS:] = e_1.T
    A[3:, CONTACT_UNKNOWNS:] = np.cross(holes, e_1).T
    low, high = np.full(count, -np.inf), np.full(count, np.inf)
    for i in (0, 1):
        low[3 * i] = min_contact_force  # 34
        low[[3 * i + 1, 3 * i + 2]] = high[[3 * i + 1, 3 * i + 2]] = 0.0  # 32
        low[6 + 3 * i] = high[6 + 3 * i] = 0.0  # 33
    low[CONTACT_UNKNOWNS:], high[CONTACT_UNKNOWNS:] = pretension, upper  # 31
    G = np.zeros((8, count))
    for row, (i, axis, sign) in enumerate((i, axis, sign) for i in (0, 1) for axis in (1, 2) for sign in (1.0, -1.0)):
        G[row, 6 + 3 * i + axis], G[row, 3 * i] = sign, -mu  # 35, 36
    cost = np.zeros(count)
    cost[CONTACT_UNKNOWNS:] = 1.0
    return Programme(cost, A, balance, G, low, high)


def solve(problem: Programme) -> Forces | None:
    """A solution by scipy's linear programming; None when there is none. Its tensions need not be the only ones."""
    from scipy.optimize import linprog

    # Moments in N*m are small numbers; over the largest arm they are as large as the forces.
    scale = np.ones(6)
    scale[3:] = 1.0 / np.abs(problem.A[3:]).max()
    found = linprog(
        problem.cost, problem.G, np.zeros(len(problem.G)), scale[:, None] * problem.A, scale * problem.b,
        np.stack([problem.low, problem.high], axis=1), method="highs",
    )  # fmt: skip
    if found.status != 0:
        return None
    u = found.x
    return Forces(u[CONTACT_UNKNOWNS:], u[[0, 3]], np.array([u[7:9], u[10:12]]))


# The algorithm: one instant.


@dataclass(frozen=True, eq=False)
class LiteralStep:
    """One instant."""

    tensions: Floats
    """(cables, joints) F_T,1,n,k, N; zero beyond a cable's last link."""
    normal: Floats
    """(joints, 2) x-components of f_c at both contact points in f3, N."""
    friction: Floats
    """(joints, 2, 2) y- and z-components of f_S at both contact points in f3, N."""
    balance: LiteralBalance

    @property
    def tau(self) -> Floats:
        """(joints,) moment of cables and link n-1 on link n about the joint's axis, N*m."""
        return self.balance.tau

    def __repr__(self) -> str:
        base = ", ".join(f"{value:.2f}" for value in self.tensions[:, 0])
        return f"LiteralStep({self.tensions.shape[1]} joints; tensions at the base {base} N)"


def literal_step(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, **options: Any) -> Floats:
    """(cables, joints) N: tensions of every link by the paper's algorithm; options of `literal_solution`."""
    return literal_solution(robot, q, qd, qdd, **options).tensions


def literal_solution(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    gravity: str | ArrayLike | None = None,
    loads: Iterable[Load] = (),
    *,
    upper: float = np.inf,
    min_contact_force: float = MIN_CONTACT_FORCE,
    **switches: Any,
) -> LiteralStep:
    """Everything the algorithm finds at one instant; `q`, `qd`, `qdd` (joints,) rad, rad/s, rad/s^2.

    `upper`: most tension of a cable, N; the paper has no such bound. `switches`: `moments`, `migration` and
    `z_0_of_base` of `literal_balance`. Raises `Infeasible` when no tensions balance a link.
    """
    balance = literal_balance(robot, q, qd, qdd, gravity, loads, **switches)
    body, count = balance.body, len(balance.motions)
    tensions, normal, friction = np.zeros((len(body.hole), count)), np.zeros((count, 2)), np.zeros((count, 2, 2))
    for row in reversed(range(count)):
        found = solve(link_programme(balance, row, upper, min_contact_force))
        if found is None:
            link = row + 1
            raise Infeasible(
                link, "programme 37", 0.0, f"link {link}: no tensions up to {upper:g} N balance it; raise `upper`, or"
                " give its joint friction",
            )  # fmt: skip
        tensions[body.last > row, row] = found.tensions
        normal[row], friction[row] = found.normal, found.friction
    return LiteralStep(tensions, normal, friction, balance)


def link_programme(
    balance: LiteralBalance, row: int, upper: float, min_contact_force: float, mu: float | None = None
) -> Programme:
    """Programme 37 of link n = `row` + 1; forces in N, `mu` another friction coefficient than that of the robot."""
    body, motion = balance.body, balance.motions[row]
    back = np.linalg.inv(motion.to_contact @ motion.from_contact)
    before = body.holes_before(row) @ back[:3, :3].T + back[:3, 3]
    near = body.holes(row)
    L_1 = before - near  # 14
    passing = body.last > row
    e_1 = (L_1 / np.linalg.norm(L_1, axis=1)[:, None])[passing]  # 15
    contact, along = motion.contact, body.b[row] * motion.contact[:3, 2]
    places = np.array([contact[:3, 3] + along, contact[:3, 3] - along])
    return programme(
        balance.right[row], e_1, near[passing] - body.center[row], places - body.center[row], contact[:3, :3],
        float(body.mu[row]) if mu is None else mu, body.pretension[passing], upper, min_contact_force,
    )  # fmt: skip
