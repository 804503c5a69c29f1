"""The file `slips.csv`: one row a slip test of two links, in the units people measure in.

tension_N,slip_force_N
5,6.1
5,5.9
10,12.2
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vertebra.errors import CellProblem, InputError, MeasurementError
from vertebra.identify.measured_file import SIMULATED, file_error, is_number, read_text, split_cells
from vertebra.identify.slip_data import RECORDED, SlipData
from vertebra.identify.slip_rig import two_link_rig
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

FORCE, TENSION, BEND, AZIMUTH, ARM = "slip_force_N", "tension_N", "bend_deg", "azimuth_deg", "arm_mm"
DIRECTION, POINT = ("dx", "dy", "dz"), ("px_mm", "py_mm", "pz_mm")
STEP, WHICH = "step_N", "recorded"
EXAMPLE = f"{TENSION},{FORCE}"
_EACH = re.compile(r"[tT](\d+)(_.*)?")


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
    (default slipped) are for files without these columns. Lines that begin with # are comments.
    """
    rig, origin = two_link_rig(robot), str(path)
    common = _Common(rig, _direction(rig, direction), _step(step), _recorded(recorded))
    text = read_text(Path(path), origin)
    lines = [(i, line) for i, line in enumerate(text.splitlines(), 1) if line.strip(" ,\t") and line[0] != "#"]
    if not lines:
        raise file_error(origin, f"has no slip tests; write a header such as {EXAMPLE} and one row a test")
    (number, header), *body = lines
    names = split_cells(header)
    _check_header(names, header, number, origin, len(rig.cables))
    given = {"direction": (direction, DIRECTION[0]), "step": (step, STEP), "recorded": (recorded, WHICH)}
    for name, (value, column) in given.items():
        if value is not None and column in names:
            raise InputError(name, f"{origin} has its own column {column}; leave one of the two out")
    if direction is None and DIRECTION[0] not in names and not rig.gravity.any():
        raise InputError("direction", f"{robot.name} has no gravity to load along; say where the load pulls to")
    if not body:
        raise file_error(origin, "has a header but no slip tests; write one row a test")
    tests, problems = [], []
    for row, (line, cells) in enumerate(body, 1):
        values, wrong = _read_row(split_cells(cells), names)
        problems += [CellProblem(row, line, column, message) for column, message in wrong]
        tests.append(values)
    if problems:
        raise MeasurementError(problems, origin)
    simulated = text.lower().startswith(SIMULATED)
    source = f"{Path(path).name}, {len(body)} {'simulated' if simulated else 'measured'} slip tests"
    lists = common.lists(tests, names)
    try:
        return SlipData(**lists, lines=tuple(line for line, _ in body), source=source, simulated=simulated,
                        notes=tuple(_notes(names, len(rig.cables))))  # fmt: skip
    except MeasurementError as error:
        # One tension for all cables is wrong once, not once a cable.
        once = dict.fromkeys(_as_written(problem, names) for problem in error.problems)
        raise MeasurementError(list(once), origin) from None


class _Common(NamedTuple):
    """What holds for rows that do not say it themselves."""

    rig: Robot
    direction: Floats
    step: float
    held: float

    def lists(self, tests: Sequence[Mapping[str, float]], names: Sequence[str]) -> dict[str, Floats]:
        """The rows of a file as lists in SI."""

        def column(name: str, default: float) -> Floats:
            return np.array([test.get(name, default) for test in tests])

        cables = range(1, len(self.rig.cables) + 1)
        each = [TENSION] * len(cables) if TENSION in names else [f"t{k}_N" for k in cables]
        tip = self.rig.tip_point.copy()
        place = [1e-3 * column(name, 1e3 * value) for name, value in zip(POINT, tip, strict=True)]
        if ARM in names:
            place[2] = 1e-3 * column(ARM, np.nan) - self.rig.links["length"][1]
            place[2] = np.where(np.isnan(place[2]), tip[2], place[2])
        return {
            "tensions": np.column_stack([column(name, np.nan) for name in each]),
            "force": column(FORCE, np.nan),
            "bend": np.radians(column(BEND, 0.0)),
            "azimuth": np.radians(column(AZIMUTH, 0.0)),
            "direction": np.column_stack(
                [column(name, value) for name, value in zip(DIRECTION, self.direction, strict=True)]
            ),
            "point": np.column_stack(place),
            "step": column(STEP, self.step),
            "held": column(WHICH, self.held),
        }


def slip_csv(data: SlipData) -> str:
    """The text of a file of slip tests, with the digits to read the same back. Simulated ones say so in line 1."""
    columns: dict[str, list[str]] = {}
    if (data.tensions == data.tensions[:, :1]).all():
        columns[TENSION] = _texts(data.tensions[:, 0])
    else:
        columns |= {f"t{k + 1}_N": _texts(pull) for k, pull in enumerate(data.tensions.T)}
    columns[FORCE] = _texts(data.force)
    for name, angle in ((BEND, data.bend), (AZIMUTH, data.azimuth)):
        if angle.any():
            columns[name] = _texts(np.degrees(angle))
    columns |= {name: _texts(values) for name, values in zip(DIRECTION, data.direction.T, strict=True)}
    columns |= {name: _texts(1e3 * values) for name, values in zip(POINT, data.point.T, strict=True)}
    if data.step.any():
        columns[STEP] = _texts(data.step)
        columns[WHICH] = ["held" if held else "slipped" for held in data.held]
    text = io.StringIO()
    if data.simulated:
        text.write(f"{SIMULATED}: {' '.join(data.source.split())}\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def _texts(values: Floats) -> list[str]:
    return [f"{value:.15g}" for value in (values + 0.0).tolist()]


def _known(cables: int) -> tuple[str, ...]:
    each = (f"t{k}_N" for k in range(1, cables + 1))
    return (*each, TENSION, FORCE, BEND, AZIMUTH, *DIRECTION, *POINT, ARM, STEP, WHICH)


def _check_header(names: list[str], header: str, line: int, origin: str, cables: int) -> None:
    """An error that names every column that is missing, stands there twice, or cannot be."""
    known = _known(cables)
    if "," not in header and (";" in header or "\t" in header):
        raise file_error(origin, "separate columns by commas, and write numbers with a decimal point", line)
    found: list[tuple[str, str]] = [(name, "stands there twice; keep one") for name in known if names.count(name) > 1]
    each = [name for name in names if _EACH.fullmatch(name)]
    if FORCE not in names:
        close = [name for name in names if re.match("slip|force|load", name, re.IGNORECASE)]
        hint = f"found {close[0]!r}: give it in N and name it {FORCE}" if close else f"a header such as {EXAMPLE}"
        found.append((FORCE, f"is missing; {hint}"))
    if TENSION in names and each:
        found.append((TENSION, f"give {TENSION} for all cables or {each[0]}, ... for each, not both"))
    elif TENSION not in names and not each:
        close = [name for name in names if name.lower().startswith("tension")]
        hint = f"found {close[0]!r}: give it in N and name it {TENSION}" if close else "one for all cables"
        found.append((TENSION, f"is missing; {hint}, or t1_N to t{cables}_N for each"))
    elif each:
        wanted = known[:cables]
        found += [(name, f"is missing; the rig has {cables} cables") for name in wanted if name not in names]
        found += [(name, f"the rig has {wanted[0]} to {wanted[-1]}, in N") for name in each if name not in wanted]
    for group in (DIRECTION, POINT):
        if 0 < len(set(group) & set(names)) < 3:
            found += [(name, f"is missing; give all of {', '.join(group)}") for name in group if name not in names]
    if ARM in names and set(POINT) & set(names):
        found.append((ARM, f"says where the load acts, and so does {POINT[0]}; give one of them"))
    if found:
        raise MeasurementError([CellProblem(0, line, name, message) for name, message in found], origin)


def _read_row(cells: list[str], names: list[str]) -> tuple[dict[str, float], list[tuple[str, str]]]:
    """The numbers of a row, without the empty cells of optional columns; and what is wrong with it."""
    if len(cells) != len(names):
        more = "; write numbers with a decimal point" if len(cells) > len(names) else ""
        return {}, [("", f"has {len(cells)} cells where the header has {len(names)}{more}")]
    values: dict[str, float] = {}
    wrong: list[tuple[str, str]] = []
    optional = {BEND, AZIMUTH, ARM, STEP, WHICH}
    numbers = {FORCE, TENSION, BEND, AZIMUTH, *DIRECTION, *POINT, ARM, STEP}
    for name, text in zip(names, cells, strict=True):
        if name == WHICH and text:
            if text.lower() in RECORDED:
                values[name] = RECORDED[text.lower()]
            else:
                words = "slipped (the first load that slipped) or held (the last one that held)"
                wrong.append((name, f"must be {words}, not {text!r}"))
        elif name in numbers or _EACH.fullmatch(name):
            if is_number(text):
                values[name] = float(text)
            elif text or name not in optional:
                found = f"not {text!r}" if text else "but the cell is empty"
                wrong.append((name, f"must be a finite plain number, {found}"))
    return values, wrong


def _as_written(problem: CellProblem, names: list[str]) -> CellProblem:
    """The problem under the name that the column has in the file."""
    column = problem.column
    if _EACH.fullmatch(column) and TENSION in names:
        column = TENSION
    if column == POINT[0] and ARM in names:
        column = ARM
    return problem._replace(column=column)


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


def _notes(names: list[str], cables: int) -> Iterator[str]:
    extra = [name or "(no name)" for name in names if name not in _known(cables)]
    if extra:
        yield f"columns not used: {', '.join(extra)}"
