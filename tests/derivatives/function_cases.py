"""Robots as functions of arrays: values by public calls with the robot file changed by hand, and their differences."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from tests import every_kind

import vertebra as vb

SIXTH = ((-3, -1 / 60), (-2, 9 / 60), (-1, -45 / 60), (1, 45 / 60), (2, -9 / 60), (3, 1 / 60))
OUTPUTS = ("tip", "tip frame", "angles", "lengths", "compliance")
KINDS = {
    "rolling": ("rolling", "radius"), "flexure with friction": ("flexure", "length"),
    "universal": ("universal-xy", "lower"), "backbone": ("backbone-twisting", "length"),
}  # fmt: skip
STEPS = {"tensions": 2e-3, "gravity": 6e-3, "mass": 2e-6, "quadratic": 2e-4}
"""Of the differences; lengths otherwise, in m."""


class Case:
    """A robot of two sections, what acts on it, and parameters of all kinds that it may be a function of."""

    def __init__(self, name: str) -> None:
        kind, size = KINDS[name]
        friction = {"quadratic": [0.5, 0.1, 0.2]} if "friction" in name else None
        question = every_kind.random_question((3, 7), (kind, kind), moment=True, friction=friction)
        self.robot = vb.load(question.robot.to_mapping() | {"gravity": question.gravity.tolist()})
        self.loads = (*question.loads, vb.Load(mass=0.004))
        self.tensions = 2.0 * question.tensions
        lengths = [section.link.length for section in self.robot.description.sections]
        self.parameters: dict[str, Any] = {
            "gravity": np.array([0.5, -0.3, 3.0]),
            "sections.link.length": float(np.mean(lengths)),
            "sections[*].link.mass": np.array([0.004, 0.005]),
            "sections[0].cables.radius": 0.0041,
            f"sections[1].joint.{size}": 0.0153 if size != "lower" else 0.0091,
        }
        if friction is not None:
            self.parameters["sections[0].cables.friction.quadratic[2]"] = 0.22

    def changed(self, parameters: Mapping[str, Any]) -> tuple[vb.Robot, Any]:
        """The robot, and gravity, by hand."""
        mapping, gravity = copy.deepcopy(self.robot.to_mapping()), None
        for path, value in parameters.items():
            if path == "gravity":
                gravity = value
            elif path.startswith("sections[*]") or path.startswith("sections."):
                for section, own in zip(mapping["sections"], np.broadcast_to(value, 2), strict=True):
                    write(section, path.partition(".")[2], float(own))
            else:
                write(mapping, path, float(value))
        return vb.load(mapping), gravity

    def outputs(self, tensions: Any, parameters: Mapping[str, Any], start: Any = None) -> dict[str, np.ndarray]:
        robot, gravity = self.changed(parameters)
        shape = vb.shape_from_tensions(robot, tensions, gravity=gravity, loads=self.loads, start=start)
        frame = vb.Pose(robot, shape.angles).tip_frame
        found = (shape.tip, frame, shape.angles, shape.lengths, shape.compliance)
        return dict(zip(OUTPUTS, found, strict=True))

    def differences(self, wanted: str) -> dict[str, np.ndarray]:
        """Of order 6, of every output by the tensions or a parameter: the axes of the latter last."""
        first = self.outputs(self.tensions, self.parameters)
        value = np.asarray(self.tensions if wanted == "tensions" else self.parameters[wanted], float)
        step = next((step for word, step in STEPS.items() if word in wanted), 2e-5)
        found = {one: np.zeros((*array.shape, value.size)) for one, array in first.items()}
        for entry in range(value.size):
            for steps, weight in SIXTH:
                moved = value.copy()
                moved.reshape(-1)[entry] += steps * step
                tensions = moved if wanted == "tensions" else self.tensions
                parameters = self.parameters | ({} if wanted == "tensions" else {wanted: moved})
                for one, array in self.outputs(tensions, parameters, first["angles"]).items():
                    found[one][..., entry] += weight / step * array
        return {one: array.reshape(first[one].shape + value.shape) for one, array in found.items()}


def write(part: Any, path: str, value: float) -> None:
    *way, last = [int(key) if key.isdigit() else key for key in re.findall(r"\w+", path)]
    for key in way:
        part = part[key]
    part[last] = value


def same_slopes(found: Any, expected: np.ndarray, label: str) -> None:
    error = np.abs(np.asarray(found) - expected).max()
    assert error <= 1e-7 * np.abs(expected).max(), f"{label}: {error:.2e} of {np.abs(expected).max():.2e}"


def wrong_calls(f: Callable[..., Any], tensions: list[float]) -> dict[str, tuple[Callable[[], Any], str]]:
    """What a function of `hu2023-prototype` refuses, and a part of what it says."""
    return {
        "path": (lambda: f(tensions, {"joint.raduis": 0.02}), r"parameters: hu2023-prototype has no field .*radius"),
        "no number": (lambda: f(tensions, {"sections[0].joint.kind": 1.0}), "not a quantity"),
        "twice": (lambda: f(tensions, {"link.mass": 0.1, "sections.link.mass": 0.1}), "both set"),
        "gravity": (lambda: f(tensions, {"gravity[2]": -9.0}), "vector of 3"),
        "no dictionary": (lambda: f(tensions, [0.02]), "must be a dictionary"),
        "shape": (lambda: f(tensions, {"gravity": 9.81}), r"parameters\['gravity'\]: must have shape \(3,\)"),
        "cables": (lambda: f(tensions[:3]), r"tensions: must have shape \(4,\)"),
        "rows": (lambda: f([tensions] * 2, {"link.mass": [1.0] * 3}), "leading axes"),
        "pushing": (lambda: f([-1.0, *tensions[1:]]), "cable 1 has -1 N"),
        "impossible": (lambda: f(tensions, {"joint.radius": -0.02}), r"sections\[0\].joint.radius"),
    }  # fmt: skip
