"""A chain of links at many times: their states found, or eliminated, from base to tip.

Sensor rows hold the state x_i of one link and the constants of its sensor; joint rows the states of two neighbours:

    minimise  sum |r + J x_i + D constants_i|^2  +  sum |r + B x_i + G x_(i+1)|^2     (weighted)

What the links before i say of x_i passes through the few rows of one joint: information G^T P G and columns G^T Z, with
one column of Z a constant and a last one for the residuals. So the work grows with the number of sensors, and only the
products of columns with its square.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vertebra.robot.tables import Floats
from vertebra.sensing.calibration.motion_factors import JointRows, SensorRows
from vertebra.sensing.calibration.unknowns import EACH

_BLIND = 1e-4
"""Weight that keeps a state without data where it is: 100 rad, 100 rad/s."""


class Chain(NamedTuple):
    """Rows of m sensors and the m - 1 gaps between them, each with weights (K, rows), at K times."""

    sensors: list[tuple[SensorRows, Floats]]
    joints: list[tuple[JointRows, Floats]]


def state_change(chain: Chain) -> Floats:
    """(m, K, 6) Gauss-Newton step of all states with the constants as they are."""
    m, K = len(chain.sensors), len(chain.sensors[0][1])
    own, target = _blind(K), np.zeros((K, 6))
    passed = list[tuple[Floats, Floats]]()
    for i, (rows, weights) in enumerate(chain.sensors):
        own += _product(weights, rows.state, rows.state)
        target -= _product(weights, rows.state, rows.residuals[..., None])[..., 0]
        if i + 1 == m:
            break
        joint, trust = chain.joints[i]
        own += _product(trust, joint.before, joint.before)
        target -= _product(trust, joint.before, joint.residuals[..., None])[..., 0]
        across = _product(trust, joint.before, joint.after)
        solved = np.linalg.solve(own, np.concatenate([across, target[..., None]], axis=-1))
        passed.append((solved[..., :6], solved[..., 6]))
        back = np.swapaxes(across, 1, 2)
        own = _blind(K) + _product(trust, joint.after, joint.after) - back @ solved[..., :6]
        target = -_product(trust, joint.after, joint.residuals[..., None])[..., 0] - (back @ solved[..., 6:])[..., 0]
    change = np.empty((m, K, 6))
    change[-1] = np.linalg.solve(own, target[..., None])[..., 0]
    for i in range(m - 2, -1, -1):
        across, alone = passed[i]
        change[i] = alone - np.einsum("kab,kb->ka", across, change[i + 1])
    return change


def constants_equations(chain: Chain) -> tuple[Floats, Floats]:
    """Information (7m, 7m) and slope (7m,) in the constants, summed over all times, with the states eliminated."""
    m, K = len(chain.sensors), len(chain.sensors[0][1])
    information, slope = np.zeros((EACH * m, EACH * m)), np.zeros(EACH * m)
    said = _Said(_blind(K), np.zeros((K, 0, 6)), np.zeros((K, 0, 1)))
    for i, (rows, weights) in enumerate(chain.sensors):
        here = slice(EACH * i, EACH * (i + 1))
        information[here, here] += _product(weights, rows.constants, rows.constants).sum(axis=0)
        slope[here] += _product(weights, rows.constants, rows.residuals[..., None])[..., 0].sum(axis=0)
        own = said.own + _product(weights, rows.state, rows.state)
        mine = _product(weights, rows.state, rows.constants)
        last = _product(weights, rows.state, rows.residuals[..., None])
        if i + 1 < m:
            joint, trust = chain.joints[i]
            own += _product(trust, joint.before, joint.before)
            last += _product(trust, joint.before, joint.residuals[..., None])
        # All columns of this state are combinations of these few.
        few = np.concatenate([np.swapaxes(said.entry, 1, 2), mine, last], axis=-1)
        solved = np.linalg.solve(own, few)
        _subtract(np.swapaxes(few, 1, 2) @ solved, said.columns, information, slope)
        if i + 1 < m:
            said = _pass_on(own, solved, said.columns, joint, trust)
    return information, slope


class _Said(NamedTuple):
    """What the links so far say of the next one."""

    own: Floats
    """(K, 6, 6) information."""
    entry: Floats
    """(K, c, 6) G: the rows of the joint through which they say it."""
    columns: Floats
    """(K, c, constants so far + 1) Z."""


def _subtract(inner: Floats, columns: Floats, information: Floats, slope: Floats) -> None:
    """Take away what eliminating a state costs; `inner` (K, c + 8, c + 8) is of entry, constants and residual."""
    K, c, width = columns.shape
    before, here, mine = slice(0, width - 1), slice(width - 1, width - 1 + EACH), slice(c, c + EACH)
    through = inner[:, :c, :c] @ columns
    through[..., -1:] += inner[:, :c, -1:]
    past = np.ascontiguousarray(columns[..., :-1]).reshape(K * c, width - 1)
    lost = past.T @ through.reshape(K * c, width)
    shared = past.T @ inner[:, :c, mine].reshape(K * c, EACH)
    information[before, before] -= lost[:, :-1]
    information[before, here] -= shared
    information[here, before] -= shared.T
    information[here, here] -= inner[:, mine, mine].sum(axis=0)
    slope[before] -= lost[:, -1]
    slope[here] -= (inner[:, mine, -1:] + inner[:, mine, :c] @ columns[..., -1:])[..., 0].sum(axis=0)


def _pass_on(own: Floats, solved: Floats, columns: Floats, joint: JointRows, trust: Floats) -> _Said:
    """From a state's information and its few columns solved with it to what the joint lets through."""
    c = columns.shape[1]
    onward = -trust[..., None] * (joint.before @ solved)
    through = onward[..., :c] @ columns
    through[..., -1:] += onward[..., -1:] + (trust * joint.residuals)[..., None]
    passed = np.concatenate([through[..., :-1], onward[..., c:-1], through[..., -1:]], axis=-1)
    yielding = joint.before @ np.linalg.solve(own, np.swapaxes(joint.before, 1, 2))
    kept = trust[..., None] * (np.eye(trust.shape[1]) - yielding * trust[:, None])
    return _Said(_blind(len(own)) + np.swapaxes(joint.after, 1, 2) @ kept @ joint.after, joint.after, passed)


def _blind(K: int) -> Floats:
    return np.broadcast_to(_BLIND * np.eye(6), (K, 6, 6)).copy()


def _product(weights: Floats, left: Floats, right: Floats) -> Floats:
    """left^T W right, for every time."""
    return np.asarray(np.swapaxes(left * weights[..., None], -1, -2) @ right)
