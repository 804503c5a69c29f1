"""Hypothesis strategies of robot mappings: valid ones over all joint kinds, and broken ones."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

Mapping = dict[str, Any]

LENGTH_UNITS = {"m": 1.0, "mm": 1e-3, "cm": 1e-2, "in": 0.0254}
ANGLE_UNITS = {"rad": 1.0, "deg": math.pi / 180, "°": math.pi / 180}
MASS_UNITS = {"kg": 1.0, "g": 1e-3, "lb": 0.45359237}
FORCE_UNITS = {"N": 1.0, "kN": 1e3, "lbf": 4.4482216152605}
MIRROR_KINDS = ("rolling", "flexure", "pin")


def floats(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_nan=False)


def written(value: float, unit: str | None, units: dict[str, float]) -> float | str:
    """A value in SI as it may stand in a robot file: a number, or a text in a unit."""
    return value if unit is None else f"{value / units[unit]!r} {unit}"


def quantities(low: float, high: float, units: dict[str, float]) -> st.SearchStrategy[float | str]:
    return st.builds(written, floats(low, high), st.sampled_from([None, *units]), st.just(units))


lengths = floats(1e-3, 1.0)
angles = quantities(-6.0, 6.0, ANGLE_UNITS)
limits = quantities(0.1, 3.0, ANGLE_UNITS)
masses = quantities(1e-6, 10.0, MASS_UNITS)


def some_of(required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[Mapping]:
    return st.fixed_dictionaries(required, optional=optional)


@st.composite
def joints(draw: st.DrawFn, kind: str) -> Mapping:
    length = draw(lengths)
    text = written(length, draw(st.sampled_from([None, *LENGTH_UNITS])), LENGTH_UNITS)
    if kind == "rolling":
        # The radius stays a number: the cables of later sections must fit inside it.
        extras = {"limit": limits, "contact_offset": lengths, "friction": floats(0, 2)}
        return {"kind": kind, "radius": length, **draw(some_of({}, extras))}
    if kind == "flexure":
        rods = {"rods": st.integers(1, 10), "rod_diameter": floats(1e-5, 1e-2), "youngs_modulus": floats(1e6, 1e12)}
        elastic = draw(st.one_of(some_of({"stiffness": floats(0, 1e3)}, {}), some_of(rods, {})))
        return {"kind": kind, "length": text, **elastic, **draw(some_of({}, {"limit": limits, "mass": masses}))}
    if kind == "pin":
        return {"kind": kind, "length": text, **draw(some_of({}, {"limit": limits}))}
    if kind == "universal":
        return {"kind": kind, "lower": text, **draw(some_of({}, {"order": st.sampled_from(["yx", "xy"])}))}
    ring = {"ring_radius": length * draw(floats(0.01, 1.0)), "friction": draw(floats(0, 0.99))}
    return {"kind": kind, "radius": length, **ring, **draw(some_of({}, {"limit": limits, "socket": limits}))}


@st.composite
def tips(draw: st.DrawFn) -> Mapping:
    """The tip point, alone or with something attached there."""
    tip = draw(some_of({}, {"length": quantities(-1, 1, LENGTH_UNITS)}))
    if draw(st.booleans()):
        point = st.one_of(floats(-1, 1), st.lists(floats(-1, 1), min_size=3, max_size=3))
        x, y, z = draw(st.tuples(*[floats(1e-9, 1e-3)] * 3))
        attached = {"center_of_mass": point, "inertia": st.just([y + z, x + z, x + y])}
        tip |= draw(some_of({"mass": floats(1e-6, 10.0)}, attached))
    return tip


@st.composite
def links(draw: st.DrawFn, kind: str) -> Mapping:
    length = draw(lengths)
    point = st.one_of(floats(-1, 1), st.lists(floats(-1, 1), min_size=3, max_size=3))
    link = draw(some_of({"length": st.just(length)}, {"mass": masses, "center_of_mass": point, "diameter": lengths}))
    if "mass" in link and draw(st.booleans()):
        x, y, z = draw(st.tuples(*[floats(1e-9, 1e-3)] * 3))
        link["inertia"] = [y + z, x + z, x + y]
    if kind == "ball":
        link["channel"] = length * draw(floats(0.0, 0.95))
    return link


@st.composite
def cables(draw: st.DrawFn, passed: list[Mapping]) -> Mapping:
    """Cables that fit through all the sections they pass."""
    rolling = [section["joint"]["radius"] for section in passed if section["joint"]["kind"] == "rolling"]
    mirror = [section["link"]["length"] for section in passed if section["joint"]["kind"] in MIRROR_KINDS]
    radius = min(rolling, default=1.0) * draw(floats(0.01, 0.95))
    group = {"radius": radius, "azimuth": draw(st.lists(angles, min_size=1, max_size=5))}
    if any(section["joint"]["kind"] != "ball" for section in passed):
        choices: list[Any] = [None, "surface"] if rolling else [None, "surface", "face"]
        # Holes in a plane lie inside every rolling arc, and those from both ends of a link do not cross.
        shallow = max((R - math.sqrt(R**2 - radius**2) for R in rolling), default=0.0)
        deep = min(mirror, default=1.0) * 0.49
        if shallow <= deep:
            choices.append({"recess": draw(floats(shallow, deep))})
        group["holes"] = draw(st.sampled_from(choices))
    laws = st.one_of(
        floats(0, 2),
        some_of({"constant": floats(0, 2)}, {"presliding": floats(1e-6, 1e-3)}),
        some_of({"quadratic": st.lists(floats(0, 10), min_size=3, max_size=3)}, {}),
    )
    extras = {"friction": laws, "linear_density": floats(0, 1), "lock_mass": masses, "stiffness_EA": floats(1, 1e6)}
    group |= draw(some_of({}, extras))
    if draw(st.booleans()):
        low = draw(floats(0.0, 1e3))
        group |= {"pretension": low, "max_tension": draw(quantities(low + 1.0, 1e6, FORCE_UNITS))}
    return group


@st.composite
def robots(draw: st.DrawFn) -> Mapping:
    """A valid robot mapping of one to three sections of any kinds."""
    sections: list[Mapping] = []
    for kind in draw(st.lists(st.sampled_from([*MIRROR_KINDS, "universal", "ball"]), min_size=1, max_size=3)):
        section = {"joints": draw(st.integers(1, 12)), "joint": draw(joints(kind)), "link": draw(links(kind))}
        if kind in MIRROR_KINDS:
            section["azimuth"] = draw(st.one_of(angles, st.lists(angles, min_size=1, max_size=4)))
        sections.append(section)
        if draw(st.booleans()):
            section["cables"] = draw(cables(sections))
    vectors = st.lists(floats(-20, 20), min_size=3, max_size=3)
    extras = {
        "source": st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
        "gravity": st.one_of(st.sampled_from(["ground", "ceiling", "wall"]), vectors),
        "base": some_of({}, {"length": quantities(0, 1, LENGTH_UNITS)}),
        "tip": tips(),
    }
    name = draw(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20))
    return {"vertebra": 1, "name": name, "sections": sections, **draw(some_of({}, extras))}


class OddRepr:
    """An object that cannot even be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")


def _itself() -> list[Any]:
    box: list[Any] = [1.0]
    box += [box, {"box": box}]
    return box


# Factories, so that every example gets a fresh generator.
ODDITIES = (
    lambda: math.nan,
    lambda: math.inf,
    lambda: -math.inf,
    lambda: -0.0,
    lambda: -0.02,
    lambda: 0,
    lambda: 10**9,
    lambda: 10**400,
    lambda: -(10**5000),
    lambda: "12 parsec",
    lambda: "12 mm mm",
    lambda: "9**9**9**9 mm",
    lambda: "1e9999 m",
    lambda: "-5 mm",
    lambda: "nan mm",
    lambda: "3 kg",
    lambda: "\ud800",
    lambda: "x" * 10_000,
    lambda: [0.0] * 20_000,
    lambda: ["x"] * 2_000,
    lambda: {f"radiu{number}": 1 for number in range(2_000)},
    lambda: {1: 2, None: 3, (4, 5): 6, b"radius": 7},
    lambda: b"12 mm",
    lambda: {1.0, 2.0},
    lambda: (angle for angle in (0.0, 1.0)),
    lambda: itertools.count(),
    lambda: range(10**9),
    lambda: OddRepr(),
    lambda: OddRepr,
    lambda: 1j,
    lambda: _itself(),
    lambda: np.arange(6.0).reshape(2, 3),
    lambda: np.array(["0 deg", None, OddRepr()], object),
    lambda: np.float32(0.01),
    lambda: np.int64(3),
    lambda: np.datetime64("NaT"),
)

scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=10), st.binary(max_size=5))
nested = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(scalars, inner, max_size=4), max_leaves=10
)
junk = st.one_of(scalars, nested, st.sampled_from(ODDITIES).map(lambda make: make()))
keys = st.one_of(
    st.sampled_from(
        ["radius", "raduis", "kind", "joint", "cables", "channel", "azimuth", "holes", "recess", "stiffness"]
    ),
    st.sampled_from(["friction", "length", "mass", "inertia", "limit", "sections", "gravity", ""]),
    scalars,
)


def places(data: object) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) of a nested mapping."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in list(items):
        yield data, key
        yield from places(value)


@st.composite
def mutated(draw: st.DrawFn, healthy: st.SearchStrategy[Mapping]) -> Mapping:
    """A robot mapping with one to four random changes; often wrong, sometimes still right."""
    robot = draw(healthy)
    targets = list(places(robot))
    for _ in range(draw(st.integers(1, 4))):
        container, key = draw(st.sampled_from(targets))
        action = draw(st.sampled_from(["replace", "delete", "add", "scale", "copy", "repeat", "contain itself"]))
        value = _get(container, key)
        if action == "replace":
            _put(container, key, draw(junk))
        elif action == "delete" and isinstance(container, dict):
            container.pop(key, None)
        elif action == "add" and isinstance(container, dict):
            container[draw(keys)] = draw(junk)
        elif action == "scale" and isinstance(value, float):
            _put(container, key, value * draw(st.sampled_from([-1, 0, 10, 1e3, 1e9, 1e300, 1e-9])))
        elif action == "copy":
            _put(container, key, _get(*draw(st.sampled_from(targets))))
        elif action == "repeat" and isinstance(container, list):
            container.extend(container[:5])
        elif action == "contain itself":
            _put(container, key, container)
    return robot


def _keys(container: Any) -> Any:
    return container if isinstance(container, dict) else range(len(container))


def _get(container: Any, key: Any) -> Any:
    return container[key] if key in _keys(container) else None


def _put(container: Any, key: Any, value: Any) -> None:
    if isinstance(container, dict) or key in _keys(container):
        container[key] = value
