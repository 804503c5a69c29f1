"""A robot in the parameters of the paper's method: everything in the frames of disc centres."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.errors import InputError
from vertebra.robot.robot import Robot
from vertebra.robot.tables import FLEXURE, Floats

PRESLIDING = 1e-5
"""m, for robot files without friction."""


class History(NamedTuple):
    """What cables remember of an earlier shape."""

    slip: Floats
    """(c, n) slip direction at the disc before each joint, from -1 to 1."""
    variation: Floats
    """(c, n) Delta L of eq 16: change of the cable from each joint to its last disc, m."""


@dataclass(frozen=True, eq=False)
class LiteralRobot:
    """c cables, n joints, n + 1 discs of which disc 0 is the base; SI units."""

    axes: Floats
    """(n, 3) of rotation, in the frames of both discs of a joint."""
    rod_length: Floats
    """(n,) L"""
    stiffness: Floats
    """(n,) 2 E I / L"""
    half: Floats
    """(n + 1, 2) from the near face of a disc to its centre, and from there to its far face."""
    disc_mass: Floats
    """(n + 1,)"""
    disc_at: Floats
    """(n + 1, 3) centre of mass."""
    rod_mass: Floats
    """(n,)"""
    density: Floats
    """(c,) of cables, kg/m."""
    lock_mass: Floats
    """(c,)"""
    lock_at: Floats
    """(c, 3) on the last disc of each cable."""
    last: NDArray[np.int64]
    """(c,) number of that disc."""
    far: Floats
    """(c, n, 3) hole H on the disc before each joint."""
    near: Floats
    """(c, n, 3) hole h on the disc after it."""
    friction: Floats
    """(c, 3) a, b, c of mu = a theta^2 + b theta + c."""
    presliding: Floats
    """(c,) half-width of the ramp in the rule of the slip direction."""
    tip: Floats
    """(3,) on the last disc."""
    gravity: Floats
    """(3,) world axes."""
    tip_force: Floats
    """(3,) world axes, with the weight of the payload."""

    @classmethod
    def of(
        cls,
        robot: Robot,
        friction: ArrayLike | None = None,
        presliding: float | None = None,
        disc_only: bool = False,
        payload_kg: float = 0.0,
        gravity: ArrayLike | None = None,
        tip_force: ArrayLike = (0.0, 0.0, 0.0),
    ) -> LiteralRobot:
        """The parameters of a robot of flexure joints.

        `friction` (a, b, c), `presliding` (m) and `gravity` (m/s^2, world axes): None takes the robot file's; (0, 0, 0)
        is no friction. `disc_only` leaves out the weight of rods, cables and locks. The payload hangs at the tip,
        where `tip_force` (N, world axes) acts too.
        """
        joints, links, cables, segments = robot.joints, robot.links, robot.cables, robot.segments
        if (joints["kind"] != FLEXURE).any() or not len(cables):
            raise InputError("robot", f"{robot.name} must have flexure joints only, and cables, for the paper's method")
        n, c = len(joints), len(cables)
        if friction is None and any(law.curve is not None for law in robot.friction_laws):
            raise InputError("friction", f"{robot.name} has a measured law; give a, b, c of the paper's quadratic one")
        law = np.array(cables["friction"] if friction is None else friction, dtype=np.float64)
        if law.shape not in ((3,), (c, 3)):
            raise InputError("friction", f"must be a, b, c of mu = a theta^2 + b theta + c, once or for {c} cables")
        if presliding is not None and not presliding > 0.0:
            raise InputError("presliding", f"must be a length above 0 m, not {presliding!r}")
        # From the origin of a link's frame to the centre of its disc; the base disc has its centre in the origin.
        centre = np.append(0.0, links["length"][1:] / 2)
        far, near = np.zeros((2, c, n, 3))
        far[..., :2] = near[..., :2] = np.stack([cables["x"], cables["y"]], axis=1)[:, None]
        far[..., 2], near[..., 2] = segments["exit"] - centre[:-1], segments["entry"] - centre[1:]
        last = np.array(cables["last_link"])
        lock_at = np.stack([cables["x"], cables["y"], cables["end"] - centre[last]], axis=1)
        stated = np.where(cables["presliding"] > 0.0, cables["presliding"], PRESLIDING)
        field = np.array(robot.gravity if gravity is None else gravity, dtype=np.float64)
        others = 0.0 if disc_only else 1.0
        return cls(
            axes=np.stack([joints["axis_x"], joints["axis_y"], np.zeros(n)], axis=1),
            rod_length=joints["size"],
            stiffness=joints["stiffness"],
            half=np.stack([centre, links["reach"] - centre], axis=1),
            disc_mass=links["mass"],
            disc_at=links["center_of_mass"] - centre[:, None] * [0.0, 0.0, 1.0],
            rod_mass=others * joints["mass"],
            density=others * cables["linear_density"],
            lock_mass=others * cables["lock_mass"],
            lock_at=lock_at,
            last=last,
            far=far,
            near=near,
            friction=np.broadcast_to(law, (c, 3)),
            presliding=stated if presliding is None else np.full(c, float(presliding)),
            tip=robot.tip_point - [0.0, 0.0, centre[-1]],
            gravity=field,
            tip_force=np.array(tip_force, dtype=np.float64) + payload_kg * field,
        )

    @property
    def crosses(self) -> NDArray[np.bool_]:
        """(c, n) whether a cable crosses a joint."""
        crosses: NDArray[np.bool_] = np.arange(len(self.axes)) < self.last[:, None]
        return crosses

    def fresh(self) -> History:
        """Cables that have not moved since the robot was straight."""
        return History(np.zeros(self.crosses.shape), np.zeros(self.crosses.shape))
