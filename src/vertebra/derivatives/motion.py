"""Derivatives of linear models and of simulated motions, laid out by what they are by."""

from __future__ import annotations

from typing import Any

import numpy as np

from vertebra.derivatives.parameters import By, Parameters, gathered, is_entry, parameters_of, words_of
from vertebra.derivatives.shape import ShapeProblem
from vertebra.dynamics.directions import Direction, directions
from vertebra.dynamics.linearise import LinearModel
from vertebra.dynamics.model_derivatives import linear_derivatives
from vertebra.errors import InputError, shown
from vertebra.robot.fields import fields, matching
from vertebra.robot.tables import Floats
from vertebra.statics.forward import shape_from_tensions
from vertebra.statics.shape import Status

MODEL_OUTPUTS = {
    "natural frequencies": ("frequencies", "Hz"),
    "growth": ("growth", "1/s"),
    "A": ("A", "SI"),
    "B": ("B", "SI"),
    "mass matrix": ("M", "kg*m^2"),
    "stiffness matrix": ("K", "N*m/rad"),
}
"""What can be asked of a linear model: the name of the array and its unit."""
WORDS = ("tensions", "gravity", "loads", "damping", "stiffness_EA", "q0", "qd0")


def model_parameters(model: LinearModel, outputs: list[str], by: By) -> tuple[Parameters, list[str]]:
    """What `by` stands for in a linear model, with the derivatives of the outputs by each; and what to know of them.

    A model of an equilibrium under given tensions moves with the parameter; any other pose is held.
    """
    moving = model.question.moving
    problem, robot = moving.statics, model.robot
    case, notes = _standing(model)

    def slopes(along: tuple[Direction, ...]) -> Parameters:
        rows = []
        for direction in along:
            found = linear_derivatives(model, direction, _turned(case, direction))
            rows.append(np.concatenate([np.ravel(getattr(found, MODEL_OUTPUTS[word][0])) for word in outputs]))
        names, units = [direction.name for direction in along], [direction.unit for direction in along]
        values = np.array([_value(model, name) for name in names])
        return Parameters(names, units, values, np.array(rows))

    def of_fields(paths: list[str]) -> Parameters:
        paths = [field.path for field in fields(robot)] if paths == [""] else paths
        return slopes(directions([p for p in paths if not p.startswith("sensors")], moving))

    words = {word: lambda word=word: slopes(directions([word], moving)) for word in WORDS}
    everything = ["tensions"] + ["gravity"] * (not np.array_equal(problem.gravity, robot.gravity))
    everything += ["loads"] * bool(problem.loads) + ["stiffness_EA"] * (model.question.axial is not None)
    return gathered(by, words, of_fields, everything), notes


def _standing(model: LinearModel) -> tuple[ShapeProblem | None, list[str]]:
    """The equilibrium that a model was made at; None where its pose is held."""
    question = model.question
    if not model.in_equilibrium:
        return None, ["the model is not one of an equilibrium: its pose is held"]
    if question.axial is not None:
        return None, ["the cables are elastic: pose and tensions are held"]
    problem = question.moving.statics
    shape = shape_from_tensions(
        model.robot, model.tensions, gravity=problem.gravity, loads=problem.loads, friction=problem.laws or 0.0,
        start=model.q, check=False,
    )  # fmt: skip
    if shape.status != Status.SOLVED or np.abs(shape.angles - model.q).max() > 1e-6:
        return None, ["the equilibrium is not a stable one: its pose is held"]
    return ShapeProblem.of(shape, False), []


def _turned(case: ShapeProblem | None, direction: Direction) -> Floats | None:
    """(n,) how the angles of an equilibrium change with a parameter, rad per unit."""
    word = direction.name.split("[")[0]
    if case is None or word in ("damping", "q0", "qd0"):
        return None
    turned: Floats = case.outputs("angles").derivatives @ parameters_of(case, direction.name).directions[0]
    return turned


def _value(model: LinearModel, name: str) -> float:
    """Of a parameter, SI; 0 where there is no one value."""
    problem, word = model.question.moving.statics, name.split("[")[0]
    arrays = {"tensions": model.tensions, "gravity": problem.gravity, "damping": model.damping, "q0": model.q}
    if word in arrays:
        return float(arrays[word][int(name.split("[")[1].rstrip("]"))])
    if word in WORDS:
        return 0.0
    return matching(model.robot, name)[0].fields[0].value


# Simulated motions.

RUN_OUTPUTS = {
    "tip": ("tip_sensitivity", "axis", "m"),
    "angles": ("q_sensitivity", "joint", "rad"),
    "rates": ("qd_sensitivity", "joint", "rad/s"),
}
"""What a run that was asked for sensitivities has: its variable, its dimension and its unit."""


def run_parameters(run: Any, outputs: list[str], by: By) -> tuple[Floats, list[str], list[str], list[str], list[str]]:
    """(time, outputs, parameters) of a run; then names and units of both."""
    if "parameter" not in run.coords:
        raise InputError(
            "result", "this motion was simulated without derivatives; run simulate(..., sensitivities=[...]) again"
        )
    known = run.coords["parameter"].values.tolist()
    asked = words_of(by) or known
    for word in asked:
        if not any(is_entry(name, word) for name in known):
            raise InputError("by", f"the motion was differentiated by {', '.join(known)}; not by {shown(word)}")
    chosen = [name for name in known if any(is_entry(name, word) for word in asked)]
    parts, names, units = [], list[str](), list[str]()
    for word in outputs:
        variable, dimension, unit = RUN_OUTPUTS[word]
        part = run[variable].sel(parameter=chosen).transpose("time", dimension, "parameter")
        parts.append(part.values)
        own = part.coords[dimension].values.tolist()
        names += [f"{word.removesuffix('s') if dimension == 'joint' else word} {name}" for name in own]
        units += [unit] * len(own)
    by_units = run.coords["parameter_unit"].sel(parameter=chosen).values.tolist()
    return np.concatenate(parts, axis=1), names, units, chosen, by_units
