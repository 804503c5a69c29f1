"""The presets: all there, every number marked, and the parameter sets of the papers."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from vertebra.robot.reading import preset_names, preset_text
from vertebra.robot.robot import load, presets

NAMES = {
    "hu2023-planar",
    "hu2023-spatial",
    "hu2023-prototype",
    "dantuono2023",
    "cai2023",
    "lapusan2022",
    "yang2023-a",
    "yang2023-b",
    "yang2023-c",
}
MARKS = re.compile(r"\b(stated|inferred|assumed)\b")
UNMARKED = ("vertebra: 1", "name:", "source:")


def test_all_presets_are_there() -> None:
    assert set(presets()) == set(preset_names()) == NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_preset_loads_under_its_name(name: str) -> None:
    robot = load(name)
    assert robot.name == name
    assert robot.source


def values(line: str) -> str:
    return line.partition("#")[0].strip()


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_number_says_where_it_comes_from(name: str) -> None:
    lines = preset_text(name).splitlines()
    numbers = [line for line in lines if re.search(r"\d", values(line)) and not values(line).startswith(UNMARKED)]
    assert len(numbers) >= 5
    assert [line for line in numbers if not MARKS.search(line.partition("#")[2])] == []


def near(value: object) -> object:
    return pytest.approx(value, rel=1e-12, abs=1e-15)


def degrees(radians: np.ndarray) -> object:
    return np.degrees(radians).round(9).tolist()


@pytest.mark.parametrize("name", ["hu2023-planar", "hu2023-spatial"])
def test_hu2023_simulation(name: str) -> None:
    robot = load(name)
    assert len(robot.joints) == 5
    assert robot.links["length"] == near(0.012)
    assert robot.joints["radius"] == near(0.006)
    assert robot.cables["radius"] == near(0.0035)
    assert robot.links["mass"][1:] == near(0.851e-6 * 7860)
    assert robot.gravity.tolist() == [0, 0, -9.8]
    assert robot.length == near(6 * 0.012)
    assert robot.tip_point[2] == near(0.012)


def hu2023_azimuths(alpha: float) -> tuple[list[float], list[float]]:
    """Of the cables and of the two kinds of joints, in degrees."""
    return [0, 180 - alpha, 180, -alpha % 360], [0, -alpha]


@pytest.mark.parametrize(("name", "alpha"), [("hu2023-planar", 0), ("hu2023-spatial", 90), ("hu2023-prototype", 90)])
def test_hu2023_frames(name: str, alpha: float) -> None:
    robot = load(name)
    cables, joints = hu2023_azimuths(alpha)
    assert degrees(robot.cables["azimuth"]) == cables
    assert degrees(robot.joints["azimuth"][:2]) == joints
    assert (robot.joints["limit"] == math.pi / 2).all()


def test_hu2023_prototype() -> None:
    robot = load("hu2023-prototype")
    assert len(robot.joints) == 11
    assert robot.links["length"][1:] == near(0.012)
    assert robot.joints["radius"] == near(0.020)
    assert robot.cables["radius"] == near(0.0075)
    assert robot.links["mass"][0] == 0
    assert robot.links["mass"][1:] == near(0.0038)
    # Centre of the first link 6 + 13 mm from the origin, its far face 6 mm on; tip 6 + 5 mm from the last centre.
    assert robot.links["length"][0] == near(0.006 + 0.013 + 0.006)
    assert robot.tip_point[2] == near(0.012 + 0.005)
    assert robot.gravity.tolist() == [0, 0, -9.8]


def test_dantuono2023() -> None:
    robot = load("dantuono2023")
    R, plane = 0.035, 0.035 * math.cos(math.pi / 4)
    close = {"abs": 1e-9}
    assert len(robot.joints) == 6
    assert robot.joints["radius"] == near(R)
    assert robot.links["length"][1:] == pytest.approx(0.060 + 2 * (R - plane), **close)
    assert robot.segments["recess"] == pytest.approx(R - plane, **close)
    assert robot.cables["radius"] == near(0.020)
    assert robot.joints["contact_offset"] == near(0.022)
    assert robot.joints["friction"] == near(0.3)
    assert robot.links["mass"][1:] == near(0.15)
    assert robot.cables["pretension"] == near(5.0)
    # A tube of radii 25 and 15 mm, 60 mm long, along z.
    axial = 0.15 / 2 * (0.025**2 + 0.015**2)
    across = 0.15 / 12 * (3 * (0.025**2 + 0.015**2) + 0.060**2)
    assert robot.links["inertia"][1:] == near(np.tile([across, across, axial], (6, 1)))
    # The paper's +y, -z, -y, +z are our +x, -y, -x, +y.
    np.testing.assert_allclose(robot.cables["x"], [0.02, 0, -0.02, 0], atol=1e-17)
    np.testing.assert_allclose(robot.cables["y"], [0, -0.02, 0, 0.02], atol=1e-17)
    assert robot.gravity.tolist() == [0, -9.8, 0]


def test_cai2023() -> None:
    robot = load("cai2023")
    assert len(robot.joints) == 19
    assert robot.links["length"][1:] == near(0.0085)
    assert robot.cables["radius"] == near(0.00495)
    assert robot.links["diameter"] == near(0.0127)
    assert robot.joints["friction"] == near(0.58)
    assert robot.joints["radius"] == near(0.00635)
    assert robot.joints["ring_radius"] == near(0.0055)
    assert robot.segments["exit"] == near(0.0033)
    assert robot.links["mass"][1:] == near(0.00142)
    # Tendon 1 at the paper's -z, which is our -y, the direction of load and gravity.
    assert degrees(robot.cables["azimuth"]) == [-90, 30, 150]
    assert robot.gravity.tolist() == [0, -9.80665, 0]


def test_lapusan2022() -> None:
    robot = load("lapusan2022")
    assert len(robot.links) == 5
    assert robot.joints["size"] == near(0.042)
    assert robot.links["length"][1:] == near(0.042)
    assert robot.description.sections[0].joint.order == "yx"
    assert robot.joints[["axis_x", "axis_y"]].tolist() == [(0, 1)] * 4


@pytest.mark.parametrize(
    ("name", "sections", "flexure", "length"),
    [
        ("yang2023-a", (6,), 6.167e-3, 73.0e-3),
        ("yang2023-b", (12,), 6.167e-3, 146.0e-3),
        ("yang2023-c", (4, 8, 14), 6.079e-3, 169.1e-3),
    ],
)
def test_yang2023(name: str, sections: tuple[int, ...], flexure: float, length: float) -> None:
    robot = load(name)
    assert robot.section_ends == sections
    assert robot.joints["size"] == near(flexure)
    assert robot.length == pytest.approx(length, abs=0.05e-3)
    assert robot.links["length"][1:] == near(0.006)
    assert robot.links["length"][0] == near(0.003)
    assert robot.tip_point[2] == near(0.003)
    assert robot.links["diameter"] == near(0.016)
    assert robot.links["mass"][1:] == near(0.0014)
    assert robot.joints["mass"] == near(0.000373)
    # Two rods in bending: 2 E I / L.
    assert robot.joints["stiffness"] == near(2 * 60.6e9 * math.pi * 0.8e-3**4 / 64 / flexure)
    assert robot.cables["radius"] == near(0.005)
    assert degrees(robot.cables["azimuth"]) == [-45, 45, 135, 225] * len(sections)
    assert robot.cables["friction"] == near(np.tile([14, 0.70, 0.105], (len(robot.cables), 1)))
    assert robot.cables["linear_density"] == near(0.0025)
    assert robot.cables["lock_mass"] == near(0.0008475)
    assert robot.gravity.tolist() == [-9.8, 0, 0]


@pytest.mark.parametrize(("name", "grams"), [("yang2023-a", 14.40), ("yang2023-b", 25.41)])
def test_yang2023_printed_masses(name: str, grams: float) -> None:
    robot = load(name)
    assert robot.mass * 1e3 == pytest.approx(grams, abs=0.005)
    per_joint = (robot.mass - robot.cables["lock_mass"].sum()) / len(robot.joints)
    assert per_joint * 1e3 == pytest.approx(1.835, abs=0.0005)
