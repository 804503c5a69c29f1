"""How uncertain is a shape when the numbers that it was computed from are, and which of them is to blame?"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from vertebra.derivatives.parameters import Parameters, held_by_length, parameters_of
from vertebra.derivatives.sensitivity import ROUND_OFF, Of, requests_of, text_table
from vertebra.derivatives.shape import ShapeProblem
from vertebra.errors import InputError, shown
from vertebra.robot.arguments import instance, number, word
from vertebra.robot.fields import Group, matching
from vertebra.robot.tables import Floats
from vertebra.robot.units import UnitError, quantity_text, shown_unit, to_si
from vertebra.statics.shape import Shape

Parts = Literal["alike", "independent"]
PARTS = ("alike", "independent")
EXAMPLE = "'radius 0.05 mm, mass 2 %, tensions 0.1 N'"
LARGE = 0.3
"""Of its value, a standard deviation for which first order says little."""
MOST_CAUSES = 10
"""That a table for people lists one by one."""
NAMED_SHARE = 0.9
"""Of the variance, that the sentence names the causes of; three at most."""


@dataclass(frozen=True, eq=False)
class Cause:
    """A number that is uncertain, independently of all others."""

    name: str
    """As `vb.sensitivity` calls it: ``tensions[0]``, ``sections[0].joint.radius``; of a part that is off by itself also
    which one: ``sections[0].joint.radius of joint 3``."""
    unit: str
    """SI; empty for a coefficient."""
    value: float
    """SI."""
    deviation: float
    """Standard deviation, SI."""
    effect: Floats
    """(m,) how far one standard deviation of it moves each output, SI."""
    share: float
    """In the sum of the variances of all outputs, 0 to 1."""
    entry: str
    """What gave it its tolerance: ``radius 0.05 mm``."""

    @property
    def source(self) -> str:
        """Its name without the part: the field of the robot file."""
        return self.name.partition(" of ")[0]


@dataclass(frozen=True, eq=False, repr=False)
class Tolerances:
    """Standard deviations of the outputs of a shape, to first order, and what they come from."""

    robot: str
    """Its name."""
    what: str
    """The outputs in a word: ``tip``."""
    names: tuple[str, ...]
    """(m) of the outputs: ``tip x``."""
    unit: str
    """Of all outputs, SI."""
    values: Floats
    """(m,) outputs without any deviation, SI."""
    covariance: Floats
    """(m, m) SI."""
    causes: tuple[Cause, ...]
    """Largest share first."""
    parts: Parts
    """Whether what joints or links of a section share is off alike in all of them, or independently in each."""
    notes: tuple[str, ...] = ()
    """What was left out, and where the answer has a corner, so that its derivatives are those of one side."""

    @property
    def deviations(self) -> Floats:
        """(m,) standard deviation of each output, SI."""
        found: Floats = np.sqrt(np.diag(self.covariance))
        return found

    @property
    def total(self) -> float:
        """Root of the sum of the variances of all outputs: of a tip, its distance in the root mean square, SI."""
        return float(np.sqrt(np.trace(self.covariance)))

    def principal(self) -> tuple[Floats, Floats]:
        """(m,) standard deviations along the principal axes of the covariance, largest first, SI; and (m, m) these
        axes as rows, without a sense: the largest component is positive."""
        variances, axes = np.linalg.eigh(self.covariance)
        axes = axes.T[::-1]
        largest = np.abs(axes).argmax(axis=1)
        return np.sqrt(np.maximum(variances[::-1], 0.0)), axes * np.sign(axes[np.arange(len(axes)), largest])[:, None]

    def sentences(self) -> tuple[str, ...]:
        """The answer in plain words."""
        if self.total == 0.0:
            return (f"To first order none of these numbers moves the {self.what}.",)
        entries = [cause.entry for cause in self.causes]
        counts = ", ".join(f"{entries.count(entry)} by {entry}" for entry in dict.fromkeys(entries))
        given = f"To first order. Independent of each other are {len(entries)} numbers: {counts}."
        if self.parts == "alike" and any(re.match(r"sections\S*\.(joint|link|azimuth)", c.name) for c in self.causes):
            given += " What joints or links of a section share is off alike in all of them."
        return self._how_much(), self._why(), given

    def _how_much(self) -> str:
        if len(self.names) == 1:
            return f"The {self.what} is uncertain by {self.text(self.total)} (standard deviation)."
        if self.what != "tip":
            worst = int(self.deviations.argmax())
            most = f"most {self.names[worst]}, by {self.text(self.deviations[worst])}"
            return (
                f"The {self.what} are uncertain by {self.text(self.total)} (standard deviation, all together): {most}."
            )
        along, axes = self.principal()
        each = ", ".join(self.text(value) for value in self.deviations)
        direction = ", ".join(f"{part:.2f}".replace("-0.00", "0.00") for part in axes[0])
        return (
            f"The tip is uncertain by {self.text(self.total)} (standard deviation, all directions together): by {each} "
            f"along x, y, z, and most along ({direction}), by {self.text(along[0])}."
        )

    def _why(self) -> str:
        shares = dict[str, float]()
        for cause in self.causes:
            shares[cause.source] = shares.get(cause.source, 0.0) + cause.share
        named, covered = list[str](), 0.0
        for name, share in sorted(shares.items(), key=lambda item: -item[1])[:3]:
            if covered < NAMED_SHARE:
                named.append(f"{100 * share:.0f} % {'' if named else 'of the variance comes '}from {name}")
                covered += share
        return " and ".join([", ".join(named[:-1])] * (len(named) > 1) + named[-1:]) + "."

    def rows(self, most: int = MOST_CAUSES) -> list[tuple[str, ...]]:
        """A table for people, headers first; causes beyond `most` in one row."""
        moved = f"moves {self.what} [{shown_unit(self.unit)[0]}]".removesuffix(" [1]")
        lines: list[tuple[str, ...]] = [("cause", "value", "deviation", moved, "share")]
        for cause in self.causes[:most]:
            value, deviation = (quantity_text(number, cause.unit) for number in (cause.value, cause.deviation))
            lines.append((cause.name, value, deviation, *self._effect_texts(cause.share)))
        rest = self.causes[most:]
        if rest:
            share = sum(cause.share for cause in rest)
            lines.append((f"{len(rest)} more together", "", "", *self._effect_texts(share)))
        return lines

    def _effect_texts(self, share: float) -> tuple[str, str]:
        """What causes with this share of the variance move, and the share."""
        return self.text(self.total * math.sqrt(share)).split(" ")[0], f"{100 * share:.1f} %"

    def text(self, value: float) -> str:
        """A value of the outputs with its unit, as people read it; round-off as zero."""
        return quantity_text(value if abs(value) > ROUND_OFF * self.total else 0.0, self.unit, 3)

    def __repr__(self) -> str:
        notes = [f"note: {note}" for note in self.notes]
        return "\n".join([*self.sentences(), "", text_table(self.rows(), left={0}), *notes])


def tolerances(
    shape: Shape, given: str | Mapping[str, float | str], of: Of = "tip", parts: Parts = "alike"
) -> Tolerances:
    """The standard deviations of what is asked of a shape, from those of the numbers that it was computed from, to
    first order, and the share of each.

    `given`: a text such as "radius 0.05 mm, mass 2 %, tensions 0.1 N", or a mapping {"radius": "0.05 mm", "mass":
    "2 %", "tensions": 0.1} of standard deviations, SI where there is no unit. A percentage is that of the number's own
    value. Names are those of `vb.sensitivity`: words for what acts on the robot ("tensions", "lengths", "gravity",
    "loads", "friction") or some numbers of these ("tensions[0]", "loads[0].force"); fields of the robot file by the end
    of their path ("radius", "joint.radius"), by the whole path, or, for sections that are off alike, without indices
    ("sections.link.mass"). Every number that a name stands for has this standard deviation, independently of the
    others; of those with different units, the ones that the unit fits.

    `of`: outputs of one unit, as in `vb.sensitivity`.

    `parts`: joints and links of a section share one number in the robot file. "alike": it is off in all of them alike,
    as when all come from one mould or a length was measured once. "independent": in each by itself, as when each was
    made by itself. Holes for the cables have one radius and azimuth per cable in all links, with either.
    """
    instance("shape", shape, Shape, "vb.shape_from_tensions")
    word("parts", parts, PARTS)
    entries = _entries(given)
    by_length = held_by_length(shape, [entry.name for entry in entries], "given")
    case = ShapeProblem.of(shape, by_length)
    requests = requests_of(of)
    asked = [word for request in requests for word in ([request] if isinstance(request, str) else request)]
    outputs = [case.outputs(request) for request in requests]
    names, units = [name for part in outputs for name in part.names], {unit for part in outputs for unit in part.units}
    if len(units) > 1:
        raise InputError("of", f"variances of {' and '.join(sorted(units))} have no sum; ask for outputs of one unit")
    notes = list[str]()
    if by_length != (len(shape._cables.rest) > 0):
        held = "lengths" if by_length else "tensions"
        notes.append(f"the cables are taken as held by their {held}, since these have a tolerance")
    slopes = np.vstack([part.derivatives for part in outputs])
    causes = _causes(case, entries, slopes, parts == "independent", notes)
    effects = np.array([cause.effect for cause in causes]).T
    covariance = effects @ effects.T
    total = float(np.trace(covariance))
    if total > 0.0:
        shares = ((effects**2).sum(axis=0) / total).tolist()
        causes = [replace(cause, share=share) for cause, share in zip(causes, shares, strict=True)]
    return Tolerances(
        shape.robot.name, " and ".join(asked), tuple(names), units.pop(),
        np.concatenate([part.values for part in outputs]), covariance,
        tuple(sorted(causes, key=lambda cause: -cause.share)), parts, (*notes, *case.notes()),
    )  # fmt: skip


def _causes(case: ShapeProblem, entries: list[_Entry], slopes: Floats, apart: bool, notes: list[str]) -> list[Cause]:
    """Every number that has a tolerance, without its share; `slopes` (m, everything): derivatives of the outputs."""
    causes, seen = list[Cause](), set[str]()
    for entry in entries:
        part = _numbers_of(case, entry, apart)
        found = list(_deviations(entry, part, notes))
        named = {field.path for group in _groups(case, entry) for field in group.fields}
        named = named or {part.names[row] for row, _ in found}
        if named & seen:
            raise InputError("given", f"{entry}: {min(named & seen)} has a tolerance already; give it one")
        seen |= named
        for row, deviation in found:
            effect = slopes @ part.directions[row] * deviation
            causes.append(
                Cause(part.names[row], part.units[row], float(part.values[row]), deviation, effect, 0.0, str(entry))
            )
    return causes


# What a person gives.


class _Entry(NamedTuple):
    """A name and its standard deviation, as given."""

    name: str
    amount: str | float
    """A number in SI, or a text with a unit or a percentage."""

    def __str__(self) -> str:
        return f"{self.name} {self.amount if isinstance(self.amount, str) else format(self.amount, 'g')}"

    @property
    def percent(self) -> float | None:
        """The percentage that it is, if it is one."""
        if not isinstance(self.amount, str) or not self.amount.endswith("%"):
            return None
        try:
            return to_si(self.amount[:-1], "", "2 %")
        except UnitError:
            raise InputError("given", f"{self}: not a percentage; write {self.name} 2 %") from None


_ENTRY = re.compile(r"(?P<name>[^\s=]+)(?:\s*=\s*|\s+)(?:\+-|±)?\s*(?P<amount>[\d.]\S*(?:\s+[^\d\s]\S*)?)")


def _entries(given: object) -> list[_Entry]:
    if isinstance(given, str):
        entries = []
        for text in given.split(","):
            match = _ENTRY.fullmatch(text.strip())
            if match is None:
                raise InputError(
                    "given", f"{shown(text.strip())} is not a name and a standard deviation; write {EXAMPLE}"
                )
            entries.append(_Entry(match["name"], match["amount"].strip()))
        return entries
    if not isinstance(given, Mapping) or not given or not all(isinstance(name, str) and name.strip() for name in given):
        raise InputError(
            "given", f"must be a text such as {EXAMPLE} or a mapping of names to these, not {shown(given)}"
        )
    return [
        _Entry(name.strip(), amount.strip() if isinstance(amount, str) else number("given", amount, "SI"))
        for name, amount in given.items()
    ]


def _numbers_of(case: ShapeProblem, entry: _Entry, apart: bool) -> Parameters:
    """All numbers that an entry names."""
    try:
        part = parameters_of(case, [entry.name], apart)
    except InputError as error:
        raise InputError("given", f"{entry}: {error.message}") from None
    if entry.percent is not None and not apart:
        for group in _groups(case, entry):
            if len({field.value for field in group.fields}) > 1:
                separate = group.path.replace("sections.", "sections[*].")
                raise InputError(
                    "given", f"{entry}: these values differ, so they are not off alike by a percentage; write "
                    f"{separate}, or give a unit"
                )  # fmt: skip
    return part


def _groups(case: ShapeProblem, entry: _Entry) -> tuple[Group, ...]:
    """The fields of the robot file that an entry names, if it does."""
    if entry.name.split("[")[0] in ("tensions", "lengths", "gravity", "loads", "friction"):
        return ()
    return matching(case.problem.robot, entry.name)


def _deviations(entry: _Entry, part: Parameters, notes: list[str]) -> Iterator[tuple[int, float]]:
    """Rows of the numbers that an entry gives a standard deviation, and this, SI."""
    found, percent = dict[int, float](), entry.percent
    if percent is not None:
        if "rad" in part.units:
            raise InputError("given", f"{entry}: an angle has no percentage, its zero is arbitrary; write 0.5 deg")
        found = {row: 0.01 * percent * abs(float(value)) for row, value in enumerate(part.values) if value}
        none = [name for row, name in enumerate(part.names) if row not in found]
        if not found:
            is_zero = f"{none[0]} is 0" if len(none) == 1 else f"{', '.join(none[:3])} are 0"
            raise InputError("given", f"{entry}: {is_zero}, and so is any percentage; give a unit")
        if none:
            notes.append(f"{entry}: {', '.join(none)} left out, being 0")
    else:
        # Of numbers with several units, those that the unit fits; without one, those that have none.
        several, reason = len(set(part.units)) > 1, ""
        bare = not isinstance(entry.amount, str) or entry.amount[-1:] in "0123456789."
        for row, unit in enumerate(part.units):
            if several and bare and unit:
                reason = f"stands for numbers in {', '.join(dict.fromkeys(part.units))}; give a unit"
                continue
            try:
                found[row] = to_si(entry.amount, unit, f"0.1 {shown_unit(unit)[0]}".removesuffix(" 1"))
            except UnitError as error:
                reason = str(error)
        if not found:
            raise InputError("given", f"{entry}: {reason}")
    for row, deviation in found.items():
        name, value = part.names[row], abs(float(part.values[row]))
        if deviation < 0.0:
            raise InputError("given", f"{entry}: a standard deviation is not negative")
        if part.units[row] != "rad" and 0.0 < LARGE * value < deviation:
            notes.append(
                f"{entry}: much for {name}, which is {quantity_text(value, part.units[row])}; first order says little "
                "of so large a change" + (", and numbers without a unit are SI" if percent is None and bare else "")
            )
        yield row, deviation
