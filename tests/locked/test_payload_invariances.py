"""What must not change a payload, and what must change it in proportion."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.locked import snakes

import vertebra as vb

SEEDS = range(40)


def assert_same(payload, other, factor=1.0, rel=1e-8, joints=slice(None)):
    """The same limits, but for a factor. Those that round-off decides are few and far between in random questions."""
    assert other.modes[joints] == payload.modes[joints]
    assert other.limits[joints] == pytest.approx(factor * payload.limits[joints], rel=rel)


def turned_about_z(question, angle):
    mapping = question.robot.to_mapping()
    R = Rotation.from_euler("z", angle).as_matrix()
    for section in mapping["sections"]:
        if section.get("cables"):
            section["cables"]["azimuth"] = [azimuth + angle for azimuth in section["cables"]["azimuth"]]
        com = section["link"].get("center_of_mass")
        if com:
            section["link"]["center_of_mass"] = (R @ com).tolist()
    mapping["gravity"] = (R @ mapping["gravity"]).tolist()
    moved = {name: None if value is None else R @ value for name, value in vectors(question).items()}
    loads = tuple(
        vb.Load(R @ load.force, R @ load.moment, load.link, None if load.point is None else R @ load.point)
        for load in question.loads
    )
    return snakes.Question(
        vb.load(mapping), question.bends, question.azimuths + angle, question.tensions,
        link=question.link, loads=loads, friction=question.friction, **moved,
    )  # fmt: skip


def vectors(question):
    names = ("direction", "point", "moment_per_force", "gravity")
    return {name: None if getattr(question, name) is None else np.array(getattr(question, name)) for name in names}


def mirrored(question):
    """In the plane y = 0; moments are axial vectors."""
    mapping = question.robot.to_mapping()
    S, axial = np.diag([1.0, -1.0, 1.0]), np.diag([-1.0, 1.0, -1.0])
    for section in mapping["sections"]:
        if section.get("cables"):
            section["cables"]["azimuth"] = [-azimuth for azimuth in section["cables"]["azimuth"]]
        com = section["link"].get("center_of_mass")
        if com:
            section["link"]["center_of_mass"] = (S @ com).tolist()
    mapping["gravity"] = (S @ mapping["gravity"]).tolist()
    moved = vectors(question)
    for name in moved:
        if moved[name] is not None:
            moved[name] = (axial if name == "moment_per_force" else S) @ moved[name]
    loads = tuple(
        vb.Load(S @ load.force, axial @ load.moment, load.link, None if load.point is None else S @ load.point)
        for load in question.loads
    )
    return snakes.Question(
        vb.load(mapping), question.bends, -question.azimuths, question.tensions,
        link=question.link, loads=loads, friction=question.friction, **moved,
    )  # fmt: skip


@pytest.fixture(params=SEEDS)
def question(request):
    return snakes.question(np.random.default_rng(1000 + request.param))


@pytest.mark.parametrize("angle", [math.pi / 2, 0.7])
def test_turning_everything_about_the_axis(question, angle):
    assert_same(question.ask(), turned_about_z(question, angle).ask())


def test_mirroring_everything(question):
    payload, other = question.ask(), mirrored(question).ask()
    assert_same(payload, other)
    assert other.contact.torsion == pytest.approx(
        -payload.contact.torsion, abs=1e-9 * np.abs(payload.contact.moment).max()
    )


def test_turning_all_but_the_first_joint(question):
    """Another bend of joint 1 turns the whole robot beyond it. With loads and gravity turned along, the other joints
    feel nothing of it."""
    question.friction = None
    rng = np.random.default_rng(5)
    payload = question.ask()
    bends, azimuths = np.array(question.bends), np.array(question.azimuths)
    bends[0], azimuths[0] = rng.uniform(-0.5, 0.5), rng.uniform(-3, 3)

    def first(bend, azimuth):
        return Rotation.from_rotvec(bend * np.array([-math.sin(azimuth), math.cos(azimuth), 0.0]))

    Q = (first(bends[0], azimuths[0]) * first(question.bends[0], question.azimuths[0]).inv()).as_matrix()
    moved = vectors(question)
    gravity = question.robot.gravity if moved["gravity"] is None else moved["gravity"]
    loads = tuple(vb.Load(Q @ load.force, Q @ load.moment, load.link, load.point) for load in question.loads)
    couple = None if moved["moment_per_force"] is None else Q @ moved["moment_per_force"]
    other = question.ask(
        bends=bends, azimuths=azimuths, direction=Q @ moved["direction"], gravity=Q @ gravity, loads=loads,
        moment_per_force=couple,
    )  # fmt: skip
    assert_same(payload, other, joints=slice(1, None))


@pytest.mark.parametrize("factor", [1e-3, 7.0, 1e4])
def test_forces_times_a_factor(question, factor):
    gravity = question.robot.gravity if question.gravity is None else question.gravity
    other = question.ask(
        tensions=factor * question.tensions, gravity=factor * np.asarray(gravity),
        loads=[snakes.scaled_load(load, factor) for load in question.loads],
    )  # fmt: skip
    payload = question.ask()
    assert_same(payload, other, factor)
    assert other.contact.force == pytest.approx(factor * payload.contact.force, rel=1e-7, abs=1e-9 * factor)


@pytest.mark.parametrize("factor", [0.05, 30.0])
def test_lengths_times_a_factor(question, factor):
    """Masses stay, so cables get lighter per metre by the same factor."""
    mapping = question.robot.to_mapping()
    for section in mapping["sections"]:
        joint, link, cables = section["joint"], section["link"], section.get("cables")
        for part, name in ((joint, "radius"), (joint, "ring_radius"), (link, "length"), (link, "channel")):
            part[name] *= factor
        if link.get("center_of_mass"):
            link["center_of_mass"] = [factor * x for x in link["center_of_mass"]]
        if cables:
            cables["radius"] *= factor
            cables["linear_density"] /= factor
    for end in ("base", "tip"):
        mapping[end]["length"] *= factor
    other = question.ask(
        robot=vb.load(mapping),
        point=None if question.point is None else factor * question.point,
        moment_per_force=None if question.moment_per_force is None else factor * question.moment_per_force,
        loads=[
            vb.Load(
                load.force,
                factor * np.array(load.moment),
                load.link,
                None if load.point is None else factor * np.array(load.point),
            )
            for load in question.loads
        ],
    )
    assert_same(question.ask(), other)


def test_a_direction_has_no_length(question):
    payload = question.ask()
    for factor in (1e-300, 0.3, 1e9):
        other = question.ask(direction=factor * np.array(question.direction))
        assert_same(payload, other, rel=1e-9)


def test_a_bend_the_other_way_is_a_bend_toward_the_other_side(question):
    question.friction = None
    assert_same(question.ask(), question.ask(bends=-question.bends, azimuths=question.azimuths + np.pi))


def test_two_sections_equal_one():
    rng = np.random.default_rng(7)
    whole = vb.load("cai2023")
    mapping = whole.to_mapping()
    section = mapping["sections"][0]
    for split in (1, 9, 18):
        # Cables of the first section would end there, so the second one has them all.
        first = {**section, "joints": split, "cables": None}
        mapping["sections"] = [first, {**section, "joints": 19 - split}]
        both = vb.load(mapping)
        for _ in range(5):
            asked = (rng.uniform(-0.1, 0.1, 19), rng.uniform(-3, 3, 19), rng.uniform(20, 40, 3), rng.normal(size=3))
            link = int(rng.integers(1, 20))
            one, two = vb.payload(whole, *asked, link), vb.payload(both, *asked, link)
            assert one.limits.tobytes() == two.limits.tobytes()
            assert one.contact.moment.tobytes() == two.contact.moment.tobytes()
            assert one.modes == two.modes


def test_one_number_for_all_is_the_same_as_many():
    robot = vb.load("cai2023")
    one = vb.payload(robot, 0.03, 0.4, 33.0, (0, -1, 0.2))
    many = vb.payload(robot, [0.03] * 19, [0.4] * 19, [33.0] * 3, (0, -1, 0.2))
    assert one.limits.tobytes() == many.limits.tobytes()
