"""Where the links of a moving robot are and how fast they turn, also when its joints twist."""

from __future__ import annotations

import numpy as np

from vertebra.errors import InputError
from vertebra.mechanics.kernels.joints import DONE, walk_chain
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.simulated.motion import Motion


def chain_motion(robot: Robot, motion: Motion, twisting: Motion, times: Floats, links: int) -> tuple[Floats, Floats]:
    """Frames (times, links, 4, 4) in the base and turning rates (times, links, 3) in link axes, rad/s, of links 0 on.

    A link's frame is turned about its own z by the twist of its joint: R_j = R_(j-1) A(q_j) Rz(twist_j).
    """
    frames, axes = _stiff_chain(robot, motion.angles(times), links)
    spins = axes[..., :3] * motion.rates(times)[..., None]
    moving = np.concatenate([[0], np.cumsum(robot.joints["freedoms"])])[:links]
    sums = np.concatenate([np.zeros((len(times), 1, 3)), np.cumsum(spins, axis=1)], axis=1)[:, moving]
    rates = np.einsum("klba,klb->kla", frames[..., :3, :3], sums)
    return twisted(frames, rates, twisting.angles(times), twisting.rates(times))


def twisted(frames: Floats, rates: Floats, twists: Floats, twist_rates: Floats) -> tuple[Floats, Floats]:
    """Frames and rates, as in `chain_motion`, of a chain whose joints twist, from those of the stiff chain."""
    if not (twists.any() or twist_rates.any()):
        return frames, rates
    soft, soft_rates = frames.copy(), rates.copy()
    for link in range(1, frames.shape[1]):
        step = _across(frames[:, link - 1], frames[:, link])
        own = rates[:, link] - _turned_back(step, rates[:, link - 1])
        turn = so3.about_z(twists[:, link - 1])
        turning = _turned_back(step, soft_rates[:, link - 1]) + own
        soft_rates[:, link] = np.einsum("kba,kb->ka", turn, turning)
        soft_rates[:, link, 2] += twist_rates[:, link - 1]
        step[:, :3, :3] = step[:, :3, :3] @ turn
        soft[:, link] = soft[:, link - 1] @ step
    return soft, soft_rates


def _stiff_chain(robot: Robot, angles: Floats, links: int) -> tuple[Floats, Floats]:
    """Frames and axes of all freedoms without twist, for every pose."""
    frames = np.empty((len(angles), len(robot.links), 4, 4))
    axes = np.empty((len(angles), robot.freedoms, 6))
    for pose in range(len(angles)):
        status = walk_chain(robot.joints, robot.links, robot.origin, angles[pose], frames[pose], axes[pose])
        if status != DONE:
            raise InputError("motion", f"bends joint {status + 1} beyond 180 deg; give a smaller amplitude")
    return frames[:, :links], axes


def _across(before: Floats, after: Floats) -> Floats:
    """Frames `after` in the axes of frames `before`."""
    step = np.zeros_like(after)
    step[:, :3, :3] = np.swapaxes(before[:, :3, :3], 1, 2) @ after[:, :3, :3]
    step[:, :3, 3] = _turned_back(before, after[:, :3, 3] - before[:, :3, 3])
    step[:, 3, 3] = 1.0
    return step


def _turned_back(frames: Floats, vectors: Floats) -> Floats:
    turned: Floats = np.einsum("kba,kb->ka", frames[:, :3, :3], vectors)
    return turned
