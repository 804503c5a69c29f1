"""Slip tests that several files of tests share."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np

import vertebra as vb
from vertebra.identify.slip_model import simulate_slips
from vertebra.identify.slips import SlipData, two_link_rig

ROBOT = vb.load("cai2023")
RIG = two_link_rig(ROBOT)
FLOATING = vb.load(ROBOT.to_mapping() | {"gravity": [0, 0, 0]})
CALIBRATIONS = 1000 if os.environ.get("VERTEBRA_SOAK") == "1" else 60
TWIST = (0.012, 0.0, -0.006)
"""m: a point beside the ball, where a load twists the link rather than turns it over."""


def hand_force(tension: Any, mu: Any) -> Any:
    """The straight rig by hand. Cables press the link on its ball with 3 T; load F and weight W, at a distance L from
    its centre, turn it over when (F + W) L = r_o sin(atan mu) times the contact force."""
    lever = 6.35 * np.sin(np.arctan(mu)) / 8.5
    return 3 * tension * lever / np.sqrt(1 - lever**2) - ROBOT.links["mass"][1] * np.linalg.norm(ROBOT.gravity)


def joined(*parts: SlipData) -> SlipData:
    names = ("tensions", "force", "bend", "azimuth", "direction", "point", "step", "held")
    lists = [np.concatenate([getattr(part, name) for part in parts]) for name in names]
    return SlipData(*lists, source="simulated slip tests", simulated=True)


def shifted(data: SlipData, by: Any) -> SlipData:
    return replace(data, force=data.force + by)


def pulled_off(tensions: list[float]) -> SlipData:
    """The load pulls the link straight off its ball, which ends at the sum of the tensions whatever mu is."""
    return simulate_slips(FLOATING, noise_N=0.0, tensions_N=tensions, repeats=1, direction=(0, 0, 1))
