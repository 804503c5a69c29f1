"""The Papers tab in a running studio, without a window: cases bring their robots, and what is chosen survives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.papers.once import compared
from tests.studio.whole_studio import Acting

import vertebra as vb
from vertebra.errors import StudioError
from vertebra.papers import NAMES
from vertebra.papers.paper import paper
from vertebra.papers.summary import Summary
from vertebra.studio.papers import model as papers_model
from vertebra.studio.papers.model import PapersSettings, checked, source_of
from vertebra.studio.state import RobotSource, State, from_json, from_link, robot_of, to_json, to_link

pytest.importorskip("viser")
PATIENCE = 120.0
CHOICES = {
    "hu2023": ("Table 2, aluminium, ceiling",),
    "yang2023": ("40: B payload", "V: variable friction and payload", "the paper's moments"),
    "cai2023": ("vertical S, T1 5 N less", "20 N"),
    "dantuono2023": ("3d", "one tension per cable", "weight reversed"),
    "lapusan2022": ("perfect sensors, horizontal base", "pairwise"),
}
"""None of them what a paper starts with."""


class Running(Acting):
    """A studio, and its Papers tab."""

    def __init__(self, studio: Any) -> None:
        super().__init__(studio)
        self.tab = studio.tabs["papers"]

    def pick(self, name: str, choice: tuple[str, ...]) -> None:
        """Move the dropdowns as a window does, and wait for the case."""

        def act() -> None:
            self.tab.paper = name
            for box, option in zip(self.tab._boxes[name], choice, strict=True):
                box.value = option
            self.tab._case_chosen()

        assert self.do(act) is None
        # Asked on the studio's thread: between two of its acts, so that what is drawn is in the scene.
        self.until(lambda: self.do(lambda: self.tab._drawn is not None and self.tab._drawn is self.tab.outcome))

    @property
    def text(self) -> str:
        return str(self.tab._text.content)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    from vertebra.studio.serving.server import Access
    from vertebra.studio.studio import open_studio

    studio = open_studio("hu2023-prototype", Access(port=0), Path(tmp_path_factory.mktemp("files")))
    try:
        found = Running(studio)
        found.do(lambda: studio.choose_mode("papers"))
        yield found
    finally:
        studio.close()


@pytest.fixture(autouse=True)
def no_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    """Claims are judged by tests of their own; here they would only take time."""
    monkeypatch.setattr("vertebra.studio.papers.tab.SLOW", 0)


def test_it_starts_with_a_case_of_the_first_robot(running: Running) -> None:
    assert running.studio.source == RobotSource(name="hu2023-prototype") == running.tab.source
    assert "8 of 8 equal to the printed digit" in running.text


@pytest.mark.parametrize("name", NAMES)
def test_a_case_brings_its_robot_and_the_tab_stays(running: Running, name: str) -> None:
    running.pick(name, CHOICES[name])
    studio = running.studio
    assert studio.mode == "papers"
    assert studio.source == source_of(name, CHOICES[name])
    drawn = studio.stage._last
    assert np.array_equal(drawn.frames, paper(name).choices.outcome(CHOICES[name], lambda share: None).frames[0])
    assert running.tab.settings() == PapersSettings(paper=name, choice=CHOICES[name])
    assert [box.value for box in running.tab._boxes[name]] == list(CHOICES[name])  # controls were rebuilt
    assert [box.visible for boxes in running.tab._boxes.values() for box in boxes].count(True) == len(CHOICES[name])
    assert running.tab._playback.folder.visible == (name == "dantuono2023")


@pytest.mark.parametrize("name", NAMES)
def test_a_state_brings_a_case_back(running: Running, name: str) -> None:
    running.pick(name, CHOICES[name])
    state = running.do(running.studio.state)
    running.pick("hu2023", checked("hu2023", ()))
    for again in (from_json(to_json(state)), from_link(to_link(state))):
        assert again.tabs["papers"]["paper" if name != "hu2023" else "choice"]
        running.do(lambda: running.tab.restore(PapersSettings()))
        assert running.do(lambda again=again: running.studio.restore(again)) is None
        assert running.tab.settings() == PapersSettings(paper=name, choice=CHOICES[name])
        running.until(lambda: running.tab._drawn is not None)
        assert running.studio.source == source_of(name, CHOICES[name])


def test_states_and_links_with_the_former_text_of_an_option_still_open(running: Running) -> None:
    """As saved when dantuono2023 offered "one a cable"."""
    old = {"paper": "dantuono2023", "choice": ["3d", "one a cable", "weight reversed"]}
    state = State(robot=RobotSource(name="dantuono2023"), mode="papers", tabs={"papers": old})
    for again in (from_json(to_json(state)), from_link(to_link(state))):
        running.do(lambda: running.tab.restore(PapersSettings()))
        assert running.do(lambda again=again: running.studio.restore(again)) is None
        assert running.tab.settings() == PapersSettings(paper="dantuono2023", choice=CHOICES["dantuono2023"])


def test_another_robot_keeps_the_choice_until_a_case_is_picked(running: Running) -> None:
    running.pick("cai2023", CHOICES["cai2023"])
    for other in vb.presets():
        source = RobotSource(name=other)
        assert running.do(lambda source=source: running.studio.choose_robot(robot_of(source), source)) is None
        assert running.studio.source == source
        assert running.tab.settings() == PapersSettings(paper="cai2023", choice=CHOICES["cai2023"])
        assert ("not the robot of this case" in running.text) == (other != "cai2023")
        assert running.tab._take.visible == (other != "cai2023")
        assert len(running.studio.stage._last.frames) == len(running.studio.robot.links)
    running.do(running.tab._choose)
    assert running.studio.source == RobotSource(name="cai2023")
    assert not running.tab._take.visible


@pytest.mark.parametrize("name", NAMES)
def test_a_case_opens_in_its_tab(running: Running, name: str) -> None:
    running.pick(name, CHOICES[name])
    opens = paper(name).choices.opens(CHOICES[name])
    assert running.do(running.tab._opened) is None
    studio = running.studio
    assert studio.mode == opens.mode
    assert studio.source == source_of(name, CHOICES[name])
    settings = running.do(studio.tabs[opens.mode].settings)
    for field, value in opens.settings.items():
        if field in ("tensions", "form", "bend_deg", "pattern", "method", "period", "mount", "base", "loads", "toward"):
            assert getattr(settings, field) == (pytest.approx(value) if field == "period" else _plain(value)), field
    assert running.tab._drawn is None
    running.do(lambda: studio.choose_mode("papers"))


def _plain(value: Any) -> Any:
    from vertebra.studio.shape.settings import LoadSetting

    loads = isinstance(value, tuple | list) and value and isinstance(value[0], dict)
    if loads:
        return tuple(LoadSetting.model_validate(one) for one in value)
    return tuple(value) if isinstance(value, list) else value


def test_the_shape_tab_shows_the_cell(running: Running) -> None:
    running.pick("hu2023", CHOICES["hu2023"])
    cells = [float(line.ours) for line in running.tab.outcome.lines if line.what.startswith("tip")]
    running.do(running.tab._opened)
    shape = running.studio.tabs["shape"].shape
    assert [round(1e3 * value, 3) for value in shape.tip] == pytest.approx(cells, abs=1e-12)
    running.do(lambda: running.studio.choose_mode("papers"))


def test_a_wrong_state_changes_nothing(running: Running) -> None:
    running.pick("cai2023", CHOICES["cai2023"])
    before = running.do(running.studio.state)
    wrong = State(
        robot=before.robot, mode="papers", tabs={"papers": {"paper": "hu2023", "choice": ["Table 1, gold, ground"]}}
    )
    error = running.do(lambda: running.studio.restore(wrong))
    assert isinstance(error, StudioError)
    assert "no 'Table 1, gold, ground'" in str(error)
    assert running.do(running.studio.state) == before


def test_claims_are_judged_in_another_process(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vertebra.studio.papers.tab.SLOW", 100)
    running.pick("hu2023", ("Table 1, steel, ground",))
    running.until(lambda: "papers-claim-0" in str(running.tab._claims_text.content))
    text = str(running.tab._claims_text.content)
    for claim in compared("hu2023").claims:
        if claim.what in ("Table 1 ground: tip, gravity", "Table 1: angle, gravity"):
            assert str(claim.verdict) in text
            assert claim.says in text
    assert text.count("papers-claim-") == 2
    assert running.tab._work.running == ""


def test_the_check_of_all_papers(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one paper for all five, whose own tests check their comparisons."""
    whole, shares = compared("hu2023"), []

    def one(progress: Callable[[int, int], None]) -> tuple[Any, ...]:
        progress(1, 2)
        return (whole,)

    monkeypatch.setattr(papers_model, "comparisons", one)
    summaries, claims = papers_model.check_all(shares.append)
    assert summaries == (Summary.of(whole),)
    assert claims == {"hu2023": whole.claims}
    assert shares == [0.5 * papers_model.AFTER]
    running.do(lambda: running.tab._checked((summaries, claims)))
    text = str(running.tab._summary_text.content)
    assert "216 of 216" in text
    assert "vb-bad" not in text
    assert all(reason.split(":")[0] in text for _, reason in summaries[0].reasons)


def test_leaving_ends_the_work(running: Running) -> None:
    running.pick("hu2023", CHOICES["hu2023"])
    running.do(running.tab._check)
    assert running.studio.jobs.busy
    running.do(lambda: running.studio.choose_mode("shape"))
    assert not running.studio.jobs.busy
    assert running.tab._work.running == ""
    running.do(lambda: running.studio.choose_mode("papers"))
