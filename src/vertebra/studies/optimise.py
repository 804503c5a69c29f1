"""Which values of a study's variables are best, within its constraints?

Three ways to search, all of which evaluate candidates through the engine, a generation at a time:

- "gradient": SLSQP with exact derivatives, from the best rows of a small sample; one objective, ranges only.
- "cma": CMA-ES with an augmented Lagrangian for the constraints; one objective, whole numbers, lists and choices too.
- "nsga2": NSGA-II; several objectives, whole numbers, lists and choices too.

All that is random comes from the seed, so a run that was interrupted asks for the same candidates again and finds those
that were evaluated already in its store.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.derivatives.sensitivity import text_table
from vertebra.errors import Infeasible, InputError, MissingPackage, shown
from vertebra.files import write_file
from vertebra.robot.arguments import folder, function, positive_count, seed_number, word
from vertebra.robot.reading import did_you_mean, yaml_text
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.robot.units import axis_title, quantity_text, shown_unit
from vertebra.studies.engine import Engine, Progress, open_engine
from vertebra.studies.gradients import gradient_of
from vertebra.studies.quantities import Outcome, message_of
from vertebra.studies.study import Constraint, Search, Study
from vertebra.studies.sweep import dataset
from vertebra.studies.variables import MOST_SEED, Variable

if TYPE_CHECKING:
    import xarray

Method = Literal["auto", "gradient", "cma", "nsga2"]
METHODS = ("auto", "gradient", "cma", "nsga2")
NAMES = {"gradient": "SLSQP with exact derivatives", "cma": "CMA-ES", "nsga2": "NSGA-II"}
MOST_EVALUATIONS = 100_000_000
MET = 1e-6
"""A constraint counts as met within this part of its bound."""
NEAR = 0.01
"""A design counts as limited by a bound within this part of it."""
SAMPLE = 8
"""Rows among which the gradient method chooses where to start; CMA-ES has twice as many."""
STARTS = 2
CONVERGED = 1e-3
"""Largest `kkt_residual` of an optimum."""
SAME = 0.02
"""A search that comes this near to the end of the one before it, in parts of every range, need not go on."""
FAILED = 1e3
"""Scaled cost of a row without an answer, for line searches, which need a number."""
FARTHEST = 1e6
"""Scaled distance from a bound, where a quantity is infinite."""
POPULATION = (20, 100)
"""Least and most rows of a generation of NSGA-II; between them, a twentieth of all evaluations."""
STALE = 20
"""Generations in a row without a design that is new, after which a search ends."""
MOST_MEMBERS = 100
"""Of a Pareto front; a larger one is thinned out evenly."""


class History(NamedTuple):
    """How far a search was after each generation."""

    evaluations: NDArray[np.int64]
    """(g,) rows evaluated so far."""
    best: Floats
    """(g,) best objective so far, SI; of several objectives the share of the hypervolume of the final front, 0 to 1.
    NaN before the first row that meets all constraints."""


@dataclass(frozen=True, eq=False, repr=False)
class Optimum:
    """The best row of a study, or its Pareto front: rows none of which is better than another in all objectives."""

    study: Study
    method: str
    """"gradient", "cma" or "nsga2"."""
    seed: int
    members: NDArray[np.int64]
    """(k,) which of the tried rows is best (k = 1), or which are the front, best in the first objective first."""
    tried_values: Floats
    """(n, variables) every row that was evaluated, in order; SI, words and choices as their index."""
    tried: Outcome
    """The answers to these rows."""
    feasible: NDArray[np.bool_]
    """(n,) rows that meet all constraints."""
    history: History
    gradients: int
    """Rows at which derivatives were evaluated as well."""
    computed: int
    """Rows that were computed, not read from the store."""
    stopped: str
    """Why the search ended."""
    kkt_residual: float | None
    """Of a gradient search: what is left of the derivative of the objective when the constraints and bounds that are
    active are taken away, as a part of the whole; 0 at a local optimum. None for other methods."""
    limits: tuple[tuple[str, int], ...]
    """Constraints and ends of ranges that members are at, and how many are: ``("mass at most 50 g", 3)``."""

    @property
    def values(self) -> Floats:
        """(k, variables) of the best row or of the front, SI; words and choices as their index."""
        return self.tried_values[self.members]

    @property
    def results(self) -> Floats:
        """(k, columns) all quantities of these rows, SI."""
        return self.tried.results[self.members]

    @property
    def objectives(self) -> Floats:
        """(k, objectives) of the best row or of the front, SI."""
        return self.results[:, [one.column for one in _search(self.study).objectives]]

    @property
    def evaluations(self) -> int:
        """Rows that were evaluated, those read from the store among them; `gradients` come on top."""
        return len(self.tried_values)

    @property
    def failed(self) -> int:
        """Rows that have no answer."""
        return int((self.tried.status != 0).sum())

    @property
    def is_front(self) -> bool:
        """Whether there are several objectives."""
        return len(_search(self.study).objectives) > 1

    def __len__(self) -> int:
        return len(self.members)

    @property
    def middle(self) -> int:
        """The member nearest to the best of every objective at once, each as a part of its range over the front."""
        cost = self.objectives * _signs(self.study)
        low, high = cost.min(axis=0), cost.max(axis=0)
        return int((((cost - low) / np.where(high > low, high - low, 1.0)) ** 2).sum(axis=1).argmin())

    def best(self, objective: int) -> int:
        """The member that is best in one of the objectives, counted from 0."""
        return int((self.objectives[:, objective] * _signs(self.study)[objective]).argmin())

    @cached_property
    def named(self) -> dict[str, int]:
        """Members that a word stands for: "best" where there is one objective; else "middle", and each objective for
        the member that is best in it."""
        if not self.is_front:
            return {"best": 0}
        wanted = enumerate(_search(self.study).objectives)
        return {"middle": self.middle} | {self.study.columns[one.column].name: self.best(at) for at, one in wanted}

    def robot(self, member: int | str = 0) -> Robot:
        """The robot of the best row, or of a member of the front: its number, or a word of `named`."""
        return self.study.case(self.values[self.number(member)]).robot

    def comments(self, member: int | str = 0) -> tuple[str, ...]:
        """Which design it is, and what its variables and its quantities are."""
        number = self.number(member)
        quantities = ", ".join(
            f"{column.name} {quantity_text(value, column.unit, 6)}"
            for column, value in zip(self.study.columns, self.results[number].tolist(), strict=True)
        )
        which = f"Number {number}" if self.is_front else "Best"
        return (
            f"{which} of the study {self.study.name}", f"variables: {self.row_text(number)}",
            f"quantities: {quantities}",
        )  # fmt: skip

    def robot_file(self, member: int | str = 0) -> str:
        """Its robot file, YAML text that `vb.load` reads; the variables and the quantities are in comments."""
        return commented(self.comments(member), self.robot(member).to_mapping())

    def number(self, member: int | str) -> int:
        """Of a member that is given by its number or by a word of `named`."""
        return member_number(member, len(self), self.named)

    def row_text(self, member: int) -> str:
        """The variables of a member, with units: ``radius 20 mm, material steel``."""
        return values_text(self.study, self.values[member])

    def sentences(self) -> tuple[str, ...]:
        """The answer in plain words."""
        return (*(self._front_sentences() if self.is_front else self._best_sentences()), *self._how())

    def _best_sentences(self) -> Iterator[str]:
        (one,) = _search(self.study).objectives
        column = self.study.columns[one.column]
        value = quantity_text(float(self.objectives[0, 0]), column.unit, 5)
        yield f"{_superlative(one.sense)} {column.name}: {value}, with {self.row_text(0)}."
        if self.limits:
            yield f"What keeps it from being better: {', '.join(text for text, _ in self.limits)}."
        if self.kkt_residual is not None:
            yield (
                f"To first order, no small change of the variables improves it (residual {self.kkt_residual:.1g})."
                if self.kkt_residual < CONVERGED
                else f"A small change of the variables could improve it still (residual {self.kkt_residual:.1g})."
            )

    def _front_sentences(self) -> Iterator[str]:
        wanted = _search(self.study).objectives
        columns = [self.study.columns[one.column] for one in wanted]
        ranges = []
        for values, column in zip(self.objectives.T, columns, strict=True):
            low, high = (quantity_text(float(end), column.unit) for end in (values.min(), values.max()))
            ranges.append(f"{column.name} from {low} to {high}")
        count = f"{len(self)} designs" if len(self) > 1 else "1 design"
        yield f"{count}, none of which is better than another in every objective: {', '.join(ranges)}."
        for at, (one, column) in enumerate(zip(wanted, columns, strict=True)):
            best = self.best(at)
            yield f"{_superlative(one.sense)} {column.name}: number {best}, with {self.row_text(best)}."
        if len(self) > 2:
            yield f"Nearest to the best of all at once: number {self.middle}, with {self.row_text(self.middle)}."
        if len(self) > 1:
            yield f"Over all of them: {'; '.join(self._along())}."
        if self.limits:
            listed = ", ".join(f"{text} ({count} of {len(self)} designs)" for text, count in self.limits)
            yield f"What keeps them from being better: {listed}."

    def _along(self) -> Iterator[str]:
        """What the values of each variable are over the front."""
        for one, values in zip(self.study.variables, self.values.T, strict=True):
            if one.upper == one.lower:
                continue
            if values.min() == values.max():
                yield f"{one.name} always {one.text(float(values[0]))}"
            elif one.labels:
                counted = Counter(values.tolist()).most_common()
                yield f"{one.name} " + ", ".join(f"{one.text(value)} (in {count})" for value, count in counted)
            else:
                low, high = (quantity_text(float(end), one.unit) for end in (values.min(), values.max()))
                yield f"{one.name} from {low} to {high}"

    def _how(self) -> Iterator[str]:
        counts = f"{self.evaluations:,} evaluation{'s' if self.evaluations > 1 else ''}"
        counts += f" and {self.gradients} derivative{'s' if self.gradients > 1 else ''}" if self.gradients else ""
        read = self.evaluations - self.computed
        yield f"Found by {NAMES[self.method]} with {counts}. {self.stopped}" + (
            f" {read:,} evaluations were read from the store." if read else ""
        )
        if self.failed:
            count = f"{self.failed:,} designs have" if self.failed > 1 else "1 design has"
            yield f"{count} no answer; most often: {_most_often(self.tried).rstrip('.')}."

    def rows(self, most: int | None = None) -> list[tuple[str, ...]]:
        """A table for people, headers first: number, variables, quantities."""
        study = self.study
        named = [(one.name, one.unit) for one in study.variables] + [(one.name, one.unit) for one in study.columns]
        lines: list[tuple[str, ...]] = [("number", *(axis_title(*one) for one in named))]
        sizes = [shown_unit(unit)[1] for _, unit in named]
        labels = [*(one.labels for one in study.variables), *((),) * len(study.columns)]
        for member, row in enumerate(np.hstack([self.values, self.results])[:most].tolist()):
            cells = zip(row, sizes, labels, strict=True)
            lines.append((str(member), *(words[int(x)] if words else f"{x / size:.5g}" for x, size, words in cells)))
        return lines

    def to_dataset(self) -> xarray.Dataset:
        """Every row that was tried, as `vb.sweep` gives them, with which of them are feasible and which are members
        (`member`), and how the search went (`generation`)."""
        share = {"units": "1", "long_name": "share of the hypervolume of the final front"}
        column = self.study.columns[_search(self.study).objectives[0].column]
        files = np.array([self.robot_file(member) for member in range(len(self))], dtype=object)
        best = share if self.is_front else {"units": column.unit or "1", "long_name": f"best {column.name} so far"}
        more = {
            "feasible": ("row", self.feasible.astype(np.int8), {"long_name": "whether the row meets all constraints"}),
            "member_row": ("member", self.members, {"long_name": "rows that are best, or the Pareto front"}),
            "evaluations": ("generation", self.history.evaluations, {"long_name": "rows evaluated so far"}),
            "best_so_far": ("generation", self.history.best, best),
            "robot_file_of_member": ("member", files, {"long_name": "robot files of the members, YAML"}),
        }
        attributes = {
            "method": self.method, "stopped": self.stopped, "summary": " ".join(self.sentences()),
            "search_seed": self.seed, "named_members": json.dumps(self.named),
        }  # fmt: skip
        return dataset(self.study, self.tried_values, self.tried).assign(more).assign_attrs(attributes)

    def __repr__(self) -> str:
        return "\n".join([*self.sentences(), "", text_table(self.rows(20), left=set())])


def commented(comments: Sequence[str], robot: Mapping[str, Any]) -> str:
    """A robot file with comments in front."""
    return "".join(f"# {' '.join(line.split())}\n" for line in comments) + yaml_text(robot)


def member_number(member: int | str, count: int, named: Mapping[str, int]) -> int:
    """Of one of `count` members that is given by its number, or by one of these words."""
    if isinstance(member, str) and member in named:
        return named[member]
    number = int(member) if isinstance(member, str) and member.isdecimal() and len(member) < 10 else member
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or not 0 <= number < count:
        numbers = f"a number from 0 to {count - 1}" if count > 1 else "0"
        near = did_you_mean(member, named) if isinstance(member, str) else ""
        raise InputError("member", f"must be {numbers}, or {' or '.join(named)}, not {shown(member)}{near}")
    return int(number)


def is_result(path: str | Path) -> bool:
    """Whether a file is the answer of an optimisation, as netCDF or as JSON; a study file may be JSON as well."""
    file = Path(path)
    if file.suffix.lower() != ".json":
        return file.suffix.lower() == ".nc"
    try:
        record = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):  # a study file, of which reading it says the rest
        return False
    return isinstance(record, dict) and "members" in record and "named" in record


def picked(path: str | Path, member: int | str) -> str:
    """The robot file of a member, from a netCDF or JSON file that an optimisation was written to."""
    file = Path(path)
    try:
        count, named, text = (_from_netcdf if file.suffix.lower() == ".nc" else _from_json)(file)
        return text(member_number(member, count, named))
    except (InputError, FileNotFoundError):
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise InputError("result", f"{file} is not the answer of an optimisation") from None


def _from_json(file: Path) -> tuple[int, dict[str, int], Callable[[int], str]]:
    record = json.loads(file.read_bytes())
    members = record["members"]
    return (
        len(members), dict(record["named"]),
        lambda number: commented(members[number]["comments"], members[number]["robot"]),
    )  # fmt: skip


def _from_netcdf(file: Path) -> tuple[int, dict[str, int], Callable[[int], str]]:
    import xarray

    with xarray.open_dataset(file, engine="netcdf4", decode_times=False) as data:
        texts = [str(text) for text in data["robot_file_of_member"].to_numpy()]
        return len(texts), dict(json.loads(data.attrs["named_members"])), texts.__getitem__


def values_text(study: Study, row: Floats) -> str:
    """The variables of a row, with units."""
    pairs = zip(study.variables, row.tolist(), strict=True)
    return ", ".join(f"{variable.name} {variable.text(value)}" for variable, value in pairs)


def constraint_text(study: Study, constraint: Constraint, most: bool) -> str:
    """One side of it: ``mass at most 50 g``."""
    column, bound = study.columns[constraint.column], constraint.most if most else constraint.least
    where = "at" if constraint.least == constraint.most else "at most" if most else "at least"
    return f"{column.name} {where} {quantity_text(float(bound or 0.0), column.unit)}"


def _superlative(sense: str) -> str:
    return "Largest" if sense == "maximise" else "Least"


def _most_often(outcome: Outcome) -> str:
    """Why rows have no answer, the reason of most."""
    failed = np.flatnonzero(outcome.status).tolist()
    reasons = (message_of(int(outcome.status[row]), outcome.messages, row) for row in failed)
    return Counter(reasons).most_common(1)[0][0]


def _search(study: Study) -> Search:
    """What the study says about optimising."""
    if study.optimise is None:
        raise InputError(
            "study", "has no objectives; write `optimise: {objectives: {mass: minimise}}` with names of its quantities"
        )
    return study.optimise


def _signs(study: Study) -> Floats:
    """(objectives,) that make each a cost."""
    return np.array([-1.0 if one.sense == "maximise" else 1.0 for one in _search(study).objectives])


def optimise(
    study: Study | str | Path | Mapping[str, Any],
    *,
    method: Method | None = None,
    evaluations: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    store: str | Path | None = None,
    progress: Progress | None = None,
) -> Optimum:
    """The values of a study's variables that are best by its objectives, within its constraints.

    `study`: a study file, a mapping or a `Study`, with `optimise: {objectives: ...}` in it. Ranges are searched between
    their ends; of grids, lists and choices only what they list. `method`, `evaluations` (the most rows that may be
    evaluated) and `seed` come from the study unless given. "auto" takes the gradient for one objective of ranges that
    has derivatives, CMA-ES for any other single one and where the gradient ends at no optimum, and NSGA-II for several.
    `workers` and `scheduler` say where rows are evaluated, as in `vb.sweep`. `store`: a folder that keeps every
    generation; a run that was interrupted goes on from there. `progress(done, most)` is called as rows are done.

    A row without an answer counts as infeasible. Raises `Infeasible`, with the best try as its `result`, where no row
    meets all constraints.
    """
    read = Study.read(study)
    search = _search(read)
    asked: str = word("method", search.method if method is None else method, METHODS)
    seed = search.seed if seed is None else seed_number("seed", seed)
    if seed > MOST_SEED:
        raise InputError("seed", f"must be at most {MOST_SEED}, not {shown(seed)}")
    most = search.evaluations if evaluations is None else positive_count("evaluations", evaluations, MOST_EVALUATIONS)
    kept = folder("store", store)
    function("progress", progress, "done", "total")
    space = _Space(read)
    chosen = _method(read, space, asked)
    with open_engine(workers, scheduler) as engine:
        trials = _Trials(read, space, engine, most, progress)
        try:
            stopped = _run(trials, chosen, seed, kept)
        except _NoDerivative as missing:
            if asked == "gradient":
                raise InputError("method", f"gradient needs derivatives, and {missing}; take cma") from None
            chosen, stopped = "cma", _run(trials, "cma", seed, kept)
        if (
            asked == "auto"
            and chosen == "gradient"
            and trials.left
            and not trials.equal.any()
            and not _converged(trials)
        ):
            chosen, stopped = "cma", _run(trials, "cma", seed, kept)
        return _optimum(trials, chosen, seed, stopped)


def _method(study: Study, space: _Space, asked: str) -> str:
    """What "auto" stands for, or why what was asked for cannot be."""
    search = _search(study)
    if len(search.objectives) > 1:
        if asked in ("gradient", "cma"):
            message = f"{asked} is for one objective, and this study has {len(search.objectives)}; take nsga2"
            raise InputError("method", message)
        chosen = "nsga2"
    elif asked == "nsga2":
        raise InputError("method", "nsga2 is for several objectives, and this study has one; take cma or gradient")
    else:
        listed = [one.name for one, count in zip(space.variables, space.counts, strict=True) if count]
        if listed and asked == "gradient":
            raise InputError("method", f"gradient needs derivatives, and there is none by {listed[0]}; take cma")
        chosen = "cma" if listed else "gradient" if asked == "auto" else asked
    equal = [one for one in search.constraints if one.least == one.most]
    if equal and chosen != "gradient":
        name = study.columns[equal[0].column].name
        raise InputError("study", f"{chosen} meets no constraint whose least is its most; give {name} a small range")
    return chosen


def _run(trials: _Trials, method: str, seed: int, store: Path | None) -> str:
    """Search, and say why it ended."""
    search: dict[str, Callable[[_Trials, int], str]] = {"gradient": _by_gradient, "cma": _by_cma, "nsga2": _by_nsga2}
    # Searches that ask for other rows do not share a folder.
    wanted = dict(trials.study.mapping["optimise"]) | {"method": method, "seed": seed, "evaluations": None}
    wanted |= {"population": _population(trials.most)} if method == "nsga2" else {}
    digest = hashlib.sha256(json.dumps(wanted, sort_keys=True, default=str).encode()).hexdigest()[:12]
    trials.store = None if store is None else store / f"{method}-{digest}"
    try:
        return search[method](trials, seed)
    except _Ended as end:
        return str(end)


# What may be tried.


class _Space:
    """The variables as a search sees them: of a range a number from 0 to 1, of all else the place in its list."""

    def __init__(self, study: Study) -> None:
        for variable in study.variables:
            if variable.kind == "distribution":
                message = f"{variable.name} has a distribution; to be optimised it needs a range {{from: ..., to: ...}}"
                raise InputError("study", f"{message}, a list or a choice")
        self.lower = np.array([variable.lower for variable in study.variables])
        self.upper = np.array([variable.upper for variable in study.variables])
        self.free = np.flatnonzero(self.upper > self.lower)
        if not len(self.free):
            raise InputError("study", "nothing varies; give a variable a range {from: ..., to: ...}")
        self.variables: list[Variable] = [study.variables[at] for at in self.free]
        self.lists = [np.unique(one.points) for one in self.variables]
        sizes = [
            len(points) or (int(one.upper - one.lower) + 1 if one.whole else 0)
            for one, points in zip(self.variables, self.lists, strict=True)
        ]
        self.counts = np.array(sizes, np.int64)
        """(free,) how many values there are; 0 for a range."""

    @property
    def width(self) -> Floats:
        """(free,) of ranges, SI."""
        widths: Floats = (self.upper - self.lower)[self.free]
        return widths

    def values(self, places: Floats) -> Floats:
        """(n, variables) SI; `places` (n, free) are rounded and clipped."""
        rows = np.tile(self.lower, (len(places), 1))
        for column, at in enumerate(self.free):
            place, count, points = places[:, column], self.counts[column], self.lists[column]
            if not count:
                found = self.lower[at] + np.clip(place, 0.0, 1.0) * (self.upper[at] - self.lower[at])
                rows[:, at] = np.minimum(found, self.upper[at])
            else:
                index = np.clip(np.round(place), 0, count - 1)
                rows[:, at] = points[index.astype(np.int64)] if len(points) else self.lower[at] + index
        return rows

    def sample(self, count: int, seed: int) -> Floats:
        """(count, free) places spread evenly; the first one is what the robot file and the study say, where that is
        within the bounds."""
        from scipy.stats import qmc

        size = 2 ** math.ceil(math.log2(count))
        u = qmc.Sobol(len(self.free), seed=np.random.default_rng(seed)).random(size)[:count]
        places = np.where(self.counts, np.minimum(np.floor(u * self.counts), self.counts - 1.0), u)
        for column, (one, points) in enumerate(zip(self.variables, self.lists, strict=True)):
            if one.nominal is not None and one.lower <= one.nominal <= one.upper:
                if not self.counts[column]:
                    places[0, column] = (one.nominal - one.lower) / (one.upper - one.lower)
                elif len(points):
                    places[0, column] = np.abs(points - one.nominal).argmin()
                else:
                    places[0, column] = round(one.nominal - one.lower)
        return np.asarray(places)


class _Ended(Exception):  # noqa: N818 - ends a search, is no error
    """Why a search ends."""


class _NoDerivative(Exception):  # noqa: N818 - ends a search, is no error
    """What has no derivative."""


class _Known(Exception):  # noqa: N818 - ends a search, is no error
    """It leads where another one has ended."""


class _Trials:
    """Every row that was evaluated, as costs to be made small and excesses to be made negative."""

    def __init__(self, study: Study, space: _Space, engine: Engine, most: int, progress: Progress | None) -> None:
        search = _search(study)
        self.study, self.space, self.engine, self.most, self.progress = study, space, engine, most, progress
        self.store: Path | None = None
        self.signs = _signs(study)
        self.aims = [one.column for one in search.objectives]
        self.sides = [
            (constraint, most)
            for constraint in search.constraints
            for most in (False, True)
            if (constraint.most if most else constraint.least) is not None
            and not (most and constraint.least == constraint.most)
        ]
        self.equal = np.array([one.least == one.most for one, _ in self.sides], dtype=bool)
        self.limited = [one.column for one, _ in self.sides]
        self.bounds = np.array([float(one.most if most else one.least) for one, most in self.sides])  # type: ignore[arg-type]
        self.sense = np.array([1.0 if most else -1.0 for _, most in self.sides])
        self.places, self.values = np.empty((0, len(space.free))), np.empty((0, len(study.variables)))
        self.outcome = Outcome.empty(0, len(study.columns))
        self.known = dict[bytes, int]()
        self.slopes = dict[bytes, Floats]()
        self.ends = list[int]()
        self.batches = 0
        self.stale = 0

    @property
    def left(self) -> int:
        """Evaluations that are left."""
        return self.most - len(self.values)

    # Rows.

    def evaluate(self, places: Floats) -> tuple[Floats, Floats]:
        """Costs (n, objectives) and scaled excesses (n, sides of constraints); infinite where a row has no answer.

        Rows that are known already are not evaluated again. _Ended where no evaluations are left.
        """
        rows = self.space.values(places)
        keys = [row.tobytes() for row in rows]
        new = [at for at, key in enumerate(keys) if key not in self.known and key not in keys[:at]]
        self.stale = 0 if new else self.stale + 1
        kept = new[: self.left]
        if kept:
            self._run(places[kept], rows[kept])
        if len(kept) < len(new):
            raise _Ended(f"All {self.most:,} evaluations were used.")
        at = [self.known[key] for key in keys]
        return self.costs[at], self.excesses[at]

    def generation(self, places: Floats) -> tuple[Floats, Floats]:
        """The same for a search that may ask for known rows for ever."""
        found = self.evaluate(places)
        if self.stale >= STALE:
            raise _Ended(f"The last {STALE} generations brought no design that had not been tried.")
        return found

    def _run(self, places: Floats, rows: Floats) -> None:
        before = len(self.values)
        self.batches += 1
        # The last generation may be cut short, and more evaluations may be asked for later.
        store = None if self.store is None else self.store / f"generation-{self.batches:05d}-{len(rows)}"

        def tell(done: int, total: int) -> None:
            if self.progress is not None:
                self.progress(before + done, self.most)

        found = self.engine.run(self.study, rows, store=store, progress=tell)
        self.places, self.values = np.vstack([self.places, places]), np.vstack([self.values, rows])
        messages = {before + row: text for row, text in found.messages.items()}
        self.outcome = Outcome(
            np.vstack([self.outcome.results, found.results]), np.concatenate([self.outcome.status, found.status]),
            self.outcome.messages | messages,
        )  # fmt: skip
        self.known |= {row.tobytes(): before + at for at, row in enumerate(rows)}
        self.ends.append(len(self.values))
        for name in ("answered", "costs", "excesses", "violations", "feasible"):
            vars(self).pop(name, None)

    # What is known of all rows.

    @cached_property
    def answered(self) -> NDArray[np.bool_]:
        """(n,) rows with a finite number for every objective and a number for every constraint."""
        results = self.outcome.results
        finite, known = np.isfinite(results[:, self.aims]).all(axis=1), ~np.isnan(results[:, self.limited]).any(axis=1)
        found: NDArray[np.bool_] = (self.outcome.status == 0) & finite & known
        return found

    @cached_property
    def scale(self) -> Floats:
        """(sides,) by which each constraint is divided: its larger bound; where that is 0, what the first rows have."""
        sizes = np.abs(self.outcome.results[: self.ends[0], self.limited])
        first = np.where(np.isfinite(sizes), sizes, 0.0).max(axis=0, initial=0.0)
        bounds = [max(abs(bound) for bound in (one.least, one.most) if bound is not None) for one, _ in self.sides]
        return np.array([bound or size or 1.0 for bound, size in zip(bounds, first.tolist(), strict=True)])

    @cached_property
    def costs(self) -> Floats:
        """(n, objectives)"""
        found: Floats = np.where(self.answered[:, None], self.outcome.results[:, self.aims] * self.signs, np.inf)
        return found

    @cached_property
    def excesses(self) -> Floats:
        """(n, sides) positive beyond the bound, as a part of it."""
        found = self.sense * (self.outcome.results[:, self.limited] - self.bounds) / self.scale
        inside: Floats = np.where(self.answered[:, None], np.clip(found, -FARTHEST, FARTHEST), np.inf)
        return inside

    @cached_property
    def violations(self) -> Floats:
        """(n,) sum of what is beyond bounds; 0 for a feasible row, infinite without an answer."""
        beyond = np.where(self.equal, np.abs(self.excesses), self.excesses)
        total: Floats = np.where(self.answered, np.where(beyond > MET, beyond, 0.0).sum(axis=1), np.inf)
        return total

    @cached_property
    def feasible(self) -> NDArray[np.bool_]:
        """(n,) rows that meet all constraints."""
        found: NDArray[np.bool_] = self.violations == 0.0
        return found

    def best_first(self) -> NDArray[np.int64]:
        """Rows, the feasible ones by their cost, then the others by what they violate."""
        return np.lexsort((self.costs[:, 0], self.violations))

    # Derivatives.

    def gradient(self, row: Floats) -> Floats:
        """(columns, free) by the places of the free variables; kept beside the rows in the store."""
        key = row.tobytes()
        if key not in self.slopes:
            self.slopes[key] = self._kept_gradient(row)[:, self.space.free] * self.space.width
        columns = [*self.aims, *self.limited]
        missing = np.argwhere(np.isnan(self.slopes[key][columns]))
        if len(missing):
            del self.slopes[key]  # it does not count
            of, by = missing[0]
            name = self.study.columns[columns[of]].name
            raise _NoDerivative(f"{name} has no derivative by {self.space.variables[by].name}")
        return self.slopes[key]

    def _kept_gradient(self, row: Floats) -> Floats:
        file = None if self.store is None else self.store / f"derivatives-{len(self.slopes) + 1:05d}.npy"
        kept = None if file is None else _checked_array(file)
        if kept is not None and kept.shape == (len(self.study.columns) + 1, len(row)) and np.array_equal(kept[0], row):
            return kept[1:]
        found = gradient_of(self.study, row)
        if file is not None:
            data = io.BytesIO()
            np.save(data, np.vstack([row, found]))
            write_file(file, hashlib.sha256(data.getvalue()).digest() + data.getvalue())
        return found


def _checked_array(file: Path) -> Floats | None:
    """What a file holds behind its checksum; None where it is not there or not whole."""
    data = file.read_bytes() if file.is_file() else b""
    if len(data) < 32 or hashlib.sha256(data[32:]).digest() != data[:32]:
        return None
    return np.asarray(np.load(io.BytesIO(data[32:])), dtype=np.float64)


# By gradient.


def _by_gradient(trials: _Trials, seed: int) -> str:
    """SLSQP from the best rows of a sample."""
    trials.evaluate(trials.space.sample(min(SAMPLE, trials.most), seed))
    costs = trials.costs[trials.answered, 0]
    size = float(np.ptp(costs)) if len(costs) else 0.0
    starts = [row for row in trials.best_first()[:STARTS] if trials.answered[row]]
    if not starts:
        return "No row of the sample has an answer to start from."
    ended, known = list[str](), list[Floats]()
    for row in starts:
        try:
            ended.append(_slsqp(trials, trials.places[row], size or 1.0, known))
        except _Known:
            ended.append("came to the same design")
        except _NoDerivative:
            if not trials.slopes:
                raise
            ended.append("came to a design without derivatives")
    count = "1 start" if len(ended) == 1 else f"{len(ended)} starts"
    return f"Searched from {count}; the search {', then '.join(dict.fromkeys(ended))}."


def _slsqp(trials: _Trials, start: Floats, size: float, known: list[Floats]) -> str:
    """One search; how it ended. `known`: where others have."""
    from scipy.optimize import minimize

    def numbers(u: Floats) -> tuple[float, Floats]:
        (cost,), (excess,) = trials.evaluate(u[None])
        # A line search turns back from a row without an answer.
        return (cost[0] / size, excess) if np.isfinite(cost[0]) else (FAILED, np.zeros(len(excess)))

    def slopes(u: Floats) -> Floats:
        if any(np.abs(u - end).max() < SAME for end in known):
            raise _Known
        return trials.gradient(trials.space.values(u[None])[0])

    def side(rows: NDArray[np.int64], kind: str) -> dict[str, Any]:
        # SLSQP keeps inequalities positive.
        by, columns = -(trials.sense / trials.scale)[rows, None], np.array(trials.limited)[rows]
        return {"type": kind, "fun": lambda u: -numbers(u)[1][rows], "jac": lambda u: by * slopes(u)[columns]}

    kinds = ((np.flatnonzero(trials.equal), "eq"), (np.flatnonzero(~trials.equal), "ineq"))
    by_cost = trials.signs[0] / size
    found = minimize(
        lambda u: numbers(u)[0], start, method="SLSQP", jac=lambda u: by_cost * slopes(u)[trials.aims[0]],
        bounds=[(0.0, 1.0)] * len(start), constraints=[side(rows, kind) for rows, kind in kinds if len(rows)],
        options={"ftol": 1e-14, "maxiter": 200},
    )  # fmt: skip
    known.append(found.x)
    return "converged" if found.status == 0 else f"ended early ({found.message})"


def _residual(trials: _Trials, row: int) -> float | None:
    """The part of the derivative of the cost that active constraints and bounds do not account for; None where
    there is no derivative."""
    from scipy.optimize import nnls

    try:
        slopes = trials.gradient(trials.values[row])
    except _NoDerivative:
        return None
    units = trials.places[row]
    cost = trials.signs[0] * slopes[trials.aims[0]]
    whole = float(np.linalg.norm(cost))
    sides = np.flatnonzero(np.abs(trials.excesses[row]) <= 10.0 * MET)
    normals = [trials.sense[side] * slopes[trials.limited[side]] / trials.scale[side] for side in sides]
    normals += [-normal for normal, side in zip(normals, sides, strict=True) if trials.equal[side]]
    each = np.eye(len(units))
    normals += [-each[at] for at in np.flatnonzero(units <= MET)]
    normals += [each[at] for at in np.flatnonzero(units >= 1.0 - MET)]
    if not normals or not whole:
        return 1.0 if whole else 0.0
    return float(nnls(np.array(normals).T, -cost)[1]) / whole


def _converged(trials: _Trials) -> bool:
    """Whether the best row is feasible and an optimum to first order."""
    row = int(trials.best_first()[0])
    residual = _residual(trials, row) if trials.feasible[row] else None
    return residual is not None and residual < CONVERGED


# By evolution.


@contextmanager
def _own_random(state: list[Any]) -> Iterator[None]:
    """NumPy's global generator as this search has it, and afterwards as it was: a part of `cma` uses no other."""
    before = np.random.get_state()  # noqa: NPY002
    np.random.set_state(state[0])  # noqa: NPY002
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        state[0] = np.random.get_state()  # noqa: NPY002
        np.random.set_state(before)  # noqa: NPY002


def _by_cma(trials: _Trials, seed: int) -> str:
    """CMA-ES, started again with twice the rows per generation as long as it ends before any row is feasible."""
    try:
        import cma
    except ModuleNotFoundError:
        raise MissingPackage("cma") from None
    state, factor = [np.random.RandomState(seed).get_state()], 1
    if len(trials.values) < 2 * SAMPLE:
        trials.evaluate(trials.space.sample(2 * SAMPLE, seed))
    while True:
        why = _one_cma(trials, cma, state, factor)
        if trials.feasible.any():
            return why
        factor *= 2


def _one_cma(trials: _Trials, cma: Any, state: list[Any], factor: int) -> str:
    counts = trials.space.counts
    # Each number of a list has as much room as another.
    low, high = np.where(counts, -0.499, 0.0), np.where(counts, counts - 0.501, 1.0)
    start = np.clip(trials.places[trials.best_first()[0]], low, high)
    options = {
        "bounds": [low.tolist(), high.tolist()], "CMA_stds": (high - low).tolist(), "seed": np.nan, "verbose": -10,
        "integer_variables": np.flatnonzero(counts).tolist(), "popsize_factor": factor, "verb_log": 0,
        "tolx": 1e-8, "tolfun": 1e-12, "tolfunhist": 1e-13, "tolflatfitness": 20,
    }  # fmt: skip
    with _own_random(state):
        strategy = cma.CMAEvolutionStrategy(start.tolist(), 0.25, options)
        lagrangian = cma.constraints_handler.AugmentedLagrangian(strategy.N)
        lagrangian.logging = 0
        lagrangian._init_()
    size = 0.0
    while True:
        with _own_random(state):
            asked = strategy.ask()
        costs, excess = trials.generation(np.array(asked))
        answered = np.isfinite(costs[:, 0])
        if not size and answered.sum() > 1:
            size = float(np.ptp(costs[answered, 0])) or 1.0
        scaled = costs[:, 0] / (size or 1.0)
        with _own_random(state):
            merit = scaled
            if excess.shape[1] and answered.any():
                lagrangian.set_coefficients(scaled[answered], excess[answered])
                merit = scaled + np.array(
                    [sum(lagrangian(g)) if ok else 0.0 for g, ok in zip(excess, answered, strict=True)]
                )
                best = int(np.where(answered, merit, np.inf).argmin())
                lagrangian.update(scaled[best], excess[best])
            worst = float(merit[answered].max()) if answered.any() else 0.0
            strategy.tell(asked, np.where(answered, merit, worst + 1.0 + abs(worst)).tolist())
            reasons = strategy.stop()
        if reasons:
            return f"It ended since the rows of a generation were as good as alike ({', '.join(reasons)})."


def _population(most: int) -> int:
    """Rows of a generation of NSGA-II, an even number."""
    least, largest = POPULATION
    return min(max(2 * round(most / 40), least), largest)


def _by_nsga2(trials: _Trials, seed: int) -> str:
    """NSGA-II; the first generation is spread evenly."""
    try:
        from pymoo.algorithms.moo.nsga2 import NSGA2, binary_tournament
        from pymoo.core.evaluator import Evaluator
        from pymoo.core.mixed import MixedVariableDuplicateElimination, MixedVariableMating
        from pymoo.core.population import Population
        from pymoo.core.problem import Problem
        from pymoo.core.variable import Choice, Integer, Real
        from pymoo.operators.selection.tournament import TournamentSelection
        from pymoo.problems.static import StaticProblem
        from pymoo.termination import get_termination
    except ModuleNotFoundError:
        raise MissingPackage("pymoo") from None
    space, size = trials.space, _population(trials.most)
    names = [one.name for one in space.variables]
    kinds = {}
    for one, count in zip(space.variables, space.counts.tolist(), strict=True):
        ordered = Integer(bounds=(0, count - 1)) if count else Real(bounds=(0.0, 1.0))
        kinds[one.name] = Choice(options=list(range(count))) if one.labels else ordered
    problem = Problem(vars=kinds, n_obj=len(trials.aims), n_ieq_constr=max(len(trials.sides), 1))
    first = [dict(zip(names, place, strict=True)) for place in space.sample(size, seed).tolist()]
    alike = MixedVariableDuplicateElimination()
    mating = MixedVariableMating(TournamentSelection(func_comp=binary_tournament), eliminate_duplicates=alike)
    algorithm = NSGA2(size, Population.new(X=np.array(first, dtype=object)), mating=mating, eliminate_duplicates=alike)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        algorithm.setup(problem, termination=get_termination("n_gen", 10**9), seed=seed, verbose=False)
        while True:
            asked = algorithm.ask()
            if asked is None or not len(asked):
                return "No new designs could be made from those of the last generation."
            costs, excess = trials.generation(np.array([[one.X[name] for name in names] for one in asked], np.float64))
            # Rows without an answer are the least wanted, and numbers must be finite.
            ok = np.isfinite(costs[:, :1])
            beyond = np.where(excess > MET, excess, 0.0) if trials.sides else np.zeros((len(asked), 1))
            told = StaticProblem(problem, F=np.where(ok, costs, 1e30), G=np.where(ok, beyond, 1e30))
            Evaluator().eval(told, asked)
            algorithm.tell(infills=asked)


# The answer.


def _optimum(trials: _Trials, method: str, seed: int, stopped: str) -> Optimum:
    feasible, several = trials.feasible, len(trials.aims) > 1
    members = _front(trials.costs, np.flatnonzero(feasible)) if several else trials.best_first()[:1]
    if not feasible.any():
        members = trials.best_first()[:1]
    if not several or not feasible.any():
        best = np.minimum.accumulate(np.where(feasible, trials.costs[:, 0], np.inf))[np.array(trials.ends) - 1]
        history = np.where(np.isfinite(best), best * trials.signs[0], np.nan)
    else:
        history = _volumes(trials, members)
    residual = _residual(trials, int(members[0])) if method == "gradient" and feasible.any() else None
    found = Optimum(
        trials.study, method, seed, members, trials.values, trials.outcome, feasible,
        History(np.array(trials.ends), history), len(trials.slopes), trials.engine.computed, stopped, residual,
        tuple(_limits(trials, members, 10.0 * MET if method == "gradient" else NEAR)),
    )  # fmt: skip
    if not feasible.any():
        raise _infeasible(trials, int(members[0]), found)
    return found


def _limits(trials: _Trials, members: NDArray[np.int64], near: float) -> Iterator[tuple[str, int]]:
    """Constraints and ends of ranges that members are at."""
    near_side = (np.abs(trials.excesses[members]) <= near).sum(axis=0).tolist()
    for (constraint, most), count in zip(trials.sides, near_side, strict=True):
        if count:
            yield constraint_text(trials.study, constraint, most), count
    places, space = trials.places[members], trials.space
    for column, (one, size) in enumerate(zip(space.variables, space.counts.tolist(), strict=True)):
        if one.labels:
            continue
        last, margin = (size - 1, 0.5) if size else (1.0, near)
        for at, end, words in ((0.0, one.lower, "at its least"), (last, one.upper, "at its most")):
            if count := int((np.abs(places[:, column] - at) <= margin).sum()):
                yield f"{one.name} {words}, {one.text(end)}", count


def _infeasible(trials: _Trials, row: int, result: Optimum) -> Infeasible:
    count = f"none of {len(trials.values):,} rows"
    if not trials.answered.any():
        why = _most_often(trials.outcome) if trials.outcome.status.any() else "an objective or a constraint is infinite"
        return Infeasible(0, "", math.inf, f"{count} has an answer; most often: {why}", result)
    excess = np.where(trials.equal, np.abs(trials.excesses), trials.excesses)
    worst = int(excess[row].argmax())
    column = trials.study.columns[trials.limited[worst]]
    amount = float(excess[row, worst] * trials.scale[worst])
    near, by = (
        quantity_text(value, column.unit)
        for value in (float(trials.outcome.results[row, trials.limited[worst]]), amount)
    )
    fails = np.mean(excess[trials.answered] > MET, axis=0)
    often = int(fails.argmax())
    message = (
        f"{count} meets all constraints: the nearest, {values_text(trials.study, trials.values[row])}, has "
        f"{column.name} {near}, which misses "
        f"{constraint_text(trials.study, *trials.sides[worst])} by {by}; "
        f"{constraint_text(trials.study, *trials.sides[often])} fails most often, in {100 * fails[often]:.0f} % of the "
        "rows; widen the ranges of the variables or the bounds"
    )
    return Infeasible(0, column.name, amount, message, result)


def _front(costs: Floats, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of these rows, those that no other is better than in every objective, best in the first objective first; of
    many, an even choice."""
    kept = _undominated(costs, rows).tolist()
    while len(kept) > MOST_MEMBERS:
        del kept[int(_crowding(costs[kept]).argmin())]
    return np.array(kept, np.int64)


def _undominated(costs: Floats, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sorted by cost; of rows with the same costs the first alone."""
    rows = rows[np.unique(costs[rows], axis=0, return_index=True)[1]]
    kept, count = np.empty((len(rows), costs.shape[1])), 0
    found = list[int]()
    for row in rows:  # by the first objective, so that no later row is better than an earlier one
        if not (kept[:count] <= costs[row]).all(axis=1).any():
            kept[count] = costs[row]
            count += 1
            found.append(int(row))
    return np.array(found, np.int64)


def _crowding(costs: Floats) -> Floats:
    """(k,) distance between the neighbours of each row along every objective, as parts of its range; ends infinite."""
    total = np.zeros(len(costs))
    for column in costs.T:
        order = np.argsort(column, kind="stable")
        gaps = np.full(len(costs), np.inf)
        gaps[1:-1] = (column[order][2:] - column[order][:-2]) / (np.ptp(column) or 1.0)
        total[order] += gaps
    return total


def _volumes(trials: _Trials, members: NDArray[np.int64]) -> Floats:
    """(g,) hypervolume after each generation as a share of that of the front."""
    from pymoo.indicators.hv import HV

    low, high = trials.costs[members].min(axis=0), trials.costs[members].max(axis=0)
    with np.errstate(invalid="ignore"):
        scaled = (trials.costs - low) / np.where(high > low, high - low, 1.0)
    volume = HV(ref_point=np.full(len(low), 1.1))
    whole, shares, front, first = float(volume(scaled[members])), list[float](), np.empty(0, np.int64), 0
    for end in trials.ends:
        front = _undominated(scaled, np.concatenate([front, first + np.flatnonzero(trials.feasible[first:end])]))
        shares.append(min(float(volume(scaled[front])) / whole, 1.0) if len(front) else math.nan)
        first = end
    return np.array(shares)
