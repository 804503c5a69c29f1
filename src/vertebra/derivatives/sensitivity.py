"""How does an answer change with everything it depends on?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

import numpy as np
import xarray
from numpy.typing import ArrayLike

from vertebra.derivatives.motion import MODEL_OUTPUTS, RUN_OUTPUTS, model_parameters, run_parameters
from vertebra.derivatives.parameters import By, held_by_length, parameters_of, words_of
from vertebra.derivatives.payload import payload_parameters
from vertebra.derivatives.sensed import OUTPUTS, sensed_outputs, sensed_parameters
from vertebra.derivatives.shape import Request, ShapeProblem, derivatives_of_rows
from vertebra.dynamics.linearise import LinearModel
from vertebra.errors import InputError, shown
from vertebra.locked.payload import Payload
from vertebra.mechanics.gradient import Seeds
from vertebra.robot.arguments import numbers, positive_count
from vertebra.robot.tables import Floats
from vertebra.robot.units import per_unit_text, shown_unit
from vertebra.sensing.sensed_shape import SensedShape
from vertebra.statics.forward import Shapes
from vertebra.statics.shape import Shape

Of = Request | Sequence[Request] | ArrayLike | None
"""Words for outputs, or weights of them: the sum of these is one output."""

MOST_COLUMNS = 4
"""Outputs that a table for people lists one by one; of more, the root of the sum of their squares."""
ROUND_OFF = 1e-12
"""Below this part of the whole a number is shown as zero."""


class Sensitivity(xarray.DataArray):  # type: ignore[no-untyped-call]
    """Derivatives in SI: a row per output, a column per parameter, with the unit and the value of each as coordinates.

    `attrs["units"]` where all have the same, such as "m per N"; `attrs["notes"]`: sentences about corners of the
    answer, where a derivative is that of one side.
    """

    __slots__ = ()

    def top(self, count: int = 10) -> TopTable:
        """The parameters that matter most, as a table for people: those whose change by 1 % (of angles, by 1 deg)
        moves the outputs most.

        Parameters of value zero have no percentage; they come last, by size of their derivative.
        """
        blocks = []
        for rows in self.top_rows(count):
            angles = "\n* of an angle, by 1 deg" if any(row[-1].endswith("*") for row in rows) else ""
            blocks.append(text_table(rows, {1, len(rows[0]) - 2}) + angles)
        return TopTable("\n\n".join([*blocks, *self.attrs["notes"]]))

    def top_rows(self, count: int = 10) -> list[list[list[str]]]:
        """The same as texts: per unit of the outputs the rows of a table, headers first."""
        count = positive_count("count", count)
        if self.dims != ("of", "by"):
            dims = " x ".join(map(str, self.dims))
            raise InputError(
                "count", f"a table is of outputs by parameters, and this is {dims}; select one of the rest"
            )
        units = self.coords["of_unit"].values
        return [_top_of(self[units == unit], unit, count) for unit in dict.fromkeys(units.tolist())]


class TopTable(str):
    """A text that a notebook shows as it is."""

    def __repr__(self) -> str:
        return str(self)


def text_table(rows: Sequence[Sequence[str]], left: set[int]) -> str:
    """Rows of texts one below the other; columns not in `left` are flush right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _top_of(part: Sensitivity, unit: str, count: int) -> list[list[str]]:
    """The table of outputs of one unit."""
    slopes = part.values
    values = part.coords["by_value"].values if "by_value" in part.coords else np.zeros(slopes.shape[1])
    size = np.sqrt((slopes**2).sum(axis=0))
    is_angle = part.coords["by_unit"].values == "rad"
    change = np.where(is_angle, np.radians(1.0), 0.01 * np.abs(values))
    order = sorted(range(len(size)), key=lambda at: (size[at] * change[at], size[at]), reverse=True)
    order = [at for at in order if size[at] > 0.0][:count]
    names = part.coords["of"].values.tolist()
    together = len(names) > MOST_COLUMNS
    heads = [f"all {len(names)} together"] if together else names
    rows = [["", "parameter", "value", *heads, "", "moved by 1 %"]]
    over, per_output = shown_unit(unit)
    for rank, at in enumerate(order, 1):
        field_unit = str(part.coords["by_unit"].values[at])
        text, factor = per_unit_text(unit, field_unit)
        under, per_field = shown_unit(field_unit)
        found = [size[at]] if together else np.where(np.abs(slopes[:, at]) < ROUND_OFF * size[at], 0.0, slopes[:, at])
        moved = size[at] * change[at] / per_output
        value = f"{values[at] / per_field:.4g} {under}".removesuffix(" 1")
        effect = (f"{moved:.3g} {over}" if moved else "-") + ("*" if is_angle[at] else "")
        name = str(part.coords["by"].values[at])
        rows.append([f"{rank}", name, value, *(f"{factor * slope:+.4g}" for slope in found), text, effect])
    return rows


def sensitivity(result: Any, of: Of = None, by: By = None) -> Sensitivity:
    """Derivatives of an answer by everything that it depends on, exact, SI.

    `result`: a `Shape` from tensions, lengths or a step of a `ShapePath` (the slip before that step is held); `Shapes`,
    all rows at once on all cores (rows without a stable shape are infinite, and the coordinate `solved` tells which); a
    `Payload`; a `LinearModel`, which moves with the parameter where it was made at an equilibrium under given tensions;
    a `SensedShape` whose angles its sensors determine (what they measured is held, and which of them are beyond the
    gate); or a motion from `simulate(..., sensitivities=[...])`.

    `of`: "tip" (default), "tip pose", "angles", "lengths", "tensions"; of one shape also "stiffness" (principal ones),
    "compliance", "critical tension" and "tension margin"; several of them. Or weights, {"tip": (0, 0, 1)} or an array
    of 3 (tip) or 6 numbers (tip pose): derivatives of one weighted sum, which take no longer than those of one number.
    Of a payload: "payload force". Of a linear model: "natural frequencies", "growth", "A", "B", "mass matrix",
    "stiffness matrix". Of a sensed shape: "tip", "tip pose", "angles". Of a motion: "tip", "angles", "rates".

    `by`: "tensions", "lengths", "gravity", "loads", "friction"; fields of the robot file: one, as
    "sections[0].joint.radius"; one column per section, as "sections[*].link.mass"; all together, as if the file had the
    number once, as "sections.link.mass"; or the end of a path, "link.mass", "mass"; several of these. Or weights,
    {"tensions": (1, -1, 0, 0)}: the derivative along one direction. Default: everything. What a call was given for
    itself (gravity, loads, friction, lengths) stays when the robot file changes. A shape from tensions, differentiated
    by lengths, is taken as if its cables were held by their lengths now, and the other way round. Of a payload also
    "bends", "azimuths", "direction", "point" and "moment_per_force"; of a linear model "damping", "q0" and "qd0". Of a
    sensed shape fields of the robot file and "orientations", small turns in world axes of what each sensor reported, in
    the order of `robot.sensor_links`; and "base", those of a base that is known.

    Returns a labelled array whose `top` is a table for people.
    """
    if isinstance(result, Shapes):
        return _of_shapes(result, of, by)
    if isinstance(result, Payload):
        return _of_payload(result, of, by)
    if isinstance(result, LinearModel):
        return _of_linear_model(result, of, by)
    if isinstance(result, SensedShape):
        return _of_sensed(result, of, by)
    if isinstance(result, xarray.Dataset) and "q" in result:
        return _of_run(result, of, by)
    if not isinstance(result, Shape):
        kinds = "a Shape, Shapes, Payload, LinearModel, SensedShape or a motion from simulate"
        raise InputError("result", f"must be {kinds}, not {shown(result)}")
    return _of_shape(result, of, by)


def _of_shape(result: Shape, of: Of, by: By) -> Sensitivity:
    case = ShapeProblem.of(result, held_by_length(result, words_of(by)))
    parameters = parameters_of(case, by)
    parts = [case.outputs(request) for request in requests_of(of)]
    names, units = [name for part in parts for name in part.names], [unit for part in parts for unit in part.units]
    values = np.vstack([part.derivatives for part in parts]) @ parameters.directions.T
    coordinates = {
        "of": names, "of_unit": ("of", units), "of_value": ("of", np.concatenate([part.values for part in parts])),
        "by": parameters.names, "by_unit": ("by", parameters.units), "by_value": ("by", parameters.values),
    }  # fmt: skip
    return _labelled(values, coordinates, ("of", "by"), result.robot.name, case.notes())


def requests_of(of: Of) -> list[Request]:
    """The words and weights that are asked for."""
    if of is None:
        return ["tip"]
    if isinstance(of, str | Mapping):
        return [of]
    if isinstance(of, Sequence) and len(of) and all(isinstance(word, str | Mapping) for word in of):
        return [word for word in of if isinstance(word, str | Mapping)]
    weights = numbers("of", cast(ArrayLike, of), "any unit")
    if weights.shape not in ((3,), (6,)):
        raise InputError("of", f"weights must be 3 for the tip or 6 for the tip pose, not of shape {weights.shape}")
    return [{"tip" if len(weights) == 3 else "tip pose": weights}]


def _of_shapes(shapes: Shapes, of: Of, by: By) -> Sensitivity:
    """All rows, on all cores."""
    solved = np.flatnonzero(shapes.solved)
    if "lengths" in words_of(by):
        raise InputError("by", "rows of tensions are held by their tensions; take shape(row) of one for its lengths")
    if not len(solved):
        raise InputError("result", "no row has a stable shape; its `status` says why")
    one = ShapeProblem.of(shapes.shape(int(solved[0])), False)
    parameters, parts = parameters_of(one, by), [one.linear(request) for request in requests_of(of)]
    names, units = [name for part in parts for name in part[0]], [unit for part in parts for unit in part[1]]
    seeds = Seeds(*(np.concatenate(rows) for rows in zip(*(part[3] for part in parts), strict=True)))
    values = np.full((len(shapes), len(names), len(parameters.names)), np.inf)
    rows = shapes.tip[solved], shapes.angles[solved], shapes.tensions[solved]
    values[solved] = derivatives_of_rows(one.problem, seeds, parameters.directions, *rows)
    coordinates = {
        "of": names, "of_unit": ("of", units), "by": parameters.names, "by_unit": ("by", parameters.units),
        "solved": ("row", shapes.solved),
    }  # fmt: skip
    return _labelled(values, coordinates, ("row", "of", "by"), shapes.robot.name, [])


def _of_payload(payload: Payload, of: Of, by: By) -> Sensitivity:
    """Of the force, or the pure torque, at which the first link slips."""
    if of not in (None, "payload force"):
        raise InputError("of", f"a payload has its 'payload force', not {shown(of)}")
    parameters, gradient = payload_parameters(payload, by)
    coordinates = {
        "of": ["payload force"], "of_unit": ("of", [payload.unit]), "of_value": ("of", [payload.force]),
        "by": parameters.names, "by_unit": ("by", parameters.units), "by_value": ("by", parameters.values),
    }  # fmt: skip
    robot = payload.chain.robot.name
    return _labelled(parameters.directions.T, coordinates, ("of", "by"), robot, list(gradient.notes))


def _of_linear_model(model: LinearModel, of: Of, by: By) -> Sensitivity:
    words = _words(of, "natural frequencies", MODEL_OUTPUTS)
    parameters, notes = model_parameters(model, words, by)
    arrays = [np.ravel(getattr(model, MODEL_OUTPUTS[word][0])) for word in words]
    names, units = [], list[str]()
    for word, array in zip(words, arrays, strict=True):
        names += [f"{word} {at + 1}" for at in range(len(array))]
        units += [MODEL_OUTPUTS[word][1]] * len(array)
    coordinates = {
        "of": names, "of_unit": ("of", units), "of_value": ("of", np.concatenate(arrays)),
        "by": parameters.names, "by_unit": ("by", parameters.units), "by_value": ("by", parameters.values),
    }  # fmt: skip
    return _labelled(parameters.directions.T, coordinates, ("of", "by"), model.robot.name, notes)


def _of_sensed(shape: SensedShape, of: Of, by: By) -> Sensitivity:
    words = _words(of, "tip", OUTPUTS)
    parameters, notes = sensed_parameters(shape, words, by)
    names, units, values = sensed_outputs(shape, words)
    coordinates = {
        "of": names, "of_unit": ("of", units), "of_value": ("of", values),
        "by": parameters.names, "by_unit": ("by", parameters.units), "by_value": ("by", parameters.values),
    }  # fmt: skip
    return _labelled(parameters.directions.T, coordinates, ("of", "by"), shape.robot.name, notes)


def _of_run(run: xarray.Dataset, of: Of, by: By) -> Sensitivity:
    values, names, units, columns, by_units = run_parameters(run, _words(of, "tip", RUN_OUTPUTS), by)
    coordinates = {
        "time": run.coords["time"].values, "of": names, "of_unit": ("of", units), "by": columns,
        "by_unit": ("by", by_units),
    }  # fmt: skip
    return _labelled(values, coordinates, ("time", "of", "by"), str(run.attrs.get("robot", "")), [])


def _words(of: Of, usual: str, known: Collection[str]) -> list[str]:
    """Words for outputs, of answers that know no weights."""
    asked = [usual] if of is None else [of] if isinstance(of, str) else list(cast(Sequence[Any], of))
    for word in asked:
        if not isinstance(word, str) or word not in known:
            raise InputError("of", f"must be {' or '.join(map(repr, known))}, not {shown(word)}")
    return asked


def _labelled(
    values: Floats, coordinates: dict[str, Any], dims: tuple[str, ...], robot: str, notes: list[str]
) -> Sensitivity:
    over, under = set(coordinates["of_unit"][1]), set(coordinates["by_unit"][1])
    units = f"{over.pop()} per {under.pop()}" if len(over) == len(under) == 1 else "SI"
    return Sensitivity(values, coordinates, dims, "sensitivity", {"units": units, "robot": robot, "notes": notes})
