from __future__ import annotations

import os
import queue
import signal
import threading
from types import SimpleNamespace

import pytest
from tests.sensing.networks import go, network, sender
from tests.sensing.recording.full_disks import limit_files
from tests.sensing.wire.bench import child, free_group
from tests.waiting import DEADLINE, wait_until

import vertebra as vb
from vertebra.cli import sense_live
from vertebra.cli.sense_live import dashboard, status_line
from vertebra.sensing import live
from vertebra.sensing.estimator import ShapeEstimator
from vertebra.sensing.live import LiveSession
from vertebra.sensing.recording.raw_log import LogReader, read_frames
from vertebra.sensing.recording.recorder import Recorder, RecorderCounters
from vertebra.sensing.recording.shape_reader import read_shapes
from vertebra.sensing.wire.bus import open_bus, receive, send
from vertebra.sensing.wire.can import Frame, angles_data, decode_sync

ROBOT = vb.load("lapusan2022")
COMMAND = "from vertebra.cli.main import run; run()"


def test_live_shows_records_and_ends_cleanly_with_ctrl_c(tmp_path):
    url, raw, mcap = free_group(), tmp_path / "run.blf", tmp_path / "run.mcap"
    simulation = network(ROBOT, 1.0)
    with (
        sender(simulation, url, tmp_path) as sending,
        child(
            COMMAND, "sense", "live", "--bus", url, "--robot", "lapusan2022", "--record", str(raw), "--mcap", str(mcap)
        ) as process,
    ):
        assert "no frames have come" in process.stdout.readline()
        go(sending)
        wait_until(lambda: sum(1 for _ in read_frames(raw)) == len(simulation.frames), "all frames in the recording")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, err
    assert "sensors: all ok" in out
    assert f"{len(simulation.frames)} frames, 101 shapes" in err
    reader = LogReader(raw)
    assert [(f.id, f.data) for f in reader] == [(f.id, f.data) for f in simulation.frames]
    shapes = read_shapes(mcap)
    assert (reader.complete, shapes.complete, len(shapes.times)) == (True, True, 101)


@pytest.fixture
def interrupted(monkeypatch):
    """Ctrl-C for a `sense live` in this process as soon as `enough(session)`; `begin` is called when it listens."""
    begun, threads = queue.SimpleQueue(), []

    class Told(LiveSession):
        def start(self) -> None:
            super().start()
            begun.put(self)

    def when(enough, begin=lambda: None) -> None:
        def watch() -> None:
            session = begun.get(timeout=DEADLINE)
            begin()
            wait_until(lambda: enough(session))
            os.kill(os.getpid(), signal.SIGINT)

        threads.append(threading.Thread(target=watch))
        threads[-1].start()

    monkeypatch.setattr(live, "LiveSession", Told)
    yield when
    for thread in threads:
        thread.join()


def test_live_is_the_master_and_tells_json(vertebra, interrupted):
    """On a virtual bus the sender does not hear itself: the session is told of its SYNCs."""
    name = f"virtual://{os.urandom(8).hex()}"
    stop = threading.Event()

    def nodes() -> None:
        with open_bus(name) as bus:
            while not stop.is_set():
                frame = receive(bus, 0.1)
                sync = decode_sync(frame.data) if frame is not None and frame.id == 0x80 else None
                for link in range(5) if sync is not None else ():
                    send(bus, Frame(0x100 + link, angles_data((0.0, 0.0, 0.0), sync.counter & 15)))

    thread = threading.Thread(target=nodes)
    thread.start()
    interrupted(lambda session: session.statistics.shapes >= 30)
    try:
        ran = vertebra("sense", "live", "--bus", name, "--robot", "lapusan2022", "--sync", "50", "--json")
    finally:
        stop.set()
        thread.join()
    assert ran.code == 0, ran.err
    assert 30 <= ran.json["counters"]["sync"] <= 50 * ran.json["statistics"]["seconds"] + 2
    assert ran.json["statistics"]["shapes"] >= 30
    assert ran.json["last"]["tip_in_base"][2] == pytest.approx(ROBOT.length, abs=1e-6)
    assert [row["state"] for row in ran.json["last"]["health"]] == ["ok"] * 5


@pytest.mark.parametrize(
    ("frames", "words"),
    [
        ([], "no frames have come"),
        ([Frame(0x101, angles_data((0.0, 0.0, 0.0), 0))], "add --sync 100"),
        (network(ROBOT, 0.01).frames[:1], "no orientations"),
    ],
)
def test_why_there_is_no_shape(vertebra, interrupted, frames, words):
    name = f"virtual://{os.urandom(8).hex()}"
    with open_bus(name) as there:
        interrupted(
            lambda session: session.statistics.frames == len(frames),
            begin=lambda: [send(there, frame) for frame in frames],
        )
        ran = vertebra("sense", "live", "--bus", name, "--robot", "lapusan2022")
    assert ran.code == 0
    assert words in ran.err


def test_the_dashboard_has_rates_tip_joints_and_sensors():
    from rich.console import Console

    name = f"virtual://{os.urandom(8).hex()}"
    frames = [frame for frame in network(ROBOT, 0.3).frames if frame.id != 0x102]
    with open_bus(name) as here, open_bus(name) as there, LiveSession(here, ShapeEstimator(ROBOT)) as session:
        screen = Console(width=120, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
        screen.print(dashboard(session, None, "nothing yet"))
        for frame in frames:
            send(there, frame)
        wait_until(lambda: session.statistics.frames == len(frames))
        screen.print(dashboard(session, None, "lapusan2022 on a bus"))
        text = screen.export_text()
        screen.file.close()
    before, _, after = text.partition("lapusan2022 on a bus")
    assert "no frames have come" in before
    assert f"{len(frames)} in all" in after
    assert "tip (" in after
    rows = [line.split() for line in after.splitlines() if line.strip()[:1].isdigit()]
    assert [row[0] for row in rows] == ["0", "1", "2", "3", "4"]
    assert "silent" in rows[2]
    assert "ok" in rows[3]


def test_a_full_disk_is_shown_while_it_is_full(tmp_path):
    name = f"virtual://{os.urandom(8).hex()}"
    with (
        open_bus(name) as here,
        open_bus(name) as there,
        Recorder(tmp_path / "a.blf") as recorder,
        LiveSession(here, ShapeEstimator(ROBOT), recorder=recorder) as session,
    ):
        assert "recorded 0 frames" in status_line(session, recorder)
        limit_files(recorder.process, 1)
        send(there, network(ROBOT, 0.01).frames[0])
        wait_until(lambda: "RECORDING FAILS" in status_line(session, recorder))
        assert "cannot be written (File too large)" in status_line(session, recorder)
        limit_files(recorder.process, None)
        wait_until(lambda: "recorded 1 frames, 0 shapes, waiting 0" in status_line(session, recorder))
        assert "FAILS" not in status_line(session, recorder)


def test_live_tells_of_a_full_disk_beside_json(monkeypatch, capsys):
    """What a fault changes is printed when it does, and not only once a second."""
    faults = iter(["", "a.blf: full", "a.blf: full", ""])
    recorder = SimpleNamespace()
    session = SimpleNamespace(statistics=SimpleNamespace(seconds=0.0))

    def ticks(*_):
        for fault in faults:
            recorder.counters = RecorderCounters(9, 5, 0, 0, 4, 0, fault)
            yield

    monkeypatch.setattr(sense_live, "_ticks", ticks)
    sense_live._show(session, recorder, threading.Event(), None, "title", True)
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.splitlines() == [
        "RECORDING FAILS: a.blf: full; recorded 5 frames, 0 shapes, waiting 4",
        "recorded 5 frames, 0 shapes, waiting 4",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--bus", "nonsense", "--robot", "lapusan2022"], "nonsense"),
        (["--bus", "virtual://x", "--robot", "nobody"], "nobody"),
        (["--bus", "virtual://x", "--robot", "lapusan2022", "--record", "a.txt"], "must end in"),
        (["--bus", "virtual://x", "--robot", "lapusan2022", "--mcap", "a.blf"], "must end in"),
        (["--bus", "virtual://x", "--robot", "lapusan2022", "--record", "nowhere/a.blf"], "nowhere/a.blf"),
        (["--bus", "virtual://x", "--robot", "lapusan2022", "--duration", "never"], "--duration"),
    ],
)
def test_what_cannot_be(arguments, words, vertebra, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = vertebra("sense", "live", *arguments)
    assert ran.code == 2
    assert words in ran.err
