"""Two windows are used at random, for half an hour in a soak: nothing fails, the server answers, its memory stays."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import psutil
from tests.studio.windows import PATIENCE, StudioProcess, Window, chromium, soak, studio

import vertebra as vb

SECONDS = 1800.0
"""Of the long run (`make soak`)."""
MOVES = 60
"""Of the short one."""
TITLES = ("Shape", "Payload", "Motion", "Sense", "Papers")
KEYS = ("ArrowRight", "ArrowLeft", "PageUp", "PageDown", "Home", "End")
LEFT_ALONE = ("Open a robot file or a saved state", "Picture of the view (PNG)", "State (JSON)", "Copy")
"""Buttons that open windows of the system."""
RESTING = "hu2023-prototype"
SLOWEST = 60.0
"""s that an answer may take on a busy machine."""


def test_two_windows_used_at_random(tmp_path: Path) -> None:
    seed = time.time_ns() if soak() else 8
    print("seed", seed)
    chance = random.Random(seed)
    with studio(tmp_path / "files", RESTING) as process, chromium() as browser:
        windows = [Window(browser, process.url, (1100, 700), draws=soak()) for _ in range(2)]
        if soak():
            use_for_long(windows, chance, process)
        else:
            for _ in range(MOVES):
                move(chance.choice(windows), chance)
            assert process.answers(SLOWEST)
        for window in windows:
            assert window.faults == []
        assert process.errors() == ""
        assert process.process.poll() is None


def use_for_long(windows: list[Window], chance: random.Random, process: StudioProcess) -> None:
    """The studio's memory does not grow."""
    visit_everything(windows[0])
    moves, held = 0, []
    for _ in range(4):
        end = time.monotonic() + 0.25 * SECONDS
        while time.monotonic() < end:
            move(chance.choice(windows), chance)
            moves += 1
            if moves % 20 == 0:
                assert process.answers(SLOWEST)
        held.append(memory_at_rest(windows[0], process))
    print(f"{moves} moves, {', '.join(f'{size / 1e6:.1f}' for size in held)} MB")
    assert held[-1] < 1.05 * held[0]


def memory_at_rest(window: Window, process: StudioProcess) -> int:
    """Bytes that the studio holds without its computing process, always with the same robot in the same tab, once what
    ran in other tabs has ended: the least of what is read until it falls no more."""
    window.page.set_default_timeout(PATIENCE)
    window.page.keyboard.press("Escape")
    window.choose("Robot", RESTING)
    window.tab("Shape")
    window.wait("status", "Ready.")
    resident = psutil.Process(process.process.pid).memory_info
    least, same = resident().rss, 0
    while same < 20:
        window.page.wait_for_timeout(50)
        now = resident().rss
        least, same = min(least, now), same + 1 if now >= least else 0
    return int(least)


def visit_everything(window: Window) -> None:
    """Every tab with every robot once, so that what is loaded on first use is loaded."""
    for name in vb.presets():
        window.choose("Robot", name)
        for title in TITLES:
            window.tab(title)
            window.drawn()


def move(window: Window, chance: random.Random) -> None:
    """Any one of the controls that are on the page now; a control that has just gone is no fault."""
    kind = chance.choices(("slider", "checkbox", "button", "tab", "robot", "dropdown"), (8, 2, 3, 2, 0.5, 2))[0]
    try:
        _MOVES[kind](window, chance)
    except Exception as error:
        if type(error).__name__ not in ("TimeoutError", "Error"):
            raise
    window.page.wait_for_timeout(chance.choice((10, 50, 200)))


def _pick(window: Window, chance: random.Random, selector: str) -> Any:
    found = window.page.locator(f"{selector} >> visible=true")
    count = found.count()
    return found.nth(chance.randrange(count)) if count else None


def _slide(window: Window, chance: random.Random) -> None:
    slider = _pick(window, chance, "[role=slider]")
    if slider is not None:
        slider.focus(timeout=2000)
        for _ in range(chance.randrange(1, 6)):
            window.page.keyboard.press(chance.choice(KEYS))


def _tick(window: Window, chance: random.Random) -> None:
    box = _pick(window, chance, "input[type=checkbox]")
    if box is not None:
        box.click(timeout=2000)


def _press(window: Window, chance: random.Random) -> None:
    button = _pick(window, chance, ".mantine-Button-root:not([role=tab])")
    if button is not None and button.inner_text(timeout=2000).strip() not in LEFT_ALONE:
        button.click(timeout=2000)


def _tab(window: Window, chance: random.Random) -> None:
    window.page.get_by_role("tab", name=chance.choice(TITLES), exact=True).click(timeout=2000)


def _robot(window: Window, chance: random.Random) -> None:
    window.page.set_default_timeout(3000)
    window.choose("Robot", chance.choice(vb.presets()))


def _choose(window: Window, chance: random.Random) -> None:
    box = _pick(window, chance, "input[aria-haspopup=listbox]")
    if box is not None:
        box.click(timeout=2000)
        option = _pick(window, chance, "[role=option]")
        if option is not None:
            option.click(timeout=2000)


_MOVES = {"slider": _slide, "checkbox": _tick, "button": _press, "tab": _tab, "robot": _robot, "dropdown": _choose}
