"""A controller beside the robot: what it measures, how often, and how late its commands arrive."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError, shown
from vertebra.mechanics.kinematics import Pose
from vertebra.robot.arguments import function, number, numbers, positive, seed_number, word
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

Measure = Literal["angles", "rates", "tip", "tensions", "lengths", "orientations"]
MEASURES: dict[str, tuple[tuple[str, ...], str, str]] = {
    "angles": (("joint",), "rad", "measured joint angle"),
    "rates": (("joint",), "rad/s", "measured joint rate"),
    "tip": (("axis",), "m", "measured tip position"),
    "tensions": (("cable",), "N", "measured cable tension at the base"),
    "lengths": (("cable",), "m", "measured cable length from the base plane to its end"),
    "orientations": (("link", "axis", "link_axis"), "1", "measured rotation from the axes of a link to the world's"),
}
"""Dimensions besides the sample, unit and meaning of all that can be measured."""


@dataclass(frozen=True, eq=False)
class Controller:
    """A function that closes the loop: it gets what sensors measure and returns what the cables shall do."""

    step: Callable[[float, dict[str, Floats]], ArrayLike]
    """Called with the time in s and what is measured, by name; returns a tension in N or, in `lengths`, an unstretched
    length in m for each cable."""
    rate: float = field(kw_only=True)
    """Samples per second, Hz: the first at 0 s. A command is held until the next one takes effect."""
    delay: float = field(default=0.0, kw_only=True)
    """s from a sample until its command takes effect; may be longer than the time between two samples."""
    measures: Sequence[Measure] = field(default=("angles", "rates"), kw_only=True)
    """What is measured: angles (freedoms,) rad, rates (freedoms,) rad/s, tip (3,) m, tensions (cables,) N, lengths
    (cables,) m, orientations (sensors, 3, 3) of the links with sensors, as in `shape_from_orientations`."""
    noise: Mapping[Measure, ArrayLike] = field(default_factory=dict, kw_only=True)
    """Standard deviation of what is measured, by name, in its unit; of orientations in rad about the world's axes."""
    seed: int = field(default=0, kw_only=True)
    """Of the noise: the same seed gives the same noise."""
    first: ArrayLike | None = field(default=None, kw_only=True)
    """What the cables do until the first command takes effect; needed with a delay, or to measure tensions."""

    def __post_init__(self) -> None:
        if self.step is None:
            raise InputError("step", "must be a function of time, measured, not None")
        function("step", self.step, "time", "measured")
        positive("rate", self.rate)
        number("delay", self.delay, "s", 0.0)
        measures = (self.measures,) if isinstance(self.measures, str) else self.measures
        if not isinstance(measures, Sequence):
            raise InputError("measures", f"must be a list of {', '.join(MEASURES)}, not {shown(measures)}")
        for name in measures:
            word("measures", name, get_args(Measure))
        if len(set(measures)) < len(measures):
            raise InputError("measures", f"must name each measure once, not {shown(measures)}")
        if not isinstance(self.noise, Mapping):
            raise InputError("noise", f"must give standard deviations by name, not {shown(self.noise)}")
        if self.noise and not measures:
            raise InputError(
                "noise", f"nothing is measured that could have noise; give `measures`, not {shown(self.noise)}"
            )
        for name, given in self.noise.items():
            word("noise", name, measures)
            if (numbers("noise", given, "the unit of what is measured") < 0.0).any():
                raise InputError("noise", f"of {name} must be 0 or more, not {shown(given)}")
        seed_number("seed", self.seed)
        if self.first is not None:
            numbers("first", self.first, "N or m")
        elif self.delay > 0.0 or "tensions" in measures:
            why = "commands are delayed" if self.delay > 0.0 else "tensions are measured before there is a command"
            raise InputError(
                "first", f"{why}; give what the cables do until then, a tension in N or a length in m each"
            )
        object.__setattr__(self, "measures", tuple(measures))


class Loop:
    """A controller during one run: when it samples, what it has measured and commanded."""

    def __init__(
        self, controller: Controller, robot: Robot, dt: float, checked: Callable[[ArrayLike, float | None], Floats]
    ) -> None:
        """`checked`: what a command at a time becomes, or what comes before there is one, or an error."""
        self.controller, self.robot, self.dt, self._checked = controller, robot, dt, checked
        self.period, self.delay = whole_steps(controller.rate, float(controller.delay), dt)
        self.random = np.random.default_rng(controller.seed)
        self.steps: list[int] = []
        """Of the samples."""
        self.measured: dict[str, list[Floats]] = {name: [] for name in controller.measures}
        self.commands: list[Floats] = []
        self.spreads = {name: self._spread(name, given) for name, given in controller.noise.items()}
        self.first = None if controller.first is None else checked(controller.first, None)
        """What the cables do until there is a command."""

    def until(self, step: int) -> int:
        """The next step, after this one, at which there is a sample or a command takes effect."""
        after = max((step - self.delay) // self.period + 1, 0)
        return min(self.period * (step // self.period + 1), self.delay + self.period * after)

    def sample(self, step: int, q: Floats, qd: Floats, tensions: Floats) -> None:
        """Measure and ask for a command, if this is a step of a sample."""
        if step % self.period:
            return
        time = step * self.dt
        measured = self._measure(q, qd, tensions)
        seen = {name: values.copy() for name, values in measured.items()}
        try:
            wanted = self.controller.step(time, seen)
        except Exception as error:
            error.add_note(f"raised by the controller at {time:.6g} s")
            raise
        self.commands.append(self._checked(wanted, time))
        self.steps.append(step)
        for name, values in measured.items():
            self.measured[name].append(values)

    def command(self, step: int) -> Floats | None:
        """The command that takes effect at this step, if there is one."""
        late = step - self.delay
        return self.commands[late // self.period] if late >= 0 and late % self.period == 0 else None

    def variables(self, unit: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Variables and coordinates of the data set: what was measured and commanded, sample by sample."""
        count, cables = len(self.steps), len(self.robot.cables)
        variables: dict[str, Any] = {}
        for name, rows in self.measured.items():
            dimensions, own, meaning = MEASURES[name]
            values = np.array(rows).reshape(count, *self._shape(name))
            variables[f"measured_{name}"] = (("sample", *dimensions), values, {"units": own, "long_name": meaning})
        about = {"units": unit, "long_name": "what the controller wants of the cable"}
        variables["commands"] = (("sample", "cable"), np.array(self.commands).reshape(count, cables), about)
        times = self.dt * np.array(self.steps, dtype=np.float64)
        effect = self.dt * (np.array(self.steps, dtype=np.float64) + self.delay)
        coordinates: dict[str, Any] = {
            "sample_time": ("sample", times, {"units": "s", "long_name": "time of the sample"}),
            "command_time": ("sample", effect, {"units": "s", "long_name": "time at which its command takes effect"}),
        }
        if "orientations" in self.measured:
            coordinates |= {"link": self.robot.sensor_links, "link_axis": ["x", "y", "z"]}
        return variables, coordinates

    def _measure(self, q: Floats, qd: Floats, tensions: Floats) -> dict[str, Floats]:
        pose = Pose(self.robot, q)
        found: dict[str, Floats] = {}
        for name in self.controller.measures:
            if name == "orientations":
                found[name] = pose.frames[self.robot.sensor_links, :3, :3]
            elif name == "lengths":
                found[name] = pose.cable_lengths
            else:
                found[name] = {"angles": q, "rates": qd, "tip": pose.tip, "tensions": tensions}[name].copy()
            spread = self.spreads.get(name)
            if spread is None:
                continue
            error = spread * self.random.standard_normal(spread.shape)
            found[name] = turned(found[name], error) if name == "orientations" else found[name] + error
        return found

    def _shape(self, name: str) -> tuple[int, ...]:
        robot = self.robot
        n, c, sensors = robot.freedoms, len(robot.cables), len(robot.sensor_links)
        shapes = {"tip": (3,), "tensions": (c,), "lengths": (c,), "orientations": (sensors, 3, 3)}
        return shapes.get(name, (n,))

    def _spread(self, name: str, given: ArrayLike) -> Floats:
        """Standard deviations of the components; of orientations (sensors, 3), about the axes of the world."""
        array, shape = numbers("noise", given, MEASURES[name][1]), self._shape(name)
        wanted = shape[:2] if name == "orientations" else shape
        try:
            return np.array(np.broadcast_to(array, wanted))
        except ValueError:
            raise InputError("noise", f"of {name} must be one number or of shape {wanted}, not {array.shape}") from None


def turned(rotations: Floats, angles: Floats) -> Floats:
    """(k, 3, 3) rotations, turned further by rotation vectors (k, 3) in the world's axes, rad."""
    from scipy.spatial.transform import Rotation

    further: Floats = Rotation.from_rotvec(angles).as_matrix() @ rotations
    return further


MOST_TRIED = 1000
"""Steps per sample that are tried to find a time step that fits."""


def whole_steps(rate: float, delay: float, dt: float) -> tuple[int, int]:
    """Steps from one sample to the next, and of the delay; raises `InputError` where they are no whole numbers."""
    period = 1.0 / rate
    found = _whole(period / dt), _whole(delay / dt)
    if found[0] and found[1] is not None:
        return found[0], found[1]
    least = max(math.ceil(period / dt - 1e-6), 1)
    fits = (period / m for m in range(least, least + MOST_TRIED) if _whole(delay * m / period) is not None)
    step = next(fits, None)
    remedy = "choose a rate and a delay that share a step" if step is None else f"take dt={step:.9g}"
    held = f"samples every {period:.6g} s" + (f", delayed by {delay:.6g} s" if delay else "")
    raise InputError("dt", f"{held}, do not fall on steps of {dt:.6g} s; {remedy}")


def _whole(count: float) -> int | None:
    """A count of steps; None where it is no whole number, beyond round-off."""
    nearest = round(count)
    return nearest if abs(count - nearest) <= 1e-6 + 1e-9 * count else None
