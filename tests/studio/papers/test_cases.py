"""The computing part of the Papers tab: every case of every paper has the numbers of the paper's own comparison."""

from __future__ import annotations

import pickle
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import vertebra as vb
from vertebra.errors import StudioError
from vertebra.papers.cai2023 import comparison as cai
from vertebra.papers.dantuono2023 import comparison as dantuono
from vertebra.papers.digits import fixed
from vertebra.papers.hu2023 import cases as hu_cases
from vertebra.papers.hu2023 import comparison as hu
from vertebra.papers.lapusan2022 import runs as lapusan_runs
from vertebra.papers.lapusan2022.cases import BASES, METHODS
from vertebra.papers.lapusan2022.noise_free import noise_free
from vertebra.papers.lapusan2022.published import errors
from vertebra.papers.summary import QUESTIONS
from vertebra.papers.yang2023 import comparison as yang
from vertebra.papers.yang2023.cases import in_paper_axes
from vertebra.papers.yang2023.differences import EFFECTS, between_closures, effect
from vertebra.studio.papers import cai2023 as papers_cai2023
from vertebra.studio.papers import dantuono2023 as papers_dantuono2023
from vertebra.studio.papers import hu2023 as papers_hu2023
from vertebra.studio.papers import lapusan2022 as papers_lapusan2022
from vertebra.studio.papers import yang2023 as papers_yang2023
from vertebra.studio.papers.cases import (
    DIFFERS,
    EQUAL,
    INSIDE,
    NO_NUMBER,
    TITLES,
    UNPRINTED,
    Choice,
    Outcome,
    checked,
    paper,
    robot_of,
)
from vertebra.studio.papers.settings import PapersSettings


def ignore(share: float) -> None:
    """Progress."""


def values(outcome: Outcome, column: int) -> list[str]:
    return [line[column] for line in outcome.lines]


def options(name: str, axis: int) -> tuple[str, ...]:
    return paper(name).axes()[axis].options


@pytest.fixture(scope="module")
def hu_whole() -> hu.Comparison:
    return hu.compare()


@pytest.fixture(scope="module")
def yang_whole() -> yang.Comparison:
    return yang.compare()


@pytest.fixture(scope="module")
def cai_whole() -> cai.Comparison:
    return cai.compare()


@pytest.fixture(scope="module")
def dantuono_whole() -> dantuono.Comparison:
    return dantuono.compare()


def test_all_papers_are_offered() -> None:
    assert tuple(TITLES) == tuple(QUESTIONS)
    assert set(PapersSettings.model_fields["paper"].annotation.__args__) == set(TITLES)  # type: ignore[union-attr]


# Hu et al. 2023 -------------------------------------------------------------------------------------------------------


def test_every_cell_of_hu_is_the_comparison_s(hu_whole: hu.Comparison) -> None:
    seen = 0
    for case in hu_cases.cases():
        found = papers_hu2023.outcome((case.name,), ignore)
        cells = [cell for cell in hu_whole.cells if cell.key == case.key]
        assert values(found, 1) == [fixed(cell.published) for cell in cells]
        assert values(found, 2) == [fixed(cell.ours, 3) for cell in cells]
        assert values(found, 3) == [f"{cell.difference:+.4f}" for cell in cells]
        assert values(found, 4) == [EQUAL if cell.equal else DIFFERS for cell in cells]
        assert np.array_equal(found.frames[0], hu_whole.solved[case.key].shape.frames)
        seen += len(cells)
    assert seen == len(hu_whole.cells) == 216


def test_every_tip_of_table_4_is_the_comparison_s(hu_whole: hu.Comparison) -> None:
    for case in hu_cases.tip_cases():
        _, tip, mount = case.key
        wanted = [one for one in hu_whole.tips if str(one.tip) == tip and mount in ("none", one.mount)]
        assert list(papers_hu2023.tip_checks_of(case)) == wanted
        found = papers_hu2023.outcome((case.name,), ignore)
        ranges = [line for line in found.lines if line.what.startswith("tips apart")]
        assert [(line.published, line.ours) for line in ranges] == [
            (f"{fixed(one.least)}-{fixed(one.most)}", fixed(one.apart)) for one in wanted
        ]
        assert [line.verdict == INSIDE for line in ranges] == [one.possible for one in wanted]


def test_the_shape_tab_gives_every_cell_of_hu(hu_whole: hu.Comparison) -> None:
    """What is opened there is the robot, the tensions and the mount of the cell: the very same numbers come out."""
    from vertebra.studio.shape.model import solve
    from vertebra.studio.shape.settings import ShapeSettings

    for case in (*hu_cases.cases(), *hu_cases.tip_cases()):
        opens = papers_hu2023.opens((case.name,))
        assert opens.mode == "shape"
        assert opens.note == ""
        robot = robot_of(papers_hu2023.robot_source((case.name,)))
        shape = solve(robot, ShapeSettings.model_validate(opens.settings)).shape
        assert np.array_equal(shape.frames, hu_whole.solved[case.key].shape.frames), case.name


# Yang et al. 2023 -----------------------------------------------------------------------------------------------------


def test_every_tip_of_yang_is_the_comparison_s(yang_whole: yang.Comparison) -> None:
    for name, case in papers_yang2023._cases().items():
        for label, condition in papers_yang2023._conditions().items():
            for words, closure in papers_yang2023.CLOSURE_NAMES.items():
                found = papers_yang2023.outcome((name, label, words), ignore)
                shape = yang_whole.solved[case.number, condition, closure]
                assert np.array_equal(found.frames[0], shape.frames)
                ours = [*in_paper_axes(shape.tip).tolist()]
                for effect_name, pair in EFFECTS.items():
                    if effect_name != "payload" or case.payload_kg:
                        ours.append(effect(yang_whole.solved, [case], pair, closure)[case.number])
                ours.append(between_closures(yang_whole.solved, [case], condition)[case.number])
                assert values(found, 2)[:-1] == [fixed(value, 3) for value in ours]
                assert set(values(found, 4)) == {UNPRINTED}
                assert values(found, 1)[:-1] == [NO_NUMBER] * len(ours)


def test_the_shape_tab_gives_the_shapes_of_yang_by_virtual_work(yang_whole: yang.Comparison) -> None:
    from vertebra.studio.shape.model import solve
    from vertebra.studio.shape.settings import ShapeSettings

    for name, case in papers_yang2023._cases().items():
        for label, condition in papers_yang2023._conditions().items():
            choice = name, label, "virtual work"
            opens = papers_yang2023.opens(choice)
            robot = robot_of(papers_yang2023.robot_source(choice))
            shape = solve(robot, ShapeSettings.model_validate(opens.settings)).shape
            wanted = yang_whole.solved[case.number, condition, "virtual-work"]
            assert np.array_equal(shape.frames, wanted.frames), choice
    assert "virtual work" in papers_yang2023.opens((name, label, "the paper's moments")).note


# Cai et al. 2023 ------------------------------------------------------------------------------------------------------


def test_every_payload_of_cai_is_the_comparison_s(cai_whole: cai.Comparison) -> None:
    for curve in cai_whole.curves:
        for level, payload in zip(options("cai2023", 1), curve.payloads, strict=True):
            found = papers_cai2023.outcome((curve.case.name, level), ignore)
            lines = {line.what: line for line in found.lines}
            top = lines["payload at 35 N (N)"]
            assert (top.published, top.ours) == (curve.printed.implied.text, fixed(curve.largest.force, 3))
            assert (top.verdict == INSIDE) == curve.inside
            assert lines[f"payload at {level} (N)"].ours == fixed(payload.force, 3)
            assert lines["gives way first"].ours == f"joint {payload.joint}, {payload.mode}"
            assert found.curves is not None
            assert np.array_equal(found.curves.lines[0][1], curve.forces)
            assert found.load is not None
            assert float(np.linalg.norm(found.load[1])) == pytest.approx(payload.force, rel=1e-12)


def test_gains_of_cai_are_the_claims(cai_whole: cai.Comparison) -> None:
    quoted = {claim.what.split(":")[0]: claim for claim in cai_whole.claims if "largest gain" in claim.what}
    for curve in cai_whole.curves:
        found = papers_cai2023.outcome((curve.case.name, "35 N"), ignore)
        gain = [line for line in found.lines if "gained" in line.what]
        claim = quoted.get(curve.case.shape)
        assert [(line.published, line.ours) for line in gain] == (
            [] if claim is None or claim.ours is None else [(claim.says, fixed(claim.ours, 3))]
        )


def test_the_payload_tab_gives_every_payload_of_cai(cai_whole: cai.Comparison) -> None:
    for curve in cai_whole.curves:
        for level, payload in zip(options("cai2023", 1), curve.payloads, strict=True):
            opens = papers_cai2023.opens((curve.case.name, level))
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


def test_every_motion_of_dantuono_is_the_comparison_s(dantuono_whole: dantuono.Comparison) -> None:
    methods = {method: words for words, method in papers_dantuono2023.METHOD_NAMES.items()}
    for run in dantuono_whole.runs:
        found = papers_dantuono2023.outcome((run.case.name, methods[run.method], run.reading.name), ignore)
        assert values(found, 2)[:4] == [fixed(float(peak), 2) for peak in run.peaks]
        assert found.curves is not None
        assert np.array_equal(np.column_stack([line for _, line in found.curves.lines]), run.base)
        assert found.times[-1] == run.motion.time[-1]
        assert len(found.times) == len(found.frames) <= papers_dantuono2023.MOST_ROWS
        said = [line for line in found.lines if line.what.startswith("T2 rises")]
        if said and run.method == "per_link" and run.reading.name == "stated":
            claim = next(claim for claim in dantuono_whole.claims if claim.letter == "e")
            assert [line.ours for line in said] == [fixed(claim.numbers["rise_percent"], 2)]


def test_the_motion_tab_has_the_motion_of_dantuono() -> None:
    from vertebra.papers.dantuono2023.cases import AMPLITUDE, DURATION

    for name in options("dantuono2023", 0):
        settings = papers_dantuono2023.opens((name, "one a cable", "stated")).settings
        assert (settings["pattern"], settings["method"]) == (name, "shared")
        assert np.radians(settings["amplitude_deg"]) == pytest.approx(AMPLITUDE, rel=1e-15)
        assert settings["period"] == pytest.approx(DURATION, rel=1e-15)
    reversed_robot = robot_of(papers_dantuono2023.robot_source(("pan", "one a cable", "weight reversed")))
    assert np.array_equal(reversed_robot.gravity, -vb.load("dantuono2023").gravity)


# Lapusan et al. 2022 --------------------------------------------------------------------------------------------------


def test_every_base_of_lapusan_is_the_comparison_s() -> None:
    whole = {one.base.name: one for one in noise_free()}
    assert [base.name for base in papers_lapusan2022.PLACES.values()] == [base.name for base in BASES]
    for place, base in papers_lapusan2022.PLACES.items():
        for method in METHODS:
            found = papers_lapusan2022.outcome((place, method), ignore)
            error = whole[base.name].methods[method]
            wanted = (error.mean_mm, error.largest_mm, error.mean_deg, error.largest_deg)
            assert values(found, 2) == [papers_lapusan2022._small(value) for value in wanted]
            assert found.lines[0].verdict == ("differs" if method == "paper" else "holds")


@pytest.mark.parametrize("method", ["paper", "chain"])
def test_the_tests_of_lapusan_are_the_comparison_s(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    """Of the runs of the comparison only those of this kind are worked out: all of them take some ten seconds."""
    monkeypatch.setattr(lapusan_runs, "USED", dict.fromkeys(lapusan_runs.USED, ("stated",)))
    monkeypatch.setattr(lapusan_runs, "METHODS", {method: METHODS[method]})
    runs = list(lapusan_runs.runs())
    for words, test in papers_lapusan2022.TESTS.items():
        found = papers_lapusan2022.outcome((words, method), ignore)
        mae = np.mean([run.mae for run in runs if run.test == test], axis=0)
        printed, decimals = errors(test).mae, [len(text.split(".")[1]) for text in values(found, 1)]
        assert [float(text) for text in values(found, 1)[:6]] == printed.tolist()
        assert values(found, 2)[:6] == [fixed(v, d + 1) for v, d in zip(mae.tolist(), decimals, strict=False)]
        moved = lapusan_runs.ranges(test).tolist()
        assert values(found, 2)[6:] == [fixed(v, d + 1) for v, d in zip(moved, decimals[6:], strict=True)]
        first = next(run for run in runs if run.test == test)
        assert found.curves is not None
        assert np.array_equal(found.curves.lines[0][1], first.distances)


# All ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TITLES)
def test_a_case_passes_through_a_pipe_and_fits_its_robot(name: str) -> None:
    choice: Choice = checked(name, ())
    module = paper(name)
    found = pickle.loads(pickle.dumps(module.outcome(choice, ignore)))
    robot = robot_of(module.robot_source(choice))
    assert found.frames.shape[1:] == (len(robot.links), 4, 4)
    if found.tensions is not None:
        assert found.tensions.shape == (len(found.times), len(robot.cables), len(robot.joints))
    assert len(found.times) == len(found.frames)
    assert all(text for line in found.lines for text in line)
    assert module.UNSTATED


def test_every_robot_of_every_case_is_read() -> None:
    names = set()
    for name in TITLES:
        axes = paper(name).axes()
        for axis in range(len(axes)):
            for option in axes[axis].options:
                choice = tuple(option if at == axis else one.default for at, one in enumerate(axes))
                source = paper(name).robot_source(choice)
                assert len(robot_of(source).links) > 1
                names.add(source.name)
    assert {"hu2023-planar", "hu2023-planar-ABS.json", "hu2023-spatial-titanium.json", "yang2023-b-III.json"} <= names


def test_claims_have_a_case_that_bears_on_them(
    hu_whole: hu.Comparison, yang_whole: yang.Comparison, cai_whole: cai.Comparison, dantuono_whole: dantuono.Comparison
) -> None:
    wholes: dict[str, Any] = {
        "hu2023": hu_whole, "yang2023": yang_whole, "cai2023": cai_whole, "dantuono2023": dantuono_whole
    }  # fmt: skip
    for name, whole in wholes.items():
        lines = paper(name).claims(whole)
        assert [line.verdict for line in lines] == [claim.verdict for claim in whole.claims]
        known = [paper(name).words(choice) for choice in _choices(name)]
        alone = [line.key for line in lines if not any(line.about <= words for words in known)]
        assert alone == (["C trajectory"] if name == "yang2023" else [])


def _choices(name: str) -> list[Choice]:
    axes = paper(name).axes()
    first = [(option,) for option in axes[0].options]
    for axis in axes[1:]:
        first = [(*choice, option) for choice in first for option in axis.options]
    return first


def test_a_claim_about_one_table_is_not_another_s(hu_whole: hu.Comparison) -> None:
    words = papers_hu2023.words(("Table 3, experiment 1, ground",))
    keys = [line.key for line in papers_hu2023.claims(hu_whole) if line.about <= words]
    assert keys == [
        "Table 3 ground: tip, with gravity", "Table 3 ground: total bend, with gravity", "Tables 3, 4: error removed",
    ]  # fmt: skip


def test_wrong_choices_are_named() -> None:
    with pytest.raises(StudioError, match=r"Case of hu2023 has no 'Table 9'"):
        checked("hu2023", ["Table 9"])
    with pytest.raises(StudioError, match=r"must have 3 texts for yang2023, not 1"):
        checked("yang2023", ["1: A in-plane"])


@pytest.mark.parametrize("name", ["dantuono2023", "lapusan2022"])
def test_every_lettered_statement_becomes_a_line_with_its_words(name: str) -> None:
    module = paper(name)
    letters = sorted(module.ABOUT)  # type: ignore[attr-defined]
    stated = [
        SimpleNamespace(letter=letter, says="it is", section="3", found="yes", verdict="holds", why="")
        for letter in letters
    ]
    lines = module.claims(SimpleNamespace(claims=stated))
    assert [line.key for line in lines] == [f"({letter})" for letter in letters]
    assert all(line.about and line.says == "it is (section 3)" for line in lines)
