"""The answer about a motion and its tensions: what it shows, that it is right, that its page stays small."""

from __future__ import annotations

import math
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from tests.report.looking import Reader, page_of
from tests.robots import bending_mix, universals

import vertebra as vb
from vertebra.dynamics.allocation import Allocation, Contacts, Violation
from vertebra.dynamics.motion_samples import sampled_motion
from vertebra.report.dynamics import (
    DynamicsCase,
    cable_table,
    dynamics_failures,
    dynamics_panels,
    dynamics_report,
    dynamics_summary,
    dynamics_warnings,
    joint_table,
    violation_table,
)
from vertebra.report.panels import panel_still
from vertebra.report.still import SETTINGS

LARGEST_PAGE = 9_000_000
COUNT = 41


def made_up(name: str | vb.Robot = "dantuono2023", method: str = "shared", **more: object) -> DynamicsCase:
    """An answer whose every number is known; nothing of it is solved for."""
    robot = vb.load(name)
    n, cables = robot.freedoms, len(robot.cables)
    time = np.linspace(0.0, 2.0, COUNT)
    motion = sampled_motion(time, 0.2 * np.sin(np.pi * time[:, None] + 0.3 * np.arange(n)))
    tau = np.cos(np.pi * time[:, None]) * (1.0 + np.arange(n))
    base = 10.0 + np.arange(cables) + time[:, None]
    along = base[:, :, None] * (1.0 - 0.05 * np.arange(n))
    normal = np.full((COUNT, n, 2), 8.0)
    normal[7, 2, 1] = 1.25
    use = np.full((COUNT, n, 2), 0.5)
    use[9, 4, 0] = 0.9
    nothing = np.zeros_like(normal)
    contacts = Contacts(normal, nothing, nothing, use) if robot.joints["contact_offset"].any() else None
    by_joint = method in ("per_link", "capstan")
    found = Allocation(
        method, along if by_joint else base, base, np.zeros((COUNT, n)), np.ones(COUNT, dtype=bool), (), contacts,
        motion.q, motion.qd, motion.qdd, tau,
    )  # fmt: skip
    return DynamicsCase(robot, motion, found, robot.gravity, **more)  # type: ignore[arg-type]


def broken(case: DynamicsCase) -> DynamicsCase:
    """Joint 2 is out of balance three times, joint 1 lacks tension once."""
    violations = (
        Violation(3, 2, "moment", 0.1, "N*m"),
        Violation(4, 2, "moment", 0.3, "N*m"),
        Violation(5, 1, "max_tension", 7.0, "N"),
        Violation(5, 2, "moment", 0.2, "N*m"),
    )
    feasible = np.ones(COUNT, dtype=bool)
    feasible[3:6] = False
    residual = np.zeros_like(case.allocation.residual)
    residual[4, 1] = -0.3
    return replace(
        case, allocation=replace(case.allocation, violations=violations, feasible=feasible, residual=residual)
    )


@pytest.fixture(scope="module")
def case() -> DynamicsCase:
    return made_up(notes=(("bounds", "5 to 100 N per cable"),))


@pytest.fixture(scope="module")
def page(case: DynamicsCase) -> str:
    return page_of(dynamics_report(case), "a <motion>")


def test_page_is_small(page: str) -> None:
    assert len(page.encode()) < LARGEST_PAGE


def test_summary_shows_the_numbers(page: str, case: DynamicsCase) -> None:
    rows = dict(dynamics_summary(case).rows)
    assert rows["feasible"] == "yes, at every sample"
    assert rows["motion"].startswith("41 samples in 2 s, steps of 50 ms; speeds and accelerations of a spline")
    assert rows["largest torque"].startswith("6 N*m, joint 6 at 0 s")
    assert rows["left over"] == "nothing but round-off"
    assert rows["tensions"] == "10 to 15 N"
    assert rows["smallest contact force"] == "1.25 N, joint 3 at 0.35 s"
    assert rows["largest use of friction"] == "90 %, joint 5 at 0.45 s"
    assert rows["bounds"] == "5 to 100 N per cable"
    text = " ".join(Reader(page).shown)
    for value in rows.values():
        assert " ".join(value.split()) in text
    assert "What is not feasible" not in text


def test_tables(case: DynamicsCase) -> None:
    joints = joint_table(case)
    assert [row[4:6] for row in joints.rows][3] == ("-4", "4")
    q = np.degrees(case.allocation.q[:, 1])
    assert joints.rows[1][1] == f"{q[np.abs(q).argmax()]:.2f}"
    assert joints.rows[0][-1] == "0"
    assert "spring, damping [N*m]" not in joints.headers
    cables = cable_table(case)
    assert cables.rows[2] == ("3", "180", "12", "14", "13")


def test_springs_are_left_to_the_cables() -> None:
    """tau excludes the springs of flexures: cables need tau + k q."""
    case = made_up("yang2023-b")
    k = case.robot.joints["stiffness"]
    assert (k > 0.0).all()
    np.testing.assert_allclose(case.needed, case.allocation.tau + k * case.allocation.q)
    facts = joint_table(case)
    spring, need = facts.headers.index("spring, damping [N*m]"), facts.headers.index("cables need [N*m]")
    peak = case.needed[np.abs(case.needed[:, 4]).argmax(), 4]
    assert facts.rows[4][need] == f"{peak:.3g}"
    springs = k[4] * case.allocation.q[:, 4]
    assert facts.rows[4][spring] == f"{springs[np.abs(springs).argmax()]:.3g}"
    assert dict(dynamics_summary(case).rows)["contacts"].startswith("- (the robot file gives no contact_offset")
    assert [panel.title for panel in dynamics_panels(case)][-1] == "Torque left over", "no contacts, no plots of them"


def test_damping_is_left_to_the_cables_too() -> None:
    robot = bending_mix()
    rates = np.cos(np.arange(2.0 * robot.freedoms)).reshape(2, -1)
    case = made_up(robot)
    case = replace(case, allocation=replace(case.allocation, qd=np.resize(rates, case.allocation.q.shape)))
    wanted = robot.springs * case.allocation.q + robot.dampers * case.allocation.qd
    assert robot.dampers.any()
    np.testing.assert_allclose(case.passive, wanted)
    titles = [panel.title for panel in dynamics_panels(case)]
    assert any(title.startswith("Torques for the cables") and "k q" not in title for title in titles)


def test_the_worst_of_cables_is_told_by_their_number() -> None:
    case = made_up(universals("xy", 3))
    values = np.zeros((len(case.time), 6))
    values[3, 2] = 7.0
    assert case.worst(values, ["1", "2", "3", "4", "5", "6"]) == (7.0, case.time[3], 3, "")
    assert case.worst(values, case.robot.freedom_names) == (7.0, case.time[3], 2, "a")


def test_what_is_not_feasible_is_named(case: DynamicsCase) -> None:
    found = broken(case)
    assert violation_table(found).rows == (
        ("2", "moment", "3", "0.3 N*m", "0.2"),
        ("1", "max_tension", "1", "7 N", "0.25"),
    )
    assert dict(dynamics_summary(found).rows)["feasible"] == "NO, only at 38 of 41 samples (93 %)"
    assert dict(dynamics_summary(found).rows)["left over"] == "0.3 N*m, joint 2 at 0.2 s at most"
    (text,) = dynamics_failures(found)
    assert text == "not feasible at 3 of 41 samples; most often: step 4, joint 2: its torque is 0.3 N*m out of balance"
    shown = Reader(page_of(dynamics_report(found), "broken")).shown
    assert text in shown
    assert "max_tension" in shown


def test_contacts_that_break_are_warned_of(case: DynamicsCase) -> None:
    contacts = case.allocation.contacts
    assert contacts is not None
    slipping = contacts.use.copy()
    slipping[9, 4, 0] = 1.4
    slips = replace(case, allocation=replace(case.allocation, contacts=replace(contacts, use=slipping)))
    (text,) = dynamics_warnings(slips)
    assert text.startswith("joint 5 needs 140 % of its friction at 0.45 s: its links slip")
    apart, endless = contacts.normal.copy(), contacts.use.copy()
    apart[20, 1, 0], endless[20, 1, 0] = -3.0, math.inf
    parts = replace(case, allocation=replace(case.allocation, contacts=replace(contacts, normal=apart, use=endless)))
    (text,) = dynamics_warnings(parts)
    assert text.startswith("joint 2 would have to pull by 3 N at 1 s: its links part")
    rows = dict(dynamics_summary(parts).rows)
    assert rows["smallest contact force"] == "-3 N, joint 2 at 1 s: the links part"
    assert rows["largest use of friction"].startswith("beyond all bounds where links part, joint 2")
    use = list(dynamics_panels(parts))[5]
    assert np.max(use.series[1].y) == 200.0, "the plot ends there"
    assert "nan" not in " ".join(Reader(page_of(dynamics_report(parts), "apart")).shown).lower()


def test_tensions_that_change_along_cables() -> None:
    case = made_up(method="per_link")
    facts = cable_table(case)
    row = dict(zip(facts.headers, facts.rows[3], strict=True))
    assert (row["least [N]"], row["most [N]"]) == ("13", "15")
    assert row["across joints [N]"] == f"{13 * 0.75:g} to 15"
    assert row["largest step [N]"] == "0.75"
    last = list(dynamics_panels(case))[-1]
    assert last.title == "Along the cables at 2 s"
    np.testing.assert_allclose(last.series[3].y, 15.0 * (1.0 - 0.05 * np.arange(6)))
    assert "Along the cables" in Reader(page_of(dynamics_report(case), "along")).shown


def test_what_project_has_moved(case: DynamicsCase) -> None:
    found = replace(case.allocation, method="project")
    same = replace(case, allocation=found)
    assert dict(dynamics_summary(same).rows)["moved from what was asked"] == "nothing: it was feasible already"
    q = found.q.copy()
    q[10, 3] += math.radians(2.0)
    moved = replace(case, allocation=replace(found, q=q))
    assert dict(dynamics_summary(moved).rows)["moved from what was asked"] == "2 deg, joint 4 at 0.5 s at most"
    angles = next(iter(dynamics_panels(moved)))
    assert [line.name for line in angles.series] == [*(f"joint {j}" for j in range(1, 7)), *["as asked"] * 6]
    np.testing.assert_allclose(angles.series[9].y, np.degrees(case.trajectory.q[:, 3]))


def test_capstan_without_friction_is_noted() -> None:
    case = made_up(method="capstan", frictionless=True)
    assert list(dynamics_warnings(case)) == ["the cables have no friction: capstan is then the same as shared"]


def test_plots_show_the_answer(case: DynamicsCase) -> None:
    angles, torques, tensions, left, contact, use = dynamics_panels(case)
    np.testing.assert_allclose(angles.series[2].y, np.degrees(case.allocation.q[:, 2]))
    np.testing.assert_allclose(torques.series[2].y, case.allocation.tau[:, 2])
    np.testing.assert_allclose(tensions.series[1].y, case.allocation.base_tensions[:, 1])
    assert not np.any(left.series[0].y)
    assert np.min(contact.series[2].y) == 1.25
    assert np.max(use.series[4].y) == 90.0
    assert use.series[-1].name == "limit"
    for panel in (angles, torques, tensions, left, contact, use):
        assert panel.x == "time [s]"
        assert "[" in panel.y


def test_legends_of_the_picture_hide_no_curve(case: DynamicsCase) -> None:
    """Below the axes and inside the picture; a plot without curves has none."""
    panels = list(dynamics_panels(case))
    with mpl.rc_context(SETTINGS):
        figure = panel_still([*panels, replace(panels[0], series=())], "")
        figure.draw_without_rendering()
    drawn = [(axes, axes.get_legend()) for axes in figure.axes[: len(panels)]]
    for axes, legend in drawn:
        box = legend.get_window_extent()
        assert box.y1 < axes.xaxis.label.get_window_extent().y0 < axes.get_window_extent().y0
        assert 0.0 < box.x0 < box.x1 < figure.bbox.width
        assert box.y0 > 0.0
    assert [text.get_text() for text in drawn[0][1].get_texts()] == [f"joint {j}" for j in range(1, 7)]
    assert figure.axes[len(panels)].get_legend() is None


def test_a_single_sample_has_a_page(case: DynamicsCase) -> None:
    found = case.allocation
    names = ("tensions", "base_tensions", "residual", "feasible", "q", "qd", "qdd", "tau")
    arrays = {name: getattr(found, name)[:1] for name in names}
    assert found.contacts is not None
    contacts = Contacts(*(getattr(found.contacts, name)[:1] for name in ("normal", "tangential", "axial", "use")))
    motion = sampled_motion([0.0], found.q[:1])
    single = DynamicsCase(case.robot, motion, replace(found, contacts=contacts, **arrays), case.gravity)
    assert "1 sample in 0 s" in dict(dynamics_summary(single).rows)["motion"]
    assert "Play" in page_of(dynamics_report(single), "one")
