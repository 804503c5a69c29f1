"""The process that records: reads blocks from its standard input and writes the files; started by `Recorder`.

It ends when the pipe closes, so it finishes its files when the other process ends in whatever way. Ctrl-C in the
terminal is not meant for it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from typing import Any, BinaryIO

from vertebra.errors import VertebraError
from vertebra.sensing.recording.derived_log import DerivedLogWriter
from vertebra.sensing.recording.raw_log import RawLogWriter
from vertebra.sensing.recording.recorder_pipe import END, FRAMES, SHAPE, TASK, frames_from_bytes, read_blocks
from vertebra.sensing.recording.shape_record import Layout, unpacked

TELL_EVERY = 0.2
"""s between lines with counters."""


class _Files:
    """The files being written and what happened to them."""

    def __init__(self, task: dict[str, Any]) -> None:
        self.raw = RawLogWriter(task["raw"]) if task["raw"] else None
        contents = task["contents"]
        self.derived = DerivedLogWriter(task["derived"], contents) if task["derived"] else None
        self.layout = Layout(*contents["layout"]) if self.derived else None
        self.fault = ""

    def take(self, kind: bytes, content: bytes) -> None:
        """Write what a block holds; a fault is kept, and told."""
        if kind == FRAMES and self.raw is not None:
            for frame in frames_from_bytes(content):
                try:
                    self.raw.write(frame)
                except VertebraError as error:
                    self.fault = str(error)
        elif kind == SHAPE and self.derived is not None and self.layout is not None:
            self.derived.write(unpacked(content, self.layout))

    def close(self) -> None:
        for writer in (self.raw, self.derived):
            if writer is not None:
                try:
                    writer.close()
                except VertebraError as error:
                    self.fault = str(error)

    def counters(self) -> dict[str, Any]:
        return {
            "frames": self.raw.frames if self.raw else 0,
            "shapes": self.derived.shapes if self.derived else 0,
            "fault": self.fault,
        }


def main() -> int:
    """Record until the pipe closes; 0 if all is written."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # On a computer with little time left the estimator goes first: what is to be recorded can wait in memory.
    if hasattr(os, "nice"):
        os.nice(5)
    pipe = sys.stdin.buffer
    kind, content = next(read_blocks(pipe), (END, b""))
    if kind != TASK:
        return 0
    try:
        files = _Files(json.loads(content))
    except VertebraError as error:
        _tell({"frames": 0, "shapes": 0, "fault": str(error)})
        return 1
    _tell(files.counters())
    try:
        _record(pipe, files)
    finally:
        files.close()
    _tell(files.counters())
    return 1 if files.fault else 0


def _record(pipe: BinaryIO, files: _Files) -> None:
    told = time.monotonic()
    for kind, content in read_blocks(pipe):
        if kind == END:
            return
        files.take(kind, content)
        if time.monotonic() - told > TELL_EVERY:
            told = time.monotonic()
            _tell(files.counters())


def _tell(counters: dict[str, Any]) -> None:
    # Nobody may be left to hear it: the files still want to be finished.
    with contextlib.suppress(OSError):
        print(json.dumps(counters), flush=True)


if __name__ == "__main__":
    sys.exit(main())
