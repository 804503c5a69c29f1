"""A robot of backbone joints in PyElastica: one damped Cosserat rod, with cables that pull straight from disc to disc.

Its rod also shears and stretches, a little: it is made so thin that this moves the tip by some 0.03 % of the length.
The clamp, the discs and the tip lie in the middles of elements, so half an element stands out at either end.
"""

from __future__ import annotations

import math

import elastica
import numpy as np

from vertebra.robot.robot import Robot

Array = np.ndarray
THICKNESS = 0.015
"""Radius of the rod, of 2 m of its length."""
DENSITY = 0.2
"""kg/m; what the rest does not depend on."""


class Pulls(elastica.NoForces):
    """T along the straight lines between the holes of neighbouring discs, and a dead force on the last disc."""

    def __init__(self, robot: Robot, tensions: Array, force: Array, every: int) -> None:
        super().__init__()
        self.tensions, self.force = np.asarray(tensions, float)[:, None, None], np.asarray(force, float)
        self.holes = np.stack([robot.cables["x"], robot.cables["y"]])[:, :, None, None]
        self.discs = np.arange(len(robot.joints) + 1) * every

    def apply_forces(self, system, time=0.0) -> None:
        """Half to either node of an element; the moments follow in `apply_torques` of the same step."""
        discs, position = self.discs, system.position_collection
        arms = (self.holes * system.director_collection[:2][:, None, :, discs]).sum(axis=0)  # (cables, 3, discs)
        holes = 0.5 * (position[:, discs] + position[:, discs + 1]) + arms
        lines = holes[..., 1:] - holes[..., :-1]
        pull = self.tensions * lines / np.sqrt((lines**2).sum(axis=1, keepdims=True))
        force = np.zeros_like(arms)
        force[..., :-1] += pull
        force[..., 1:] -= pull
        whole = force.sum(axis=0)
        whole[:, -1] += self.force
        system.external_forces[:, discs] += 0.5 * whole
        system.external_forces[:, discs + 1] += 0.5 * whole
        x, y, z = arms.transpose(1, 0, 2)
        fx, fy, fz = force.transpose(1, 0, 2)
        self.moments = np.stack([y * fz - z * fy, z * fx - x * fz, x * fy - y * fx]).sum(axis=1)

    def apply_torques(self, system, time=0.0) -> None:
        """In the axes of the elements."""
        turned = (system.director_collection[..., self.discs] * self.moments).sum(axis=1)
        system.external_torques[:, self.discs] += turned


def pyelastica_tip(robot: Robot, tensions: Array, force: Array, every: int, duration: float) -> Array:
    """(3,) m, after so many seconds of damped motion from straight; `every`: elements from disc to disc."""
    joint = robot.joints[0]
    piece = float(joint["size"]) / every
    elements = every * len(robot.joints) + 1
    bending, twisting = joint["stiffness"] * joint["size"], joint["torsion"] * joint["size"]
    area, second = math.pi * THICKNESS**2, math.pi * THICKNESS**4 / 4

    class Simulator(elastica.BaseSystemCollection, elastica.Constraints, elastica.Forcing, elastica.Damping):
        pass

    simulator = Simulator()
    modulus = bending / second
    # Its normal and binormal are our x and y.
    rod = elastica.CosseratRod.straight_rod(
        elements, np.array([0.0, 0.0, -piece / 2]), np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0]),
        elements * piece, THICKNESS, DENSITY / area, youngs_modulus=modulus, shear_modulus=twisting / (2 * second),
    )  # fmt: skip
    simulator.append(rod)
    simulator.constrain(rod).using(elastica.OneEndFixedBC, constrained_position_idx=(0,), constrained_director_idx=(0,))
    simulator.add_forcing_to(rod).using(Pulls, robot, tensions, force, every)
    # Neither the sound along the rod nor the quick turning of its thin slices may be missed.
    step = min(0.3 * piece, 0.5 * THICKNESS) / math.sqrt(modulus / (DENSITY / area))
    slowest = 3.516 * math.sqrt(bending / (DENSITY * (elements * piece) ** 4))
    simulator.dampen(rod).using(elastica.AnalyticalLinearDamper, uniform_damping_constant=2 * slowest, time_step=step)
    simulator.finalize()
    elastica.integrate(elastica.PositionVerlet(), simulator, duration, int(duration / step), progress_bar=False)
    assert np.abs(rod.velocity_collection).max() < 1e-3 * elements * piece * slowest
    return 0.5 * (rod.position_collection[:, -1] + rod.position_collection[:, -2])
