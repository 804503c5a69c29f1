"""The paper's own method for the payload of its robot, section II-D: load a link in steps until its contact slips.

It is slow and coarse; it is here to check `vertebra.payload`, and to be compared with it. Nothing in it comes from
`vertebra.mechanics` or `vertebra.payload`: it has its own frames, in the paper's axes, and its own numbers from the
robot file. Arguments are those of `vertebra.payload`, in our axes.

As published: the external force grows from 0 by 0.05 N; at every step Levenberg-Marquardt with finite differences is
started from random guesses until it finds the contact; the payload of a link is the last force at which neither
F_f > mu F_N nor M_t > mu r_c F_N; the payload of the snake is the least over its links.

Ours: a `tolerance`, with which the last step is halved until the limit is known to that many newtons (contacts are
then sought from the last one first); loads at any link, with a moment, and any number of tendons; a largest force,
since some links never slip; and what `literal_snake` and `literal_contact` say of the equations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.papers.cai2023.literal_contact import ContactSearch, LiteralContact, slip_mode
from vertebra.papers.cai2023.literal_snake import Applied, LiteralLoad, LiteralSnake, applied
from vertebra.robot.arguments import gravity_vector, link_index, link_point, numbers, vector
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

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
