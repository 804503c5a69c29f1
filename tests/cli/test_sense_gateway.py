"""`vertebra sense gateway` as its own process, between a pseudo-terminal and a multicast bus."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import tty

import pytest
from tests.cli.conftest import Run
from tests.sensing.wire.bench import free_group
from tests.waiting import DEADLINE

from vertebra.sensing.wire import can
from vertebra.sensing.wire.bus import open_bus, receive, send
from vertebra.sensing.wire.can import Frame
from vertebra.sensing.wire.witmotion import Angles, QuaternionPacket, packet_bytes


def test_a_gateway_process_answers_a_host_process() -> None:
    url = free_group()
    sensor, line = os.openpty()
    tty.setraw(line)
    command = [sys.executable, "-m", "vertebra.cli.main", "sense", "gateway", "--serial", os.ttyname(line), "--node"]
    command += ["4", "--bus", url, "--send", "angles", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        with open_bus(url) as host:
            samples = list[can.Sample]()
            end = time.monotonic() + DEADLINE
            while len(samples) < 20 and time.monotonic() < end and process.poll() is None:
                os.write(sensor, packet_bytes(Angles(0.25, 0.5, -1.0)) + packet_bytes(QuaternionPacket(1, 0, 0, 0)))
                send(host, Frame(can.SYNC, can.sync_data(len(samples), time.monotonic() % 1000)))
                while (frame := receive(host, 0.01)) is not None:
                    if frame.id == can.ANGLES + 4:
                        samples.append(can.decode_angles(frame.data) or can.Sample((), 0, 0, 0.0))
                    assert frame.id != can.QUATERNION + 4, "only angles were asked for"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=DEADLINE)
    finally:
        process.kill()
        process.wait(DEADLINE)
        os.close(sensor)
        os.close(line)
    assert process.returncode == 0, err
    assert len(samples) >= 20
    assert samples[-1].values == pytest.approx((0.25, 0.5, -1.0), abs=can.ANGLE_STEP)
    assert samples[-1].age + 5e-5 > 0.00095, "the time of a packet on the line at 115200 baud"
    record = json.loads(out)
    assert record["node"] == 4
    assert record["answers"] >= 20
    assert record["packets"] > 0
    assert "node 4" in err


def test_a_silent_sensor_and_a_slow_line_are_told(vertebra: Run) -> None:
    sensor, line = os.openpty()
    try:
        tty.setraw(line)
        options = ["--serial", os.ttyname(line), "--node", "0", "--bus", "virtual://silent"]
        ran = vertebra("sense", "gateway", *options, "--baud", "9600", "--sync", "100", "--duration", "1.2 s")
    finally:
        os.close(sensor)
        os.close(line)
    assert ran.code == 0
    assert "9600 baud carry 87 Hz" in ran.err
    assert ran.err.count("no orientation comes from the sensor") == 1
    assert "0 packets" in ran.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--serial", "/dev/nothing", "--bus", "virtual://a", "--node", "0"], "there is no device /dev/nothing"),
        (["--serial", "/dev/nothing", "--bus", "can0", "--node", "0"], "must begin with one of"),
        (["--serial", "/dev/null", "--bus", "virtual://a", "--node", "0"], "/dev/null"),
    ],
)
def test_what_is_wrong_is_one_line(vertebra: Run, options: list[str], words: str) -> None:
    ran = vertebra("sense", "gateway", *options)
    assert ran.code == 2
    assert words in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_frame_that_does_not_exist(vertebra: Run) -> None:
    sensor, line = os.openpty()
    try:
        options = ["--serial", os.ttyname(line), "--node", "0", "--bus", "virtual://a", "--send", "angles,mood"]
        ran = vertebra("sense", "gateway", *options)
    finally:
        os.close(sensor)
        os.close(line)
    assert ran.code == 2
    assert "there is no frame 'mood'; take from angles, gyro, quaternion" in ran.err
