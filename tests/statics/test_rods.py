"""Backbone robots against elastic rods of any curvature: what arcs between the discs cost, and when they buckle.

The rod is 2 m long, so that links of a micrometre are discs of no thickness.
"""

from __future__ import annotations

import math
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.oracles.cosserat import cosserat_rod, divided_rod
from tests.oracles.elastica import elastica
from tests.statics.test_elastica import end_loaded

import vertebra as vb
from vertebra.statics import stable_tensions

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
BENDING, TWISTING, LENGTH, RADIUS = 20.0, 15.0, 2.0, 0.08
"""N*m^2 of bending and of torsion, m, m."""
LINK = 1e-6


def rod(joints: int, torsion: bool = False, mass: float = 0.0, sections: int = 1, **joint: Any) -> vb.Robot:
    """`joints` to a section, three cables to each."""
    piece = LENGTH / joints / sections
    made = {"kind": "backbone", "length": piece, "stiffness": BENDING / piece, "mass": mass / joints / sections}
    made |= {"limit": 2.0, **({"torsion": TWISTING / piece} if torsion else {}), **joint}
    return vb.load({
        "vertebra": 1, "name": "rod", "gravity": [0, 0, 0], "tip": {"length": -LINK},
        "sections": [
            {"joints": joints, "joint": made, "link": {"length": LINK},
             "cables": {"radius": RADIUS, "azimuth": [0.3 * i + 2 * math.pi * k / 3 for k in range(3)]}}
            for i in range(sections)
        ],
    })  # fmt: skip


def shape(robot: vb.Robot, tensions: Any, gravity: Any = (0, 0, 0), force: Any = (0, 0, 0), moment: Any = (0, 0, 0)):
    return vb.shape_from_tensions(robot, tensions, gravity=gravity, loads=[vb.Load(force, moment)])


CASES: dict[str, tuple[dict[str, Any], list[float], dict[str, Any]]] = {
    "planar, to 90 deg": ({}, [math.pi / 2 * BENDING / LENGTH / RADIUS, 0.0, 0.0], {}),
    "a light force": (
        {"torsion": True},
        [120.0, 60.0, 5.0],
        {"force": (0.5, 1.5, -0.5), "moment": (0.5, 0.0, 1.5)},
    ),
    "a strong force": ({}, [150.0, 60.0, 5.0], {"force": (1.0, 3.0, -1.0)}),
    "gravity": ({"mass": 0.4}, [100.0, 0.0, 30.0], {"gravity": (0.0, 5.0, -8.0)}),
    "all at once": (
        {"torsion": True, "mass": 0.4},
        [120.0, 20.0, 10.0],
        {"gravity": (0.0, 5.0, -8.0), "force": (1.0, 3.0, -1.0), "moment": (0.0, 0.0, 3.0)},
    ),
    "two sections": ({"torsion": True, "sections": 2}, [120.0, 20.0, 10.0, 0.0, 100.0, 0.0], {"force": (0, 3, -1)}),
}
ROWS = {
    "planar, to 90 deg": "one cable", "gravity": "weight (", "a light force": "a light force",
    "a strong force": "a strong force", "all at once": "weight, force and moment", "two sections": "two sections",
}  # fmt: skip
"""How the table of the documentation (theory 9.3) names them."""
STRONG = {"a strong force": 1e-3, "all at once": 1e-3}
"""Loads that move the tip by 18 and 35 % of the length."""
tried = pytest.mark.parametrize("name", CASES if SOAK else ["planar, to 90 deg", "a light force", "all at once"])


def stated(row: str) -> list[str]:
    """Cells of a row of a table of the documentation, behind its name."""
    page = (Path(__file__).parents[2] / "docs" / "theory.md").read_text(encoding="utf-8")
    [line] = [line for line in page.splitlines() if line.startswith(f"| {row}")]
    return [cell.strip() for cell in line.strip("|").split("|")[1:]]


# The oracles.


def test_a_cable_alone_bends_a_rod_to_a_circle():
    robot, tensions, _ = rod(4), *CASES["planar, to 90 deg"][1:]
    rest = cosserat_rod(robot, tensions)
    np.testing.assert_allclose(rest.tip, [LENGTH / (math.pi / 2), 0.0, LENGTH / (math.pi / 2)], atol=1e-6)
    toward = np.cos(robot.cables["azimuth"])
    np.testing.assert_allclose(rest.lengths, LENGTH - RADIUS * toward * math.pi / 2, rtol=1e-7)


@pytest.mark.parametrize("angle_deg", [30, 60])
def test_rods_are_euler_s_elastica_under_a_force_at_the_end(angle_deg):
    force, deflection = end_loaded(math.radians(angle_deg), BENDING, LENGTH)
    rest = cosserat_rod(rod(1, torsion=True), np.zeros(3), force=(0.6 * force, 0.8 * force, 0.0))
    np.testing.assert_allclose(rest.tip[:2], [0.6 * deflection, 0.8 * deflection], rtol=1e-7)
    coarse, fine = (
        divided_rod(rod(1), np.zeros(3), force=(0.6 * force, 0.8 * force, 0), parts=p).tip for p in (16, 32)
    )
    np.testing.assert_allclose(fine[:2], [0.6 * deflection, 0.8 * deflection], rtol=5e-4)
    np.testing.assert_allclose((fine + (fine - coarse) / 3)[:2], [0.6 * deflection, 0.8 * deflection], rtol=2e-6)


def test_a_twisting_moment_turns_the_end():
    """A moment about its own axis, on a straight rod: M L / GJ."""
    given = {"moment": (0.0, 0.0, 3.0)}
    for rest in (cosserat_rod(rod(2, True), np.zeros(3), **given), divided_rod(rod(2, True), np.zeros(3), **given)):
        assert math.atan2(rest.turn[1, 0], rest.turn[0, 0]) == pytest.approx(3.0 * LENGTH / TWISTING, rel=1e-9)
        np.testing.assert_allclose(rest.tip, [0, 0, LENGTH], atol=3e-6)


def test_the_divided_rod_is_the_planar_elastica():
    """Of flexures that bend in the plane, with weight, cables and a force."""
    mapping = rod(3, mass=0.5).to_mapping()
    flexures = mapping["sections"][0]
    flexures["cables"]["azimuth"] = [0.0, math.pi]
    flexures["link"] = {"length": 0.02, "mass": 0.1}
    mapping |= {"gravity": [3.0, 0.0, -2.0]}
    backbone = vb.load(mapping)
    flexures["joint"]["kind"], flexures["azimuth"] = "flexure", 0.0
    tensions, force = np.array([60.0, 20.0]), np.array([1.0, 0.0, -2.0])
    known = elastica(vb.load(mapping), tensions, force, hinges=6)
    found = divided_rod(backbone, tensions, backbone.gravity, force, parts=6)
    assert found.residual < 1e-10
    assert abs(known.tip[0]) > 0.3
    np.testing.assert_allclose(found.tip, known.tip, atol=2e-3)
    finer = (
        elastica(vb.load(mapping), tensions, force, hinges=12).tip,
        divided_rod(backbone, tensions, backbone.gravity, force, parts=12).tip,
    )
    limits = [after + (after - before) / 3 for before, after in zip((known.tip, found.tip), finer, strict=True)]
    np.testing.assert_allclose(*limits, atol=1e-5)


# What arcs cost.


@cache
def limit(name: str) -> Any:
    what, tensions, loads = CASES[name]
    return cosserat_rod(rod(1, **what), tensions, **loads)


@tried
def test_more_joints_converge_to_a_cosserat_rod_by_second_order(name):
    what, tensions, loads = CASES[name]
    shapes = [shape(rod(n, **what), tensions, **loads) for n in (10, 20, 40)]
    off = np.array([np.linalg.norm(found.tip - limit(name).tip) for found in shapes]) / LENGTH
    turned = np.array([np.abs(found.frames[-1, :3, :3] - limit(name).turn).max() for found in shapes])
    np.testing.assert_allclose(np.log2(off[:-1] / off[1:]), 2.0, atol=0.06)
    np.testing.assert_allclose(np.log2(turned[:-1] / turned[1:]), 2.0, atol=0.1)
    # Most of it is the straight run of the cables from disc to disc, which a real robot of so many discs has as well.
    assert 0.003 < off[0] < 0.023
    assert stated(ROWS[name])[3:] == [f"{100 * part:.2f}" for part in off[:2]]
    np.testing.assert_allclose(shapes[-1].lengths, limit(name).lengths, rtol=3e-3)


@tried
def test_ten_joints_are_within_a_two_thousandth_of_a_rod_through_the_same_discs(name):
    """0.05 % of the length, and twice as much under strong loads; measured 0.01 to 0.03 and to 0.08 %."""
    what, tensions, loads = CASES[name]
    robot = rod(10, **what)
    found = shape(robot, tensions, **loads)
    coarse, fine = (divided_rod(robot, tensions, **loads, parts=parts) for parts in ((4, 8) if SOAK else (2, 4)))
    assert fine.softest > 0
    best = fine.tip + (fine.tip - coarse.tip) / 3
    off = np.linalg.norm(found.tip - best) / LENGTH
    print(f"{name}: {100 * off:.4f} %")
    assert off < STRONG.get(name, 5e-4)
    if SOAK:
        assert float(stated(ROWS[name])[1]) == pytest.approx(100 * off, abs=6e-4)
    np.testing.assert_allclose(found.lengths, fine.lengths + (fine.lengths - coarse.lengths) / 3, rtol=5e-4)


PYELASTICA = np.array([0.49348787, 0.23962645, 1.89893999])
"""m; where its tip comes to rest, with four elements from disc to disc."""


def test_pyelastica_comes_to_rest_at_the_same_tip():
    """To 0.1 % of the length (0.052 %; with two elements 0.179 %); a soak runs it again."""
    robot, tensions, force = rod(10, torsion=True), [60.0, 10.0, 5.0], (0.5, 1.5, -0.5)
    found = shape(robot, tensions, force=force).tip
    assert np.linalg.norm(found[:2]) > 0.25 * LENGTH
    assert np.linalg.norm(found - PYELASTICA) < 1e-3 * LENGTH
    if SOAK:
        from tests.oracles.pyelastica_rod import pyelastica_tip

        again = pyelastica_tip(robot, tensions, force, every=4, duration=2.0)
        np.testing.assert_allclose(again, PYELASTICA, rtol=0, atol=1e-5 * LENGTH)


@pytest.mark.parametrize("joints", [1, 2, 5, 10])
@pytest.mark.parametrize("torsion", [False, True])
def test_a_small_force_moves_the_tip_too_little_by_a_known_part(joints, torsion):
    """1 / 4 n^2 of the deflection F L^3 / 3 EI: arcs have the mean curvature of their piece, not its slope."""
    push = 1e-4
    found = shape(rod(joints, torsion), np.zeros(3), force=(0.6 * push, 0.8 * push, 0.0)).tip
    deflection = push * LENGTH**3 / (3 * BENDING)
    assert found[:2] @ [0.6, 0.8] / deflection == pytest.approx(1 - 1 / (4 * joints**2), rel=3e-5)


# Buckling.


@pytest.mark.parametrize("joints", [1, 2, 10])
@pytest.mark.parametrize("torsion", [False, True])
def test_each_gap_buckles_at_twelve_where_a_rod_does_at_pi_squared(joints, torsion):
    """Of all cables together: 12 EI / l^2 between two discs, where a rod of any curvature has pi^2 EI / l^2."""
    robot, piece = rod(joints, torsion), LENGTH / joints
    assert 3 * stable_tensions(robot)[1] == pytest.approx(12 * BENDING / piece**2, rel=1e-12)
    if joints < 10:
        exact = math.pi**2 * BENDING / piece**2
        softest = [divided_rod(robot, [share * exact / 3] * 3, parts=24).softest for share in (0.99, 1.01)]
        assert softest[0] > 0 > softest[1]


def buckling_load(joints: int) -> float:
    """Weight on top under which a standing rod without cables gives way, N."""
    robot, low, high = rod(joints), 0.0, 1.4 * math.pi**2 * BENDING / (4 * LENGTH**2)
    while high - low > 1e-13 * high:
        middle = 0.5 * (low + high)
        straight = vb.shape_from_tensions(
            robot, np.zeros(3), loads=[vb.Load(force=(0.0, 0.0, -middle))], start=np.zeros(robot.freedoms), check=False
        )
        stands = straight.stable and not straight.angles.any()
        low, high = (middle, high) if stands else (low, middle)
    return low


def test_the_weight_that_a_standing_rod_bears_converges_by_second_order():
    """To Euler's pi^2 EI / 4 L^2."""
    euler = math.pi**2 * BENDING / (4 * LENGTH**2)
    loads = np.array([buckling_load(n) for n in (1, 2, 4, 8, 16)])
    above = loads / euler - 1
    print(", ".join(f"{100 * part:.3f} %" for part in above))
    assert [float(cell.rstrip(" %")) for cell in stated("too high by")] == pytest.approx(100 * above, abs=0.02)
    np.testing.assert_allclose(np.log2(above[1:-1] / above[2:]), 2.0, atol=0.06)
    assert loads[0] == pytest.approx(3 * BENDING / LENGTH**2, rel=1e-5)
