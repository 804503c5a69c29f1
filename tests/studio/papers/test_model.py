"""The model of the Papers tab: every case of every paper has the numbers of the paper's own comparison."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from tests.papers.once import compared

import vertebra as vb
from vertebra.errors import StudioError
from vertebra.papers import NAMES
from vertebra.papers.cai2023 import cases as cai
from vertebra.papers.case import NO_NUMBER, Choice, Outcome
from vertebra.papers.dantuono2023 import cases as dantuono
from vertebra.papers.hu2023 import cases as hu
from vertebra.papers.lapusan2022 import cases as lapusan
from vertebra.papers.lapusan2022 import model as lapusan_model
from vertebra.papers.lapusan2022.cases import BASES, METHODS
from vertebra.papers.lapusan2022.published import errors
from vertebra.papers.paper import Verdict, paper
from vertebra.papers.yang2023 import cases as yang
from vertebra.papers.yang2023.cases import EFFECTS, between_closures, effect, in_paper_axes
from vertebra.report.document import fixed
from vertebra.studio.papers.model import PapersSettings, checked, source_of
from vertebra.studio.papers.text import case_text, claims_text
from vertebra.studio.state import robot_of

SAME = Verdict.REPRODUCED


def ignore(share: float) -> None:
    """Progress."""


def values(outcome: Outcome, column: int) -> list[str]:
    return [line[column] for line in outcome.lines]


def options(name: str, axis: int) -> tuple[str, ...]:
    return paper(name).choices.axes()[axis].options


def test_only_known_papers_are_set() -> None:
    assert [PapersSettings(paper=name).paper for name in NAMES] == list(NAMES)
    with pytest.raises(ValueError, match="must be one of hu2023, yang2023"):
        PapersSettings(paper="hu2024")


@pytest.fixture(scope="module")
def hu_whole() -> Any:
    return compared("hu2023").results


@pytest.fixture(scope="module")
def yang_whole() -> Any:
    return compared("yang2023").results


@pytest.fixture(scope="module")
def cai_whole() -> Any:
    return compared("cai2023").results


@pytest.fixture(scope="module")
def dantuono_whole() -> Any:
    return compared("dantuono2023").results


# Hu et al. 2023 -------------------------------------------------------------------------------------------------------


def test_every_cell_of_hu_equals_the_comparison(hu_whole: Any) -> None:
    seen = 0
    for case in hu.cases():
        found = hu.outcome((case.name,), ignore)
        cells = [cell for cell in hu_whole.cells if cell.key == case.key]
        assert values(found, 1) == [fixed(cell.published) for cell in cells]
        assert values(found, 2) == [fixed(cell.ours, 3) for cell in cells]
        assert values(found, 3) == [f"{cell.difference:+.4f}" for cell in cells]
        assert values(found, 4) == [SAME if cell.equal else Verdict.NOT_REPRODUCED for cell in cells]
        assert np.array_equal(found.frames[0], hu_whole.solved[case.key].shape.frames)
        seen += len(cells)
    assert seen == len(hu_whole.cells) == 216


def test_every_tip_of_table_4_equals_the_comparison(hu_whole: Any) -> None:
    for case in hu.tip_cases():
        _, tip, mount = case.key
        wanted = [one for one in hu_whole.tips if str(one.tip) == tip and mount in ("none", one.mount)]
        assert list(hu.tip_checks_of(case)) == wanted
        found = hu.outcome((case.name,), ignore)
        ranges = [line for line in found.lines if line.what.startswith("tips apart")]
        assert [(line.published, line.ours) for line in ranges] == [
            (f"{fixed(one.least)}-{fixed(one.most)}", fixed(one.apart)) for one in wanted
        ]
        assert [line.verdict is SAME for line in ranges] == [one.possible for one in wanted]


def test_the_shape_tab_gives_every_cell_of_hu(hu_whole: Any) -> None:
    """What is opened there is the robot, the tensions and the mount of the cell: the very same numbers come out."""
    from vertebra.studio.shape.model import solve
    from vertebra.studio.shape.settings import ShapeSettings

    for case in (*hu.cases(), *hu.tip_cases()):
        opens = hu.opens((case.name,))
        assert opens.mode == "shape"
        assert opens.note == ""
        robot = robot_of(source_of("hu2023", (case.name,)))
        shape = solve(robot, ShapeSettings.model_validate(opens.settings)).shape
        assert np.array_equal(shape.frames, hu_whole.solved[case.key].shape.frames), case.name


# Yang et al. 2023 -----------------------------------------------------------------------------------------------------


def test_every_tip_of_yang_equals_the_comparison(yang_whole: Any) -> None:
    for name, case in yang._cases().items():
        for label, condition in yang._conditions().items():
            for words, closure in yang.CLOSURE_NAMES.items():
                found = yang.outcome((name, label, words), ignore)
                shape = yang_whole.solved[case.number, condition, closure]
                assert np.array_equal(found.frames[0], shape.frames)
                ours = [*in_paper_axes(shape.tip).tolist()]
                for effect_name, pair in EFFECTS.items():
                    if effect_name != "payload" or case.payload_kg:
                        ours.append(effect(yang_whole.solved, [case], pair, closure)[case.number])
                ours.append(between_closures(yang_whole.solved, [case], condition)[case.number])
                assert values(found, 2)[:-1] == [fixed(value, 3) for value in ours]
                assert set(values(found, 4)) == {Verdict.NOT_PRINTED}
                assert values(found, 1)[:-1] == [NO_NUMBER] * len(ours)


def test_the_shape_tab_gives_the_shapes_of_yang_by_virtual_work(yang_whole: Any) -> None:
    from vertebra.studio.shape.model import solve
    from vertebra.studio.shape.settings import ShapeSettings

    for name, case in yang._cases().items():
        for label, condition in yang._conditions().items():
            choice = name, label, "virtual work"
            opens = yang.opens(choice)
            robot = robot_of(source_of("yang2023", choice))
            shape = solve(robot, ShapeSettings.model_validate(opens.settings)).shape
            wanted = yang_whole.solved[case.number, condition, "virtual-work"]
            assert np.array_equal(shape.frames, wanted.frames), choice
    assert "virtual work" in yang.opens((name, label, "the paper's moments")).note


# Cai et al. 2023 ------------------------------------------------------------------------------------------------------


def test_every_payload_of_cai_equals_the_comparison(cai_whole: Any) -> None:
    for curve in cai_whole.curves:
        for level, payload in zip(options("cai2023", 1), curve.payloads, strict=True):
            found = cai.outcome((curve.case.name, level), ignore)
            lines = {line.what: line for line in found.lines}
            top = lines["payload at 35 N (N)"]
            assert (top.published, top.ours) == (curve.printed.implied.text, fixed(curve.largest.force, 3))
            assert (top.verdict is SAME) == curve.inside
            assert lines[f"payload at {level} (N)"].ours == fixed(payload.force, 3)
            assert lines["gives way first"].ours == f"joint {payload.joint}, {payload.mode}"
            assert found.curves is not None
            assert np.array_equal(found.curves.lines[0][1], curve.forces)
            assert found.load is not None
            assert float(np.linalg.norm(found.load[1])) == pytest.approx(payload.force, rel=1e-12)


def test_gains_of_cai_are_the_claims(cai_whole: Any) -> None:
    quoted = {claim.what.split(":")[0]: claim for claim in compared("cai2023").claims if "largest gain" in claim.what}
    for curve in cai_whole.curves:
        found = cai.outcome((curve.case.name, "35 N"), ignore)
        gain = [line for line in found.lines if "gained" in line.what]
        claim = quoted.get(curve.case.shape)
        assert [(line.published, line.ours) for line in gain] == (
            [] if claim is None else [(claim.details["says"], fixed(claim.details["ours"], 3))]
        )


def test_the_payload_tab_gives_every_payload_of_cai(cai_whole: Any) -> None:
    for curve in cai_whole.curves:
        for level, payload in zip(options("cai2023", 1), curve.payloads, strict=True):
            opens = cai.opens((curve.case.name, level))
            assert opens.mode == "payload"
            assert _payload(opens.settings) == pytest.approx(payload.force, rel=1e-9)


def _payload(settings: dict[str, Any]) -> float:
    from vertebra.studio.payload.settings import PayloadSettings

    chosen, robot = PayloadSettings.model_validate(settings), vb.load("cai2023")
    bend, azimuth = np.radians(chosen.bend_deg or 0.0), np.radians(chosen.azimuth_deg)
    shape = {
        "straight": lambda: vb.BallShape.straight(robot),
        "S": lambda: vb.BallShape.s_curve(robot, bend, azimuth),
        "spiral": lambda: vb.BallShape.spiral(robot, bend, *np.radians([chosen.from_deg, chosen.to_deg])),
    }[chosen.form]()
    assert chosen.toward == "-y"
    return vb.payload(robot, shape.bends, shape.azimuths, chosen.tensions, (0, -1, 0)).force


# D'Antuono et al. 2023 ------------------------------------------------------------------------------------------------


def test_every_motion_of_dantuono_equals_the_comparison(dantuono_whole: Any) -> None:
    methods = {method: words for words, method in dantuono.METHOD_NAMES.items()}
    for run in dantuono_whole.runs:
        found = dantuono.outcome((run.case.name, methods[run.method], run.reading.name), ignore)
        assert values(found, 2)[:4] == [fixed(float(peak), 2) for peak in run.peaks]
        assert found.curves is not None
        assert np.array_equal(np.column_stack([line for _, line in found.curves.lines]), run.base)
        assert found.times[-1] == run.motion.time[-1]
        assert len(found.times) == len(found.frames) <= dantuono.MOST_ROWS
        said = [line for line in found.lines if line.what.startswith("T2 rises")]
        if said and run.method == "per_link" and run.reading.name == "stated":
            claim = next(claim for claim in compared("dantuono2023").claims if claim.key == "(e)")
            assert [line.ours for line in said] == [fixed(claim.details["numbers"]["rise_percent"], 2)]


def test_the_motion_tab_has_the_motion_of_dantuono() -> None:
    from vertebra.papers.dantuono2023.cases import AMPLITUDE, DURATION

    for name in options("dantuono2023", 0):
        settings = dantuono.opens((name, "one tension per cable", "stated")).settings
        assert (settings["pattern"], settings["method"]) == (name, "shared")
        assert np.radians(settings["amplitude_deg"]) == pytest.approx(AMPLITUDE, rel=1e-15)
        assert settings["period"] == pytest.approx(DURATION, rel=1e-15)
    reversed_robot = robot_of(source_of("dantuono2023", ("pan", "one tension per cable", "weight reversed")))
    assert np.array_equal(reversed_robot.gravity, -vb.load("dantuono2023").gravity)


# Lapusan et al. 2022 --------------------------------------------------------------------------------------------------


def test_every_base_of_lapusan_equals_the_comparison() -> None:
    whole = {one.base.name: one for one in compared("lapusan2022").results.bases}
    assert [base.name for base in lapusan.PLACES.values()] == [base.name for base in BASES]
    for place, base in lapusan.PLACES.items():
        for method in METHODS:
            found = lapusan.outcome((place, method), ignore)
            error = whole[base.name].methods[method]
            wanted = (error.mean_mm, error.largest_mm, error.mean_deg, error.largest_deg)
            assert values(found, 2) == [lapusan._small(value) for value in wanted]
            assert found.lines[0].verdict is (Verdict.CONTRADICTS if method == "paper" else SAME)


@pytest.mark.parametrize("method", ["paper", "chain"])
def test_the_tests_of_lapusan_equal_the_comparison(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    """Of the runs of the comparison only those of this kind are worked out: all of them take some ten seconds."""
    monkeypatch.setattr(lapusan_model, "USED", dict.fromkeys(lapusan_model.USED, ("stated",)))
    monkeypatch.setattr(lapusan_model, "METHODS", {method: METHODS[method]})
    runs = list(lapusan_model.runs())
    for words, test in lapusan.TESTS.items():
        found = lapusan.outcome((words, method), ignore)
        mae = np.mean([run.mae for run in runs if run.test == test], axis=0)
        printed, decimals = errors(test).mae, [len(text.split(".")[1]) for text in values(found, 1)]
        assert [float(text) for text in values(found, 1)[:6]] == printed.tolist()
        assert values(found, 2)[:6] == [fixed(v, d + 1) for v, d in zip(mae.tolist(), decimals, strict=False)]
        moved = lapusan.ranges(test).tolist()
        assert values(found, 2)[6:] == [fixed(v, d + 1) for v, d in zip(moved, decimals[6:], strict=True)]
        first = next(run for run in runs if run.test == test)
        assert found.curves is not None
        assert np.array_equal(found.curves.lines[0][1], first.distances)


# All ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_case_passes_through_a_pipe_and_fits_its_robot(name: str) -> None:
    choice: Choice = checked(name, ())
    found = pickle.loads(pickle.dumps(paper(name).choices.outcome(choice, ignore)))
    robot = robot_of(source_of(name, choice))
    assert found.frames.shape[1:] == (len(robot.links), 4, 4)
    if found.tensions is not None:
        assert found.tensions.shape == (len(found.times), len(robot.cables), len(robot.joints))
    assert len(found.times) == len(found.frames)
    assert all(text for line in found.lines for text in line)
    assert (found.curves is not None) <= (paper(name).plot is not None)
    text = case_text(found)
    assert "vb-bad" not in text, "the reason for a difference is known"
    assert "\u2717" not in text


def test_every_robot_of_every_case_is_read() -> None:
    names = set()
    for name in NAMES:
        axes = paper(name).choices.axes()
        for axis in range(len(axes)):
            for option in axes[axis].options:
                choice = tuple(option if at == axis else one.default for at, one in enumerate(axes))
                source = source_of(name, choice)
                assert len(robot_of(source).links) > 1
                names.add(source.name)
    assert {"hu2023-planar", "hu2023-planar-ABS.json", "hu2023-spatial-titanium.json", "yang2023-b-III.json"} <= names


@pytest.mark.parametrize("name", NAMES)
def test_claims_have_a_case_that_bears_on_them(name: str) -> None:
    claims = compared(name).claims
    known = [paper(name).choices.words(choice) for choice in _choices(name)]
    alone = [claim.what for claim in claims if not any(claim.about <= words for words in known)]
    assert alone == (["C trajectory"] if name == "yang2023" else [])
    text = claims_text(claims)
    assert text.count("papers-claim-") == len(claims)
    assert "vb-bad" not in text
    assert all(verdict.value in text for verdict in compared(name).verdicts)


def _choices(name: str) -> list[Choice]:
    axes = paper(name).choices.axes()
    first: list[Choice] = [(option,) for option in axes[0].options]
    for axis in axes[1:]:
        first = [(*choice, option) for choice in first for option in axis.options]
    return first


def test_a_claim_about_one_table_is_not_about_another() -> None:
    words = hu.words(("Table 3, experiment 1, ground",))
    keys = [claim.what for claim in compared("hu2023").claims if claim.about <= words]
    assert keys == [
        "Table 3 ground: tip, gravity", "Table 3 ground: total bend, gravity", "Tables 3, 4: error removed",
    ]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_former_texts_of_options_become_present_ones(name: str) -> None:
    for place, axis in enumerate(paper(name).choices.axes()):
        for before, now in axis.formerly:
            assert before not in axis.options
            assert now in axis.options
            choice = list(checked(name, ()))
            choice[place] = before
            assert checked(name, choice)[place] == now


def test_wrong_choices_are_named() -> None:
    with pytest.raises(StudioError, match=r"Case of hu2023 has no 'Table 9'"):
        checked("hu2023", ["Table 9"])
    with pytest.raises(StudioError, match=r"must have 3 texts for yang2023, not 1"):
        checked("yang2023", ["1: A in-plane"])
