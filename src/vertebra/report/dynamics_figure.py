"""Plots of a motion and its tensions against time: angles, joint moments, tensions, what is left over, contacts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from vertebra.report.dynamics_case import DynamicsCase
from vertebra.report.dynamics_facts import ROUND_OFF
from vertebra.report.panels import Panel, Series, draw_panels
from vertebra.report.scene import cable_style
from vertebra.report.simulation_figure import joint_panel, tension_panel
from vertebra.robot.tables import Floats

LIMIT_COLOUR = "#333333"
MOST_USE = 2.0
"""Where links part the use of friction has no bound; the plot ends here."""


def dynamics_panels(case: DynamicsCase) -> Iterator[Panel]:
    """Four plots, two more for joints with contact points, and one more where tension changes along the cables."""
    found, time = case.allocation, case.time
    yield _angle_panel(case)
    yield joint_panel("Moments for the cables (tau + k q)", "moment [N*m]", time, case.needed)
    yield tension_panel(time, found.base_tensions)
    left = np.where(np.abs(found.residual) > ROUND_OFF, found.residual, 0.0)
    yield joint_panel("Moment left over", "moment [N*m]", time, left)
    there = case.with_contacts()
    if found.contacts is not None and there.any():
        yield _contact_panel(case, "Contact force, the smaller of both points", "force [N]",
                             found.contacts.normal.min(axis=-1), None)  # fmt: skip
        yield _contact_panel(case, "Use of friction, the larger of both points", "use [%]",
                             100.0 * np.minimum(found.contacts.use.max(axis=-1), MOST_USE), 100.0)  # fmt: skip
    if case.along is not None:
        yield along_moment(case)


def _angle_panel(case: DynamicsCase) -> Panel:
    """What is done and, where `project` has changed it, what was asked for."""
    panel = joint_panel("Angles", "angle [deg]", case.time, np.degrees(case.allocation.q))
    if case.moved is None:
        return panel
    wanted = joint_panel("", "", case.time, np.degrees(case.trajectory.q)).series
    dotted = tuple(replace(line, name="as asked", dash="dot") for line in wanted)
    return replace(panel, series=(*panel.series, *dotted))


def _contact_panel(case: DynamicsCase, title: str, axis: str, values: Floats, limit: float | None) -> Panel:
    """Joints with contact points only."""
    panel = joint_panel(title, axis, case.time, values)
    numbers = {f"joint {j + 1}" for j in np.flatnonzero(case.with_contacts())}
    series = tuple(line for line in panel.series if line.name in numbers)
    if limit is not None:
        ends = [float(case.time[0]), float(case.time[-1])]
        series += (Series("limit", ends, [limit, limit], LIMIT_COLOUR, "dash"),)
    return Panel(panel.title, panel.x, panel.y, series)


def along_moment(case: DynamicsCase) -> Panel:
    """Tension along each cable at the moment at which it differs most."""
    along = case.along
    assert along is not None
    ends = case.robot.cables["last_link"].tolist()
    spreads = np.array([np.ptp(along[:, k, : ends[k]], axis=1) for k in range(len(ends))])
    moment = int(spreads.max(axis=0).argmax())
    series = tuple(
        Series(f"cable {k + 1}", np.arange(1.0, end + 1.0), along[moment, k, :end], *cable_style(k), "circle", size=5)
        for k, end in enumerate(ends)
    )
    return Panel(f"Along the cables at {case.time[moment]:.4g} s", "joint", "tension [N]", series)


def dynamics_figure_static(case: DynamicsCase, path: str | Path, title: str) -> Path:
    """Write a still picture of the plots, .png or .svg; same input, same bytes."""
    return draw_panels(list(dynamics_panels(case)), path, title)
