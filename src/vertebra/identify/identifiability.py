"""What measurements can tell of parameters, and which combinations of them they cannot see.

Errors are judged against the size of a parameter: its value, or the least change that matters where that is larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.identify.choices import Unknown
from vertebra.robot.tables import Floats

ROUGH, BLIND = 0.1, 0.5
"""Standard errors, in sizes, from which on a parameter is known roughly, and not at all."""
RANK = 1e-8
"""Part of the strongest combination below which one is not seen whatever the scatter: differences end there."""
SHARE = 0.15
"""Parameters whose part in a combination is smaller than this, of the largest, are not named."""


class Unseen(NamedTuple):
    """A combination of parameters that the measurements do not determine."""

    names: tuple[str, ...]
    """Who takes part."""
    direction: Floats
    """(p,) SI: a change of all fitted parameters, the largest by a tenth of its size."""
    error: float
    """Standard error along the combination in sizes; infinite where nothing is seen at all."""
    tip: float
    """How far this change moves any predicted coordinate of a tip, m."""
    angle: float
    """How far it turns any predicted joint that was measured, rad."""
    sentence: str
    """The same in words, with the remedy."""


class Seen(NamedTuple):
    """What the data say, without priors."""

    singular_values: Floats
    """(f,) of the Jacobian of the free parameters, in standard deviations of the measurements per size: largest first.
    One over it is the standard error of that combination."""
    directions: Floats
    """(f, p) combinations that belong to them, in sizes of the parameters."""
    unseen: tuple[Unseen, ...]


def what_data_see(
    unknowns: Sequence[Unknown], size: Floats, slopes: Floats, raw: Floats, tips: NDArray[np.bool_],
    held: NDArray[np.bool_],
) -> Seen:  # fmt: skip
    """`slopes` (m, p): of all measured numbers over their standard deviation; `raw` the same in m and rad; `tips` (m,)
    which of them are coordinates of tips; `held` (p,) which parameters a bound holds."""
    free = np.flatnonzero(~held)
    scaled = slopes[:, free] * size[free]
    _, values, right = np.linalg.svd(scaled, full_matrices=True)
    values = np.concatenate([values, np.zeros(len(free) - len(values))])
    directions = np.zeros((len(free), len(unknowns)))
    directions[:, free] = right
    least = RANK * max(float(values[0]) if len(values) else 0.0, np.finfo(float).tiny)
    unseen = []
    for value, direction in zip(values, directions, strict=True):
        error = 1.0 / float(value) if value > least else np.inf
        if error > BLIND:
            unseen.append(_unseen(unknowns, size, direction, error, raw, tips))
    return Seen(values, directions, tuple(reversed(unseen)))


def _unseen(
    unknowns: Sequence[Unknown], size: Floats, direction: Floats, error: float, raw: Floats, tips: NDArray[np.bool_]
) -> Unseen:
    largest = int(np.argmax(np.abs(direction)))
    parts = 0.1 * direction / direction[largest]
    change = parts * size
    moved = np.abs(raw @ change)
    tip = float(moved[tips].max()) if tips.any() else 0.0
    angle = float(moved[~tips].max()) if (~tips).any() else 0.0
    order = [i for i in np.argsort(-np.abs(parts), kind="stable") if abs(parts[i]) >= SHARE * 0.1]
    texts = [_change_text(unknowns[i], float(change[i]), float(parts[i]), float(size[i])) for i in sorted(order)]
    names = tuple(unknowns[i].name for i in sorted(order))
    moves = [f"{1e3 * tip:.2g} mm"] * bool(tips.any()) + [f"{np.degrees(angle):.2g} deg"] * bool((~tips).any())
    far = " or ".join(moves)
    if len(names) == 1:
        remedy = "give a prior, leave it out, or measure where it matters"
        how = "hardly" if np.isfinite(error) else "not"
        sentence = f"{names[0]} is {how} seen: {texts[0]} moves no prediction by more than {far}; {remedy}"
    else:
        remedy = "fix one of them, give a prior, or measure where they differ"
        together = " with ".join(texts)
        listed = f"{', '.join(names[:-1])} and {names[-1]}"
        how = "can hardly" if np.isfinite(error) else "cannot"
        sentence = f"{listed} {how} be told apart: {together} moves no prediction by more than {far}; {remedy}"
    return Unseen(names, change, error, tip, angle, sentence)


def _change_text(unknown: Unknown, change: float, part: float, size: float) -> str:
    parameter = unknown.parameter
    if size > parameter.least_size:
        return f"{parameter.name} {100 * part:+.3g} %"
    return f"{parameter.name} {parameter.shown * change:+.2g} {parameter.shown_unit}".rstrip()


def verdict(error: float, size: float, held: int) -> str:
    """Of one parameter, in a word or two."""
    if held:
        return f"held at its {'upper' if held > 0 else 'lower'} bound"
    part = error / size
    if part <= ROUGH:
        return "determined"
    return "roughly" if part <= BLIND else "not determined"


def covariance_of(slopes: Floats, size: Floats, held: NDArray[np.bool_]) -> Floats:
    """(p, p) inverse of slopes^T slopes for the parameters that no bound holds; zero for those held, infinite variance
    for those with a part in a combination that is not seen at all."""
    count = len(size)
    free = np.flatnonzero(~held)
    result = np.zeros((count, count))
    if not len(free):
        return result
    _, values, right = np.linalg.svd(slopes[:, free] * size[free], full_matrices=True)
    values = np.concatenate([values, np.zeros(len(free) - len(values))])
    seen = values > RANK * max(float(values[0]), np.finfo(float).tiny)
    inverse = (right[seen].T / values[seen] ** 2) @ right[seen]
    lost = (np.abs(right[~seen]) > 1e-6).any(axis=0)
    inverse[lost, :] = inverse[:, lost] = 0.0
    inverse[lost, lost] = np.inf
    result[np.ix_(free, free)] = inverse * np.outer(size[free], size[free])
    return result
