"""The answer about a shape: its tables, its picture with everything in its place, its page."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.report.looking import Reader, has_clean_border, page_of
from tests.robots import bending_mix

import vertebra as vb
from vertebra.report.document import numeric_columns
from vertebra.report.plotly import scene_figure
from vertebra.report.scene import Mark, ghost, tip_ellipsoid
from vertebra.report.shape import (
    THINNEST,
    WIDEST,
    alike_cables,
    along_panel,
    axis_text,
    cable_table,
    friction_free,
    joint_list,
    joint_table,
    law_text,
    laws_text,
    load_free,
    load_table,
    shape_report,
    shape_scene,
    shape_summary,
    shape_title,
    slip_table,
    slip_text,
    stiffness_text,
    tension_table,
    warnings,
)
from vertebra.report.still import draw, scene_still
from vertebra.statics import Shape

LOADS = (vb.Load(force=(0, 0, -0.05)), vb.Load(force=(0.01, 0, 0), moment=(0, 0, 1e-3), link=4, point=(0, 0, 0.005)))


@pytest.fixture(scope="module")
def shape() -> Shape:
    return vb.shape_from_tensions(vb.load("hu2023-prototype"), [0.98, 0.98, 0.98, 3.92], loads=LOADS)


@pytest.fixture(scope="module")
def page(shape: Shape) -> str:
    return page_of(shape_report(shape), "a <shape>")


def test_page_shows_every_number(page: str, shape: Shape) -> None:
    shown = Reader(page).shown
    x, y, z = shape.tip * 1e3
    assert "a <shape>" in shown
    assert f"({x:.3f}, {y:.3f}, {z:.3f}) mm" in shown
    assert "stable" in shown
    for angle, force in zip(np.degrees(shape.angles), shape.normal_forces, strict=True):
        assert f"{angle:.3f}".replace("-0.000", "0.000") in shown
        assert f"{force:.4f}" in shown
    for length in shape.lengths:
        assert f"{length * 1e3:.3f}" in shown
    for fact in ("3.92", "the tip", "link 4, (0, 0, 5) mm", "(0, 0, 0.001)", "162 mm, straight, base to tip", "41.8 g"):
        assert fact in shown
    assert any(f"Vertebra {vb.__version__}. Python" in text for text in shown)


def test_axes_of_a_joint_with_several_are_explained(shape: Shape) -> None:
    said = "a and b: the two axes of a universal joint, or the bend of a backbone toward x and y; c: its twist."
    bent = vb.shape_from_tensions(bending_mix(), 2.0)
    assert said in shape_report(bent).footnote
    assert said not in shape_report(shape).footnote


def test_picture_names_everything(page: str) -> None:
    for name in (
        "cable 4, 270 deg: 3.92 N",
        "load 1 at the tip: 0.05 N",
        "load 2 at link 4, (0, 0, 5) mm: 0.01 N",
        "load 2 at link 4, (0, 0, 5) mm: 0.001 N*m",
        "without weight and loads",
        "gravity",
        "N from any side",
        "x [mm]",
        '"aspectmode":"data"',
    ):
        assert name in page


def test_warnings_stand_on_the_page(shape: Shape) -> None:
    wrong = replace(shape, separated=(2, 3, 5), out_of_range=(1,), stable=False)
    shown = " ".join(Reader(page_of(shape_report(wrong))).shown)
    for text in ("joints 2, 3 and 5 would have to pull", "joint 1 past the limit", "UNSTABLE"):
        assert text in shown
    assert 'class="warning"' not in page_of(shape_report(shape))


def test_arrows_start_where_the_loads_act(shape: Shape) -> None:
    arrows = shape_scene(shape).arrows
    assert len(arrows) == 3
    np.testing.assert_allclose(arrows[0].start, shape.tip * 1e3, atol=1e-9)
    at = shape.frames[4] @ [0, 0, 0.005, 1]
    for arrow, direction in zip(arrows[1:], ([1, 0, 0], [0, 0, 1]), strict=True):
        np.testing.assert_allclose(arrow.start, at[:3] * 1e3, atol=1e-9)
        along = arrow.end - arrow.start
        np.testing.assert_allclose(along / np.linalg.norm(along), direction, atol=1e-12)


def test_everything_is_inside_the_picture(shape: Shape) -> None:
    far = Mark(np.array([300.0, 0.0, 0.0]), "#000000", "target")
    scene = shape_scene(shape, marks=[far])
    assert scene.high[0] == 300.0
    assert scene.ellipsoid is not None
    for points in (*(arrow.end[None] for arrow in scene.arrows), scene.ellipsoid.mesh.vertices, *scene.cables):
        assert (points >= scene.low - 1e-9).all()
        assert (points <= scene.high + 1e-9).all()


def test_down_is_the_gravity_of_the_shape_and_not_of_the_file() -> None:
    hanging = vb.shape_from_tensions(vb.load("hu2023-prototype"), [1, 1, 1, 1.5], gravity="ceiling")
    scene = shape_scene(hanging)
    assert scene.view.up == (0, 0, -1)
    assert scene.gravity is not None
    assert scene.gravity[1][2] > scene.gravity[0][2]
    weightless = vb.shape_from_tensions(vb.load("hu2023-prototype"), [1, 1, 1, 1.5], gravity=(0, 0, 0))
    assert shape_scene(weightless).gravity is None


def test_cables_are_wider_the_tighter_they_are(shape: Shape) -> None:
    widths = shape_scene(shape).cable_widths
    assert widths[3] == WIDEST
    assert widths[0] == widths[1] == pytest.approx(THINNEST + (WIDEST - THINNEST) / 4)
    lines = [trace for trace in scene_figure(shape_scene(shape)).data if "cable" in (trace.name or "")]
    assert [line.line.width for line in lines] == [5 * width for width in widths]


def test_ellipsoid_is_what_a_small_force_does(shape: Shape) -> None:
    """Against finite differences of whole solves: every push of that size ends on the surface."""
    ellipsoid = tip_ellipsoid(shape, 1.0)  # of a robot of 1 mm, so that the force is small
    assert ellipsoid is not None
    force = float(re.search(r"under (\S+) N", ellipsoid.name).group(1))
    body = (ellipsoid.mesh.vertices - shape.tip * 1e3)[1:-1]
    axes = ellipsoid.axes[:, 1] - shape.tip * 1e3
    half = np.linalg.norm(axes, axis=1)
    directions = axes / half[:, None]
    np.testing.assert_allclose((((body @ directions.T) / half) ** 2).sum(axis=1), 1.0, rtol=1e-9)
    for direction, size in zip(directions, half, strict=True):
        pushed = vb.shape_from_tensions(
            shape.robot, shape.tensions[:, 0], loads=(*LOADS, vb.Load(force=force * direction)), start=shape.angles
        )
        moved = (pushed.tip - shape.tip) * 1e3
        # A dead moment makes the compliance slightly unsymmetric; the body shows its symmetric part.
        np.testing.assert_allclose(moved, size * direction, atol=0.03 * half.max())


def test_no_ellipsoid_where_stiffness_has_no_meaning(shape: Shape) -> None:
    assert tip_ellipsoid(replace(shape, stable=False), 100.0) is None
    assert tip_ellipsoid(replace(shape, out_of_range=(2,)), 100.0) is None
    assert tip_ellipsoid(replace(shape, compliance=np.zeros((6, 6))), 100.0) is None


def test_ghost_runs_from_the_origin_to_its_tip(shape: Shape) -> None:
    line = ghost(shape.robot, shape.frames, "").line
    assert len(line) == len(shape.robot.links) + 2
    np.testing.assert_allclose(line[0], 0.0)
    np.testing.assert_allclose(line[-1], shape.tip * 1e3)


@pytest.mark.parametrize(
    ("name", "gravity"), [("hu2023-prototype", "ground"), ("hu2023-planar", "ceiling"), ("yang2023-c", "wall")]
)
def test_png_of_any_shape(name: str, gravity: str, tmp_path: Path) -> None:
    robot = vb.load(name)
    tensions = np.linspace(2.0, 2.4, len(robot.cables))
    found = vb.shape_from_tensions(robot, tensions, gravity=gravity, loads=(vb.Load(force=(0.01, 0, 0)),))
    path = tmp_path / "shape.png"
    draw(shape_scene(found, [ghost(robot, found.frames, "a long name " * 3)]), path, "title")
    assert has_clean_border(path)


def test_svg_names_everything(shape: Shape, tmp_path: Path) -> None:
    target = Mark(shape.tip * 1e3, "#000000", "wanted tip")
    draw(shape_scene(shape, [ghost(shape.robot, shape.frames, "g")], [target]), tmp_path / "a.svg", "title")
    text = (tmp_path / "a.svg").read_text()
    for name in ("cable 4, 270 deg: 3.92 N", "load 1 at the tip: 0.05 N", "wanted tip", "N from any side", "x [mm]"):
        assert name in text


def test_still_picture_draws_loads_in_their_place(shape: Shape) -> None:
    axes = scene_still(shape_scene(shape), "").axes[0]
    labels = axes.get_legend_handles_labels()[1]
    assert "load 1 at the tip: 0.05 N" in labels
    low, high = np.array([axes.get_xlim(), axes.get_ylim(), axes.get_zlim()]).T
    assert (low <= shape_scene(shape).low).all()
    assert (high >= shape_scene(shape).high).all()


# Tables.


@pytest.fixture(scope="module")
def straight() -> Shape:
    return vb.shape_from_tensions(vb.load("hu2023-prototype"), [4] * 4)


def test_cable_sum_presses_the_links_together_when_nothing_else_does() -> None:
    shape = vb.shape_from_tensions(vb.load("hu2023-prototype"), [1, 2, 3, 4], gravity=(0, 0, 0))
    for row in joint_table(shape).rows:
        assert row[3:] == ("10.0000", "10.0000", "10.0000")


def test_joints(straight: Shape) -> None:
    bent = replace(straight, angles=np.radians(np.linspace(-45, 45, 11)))
    facts = joint_table(bent)
    assert facts.headers == ("joint", "angle [deg]", "of limit", "force [N]", "normal [N]", "cables [N]")
    assert [row[:3] for row in facts.rows[:2]] == [("1", "-45.000", "50 %"), ("2", "-36.000", "40 %")]
    assert numeric_columns(facts) == (True,) * 6


def test_cables_that_end_early_are_told() -> None:
    robot = vb.load("yang2023-c")
    facts = cable_table(vb.shape_from_tensions(robot, np.arange(1.0, 13.0)))
    assert [row[2] for row in facts.rows] == ["4"] * 4 + ["8"] * 4 + ["14"] * 4
    assert [row[3] for row in facts.rows] == [str(k) for k in range(1, 13)], "what pulls at the base"


@pytest.fixture(scope="module")
def with_friction() -> Shape:
    return vb.shape_from_tensions(vb.load("yang2023-b"), [14, 14, 10, 10])


def test_tension_at_the_base_is_what_was_pulled() -> None:
    """Friction of the base comes behind it, on either side of slip and for any law."""
    rng = np.random.default_rng(1)
    for name in ("yang2023-b", "yang2023-c", "hu2023-prototype"):
        robot = vb.load(name)
        pulls = rng.uniform(1.0, 6.0, len(robot.cables))
        for friction in (None, 0.3, [0.1 * (k % 3) for k in range(len(pulls))], vb.FrictionLaw.of(lambda t: 0.1 + t)):
            shape = vb.shape_from_tensions(robot, pulls, friction=friction)
            np.testing.assert_allclose(shape.tensions_at_base, pulls, rtol=1e-13)


def test_cables_with_friction_have_a_tension_at_each_end(with_friction: Shape) -> None:
    facts = cable_table(with_friction)
    assert facts.headers[3:5] == ("tension [N]", "at its end [N]")
    assert facts.headers[-1] == "slip"
    base, end = ([float(row[i]) for row in facts.rows] for i in (3, 4))
    assert base == [14, 14, 10, 10]
    np.testing.assert_allclose(end, with_friction.tensions[:, -1], rtol=1e-5)
    assert end[0] < 14
    assert end[3] > 10
    assert [row[-1] for row in facts.rows] == ["to base", "to base", "to tip", "to tip"]
    assert "at its end [N]" not in cable_table(replace(with_friction, friction=())).headers


def test_slip_in_words(with_friction: Shape) -> None:
    slip = np.zeros((4, 12))
    slip[1, 3], slip[2, 3], slip[3, [3, 4]] = -1, 1, (-1, 1)
    shown = replace(with_friction, slip=slip)
    assert [slip_text(shown, k) for k in range(4)] == ["sticks", "to base", "to tip", "both ways"]
    one = replace(with_friction, friction=(vb.FrictionLaw.none(), *with_friction.friction[1:]))
    assert slip_text(one, 0) == "no friction"
    early = vb.shape_from_tensions(vb.load("yang2023-c"), np.arange(1.0, 13.0))
    beyond = early.slip.copy()
    beyond[0, 4:] = 1  # cable 1 ends at link 4: what would be beyond is none of its slip
    beyond[0, :4] = 0
    assert slip_text(replace(early, slip=beyond), 0) == "sticks"


def test_tension_along_cables_stops_where_they_end() -> None:
    shape = vb.shape_from_tensions(vb.load("yang2023-c"), np.arange(1.0, 13.0))
    facts = tension_table(shape)
    assert facts.rows[0] == ("base", *(f"{k:.4f}" for k in range(1, 13)))
    assert [row[0] for row in facts.rows[1:]] == [str(j) for j in range(1, 15)]
    assert [bool(row[1]) for row in facts.rows[1:]] == [True] * 4 + [False] * 10
    assert facts.rows[-1][12] == f"{shape.tensions[11, 13]:.4f}"
    assert [bool(row[1]) for row in slip_table(shape).rows] == [True] * 4 + [False] * 10


def test_laws_in_words(with_friction: Shape) -> None:
    law = vb.FrictionLaw
    assert law_text(law.none()) == "none"
    assert law_text(law.constant(0.3)) == "mu = 0.3, over 0.01 mm of slip"
    assert law_text(law.quadratic(2, -0.1, 0.2, presliding=1e-3)) == "mu = 2 t^2 - 0.1 t + 0.2, over 1 mm of slip"
    assert law_text(law.of(lambda t: 0.1 + t)).startswith("mu from 0.1 at 0 to 0.8854 at 45 deg")
    assert laws_text((law.constant(0.3), law.none(), law.constant(0.3))) == (
        "cable 1, 3: mu = 0.3, over 0.01 mm of slip; cable 2: none"
    )
    rows = dict(shape_summary(with_friction).rows)
    assert rows["friction"] == "mu = 14 t^2 + 0.7 t + 0.105, over 0.01 mm of slip"
    assert "closure" not in rows
    assert "closure" in dict(shape_summary(replace(with_friction, closure="paper")).rows)
    assert dict(shape_summary(replace(with_friction, friction=())).rows)["friction"].startswith("left out")


def test_cables_of_the_same_tension_share_a_line(with_friction: Shape) -> None:
    series = along_panel(with_friction).series
    assert [line.name for line in series] == ["cables 1, 2", "cables 3, 4"]
    np.testing.assert_allclose(series[0].y, [14, *with_friction.tensions[0]], rtol=1e-12)
    assert alike_cables(np.array([[1.0, 2.0], [1.0, 2.1], [1.0, 2.0]])) == {0: "cables 1, 3", 1: "cable 2"}


def test_a_lock_is_another_fault_than_a_limit(straight: Shape) -> None:
    (text,) = warnings(replace(straight, out_of_range=(3,), locked=(3,)))
    assert "joint 3 bent so far that the friction law" in text
    bent = np.array(straight.angles)
    bent[2] = 1.6
    assert len(list(warnings(replace(straight, angles=bent, out_of_range=(3,), locked=(3,))))) == 2


def test_pulled_in_is_the_difference_to_the_straight_robot() -> None:
    robot = vb.load("hu2023-prototype")
    shape = vb.shape_from_tensions(robot, [1, 1, 1, 3])
    expected = (vb.Pose(robot, np.zeros(11)).cable_lengths - vb.Pose(robot, shape.angles).cable_lengths) * 1e3
    assert cable_table(shape).headers[5] == "pulled in [mm]"
    found = [float(row[5]) for row in cable_table(shape).rows]
    np.testing.assert_allclose(found, expected, atol=5e-4)
    assert found[3] > 0 > found[1]


def test_stiffness_of_a_straight_robot_is_rigid_along_itself(straight: Shape) -> None:
    rows = dict(shape_summary(straight).rows)
    assert rows["stiffest at the tip"] == "rigid along (0.00, 0.00, 1.00)"
    softest = straight.stiffness().stiffness[0]
    assert rows["softest at the tip"].startswith(f"{softest:.4g} N/m along (")
    assert axis_text(np.array([0.1, -0.9, 0.2])) == axis_text(np.array([-0.1, 0.9, -0.2])) == "(-0.10, 0.90, -0.20)"
    assert stiffness_text(float("inf")) == "rigid"


def test_summary_says_what_is_wrong(straight: Shape) -> None:
    assert dict(shape_summary(straight).rows)["state"] == "stable"
    unstable = dict(shape_summary(replace(straight, stable=False)).rows)
    assert unstable["state"].startswith("UNSTABLE")
    assert unstable["tip stiffness"].startswith("-")
    lost = replace(straight, converged=False, stable=False)
    assert dict(shape_summary(lost).rows)["state"].startswith("NOT an equilibrium")
    assert list(warnings(straight)) == []
    assert len(list(warnings(replace(lost, out_of_range=(1,), separated=(2,))))) == 3


def test_loads(straight: Shape) -> None:
    assert load_table(straight.robot, straight.loads).rows == ()
    loaded = replace(straight, loads=(vb.Load(force=(0, 0, -1)), vb.Load(moment=(0, 1, 0), link=-2)))
    assert load_table(loaded.robot, loaded.loads).rows == (
        ("1", "the tip", "(0, 0, -1)", "(0, 0, 0)"),
        ("2", "link 10", "(0, 0, 0)", "(0, 1, 0)"),
    )


def test_lists_of_joints() -> None:
    assert joint_list((3,)) == "joint 3"
    assert joint_list((3, 4, 9)) == "joints 3, 4 and 9"
    assert joint_list(tuple(range(1, 11))) == "joints 1, 2, 3, 4, 5, 6 and 4 more"


# What stands over a picture, and the thin lines in it.


def test_the_thin_line_is_the_same_robot_without_weight_and_loads() -> None:
    robot = vb.load("hu2023-prototype")
    loaded = vb.shape_from_tensions(robot, [1, 1, 1, 2], loads=[vb.Load(force=(0.1, 0, 0))])
    free = vb.shape_from_tensions(robot, [1, 1, 1, 2], gravity=(0, 0, 0))
    (ghost,) = load_free(loaded)
    np.testing.assert_allclose(ghost.line[-1], free.tip * 1e3)
    assert np.linalg.norm(ghost.line[-1] - loaded.tip * 1e3) > 10
    assert list(load_free(free)) == [], "it would cover itself"


def test_title_has_the_tensions_at_the_base() -> None:
    """Not those across the first joint, which friction in the base has already changed."""
    bent = vb.shape_from_tensions(vb.load("yang2023-b"), [30, 30, 10, 10])
    assert bent.tensions[0, 0] < 29.9
    assert shape_title(bent) == "yang2023-b under 30, 30, 10, 10 N"


def test_thin_lines_are_the_robot_without_weight_and_without_friction(with_friction: Shape) -> None:
    (light,), (smooth,) = load_free(with_friction), friction_free(with_friction)
    expected = vb.shape_from_tensions(with_friction.robot, [14, 14, 10, 10], gravity=(0, 0, 0))
    np.testing.assert_allclose(light.line[-1], expected.tip * 1e3, atol=1e-6)
    expected = vb.shape_from_tensions(with_friction.robot, [14, 14, 10, 10], friction=0)
    np.testing.assert_allclose(smooth.line[-1], expected.tip * 1e3, atol=1e-6)
    assert smooth.name == "without friction"
    assert smooth.colour != light.colour
    assert list(friction_free(expected)) == []


HELD = {"stiffness": 0.05, "limit": "40 deg", "stops": "rigid"}
ROD = HELD | {"kind": "backbone", "length": "20 mm"}


@pytest.mark.parametrize(
    ("joint", "names"),
    [
        (ROD, ["a [deg]", "b [deg]"]),
        (ROD | {"torsion": 0.03}, ["a [deg]", "b [deg]", "c [deg]"]),
        (HELD | {"kind": "universal", "lower": "10 mm"}, ["a [deg]", "b [deg]"]),
        (HELD | {"kind": "flexure", "length": "20 mm"}, ["angle [deg]"]),
    ],
    ids=["backbone", "twisting backbone", "universal", "flexure"],
)
def test_tables_of_joints_with_several_freedoms_and_of_joints_on_their_stops(joint, names) -> None:
    cables = {"radius": "6 mm", "azimuth": ["0 deg", "90 deg", "180 deg", "270 deg"], "friction": 0.1}
    section = {"joints": 3, "joint": joint, "link": {"length": "12 mm", "mass": "2 g"}, "cables": cables}
    if joint["kind"] == "flexure":
        section["azimuth"] = "20 deg"
    robot = vb.load({"vertebra": 1, "name": "stopped", "base": {"length": "8 mm"}, "sections": [section]})
    free, stopped = (vb.shape_from_tensions(robot, pulls) for pulls in ([0.3, 0.2, 0.2, 0.25], [20, 1, 1, 8]))
    assert (free.at_stops, stopped.at_stops) == ((), (1, 2, 3))
    for shape in (free, stopped):
        table = joint_table(shape)
        stops = ["stop [N*m]"] * bool(shape.at_stops)
        assert table.headers == ("joint", *names, "of limit", "force [N]", "normal [N]", "cables [N]", *stops)
        for j, row in enumerate(table.rows):
            own = slice(j * len(names), (j + 1) * len(names))
            np.testing.assert_allclose(
                [float(cell) for cell in row[1 : 1 + len(names)]], np.degrees(shape.angles[own]), atol=6e-4
            )
            assert (
                row[1 + len(names)] == f"{100 * abs(robot.bend_of(shape.angles, j)) / robot.joints['limit'][j]:.0f} %"
            )
            if stops:
                np.testing.assert_allclose(float(row[-1]), np.linalg.norm(shape.stop_torques[own]), rtol=1e-3)
        assert [row[0] for row in tension_table(shape).rows] == ["base", "1", "2", "3"]
        assert len(slip_table(shape).rows) == 3
        told = dict(shape_summary(shape).rows)
        assert ("stops" in told) == bool(stops)
        record = shape_report(shape).record()
        assert record["at_stops"] == list(shape.at_stops)
        assert record["freedoms"] == robot.freedom_names
    largest = max(np.linalg.norm(stopped.stop_torques.reshape(3, -1), axis=1))
    assert told["stops"] == f"joints 1, 2 and 3 rest on their stops, with {largest:.6g} N*m at most"


def test_a_title_says_how_many_tensions_it_leaves_out() -> None:
    cables = {"radius": "4 mm", "azimuth": [f"{20 * k} deg" for k in range(18)]}
    section = {
        "joints": 1,
        "joint": {"kind": "rolling", "radius": "9 mm"},
        "link": {"length": "12 mm"},
        "cables": cables,
    }
    robot = vb.load(
        {"vertebra": 1, "name": "many", "sections": [section | {"azimuth": "0 deg"}], "base": {"length": "5 mm"}}
    )
    assert shape_title(vb.shape_from_tensions(robot, np.ones(18))) == f"many under {', '.join('1' * 12)}, ... (18) N"
