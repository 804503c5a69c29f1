"""The facts of a motion and its tensions as text: what joints need, what cables carry, what fails where."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from vertebra.report.document import Facts, number
from vertebra.report.dynamics_case import DynamicsCase, Worst
from vertebra.report.shape_facts import signless_zero, vector
from vertebra.robot.tables import Floats

METHODS = {
    "shared": "one tension a cable, the least that come closest within the bounds",
    "per_link": "every joint by itself, as in D'Antuono 2023: not those of continuous cables",
    "capstan": "may change along a cable by what its friction can hold",
    "project": "one tension a cable, and the nearest motion that they can make",
}
"""What each method does, in a line."""
INFEASIBLE = "not feasible"
"""How a warning about that begins."""
ROUND_OFF = 1e-9
"""Moments below this, N*m, are zero in tables."""
MOST_BROKEN = 40
"""Rows of the table of violations."""


def dynamics_summary(case: DynamicsCase, title: str = "") -> Facts:
    """The motion as a whole, one fact a row."""
    way, found = case.trajectory, case.allocation
    steps = f", steps of {1e3 * way.dt:.4g} ms" if way.dt is not None else ""
    rows = [
        ("method", f"{found.method}: {METHODS[found.method]}"),
        ("feasible", feasible_text(case)),
        (
            "motion",
            f"{len(way)} moment{'' if len(way) == 1 else 's'} in {way.duration:.6g} s{steps}; {rates_text(case)}",
        ),
        *_moved_rows(case),
        ("largest moment", f"{where(case.worst(np.abs(found.tau)), '.4g', 'N*m')}, to move links, weights and loads"),
        ("left over", _residual_text(case)),
        ("tensions", _tension_range(case)),
        *_contact_rows(case),
        ("gravity", f"{vector(case.gravity)} m/s^2"),
        *case.notes,
    ]
    return Facts(title or case.title, ("", ""), tuple(rows))


def _residual_text(case: DynamicsCase) -> str:
    worst = case.worst(np.abs(case.allocation.residual))
    return f"{where(worst, '.3g', 'N*m')} at most" if worst.value > ROUND_OFF else "nothing but round-off"


def feasible_text(case: DynamicsCase) -> str:
    """In how many moments every constraint holds."""
    good, count = int(case.feasible.sum()), len(case.feasible)
    if good == count:
        return "yes, at every moment"
    return f"NO, at {good} of {count} moments ({100 * good / count:.0f} %)"


def rates_text(case: DynamicsCase) -> str:
    """Where speeds and accelerations come from."""
    computed = case.trajectory.computed
    if not computed:
        return "speeds and accelerations as given"
    what = "speeds and accelerations" if len(computed) == 2 else "speeds" if "qd" in computed else "accelerations"
    return f"{what} of a spline through the rows"


def where(worst: Worst, form: str, unit: str) -> str:
    """Such as ``0.31 N*m, joint 2 at 0.4 s``."""
    return f"{worst.value:{form}} {unit}, joint {worst.joint} at {worst.time:.4g} s"


def _moved_rows(case: DynamicsCase) -> Iterator[tuple[str, str]]:
    moved = case.moved
    if moved is not None:
        degrees = moved._replace(value=math.degrees(moved.value))
        yield "moved from what was asked", f"{where(degrees, '.4g', 'deg')} at most"
    elif case.method == "project":
        yield "moved from what was asked", "nothing: it was feasible already"


def _tension_range(case: DynamicsCase) -> str:
    """Over moments and cables, without the zeros beyond the end of a cable."""
    low, high = zip(*(_cable_range(case, k) for k in range(len(case.robot.cables))), strict=True)
    return f"{number(round(min(low), 6))} to {number(round(max(high), 6))} N"


def _cable_range(case: DynamicsCase, k: int) -> tuple[float, float]:
    """Least and most of cable row `k` over time and, where it differs, along the cable, N."""
    along, end = case.along, int(case.robot.cables["last_link"][k])
    values = case.allocation.tensions[:, k] if along is None else along[:, k, :end]
    return float(values.min()), float(values.max())


def _contact_rows(case: DynamicsCase) -> Iterator[tuple[str, str]]:
    least, most = case.least_contact(), case.most_friction()
    if least is None or most is None:
        yield "contacts", "- (the robot file gives no contact_offset and friction of its joints)"
        return
    yield "smallest contact force", where(least, ".4g", "N") + (": the links part" if least.value < 0.0 else "")
    if math.isinf(most.value):
        yield "largest use of friction", f"beyond all bounds where links part, joint {most.joint} at {most.time:.4g} s"
    else:
        yield "largest use of friction", where(most._replace(value=100.0 * most.value), ".4g", "%")


def dynamics_warnings(case: DynamicsCase) -> Iterator[str]:
    """What must not be overlooked."""
    yield from case.warnings
    if case.method == "capstan" and case.frictionless:
        yield "the cables have no friction: capstan is then the same as shared"
    if not case.feasible.all():
        bad, count = int((~case.feasible).sum()), len(case.feasible)
        first = next(case.broken(), None)
        why = f"; most often: {first.worst.message}" if first is not None else ""
        yield f"{INFEASIBLE} at {bad} of {count} moments{why}"
    yield from _contact_warnings(case)


def _contact_warnings(case: DynamicsCase) -> Iterator[str]:
    """Methods that do not look at the contacts may break them."""
    least, most = case.least_contact(), case.most_friction()
    if case.method == "per_link" or least is None or most is None:
        return
    if least.value < 0.0:
        yield (
            f"joint {least.joint} would have to pull by {-least.value:.3g} N at {least.time:.4g} s: its links part; "
            f"{case.method} does not look at contacts, raise --lower"
        )
    elif most.value > 1.0:
        yield (
            f"joint {most.joint} needs {100.0 * most.value:.3g} % of its friction at {most.time:.4g} s: its links "
            f"slip; {case.method} does not look at contacts, raise --lower"
        )


def joint_need_facts(case: DynamicsCase) -> Facts:
    """One row a joint: how it moves, what it needs, what is left over."""
    found, springs = case.allocation, case.springs
    elastic = bool(springs.any())
    headers = ["joint", "angle [deg]", "speed [deg/s]", "accel. [deg/s^2]", "least tau [N*m]", "most tau [N*m]"]
    headers += ["spring [N*m]", "cables need [N*m]"] if elastic else []
    headers += ["left over [N*m]"]
    rows = []
    for j in range(found.tau.shape[1]):
        row = [str(j + 1), signless_zero(math.degrees(_peak(found.q[:, j])), ".2f")]
        row += [f"{math.degrees(abs(_peak(values[:, j]))):.4g}" for values in (found.qd, found.qdd)]
        row += [_moment(found.tau[:, j].min()), _moment(found.tau[:, j].max())]
        row += [_moment(_peak(springs[:, j])), _moment(_peak(case.needed[:, j]))] if elastic else []
        rows.append((*row, _moment(abs(_peak(found.residual[:, j])))))
    return Facts("Joints, at their largest", tuple(headers), tuple(rows))


def _peak(values: Floats) -> float:
    """The value farthest from zero."""
    return float(values[np.abs(values).argmax()])


def _moment(value: float) -> str:
    """N*m; round-off is zero."""
    return signless_zero(value, ".4g") if abs(value) > ROUND_OFF else "0"


def cable_need_facts(case: DynamicsCase) -> Facts:
    """One row a cable: its tension at the base and, where it changes along the cable, across the joints."""
    base, along = case.allocation.base_tensions, case.along
    headers = ["cable", "azimuth [deg]", "least [N]", "most [N]", "mean [N]"]
    headers += ["across joints [N]", "largest step [N]"] if along is not None else []
    rows = []
    for k, pull in enumerate(base.T):
        row = [str(k + 1), number(math.degrees(case.robot.cables["azimuth"][k]))]
        row += [number(round(float(value), 6)) for value in (pull.min(), pull.max(), pull.mean())]
        if along is not None:
            low, high = _cable_range(case, k)
            steps = np.diff(along[:, k, : int(case.robot.cables["last_link"][k])], axis=1)
            largest = round(float(np.abs(steps).max()), 6) if steps.size else 0.0
            row += [f"{number(round(low, 6))} to {number(round(high, 6))}", f"{largest:.4g}"]
        rows.append(tuple(row))
    return Facts("Cables, at the base", tuple(headers), tuple(rows))


def violation_facts(case: DynamicsCase) -> Facts:
    """What cannot be had, by joint and constraint."""
    broken = list(case.broken())
    rows = [
        (
            str(found.joint) if found.joint else "-",
            found.constraint,
            str(found.moments),
            f"{found.worst.amount:.3g} {found.worst.unit}",
            f"{found.time:.4g}",
        )
        for found in broken[:MOST_BROKEN]
    ]
    some = f", {MOST_BROKEN} of {len(broken)}" if len(broken) > MOST_BROKEN else ""
    headers = ("joint", "constraint", "moments", "by at most", "at [s]")
    return Facts(f"What is not feasible{some}", headers, tuple(rows))
