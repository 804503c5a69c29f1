"""Simulated runs made up by formula, for pages: every number on the page can be told beforehand."""

from __future__ import annotations

import numpy as np
import xarray

import vertebra as vb
from vertebra.report.simulation import SimulationCase


def made_up_run(robot: vb.Robot, count: int = 201, duration: float = 0.5) -> xarray.Dataset:
    """All joints swing like a sine; energies balance but for 1 uJ at the end."""
    n, cables = robot.freedoms, len(robot.cables)
    time = np.linspace(0.0, duration, count)
    phase = np.pi * time[:, None] / duration * (1.0 + 0.1 * np.arange(n))
    q, rate = 0.2 * np.sin(phase), np.pi / duration * (1.0 + 0.1 * np.arange(n))
    qd = 0.2 * rate * np.cos(phase)
    tip = np.array([vb.Pose(robot, angles).tip_frame[:3, 3] for angles in q])
    lengths = np.array([vb.Pose(robot, angles).cable_lengths for angles in q])
    pulls = 10.0 + np.arange(cables) + time[:, None]
    kinetic, potential, lost = 0.02 * np.cos(phase[:, 0]) ** 2, 0.01 * time, 0.003 * time
    drawn = 0.002 * time
    work = kinetic - kinetic[0] + potential + lost - drawn - 1e-6 * time / duration
    nothing = np.zeros(count)
    joints, along = ("time", "joint"), ("time", "cable")
    return xarray.Dataset(
        {
            "q": (joints, q),
            "qd": (joints, qd),
            "qdd": (joints, -0.2 * rate**2 * np.sin(phase)),
            "tensions": (along, pulls),
            "lengths": (along, lengths),
            "tip": (("time", "axis"), tip),
            "kinetic": ("time", kinetic),
            "potential": ("time", potential),
            "stored": ("time", nothing),
            "cable_work": ("time", work),
            "load_work": ("time", nothing),
            "dissipated": ("time", lost),
            "drawn": ("time", drawn),
        },
        coords={"time": time, "joint": np.arange(1, n + 1), "cable": np.arange(1, cables + 1), "axis": list("xyz")},
        attrs={"robot": robot.name, "integrator": "rk4", "dt": 1e-3, "ended": "duration"},
    )


def made_up_case(robot: vb.Robot, count: int = 201, duration: float = 0.5, **more: object) -> SimulationCase:
    run = made_up_run(robot, count, duration)
    return SimulationCase(robot, run, robot.gravity, "made-up tensions", duration, **more)  # type: ignore[arg-type]
