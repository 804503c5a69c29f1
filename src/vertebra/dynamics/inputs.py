"""What drives the cables over time: constant, sampled, or a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.robot.arguments import numbers
from vertebra.robot.tables import Floats

Drive = ArrayLike | Callable[..., ArrayLike]
"""(cables,), (steps + 1, cables), a function of time, or one of time, angles and rates."""


class Inputs(NamedTuple):
    """Inputs of a run as the kernel reads them."""

    samples: Floats
    """(2 steps + 1, cables) at every half step, or (1, cables) for all time."""
    controller: Callable[..., ArrayLike] | None
    """Called at the start of every step with time, angles and rates, when there is one."""


def inputs_over_time(
    name: str, given: Drive, unit: str, cables: int, steps: int, dt: float, allowed: Callable[[str, Floats], None]
) -> Inputs:
    """Checked inputs; `allowed` raises for values that no cable can have."""
    if callable(given):
        if _takes_state(name, given):
            return Inputs(np.zeros((1, cables)), given)
        times = 0.5 * dt * np.arange(2 * steps + 1)
        samples = np.empty((len(times), cables))
        for row, time in enumerate(times):
            samples[row] = one_sample(name, given(float(time)), unit, cables, time)
        allowed(name, samples)
        return Inputs(samples, None)
    array = numbers(name, given, unit)
    if array.shape == (cables,):
        allowed(name, array[None])
        return Inputs(array[None].copy(), None)
    if array.shape != (steps + 1, cables):
        wanted = f"({cables},), or ({steps + 1}, {cables}) at 0, dt, ... to the end"
        raise InputError(name, f"must have shape {wanted}, or be a function of time, not {array.shape}")
    allowed(name, array)
    samples = np.empty((2 * steps + 1, cables))
    samples[::2], samples[1::2] = array, 0.5 * (array[1:] + array[:-1])
    return Inputs(samples, None)


def one_sample(name: str, values: ArrayLike, unit: str, cables: int, time: float) -> Floats:
    """What a function returned at a time."""
    array = numbers(name, values, unit)
    if array.shape != (cables,):
        raise InputError(name, f"must return {cables} numbers in {unit}, not shape {array.shape} (at {time:.6g} s)")
    return array


def require_length(name: str, lengths: Floats) -> None:
    """A cable has a length."""
    if lengths.size and lengths.min() <= 0.0:
        cable = int(np.argmin(lengths.min(axis=0)))
        raise InputError(name, f"cable {cable + 1} would be {lengths.min():.6g} m long; must be more than 0")


def _takes_state(name: str, function: Callable[..., Any]) -> bool:
    """Whether a function wants angles and rates besides the time."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    needed = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty]
    if len(needed) not in (1, 3):
        raise InputError(name, f"a function must take (t) or (t, q, qd), not {len(needed)} arguments")
    return len(needed) == 3
