"""What fitting parameters to measured shapes found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vertebra.identify.choices import Unknown
from vertebra.identify.friction_result import Estimate
from vertebra.identify.identifiability import Unseen
from vertebra.identify.shape_data import ShapeData
from vertebra.identify.significance import p_of_scatter, pointwise_factor
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats


class Misfit(NamedTuple):
    """How far predictions are from the measured shapes: measured minus predicted, NaN where nothing was measured."""

    tips: Floats
    """(N, 3) m, in the measuring frame."""
    angles: Floats
    """(N, n) rad."""
    squares: float
    """Sum of squares of all measured numbers, each over its standard deviation."""

    @property
    def rms_tip(self) -> float | None:
        """Root mean square of the distance, m; None without tips."""
        return _rms(np.nansum(self.tips**2, axis=1)[np.isfinite(self.tips).any(axis=1)])

    @property
    def rms_angle(self) -> float | None:
        """Root mean square of an angle, rad; None without angles."""
        return _rms(self.angles[np.isfinite(self.angles)] ** 2)


def _rms(squares: Floats) -> float | None:
    return math.sqrt(float(squares.mean())) if squares.size else None


@dataclass(frozen=True, eq=False, repr=False)
class ShapeFit:
    """Parameters of a robot fitted to measured shapes, SI."""

    data: ShapeData
    given: Robot
    """The robot before the fit."""
    robot: Robot
    """The robot with the fitted values; a tilt of the base is in its `gravity`."""
    unknowns: tuple[Unknown, ...]
    """What was fitted: start, bounds and prior of each."""
    values: Floats
    """(p,)"""
    covariance: Floats
    """(p, p), priors included; zero for what a bound holds, infinite variance for what nothing determines."""
    held: tuple[int, ...]
    """(p,) -1 where the lower bound holds a parameter, 1 where the upper one does, else 0."""
    verdicts: tuple[str, ...]
    """(p,) determined, roughly (a standard error above a tenth of its size), not determined (above half), or held."""
    singular_values: Floats
    """Of the Jacobian of the free parameters, from the measurements alone, in standard deviations per size of a
    parameter; largest first."""
    directions: Floats
    """(., p) combinations that belong to them, in sizes of the parameters."""
    unseen: tuple[Unseen, ...]
    """Combinations that the measurements alone do not determine, the least seen first."""
    before: Misfit
    """At the start."""
    after: Misfit
    """At the fitted values."""
    sigma: float
    """Scatter of the measurements over what was assumed; 1 where it is known."""
    sigma_tip: float
    """Standard deviation of a coordinate of a tip, m, where a row does not state its own; `sigma` not applied."""
    sigma_angle: float
    """Standard deviation of an angle, rad, likewise."""
    sigma_known: bool
    """Whether standard deviations were stated; else the residuals give them."""
    degrees_of_freedom: int
    """Measured numbers and priors, minus free parameters."""
    level: float
    """Probability of intervals."""
    iterations: int
    converged: bool
    reason: str
    """Why the search ended."""
    warnings: tuple[str, ...]
    """What must not be overlooked."""

    @property
    def names(self) -> tuple[str, ...]:
        """(p,)"""
        return tuple(unknown.name for unknown in self.unknowns)

    @property
    def start(self) -> Floats:
        """(p,) where the fit began."""
        return np.array([unknown.start for unknown in self.unknowns])

    @property
    def standard_errors(self) -> Floats:
        """(p,)"""
        return np.sqrt(np.diagonal(self.covariance))

    @property
    def correlations(self) -> Floats:
        """(p, p); zero beside parameters without a finite error."""
        errors = self.standard_errors
        usable = np.isfinite(errors) & (errors > 0.0)
        scale = np.where(usable, errors, 1.0)
        finite = np.where(np.outer(usable, usable), self.covariance, 0.0)
        result: Floats = finite / np.outer(scale, scale)
        result[np.diag_indices(len(scale))] = 1.0
        return result

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """Every parameter with its interval."""
        factor = pointwise_factor(self.level, max(self.degrees_of_freedom, 1), self.sigma_known)
        return tuple(
            Estimate(name, value, error, value - factor * error, value + factor * error)
            for name, value, error in zip(
                self.names, self.values.tolist(), self.standard_errors.tolist(), strict=True
            )
        )  # fmt: skip

    @property
    def active_bounds(self) -> tuple[str, ...]:
        """Names of parameters that a bound holds."""
        return tuple(name for name, held in zip(self.names, self.held, strict=True) if held)

    @property
    def chi_squared(self) -> float:
        """Sum of squares of measurements and priors over their standard deviations; to be compared with
        `degrees_of_freedom` where these are known."""
        priors = [
            (value - unknown.prior.mean) / unknown.prior.error
            for value, unknown in zip(self.values.tolist(), self.unknowns, strict=True)
            if unknown.prior is not None
        ]
        return self.after.squares + math.fsum(part**2 for part in priors)

    @property
    def p_value(self) -> float | None:
        """Probability of a chi-squared this large or larger; None where the scatter is not known."""
        return p_of_scatter(self.chi_squared, self.degrees_of_freedom, 1.0) if self.sigma_known else None

    def robot_file(self) -> str:
        """The fitted robot as YAML, with the intervals in comments."""
        import yaml

        percent = f"{100 * self.level:g} %"
        lines = [f"# identified from {_one_line(self.data.source)}"]
        if not self.converged:
            lines.append(f"# the fit did not converge: {_one_line(self.reason)}")
        for item, unknown, word in zip(self.estimates, self.unknowns, self.verdicts, strict=True):
            text = unknown.parameter.text
            ends = f", {percent} from {text(item.low)} to {text(item.high)}" if item.error > 0.0 else ""
            lines.append(f"# {item.name} = {text(item.value, 6)}{ends} ({word})")
        mapping = yaml.safe_dump(
            self.robot.to_mapping(), sort_keys=False, allow_unicode=True, default_flow_style=None, width=100
        )
        return "\n".join(lines) + "\n" + mapping

    def __repr__(self) -> str:
        terms = ", ".join(
            f"{item.name} = {unknown.parameter.text(item.value)} +- {unknown.parameter.text(item.high - item.value, 2)}"
            for item, unknown in zip(self.estimates, self.unknowns, strict=True)
        )
        state = "" if self.converged else ", not converged"
        return f"ShapeFit of {self.given.name!r}: {terms} ({100 * self.level:g} %), from {self.data.source}{state}"


def _one_line(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
