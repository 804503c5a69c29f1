"""Pages and pictures of a shape: what they show, that they show it in the right place, that they load nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.report.looking import Reader, has_clean_border

import vertebra as vb
from vertebra.report.plotly import robot_picture
from vertebra.report.scene import Mark, ghost, robot_scene, round_number_below, tip_ellipsoid
from vertebra.report.shape import THINNEST, WIDEST, shape_figure_html, shape_figure_static, shape_page, shape_scene
from vertebra.report.still import scene_figure

LOADS = (vb.Load(force=(0, 0, -0.05)), vb.Load(force=(0.01, 0, 0), moment=(0, 0, 1e-3), link=4, point=(0, 0, 0.005)))


@pytest.fixture(scope="module")
def shape() -> vb.Shape:
    return vb.shape_from_tensions(vb.load("hu2023-prototype"), [0.98, 0.98, 0.98, 3.92], loads=LOADS)


@pytest.fixture(scope="module")
def page(shape: vb.Shape) -> str:
    free = vb.shape_from_tensions(shape.robot, shape.tensions[:, 0], gravity=(0, 0, 0))
    return shape_page(shape, "a <shape>", [ghost(shape.robot, free.frames, "without weight and loads")])


def test_page_loads_nothing_from_outside(page: str) -> None:
    assert Reader(page).fetched == []
    outside_scripts = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert "http" not in outside_scripts
    assert "url(" not in outside_scripts


def test_page_tells_every_number(page: str, shape: vb.Shape) -> None:
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


def test_warnings_stand_on_the_page(shape: vb.Shape) -> None:
    wrong = replace(shape, separated=(2, 3, 5), out_of_range=(1,), stable=False)
    shown = " ".join(Reader(shape_page(wrong, "")).shown)
    for text in ("joints 2, 3 and 5 would have to pull", "joint 1 past the limit", "UNSTABLE"):
        assert text in shown
    assert 'class="warning"' not in shape_page(shape, "")


def test_arrows_start_where_the_loads_act(shape: vb.Shape) -> None:
    arrows = shape_scene(shape).arrows
    assert len(arrows) == 3
    np.testing.assert_allclose(arrows[0].start, shape.tip * 1e3, atol=1e-9)
    at = shape.frames[4] @ [0, 0, 0.005, 1]
    for arrow, direction in zip(arrows[1:], ([1, 0, 0], [0, 0, 1]), strict=True):
        np.testing.assert_allclose(arrow.start, at[:3] * 1e3, atol=1e-9)
        along = arrow.end - arrow.start
        np.testing.assert_allclose(along / np.linalg.norm(along), direction, atol=1e-12)


def test_everything_is_inside_the_picture(shape: vb.Shape) -> None:
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


def test_cables_are_wider_the_tighter_they_are(shape: vb.Shape) -> None:
    widths = shape_scene(shape).cable_widths
    assert widths[3] == WIDEST
    assert widths[0] == widths[1] == pytest.approx(THINNEST + (WIDEST - THINNEST) / 4)
    lines = [trace for trace in robot_picture(shape.robot, shape_scene(shape)).data if "cable" in (trace.name or "")]
    assert [line.line.width for line in lines] == [5 * width for width in widths]


def test_ellipsoid_is_what_a_small_force_does(shape: vb.Shape) -> None:
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


def test_no_ellipsoid_where_stiffness_has_no_meaning(shape: vb.Shape) -> None:
    assert tip_ellipsoid(replace(shape, stable=False), 100.0) is None
    assert tip_ellipsoid(replace(shape, out_of_range=(2,)), 100.0) is None
    assert tip_ellipsoid(replace(shape, compliance=np.zeros((6, 6))), 100.0) is None


def test_round_numbers() -> None:
    found = [round_number_below(value) for value in (1.0, 1.99, 2.0, 4.9, 7.0, 0.0012, 350.0, 5e-7)]
    assert found == [1.0, 1.0, 2.0, 2.0, 5.0, 0.001, 200.0, 5e-7]


def test_ghost_runs_from_the_origin_to_its_tip(shape: vb.Shape) -> None:
    line = ghost(shape.robot, shape.frames, "").line
    assert len(line) == len(shape.robot.links) + 2
    np.testing.assert_allclose(line[0], 0.0)
    np.testing.assert_allclose(line[-1], shape.tip * 1e3)


@pytest.mark.parametrize("gravity", ["ground", "ceiling", "wall"])
@pytest.mark.parametrize("name", ["hu2023-prototype", "hu2023-planar", "yang2023-c"])
def test_png_of_any_shape(name: str, gravity: str, tmp_path: Path) -> None:
    robot = vb.load(name)
    tensions = np.linspace(2.0, 2.4, len(robot.cables))
    found = vb.shape_from_tensions(robot, tensions, gravity=gravity, loads=(vb.Load(force=(0.01, 0, 0)),))
    path = shape_figure_static(found, tmp_path / "shape.png", "title", [ghost(robot, found.frames, "a long name " * 3)])
    assert has_clean_border(path)


def test_svg_names_everything(shape: vb.Shape, tmp_path: Path) -> None:
    target = Mark(shape.tip * 1e3, "#000000", "wanted tip")
    path = shape_figure_static(
        shape, tmp_path / "a.svg", marks=[target], ghosts=[ghost(shape.robot, shape.frames, "g")]
    )
    text = path.read_text()
    for name in ("cable 4, 270 deg: 3.92 N", "load 1 at the tip: 0.05 N", "wanted tip", "N from any side", "x [mm]"):
        assert name in text


@pytest.mark.parametrize("suffix", [".svg", ".html"])
def test_same_input_same_bytes(shape: vb.Shape, tmp_path: Path, suffix: str) -> None:
    draw = shape_figure_html if suffix == ".html" else shape_figure_static
    first, second = (draw(shape, tmp_path / f"{i}{suffix}").read_bytes() for i in range(2))
    assert first == second


def test_still_picture_draws_loads_in_their_place(shape: vb.Shape) -> None:
    axes = scene_figure(shape_scene(shape), "").axes[0]
    labels = axes.get_legend_handles_labels()[1]
    assert "load 1 at the tip: 0.05 N" in labels
    low, high = np.array([axes.get_xlim(), axes.get_ylim(), axes.get_zlim()]).T
    assert (low <= shape_scene(shape).low).all()
    assert (high >= shape_scene(shape).high).all()


@pytest.mark.parametrize("bend", [0.0, 0.2])
@pytest.mark.parametrize("name", vb.presets())
def test_the_camera_sees_all_of_the_robot(name: str, bend: float) -> None:
    """Plotly draws the box with sides over their geometric mean, and looks at it through 45 degrees."""
    robot = vb.load(name)
    scene = robot_scene(robot, vb.frames(robot, np.full(robot.freedoms, bend)))
    camera = robot_picture(robot, scene).layout.scene.camera
    eye, centre = (np.array([point.x, point.y, point.z]) for point in (camera.eye, camera.center))
    forward = (centre - eye) / np.linalg.norm(centre - eye)
    right = np.cross(forward, scene.view.up)
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    points = np.concatenate([*(mesh.vertices for mesh in scene.links), scene.mount.vertices, scene.gravity])
    low, high = np.minimum(scene.low, points.min(axis=0)), np.maximum(scene.high, points.max(axis=0))
    seen = (points - (low + high) / 2) / np.prod(high - low) ** (1 / 3) - eye
    depth = seen @ forward
    assert (depth > 0).all()
    assert (np.abs(seen @ up) < depth * np.tan(np.radians(22.5))).all()
    assert (np.abs(seen @ right) < 1.6 * depth * np.tan(np.radians(22.5))).all()
