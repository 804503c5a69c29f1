"""Robots that no paper has, to try what the presets do not: mixed kinds, several sections, odd azimuths."""

from __future__ import annotations

from typing import Any

import numpy as np

import vertebra as vb

ROLLING = {"kind": "rolling", "radius": "9 mm"}
FLEXURE = {"kind": "flexure", "length": "7 mm", "stiffness": 0.3, "mass": "0.4 g"}
PIN = {"kind": "pin", "length": "11 mm"}
UNIVERSAL = {"kind": "universal", "order": "xy", "lower": "14 mm"}
BACKBONE = {
    "kind": "backbone",
    "length": "12 mm",
    "rod_diameter": "0.9 mm",
    "youngs_modulus": "60 GPa",
    "mass": "0.1 g",
}
BALL = {"kind": "ball", "radius": "6 mm", "ring_radius": "5 mm", "friction": 0.5}
FLAT_LINK = {"length": "10 mm", "mass": "2 g"}
BALL_LINK = {"length": "9 mm", "channel": "3 mm", "mass": "1 g"}


def cables(radius, *azimuths, **extra):
    return {"radius": radius, "azimuth": list(azimuths), "linear_density": "2 g/m", "lock_mass": "0.5 g", **extra}


def robot(name, *sections, base="8 mm", tip="2 mm"):
    mapping = {"vertebra": 1, "name": name, "base": {"length": base}, "tip": {"length": tip}}
    return vb.load({**mapping, "sections": list(sections)})


def section(joints, joint, link=FLAT_LINK, azimuth=None, cables=None):
    given = {"azimuth": azimuth, "cables": cables}
    return {"joints": joints, "joint": joint, "link": link} | {k: v for k, v in given.items() if v is not None}


def mirror_mix():
    """Rolling, flexure and pin joints; cables end at different sections."""
    return robot(
        "mirror-mix",
        section(3, ROLLING, azimuth=["0 deg", "70 deg"], cables=cables("5 mm", "10 deg", "130 deg", "250 deg")),
        section(4, FLEXURE, azimuth=["20 deg", "-65 deg"], cables=cables("4 mm", "45 deg", "200 deg")),
        section(2, PIN, azimuth=["140 deg"], cables=cables("3 mm", "0 deg", "95 deg", holes={"recess": "1 mm"})),
    )


def universal_mix(springs=0.25):
    """Universal joints in both orders among rolling, flexure and pin joints; cables end at different sections."""
    first = UNIVERSAL | {"order": "yx", "stiffness": springs}
    link = FLAT_LINK | {"center_of_mass": [0.001, -0.002, 0.004]}
    return robot(
        "universal-mix",
        section(2, first, link, cables=cables("6 mm", "30 deg", "150 deg", "270 deg")),
        section(1, ROLLING, azimuth=["-40 deg"]),
        section(1, UNIVERSAL | {"stiffness": springs}, link, cables=cables("5 mm", "80 deg", holes={"recess": "2 mm"})),
        section(2, FLEXURE, azimuth=["20 deg", "-65 deg"]),
        section(1, PIN, azimuth=["5 deg"], cables=cables("4 mm", "10 deg", "200 deg")),
        section(1, first | {"lower": "6 mm"}, cables=cables("3 mm", "-20 deg", "100 deg")),
    )


def universals(order, joints=3, springs=0.25, **extra):
    """Universal joints alone, with three cables to the end."""
    ring = cables("6 mm", "30 deg", "150 deg", "270 deg", **extra)
    return robot(f"universal-{order}", section(joints, UNIVERSAL | {"order": order, "stiffness": springs}, cables=ring))


def turning_mix():
    """Universal, ball and rolling joints in one chain."""
    return robot(
        "turning-mix",
        section(2, UNIVERSAL, cables=cables("6 mm", "30 deg", "170 deg")),
        section(2, ROLLING, azimuth=["-40 deg"]),
        section(3, BALL, BALL_LINK, cables=cables("4 mm", "15 deg", "255 deg")),
        section(2, UNIVERSAL | {"order": "yx"}),
        section(2, PIN, azimuth=["5 deg", "100 deg"], cables=cables("3 mm", "-20 deg")),
    )


def ball_first():
    return robot(
        "ball-first",
        section(3, BALL, BALL_LINK, cables=cables("4 mm", "0 deg", "120 deg", "240 deg")),
        section(2, FLEXURE, azimuth=["33 deg", "-12 deg"], cables=cables("3 mm", "60 deg")),
    )


def continuum(joints=6, torsion=None, gravity="ground"):
    """A rod through thin discs, pulled by three cables."""
    joint = BACKBONE if torsion is None else BACKBONE | {"torsion": torsion}
    disc = {"length": "2 mm", "mass": "1 g", "diameter": "14 mm"}
    one = section(joints, joint, disc, cables=cables("5 mm", "0 deg", "120 deg", "240 deg"))
    return vb.load(robot("continuum", one).to_mapping() | {"gravity": gravity})


def bending_mix():
    """Every joint that cables bend: rolling, backbone with and without torsion, universal with springs, flexure."""
    spring = {"stiffness": 0.2, "damping": 1e-4}
    return robot(
        "bending-mix",
        section(2, BACKBONE, cables=cables("5 mm", "10 deg", "130 deg", "250 deg")),
        section(2, UNIVERSAL | spring, cables=cables("4 mm", "45 deg", "165 deg", "285 deg")),
        section(2, ROLLING | spring, azimuth=["0 deg", "90 deg"]),
        section(2, BACKBONE | {"torsion": 0.15}, cables=cables("4.5 mm", "80 deg", "200 deg", "320 deg")),
        section(1, FLEXURE, azimuth=["20 deg"]),
    )


def every_robot():
    return [*(vb.load(name) for name in vb.presets()), mirror_mix(), turning_mix(), ball_first()]


def poses(robot, count, seed=0, spread=0.6):
    """Random poses, the first one straight and the second all but straight, where series take over."""
    rng = np.random.default_rng(seed)
    out = rng.uniform(-spread, spread, (count, robot.freedoms))
    out[0] = 0.0
    out[1] = rng.uniform(-1e-4, 1e-4, robot.freedoms)
    return out


def smooth(source: Any) -> vb.Robot:
    """A robot without cable friction, whatever its file says."""
    mapping = vb.load(source).to_mapping()
    for section in mapping["sections"]:
        if section.get("cables"):
            section["cables"].pop("friction", None)
    return vb.load(mapping)
