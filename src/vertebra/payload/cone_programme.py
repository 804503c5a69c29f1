"""Tensions for the largest load as a cone programme: exact on the axes it is built around, and re-centred on them.

With an axis a for each contact, nearly along its force, the slip limits are second-order cones in tensions and load
(theory 5): |m across a| <= r_o sin(atan mu) f.a, and |2 k m +- (r_o^2 - k^2) (f.a) a| <= (r_o^2 + k^2) f.a, k = mu r_c.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vertebra.payload.pushes import Pushes
from vertebra.robot.tables import Floats

ROUNDS = 3
"""Solutions, each around the contact forces of the one before."""
FAR = 1e3
"""Loads beyond this many times the sum of all tensions count as unlimited."""


def cone_tensions(pushes: Pushes, low: Floats, high: Floats, start: Floats) -> list[Floats]:
    """Tensions of each round, best guess last; fewer or none where the programme has no solution."""
    chain = pushes.chain
    found: list[Floats] = []
    tensions, load = start, 0.0
    for _ in range(ROUNDS):
        axes = []
        for k in range(len(pushes.directions)):
            force = (chain.supply(tensions) - load * pushes.load_arms(k))[:, :3]
            size = np.linalg.norm(force, axis=1, keepdims=True)
            # A contact without force: along its link.
            axes.append(np.where(size > 0.0, force / np.where(size > 0.0, size, 1.0), chain.frames[1:, :3, 2]))
        answer = _solve(pushes, axes, low, high)
        if answer is None:
            break
        tensions, load = np.clip(answer[:-1], low, high), float(answer[-1])
        found.append(tensions)
    return found


def _solve(pushes: Pushes, axes: list[Floats], low: Floats, high: Floats) -> Floats | None:
    """Tensions and load (cables + 1,); None without a solution."""
    import clarabel
    from scipy.sparse import csc_matrix

    cables = len(low)
    scale = float(high.max())  # unknowns in units of the largest tension
    bounds = np.eye(cables + 1)
    rows = [bounds, -bounds]
    right = [np.append(high / scale, FAR * cables), np.append(-low / scale, 0.0)]
    cones: list[Any] = [clarabel.NonnegativeConeT(2 * (cables + 1))]
    for k, axis in enumerate(axes):
        for block, constant in _cones(pushes, k, axis, scale):
            rows.append(-block.reshape(-1, cables + 1))
            right.append(constant.reshape(-1))
            cones += [clarabel.SecondOrderConeT(block.shape[1])] * len(block)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    objective = np.zeros(cables + 1)
    objective[-1] = -1.0
    none = csc_matrix((cables + 1, cables + 1))
    solver = clarabel.DefaultSolver(
        none, objective, csc_matrix(np.concatenate(rows)), np.concatenate(right), cones, settings
    )
    solution = solver.solve()
    if solution.status not in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved):
        return None
    return scale * np.array(solution.x)


def _cones(pushes: Pushes, k: int, axis: Floats, scale: float) -> list[tuple[Floats, Floats]]:
    """Blocks (joints, size, cables + 1) and constants (joints, size): block x + constant lies in the cone."""
    chain = pushes.chain
    rows = slice(chain.setting.guided, None)
    joints, a = chain.robot.joints[rows], axis[rows]
    radius, mu = joints["radius"], joints["friction"]
    # Force and moment / radius of each contact, linear in tensions and load: (joints, 6, cables + 1) and (joints, 6).
    unit = np.repeat(np.array([1.0, 0.0]), 3) + np.repeat(np.array([0.0, 1.0]), 3) / radius[:, None]
    linear = np.concatenate([chain.pulls[rows], -pushes.load_arms(k)[rows, None]], axis=1).transpose(0, 2, 1)
    linear, constant = linear * unit[:, :, None], chain.rest[rows] * unit / scale
    both = np.concatenate([linear, constant[:, :, None]], axis=2)
    force, moment = both[:, :3], both[:, 3:]
    press = np.einsum("jx,jxz->jz", a, force)  # f.a
    across = moment - a[:, :, None] * np.einsum("jx,jxz->jz", a, moment)[:, None]
    sine = mu / np.sqrt(1.0 + mu * mu)
    kappa = mu * joints["ring_radius"] / radius
    twist = ((1.0 - kappa**2)[:, None] * press)[:, None] * a[:, :, None]
    top = ((1.0 + kappa**2)[:, None] * press)[:, None]
    sliding = np.concatenate([(sine[:, None] * press)[:, None], across], axis=1)
    turn = 2.0 * kappa[:, None, None] * moment
    torsion = [np.concatenate([top, turn + twist], axis=1), np.concatenate([top, turn - twist], axis=1)]
    return [(np.ascontiguousarray(block[:, :, :-1]), block[:, :, -1]) for block in (sliding, *torsion)]
