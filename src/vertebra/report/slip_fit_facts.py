"""Tables of a mu from slip tests: what the command prints and the page shows."""

from __future__ import annotations

import math

import numpy as np

from vertebra.identify.slip_fit import ALARM, Coverage, SlipFit
from vertebra.report.document import Facts, number
from vertebra.robot.tables import Floats

MM = 1e3


def made(fit: SlipFit) -> str:
    """How the tests came to be."""
    return "simulated" if fit.data.simulated else "measured"


def title(fit: SlipFit) -> str:
    """Says so when no link was loaded."""
    return f"Friction of ball joints from {made(fit)} slip tests"


def fit_facts(fit: SlipFit, coverage: Coverage | None = None) -> Facts:
    """How mu was found, one fact a row."""
    joint, link = fit.model.rig.joints[0], fit.model.rig.links[1]
    lengths = (("ball", joint["radius"]), ("ring", joint["ring_radius"]), ("link", link["length"]))
    rig = ", ".join(f"{name} {number(MM * value)} mm" for name, value in lengths)
    rows = [
        ("tests", f"{fit.data.source}; {len(fit.settings)} settings"),
        ("rig", f"two links of {fit.given.name}: {rig}"),
        ("loads", _loads(fit)),
        ("scatter", _scatter(fit)),
        ("one mu for all?", _one_mu(fit)),
        ("robot file", _file(fit)),
    ]
    if coverage is not None:
        rows.append(("interval", coverage.sentence))
    return Facts(title(fit), ("", ""), tuple(rows))


def _loads(fit: SlipFit) -> str:
    steps = fit.data.step
    if not steps.any():
        return "as written down; no steps stated"
    sizes = " to ".join(f"{value:.3g}" for value in sorted({float(steps.min()), float(steps.max())}))
    held = fit.data.held.astype(bool)
    words = "half a step added to the last that held" if held.all() else "half a step taken off the first that slipped"
    return f"in steps of {sizes} N; {'middle of the step' if held.any() and not held.all() else words}"


def _scatter(fit: SlipFit) -> str:
    noise = fit.solution.noise
    size = f"{noise:.3g} N" if fit.options.scatter == "constant" else f"{100 * noise:.3g} % of the force"
    origin = "as stated" if fit.noise_known else "from repeats" if fit.rounding else "from the residuals"
    return f"{size} a test, {origin}; {fit.degrees_of_freedom} degrees of freedom"


def _one_mu(fit: SlipFit) -> str:
    test = fit.lack_of_fit
    if test is None:
        if fit.rounding:
            return "not tested: the steps hide how repeats scatter"
        return "not tested: " + ("one setting" if len(fit.settings) < 2 else "too few repeats of the same setting")
    kind = "chi-squared" if fit.options.sigma is not None else "F"
    word = "nothing against it" if test.p >= 0.05 else "doubtful" if test.p >= ALARM else "no"
    freedom = f"{test.freedom} and {test.pure_freedom}" if kind == "F" else str(test.freedom)
    return f"{word}: lack of fit {test.ratio:.2f} ({kind}-test, {freedom} degrees of freedom), p = {test.p:.2g}"


def _file(fit: SlipFit) -> str:
    before = float(fit.given.joints["friction"][0])
    low, high = fit.interval
    where = "inside" if low <= before <= high else "below" if before < low else "above"
    return f"mu = {number(before)}, {where} the interval"


def estimate_facts(fit: SlipFit) -> Facts:
    """mu, and the offset where it was fitted."""
    rows = [
        (item.name + (" [N]" if item.name == "offset" else ""),
         *(f"{value:.5g}" for value in (item.value, item.error, item.low, item.high)))
        for item in fit.estimates
    ]  # fmt: skip
    return Facts("", ("", "value", "standard error", f"{100 * fit.level:g} % from", "to"), tuple(rows))


def setting_facts(fit: SlipFit) -> Facts:
    """Every setting: what was found there, what the model says, and the mu of these tests alone."""
    modes = {item.mode for item in fit.settings}
    names, extras = zip(*(setting_name(fit, place) for place in range(len(fit.settings))), strict=True)
    columns: dict[str, list[str]] = {"tension [N]": list(names)}
    if any(extras):
        columns["setting"] = list(extras)
    columns["tests"] = [str(item.tests) for item in fit.settings]
    columns["slips [N]"] = [f"{item.force:.3f}" for item in fit.settings]
    columns["scatter [N]"] = [f"{item.scatter:.3f}" if item.tests > 1 else "-" for item in fit.settings]
    columns["model [N]"] = [f"{item.predicted:.3f}" for item in fit.settings]
    columns["mu alone"] = [f"{item.mu:.4f}" if math.isfinite(item.mu) else "none" for item in fit.settings]
    columns["+-"] = [f"{half:.4f}" if math.isfinite(half) else "-" for half in halves(fit)]
    if modes != {"sliding"}:
        columns["ends by"] = [item.mode for item in fit.settings]
    heading = f"Settings; mu of each alone with {100 * fit.level:g} %"
    return Facts(heading, tuple(columns), tuple(zip(*columns.values(), strict=True)))


def halves(fit: SlipFit) -> list[float]:
    """Half-width of the interval of mu of each setting alone; infinite where there is none."""
    found = []
    for place, item in enumerate(fit.settings):
        usable = math.isfinite(item.mu) and item.slope > 0.0
        found.append(fit.setting_interval(place)[1] - item.mu if usable else math.inf)
    return found


def setting_name(fit: SlipFit, place: int) -> tuple[str, str]:
    """Tensions of a setting, and what else differs between settings."""
    data, row = fit.data, fit.settings[place].row
    pull = data.tensions[row]
    tension = number(pull[0]) if np.ptp(pull) == 0.0 else ", ".join(number(value) for value in pull)
    parts = []
    if _varies(data.bend) or _varies(data.azimuth):
        parts.append(_bend(data.bend[row], data.azimuth[row]))
    if _varies(data.direction):
        parts.append(f"toward {_vector(data.direction[row], 3)}")
    if _varies(data.point):
        parts.append(f"load at {_vector(MM * data.point[row], 4)} mm")
    return tension, "; ".join(parts)


def _bend(bend: float, azimuth: float) -> str:
    if not bend:
        return "straight"
    return f"bent {number(math.degrees(bend))} deg toward {number(math.degrees(azimuth))} deg"


def _varies(values: Floats) -> bool:
    return bool(np.ptp(values, axis=0).max() > 1e-9)


def _vector(values: Floats, digits: int) -> str:
    return "(" + ", ".join(f"{value + 0.0:.{digits}g}" for value in values.tolist()) + ")"


def row_facts(fit: SlipFit) -> Facts:
    """Every test."""
    rows = []
    for row in range(len(fit.data)):
        place = int(fit.model.cell[row])
        values = (fit.data.force[row], fit.data.slip_force[row], fit.predicted[row], fit.residuals[row])
        numbers = [f"{value:.3f}" for value in values]
        if not fit.data.step.any():
            del numbers[1]
        rows.append((str(row + 1), setting_name(fit, place)[0], *numbers))
    steps = ["middle of the step [N]"] * bool(fit.data.step.any())
    return Facts("Tests", ("row", "tension [N]", "load [N]", *steps, "model [N]", "load minus model [N]"), tuple(rows))
