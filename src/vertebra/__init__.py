"""Vertebra: one robot file for the shape, payload, motion and sensing of cable-driven snake-like robots.

>>> import vertebra as vb
>>> robot = vb.load("hu2023-prototype")
>>> vb.frames(robot, [0.1] * robot.freedoms).shape
(12, 4, 4)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vertebra.errors import DescriptionError as DescriptionError
    from vertebra.errors import InputError as InputError
    from vertebra.errors import OutOfRange as OutOfRange
    from vertebra.errors import VertebraError as VertebraError
    from vertebra.mechanics.kinematics import CableSegments as CableSegments
    from vertebra.mechanics.kinematics import Masses as Masses
    from vertebra.mechanics.kinematics import cable_lengths as cable_lengths
    from vertebra.mechanics.kinematics import cable_segments as cable_segments
    from vertebra.mechanics.kinematics import frames as frames
    from vertebra.mechanics.kinematics import jacobian as jacobian
    from vertebra.mechanics.kinematics import masses as masses
    from vertebra.mechanics.kinematics import tip_frame as tip_frame
    from vertebra.mechanics.kinematics import twists as twists
    from vertebra.robot.export.coordinates import mjcf_qpos as mjcf_qpos
    from vertebra.robot.export.mjcf import to_mjcf as to_mjcf
    from vertebra.robot.export.urdf import to_urdf as to_urdf
    from vertebra.robot.robot import Robot as Robot
    from vertebra.robot.robot import load as load
    from vertebra.robot.robot import presets as presets
    from vertebra.robot.schema import json_schema as json_schema

__version__ = "0.1.0"

# Names are imported on first use, so that `import vertebra` and `vertebra --help` load neither numba nor plotting.
_HOMES = {
    "VertebraError": "vertebra.errors",
    "DescriptionError": "vertebra.errors",
    "InputError": "vertebra.errors",
    "OutOfRange": "vertebra.errors",
    "Robot": "vertebra.robot.robot",
    "load": "vertebra.robot.robot",
    "presets": "vertebra.robot.robot",
    "json_schema": "vertebra.robot.schema",
    "to_mjcf": "vertebra.robot.export.mjcf",
    "to_urdf": "vertebra.robot.export.urdf",
    "mjcf_qpos": "vertebra.robot.export.coordinates",
    "frames": "vertebra.mechanics.kinematics",
    "tip_frame": "vertebra.mechanics.kinematics",
    "jacobian": "vertebra.mechanics.kinematics",
    "twists": "vertebra.mechanics.kinematics",
    "cable_lengths": "vertebra.mechanics.kinematics",
    "cable_segments": "vertebra.mechanics.kinematics",
    "CableSegments": "vertebra.mechanics.kinematics",
    "masses": "vertebra.mechanics.kinematics",
    "Masses": "vertebra.mechanics.kinematics",
}
__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'vertebra' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
