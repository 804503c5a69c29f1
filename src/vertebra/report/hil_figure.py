"""Plots of a run in the loop against time: errors of every method, joints, latency, health of the sensors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from vertebra.report.hil_facts import freedom_names, hil_title
from vertebra.report.panels import Panel, Series, draw_panels
from vertebra.report.scene import cable_style
from vertebra.report.simulation_figure import MOST_LINES, TIME_AXIS, curve
from vertebra.report.thinning import spread
from vertebra.robot.tables import Floats
from vertebra.sensing.hil.run import HilRun
from vertebra.sensing.hil.score import Score
from vertebra.sensing.sensed_shape import Integers, SensorState

MM, MS = 1e3, 1e3
METHOD_STYLES = {"chain": ("#0072B2", "solid"), "pairwise": ("#E69F00", "solid"), "paper": ("#D55E00", "dot")}
STATE_COLOURS = {
    SensorState.DISTURBED: "#E69F00",
    SensorState.OUTLIER: "#CC79A7",
    SensorState.STALE: "#56B4E9",
    SensorState.FAULT: "#D55E00",
    SensorState.SILENT: "#444444",
}
BAR = 9.0
"""Width of a bar of the health plot, px."""


def tip_error_panel(run: HilRun) -> Panel:
    """Distance of the tip, every method on the same frames."""
    series = (
        curve(method, score.times, score.tip_errors * MM, *METHOD_STYLES[method])
        for method, score in _worst_first(run)
    )  # fmt: skip
    return Panel("Tip: distance from the truth", TIME_AXIS, "error [mm]", tuple(series))


def turn_error_panel(run: HilRun) -> Panel:
    """Orientation of the last link, every method."""
    series = (
        curve(method, score.times, np.degrees(score.platform_turns[:, -1]), *METHOD_STYLES[method])
        for method, score in _worst_first(run)
    )
    return Panel("Last link: angle from the truth", TIME_AXIS, "error [deg]", tuple(series))


def joint_error_panel(run: HilRun) -> Panel:
    """Errors of the relative angles, of the live method; of very many joints, some."""
    score = run.scores[run.setup.method]
    names, errors = freedom_names(run.setup.robot), np.degrees(score.angle_errors)
    shown = spread(len(names), MOST_LINES)
    series = (
        curve(f"joint {names[j]}", score.times, errors[:, j], *cable_style(i)) for i, j in enumerate(shown.tolist())
    )
    some = "" if len(shown) == len(names) else f", {len(shown)} of {len(names)} angles"
    return Panel(f"Joint angles, {run.setup.method}{some}", TIME_AXIS, "error [deg]", tuple(series))


def latency_panel(run: HilRun) -> Panel:
    """From the last frame of a cycle to its shape."""
    line = curve(run.setup.method, run.live.times, run.live.latencies * MS, *METHOD_STYLES[run.setup.method])
    return Panel("Frame to shape", TIME_AXIS, "latency [ms]", (line,))


def health_panel(run: HilRun) -> Panel:
    """When which sensor was not ok, as the live estimator saw it."""
    times, states = run.live.times, run.live.states
    series = [bars for state, colour in STATE_COLOURS.items() if (bars := _bars(times, states, state, colour))]
    rows = tuple(f"sensor {sensor}" for sensor in run.counters.sensors.tolist())
    return Panel("Sensors that were not ok", TIME_AXIS, "", tuple(series), rows=rows)


def hil_figure_static(run: HilRun, path: str | Path) -> Path:
    """Write a still picture of the plots, .png or .svg."""
    panels = [tip_error_panel(run), turn_error_panel(run), joint_error_panel(run), latency_panel(run)]
    health = health_panel(run)
    return draw_panels([*panels, health] if health.series else panels, path, hil_title(run))


def _worst_first(run: HilRun) -> Iterator[tuple[str, Score]]:
    """So that the best is drawn on top."""
    yield from sorted(run.scores.items(), key=lambda item: -item[1].tip_mean)


def _bars(times: Floats, states: Integers, state: SensorState, colour: str) -> Series | None:
    """A bar for every stretch of time in which a sensor was in a state; gaps between them."""
    x: list[float] = []
    y: list[float] = []
    for row in range(states.shape[1]):
        inside = np.concatenate([[False], states[:, row] == state, [False]])
        edges = np.flatnonzero(np.diff(inside.astype(np.int64)))
        for first, after in edges.reshape(-1, 2).tolist():
            x += [float(times[first]), float(times[min(after, len(times) - 1)]), math.nan]
            y += [float(row), float(row), math.nan]
    return Series(state.name.lower(), x, y, colour, width=BAR) if x else None
