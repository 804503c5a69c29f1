"""Payload against an oracle that cuts every link free and against Cai 2023; its arguments; loads carried again."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest
from tests.locked import snakes
from tests.oracles.ball_scan import Wrenches, next_hold, wrong_limits

import vertebra as vb
from vertebra.errors import InputError, OutOfRange
from vertebra.locked import sphere_grid

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
SEEDS = range(1500 if SOAK else 150)
DOWN = (0.0, -1.0, 0.0)


@pytest.fixture(scope="module")
def answers():
    """Random questions, their answers, and the oracle's wrenches."""
    out = []
    for seed in SEEDS:
        question = snakes.question(np.random.default_rng(seed))
        snake = question.snake()
        out.append((question, question.ask(), snake, snake.wrenches(*question.place())))
    return out


def test_every_joint_of_random_snakes_gives_way_where_the_scan_says(answers):
    modes = []
    for seed, (_, payload, _, wrenches) in enumerate(answers):
        wrong = wrong_limits(wrenches, payload.limits, payload.modes, round_off=1e-13)
        assert {name: rows.tolist() for name, rows in wrong.items()} == {"missed": [], "early": [], "mode": []}, seed
        assert payload.force == payload.limits.min()
        modes += payload.modes
    for mode in ("unlimited", "sliding", "torsion"):
        assert modes.count(mode) > len(answers) / 10
    slipping = sum(payload.slips_unloaded for _, payload, _, _ in answers)
    assert len(answers) / 20 < slipping < 0.8 * len(answers)


def test_contacts_supply_what_the_links_need(answers):
    """Force and moment at the limit, from the free bodies of all links, to 1e-10."""
    for question, payload, snake, _ in answers:
        load = payload.force if math.isfinite(payload.force) else 0.0
        _, link, point, couple = question.place()
        f, m = snake.supplies(load, question.unit, link, point, couple)
        scale = float(np.sum(question.tensions)) + load + np.abs(f).max() + 1e-12  # weights too, through f
        size = float(question.robot.joints["radius"].max())
        assert np.abs(payload.contact.force - f).max() < 1e-10 * scale
        reach = size + question.robot.length + (0.0 if point is None else np.linalg.norm(point))
        assert np.abs(payload.contact.moment - m).max() < 1e-10 * scale * reach
        assert np.abs(payload.contact.centers - [at for _, at in snake.frames[:-1]]).max() < 1e-13 * max(1.0, reach)


def test_contacts_are_balanced(answers):
    """F_N n + F_f t = f and r n x f + M_t n = m, to 1e-10, with n a unit vector and t across it."""
    rows = 0
    for question, payload, _, _ in answers:
        c, radius = payload.contact, question.robot.joints["radius"]
        for j in np.flatnonzero(c.normal_force > 0):
            f, m, n = c.force[j], c.moment[j], c.normal[j]
            size = np.linalg.norm(f)
            friction = f - c.normal_force[j] * n
            assert abs(n @ n - 1) < 1e-10
            assert abs(friction @ n) < 1e-10 * size
            assert abs(np.linalg.norm(friction) - c.friction_force[j]) < 1e-7 * size
            left = radius[j] * np.cross(n, f) + c.torsion[j] * n - m
            assert np.linalg.norm(left) < 1e-10 * (radius[j] * size + np.linalg.norm(m))
            rows += 1
    assert rows > 3 * len(answers)


def test_the_weakest_joint_uses_all_its_friction(answers):
    mu_checked = 0
    for question, payload, _, _ in answers:
        c, table = payload.contact, question.robot.joints
        most = table["friction"] * c.normal_force
        with np.errstate(divide="ignore", invalid="ignore"):
            assert c.sliding_use == pytest.approx(np.where(c.friction_force > 0, c.friction_force / most, 0))
            twist = np.abs(c.torsion) / (table["ring_radius"] * most)
            assert c.torsion_use == pytest.approx(np.where(c.torsion != 0, twist, 0))
        if payload.mode == "separation":
            continue
        if payload.slips_unloaded:
            assert max(c.sliding_use[payload.joint - 1], c.torsion_use[payload.joint - 1]) > 1
            continue
        if payload.joint:
            use = c.sliding_use if payload.mode == "sliding" else c.torsion_use
            assert use[payload.joint - 1] == pytest.approx(1.0, abs=1e-9)
            mu_checked += 1
        # No joint uses more than there is.
        assert max(c.sliding_use.max(), c.torsion_use.max()) < 1 + 1e-9
    assert mu_checked > 30


def test_what_an_answer_says(answers):
    for question, payload, _, _ in answers:
        n = len(question.robot.joints)
        assert payload.limits.shape == (n,)
        assert len(payload.modes) == n
        assert payload.direction == pytest.approx(question.unit, abs=1e-15)
        assert payload.link == question.link % (n + 1)
        assert payload.tensions.shape == (len(question.robot.cables), n)
        assert not np.isnan(payload.limits).any()
        assert payload.reentry > payload.force or math.isinf(payload.reentry)
        assert payload.is_interval == math.isinf(payload.reentry)
        if payload.joint:
            assert payload.mode == payload.modes[payload.joint - 1]
            assert payload.limits[payload.joint - 1] == payload.force
            assert f"joint {payload.joint} " in payload.reason
            assert f"joint {payload.joint} " in repr(payload)
        else:
            assert (payload.force, payload.mode) == (math.inf, "unlimited")
            assert "no load" in payload.reason
            assert "unlimited" in repr(payload)
        assert payload.slips_unloaded == (payload.force == 0.0)
        assert ("without any load" in payload.reason) == payload.slips_unloaded


# Cai 2023.


def test_the_straight_snake_at_35_newton():
    robot = vb.load("cai2023")
    payload = vb.payload(robot, 0.0, 0.0, 35.0, DOWN)
    assert round(payload.force, 3) == 1.933
    assert (payload.joint, payload.mode) == (1, "sliding")
    # By hand: weights and load on 19 links of 8.5 mm, r sin(atan mu) |f| across them.
    L, W, r, sine = 8.5e-3, -1.42e-3 * robot.gravity[1], 6.35e-3, 0.58 / math.hypot(1, 0.58)
    F, moment = payload.force, L * W * sum(range(1, 20))
    assert moment + 19 * L * F == pytest.approx(r * sine * math.hypot(105, 19 * W + F), rel=1e-12)


@pytest.mark.parametrize("shape", snakes.SHAPES)
def test_payload_is_affine_in_the_tension_with_weight_and_proportional_without(shape):
    robot = vb.load("cai2023")
    bent = snakes.shape_of(robot, shape)
    pull = np.arange(5.0, 35.1, 2.5)
    heavy = np.array([vb.payload(robot, *bent, tension, DOWN).force for tension in pull])
    held = heavy > 0
    assert held.sum() > 8
    line = np.polynomial.Polynomial.fit(pull[held], heavy[held], 1)
    assert np.abs(line(pull[held]) - heavy[held]).max() < 1e-3
    light = np.array([vb.payload(robot, *bent, tension, DOWN, gravity=(0, 0, 0)).force for tension in pull])
    assert light / pull == pytest.approx(np.full(len(pull), light[-1] / 35.0), rel=1e-9)
    assert (heavy < light).all()


@pytest.mark.parametrize("shape", snakes.SHAPES)
def test_the_four_shapes_against_the_oracle(shape):
    robot = vb.load("cai2023")
    question = snakes.Question(robot, *snakes.shape_of(robot, shape), [30.0, 35.0, 35.0], DOWN)
    payload = question.ask()
    assert payload.limits == pytest.approx(question.snake().limits(DOWN), rel=1e-9)
    assert payload.force > 1.5


# What `payload` and `payload_map` take, and what they refuse.


ROBOT = vb.load("cai2023")
USUAL = {"bends": 0.02, "azimuths": 0.3, "tensions": 35.0, "direction": (0.1, -1.0, 0.2)}


def ask_payload(**changes):
    return vb.payload(ROBOT, **{**USUAL, **changes})


def ask_map(**changes):
    given = {**USUAL, "directions": 3, **changes}
    given.pop("direction")
    return vb.payload_map(ROBOT, **given)


both = pytest.mark.parametrize("ask", [ask_payload, ask_map], ids=["payload", "payload_map"])


@both
def test_cables_cannot_push(ask):
    with pytest.raises(InputError, match="cable 2") as caught:
        ask(tensions=[1.0, -1.0, 1.0])
    assert caught.value.argument == "tensions"
    with pytest.raises(InputError, match="tensions"):
        ask(tensions=-1.0)


@both
def test_bends_beyond_the_limit(ask):
    with pytest.raises(OutOfRange) as caught:
        ask(bends=[0.1] * 10 + [-1.6] + [0.1] * 8)
    assert (caught.value.joint, caught.value.angle) == (11, -1.6)


def test_a_shape_of_many_beyond_the_limit():
    bends = np.full((3, 19), 0.1)
    bends[2, 4] = 1.7
    with pytest.raises(OutOfRange, match="shape 2") as caught:
        ask_map(bends=bends)
    assert caught.value.joint == 5


def test_sets_that_do_not_fit_each_other():
    with pytest.raises(InputError, match=r"3.*2|2.*3"):
        ask_map(bends=np.zeros((2, 19)), azimuths=np.zeros((3, 19)))
    with pytest.raises(InputError, match="tensions"):
        ask_map(bends=np.zeros((2, 19)), tensions=np.full((3, 3), 35.0))
    for empty in ({"bends": np.zeros((0, 19))}, {"azimuths": np.zeros((0, 19))}, {"tensions": np.zeros((0, 3))}):
        with pytest.raises(InputError) as caught:
            ask_map(**empty)
        assert caught.value.argument in empty
    with pytest.raises(InputError, match="one set of tensions"):
        ask_payload(tensions=np.full((2, 3), 35.0))


@pytest.mark.parametrize("value", [0, -2, 1.5, "many", True, None], ids=repr)
def test_counts_of_directions_that_are_refused(value):
    with pytest.raises(InputError):
        sphere_grid(value)


# Arrays of any layout and type.


def read_only(values):
    array = np.array(values, dtype=float)
    array.flags.writeable = False
    return array


def other_layouts(value):
    """The same numbers in other memory layouts."""
    array = np.array(value, dtype=float)
    strided = np.repeat(array, 2, axis=-1)[..., ::2]
    yield from (
        array.tolist(),
        tuple(array.tolist()),
        read_only(array),
        strided,
        np.asfortranarray(array),
        array[::-1][::-1],
    )
    yield array.astype(object)
    yield np.ma.masked_array(array)


@pytest.mark.parametrize("name", ["bends", "azimuths", "tensions", "direction", "point", "moment_per_force", "gravity"])
def test_arrays_of_any_layout(name):
    rng = np.random.default_rng(1)
    values = {
        "bends": rng.uniform(-0.05, 0.05, 19), "azimuths": rng.uniform(-3, 3, 19), "tensions": rng.uniform(30, 40, 3),
        "direction": rng.normal(size=3), "point": 0.01 * rng.normal(size=3), "gravity": rng.normal(size=3),
        "moment_per_force": 0.01 * rng.normal(size=3),
    }  # fmt: skip
    expected = ask_payload(**values)
    for value in other_layouts(values[name]):
        assert ask_payload(**{**values, name: value}).limits.tobytes() == expected.limits.tobytes()


def test_numbers_of_any_type():
    expected = ask_payload(tensions=35.0, bends=0.0)
    for number in (
        35,
        np.float32(35),
        np.int16(35),
        np.array(35),
        np.array([35, 35, 35], dtype=np.uint8),
        [35, 35.0, True * 35],
    ):
        assert ask_payload(tensions=number, bends=0).limits.tobytes() == expected.limits.tobytes()
    last = ask_payload(link=19)
    for link in (-1, np.int64(19), np.int8(-1), np.uint16(19)):
        assert ask_payload(link=link).limits.tobytes() == last.limits.tobytes()
    assert ask_map(links=np.array([19, 3])).link.values.tolist() == [19, 3]
    assert ask_map(links=iter([19, 3])).link.values.tolist() == [19, 3]
    assert ask_map(directions=np.int32(4)).sizes["direction"] == 4


def test_what_is_passed_is_not_changed():
    bends, tensions, direction = np.full(19, 0.02), np.full(3, 35.0), np.array([0.0, -2.0, 0.0])
    before = [x.copy() for x in (bends, tensions, direction)]
    answer = vb.payload(ROBOT, bends, 0.3, tensions, direction)
    vb.payload_map(ROBOT, bends, 0.3, tensions, direction)
    for x, y in zip((bends, tensions, direction), before, strict=True):
        assert x.tobytes() == y.tobytes()
    answer.contact.force[:] = 0.0
    answer.limits[:] = 0.0
    again = vb.payload(ROBOT, bends, 0.3, tensions, direction)
    assert again.force > 1.0
    assert again.contact.force[0, 2] > 100.0


def test_answers_are_frozen():
    answer = ask_payload()
    with pytest.raises(AttributeError):
        answer.force = 3.0
    with pytest.raises(AttributeError):
        answer.contact.force = 3.0


def test_the_same_question_has_the_same_bits():
    one, two = ask_payload(), ask_payload()
    assert one.limits.tobytes() == two.limits.tobytes()
    assert one.contact.moment.tobytes() == two.contact.moment.tobytes()
    assert snakes.Question(ROBOT, **USUAL).ask().limits.tobytes() == one.limits.tobytes()


# Loads that are carried again beyond the first slip: the admissible ones are no interval.


COUNT = 1500 if SOAK else 250


@pytest.fixture(scope="module")
def reentries():
    """Loads on the links of short snakes, whose joints often slip and hold again."""
    out = []
    for seed in range(COUNT):
        rng = np.random.default_rng(5000 + seed)
        robot = snakes.short(int(rng.integers(1, 5)), joint={"friction": float(rng.uniform(0.05, 0.9))})
        n = len(robot.joints)
        question = snakes.Question(
            robot, rng.uniform(-0.5, 0.5, n) * rng.choice([0, 0.1, 1]), rng.uniform(-3, 3, n), rng.uniform(5, 40, 3),
            rng.normal(size=3), int(rng.integers(1, n + 1)), 0.008 * rng.normal(size=3) * (rng.random() < 0.6),
            0.01 * rng.normal(size=3) * (rng.random() < 0.4), np.array([0, -9.8, 0]) * 10.0 ** rng.uniform(-3, 2),
        )  # fmt: skip
        out.append((question, question.ask()))
    return out


def test_the_scan_finds_the_same_load_from_which_on_it_holds_again(reentries):
    again = 0
    for question, payload in reentries:
        if payload.joint == 0:
            continue
        w = question.snake().wrenches(*question.place())
        scanned = next_hold(w, payload.force, 200)
        assert payload.reentry == pytest.approx(scanned, rel=1e-6)
        again += math.isfinite(scanned)
    assert again > COUNT / 50


def test_between_slip_and_reentry_it_slips_and_beyond_it_holds(reentries):
    checked = 0
    for question, payload in reentries:
        if payload.is_interval:
            continue
        w = question.snake().wrenches(*question.place())
        between = np.linspace(payload.force, payload.reentry, 60)[1:-1]
        loads = np.broadcast_to(between, (len(w), len(between)))
        assert (w.margin(loads).max(axis=0) > 0).all()
        assert w.margin(np.full(len(w), payload.reentry * (1 + 1e-7))).max() < 1e-9
        assert "holds again from" in repr(payload)
        checked += 1
    assert checked > COUNT / 50


def test_a_snake_that_holds_only_under_load(reentries):
    """Some slip without load and hold with one."""
    needy = [
        (question, payload) for question, payload in reentries if payload.slips_unloaded and not payload.is_interval
    ]
    assert needy
    for question, payload in needy:
        load = vb.Load(payload.reentry * (1 + 1e-6) * question.unit, link=question.link, point=question.point)
        couple = question.moment_per_force * payload.reentry * (1 + 1e-6)
        held = question.ask(loads=[load, vb.Load(moment=couple, link=question.link)])
        assert not held.slips_unloaded


def test_joints_in_a_guide_do_not_count(reentries):
    again = 0
    for question, _ in reentries:
        n = len(question.robot.joints)
        for guided in range(1, n):
            payload = question.ask(guided=guided)
            if payload.joint == 0:
                continue
            w = question.snake().wrenches(*question.place())[guided:]
            assert payload.reentry == pytest.approx(next_hold(w, payload.force, 200), rel=1e-6)
            again += math.isfinite(payload.reentry)
    assert again > 2


def test_links_that_have_parted_do_not_hold_again():
    """Joint 2 comes apart while joint 1, which slips before that, would hold again only beyond."""
    robot, found = snakes.short(2), 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        shape = vb.BallShape(rng.uniform(-1.2, 1.2, 2), rng.uniform(-3, 3, 2))
        unloaded = vb.payload(robot, *shape, 35.0, (0, 0, 1), link=0, gravity=(0, 0, 0)).contact
        size = float(np.linalg.norm(unloaded.force[1]))
        frame = vb.Pose(robot, shape.coordinates).frames[2]
        # At the second ball, along what it carries, with its moment: nothing is left of either at `size`.
        at_ball = frame[:3, :3].T @ (unloaded.centers[1] - frame[:3, 3])
        question = snakes.Question(
            robot, *shape, 35.0, unloaded.force[1] / size, 2, at_ball, unloaded.moment[1] / size, (0, 0, 0),
            (vb.Load(40 * rng.normal(size=3), 0.3 * rng.normal(size=3), 1),),
        )  # fmt: skip
        payload = question.ask()
        if payload.modes[1] != "separation" or payload.joint != 1:
            continue
        alone = next_hold(question.snake().wrenches(*question.place())[:1], payload.force, 200)
        if alone > size * (1 + 1e-6):
            assert payload.is_interval
            found += math.isfinite(alone)
        else:
            assert payload.reentry == pytest.approx(alone, rel=1e-6)
    assert found > 2


def test_an_example_by_hand():
    """One joint pressed by 105 N along z with a couple: the load across it adds what the couple took."""
    robot = snakes.short(1)
    r, sine = 6.35e-3, 0.58 / math.hypot(1, 0.58)
    dead = vb.Load(moment=(1.2 * r * sine * 105, 0, 0))
    # The load through the ball's centre, with a moment of its own against the couple.
    payload = vb.payload(
        robot, 0.0, 0.0, 35.0, (0, 0, -1), point=(0, 0, -8.5e-3), moment_per_force=(-2 * r * sine, 0, 0),
        gravity=(0, 0, 0), loads=[dead],
    )  # fmt: skip
    # |1.2 * 105 - 2 F| <= 105 + F
    assert payload.slips_unloaded
    assert payload.reentry == pytest.approx(0.2 * 105 / 3, rel=1e-9)
    held = vb.payload(
        robot, 0.0, 0.0, 35.0, (0, 0, -1), point=(0, 0, -8.5e-3), moment_per_force=(-2 * r * sine, 0, 0),
        gravity=(0, 0, 0), loads=[dead, vb.Load((0, 0, -10.0), (-20 * r * sine, 0, 0), point=(0, 0, -8.5e-3))],
    )  # fmt: skip
    assert held.force == pytest.approx(2.2 * 105 - 10, rel=1e-9)
    assert held.is_interval


def test_back_into_the_socket():
    """The same with a rim: sin = |c0 - c1 F| / r (105 + F) of the contact's lean."""
    robot, r, rim = snakes.short(1), 6.35e-3, 0.3
    dead = vb.Load(moment=(1.2 * r * math.sin(rim) * 105, 0, 0))
    payload = vb.payload(
        robot, 0.0, 0.0, 35.0, (0, 0, -1), point=(0, 0, -8.5e-3), moment_per_force=(-2 * r * math.sin(rim), 0, 0),
        gravity=(0, 0, 0), loads=[dead], socket_limit=rim,
    )  # fmt: skip
    assert (payload.mode, payload.slips_unloaded) == ("socket", True)
    assert payload.reentry == pytest.approx(0.2 * 105 / 3, rel=1e-6)


def test_a_rim_that_is_never_met_does_not_change_the_reentry(reentries):
    checked = 0
    for question, payload in reentries:
        if payload.joint and len(question.robot.joints) <= 2:
            wide = question.ask(socket_limit=math.pi)
            assert wide.force == payload.force
            if math.isfinite(payload.reentry):
                w = question.snake().wrenches(*question.place())
                # Found by samples, so a short stretch may be passed over; what is found holds.
                assert wide.reentry >= payload.reentry * (1 - 1e-6)
                if math.isfinite(wide.reentry):
                    assert w.margin(np.full(len(w), wide.reentry * (1 + 1e-7))).max() < 1e-9
                    checked += 1
            else:
                assert wide.is_interval
    assert checked > 0


# A pure torque.


def torque_wrenches(question, axis) -> Wrenches:
    """The oracle's contacts under a torque, in N*m."""
    w = question.snake().wrenches((1.0, 0.0, 0.0), question.link, None, np.zeros(3))
    reached = np.any(w.d != 0.0, axis=1)
    return Wrenches(w.f0, w.m0, np.zeros_like(w.d), reached[:, None] * axis, w.mu, w.radius, w.ring)


def test_a_pure_torque_slips_where_the_scan_says():
    modes = []
    for seed in SEEDS[:: 1 if SOAK else 3]:
        rng = np.random.default_rng(seed)
        question = snakes.question(rng)
        question.point = question.moment_per_force = None
        axis = rng.normal(size=3)
        payload = question.ask(direction=None, moment=3.0 * axis)
        axis /= np.linalg.norm(axis)
        assert payload.unit == "N*m"
        np.testing.assert_allclose(payload.direction, axis, rtol=0, atol=1e-15)
        wrong = wrong_limits(torque_wrenches(question, axis), payload.limits, payload.modes, round_off=1e-13)
        assert {name: rows.tolist() for name, rows in wrong.items()} == {"missed": [], "early": [], "mode": []}, seed
        assert payload.force == payload.limits.min()
        assert payload.joint == 0 or "N*m" in repr(payload)
        modes += payload.modes
    for mode in ("unlimited", "sliding", "torsion"):
        assert modes.count(mode) > 5


def test_a_torque_is_a_force_far_away_on_a_long_arm():
    """With moment_per_force the force is next to nothing."""
    robot = snakes.short(5)
    shape = snakes.shape_of(robot, "vertical S")
    torque = vb.payload(robot, *shape, 35.0, moment=(0.3, 1.0, -0.2))
    axis = np.array([0.3, 1.0, -0.2]) / np.linalg.norm([0.3, 1.0, -0.2])
    arm = 1e6
    force = vb.payload(robot, *shape, 35.0, DOWN, moment_per_force=arm * axis)
    assert torque.force == pytest.approx(arm * force.force, rel=1e-4)
    assert (torque.joint, torque.mode) == (force.joint, force.mode)


def test_sockets_hold_against_torques_too():
    robot = snakes.short(5)
    wide, narrow = (
        vb.payload(robot, np.zeros(5), np.zeros(5), 35.0, moment=(0.0, 1.0, 0.0), gravity=(0, 0, 0), socket_limit=rim)
        for rim in (np.pi, np.deg2rad(1.0))
    )
    assert narrow.mode == "socket"
    assert 0.0 < narrow.force < wide.force
    # The contact leans by the rim's angle: the moment is that of the contact force on this arm.
    pull = 35.0 * len(robot.cables)
    assert narrow.force == pytest.approx(pull * robot.joints["radius"][0] * np.sin(np.deg2rad(1.0)), rel=1e-6)


@pytest.mark.parametrize("given", [{"direction": DOWN}, {"point": (0, 0, 0)}, {"moment_per_force": (0, 0, 1)}])
def test_a_torque_has_no_direction_and_no_point(given):
    robot = snakes.short(3)
    with pytest.raises(InputError, match="pure torque"):
        vb.payload(robot, 0.0, 0.0, 35.0, moment=(0, 0, 1), **given)
    with pytest.raises(InputError, match="moment"):
        vb.payload(robot, 0.0, 0.0, 35.0, moment=(0, 0, 0))
    with pytest.raises(InputError, match="moment"):
        vb.payload(robot, 0.0, 0.0, 35.0)
