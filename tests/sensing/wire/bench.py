"""Buses between processes for tests: a group and port of its own for each test, and children that end."""

from __future__ import annotations

import contextlib
import random
import subprocess
import sys
from collections.abc import Iterator

import pytest
from tests.waiting import DEADLINE


def free_group() -> str:
    """A multicast URL that no other test uses, kept on this computer; skips the test where there is no multicast."""
    from vertebra.errors import BusError
    from vertebra.sensing.wire.bus import open_bus

    chance = random.SystemRandom()
    url = f"udp_multicast://239.74.{chance.randrange(256)}.{chance.randrange(1, 255)}:{chance.randrange(20000, 60000)}"
    url += "?hop_limit=0"
    try:
        open_bus(url).shutdown()
    except BusError as error:
        pytest.skip(str(error))
    return url


@contextlib.contextmanager
def child(code: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Python in another process, with pipes; killed at the end whatever happens."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=DEADLINE)
