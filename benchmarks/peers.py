"""Heavy reference packages live in an environment of their own, built on first use."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

HOME = Path(__file__).parent.parent / "build" / "peers"
PACKAGES = ("pyelastica==1.0.0",)


def python() -> Path:
    """Python of the environment of the peers; raises CalledProcessError when it cannot be built."""
    binary = HOME / "bin" / "python"
    if not (HOME / "ready").exists():
        venv.create(HOME, with_pip=True, clear=True)
        pip = [str(binary), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *PACKAGES], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        (HOME / "ready").touch()
    return binary


def call(script: str, *arguments: object) -> list[float]:
    """Numbers that a script of this folder prints."""
    command = [str(python()), str(Path(__file__).parent / script), *(str(argument) for argument in arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [float(word) for word in done.stdout.split()]


if __name__ == "__main__":
    print(python(), file=sys.stderr)
