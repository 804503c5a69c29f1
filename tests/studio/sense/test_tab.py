from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from tests.robots import continuum
from tests.studio import visitors

import vertebra as vb
from vertebra.errors import StudioError
from vertebra.robot.robot import presets
from vertebra.sensing.recording.raw_log import RawLogWriter
from vertebra.sensing.recording.shape_reader import read_shapes
from vertebra.sensing.simulated.motion import Motion
from vertebra.sensing.simulated.sensors import SensorModel
from vertebra.sensing.simulated.stream import simulated_frames
from vertebra.studio.sense.settings import SenseSettings
from vertebra.studio.serving.server import Access
from vertebra.studio.state import RobotSource
from vertebra.studio.studio import open_studio

soon = visitors.eventually
SENSING = ("sense", "sense-receive", "sense-estimate", "sense-robot", "sense-recorder")


class Bench:
    """A studio without a window whose Sense tab is driven as its controls would drive it."""

    def __init__(self, folder, robot: str) -> None:
        self.studio = open_studio(robot, Access(port=0), folder)
        self.tab = self.studio.tabs["sense"]
        self.do(lambda: self.studio.choose_mode("sense"))

    def do(self, work) -> None:
        """Run on the studio's thread, as a person's act."""
        done = threading.Event()

        def act() -> None:
            try:
                self.studio.act(work)
            finally:
                done.set()

        self.studio.loop.post(object(), act)
        assert done.wait(30)

    def restore(self, **settings) -> None:
        def change() -> None:
            self.tab.restore(SenseSettings(**settings))
            self.tab.shown()

        self.do(change)

    def record(self, wanted: bool) -> None:
        def move() -> None:
            self.tab._recorder.record.value = wanted
            self.tab._record()

        self.do(move)

    @property
    def snapshot(self):
        return None if self.tab.sensed is None else self.tab.sensed.snapshot

    @property
    def told(self) -> str:
        return self.studio.status._handle.content

    @property
    def results(self) -> str:
        return self.tab._results._text.content


@contextmanager
def bench(folder, robot: str = "lapusan2022") -> Iterator[Bench]:
    made = Bench(folder, robot)
    try:
        yield made
        assert "Internal error" not in made.told
    finally:
        made.do(made.tab.hidden)
        made.studio.close()


def sensing_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name in SENSING]


def test_every_preset_is_sensed_immediately_and_another_robot_or_tab_ends_the_run(tmp_path):
    with bench(tmp_path) as made:
        for name in presets():
            robot = vb.load(name)
            made.do(lambda robot=robot, name=name: made.studio.choose_robot(robot, RobotSource(name=name)))
            assert soon(lambda robot=robot: made.snapshot is not None and len(made.snapshot.frames) == len(robot.links))
            assert soon(lambda: "sense-tip-error" in made.results)
            assert soon(lambda robot=robot: 0.0 < made.tab.sensed.tip_error < 0.1 * robot.length)
            assert soon(lambda: sorted(sensing_threads()) == sorted(SENSING[:4])), sensing_threads()
        made.do(lambda: made.studio.choose_mode("shape"))
        assert soon(lambda: sensing_threads() == [])


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts file descriptors by /proc")
def test_coming_and_going_leaves_nothing_behind(tmp_path):
    def counted() -> tuple[int, int]:
        return threading.active_count(), len(os.listdir("/proc/self/fd"))

    with bench(tmp_path) as made:
        assert soon(lambda: made.snapshot is not None)
        made.do(lambda: made.studio.choose_mode("shape"))
        assert soon(lambda: sensing_threads() == [])
        before = counted()
        for _ in range(20):
            made.do(lambda: made.studio.choose_mode("sense"))
            made.do(lambda: made.studio.choose_mode("shape"))
        assert soon(lambda: counted() == before), (counted(), before)


def test_the_base_tilts_as_it_is_set_and_a_method_that_does_not_fit_changes_nothing(tmp_path):
    with bench(tmp_path) as made:
        made.restore(method="paper", base="horizontal")
        assert soon(lambda: made.snapshot is not None and made.snapshot.base[2, 2] < 0.1)
    with bench(tmp_path, "hu2023-planar") as made, pytest.raises(StudioError, match="method"):
        made.tab.restore(SenseSettings(method="paper"))


def test_a_faulty_sensor_is_named(tmp_path):
    with bench(tmp_path) as made:
        made.restore(sensor=2, magnet=True)
        assert soon(lambda: "Sensor 2: disturbed" in made.results), made.results
        made.restore(sensor=2, silent=True)
        assert soon(lambda: "Sensor 2: not heard" in made.results), made.results


def test_a_link_names_a_bus_but_only_the_button_opens_it(tmp_path):
    with bench(tmp_path) as made:
        made.restore(source="Live bus", bus="virtual://bench")
        assert soon(lambda: sensing_threads() == [])
        assert "Not connected" in made.results
        made.do(made.tab._go)
        assert soon(lambda: "No frames" in made.results)
        assert made.tab._go_button.label == "Disconnect"
        made.do(made.tab._go)
        assert soon(lambda: sensing_threads() == [])
        made.restore(source="Live bus", bus="nonsense")
        assert "is not a bus" in made.told
        made.restore(source="Live bus", bus="socketcan://nothere")
        made.do(made.tab._go)
        assert soon(lambda: "no interface nothere" in made.told), made.told
        assert made.tab._go_button.label == "Connect"


def test_a_recording_plays_seeks_and_pauses_and_a_broken_one_is_reported(tmp_path):
    robot = vb.load("lapusan2022")
    with RawLogWriter(tmp_path / "run.csv") as log:
        for frame in simulated_frames(robot, Motion.wander(robot), SensorModel(), 2.0).frames:
            log.write(frame)
    (tmp_path / "broken.blf").write_bytes(b"LOGG but broken")
    with bench(tmp_path) as made:
        made.restore(source="Recording", file="run.csv", play_speed=10.0)
        assert soon(lambda: made.snapshot is not None and made.snapshot.time > 1.9), made.told
        assert soon(lambda: not made.tab._playback.playing)
        assert "sense-tip-x" in made.results
        made.tab._time.value = 1.0
        made.do(lambda: made.tab._played_to(1.7))  # comes too late: a person has moved the slider
        made.do(made.tab._seek)
        assert soon(lambda: abs(made.snapshot.time - 1.0) < 0.05)
        made.restore(source="Recording", file="broken.blf")
        assert soon(lambda: "broken.blf" in made.told), made.told
        assert made.tab._go_button.disabled


def test_a_recording_is_made_downloaded_and_kept_in_the_folder(tmp_path):
    with bench(tmp_path) as made:
        with pytest.raises(StudioError, match="tick Record"):
            made.tab.recording()
        assert soon(lambda: made.snapshot is not None)
        made.record(True)
        assert soon(lambda: "Recording:" in made.tab._recorder.note.content)
        assert soon(lambda: made.tab._recorder._recording._size() > 20_000)
        name, content = made.tab.recording()
        made.record(False)
        made.do(made.tab._keep)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["lapusan2022-sensed.blf", "lapusan2022-sensed.mcap"]
        (tmp_path / "download.mcap").write_bytes(content)
        found = read_shapes(tmp_path / "download.mcap")
        assert name == "lapusan2022-sensed.mcap"
        assert found.complete
        assert np.isfinite(found.angles).all()
        made.restore(source="Recording", file="lapusan2022-sensed.blf")
        assert soon(lambda: "shapes from" in made.told), made.told
        made.record(True)
        assert "nothing is being sensed" in made.told
        assert not made.tab._recorder.record.value


def test_angles_have_the_names_that_tables_have() -> None:
    from types import SimpleNamespace

    from vertebra.studio.sense.tab import MOST_ROWS, _joints

    robot = continuum(MOST_ROWS)
    some = SimpleNamespace(angles=np.zeros(robot.freedoms), angle_sigmas=np.zeros(robot.freedoms))
    text = _joints(robot, some)  # type: ignore[arg-type]
    assert ">1a<" in text
    assert ">1b<" in text
    assert f"And {MOST_ROWS} more angles." in text
