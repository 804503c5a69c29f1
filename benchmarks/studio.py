"""The studio: from a slider to the message that moves the picture, and how many pictures of a motion arrive."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import vertebra as vb
from benchmarks.report import Row
from benchmarks.wire_window import WireWindow
from vertebra.robot.robot import Robot
from vertebra.studio.player import RATE, Player
from vertebra.studio.scene import Picture
from vertebra.studio.serving.server import Access
from vertebra.studio.shape.settings import first_tensions
from vertebra.studio.studio import Studio, open_studio

MOVES = 60
SECONDS = 5.0
"""Of playing."""


def rows() -> list[Row]:
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))  # a window is never on the core of its server
    try:
        with opened() as (studio, window):
            return [slider_to_picture(studio, window), *(playing(studio, window, links) for links in (12, 50))]
    finally:
        os.sched_setaffinity(0, allowed)


@contextmanager
def opened() -> Iterator[tuple[Studio, WireWindow]]:
    with tempfile.TemporaryDirectory() as folder:
        access = Access(port=0)
        studio = open_studio("hu2023-prototype", access, Path(folder))
        try:
            studio.loop.settle(60)
            window = WireWindow(studio.address.port, studio.address.token)
            window.wait("SceneNodeUpdateMessage", 0, "batched_positions")
            yield studio, window
            window.close()
        finally:
            studio.close()


def slider_to_picture(studio: Studio, window: WireWindow) -> Row:
    """Every move waits for its picture; the solve alone is timed by the same calls."""
    time.sleep(1.0)
    round_trips, tensions = [], list(first_tensions(studio.robot))
    for move in range(MOVES):
        tensions[0] = 2.0 + 0.02 * move
        after, began = len(window.messages), time.perf_counter()
        window.set("Cable 1 (N)", tensions[0])
        round_trips.append(window.wait("SceneNodeUpdateMessage", after, "batched_positions") - began)
        time.sleep(0.02)
    solve = _seconds(lambda: vb.shape_from_tensions(studio.robot, tensions, check=False))
    whole = statistics.median(round_trips)
    detail = f"{1e3 * whole:.2f} ms there and back, {1e3 * max(round_trips):.1f} ms at most; solve {1e3 * solve:.3f} ms"
    return Row("studio: slider to picture, 12 links", "round trip / solve", whole / solve, None, detail)


def playing(studio: Studio, window: WireWindow, links: int) -> Row:
    """A motion of `links` links, played by the studio's own player."""
    robot = _robot(links)
    times = np.arange(0.0, SECONDS, 1e-2)
    waves = 0.15 * np.sin(2 * times[:, None] + np.linspace(0, 2, robot.freedoms))
    poses = np.array([vb.Pose(robot, angles).frames for angles in waves])
    pulls = np.ones((len(robot.cables), len(robot.joints)))
    studio.loop.post("robot", lambda: studio.choose_robot(robot, studio.source))
    studio.loop.settle(30)
    spent: list[float] = []

    def show(row: int) -> None:
        began = time.perf_counter()
        studio.stage.draw(Picture(poses[row], (1 + np.sin(times[row])) * pulls, 2.0, robot.gravity, poses[row]))
        spent.append(time.perf_counter() - began)

    player = Player(studio.loop.post, show, lambda at: None, lambda: None)
    player.load(times)
    after = len(window.messages)
    player.play()
    time.sleep(SECONDS + 1.0)
    player.pause()
    arrived = {
        arrived
        for arrived, message in window.messages[after:]
        if message["type"] == "SceneNodeUpdateMessage" and "batched_positions" in message["updates"]
    }
    rate = (len(arrived) - 1) / (max(arrived) - min(arrived))
    detail = f"{rate:.1f} a second arrive of {RATE:g}; {1e3 * statistics.median(spent):.2f} ms to draw one"
    return Row(f"studio: pictures of a motion, {links} links", "share of 30 a second", rate / RATE, 0.95, detail)


def _robot(links: int) -> Robot:
    section = {
        "joints": links, "joint": {"kind": "rolling", "radius": "20 mm"}, "azimuth": ["0 deg", "90 deg"],
        "link": {"length": "12 mm", "mass": "4 g"},
        "cables": {"radius": "7.5 mm", "azimuth": ["0 deg", "90 deg", "180 deg", "270 deg"]},
    }  # fmt: skip
    return vb.load({"vertebra": 1, "name": f"{links} links", "sections": [section]})


def _seconds(call: object, count: int = 200) -> float:
    """Median time of a call, s."""
    times = []
    for _ in range(count):
        began = time.perf_counter()
        call()  # type: ignore[operator]
        times.append(time.perf_counter() - began)
    return statistics.median(times)
