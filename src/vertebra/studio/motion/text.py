"""What the Motion tab shows of a motion beside the scene: words and numbers, as a whole and at one instant, and
plots.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vertebra.report.panels import spread
from vertebra.robot.tables import Floats
from vertebra.studio.motion.motion import Motion, Peak, PlanFacts, RunFacts
from vertebra.studio.readout import Plot, Value, light, notes, number, readout, significant, tension_scale

if TYPE_CHECKING:
    import viser

MUCH = 0.01
"""An account of energy that is off by more than this share is warned of."""
MOST_LISTED = 12
"""Cables beyond this number are not listed one by one."""


def motion_text(motion: Motion) -> str:
    """HTML of the motion as a whole."""
    if motion.run is not None:
        head, values = _run_light(motion, motion.run), _run_values(motion.run)
    else:
        assert motion.plan is not None
        head, values = _plan_light(motion.plan), _plan_values(motion.plan)
    kind = "Simulated" if motion.kind == "simulated" else "Planned"
    scale = tension_scale(float(f"{motion.highest:.3g}")) if len(motion.robot.cables) else ""
    return head + notes([f"{kind}. {motion.words}", *motion.notes]) + readout("The motion", values) + scale


def now_text(motion: Motion, row: int) -> str:
    """HTML of one moment."""
    x, y, z = (1e3 * motion.tips[row]).tolist()
    angles = motion.angles[row]
    most = int(np.abs(angles).argmax())
    values = [
        Value("motion-time", "time", number(float(motion.time[row]), 3, "s")),
        Value("motion-tip-x", "tip x", number(x, 2, "mm")),
        Value("motion-tip-y", "tip y", number(y, 2, "mm")),
        Value("motion-tip-z", "tip z", number(z, 2, "mm")),
        Value("motion-angle", f"largest angle, joint {most + 1}", number(math.degrees(angles[most]), 2, "deg")),
        *_tensions(motion, row),
    ]
    if motion.run is not None:
        values += [
            Value(f"motion-{name}", f"{name} energy" if name != "dissipated" else name, significant(float(e[row]), "J"))
            for name, e in motion.run.energies.items()
            if name != "cables"
        ]
    return readout("Now", values)


def _tensions(motion: Motion, row: int) -> list[Value]:
    pulls = motion.tensions[row].tolist()
    return [
        Value(f"motion-tension-{k + 1}", f"cable {k + 1}", number(pull, 3, "N"))
        for k, pull in enumerate(pulls[:MOST_LISTED])
    ]


def _run_light(motion: Motion, run: RunFacts) -> str:
    reached = float(motion.time[-1])
    if run.fault:
        return light("motion-status", False, f"Ended early, after {reached:.4g} s") + notes([run.fault])
    if run.share > MUCH:
        words = f"Energy is off by {100 * run.share:.2g} %: take a shorter step"
        return light("motion-status", False, words)
    return light("motion-status", True, f"{reached:.4g} s simulated, energy accounted for")


def _run_values(run: RunFacts) -> list[Value]:
    low, high = run.frequencies
    return [
        Value("motion-balance", "balance error", f"{run.imbalance:.2g} J ({run.share:.1g} of the largest)"),
        Value("motion-step", "step" + (", chosen" if run.chosen else ""), significant(1e3 * run.dt, "ms", 3)),
        Value("motion-frequencies", "natural frequencies", f"{low:.3g} to {high:.3g} Hz"),
    ]


def _plan_light(plan: PlanFacts) -> str:
    if not plan.broken:
        return light("motion-status", True, "Feasible at every moment")
    share = "at any moment" if plan.broken == plan.moments else f"at {plan.broken} of {plan.moments} moments"
    return light("motion-status", False, f"Not feasible {share}") + notes([f"Worst: {plan.worst}."])


def _plan_values(plan: PlanFacts) -> list[Value]:
    values = [
        Value("motion-most-tension", "largest tension", _peak(plan.most_tension, "N", "cable")),
        Value("motion-most-moment", "largest moment needed", _peak(plan.most_moment, "N m", "joint")),
    ]
    if plan.contact is not None:
        parts = ": the links part" if plan.contact.value < 0 else ""
        values.append(Value("motion-contact", "least contact force", _peak(plan.contact, "N", "joint") + parts))
    return values


def _peak(peak: Peak, unit: str, owner: str) -> str:
    return f"{significant(peak.value, unit)}, {owner} {peak.number} at {peak.time:.3g} s"


# Plots of a motion over time, with a line at the instant that is shown.

MOST_POINTS = 500
"""Of one curve: all of it goes to every window a few times a second."""
MOST_CABLES = 12
TIME, NOW = "time (s)", "now"


class Curves(NamedTuple):
    """What one plot shows."""

    time: Floats
    lines: list[tuple[str, Floats]]

    def marked(self, at: float) -> tuple[Floats, list[tuple[str, Floats]]]:
        """The same with an upright line at a time, s: a curve along the lower edge with one peak."""
        place = int(np.searchsorted(self.time, at))
        low = min(float(values.min()) for _, values in self.lines)
        high = max(float(values.max()) for _, values in self.lines)
        time = np.insert(self.time, [place] * 3, at)
        lines = [
            (name, np.insert(values, [place] * 3, np.interp(at, self.time, values))) for name, values in self.lines
        ]
        now = np.full(len(time), low)
        now[place + 1] = high
        return time, [*lines, (NOW, now)]


class TimePlot(Plot):
    """A plot whose last line is the present instant, thin and grey."""

    def _series(self, names: Sequence[str], joined: bool = True) -> tuple[Any, ...]:
        return tuple(
            line | {"stroke": "#7F7F7F", "width": 1, "dash": []} if line["label"] == NOW else line
            for line in super()._series(names, joined)
        )


class MotionPlots:
    """Tip, tensions and energies."""

    def __init__(self, gui: viser.GuiApi) -> None:
        self._plots = {
            "tip": TimePlot(gui, "Tip", TIME, "position (mm)"),
            "tensions": TimePlot(gui, "Cable tensions at the base", TIME, "tension (N)"),
            "energy": TimePlot(gui, "Energy since the start", TIME, "energy (J)"),
        }
        self._curves: dict[str, Curves] = {}

    def load(self, motion: Motion | None) -> None:
        """Take another motion; None hides the plots."""
        self._curves = {} if motion is None else motion_curves(motion)
        for name, plot in self._plots.items():
            if name not in self._curves:
                plot.hide()

    def mark(self, at: float) -> None:
        """Draw, with the line at a time, s."""
        for name, curves in self._curves.items():
            self._plots[name].show(*curves.marked(at))


def motion_curves(motion: Motion) -> dict[str, Curves]:
    """By the plot's name."""
    rows = spread(len(motion.time), MOST_POINTS)
    time = motion.time[rows]
    found = {"tip": [(axis, 1e3 * motion.tips[rows, i]) for i, axis in enumerate("xyz")]}
    cables = min(motion.tensions.shape[1], MOST_CABLES)
    if cables:
        found["tensions"] = [(f"cable {k + 1}", motion.tensions[rows, k]) for k in range(cables)]
    if motion.run is not None:
        names = {"cables": "work of cables"}
        found["energy"] = [(names.get(name, name), values[rows]) for name, values in motion.run.energies.items()]
    return {name: Curves(time, lines) for name, lines in found.items()}
