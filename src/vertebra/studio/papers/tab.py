"""Papers: load any published case, and see ours beside what is published."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from vertebra.errors import StudioError
from vertebra.mechanics.kinematics import Pose
from vertebra.papers.case import Choice, Curves, Mark, Outcome
from vertebra.papers.paper import Claim, paper, papers
from vertebra.papers.summary import Summary
from vertebra.report.scene import ARROW_SHARE
from vertebra.studio import palette
from vertebra.studio.papers import text as papers_text
from vertebra.studio.papers.model import (
    SLOW,
    PapersSettings,
    check_all,
    checked,
    judge_claims,
    solve_case,
    source_of,
)
from vertebra.studio.player import Playback
from vertebra.studio.readout import Plot, notes
from vertebra.studio.scene import Picture
from vertebra.studio.state import RobotSource, State, robot_of
from vertebra.studio.tab import Tab

if TYPE_CHECKING:
    import viser

    from vertebra.studio.scene import Stage
    from vertebra.studio.studio import Studio

LABELS = {one.name: f"{one.title}: {one.topic}" for one in papers()}
MOST_KEPT = 30
"""Outcomes kept in memory; those that move are half a megabyte each."""
MARK_COLOURS = {"published": palette.PUBLISHED, "measured": palette.TRACE, "weakest": palette.WEAKEST}
MARK_SIZE, BESIDE = 0.022, 0.07
"""Radius of a mark, and how far its label is from it, robot lengths."""
OTHER = "The scene shows {}, not the robot of this case: press \u201cShow this case\u201d to take it."
UNJUDGED = "Its claims rest on many simulations: \u201cCheck all papers\u201d judges them."
CHECKING, JUDGING, SOLVING = "Working out all papers", "Judging the paper's claims", "Working out the case"


class PapersTab(Tab[PapersSettings]):
    """Paper and case on the left; the published numbers, ours and the claims on the right.

    What is chosen outlives the controls, which are rebuilt whenever a case brings its robot.
    """

    name, title, settings_type = "papers", "Papers", PapersSettings

    def __init__(self, studio: Studio) -> None:
        super().__init__(studio)
        self.paper = next(iter(LABELS))
        self._choices: dict[str, Choice] = {name: checked(name, ()) for name in LABELS}
        self._outcomes: dict[tuple[str, Choice], Outcome] = {}
        self._claims: dict[str, tuple[Claim, ...]] = {}
        self._summaries: tuple[Summary, ...] | None = None
        self._work = Work(studio)
        self._drawn: Outcome | None = None
        """The case in the scene; None when another robot is there."""
        self._marks = Marks()
        self._playback = Playback(self, self._draw, lambda time: None)

    @property
    def choice(self) -> Choice:
        """One option per dropdown."""
        return self._choices[self.paper]

    @property
    def source(self) -> RobotSource:
        """The robot of the case."""
        return source_of(self.paper, self.choice)

    @property
    def outcome(self) -> Outcome | None:
        """What the case comes to; None while it is being worked out."""
        return self._outcomes.get((self.paper, self.choice))

    # Controls -------------------------------------------------------------------------------------------------------

    def controls(self) -> None:
        gui = self.gui
        labels = tuple(LABELS.values())
        self._paper_box = self.when(
            gui.add_dropdown("Paper", labels, initial_value=LABELS[self.paper]), self._paper_chosen
        )
        self._question = gui.add_html("")
        self._boxes: dict[str, list[Any]] = {
            name: [
                self.when(gui.add_dropdown(axis.label, axis.options, initial_value=option), self._case_chosen)
                for axis, option in zip(paper(name).choices.axes(), self._choices[name], strict=True)
            ]
            for name in LABELS
        }
        self._take = self.when(gui.add_button("Show this case", visible=False), self._choose)
        self._open = self.when(gui.add_button("Open in its tab"), self._opened)
        self._open_note = gui.add_html("")
        self._playback.controls()
        self._playback.folder.visible = False
        self.when(gui.add_button("Check all papers"), self._check)
        self._set_boxes()

    def results(self) -> None:
        gui = self.gui
        self._summary_text = gui.add_html("")
        self._text = gui.add_html("")
        self._plots = PaperPlots(gui)
        self._unstated = gui.add_html("")
        self._claims_text = gui.add_html("")
        self._show_summary(unfolded=False)

    def _set_boxes(self) -> None:
        """Controls as the choice has them."""
        self._paper_box.value = LABELS[self.paper]
        self._question.content = notes([paper(self.paper).question])
        for name, boxes in self._boxes.items():
            for box, option in zip(boxes, self._choices[name], strict=True):
                box.value, box.visible = option, name == self.paper
        opens = paper(self.paper).choices.opens(self.choice)
        self._open.label = f"Open in the {opens.mode.capitalize()} tab"
        self._open_note.content = notes([opens.note]) if opens.note else ""

    # Events ---------------------------------------------------------------------------------------------------------

    def _paper_chosen(self) -> None:
        self.paper = next(name for name, label in LABELS.items() if label == self._paper_box.value)
        self._choose()

    def _case_chosen(self) -> None:
        self._choices[self.paper] = tuple(str(box.value) for box in self._boxes[self.paper])
        self._choose()

    def _choose(self) -> None:
        """Take the robot of the case, unless it is there already."""
        self._set_boxes()
        source = self.source
        if source != self.studio.source:
            self.studio.choose_robot(robot_of(source), source)  # rebuilds these controls and shows the case
        else:
            self.shown()

    def _opened(self) -> None:
        opens = paper(self.paper).choices.opens(self.choice)
        if opens.mode not in self.studio.tabs:
            raise StudioError("tab", f"this studio has no tab {opens.mode}")
        view = self.studio.stage.settings()
        self.studio.restore(State(robot=self.source, mode=opens.mode, view=view, tabs={opens.mode: opens.settings}))

    def _check(self) -> None:
        self._work.start(CHECKING, check_all, done=self._checked)

    def _checked(self, found: Any) -> None:
        self._summaries, claims = found
        self._claims.update(claims)
        self._show_summary(unfolded=True)
        self._show_claims()

    # What is shown --------------------------------------------------------------------------------------------------

    def shown(self) -> None:
        self._playback.pause()
        known = self.outcome
        if known is None and paper(self.paper).instant:
            known = self._keep(self.paper, self.choice, solve_case(self.paper, self.choice, report=lambda share: None))
        if known is not None:
            self._present(known)
            return
        name, choice = self.paper, self.choice
        self._draw_straight()
        self._text.content = notes([f"{SOLVING} \u2026"])
        self._work.start(SOLVING, solve_case, name, choice, done=lambda found: self._solved(name, choice, found))

    def _solved(self, name: str, choice: Choice, found: Outcome) -> None:
        self._keep(name, choice, found)
        if (name, choice) == (self.paper, self.choice):
            self._present(found)

    def _keep(self, name: str, choice: Choice, found: Outcome) -> Outcome:
        while len(self._outcomes) >= MOST_KEPT:
            self._outcomes.pop(next(iter(self._outcomes)))
        self._outcomes[name, choice] = found
        return found

    def _present(self, found: Outcome) -> None:
        fits = self.source == self.studio.source
        moves, declared = fits and len(found.times) > 1, paper(self.paper)
        with self.studio.server.atomic():
            text = papers_text.case_text(found)
            self._text.content = text if fits else notes([OTHER.format(self.studio.source.name)]) + text
            self._unstated.content = papers_text.unstated_text(declared.unstated, declared.unstated_facts())
            self._take.visible = not fits
            self._playback.folder.visible = moves
            self._plots.show(self.paper, found.curves)
            if fits:
                self._drawn = found
                self._playback.load(found.times)
                self._draw(0)
                self._marks.show(self.studio.stage, found)
                self.studio.stage.look()
            else:
                self._draw_straight()
        self._show_claims()

    def _draw(self, row: int) -> None:
        found = self._drawn
        if found is None or row >= len(found.frames):
            return  # a frame that was still waiting when another case was chosen
        tensions = None if found.tensions is None else found.tensions[row]
        ghost = None if found.ghosts is None else found.ghosts[row]
        self.studio.stage.draw(Picture(found.frames[row], tensions, found.highest, found.gravity, ghost))

    def _draw_straight(self) -> None:
        robot = self.studio.robot
        self._clear()
        self.studio.stage.draw(Picture(Pose(robot, np.zeros(robot.freedoms)).frames, gravity=robot.gravity))

    def _show_claims(self) -> None:
        name, claims = self.paper, self._claims.get(self.paper)
        if claims is not None:
            words = paper(name).choices.words(self.choice)
            self._claims_text.content = papers_text.claims_text(claim for claim in claims if claim.about <= words)
        elif paper(name).cost >= SLOW:
            self._claims_text.content = notes([UNJUDGED])
        else:
            self._claims_text.content = notes([f"{JUDGING} \u2026"])
            if not self._work.running:
                self._work.start(JUDGING, judge_claims, name, done=lambda found: self._judged(name, found))

    def _judged(self, name: str, found: tuple[Claim, ...]) -> None:
        self._claims[name] = found
        self._show_claims()

    def _show_summary(self, unfolded: bool) -> None:
        if self._summaries is not None:
            self._summary_text.content = papers_text.summary_text(self._summaries, unfolded)

    def hidden(self) -> None:
        self._playback.pause()
        self._work.stop()
        self._clear()

    def _clear(self) -> None:
        self._drawn = None
        self._marks.clear()

    # State ----------------------------------------------------------------------------------------------------------

    def settings(self) -> PapersSettings:
        usual = self.choice == checked(self.paper, ())
        return PapersSettings.model_validate({"paper": self.paper, "choice": () if usual else self.choice})

    def restore(self, settings: PapersSettings) -> None:
        choice = checked(settings.paper, settings.choice)
        self.paper, self._choices[settings.paper] = settings.paper, choice
        self._set_boxes()


# What the tab adds to the scene, its plots, and its one long computation.


class Marks:
    """What one case adds to the scene."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []

    def show(self, stage: Stage, outcome: Outcome) -> None:
        """The nodes of this case, in place of the previous ones."""
        self.clear()
        for number, mark in enumerate(outcome.marks):
            self._show(stage, number, mark)
        if outcome.load is not None:
            place, force = outcome.load
            start, size = place * stage.scale, float(np.linalg.norm(force))
            end = start + ARROW_SHARE * force / size if size > 0 else start
            points = np.array([[start, end]], np.float32)
            self._nodes += [
                stage.scene.add_arrows(
                    "/papers/load", points, palette.FORCE, shaft_radius=0.008, head_radius=0.02, head_length=0.05
                ),
                stage.scene.add_label("/papers/load-label", f"{size:.3g} N", position=end),
            ]

    def clear(self) -> None:
        """Remove all of them."""
        while self._nodes:
            self._nodes.pop().remove()

    def _show(self, stage: Stage, number: int, mark: Mark) -> None:
        place = mark.point * stage.scale
        aside = np.array([0.0, 0.0, BESIDE if number % 2 == 0 else -BESIDE])  # two tips are often near each other
        hollow = mark.kind == "published"
        self._nodes += [
            stage.scene.add_icosphere(
                f"/papers/mark-{number}", radius=MARK_SIZE, subdivisions=1 if hollow else 2,
                color=MARK_COLOURS[mark.kind], wireframe=hollow, opacity=None if hollow else 0.8, position=place,
                cast_shadow=False,
            ),
            stage.scene.add_label(f"/papers/mark-label-{number}", mark.label, position=place + aside),
        ]  # fmt: skip


class PaperPlots:
    """One plot per paper whose cases have curves, of which at most one is on the page."""

    def __init__(self, gui: viser.GuiApi) -> None:
        self._plots = {one.name: Plot(gui, *one.plot) for one in papers() if one.plot is not None}

    def show(self, name: str, curves: Curves | None) -> None:
        """Draw the curves of a paper's case, if it has any."""
        for other, plot in self._plots.items():
            if other == name and curves is not None:
                plot.show(curves.x, curves.lines)
            else:
                plot.hide()


class Work:
    """Starts the studio's jobs and says on the page what is going on."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        self.running = ""
        """What is being computed, in words; empty when nothing is."""

    def start(self, text: str, function: Callable[..., Any], *arguments: Any, done: Callable[[Any], None]) -> None:
        """Compute function(*arguments, report=...) in place of any running job, and hand its value to `done`."""

        def finished(value: Any) -> None:
            self.running = ""
            self._studio.status.clear()
            done(value)

        def failed(error: Exception) -> None:
            self.running = ""
            self._studio.fail(error)

        self.running = text
        self._tell(0.0)
        self._studio.jobs.start(function, *arguments, done=finished, failed=failed, progress=self._tell)

    def stop(self) -> None:
        """End it; its answer is dropped."""
        if self.running:
            self.running = ""
            self._studio.jobs.cancel()
            self._studio.status.clear()

    def _tell(self, share: float) -> None:
        self._studio.status.working(share, f"{self.running} \u2026")
