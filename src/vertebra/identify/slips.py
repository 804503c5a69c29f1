"""Slip tests of two links: the rig, the tests checked, and read from the file `slips.csv`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vertebra.errors import CellProblem, InputError, MeasurementError, row_name
from vertebra.identify.measurements import FINITE, LARGEST, freeze, measured_text, refuse_both, rule
from vertebra.robot.description import BallJoint, Cables, Section
from vertebra.robot.robot import Robot
from vertebra.robot.table_file import Column, read_table, tension_columns, wrong_values
from vertebra.robot.tables import Floats

LARGEST_MU = 100.0
"""No robot file takes more."""
CLOSEST = 1e-6
"""How near mu r_c may come to the radius of the ball, relative to it: beyond, the torsion limit has no meaning."""


def two_link_rig(robot: Robot) -> Robot:
    """A robot of one joint: the first joint, its link, all cables, and base, tip and gravity as in the file."""
    description = robot.description
    first = description.sections[0]
    if not isinstance(first.joint, BallJoint):
        raise InputError(
            "robot",
            f"slip tests are made on ball joints, and joint 1 of {robot.name} is a {first.joint.kind} joint; give the "
            "robot whose links were tested, or fit parameters of this one to its shapes with `fit_shapes`",
        )
    section = first.model_copy(update={"joints": 1, "cables": _all_cables(robot)})
    return Robot(description.model_copy(update={"name": f"{robot.name}, two links", "sections": (section,)}))


def _all_cables(robot: Robot) -> Cables:
    """The cables of all sections as one block, in file order: each of them passes the first joint."""
    groups = [section.cables for section in robot.description.sections if section.cables is not None]
    if not groups:
        raise InputError("robot", f"{robot.name} has no cables to hold a link; add a `cables` block to its file")
    merged = groups[0].model_copy(update={"azimuth": tuple(angle for group in groups for angle in group.azimuth)})
    if any(group.model_copy(update={"azimuth": merged.azimuth}) != merged for group in groups):
        raise InputError(
            "robot",
            f"the cables of {robot.name} differ from section to section; write a robot file of the rig: one section "
            "with one joint and the cables that held the link",
        )
    return merged


def with_friction(robot: Robot, mu: float) -> Robot:
    """The same robot with another friction of joint 1 and of every joint that is like it."""
    description = robot.description
    first = description.sections[0].joint
    sections = tuple(_changed(section, mu) if section.joint == first else section for section in description.sections)
    return Robot(description.model_copy(update={"sections": sections}))


def _changed(section: Section, mu: float) -> Section:
    return section.model_copy(update={"joint": section.joint.model_copy(update={"friction": float(mu)})})


def largest_mu(rig: Robot) -> float:
    """Above it mu r_c reaches the radius of the ball, and no robot file takes it."""
    joint = rig.joints[0]
    return float(min(LARGEST_MU, (1.0 - CLOSEST) * joint["radius"] / joint["ring_radius"]))


# Slip tests of two links, checked: tensions of the cables, and the load that made the link slip.

Rows = NDArray[np.intp]
LISTS = {"tensions": 2, "force": 1, "bend": 1, "azimuth": 1, "direction": 2, "point": 2, "step": 1, "held": 1}
"""Arrays of slip tests and their dimensions."""
RECORDED = {"slipped": 0.0, "held": 1.0}
"""Which load of a test is written down: the first one that slipped, or the last one that held."""
DECIMALS = 9
"""Tests whose settings agree to this many decimals (SI) are repeats of each other."""


@dataclass(frozen=True, eq=False, repr=False)
class SlipData:
    """Slip tests of two links, one row each, SI: a clamped one, and one that cables hold on its ball."""

    tensions: Floats
    """(n, cables) N."""
    force: Floats
    """(n,) N: the load as written down, above 0."""
    bend: Floats
    """(n,) rad: bend of the joint."""
    azimuth: Floats
    """(n,) rad: where it bends to."""
    direction: Floats
    """(n, 3) of the load, in the world frame; unit vectors."""
    point: Floats
    """(n, 3) m: where the load acts, in the frame of the held link."""
    step: Floats
    """(n,) N: by how much the load grew from one trial to the next; 0 for a load that grows smoothly."""
    held: Floats
    """(n,) 1 where `force` is the last load that held, 0 where it is the first one that slipped."""
    lines: tuple[int, ...] = ()
    """(n,) line of the file; 0 without one."""
    source: str = "slip tests"
    """Where they come from, for people."""
    simulated: bool = False
    """Whether they are simulated."""
    notes: tuple[str, ...] = ()
    """Remarks about the file, such as columns that were not used."""

    def __post_init__(self) -> None:
        freeze(self, LISTS, "slip test")
        if self.direction.shape[1] != 3 or self.point.shape[1] != 3 or not self.tensions.shape[1]:
            raise InputError("slips", "directions and points have three coordinates, and one cable or more pulls")
        object.__setattr__(self, "lines", tuple(self.lines) or (0,) * len(self))
        if len(self.lines) != len(self):
            raise InputError("lines", f"must have one entry per slip test, not {len(self.lines)}")
        values = {"t": self.tensions, "slip_force": self.force, "recorded": self.held}
        values |= {name: getattr(self, name) for name in ("bend", "azimuth", "direction", "point", "step")}
        problems = [*wrong_values(slip_columns(self.tensions.shape[1]), values, self.lines), *self._wrong_rows()]
        if problems:
            raise MeasurementError(problems, self.source)
        unit = self.direction / np.linalg.norm(self.direction, axis=1, keepdims=True)
        unit.flags.writeable = False
        object.__setattr__(self, "direction", unit)

    def _wrong_rows(self) -> Iterator[CellProblem]:
        """Faults that no single cell shows."""
        for row, line in enumerate(self.lines):
            force, step = float(self.force[row]), float(self.step[row])
            if not self.tensions[row].any():
                message = "no cable pulls: without any tension nothing presses the links together; leave the row out"
                yield CellProblem(row + 1, line, "t1_N", message)
            if not self.held[row] and 0.0 < force < 0.5 * step:
                message = f"a load that slipped at {force:g} N cannot have grown in steps of {step:g} N"
                yield CellProblem(row + 1, line, "step_N", message)
            if not np.linalg.norm(self.direction[row]) > 0.0:
                message = "dx, dy, dz are all zero; give the direction of the load, such as 0,-1,0"
                yield CellProblem(row + 1, line, "dx", message)

    @property
    def slip_force(self) -> Floats:
        """(n,) N: the middle of where the slip can have been: between the last load that held and the first that
        slipped."""
        return self.force + (self.held - 0.5) * self.step

    @property
    def settings(self) -> tuple[Rows, Rows]:
        """First row of each setting, and the setting of each row, (n,). Repeats have the same
        joint, cables and load."""
        keys = np.column_stack([self.tensions, self.bend, self.azimuth, self.direction, self.point])
        _, first, cell = np.unique(keys.round(DECIMALS) + 0.0, axis=0, return_index=True, return_inverse=True)
        # In the order of the file, not of the numbers.
        order = np.argsort(first)
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        return first[order], place[cell.ravel()]

    def name(self, row: int) -> str:
        """How a row, counted from 0, is called in messages."""
        return row_name(row + 1, self.lines[row])

    def __len__(self) -> int:
        return len(self.force)

    def __repr__(self) -> str:
        made = "simulated " if self.simulated else ""
        settings = len(self.settings[0])
        return f"SlipData: {len(self)} {made}slip tests at {settings} settings, from {self.source}"


# The file `slips.csv`: one row per slip test of two links, in the units people measure in.
#
# tension_N,slip_force_N
# 5,6.1
# 5,5.9
# 10,12.2


def slip_columns(cables: int) -> tuple[Column, ...]:
    """Columns of the file for a rig with so many cables."""
    each = replace(tension_columns(cables), needed=False, instead="tension", why=f"the rig has {cables} cables")
    option = partial(Column, needed=False, blank=True)
    force = rule(
        lambda force: 0.0 < force < LARGEST, "must be a load above 0 N, not {:g}; its direction is in dx, dy, dz"
    )
    angle = rule(lambda angle: abs(angle) <= 4 * math.pi, "must be an angle in degrees")
    step = rule(lambda step: 0.0 <= step < LARGEST, "must be a load step of 0 N or more, not {:g}")
    held = rule(
        lambda held: held in RECORDED.values(),
        "must be 1 where the load is the last that held, 0 where it is the first that slipped",
    )
    return (
        each,
        Column(name="tension", unit="N", instead="t", check=each.check, why=f"one for all cables, or {each.spoken}"),
        Column(name="slip_force", unit="N", check=force),
        option(name="bend", unit="rad", written="deg", check=angle),
        option(name="azimuth", unit="rad", written="deg", check=angle),
        option(name="direction", parts=("dx", "dy", "dz"), blank=False, check=FINITE),
        option(name="point", unit="m", written="mm", parts=("px", "py", "pz"), blank=False, instead="arm",
               check=FINITE),
        option(name="arm", unit="m", written="mm", instead="point", check=FINITE),
        option(name="step", unit="N", check=step),
        option(name="recorded", words=RECORDED, check=held,
               why="slipped (the first load that slipped) or held (the last one that held)"),
    )  # fmt: skip


def read_slips(
    path: str | Path,
    robot: Robot,
    *,
    direction: Sequence[float] | None = None,
    step: float | None = None,
    recorded: str | None = None,
) -> SlipData:
    """Slip tests of two links of `robot` from a CSV file.

    Columns: slip_force_N, the load; the tension of every cable, t1_N, t2_N, ..., or tension_N for all. Optional:
    bend_deg and azimuth_deg of the joint (0); dx,dy,dz, the direction of the load in the world; where it acts, px_mm,
    py_mm,pz_mm in the frame of the held link, or arm_mm, from the centre of the ball along the link (the tip of the
    robot file); step_N; recorded, slipped or held. `direction` (default: that of gravity), `step` in N and `recorded`
    (default slipped) are for files without these columns.
    """
    rig = two_link_rig(robot)
    pulls_to, cables, tip = _direction(rig, direction), len(rig.cables), rig.tip_point
    common_step, common_record = _step(step), _recorded(recorded)
    table = read_table(path, slip_columns(cables), per="slip test")
    given = {"direction": (direction, "dx"), "step": (step, "step_N"), "recorded": (recorded, "recorded")}
    refuse_both(table, path, given)
    if direction is None and "direction" not in table.values and not rig.gravity.any():
        raise InputError("direction", f"{robot.name} has no gravity to load along; say where the load pulls to")
    point = table.values.get("point", np.tile(tip, (len(table), 1)))
    if "arm" in table.values:
        arm = table.values["arm"] - rig.links["length"][1]
        point[:, 2] = np.where(np.isnan(arm), tip[2], arm)
    try:
        return SlipData(
            tensions=table.values["t"] if "t" in table.values else np.tile(table.values["tension"], (cables, 1)).T,
            force=table.values["slip_force"],
            bend=table.get("bend", 0.0),
            azimuth=table.get("azimuth", 0.0),
            direction=table.values.get("direction", np.tile(pulls_to, (len(table), 1))),
            point=point,
            step=table.get("step", common_step),
            held=table.get("recorded", common_record),
            lines=table.lines,
            source=f"{Path(path).name}, {len(table)} {'simulated' if table.simulated else 'measured'} slip tests",
            simulated=table.simulated,
            notes=table.notes,
        )
    except MeasurementError as error:
        raise table.as_written(error, {"t1_N": "tension_N"}) from None


def slip_csv(data: SlipData) -> str:
    """The text of a file of slip tests, with all digits needed to read it back. Simulated ones say so in line 1."""
    same = (data.tensions == data.tensions[:, :1]).all()
    numbers = {"tension": data.tensions[:, 0]} if same else {"t": data.tensions}
    numbers["slip_force"] = data.force
    for name, angle in (("bend", data.bend), ("azimuth", data.azimuth)):
        if angle.any():
            numbers[name] = np.degrees(angle)
    numbers |= {"direction": data.direction, "point": 1e3 * data.point}
    recorded: list[str] = []
    if data.step.any():
        numbers["step"] = data.step
        recorded = ["held" if held else "slipped" for held in data.held]
    columns = slip_columns(data.tensions.shape[1])
    return measured_text(columns, numbers, {"recorded": recorded}, data.source if data.simulated else "")


def _direction(rig: Robot, given: Sequence[float] | None) -> Floats:
    vector: Floats = np.array(rig.gravity if given is None else given, dtype=np.float64)
    if vector.shape != (3,) or not np.isfinite(vector).all() or (given is not None and not vector.any()):
        raise InputError("direction", f"must be three numbers in the world frame, such as (0, -1, 0), not {given!r}")
    length = np.linalg.norm(vector)
    return vector / length if length else vector


def _step(step: float | None) -> float:
    if step is None:
        return 0.0
    if isinstance(step, bool) or not isinstance(step, int | float | np.floating) or not 0.0 <= step < 1e9:
        raise InputError("step", f"must be the step of the load in N, 0 or more, not {step!r}")
    return float(step)


def _recorded(word: str | None) -> float:
    if word is not None and word not in RECORDED:
        raise InputError("recorded", f"must be {' or '.join(RECORDED)}, not {word!r}")
    return RECORDED[word or "slipped"]
