"""The Papers tab in a real browser: cases of every paper are picked, and the page says what the library says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.studio.windows import StudioProcess, Window, chromium, studio

from vertebra.papers.cai2023.cases import CASES as CAI_CASES
from vertebra.papers.cai2023.cases import curve_of
from vertebra.papers.dantuono2023.cases import CASES as MOTIONS
from vertebra.papers.dantuono2023.cases import run
from vertebra.papers.hu2023.cases import cases as hu_cases
from vertebra.papers.hu2023.cases import compared_cells, solve
from vertebra.papers.lapusan2022.model import noise_free
from vertebra.papers.paper import Verdict, paper
from vertebra.papers.yang2023.cases import case_numbered, in_paper_axes
from vertebra.papers.yang2023.cases import solve as yang_solve
from vertebra.report.document import fixed
from vertebra.studio.papers.model import checked
from vertebra.studio.papers.tab import LABELS

Page = tuple[StudioProcess, Window, Any]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    folder = tmp_path_factory.mktemp("papers")
    with studio(folder / "files", "hu2023-prototype", "--shared") as process, chromium() as browser:
        window = Window(browser, process.url)
        window.tab("Papers")
        yield process, window, browser
        assert process.errors() == ""
        assert window.faults == []


def choose_paper(window: Window, name: str) -> None:
    """Until its first case is there: the controls are rebuilt for its robot."""
    window.choose("Paper", LABELS[name])
    window.wait("papers-title", paper(name).choices.outcome(checked(name, ()), lambda share: None).title)


def test_cells_of_hu_and_the_same_in_the_shape_tab(page: Page) -> None:
    _, window, _ = page
    for name in ("Table 3, experiment 2, ceiling", "Table 2, titanium, ground", "Table 1, no gravity"):
        window.choose("Case", name)
        case = next(case for case in hu_cases() if case.name == name)
        cells = list(compared_cells({case.key: (solved := solve(case))}))
        window.wait("papers-verdict", f"✓ {len(cells)} of {len(cells)} equal to the printed digit")
        for row, cell in enumerate(cells):
            window.wait(f"papers-cell-{row}-1", fixed(cell.published))
            window.wait(f"papers-cell-{row}-2", fixed(cell.ours, 3))
            window.wait(f"papers-cell-{row}-4", Verdict.REPRODUCED.short)
        assert window.text(f"papers-cell-{len(cells)}-1") == ""
    window.until(lambda: window.text("papers-claim-0") != "")
    window.press("Open in the Shape tab")
    for axis, value in zip("xyz", solved.shape.tip, strict=True):
        window.wait(f"shape-tip-{axis}", fixed(1e3 * float(value), 3, "mm"))
    window.tab("Papers")
    window.wait("papers-cell-0-2", fixed(cells[0].ours, 3))
    window.screenshot("papers-hu2023")


def test_a_tip_of_yang(page: Page) -> None:
    _, window, _ = page
    choose_paper(window, "yang2023")
    window.choose("Case", "20: B in-plane")
    window.until(lambda: window.text("papers-title").startswith("Case 20 "))
    window.choose("Condition", "III: constant friction 0.3")
    tip = in_paper_axes(yang_solve(case_numbered(20), "III").tip)
    for row, value in enumerate(tip):
        window.wait(f"papers-own-{row}", fixed(float(value), 3))
    assert window.text("papers-verdict") == "? Nothing printed to compare ours with"
    window.screenshot("papers-yang2023")


def test_payloads_of_cai(page: Page) -> None:
    _, window, _ = page
    choose_paper(window, "cai2023")
    window.choose("Case", "horizontal S, equal")
    window.until(lambda: window.text("papers-title").startswith("horizontal S"))
    window.choose("Tendons 2 and 3", "15 N")
    curve = curve_of(next(case for case in CAI_CASES if case.name == "horizontal S, equal"))
    window.wait("papers-own-0", fixed(curve.payloads[2].force, 3))
    assert window.text("papers-cell-0-1") == curve.printed.implied.text
    assert window.text("papers-cell-0-2") == fixed(curve.largest.force, 3)
    window.press("Open in the Payload tab")
    window.page.wait_for_selector('.vb-mode[data-mode="Payload"]', state="attached")
    assert window.chosen("Robot") == "cai2023"
    window.tab("Papers")
    window.wait("papers-own-0", fixed(curve.payloads[2].force, 3))
    window.screenshot("papers-cai2023")


def test_a_motion_of_dantuono_plays(page: Page) -> None:
    _, window, _ = page
    choose_paper(window, "dantuono2023")
    window.choose("Motion", "tilt")
    peaks = run(MOTIONS["tilt"], "per_link").peaks
    for row, peak in enumerate(peaks):
        window.wait(f"papers-own-{row}", fixed(float(peak), 2))
    window.press("Play")
    window.until(lambda: window.slider_value("Time (s)") > 1.0)
    window.press("Pause")
    window.screenshot("papers-dantuono2023")


def test_a_base_of_lapusan(page: Page) -> None:
    _, window, _ = page
    choose_paper(window, "lapusan2022")
    window.choose("Case", "perfect sensors, base tilted 30 deg")
    error = next(one for one in noise_free() if one.base.name == "tilted 30 deg").methods["paper"]
    window.wait("papers-cell-0-2", fixed(error.mean_mm, 3))
    window.wait("papers-cell-1-2", fixed(error.largest_mm, 3))
    window.screenshot("papers-lapusan2022")


def test_another_robot_and_back(page: Page) -> None:
    _, window, _ = page
    window.choose("Robot", "hu2023-planar")
    window.until(lambda: window.page.get_by_role("button", name="Show this case", exact=True).count() == 1)
    assert window.chosen("Case") == "perfect sensors, base tilted 30 deg"
    window.press("Show this case")
    window.until(lambda: window.chosen("Robot") == "lapusan2022")
    window.until(lambda: window.page.get_by_role("button", name="Show this case", exact=True).count() == 0)


def test_dark(page: Page) -> None:
    _, window, _ = page
    window.choose("Paper", LABELS["hu2023"])
    window.wait("papers-title", "Table 1, no gravity")  # as it was left
    window.open_folder("View")
    window.tick("Dark page")
    window.page.wait_for_selector('[data-mantine-color-scheme="dark"]')
    window.screenshot("papers-dark")
    window.tick("Dark page", False)
