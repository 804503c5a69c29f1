"""Tables of an identified friction law: what the command prints and the page shows."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from vertebra.identify.friction import Estimate, FrictionFit
from vertebra.report.document import Facts, number

MILLI = 1e3


def title(fit: FrictionFit) -> str:
    """Says so when no rig was there."""
    return f"Cable friction from {'simulated' if fit.data.simulated else 'measured'} readings of a rig"


def friction_tables(fit: FrictionFit) -> Iterator[Facts]:
    """All tables behind that of the coefficients."""
    yield angle_facts(fit)
    yield order_facts(fit)
    yield load_facts(fit)


def coefficient_facts(fit: FrictionFit) -> Facts:
    """a, b, c, and gain and offset of the sensor as far as they were fitted."""
    rows = [_row(item, item.name, 1.0) for item in fit.estimates]
    for item in fit.sensor:
        offset = item.name == "offset"
        rows.append(_row(item, "sensor offset [mN]" if offset else "sensor gain", MILLI if offset else 1.0))
    percent = f"{100 * fit.level:g} %"
    headers = ("", "value", "standard error", f"{percent} from", "to")
    return Facts("mu = a theta^2 + b theta + c, theta in rad", headers, tuple(rows))


def _row(item: Estimate, name: str, unit: float) -> tuple[str, ...]:
    return (name, *(f"{unit * value:.5g}" for value in (item.value, item.error, item.low, item.high)))


def fit_facts(fit: FrictionFit) -> Facts:
    """How the law was found, one fact a row."""
    data = fit.data
    directions = " and ".join(word for word, sign in (("pull", 1), ("release", -1)) if sign in data.direction)
    scatter = f"{MILLI * fit.sigma:.3g} mN a reading, {'as stated' if fit.sigma_known else 'from the residuals'}"
    gravity = sorted({number(value) for value in data.g})
    rows = (
        ("readings", f"{data.source}; {directions}"),
        ("rig", f"bent on the {data.bent} side, g = {', '.join(gravity)} m/s^2"),
        ("law", f"{fit.model}; the readings support the {fit.supported} one"),
        ("scatter", f"{scatter}; {fit.degrees_of_freedom} degrees of freedom"),
    )
    return Facts(title(fit), ("", ""), rows)


def angle_facts(fit: FrictionFit) -> Facts:
    """Every angle of the rig: mu of its own readings, and of the law."""
    band = fit.band([angle.theta for angle in fit.angles])
    rows = [
        (
            f"{math.degrees(angle.theta):.4g}",
            str(angle.readings),
            f"{angle.mu.value:.4f}",
            f"{angle.mu.high - angle.mu.value:.4f}",
            *(f"{value:.4f}" for value in values),
        )
        for angle, *values in zip(fit.angles, band.mu, band.low, band.high, strict=True)
    ]
    headers = ("theta [deg]", "readings", "mu there alone", "+-", "mu of the law", "band from", "to")
    return Facts(f"Angles of the rig; the band holds the whole curve with {100 * fit.level:g} %", headers, tuple(rows))


def order_facts(fit: FrictionFit) -> Facts:
    """The models beside each other."""
    lowest = min(test.aicc for test in fit.orders)
    rows = [
        (
            test.model,
            str(test.unknowns),
            _dash(f"{MILLI * test.scatter:.3g}", test.scatter),
            _dash(f"{test.aicc - lowest:.4g}", test.aicc) if math.isfinite(lowest) else "-",
            _dash(f"{test.p:.2g}", test.p),
        )
        for test in fit.orders
    ]
    test = "chi-squared test" if fit.sigma_known else "F-test"
    headers = ("law", "unknowns", "scatter [mN]", "AICc above best", f"p of the {test}")
    return Facts("How many powers of theta the readings support", headers, tuple(rows))


def _dash(text: str, value: float) -> str:
    return text if math.isfinite(value) else "-"


def load_facts(fit: FrictionFit) -> Facts:
    """Mean residual of every payload and direction: what friction does not explain."""
    rows = []
    loads = fit.data.mass.round(9)
    for load in np.unique(loads):
        for word, sign in (("pull", 1.0), ("release", -1.0)):
            here = fit.residuals[(loads == load) & (fit.data.direction == sign)]
            if len(here):
                error = MILLI * fit.sigma / math.sqrt(len(here))
                mean = MILLI * float(here.mean())
                rows.append((number(load * MILLI), word, str(len(here)), f"{mean:.2f}", f"{error:.2f}"))
    headers = ("load [g]", "direction", "readings", "mean residual [mN]", "standard error [mN]")
    return Facts("Residuals by payload", headers, tuple(rows))
