"""Public names of this room beyond those that `vertebra` itself lists."""

from vertebra.sensitivity.sensitivity import Sensitivity as Sensitivity
