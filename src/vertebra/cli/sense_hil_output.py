"""How `vertebra sense hil` answers: tables for people, JSON in SI, a table of all shapes, a page, plots."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vertebra.cli import statics_output as files
from vertebra.cli.output import print_facts, print_table, write_text

if TYPE_CHECKING:
    from vertebra.sensing.hil.run import HilRun
    from vertebra.sensing.hil.score import Score


def print_run(run: HilRun) -> None:
    """Summary, methods, platforms, joints, sensors, frames."""
    from vertebra.report import hil as facts

    live = run.scores[run.setup.method]
    print_facts(facts.hil_summary(run))
    for table in (
        facts.method_facts(run, brief=True), facts.platform_error_facts(live, brief=True),
        facts.joint_error_facts(live), facts.sensor_facts(run), facts.traffic_facts(run),
    ):  # fmt: skip
        print_table(table)


def write(run: HilRun, out: Path) -> None:
    """The file that the suffix of `out` asks for."""
    suffix = out.suffix.lower()
    if suffix == ".json":
        files.write_json(out, record(run) | {"series": {name: _series(score) for name, score in run.scores.items()}})
    elif suffix == ".csv":
        score = run.scores[run.setup.method]
        files.write_csv(out, _columns(score), _table(score).tolist())
    elif suffix == ".html":
        from vertebra.report.hil import hil_page

        write_text(out, hil_page(run))
    else:
        from vertebra.report.hil import hil_figure_static

        hil_figure_static(run, out)


def record(run: HilRun) -> dict[str, Any]:
    """The run as JSON, SI."""
    from vertebra.cli.sense_output import counters_record
    from vertebra.sensing.hil.run import PERCENTILES

    setup = run.setup
    return {
        "robot": setup.robot.name,
        "method": setup.method,
        "duration": setup.duration,
        "seed": setup.seed,
        "base": files.as_plain(setup.base),
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
    joints = range(1, score.angles.shape[1] + 1)
    true = [f"{name}_true" for name in (*(f"q{j}_deg" for j in joints), "x_mm", "y_mm", "z_mm")]
    sensed = [name.removesuffix("_true") for name in true]
    return ["t_s", *true, *sensed, "tip_error_mm", "turn_error_deg"]


def _table(score: Score) -> Any:
    """One row a shape of the live method, axes of the base."""
    columns = (
        score.times[:, None], np.degrees(score.true_angles), 1e3 * score.true_tips, np.degrees(score.angles),
        1e3 * score.tips, 1e3 * score.tip_errors[:, None], np.degrees(score.platform_turns[:, -1:]),
    )  # fmt: skip
    return np.column_stack(columns)
