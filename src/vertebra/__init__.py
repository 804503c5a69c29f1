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
    from vertebra.dynamics.allocation import Allocation as Allocation
    from vertebra.dynamics.allocation import allocate_tensions as allocate_tensions
    from vertebra.dynamics.forward import forward_dynamics as forward_dynamics
    from vertebra.dynamics.inverse import JointForces as JointForces
    from vertebra.dynamics.inverse import bias_forces as bias_forces
    from vertebra.dynamics.inverse import inverse_dynamics as inverse_dynamics
    from vertebra.dynamics.inverse import mass_matrix as mass_matrix
    from vertebra.dynamics.limits import Bumper as Bumper
    from vertebra.dynamics.linearise import LinearModel as LinearModel
    from vertebra.dynamics.linearise import linearise as linearise
    from vertebra.dynamics.simulate import simulate as simulate
    from vertebra.errors import BusError as BusError
    from vertebra.errors import DescriptionError as DescriptionError
    from vertebra.errors import Diverged as Diverged
    from vertebra.errors import Infeasible as Infeasible
    from vertebra.errors import InputError as InputError
    from vertebra.errors import MeasurementError as MeasurementError
    from vertebra.errors import NoEquilibrium as NoEquilibrium
    from vertebra.errors import OutOfRange as OutOfRange
    from vertebra.errors import RecordingError as RecordingError
    from vertebra.errors import StudioError as StudioError
    from vertebra.errors import Unstable as Unstable
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
    from vertebra.mechanics.loads import Load as Load
    from vertebra.motion.follow_the_leader import follow_the_leader as follow_the_leader
    from vertebra.motion.journey import Journey as Journey
    from vertebra.motion.machine import FollowTheLeader as FollowTheLeader
    from vertebra.payload.best_tensions import BestTensions as BestTensions
    from vertebra.payload.best_tensions import best_tensions as best_tensions
    from vertebra.payload.directions import sphere_grid as sphere_grid
    from vertebra.payload.limit import payload as payload
    from vertebra.payload.payload_map import payload_map as payload_map
    from vertebra.payload.result import Contact as Contact
    from vertebra.payload.result import Payload as Payload
    from vertebra.robot.ball_shape import BallShape as BallShape
    from vertebra.robot.export.coordinates import mjcf_qpos as mjcf_qpos
    from vertebra.robot.export.mjcf import to_mjcf as to_mjcf
    from vertebra.robot.export.urdf import to_urdf as to_urdf
    from vertebra.robot.fill_inertia import fill_inertia as fill_inertia
    from vertebra.robot.friction import FrictionLaw as FrictionLaw
    from vertebra.robot.robot import Robot as Robot
    from vertebra.robot.robot import load as load
    from vertebra.robot.robot import presets as presets
    from vertebra.robot.schema import json_schema as json_schema
    from vertebra.sensing.calibration.file import load_calibration as load_calibration
    from vertebra.sensing.calibration.result import Calibration as Calibration
    from vertebra.sensing.estimator import ShapeEstimator as ShapeEstimator
    from vertebra.sensing.estimator import shape_from_orientations as shape_from_orientations
    from vertebra.sensing.network import SensorNetwork as SensorNetwork
    from vertebra.sensing.sensed_shape import SensedShape as SensedShape
    from vertebra.sensing.sensed_shape import SensorHealth as SensorHealth
    from vertebra.statics.branches import Equilibria as Equilibria
    from vertebra.statics.branches import critical_tension as critical_tension
    from vertebra.statics.branches import equilibria as equilibria
    from vertebra.statics.branches import stable_tensions as stable_tensions
    from vertebra.statics.for_shape import HoldingTensions as HoldingTensions
    from vertebra.statics.for_shape import tensions_for_shape as tensions_for_shape
    from vertebra.statics.for_tip import TipTensions as TipTensions
    from vertebra.statics.for_tip import tensions_for_tip as tensions_for_tip
    from vertebra.statics.from_lengths import shape_from_lengths as shape_from_lengths
    from vertebra.statics.from_tensions import Shapes as Shapes
    from vertebra.statics.from_tensions import shape_from_tensions as shape_from_tensions
    from vertebra.statics.from_tensions import shapes_from_tensions as shapes_from_tensions
    from vertebra.statics.margin import tension_margin as tension_margin
    from vertebra.statics.path import ShapePath as ShapePath
    from vertebra.statics.path_state import PathState as PathState
    from vertebra.statics.path_state import Walk as Walk
    from vertebra.statics.shape import Shape as Shape
    from vertebra.statics.shape import Status as Status
    from vertebra.statics.stiffness import StiffnessCurve as StiffnessCurve
    from vertebra.statics.stiffness import TipStiffness as TipStiffness
    from vertebra.statics.stiffness import stiffness_curve as stiffness_curve
    from vertebra.statics.stiffness import tip_stiffness as tip_stiffness

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
    "FrictionLaw": "vertebra.robot.friction",
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
    "NoEquilibrium": "vertebra.errors",
    "Unstable": "vertebra.errors",
    "Infeasible": "vertebra.errors",
    "MeasurementError": "vertebra.errors",
    "Load": "vertebra.mechanics.loads",
    "Shape": "vertebra.statics.shape",
    "Status": "vertebra.statics.shape",
    "Shapes": "vertebra.statics.from_tensions",
    "shape_from_tensions": "vertebra.statics.from_tensions",
    "shapes_from_tensions": "vertebra.statics.from_tensions",
    "shape_from_lengths": "vertebra.statics.from_lengths",
    "Equilibria": "vertebra.statics.branches",
    "critical_tension": "vertebra.statics.branches",
    "equilibria": "vertebra.statics.branches",
    "stable_tensions": "vertebra.statics.branches",
    "tension_margin": "vertebra.statics.margin",
    "PathState": "vertebra.statics.path_state",
    "ShapePath": "vertebra.statics.path",
    "Walk": "vertebra.statics.path_state",
    "StiffnessCurve": "vertebra.statics.stiffness",
    "TipStiffness": "vertebra.statics.stiffness",
    "stiffness_curve": "vertebra.statics.stiffness",
    "tip_stiffness": "vertebra.statics.stiffness",
    "HoldingTensions": "vertebra.statics.for_shape",
    "tensions_for_shape": "vertebra.statics.for_shape",
    "TipTensions": "vertebra.statics.for_tip",
    "tensions_for_tip": "vertebra.statics.for_tip",
    "BallShape": "vertebra.robot.ball_shape",
    "BestTensions": "vertebra.payload.best_tensions",
    "best_tensions": "vertebra.payload.best_tensions",
    "Contact": "vertebra.payload.result",
    "Payload": "vertebra.payload.result",
    "payload": "vertebra.payload.limit",
    "payload_map": "vertebra.payload.payload_map",
    "sphere_grid": "vertebra.payload.directions",
    "FollowTheLeader": "vertebra.motion.machine",
    "Journey": "vertebra.motion.journey",
    "follow_the_leader": "vertebra.motion.follow_the_leader",
    "inverse_dynamics": "vertebra.dynamics.inverse",
    "JointForces": "vertebra.dynamics.inverse",
    "mass_matrix": "vertebra.dynamics.inverse",
    "bias_forces": "vertebra.dynamics.inverse",
    "forward_dynamics": "vertebra.dynamics.forward",
    "fill_inertia": "vertebra.robot.fill_inertia",
    "simulate": "vertebra.dynamics.simulate",
    "Bumper": "vertebra.dynamics.limits",
    "Diverged": "vertebra.errors",
    "allocate_tensions": "vertebra.dynamics.allocation",
    "Allocation": "vertebra.dynamics.allocation",
    "linearise": "vertebra.dynamics.linearise",
    "LinearModel": "vertebra.dynamics.linearise",
    "shape_from_orientations": "vertebra.sensing.estimator",
    "ShapeEstimator": "vertebra.sensing.estimator",
    "SensedShape": "vertebra.sensing.sensed_shape",
    "SensorHealth": "vertebra.sensing.sensed_shape",
    "SensorNetwork": "vertebra.sensing.network",
    "Calibration": "vertebra.sensing.calibration.result",
    "load_calibration": "vertebra.sensing.calibration.file",
    "RecordingError": "vertebra.errors",
    "BusError": "vertebra.errors",
    "StudioError": "vertebra.errors",
}
__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'vertebra' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    # `payload` is also the name of a room, which is callable: the room stays, so that its modules can be imported.
    return globals().setdefault(name, value)


def __dir__() -> list[str]:
    return sorted(__all__)
