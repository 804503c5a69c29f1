"""What `surgical-arm-study.yaml` asks about each arm beyond Vertebra's own quantities."""

import numpy as np

import vertebra as vb


def softest(robot, tensions, forces):
    """N/m, of the tip along its softest direction."""
    return vb.shape_from_tensions(robot, tensions, **forces).stiffness().stiffness[0]


def stiffness_range(case):
    """N/m: how much stiffer the tip is with all cables at the largest tension than at the tension for steering."""
    stiff = softest(case.robot, case.robot.cables["max_tension"], case.forces)
    return stiff - softest(case.robot, case.tensions, case.forces)


def steering(case):
    """rad, by which the tip turns while one cable pulls three times as hard as the others."""
    pulled = case.tensions * [3.0, 1.0, 1.0, 1.0]
    axis = vb.shape_from_tensions(case.robot, pulled, **case.forces).frames[-1][:3, 2]
    return np.arccos(np.clip(axis[2], -1.0, 1.0))


def wall(case):
    """m, of the body outside of the cable holes."""
    link = case.robot.description.sections[0].link
    return 0.5 * link.diameter - case.robot.cables["radius"][0]
