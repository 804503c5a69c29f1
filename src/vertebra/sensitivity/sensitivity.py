"""How does an answer change with everything it depends on?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray
from numpy.typing import ArrayLike

from vertebra.errors import InputError, shown
from vertebra.robot.arguments import numbers, positive_count
from vertebra.robot.tables import Floats
from vertebra.robot.units import per_unit_text, shown_unit
from vertebra.sensitivity.parameters import By, Parameters, parameters_of, words_of
from vertebra.sensitivity.standing import Outputs, Standing
from vertebra.statics.shape import Shape

Of = str | Sequence[str] | Mapping[str, ArrayLike] | ArrayLike | None
"""Words for outputs, or weights of them: the sum of these is one output."""

MOST_COLUMNS = 4
"""Outputs that a table for people lists one by one; of more, their root mean square."""


class Sensitivity(xarray.DataArray):
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
        count = positive_count("count", count)
        if self.dims != ("of", "by"):
            raise InputError("count", f"of one answer only, not of {' by '.join(map(str, self.dims))}; select one first")
        blocks = []
        for unit in dict.fromkeys(self.coords["of_unit"].values.tolist()):
            blocks.append(_top_of(self[self.coords["of_unit"].values == unit], unit, count))
        return TopTable("\n\n".join([*blocks, *self.attrs["notes"]]))


class TopTable(str):
    """A text that a notebook shows as it is."""

    def __repr__(self) -> str:
        return str(self)


def _top_of(part: Sensitivity, unit: str, count: int) -> str:
    """The table of outputs of one unit."""
    slopes, values = part.values, part.coords["by_value"].values
    size = np.sqrt((slopes**2).sum(axis=0))
    is_angle = part.coords["by_unit"].values == "rad"
    change = np.where(is_angle, np.radians(1.0), 0.01 * np.abs(values))
    order = sorted(range(len(size)), key=lambda at: (size[at] * change[at], size[at]), reverse=True)
    order = [at for at in order if size[at] > 0.0][:count]
    names = part.coords["of"].values.tolist()
    together = len(names) > MOST_COLUMNS
    heads = [f"all {len(names)} together"] if together else names
    lines = [["", "parameter", "value", *heads, "", "moved by 1 %"]]
    over, per_output = shown_unit(unit)
    for rank, at in enumerate(order, 1):
        field_unit = str(part.coords["by_unit"].values[at])
        text, factor = per_unit_text(unit, field_unit)
        under, per_field = shown_unit(field_unit)
        found = [size[at]] if together else slopes[:, at]
        moved = size[at] * change[at] / per_output
        value = f"{values[at] / per_field:.4g} {under}".removesuffix(" 1")
        effect = (f"{moved:.3g} {over}" if moved else "-") + ("*" if is_angle[at] else "")
        name = str(part.coords["by"].values[at])
        lines.append([f"{rank}", name, value, *(f"{factor * slope:+.4g}" for slope in found), text, effect])
    angles = "\n* of an angle, by 1 deg" if is_angle[order].any() else ""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    left = {1, len(lines[0]) - 2}
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ) + angles


def sensitivity(result: Any, of: Of = None, by: By = None) -> Sensitivity:
    """Derivatives of an answer by everything that it depends on, exact, SI.

    `result`: a `Shape` from tensions, lengths or a step of a `ShapePath` (the slip before that step is held).

    `of`: "tip" (default), "tip pose", "angles", "lengths", "tensions", "stiffness" (principal ones), "compliance",
    "critical tension", "tension margin"; several of them; or weights, {"tip": (0, 0, 1)} or an array of 3 (tip) or 6
    (tip pose) numbers, for the derivatives of one weighted sum, which take no longer than those of one number.

    `by`: "tensions", "lengths", "gravity", "loads", "friction"; fields of the robot file: one, as
    "sections[0].joint.radius"; one column per section, as "sections[*].link.mass"; all together, as if the file had the
    number once, as "sections.link.mass"; or the end of a path, "link.mass", "mass"; several of these; weights, {"tensions":
    (1, -1, 0, 0)}, for the derivative along one direction; default everything. What a call was given for itself
    (gravity, loads, friction, lengths) stays when the robot file changes. A shape from tensions, differentiated by
    lengths, is taken as if its cables were held by their lengths now, and the other way round.

    Returns a labelled array whose `top` is a table for people.
    """
    if not isinstance(result, Shape):
        raise InputError("result", f"must be a Shape, not {shown(result)}")
    asked = words_of(by)
    by_length = len(result._cables.rest) > 0
    if ("lengths" in asked) != ("tensions" in asked):
        by_length = "lengths" in asked
    elif "lengths" in asked:
        raise InputError("by", "cables are held by their tensions or by their lengths; ask for one of them")
    standing = Standing.of(result, by_length)
    parameters = parameters_of(standing, by)
    return _labelled(outputs_of(standing, of), parameters, standing.notes(), result.robot.name)


def outputs_of(standing: Standing, of: Of) -> Outputs:
    """What `of` stands for."""
    if of is None:
        return standing.outputs("tip")
    if isinstance(of, str):
        return standing.outputs(of)
    if isinstance(of, Mapping):
        return _weighed(standing, of)
    listed = list(of) if isinstance(of, Sequence) else []
    if listed and all(isinstance(word, str) for word in listed):
        parts = [standing.outputs(str(word)) for word in listed]
        return Outputs(
            [name for part in parts for name in part.names], [unit for part in parts for unit in part.units],
            np.concatenate([part.values for part in parts]), np.vstack([part.derivatives for part in parts]),
        )  # fmt: skip
    weights = numbers("of", of, "any unit")  # type: ignore[arg-type]
    if weights.shape not in ((3,), (6,)):
        raise InputError("of", f"weights must be 3 for the tip or 6 for the tip pose, not of shape {weights.shape}")
    return _weighed(standing, {"tip" if len(weights) == 3 else "tip pose": weights})


def _weighed(standing: Standing, of: Mapping[str, ArrayLike]) -> Outputs:
    """One output: a sum of others, each times its weight. What one pass can sum, one pass does."""
    seeds, value, units = standing.seeds(1), 0.0, set[str]()
    derivatives: Any = 0.0
    rows = standing.linear_outputs(seeds)
    for word, given in of.items():
        weights = numbers("of", given, "any unit").reshape(-1)
        if word in rows:
            names, unit, values, room = rows[word]
            if len(weights) == len(values):
                room += weights
                value += float(weights @ values)
                units |= set(unit)
        else:
            part = standing.outputs(word)
            names, values = part.names, part.values
            if len(weights) == len(values):
                value, derivatives = value + float(weights @ values), derivatives + weights @ part.derivatives
                units |= set(part.units)
        if len(weights) != len(values):
            raise InputError("of", f"{word} has {len(values)} numbers, so as many weights, not {len(weights)}")
    total: Floats = standing.gradients(seeds)[0][0] + derivatives
    unit = units.pop() if len(units) == 1 else "given weights"
    return Outputs([" and ".join(of)], [unit], np.array([value]), total[None])


def _labelled(outputs: Outputs, parameters: Parameters, notes: list[str], name: str) -> Sensitivity:
    values = outputs.derivatives @ parameters.directions.T
    kinds = set(outputs.units), set(parameters.units)
    units = f"{outputs.units[0]} per {parameters.units[0]}" if all(len(kind) == 1 for kind in kinds) else "SI"
    return Sensitivity(
        values,
        {
            "of": outputs.names, "of_unit": ("of", outputs.units), "of_value": ("of", outputs.values),
            "by": parameters.names, "by_unit": ("by", parameters.units), "by_value": ("by", parameters.values),
        },
        ("of", "by"),
        "sensitivity",
        {"units": units, "robot": name, "notes": notes},
    )  # fmt: skip
