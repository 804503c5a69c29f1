"""How `vertebra simulate` answers: tables for people, JSON in SI, CSV, netCDF, pictures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vertebra.cli import statics_output as files
from vertebra.cli.output import print_facts, print_table, write_text

if TYPE_CHECKING:
    from vertebra.report.simulation import SimulationCase


def print_case(case: SimulationCase) -> None:
    """Summary, energies, joints, cables."""
    from vertebra.report import simulation as facts

    print_facts(facts.simulation_summary(case))
    for table in (facts.energy_facts(case), facts.joint_motion_facts(case), facts.cable_motion_facts(case)):
        if table.rows:
            print_table(table)


def write(case: SimulationCase, out: Path) -> None:
    """The file that the suffix of `out` asks for."""
    suffix = out.suffix.lower()
    if suffix == ".nc":
        import vertebra

        case.run.assign_attrs(vertebra=vertebra.__version__).to_netcdf(out, engine="netcdf4")
    elif suffix == ".json":
        files.write_json(out, record(case))
    elif suffix == ".csv":
        files.write_csv(out, list(_columns(case)), _rows(case))
    elif suffix == ".html":
        from vertebra.report.simulation import simulation_page

        write_text(out, simulation_page(case, case.title))
    else:
        from vertebra.report.simulation import simulation_figure_static

        simulation_figure_static(case, out, case.title + (" (ended early)" if case.fault else ""))


def record(case: SimulationCase) -> dict[str, Any]:
    """Everything as JSON, SI."""
    import numpy as np

    run, energy = case.run, case.energy()
    speed = np.abs(case.array("qd"))
    row, joint = (int(i) for i in np.unravel_index(speed.argmax(), speed.shape))
    found: dict[str, Any] = {"robot": case.robot.name, "driven_by": case.driven, "gravity": case.gravity.tolist()}
    found |= {name: files.as_plain(value) for name, value in run.attrs.items() if name != "robot"}
    found |= {
        "fault": case.fault or None,
        "duration": case.asked,
        "reached": case.reached,
        "end": {name: case.array(name)[-1].tolist() for name in ("q", "qd", "tensions", "lengths", "tip")},
        "peak_speed": {"value": float(speed.max()), "joint": joint + 1, "time": float(case.time[row])},
        "energy_change": {name: float(change[-1]) for name, change in energy.changes.items()},
        "energy_imbalance": float(np.abs(energy.imbalance).max()),
        "energy_scale": energy.scale,
        "wall_time": case.wall,
        "real_time_factor": case.real_time,
        "notes": dict(case.notes),
        "time": case.time.tolist(),
    }
    return found | {str(name): run[name].to_numpy().tolist() for name in run.data_vars}


def _columns(case: SimulationCase) -> Iterator[str]:
    joints, cables = range(1, case.robot.freedoms + 1), range(1, len(case.robot.cables) + 1)
    yield "t_s"
    yield from (f"q{j}_deg" for j in joints)
    yield from (f"qd{j}_deg_s" for j in joints)
    if "qdd" in case.run:
        yield from (f"qdd{j}_deg_s2" for j in joints)
    yield from (f"t{k}_N" for k in cables)
    yield from (f"length{k}_mm" for k in cables)
    yield from ("x_mm", "y_mm", "z_mm")
    yield from (f"{name}_mJ" for name in case.energy().changes)


def _rows(case: SimulationCase) -> Any:
    """So that `vertebra dynamics --trajectory` and `simulate --tensions-file` read the file back."""
    import numpy as np

    angles = [np.degrees(case.array(name)) for name in ("q", "qd", "qdd") if name in case.run]
    lengths, tip = 1e3 * case.array("lengths"), 1e3 * case.array("tip")
    energies = np.column_stack([1e3 * case.array(name) for name in case.energy().changes])
    columns = (case.time[:, None], *angles, case.array("tensions"), lengths, tip, energies)
    return np.column_stack(columns).tolist()
