"""How do natural frequencies, eigenvalues and the matrices of a linear model change with a parameter?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.dynamics.directions import STEP, Direction, directions, slope_along
from vertebra.dynamics.linearise import LinearModel, linear_model, own_values
from vertebra.dynamics.problem import States, joint_damping
from vertebra.errors import InputError, VertebraError
from vertebra.mechanics.gradient import step_along
from vertebra.robot.arguments import axial_stiffness, instance, numbers
from vertebra.robot.tables import Floats

Complexes = NDArray[np.complex128]

SAME = 1e-11
"""Eigenvalues that differ by less than this part of the largest are one that is repeated."""
MERGED = 1e-6
"""Cosine between the left and right vectors of an eigenvalue below which it is about to merge with another."""


@dataclass(frozen=True, eq=False)
class LinearDerivatives:
    """Derivatives of a `LinearModel`, per unit of a parameter; each in the order of the model's own."""

    direction: Direction
    A: Floats
    """(2n, 2n)"""
    B: Floats
    """(2n, cables)"""
    C: Floats
    """(3, 2n) or (n, 2n)"""
    M: Floats
    """(n, n) kg*m^2."""
    K: Floats
    """(n, n) N*m/rad."""
    accelerations: Floats
    """(n,) rad/s^2."""
    eigenvalues: Complexes
    """(2f,) 1/s. Infinite where two eigenvalues merge, as those of a motion that nothing holds. A repeated one splits:
    these are the slopes of its branches, smallest first."""
    frequencies: Floats
    """(f,) Hz; infinite at 0 Hz. Those of a frequency that is repeated: as above."""
    growth: Floats
    """(f,) 1/s."""

    def __repr__(self) -> str:
        return f"LinearDerivatives by {self.direction.name} in {self.direction.unit}"


def linear_derivatives(
    model: LinearModel, direction: str | Direction, dq: ArrayLike | None = None
) -> LinearDerivatives:
    """Derivatives of a model by one parameter: its name as in `simulate`, such as "tensions[0]", "loads[0].force[2]" or
    "sections[0].link.mass" (with "q0" and "qd0" for the state where the model was made), or a `Direction`.

    Everything else that `linearise` was given is held, its angles too. A model of an equilibrium moves with the
    parameter: `dq` (n,) is then how its angles change, rad per unit. Elastic cables keep their tensions.

    Matrices are differenced to order 8 along the direction, nothing is solved on the way: 1e-11 or so of them, and 1e-9
    of what inertia adds to A away from equilibrium. Raises `InputError` where friction starts to slip, an elastic cable
    to pull, or a joint to leave its stop within a hundredth of the way.
    """
    instance("model", model, LinearModel, "linearise")
    question, robot = model.question, model.robot
    n = robot.freedoms
    along = _one_direction(model, direction)
    turn = np.zeros(n) if along.q is None else along.q
    if dq is not None:
        given = numbers("dq", dq, "rad per unit of the parameter")
        if given.shape != (n,):
            raise InputError("dq", f"must have shape ({n},) for {robot.name}, not {given.shape}")
        turn = turn + given
    speed = np.zeros(n) if along.qd is None else along.qd
    elastic = question.axial is not None
    axial = axial_stiffness(robot, question.axial)
    if along.axial is not None and not elastic:
        raise InputError("direction", "the cables of this model are not elastic; give stiffness_EA to linearise")

    def sample(units: float) -> tuple[Floats, ...]:
        moving = along.moved(question.moving, units)
        state = States(True, (model.q + units * turn)[None], (model.qd + units * speed)[None], np.zeros((1, n)))
        pull, losses = model.tensions.copy(), joint_damping(moving.robot, question.damping)
        pull = pull if along.inputs is None else pull + units * along.inputs
        losses = losses if along.damping is None else losses + units * along.damping
        asked = replace(question, moving=moving)
        if along.axial is not None:
            asked = replace(asked, axial=axial + units * along.axial)
        try:
            other = linear_model(asked, state, pull, losses)
        except VertebraError as error:
            raise InputError("direction", f"{along.name} has no derivative here: a little away, {error}") from None
        if other.at_stops != model.at_stops:
            raise InputError(
                "direction", f"{along.name} moves a joint off its rigid stop, where the model changes at once"
            )
        return other.A, other.B, other.C, other.M, other.K, other.accelerations

    # A bend that turns along its stop changes by as much as it turns for its size.
    bend = float(robot.joints["limit"][np.array(model.at_stops, int) - 1].min(initial=1.0))
    size = max(
        along.size(question.moving, _pulls(model, along, elastic), model.damping, axial),
        float(np.abs(turn).max()) / bend,
        float(np.abs(speed).max()) / (float(np.abs(model.qd).max()) or 1.0),
    )
    step, statics = STEP / size if size else 1.0, question.moving.statics
    if statics.has_friction and turn.any():
        step = min(step, step_along(statics, statics.workspace(), model.q, model.tensions, turn))
    A, B, C, M, K, rises = slope_along(sample, 0.75 * step)
    values = _eigenvalue_slopes(model, A)
    frequencies, growth = _frequency_slopes(model, M, K, A[:n, n:])
    return LinearDerivatives(along, A, B, C, M, K, rises, values, frequencies, growth)


def _one_direction(model: LinearModel, direction: str | Direction) -> Direction:
    if isinstance(direction, Direction):
        return direction
    if not isinstance(direction, str):
        raise InputError("direction", "must be the name of a parameter or a Direction")
    found = directions([direction], model.question.moving)
    if len(found) != 1:
        example = f", such as {found[0].name}" if found else ""
        raise InputError("direction", f"{direction} are {len(found)} parameters; give one of them{example}")
    return found[0]


def _pulls(model: LinearModel, along: Direction, elastic: bool) -> Floats:
    """Size of the tensions along a direction; an elastic cable is held on its side of slack."""
    pulls = model.tensions
    if along.inputs is None or not elastic or not along.inputs.any():
        return pulls
    changed = along.inputs != 0.0
    if (pulls[changed] == 0.0).any():
        cable = int(np.flatnonzero(changed & (pulls == 0.0))[0]) + 1
        raise InputError("direction", f"cable {cable} is slack, and pulls at once when its tension changes")
    smallest: Floats = pulls[changed].min(keepdims=True)
    return smallest


# Slopes of eigenvalues.


def _grouped(values: Complexes) -> list[NDArray[np.int64]]:
    """Indices of the values that are the same, group by group."""
    near, left = SAME * float(np.abs(values).max(initial=0.0)), list(range(len(values)))
    groups = []
    while left:
        group = [i for i in left if abs(values[i] - values[left[0]]) <= near]
        left = [i for i in left if i not in group]
        groups.append(np.array(group))
    return groups


def _slopes(
    values: Complexes, S: NDArray[Any], change: Callable[[complex, Complexes, Complexes], Complexes]
) -> Complexes:
    """Derivatives of `values`, eigenvalues of S. `change(value, left, right)`: what dS is between left and right
    vectors (columns)."""
    from scipy.linalg import eig, orth

    found, lefts, rights = eig(S, left=True, right=True)
    slopes = np.full(len(values), complex(np.inf))
    for group in _grouped(values):
        value = complex(values[group].mean())
        nearest = np.argsort(np.abs(found - value), kind="stable")[: len(group)]
        left, right = (orth(vectors[:, nearest], rcond=MERGED) for vectors in (lefts, rights))
        if left.shape != right.shape or right.shape[1] < len(group):
            continue
        both = left.conj().T @ right
        if np.linalg.svd(both, compute_uv=False)[-1] > MERGED:
            split = np.linalg.eigvals(np.linalg.solve(both, change(value, left, right)))
            slopes[group] = split[np.lexsort((split.imag, split.real))]
    return slopes


def _free(model: LinearModel) -> Floats:
    """(n, f) the directions that rigid stops leave free."""
    n = len(model.q)
    if not model.at_stops:
        return np.eye(n)
    shares, vectors = np.linalg.eigh(model.A[:n, n:])
    return np.asarray(vectors[:, shares > 0.5], dtype=np.float64)


def _eigenvalue_slopes(model: LinearModel, dA: Floats) -> Complexes:
    free, n = _free(model), len(model.q)
    if not free.size:
        return np.empty(0, dtype=np.complex128)
    # Time is scaled as in `eigenvalues_of`, so that rates weigh as much as angles.
    pace = float(np.abs(model.eigenvalues).max()) or 1.0
    scale = np.repeat([1.0, 1.0 / pace], n)
    A, dA = scale[:, None] * model.A / scale, scale[:, None] * dA / scale
    basis = np.kron(np.eye(2), free)

    def change(value: complex, left: Complexes, right: Complexes) -> Complexes:
        # On a stop, the direction that is held turns with the bend: vectors of the whole A leave the free ones.
        whole = A @ basis @ right / value if model.at_stops and value else basis @ right
        return np.asarray((basis @ left).conj().T @ dA @ whole)

    return _slopes(model.eigenvalues, basis.T @ A @ basis, change)


def _frequency_slopes(model: LinearModel, dM: Floats, dK: Floats, turning: Floats) -> tuple[Floats, Floats]:
    """Of frequencies in Hz and growth in 1/s. With K v = w^2 M v and v^T M v = 1, d(w^2) = v^T (dK - w^2 dM) v, and
    what the free directions turn by on a stop."""
    from scipy.linalg import solve_triangular

    free = _free(model)
    if not free.size:
        return np.empty(0), np.empty(0)
    M, K = model.M, model.K
    L = np.linalg.cholesky(free.T @ M @ free)
    basis = free @ np.asarray(solve_triangular(L, np.eye(len(L)), lower=True)).T
    S = basis.T @ K @ basis
    squares = own_values(S)[0]
    squares = squares[np.lexsort((squares.imag, squares.real))]

    def change(value: complex, left: Complexes, right: Complexes) -> Complexes:
        w, v, out = basis @ left, basis @ right, K - value * M
        slope = w.conj().T @ (dK - value * dM) @ v
        return np.asarray(slope + (turning @ w).conj().T @ out @ v + w.conj().T @ out @ turning @ v)

    slopes, rates = _slopes(squares, S, change), np.sqrt(-squares)
    known = np.isfinite(slopes) & (rates != 0.0)
    changes = np.divide(-slopes, 2.0 * rates, out=np.zeros_like(slopes), where=known)
    frequencies = np.sign(rates.imag) * changes.imag / (2.0 * np.pi)
    return np.where(known, frequencies, np.inf), np.where(known, np.sign(rates.real) * changes.real, np.inf)
