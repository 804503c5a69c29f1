from __future__ import annotations

import platform
import subprocess
import sys

import pytest

KEPT = """
import psutil
import sys
from vertebra.cli.studio import give_back_freed_memory
if sys.argv[1] == "1":
    give_back_freed_memory()
held = psutil.Process().memory_info
before = held().rss
del [bytearray(4 << 20)][0]  # glibc learns that such sizes come and go
blocks = [bytearray(b"x") * (1 << 20) for _ in range(50)]
above = [bytearray(b"x") * 60_000 for _ in range(10)]
del blocks
print((held().rss - before) / 1e6)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a setting of glibc")
def test_freed_memory_goes_back_to_the_system() -> None:
    kept = [
        float(subprocess.run([sys.executable, "-c", KEPT, given], capture_output=True, check=True, timeout=60).stdout)
        for given in "01"
    ]
    assert kept[0] > 40  # MB of the 52 MB that were freed
    assert kept[1] < 10
