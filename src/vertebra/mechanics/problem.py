"""A robot under gravity and loads, checked and laid out for the kernels of statics and dynamics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError, shown
from vertebra.mechanics.kernels.newton import is_conservative
from vertebra.mechanics.kernels.spatial import Spatial
from vertebra.mechanics.kinematics import spatial_tables
from vertebra.mechanics.layout import (
    BEND_WIDTH,
    GRIP_ARM,
    GRIP_PLANES,
    GRIP_RATIO,
    GRIP_SPATIAL_PLANES,
    HISTORY_PLANES,
    LAW_WIDTH,
    LOAD,
    REPORT_WIDTH,
    STATE_AXIS,
    STATE_LOWER,
    STATE_OWN,
    STATE_PLACE,
    STATE_SPATIAL_WIDTH,
    STATE_TIE,
    STATE_TIE_LOW,
    STATE_UPPER,
    STATE_WIDTH,
    WIDE_CABLE_COLUMN,
    WIDE_PLANES,
    WIDE_U,
    WIDE_U_LOW,
    WIDE_V,
    WIDE_V_LOW,
)
from vertebra.mechanics.simd import lane_tables
from vertebra.robot.arguments import (
    BALLS_CAN,
    coordinates,
    gravity_vector,
    link_index,
    link_point,
    number,
    one_per_cable,
    require_robot,
    vector,
    whole,
    word,
)
from vertebra.robot.friction import Friction, FrictionLaw, laws_for
from vertebra.robot.robot import Robot
from vertebra.robot.tables import BALL, FLEXURE, PIN, Floats, Table, join, point_mass, read_body, write_body

_NONE: Table = np.zeros(0, LOAD)


@dataclass(frozen=True)
class Load:
    """A dead load, whose force and moment keep their direction in the world however the link turns; or a mass that the
    link carries.

    A force has an energy; a moment on a link that can turn about several axes has none, so the order of rotations
    matters to its work. Solvers use the exact, unsymmetric stiffness for it. A mass weighs along the gravity of the
    question, and in dynamics it is moved as well: it is one rigid body with the link.
    """

    force: ArrayLike = (0.0, 0.0, 0.0)
    """(3,) world axes, N."""
    moment: ArrayLike = (0.0, 0.0, 0.0)
    """(3,) world axes, N*m."""
    link: int = -1
    """0 is the base, 1 the link distal of the first joint, -1 the last."""
    point: ArrayLike | None = None
    """(3,) where force and mass are, in the link's frame, m. Default: the tip on the last link, else its centre of
    mass."""
    mass: float = 0.0
    """Point mass, kg."""

    def __post_init__(self) -> None:
        for name, unit in (("force", "N"), ("moment", "N*m"), ("point", "m")):
            value = getattr(self, name)
            if value is not None or name != "point":
                object.__setattr__(self, name, tuple(vector(f"load {name}", value, unit).tolist()))
        link = whole(self.link)
        if link is None:
            raise InputError("link", f"must be from 0 (base) to the last link, or -1 for that, not {shown(self.link)}")
        object.__setattr__(self, "link", link)
        object.__setattr__(self, "mass", number("load mass", self.mass, "kg", 0.0, MOST_MASS))


def force_of(load: Load, gravity: Floats) -> Floats:
    """(3,) force and weight of a load together, world axes, N."""
    return np.array(load.force) + load.mass * gravity


MOST_MASS = 1e5
"""kg, of a load, as of a link in a robot file."""


def load_tuple(loads: Iterable[Load] | Load | None) -> tuple[Load, ...]:
    """One load or many or none, checked."""
    try:
        result = () if loads is None else (loads,) if isinstance(loads, Load) else tuple(loads)
    except Exception:  # an object may raise anything when it is listed
        raise InputError("loads", f"must be a list of Load objects, not {shown(loads)}") from None
    for load in result:
        if not isinstance(load, Load):
            raise InputError("loads", f"must be Load objects such as Load(force=(0, 0, -1)), not {shown(load)}")
    return result


def load_table(robot: Robot, loads: Sequence[Load]) -> Table:
    """Loads as kernels read them: sorted by link, with every point filled in."""
    if len(loads) == 0:
        return _NONE
    rows: list[tuple[Any, ...]] = []
    for load in loads:
        link = link_index(robot, load.link)
        rows.append((link, link_point(robot, link, load.point), load.force, load.moment))
    return np.array(sorted(rows, key=lambda row: row[0]), dtype=LOAD)


def loaded_links(robot: Robot, loads: Sequence[Load]) -> Table:
    """The links as kernels read them, each one body with the masses that it carries."""
    if not any(load.mass for load in loads):
        return robot.links
    links = robot.links.copy()
    for load in loads:
        if load.mass:
            row = link_index(robot, load.link)
            place = np.array(link_point(robot, row, load.point))
            write_body(links[row : row + 1], join([read_body(links[row]), point_mass(load.mass, place)]))
    links.flags.writeable = False  # as the robot's own, for which the kernels are compiled
    return links


NO_CABLES: Floats = np.empty(0)
"""Rest lengths and rates of cables whose tensions are given."""


Closure = Literal["virtual-work", "paper"]
"""How torques at a joint are balanced: by virtual work, or about the centre of the disc before it (Yang 2023)."""


class CableFriction(NamedTuple):
    """What the kernels need to know about cables with friction, and scratch."""

    laws: Floats
    curves: Floats
    at_discs: bool
    history: Floats
    grip: Floats
    bends: Floats

    @classmethod
    def nothing(cls) -> CableFriction:
        """For kernels that learn from another argument that there is no friction, so that they are compiled once."""
        none = np.zeros((HISTORY_PLANES, 0, 0)), np.zeros((GRIP_PLANES, 0, 0)), np.empty((0, BEND_WIDTH))
        return cls(np.empty((0, LAW_WIDTH)), np.empty((0, 2, 2)), False, *none)

    def arms(self, joints: Table) -> Floats:
        """(cables, freedoms) torque on each freedom per tension at the base of each cable, m, at the last pose."""
        ratios = np.repeat(self.grip[GRIP_RATIO, :, : len(joints)], joints["freedoms"], axis=1)
        arms: Floats = ratios * self.grip[GRIP_ARM]
        return arms


class Workspace(NamedTuple):
    """Scratch of one solve; a thread has its own."""

    start: Floats
    state: Floats
    load_at: Floats
    wide: Floats
    memory: Floats
    report: Floats
    spatial: Spatial | None
    friction: CableFriction | None

    @property
    def scratch(self) -> tuple[Floats | Spatial | None, ...]:
        """Last arguments of the solving kernels."""
        return self[:7]


@dataclass(frozen=True, eq=False)
class Problem:
    """A robot under gravity and loads."""

    robot: Robot
    gravity: Floats
    loads: tuple[Load, ...]
    table: Table
    """The loads' forces and moments."""
    links: Table
    """The robot's, with the loads' masses."""
    laws: tuple[FrictionLaw, ...] = ()
    """One per cable; empty without friction."""
    closure: Closure = "virtual-work"

    @classmethod
    def of(
        cls,
        robot: Robot,
        gravity: str | ArrayLike | None,
        loads: Sequence[Load] | None,
        friction: Friction | None = None,
        closure: Closure = "virtual-work",
    ) -> Problem:
        require_robot(robot)
        kinds = robot.joints["kind"]
        if (kinds == BALL).any():
            row = int(np.argmax(kinds == BALL))
            raise InputError("robot", f"joint {row + 1} is a ball joint; {BALLS_CAN}")
        word("closure", closure, ("virtual-work", "paper"))
        if closure == "paper" and (kinds != FLEXURE).any():
            row = int(np.argmax(kinds != FLEXURE))
            raise InputError("closure", f"paper is for flexure joints only, and joint {row + 1} is another kind")
        laws: tuple[FrictionLaw, ...] = ()
        if friction is None:
            laws = robot.friction_laws
        elif type(friction) is not float or friction != 0.0:  # 0.0 is what a control loop passes
            laws = laws_for(len(robot.cables), friction)
        if all(law.is_none for law in laws):
            laws = ()
        together = load_tuple(loads)
        acting, links = load_table(robot, together), loaded_links(robot, together)
        return cls(robot, gravity_vector(robot, gravity), together, acting, links, laws, closure)

    @property
    def system(self) -> tuple[Any, ...]:
        """First arguments of the kernels."""
        robot = self.robot
        return robot.joints, self.links, robot.cables, robot.segments, self.gravity, self.table

    @property
    def has_friction(self) -> bool:
        """Whether the kernels for cables with friction are needed, which serve the paper's closure too."""
        return bool(self.laws) or self.closure == "paper"

    def cable_friction(self, history: Floats | None = None) -> CableFriction | None:
        """Laws and scratch for the kernels; `history` (planes of `kernels.friction`) is not copied."""
        if not self.has_friction:
            return None
        n, c, rows = len(self.robot.joints), len(self.robot.cables), self.robot.freedoms
        laws = self.laws or (FrictionLaw.none(),) * c
        # Equal laws of two sections have a curve each, so that derivatives tell them apart.
        curved = {id(law): law for law in laws if law.curve is not None}
        rows_of = {key: row for row, key in enumerate(curved)}
        table = np.empty((c, LAW_WIDTH))
        for k, law in enumerate(laws):
            table[k] = (*law.coefficients, law.presliding, rows_of.get(id(law), -1), k > 0 and law is laws[k - 1])
        curves = np.array([law.curve for law in curved.values()]) if curved else np.empty((0, 2, 2))
        past = np.zeros((HISTORY_PLANES, c, n)) if history is None else history
        planes = GRIP_PLANES if rows == n else GRIP_SPATIAL_PLANES
        grip, bends = np.zeros((planes, c, rows)), np.empty((rows, BEND_WIDTH))
        return CableFriction(table, curves, self.closure == "paper", past, grip, bends)

    def spatial(self) -> Spatial | None:
        """Scratch for joints with several freedoms, where the robot has any."""
        return spatial_tables(self.robot)

    def workspace(self, by_length: bool = False, history: Floats | None = None) -> Workspace:
        n, c, spatial = self.robot.freedoms, len(self.robot.cables), self.spatial()
        columns = WIDE_CABLE_COLUMN + (c if by_length else 0) + (c if self.has_friction else 0)
        return Workspace(
            np.empty(n),
            np.empty((n, STATE_WIDTH if spatial is None else STATE_SPATIAL_WIDTH)),
            np.empty((len(self.table), 3)),
            np.empty((WIDE_PLANES, n, columns)),
            np.empty((2 * columns + (2 if spatial is None else 6), max(columns, 6, c))),
            np.empty(REPORT_WIDTH),
            spatial,
            self.cable_friction(history),
        )

    @property
    def serves_lanes(self) -> bool:
        """Whether `find_shapes_in_lanes` can solve it."""
        joints, heavy = self.robot.joints, bool((self.robot.cables["linear_density"] > 0.0).any())
        plain = not self.has_friction and (joints["kind"] <= PIN).all() and not joints["stops"].any()
        return bool(plain and is_conservative(self.gravity, self.table, heavy))

    def lanes(self) -> tuple[Floats, ...]:
        """Scratch of `find_shapes_in_lanes`; a thread has its own."""
        n, c = len(self.robot.joints), len(self.robot.cables)
        return lane_tables(
            (n, STATE_WIDTH), (len(self.table), 3), (0, 0, 0), (n,), (n,), (n,), (c,), (8, 6), (6, 6), (3,), (c,)
        )

    def dense_stiffness(self, work: Workspace, by_length: bool = False) -> Floats:
        """H (n, n) in N*m/rad at the pose that `work` belongs to, springs of cables of given length included."""
        state = work.state
        heavy = bool((self.robot.cables["linear_density"] > 0.0).any())
        if is_conservative(self.gravity, self.table, heavy) and not by_length and not self.has_friction:
            rows, columns, low_columns = (
                state[:, first : first + 3] for first in (STATE_AXIS, STATE_UPPER, STATE_LOWER)
            )
            low_rows = rows
        else:
            rows, columns, low_rows, low_columns = (
                work.wide[plane] for plane in (WIDE_U, WIDE_V, WIDE_U_LOW, WIDE_V_LOW)
            )
        stiffness: Floats = np.triu(rows @ columns.T, 1) + np.tril(low_columns @ low_rows.T, -1)
        stiffness[np.diag_indices(len(state))] = state[:, STATE_OWN]
        if work.spatial is not None:
            for row, place in enumerate(state[:, STATE_PLACE].astype(int)):
                for k in range(place):
                    stiffness[row - place + k, row] += state[row, STATE_TIE + k]
                    stiffness[row, row - place + k] += state[row, STATE_TIE_LOW + k]
        return stiffness

    def tensions(self, tensions: ArrayLike) -> Floats:
        """One tension per cable, N, as a fresh array; one number is for all."""
        array = one_per_cable("tensions", tensions, "N", self.robot)
        require_pull("tensions", array)
        return array

    def start(self, start: ArrayLike | None) -> tuple[bool, Floats]:
        """Whether a start was given, and an array to solve in."""
        if start is None:
            return False, np.empty(self.robot.freedoms)
        q = coordinates(self.robot, start, "start").copy()
        if not (np.abs(q) < 3.0).all():
            row = int(np.argmin(np.abs(q) < 3.0))
            where = f"joint {self.robot.joint_of(row)} starts at {q[row]:.6g} rad"
            raise InputError("start", f"{where}; must be finite and within +-3 rad")
        return True, q


def require_pull(name: str, tensions: Floats) -> None:
    """Cables cannot push."""
    if tensions.size and tensions.min() < 0.0:
        cable = int(np.argmin(tensions.min(axis=0) if tensions.ndim == 2 else tensions))
        raise InputError(name, f"cable {cable + 1} has {tensions.min():.6g} N; a cable can only pull: 0 N or more")
