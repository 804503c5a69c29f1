"""The facts of a shape as text: what the command line and the pages print about it. Units stand beside the numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from vertebra.report.document import Facts, number
from vertebra.report.overlays import place_text
from vertebra.report.slip_facts import friction_rows, slip_text, tensions_at_end
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.statics.forward import Shapes
from vertebra.statics.shape import Shape, Status
from vertebra.statics.stiffness import tip_stiffness

MM = 1e3


def shape_summary(shape: Shape, title: str = "") -> Facts:
    """The shape as a whole, one fact a row."""
    rows = [
        ("tip", f"{vector(shape.tip * MM, '.3f')} mm"),
        ("state", state_text(shape)),
        *_stiffness_rows(shape),
        *friction_rows(shape),
        ("energy", f"{number(shape.energy)} J"),
        ("residual", f"{shape.residual:.2g} N*m, where moments are about {shape.moment_scale:.2g} N*m"),
        ("iterations", str(shape.iterations)),
        ("gravity", f"{vector(shape.gravity)} m/s^2"),
    ]
    return Facts(title or shape.robot.name, ("", ""), tuple(rows))


def state_text(shape: Shape) -> str:
    """In one line: is this an equilibrium that the robot stays in."""
    if not shape.converged:
        return "NOT an equilibrium: the solver did not converge"
    return "stable" if shape.stable else "UNSTABLE: it would buckle away from here"


def warnings(shape: Shape) -> Iterator[str]:
    """What a reader must not overlook."""
    if not shape.converged or not shape.stable:
        yield state_text(shape)
    past = _past_limit(shape)
    if past:
        yield f"{joint_list(past)} past the limit: the stops would carry load, which is not modelled"
    if shape.locked:
        yield (
            f"{joint_list(shape.locked)} bent so far that the friction law holds a cable fast in its hole: there the "
            "law has no answer"
        )
    if shape.separated:
        yield (
            f"{joint_list(shape.separated)} would have to pull, which a rolling contact cannot: the links come apart; "
            "raise the tensions or take load away"
        )


def _past_limit(shape: Shape) -> tuple[int, ...]:
    """Joints out of range, but for those that only friction stops."""
    limits = shape.robot.joints["limit"]
    return tuple(j for j in shape.out_of_range if j not in shape.locked or abs(shape.angles[j - 1]) > limits[j - 1])


def joint_list(joints: tuple[int, ...], most: int = 6) -> str:
    """Such as ``joint 3`` or ``joints 3, 4 and 9``."""
    if len(joints) == 1:
        return f"joint {joints[0]}"
    if len(joints) > most:
        return f"joints {', '.join(map(str, joints[:most]))} and {len(joints) - most} more"
    return f"joints {', '.join(map(str, joints[:-1]))} and {joints[-1]}"


def vector(values: ArrayLike, form: str = ".6g") -> str:
    """Such as ``(0.00, -1.50, 20.00)``, without a minus in front of nothing."""
    return f"({', '.join(signless_zero(float(value), form) for value in np.asarray(values))})"


def signless_zero(value: float, form: str) -> str:
    """The number as text; what rounds to zero has no sign."""
    text = format(value, form)
    return text.lstrip("-") if float(text) == 0 else text


def _stiffness_rows(shape: Shape) -> Iterator[tuple[str, str]]:
    if shape.status != Status.SOLVED:
        yield "tip stiffness", "- (only a stable shape within its range has one)"
        return
    stiff = tip_stiffness(shape)
    for name, place in (("softest", 0), ("stiffest", 2)):
        along = axis_text(stiff.directions[place])
        yield f"{name} at the tip", f"{stiffness_text(stiff.stiffness[place])} along {along}"


def axis_text(direction: Floats) -> str:
    """A direction without a sense, so its largest component is shown positive."""
    return vector(direction * np.sign(direction[np.abs(direction).argmax()]), ".2f")


def stiffness_text(value: float) -> str:
    """In N/m; ``rigid`` where nothing gives way."""
    return f"{value:.4g} N/m" if math.isfinite(value) else "rigid"


def joint_facts(shape: Shape) -> Facts:
    """One row a joint."""
    share = np.abs(shape.angles) / shape.robot.joints["limit"]
    force = np.linalg.norm(shape.forces, axis=1)
    cables = shape.tensions.sum(axis=0)
    rows = [
        (
            str(j + 1),
            signless_zero(math.degrees(shape.angles[j]), ".3f"),
            f"{100 * share[j]:.0f} %",
            f"{force[j]:.4f}",
            signless_zero(normal, ".4f"),
            f"{cables[j]:.4f}",
        )
        for j, normal in enumerate(shape.normal_forces)
    ]
    headers = ("joint", "angle [deg]", "of limit", "force [N]", "normal [N]", "cables [N]")
    return Facts("Joints in this shape", headers, tuple(rows))


def cable_facts(shape: Shape) -> Facts:
    """One row a cable; where cables rub, also what is left of the tension at the end, and which way they slip."""
    robot = shape.robot
    base, end = shape.tensions_at_base, tensions_at_end(shape)
    headers = ["cable", "azimuth [deg]", "end at link", "tension [N]", "length [mm]", "pulled in [mm]"]
    rows = [
        [
            str(k + 1),
            number(math.degrees(robot.cables["azimuth"][k])),
            str(robot.cables["last_link"][k]),
            number(round(base[k], 9)),
            f"{shape.lengths[k] * MM:.3f}",
            signless_zero((straight - shape.lengths[k]) * MM, ".3f"),
        ]
        for k, straight in enumerate(straight_lengths(robot))
    ]
    if shape.friction:
        headers[4:4] = ["at its end [N]"]
        headers += ["slip"]
        for k, row in enumerate(rows):
            row[4:4] = [number(round(end[k], 9))]
            row += [slip_text(shape, k)]
    return Facts("Cables in this shape", tuple(headers), tuple(tuple(row) for row in rows))


def straight_lengths(robot: Robot) -> Floats:
    """(cables,) m, of the straight robot with mirror joints."""
    from vertebra.mechanics.kinematics import cable_lengths

    return cable_lengths(robot, np.zeros(robot.freedoms))


def load_facts(shape: Shape | Shapes) -> Facts:
    """One row a load."""
    rows = [
        (str(i), place_text(shape.robot, load), vector(load.force), vector(load.moment))
        for i, load in enumerate(shape.loads, 1)
    ]
    return Facts("Loads", ("load", "at", "force [N]", "moment [N*m]"), tuple(rows))
