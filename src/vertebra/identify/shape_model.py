"""Predicted shapes of measured rows, and how they answer to parameters: implicit gradients, no second solve.

At a solved shape R(q, p) = 0, so dq/dp = -H^-1 dR/dp with the stiffness H of the solver. dR/dp is taken at the fixed
pose by differences in the parameter, where nothing has to be solved: exact for parameters that R is linear in, and to
1e-11 for all others.

Friction has a memory: slip direction s = clip(w + D / presliding, -1, 1), where D is how far a cable has been drawn
and w what earlier steps left. dw/dp is carried along a path: a cable that sticks keeps its w, and one that slips leaves
w = +-1 - D / presliding behind. So the gradients of rows of a sequence are exact too, history included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vertebra.errors import VertebraError
from vertebra.identify.choices import apply_all
from vertebra.identify.parameters import Parameter
from vertebra.identify.setup import Setup, Standing
from vertebra.identify.shape_data import ShapeData, UnsolvedRow
from vertebra.mechanics.kernels.friction import (
    ARM,
    CLIMB,
    DRAW,
    DRAWN,
    HISTORY_PLANES,
    PRESLIDING,
    RATIO,
    SLIP,
    WAS_DRAWN,
    WAS_SLIP,
    commit,
)
from vertebra.mechanics.kernels.newton import find_shape, inspect
from vertebra.mechanics.kinematics import jacobian
from vertebra.mechanics.layout import TAU
from vertebra.mechanics.problem import NO_CABLES, Problem, Workspace
from vertebra.robot.tables import Floats
from vertebra.statics.shape import build_shape

STEP = 1e-3
"""Of the differences, in sizes of the parameter."""
ROUND_OFF = 1e-11
"""m or rad: a parameter that moves nothing by more, when it changes by its size, moves nothing."""
CENTRAL = ((-2.0, 1 / 12), (-1.0, -8 / 12), (1.0, 8 / 12), (2.0, -1 / 12))
ONE_SIDED = ((0.0, -25 / 12), (1.0, 48 / 12), (2.0, -36 / 12), (3.0, 16 / 12), (4.0, -3 / 12))
"""Places in steps, and weights: differences of fourth order."""

Progress = Callable[[int, int], object]


class Stencil(NamedTuple):
    """The robot with one parameter a little changed, and what that contributes to a derivative."""

    standing: Standing
    weight: float


class Row(NamedTuple):
    """A solved row: its pose, and what friction remembered before it."""

    q: Floats
    history: Floats


@dataclass(frozen=True, eq=False)
class Prediction:
    """Every row solved at given values of the parameters."""

    values: Floats
    """(p,) SI."""
    standing: Standing
    rows: tuple[Row, ...]
    seen: Floats
    """(N, 3 + n) tip in m and joint angles in rad, as they would be measured."""


class ShapeModel:
    """The rows of measured shapes as functions of parameters."""

    def __init__(self, setup: Setup, data: ShapeData, parameters: Sequence[Parameter]) -> None:
        self.setup, self.data, self.parameters = setup, data, tuple(parameters)

    def predict(self, values: Floats, progress: Progress | None = None) -> Prediction:
        """Solve every row; raises `UnsolvedRow` for the first that has no shape, `VertebraError` for no such robot."""
        standing = apply_all(self.setup, self.parameters, values).standing()
        data, robot = self.data, standing.robot
        n, c = len(robot.joints), len(robot.cables)
        rows: list[Row] = [Row(np.empty(0), np.empty(0))] * len(data)
        seen = np.empty((len(data), 3 + n))
        done = 0
        for path in data.paths:
            q, history = np.zeros(n), np.zeros((HISTORY_PLANES, c, n))
            for step, row in enumerate(path):
                before = history.copy()
                q = self._solve(standing.with_payload(float(data.payload[row])), row, q.copy(), history, step > 0)
                rows[row] = Row(q, before)
                seen[row, :3], seen[row, 3:] = standing.seen(q), q
                done += 1
                if progress is not None:
                    progress(done, len(data))
        return Prediction(values.copy(), standing, tuple(rows), seen)

    def _solve(self, problem: Problem, row: int, q: Floats, history: Floats, use_start: bool) -> Floats:
        """The pose of a row, from `q`; friction's `history` goes on to the next."""
        work, pull = problem.workspace(history=history), self.data.tensions[row].copy()
        status = find_shape(*problem.system, pull, NO_CABLES, NO_CABLES, work.friction, use_start, q, *work.scratch)
        try:
            build_shape(problem, status, pull, q, work, by_length=False).require_solved()
        except VertebraError as error:
            raise UnsolvedRow(row + 1, self.data.lines[row], error) from error
        if work.friction is not None:
            commit(problem.robot.cables, work.friction.laws, pull, work.friction.grip, history)
        return q

    def differentiate(self, prediction: Prediction) -> Floats:
        """(N, 3 + n, p) how what is seen of every row answers to every parameter."""
        data, standing = self.data, prediction.standing
        stencils = [self._stencil(prediction.values, i) for i in range(len(self.parameters))]
        n, c, p = len(standing.robot.joints), len(standing.robot.cables), len(self.parameters)
        slopes = np.empty((len(data), 3 + n, p))
        for path in data.paths:
            memory = np.zeros((p, c, n))
            for row in path:
                slopes[row], memory = self._answer(standing, stencils, prediction.rows[row], row, memory)
        size = np.array([each.size(value) for each, value in zip(self.parameters, prediction.values, strict=True)])
        slopes[..., np.abs(slopes * size).max(axis=(0, 1)) < ROUND_OFF] = 0.0
        return slopes

    def _stencil(self, values: Floats, place: int) -> list[Stencil]:
        """Changed robots about `values`; to one side where there is no robot on the other."""
        size = STEP * self.parameters[place].size(float(values[place]))
        failed: VertebraError | None = None
        for side, points in ((1.0, CENTRAL), (1.0, ONE_SIDED), (-1.0, ONE_SIDED)):
            try:
                return [
                    Stencil(self._changed(values, place, side * size * at), side * weight / size)
                    for at, weight in points
                ]
            except VertebraError as error:
                failed = error
        assert failed is not None
        raise failed

    def _changed(self, values: Floats, place: int, change: float) -> Standing:
        changed = values.copy()
        changed[place] += change
        return apply_all(self.setup, self.parameters, changed).standing()

    def _answer(
        self, standing: Standing, stencils: list[list[Stencil]], solved: Row, row: int, memory: Floats
    ) -> tuple[Floats, Floats]:
        """d(seen)/dp (3 + n, p) of a row, and dw/dp (p, cables, n) that it leaves behind."""
        q, pull, payload = solved.q, self.data.tensions[row].copy(), float(self.data.payload[row])
        problem = standing.with_payload(payload)
        work = problem.workspace(history=solved.history.copy())
        look(problem, work, pull, q)
        stiffness = problem.dense_stiffness(work)
        n, p = len(q), len(self.parameters)
        pushed, drawn, direct = np.zeros((n, p)), np.zeros_like(memory), np.zeros((3, p))
        for i, points in enumerate(stencils):
            for changed, weight in points:
                tau, at = held_moments(changed.with_payload(payload), pull, q, work)
                pushed[:, i] += weight * tau
                direct[:, i] += weight * changed.seen(q)
                if at is not None:
                    drawn[i] += weight * at
        if work.friction is not None:
            pushed += self._remembered(work, pull, drawn, memory)
        turned = np.linalg.solve(stiffness, -pushed).astype(np.float64, copy=False)
        seen = np.vstack([standing.turn @ jacobian(standing.robot, q)[:3] @ turned + direct, turned])
        return seen, memory if work.friction is None else left_behind(work, drawn, turned, memory)

    @staticmethod
    def _remembered(work: Workspace, pull: Floats, drawn: Floats, memory: Floats) -> Floats:
        """(n, p) joint moments through slip directions that are not at full slip, at the fixed pose."""
        assert work.friction is not None
        grip, presliding = work.friction.grip, work.friction.laws[:, PRESLIDING]
        # CLIMB is the sum over discs up to j of d log F / ds over the presliding, for those that stick.
        share = np.diff(grip[CLIMB], axis=1, prepend=0.0)
        change = np.cumsum(share * (presliding[:, None] * memory + drawn), axis=2)
        moments = pull[:, None] * grip[RATIO] * grip[ARM]
        total: Floats = np.einsum("kj,pkj->jp", moments, change)
        return total


def look(problem: Problem, work: Workspace, pull: Floats, q: Floats) -> Floats:
    """(n,) joint moments out of balance at a pose, N*m; `work` then belongs to it."""
    inspect(*problem.system, pull, NO_CABLES, NO_CABLES, work.friction, q, *work.scratch[1:])
    tau: Floats = work.state[:, TAU].copy()
    return tau


def held_moments(problem: Problem, pull: Floats, q: Floats, solved: Workspace) -> tuple[Floats, Floats | None]:
    """Joint moments of a changed robot at a fixed pose and with fixed slip directions, and how far cables are drawn."""
    work = problem.workspace()
    if work.friction is None or solved.friction is None:
        return look(problem, work, pull, q), None
    held, past = solved.friction.grip, work.friction.history
    past[WAS_SLIP], past[WAS_DRAWN] = held[SLIP], held[DRAWN]
    tau = look(problem, work, pull, q)
    drawn = work.friction.grip[DRAWN].copy()
    if not np.array_equal(drawn, held[DRAWN]):
        past[WAS_DRAWN] = drawn
        tau = look(problem, work, pull, q)
    return tau, drawn


def left_behind(work: Workspace, drawn: Floats, turned: Floats, memory: Floats) -> Floats:
    """(p, cables, n) dw/dp after a row: as before where a cable sticks, -(dD/dp) / presliding where it slips."""
    assert work.friction is not None
    grip, presliding = work.friction.grip, work.friction.laws[:, PRESLIDING]
    # D of a disc is the change of all segments beyond it.
    segments = grip[DRAW][None] * turned.T[:, None, :]
    total = drawn + np.cumsum(segments[:, :, ::-1], axis=2)[:, :, ::-1]
    sticks = np.abs(grip[SLIP]) < 1.0
    after: Floats = np.where(sticks[None], memory, -total / presliding[:, None])
    return after
