"""Sensed shapes as a CSV table: t_s, angles in degrees, the tip in mm, and their standard deviations."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

import numpy as np

from vertebra.robot.tables import Floats


def columns(freedoms: int) -> list[str]:
    """Names of the columns; t_s is the SYNC clock, the tip is in world axes."""
    angles = [f"q{j}_deg" for j in range(1, freedoms + 1)]
    sigmas = [f"q{j}_sigma_deg" for j in range(1, freedoms + 1)]
    tip = [f"tip_{axis}_mm" for axis in "xyz"] + [f"tip_{axis}_sigma_mm" for axis in "xyz"]
    return ["t_s", *angles, *tip, *sigmas]


def row(time: float, angles: Floats, sigmas: Floats, tip: Floats, covariance: Floats) -> str:
    """One line; all arguments SI. An unknown spread is left empty."""
    spread = np.sqrt(np.diagonal(covariance)[:3]) * 1e3
    numbers = [*np.degrees(angles), *tip * 1e3, *spread, *np.degrees(sigmas)]
    return ",".join([f"{time:.6f}", *(f"{value:.9g}" if np.isfinite(value) else "" for value in numbers)])


class ShapesCsv:
    """A table that grows; a context manager."""

    def __init__(self, path: str | Path, freedoms: int) -> None:
        self._file: TextIO = open(path, "w", encoding="utf-8", newline="\n")  # noqa: SIM115
        self._write([",".join(columns(freedoms))])

    def add(self, time: float, angles: Floats, sigmas: Floats, tip: Floats, covariance: Floats) -> None:
        """Add a shape, SI."""
        self._write([row(time, angles, sigmas, tip, covariance)])

    def _write(self, lines: Iterable[str]) -> None:
        self._file.writelines(f"{line}\n" for line in lines)

    def __enter__(self) -> ShapesCsv:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
