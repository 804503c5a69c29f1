"""Which question can be asked of which joint: a table that asks every question of a robot of every kind.

A cell says yes where the call answers; else the call itself has refused, in a typed error, and says why.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import vertebra as vb
from vertebra.robot.tables import BALL

JOINTS: dict[str, dict[str, Any]] = {
    "rolling": {"radius": "15 mm"},
    "flexure": {"length": "10 mm", "stiffness": "0.4 N*m/rad"},
    "pin": {"length": "10 mm", "stiffness": "0.5 N*m/rad"},
    "universal": {"lower": "5 mm", "stiffness": "0.5 N*m/rad"},
    "backbone": {"length": "10 mm", "stiffness": "0.4 N*m/rad"},
    "ball": {"radius": "6 mm", "ring_radius": "4 mm", "friction": 0.3},
}
MIRROR = ("rolling", "flexure", "pin")
TENSIONS = np.array([5.0, 6.0, 4.0, 5.5])


@cache
def robot_of(kind: str) -> vb.Robot:
    """Four joints, four cables, with all that any question needs."""
    link: dict[str, Any] = {"length": "15 mm", "mass": "6 g", "inertia": [2e-7, 2e-7, 2e-7]}
    cables = {"radius": "5 mm", "azimuth": ["0 deg", "90 deg", "180 deg", "270 deg"], "max_tension": "60 N"}
    section: dict[str, Any] = {"joints": 4, "joint": {"kind": kind, **JOINTS[kind]}, "link": link, "cables": cables}
    if kind == "ball":
        link["channel"] = "4 mm"
    else:
        section["joint"]["damping"] = "0.002 N*m*s/rad"
    if kind in MIRROR:
        section["azimuth"] = ["0 deg", "90 deg"]
    return vb.load({"vertebra": 1, "name": f"{kind} joints", "base": {"length": "5 mm"}, "sections": [section]})


def bent(robot: vb.Robot) -> np.ndarray:
    return 0.1 * np.cos(np.arange(robot.freedoms))


class Question(NamedTuple):
    """A row of the table."""

    words: str
    calls: str
    ask: Callable[[vb.Robot], Any]
    """Answers, or raises a typed error; what it returns holds finite numbers."""


def _kinematics(robot: vb.Robot) -> Any:
    pose = vb.Pose(robot, bent(robot))
    return pose.tip, pose.jacobian(), pose.cable_lengths, pose.masses.center


def _shape(robot: vb.Robot) -> Any:
    return vb.shape_from_tensions(robot, TENSIONS).angles


def _shapes(robot: vb.Robot) -> Any:
    return vb.shapes_from_tensions(robot, TENSIONS[None], check=True).angles


def _stiffness(robot: vb.Robot) -> Any:
    stiffness = vb.shape_from_tensions(robot, TENSIONS).stiffness()
    return stiffness.stiffness, stiffness.directions, vb.stiffness_curve(robot, [0.0, 1.0], extra=TENSIONS).stiffness


def _lengths(robot: vb.Robot) -> Any:
    lengths = vb.Pose(robot, np.zeros(robot.freedoms)).cable_lengths
    return vb.shape_from_lengths(robot, lengths - 2e-4).angles


def _branches(robot: vb.Robot) -> Any:
    return [shape.angles for shape in vb.equilibria(robot, TENSIONS, starts=4).shapes], vb.critical_tension(robot)


def _hold(robot: vb.Robot) -> Any:
    return vb.tensions_for_shape(robot, vb.shape_from_tensions(robot, TENSIONS).angles).tensions


def _tip(robot: vb.Robot) -> Any:
    return vb.tensions_for_tip(robot, vb.shape_from_tensions(robot, TENSIONS).tip, lower=1.0).tensions


def _tips(robot: vb.Robot) -> Any:
    tips = [vb.shape_from_tensions(robot, TENSIONS + step * np.array([1.0, 0.0, -1.0, 0.0])).tip for step in (0, 0.1)]
    return vb.tensions_for_tips(robot, tips, lower=1.0).tensions


def _path(robot: vb.Robot) -> Any:
    path = vb.ShapePath(robot, friction=0.2)
    return [path.step(TENSIONS + step).tip for step in (0.0, 1.0, 0.0)], path.friction_work


def _workspace(robot: vb.Robot) -> Any:
    bounds = {} if (robot.joints["kind"] == BALL).any() else {"tensions": (1.0, 8.0)}
    found = vb.workspace(robot, resolution=8, budget=2000, **bounds)
    return found.volume, found.error, found.tips


def _payload(robot: vb.Robot) -> Any:
    bends, azimuths = [0.1] * 4, [0.0] * 4
    held = vb.payload(robot, bends, azimuths, TENSIONS, (0, -1, 0))
    mapped = vb.payload_map(robot, bends, azimuths, TENSIONS, directions=12)
    return held.force, mapped.payload.values, vb.best_tensions(robot, (bends, azimuths), (0, -1, 0)).tensions


def _inverse(robot: vb.Robot) -> Any:
    q = bent(robot)
    return vb.inverse_dynamics(robot, q, q, q), vb.mass_matrix(robot, q)


def _forward(robot: vb.Robot) -> Any:
    q = bent(robot)
    return vb.forward_dynamics(robot, q, q, TENSIONS)


def _allocate(robot: vb.Robot) -> Any:
    return vb.allocate_tensions(robot, 0.1 * bent(robot)).tensions


def _simulate(robot: vb.Robot) -> Any:
    return vb.simulate(robot, TENSIONS, duration=0.01, dt=1e-4).q.values


def _linearise(robot: vb.Robot) -> Any:
    return vb.linearise(robot, bent(robot), TENSIONS).A


def _sense(robot: vb.Robot) -> Any:
    turns = vb.Pose(robot, bent(robot)).frames[:, :3, :3]
    estimator = vb.ShapeEstimator(robot)
    for link, turn in enumerate(turns):
        estimator.update(link, turn, 0.0)
    return vb.shape_from_orientations(robot, turns).angles, estimator.solve().angles


def _export(robot: vb.Robot) -> Any:
    return len(robot.to_mjcf()), len(robot.to_urdf())


QUESTIONS = (
    Question("places, Jacobian, cable lengths, masses", "`Pose`", _kinematics),
    Question("shape of these tensions", "`shape_from_tensions`", _shape),
    Question("many shapes at once", "`shapes_from_tensions`", _shapes),
    Question("shape of these lengths", "`shape_from_lengths`", _lengths),
    Question("all stable shapes, buckling", "`equilibria`, `critical_tension`", _branches),
    Question("stiffness at the tip", "`Shape.stiffness`, `stiffness_curve`", _stiffness),
    Question("cable friction and its history", "`friction=`, `ShapePath`", _path),
    Question("tensions for a shape", "`tensions_for_shape`", _hold),
    Question("tensions for a tip", "`tensions_for_tip`", _tip),
    Question("tensions for a path of the tip", "`tensions_for_tips`", _tips),
    Question("places that the tip reaches", "`workspace`", _workspace),
    Question("load until a link slips", "`payload`, `payload_map`, `best_tensions`", _payload),
    Question("torques of a motion, mass matrix", "`inverse_dynamics`, `mass_matrix`", _inverse),
    Question("accelerations", "`forward_dynamics`", _forward),
    Question("tensions of a motion", "`allocate_tensions`", _allocate),
    Question("motion in time", "`simulate`", _simulate),
    Question("linear model", "`linearise`", _linearise),
    Question("shape from sensors", "`shape_from_orientations`, `ShapeEstimator`", _sense),
    Question("models for MuJoCo and URDF", "`to_mjcf`, `to_urdf`", _export),
)


@cache
def refusal(question: Question, kind: str) -> str:
    """Why a question has no answer for a kind of joint; empty where it has one."""
    try:
        question.ask(robot_of(kind))
    except vb.VertebraError as error:
        return str(error)
    return ""


def table() -> str:
    lines = [f"| question | {' | '.join(JOINTS)} | calls |", "|" + "---|" * (len(JOINTS) + 2)]
    for question in QUESTIONS:
        cells = ["–" if refusal(question, kind) else "yes" for kind in JOINTS]
        lines.append(f"| {question.words} | {' | '.join(cells)} | {question.calls} |")
    return "\n".join(lines)
