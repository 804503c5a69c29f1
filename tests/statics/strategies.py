"""Hypothesis strategies of questions for the solver: any mirror-joint robot, tensions, gravity, loads and start."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st
from tests.statics.cases import Case

import vertebra as vb

Mapping = dict[str, Any]
KINDS = ("rolling", "flexure", "pin")


def floats(low: float, high: float) -> st.SearchStrategy[float]:
    """Nothing between 0 and a billionth of a unit, where nothing can be built or felt."""
    return st.floats(low, high, allow_nan=False).map(lambda value: value if abs(value) > 1e-9 else 0.0)


def vectors(size: float) -> st.SearchStrategy[tuple[float, ...]]:
    return st.tuples(*[floats(-size, size)] * 3)


# Millimetres to centimetres as on a bench, or from a hair to a crane.
lengths = st.one_of(floats(2e-3, 3e-2), floats(1e-4, 1.0))
masses = st.one_of(st.just(0.0), floats(1e-4, 1e-2), floats(0.0, 10.0))
limits = st.one_of(st.just(math.pi / 2), floats(0.05, 3.05))
azimuths = st.one_of(st.sampled_from([0.0, math.pi / 2, -math.pi / 2, math.pi]), floats(-6.0, 6.0))


@st.composite
def joints(draw: st.DrawFn, kind: str) -> Mapping:
    joint: Mapping = {"kind": kind, "limit": draw(limits)}
    if kind == "rolling":
        return {**joint, "radius": draw(lengths)}
    if kind == "pin":
        return {**joint, "length": draw(lengths)}
    stiffness = draw(st.one_of(floats(0.05, 1.0), floats(0.0, 100.0)))
    return {**joint, "length": draw(lengths), "stiffness": stiffness, "mass": draw(masses)}


@st.composite
def links(draw: st.DrawFn) -> Mapping:
    link = {"length": draw(lengths), "mass": draw(masses)}
    if draw(st.booleans()):
        link["center_of_mass"] = draw(vectors(0.02))
    return link


@st.composite
def cables(draw: st.DrawFn, passed: list[Mapping]) -> Mapping:
    """Cables that fit through all the sections they pass."""
    arcs = [section["joint"]["radius"] for section in passed if section["joint"]["kind"] == "rolling"]
    radius = min(arcs) * draw(floats(0.01, 0.95)) if arcs else draw(lengths)
    around = draw(
        st.one_of(st.just([0.0, math.pi / 2, math.pi, -math.pi / 2]), st.lists(azimuths, min_size=1, max_size=5))
    )
    group = {"radius": radius, "azimuth": around, "lock_mass": draw(masses)}
    group["linear_density"] = draw(st.one_of(st.just(0.0), floats(0.0, 5e-3), floats(0.0, 1.0)))
    shallow = max((R - math.sqrt(R**2 - radius**2) for R in arcs), default=0.0)
    deep = 0.49 * min(section["link"]["length"] for section in passed)
    if shallow * 1.001 <= deep and draw(st.booleans()):
        group["holes"] = {"recess": draw(floats(shallow * 1.001, deep))}
    return group


@st.composite
def robots(draw: st.DrawFn) -> vb.Robot:
    """One to three sections, up to forty joints; any section may be without cables of its own."""
    sections: list[Mapping] = []
    count = draw(st.integers(1, 3))
    most = draw(st.sampled_from([2, 6, 13]))
    for _ in range(count):
        # Pins hold nothing against their cables: fewer of them, or hardly any answer would be an equilibrium.
        kind = draw(st.sampled_from(["rolling", "rolling", "rolling", "flexure", "flexure", "pin"]))
        section: Mapping = {"joints": draw(st.integers(1, most)), "joint": draw(joints(kind)), "link": draw(links())}
        section["azimuth"] = draw(st.lists(azimuths, min_size=1, max_size=3))
        sections.append(section)
        if draw(st.integers(0, 3)):
            section["cables"] = draw(cables(sections))
    size = {"base": {"length": draw(floats(0.0, 0.1))}, "tip": {"length": draw(floats(-0.01, 0.1))}}
    mount = draw(st.one_of(st.sampled_from(["ground", "ceiling", "wall"]), vectors(20.0)))
    return vb.load({"vertebra": 1, "name": "random", "gravity": mount, "sections": sections, **size})


@st.composite
def tensions(draw: st.DrawFn, robot: vb.Robot) -> np.ndarray:
    """0 to 100 N: any, all equal, some slack, one huge."""
    count = len(robot.cables)
    each = draw(st.lists(st.one_of(st.just(0.0), floats(0.0, 5.0), floats(0.0, 100.0)), min_size=count, max_size=count))
    result = np.array(each)
    style = draw(st.sampled_from(["as drawn", "as drawn", "equal", "one huge", "zero"]))
    if style == "equal":
        result[:] = draw(floats(0.0, 100.0))
    elif style == "zero":
        result[:] = 0.0
    elif style == "one huge" and count:
        result[draw(st.integers(0, count - 1))] = 100.0
    return result


@st.composite
def loads(draw: st.DrawFn, robot: vb.Robot) -> vb.Load:
    n = len(robot.joints)
    scale = draw(st.sampled_from([0.05, 0.5, 10.0]))
    given: Mapping = {"link": draw(st.one_of(st.just(-1), st.integers(-n - 1, n)))}
    kind = draw(st.sampled_from(["force", "force", "moment", "both"]))
    if kind != "moment":
        given["force"] = draw(vectors(scale))
    if kind != "force":
        given["moment"] = draw(vectors(0.05 * scale))
    if draw(st.booleans()):
        given["point"] = draw(vectors(0.05))
    return vb.Load(**given)


gravities = st.one_of(
    st.none(),
    st.sampled_from(["ground", "ceiling", "wall"]),
    st.just((0.0, 0.0, 0.0)),
    vectors(20.0),
)


@st.composite
def questions(draw: st.DrawFn) -> tuple[Case, list[float] | None]:
    """A robot, what acts on it, and where to start."""
    robot = draw(robots())
    case = Case(robot, draw(tensions(robot)), draw(gravities), tuple(draw(st.lists(loads(robot), max_size=3))))
    n = robot.freedoms
    start = draw(st.one_of(st.none(), st.lists(floats(-1.5, 1.5), min_size=n, max_size=n)))
    return case, start
