"""The paper's own method for the payload of its robot, section II-D: load a link in steps until its contact slips.

It is slow and coarse; it is here to check `vertebra.payload`, and to be compared with it. Nothing in it comes from
`vertebra.mechanics` or `vertebra.payload`: it has its own frames, in the paper's axes, and its own numbers from the
robot file. Arguments are those of `vertebra.payload`, in our axes.

As published: the external force grows from 0 by 0.05 N; at every step Levenberg-Marquardt with finite differences
is started from random guesses until it finds the contact; the payload of a link is the last force at which neither
F_f > mu F_N nor M_t > mu r_c F_N; the payload of the snake is the least over its links.

Ours: a `tolerance`, with which the last step is halved until the limit is known to that many newtons (contacts are
then sought from the last one first); loads at any link, with a moment, and any number of tendons; a largest force,
since some links never slip; and what the comments on snake and contact say of the equations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.robot.arguments import gravity_vector, link_index, link_point, numbers, vector
from vertebra.robot.description import BallJoint
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

# The contact of section II-C, eqs 12 to 16, found as in section II-D: Levenberg-Marquardt from random guesses.
#
# Ours, since the text leaves it open: how guesses are drawn, what counts as converged, how many guesses there are
# before a link is said to have no equilibrium, and that moments are weighed as forces at the ball's radius.
#
# Whatever acts on a link, there is at most one contact with F_N > 0 (theory: the normal follows from M_t, and M_t up to
# its sign from a quadratic). The other root has F_N < 0, a ball that pulls; guesses that end there are drawn again, as
# the text does. The text also draws again unless M_c > 0. That cannot be about M_t, whose sign is that of the moment
# along the force: with a load that twists the other way no guess would ever do. F_f may come out negative, with gamma
# half a turn off; its size is what counts.

TOLERANCE = 1e-10
"""Largest imbalance of a contact that counts as found, as a share of the force it carries."""
SEARCH = {"xtol": 1e-14, "ftol": 1e-14, "maxiter": 2000}
GUESSES = 60
"""At most; about half of all guesses end at the contact, the others mostly at the one that pulls."""


class LiteralContact(NamedTuple):
    """What link i-1 does to link i, the six unknowns; N, rad, N*m."""

    F_N: float
    F_f: float
    alpha: float
    beta: float
    gamma: float
    M_t: float


@dataclass
class ContactSearch:
    """The solver of one joint, with its random numbers and a count of what it took."""

    r_o: float
    """m"""
    rng: np.random.Generator
    guesses: int = 0
    """Random starts so far."""
    solves: int = 0
    """Contacts asked for so far."""

    def solve(self, applied: Floats, start: LiteralContact | None = None) -> LiteralContact | None:
        """The contact that balances `applied` (6,) N and N*m about the ball's centre; none when no guess led to one.

        `start`: try this one before any random guess (not in the paper).
        """
        from scipy.optimize import root

        self.solves += 1
        forces, arms = applied[:3].tolist(), (applied[3:] / self.r_o).tolist()
        wanted, size = (*forces, *arms), math.hypot(*forces)
        scale = max(size, 1e-12)

        def imbalance(x: Sequence[float]) -> list[float]:
            return [a + b for a, b in zip(contact_wrench(*x), wanted, strict=True)]

        for number in range(GUESSES + (start is not None)):
            if number == 0 and start is not None:
                guess = np.array([*start[:5], start.M_t / self.r_o])
            else:
                guess = self._guess(scale)
            found = root(imbalance, guess, method="lm", options=SEARCH)
            balanced = max(abs(value) for value in imbalance(found.x.tolist())) <= TOLERANCE * scale
            if balanced and found.x[0] > 0.0:
                F_N, F_f, alpha, beta, gamma, M_t = found.x.tolist()
                return LiteralContact(F_N, F_f, alpha, beta, gamma, M_t * self.r_o)
        return None

    def _guess(self, scale: float) -> Floats:
        self.guesses += 1
        draw = self.rng.uniform
        return np.array([
            draw(0.0, 2.0 * scale), draw(0.0, scale), draw(-0.5, 0.5) * math.pi, draw(-1.0, 1.0) * math.pi,
            draw(-1.0, 1.0) * math.pi, draw(-0.5, 0.5) * scale,
        ])  # fmt: skip


def contact_wrench(F_N: float, F_f: float, alpha: float, beta: float, gamma: float, M: float) -> tuple[float, ...]:
    """f_c of eq 14, then m_c of eq 15 with moments over r_o; `M` = M_t / r_o. All N.

    In the contact frame b_R_c = R_x(-beta) R_y(alpha - pi/2) of eq 12, whose x axis is the normal, the force is
    (F_N, -F_f cos gamma, F_f sin gamma) by eq 13 and the moment r_o x_c times it, plus M_t x_c.
    """
    sa, ca, sb, cb = math.sin(alpha), math.cos(alpha), math.sin(beta), math.cos(beta)
    along_y, along_z = -F_f * math.cos(gamma), F_f * math.sin(gamma)
    # Columns of b_R_c: (sa, ca sb, ca cb), (0, cb, -sb), (-ca, sa sb, sa cb).
    return (
        sa * F_N - ca * along_z,
        ca * sb * F_N + cb * along_y + sa * sb * along_z,
        ca * cb * F_N - sb * along_y + sa * cb * along_z,
        sa * M - ca * along_y,
        ca * sb * M - cb * along_z + sa * sb * along_y,
        ca * cb * M + sb * along_z + sa * cb * along_y,
    )


def slip_mode(contact: LiteralContact | None, mu: float, r_c: float) -> str:
    """Which limit a contact breaks: sliding, torsion (mu_m = mu r_c, eq 16), no contact at all, or nothing."""
    if contact is None:
        return "no contact"
    if abs(contact.F_f) > mu * contact.F_N:
        return "sliding"
    return "torsion" if abs(contact.M_t) > mu * r_c * contact.F_N else ""


# The paper's robot in its own axes and symbols: kinematics of section II-A and what acts on a link, section II-B.
#
# Axes are the paper's: x along the straight robot, z up. Paper (x, y, z) are ours (z, x, y).


@dataclass(frozen=True)
class LiteralSnake:
    """A robot in the paper's parameters; SI units."""

    links: int
    """Links that move; one more is clamped and carries the world frame."""
    L: float
    """From the origin of one link's frame to that of the next, m."""
    r: float
    """From the axis to each tendon channel, m."""
    channels: tuple[float, ...]
    """Where each tendon runs about x, rad from the y axis: (4k - 7) pi / 6 of eq 1, or as the robot file says."""
    d: float
    """Length of a channel, m."""
    r_o: float
    """Radius of the ball, m."""
    r_c: float
    """Radius of the contact ring, m."""
    mu: float
    """mu_f, static friction between links."""
    mass: float
    """Of a link, at the origin of its frame, kg."""
    base: float = 0.0
    """World origin to the frame of the clamped link, m along x."""
    tip: float = 0.0
    """Origin of the last link's frame to the tip, m along its x."""

    @classmethod
    def of(cls, robot: Robot) -> LiteralSnake:
        """The parameters in a robot file; `InputError` for a robot of another form than the paper's."""
        section = robot.description.sections[0]
        joint, link, cables = section.joint, section.link, section.cables
        if len(robot.description.sections) > 1 or not isinstance(joint, BallJoint) or cables is None:
            raise InputError("robot", f"{robot.name} is not one section of ball joints with cables")
        if link.center_of_mass not in (None, (0.0, 0.0, 0.0)) or cables.linear_density or cables.lock_mass:
            raise InputError("robot", f"{robot.name} has weight elsewhere than at the origins of its links")
        if cables.friction is not None:
            raise InputError("robot", f"{robot.name} has cable friction, which the paper leaves out")
        return cls(
            links=section.joints,
            L=link.length,
            r=cables.radius,
            channels=tuple(cables.azimuth),
            d=link.channel or 0.0,
            r_o=joint.radius,
            r_c=joint.ring_radius,
            mu=joint.friction,
            mass=link.mass,
            base=robot.description.base.length,
            tip=robot.description.tip.length,
        )

    def frames(self, phi: Floats, theta: Floats) -> Floats:
        """(n+1, 4, 4) of all links in the world, eqs 3-5; `phi` bending angles, `theta` their directions, (n,) rad."""
        frames = np.zeros((self.links + 1, 4, 4))
        frames[0] = np.eye(4)
        frames[0, 0, 3] = self.base
        for i in range(1, self.links + 1):
            step = np.eye(4)
            step[:3, :3] = R_x(theta[i - 1]) @ R_y(phi[i - 1]) @ R_x(-theta[i - 1])
            step[:3, 3] = step[:3, :3] @ [self.L, 0.0, 0.0]
            frames[i] = frames[i - 1] @ step
        return frames

    def vertices(self, frames: Floats) -> tuple[Floats, Floats]:
        """(n+1, cables, 3) where tendons enter a link's channels, p, and where they leave them, p'; eqs 1, 2."""
        angle = np.array(self.channels)
        b_p = np.stack([np.zeros_like(angle), self.r * np.cos(angle), self.r * np.sin(angle)], axis=1)
        leave = b_p + np.array([self.d, 0.0, 0.0])
        turn, origin = frames[:, :3, :3], frames[:, None, :3, 3]
        return b_p @ turn.transpose(0, 2, 1) + origin, leave @ turn.transpose(0, 2, 1) + origin


@dataclass(frozen=True, eq=False)
class Applied:
    """All that acts on the links from one joint to the tip, except through that joint's contact.

    Force, then moment about the joint's centre, N and N*m: `fixed` + F_ext `per_newton`.
    """

    fixed: Floats
    """(6,) tendons and weight."""
    per_newton: Floats
    """(6,) of the external load; zero when it acts before the joint."""

    def under(self, force: float) -> Floats:
        """(6,) N, N*m."""
        return self.fixed + force * self.per_newton


@dataclass(frozen=True, eq=False)
class LiteralLoad:
    """A load of growing size F_ext, in the paper's axes."""

    direction: Floats
    """(3,) n_ext, unit vector, world."""
    link: int
    """Counted from 0, the clamped one."""
    point: Floats
    """(3,) in the frame of that link, m."""
    moment: Floats
    """(3,) moment that comes with each newton, N*m/N, world; the paper has none."""


def applied(
    snake: LiteralSnake,
    frames: Floats,
    joint: int,
    tensions: Floats,
    load: LiteralLoad,
    gravity: Floats,
    as_printed: bool = False,
) -> Applied:
    """Sums of eqs 10 and 11 at link i = `joint`, without the contact; `gravity` (3,) m/s^2, the paper's axes.

    Two things are corrected. A tendon pulls link i toward the link before it, the opposite of eq 6, which is the
    pull on that other link (`as_printed` keeps it). And the weights are those of links i to n, which eqs 9 and 10,
    printed with sums from 1, must mean: they come from adding up the balances of these links.
    """
    enter, leave = snake.vertices(frames)
    center = frames[joint - 1, :3, 3]
    tau = enter[joint] - leave[joint - 1]
    tau *= (tensions / np.linalg.norm(tau, axis=1))[:, None]
    if not as_printed:
        tau = -tau
    f_g = snake.mass * gravity
    arms = frames[joint:, :3, 3] - center
    force = tau.sum(axis=0) + len(arms) * f_g
    moment = np.cross(enter[joint] - center, tau).sum(axis=0) + np.cross(arms, f_g).sum(axis=0)
    per_newton = np.zeros(6)
    if joint <= load.link:
        place = frames[load.link] @ [*load.point, 1.0]
        per_newton[:3] = load.direction
        per_newton[3:] = np.cross(place[:3] - center, load.direction) + load.moment
    return Applied(np.concatenate([force, moment]), per_newton)


def R_x(angle: float) -> Floats:
    """(3, 3) rotation about x."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def R_y(angle: float) -> Floats:
    """(3, 3) rotation about y."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


# The method itself.

STEP = 0.05
"""N, the paper's."""
MOST_FORCE = 100.0
"""N; a link that holds this much is called unlimited."""


@dataclass(frozen=True)
class LiteralLink:
    """How much one link holds."""

    joint: int
    """Counted from 1: between links `joint` - 1 and `joint`."""
    force: float
    """Largest force that was tried and held, N; infinite when the largest force of all held."""
    slips_at: float
    """Smallest force that was tried and did not hold, N; infinite when there was none."""
    mode: str
    """What gave way: sliding, torsion, no contact (none balances the link), or unlimited."""
    contact: LiteralContact | None
    """At `force`; none when nothing holds or nothing slips."""
    solves: int
    """Contacts that were sought."""
    guesses: int
    """Random guesses that this took."""


@dataclass(frozen=True)
class LiteralPayload:
    """How much the snake holds."""

    force: float
    """N; infinite when no link slips."""
    joint: int
    """The weakest, counted from 1; 0 when no link slips."""
    mode: str
    """sliding, torsion, no contact or unlimited."""
    links: tuple[LiteralLink, ...]
    """Joint by joint."""

    def __repr__(self) -> str:
        guesses, solves = (sum(getattr(link, name) for link in self.links) for name in ("guesses", "solves"))
        where = f"joint {self.joint}, {self.mode}" if self.joint else self.mode
        return f"LiteralPayload({self.force:.4g} N, {where}; {solves} contacts from {guesses} guesses)"


def literal_payload(
    robot: Robot,
    bends: ArrayLike,
    azimuths: ArrayLike,
    tensions: ArrayLike,
    direction: ArrayLike,
    link: int = -1,
    point: ArrayLike | None = None,
    moment_per_force: ArrayLike | None = None,
    gravity: str | ArrayLike | None = None,
    *,
    step: float = STEP,
    tolerance: float | None = None,
    most_force: float = MOST_FORCE,
    seed: int = 0,
    as_printed: bool = False,
    only_weakest: bool = False,
) -> LiteralPayload:
    """Payload of the whole snake by the paper's method; arguments as in `vertebra.payload`, lengths m, forces N.

    `tolerance` None: the last whole step that held; a number: the limit to so many newtons. `seed`: of the guesses.
    `as_printed`: tendons pull as eq 6 has it, on the wrong body. `only_weakest`: load each link no further than the
    weakest one so far holds; links that hold more are then reported as unlimited.
    """
    question = _Question(robot, bends, azimuths, tensions, direction, link, point, moment_per_force, gravity)
    most, found = most_force, []
    for joint in range(1, question.snake.links + 1):
        result = question.link(joint, step, tolerance, most, seed, as_printed)
        found.append(result)
        if only_weakest:
            most = min(most, result.force)
    weakest = min(found, key=lambda one: one.force)
    if math.isinf(weakest.force):
        return LiteralPayload(math.inf, 0, "unlimited", tuple(found))
    return LiteralPayload(weakest.force, weakest.joint, weakest.mode, tuple(found))


def literal_link_payload(
    robot: Robot,
    bends: ArrayLike,
    azimuths: ArrayLike,
    tensions: ArrayLike,
    direction: ArrayLike,
    joint: int,
    link: int = -1,
    point: ArrayLike | None = None,
    moment_per_force: ArrayLike | None = None,
    gravity: str | ArrayLike | None = None,
    *,
    step: float = STEP,
    tolerance: float | None = None,
    most_force: float = MOST_FORCE,
    seed: int = 0,
    as_printed: bool = False,
) -> LiteralLink:
    """Payload of one link alone, at `joint` counted from 1; the rest as in `literal_payload`."""
    question = _Question(robot, bends, azimuths, tensions, direction, link, point, moment_per_force, gravity)
    if not 1 <= joint <= question.snake.links:
        raise InputError("joint", f"must be from 1 to {question.snake.links} for {robot.name}, not {joint}")
    return question.link(joint, step, tolerance, most_force, seed, as_printed)


class _Question:
    """The arguments, checked and turned into the paper's axes and symbols."""

    def __init__(
        self,
        robot: Robot,
        bends: ArrayLike,
        azimuths: ArrayLike,
        tensions: ArrayLike,
        direction: ArrayLike,
        link: int,
        point: ArrayLike | None,
        moment_per_force: ArrayLike | None,
        gravity: str | ArrayLike | None,
    ) -> None:
        self.snake = LiteralSnake.of(robot)
        n, k = self.snake.links, len(self.snake.channels)
        phi, psi = _many("bends", bends, n, "rad"), _many("azimuths", azimuths, n, "rad")
        self.frames = self.snake.frames(phi, psi + math.pi / 2)  # theta is psi + 90 deg
        self.tensions = _many("tensions", tensions, k, "N")
        toward = vector("direction", direction, "any unit")
        size = float(np.linalg.norm(toward))
        if size == 0.0 or (self.tensions < 0.0).any():
            name, what = ("direction", "must not be zero") if size == 0.0 else ("tensions", "must be 0 N or more")
            raise InputError(name, what)
        number = link_index(robot, link)
        moment = np.zeros(3) if moment_per_force is None else vector("moment_per_force", moment_per_force, "N*m/N")
        self.load = LiteralLoad(
            to_paper(toward / size), number, to_paper(link_point(robot, number, point)), to_paper(moment)
        )
        self.gravity = to_paper(gravity_vector(robot, gravity))

    def link(
        self, joint: int, step: float, tolerance: float | None, most_force: float, seed: int, as_printed: bool
    ) -> LiteralLink:
        acts = applied(self.snake, self.frames, joint, self.tensions, self.load, self.gravity, as_printed)
        return _load_link(self.snake, joint, acts, step, tolerance, most_force, np.random.default_rng([seed, joint]))


def _load_link(
    snake: LiteralSnake,
    joint: int,
    acts: Applied,
    step: float,
    tolerance: float | None,
    most_force: float,
    rng: np.random.Generator,
) -> LiteralLink:
    if not step > 0.0 or not (tolerance is None or tolerance > 0.0):
        raise InputError("step" if not step > 0.0 else "tolerance", "must be above 0 N")
    search = ContactSearch(snake.r_o, rng)
    held, last = -math.inf, None

    def tried(force: float) -> str:
        """What gives way under a force; remembers the contact when nothing does."""
        nonlocal held, last
        contact = search.solve(acts.under(force), last if tolerance is not None else None)
        mode = slip_mode(contact, snake.mu, snake.r_c)
        if not mode:
            held, last = force, contact
        return mode

    number, mode = 0, tried(0.0)
    if not mode and acts.per_newton.any():
        while not mode and (number + 1) * step <= most_force * (1 + 1e-12):
            number += 1
            mode = tried(number * step)
    if not mode:
        return LiteralLink(joint, math.inf, math.inf, "unlimited", None, search.solves, search.guesses)
    slips = number * step
    while tolerance is not None and number > 0 and slips - held > tolerance:
        middle = 0.5 * (held + slips)
        gave_way = tried(middle)
        if gave_way:
            slips, mode = middle, gave_way
    return LiteralLink(joint, max(held, 0.0), slips, mode, last, search.solves, search.guesses)


def _many(name: str, values: ArrayLike, count: int, unit: str) -> Floats:
    """(count,) numbers from as many, or from one for all."""
    array = numbers(name, values, unit)
    if array.shape not in ((), (count,)):
        raise InputError(name, f"must be one number or {count} in {unit}, not an array of shape {array.shape}")
    return np.array(np.broadcast_to(array, (count,)))


def to_paper(ours: Floats) -> Floats:
    """(3,) of our axes in the paper's: its x, y, z are our z, x, y."""
    return np.roll(ours, 1)
