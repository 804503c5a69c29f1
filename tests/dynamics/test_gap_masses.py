"""Rods and cables in the gaps of moving joints, far heavier than links: Lagrange's equations by another route."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from tests.oracles import any_chain

import vertebra as vb
from vertebra.dynamics.simulate import energy_imbalance

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
JOINTS: dict[str, dict[str, Any]] = {
    "rolling": {"kind": "rolling", "radius": 0.02},
    "flexure": {"kind": "flexure", "length": 0.03, "stiffness": 0.1, "mass": 0.3},
    "pin": {"kind": "pin", "length": 0.02},
    "universal": {"kind": "universal", "order": "yx", "lower": 0.02},
    "backbone": {"kind": "backbone", "length": 0.03, "stiffness": 0.1, "mass": 0.3},
    "twisting": {"kind": "backbone", "length": 0.03, "stiffness": 0.1, "torsion": 0.1, "mass": 0.3},
}
CHAINS = [
    ("rolling", "rolling"), ("flexure", "flexure"), ("pin", "pin"), ("universal", "universal"),
    ("backbone", "backbone"), ("twisting", "twisting"),
    ("flexure", "twisting", "pin", "universal", "rolling"), ("universal", "backbone", "flexure"),
]  # fmt: skip


def heavy(kinds: tuple[str, ...]) -> vb.Robot:
    """Links of 2 g between rods of 300 g and cables of 20 kg/m, with locks."""
    sections = []
    for place, kind in enumerate(kinds):
        link = {"length": 0.02, "mass": 0.002, "inertia": [2e-7, 3e-7, 1e-7], "center_of_mass": [0.001, 0.002, 0.008]}
        section: dict[str, Any] = {"joints": 1, "joint": JOINTS[kind], "link": link}
        if kind in ("rolling", "flexure", "pin"):
            section["azimuth"] = [0.3 + 1.1 * place]
        cables = {"radius": 0.006, "azimuth": [0.4 + place, 2.9], "linear_density": 20.0, "lock_mass": 0.001}
        section["cables"] = {**cables, "holes": {"recess": 0.004}}
        sections.append(section)
    return vb.load({"vertebra": 1, "name": "heavy", "base": {"length": 0.015}, "sections": sections})


@pytest.mark.parametrize("kinds", CHAINS, ids="-".join)
def test_dynamics_is_that_of_lagrange_with_heavy_gaps(kinds):
    robot, rng = heavy(kinds), np.random.default_rng(len(kinds))
    gravity = np.array([3.0, -5.0, 7.0])
    for _ in range(2 if SOAK else 1):
        q, qd, qdd = (spread * rng.normal(size=robot.freedoms) for spread in (0.3, 60.0, 30.0))
        expected = any_chain.lagrange(robot, q, qd, qdd, gravity)
        share = np.abs(expected - any_chain.lagrange(robot, q, 0.0 * qd, qdd, gravity)).max()
        assert share > 0.2 * np.abs(expected).max()  # so that what rates give counts
        found = vb.inverse_dynamics(robot, q, qd, qdd, gravity)
        assert found == pytest.approx(expected, abs=1e-9 * np.abs(expected).max())
        M = any_chain.mass_matrix(robot, q)
        assert vb.mass_matrix(robot, q) == pytest.approx(M, abs=1e-12 * np.abs(M).max())
        back = vb.forward_dynamics(robot, q, qd, tau=expected, gravity=gravity)
        size = np.abs(np.linalg.inv(M)).max() * np.abs(expected).max()
        assert back == pytest.approx(qdd, abs=1e-8 * size)


@pytest.mark.parametrize("kinds", [("rolling", "flexure"), ("universal", "twisting")], ids="-".join)
def test_energies_of_a_run_are_those_of_lagrange_with_heavy_gaps(kinds):
    """Kinetic energy and potential at the start, and what mass that is drawn into gaps brings along the way."""
    robot, rng = heavy(kinds), np.random.default_rng(3)
    gravity, pulls = np.array([3.0, -5.0, 7.0]), np.full(len(robot.cables), 2.0)
    q, qd = 0.2 * rng.normal(size=robot.freedoms), 5.0 * rng.normal(size=robot.freedoms)
    run = vb.simulate(robot, pulls, gravity=gravity, q0=q, qd0=qd, duration=5e-3, dt=5e-5, damping=0.0)
    kinetic, potential = (run[name].values for name in ("kinetic", "potential"))
    assert kinetic[0] == pytest.approx(0.5 * qd @ any_chain.mass_matrix(robot, q) @ qd, rel=1e-12)
    last = run["q"].values[-1]
    expected = [any_chain.potential(robot, p, 0.0 * pulls, gravity).real for p in (q, last)]
    assert potential[-1] - potential[0] == pytest.approx(expected[1] - expected[0], rel=1e-9)
    drawn = np.abs(run["drawn"].values).max()
    assert drawn > 1e-3 * kinetic.max()
    assert np.abs(energy_imbalance(run)).max() < 1e-3 * drawn
