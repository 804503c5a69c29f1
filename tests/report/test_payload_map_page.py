"""The page of a payload map: bodies to choose from, colours, and the facts behind them."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.report.looking import Reader

import vertebra as vb
from vertebra.report.payload import PayloadCase, payload_case
from vertebra.report.payload_map import (
    FREE_COLOUR,
    JOINT_COLOURS,
    Body,
    bodies_facts,
    bodies_of,
    body_rows,
    joint_colours,
    map_page,
    map_picture,
    map_summary,
    scale_text,
    share_facts,
    write_map_page,
)

DEG = math.pi / 180
DOWN = (0.0, -1.0, 0.0)


@pytest.fixture(scope="module")
def case() -> PayloadCase:
    robot = vb.load("cai2023")
    return payload_case(robot, vb.BallShape.spiral(robot, 8 * DEG), "spiral 8 deg", 35.0, robot.gravity)


@pytest.fixture(scope="module")
def bodies(case: PayloadCase) -> tuple[Body, ...]:
    found = vb.payload_map(case.robot, *case.shape, case.tensions, 200, (-1, 10))
    asked = [vb.payload(case.robot, *case.shape, case.tensions, DOWN, link=link) for link in (-1, 10)]
    return bodies_of(case, found, asked=asked)


@pytest.fixture(scope="module")
def figure(case: PayloadCase, bodies: tuple[Body, ...]) -> Any:
    return map_picture(case, bodies)


def skins(figure: Any) -> list[Any]:
    return [trace for trace in figure.data if "weakest" in (trace.name or "")]


def test_page_loads_nothing_from_outside(case: PayloadCase, bodies: tuple[Body, ...]) -> None:
    page = map_page(case, bodies, "a <map>")
    assert Reader(page).fetched == []
    assert "http" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert len(page) < 8e6
    shown = Reader(page).shown
    for text in ("a <map>", "spiral 8 deg", "200, evenly spread", "Payload by loaded point", "link 10"):
        assert text in shown


def test_a_large_map_stays_small(case: PayloadCase, tmp_path: Path) -> None:
    """Many joints give way in this shape, so that much of the skin is cut."""
    found = vb.payload_map(case.robot, *case.shape, case.tensions, 1000, (-1, 10, 5, 15))
    assert write_map_page(case, bodies_of(case, found), tmp_path / "map.html", "").stat().st_size < 8e6


def test_one_body_is_shown_at_a_time(figure: Any, bodies: tuple[Body, ...]) -> None:
    buttons = figure.layout.updatemenus[0].buttons
    assert [button.label for button in buttons] == ["the tip", "link 10"]
    first, second = (np.array(button.args[0]["visible"]) for button in buttons)
    own = np.array([trace.visible is not None for trace in figure.data])
    assert first[~own].all()
    assert second[~own].all(), "the robot is always there"
    assert (first[own] ^ second[own]).all(), "each part of a body belongs to one of them"
    np.testing.assert_array_equal(
        first[own], [bool(trace.visible) for trace in figure.data if trace.visible is not None]
    )
    assert "10 mm a N" in figure.layout.annotations[0].text
    assert scale_text(bodies[1]) in buttons[1].args[1]["annotations"][0]["text"]


def test_skin_tells_payload_joint_and_mode(figure: Any, bodies: tuple[Body, ...]) -> None:
    body = bodies[0]
    seen = set()
    for trace in skins(figure):
        if not trace.visible:
            continue
        joint = int(re.match(r"joint (\d+) weakest", trace.name).group(1))
        payload, direction = trace.customdata[0][0], np.array(trace.customdata[0][1:])
        row = int(np.argmax(body.directions @ direction))
        assert payload == pytest.approx(body.payload[row], rel=1e-6)
        assert body.joint[row] == joint
        assert f"joint {joint} {'twists' if body.mode[row] == 'torsion' else 'slides'}" in trace.hovertemplate
        place = np.array([trace.x[0], trace.y[0], trace.z[0]])
        np.testing.assert_allclose(place, body.drawn[row], atol=1e-3)
        seen.add((joint, body.mode[row]))
    assert seen == set(zip(body.joint.tolist(), body.mode, strict=True))


def test_legend_has_one_entry_a_joint(figure: Any, bodies: tuple[Body, ...]) -> None:
    shown = [trace for trace in skins(figure) if trace.visible]
    named = [trace.name for trace in shown if trace.showlegend]
    assert len(named) == len(set(named)) == len(np.unique(bodies[0].joint)) < len(shown)
    share = 100 * np.mean(bodies[0].joint == 1)
    assert f"joint 1 weakest: {share:.3g} %" in named


def test_direction_that_was_asked_for(figure: Any, bodies: tuple[Body, ...]) -> None:
    line = next(trace for trace in figure.data if "as asked" in (trace.name or ""))
    force = bodies[0].asked.force
    assert line.name == f"as asked: {force:.4g} N"
    np.testing.assert_allclose(
        [line.x[1], line.y[1], line.z[1]], bodies[0].middle + bodies[0].scale * force * np.array(DOWN)
    )


def test_axes_have_one_scale_and_room_for_every_body(figure: Any, bodies: tuple[Body, ...]) -> None:
    scene = figure.layout.scene
    ranges = np.array([scene.xaxis.range, scene.yaxis.range, scene.zaxis.range])
    ratio = np.array([scene.aspectratio.x, scene.aspectratio.y, scene.aspectratio.z])
    per_mm = ratio / np.ptp(ranges, axis=1)
    np.testing.assert_allclose(per_mm, per_mm[0])
    for body in bodies:
        assert (body.drawn >= ranges[:, 0]).all()
        assert (body.drawn <= ranges[:, 1]).all()


def with_joints(bodies: tuple[Body, ...], joints: list[int]) -> Body:
    count = len(bodies[0].payload)
    joint = np.resize(joints, count)
    return replace(bodies[0], joint=joint, mode=tuple("sliding" if j else "unlimited" for j in joint.tolist()))


def test_colours_of_joints(bodies: tuple[Body, ...]) -> None:
    few = joint_colours([with_joints(bodies, [4, 4, 9, 0])])
    assert few == {0: FREE_COLOUR, 4: JOINT_COLOURS[0], 9: JOINT_COLOURS[1]}, "the most frequent first"
    many = joint_colours([with_joints(bodies, list(range(1, 13)))])
    assert list(many) == list(range(13)), "from base to tip"
    assert len(set(many.values())) == 13
    together = joint_colours([with_joints(bodies, [1]), with_joints(bodies, [2])])
    assert together[1] != together[2]


def test_shares_add_up(bodies: tuple[Body, ...]) -> None:
    for body in bodies:
        rows = share_facts(body).rows
        shares = [float(row[2].removesuffix(" %")) for row in rows]
        assert sum(shares) == pytest.approx(100, abs=0.05 * len(rows))
        assert shares == sorted(shares, reverse=True)
        assert min(float(row[3]) for row in rows) == pytest.approx(body.payload.min(), rel=1e-3)


def test_least_and_largest(case: PayloadCase, bodies: tuple[Body, ...]) -> None:
    body = bodies[0]
    rows = dict(body_rows(body))
    low, high = body.payload.argmin(), body.payload.argmax()
    assert rows["least"].startswith(f"{body.payload[low]:.4g} N toward (")
    assert f"joint {body.joint[low]} " in rows["least"]
    assert rows["largest"].startswith(f"{body.payload[high]:.4g} N toward (")
    assert rows["as asked"].startswith(f"{body.asked.force:.4g} N toward (0.000, -1.000, 0.000): joint")
    assert "no limit" not in rows
    assert dict(map_summary(case, [body]).rows)["acts at"] == "the tip"
    table = bodies_facts(bodies)
    assert [row[:2] for row in table.rows] == [(b.name, f"{b.payload.min():.4g}") for b in bodies]


def test_what_has_no_limit_is_counted_and_cut(bodies: tuple[Body, ...]) -> None:
    body = bodies[0]
    payload = body.payload.copy()
    payload[:7] = math.inf
    free = replace(body, payload=payload, joint=np.where(payload < math.inf, body.joint, 0), cap=5.0,
                   mode=("unlimited",) * 7 + body.mode[7:])  # fmt: skip
    assert dict(body_rows(free))["no limit"] == "in 7 of 200 directions"
    cut = int((payload > 5).sum())
    assert scale_text(free) == f"10 mm a N; {cut} directions cut at 5 N"
    assert ("-", "unlimited", "3.5 %", "-", "-") in share_facts(free).rows
    assert bodies_facts([free, body]).rows[0][6] == "3.5 %"


def test_nothing_to_draw_is_said(case: PayloadCase, bodies: tuple[Body, ...]) -> None:
    count = len(bodies[0].payload)
    nothing = replace(bodies[0], payload=np.zeros(count), scale=0.0, cap=math.inf, asked=None)
    page = map_page(case, [nothing], "")
    assert "the tip: no body is drawn; the robot does not even hold itself" in Reader(page).shown
    assert not skins(map_picture(case, [nothing]))
    free = replace(nothing, payload=np.full(count, math.inf), joint=np.zeros(count, int), mode=("unlimited",) * count)
    shown = Reader(map_page(case, [free], "")).shown
    assert "the tip: no body is drawn; no load makes a link slip" in shown
    assert "no limit toward" in " ".join(shown)


def test_same_input_same_bytes(case: PayloadCase, bodies: tuple[Body, ...], tmp_path: Path) -> None:
    first, second = (write_map_page(case, bodies, tmp_path / f"{i}.html", "").read_bytes() for i in range(2))
    assert first == second


def test_tensions_that_differ_are_not_told_at_the_cables(case: PayloadCase, bodies: tuple[Body, ...]) -> None:
    def names(tell: bool) -> str:
        return json.dumps([trace.name for trace in map_picture(case, bodies, tell).data])

    assert "cable 1, -90 deg: 35 N" in names(True)
    assert "35 N" not in names(False)
    assert "best 1, 2, 3 N" in Reader(map_page(case, bodies, "", "best 1, 2, 3 N")).shown
