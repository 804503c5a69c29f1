"""How `vertebra dynamics` answers: tables for people, JSON in SI, CSV, netCDF, pictures."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vertebra.cli import statics_output as files
from vertebra.cli.output import console, print_facts, print_table, write_text

if TYPE_CHECKING:
    import xarray

    from vertebra.report.dynamics import DynamicsCase
    from vertebra.robot.tables import Floats

VIOLATION = ("step", "joint", "constraint", "amount", "unit")


def print_case(case: DynamicsCase) -> None:
    """Summary, joints, cables, and what is not feasible."""
    from vertebra.report import dynamics as facts

    print_facts(facts.dynamics_summary(case))
    for table in (facts.joint_need_facts(case), facts.cable_need_facts(case), facts.violation_facts(case)):
        if table.rows:
            print_table(table)


def print_plot(case: DynamicsCase) -> None:
    """Tensions at the base over time, in blocks."""
    from rich.text import Text

    from vertebra.cli.terminal_plot import strips

    base = case.allocation.base_tensions
    top, out = float(base.max()), console()
    curves = {f"cable {k}": pull for k, pull in enumerate(base.T, 1)}
    out.print()
    span = f"{case.time[0]:g} to {case.time[-1]:g} s"
    out.print(Text(f"Tensions at the base over {span}, 0 to {top:.4g} N", style="bold"))
    for line in strips(curves, "N", 0.0, top, getattr(sys.stdout, "encoding", None)):
        out.print(line, soft_wrap=True)


def write(case: DynamicsCase, out: Path) -> None:
    """The file that the suffix of `out` asks for."""
    suffix = out.suffix.lower()
    if suffix == ".nc":
        dataset(case).to_netcdf(out, engine="netcdf4")
    elif suffix == ".json":
        files.write_json(out, record(case))
    elif suffix == ".csv":
        columns = dict(_columns(case))
        import numpy as np

        files.write_csv(out, list(columns), np.column_stack(list(columns.values())).tolist())
    elif suffix == ".html":
        from vertebra.report.dynamics import dynamics_page

        write_text(out, dynamics_page(case, case.title))
    else:
        from vertebra.report.dynamics import dynamics_figure_static

        title = case.title + ("" if case.feasible.all() else " (not feasible)")
        dynamics_figure_static(case, out, title)


def dataset(case: DynamicsCase) -> xarray.Dataset:
    """Everything over time, SI."""
    import numpy as np
    import xarray

    import vertebra

    found, joints = case.allocation, ("time", "joint")
    pulls = ("time", "cable") if case.along is None else ("time", "cable", "joint")
    variables: dict[str, Any] = {
        "q": (joints, found.q, {"units": "rad", "long_name": "joint angle"}),
        "qd": (joints, found.qd, {"units": "rad/s", "long_name": "joint rate"}),
        "qdd": (joints, found.qdd, {"units": "rad/s^2", "long_name": "joint acceleration"}),
        "tau": (joints, found.tau, {"units": "N*m", "long_name": "needed of cables and springs together"}),
        "needed": (joints, case.needed, {"units": "N*m", "long_name": "needed of cables"}),
        "residual": (joints, found.residual, {"units": "N*m", "long_name": "moment out of balance"}),
        "base_tensions": (("time", "cable"), found.base_tensions, {"units": "N", "long_name": "tension at the base"}),
        "tensions": (pulls, found.tensions, {"units": "N", "long_name": "cable tension"}),
        "feasible": ("time", case.feasible.astype(np.int8), {"long_name": "1 where every constraint holds"}),
    }
    if found.contacts is not None:
        for name, unit in (("normal", "N"), ("tangential", "N"), ("axial", "N"), ("use", "1")):
            values = getattr(found.contacts, name)
            variables[f"contact_{name}"] = (("time", "joint", "point"), values, {"units": unit})
    return xarray.Dataset(
        variables,
        coords={
            "time": ("time", case.time, {"units": "s"}),
            "joint": np.arange(1, found.tau.shape[1] + 1),
            "cable": np.arange(1, len(case.robot.cables) + 1),
        },
        attrs={"robot": case.robot.name, "method": found.method, "vertebra": vertebra.__version__},
    )


def record(case: DynamicsCase) -> dict[str, Any]:
    """Everything as JSON, SI."""
    found, least, most = case.allocation, case.least_contact(), case.most_friction()
    arrays = dataset(case)
    return {
        "robot": case.robot.name,
        "method": found.method,
        "gravity": case.gravity.tolist(),
        "feasible": bool(case.feasible.all()),
        "feasible_share": float(case.feasible.mean()),
        "largest_residual": case.worst(abs(found.residual))._asdict(),
        "smallest_contact_force": None if least is None else least._asdict(),
        "largest_friction_use": None if most is None else most._asdict(),
        "violations": [
            {name: files.as_plain(getattr(violation, name)) for name in VIOLATION} for violation in found.violations
        ],
        "computed": list(case.trajectory.computed),
        "warnings": list(case.warnings),
        "notes": dict(case.notes),
        "time": case.time.tolist(),
    } | {
        ("feasible_by_step" if name == "feasible" else str(name)): arrays[name].to_numpy().tolist()
        for name in arrays.data_vars
    }  # fmt: skip


def _columns(case: DynamicsCase) -> Iterator[tuple[str, Floats]]:
    """Names with units and (N,) values; the file can be read again as a trajectory or as tensions."""
    import numpy as np

    found = case.allocation
    yield "t_s", case.time
    for name, unit, values in (("q", "deg", found.q), ("qd", "deg_s", found.qd), ("qdd", "deg_s2", found.qdd)):
        yield from ((f"{name}{j}_{unit}", np.degrees(column)) for j, column in enumerate(values.T, 1))
    for name, values in (("tau", found.tau), ("needed", case.needed), ("residual", found.residual)):
        yield from ((f"{name}{j}_Nm", column) for j, column in enumerate(values.T, 1))
    yield from ((f"t{k}_N", pull) for k, pull in enumerate(found.base_tensions.T, 1))
    along = case.along
    if along is not None:
        for k, end in enumerate(case.robot.cables["last_link"].tolist()):
            yield from ((f"cable{k + 1}_joint{j + 1}_N", along[:, k, j]) for j in range(end))
    if found.contacts is not None:
        for j in np.flatnonzero(case.with_contacts()).tolist():
            yield f"contact{j + 1}_N", found.contacts.normal[:, j].min(axis=-1)
            yield f"friction_use{j + 1}", found.contacts.use[:, j].max(axis=-1)
    yield "feasible", case.feasible.astype(np.float64)
