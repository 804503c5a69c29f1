"""What the viewer is given: cables, poses and colours against the reports', and a stage that does not grow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from tests import robots

import vertebra as vb
from vertebra.mechanics.kinematics import Pose
from vertebra.report.scene import CABLE_COLOURS, CablePaths
from vertebra.studio.palette import LINES, brightest, scale_gradient, tension_colours
from vertebra.studio.state import ViewSettings

OTHERS = [robots.mirror_mix()]
ALL = [*map(vb.load, vb.presets()), *OTHERS]


def random_frames(robot: vb.Robot, seed: int) -> np.ndarray:
    limits = np.repeat(np.minimum(robot.joints["limit"], 1.2), robot.joints["freedoms"])
    return Pose(robot, np.random.default_rng(seed).uniform(-0.9, 0.9, robot.freedoms) * limits).frames


def chained(robot: vb.Robot, links: int) -> vb.Robot:
    mapping = robot.to_mapping()
    mapping["sections"][0]["joints"] = links
    return vb.load(mapping)


# Colours -------------------------------------------------------------------------------------------------------------


def lightness(colours: np.ndarray) -> np.ndarray:
    """CIE L*, 0 to 100."""
    share = colours.astype(float) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    y = linear @ [0.2126, 0.7152, 0.0722]
    return np.where(y > 216 / 24389, 116 * np.cbrt(y) - 16, y * 24389 / 27)


def test_lines_have_the_colours_of_pages_but_none_that_vanishes() -> None:
    assert [colour for colour in CABLE_COLOURS if colour in LINES] == list(LINES[:-1])
    assert set(CABLE_COLOURS) - set(LINES) == {"#000000"}


def test_more_tension_is_lighter() -> None:
    colours = tension_colours(np.linspace(0.0, 20.0, 401), 20.0)
    light = lightness(colours)
    assert (np.diff(light) > -0.5).all(), "but for the rounding of colours to whole numbers"
    assert (np.diff(light[::10]) > 0.5).all()
    assert light[-1] - light[0] > 60
    steps = np.diff(light[::40])
    assert steps.max() < 3 * steps.min(), "evenly"


def test_ends_of_the_scale() -> None:
    ends = tension_colours(np.array([-1.0, 0.0, 5.0, 10.0, 99.0]), 10.0)
    assert ends.dtype == np.uint8
    assert ends[0].tolist() == ends[1].tolist() == [0, 34, 78]
    assert ends[3].tolist() == ends[4].tolist() == [254, 232, 56]
    assert "rgb(0, 34, 78)" in scale_gradient()
    assert tension_colours(np.zeros((2, 3)), 0.0).shape == (2, 3, 3)


@given(st.floats(1e-8, 1e9))
def test_the_brightest_is_a_round_number_just_above(tension: float) -> None:
    top = brightest(np.array([0.0, tension]))
    assert top >= tension * (1 - 2e-9)
    assert top <= 2.5 * tension * (1 + 1e-9)
    mantissa = float(f"{top:.6e}".split("e")[0])
    assert mantissa in (1.0, 2.0, 5.0)


def test_slack_cables_have_a_scale_too() -> None:
    assert brightest(np.zeros(3)) == brightest(np.zeros(0)) == 1.0
    assert [brightest(np.array([t])) for t in (1.0, 10.0, 1000.0, 2.0, 5.1)] == [1.0, 10.0, 1000.0, 2.0, 10.0]


# The stage -----------------------------------------------------------------------------------------------------------


class Page:
    """What a stage asks of the studio."""

    robot = ALL[0]

    def __init__(self, viser: Any) -> None:
        self.server = viser

    def when(self, handle: Any, act: Any) -> Any:
        return handle


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    pytest.importorskip("viser")
    from vertebra.studio.serving.server import Access, open_server

    with open_server(Access(port=0, needs_token=False), label="stage") as server:
        yield Page(server.viser)


@pytest.fixture
def stage(page: Page) -> Iterator[Any]:
    from vertebra.studio.scene import Stage

    with page.server.gui.add_folder("stage") as folder:
        stage = Stage(page)  # type: ignore[arg-type]
    yield stage
    folder.remove()
    page.server.scene.reset()


def nodes(page: Page) -> set[str]:
    return set(page.server.scene._handle_from_node_name)


def box(stage: Any, name: str) -> Any:
    return stage.form.handles(name)[0]


def show(stage: Any, robot: vb.Robot, count: int) -> None:
    from vertebra.report.meshes import Mesh
    from vertebra.studio.scene import Picture

    tensions = np.random.default_rng(0).uniform(0, 9, (len(robot.cables), len(robot.joints)))
    ball = Mesh(np.eye(3), np.array([[0, 1, 2]]))
    for seed in range(count):
        poses = random_frames(robot, seed)
        ghost = random_frames(robot, seed + 1) if seed % 2 else None
        pull = tensions if seed % 3 else None
        stage.draw(Picture(poses, pull, 10.0, np.array([0.0, 0.0, -9.8]), ghost, ball if seed % 5 else None))


EDGES = [chained(vb.load("hu2023-prototype"), 1), chained(vb.load("yang2023-b"), 200), *OTHERS]


@pytest.mark.parametrize("robot", [*ALL, *EDGES], ids=lambda robot: f"{robot.name}-{len(robot.joints)}")
def test_every_robot_can_be_drawn(page: Page, stage: Any, robot: vb.Robot) -> None:
    stage.choose_robot(robot)
    stage.form.write(ViewSettings(**dict.fromkeys(ViewSettings.model_fields, True)))
    show(stage, robot, 3)
    stage.look()
    shown = nodes(page)
    assert {"/robot", "/ghost", "/floor", "/trace"} <= shown
    places = np.vstack([handle.batched_positions for _, handle in stage.view._groups])
    assert len(places) == len(robot.links)
    assert np.isfinite(places).all()
    assert np.abs(places).max() < 2.0, "in robot lengths"


def test_links_stand_at_their_frames(stage: Any) -> None:
    robot = vb.load("yang2023-c")
    stage.choose_robot(robot)
    show(stage, robot, 2)
    poses = random_frames(robot, 1)
    for rows, handle in stage.view._groups:
        np.testing.assert_allclose(handle.batched_positions, poses[rows, :3, 3] / robot.length, atol=1e-6)
        turns = Rotation.from_quat(handle.batched_wxyzs, scalar_first=True).as_matrix()
        np.testing.assert_allclose(turns, poses[rows, :3, :3], atol=1e-5)
    ends = CablePaths(robot).segments(poses) / robot.length
    np.testing.assert_allclose(stage.view._cables.points, ends, atol=1e-6)


def test_a_hundred_frames_and_many_robots_add_no_nodes(page: Page, stage: Any) -> None:
    robot = vb.load("hu2023-prototype")
    stage.choose_robot(robot)
    box(stage, "trace").value = True
    show(stage, robot, 2)
    before = nodes(page)
    show(stage, robot, 100)
    assert nodes(page) == before
    for other in ("yang2023-c", "lapusan2022", "cai2023", "hu2023-prototype"):
        stage.choose_robot(vb.load(other))
        show(stage, vb.load(other), 1)
    assert nodes(page) == before


def test_another_mount_turns_the_picture_over(page: Page, stage: Any) -> None:
    from vertebra.studio.scene import Picture

    robot = vb.load("hu2023-planar")
    stage.choose_robot(robot)
    camera, poses = page.server.initial_camera, random_frames(robot, 1)
    for mount, up in (("ground", [0, 0, 1]), ("ceiling", [0, 0, -1]), ("wall", [1, 0, 0]), ("ground", [0, 0, 1])):
        gravity = -9.8 * np.array(up)
        stage.draw(Picture(poses, gravity=gravity))
        np.testing.assert_array_equal(camera.up, up, mount)
    camera.position = np.array([5.0, 5.0, 5.0])
    stage.draw(Picture(random_frames(robot, 2), gravity=gravity))
    np.testing.assert_array_equal(camera.position, [5.0, 5.0, 5.0], "a moving robot leaves the camera alone")


def test_boxes_hide_and_show(stage: Any) -> None:
    robot = vb.load("hu2023-planar")
    stage.choose_robot(robot)
    show(stage, robot, 2)
    assert stage._ghost._root.visible
    assert stage._arrow.visible
    for name in ("ghost", "gravity", "ellipsoid"):
        box(stage, name).value = False
    box(stage, "frames").value = box(stage, "glass").value = True
    stage.redraw()
    assert not stage._ghost._root.visible
    assert not stage._arrow.visible
    assert not stage._label.visible
    assert not stage._body.visible
    assert stage._axes.visible
    assert all(handle.opacity == pytest.approx(0.35) for _, handle in stage.view._groups)
    assert stage.settings().frames
    assert not stage.settings().ghost


def test_the_trace_forgets_its_oldest_part(stage: Any) -> None:
    trace = stage._trace
    for step in range(1000):
        trace.grow(np.array([0.001 * step, 0.0, 0.0]))
        trace.grow(np.array([0.001 * step + 1e-6, 0.0, 0.0]))
    assert trace._line.points.shape == (599, 2, 3)
    assert trace._line.points[-1, 1, 0] == pytest.approx(0.999)
    trace.clear()
    assert not trace._line.visible
