"""Public names of this room beyond those that `vertebra` itself lists."""

from vertebra.derivatives.sensitivity import Sensitivity as Sensitivity
