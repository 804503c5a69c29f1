"""Derivatives by every number of a problem, against differences of order 6 at a fixed pose and a dense solve."""

from __future__ import annotations

import copy
import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from tests import every_kind

import vertebra as vb
from vertebra.mechanics.gradient import Numbers as Derivatives
from vertebra.mechanics.gradient import Seeds, pose_gradients
from vertebra.mechanics.kernels.newton import inspect_pose
from vertebra.mechanics.kinematics import Pose, measure
from vertebra.mechanics.layout import GRIP_DRAWN, GRIP_SLIP, LAW_ALIKE, STATE_TAU
from vertebra.mechanics.problem import NO_CABLES, Closure, Problem
from vertebra.robot.tables import PIN, Table

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
SEEDS = range(40 if SOAK else 1)
MOST = 25 if SOAK else 8
"""Entries of each column that are checked."""
SIXTH = ((-3, -1 / 60), (-2, 9 / 60), (-1, -45 / 60), (1, 45 / 60), (2, -9 / 60), (3, 1 / 60))
"""Central differences of order 6."""
MIXED = ("rolling", "universal-yx", "flexure", "backbone-twisting", "pin")
ROBOTS = [(kind,) for kind in every_kind.KINDS] + [MIXED]
CABLES = ("tensions", "lengths")
LAW = vb.FrictionLaw.quadratic(0.3, 0.1, 0.2, presliding=1e-3)
TABLE_LAW = vb.FrictionLaw.table([0.0, 0.2, 0.5, 1.0], [0.1, 0.2, 0.15, 0.3], presliding=1e-3)

SIZES = {
    "joints": {"size": 0.01, "azimuth": 1.0, "stiffness": 0.1, "torsion": 0.1, "mass": 1e-3},
    "links": {"reach": 0.01, "mass": 5e-3, "center_of_mass": 5e-3},
    "cables": {"x": 5e-3, "y": 5e-3, "end": 0.01, "inside": 0.1, "linear_density": 0.01, "lock_mass": 1e-3},
    "segments": {"offset": 5e-3, "recess": 1e-3, "exit": 0.01, "entry": 1e-3},
    "loads": {"force": 0.1, "moment": 1e-3, "point": 0.01},
}  # fmt: skip
"""Of each column that statics reads: how large it usually is, to compare derivatives of unlike units."""
PLAIN_SIZES = {"gravity": 9.8, "tip_point": 0.01, "tensions": 3.0, "rest": 0.1, "rate": 5e3}


@dataclass
class Numbers:
    """All numbers of a problem, free to be changed one by one, and its outputs at any pose."""

    problem: Problem
    tables: dict[str, Any]
    work: Any

    @classmethod
    def of(
        cls,
        question: every_kind.Question,
        cables: str,
        law: vb.FrictionLaw | None,
        history: bool,
        closure: Closure = "virtual-work",
    ) -> Numbers:
        rng = np.random.default_rng(5)
        problem = Problem.of(question.robot, question.gravity, question.loads, law or 0.0, closure)
        c, n = len(question.robot.cables), len(question.robot.joints)
        past = None
        if history:
            # The slip and its way are those of some pose before: cables stick in most holes.
            past = np.zeros((3, c, n))
            past[0], past[1] = rng.uniform(-0.5, 0.5, (c, n)), rng.uniform(-1e-4, 1e-4, (c, n))
        work = problem.workspace(cables == "lengths", past)
        names = ("joints", "links", "cables", "segments", "gravity", "loads")
        tables = {name: np.array(table) for name, table in zip(names, problem.system, strict=True)}
        tables |= {"tip_point": question.robot.tip_point.copy(), "tensions": question.tensions.copy()}
        tables |= {"rest": NO_CABLES, "rate": NO_CABLES}
        if cables == "lengths":
            lengths = measure(question.robot, question.q).lengths.sum(axis=1) + question.robot.cables["inside"]
            tables["rest"] = lengths * (1.0 - question.tensions / 500.0)
            tables["rate"] = 500.0 / tables["rest"]
            tables["rest"][1] = 1.1 * lengths[1]  # slack
            tables["tensions"][:] = 0.0
        if work.friction is not None:
            work.friction.laws[:, LAW_ALIKE] = 0.0  # each cable's law may be changed by itself
            tables |= {"laws": work.friction.laws, "curves": work.friction.curves, "history": work.friction.history}
        return cls(problem, tables, work)

    def frozen(self, name: str) -> Table:
        """A table as kernels read it, the axes of joints from their azimuths."""
        table = self.tables[name].copy()
        if name == "joints":
            mirror = table["kind"] <= PIN
            table["axis_x"][mirror] = -np.sin(table["azimuth"][mirror])
            table["axis_y"][mirror] = np.cos(table["azimuth"][mirror])
        like = dict(
            zip(("joints", "links", "cables", "segments", "gravity", "loads"), self.problem.system, strict=True)
        )
        table.flags.writeable = like[name].flags.writeable  # as the kernels are compiled for
        return table

    def at(self, q: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        """Torques out of balance, and outputs in the order of `Seeds`: tip frame, angles, lengths, tensions, slips."""
        t, robot = self.tables, self.problem.robot
        system = tuple(self.frozen(name) for name in ("joints", "links", "cables", "segments"))
        pull = t["tensions"].copy()
        field = self.frozen("gravity"), self.frozen("loads")
        arguments = (pull, t["rest"], t["rate"], self.work.friction, False, q)
        inspect_pose(*system, *field, *arguments, *self.work.scratch[1:])
        changed = replace_tables(robot, dict(zip(("joints", "links", "cables", "segments"), system, strict=True)))
        pose = Pose(changed, q)
        frame = pose.frames[-1].copy()
        frame[:3, 3] += frame[:3, :3] @ t["tip_point"]
        lengths = measure(changed, q).lengths.sum(axis=1) + changed.cables["inside"]
        outputs = [frame, q.copy(), lengths, pull]
        if self.work.friction is not None:
            outputs += [
                self.work.friction.grip[plane, :, : len(robot.joints)].copy() for plane in (GRIP_SLIP, GRIP_DRAWN)
            ]
        return self.work.state[:, STATE_TAU].copy(), outputs

    def near_a_corner(self, q: np.ndarray) -> bool:
        """Whether a cable is about to slip or to stick, so that differences would be taken across a corner."""
        self.at(q)
        slip = np.abs(self.work.friction.grip[GRIP_SLIP])
        return bool(((slip > 0.98) & (slip < 1.0)).any())

    def gradients(self, q: np.ndarray, seeds: Seeds, rates: np.ndarray | None = None) -> tuple[Derivatives, np.ndarray]:
        t = self.tables
        frame = self.at(q)[1][0]
        return pose_gradients(
            self.problem, self.work, frame[:3, 3].copy(), q, t["tensions"].copy(), seeds, rates, t["rest"], t["rate"]
        )


def replace_tables(robot: vb.Robot, tables: dict[str, Table]) -> vb.Robot:
    """A robot of the same description with other tables."""
    made = copy.copy(robot)
    for name, table in tables.items():
        object.__setattr__(made, name, table)
    return made


def random_seeds(numbers: Numbers, rng: np.random.Generator, outputs: int = 3) -> Seeds:
    seeds = Seeds.none(numbers.problem, outputs)
    for weights, size in zip(seeds[:4], (1.0, 0.05, 1.0, 1e-3), strict=True):
        weights[:] = size * rng.normal(size=weights.shape)
    if numbers.work.friction is not None:
        shape = (outputs, len(numbers.tables["cables"]), len(numbers.tables["joints"]))
        seeds = seeds._replace(slip=1e-3 * rng.normal(size=shape), drawn=rng.normal(size=shape))
    return seeds


def change_of(seeds: Seeds, before: list[np.ndarray], after: list[np.ndarray]) -> np.ndarray:
    """Seeds times the change of the outputs; that of a rotation is a vector."""
    turned = after[0][:3, :3] @ before[0][:3, :3].T
    sine = 0.5 * np.array([turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1]])
    size = np.linalg.norm(sine)
    turn = sine * (np.arcsin(size) / size if size > 0.0 else 1.0)
    total = seeds.tip @ np.r_[after[0][:3, 3] - before[0][:3, 3], turn]
    for weights, old, new in zip(seeds[1:], before[1:], after[1:], strict=False):
        if weights.size:
            total = total + (weights * (new - old)).reshape(len(total), -1).sum(axis=1)
    return total


def expected_rates(numbers: Numbers, q: np.ndarray, seeds: Seeds) -> np.ndarray:
    """lambda by differences of outputs and torques in every angle, and a dense solve."""
    _, before = numbers.at(q)
    slopes, stiffness, h = np.zeros((len(seeds.tip), len(q))), np.zeros((len(q), len(q))), 1e-5
    for row in range(len(q)):
        for steps, weight in SIXTH:
            moved = q.copy()
            moved[row] += steps * h
            torques, after = numbers.at(moved)
            slopes[:, row] += weight * change_of(seeds, before, after) / h
            stiffness[:, row] += weight * torques / h
    return np.linalg.solve(stiffness.T, slopes.T).T


def entries(numbers: Numbers, found: Derivatives):
    """Every number: its name, the array it is in, its derivatives, and how large such a number usually is."""
    tables = numbers.tables
    for name, columns in SIZES.items():
        for column, size in columns.items():
            yield f"{name}.{column}", tables[name][column], getattr(found, name)[column], size
    for name, size in PLAIN_SIZES.items():
        if name != "tensions" or not len(tables["rest"]):
            yield name, tables[name], getattr(found, name), size
    if "laws" in tables:
        for column, size in enumerate((1.0, 1.0, 0.1, 1e-3)):
            yield f"laws {column}", tables["laws"][:, column], found.laws[:, :, column], size
        for plane, size in enumerate((1.0, 1e-3)):
            yield f"history {plane}", tables["history"][plane], found.history[:, plane], size
        if tables["curves"].shape[1] > 2:
            yield "curves", tables["curves"], found.curves, 0.1


def change_with(numbers: Numbers, q, seeds: Seeds, rates, before, array: np.ndarray, place, h: float) -> np.ndarray:
    """Slope of the outputs at the fixed pose, less the power out of balance, with one number, in steps of h."""
    was, change = array[place], np.zeros(len(rates))
    for steps, weight in SIXTH:
        array[place] = was + steps * h
        torques, after = numbers.at(q)
        change += weight * (change_of(seeds, before, after) - rates @ torques) / h
    array[place] = was
    return change


def check_all(numbers: Numbers, q: np.ndarray, seeds: Seeds, found: Derivatives, rates: np.ndarray) -> None:
    """Largest error of a derivative at the fixed pose, relative to the largest of all, each times its usual size."""
    rng = np.random.default_rng(0)
    _, before = numbers.at(q)
    worst, largest = ("", 0.0), 0.0
    for name, array, derivatives, size in entries(numbers, found):
        places = list(np.ndindex(array.shape))
        if len(places) > MOST:
            places = [places[i] for i in rng.choice(len(places), MOST, replace=False)]
        for place in places:
            if name in ("joints.mass", "cables.linear_density") and array[place] == 0.0:
                continue  # masses below zero are none
            for h in (1e-3 * size,) if name == "curves" else (1e-4 * size, 1e-5 * size):
                change = change_with(numbers, q, seeds, rates, before, array, place, h)
                error = np.abs(change - derivatives[(slice(None), *place)]).max() * size
                if error < 2e-9 * largest:
                    break  # else the longer steps may have crossed a corner
            largest = max(largest, np.abs(change).max() * size)
            if error > worst[1]:
                worst = f"{name} {place}", error
    assert worst[1] < 2e-9 * largest, f"{worst[0]} differs by {worst[1] / largest:.2e} of the largest"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("cables", CABLES)
@pytest.mark.parametrize("kinds", ROBOTS, ids="+".join)
@pytest.mark.parametrize("law", [None, LAW, TABLE_LAW], ids=["free", "friction", "table"])
def test_every_number(kinds, cables, law, seed) -> None:
    check_question(kinds, cables, law, seed)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("cables", CABLES)
@pytest.mark.parametrize("law", [LAW, TABLE_LAW], ids=["friction", "table"])
def test_torques_balanced_at_the_discs(cables, law, seed) -> None:
    check_question(("flexure",), cables, law, seed, "paper")


def check_question(kinds, cables, law, seed, closure: Closure = "virtual-work") -> None:
    question = every_kind.random_question((*map(ord, kinds[0][:4]), seed), kinds, moment=True)
    question = replace(question, q=0.6 * question.q)  # where springs keep the stiffness positive
    numbers = Numbers.of(question, cables, law, law is not None and seed % 2 == 0, closure)
    while law is not None and numbers.near_a_corner(question.q):
        question = replace(question, q=0.97 * question.q)
        numbers = Numbers.of(question, cables, law, seed % 2 == 0, closure)
    rng = np.random.default_rng(seed)
    q, seeds = question.q, random_seeds(numbers, rng)
    found, rates = numbers.gradients(q, seeds)
    expected = expected_rates(numbers, q, seeds)
    np.testing.assert_allclose(rates, expected, rtol=0, atol=2e-8 * np.abs(expected).max())
    check_all(numbers, q, seeds, found, rates)
    # With rates of one's own, the power of the torques out of balance is differentiated.
    free = Seeds.none(numbers.problem, 2)
    own = rng.normal(size=(2, len(q)))
    check_all(numbers, q, free, numbers.gradients(q, free, own)[0], own)


@pytest.mark.parametrize("cables", CABLES)
@pytest.mark.parametrize("law", [None, TABLE_LAW], ids=["free", "table"])
def test_tables_of_an_earlier_call_are_written_anew(cables, law, monkeypatch) -> None:
    question = every_kind.random_question(7, MIXED, moment=True)
    numbers = Numbers.of(question, cables, law, law is not None)
    seeds = random_seeds(numbers, np.random.default_rng(7))
    q, other = 0.6 * question.q, -0.4 * question.q
    expected = numbers.gradients(q, seeds)[0].flat
    used, _ = numbers.gradients(other, seeds)
    monkeypatch.setattr("vertebra.mechanics.gradient.Numbers.zeros", lambda *_: used)
    np.testing.assert_array_equal(numbers.gradients(q, seeds)[0].flat, expected)
