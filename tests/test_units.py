"""No number of the library has a hidden unit: a robot scaled in length, mass and time behaves like itself.

Scales are powers of two, which change no digit of a number: forward answers must agree to the last bit after scaling
back. Searches by library routines (clarabel, HiGHS, BVLS) and by samples agree to 1e-9.
"""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import vertebra as vb
from vertebra.errors import VertebraError
from vertebra.statics import stable_tensions

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
SEEDS = range(24 if SOAK else 4)
FAR = (-12, 12)
"""Exponents of two of one dimension alone."""


@dataclass(frozen=True)
class Scale:
    """How much longer, heavier and slower: factors, powers of two."""

    length: float = 1.0
    mass: float = 1.0
    time: float = 1.0

    def unit(self, length: int = 0, mass: int = 0, time: int = 0) -> float:
        return self.length**length * self.mass**mass * self.time**time

    @property
    def force(self) -> float:
        return self.unit(1, 1, -2)

    @property
    def torque(self) -> float:
        return self.unit(2, 1, -2)

    @property
    def acceleration(self) -> float:
        return self.unit(1, 0, -2)

    def load(self, load: vb.Load) -> vb.Load:
        point = None if load.point is None else tuple(np.multiply(load.point, self.length))
        force, moment = np.multiply(load.force, self.force), np.multiply(load.moment, self.torque)
        return vb.Load(tuple(force), tuple(moment), load.link, point)

    def robot(self, robot: vb.Robot) -> vb.Robot:
        units = {
            "length": self.length, "radius": self.length, "ring_radius": self.length, "channel": self.length,
            "center_of_mass": self.length, "contact_offset": self.length, "recess": self.length,
            "presliding": self.length, "diameter": self.length, "mass": self.mass, "lock_mass": self.mass,
            "inertia": self.unit(2, 1), "linear_density": self.unit(-1, 1), "stiffness": self.torque,
            "pretension": self.force, "max_tension": self.force, "stiffness_EA": self.force,
            "gravity": self.acceleration, "lower": self.length, "torsion": self.torque,
            "damping": self.torque * self.time,
        }  # fmt: skip

        def scaled(value: Any, name: str = "") -> Any:
            if isinstance(value, dict):
                return {key: scaled(part, key) for key, part in value.items()}
            if isinstance(value, list | tuple):
                return [scaled(part, name) for part in value]
            return value * units[name] if name in units and isinstance(value, float | int) else value

        return vb.load(scaled(robot.to_mapping()))


SCALES = [
    *(Scale(**{name: 2.0**power}) for name in ("length", "mass", "time") for power in FAR),
    # All at once, as far as a robot file allows: torques from 1e-18 to 4e3 of what they were.
    Scale(2.0**-12, 2.0**-12, 2.0**12), Scale(2.0**-12, 2.0**12, 2.0**-12), Scale(2.0**12, 2.0**-12, 2.0**12),
    Scale(2.0**-5, 2.0**3, 2.0**-2),
]  # fmt: skip
scaling = pytest.mark.parametrize("scale", SCALES, ids=lambda s: f"{s.length:.3g} {s.mass:.3g} {s.time:.3g}")
KINDS = [("rolling",), ("flexure",), ("pin",), ("rolling", "flexure", "pin")]


def random_joint(rng: np.random.Generator, kind: str) -> dict[str, Any]:
    joint: dict[str, Any] = {"kind": kind, "limit": 1.6}
    if kind == "rolling":
        return joint | {"radius": rng.uniform(0.02, 0.024), "contact_offset": 0.008, "friction": 0.3}
    if kind == "pin":
        return joint | {"length": rng.uniform(0.01, 0.02)}
    return joint | {"length": rng.uniform(0.01, 0.02), "stiffness": rng.uniform(0.3, 1.0), "mass": 1e-3}


@dataclass(frozen=True)
class Question:
    """A robot and what acts on it."""

    robot: vb.Robot
    gravity: Any
    loads: tuple[vb.Load, ...]
    pull: np.ndarray
    q: np.ndarray
    rates: np.ndarray

    def times(self, scale: Scale) -> Question:
        return Question(
            scale.robot(self.robot), np.multiply(self.gravity, scale.acceleration),
            tuple(scale.load(load) for load in self.loads), self.pull * scale.force, self.q, self.rates / scale.time,
        )  # fmt: skip

    @property
    def field(self) -> dict[str, Any]:
        return {"gravity": self.gravity, "loads": self.loads}


def question(seed: int, kinds: tuple[str, ...] | None = None) -> Question:
    """Several sections with cables that end in each, friction, loads, rods and cables with mass."""
    rng = np.random.default_rng(seed)
    kinds = KINDS[seed % len(KINDS)] if kinds is None else kinds
    rough, heavy = bool(seed % 3), bool(seed % 2)
    sections = []
    for kind in kinds:
        length, mass = rng.uniform(0.01, 0.024), rng.uniform(1e-3, 1e-2)
        link = {"length": length, "mass": mass, "inertia": [mass * length**2] * 3}
        link["center_of_mass"] = [*rng.uniform(-0.2, 0.2, 2) * length, 0.5 * length]
        ring = (rng.uniform(0.0, 6.0) + 2 * np.pi * np.arange(3) / 3).tolist()
        cables: dict[str, Any] = {"radius": rng.uniform(0.006, 0.009), "azimuth": ring}
        if rough:
            cables["friction"] = {"constant": 0.2, "presliding": 1e-5 if seed % 2 else 1e-4}
        if heavy:
            cables |= {"linear_density": 5e-4, "lock_mass": 5e-4}
        section = {"joints": int(rng.integers(2, 5)), "joint": random_joint(rng, kind), "link": link}
        sections.append(section | {"azimuth": rng.uniform(-3.0, 3.0, 3).tolist(), "cables": cables})
    size = {"base": {"length": 0.01}, "tip": {"length": 0.005}}
    robot = vb.load({"vertebra": 1, "name": "scaled", "gravity": [0, 0, 0], "sections": sections, **size})
    load = vb.Load(tuple(rng.normal(0, 0.05, 3)), tuple(rng.normal(0, 1e-3, 3) * (seed % 2)), link=-1)
    pull, n = rng.uniform(5.0, 12.0, len(robot.cables)), robot.freedoms
    gravity = [(0.0, 0.0, 9.8), (0.0, 0.0, 0.0), (-9.8, 0.0, 0.0), (0.0, 0.0, -9.8)][seed // 4 % 4]
    return Question(robot, gravity, (load,), pull, rng.uniform(-0.2, 0.2, n), rng.uniform(-1.0, 1.0, n))


def same(found: Any, expected: Any, unit: float = 1.0) -> None:
    np.testing.assert_array_equal(np.asarray(found) / unit, np.asarray(expected))


def near(found: Any, expected: Any, unit: float = 1.0) -> None:
    expected = np.asarray(expected)
    size = float(np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(np.asarray(found) / unit, expected, rtol=1e-9, atol=1e-9 * size)


def same_shape(one: Any, other: Any, scale: Scale) -> None:
    same(one.angles, other.angles)
    assert (one.status, one.iterations, one.out_of_range) == (other.status, other.iterations, other.out_of_range)
    same(one.tip, other.tip, scale.length)
    same(one.tensions, other.tensions, scale.force)
    same(one.energy, other.energy, scale.torque)
    same(one.compliance[:3, :3], other.compliance[:3, :3], scale.length / scale.force)


@scaling
@pytest.mark.parametrize("seed", SEEDS)
def test_shapes_have_the_same_bits(seed: int, scale: Scale) -> None:
    one = question(seed)
    other = one.times(scale)
    shapes = [vb.shape_from_tensions(case.robot, case.pull, check=False, **case.field) for case in (other, one)]
    same_shape(*shapes, scale)
    lengths = vb.Pose(one.robot, 0.2 * one.q).cable_lengths * (1.0 - 1e-3)
    given = [(case, lengths * unit, 2e3 * force) for case, unit, force in
             ((other, scale.length, scale.force), (one, 1.0, 1.0))]  # fmt: skip
    same_shape(
        *(vb.shape_from_lengths(c.robot, rest, stiffness_EA=EA, check=False, **c.field) for c, rest, EA in given), scale
    )
    ways = [vb.ShapePath(case.robot, **case.field) for case in (other, one)]
    for factor in (0.5, 1.0, 0.7):
        steps = []
        for way, case in zip(ways, (other, one), strict=True):
            try:
                steps.append(way.step(factor * case.pull).angles)
            except VertebraError as error:
                steps.append(type(error).__name__)
        if isinstance(steps[0], str):
            assert steps[0] == steps[1]
            break
        same(*steps)


@scaling
@pytest.mark.parametrize("seed", SEEDS)
def test_motions_have_the_same_bits(seed: int, scale: Scale) -> None:
    one = question(seed)
    other, clock = one.times(scale), scale.time
    both = [(other, clock, scale.torque * clock), (one, 1.0, 1.0)]
    torque = [vb.inverse_dynamics(c.robot, c.q, c.rates, c.rates / t, **c.field) for c, t, _ in both]
    same(*torque, scale.torque)
    same(*(vb.mass_matrix(c.robot, c.q) for c, _, _ in both), scale.unit(2, 1))
    rises = [vb.forward_dynamics(c.robot, c.q, c.rates, c.pull, damping=1e-4 * d, **c.field) for c, _, d in both]
    same(*rises, 1.0 / clock**2)
    lengths = vb.Pose(one.robot, one.q).cable_lengths * (1.0 - 1e-3)
    for integrator, by_length in itertools.product(("rk4", "implicit"), (False, True)):
        runs = []
        for case, t, d in both:
            drive = {"tensions": case.pull} if not by_length else {
                "lengths": lengths * (scale.length if case is other else 1.0),
                "stiffness_EA": 2e3 * (scale.force if case is other else 1.0),
            }  # fmt: skip
            runs.append(
                vb.simulate(
                    case.robot, **drive, duration=5e-3 * t, dt=2.5e-4 * t, q0=0.5 * case.q, qd0=case.rates,
                    damping=1e-4 * d, integrator=integrator, check=False, **case.field,
                )
            )  # fmt: skip
        assert runs[0].ended == runs[1].ended
        same(runs[0].q.values, runs[1].q.values)
        same(runs[0].qdd.values, runs[1].qdd.values, 1.0 / clock**2)
        same(runs[0].kinetic.values, runs[1].kinetic.values, scale.torque)


@scaling
@pytest.mark.parametrize("seed", SEEDS)
def test_linear_models_have_the_same_bits(seed: int, scale: Scale) -> None:
    one = question(seed)
    other, n = one.times(scale), one.robot.freedoms
    models = [
        vb.linearise(case.robot, case.q, case.pull, qd=case.rates, friction=0, stiffness_EA=EA, **case.field)
        for case, EA in ((other, 2e3 * scale.force), (one, 2e3))
    ]
    same(models[0].A[n:, :n], models[1].A[n:, :n], 1.0 / scale.time**2)
    same(models[0].A[n:, n:], models[1].A[n:, n:], 1.0 / scale.time)
    same(models[0].B[n:], models[1].B[n:], 1.0 / (scale.length * scale.time**2))
    assert models[0].stable == models[1].stable
    near(models[0].frequencies, models[1].frequencies, 1.0 / scale.time)


def upright(scale: Scale | None = None) -> vb.Robot:
    """One that equal tensions keep straight."""
    ring = {"radius": 0.008, "azimuth": [0.0, 1.5, 3.141592653589793, 4.641592653589793]}
    rolling = {"kind": "rolling", "radius": 0.02}
    flexure = {"kind": "flexure", "length": 0.01, "stiffness": 0.5}
    link = {"length": 0.02, "mass": 0.004}
    sections = [
        {"joints": 5, "joint": rolling, "link": link, "azimuth": [0.1, 1.2, 2.9], "cables": ring},
        {"joints": 4, "joint": flexure, "link": link, "azimuth": [0.4, 2.2], "cables": ring},
    ]
    robot = vb.load({"vertebra": 1, "name": "upright", "gravity": [0, 0, 0], "sections": sections})
    return robot if scale is None else scale.robot(robot)


@scaling
def test_stable_tensions_have_the_same_bits(scale: Scale) -> None:
    down = np.array([0.0, 0.0, -9.8])
    low, high = stable_tensions(upright(), gravity=down)
    assert 0.0 < low < high < np.inf
    same(stable_tensions(upright(scale), gravity=down * scale.acceleration), (low, high), scale.force)
    assert vb.critical_tension(upright(scale), gravity=down * scale.acceleration) == low * scale.force


@scaling
@pytest.mark.parametrize("seed", SEEDS)
def test_holding_tensions_agree(seed: int, scale: Scale) -> None:
    one = question(seed)
    other = one.times(scale)
    shape = vb.shape_from_tensions(one.robot, one.pull, check=False, **one.field)
    for angles, least in itertools.product((shape.angles, 0.3 * one.q), ("norm", "sum")):
        found = [
            vb.tensions_for_shape(
                case.robot, angles, minimise=least, lower=0.5 * force, upper=40.0 * force, check=False, **case.field
            )
            for case, force in ((other, scale.force), (one, 1.0))
        ]
        near(found[0].tensions, found[1].tensions, scale.force)
        assert (found[0].feasible, found[0].stable) == (found[1].feasible, found[1].stable)


@scaling
@pytest.mark.parametrize("seed", [0, 1, 2, 3] if SOAK else [1, 2])
def test_tensions_for_a_tip_agree(seed: int, scale: Scale) -> None:
    one = question(seed)
    other = one.times(scale)
    goal = vb.shape_from_tensions(one.robot, one.pull, check=False, **one.field).tip
    found = [
        vb.tensions_for_tip(case.robot, goal * length, lower=0.5 * force, upper=40.0 * force, check=False, **case.field)
        for case, length, force in ((other, scale.length, scale.force), (one, 1.0, 1.0))
    ]
    near(found[0].tensions, found[1].tensions, scale.force)
    assert found[0].reached == found[1].reached


@scaling
@pytest.mark.parametrize("method", ["shared", "per_link", "capstan", "project"])
@pytest.mark.parametrize("seed", SEEDS)
def test_allocated_tensions_agree(seed: int, method: str, scale: Scale) -> None:
    one = question(seed)
    other = one.times(scale)
    found = []
    for case, force, t in ((other, scale.force, scale.time), (one, 1.0, 1.0)):
        motion = np.outer([0.5, 1.0], case.q), np.outer([1.0, 0.5], case.rates), np.outer([1.0, -1.0], case.rates / t)
        bounds = {"lower": 1.0 * force, "upper": 30.0 * force, "min_contact_force": 0.5 * force}
        friction = None if method == "capstan" else 0
        given = {"method": method, "friction": friction, **bounds, **case.field}
        found.append(vb.allocate_tensions(case.robot, *motion, **given))
    near(found[0].tensions, found[1].tensions, scale.force)
    assert [(v.step, v.joint, v.constraint, v.alone) for v in found[0].violations] == [
        (v.step, v.joint, v.constraint, v.alone) for v in found[1].violations
    ]


@pytest.mark.parametrize("scale", [scale for scale in SCALES if scale.time == 1.0], ids=str)
def test_the_nearest_trajectory_is_the_same(scale: Scale) -> None:
    """But for time: what counts as a fast oscillation is 0.1 s by definition (theory 6.7)."""
    one = question(3, ("rolling",))
    other = one.times(scale)
    time, found = np.linspace(0.0, 1.0, 8), []
    wave = np.sin(time)[:, None] * one.q
    for case, force in ((other, scale.force), (one, 1.0)):
        still = np.zeros_like(wave)
        given = {"method": "project", "dt": time[1], "friction": 0, "lower": 0.5 * force, "upper": 30.0 * force}
        found.append(vb.allocate_tensions(case.robot, wave, still, still, **given, **case.field))
    assert np.abs(found[1].q - wave).max() > 1e-3
    near(found[0].q, found[1].q)
    near(found[0].tensions, found[1].tensions, scale.force)


def snake(seed: int) -> tuple[vb.Robot, Any, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    joint = {"kind": "ball", "radius": 0.00635, "ring_radius": 0.0055, "friction": 0.5, "limit": 1.5}
    link = {"length": 0.0085, "mass": 0.0014, "channel": 0.0066}
    cables = {"radius": 0.00495, "azimuth": [-1.5, 0.5, 2.6], "friction": {"constant": 0.1}, "lock_mass": 1e-4}
    section = {"joints": 9, "joint": joint, "link": link, "cables": cables}
    robot = vb.load({"vertebra": 1, "name": "snake", "gravity": [0, 0, 0], "sections": [section]})
    return robot, (rng.uniform(0, 0.1, 9), rng.uniform(-3, 3, 9)), rng.uniform(20, 40, 3), rng.normal(size=3)


@scaling
@pytest.mark.parametrize("seed", SEEDS)
def test_payloads_have_the_same_bits(seed: int, scale: Scale) -> None:
    robot, shape, pull, direction = snake(seed)
    other, down = scale.robot(robot), np.array([0.0, -9.8, 0.0])
    couple = np.array([0.001, 0.0, 0.002]) * (seed % 2)
    for socket, link in itertools.product((None, 0.6), (-1, 4)):
        found = [
            vb.payload(
                r, *shape, pull * force, direction, gravity=down * g, socket_limit=socket, link=link,
                moment_per_force=couple * length,
            )
            for r, force, g, length in ((other, scale.force, scale.acceleration, scale.length), (robot, 1.0, 1.0, 1.0))
        ]  # fmt: skip
        same(found[0].force, found[1].force, scale.force)
        assert (found[0].joint, found[0].mode) == (found[1].joint, found[1].mode)
        same(found[0].reentry, found[1].reentry, scale.force)
        same(found[0].limits, found[1].limits, scale.force)


@scaling
@pytest.mark.parametrize("seed", range(3) if SOAK else [0])
@pytest.mark.parametrize("toward", ["given", "worst"] if SOAK else ["given"])
def test_best_tensions_agree(toward: str, seed: int, scale: Scale) -> None:
    robot, shape, _, direction = snake(seed)
    down = np.array([0.0, -9.8, 0.0])
    found = [
        vb.best_tensions(
            r, shape, direction if toward == "given" else "worst", (10.0 * force, 40.0 * force), gravity=down * g
        )
        for r, force, g in ((scale.robot(robot), scale.force, scale.acceleration), (robot, 1.0, 1.0))
    ]
    near(found[0].payload.force, found[1].payload.force, scale.force)
    near(found[0].tensions, found[1].tensions, scale.force)
