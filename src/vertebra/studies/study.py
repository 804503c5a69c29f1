"""The study file: a robot, what varies, and what is asked of every row; read, checked, and ready to be computed."""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import json
import math
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import TypeAdapter, ValidationError

from vertebra import __version__
from vertebra.dynamics.problem import require_inertia
from vertebra.errors import DescriptionError, InputError, Problem, shown
from vertebra.mechanics.kernel_cache import sources_stamp
from vertebra.mechanics.problem import Load
from vertebra.mechanics.problem import Problem as Equilibrium
from vertebra.robot.description import MOUNTS, Gravity
from vertebra.robot.fields import places, value_problems
from vertebra.robot.reading import MAX_TEXT, did_you_mean, plain, preset_names, problems_of, read_file, yaml_text
from vertebra.robot.robot import Robot, load
from vertebra.robot.tables import Floats
from vertebra.robot.units import UnitError, to_si
from vertebra.studies.cases import (
    PER_CABLE,
    PER_JOINT,
    Acting,
    Case,
    Expression,
    Held,
    Plan,
    Target,
    constant,
    each,
    how_held,
    target,
)
from vertebra.studies.quantities import (
    QUANTITIES,
    Asked,
    Column,
    Outcome,
    checked_settings,
    evaluate,
    own_files,
    user_function,
)
from vertebra.studies.study_file import NAMED, LoadEntry, StudyFile
from vertebra.studies.variables import (
    MOST_ROWS,
    MOST_SOBOL,
    ChoiceSpread,
    GridSpread,
    Samples,
    SpreadError,
    Variable,
    choice,
    own_unit,
    variable,
    with_own_units,
)

ACTS = (*PER_CABLE, *PER_JOINT, "gravity")
"""Names without dots that stand for what acts on the robot, and for nothing else."""
NOT_BELOW_0 = ("tensions", "friction", "lengths", "stiffness_EA")
MOST_NUMBERS = 1_000_000_000
"""Of all rows together: eight gigabytes."""
MOST_TRIED = 200
"""Words of one entry that are tried in the robot file before anything runs."""
_NAME = re.compile(r"[^\W\d_][\w \-]*(?<! )")
_GRAVITY: TypeAdapter[Any] = TypeAdapter(Gravity)

OWN_NAMES = ("row", "status", "message", "messages", "message_number")
"""Of every table of results, so that no quantity may have them."""


class Objective(NamedTuple):
    """What an optimisation makes small or large."""

    column: int
    """Of `Study.columns`."""
    sense: Literal["minimise", "maximise"]


class Constraint(NamedTuple):
    """What a column must keep to, SI."""

    column: int
    least: float | None
    most: float | None


class Search(NamedTuple):
    """What an optimisation looks for, and how long."""

    objectives: tuple[Objective, ...]
    constraints: tuple[Constraint, ...]
    method: Literal["auto", "gradient", "cma", "nsga2"]
    evaluations: int
    seed: int


@dataclass(frozen=True, eq=False, repr=False)
class Study:
    """A study that can be computed: nothing in it is unknown or misspelt."""

    name: str
    robot: Robot
    """Where nothing varies."""
    variables: tuple[Variable, ...]
    """In file order: the columns of `values`."""
    asked: tuple[Asked, ...]
    samples: Samples
    optimise: Search | None
    plan: Plan
    text: str
    """The study as YAML, as it was written where it came from a file."""
    mapping: Mapping[str, Any]
    """The study as plain data, the robot inside."""
    folder: Path | None
    """Where files that it names are; None where it did not come from a file."""

    @classmethod
    def read(cls, source: str | Path | Mapping[str, Any] | Study) -> Study:
        """From the path of a file (YAML or JSON) or a mapping; `DescriptionError` lists every problem."""
        if isinstance(source, Study):
            return source
        if isinstance(source, Mapping):
            return _checked(source, None, "study mapping", None)
        if not isinstance(source, str | Path):
            raise InputError("study", f"must be the path of a study file, a mapping or a Study, not {shown(source)}")
        path = Path(source)
        if len(str(path)) > MAX_TEXT:
            raise _file_error("study", f"cannot be read: {len(str(path))} characters are no path")
        text, data = read_file(path, "study file")
        return _checked(data, text, str(path), path.parent)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The numbers of every row, in order."""
        return tuple(column for one in self.asked for column in one.columns)

    @cached_property
    def rows(self) -> int:
        """How many: all combinations of grids, lists and choices, each with every draw of the rest."""
        count = math.prod(len(one.points) for one in self.variables if not one.is_sampled)
        return count * (self.samples.count if any(one.is_sampled for one in self.variables) else 1)

    @cached_property
    def _drawn(self) -> Floats:
        """(samples, sampled variables)"""
        sampled = [one for one in self.variables if one.is_sampled]
        draws = self.samples.draw(len(sampled))
        return np.stack([one.quantiles(draws[:, k]) for k, one in enumerate(sampled)], axis=1)

    def values(self, first: int, last: int) -> Floats:
        """(last - first, variables) SI: rows of the study. The first variable changes slowest, draws fastest."""
        index = np.arange(first, last)
        result = np.empty((len(index), len(self.variables)))
        if any(one.is_sampled for one in self.variables):
            index, draw = np.divmod(index, self.samples.count)
            result[:, [k for k, one in enumerate(self.variables) if one.is_sampled]] = self._drawn[draw]
        for k in reversed(range(len(self.variables))):
            if not self.variables[k].is_sampled:
                points = self.variables[k].points
                index, place = np.divmod(index, len(points))
                result[:, k] = points[place]
        return result

    def assigned(self, row: Any) -> dict[str, Any]:
        """Everything that a row (variables,) sets, by name, SI; complex numbers stay complex."""
        return self.plan.assigned(row)

    def case(self, row: Any) -> Case:
        """The robot of a row (variables,) and what acts on it."""
        return self.plan.case(row)

    def evaluate(self, values: Floats) -> Outcome:
        """The answers to rows (n, variables), in this thread."""
        return evaluate(self.plan, self.asked, values)

    @cached_property
    def key(self) -> str:
        """Changes with anything that the results depend on: the study, functions of the user's, Vertebra."""
        import numba
        import scipy

        sources = [(name, hashlib.sha256(content).hexdigest()) for name, content in sorted(self._code.items())]
        content = {name: value for name, value in self.mapping.items() if name not in ("name", "optimise", "vary")}
        content["robot"] = self.robot.to_mapping()
        packages = [package.__version__ for package in (numba, np, scipy)]
        # Rows follow each other in the order of `vary`, and alternatives in theirs.
        vary = [
            [name, [*spread["choose"].items()] if isinstance(spread, dict) and "choose" in spread else spread]
            for name, spread in self.mapping.get("vary", {}).items()
        ]
        parts = [content, vary, sources, __version__, sources_stamp(), packages]
        return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()

    @cached_property
    def _code(self) -> dict[str, bytes]:
        """Files of the user's functions, by name; of packages, which must be installed everywhere, by dotted name."""
        found = dict[str, bytes]()
        for entry in self.mapping["quantities"]:
            module = entry["function"].partition(":")[0] if isinstance(entry, dict) and "function" in entry else ""
            file = _file_of(module, self.folder) if module else None
            if file is not None and file.stem != module:
                found[module] = file.read_bytes()
            elif file is not None:
                found |= {path.name: content for path, content in own_files(file).items()}
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        # Workers of a cluster read it anew: the robot is inside, and so are the files of functions.
        return _reread, (dict(self.mapping), self.text, self.folder, self._code)

    def __repr__(self) -> str:
        varies = ", ".join(one.name for one in self.variables)
        asks = ", ".join(dict.fromkeys(column.quantity for column in self.columns))
        return f"Study {self.name!r} of {self.robot.name!r}: {self.rows:,} rows of {varies}; {asks}"


def _file_of(module: str, folder: Path | None) -> Path | None:
    """The Python file of a module that a study names; None where it has none."""
    beside = None if folder is None else folder / f"{module}.py"
    if beside is not None and beside.is_file():
        return beside
    found = importlib.util.find_spec(module)
    file = None if found is None or found.origin is None else Path(found.origin)
    return file if file is not None and file.suffix == ".py" and file.is_file() else None


def _reread(mapping: dict[str, Any], text: str, folder: Path | None, code: dict[str, bytes]) -> Study:
    """A study from another process, perhaps on a machine that has none of its files."""
    code = {name: content for name, content in code.items() if name.endswith(".py")}
    there = [folder / name for name in code] if folder is not None else []
    if code and not (there and all(path.is_file() and path.read_bytes() == code[path.name] for path in there)):
        folder = Path(tempfile.mkdtemp(prefix="vertebra-study-"))
        _COPIES.add(folder)
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        for name, content in code.items():
            (folder / name).write_bytes(content)
    return _checked(mapping, text, "study", folder)


_COPIES = set[Path]()
"""Folders of this process, for files that came with a study."""


def drop_copies(study: Study) -> None:
    """Delete the files that came with a study from another process; its functions are loaded."""
    if study.folder in _COPIES:
        _COPIES.discard(study.folder)
        shutil.rmtree(study.folder, ignore_errors=True)


def _file_error(origin: str, message: str) -> DescriptionError:
    return DescriptionError([Problem("(file)", message, "")], origin)


def _checked(data: object, text: str | None, origin: str, folder: Path | None) -> Study:
    if not isinstance(data, Mapping):
        raise _file_error(origin, f"must be a mapping of fields such as `study: 1`, not {type(data).__name__}")
    try:
        given = data.get("robot")
        values: Any = plain({**data, "robot": given.to_mapping()} if isinstance(given, Robot) else data)
        file = StudyFile.model_validate(values)
    except ValidationError as error:
        raise DescriptionError(problems_of(error, StudyFile), origin) from None
    except ValueError as error:  # more levels or values than any study has
        raise _file_error(origin, str(error)) from None
    robot = _robot(file.robot, folder, origin)
    mapping = values | {"robot": robot.to_mapping()}
    reading = _Reading(file, robot, folder)
    study = reading.study(text or yaml_text(values), mapping)
    if reading.problems or study is None:
        raise DescriptionError(reading.problems, origin)
    return study


def _robot(given: str | dict[str, Any], folder: Path | None, origin: str) -> Robot:
    source: Any = given
    if isinstance(given, str) and given not in preset_names() and folder is not None:
        source = folder / given
        if not os.path.isfile(source):
            near = did_you_mean(given, preset_names())
            said = f"no such file beside the study, and no preset{near}; presets are {', '.join(preset_names())}"
            raise DescriptionError([Problem("robot", said, shown(given))], origin)
    try:
        return load(source)
    except DescriptionError as error:
        problems = [
            Problem(f"robot.{one.path}".removesuffix(".(file)"), one.message, one.found) for one in error.problems
        ]
        raise DescriptionError(problems, origin) from None


class _Reading:
    """Everything that needs the robot: names, units, and what fits together. Collects all problems."""

    def __init__(self, file: StudyFile, robot: Robot, folder: Path | None) -> None:
        self.file, self.robot, self.folder = file, robot, folder
        self.problems = list[Problem]()
        self.by_choice = dict[str, tuple[int, Floats]]()
        """Names that alternatives of a choice give a number: its column, and one number per alternative."""

    def wrong(self, path: str, message: str, found: object = "") -> None:
        self.problems.append(Problem(path, message, "" if found == "" else shown(found)))

    def study(self, text: str, mapping: Mapping[str, Any]) -> Study | None:
        file = self.file
        acting = self.acting()
        formulas = dict(self.formulas(acting))
        used = {name for goal in formulas.values() if isinstance(goal[1], Expression) for name in goal[1].names}
        entries = list(self.each_by_itself(acting))
        if not self.few_enough([spread for _, spread in entries]):
            return None
        variables, direct, choices = self.variables(entries, acting, used)
        names = tuple(one.name for one in variables)
        for name in sorted(set(names) & self.by_choice.keys()):
            self.wrong(f"vary.{name}", "a choice gives this name a number already; set it once")
        for path, (_, formula) in formulas.items():
            for name in sorted((formula.names if isinstance(formula, Expression) else set()) - self.by_choice.keys()):
                at = names.index(name) if name in names else -1
                if at < 0 and name not in self.file.vary:
                    near = did_you_mean(name, [*names, *self.by_choice])
                    self.wrong(f"set.{path}", f"{name!r} does not vary{near}", formula.text)
                elif at >= 0 and variables[at].labels:
                    self.wrong(f"set.{path}", f"{name!r} is a word, not a number", formula.text)
        goals = [(f"vary.{goal.text}", goal) for goal, _ in direct]
        goals += [(f"set.{path}", goal) for path, (goal, _) in formulas.items()]
        goals += [(f"vary.{names[at]}.choose", goal) for at, fields in choices for goal, _ in fields.values()]
        self.each_once(goals)
        self.no_field_is_forgotten(used, goals)
        self.values_fit(variables, direct, formulas, choices)
        given = {word for word in Acting._fields if getattr(acting, word) is not None}
        given |= {goal.word for _, goal in goals}
        held = self.held(frozenset(given))
        self.complete(acting, [goal for _, goal in goals])
        plan = Plan(
            self.robot, acting, held, names, tuple(one.meanings for one in variables), tuple(direct),
            tuple(formulas.values()), tuple(choices), self.by_choice,
        )  # fmt: skip
        before = len(self.problems)
        asked = tuple(self.asked(plan, [goal for _, goal in goals]))
        columns = tuple(column for one in asked for column in one.columns)
        search = self.search(columns) if len(self.problems) == before else None
        study = Study(file.name, self.robot, variables, asked, file.samples, search, plan, text, mapping, self.folder)
        width = len(variables) + len(columns)
        if not self.problems and study.rows * width > MOST_NUMBERS:
            what = f"{study.rows:,} rows of {width} numbers"
            self.wrong("vary", f"{what} are more than fit into memory; give fewer values, or ask for less")
        return study

    def held(self, given: frozenset[str]) -> Held:
        """What holds the robot in its shape."""
        try:
            return how_held(self.robot, given)
        except InputError as error:
            self.wrong(error.argument, error.message)
        return how_held(self.robot, given & {"tensions"})  # so that all that is wrong is told at once

    def few_enough(self, spreads: list[Any]) -> bool:
        """Whether so many rows can be held, found out before any of them is made."""
        count, drawn = 1, False
        for spread in spreads:
            if isinstance(spread, GridSpread):
                count *= spread.count
            elif isinstance(spread, tuple | ChoiceSpread):
                count *= len(spread if isinstance(spread, tuple) else spread.choose)
            else:
                drawn = True
        count *= self.file.samples.count if drawn else 1
        if count > MOST_ROWS:
            self.wrong("vary", f"{count:,} rows are more than {MOST_ROWS:,}; give fewer values or draw samples")
        return count <= MOST_ROWS

    # What acts on every row.

    def acting(self) -> Acting:
        file, cables, joints = self.file, len(self.robot.cables), len(self.robot.joints)
        parts: dict[str, Any] = {
            word: self.per_part(word, unit, count)
            for word, unit, count in (
                ("tensions", "N", cables), ("lengths", "m", cables), ("shortenings", "m", cables),
                ("friction", "", cables), ("stiffness_EA", "N", cables), ("bends", "rad", joints),
                ("azimuths", "rad", joints),
            )
        }  # fmt: skip
        loads = tuple(self.load(row, entry) for row, entry in enumerate(file.loads))
        return Acting(**parts, gravity=file.gravity, loads=loads)

    def per_part(self, word: str, unit: str, count: int) -> float | list[float] | None:
        given = getattr(self.file, word)
        if given is None:
            return None
        if not isinstance(given, tuple):
            return self.number(word, given, unit)
        if len(given) != count:
            what = "joint" if word in ("bends", "azimuths") else "cable"
            self.wrong(word, f"must be one number, or {count}, one per {what} of {self.robot.name}", len(given))
        return [self.number(f"{word}[{place}]", value, unit) for place, value in enumerate(given)]

    def number(self, path: str, value: float | str, unit: str) -> float:
        try:
            found = to_si(value, unit, f"5 {unit}".strip())
        except UnitError as error:
            self.wrong(path, str(error), value)
            return 0.0
        if path.startswith(NOT_BELOW_0) and found < 0.0:
            self.wrong(path, "must be 0 or more", value)
        return found

    def load(self, row: int, entry: LoadEntry) -> Load:
        def vector(name: str, unit: str) -> tuple[float, ...]:
            return tuple(
                self.number(f"loads[{row}].{name}[{k}]", value, unit) for k, value in enumerate(getattr(entry, name))
            )

        point = None if entry.point is None else vector("point", "m")
        mass = self.number(f"loads[{row}].mass", entry.mass, "kg")
        if not -len(self.robot.links) <= entry.link < len(self.robot.links):
            self.wrong(f"loads[{row}].link", f"must be from 0 to {len(self.robot.joints)}, or -1", entry.link)
        try:
            return Load(vector("force", "N"), vector("moment", "N*m"), entry.link, point, mass)
        except InputError as error:
            self.wrong(f"loads[{row}]", error.message)
            return Load()

    # What varies.

    def formulas(self, acting: Acting) -> Iterator[tuple[str, tuple[Target, Any]]]:
        for path, value in self.file.set.items():
            try:
                for one in each(path, self.robot, acting):
                    goal = target(one, self.robot, acting)
                    yield one, (goal, constant(goal, value))
            except InputError as error:
                self.wrong(f"set.{path}", f"unknown: {error.message}")
            except ValueError as error:
                self.wrong(f"set.{path}", str(error), value)

    def variables(
        self, entries: list[tuple[str, Any]], acting: Acting, used: set[str]
    ) -> tuple[tuple[Variable, ...], list[tuple[Target, int]], list[tuple[int, dict[str, tuple[Target, Any]]]]]:
        variables, direct = list[Variable](), list[tuple[Target, int]]()
        choices = list[tuple[int, dict[str, tuple[Target, Any]]]]()
        for name, spread in entries:
            try:
                if isinstance(spread, ChoiceSpread):
                    choices.append((len(variables), self.alternatives(name, len(variables), spread, acting, used)))
                    variables.append(choice(name, spread))
                elif self.is_own(name, used):
                    numbers, unit = with_own_units(spread)
                    variables.append(variable(name, numbers, unit, None, getattr(spread, "whole", False)))
                else:
                    goal = target(name, self.robot, acting)
                    variables.append(variable(name, spread, goal.unit, goal.nominal, goal.whole))
                    direct.append((goal, len(variables) - 1))
            except SpreadError as error:
                self.wrong(
                    f"vary.{name}{'' if error.field.startswith('[') or not error.field else '.'}{error.field}",
                    error.message,
                )
            except InputError as error:
                self.wrong(f"vary.{name}", f"unknown: {error.message}")
        drawn = sum(one.is_sampled for one in variables)
        if drawn > MOST_SOBOL and self.file.samples.method == "sobol":
            self.wrong(
                "samples.method", f"sobol draws at most {MOST_SOBOL:,} variables, and the study has {drawn:,}; take "
                "latin-hypercube"
            )  # fmt: skip
        return tuple(variables), direct, choices

    def each_by_itself(self, acting: Acting) -> Iterator[tuple[str, Any]]:
        """Entries of `vary`, those with ``[*]`` as one entry per part."""
        for name, spread in self.file.vary.items():
            try:
                yield from ((one, spread) for one in each(name, self.robot, acting))
            except InputError as error:
                self.wrong(f"vary.{name}", f"unknown: {error.message}")

    def only_functions(self) -> bool:
        """Whether functions of the user's read the values themselves, so that names need not be fields."""
        return any(isinstance(one, dict) and "function" in one for one in self.file.quantities)

    def is_own(self, name: str, used: set[str]) -> bool:
        """Whether a name is the study's own: one that `set` uses, or that functions read and no field has."""
        if name in ACTS:
            return False
        if name in used:
            return True
        if not self.only_functions() or not name.isidentifier() or did_you_mean(name, ACTS, 0.9):
            return False
        try:
            return not places(self.robot, name)
        except InputError:
            return True

    def no_field_is_forgotten(self, used: set[str], goals: list[tuple[str, Target]]) -> None:
        """A name of the study's own that is also the name of fields would leave them as they are: `joints`, without
        `sections[0].joints: joints`."""
        set_here = {path for _, goal in goals for path in goal.paths}
        for name in sorted(used & (self.file.vary.keys() | self.by_choice.keys()) - set(ACTS)):
            try:
                found = [one.path for one in places(self.robot, name) if isinstance(one.value, int | float)]
            except InputError:
                continue
            if found and not set_here.intersection(found):
                self.wrong(
                    f"vary.{name}", f"is used by `set`, and {found[0]} stays as it is; add `{found[0]}: {name}` to "
                    "`set`, or choose another name"
                )  # fmt: skip

    def values_fit(
        self,
        variables: Sequence[Variable],
        direct: Sequence[tuple[Target, int]],
        formulas: Mapping[str, tuple[Target, Any]],
        choices: Sequence[tuple[int, Mapping[str, tuple[Target, Any]]]],
    ) -> None:
        """Words and constants that no field takes are told before any row is computed."""
        fixed = {path: found for path, found in formulas.items() if not isinstance(found[1], Expression)}
        self.fit({f"set.{path}": found for path, found in fixed.items()})
        for goal, at in direct:
            for place, meaning in enumerate(variables[at].meanings[:MOST_TRIED]):
                self.fit({f"vary.{goal.text}[{place}]": (goal, meaning)})
        for at, fields in choices:
            name = variables[at].name
            for place, label in enumerate(variables[at].labels[:MOST_TRIED]):
                chosen = {path: (goal, values[place]) for path, (goal, values) in fields.items()}
                self.fit({
                    f"vary.{name}.choose.{label}.{path}": found
                    for path, found in chosen.items()
                    if found[1] is not None and not isinstance(found[1], Expression)
                })  # fmt: skip

    def fit(self, given: Mapping[str, tuple[Target, Any]]) -> None:
        """What is wrong with values by themselves, wherever they stand in the robot file."""
        where, values = dict[str, str](), dict[str, Any]()
        for path, (goal, value) in given.items():
            if goal.word == "gravity" and not goal.part and goal.index is None:
                try:
                    _GRAVITY.validate_python(value)
                except ValidationError as error:
                    reasons = (detail["msg"] for detail in error.errors(include_url=False))
                    near = did_you_mean(value, MOUNTS)
                    self.wrong(path, f"{'; '.join(dict.fromkeys(reasons))}{near}", value)
            elif goal.whole and value != round(value):
                self.wrong(path, "must be a whole number", value)
            elif goal.paths:
                where |= dict.fromkeys(goal.paths, path)
                values |= dict.fromkeys(goal.paths, int(value) if goal.whole else value)
            elif goal.word in NOT_BELOW_0 and value < 0.0:
                self.wrong(path, "must be 0 or more", value)
        for one in value_problems(self.robot, values):
            if one.path in where:
                self.problems.append(Problem(where[one.path], one.message, one.found))

    def alternatives(
        self, name: str, column: int, spread: ChoiceSpread, acting: Acting, used: set[str]
    ) -> dict[str, tuple[Target, Any]]:
        """Of each field that any alternative sets, one value per alternative; names that `set` uses: `by_choice`."""
        fields: dict[str, tuple[Target, Any]] = {}
        own = used - set(ACTS)
        for path in sorted({path for chosen in spread.choose.values() for path in chosen} & own):
            if path in self.by_choice:
                self.wrong(f"vary.{name}.choose", f"another choice gives {path} a number already; set it once")
            self.by_choice[path] = column, self.numbers_of(name, path, spread)
        for place, (label, chosen) in enumerate(spread.choose.items()):
            for path, value in chosen.items():
                if path in own:
                    continue
                try:
                    if path not in fields:
                        fields[path] = target(path, self.robot, acting), [None] * len(spread.choose)
                    goal, values = fields[path]
                    values[place] = constant(goal, value)
                    if isinstance(values[place], Expression):
                        raise ValueError("must be a number with a unit, not a formula")
                except InputError as error:
                    self.wrong(f"vary.{name}.choose.{label}.{path}", f"unknown: {error.message}")
                except ValueError as error:
                    self.wrong(f"vary.{name}.choose.{label}.{path}", str(error), value)
        return fields

    def numbers_of(self, name: str, path: str, spread: ChoiceSpread) -> Floats:
        """What every alternative gives a name that `set` uses."""
        found = np.zeros(len(spread.choose))
        for place, (label, chosen) in enumerate(spread.choose.items()):
            where, value = f"vary.{name}.choose.{label}.{path}", chosen.get(path)
            if value is None:
                self.wrong(where, f"`set` uses {path}; give it in every alternative")
                continue
            try:
                unit = own_unit("", value) if isinstance(value, str) else ""
                found[place] = to_si(value, unit, "12 mm" if unit else "3.5")
            except (SpreadError, UnitError) as error:
                self.wrong(where, str(error), value)
        return found

    def each_once(self, goals: list[tuple[str, Target]]) -> None:
        seen, told = dict[str, str](), set[str]()
        for where, goal in goals:
            for path in goal.paths or self.parts(goal):
                if path in seen and where not in told:
                    what = path if path == goal.text or path in goal.paths else f"a part of {goal.text}, {path},"
                    self.wrong(where, f"{what} is set by {seen[path]} already; set it once")
                    told.add(where)
                seen[path] = goal.text

    def parts(self, goal: Target) -> tuple[str, ...]:
        """The single numbers of what acts that an entry sets."""
        if goal.text == "gravity":
            return "gravity[0]", "gravity[1]", "gravity[2]", "gravity.tilt", "gravity.azimuth"
        if goal.word in (*PER_CABLE, *PER_JOINT) and goal.index is None:
            count = len(self.robot.cables if goal.word in PER_CABLE else self.robot.joints)
            return tuple(f"{goal.word}[{k}]" for k in range(count))
        return (goal.text,)

    def complete(self, acting: Acting, goals: list[Target]) -> None:
        """Whether every cable or joint has a number, and what is given is used."""
        for word in ("tensions", "lengths", "shortenings"):
            own = [goal for goal in goals if goal.word == word]
            if own and getattr(acting, word) is None and not any(goal.index is None for goal in own):
                missing = sorted(set(range(len(self.robot.cables))) - {goal.index for goal in own})
                if missing:
                    self.wrong(word, f"cable {missing[0] + 1} has none; give `{word}` for the cables that do not vary")
        varied = {goal.word for goal in goals}
        if acting.stiffness_EA is not None and not any(
            getattr(acting, word) is not None or word in varied for word in ("lengths", "shortenings")
        ):
            self.wrong("stiffness_EA", "belongs to cables of given `lengths` or `shortenings`; leave it out")

    # What is asked.

    def asked(self, plan: Plan, goals: list[Target]) -> Iterator[Asked]:
        taken = dict.fromkeys(OWN_NAMES, "has a meaning of its own")
        fields = {goal.text for goal, _ in plan.direct}
        for name in plan.names:
            self.name(f"vary.{name}", name, taken, "varies already", "choose another name", field=name in fields)
        for place, entry in enumerate(self.file.quantities):
            path = f"quantities[{place}]"
            name, given = (entry, {}) if isinstance(entry, str) else self.named(path, entry)
            if not name:
                continue
            if name not in QUANTITIES or entry == "function":
                near = "; write function: module:name" if entry == "function" else did_you_mean(name, NAMED)
                self.wrong(path, f"unknown quantity{near}; there are {', '.join(NAMED)}", name)
                continue
            quantity = QUANTITIES[name]
            if plan.held not in quantity.needs:
                wanted = (
                    "`bends`, of a robot with ball joints"
                    if quantity.needs == ("bends",)
                    else "`tensions` or `lengths`"
                )
                also = " (ball joints have no shape to solve for)" if plan.held == "bends" else ""
                self.wrong(path, f"{name} needs {wanted}{also}")
                continue
            try:
                settings = checked_settings(quantity, given)
            except InputError as error:
                self.wrong(f"{path}.{error.argument}", error.message, given.get(error.argument, ""))
                continue
            missing = self.missing(name, settings, plan, goals)
            if missing:
                self.wrong(path, missing)
            if name == "tip error":
                settings["plan"] = plan
                reference = settings.get("reference", "nominal")
                nominal = isinstance(reference, str) and reference == "nominal"
                if nominal and plan.held != "bends" and getattr(plan.acting, plan.held) is None:
                    self.wrong(
                        f"{path}.reference", f"nominal needs `{plan.held}` of the study; give them, or the reference "
                        "nominal robot, weightless or a position"
                    )  # fmt: skip
            called = settings.get("name", name).strip()
            labels = quantity.labels(self.robot, settings)
            unit = settings.get("unit", quantity.unit)
            columns = tuple(Column(f"{called}.{label}" if label else called, unit, called, label) for label in labels)
            remedy = f"give it another name: {name}: {{name: ...}}"
            self.name(path, called, taken, "is asked for twice", remedy, part=f"{called} part" if labels[0] else "")
            yield Asked(quantity, settings, columns)

    def name(
        self,
        path: str,
        name: str,
        taken: dict[str, str],
        what: str,
        remedy: str,
        *,
        field: bool = False,
        part: str = "",
    ) -> None:
        """Check a name of the table of results, in which a space counts as an underscore, and take it; `field`: whether
        it is the path of one, `part`: how the table calls what tells its numbers apart."""
        if not field and not _NAME.fullmatch(name):
            rule = "must have letters, digits, spaces, hyphens and underscores only, and begin with a letter"
            self.wrong(path, f"a name {rule}", name or "''")
        for one in filter(None, (name, part)):
            key = one.replace(" ", "_")
            if key in taken:
                self.wrong(path, f"{one} {taken[key]}; {remedy}")
            taken[key] = what

    def missing(self, name: str, settings: Mapping[str, Any], plan: Plan, goals: list[Target]) -> str:
        """What no row could be asked this without; empty where nothing is."""
        varied = {goal.word for goal in goals}
        if name == "load margin":
            zero = not any(np.any(load.force) or np.any(load.moment) or load.mass for load in plan.acting.loads)
            return "a load margin needs `loads` that are not zero" if zero and "loads" not in varied else ""
        if name == "payload" and plan.acting.tensions is None and "tensions" not in varied:
            return "a payload needs the `tensions` of the cables"
        if name == "critical tension" and plan.held == "bends":
            return "a critical tension is of robots that tensions hold; ball joints are locked by friction"
        if name == "natural frequencies" and plan.held != "bends" and not settings.get("fill inertia", False):
            changed = {path.rpartition(".")[2].partition("[")[0] for goal in goals for path in goal.paths}
            remedy = "give it in the robot file, or write natural frequencies: {fill inertia: true}"
            for number, section in enumerate(self.robot.description.sections):
                if section.link.inertia is None and "inertia" not in changed:
                    return f"sections[{number}].link has no inertia; {remedy}"
            if not changed & {"inertia", "mass"}:
                try:
                    require_inertia(Equilibrium.of(self.robot, None, None))
                except InputError as error:
                    return error.message
        return ""

    def named(self, path: str, entry: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """A quantity with settings: ``tip error: {reference: weightless}``, or ``function: module:name``."""
        if "function" in entry:
            try:
                call = user_function(entry["function"], self.folder) if isinstance(entry["function"], str) else None
            except InputError as error:
                self.wrong(f"{path}.function", error.message)
                return "", {}
            if call is None:
                self.wrong(f"{path}.function", "must be module:function, such as my_arm:wobble", entry["function"])
                return "", {}
            if "call" in entry:
                self.wrong(f"{path}.call", "a function has no such setting; it has name, unit, labels", entry["call"])
            rest = {name: value for name, value in entry.items() if name != "function"}
            return "function", {"name": entry["function"].partition(":")[2]} | rest | {"call": call}
        if len(entry) != 1:
            self.wrong(
                path, "must be a quantity, or one quantity with its settings, such as tip error: {reference: nominal}"
            )
            return "", {}
        ((name, settings),) = entry.items()
        if settings is not None and not isinstance(settings, dict):
            self.wrong(path, f"must be a mapping of settings behind {name}", settings)
            return "", {}
        return str(name), settings or {}

    def search(self, columns: tuple[Column, ...]) -> Search | None:
        entry = self.file.optimise
        if entry is None:
            return None
        names = [column.name for column in columns]

        def index(path: str, name: str) -> int:
            if name not in names:
                self.wrong(path, f"no such column{did_you_mean(name, names)}; there are {', '.join(names)}", name)
            return names.index(name) if name in names else 0

        objectives = tuple(
            Objective(index(f"optimise.objectives.{name}", name), sense) for name, sense in entry.objectives.items()
        )
        constraints = []
        for name, bounds in entry.constraints.items():
            path = f"optimise.constraints.{name}"
            at = index(path, name)
            ends = [
                None if end is None else self.number(f"{path}.{which}", end, columns[at].unit)
                for which, end in (("least", bounds.least), ("most", bounds.most))
            ]
            if ends == [None, None]:
                self.wrong(path, "give `least`, `most` or both")
            elif None not in ends and ends[0] > ends[1]:  # type: ignore[operator]
                self.wrong(f"{path}.most", "must not be below `least`")
            constraints.append(Constraint(at, *ends))
        return Search(objectives, tuple(constraints), entry.method, entry.evaluations, entry.seed)
