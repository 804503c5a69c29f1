"""A simulation laid out for the kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from vertebra.dynamics.inputs import Inputs, one_sample, require_length
from vertebra.dynamics.limits import Bumper, joint_ranges
from vertebra.dynamics.problem import Moving
from vertebra.dynamics.trajectory import Records
from vertebra.errors import OutOfRange
from vertebra.mechanics.driving import POWERS
from vertebra.mechanics.problem import Rubbing, require_pull
from vertebra.mechanics.stepping import RUNNING, STAGES, run
from vertebra.robot.tables import Floats

Progress = Callable[[int, int], object]
"""Called with the steps done and the steps in all."""
CHUNK = 20_000
"""Joint steps between two reports of progress: a few hundredths of a second."""


@dataclass(frozen=True, eq=False)
class Run:
    """One simulation: its state moves on with `advance`."""

    inputs: Inputs
    by_length: bool
    steps: int
    dt: float
    before: tuple[Any, ...]
    """Arguments of the kernel before the numbers of the steps."""
    after: tuple[Any, ...]
    """And after the inputs."""
    every: int
    q: Floats
    qd: Floats
    least: Floats
    most: Floats
    rubs: bool
    records: Records
    filled: NDArray[np.int64]

    @classmethod
    def of(
        cls, moving: Moving, inputs: Inputs, by_length: bool, axial: Floats, damping: Floats,
        limits: Literal["end"] | Bumper, steps: int, dt: float, every: int, implicit: bool, q: Floats, qd: Floats,
    ) -> Run:  # fmt: skip
        robot = moving.robot
        n, c = len(robot.joints), len(robot.cables)
        least, most = joint_ranges(robot)
        outside = (q < least) | (q > most)
        if limits == "end" and outside.any():
            row = int(np.argmax(outside))
            limit = float(most[row] if q[row] > 0.0 else -least[row])
            raise OutOfRange(row + 1, float(q[row]), limit, "q0 must lie within the limits of the joints")
        stiff, loss = (limits.stiffness, limits.damping) if isinstance(limits, Bumper) else (0.0, 0.0)
        drive = by_length, moving.statics.rubs, axial, damping, least, most, float(stiff), float(loss)
        kind = moving.heavy_gaps, bool(robot.cables["linear_density"].any()), False
        work = moving.statics.workspace(by_length)
        work.report[:] = 1.0  # the softness of friction, which only searches change
        springs = np.empty(c if by_length else 0), np.empty(c if by_length else 0)
        size = n if implicit else 0
        records, filled = Records.empty(steps // every + 3, n, c), np.zeros(1, np.int64)
        before = moving.system, drive, work.friction or Rubbing.nothing(), kind, implicit, dt
        after = (
            (np.empty((3, c)), np.empty((3, c))),
            (moving.scratch(), (work.state, work.wide, *springs), np.empty(n), np.zeros(n)),
            np.zeros(c),
            np.empty((STAGES, n)),
            (work.load_at, work.memory, work.report),
            (np.empty((size, size)), np.empty((size, size)), np.empty((size, size))),
            np.empty(n, np.int64),
            np.zeros((2, POWERS)),
            q,
            qd,
            np.empty(n),
            records,
            filled,
        )
        return cls(
            inputs, by_length, steps, dt, before, after, every, q, qd, least, most, moving.statics.rubs, records, filled
        )

    def advance(self, progress: Progress | None) -> tuple[int, int, int, float, float]:
        """Run to the end; returns how it ended, as `mechanics.stepping.run` does."""
        step, samples = 0, self.inputs.samples
        chunk = 1 if self.inputs.controller else max(1, CHUNK // len(self.q))
        outcome = (RUNNING, 0, 0, 0.0, 0.0)
        while step < self.steps and outcome[0] == RUNNING:
            if self.inputs.controller:
                samples[0] = self._controlled(step)
            until = min(step + chunk, self.steps)
            outcome = run(*self.before, step, until, self.steps, self.every, samples, *self.after)
            step = until
            if progress is not None:
                progress(step, self.steps)
        return outcome

    def _controlled(self, step: int) -> Floats:
        """What the controller wants at the start of a step."""
        assert self.inputs.controller is not None
        name, unit = ("lengths", "m") if self.by_length else ("tensions", "N")
        time = step * self.dt
        wanted = self.inputs.controller(time, self.q.copy(), self.qd.copy())
        values = one_sample(name, wanted, unit, self.inputs.samples.shape[1], time)
        (require_length if self.by_length else require_pull)(name, values[None])
        return values
