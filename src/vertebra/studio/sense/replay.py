"""Recordings in the Sense tab: prepared in a process of its own, then played."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vertebra.errors import RecordingError, StudioError
from vertebra.mechanics.kinematics import Pose
from vertebra.robot.robot import Robot, load
from vertebra.robot.tables import Floats
from vertebra.sensing.recording.shape_reader import McapRecords, RecordedShapes, read_json, read_shapes
from vertebra.sensing.sensed_shape import SensorState
from vertebra.studio.player import Player
from vertebra.studio.sense.run import NOT_KNOWN, WINDOW, Sensed, Snapshot, Snapshots, snapshot_of

if TYPE_CHECKING:
    from vertebra.sensing.network import Replay
    from vertebra.studio.studio import Studio

MOST_SNAPSHOTS = 8000
"""Kept of a recording; of a longer one every second, fourth, ... shape."""
_REPORT_EVERY = 2000
"""Frames between two reports of progress."""


@dataclass(frozen=True, eq=False)
class Recorded:
    """What a recording shows."""

    snapshots: Snapshots
    note: str
    """What was read, in words."""
    fault: str
    """Why it stops early; empty when it is complete."""


class Thinned:
    """Keeps at most `most` snapshots, evenly spread: when it is full, every other one is dropped."""

    def __init__(self, most: int = MOST_SNAPSHOTS) -> None:
        self.kept: list[Snapshot] = []
        self.seen = 0
        self._most, self._stride = most, 1

    @property
    def wants(self) -> bool:
        """Whether the next one would be kept."""
        return self.seen % self._stride == 0

    def add(self, snapshot: Snapshot | None) -> None:
        """The next one; may be None when it is not wanted."""
        if self.wants and snapshot is not None:
            self.kept.append(snapshot)
        self.seen += 1
        if len(self.kept) >= self._most:
            self.kept, self._stride = self.kept[::2], 2 * self._stride


def read_recording(
    path: str,
    robot: dict[str, Any],
    method: str,
    calibration: str | None,
    most: int = MOST_SNAPSHOTS,
    *,
    report: Callable[[float], None],
) -> Recorded:
    """The shapes of a recording of frames by `method`, or those in a recording of shapes.

    `robot` as its `to_mapping` gives it; `calibration` is the path of a file. Raises RecordingError, StudioError.
    """
    chosen = load(robot)
    if Path(path).suffix.lower() == ".mcap":
        return recorded_shapes(path, chosen, most)
    return _replayed(path, chosen, method, calibration, most, report)


def _replayed(
    path: str, robot: Robot, method: str, calibration: str | None, most: int, report: Callable[[float], None]
) -> Recorded:
    from vertebra.sensing.network import Replay
    from vertebra.studio.sense.sources import make_estimator

    source = Replay(path, make_estimator(robot, method, calibration))
    total, shapes, fault = _count(path), Thinned(most), ""
    try:
        for shape, _, _ in source:
            shapes.add(snapshot_of(shape, source.network.counters.lost) if shapes.wants else None)
            if shapes.seen % _REPORT_EVERY == 0:
                report(source.network.counters.frames / max(total, 1))
    except RecordingError as error:
        fault = str(error)
    if not shapes.kept:
        raise RecordingError(Path(path).name, fault or f"gives no shape; it has {_lacking(source)}")
    if not fault and not source.reader.complete:
        fault = f"{Path(path).name} was cut off; these are the shapes before that."
    return Recorded(Snapshots(shapes.kept), _note(shapes, source), fault)


def _count(path: str) -> int:
    """Frames in a file, as far as it can be read: for the progress alone."""
    from vertebra.sensing.recording.raw_log import read_frames

    count = 0
    try:
        for _ in read_frames(path):
            count += 1
    except RecordingError:
        pass  # raised again where it is reported
    return count


def _note(shapes: Thinned, source: Replay) -> str:
    counters = source.network.counters
    kept = "" if len(shapes.kept) == shapes.seen else f"; {len(shapes.kept)} of them are shown"
    lost = int(counters.lost.sum())
    return f"{shapes.seen} shapes from {counters.frames} frames{kept}. Lost {lost}, malformed {counters.malformed}."


def _lacking(source: Replay) -> str:
    counters = source.network.counters
    if not counters.frames:
        return "no frames; record again"
    if not counters.sync:
        return f"{counters.frames} frames but no SYNC (id 080); the bus needs a master"
    return f"{counters.frames} frames but no orientations of the sensors of this robot; choose the right robot"


def _require_robot(name: str, robot: Robot, angles: int, sensors: int, recorded: str) -> None:
    """Refuse a recording of another robot."""
    if (angles, sensors) != (robot.freedoms, len(robot.sensor_links)):
        raise StudioError(
            name,
            f"is of {recorded or 'another robot'}, with {angles} joint angles and {sensors} sensors; "
            f"{robot.name} has {robot.freedoms} and {len(robot.sensor_links)}: choose the right robot",
        )


# Recordings of shapes (MCAP) for the page: nothing is estimated again.

_UNHEARD: dict[str, Any] = {
    "state": "silent", "age": None, "samples": 0, "tilt_weight": 1.0, "heading_weight": 1.0
}  # fmt: skip


def recorded_shapes(path: str, robot: Robot, most: int) -> Recorded:
    """The shapes of a recording; links are placed by the joint angles, so without the twist of joints."""
    name = Path(path).name
    shapes = read_shapes(path)
    if not len(shapes.times):
        raise RecordingError(name, "contains no shape; record again")
    sensors = shapes.heading_residuals.shape[1]
    _require_robot(name, robot, shapes.angles.shape[1], sensors, str(shapes.robot.get("name", "")))
    health = _health(path, sensors)
    kept = Thinned(most)
    for row in range(len(shapes.times)):
        kept.add(_snapshot(robot, shapes, row, health.get(row, [])) if kept.wants else None)
    shown = "" if len(kept.kept) == kept.seen else f"; {len(kept.kept)} of them are shown"
    fault = "" if shapes.complete else f"{name} was cut off; these are the shapes before that."
    return Recorded(Snapshots(kept.kept), f"{kept.seen} recorded shapes{shown}.", fault)


def _snapshot(robot: Robot, shapes: RecordedShapes, row: int, health: list[dict[str, Any]]) -> Snapshot:
    frames = Pose(robot, shapes.angles[row]).frames
    base = shapes.tip_rotations[row] @ frames[-1, :3, :3].T
    rows = health or [_UNHEARD] * shapes.heading_residuals.shape[1]
    return Snapshot(
        time=float(shapes.times[row]), frames=frames, base=base, tip=base.T @ shapes.tips[row],
        covariance=base.T @ shapes.tip_covariances[row, :3, :3] @ base, angles=shapes.angles[row],
        angle_sigmas=shapes.angle_sigmas[row], headings=shapes.heading_residuals[row],
        states=np.array([SensorState[str(item["state"]).upper()] for item in rows], np.int64),
        ages=_column(rows, "age"), samples=_column(rows, "samples").astype(np.int64),
        weights=np.column_stack([_column(rows, "tilt_weight"), _column(rows, "heading_weight")]),
        lost=np.full(len(rows), NOT_KNOWN, np.int64),
    )  # fmt: skip


def _column(rows: list[dict[str, Any]], name: str) -> Floats:
    return np.array([np.inf if item[name] is None else item[name] for item in rows], np.float64)


def _is_state(item: dict[str, Any]) -> bool:
    if not set(_UNHEARD) <= set(item) or str(item["state"]).upper() not in SensorState.__members__:
        return False
    return all(item[name] is None or math.isfinite(float(item[name])) for name in _UNHEARD if name != "state")


def _health(path: str, sensors: int) -> dict[int, list[dict[str, Any]]]:
    """States of the sensors for each shape: the last report on them before it or with it."""
    topics: dict[int, str] = {}
    known: list[dict[str, Any]] = []
    found: dict[int, list[dict[str, Any]]] = {}
    row = -1
    try:
        for kind, record in McapRecords(path):
            if kind == "Channel":
                topics[record.id] = record.topic
            elif kind == "Message" and topics.get(record.channel_id) == "/estimate":
                row += 1
                found[row] = known
            elif kind == "Message" and topics.get(record.channel_id) == "/health":
                known = found[row] = read_json(record.data)["sensors"]
                if len(known) != sensors or not all(map(_is_state, known)):
                    raise ValueError("a sensor is missing, or its state is none of ours")
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise RecordingError(Path(path).name, f"has states of sensors that cannot be read ({error})") from None
    return found


class RecordingPlayer:
    """One recording at a time; `show` is called on the studio's thread with what is due."""

    def __init__(
        self,
        studio: Studio,
        show: Callable[[Sensed], None],
        moved: Callable[[float], None],
        changed: Callable[[], None],
    ) -> None:
        """`moved` gets the time, s; `changed` is called when it is loaded or has ended."""
        self._studio, self._show, self._changed = studio, show, changed
        self._player = Player(studio.loop.post, self._row, moved, changed)
        self._recorded: Recorded | None = None
        self._loading: object | None = None
        self._at = 0

    @property
    def loaded(self) -> bool:
        """Whether there is something to play."""
        return self._recorded is not None

    @property
    def playing(self) -> bool:
        """Whether it plays."""
        return self._player.playing

    @property
    def duration(self) -> float:
        """s."""
        return self._player.duration

    def load(
        self, path: str, name: str, method: str, calibration: str | None, speed: float,
        failed: Callable[[Exception], None],
    ) -> None:  # fmt: skip
        """Prepare a recording and play it."""
        mark = self._loading = object()
        self._studio.jobs.start(
            read_recording, path, self._studio.robot.to_mapping(), method, calibration,
            done=lambda recorded: self._loaded(mark, recorded, speed),
            failed=lambda error: self._not_loaded(mark, error, failed),
            progress=lambda share: self._studio.status.working(share, f"Estimating the shapes of {name}"),
        )  # fmt: skip

    def forget(self) -> None:
        """Stop, and leave the recording."""
        self.halt()
        self._recorded = None

    def halt(self) -> None:
        """Stop; abandon what is being loaded."""
        self._player.pause()
        if self._loading is not None:
            self._loading = None
            self._studio.jobs.cancel()
            self._studio.status.clear()

    def play(self, speed: float) -> None:
        """From the current time."""
        if self.loaded:
            self._player.play(speed)

    def pause(self) -> None:
        """Stop at the current time."""
        self._player.pause()

    def seek(self, at: float) -> None:
        """Show what was at `at` s."""
        if self.loaded:
            self._player.pause()
            self._player.seek(at)

    def past(self, seconds: float) -> Floats:
        """(K, 6) s, tip in m and two zeros of the last `seconds` before what is shown."""
        assert self._recorded is not None
        times, tips = self._recorded.snapshots.times, self._recorded.snapshots.tips
        rows = slice(int(np.searchsorted(times, times[self._at] - seconds)), self._at + 1)
        return np.column_stack([times[rows], tips[rows], np.zeros((len(times[rows]), 2))])

    def _row(self, row: int) -> None:
        if self._recorded is not None and row < len(self._recorded.snapshots):
            self._at, snapshots = row, self._recorded.snapshots
            self._show(Sensed(None, "", snapshots[row], rates=snapshots.rates(row, WINDOW)))

    def _loaded(self, mark: object, recorded: Recorded, speed: float) -> None:
        if mark is not self._loading:
            return
        self._loading, self._recorded = None, recorded
        self._player.load(recorded.snapshots.times)
        self._row(0)
        self._player.play(speed)
        self._changed()
        self._studio.status.clear()
        say = self._studio.status.error if recorded.fault else self._studio.status.say
        say(recorded.fault or recorded.note)

    def _not_loaded(self, mark: object, error: Exception, failed: Callable[[Exception], None]) -> None:
        if mark is self._loading:
            self._loading = None
            failed(error)
