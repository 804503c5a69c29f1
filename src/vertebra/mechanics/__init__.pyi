"""Public names of this room beyond those that `vertebra` itself lists."""

from vertebra.mechanics.kinematics import CableSegments as CableSegments
from vertebra.mechanics.kinematics import Masses as Masses
