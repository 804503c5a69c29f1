"""A walk through the Motion tab in a real browser: the page says what the library says."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
from tests.studio.windows import StudioProcess, Window, chromium, studio

import vertebra as vb
from vertebra.report.document import fixed

SWAY = Path(__file__).parents[3] / "examples" / "sway.csv"
ROBOT = "dantuono2023"


def test_a_walk_through_the_tab(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    shutil.copy(SWAY, folder)
    with studio(folder, ROBOT, "--shared") as process, chromium() as browser:
        window = Window(browser, process.url)
        window.until(lambda: window.text("shape-tip-x") != "")
        simulated(window)
        in_step(process, window, browser)
        planned(window)
        stopped(window)
        window.choose("Robot", "cai2023")
        window.wait("motion-status", "? No motion without dynamics")
        assert "ball joint" in window.page.inner_text("body")
        assert window.faults == []
        assert process.errors() == ""


def simulated(window: Window) -> None:
    """What the page says at one instant is what `vb.simulate` says."""
    robot = vb.load(ROBOT)
    held = [window.slider_value(f"Cable {k} (N)") for k in range(1, 5)]
    window.tab("Motion")
    window.until(lambda: window.text("motion-status") == "✓ 3 s simulated, energy accounted for")
    window.choose("Cable", "2")
    window.slide("Amplitude (N)", 30)
    window.slide("Duration (s)", 1)
    window.until(lambda: "press Run" in window.text("motion-outdated"))
    window.press("Run")
    window.until(lambda: window.text("motion-status").startswith("✓ 1 s") and not window.text("motion-outdated"))
    window.press("Pause")
    window.page.get_by_role("button", name="Play", exact=True).wait_for()
    window.slide("Time (s)", 0.5)
    window.wait("motion-time", fixed(0.5, 3, "s"))
    pulled = [held[0], held[1] + 30.0, held[2], held[3]]
    start = vb.shape_from_tensions(robot, held)
    run = vb.simulate(robot, pulled, duration=1.0, dt=1e-3, q0=start.angles, damping=0.02)
    row = int(np.argmin(np.abs(run.time.to_numpy() - 0.5)))
    for i, axis in enumerate("xyz"):
        window.wait(f"motion-tip-{axis}", fixed(1e3 * float(run.tip[row, i]), 2, "mm"))
    for k in range(4):
        window.wait(f"motion-tension-{k + 1}", fixed(pulled[k], 3, "N"))
    window.picture("motion")


def in_step(process: StudioProcess, window: Window, browser: Any) -> None:
    """It plays and pauses in all windows."""
    other = Window(browser, process.url, (1100, 600))
    window.press("Play")
    seen = set[str]()
    other.until(lambda: seen.add(other.text("motion-time")) or len(seen) > 4)
    other.press("Pause")
    window.page.get_by_role("button", name="Play", exact=True).wait_for()
    window.until(lambda: window.text("motion-time") == other.text("motion-time"))
    other.close()


def planned(window: Window) -> None:
    window.choose("Motion", "Trajectory: sway")
    window.wait("motion-status", "✗ Not feasible at any instant")
    assert "Worst: joint " in window.page.inner_text("body")
    window.choose("Method", "per link: one per cable and joint")
    window.wait("motion-status", "✓ Feasible at every instant")
    window.choose("Motion", "Trajectory file")
    window.until(lambda: "Choose a trajectory file" in window.text("motion-outdated"))
    window.choose("File", SWAY.name)
    window.until(lambda: window.text("motion-outdated") == "")
    window.open_folder("Save and share")
    name, content = window.save("Recording of this tab (MCAP)")
    assert name == f"{ROBOT}-planned.mcap"
    assert content.startswith(b"\x89MCAP0")


def stopped(window: Window) -> None:
    """A long run is stopped, and the page goes on."""
    window.choose("Motion", "Simulate from the current shape")
    window.until(lambda: window.text("motion-status").startswith("✓ 1 s"))
    window.slide("Duration (s)", 60)
    window.slide("Time step (ms), 0: automatic", 0.05)
    window.press("Run")
    window.until(lambda: window.text("status").startswith("Simulating"))
    window.press("Stop")
    window.wait("status", "Stopped.")
    window.slide("Duration (s)", 0.5)
    window.slide("Time step (ms), 0: automatic", 0)
    window.press("Run")
    window.until(lambda: window.text("motion-status").startswith("✓ 0.5 s"))
