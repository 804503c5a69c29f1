"""A backbone robot that is bent in one plane is a robot of flexures in that plane, in all that both can be asked."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import vertebra as vb
from vertebra.dynamics import bias_forces
from vertebra.statics import stable_tensions

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
AZIMUTHS = [*np.linspace(-3.0, 3.0, 24 if SOAK else 5).tolist(), 0.0, math.pi / 2]
planes = pytest.mark.parametrize("azimuth", AZIMUTHS, ids="{:.3g}".format)
twisting = pytest.mark.parametrize("torsion", [False, True], ids=["bends", "twists"])
JOINTS = 3
LAW = {"quadratic": [2.0, 0.3, 0.1], "presliding": 1e-4}
PULL = np.array([3.0, 1.5, 2.0, 1.0])


@dataclass(frozen=True)
class Pair:
    """The same robot with flexures in one plane and with backbone joints."""

    flexure: vb.Robot
    backbone: vb.Robot
    side: np.ndarray
    """(2,) direction of the bends."""

    @classmethod
    def at(cls, azimuth: float, torsion: bool, friction: Any = None) -> Pair:
        link = {"length": 0.008, "mass": 3e-3, "inertia": [3e-8, 3e-8, 2e-8]}
        outer = {"radius": 0.006, "azimuth": [azimuth, azimuth + math.pi], "linear_density": 0.05, "lock_mass": 4e-4}
        inner = outer | {"radius": 0.004, "holes": {"recess": 5e-4}}
        if friction is not None:
            outer["friction"] = inner["friction"] = friction
        robots = []
        for kind in ("flexure", "backbone"):
            joint = {"kind": kind, "length": 0.012, "stiffness": 0.15, "mass": 2e-3, "damping": 2e-4}
            rest = {"azimuth": azimuth} if kind == "flexure" else {}
            sections = [{"joints": JOINTS, "joint": joint | ({"torsion": 0.1} if torsion and not rest else {}),
                         "link": link, "cables": cables, **rest} for cables in (outer, inner)]  # fmt: skip
            given = {"base": {"length": 0.01}, "tip": {"length": 0.004}, "gravity": [0, 0, 0]}
            robots.append(vb.load({"vertebra": 1, "name": kind, "sections": sections, **given}))
        return cls(*robots, np.array([math.cos(azimuth), math.sin(azimuth)]))

    def wide(self, q: np.ndarray) -> np.ndarray:
        """Coordinates of the backbone robot for angles of the flexures."""
        out = np.zeros((*np.shape(q)[:-1], len(self.backbone.joints), self.backbone.freedoms // (2 * JOINTS)))
        out[..., :2] = np.asarray(q)[..., None] * self.side
        return out.reshape(*np.shape(q)[:-1], -1)

    def narrow(self, q: np.ndarray) -> np.ndarray:
        """What of coordinates or torques of the backbone robot lies in the plane."""
        return np.asarray(q).reshape(*np.shape(q)[:-1], len(self.backbone.joints), -1)[..., :2] @ self.side

    def vector(self, along: float, up: float) -> tuple[float, float, float]:
        return (along * self.side[0], along * self.side[1], up)

    @property
    def field(self) -> dict[str, Any]:
        loads = [vb.Load(self.vector(0.1, -0.2)), vb.Load(self.vector(-0.15, 0.1), link=3, point=(0.0, 0.0, 0.002))]
        return {"gravity": self.vector(4.0, -5.0), "loads": loads}


def close(found: Any, expected: Any) -> None:
    expected = np.asarray(expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def same_shape(pair: Pair, one: vb.Shape, other: vb.Shape) -> None:
    close(other.angles, pair.wide(one.angles))
    for name in ("frames", "tip", "tensions", "lengths", "forces", "energy", "slip"):
        close(getattr(other, name), getattr(one, name))
    across = np.array([*pair.side, 0.0])
    plane = np.zeros((6, 3))
    plane[:3, 0], plane[2, 1], plane[3:5, 2] = across, 1.0, [-pair.side[1], pair.side[0]]
    close(plane.T @ other.compliance @ plane, plane.T @ one.compliance @ plane)


@twisting
@planes
def test_shapes_are_the_same(azimuth, torsion):
    pair = Pair.at(azimuth, torsion)
    one, other = (vb.shape_from_tensions(robot, PULL, **pair.field) for robot in (pair.flexure, pair.backbone))
    assert np.abs(one.angles).max() > 0.05
    same_shape(pair, one, other)
    one, other = (
        vb.shape_from_lengths(robot, shortenings=[0.002, -0.002, 0.002, -0.002], stiffness_EA=500.0, **pair.field)
        for robot in (pair.flexure, pair.backbone)
    )
    assert np.abs(one.angles).max() > 0.05
    same_shape(pair, one, other)


@twisting
@planes
def test_friction_and_its_history_are_the_same(azimuth, torsion):
    pair = Pair.at(azimuth, torsion, LAW)
    ways = [vb.ShapePath(robot, **pair.field) for robot in (pair.flexure, pair.backbone)]
    for factor in (0.4, 1.0, 0.8, 0.3):
        one, other = (way.step(factor * PULL) for way in ways)
        same_shape(pair, one, other)
    assert np.abs(one.slip).max() > 0.5
    close(ways[1].friction_work, ways[0].friction_work)


@twisting
@planes
def test_motions_are_the_same(azimuth, torsion):
    pair, rng = Pair.at(azimuth, torsion), np.random.default_rng(4)
    q, qd, qdd = rng.uniform(-0.4, 0.4, 2 * JOINTS), rng.normal(0, 3, 2 * JOINTS), rng.normal(0, 30, 2 * JOINTS)
    wide = [pair.wide(value) for value in (q, qd, qdd)]
    close(vb.inverse_dynamics(pair.backbone, *wide, **pair.field),
          pair.wide(vb.inverse_dynamics(pair.flexure, q, qd, qdd, **pair.field)))  # fmt: skip
    close(
        bias_forces(pair.backbone, *wide[:2], **pair.field), pair.wide(bias_forces(pair.flexure, q, qd, **pair.field))
    )
    M = vb.mass_matrix(pair.backbone, wide[0])
    close(pair.narrow(pair.narrow(M).T).T, vb.mass_matrix(pair.flexure, q))
    close(vb.forward_dynamics(pair.backbone, *wide[:2], PULL, **pair.field),
          pair.wide(vb.forward_dynamics(pair.flexure, q, qd, PULL, **pair.field)))  # fmt: skip


@twisting
@pytest.mark.parametrize("integrator", ["rk4", "implicit"])
def test_runs_are_the_same(integrator, torsion):
    pair = Pair.at(0.8, torsion)
    rng = np.random.default_rng(5)
    q, qd = rng.uniform(-0.3, 0.3, 2 * JOINTS), rng.normal(0, 2, 2 * JOINTS)
    given = {"duration": 0.02, "dt": 1e-4, "damping": 1e-4, "integrator": integrator, **pair.field}
    one = vb.simulate(pair.flexure, PULL, q0=q, qd0=qd, **given)
    other = vb.simulate(pair.backbone, PULL, q0=pair.wide(q), qd0=pair.wide(qd), **given)
    close(other.q.values, pair.wide(one.q.values))
    close(other.qd.values, pair.wide(one.qd.values))
    for name in ("kinetic", "potential", "dissipated", "cable_work", "tip", "drawn"):
        close(other[name].values, one[name].values)


@twisting
@planes
def test_holding_and_buckling_are_the_same(azimuth, torsion):
    pair = Pair.at(azimuth, torsion)
    shape = vb.shape_from_tensions(pair.flexure, PULL, **pair.field)
    one = vb.tensions_for_shape(pair.flexure, shape.angles, **pair.field)
    other = vb.tensions_for_shape(pair.backbone, pair.wide(shape.angles), **pair.field)
    np.testing.assert_allclose(other.tensions, one.tensions, rtol=0, atol=1e-9)
    # Weights of cables in the gaps tell the plane of the cables from the one across it; a load does not.
    pressed = {"loads": [vb.Load(force=(0.0, 0.0, -0.3))]}
    low, high = stable_tensions(pair.flexure, **pressed)
    assert 0.0 == low < high < np.inf
    close(stable_tensions(pair.backbone, **pressed), (low, high))
    straight = vb.shape_from_tensions(pair.backbone, np.ones(4), **pressed)
    close(straight.tension_margin(), (low, high))
