"""The rim of the socket: the contact must stay inside it."""

from __future__ import annotations

import itertools
import math
import os

import numpy as np
import pytest
from tests.locked import snakes

import vertebra as vb

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
ROBOT = vb.load("cai2023")
AT_CENTRE = (0.0, 0.0, -8.5e-3)
"""On link 1: the centre of the ball that carries it, about which a force has no moment."""


def one_joint(pull, toward, rim, **given):
    """A load through the ball's centre only turns the contact: tan = F sin / (3 T - F cos)."""
    robot = snakes.short(1, joint={"friction": 1.0, "ring_radius": 5e-3})
    d = (math.sin(toward), 0.0, math.cos(toward))
    return vb.payload(robot, 0.0, 0.0, pull, d, point=AT_CENTRE, gravity=(0, 0, 0), socket_limit=rim, **given)


@pytest.mark.parametrize("toward", [0.3, math.pi / 2, 2.0, 2.5, 3.0])
@pytest.mark.parametrize("rim", [0.05, 0.3, 0.8])
def test_a_force_through_the_centre_pushes_the_contact_to_the_rim(toward, rim):
    payload = one_joint(35.0, toward, rim)
    # n is along f = (-F sin, 0, 105 - F cos); at the rim F sin = (105 - F cos) tan(rim).
    slope = math.sin(toward) + math.cos(toward) * math.tan(rim)
    if slope <= 0:
        assert payload.mode == "unlimited"
        return
    assert payload.mode == "socket"
    assert payload.force == pytest.approx(105 * math.tan(rim) / slope, rel=1e-9)
    n = payload.contact.normal[0]
    assert math.acos(n[2]) == pytest.approx(rim, abs=1e-9)
    assert "rim" in payload.reason
    assert payload.reason.startswith("joint 1 ")


@pytest.mark.parametrize("short_of", [1e-2, 1e-3, 1e-5])
def test_a_rim_that_is_met_only_under_a_huge_load(short_of):
    """The contact creeps toward 0.5 rad and meets a rim just before that."""
    rim = 0.5 - short_of
    payload = one_joint(35.0, math.pi - 0.5, rim)
    assert payload.mode == "socket"
    assert payload.force == pytest.approx(
        105 * math.tan(rim) / (math.sin(0.5) - math.cos(0.5) * math.tan(rim)), rel=1e-6
    )
    assert one_joint(35.0, math.pi - 0.5, 0.5 + short_of).mode == "unlimited"


def scanned_rim(snake, w, joint, rim, most):
    """Least load found, up to `most`, that presses the contact onto the rim."""
    loads = np.linspace(0, most, 400) if math.isfinite(most) else np.append(0, 10.0 ** np.linspace(-4, 4, 600))
    angles = np.array([snake.rim_angle(w, joint, load) for load in loads])
    if not (angles > rim).any():
        return math.inf
    k = int(np.argmax(angles > rim))
    if k == 0:
        return 0.0
    low, high = loads[k - 1], loads[k]
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if snake.rim_angle(w, joint, middle) > rim else (middle, high)
    return low


def test_random_sockets_against_a_scan():
    met = 0
    for seed in range(300 if SOAK else 25):
        question = snakes.question(np.random.default_rng(4000 + seed), joints=2)
        rng = np.random.default_rng(seed)
        free = question.ask()
        snake = question.snake()
        w = snake.wrenches(*question.place())
        rim = rng.uniform(0.05, 0.8, 2)
        payload = question.ask(socket_limit=rim)
        for j in (1, 2):
            limit = free.limits[j - 1]
            if limit == 0.0 or j > question.link % 3:
                continue
            scanned = scanned_rim(snake, w, j, rim[j - 1], limit)
            if scanned < limit:
                assert payload.modes[j - 1] == "socket"
                assert payload.limits[j - 1] == pytest.approx(scanned, rel=1e-8, abs=1e-12)
                met += 1
            elif payload.modes[j - 1] == "socket":
                # Missed by the scan: a peak between two samples.
                assert snake.rim_angle(w, j, payload.limits[j - 1]) == pytest.approx(rim[j - 1], abs=1e-9)
            else:
                assert payload.limits[j - 1] == limit
    assert met > 10


def test_a_rim_that_no_contact_reaches_changes_nothing():
    rng = np.random.default_rng(1)
    for _ in range(10):
        asked = (rng.uniform(-0.1, 0.1, 19), rng.uniform(-3, 3, 19), 35.0, rng.normal(size=3))
        free, wide = vb.payload(ROBOT, *asked), vb.payload(ROBOT, *asked, socket_limit=math.pi)
        assert wide.limits.tobytes() == free.limits.tobytes()
        assert wide.modes == free.modes


def test_a_narrower_socket_never_carries_more():
    rng = np.random.default_rng(2)
    met = 0
    for _ in range(10):
        asked = (rng.uniform(-0.1, 0.1, 19), rng.uniform(-3, 3, 19), 35.0, rng.normal(size=3))
        forces = [vb.payload(ROBOT, *asked, socket_limit=rim).force for rim in (0.6, 0.5, 0.4, 0.3, 0.2, 0.1)]
        assert all(wide >= narrow * (1 - 1e-9) for wide, narrow in itertools.pairwise(forces))
        met += forces[-1] < forces[0]
    assert met > 5


def test_beyond_the_rim_without_any_load():
    payload = vb.payload(ROBOT, 0.1, 0.0, 35.0, (0, -1, 0), socket_limit=0.01)
    assert payload.slips_unloaded
    assert payload.mode == "socket"
    assert "rim" in payload.reason
    assert "without any load" in payload.reason


def test_sockets_beyond_the_loaded_link_do_not_feel_the_load():
    rng = np.random.default_rng(3)
    for link in (0, 1, 8):
        shape = rng.uniform(-0.05, 0.05, 19), rng.uniform(-3, 3, 19)
        payload = vb.payload(ROBOT, *shape, 35.0, rng.normal(size=3), link, socket_limit=0.3)
        assert np.isinf(payload.limits[link:]).all()
        assert set(payload.modes[link:]) == {"unlimited"}


def test_pulled_apart_in_a_socket():
    """Straight and weightless: the contact stays where it is until there is none."""
    payload = vb.payload(ROBOT, 0.0, 0.0, 35.0, (0, 0, 1), gravity=(0, 0, 0), socket_limit=0.1)
    assert payload.modes == ("separation",) * 19
    assert payload.force == pytest.approx(105.0)


def test_the_rim_of_the_file_is_the_default():
    given = snakes.changed(ROBOT, joint={"socket": 0.3})
    asked = (0.05, 0.2, 35.0, (0.3, -1, 0))
    by_file, stated = vb.payload(given, *asked), vb.payload(ROBOT, *asked, socket_limit=0.3)
    assert by_file.limits.tobytes() == stated.limits.tobytes()
    assert "socket" in by_file.modes
    wide = vb.payload(given, *asked, socket_limit=1.5)
    assert "socket" not in wide.modes
    each = np.full(19, 1.5)
    each[4] = 0.01
    assert vb.payload(given, *asked, socket_limit=each).joint == 5


def test_the_socket_belongs_to_the_outer_link():
    """The rim is counted from the axis of the link that sits on the ball, not from that of the ball's link."""
    robot = snakes.short(1, joint={"friction": 1.0})
    asked = {"direction": (0, -1, 0), "link": 0, "gravity": (0, 0, 0)}
    free = vb.payload(robot, 0.3, 0.7, 35.0, **asked)
    outer = vb.Pose(robot, vb.BallShape.arc(robot, 0.3, 0.7).coordinates).frames[1, :3, 2]
    lean = math.acos(free.contact.normal[0] @ outer)
    assert abs(lean - math.acos(free.contact.normal[0, 2])) > 0.01
    inside, outside = (vb.payload(robot, 0.3, 0.7, 35.0, **asked, socket_limit=lean + x) for x in (1e-6, -1e-6))
    assert (inside.mode, outside.mode) == ("unlimited", "socket")
