"""What the Sense tab says: the estimate in numbers, the sensors in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing.recording.shape_log import joint_names
from vertebra.sensing.sensed_shape import SensorState
from vertebra.studio.readout import Value, grid, light, notes, number, readout
from vertebra.studio.sense.look import NOT_KNOWN, Look
from vertebra.studio.sense.run import Sensed

MOST_ROWS = 60
"""Joint angles in the table."""


def sensed_text(robot: Robot, sensed: Sensed, means: tuple[float, float] | None) -> str:
    """HTML of estimate and sensors; `means`: errors of the tip, m, and of its link, rad, over what is plotted."""
    look = sensed.look
    if look is None:
        return light("sense-status", None, sensed.hint)
    values = [*_tip(look), *_errors(sensed, means)]
    rates = sensed.rates if sensed.rates is not None else np.zeros(len(look.states))
    return _summary(robot, look) + readout("Estimate", values) + _health(robot, look, rates)


def more_text(robot: Robot, sensed: Sensed) -> str:
    """HTML of what is needed less often: the network and all joints."""
    return _session(sensed) + ("" if sensed.look is None else _joints(robot, sensed.look))


def _tip(look: Look) -> list[Value]:
    spread = float(np.sqrt(np.sum(look.sigmas**2)))
    return [
        *(
            Value(f"sense-tip-{axis}", f"tip {axis}", f"{number(1e3 * float(place), 2, '')} ± {_mm(float(sigma))}")
            for axis, place, sigma in zip("xyz", look.tip, look.sigmas, strict=True)
        ),
        Value("sense-sigma", "spread of the tip (sigma)", _mm(spread)),
    ]


def _errors(sensed: Sensed, means: tuple[float, float] | None) -> list[Value]:
    if sensed.truth is None:
        return []
    values = [
        Value("sense-tip-error", "tip error, true to sensed", _mm(sensed.tip_error)),
        Value("sense-turn-error", "orientation error of the tip", number(math.degrees(sensed.turn_error), 2, "deg")),
    ]
    if means is not None:
        text = f"{_mm(means[0])}, {number(math.degrees(means[1]), 2, 'deg')}"
        values.append(Value("sense-mean-errors", "mean of the last 20 s", text))
    return values


def _session(sensed: Sensed) -> str:
    found = sensed.statistics
    if found is None:
        return ""
    latency = f"{1e3 * found.latency_p50:.1f} ms (99 %: {1e3 * found.latency_p99:.1f} ms)"
    values = [
        Value("sense-frame-rate", "frames", f"{found.frame_rate:.0f} a second"),
        Value("sense-shape-rate", "shapes", f"{found.shape_rate:.0f} a second"),
        Value("sense-latency", "last frame to shape", latency),
        Value("sense-lost", "answers lost", str(found.lost)),
    ]
    return readout("Network", values)


def _summary(robot: Robot, look: Look) -> str:
    poor = [
        f"sensor {link}: {_word(look, row)}"
        for row, link in enumerate(robot.sensor_links.tolist())
        if look.states[row] != SensorState.OK
    ]
    if not poor:
        return light("sense-status", True, f"All {len(look.states)} sensors are well.")
    rest = f", and {len(poor) - 3} more" if len(poor) > 3 else ""
    text = "; ".join(poor[:3]) + rest
    return light("sense-status", False, text[0].upper() + text[1:] + ".")


def _word(look: Look, row: int) -> str:
    """The state of a sensor in words."""
    tilt, heading = look.weights[row]
    age = float(look.ages[row])
    disturbed = f"its heading counts {_percent(float(heading))}" if heading < 1.0 else "as its node says"
    return {
        SensorState.OK: "ok",
        SensorState.DISTURBED: f"disturbed, {disturbed}",
        SensorState.OUTLIER: f"gated, its tilt counts {_percent(float(tilt))}",
        SensorState.STALE: f"not heard for {age:.1f} s" if math.isfinite(age) else "not heard lately",
        SensorState.FAULT: "faulty, as its node says",
        SensorState.SILENT: "not heard yet",
    }[SensorState(int(look.states[row]))]


def _health(robot: Robot, look: Look, rates: Floats) -> str:
    rows = [
        (
            str(link),
            _word(look, row),
            f"{rates[row]:.0f}",
            _milliseconds(float(look.ages[row])),
            "-" if look.lost[row] == NOT_KNOWN else str(look.lost[row]),
            number(math.degrees(look.headings[row]), 1, ""),
        )
        for row, link in enumerate(robot.sensor_links.tolist())
    ]
    headers = ("link", "state", "rate (Hz)", "age (ms)", "lost", "heading (deg)")
    return grid("Sensors", headers, rows, "sense-sensor")


def _joints(robot: Robot, look: Look) -> str:
    names: Sequence[str] = joint_names(robot)
    rows = [
        (name.removeprefix("joint").replace("_", " "), number(math.degrees(angle), 2, ""), _degrees(float(sigma)))
        for name, angle, sigma in zip(names, look.angles.tolist(), look.angle_sigmas.tolist(), strict=True)
    ]
    table = grid("Joint angles", ("joint", "angle (deg)", "sigma (deg)"), rows[:MOST_ROWS], "sense-joint")
    return table + (notes([f"And {len(rows) - MOST_ROWS} more."]) if len(rows) > MOST_ROWS else "")


def _mm(metres: float) -> str:
    return number(1e3 * metres, 2, "mm") if math.isfinite(metres) else "not known"


def _degrees(radians: float) -> str:
    return number(math.degrees(radians), 2, "") if math.isfinite(radians) else "not known"


def _milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.0f}" if math.isfinite(seconds) else "-"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
