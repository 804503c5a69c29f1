"""Pages and pictures: self-contained, complete, in mm."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from mpl_toolkits.mplot3d import proj3d
from tests.report.looking import Reader, has_clean_border

import vertebra as vb
from vertebra.report.scene import best_view, robot_scene
from vertebra.report.shape import robot_figure_html, robot_figure_static
from vertebra.report.still import still_figure


def page_of(name: str, path: Path, bend: float = 0.1, title: str = "") -> str:
    robot = vb.load(name)
    robot_figure_html(robot, vb.frames(robot, np.full(robot.freedoms, bend)), path, title)
    return path.read_text(encoding="utf-8")


def test_page_loads_nothing_from_outside(tmp_path: Path) -> None:
    text = page_of("hu2023-prototype", tmp_path / "page.html")
    assert Reader(text).fetched == []
    assert not re.search(r"<(script|link|img|iframe)[^>]*(src|href)\s*=", text.split("<script")[0])
    assert not re.search(r"@import|url\(\s*['\"]?http", text.split("<script")[0])
    assert "cdn.plot.ly" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)


def test_page_tells_the_robot(tmp_path: Path) -> None:
    text = page_of("yang2023-c", tmp_path / "page.html", title="A <title> & more")
    shown = " ".join(Reader(text).shown)
    assert "A <title> & more" in shown
    assert "<title> & more" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    for fact in (
        f"Vertebra {vb.__version__}",
        "169.106 mm",
        "36.573 g",
        "bend azimuth [deg]",
        "14 t^2 + 0.7 t + 0.105",
    ):
        assert fact in shown
    for drawn in ("x [mm]", "y [mm]", "z [mm]", "cable 12", "gravity", "link 14", '"aspectmode":"data"'):
        assert drawn in text


@pytest.mark.parametrize("name", vb.presets())
def test_png(name: str, tmp_path: Path) -> None:
    robot = vb.load(name)
    path = robot_figure_static(robot, vb.frames(robot, np.full(robot.freedoms, 0.2)), tmp_path / "robot.png")
    assert path.stat().st_size > 50_000
    assert has_clean_border(path)


@pytest.mark.parametrize("gravity", ["ground", "ceiling", "wall"])
def test_straight_robot_on_any_mount(gravity: str, tmp_path: Path) -> None:
    robot = vb.load(vb.load("hu2023-spatial").to_mapping() | {"gravity": gravity})
    path = robot_figure_static(robot, vb.frames(robot, np.zeros(robot.freedoms)), tmp_path / "robot.png")
    assert has_clean_border(path)


@pytest.mark.parametrize("name", ["hu2023-planar", "lapusan2022"])
def test_svg(name: str, tmp_path: Path) -> None:
    robot = vb.load(name)
    frames = vb.frames(robot, np.full(robot.freedoms, 0.15))
    svg = robot_figure_static(robot, frames, tmp_path / "robot.svg").read_text()
    for label in ("x [mm]", "y [mm]", "z [mm]", "tip (", "gravity", name):
        assert label in svg


@pytest.mark.parametrize("suffix", [".svg", ".png", ".html"])
def test_same_input_same_bytes(tmp_path: Path, suffix: str) -> None:
    robot = vb.load("hu2023-planar")
    frames = vb.frames(robot, np.full(robot.freedoms, 0.2))
    draw = robot_figure_html if suffix == ".html" else robot_figure_static
    first, second = (draw(robot, frames, tmp_path / f"{i}{suffix}", "a robot").read_bytes() for i in range(2))
    assert first == second


def test_scene_is_in_mm_and_has_everything() -> None:
    robot = vb.load("hu2023-prototype")
    frames = vb.frames(robot, np.zeros(robot.freedoms))
    scene = robot_scene(robot, frames)
    assert len(scene.links) == 12
    assert len(scene.cables) == 4
    np.testing.assert_allclose(scene.tip, [0, 0, 162.0], atol=1e-9)
    np.testing.assert_allclose(scene.neck[0], [0, 0, 157.0], atol=1e-9)
    assert scene.high[2] == pytest.approx(162.0)
    assert scene.gravity is not None
    down = scene.gravity[1] - scene.gravity[0]
    np.testing.assert_allclose(down / np.linalg.norm(down), [0, 0, -1], atol=1e-12)


def test_without_gravity_there_is_no_arrow(tmp_path: Path) -> None:
    robot = vb.load(vb.load("hu2023-planar").to_mapping() | {"gravity": [0, 0, 0]})
    frames = vb.frames(robot, np.zeros(robot.freedoms))
    assert robot_scene(robot, frames).gravity is None
    assert "gravity" not in robot_figure_static(robot, frames, tmp_path / "robot.svg").read_text()
    robot_figure_html(robot, frames, tmp_path / "robot.html")


def test_wrong_frames_are_refused() -> None:
    robot = vb.load("hu2023-planar")
    frames = vb.frames(robot, np.zeros(robot.freedoms))
    for wrong in (frames[:-1], frames * np.nan):
        with pytest.raises(vb.InputError, match="6 finite 4 x 4 frames"):
            robot_scene(robot, wrong)


def test_many_links_are_drawn_coarsely() -> None:
    long = vb.load("hu2023-spatial").to_mapping()
    long["sections"][0]["joints"] = 800
    robot = vb.load(long)
    scene = robot_scene(robot, vb.frames(robot, np.zeros(robot.freedoms)))
    assert sum(len(mesh.vertices) for mesh in scene.links) < 80_000


@pytest.mark.parametrize(
    ("gravity", "up"),
    [
        ([0, 0, -9.8], (0, 0, 1)),
        ([0, 0, 9.8], (0, 0, -1)),
        ([-9.8, 0, 0], (1, 0, 0)),
        ([0, -9.8, 0], (0, 1, 0)),
        ([0, 0, 0], (0, 0, 1)),
        ([-5, 0, -5], (0, 0, 1)),
    ],
)
@pytest.mark.parametrize("bend", [0.0, 0.2])
@pytest.mark.parametrize("toward", [0.0, 1.0, 3.0, 5.0])
def test_view(gravity: list[float], up: tuple[float, ...], bend: float, toward: float) -> None:
    angle = np.linspace(0, 1, 20) * bend * 8
    radial = np.cumsum(np.sin(angle))
    line = np.column_stack([radial * np.cos(toward), radial * np.sin(toward), np.cumsum(np.cos(angle))])
    view = best_view(line, np.array(gravity, float))
    assert view.up == up
    eye = np.array(view.eye)
    assert np.linalg.norm(eye) == pytest.approx(1.0)
    assert eye @ np.array(up) > 0.25, "from above"
    if bend:
        normal = np.array([np.sin(toward), -np.cos(toward), 0.0])
        level = abs(normal @ np.array(up)) < 0.95
        assert not level or abs(eye @ normal) > 0.6, "the bend is seen from its side"


@pytest.mark.parametrize("name", ["hu2023-prototype", "yang2023-b", "dantuono2023"], ids=["z up", "x up", "y up"])
def test_still_picture_has_equal_aspect_whichever_axis_is_up(name: str) -> None:
    robot = vb.load(name)
    axes = still_figure(robot, vb.frames(robot, np.full(robot.freedoms, 0.15)), "").axes[0]
    axes.set_proj_type("ortho")
    ends = np.column_stack([np.zeros(3), np.eye(3)])
    x, y, _ = proj3d.proj_transform(*ends, axes.get_proj())
    across = np.array([x[1:] - x[0], y[1:] - y[0]])  # where 1 mm along each world axis falls on the page
    square = across @ across.T
    np.testing.assert_allclose(square / square[0, 0], np.eye(2), atol=1e-9)
