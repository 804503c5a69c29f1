"""What varies in a study: grids, lists, choices, ranges and distributions, and how their rows are drawn."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, Tag
from pydantic_core import PydanticCustomError

from vertebra.robot.description import Model
from vertebra.robot.tables import Floats
from vertebra.robot.units import UnitError, parse_unit, quantity_text, to_si

MOST_ROWS = 100_000_000
"""Of one study: larger results would not fit into memory."""
MOST_SAMPLES = 10_000_000
MOST_SOBOL = 21_201
"""Variables for which scipy has directions of a Sobol sequence."""
MOST_VALUE = 1e30
"""SI: beyond any number of a robot, and with a square that no float overflows at."""
MOST_SPREAD = 1e3
"""Of a lognormal distribution: its standard deviation in means."""
SI_UNITS = (
    "m", "kg", "s", "N", "N*m", "Pa", "N/m", "kg/m", "kg/m^2", "kg/m^3", "m/s", "m/s^2", "m^2", "m^3", "m^4", "kg*m^2",
    "N*m*s", "N*m^2",
)  # fmt: skip
"""How units are called that names of a study's own may have."""
MOST_SEED = 2**32 - 1
LEAST_U = 2.0**-53
"""Numbers from 0 to 1 keep this distance from both ends, where a distribution may be infinite."""

Method = Literal["sobol", "latin-hypercube", "random"]


# What a person writes.


def _number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise PydanticCustomError("quantity", "must be a number in SI or a text with a unit such as '12 mm'")
    if not isinstance(value, str) and not math.isfinite(value):
        raise PydanticCustomError("quantity", "must be finite")
    return value


Number = Annotated[float | str, BeforeValidator(_number)]
"""Its unit is that of the field that it is for, which only the robot tells."""


class GridSpread(Model):
    """Evenly spaced values, both ends among them."""

    from_: Number = Field(alias="from")
    """First value."""
    to: Number
    """Last value."""
    count: Annotated[int, Field(ge=1, le=MOST_ROWS, strict=True)]
    """How many values."""
    scale: Literal["linear", "log"] = "linear"
    """log: each value the same factor above the one before."""


class RangeSpread(Model):
    """Any value between two: drawn evenly in a sweep, the bounds of an optimisation."""

    from_: Number = Field(alias="from")
    """Least value."""
    to: Number
    """Largest value."""
    whole: bool = False
    """Whole numbers only."""


class DistributionSpread(Model):
    """Random values."""

    # What tells it from a range, in the words of JSON Schema.
    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": [field]} for field in ("distribution", "deviation", "mean")]}
    )

    distribution: Literal["normal", "uniform", "triangular", "lognormal"] = "normal"
    """Its kind."""
    mean: Number | None = None
    """Of normal and lognormal. Default: what the robot file or the study says."""
    deviation: Number | None = None
    """Standard deviation of normal and lognormal; `2 %` is of the mean."""
    from_: Number | None = Field(None, alias="from")
    """Least value; of a normal distribution, where it is cut off."""
    to: Number | None = None
    """Largest value."""
    mode: Number | None = None
    """Most likely value of a triangular distribution. Default: the middle."""


class ChoiceSpread(Model):
    """Named alternatives, each of which sets several fields."""

    choose: Annotated[dict[str, dict[str, Any]], Field(min_length=1, max_length=1000)]
    """Name of each alternative, and the fields that it sets, or numbers by the names that `set` uses."""


ListSpread = Annotated[tuple[Any, ...], Field(min_length=1, max_length=20_000)]


def _kind(value: object) -> str:
    if isinstance(value, GridSpread | RangeSpread | DistributionSpread | ChoiceSpread):
        return _TAGS[type(value)]
    if not isinstance(value, dict):
        return "a list"
    if "choose" in value:
        return "a choice"
    if "distribution" in value or "deviation" in value or "mean" in value:
        return "a distribution"
    return "a grid" if "count" in value or "scale" in value else "a range"


_TAGS: dict[type, str] = {
    GridSpread: "a grid", RangeSpread: "a range", DistributionSpread: "a distribution", ChoiceSpread: "a choice",
}  # fmt: skip

Spread = Annotated[
    Annotated[ListSpread, Tag("a list")]
    | Annotated[GridSpread, Tag("a grid")]
    | Annotated[RangeSpread, Tag("a range")]
    | Annotated[DistributionSpread, Tag("a distribution")]
    | Annotated[ChoiceSpread, Tag("a choice")],
    Discriminator(_kind),
]


class Samples(Model):
    """How ranges and distributions are drawn."""

    method: Method = "sobol"
    """sobol (scrambled) and latin-hypercube fill the space evenly; random does not."""
    count: Annotated[int, Field(ge=1, le=MOST_SAMPLES, strict=True)] = 1024
    """How many draws of all of them together."""
    seed: Annotated[int, Field(ge=0, le=MOST_SEED, strict=True)] = 0
    """Of the draws: the same seed gives the same rows."""

    def draw(self, dimensions: int) -> Floats:
        """(count, dimensions) numbers between 0 and 1, the same for the same settings."""
        from scipy.stats import qmc

        rng = np.random.default_rng(self.seed)
        if dimensions == 0:
            return np.empty((self.count, 0))
        if self.method == "random":
            u = rng.random((self.count, dimensions))
        elif self.method == "sobol":
            # A power of two at a time keeps the balance of the sequence; its first rows are the same.
            u = qmc.Sobol(dimensions, seed=rng).random_base2((self.count - 1).bit_length())[: self.count]
        else:
            u = qmc.LatinHypercube(dimensions, seed=rng).random(self.count)
        return np.clip(u, LEAST_U, 1.0 - LEAST_U)


# The same, checked, in SI.


@dataclass(frozen=True, eq=False)
class Variable:
    """One thing that varies."""

    name: str
    """As the study writes it: a path, a word for what acts, or a name that `set` uses."""
    unit: str
    """SI; empty for none."""
    kind: Literal["grid", "list", "choice", "range", "distribution"]
    nominal: float | None
    """What the robot file or the study says, SI; None for nothing in particular."""
    lower: float
    """Least value, SI; minus infinity for a distribution without an end."""
    upper: float
    """Largest value, SI."""
    points: Floats
    """(k,) values of a grid or a list, SI; of words and choices their index; empty otherwise."""
    labels: tuple[str, ...] = ()
    """Words and choices; empty for numbers."""
    meanings: tuple[Any, ...] = ()
    """What each label stands for: a value of the field, or a mapping of fields for a choice."""
    whole: bool = False
    """Whether only whole numbers make sense."""
    deviation: float | None = None
    """Standard deviation of a distribution or a range, SI."""
    mean: float | None = None
    """Of a distribution or a range, SI."""
    _quantiles: Callable[[Floats], Floats] | None = None

    @property
    def is_sampled(self) -> bool:
        """Whether it is drawn rather than listed."""
        return self._quantiles is not None

    def quantiles(self, u: Floats) -> Floats:
        """(n,) values, SI, below which this part `u` of all draws lies; whole numbers where only these make sense. Of
        grids, lists and choices the points, each as often."""
        if self._quantiles is None:
            index = np.minimum((u * len(self.points)).astype(np.int64), len(self.points) - 1)
            return self.points[index]
        return self._quantiles(u)

    def text(self, value: float) -> str:
        """A value as people read it."""
        return self.labels[int(value)] if self.labels else quantity_text(value, self.unit, 6)


class SpreadError(ValueError):
    """What is wrong with an entry, and in which of its fields."""

    def __init__(self, field: str, message: str) -> None:
        self.field, self.message = field, message
        super().__init__(message)


_NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)
_PERCENT = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)\s*%\s*", re.ASCII)


def _si(field: str, value: float | str | None, unit: str, example: str = "12 mm") -> float:
    try:
        found = to_si(value, unit, example)
    except UnitError as error:
        raise SpreadError(field, str(error)) from None
    if abs(found) > MOST_VALUE:
        raise SpreadError(field, f"must be {MOST_VALUE:g} or less")
    return found


def with_own_units(spread: Any) -> tuple[Any, str]:
    """The entry of a name that is no field of the robot, in SI, and the unit that its own texts give it."""
    units = dict[str, None]()

    def number(field: str, value: Any) -> Any:
        if not isinstance(value, str) or _PERCENT.fullmatch(value):
            return value
        unit = own_unit(field, value)
        units.update(dict.fromkeys([unit] if unit else []))
        return _si(field, value, unit, "12 mm" if unit else "3.5")

    if isinstance(spread, tuple):
        found: Any = tuple(number(f"[{place}]", value) for place, value in enumerate(spread))
    else:
        fields = {"from_": "from", "to": "to", "mean": "mean", "deviation": "deviation", "mode": "mode"}
        given = {name: getattr(spread, name, None) for name in fields}
        found = spread.model_copy(
            update={name: number(fields[name], value) for name, value in given.items() if value is not None}
        )
    if len(units) > 1:
        raise SpreadError("", f"mixes units: {' and '.join(units)}")
    return found, next(iter(units), "")


def own_unit(field: str, text: str) -> str:
    """The SI unit of a text such as ``12 mm``; empty for a plain number."""
    written = _NUMBER.sub("", text, count=1).strip().replace("²", "^2").replace("³", "^3")
    if not written:
        return ""
    try:
        size = parse_unit(written)[1:]
    except UnitError as error:
        raise SpreadError(field, f"{error}; write a number or a text such as '12 mm'") from None
    if not any(size):
        return "rad"
    for unit in SI_UNITS:
        if parse_unit(unit)[1:] == size:
            return unit
    powers = {name: power for name, power in zip(("kg", "m", "s"), (size[1], size[0], size[2]), strict=True) if power}
    over, under = (
        [name if abs(power) == 1 else f"{name}^{abs(power)}" for name, power in powers.items() if power * sign > 0]
        for sign in (1, -1)
    )
    if not over or max(map(abs, size)) > 4:
        raise SpreadError(field, f"{written!r} is no unit of anything here; write the number in SI, without a unit")
    return "/".join(["*".join(over), *under])


def variable(name: str, spread: Any, unit: str | None, nominal: Any, whole: bool) -> Variable:
    """An entry of `vary`, checked; `unit` None where values are words, `whole` where the field is a count."""
    number = float(nominal) if isinstance(nominal, int | float) and not isinstance(nominal, bool) else None
    if isinstance(spread, ChoiceSpread):
        raise SpreadError("choose", "belongs to a name of its own, such as `material`, not to a field")
    if isinstance(spread, tuple):
        return _listed(name, spread, unit, number, whole)
    if unit is None and not whole:
        raise SpreadError("", f"{name} is no number; give a list of what it may be")
    if isinstance(spread, GridSpread):
        return _grid(name, spread, unit or "", number, whole)
    if isinstance(spread, RangeSpread):
        return _range(name, spread, unit or "", number, whole or spread.whole)
    if whole:
        raise SpreadError("", f"{name} is a count; give a list, a grid or a range of whole numbers")
    return _distribution(name, spread, unit or "", number)


def choice(name: str, spread: ChoiceSpread) -> Variable:
    """Named alternatives."""
    labels = tuple(spread.choose)
    points = np.arange(float(len(labels)))
    return Variable(
        name, "", "choice", None, 0.0, float(len(labels) - 1), points, labels, tuple(spread.choose.values())
    )


def _listed(name: str, values: Sequence[Any], unit: str | None, nominal: float | None, whole: bool) -> Variable:
    if unit is None and not whole:
        labels = tuple(str(value) for value in values)
        last = float(len(labels) - 1)
        return Variable(name, "", "list", None, 0.0, last, np.arange(last + 1.0), labels, tuple(values))
    points = np.array([_si(f"[{i}]", value, unit or "") for i, value in enumerate(values)])
    if whole:
        _require_whole(points)
    return Variable(name, unit or "", "list", nominal, float(points.min()), float(points.max()), points, whole=whole)


def _require_whole(points: Floats) -> None:
    if (points != np.round(points)).any():
        raise SpreadError("", "must be whole numbers")


def _ends(spread: Any, unit: str) -> tuple[float, float]:
    low, high = _si("from", spread.from_, unit), _si("to", spread.to, unit)
    if low > high:
        raise SpreadError("to", "must not be below `from`")
    return low, high


def _grid(name: str, spread: GridSpread, unit: str, nominal: float | None, whole: bool) -> Variable:
    low, high = _ends(spread, unit)
    if spread.count == 1 and low < high:
        raise SpreadError("count", "one value cannot be both `from` and `to`; give 2 or more, or a list of one value")
    if spread.scale == "log":
        if low <= 0.0:
            raise SpreadError("from", "must be above 0 on a logarithmic scale")
        points = np.geomspace(low, high, spread.count)
        if whole:  # powers miss whole numbers by their last digits
            near = np.round(points)
            points = np.where(np.isclose(points, near, rtol=1e-12, atol=0.0), near, points)
    else:
        points = np.linspace(low, high, spread.count)
    if whole:
        _require_whole(points)
    return Variable(name, unit, "grid", nominal, low, high, points, whole=whole)


def _range(name: str, spread: RangeSpread, unit: str, nominal: float | None, whole: bool) -> Variable:
    low, high = _ends(spread, unit)
    if low == high:
        raise SpreadError("to", "must be above `from`; write a fixed value under `set`")
    if not whole:
        deviation = (high - low) / math.sqrt(12.0)

        def evenly(u: Floats) -> Floats:
            return low + u * (high - low)

        return Variable(
            name, unit, "range", nominal, low, high, np.empty(0), deviation=deviation, mean=0.5 * (low + high),
            _quantiles=evenly,
        )  # fmt: skip
    _require_whole(np.array([low, high]))
    count = high - low + 1.0

    def counted(u: Floats) -> Floats:
        return low + np.minimum(np.floor(u * count), high - low)

    return Variable(
        name, unit, "range", nominal, low, high, np.empty(0), whole=True, deviation=math.sqrt((count**2 - 1.0) / 12.0),
        mean=0.5 * (low + high), _quantiles=counted,
    )  # fmt: skip


def _distribution(name: str, spread: DistributionSpread, unit: str, nominal: float | None) -> Variable:
    kind = spread.distribution
    wanted = {
        "normal": {"deviation"}, "lognormal": {"deviation"}, "uniform": {"from", "to"}, "triangular": {"from", "to"},
    }[kind]  # fmt: skip
    allowed = {"normal": {"mean", "from", "to"}, "lognormal": {"mean"}, "uniform": set(), "triangular": {"mode"}}[kind]
    given = {
        field
        for field, value in (
            ("mean", spread.mean), ("deviation", spread.deviation), ("from", spread.from_), ("to", spread.to),
            ("mode", spread.mode),
        )
        if value is not None
    }  # fmt: skip
    for field in sorted(wanted - given):
        raise SpreadError(field, f"a {kind} distribution needs it")
    for field in sorted(given - wanted - allowed):
        raise SpreadError(field, f"a {kind} distribution has none; leave it out")
    if kind in ("uniform", "triangular"):
        low, high = _ends(spread, unit)
        if low == high:
            raise SpreadError("to", "must be above `from`")
        if kind == "uniform":
            return _drawn(name, unit, nominal, (low, high), *_uniform(low, high))
        mode = 0.5 * (low + high) if spread.mode is None else _si("mode", spread.mode, unit)
        if not low <= mode <= high:
            raise SpreadError("mode", "must lie between `from` and `to`")
        return _drawn(name, unit, nominal, (low, high), *_triangular(low, mode, high))
    if spread.mean is None and nominal is None:
        raise SpreadError("mean", f"{name} has no value in the robot file or the study to vary about; give the mean")
    mean = nominal if spread.mean is None else _si("mean", spread.mean, unit)
    assert mean is not None
    deviation = _deviation(spread.deviation, mean, unit)
    if kind == "lognormal":
        if mean <= 0.0:
            raise SpreadError("mean", "must be above 0 for a lognormal distribution")
        if deviation > MOST_SPREAD * mean:
            raise SpreadError("deviation", f"must be at most {MOST_SPREAD:g} times the mean")
        return _drawn(name, unit, nominal, (0.0, math.inf), *_lognormal(mean, deviation))
    low = -math.inf if spread.from_ is None else _si("from", spread.from_, unit)
    high = math.inf if spread.to is None else _si("to", spread.to, unit)
    if not low < high:
        raise SpreadError("to", "must be above `from`")
    return _drawn(name, unit, nominal, (low, high), *_normal(mean, deviation, low, high))


def _drawn(
    name: str, unit: str, nominal: float | None, ends: tuple[float, float], mean: float, deviation: float,
    quantiles: Callable[[Floats], Floats],
) -> Variable:  # fmt: skip
    return Variable(
        name, unit, "distribution", nominal, *ends, np.empty(0), deviation=deviation, mean=mean, _quantiles=quantiles
    )


def _deviation(given: float | str | None, mean: float, unit: str) -> float:
    percent = _PERCENT.fullmatch(given) if isinstance(given, str) else None
    if percent is not None:
        if unit == "rad":
            raise SpreadError("deviation", "an angle has no percentage, its zero is arbitrary; write 0.5 deg")
        if mean == 0.0:
            raise SpreadError("deviation", "a percentage of 0 is nothing; give a number with a unit")
        deviation = 0.01 * _si("deviation", percent[1], "", "2 %") * abs(mean)
    else:
        deviation = _si("deviation", given, unit, "0.05 mm")
    if not deviation > 0.0:
        raise SpreadError("deviation", "must be above 0")
    return deviation


Distribution = tuple[float, float, Callable[[Floats], Floats]]
"""Mean, standard deviation, and quantiles."""


def _uniform(low: float, high: float) -> Distribution:
    return 0.5 * (low + high), (high - low) / math.sqrt(12.0), lambda u: low + u * (high - low)


def _triangular(low: float, mode: float, high: float) -> Distribution:
    split = (mode - low) / (high - low)

    def quantiles(u: Floats) -> Floats:
        left = low + np.sqrt(u * (high - low) * (mode - low))
        right = high - np.sqrt((1.0 - u) * (high - low) * (high - mode))
        return np.where(u < split, left, right)

    variance = (low**2 + mode**2 + high**2 - low * mode - low * high - mode * high) / 18.0
    return (low + mode + high) / 3.0, math.sqrt(variance), quantiles


def _normal(mean: float, deviation: float, low: float, high: float) -> Distribution:
    from scipy.special import ndtr, ndtri
    from scipy.stats import truncnorm

    if math.isinf(low) and math.isinf(high):
        return mean, deviation, lambda u: mean + deviation * ndtri(u)
    a, b = (low - mean) / deviation, (high - mean) / deviation
    if ndtr(b) - ndtr(a) < 1e-9:
        raise SpreadError("from", "the distribution has next to nothing between `from` and `to`")
    cut = truncnorm(a, b, loc=mean, scale=deviation)
    return float(cut.mean()), float(cut.std()), lambda u: cut.ppf(u)


def _lognormal(mean: float, deviation: float) -> Distribution:
    from scipy.special import ndtri

    spread = math.sqrt(math.log1p((deviation / mean) ** 2))
    middle = math.log(mean) - 0.5 * spread**2
    return mean, deviation, lambda u: np.exp(middle + spread * ndtri(u))
