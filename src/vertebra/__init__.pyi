"""The public names and where each one lives."""

from vertebra.derivatives import jax as jax
from vertebra.derivatives import torch as torch
from vertebra.derivatives.sensitivity import sensitivity as sensitivity
from vertebra.derivatives.tolerances import tolerances as tolerances
from vertebra.dynamics.allocation import allocate_tensions as allocate_tensions
from vertebra.dynamics.controller import Controller as Controller
from vertebra.dynamics.equations_of_motion import forward_dynamics as forward_dynamics
from vertebra.dynamics.equations_of_motion import inverse_dynamics as inverse_dynamics
from vertebra.dynamics.equations_of_motion import mass_matrix as mass_matrix
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
from vertebra.follow.journey import follow_the_leader as follow_the_leader
from vertebra.identify.friction import fit_friction as fit_friction
from vertebra.identify.shape_fit import fit_shapes as fit_shapes
from vertebra.identify.slip_fit import fit_slips as fit_slips
from vertebra.locked.ball_shape import BallShape as BallShape
from vertebra.locked.best import best_tensions as best_tensions
from vertebra.locked.map import payload_map as payload_map
from vertebra.locked.payload import payload as payload
from vertebra.mechanics.kinematics import Pose as Pose
from vertebra.mechanics.problem import Load as Load
from vertebra.robot.friction import FrictionLaw as FrictionLaw
from vertebra.robot.robot import Robot as Robot
from vertebra.robot.robot import load as load
from vertebra.robot.robot import presets as presets
from vertebra.sensing.calibration.calibration import Calibration as Calibration
from vertebra.sensing.estimator import ShapeEstimator as ShapeEstimator
from vertebra.sensing.estimator import shape_from_orientations as shape_from_orientations
from vertebra.sensing.network import SensorNetwork as SensorNetwork
from vertebra.statics.branches import critical_tension as critical_tension
from vertebra.statics.branches import equilibria as equilibria
from vertebra.statics.forward import shape_from_lengths as shape_from_lengths
from vertebra.statics.forward import shape_from_tensions as shape_from_tensions
from vertebra.statics.forward import shapes_from_tensions as shapes_from_tensions
from vertebra.statics.hold import tensions_for_shape as tensions_for_shape
from vertebra.statics.path import ShapePath as ShapePath
from vertebra.statics.stiffness import stiffness_curve as stiffness_curve
from vertebra.statics.tip import tensions_for_tip as tensions_for_tip
from vertebra.statics.tip_path import tensions_for_tips as tensions_for_tips

__version__: str
__all__: list[str]
