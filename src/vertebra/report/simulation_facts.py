"""The facts of a simulated motion as text: where it ended, how fast it was, and its account of energy."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from vertebra.report.document import Facts, number
from vertebra.report.shape_facts import signless_zero, vector
from vertebra.report.simulation_case import ENERGIES, SimulationCase
from vertebra.robot.tables import Floats

MM, MJ = 1e3, 1e3
STILL = 1e-9
"""Joints slower than this, rad/s, do not move: it is round-off."""
MUCH = 0.01
"""An imbalance of energy above this share of the largest change is warned of."""


def simulation_summary(case: SimulationCase, title: str = "") -> Facts:
    """The motion as a whole, one fact a row."""
    run, time = case.run, case.time
    speed, tip = np.abs(case.array("qd")), case.array("tip") * MM
    row, joint = (int(i) for i in np.unravel_index(speed.argmax(), speed.shape))
    rows = [
        ("ended", ended_text(case)),
        ("driven by", case.driven),
        ("tip at the end", f"{vector(tip[-1], '.3f')} mm"),
        ("tip travelled", f"{np.linalg.norm(np.diff(tip, axis=0), axis=1).sum():.3f} mm, from "
         f"{vector(tip[0], '.3f')} mm"),
        ("peak speed", f"{math.degrees(speed.max()):.4g} deg/s, joint {joint + 1} at {time[row]:.4g} s"
         if speed.max() > STILL else "0: nothing moves"),
        ("speed at the end", f"{_speed(speed[-1].max())} deg/s at most"),
        ("tensions", _range(case.array("tensions"), "N")),
        ("integrator", f"{run.attrs['integrator']}, steps of {1e3 * float(run.attrs['dt']):.4g} ms, "
         f"{len(time)} moment{'' if len(time) == 1 else 's'} kept"),
        ("gravity", f"{vector(case.gravity)} m/s^2"),
        *case.notes,
    ]  # fmt: skip
    if case.real_time:
        rows.append(("real-time factor", f"{case.real_time:.3g} ({case.wall:.2f} s for {case.reached:.4g} s)"))
    return Facts(title or case.title, ("", ""), tuple(rows))


def ended_text(case: SimulationCase) -> str:
    """When, and why if it was too early."""
    if not case.fault:
        return f"after {case.reached:.6g} s, as asked"
    return f"EARLY, after {case.reached:.6g} of {case.asked:.6g} s: {case.fault}"


def simulation_warnings(case: SimulationCase) -> Iterator[str]:
    """What must not be overlooked."""
    if case.fault:
        yield f"ended early, after {case.reached:.6g} of {case.asked:.6g} s: {case.fault}"
    share = case.energy().share
    if share > MUCH:
        yield f"the account of energy is off by {100 * share:.2g} % of its largest part: make dt smaller"
    slack = case.array("tensions").min(axis=0) <= 0.0
    if slack.any() and case.array("tensions").max() > 0.0:
        cables = ", ".join(str(k + 1) for k in np.flatnonzero(slack))
        yield f"slack at times: cable{'s' if slack.sum() > 1 else ''} {cables}"


def _range(values: Floats, unit: str) -> str:
    low, high = float(values.min()), float(values.max())
    return f"{number(round(low, 6))} to {number(round(high, 6))} {unit}" if high - low > 1e-6 else f"{low:.6g} {unit}"


def energy_facts(case: SimulationCase) -> Facts:
    """Kinetic, potential, works, and what does not add up."""
    found = case.energy()
    at_start = {name: float(case.array(name)[0]) for name in ENERGIES}
    rows = [
        (words, _mj(at_start[name]) if name in ("kinetic", "stored") else "-", _mj(found.changes[name][-1]),
         _mj(found.changes[name][np.abs(found.changes[name]).argmax()]))
        for name, words in ENERGIES.items()
        if found.changes[name].any() or name in ("kinetic", "potential", "cable_work")
    ]  # fmt: skip
    worst = float(found.imbalance[np.abs(found.imbalance).argmax()])
    rows.append(("imbalance", "-", _mj(found.imbalance[-1]), _mj(worst)))
    share = f", to {found.share:.2g} of the largest" if found.share else ""
    headers = ("energy [mJ]", "at the start", "change at the end", "largest change")
    return Facts(f"Account of energy{share}", headers, tuple(rows))


def _mj(value: float) -> str:
    return signless_zero(value * MJ, ".4g")


def _speed(value: float) -> str:
    """In deg/s, from rad/s."""
    return signless_zero(math.degrees(value), ".4g") if abs(value) > STILL else "0"


def joint_motion_facts(case: SimulationCase) -> Facts:
    """One row a joint."""
    angles, speeds = np.degrees(case.array("q")), case.array("qd")
    limits = np.degrees(case.robot.joints["limit"])
    rows = [
        (
            str(j + 1),
            *(signless_zero(value, ".3f") for value in (q[0], q[-1], q.min(), q.max())),
            f"{100 * np.abs(q).max() / limits[j]:.0f} %",
            _speed(np.abs(speed).max()),
            _speed(speed[-1]),
        )
        for j, (q, speed) in enumerate(zip(angles.T, speeds.T, strict=True))
    ]
    headers = (
        "joint", "start [deg]", "end [deg]", "least [deg]", "most [deg]", "of limit", "peak [deg/s]", "end [deg/s]",
    )  # fmt: skip
    return Facts("Joints", headers, tuple(rows))


def cable_motion_facts(case: SimulationCase) -> Facts:
    """One row a cable; the length is that at the end."""
    pulls, lengths = case.array("tensions"), case.array("lengths") * MM
    azimuths = np.degrees(case.robot.cables["azimuth"])
    rows = [
        (
            str(k + 1),
            number(azimuths[k]),
            *(number(round(value, 6)) for value in (pull[0], pull[-1], pull.min(), pull.max())),
            f"{length[-1]:.3f}",
            signless_zero(length[0] - length[-1], ".3f"),
        )
        for k, (pull, length) in enumerate(zip(pulls.T, lengths.T, strict=True))
    ]
    headers = (
        "cable", "azimuth [deg]", "start [N]", "end [N]", "least [N]", "most [N]", "length [mm]", "pulled in [mm]",
    )  # fmt: skip
    return Facts("Cables", headers, tuple(rows))
