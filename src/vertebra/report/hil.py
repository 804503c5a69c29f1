"""The answer about a run in the loop: how well the shape was sensed, how fast, what came over the bus; tables, plots,
page, record, CSV.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from vertebra.report.document import Facts, Figures, Report, Rows, Section, json_text, plain_value
from vertebra.report.panels import Panel, Series, spread
from vertebra.report.robot import robot_tables
from vertebra.report.scene import cable_style
from vertebra.report.sensed import counters_record
from vertebra.report.simulation import MOST_LINES, TIME_AXIS, curve, pace_text, time_figure
from vertebra.robot.robot import Robot
from vertebra.robot.table_file import TIME, TIP, angle_columns, column_names
from vertebra.robot.tables import Floats
from vertebra.sensing.hil.run import PERCENTILES, HilRun
from vertebra.sensing.hil.score import Score, platforms
from vertebra.sensing.sensed_shape import Integers, SensorState

MM, MS = 1e3, 1e3
MANY_OVERRUNS = 0.05
"""Of all ticks: above it the run was not in real time."""


def hil_title(run: HilRun) -> str:
    """Such as ``lapusan2022 in the loop, simulated robot and sensors``."""
    return f"{run.setup.robot.name} in the loop, simulated robot and sensors"


def hil_warnings(run: HilRun) -> Iterator[str]:
    """What must not be overlooked."""
    share = run.account.overruns / run.account.ticks
    if share > MANY_OVERRUNS:
        worst = run.account.worst * MS
        yield f"not in real time: {100 * share:.0f} % of the robot's steps began late, by {worst:.0f} ms at worst"
    if run.lost_on_bus:
        yield f"{run.lost_on_bus} frames were lost on the bus itself"
    if not run.identical:
        yield "a replay of the frames did not give the live shapes again: the estimator is not deterministic"


def hil_summary(run: HilRun, title: str = "") -> Facts:
    """The run as a whole, one fact per row."""
    setup, best = run.setup, run.scores[run.setup.method]
    tilt = math.degrees(math.acos(max(-1.0, min(1.0, float(np.asarray(setup.base)[2, 2])))))
    rows = [
        ("duration", f"{setup.duration:g} s, seed {setup.seed}, base {tilt:.3g} deg from upright"),
        ("method", f"{setup.method}, {len(best.times)} shapes scored"),
        ("tip", f"{best.tip_mean * MM:.3f} mm off on average, {best.tip_worst * MM:.3f} mm at worst"),
        ("orientation of the tip", f"{_deg(best.turn_mean)} deg off on average, {_deg(best.turn_worst)} deg at worst"),
        ("frame to shape", _latency_text(run)),
        ("virtual robot", f"{run.account.overruns} of {run.account.ticks} steps late, {run.account.worst * MS:.1f} ms "
         "at worst"),
        ("replayed", "the same shapes to the last bit" if run.identical else "NOT the same shapes"),
    ]  # fmt: skip
    if setup.silent:
        failed = ", ".join(f"{sensor} at {time:g} s" for sensor, time in sorted(setup.silent.items()))
        rows.insert(1, ("sensors that fail", failed))
    return Facts(title or hil_title(run), ("", ""), tuple(rows))


def _latency_text(run: HilRun) -> str:
    parts = (f"{limit * MS:.2f} ms ({share:g} %)" for share, limit in zip(PERCENTILES, run.latencies, strict=True))
    return "within " + ", ".join(parts)


_ERRORS = ("[mm]", "worst [mm]", "x [mm]", "y [mm]", "z [mm]", "turned [deg]", "worst [deg]", "alpha [deg]",
           "beta [deg]", "gamma [deg]")  # fmt: skip
_BRIEF = (0, 1, 5, 6)
"""Of the errors, those that fit a terminal."""


def method_table(run: HilRun, brief: bool = False) -> Facts:
    """Every method on the same frames: the end effector."""
    rows = [
        (
            method + (" (live)" if method == run.setup.method else ""),
            *_errors(score.tips - score.true_tips, score.platform_turns[:, -1], score.platform_angles[:, -1], brief),
        )
        for method, score in run.scores.items()
    ]
    title = "End effector: mean absolute errors on the same frames, axes of the base"
    return Facts(title, ("method", *_headers("tip", brief)), tuple(rows))


def platform_table(score: Score, brief: bool = False) -> Facts:
    """One row per platform: the far face of a link."""
    rows = [
        (
            str(link),
            *_errors(
                score.platform_errors[:, link], score.platform_turns[:, link], score.platform_angles[:, link], brief
            ),
        )
        for link in range(1, len(score.robot.links))
    ]
    title = f"Platforms: mean absolute errors, {score.method}"
    return Facts(title, ("platform", *_headers("place", brief)), tuple(rows))


def _headers(what: str, brief: bool) -> list[str]:
    names = [f"{what} {_ERRORS[0]}", *_ERRORS[1:]]
    return [names[i] for i in _BRIEF] if brief else names


def _errors(places: Floats, turns: Floats, angles: Floats, brief: bool) -> list[str]:
    """Texts of the columns of `_ERRORS`: places (K, 3) m, turns (K,) and angles (K, 3) rad, all of them differences."""
    distances = np.linalg.norm(places, axis=1)
    millimetres = MM * np.array([distances.mean(), distances.max(), *np.abs(places).mean(axis=0)])
    texts = [
        *(f"{value:.3f}" for value in millimetres),
        *(_deg(value) for value in (turns.mean(), turns.max(), *np.abs(angles).mean(axis=0))),
    ]
    return [texts[i] for i in _BRIEF] if brief else texts


def joint_table(score: Score) -> Facts:
    """One row per relative angle of a joint."""
    mean, worst = np.abs(score.angle_errors).mean(axis=0), np.abs(score.angle_errors).max(axis=0)
    spans = np.ptp(score.true_angles, axis=0)
    rows = [
        (name, _deg(spans[i]), _deg(mean[i]), _deg(worst[i]))
        for i, name in enumerate(freedom_descriptions(score.robot))
    ]  # fmt: skip
    headers = ("joint", "moved over [deg]", "mean error [deg]", "worst [deg]")
    return Facts(f"Relative angles of the joints, {score.method}", headers, tuple(rows))


def freedom_descriptions(robot: Robot) -> list[str]:
    """Such as ``3``, or ``3 y`` and ``3 x`` for the two axes of a universal joint, ``3 toward x`` for a bend."""
    names = []
    for number, joint in enumerate(robot.joints, 1):
        if joint["freedoms"] == 1:
            names.append(str(number))
        elif joint["axis_x"] or joint["axis_y"]:
            names += [f"{number} y", f"{number} x"] if joint["axis_y"] else [f"{number} x", f"{number} y"]
        else:
            names += [f"{number} {way}" for way in ("toward x", "toward y", "twist")[: joint["freedoms"]]]
    return names


def frame_table(run: HilRun) -> Facts:
    """Where frames went."""
    account, counters = run.account, run.counters
    rows = (
        ("made by sensors and master", str(account.sent)),
        ("lost by the sensor model", str(account.dropped)),
        ("SYNCs that a node did not hear (sensor model)", str(account.unheard)),
        ("put onto the bus", str(account.on_bus)),
        ("taken from the bus", str(run.received)),
        ("lost on the bus", str(run.lost_on_bus)),
        ("SYNCs", str(counters.sync)),
        ("orientations", str(counters.angles + counters.quaternion)),
        ("rates", str(counters.gyro)),
        ("heartbeats", str(counters.heartbeat)),
        ("answers whose SYNC is not known", str(counters.no_sync)),
        ("malformed or unknown", str(counters.malformed + counters.unknown)),
    )
    return Facts("Frames", ("frames", "count"), rows)


def sensor_table(run: HilRun) -> Facts:
    """One row per sensor: what came of it, and how it was judged while it was live."""
    states, counters = run.live.states, run.counters
    names = [state for state in SensorState if (states == state).any()]
    rows = [
        (
            str(sensor),
            *(str(column[row]) for column in (counters.received, counters.lost, counters.reordered, counters.outliers)),
            *(f"{100 * float((states[:, row] == state).mean()):.1f} %" for state in names),
        )
        for row, sensor in enumerate(counters.sensors.tolist())
    ]
    headers = ("sensor", "answers", "missing", "late", "outliers", *(state.name.lower() for state in names))
    return Facts("Sensors: answers, and share of the live shapes in each state", headers, tuple(rows))


def sensor_model_table(run: HilRun) -> Facts:
    """The errors that the simulated sensors had."""
    model = run.setup.model
    low, high = (math.degrees(size) for size in model.disturbance)
    rows = [
        ("samples", f"{model.rate:g} Hz, SYNC {run.setup.sync_rate:g} Hz"),
        ("tilt", f"{math.degrees(model.tilt_noise):.3g} deg{_memory(model.tilt_correlation)}"),
        ("heading", f"{math.degrees(model.heading_noise):.3g} deg{_memory(model.heading_correlation)}"),
        ("magnetic bursts", f"{low:.3g} to {high:.3g} deg on one sensor, {100 * model.disturbance_share:.3g} % of the "
         f"time, about {model.disturbance_duration:g} s each, {100 * model.flagged:.3g} % flagged"),
        ("gyro", f"{math.degrees(model.gyro_noise):.3g} deg/s, bias {math.degrees(model.gyro_bias):.3g} deg/s"),
        ("transport", f"{model.latency * MS:.3g} ms on average, jitter {model.jitter * MS:.3g} ms, "
         f"{100 * model.drops:.3g} % of the frames lost"),
        ("mounts, headings off by", f"{math.degrees(model.mount):.3g} deg per axis, "
         f"{math.degrees(model.heading_bias):.3g} deg"),
        ("twist of each joint", f"{math.degrees(model.twist):.3g} deg (root mean square)"),
    ]  # fmt: skip
    return Facts("Simulated sensors (standard deviations)", ("", ""), tuple(rows))


def _memory(seconds: float) -> str:
    return f", wandering over {seconds:g} s" if seconds else ", white"


def _deg(value: float) -> str:
    return f"{math.degrees(value):.3f}"


# Plots of a run in the loop against time: errors of every method, joints, latency, health of the sensors.

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
    return _method_panel(run, "Tip: distance from the truth", "error [mm]", lambda score: score.tip_errors * MM)


def turn_error_panel(run: HilRun) -> Panel:
    """Orientation of the last link, every method."""
    title = "Last link: angle from the truth"
    return _method_panel(run, title, "error [deg]", lambda score: np.degrees(score.platform_turns[:, -1]))


def _method_panel(run: HilRun, title: str, axis: str, errors: Callable[[Score], Floats]) -> Panel:
    """A curve per method; the best comes last and is drawn on top."""
    series = (
        curve(method, score.times, errors(score), *METHOD_STYLES[method])
        for method, score in sorted(run.scores.items(), key=lambda item: -item[1].tip_mean)
    )
    return Panel(title, TIME_AXIS, axis, tuple(series))


def joint_error_panel(run: HilRun) -> Panel:
    """Errors of the relative angles, of the live method; of very many joints, some."""
    score = run.scores[run.setup.method]
    names, errors = freedom_descriptions(run.setup.robot), np.degrees(score.angle_errors)
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


def hil_panels(run: HilRun) -> Iterator[Panel]:
    """All plots."""
    yield from (tip_error_panel(run), turn_error_panel(run), joint_error_panel(run), latency_panel(run))
    health = health_panel(run)
    if health.series:
        yield health


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


# The true robot as it moved, with the sensed shapes as lines over it, to be played.

MOST_INSTANTS, LEAST_INSTANTS = 400, 40
WIDTH = 7


def hil_picture(run: HilRun) -> tuple[Any, float]:
    """The plotly figure with its frames, axes of the base, and how many times slower than real it plays."""
    from vertebra.report.plotly import FRAME_MILLISECONDS, motion_picture

    robot, truth = run.setup.robot, run.truth
    in_real_time = round(run.setup.duration / (FRAME_MILLISECONDS * 1e-3))
    kept = spread(len(truth.times), min(max(in_real_time, LEAST_INSTANTS), MOST_INSTANTS))
    times, frames = truth.times[kept], truth.frames_in_base[kept]
    gravity = np.asarray(run.setup.base).T @ (0.0, 0.0, -1.0)
    tips = frames[:, -1, :3, 3] + frames[:, -1, :3, :3] @ robot.tip_point
    figure, slowness = motion_picture(robot, times, truth.angles[kept], tips, gravity)
    shown = times[spread(len(times), len(figure.frames))]
    lines = {method: _backbones(score, shown) for method, score in run.scores.items()}
    _add_lines(figure, lines)
    _make_room(figure, np.vstack([line.reshape(-1, 3) for line in lines.values()]))
    return figure, slowness


def _backbones(score: Score, times: Floats) -> Floats:
    """(instants, links + 1, 3) base, platforms and tip as sensed at the shapes nearest to `times`, mm."""
    rows = np.clip(np.searchsorted(score.times, times), 0, len(score.times) - 1)
    line = np.concatenate([platforms(score.robot, score.frames[rows]), score.tips[rows][:, None]], axis=1)
    return line * MM


def _add_lines(figure: Any, lines: dict[Any, Floats]) -> None:
    """One trace per method, moved by every frame of the figure."""
    from vertebra.report.plotly import go, line_trace

    first = len(figure.data)
    for method, line in lines.items():
        colour, dash = METHOD_STYLES[method]
        figure.add_trace(line_trace(line[-1], colour, WIDTH, f"sensed, {method}", True, dash))
    for k, frame in enumerate(figure.frames):
        moved = [line[k].T.astype(np.float32) for line in lines.values()]
        frame.data = [*frame.data, *(go.Scatter3d(x=x, y=y, z=z) for x, y, z in moved)]
        frame.traces = [*frame.traces, *range(first, first + len(lines))]


def _make_room(figure: Any, points: Floats) -> None:
    """Widen the box to what was sensed; one scale for all axes."""
    scene = figure.layout.scene
    spans = []
    for i, axis in enumerate((scene.xaxis, scene.yaxis, scene.zaxis)):
        low, high = min(axis.range[0], points[:, i].min()), max(axis.range[1], points[:, i].max())
        axis.range = [float(low), float(high)]
        spans.append(high - low)
    sides = np.array(spans) / float(np.prod(spans)) ** (1 / 3)
    scene.aspectratio = dict(zip("xyz", sides.tolist(), strict=True))


# A run in the loop as a report: truth and estimate to play, errors against time, and every number.

MOVES = (
    "Press Play, or drag the slider; {pace}. Solid: the virtual robot as it really moved. Lines: what each method "
    "sensed, from base to tip. Axes of the base; the arrow is down. Drag to turn."
)
METHODS = (
    "Every method on the same frames. Errors are in the frame of the base as each method senses it: where north is, "
    "only the magnetometers know. Click a name to hide its line."
)
LIVE = (
    "Left: sensed less true relative angles of the joints. Right: time from the arrival of the frame that completed a "
    "cycle to the shape, in the process of the estimator."
)
HEALTH = "What the estimator thought of its sensors while the robot moved; nothing is drawn where a sensor was ok."


def hil_report(run: HilRun) -> Report:
    """A run in the loop."""
    live = run.scores[run.setup.method]

    def whole_record() -> dict[str, Any]:
        return hil_record(run) | {"series": {name: _series(score) for name, score in run.scores.items()}}

    return Report(
        hil_title(run),
        record=lambda: hil_record(run),
        tables=lambda: (
            hil_summary(run), method_table(run, brief=True), platform_table(live, brief=True), joint_table(live),
            sensor_table(run), frame_table(run),
        ),
        warnings=tuple(hil_warnings(run)),
        page=lambda: hil_sections(run),
        picture=lambda: tuple(hil_panels(run)),
        rows=lambda: Rows(_columns(live), _table(live).tolist()),
        texts={".json": lambda: json_text(whole_record())},
    )  # fmt: skip


def hil_sections(run: HilRun) -> Iterator[Section]:
    """The page."""
    from vertebra.report.plotly import animation

    picture, slowness = hil_picture(run)
    yield animation(picture, "motion", MOVES.format(pace=pace_text(slowness)))
    yield hil_summary(run, "Run")
    yield method_table(run)
    tip, turn = time_figure(tip_error_panel(run)), time_figure(turn_error_panel(run))
    yield Figures("tip", [tip, turn], "25rem", "Errors of the tip", METHODS)
    joints, latency = time_figure(joint_error_panel(run)), time_figure(latency_panel(run))
    yield Figures("live", [joints, latency], "25rem", "Joints and latency", LIVE)
    health = health_panel(run)
    if health.series:
        yield Figures("health", [time_figure(health)], "20rem", "Health of the sensors", HEALTH)
    live = run.scores[run.setup.method]
    yield from (platform_table(live), joint_table(live), sensor_table(run), frame_table(run), sensor_model_table(run))
    yield from robot_tables(run.setup.robot)


def hil_record(run: HilRun) -> dict[str, Any]:
    """The run as JSON, SI."""
    setup = run.setup
    return {
        "robot": setup.robot.name,
        "method": setup.method,
        "duration": setup.duration,
        "seed": setup.seed,
        "base": plain_value(setup.base),
        "sensors": asdict(setup.model),
        "silent": {str(sensor): time for sensor, time in setup.silent.items()},
        "scores": {method: _score_record(score) for method, score in run.scores.items()},
        "latency": dict(zip((f"{share:g} %" for share in PERCENTILES), run.latencies.tolist(), strict=True)),
        "frames": asdict(run.account) | {"received": run.received, "lost_on_bus": run.lost_on_bus},
        "counters": counters_record(run.counters),
        "replay_identical": run.identical,
    }


def _score_record(score: Score) -> dict[str, Any]:
    angles = np.abs(score.angle_errors)
    return {
        "shapes": len(score.times),
        "tip": {"mean": score.tip_mean, "worst": score.tip_worst},
        "tip_axes_mean": np.abs(score.tips - score.true_tips).mean(axis=0).tolist(),
        "turn": {"mean": score.turn_mean, "worst": score.turn_worst},
        "platforms_mean": score.platform_distances.mean(axis=0).tolist(),
        "platforms_worst": score.platform_distances.max(axis=0).tolist(),
        "platform_turns_mean": score.platform_turns.mean(axis=0).tolist(),
        "platform_angles_mean": np.abs(score.platform_angles).mean(axis=0).tolist(),
        "joints_mean": angles.mean(axis=0).tolist(),
        "joints_worst": angles.max(axis=0).tolist(),
    }


def _series(score: Score) -> dict[str, Any]:
    return {
        "time": score.times.tolist(),
        "tip_error": score.tip_errors.tolist(),
        "turn_error": score.platform_turns[:, -1].tolist(),
    }


def _columns(score: Score) -> list[str]:
    sensed = column_names(angle_columns(score.robot.freedom_names), TIP)
    return [*TIME.names, *(f"{name}_true" for name in sensed), *sensed, "tip_error_mm", "turn_error_deg"]


def _table(score: Score) -> Any:
    """One row per shape of the live method, axes of the base."""
    columns = (
        score.times[:, None], np.degrees(score.true_angles), 1e3 * score.true_tips, np.degrees(score.angles),
        1e3 * score.tips, 1e3 * score.tip_errors[:, None], np.degrees(score.platform_turns[:, -1:]),
    )  # fmt: skip
    return np.column_stack(columns)
