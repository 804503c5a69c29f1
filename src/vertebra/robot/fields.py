"""Every number of a robot file as a field with a path, and the exact derivative of all of a robot's arrays by it.

Derivatives are by the complex step: the builders of `robot.tables` run once per group of fields, with these a tiny
imaginary amount larger, and no difference of nearby numbers is ever taken. Where a quantity has a corner at its value,
such as the mass of a tip at zero, the derivative is that from above.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args, get_origin

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError

from vertebra.errors import InputError, Problem, shown
from vertebra.robot.description import Description, Quantity, Sensors
from vertebra.robot.friction import KNOTS, curve_through
from vertebra.robot.reading import did_you_mean, problems_of
from vertebra.robot.robot import Robot, load
from vertebra.robot.tables import Floats, Table, section_rows, tables

STEP = 2.0**-100
"""Imaginary part of a field that moves: its square is lost beside any real part, and dividing by it is exact."""
MOST_NAMED = 4
"""Paths that a message lists."""


@dataclass(frozen=True)
class Field:
    """One real number of a robot file."""

    path: str
    """Where in the file: ``sections[0].joint.radius``; lists count from 0."""
    unit: str
    """SI; empty for a coefficient."""
    value: float
    """SI."""


@dataclass(frozen=True)
class Group:
    """Fields that change together: one column of a derivative."""

    path: str
    """Of its field; of several, the path without their index, as a person wrote it: ``sections.link.mass``."""
    unit: str
    """SI; empty for a coefficient."""
    fields: tuple[Field, ...]
    """One or more."""


# Paths: what a description holds, and what a person writes.


class _Step(NamedTuple):
    """A name of a path and the indices behind it."""

    name: str
    indices: tuple[int | None, ...]
    """None for [*]."""
    is_list: bool = True
    """Whether entries may change together: sections and lists of angles, not the components of a vector."""


class _Leaf(NamedTuple):
    """A value at the end of a path; None where the file gives none."""

    steps: tuple[_Step, ...]
    value: Any
    unit: str | None
    """None for what is no quantity."""
    could_be: str | None
    """The unit also where the file gives none."""

    @property
    def path(self) -> str:
        return _text(self.steps)


_NAME = re.compile(r"(\w+)((?:\[(?:\d{1,9}|\*)\])*)")


def _text(steps: Iterable[_Step]) -> str:
    return ".".join(step.name + "".join(f"[{index}]" for index in step.indices) for step in steps)


def _steps(path: str) -> tuple[_Step, ...] | None:
    """None for a text that is no path."""
    names = [_NAME.fullmatch(name) for name in path.split(".")]
    if None in names:
        return None
    return tuple(
        _Step(found[1], tuple(None if index == "*" else int(index) for index in re.findall(r"\d+|\*", found[2])))
        for found in names
        if found is not None
    )


def _in_hint(hint: Any) -> Iterator[Any]:
    """A type hint and everything inside it."""
    yield hint
    for part in get_args(hint):
        yield from _in_hint(part)


def _leaves(value: Any, hints: Sequence[Any], steps: tuple[_Step, ...] = ()) -> Iterator[_Leaf]:
    """All ends of a part of a description; `hints`: the types that it may have."""
    if isinstance(value, BaseModel):
        for name, info in type(value).model_fields.items():
            yield from _leaves(getattr(value, name), (info.annotation, *info.metadata), (*steps, _Step(name, ())))
    elif isinstance(value, tuple):
        items = next(get_args(part) for hint in hints for part in _in_hint(hint) if get_origin(part) is tuple)
        repeats = items[-1] is Ellipsis
        *before, (name, indices, is_list) = steps
        is_list = is_list and repeats and not isinstance(value[0], tuple)
        for index, item in enumerate(value):
            step = _Step(name, (*indices, index), is_list)
            yield from _leaves(item, (items[0 if repeats else index],), (*before, step))
    else:
        # A float without a `Quantity` would be a fault of the schema, and ends here.
        quantities = [part.si_unit for hint in hints for part in _in_hint(hint) if isinstance(part, Quantity)]
        could_be = quantities[0] if quantities and (value is None or isinstance(value, float)) else None
        yield _Leaf(steps, value, quantities[0] if isinstance(value, float) else None, could_be)


def _held(robot: Robot) -> Description:
    """The description with sensors of the default numbers where the file has none."""
    return robot.description.model_copy(update={"sensors": robot.description.sensors or Sensors()})


def _tip_floats(robot: Robot) -> bool:
    """Whether a first mass at the tip would be all the mass of the last link: the centre of mass of that then jumps to
    it, so arrays that hold mass and centre have no derivative by `tip.mass`."""
    return bool(robot.links["mass"][-1] == 0.0)


def _all_leaves(robot: Robot) -> list[_Leaf]:
    leaves = list(_leaves(_held(robot), ()))
    if not _tip_floats(robot):
        return leaves
    return [leaf._replace(unit=None) if leaf.path == "tip.mass" else leaf for leaf in leaves]


def _field(leaf: _Leaf) -> Field:
    return Field(leaf.path, leaf.unit or "", leaf.value)


def fields(robot: Robot) -> tuple[Field, ...]:
    """All quantities that the robot file holds, those that it leaves at a default number included.

    Not those whose default follows from others, such as a centre of mass in the middle of the link: the derivative by
    the link's length includes it. Nor `tip.mass` where neither the tip nor the last link has a mass.
    """
    return tuple(_field(leaf) for leaf in _all_leaves(robot) if leaf.unit is not None)


def matching(robot: Robot, by: str | Iterable[str]) -> tuple[Group, ...]:
    """The fields that a person names, each path as one or more groups; a group that is named twice comes once.

    - ``sections[0].link.mass``: this one.
    - ``sections[*].link.mass``: a group per section.
    - ``sections.link.mass``: one group, as if the file had the number once. So too all entries of a list of angles;
      the components of a vector such as ``gravity`` are a group each.
    - ``link.mass``, ``mass``: the end of a path; a group per field.
    """
    try:
        paths = [by] if isinstance(by, str) else list(by)
    except Exception:  # an object may raise anything when it is asked for its entries
        paths = []
    if not paths or not all(isinstance(path, str) for path in paths):
        raise InputError("by", f"must be a path such as 'sections[0].joint.radius', or several, not {shown(by)}")
    leaves, groups = _all_leaves(robot), dict[str, Group]()
    by_name = dict[str, list[_Leaf]]()
    for leaf in leaves:
        if leaf.unit is not None:
            by_name.setdefault(leaf.steps[-1].name, []).append(leaf)
    for path in paths:
        steps = _steps(path.strip())
        found = [leaf for leaf in by_name.get(steps[-1].name, ()) if _is_end(steps, leaf.steps)] if steps else []
        if steps is None or not found:
            raise InputError("by", _why_nothing(robot, path.strip(), steps, leaves))
        members: dict[str, list[Field]] = {}
        for leaf in found:
            members.setdefault(_column(steps, leaf), []).append(_field(leaf))
        for column, together in members.items():
            groups.setdefault(column, Group(column, together[0].unit, tuple(together)))
    return tuple(groups.values())


def _is_end(asked: tuple[_Step, ...], steps: tuple[_Step, ...]) -> bool:
    """Whether a path ends as asked; indices may be left out from the last one on."""
    return len(asked) <= len(steps) and all(
        one.name == other.name
        and len(one.indices) <= len(other.indices)
        and all(index in (None, at) for index, at in zip(one.indices, other.indices, strict=False))
        for one, other in zip(reversed(asked), reversed(steps), strict=False)
    )


def _column(asked: tuple[_Step, ...], leaf: _Leaf) -> str:
    """Path of the group that a field belongs to: its own, without the list indices that a whole path leaves out."""
    if len(asked) < len(leaf.steps):
        return leaf.path
    return _text(
        own._replace(indices=own.indices[: len(given.indices)] if own.is_list else own.indices)
        for given, own in zip(asked, leaf.steps, strict=True)
    )


def _why_nothing(
    robot: Robot, path: str, asked: tuple[_Step, ...] | None, leaves: list[_Leaf], also: Iterable[str] = ()
) -> str:
    """What is wrong with a path that names no field; `also`: names beside fields that may have been meant."""
    if asked is not None:
        ends = [leaf for leaf in leaves if _is_end(asked, leaf.steps)]
        if ends and ends[0].value is None:
            return f"{ends[0].path} is not in the robot file; write it there to get derivatives by it"
        if ends and ends[0].path == "tip.mass":
            return "tip.mass has no derivative at 0 while the last link has no mass; give either a mass"
        if ends:
            return f"{ends[0].path} is {shown(ends[0].value)}, not a quantity that can change a little"
        inside = [
            leaf.path
            for leaf in leaves
            if leaf.unit is not None and any(_is_end(asked, leaf.steps[:end]) for end in range(1, len(leaf.steps)))
        ]
        if inside:
            more = ", ..." if len(inside) > MOST_NAMED else ""
            return f"{path} holds several quantities; name one: {', '.join(inside[:MOST_NAMED])}{more}"
    known = dict.fromkeys(also)
    for leaf in leaves:
        if leaf.unit is not None:
            bare = tuple(step._replace(indices=()) if step.is_list else step for step in leaf.steps)
            known |= dict.fromkeys((leaf.path, *(_text(bare[start:]) for start in range(len(bare)))))
    return f"{robot.name} has no field {shown(path)}{did_you_mean(path, known)}"


class Place(NamedTuple):
    """A field that a study may set: a quantity, a count or a word, in the file or left out of it."""

    path: str
    unit: str | None
    """SI, empty for a coefficient; None for what is no quantity."""
    value: Any
    """SI; None where the file leaves it out."""


def places(robot: Robot, path: str, also: Iterable[str] = ()) -> tuple[Place, ...]:
    """The single fields of any kind that a path names, as `matching` reads paths; `also`: names beside fields that may
    have been meant where there is no such field."""
    leaves, steps = list(_leaves(_held(robot), ())), _steps(path.strip())
    found = [leaf for leaf in leaves if _is_end(steps, leaf.steps)] if steps else []
    if not found:
        raise InputError("path", _why_nothing(robot, path.strip(), steps, leaves, also))
    return tuple(Place(leaf.path, leaf.could_be, leaf.value) for leaf in found)


def with_values(robot: Robot, values: Mapping[str, Any]) -> Robot:
    """The robot of the same file with other values, SI, at these paths of single fields; checked as any file is."""
    return load(_changed(robot, values))


def value_problems(robot: Robot, values: Mapping[str, Any]) -> list[Problem]:
    """What is wrong with these values by themselves, whatever else other entries of the file may be changed to."""
    try:
        Description.model_validate(_changed(robot, values))
    except ValidationError as error:
        # Where nothing is found, fields are missing or do not go together.
        return [problem for problem in problems_of(error) if problem.found]
    return []


def _changed(robot: Robot, values: Mapping[str, Any]) -> Any:
    """The file as a mapping, with other values at these paths."""
    # Sensors that the file leaves at their default stay out of it, unless one of their numbers is set.
    held = _held(robot) if any(path.startswith("sensors.") for path in values) else robot.description
    mapping: Any = held.model_dump(mode="json", exclude_none=True)
    for path, value in values.items():
        *way, last = _keys(path)
        part = mapping
        for key in way:
            part = part[key]
        part[last] = value
    return mapping


Keys = list[str | int | None]
"""Where in a description: names, and indices of lists."""


def _keys(path: str) -> Keys:
    return [key for step in _steps(path) or () for key in (step.name, *step.indices)]


# Derivatives.


class Numbers(NamedTuple):
    """All arrays that kernels read from a robot, or the derivative of each.

    Those of `Robot` first, of the same types; whole numbers in their columns have the derivative zero.
    """

    joints: Table
    links: Table
    cables: Table
    segments: Table
    gravity: Floats
    origin: Floats
    tip_point: Floats
    sensor_noise: Floats
    sensor_twist: Floats
    """()."""
    laws: Floats
    """(cables, 4) a, b, c of mu and presliding in m: the first columns of the kernels' `laws`."""
    curves: Floats
    """(tables, KNOTS, 2) as the kernels' `curves`: one per section whose friction is a table."""


def _numbers(description: Description, number: type) -> Numbers:
    own = tables(description, number)
    cables = own.cables
    laws = np.concatenate([cables["friction"], cables["presliding"][:, None]], axis=1)
    groups = [section.cables for section in description.sections if section.cables is not None]
    points = [np.array(group.friction.table) for group in groups if group.friction and group.friction.table]
    curves: Floats = np.zeros((len(points), KNOTS, 2), number)
    for curve, table in zip(curves, points, strict=True):
        if np.iscomplexobj(table):  # the others do not move
            curve[:] = curve_through(*table.T)
    return Numbers(*own, laws, curves)


class _Part(NamedTuple):
    """What a group changes in one array."""

    name: str
    """Of the array in `Numbers`."""
    places: NDArray[np.int64]
    """In the array, seen as flat numbers."""
    values: Floats


@dataclass(frozen=True, eq=False)
class TableTangents:
    """Derivatives of a robot's arrays by groups of fields, zeros left out."""

    groups: tuple[Group, ...]
    parts: tuple[tuple[_Part, ...], ...]
    """One entry per group."""
    zeros: Numbers
    """Arrays of the robot's types and shapes."""

    def tables(self, index: int) -> Numbers:
        """The derivative of every array by one group, SI."""
        full = Numbers._make(array.copy() for array in self.zeros)
        for part in self.parts[index]:
            _flat(getattr(full, part.name))[part.places] = part.values
        return full

    def contract(self, cotangents: Mapping[str, NDArray[Any]]) -> Floats:
        """(..., groups) derivatives of outputs, from their derivatives by the arrays of `Numbers`.

        `cotangents`: by name, arrays of the same types, with the axes of the outputs before their own. A name left out:
        the outputs do not depend on that array. Columns of whole numbers are not read.
        """
        flat, shape = {}, tuple[int, ...]()
        for name, array in cotangents.items():
            like = getattr(self.zeros, name)
            shape = array.shape[: array.ndim - like.ndim]
            if array.shape != (*shape, *like.shape) or array.dtype != like.dtype:
                wanted = f"behind the axes of the outputs, and of the robot's type, not {shown(array)}"
                raise InputError("cotangents", f"{name} must be of shape {like.shape} {wanted}")
            if like.size:
                flat[name] = _flat(np.ascontiguousarray(array)).reshape(*shape, -1)
        result = np.zeros((*shape, len(self.groups)))
        for column, parts in enumerate(self.parts):
            for part in parts:
                if part.name in flat:
                    result[..., column] += flat[part.name][..., part.places] @ part.values
        return result


def _flat(array: NDArray[Any]) -> Floats:
    """A contiguous array as numbers in a row, not copied; whole numbers in it as what their bits say."""
    return array.reshape(-1).view(np.float64)


def table_tangents(robot: Robot, by: str | Iterable[str] | None = None, apart: bool = False) -> TableTangents:
    """Derivatives of all arrays of a robot by the fields that `matching` finds; by all, one by one, if left out.

    `apart`: what the joints and links of a section share, each has for itself, as if the file had a section for each.
    There is a group for every one, such as ``sections[0].link.mass of link 3``.
    """
    if by is None:
        groups = tuple(Group(field.path, field.unit, (field,)) for field in fields(robot))
    else:
        groups = matching(robot, by)
    held, places = _held(robot), [[_keys(field.path) for field in group.fields] for group in groups]
    if apart:
        copies = [copy for group in groups for field in group.fields for copy in _copies(held, field)]
        groups, places = tuple(group for group, _ in copies), [[keys] for _, keys in copies]
        held = _section_each(held)
    zeros = Numbers._make(np.zeros_like(array) for array in _numbers(held, float))
    numbers = [_places(array, like) for array, like in zip(_numbers(held, complex), zeros, strict=True)]
    return TableTangents(groups, tuple(_parts(held, keys, numbers) for keys in places), zeros)


def _section_each(description: Description) -> Description:
    """The same robot with a section per joint."""
    sections = []
    for section in description.sections:
        for row in range(section.joints):
            own: dict[str, Any] = {"joints": 1} | ({} if row == section.joints - 1 else {"cables": None})
            if section.azimuth is not None:
                own["azimuth"] = (section.azimuth[row % len(section.azimuth)],)
            sections.append(section.model_copy(update=own))
    return description.model_copy(update={"sections": tuple(sections)})


def _copies(description: Description, field: Field) -> Iterator[tuple[Group, Keys]]:
    """A field for each joint or link that has it, and where it is in the description with a section per joint."""
    keys = _keys(field.path)
    if keys[0] != "sections":
        yield Group(field.path, field.unit, (field,)), keys
        return
    _, index, part, *rest = keys
    section, start = list(section_rows(description))[int(index or 0)]
    if part == "cables":
        yield Group(field.path, field.unit, (field,)), ["sections", start.stop - 1, part, *rest]
        return
    for row in range(section.joints):
        if part == "azimuth" and section.azimuth is not None:
            if row % len(section.azimuth) != rest[0]:
                continue
            keys = ["sections", start.start + row, part, 0]
        else:
            keys = ["sections", start.start + row, part, *rest]
        owner = "link" if part == "link" else "joint"
        yield Group(f"{field.path} of {owner} {start.start + row + 1}", field.unit, (field,)), keys


def moved(robot: Robot, tangents: Mapping[str, NDArray[Any]], units: float) -> Robot:
    """A robot whose arrays are moved by so many units along tangents, given by name; its description stays."""
    other = object.__new__(Robot)
    vars(other).update(vars(robot))
    for name, slopes in tangents.items():
        values = getattr(robot, name).copy()
        if values.dtype.names is None:
            values += units * slopes
        else:
            for column in values.dtype.names:
                if values.dtype[column].base.kind == "f":
                    values[column] += units * slopes[column]
        values.flags.writeable = False
        object.__setattr__(other, name, values)
    return other


class _Places(NamedTuple):
    """Where the numbers of an array of complex columns are, both arrays seen as flat numbers."""

    imaginary: NDArray[np.int64]
    real: NDArray[np.int64]
    """Of the same numbers in the real array."""


def _places(array: NDArray[Any], like: NDArray[Any]) -> _Places:
    own, real = np.empty_like(array), np.empty_like(like)
    for part in (own, real):  # each number is its place
        _flat(part)[:] = np.arange(part.nbytes // 8)
    pairs = [(own, real)]
    if array.dtype.names is not None:
        pairs = [(own[name], real[name]) for name in array.dtype.names if np.iscomplexobj(array[name])]
    return _Places(*(
        np.concatenate([part.ravel() for part in parts]).astype(np.int64)
        for parts in ([pair[0].imag for pair in pairs], [pair[1] for pair in pairs])
    ))  # fmt: skip


def _parts(description: Description, keys: Iterable[Keys], places: Sequence[_Places]) -> tuple[_Part, ...]:
    for each in keys:
        description = _moved(description, each)
    parts = []
    for name, where, array in zip(Numbers._fields, places, _numbers(description, complex), strict=True):
        slopes = _flat(array)[where.imaginary]
        moves = np.flatnonzero(slopes)
        if len(moves):
            parts.append(_Part(name, where.real[moves], slopes[moves] / STEP))
    return tuple(parts)


def _moved(part: Any, keys: Sequence[str | int | None]) -> Any:
    """A part of a description with one number a tiny imaginary amount larger. Not validated: a value at its bound has a
    derivative too."""
    if not keys:
        return complex(part.real, STEP)
    first, rest = keys[0], keys[1:]
    if isinstance(part, tuple):
        return tuple(_moved(item, rest) if place == first else item for place, item in enumerate(part))
    return part.model_copy(update={first: _moved(getattr(part, str(first)), rest)})
