"""A small simulated and a small planned motion for tests of what is shown of them."""

from functools import cache

import vertebra as vb
from vertebra.studio.motion.model import plan_motion, simulate_motion, start_from
from vertebra.studio.motion.settings import MotionSettings


def _quiet(share):
    pass


@cache
def simulated():
    """Half a second of D'Antuono's robot."""
    robot = vb.load("dantuono2023")
    start = start_from(vb.shape_from_tensions(robot, [20.0] * 4), robot)
    return simulate_motion(robot, start, MotionSettings(amplitude=5.0, duration=0.5), report=_quiet)


@cache
def planned(method="shared"):
    """One period of a sway of the same."""
    robot = vb.load("dantuono2023")
    settings = MotionSettings(source="sway", method=method, period=2.0)
    return plan_motion(robot, start_from(None, robot), settings, None, report=_quiet)
