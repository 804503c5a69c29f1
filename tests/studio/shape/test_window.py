"""The Shape tab and what all tabs share, in a real browser: each kind of control, windows in step, links and files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.robots import bending_mix
from tests.studio.windows import StudioProcess, Window, chromium, studio

import vertebra as vb
from vertebra.report.document import fixed
from vertebra.robot.reading import yaml_text
from vertebra.statics import Shape
from vertebra.studio.shape.model import margin_text
from vertebra.studio.shape.settings import first_tensions, most_tensions, usual_tension

ROBOT = "hu2023-prototype"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[StudioProcess, Window, Any]]:
    folder = tmp_path_factory.mktemp("studio")
    with studio(folder / "files", ROBOT, "--shared") as process, chromium() as browser:
        yield process, Window(browser, process.url), browser
        assert process.errors() == ""


def expect(window: Window, shape: Shape) -> None:
    """The page says what `shape` says, to the shown digits."""
    for axis, value in zip("xyz", shape.tip, strict=True):
        window.wait(f"shape-tip-{axis}", fixed(1e3 * float(value), 3, "mm"))
    window.wait("shape-angle", fixed(np.degrees(np.abs(shape.angles).max()), 2, "deg"))
    soft = shape.stiffness().stiffness[0]
    window.until(lambda: window.text("shape-stiffness").startswith(f"{soft:.4g}, "))
    window.wait("shape-margin", margin_text(*shape.tension_margin()))
    for k, tension in enumerate(shape.tensions_at_base):
        window.wait(f"shape-cable-{k}-1", fixed(float(tension), 3, "N"))


def test_a_walk_through_the_tab(page: tuple[StudioProcess, Window, Any]) -> None:
    _, window, _ = page
    robot = vb.load(ROBOT)
    tensions = [4.0, 3.0, 2.5, 6.0]
    for k, tension in enumerate(tensions):
        window.slide(f"Cable {k + 1} (N)", tension)
    expect(window, vb.shape_from_tensions(robot, tensions))

    window.open_folder("Mount")
    window.choose("Mounted on", "ceiling")
    window.slide("Tilt (deg)", 90)
    expect(window, vb.shape_from_tensions(robot, tensions, gravity=[9.8, 0, 0]))
    window.slide("Tilt (deg)", 0)
    window.choose("Mounted on", "as in the file")

    window.open_folder("Loads")
    window.press("Add a load at the tip")
    window.type_vector("Force (N)", (0.1, -0.2, 0.05))
    window.choose("Acts on", "link 4")
    expect(window, vb.shape_from_tensions(robot, tensions, loads=[vb.Load(force=(0.1, -0.2, 0.05), link=4)]))
    window.picture("shape")
    window.press("Remove load 1")
    expect(window, vb.shape_from_tensions(robot, tensions))

    window.choose("Control by", "lengths")
    shortenings = [window.slider_value(f"Shorten cable {k} by (mm)") for k in range(1, 5)]
    shape = vb.shape_from_lengths(robot, shortenings=1e-3 * np.array(shortenings), check=False)
    window.wait("shape-tip-x", fixed(1e3 * float(shape.tip[0]), 3, "mm"))
    window.choose("Control by", "tensions")

    for k in range(4):
        window.slide(f"Cable {k + 1} (N)", 0)
    window.until(lambda: window.page.query_selector('[data-value="shape-status"][data-state="bad"]') is not None)
    for k in range(4):
        window.slide(f"Cable {k + 1} (N)", 4)
    window.wait("shape-status", "✓ Stable")


def test_keyboard_view_and_pages_that_are_dark_or_narrow(page: tuple[StudioProcess, Window, Any]) -> None:
    process, window, browser = page
    before = window.slider_value("Cable 1 (N)")
    window.key("Cable 1 (N)", "ArrowRight", 5)
    window.until(lambda: window.slider_value("Cable 1 (N)") > before)
    window.page.get_by_role("tab", name="Shape", exact=True).focus()
    window.page.keyboard.press("ArrowRight")
    window.page.wait_for_selector('.vb-mode[data-mode="Payload"]', state="attached")
    window.page.keyboard.press("ArrowLeft")
    window.page.wait_for_selector('.vb-mode[data-mode="Shape"]', state="attached")

    window.open_folder("View")
    for label in ("Pale ghost", "Tip trace", "Link frames", "Tip compliance", "Gravity arrow", "See-through links"):
        window.tick(label, not window._control(label).is_checked())
    window.tick("Dark page")
    window.page.wait_for_selector('[data-mantine-color-scheme="dark"]')
    tablet = Window(browser, process.url, (820, 1180))
    tablet.page.wait_for_selector("text=Results")
    tablet.picture("shape-tablet-dark", dark=True)
    assert tablet.page.locator('[data-dock-region-collapse="right"]').count() == 0  # folded away
    tablet.close()
    window.tick("Dark page", False)
    window.press("Look at the robot")


def test_windows_stay_in_step_and_links_and_files_restore_the_state(
    page: tuple[StudioProcess, Window, Any], tmp_path: Path
) -> None:
    process, window, browser = page
    window.slide("Cable 1 (N)", 3.3)
    window.open_folder("Save and share")
    name, content = window.save("State (JSON)")
    assert name.endswith(".json")
    assert json.loads(content)["tabs"]["shape"]["tensions"][0] == 3.3
    window.until(lambda: window.page.locator('a[data-value="link"]').count() == 1)
    link = window.page.locator('a[data-value="link"]').get_attribute("href")
    tip = window.text("shape-tip-x")
    window.slide("Cable 1 (N)", 5)
    window.until(lambda: window.text("shape-tip-x") != tip)

    other = Window(browser, process.at(link))
    other.wait("shape-tip-x", tip)
    window.wait("shape-tip-x", tip)
    other.slide("Cable 3 (N)", 4.5)
    window.until(lambda: window.slider_value("Cable 3 (N)") == 4.5)
    window.until(lambda: window.text("shape-tip-x") == other.text("shape-tip-x") != tip)
    other.close()

    file = tmp_path / name
    file.write_bytes(content)
    window.upload(file)
    window.wait("shape-tip-x", tip)
    with window.drawing():
        name, content = window.save("Picture of the view (PNG)")
    assert name == f"{ROBOT}.png"
    assert content.startswith(b"\x89PNG")
    assert len(content) > 10_000


def test_robot_files_good_and_bad(page: tuple[StudioProcess, Window, Any], tmp_path: Path) -> None:
    _, window, _ = page
    text = Path(vb.__file__).parent.joinpath("robot/presets/yang2023-b.yaml").read_text()
    good, bad = tmp_path / "mine.yaml", tmp_path / "bad.yaml"
    good.write_text(text)
    bad.write_text(text.replace("diameter:", "diametre:", 1))
    window.upload(bad)
    window.until(lambda: "diametre" in window.text("status"))
    assert "sections" in window.text("status")
    window.upload(good)
    window.until(lambda: window.chosen("Robot") == "mine.yaml")
    window.until(lambda: window._control("Friction").is_enabled())  # the controls of the robot before have gone
    robot = vb.load("yang2023-b")
    tensions = [window.slider_value(f"Cable {k} (N)") for k in range(1, 5)]
    window.tick("Friction", False)
    expect(window, vb.shape_from_tensions(robot, tensions, friction=0))
    window.tick("Friction")
    window.tick("History")
    window.wait("shape-steps", "1")  # the path begins here, not with the next move
    path = vb.ShapePath(robot)
    path.step(tensions)
    window.slide("Cable 1 (N)", 40)
    shape = path.step([40, *tensions[1:]])
    window.wait("shape-tip-x", fixed(1e3 * float(shape.tip[0]), 3, "mm"))
    window.wait("shape-steps", "2")
    window.press("Forget the history")
    window.wait("shape-steps", "1")


def test_nothing_leaves_this_machine(page: tuple[StudioProcess, Window, Any]) -> None:
    process, window, _ = page
    port = process.url.split(":")[2].split("/")[0]
    allowed = (f"http://127.0.0.1:{port}/", f"ws://127.0.0.1:{port}", "data:", "blob:")
    assert window.requests
    assert [url for url in window.requests if not url.startswith(allowed)] == []
    assert window.faults == []


def test_universal_and_backbone_joints_bend_and_move(page, tmp_path: Path) -> None:
    browser = page[2]
    robot = bending_mix().fill_inertia()
    file = tmp_path / "files" / "bending.yaml"
    file.parent.mkdir()
    file.write_text(yaml_text(robot.to_mapping()))
    tensions = list(first_tensions(robot))
    tensions[1] = most = most_tensions(robot, usual_tension(robot))[1]
    shape = vb.shape_from_tensions(robot, tensions)
    assert np.degrees(np.abs(shape.angles).max()) > 1
    vb.simulate(robot, tensions, duration=0.01, q0=shape.angles, damping=1e-4)  # compiled before the page waits for it
    vb.linearise(robot, shape.angles, tensions)
    with studio(file.parent, str(file), "--shared") as process:
        window = Window(browser, process.url)
        window.until(lambda: window.text("shape-status") == "✓ Stable")
        window.slide("Cable 2 (N)", most)
        expect(window, shape)
        window.picture("bending")
        window.tab("Motion")
        window.until(lambda: window.text("motion-status").startswith("✓ 3 s simulated"))
        window.choose("Robot", "lapusan2022")
        window.tab("Shape")
        window.until(lambda: "This robot has no cables" in window.page.inner_text("body"))
        window.slide("Angle 2b (deg)", 20)
        pose = vb.Pose(vb.load("lapusan2022"), np.radians([0, 0, 0, 20, 0, 0, 0, 0]))
        for axis, value in zip("xyz", pose.tip, strict=True):
            window.wait(f"shape-tip-{axis}", fixed(1e3 * float(value), 3, "mm"))
        assert window.faults == []
        assert process.errors() == ""
