"""The Motion tab in a real browser: what the page says is what the library says."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.studio.windows import StudioProcess, Window, chromium, studio

import vertebra as vb
from vertebra.dynamics.sampled_motion import read_trajectory
from vertebra.studio.readout import number

SWAY = Path(__file__).parents[3] / "examples" / "sway.csv"
ROBOT = "dantuono2023"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[StudioProcess, Window, Any]]:
    folder = tmp_path_factory.mktemp("studio") / "files"
    folder.mkdir()
    shutil.copy(SWAY, folder)
    with studio(folder, ROBOT) as process, chromium() as browser:
        window = Window(browser, process.url)
        window.until(lambda: window.text("shape-tip-x") != "")
        yield process, window, browser
        assert window.faults == []
        assert process.errors() == ""


def stand_at(window: Window, time: float) -> None:
    """Stop the playback and go to a time, s."""
    window.press("Pause")
    window.page.get_by_role("button", name="Play", exact=True).wait_for()
    window.slide("Time (s)", time)
    window.wait("motion-time", number(time, 3, "s"))


def test_a_simulation_is_that_of_the_library(page: tuple[StudioProcess, Window, Any]) -> None:
    _, window, _ = page
    robot = vb.load(ROBOT)
    held = [window.slider_value(f"Cable {k} (N)") for k in range(1, 5)]
    window.tab("Motion")
    window.until(lambda: window.text("motion-status") == "✓ 3 s simulated, energy accounted for")
    window.choose("Cable", "2")
    window.slide("By (N)", 30)
    window.slide("Duration (s)", 1)
    window.until(lambda: "press Run" in window.text("motion-outdated"))
    window.press("Run")
    window.until(lambda: window.text("motion-status").startswith("✓ 1 s") and not window.text("motion-outdated"))
    stand_at(window, 0.5)
    pulled = [held[0], held[1] + 30.0, held[2], held[3]]
    start = vb.shape_from_tensions(robot, held)
    run = vb.simulate(robot, pulled, duration=1.0, dt=1e-3, q0=start.angles, damping=0.02)
    row = int(np.argmin(np.abs(run.time.to_numpy() - 0.5)))
    for i, axis in enumerate("xyz"):
        window.wait(f"motion-tip-{axis}", number(1e3 * float(run.tip[row, i]), 2, "mm"))
    for k in range(4):
        window.wait(f"motion-tension-{k + 1}", number(pulled[k], 3, "N"))
    window.screenshot("motion")


def test_it_plays_pauses_and_all_windows_follow(page: tuple[StudioProcess, Window, Any]) -> None:
    process, window, browser = page
    other = Window(browser, process.url, (1100, 600))
    window.press("Play")
    seen = set[str]()
    other.until(lambda: seen.add(other.text("motion-time")) or len(seen) > 4)
    other.press("Pause")
    window.page.get_by_role("button", name="Play", exact=True).wait_for()
    window.until(lambda: window.text("motion-time") == other.text("motion-time"))
    other.close()


def test_a_sway_shows_which_joint_lacks_how_much(page: tuple[StudioProcess, Window, Any]) -> None:
    _, window, _ = page
    window.choose("Motion", "Trajectory: sway")
    window.wait("motion-status", "✗ Not feasible at any moment")
    assert "Worst: joint " in window.page.inner_text("body")
    window.choose("Method", "per link: each joint's own")
    window.wait("motion-status", "✓ Feasible at every moment")
    window.slide("Period (s)", 8)
    window.until(lambda: "press Run" in window.text("motion-outdated"))
    window.press("Run")
    window.until(lambda: window.text("motion-outdated") == "")
    rate = 2 * np.pi / 8.0
    phase = rate * np.linspace(0.0, 8.0, 801)[:, None]
    size = np.radians(10.0) * np.array([1.0, 0.0, 1.0, 0.0, 1.0, 0.0])
    found = vb.allocate_tensions(
        vb.load(ROBOT), size * np.sin(phase), rate * size * np.cos(phase), -(rate**2) * size * np.sin(phase),
        method="per_link",
    )  # fmt: skip
    assert window.text("motion-most-tension").startswith(f"{found.tensions.max():.4g} N, cable 4")
    stand_at(window, 2.0)
    window.wait("motion-tension-4", number(float(found.base_tensions[200, 3]), 3, "N"))


def test_a_trajectory_file_of_the_folder(page: tuple[StudioProcess, Window, Any]) -> None:
    _, window, _ = page
    window.choose("Motion", "Trajectory file")
    window.until(lambda: "Choose a trajectory file" in window.text("motion-outdated"))
    window.choose("File", SWAY.name)
    window.until(lambda: window.text("motion-outdated") == "")
    robot = vb.load(ROBOT)
    motion = read_trajectory(SWAY, robot).motion
    found = vb.allocate_tensions(robot, motion.q, motion.qd, motion.qdd, method="per_link")
    window.until(lambda: window.text("motion-most-tension").startswith(f"{found.tensions.max():.4g} N"))
    window.open_folder("Save and share")
    name, content = window.save("Recording of this tab (MCAP)")
    assert name == f"{ROBOT}-planned.mcap"
    assert content.startswith(b"\x89MCAP0")


def test_a_long_run_is_stopped_and_the_page_goes_on(page: tuple[StudioProcess, Window, Any]) -> None:
    _, window, _ = page
    window.choose("Motion", "Simulate from the current shape")
    window.until(lambda: window.text("motion-status").startswith("✓ 1 s"))
    window.slide("Duration (s)", 60)
    window.slide("Step (ms), 0: chosen", 0.05)
    window.press("Run")
    window.until(lambda: window.text("status").startswith("Simulating"))
    window.press("Stop")
    window.wait("status", "Stopped.")
    window.slide("Duration (s)", 0.5)
    window.press("Run")
    window.until(lambda: window.text("motion-status").startswith("✓ 0.5 s"))


def test_robots_without_dynamics_say_so(page: tuple[StudioProcess, Window, Any]) -> None:
    _, window, _ = page
    window.choose("Robot", "cai2023")
    window.wait("motion-status", "? No motion without dynamics")
    assert "ball joint" in window.page.inner_text("body")
    window.choose("Robot", "hu2023-spatial")
    window.until(lambda: "no inertia" in window.page.inner_text("body"))
    window.tick("Links as solid cylinders")
    window.until(lambda: window.text("motion-status").startswith("✓ 3 s"))
    window.screenshot("motion-filled")
