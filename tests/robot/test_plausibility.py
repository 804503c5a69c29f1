"""Notes about robots that are allowed but hardly meant: each with a robot that earns it and one that does not."""

from __future__ import annotations

import re
from typing import Any

import pytest

from vertebra.robot.robot import Robot, load, presets

LINK = {"length": "20 mm", "mass": "5 g", "diameter": "20 mm", "inertia": [1e-6, 1e-6, 1e-6]}
PIN = {"kind": "pin", "length": "5 mm", "damping": "0.001 N*m*s/rad"}
MASSLESS = {"mass": 0, "inertia": None}
ROUND = ["0 deg", "120 deg", "240 deg"]


def robot(
    link: dict[str, Any] | None = None,
    joint: dict[str, Any] | None = None,
    cables: list[str] | None = None,
    azimuth: Any = ("0 deg", "90 deg"),
    joints: int = 4,
) -> Robot:
    section = {
        "joints": joints, "joint": PIN | (joint or {}), "link": LINK | (link or {}), "azimuth": list(azimuth),
        "cables": {"radius": "5 mm", "azimuth": ROUND if cables is None else cables},
    }  # fmt: skip
    return load({"vertebra": 1, "name": "plain", "sections": [section]})


def test_a_plain_robot_has_no_notes() -> None:
    assert robot().notes() == ()


@pytest.mark.parametrize(
    ("unusual", "words"),
    [
        (
            {"link": MASSLESS | {"length": 20}, "joints": 10},
            "is 200.1 m long; a length without a unit is in m",
        ),
        ({"link": MASSLESS | {"length": "0.05 mm"}, "joint": {"length": "0.05 mm"}}, "the robot is only 0.4 mm long"),
        ({"link": {"mass": 1}}, r"sections\[0\].link: 1 kg in a cylinder .* denser than osmium"),
        ({"link": {"mass": "5 mg", "inertia": [0, 0, 0]}}, "0.005 g .* lighter than aerogel"),
        ({"cables": ["0 deg", "180 deg"]}, "2 cables for a robot that bends in two planes"),
        ({"cables": ["10 deg"]}, "1 cable for a robot that bends in two planes"),
        ({"cables": ["0 deg", "60 deg", "120 deg"]}, "all cables are on one side: none pulls toward azimuth 240 deg"),
        (
            {"cables": ["0 deg", "60 deg", "300 deg"], "azimuth": ["0 deg"]},
            "all cables are on one side: none pulls toward azimuth 180 deg",
        ),
        ({"cables": ["60 deg", "120 deg", "90 deg"], "azimuth": ["90 deg"]}, "none pulls toward azimuth 270 deg"),
        ({"cables": ["120 deg", "240 deg"], "azimuth": ["0 deg"]}, "none pulls toward azimuth 0 deg"),
        ({"azimuth": ["0 deg", "180 deg"]}, r"sections\[0\].azimuth: \[0 deg, 180 deg\] is one plane"),
        ({"azimuth": ["0 deg", "90 deg"], "joints": 1}, "2 directions but 1 joint, which bends in one plane only"),
        ({"joint": {"damping": 0}}, "no joint has damping"),
        ({"cables": [*ROUND, "120 deg"]}, "cables 2 and 4 share the hole at 120 deg"),
    ],
)
def test_what_is_unusual_is_noted(unusual: dict[str, Any], words: str) -> None:
    (note,) = robot(**unusual).notes()
    assert re.search(words, note), note


@pytest.mark.parametrize(
    "usual",
    [
        {"cables": ["0 deg", "180 deg"], "azimuth": ["0 deg"]},
        {"cables": ["0 deg", "180 deg"], "azimuth": ["30 deg"]},
        {"cables": ["45 deg", "135 deg"], "azimuth": ["0 deg"]},
        {"cables": ["0 deg", "90 deg"], "joint": {"stiffness": 0.1}},
        {"cables": ["0 deg", "60 deg", "120 deg"], "joint": {"stiffness": 0.1}},
        {"azimuth": ["0 deg"]},
        {"link": {"inertia": None}, "joint": {"damping": 0}},
        {"link": MASSLESS},
    ],
)
def test_what_is_usual_is_not(usual: dict[str, Any]) -> None:
    assert robot(**usual).notes() == ()


def test_robots_of_ball_joints_are_not_simulated_and_need_no_damping() -> None:
    joint = {"kind": "ball", "radius": "6 mm", "ring_radius": "5 mm", "friction": 0.5}
    section = {
        "joints": 3,
        "joint": joint,
        "link": LINK | {"channel": "4 mm"},
        "cables": {"radius": "5 mm", "azimuth": ROUND},
    }
    assert load({"vertebra": 1, "name": "balls", "sections": [section]}).notes() == ()


def test_presets_are_plausible() -> None:
    """Hu's planar robot is drawn with two cables through each hole; D'Antuono gives no damping."""
    found = {name: len(load(name).notes()) for name in presets()}
    assert {name: count for name, count in found.items() if count} == {"dantuono2023": 1, "hu2023-planar": 2}
