"""Answers of every kind as numbers: `python answers.py FOLDER` prints them as one JSON object.

It needs nothing but an installed Vertebra, so that any environment can be asked. The folder has the examples, a
recording of a bus and readings of a rig.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import io
import json
import re
import shlex
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np

import vertebra as vb
from vertebra.cli.main import run

SHAPE = "shape hu2023-prototype -t 0.98,0.98,0.98,3.92"
PAYLOAD = 'payload cai2023 --shape "S 2.85 deg" -t 35'
MOTION = "dynamics dantuono2023 --trajectory sway.csv"
RUN = "simulate dantuono2023 -t 20,10,20,40 --duration 20ms"
JOURNEY = "follow cai2023 --inner harp-inner.yaml --path follow-path.csv -t 35 --inner-tensions 60"
REPLAY = "sense replay recording.log --robot lapusan2022"

COMMANDS = {
    "shape": f"{SHAPE} --json",
    "shape with friction": "shape yang2023-a -t 8,8,6,6 --json",
    "shape page": f"{SHAPE} --out shape.html",
    "shape picture": f"{SHAPE} --out shape.png",
    "shape drawing": f"{SHAPE} --out shape.svg",
    "shape table": f"{SHAPE} --out shape.csv",
    "tensions": "tensions hu2023-prototype --tip '80, 0, 130 mm' --lower 0.5 --json",
    "tensions page": "tensions hu2023-prototype --tip '80, 0, 130 mm' --lower 0.5 --out tensions.html",
    "payload": f"{PAYLOAD} --direction 0,-1,0 --json",
    "payload best": 'payload cai2023 --shape "S 2.85 deg" --best --upper 35 --direction 0,-1,0 --json',
    "payload map": f"{PAYLOAD} --directions 40 --map map.nc",
    "payload map page": f"{PAYLOAD} --directions 40 --map map.html",
    "dynamics": f"{MOTION} --method per_link --json",
    "dynamics page": f"{MOTION} --method per_link --out motion.html",
    "dynamics nearest": f"{MOTION} --method project --json",
    "dynamics dataset": f"{MOTION} --method per_link --out motion.nc",
    "simulate": f"{RUN} --json",
    "simulate page": f"{RUN} --out run.html",
    "simulate picture": f"{RUN} --out run.png",
    "simulate dataset": f"{RUN} --out run.nc",
    "follow": f"{JOURNEY} --json",
    "follow page": f"{JOURNEY} --out journey.html",
    "robots": "robots --json",
    "robots check": "robots check harp-inner.yaml --json",
    "robots schema": "robots schema",
    "robots page": "robots show yang2023-b --out robot.html",
    "identify friction": "identify friction rig.csv --json",
    "identify friction page": "identify friction rig.csv --out friction.html",
    "papers": "papers hu2023 --experiments --json",
    "papers page": "papers hu2023 --experiments --out hu2023.html",
    "papers picture": "papers hu2023 --experiments --out hu2023.png",
    "workspace": "workspace hu2023-planar --tensions 1,5 --resolution 8 --budget 2000 --json",
    "workspace page": "workspace hu2023-planar --tensions 1,5 --resolution 8 --budget 2000 --out workspace.html",
    "uncertainty": "uncertainty prototype-tolerances.yaml --count 16 --json",
    "uncertainty in a process of its own": (
        "uncertainty prototype-tolerances.yaml --count 16 --no-indices --workers 1 --json"
    ),
    "optimise picture": "optimise surgical-arm-study.yaml --evaluations 60 --out front.png",
    "export": "export dantuono2023 --to mjcf",
    "sense replay": f"{REPLAY} --json",
    "sense replay table": f"{REPLAY} --out sensed.csv --mcap sensed.mcap --overwrite",
    "sense convert": "sense convert recording.log converted.blf --overwrite --json",
    "sense dbc": "sense dbc",
}
"""A command of each kind. Files are read from the folder and written to it."""

VARIES = re.compile(r"time_s$|wall_time|real_time_factor|seconds|^out$|^map$|^mcap$|version")
"""What a run measures of itself, and names of files."""


def command(words: str, folder: Path) -> Any:
    """What a command prints, or the numbers in the file that it writes."""
    given = shlex.split(words)
    printed, said = io.StringIO(), io.StringIO()
    sys.argv = ["vertebra", *given]
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
        try:
            run()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
    if code:
        raise AssertionError(f"vertebra {words}: exit code {code}: {said.getvalue()}{printed.getvalue()[:500]}")
    for option in {"--out", "--map"} & set(given):
        return contents(folder / given[given.index(option) + 1])
    return parsed(printed.getvalue())


def parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def contents(file: Path) -> Any:
    """The numbers in a file."""
    if file.suffix == ".nc":
        import xarray

        with xarray.open_dataset(file, engine="netcdf4") as data:
            numeric = [name for name in data.variables if data[name].dtype.kind in "fiu"]
            return {str(name): data[name].to_numpy().tolist() for name in numeric}
    raw = file.read_bytes()
    if file.suffix == ".html":
        text = raw.decode()
        cells = re.findall(r"<t[dh][^>]*>([^<]*)</t[dh]>", text)
        return {
            "cells": [cell for cell in cells if " s for " not in cell],
            "figures": text.count('class="plotly-graph-div"'),
        }
    if file.suffix == ".png":
        return {"png": raw[:8] == b"\x89PNG\r\n\x1a\n" and len(raw) > 10_000}
    if file.suffix == ".svg":
        return {"svg": b"</svg>" in raw, "groups": len(raw) > 10_000}
    return [line.split(",") for line in raw.decode().splitlines()]


def calls() -> dict[str, Any]:
    """The questions in Python."""
    robot, chain, snake = vb.load("hu2023-prototype"), vb.load("dantuono2023"), vb.load("cai2023")
    pose = vb.Pose(robot, 0.1 * np.ones(robot.freedoms))
    shape = vb.shape_from_tensions(robot, [3.0, 2.0, 2.0, 2.0])
    q = 0.1 * np.ones(chain.freedoms)
    light = {
        "study": 1, "robot": "hu2023-planar", "tensions": 3.0, "vary": {"tensions[0]": {"from": 1.0, "to": 4.0}},
        "quantities": ["tip"], "optimise": {"objectives": {"tip.x": "maximise"}},
    }  # fmt: skip
    return {
        "vb.Pose": [pose.frames, pose.jacobian(), pose.cable_lengths],
        "vb.shape_from_tensions": [shape.angles, shape.compliance, shape.lengths],
        "vb.shapes_from_tensions": vb.shapes_from_tensions(robot, [[3.0, 2.0, 2.0, 2.0], [2.0, 3.0, 2.0, 2.0]]).angles,
        "vb.inverse_dynamics": vb.inverse_dynamics(chain, q, q, q),
        "vb.mass_matrix": vb.mass_matrix(chain, q),
        "vb.payload": vb.payload(snake, 0.0, 0.0, 35.0, (0.0, -1.0, 0.0)).force,
        "vb.optimise": vb.optimise(light, method="gradient").values,
        "vb.optimise, CMA-ES": np.isfinite(vb.optimise(light, method="cma", evaluations=40).values),
        "vb.simulate": vb.simulate(chain, 20.0 * np.ones(4), duration=5e-3).q.to_numpy(),
    }


def studio(folder: Path) -> dict[str, Any]:
    """It opens, lets in whoever has the token, and nobody else."""
    from vertebra.studio.serving.server import Access
    from vertebra.studio.studio import open_studio

    opened = open_studio("hu2023-planar", Access(port=0), folder)
    try:
        url = opened.address.url
        window = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with window.open(url, timeout=60) as answer:
            page = answer.read()
        try:
            urllib.request.urlopen(url.partition("?")[0], timeout=60).close()
            stranger = 200
        except urllib.error.HTTPError as refused:
            stranger = refused.code
        return {"page": b"<html" in page.lower(), "window": answer.status, "stranger": stranger}
    finally:
        opened.close()


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


def numbers(value: Any, path: str = "") -> dict[str, Any]:
    """All numbers and texts of a record, by their place in it; what a run measures of itself left out."""
    if VARIES.search(path):
        return {}
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        return {path: value}
    return {name: each for key, inner in items for name, each in numbers(inner, f"{path}.{key}").items()}


def answers(folder: Path) -> dict[str, Any]:
    found = {name: command(words, folder) for name, words in COMMANDS.items()}
    found |= {name: plain(value) for name, value in calls().items()}
    found["studio"] = studio(folder)
    found["versions"] = {each.name: each.version for each in importlib.metadata.distributions()}
    return found


if __name__ == "__main__":
    json.dump(answers(Path(sys.argv[1])), sys.stdout)
