"""A Cosserat rod in PyElastica, clamped and swinging under gravity; prints the seconds one simulated second takes.

Run with the Python of an environment that has PyElastica: elements, length (m), radius (m), mass (kg), bending
stiffness (N*m^2), simulated seconds.
"""

from __future__ import annotations

import sys
import time

import elastica
import numpy as np


class Simulator(elastica.BaseSystemCollection, elastica.Constraints, elastica.Forcing, elastica.Damping):
    """The parts of PyElastica that a swinging rod needs."""


def swing(
    elements: int, length: float, radius: float, mass: float, bending: float, seconds: float
) -> tuple[float, float]:
    """Wall seconds per simulated second, and the time step in s."""
    density = mass / (np.pi * radius**2 * length)
    youngs = bending / (0.25 * np.pi * radius**4)
    rod = elastica.CosseratRod.straight_rod(
        elements,
        np.zeros(3),
        np.array([0.0, 0.0, 1.0]),
        np.array([1.0, 0.0, 0.0]),
        length,
        radius,
        density,
        youngs_modulus=youngs,
        shear_modulus=youngs / 3.0,
    )
    simulator = Simulator()
    simulator.append(rod)
    clamp = {"constrained_position_idx": (0,), "constrained_director_idx": (0,)}
    simulator.constrain(rod).using(elastica.OneEndFixedBC, **clamp)
    simulator.add_forcing_to(rod).using(elastica.GravityForces, acc_gravity=np.array([-9.8, 0.0, 0.0]))
    # Explicit steps must resolve the fastest wave along an element.
    step = 0.3 * (length / elements) / np.sqrt(youngs / density)
    simulator.dampen(rod).using(elastica.AnalyticalLinearDamper, damping_constant=0.1, time_step=step)
    simulator.finalize()
    stepper, now = elastica.PositionVerlet(), np.float64(0.0)
    for _ in range(10):
        now = stepper.step(simulator, now, step)
    steps = int(seconds / step)
    start = time.perf_counter()
    for _ in range(steps):
        now = stepper.step(simulator, now, step)
    wall = time.perf_counter() - start
    if not np.isfinite(rod.position_collection).all():
        raise FloatingPointError("the rod diverged")
    return wall / (steps * step), step


if __name__ == "__main__":
    count, *sizes = sys.argv[1:]
    print(*swing(int(count), *(float(size) for size in sizes)))
