"""One multicast group, several processes: every reader gets every frame."""

from __future__ import annotations

import json

from tests.sensing.wire.bench import child, free_group

from vertebra.sensing.wire.bus import open_bus, receive, send
from vertebra.sensing.wire.can import Frame

FRAMES = 3000

READER = """
import json, sys, time
from vertebra.sensing.wire.bus import open_bus, receive
with open_bus(sys.argv[1]) as bus:
    print("ready", flush=True)
    numbers, end = [], time.monotonic() + 120
    while len(numbers) < int(sys.argv[2]) and time.monotonic() < end:
        frame = receive(bus, 1)
        if frame is not None:
            numbers.append(int.from_bytes(frame.data, "little"))
    print(json.dumps(numbers), flush=True)
"""

WRITER = """
import sys
from vertebra.sensing.wire.bus import open_bus, send
from vertebra.sensing.wire.can import Frame
with open_bus(sys.argv[1]) as bus:
    sys.stdin.readline()
    for number in range(int(sys.argv[2])):
        send(bus, Frame(0x101, number.to_bytes(8, "little")))
    print("sent", flush=True)
"""


def test_two_readers_get_all_frames_of_a_writer() -> None:
    url = free_group()
    count = str(FRAMES)
    with child(READER, url, count) as first, child(READER, url, count) as second, child(WRITER, url, count) as writer:
        assert [reader.stdout.readline() for reader in (first, second)] == ["ready\n", "ready\n"]
        writer.stdin.write("go\n")
        writer.stdin.flush()
        assert writer.stdout.readline() == "sent\n"
        for reader in (first, second):
            assert json.loads(reader.stdout.readline()) == list(range(FRAMES))


def test_groups_of_other_ports_are_not_heard() -> None:
    with open_bus(free_group()) as here, open_bus(free_group()) as there:
        send(there, Frame(1, b""))
        assert receive(here, 0.05) is None
