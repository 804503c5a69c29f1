"""Public names of this room beyond those that `vertebra` itself lists."""

from vertebra.dynamics.allocation import Allocation as Allocation
from vertebra.dynamics.equations_of_motion import JointForces as JointForces
from vertebra.dynamics.equations_of_motion import bias_forces as bias_forces
from vertebra.dynamics.linearise import LinearModel as LinearModel
from vertebra.dynamics.model_derivatives import LinearDerivatives as LinearDerivatives
from vertebra.dynamics.model_derivatives import linear_derivatives as linear_derivatives
from vertebra.dynamics.motion_samples import sampled_motion as sampled_motion
from vertebra.dynamics.simulate import Bumper as Bumper
