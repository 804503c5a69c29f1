"""The answer about one payload: tables, page and picture, and that everything is in its place."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.report.looking import Reader, page_of

import vertebra as vb
from vertebra.locked import Payload
from vertebra.report.payload import (
    COLOURS,
    PayloadCase,
    axis_top,
    contact_point,
    contact_table,
    force_text,
    limit_bars,
    limit_table,
    mode_text,
    payload_case,
    payload_picture,
    payload_report,
    payload_scene,
    payload_summary,
    tensions_text,
    warnings,
)

DEG = math.pi / 180
LOADS = (vb.Load(force=(0.1, 0, 0), moment=(0, 1e-3, 0), link=6),)


@pytest.fixture(scope="module")
def robot() -> vb.Robot:
    return vb.load("cai2023")


@pytest.fixture(scope="module")
def case(robot: vb.Robot) -> PayloadCase:
    shape = vb.BallShape.spiral(robot, 8 * DEG)
    return payload_case(robot, shape, "spiral <8> deg", [35, 20, 25], robot.gravity, loads=LOADS)


@pytest.fixture(scope="module")
def found(case: PayloadCase) -> Payload:
    return vb.payload(case.robot, *case.shape, case.tensions, (0, -1, 0), loads=LOADS)


@pytest.fixture(scope="module")
def page(case: PayloadCase, found: Payload) -> str:
    return page_of(payload_report(case, found, "as asked"), "a <payload>")


def test_page_shows_every_number(page: str, case: PayloadCase, found: Payload) -> None:
    shown = Reader(page).shown
    for text in ("a <payload>", f"joint {found.joint} slides", "35, 20, 25 N", "(0, -1, 0), as asked", "link 6"):
        assert text in shown
    mass = 1e3 * found.force / np.linalg.norm(case.gravity)
    assert f"{found.force:.4g} N, the weight of {mass:.4g} g" in shown
    assert any(text.startswith("spiral <8> deg; tip at ") for text in shown)
    for limit in found.limits:
        assert f"{limit:.4g}" in shown
    assert 'class="warning"' not in page


def test_picture_names_everything(page: str, found: Payload) -> None:
    for name in (
        "cable 2, 30 deg: 20 N",
        f"payload at the tip: {found.force:.4g} N",
        "contact normal of joint 1",
        "contact: joint 1 slides",
        "weakest: joint 1",
        "load 1 at link 6: 0.1 N",
        "load 1 at link 6: 0.001 N*m",
        "gravity",
    ):
        assert name in page


def test_load_and_contact_are_where_they_act(case: PayloadCase, found: Payload) -> None:
    scene = payload_scene(case, found)
    force, moment, load, normal = scene.arrows
    np.testing.assert_allclose(force.start, 1e3 * (case.frames[6] @ [*case.robot.links["center_of_mass"][6], 1])[:3])
    np.testing.assert_allclose(moment.start, force.start)
    np.testing.assert_allclose(load.start, scene.tip, atol=1e-9)
    along = load.end - load.start
    np.testing.assert_allclose(along / np.linalg.norm(along), (0, -1, 0), atol=1e-12)
    at = contact_point(case, found)
    centre = 1e3 * case.frames[found.joint - 1][:3, 3]
    assert np.linalg.norm(at - centre) == pytest.approx(6.35)
    np.testing.assert_allclose(normal.start, at)
    np.testing.assert_allclose(np.cross(normal.end - normal.start, at - centre), 0.0, atol=1e-9)
    assert (normal.end - normal.start) @ (at - centre) > 0
    np.testing.assert_allclose(scene.marks[0].place, at)
    for arrow in scene.arrows:
        assert (arrow.end >= scene.low - 1e-9).all()
        assert (arrow.end <= scene.high + 1e-9).all()
    ball = payload_picture(case, found).data[-1]
    middle = [np.mean([min(axis), max(axis)]) for axis in (ball.x, ball.y, ball.z)]
    np.testing.assert_allclose(middle, centre, atol=0.05)


def test_a_load_at_a_point_of_a_link(robot: vb.Robot) -> None:
    shape, point = vb.BallShape.arc(robot, 5 * DEG), (0.004, 0.0, 0.002)
    case = payload_case(robot, shape, "arc", 35.0, robot.gravity, point)
    found = vb.payload(robot, *shape, 35, (1, 0, 0), link=7, point=point)
    arrow = payload_scene(case, found).arrows[0]
    np.testing.assert_allclose(arrow.start, 1e3 * (case.frames[7] @ [*point, 1])[:3])
    assert "link 7, (4, 0, 2) mm" in arrow.name
    assert dict(payload_summary(case, found).rows)["acts at"].startswith("link 7, (4, 0, 2) mm, (")


def test_bars_show_limits_and_modes(found: Payload) -> None:
    mixed = replace(found, limits=np.array([2.0, 3.0, 4.0, math.inf, 90.0]),
                    modes=("sliding", "torsion", "socket", "unlimited", "separation"), force=2.0)  # fmt: skip
    top = axis_top(mixed)
    assert top == 12.0, "six payloads are more than two medians"
    bars = {bar.name: bar for bar in limit_bars(mixed).data}
    assert set(bars) == {mode_text(mode) for mode in mixed.modes}
    assert bars["torsion: the joint twists"].marker.color == COLOURS["torsion"]
    assert list(bars["torsion: the joint twists"].y) == [3.0]
    cut = bars["separation: the joint comes apart"]
    assert list(cut.y) == [12.0]
    assert cut.marker.pattern.shape == ("/",)
    assert cut.text == ("90",)
    free = bars["no limit"]
    assert (list(free.x), list(free.y), free.text) == ([4], [12.0], ("∞",))
    assert bars["sliding: the joint slides"].marker.line.width == (2.0,), "the weakest is framed"


def test_axis_of_the_bars(found: Payload) -> None:
    assert axis_top(replace(found, force=math.inf, limits=np.full(3, math.inf))) == 1.0
    assert axis_top(replace(found, force=0.0, limits=np.array([0.0, 2.0, 5.0]))) == 4.0
    assert axis_top(replace(found, force=0.0, limits=np.zeros(3))) == 1.0
    assert axis_top(replace(found, force=2.0, limits=np.array([2.0, 2.5, 3.0]))) == 3.0, "no more than there is"


def test_what_must_not_be_overlooked_stands_on_the_page(robot: vb.Robot) -> None:
    straight = vb.BallShape.straight(robot)
    case = payload_case(robot, straight, "straight", 2.0, robot.gravity)
    slipping = vb.payload(robot, *straight, 2, (0, -1, 0))
    text = page_of(payload_report(case, slipping))
    assert 'class="warning"' in text
    assert slipping.reason in " ".join(Reader(text).shown)
    again = replace(slipping, force=3.0, slips_unloaded=False, reentry=9.0)
    (warning,) = warnings(again)
    assert "slips above 3 N and holds again from 9 N" in warning


@pytest.mark.parametrize("tension", [0.0, 35.0])
def test_page_without_a_contact_or_a_limit(robot: vb.Robot, tension: float) -> None:
    straight = vb.BallShape.straight(robot)
    weightless = np.zeros(3)
    case = payload_case(robot, straight, "straight", tension, weightless)
    found = vb.payload(robot, *straight, tension, (1, 0, 0), link=0, gravity=weightless)
    assert found.joint == (1 if tension == 0 else 0)
    scene = payload_scene(case, found)
    assert (len(scene.arrows), len(scene.marks), scene.gravity) == (1, 0, None)
    shown = Reader(page_of(payload_report(case, found))).shown
    assert "Contact of joint 1" not in " ".join(shown)
    assert ("none: it does not even hold itself" if tension == 0 else "no limit") in shown


def test_contact_of_the_weakest_joint(found: Payload) -> None:
    rows = dict(contact_table(found).rows)
    contact, i = found.contact, found.joint - 1
    assert rows["normal force"].startswith(f"{contact.normal_force[i]:.4g} N along (")
    lean = math.degrees(math.atan(case_friction := 0.58))
    assert rows["friction"] == f"{contact.friction_force[i]:.4g} N, 100 % of the limit, {lean:.1f} deg off the normal"
    most = case_friction * 5.5 * contact.normal_force[i]
    share = 1e5 * abs(contact.torsion[i]) / most
    assert rows["torsion"] == f"{1e3 * contact.torsion[i]:.4g} N*mm, {share:.3g} % of the limit"


def test_limits_of_all_joints_or_few(case: PayloadCase, found: Payload) -> None:
    every = limit_table(case, found, None)
    assert [row[0] for row in every.rows] == [str(j) for j in range(1, 20)]
    assert every.rows[3][1:4] == ("8.00", "30.00", f"{found.limits[3]:.4g}")
    few = limit_table(case, found, 3)
    assert few.title == "The 3 weakest of 19 joints"
    assert [row[0] for row in few.rows] == (np.argsort(found.limits)[:3] + 1).astype(str).tolist()


def test_weights_only_for_loads_along_gravity(case: PayloadCase, found: Payload) -> None:
    assert "weight of" in dict(payload_summary(case, found).rows)["payload"]
    aside = replace(found, direction=np.array([0.0, -math.cos(1e-3), math.sin(1e-3)]))
    assert "weight of" not in dict(payload_summary(case, aside).rows)["payload"]
    up = replace(found, direction=np.array([0.0, 1.0, 0.0]))
    assert "weight of" not in dict(payload_summary(case, up).rows)["payload"]


def test_words() -> None:
    assert force_text(math.inf) == "no limit"
    assert force_text(1.93262) == "1.933 N"
    assert tensions_text(np.array([35.0, 35.0, 35.0])) == "35 N in each of 3 cables"
    assert tensions_text(np.array([35.0, 1 / 3, 0.0])) == "35, 0.3333, 0 N"
    assert tensions_text(np.array([7.0])) == "7 N"
