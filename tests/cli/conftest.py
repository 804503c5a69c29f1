from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from vertebra.cli.main import run


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        def refuse(name: str) -> None:
            raise AssertionError(f"{name} is not JSON")

        return json.loads(self.out, parse_constant=refuse)


Run = Callable[..., Ran]


@pytest.fixture
def vertebra(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line in this process."""

    def call(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["vertebra", *arguments])
        handler = signal.getsignal(signal.SIGINT)
        code = _exit_code(run)
        signal.signal(signal.SIGINT, handler)  # an interrupted command lets the next Ctrl-C end its process
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return call


def _exit_code(function: Callable[[], None]) -> int:
    try:
        function()
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


WRONG = """
vertebra: 1
name: wrong
gravty: ground
sections:
  - joints: 2
    joint: {kind: rolling, radius: 20 kg}
    azimuth: 0
    link: {length: -12 mm}
"""


@pytest.fixture
def wrong_file(tmp_path: Any) -> str:
    path = tmp_path / "wrong.yaml"
    path.write_text(WRONG)
    return str(path)
