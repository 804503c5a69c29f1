"""Derivatives of shapes against differences of order 6 of whole calls, robot files included."""

from __future__ import annotations

import copy
import os
import re
from typing import Any

import numpy as np
import pytest
from tests import every_kind, robots
from tests.statics import test_stops

import vertebra as vb
from vertebra.errors import InputError
from vertebra.mechanics.problem import Closure
from vertebra.robot.fields import fields
from vertebra.statics import Shape, Status

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
SEEDS = range(12 if SOAK else 1)
SIXTH = ((-3, -1 / 60), (-2, 9 / 60), (-1, -45 / 60), (1, 45 / 60), (2, -9 / 60), (3, 1 / 60))
MIXED = ("flexure", "universal-xy", "rolling", "backbone-twisting", "pin")
ROBOTS = [(kind,) for kind in every_kind.KINDS] + [MIXED]
LINEAR = ("tip pose", "angles", "lengths", "tensions")
SIZES = {"m": 0.01, "rad": 1.0, "kg": 1e-3, "kg/m": 0.01, "N": 1.0, "N*m/rad": 0.3, "N*m": 1e-2, "m/s^2": 3.0, "": 0.1}
"""How large a number of this unit usually is: how far to step, and how to compare derivatives of unlike units."""


WITHOUT_EFFECT = ("sensors", "inertia", "diameter", "limit", "damping", "pretension", "contact_offset")
"""Fields that no equilibrium depends on: their derivatives are zeros, exactly."""


def difference(answer, step: float) -> np.ndarray:
    """Order 6; `answer` of the change."""
    return sum(weight * answer(steps * step) for steps, weight in SIXTH) / step


def outputs(shape: Shape, first: Shape, of: str) -> np.ndarray:
    if of == "tip pose":
        turned = shape.frames[-1, :3, :3] @ first.frames[-1, :3, :3].T
        sine = 0.5 * np.array([turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1]])
        size = np.linalg.norm(sine)
        return np.append(shape.tip, sine * (np.arcsin(size) / size if size else 1.0))
    if of == "stiffness":
        return shape.stiffness().stiffness
    if of == "compliance":
        return shape.compliance.ravel()
    if of == "tension margin":
        return np.array([end for end in shape.tension_margin() if 0.0 < end < np.inf])
    return {"angles": shape.angles, "lengths": shape.lengths, "tensions": shape.tensions_at_base}[of]


def with_field(robot: vb.Robot, path: str, change: float) -> vb.Robot:
    """The robot of a file with one number changed."""
    mapping = copy.deepcopy(robot.to_mapping())
    keys = [int(key) if key.isdigit() else key for key in re.findall(r"\w+", path)]
    part: Any = mapping
    for key in keys[:-1]:
        part = part[key]
    part[keys[-1]] += change
    return vb.load(mapping)


class Question:
    """A shape that can be solved again with anything changed."""

    def __init__(self, kinds, seed, driven: str, friction: Any = None, closure: Closure = "virtual-work") -> None:
        self.question = every_kind.random_question((3, seed), kinds, moment=True, friction=friction)
        made = self.question.robot.to_mapping() | {"gravity": self.question.gravity.tolist()}
        self.robot, self.driven, self.closure = vb.load(made), driven, closure
        self.loads = (*self.question.loads, vb.Load(force=(0.01, 0.02, 0.0), mass=0.004), vb.Load(link=1, mass=0.002))
        self.tensions, self.lengths, self.start = self.question.tensions, None, None
        self.first = self.shape()
        if driven == "lengths":
            self.lengths = self.first.natural_lengths(800.0)
            self.first = self.shape()
        self.start = self.first.angles

    def shape(self, **changed: Any) -> Shape:
        robot, loads = changed.get("robot", self.robot), changed.get("loads", self.loads)
        common = {"loads": loads, "gravity": changed.get("gravity"), "start": self.start, "check": False}
        common["closure"] = self.closure
        if self.lengths is not None:
            return vb.shape_from_lengths(robot, changed.get("lengths", self.lengths), stiffness_EA=800.0, **common)
        return vb.shape_from_tensions(robot, changed.get("tensions", self.tensions), **common)

    def changed(self, name: str, change: float) -> Shape:
        """With the parameter of this name changed."""
        word, *rest = re.findall(r"[a-zA-Z]+|\d+", name)
        if word in ("tensions", "lengths"):
            given = self.tensions if word == "tensions" else self.lengths
            return self.shape(**{word: given + change * np.eye(len(given))[int(rest[0])]})
        if word == "loads":
            number, what = int(rest[0]), rest[1]
            load = self.loads[number]
            values = {key: getattr(load, key) for key in ("force", "moment", "link", "point", "mass")}
            if what == "mass":
                values["mass"] += change
            else:
                if what == "point" and values["point"] is None:
                    last = load.link == -1
                    values["point"] = self.robot.tip_point if last else self.robot.links["center_of_mass"][load.link]
                values[what] = np.array(values[what]) + change * np.eye(3)[int(rest[2])]
            return self.shape(loads=[*self.loads[:number], vb.Load(**values), *self.loads[number + 1 :]])
        return self.shape(robot=with_field(self.robot, name, change))


def check(question: Question, of: str, tolerance: float, *steps: float, some: int | None = None) -> None:
    """All derivatives against differences over these steps, each against the one that it is nearest to: a long step may
    meet a corner, and after a short one the solve may end where it began."""
    found = vb.sensitivity(question.first, of)
    largest, errors = np.zeros(found.sizes["of"]), []
    names = found.coords["by"].values.tolist()
    assert {field.path for field in fields(question.robot)} <= set(names)
    for column, (name, unit) in enumerate(zip(names, found.coords["by_unit"].values.tolist(), strict=True)):
        value, size = float(found.coords["by_value"][column]), SIZES.get(unit, 1.0)
        if "force" in name:
            size = 0.2
        if any(word in name for word in WITHOUT_EFFECT):
            assert not found.values[:, column].any(), name
            continue
        if not is_free(name, value, 3 * max(steps) * size) or (some and column % some):
            continue
        expected = [
            difference(lambda change, name=name: outputs(question.changed(name, change), question.first, of), h * size)
            for h in steps
        ]
        largest = np.maximum(largest, np.abs(expected[0]) * size)
        errors.append((np.abs(found.values[:, column] - expected) * size, name))
    for error, name in errors:
        worst = (error / np.maximum(largest, 1e-6 * largest.max())).max(axis=1).min()
        assert worst < tolerance, f"d({of}) / d({name}) differs by {worst:.2e}"


def is_free(name: str, value: float, change: float) -> bool:
    """Whether a number can go both ways by so much; whole answers below it do not exist."""
    signed = ("azimuth", "center_of_mass", "gravity", "force", "moment", "point", "tip.length")
    return any(word in name for word in signed) or value > change


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("driven", ["tensions", "lengths"])
@pytest.mark.parametrize("kinds", ROBOTS, ids="+".join)
def test_every_parameter(kinds, driven, seed) -> None:
    question = Question(kinds, seed, driven)
    step = 2e-3 if driven == "tensions" else 2e-4  # no cable goes slack
    for of in LINEAR:
        if of != "tensions" or driven == "lengths":
            check(question, of, 1e-8, step)
    check(question, "compliance", 1e-8, 2.0 * step, some=None if SOAK else 5)


LAWS = {
    "constant": {"constant": 0.2, "presliding": 2e-3},
    "quadratic": {"quadratic": [0.3, 0.1, 0.2], "presliding": 2e-3},
    "table": {"table": [[0.0, 0.1], [0.2, 0.2], [0.5, 0.15], [1.0, 0.3]], "presliding": 2e-3},
}
"""With a long presliding cables stick at the poses of these robots, so that differences meet no corner."""
FRICTION_STEPS = (8e-4, 2e-4, 5e-5) if SOAK else (8e-4, 2e-4)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kinds", ROBOTS, ids="+".join)
def test_friction(kinds, law, seed) -> None:
    question = Question(kinds, seed, "tensions", LAWS[law])
    # A solve with friction ends at 1e-12 of the torques, which leaves some 1e-8 of noise in differences over steps that
    # meet no corner. At a fixed pose, without that noise, the derivatives hold to 2e-9 (tests of the kernel).
    check(question, "tip pose", 3e-8, *FRICTION_STEPS, some=None if SOAK else 3)
    check(question, "compliance", 3e-8, *FRICTION_STEPS, some=None if SOAK else 9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("driven", ["tensions", "lengths"])
def test_torques_balanced_at_the_discs(driven, seed) -> None:
    question = Question(("flexure",), seed, driven, LAWS["quadratic"], "paper")
    check(question, "tip pose", 3e-8, *(FRICTION_STEPS if driven == "tensions" else FRICTION_STEPS[1:]))
    with pytest.raises(InputError, match=r"stiffness .* closure='paper'"):
        vb.sensitivity(question.first, "stiffness")


def test_a_cable_that_is_just_taut_resists() -> None:
    """The derivative of the side on which it does."""
    robot, given = vb.load("yang2023-a"), {"stiffness_EA": 800.0, "friction": 0.0}
    rest = vb.shape_from_tensions(robot, [8.0, 6.0, 0.0, 4.0], friction=0.0).natural_lengths(800.0)
    found = vb.sensitivity(vb.shape_from_lengths(robot, rest, **given), "tip", "lengths")
    assert any("just taut" in note for note in found.attrs["notes"])
    with pytest.raises(InputError, match=r"cable 3 is just taut, where stiffness changes at once"):
        vb.sensitivity(vb.shape_from_lengths(robot, rest, **given), "stiffness", "lengths")
    others = np.array([-1.0, -1.0, 0.0, -1.0])  # shorter, they draw on the third
    shapes = [vb.shape_from_lengths(robot, rest + 1e-6 * step * others, **given) for step in range(5)]
    assert all(shape.tensions_at_base[2] > 0.0 for shape in shapes[1:])
    weights = np.array([-25.0, 48.0, -36.0, 16.0, -3.0]) / 12e-6
    expected = weights @ [shape.tip for shape in shapes]
    np.testing.assert_allclose(found.values @ others, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize(
    "section",
    [
        robots.section(4, robots.FLEXURE, azimuth=["0 deg", "90 deg"], cables=robots.cables("5 mm", 0.2, 2.2, 4.4)),
        robots.section(4, robots.UNIVERSAL | {"stiffness": 0.9}, cables=robots.cables("5 mm", 0.2, 2.2, 4.4)),
    ],
    ids=["flexure", "universal"],
)
def test_friction_that_is_zero_grows(section) -> None:
    """Of one cable among others that rub: the derivative is that of more friction."""
    robot, h = robots.robot("rubbed", section), 1e-5

    def solved(mu: float) -> Shape:
        return vb.shape_from_tensions(robot, [3.0, 4.0, 6.0], friction=[mu, 0.2, 0.3])

    def angles(mu: float) -> np.ndarray:
        return solved(mu).angles

    found = vb.sensitivity(solved(0.0), of="angles", by="friction[0].c").values[:, 0]
    wanted = (-11 * angles(0.0) + 18 * angles(h) - 9 * angles(2 * h) + 2 * angles(3 * h)) / (6 * h)
    assert np.abs(wanted).max() > 1e-4
    assert np.abs(found - wanted).max() < 1e-5 * np.abs(wanted).max()


def test_critical_tension_and_margin() -> None:
    robot = vb.load("hu2023-prototype")
    found = vb.sensitivity(vb.shape_from_tensions(robot, 4.0), "critical tension")
    for name in ("sections[0].joint.radius", "sections[0].link.mass", "sections[0].link.length", "gravity[2]"):
        value = float(found.coords["by_value"].sel(by=name))
        expected = difference(
            lambda change, name=name: vb.critical_tension(with_field(robot, name, change)), 1e-3 * abs(value)
        )
        np.testing.assert_allclose(found.sel(by=name).item(), expected, rtol=1e-8)
    assert not found.sel(by=[f"tensions[{k}]" for k in range(4)]).values.any()
    tensions = np.array([2.0, 2.5, 3.0, 1.8])
    shape = vb.shape_from_tensions(robot, tensions)
    margin = vb.sensitivity(shape, "tension margin", ["tensions", "gravity", "sections[0].joint.radius"])
    for k in range(4):
        expected = difference(
            lambda change, k=k: vb.shape_from_tensions(robot, tensions + change * np.eye(4)[k]).tension_margin()[0],
            0.01,
        )
        np.testing.assert_allclose(margin.values[0, k], expected, rtol=1e-8)
    with_radius = lambda change: with_field(robot, "sections[0].joint.radius", change)  # noqa: E731
    expected = difference(lambda c: vb.shape_from_tensions(with_radius(c), tensions).tension_margin()[0], 2e-5)
    np.testing.assert_allclose(margin.values[0, -1], expected, rtol=1e-8)


@pytest.mark.parametrize("seed", range(30) if SOAK else (3, 5, 15, 26, 28))
def test_joints_on_rigid_stops(seed) -> None:
    """By the limit itself, and by what presses on it; a backbone on its stop gives by 1e-8, in the solve too."""
    rng = np.random.default_rng(seed)
    robot = test_stops.random_robot(rng)
    given = test_stops.random_question(rng, robot)
    first = vb.shape_from_tensions(robot, check=False, **given)
    assert first.status == Status.SOLVED
    assert first.at_stops
    checked, found = 0, vb.sensitivity(first, "tip")
    for section in range(len(robot.section_ends)):
        for path in (f"sections[{section}].joint.limit", f"sections[{section}].link.mass"):
            held = []

            def tip(change: float, path: str = path, held: list = held) -> np.ndarray:
                shape = vb.shape_from_tensions(
                    with_field(robot, path, change), start=first.angles, check=False, **given
                )
                held.append(shape.at_stops)
                return shape.tip

            expected = difference(tip, 1e-4)
            if set(held) == {first.at_stops}:
                size = max(np.abs(expected).max(), 1e-3)
                np.testing.assert_allclose(found.sel(by=path).values, expected, rtol=0, atol=5e-8 * size)
                checked += 1
    assert checked
