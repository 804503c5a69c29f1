"""How does an answer change with everything it depends on?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray
from numpy.typing import ArrayLike

from vertebra.errors import InputError, shown
from vertebra.robot.arguments import numbers
from vertebra.robot.tables import Floats
from vertebra.robot.units import per_unit_text
from vertebra.sensitivity.parameters import By, Parameters, parameters_of, words_of
from vertebra.sensitivity.standing import Outputs, Standing
from vertebra.statics.shape import Shape

Of = str | Sequence[str] | Mapping[str, ArrayLike] | ArrayLike | None


class Sensitivity(xarray.DataArray):
    """Derivatives in SI, a row per output and a column per parameter, with the value and unit of each as coordinates.

    `attrs["notes"]`: sentences about corners of the answer, where a derivative is that of one side.
    """

    __slots__ = ()

    def top(self, count: int = 10) -> str:
        """The parameters that matter most, as a table for people: what a change of 1 % does, the largest first."""
        raise NotImplementedError


def sensitivity(result: Any, of: Of = None, by: By = None) -> Sensitivity:
    """x"""
    raise NotImplementedError
