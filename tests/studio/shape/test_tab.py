"""Loads in the scene: arrows whose heads are dragged set the force, and every window sees it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.studio.visitors import CAMERA, eventually, packed, window
from tests.studio.whole_studio import Running, running

import vertebra as vb
from vertebra.studio.shape.settings import LoadSetting, ShapeSettings
from vertebra.studio.shape.tab import ARROW, LONGEST


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path, "hu2023-prototype") as made:
        yield made


def loads_of(studio: Any) -> Any:
    return studio.tabs["shape"]._loads


def test_a_dragged_arrow_sets_the_force_and_the_shape(opened: Running) -> None:
    studio = opened.studio
    tensions = (4.0, 3.0, 2.5, 6.0)
    opened.good(
        lambda: studio.tabs["shape"].restore(
            ShapeSettings(tensions=tensions, loads=(LoadSetting(link=11, force=(0.1, 0, 0)),))
        )
    )
    opened.good(lambda: studio.choose_mode("shape"))
    loads, before = loads_of(studio), studio.tabs["shape"].shape
    wanted = np.array([0.05, -0.12, 0.08])
    place = before.tip * studio.stage.scale + ARROW / loads.usual * wanted
    with window(studio.address, Authorization=f"Bearer {studio.address.token}") as socket:
        socket.send(packed(CAMERA))
        name = {"name": "/loads/1-grip", "owner": ""}
        socket.send(packed({"type": "TransformControlsDragStartMessage", **name}))
        turned = {"wxyz": [1.0, 0.0, 0.0, 0.0], "position": place.tolist()}
        socket.send(packed({"type": "TransformControlsUpdateMessage", **name, **turned}))
        assert eventually(lambda: np.allclose(loads.settings()[0].force, wanted, rtol=5e-3))
        socket.send(packed({"type": "TransformControlsDragEndMessage", **name}))
        assert eventually(lambda: not loads._rows[0].dragged)
        opened.settle()
    force = loads.settings()[0].force
    shape = vb.shape_from_tensions(studio.robot, tensions, loads=[vb.Load(force=force)])
    assert np.array_equal(studio.tabs["shape"].shape.frames, shape.frames)
    # The head of the arrow has come back to where the force, from the tip as it is now, ends.
    assert np.allclose(
        loads._rows[0].grip.position, shape.tip * studio.stage.scale + ARROW / loads.usual * np.array(force)
    )


def test_a_huge_force_has_an_arrow_that_can_be_seen(opened: Running) -> None:
    loads = loads_of(opened.studio)
    opened.good(lambda: loads.restore((LoadSetting(link=11, force=(0.0, 0.0, -1e6)),)))
    opened.good(opened.studio.tabs["shape"].shown)
    start, end = loads._rows[0].arrow.points[0]
    assert np.linalg.norm(end - start) == pytest.approx(LONGEST, rel=1e-5)


def test_at_most_four_loads_and_numbers_are_reused(opened: Running) -> None:
    loads = loads_of(opened.studio)
    for _ in range(4):
        opened.good(loads._added)
    assert loads._add.disabled
    opened.good(lambda: loads._take_away(loads._rows[1]))
    assert not loads._add.disabled
    opened.good(loads._added)
    assert sorted(row.number for row in loads._rows) == [1, 2, 3, 4]
