"""The facts of a run in the loop as text: how well the shape was sensed, how fast, and what came over the bus."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from vertebra.report.document import Facts
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing.hil.run import PERCENTILES, HilRun
from vertebra.sensing.hil.score import Score
from vertebra.sensing.sensed_shape import SensorState

MM, MS = 1e3, 1e3
MANY_OVERRUNS = 0.05
"""Of all ticks: above it the run was not in real time."""


def hil_title(run: HilRun) -> str:
    """Such as ``lapusan2022 in the loop, simulated sensors``."""
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
    """The run as a whole, one fact a row."""
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


def method_facts(run: HilRun, brief: bool = False) -> Facts:
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


def platform_error_facts(score: Score, brief: bool = False) -> Facts:
    """One row a platform: the far face of a link."""
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


def joint_error_facts(score: Score) -> Facts:
    """One row a relative angle of a joint."""
    mean, worst = np.abs(score.angle_errors).mean(axis=0), np.abs(score.angle_errors).max(axis=0)
    spans = np.ptp(score.true_angles, axis=0)
    rows = [
        (name, _deg(spans[i]), _deg(mean[i]), _deg(worst[i]))
        for i, name in enumerate(freedom_names(score.robot))
    ]  # fmt: skip
    headers = ("joint", "moved over [deg]", "mean error [deg]", "worst [deg]")
    return Facts(f"Relative angles of the joints, {score.method}", headers, tuple(rows))


def freedom_names(robot: Robot) -> list[str]:
    """Such as ``3``, or ``3 y`` and ``3 x`` for the two axes of a universal joint."""
    names = []
    for number, joint in enumerate(robot.joints, 1):
        if joint["freedoms"] == 1:
            names.append(str(number))
        elif joint["axis_x"] or joint["axis_y"]:
            names += [f"{number} y", f"{number} x"] if joint["axis_y"] else [f"{number} x", f"{number} y"]
        else:
            names += [f"{number} toward x", f"{number} toward y"]
    return names


def traffic_facts(run: HilRun) -> Facts:
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


def sensor_facts(run: HilRun) -> Facts:
    """One row a sensor: what came of it, and how it was judged while it was live."""
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


def model_facts(run: HilRun) -> Facts:
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
        ("mounts, headings off by", f"{math.degrees(model.mount):.3g} deg an axis, "
         f"{math.degrees(model.heading_bias):.3g} deg"),
        ("twist of each joint", f"{math.degrees(model.twist):.3g} deg (root mean square)"),
    ]  # fmt: skip
    return Facts("Simulated sensors (standard deviations)", ("", ""), tuple(rows))


def _memory(seconds: float) -> str:
    return f", wandering over {seconds:g} s" if seconds else ", white"


def _deg(value: float) -> str:
    return f"{math.degrees(value):.3f}"
