"""Public names of this room beyond those that `vertebra` itself lists."""

from vertebra.derivatives.sensitivity import Sensitivity as Sensitivity
from vertebra.derivatives.tolerances import Tolerances as Tolerances
