"""The Shape tab in a real browser: every control is moved, and the page says what the library says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.studio.windows import StudioProcess, Window, chromium, studio

import vertebra as vb
from vertebra.statics import Shape, Status
from vertebra.studio.readout import number
from vertebra.studio.shape.text import margin_text


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[StudioProcess, Window, Any]]:
    folder = tmp_path_factory.mktemp("studio")
    with studio(folder / "files", "hu2023-prototype") as process, chromium() as browser:
        yield process, Window(browser, process.url), browser
        assert process.errors() == ""


def expect(window: Window, shape: Shape) -> None:
    """The page says what `shape` says, to the shown digits."""
    for axis, value in zip("xyz", shape.tip, strict=True):
        window.wait(f"shape-tip-{axis}", number(1e3 * float(value), 3, "mm"))
    window.wait("shape-angle", number(np.degrees(np.abs(shape.angles).max()), 2, "deg"))
    if shape.status == Status.SOLVED:
        soft = shape.stiffness().stiffness[0]
        window.until(lambda: window.text("shape-stiffness").startswith(f"{soft:.4g}, "))
        window.wait("shape-margin", margin_text(*shape.tension_margin()))
    for k, tension in enumerate(shape.tensions_at_base):
        window.wait(f"shape-cable-{k}-1", number(float(tension), 3, "N"))


def test_every_control_gives_the_library_s_answer(page: tuple[StudioProcess, Window, Any]) -> None:
    _, window, _ = page
    robot = vb.load("hu2023-prototype")
    tensions = [4.0, 3.0, 2.5, 6.0]
    for k, tension in enumerate(tensions):
        window.slide(f"Cable {k + 1} (N)", tension)
    expect(window, vb.shape_from_tensions(robot, tensions))

    window.open_folder("Mount")
    window.choose("Stands on", "ceiling")
    expect(window, vb.shape_from_tensions(robot, tensions, gravity="ceiling"))
    window.slide("Tilted by (deg)", 90)
    expect(window, vb.shape_from_tensions(robot, tensions, gravity=[9.8, 0, 0]))
    window.slide("Toward azimuth (deg)", 90)
    expect(window, vb.shape_from_tensions(robot, tensions, gravity=[0, 9.8, 0]))
    window.slide("Tilted by (deg)", 0)
    window.choose("Stands on", "no gravity")
    expect(window, vb.shape_from_tensions(robot, tensions, gravity=[0, 0, 0]))
    window.choose("Stands on", "as in the file")

    window.open_folder("Loads")
    window.press("Add a load at the tip")
    window.type_vector("Force (N)", (0.1, -0.2, 0.05))
    expect(window, vb.shape_from_tensions(robot, tensions, loads=[vb.Load(force=(0.1, -0.2, 0.05))]))
    window.choose("Acts on", "link 4")
    loaded = vb.shape_from_tensions(robot, tensions, loads=[vb.Load(force=(0.1, -0.2, 0.05), link=4)])
    expect(window, loaded)
    window.screenshot("shape")
    window.press("Remove load 1")
    expect(window, vb.shape_from_tensions(robot, tensions))


def test_by_lengths_from_the_shape_that_is_shown(page: tuple[StudioProcess, Window, Any]) -> None:
    _, window, _ = page
    robot = vb.load("hu2023-prototype")
    window.choose("Pull by", "lengths")
    shortenings = [window.slider_value(f"Cable {k} shorter by (mm)") for k in range(1, 5)]
    shape = vb.shape_from_lengths(robot, shortenings=1e-3 * np.array(shortenings), check=False)
    window.wait("shape-tip-x", number(1e3 * float(shape.tip[0]), 3, "mm"))
    window.choose("Pull by", "tensions")


def test_what_buckles_is_said_and_what_fails_stays(page: tuple[StudioProcess, Window, Any]) -> None:
    _, window, _ = page
    for k in range(4):
        window.slide(f"Cable {k + 1} (N)", 0)
    window.until(lambda: window.page.query_selector('[data-value="shape-status"][data-state="bad"]') is not None)
    window.screenshot("shape-buckled")
    for k in range(4):
        window.slide(f"Cable {k + 1} (N)", 4)
    window.wait("shape-status", "✓ Stable")


def test_sliders_and_tabs_by_keyboard(page: tuple[StudioProcess, Window, Any]) -> None:
    _, window, _ = page
    before = window.slider_value("Cable 1 (N)")
    window.key("Cable 1 (N)", "ArrowRight", 5)
    window.until(lambda: window.slider_value("Cable 1 (N)") > before)
    tab = window.page.get_by_role("tab", name="Shape", exact=True)
    tab.focus()
    window.page.keyboard.press("ArrowRight")
    window.page.wait_for_selector('.vb-mode[data-mode="Payload"]', state="attached")
    window.page.keyboard.press("ArrowLeft")
    window.page.wait_for_selector('.vb-mode[data-mode="Shape"]', state="attached")


def test_windows_stay_in_step_and_later_ones_catch_up(page: tuple[StudioProcess, Window, Any]) -> None:
    process, window, browser = page
    other = Window(browser, process.url)
    window.slide("Cable 2 (N)", 5.5)
    other.until(lambda: other.slider_value("Cable 2 (N)") == 5.5)
    other.slide("Cable 3 (N)", 4.5)
    window.until(lambda: window.slider_value("Cable 3 (N)") == 4.5)
    window.until(lambda: window.text("shape-tip-x") == other.text("shape-tip-x"))
    other.close()


def test_view_boxes(page: tuple[StudioProcess, Window, Any]) -> None:
    _, window, _ = page
    window.open_folder("View")
    labels = ("Pale ghost", "Tip trace", "Link frames", "Tip compliance", "Gravity arrow", "See-through links")
    for label in labels:
        box = window._control(label)
        wanted = not box.is_checked()
        window.tick(label, wanted)
    window.slide("Cable 1 (N)", 6)
    window.screenshot("shape-view")
    window.tick("Dark page")
    window.page.wait_for_selector('[data-mantine-color-scheme="dark"]')
    window.screenshot("shape-dark")
    window.tick("Dark page", False)
    window.press("Look at the robot")


def test_link_and_file_restore_the_state(page: tuple[StudioProcess, Window, Any], tmp_path: Path) -> None:
    process, window, browser = page
    window.slide("Cable 1 (N)", 3.3)
    window.open_folder("Save and share")
    name, content = window.save("State (JSON)")
    assert name.endswith(".json")
    state = json.loads(content)
    assert state["tabs"]["shape"]["tensions"][0] == 3.3
    window.until(lambda: window.page.locator('a[data-value="link"]').count() == 1)
    link = window.page.locator('a[data-value="link"]').get_attribute("href")
    tip = window.text("shape-tip-x")
    window.slide("Cable 1 (N)", 5)
    window.until(lambda: window.text("shape-tip-x") != tip)

    other = Window(browser, process.url.rstrip("/") + link)
    other.wait("shape-tip-x", tip)
    window.wait("shape-tip-x", tip)
    other.close()

    window.slide("Cable 1 (N)", 5)
    window.until(lambda: window.text("shape-tip-x") != tip)
    file = tmp_path / name
    file.write_bytes(content)
    window.upload(file)
    window.wait("shape-tip-x", tip)


def test_picture_of_the_view(page: tuple[StudioProcess, Window, Any]) -> None:
    _, window, _ = page
    window.open_folder("Save and share")
    name, content = window.save("Picture of the view (PNG)")
    assert name == "hu2023-prototype.png"
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
    window.screenshot("bad-file")
    window.upload(good)
    window.until(lambda: window.chosen("Robot") == "mine.yaml")
    window.until(lambda: window._control("Friction").is_enabled())  # the controls of the robot before have gone
    robot = vb.load("yang2023-b")
    tensions = [window.slider_value(f"Cable {k} (N)") for k in range(1, 5)]
    expect(window, vb.shape_from_tensions(robot, tensions))
    window.tick("Friction", False)
    expect(window, vb.shape_from_tensions(robot, tensions, friction=0))
    window.tick("Friction")
    window.tick("History")
    path = vb.ShapePath(robot)
    path.step(tensions)
    window.slide("Cable 1 (N)", 40)
    shape = path.step([40, *tensions[1:]])
    window.wait("shape-tip-x", number(1e3 * float(shape.tip[0]), 3, "mm"))
    window.wait("shape-steps", "2")
    window.press("Forget the history")
    window.wait("shape-steps", "1")


def test_every_preset_opens(page: tuple[StudioProcess, Window, Any]) -> None:
    _, window, _ = page
    for name in vb.presets():
        window.choose("Robot", name)
        window.until(lambda name=name: window.chosen("Robot") == name)
        window.until(lambda: window.text("shape-tip-x") != "")
        window.wait("status", "Ready.")
        window.page.wait_for_timeout(300)
        window.screenshot(f"preset-{name}")


def test_nothing_leaves_this_machine(page: tuple[StudioProcess, Window, Any]) -> None:
    process, window, _ = page
    port = process.url.split(":")[2].split("/")[0]
    allowed = (f"http://127.0.0.1:{port}/", f"ws://127.0.0.1:{port}", "data:", "blob:")
    assert window.requests
    assert [url for url in window.requests if not url.startswith(allowed)] == []
    assert window.faults == []
