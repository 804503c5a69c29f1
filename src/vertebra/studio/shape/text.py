"""The Shape tab's answer in words and numbers."""

from __future__ import annotations

import math

import numpy as np

from vertebra.mechanics.kinematics import Pose
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.statics.path import ShapePath
from vertebra.statics.shape import Shape, Status
from vertebra.studio.readout import Value, grid, light, notes, number, readout, significant, tension_scale
from vertebra.studio.shape.model import Answer, straight_lengths
from vertebra.studio.shape.settings import ShapeSettings


def answer_text(answer: Answer, highest: float, path: ShapePath | None) -> str:
    """HTML of everything that is known about a shape."""
    shape = answer.shape
    parts = [_light(shape)]
    if shape.status != Status.NO_EQUILIBRIUM:
        parts += [readout("Tip and joints", _tip(answer, path)), _cables(shape), tension_scale(highest)]
    return "".join(parts)


def pose_text(robot: Robot, settings: ShapeSettings, frames: Floats) -> str:
    """HTML for a robot whose joints are set by hand."""
    tip = frames[-1][:3, :3] @ robot.tip_point + frames[-1][:3, 3]
    angles = np.radians(settings.angles_deg)
    lengths = Pose(robot, angles).cable_lengths
    shorter = straight_lengths(robot) - lengths
    rows = [
        (str(k), number(1e3 * length, 3, "mm"), number(1e3 * less, 3, "mm"))
        for k, (length, less) in enumerate(zip(lengths.tolist(), shorter.tolist(), strict=True), 1)
    ]
    table = grid("Cables", ("cable", "length", "shorter by"), rows, "shape-cable") if rows else ""
    values = [*_place(tip), Value("shape-angle", "largest joint angle", number(_most(angles), 2, "deg"))]
    return readout("Tip and joints", values) + table


def _light(shape: Shape) -> str:
    if shape.status == Status.SOLVED:
        parted = f", but joint {shape.separated[0]} would have to pull: a real one parts" if shape.separated else ""
        return light("shape-status", not shape.separated, f"Stable{parted}")
    where = f" (joint {shape.weakest})" if shape.weakest else ""
    word = {
        Status.UNSTABLE: f"Unstable: it buckles{where}",
        Status.OUT_OF_RANGE: f"Joint {shape.out_of_range[0] if shape.out_of_range else 0} would pass its limit",
        Status.NO_EQUILIBRIUM: f"No equilibrium found{where}; the last shape stays",
    }[shape.status]
    return light("shape-status", False, word) + notes([shape.status.sentence.split("; ")[-1].capitalize() + "."])


def _tip(answer: Answer, path: ShapePath | None) -> list[Value]:
    shape = answer.shape
    most = int(np.argmax(np.abs(shape.angles)))
    values = [
        *_place(shape.tip),
        Value("shape-angle", f"largest angle, joint {most + 1}", number(_most(shape.angles), 2, "deg")),
    ]
    if shape.status == Status.SOLVED:
        soft, middle, stiff = shape.stiffness().stiffness
        texts = ", ".join(significant(float(value), "") for value in (soft, middle, stiff))
        values.append(Value("shape-stiffness", "tip stiffness, soft to stiff", f"{texts} N/m"))
    if answer.margin is not None:
        values.append(Value("shape-margin", "buckling margin", margin_text(*answer.margin)))
    if path is not None:
        values.append(Value("shape-friction-work", "lost to friction", number(1e3 * path.friction_work, 3, "mJ")))
        values.append(Value("shape-steps", "steps remembered", str(path.steps)))
    values.append(Value("shape-time", "solved in", f"{1e3 * answer.seconds:.2f} ms"))
    return values


def margin_text(low: float, high: float) -> str:
    """Such as ``holds down to 60 % of these tensions``."""
    if not low <= 1.0 <= high:
        return "none: it is cable friction that holds it"
    down = f"down to {100 * low:.1f} %" if low > 0 else "even slack"
    up = f"up to {100 * high:.0f} %" if math.isfinite(high) else "at any more"
    return f"holds {down}, {up} of these tensions"


def _cables(shape: Shape) -> str:
    straight = straight_lengths(shape.robot)
    last = shape.robot.cables["last_link"] - 1
    rows = [
        (
            str(k + 1),
            number(float(shape.tensions_at_base[k]), 3, "N"),
            number(float(shape.tensions[k, last[k]]), 3, "N"),
            number(1e3 * float(straight[k] - shape.lengths[k]), 3, "mm"),
        )
        for k in range(len(shape.lengths))
    ]
    return grid("Cables", ("cable", "at base", "at end", "shorter by"), rows, "shape-cable")


def _place(tip: Floats) -> list[Value]:
    places = zip("xyz", (1e3 * tip).tolist(), strict=True)
    return [Value(f"shape-tip-{axis}", f"tip {axis}", number(value, 3, "mm")) for axis, value in places]


def _most(angles: Floats) -> float:
    return math.degrees(float(np.abs(angles).max(initial=0.0)))
