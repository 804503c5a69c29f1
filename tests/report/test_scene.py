"""Scenes: everything in mm and in its place, seen from a good side; drawn cables are as long as the kinematics says."""

from __future__ import annotations

import numpy as np
import pytest
from mpl_toolkits.mplot3d import proj3d

import vertebra as vb
from vertebra.report.plotly import scene_figure
from vertebra.report.scene import CablePaths, best_view, rgb, robot_scene, round_number_below
from vertebra.report.still import scene_still


def test_round_numbers() -> None:
    found = [round_number_below(value) for value in (1.0, 1.99, 2.0, 4.9, 7.0, 0.0012, 350.0, 5e-7)]
    assert found == [1.0, 1.0, 2.0, 2.0, 5.0, 0.001, 200.0, 5e-7]


def test_scene_is_in_mm_and_has_everything() -> None:
    robot = vb.load("hu2023-prototype")
    frames = vb.Pose(robot, np.zeros(robot.freedoms)).frames
    scene = robot_scene(robot, frames)
    assert len(scene.links) == 12
    assert len(scene.cables) == 4
    np.testing.assert_allclose(scene.tip, [0, 0, 162.0], atol=1e-9)
    np.testing.assert_allclose(scene.neck[0], [0, 0, 157.0], atol=1e-9)
    assert scene.high[2] == pytest.approx(162.0)
    assert scene.gravity is not None
    down = scene.gravity[1] - scene.gravity[0]
    np.testing.assert_allclose(down / np.linalg.norm(down), [0, 0, -1], atol=1e-12)


def test_wrong_frames_are_refused() -> None:
    robot = vb.load("hu2023-planar")
    frames = vb.Pose(robot, np.zeros(robot.freedoms)).frames
    for wrong in (frames[:-1], frames * np.nan):
        with pytest.raises(vb.InputError, match="6 finite 4 x 4 frames"):
            robot_scene(robot, wrong)


def test_many_links_are_drawn_coarsely() -> None:
    long = vb.load("hu2023-spatial").to_mapping()
    long["sections"][0]["joints"] = 800
    robot = vb.load(long)
    scene = robot_scene(robot, vb.Pose(robot, np.zeros(robot.freedoms)).frames)
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
        ([-5, 0, 5], (0, 0, -1)),
        ([0, 7, 4], (0, -1, 0)),
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
    axes = scene_still(robot_scene(robot, vb.Pose(robot, np.full(robot.freedoms, 0.15)).frames), "").axes[0]
    axes.set_proj_type("ortho")
    ends = np.column_stack([np.zeros(3), np.eye(3)])
    x, y, _ = proj3d.proj_transform(*ends, axes.get_proj())
    across = np.array([x[1:] - x[0], y[1:] - y[0]])  # where 1 mm along each world axis falls on the page
    square = across @ across.T
    np.testing.assert_allclose(square / square[0, 0], np.eye(2), atol=1e-9)


@pytest.mark.parametrize("bend", [0.0, 0.2])
@pytest.mark.parametrize("name", vb.presets())
def test_the_camera_sees_all_of_the_robot(name: str, bend: float) -> None:
    """Plotly draws the box with sides over their geometric mean, and looks at it through 45 degrees."""
    robot = vb.load(name)
    scene = robot_scene(robot, vb.Pose(robot, np.full(robot.freedoms, bend)).frames)
    camera = scene_figure(scene).layout.scene.camera
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


@pytest.mark.parametrize("bend", [0.0, 0.15, -0.1])
@pytest.mark.parametrize("name", vb.presets())
def test_length(name: str, bend: float) -> None:
    robot = vb.load(name)
    angles = bend * np.cos(np.arange(robot.freedoms))
    frames = vb.Pose(robot, angles).frames
    drawn = [np.linalg.norm(np.diff(line, axis=0), axis=1).sum() for line in CablePaths(robot).lines(frames)]
    np.testing.assert_allclose(drawn, vb.Pose(robot, angles).cable_lengths, rtol=0, atol=1e-12)


def test_ends_at_its_own_link() -> None:
    robot = vb.load("yang2023-c")
    frames = vb.Pose(robot, np.full(robot.freedoms, 0.1)).frames
    for cable, line in zip(robot.cables, CablePaths(robot).lines(frames), strict=True):
        assert line.shape == (2 + 2 * cable["last_link"], 3)
        frame = frames[cable["last_link"]]
        np.testing.assert_allclose((line[-1] - frame[:3, 3]) @ frame[:3, :3], [cable["x"], cable["y"], cable["end"]])
        np.testing.assert_allclose(line[0], [cable["x"], cable["y"], 0.0])


@pytest.mark.parametrize("name", vb.presets())
def test_segments_are_the_pieces_of_the_lines_with_the_tension_of_their_joint(name: str) -> None:
    robot = vb.load(name)
    frames = vb.Pose(robot, 0.1 * np.cos(np.arange(robot.freedoms))).frames
    paths = CablePaths(robot)
    segments = paths.segments(frames)
    assert segments.shape == (len(paths.cables), 2, 3)
    for k, (line, last) in enumerate(zip(paths.lines(frames), robot.cables["last_link"].tolist(), strict=True)):
        mine, joints = paths.cables == k, paths.joints[paths.cables == k].tolist()
        np.testing.assert_array_equal(segments[mine], np.stack([line[:-1], line[1:]], axis=1))
        assert len(joints) == 2 * last + 1
        assert joints[1::2] == list(range(last)), "pieces across joints"
        assert joints[0] == 0, "before the first joint"
        assert joints[2::2] == list(range(last)), "pieces inside links: as come through the joint before"


def test_colours_as_numbers() -> None:
    assert rgb("#0072B2") == (0, 114, 178)
