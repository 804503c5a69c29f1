"""Slip tests that two links of a known mu would give: for planning tests, and for testing what is fitted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.identify.slip_data import RECORDED, SlipData
from vertebra.identify.slip_model import SlipModel
from vertebra.identify.slip_rig import largest_mu, two_link_rig
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

TENSIONS_N = (5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0)
"""Tensions of Cai et al. 2023, section III."""
NOISE_N = 0.3
"""Ours: the paper does not state how much slip tests of two links scatter."""


def simulate_slips(
    robot: Robot,
    mu: float | None = None,
    tensions_N: Iterable[ArrayLike] = TENSIONS_N,
    repeats: int = 3,
    noise_N: float = NOISE_N,
    seed: int = 0,
    *,
    noise_share: float = 0.0,
    bend_deg: float = 0.0,
    azimuth_deg: float = 0.0,
    direction: Sequence[float] | None = None,
    point: Sequence[float] | None = None,
    step_N: float = 0.0,
    recorded: str = "slipped",
    offset_N: float = 0.0,
) -> SlipData:
    """Simulated slip tests of two links of `robot` with friction `mu` (default: as in the file), `repeats` of each.

    `tensions_N`: for each setting one number for all cables, or one a cable. Noise is normal, with a standard deviation
    of `noise_N` plus `noise_share` times the force (added as variances). The load grows along `direction` (default:
    that of gravity) at `point` of the held link, m (default: the tip), smoothly or in steps of `step_N`; `recorded` is
    the first load that slipped (slipped) or the last that held (held). `offset_N` is missing in every force.
    """
    rig = two_link_rig(robot)
    coefficient = float(rig.joints["friction"][0]) if mu is None else mu
    _check(rig, coefficient, repeats, recorded)
    noise_N, noise_share, step_N = (
        _not_negative(name, value)
        for name, value in (("noise_N", noise_N), ("noise_share", noise_share), ("step_N", step_N))
    )
    tensions = np.repeat(_tensions(rig, tensions_N), repeats, axis=0)
    count = len(tensions)
    toward = np.array(rig.gravity if direction is None else direction, dtype=np.float64)
    if toward.shape != (3,) or not np.isfinite(toward).all() or not toward.any():
        raise InputError("direction", "must be three numbers that are not all zero, such as (0, -1, 0)")
    at = np.array(rig.tip_point if point is None else point, dtype=np.float64)
    blank = SlipData(
        tensions, np.ones(count), np.full(count, math.radians(bend_deg)), np.full(count, math.radians(azimuth_deg)),
        np.tile(toward, (count, 1)), np.tile(at, (count, 1)), np.zeros(count), np.zeros(count),
    )  # fmt: skip
    model = SlipModel.of(rig, blank)
    force = model.forces(coefficient)[model.cell]
    _refuse(blank, force, coefficient)
    noise = f"{noise_N:g} N" + (f" and {100 * noise_share:g} %" if noise_share else "")
    steps = f" in steps of {step_N:g} N" if step_N else ""
    source = (
        f"{count} simulated slip tests of {robot.name} with mu {coefficient:g}{steps}, {noise} of noise, seed {seed}"
    )
    spread = np.random.default_rng(seed).normal(0.0, 1.0, count) * np.hypot(noise_N, noise_share * force)
    return SlipData(
        tensions, written_down(force + spread - offset_N, step_N, recorded), blank.bend, blank.azimuth, blank.direction,
        blank.point, np.full(count, step_N), np.full(count, RECORDED[recorded]), source=source, simulated=True,
    )  # fmt: skip


def written_down(force: Floats, step: float, recorded: str) -> Floats:
    """(n,) N: what a person writes who adds weights of `step` N until the link slips at `force`."""
    if (force <= (step if recorded == "held" else 0.0)).any():
        raise InputError(
            "noise_N", "some simulated links slip without any load; make the noise or the step smaller, or pull harder"
        )
    if not step:
        return force
    weights: Floats = (np.floor(force / step) if recorded == "held" else np.ceil(force / step)) * step
    return weights


def _check(rig: Robot, mu: float, repeats: int, recorded: str) -> None:
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
        raise InputError("repeats", f"must be a whole number of 1 or more, not {repeats!r}")
    if not (isinstance(mu, int | float) and 0.0 < mu <= largest_mu(rig)):
        raise InputError("mu", f"must be above 0 and up to {largest_mu(rig):.4g} for this ball and ring, not {mu!r}")
    if recorded not in RECORDED:
        raise InputError("recorded", f"must be {' or '.join(RECORDED)}, not {recorded!r}")


def _not_negative(name: str, value: float) -> float:
    if not (isinstance(value, int | float) and 0.0 <= value < math.inf):
        raise InputError(name, f"must be 0 or more, not {value!r}")
    return float(value)


def _tensions(rig: Robot, values: Iterable[ArrayLike]) -> Floats:
    count = len(rig.cables)
    try:
        rows = [np.broadcast_to(np.asarray(value, dtype=np.float64), count) for value in values]
    except (TypeError, ValueError):
        message = f"must be numbers in N: for each setting one for all cables, or {count}, one a cable"
        raise InputError("tensions_N", message) from None
    if not rows:
        raise InputError("tensions_N", "needs one setting or more")
    return np.array(rows)


def _refuse(data: SlipData, force: Floats, mu: float) -> None:
    for row in range(len(data)):
        pull = ", ".join(f"{value:g}" for value in data.tensions[row])
        if not force[row] < math.inf:
            raise InputError("direction", f"no load in this direction makes the link slip at {pull} N with mu {mu:g}")
        if not force[row] > 0.0:
            raise InputError("tensions_N", f"at {pull} N the link slips without any load; pull harder, or more evenly")
