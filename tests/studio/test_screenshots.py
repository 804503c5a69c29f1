"""A picture of every tab in full, kept with the artefacts: light and dark, and on a tablet."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.studio.windows import Window, chromium, studio

SHAPE = {"tensions": [4, 3, 2.5, 6], "loads": [{"link": 11, "force": [0.1, 0, 0]}]}
STATES: dict[str, dict[str, Any]] = {
    "shape": {"robot": {"name": "hu2023-prototype"}, "mode": "shape", "tabs": {"shape": SHAPE}},
    "payload": {"robot": {"name": "cai2023"}, "mode": "payload"},
    "motion": {"robot": {"name": "dantuono2023"}, "mode": "motion"},
    "sense": {"robot": {"name": "lapusan2022"}, "mode": "sense"},
    "papers": {"robot": {"name": "hu2023-prototype"}, "mode": "papers"},
}
DESK, TABLET = (1280, 800), (820, 1180)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with studio(tmp_path_factory.mktemp("pictures") / "files") as process:
        yield process.url
        assert process.errors() == ""


def test_every_tab_is_drawn_in_full(address: str, tmp_path: Path) -> None:
    with chromium() as browser:
        window = Window(browser, address, DESK, coarse=False)
        for name in STATES:
            check(window, name, DESK, show(window, name, False, tmp_path), dark=False)
        check(window, "shape", DESK, show(window, "shape", True, tmp_path), dark=True)
        tablet = Window(browser, address, TABLET, coarse=False)
        tablet.page.wait_for_selector("text=Results")
        check(tablet, "shape-tablet", TABLET, tablet.screenshot("shape-tablet-full-dark"), dark=True)
        assert tablet.page.locator('[data-dock-region-collapse="right"]').count() == 0  # folded away


def show(window: Window, name: str, dark: bool, folder: Path) -> Path:
    """Bring a state to the page as a person does, and take its picture."""
    file = folder / f"{name}.json"
    file.write_text(json.dumps({"vertebra_studio": 1, **STATES[name], "view": {"dark": dark}}))
    window.upload(file)
    window.page.wait_for_selector(f'.vb-mode[data-mode="{name.capitalize()}"]', state="attached")
    window.until(lambda: window.chosen("Robot") == STATES[name]["robot"]["name"])
    window.page.wait_for_timeout(2500)
    return window.screenshot(f"{name}-full{'-dark' if dark else ''}")


def check(window: Window, name: str, size: tuple[int, int], file: Path, dark: bool) -> None:
    assert window.faults == []
    middle = scene_of(file, size)
    assert middle.std() > 3, f"{name}: the scene is empty"
    assert (middle.mean() < 128) == dark


def scene_of(file: Path, size: tuple[int, int]) -> np.ndarray:
    """Grey values of the middle of the page, where the robot is."""
    from PIL import Image

    grey = np.asarray(Image.open(io.BytesIO(file.read_bytes())).convert("L"), dtype=float)
    width, height = size
    return grey[height // 6 : height * 3 // 4, 2 * width // 5 : 3 * width // 5]
